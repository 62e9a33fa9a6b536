"""The Edits page: what was changed, newest first, each with a button to undo it."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from functools import partial

from msgspec import Struct
from starlette.requests import Request
from starlette.responses import Response

from plait.archive.live import LiveArchive
from plait.edit.report import EditEntry, format_entry
from plait.view.page.markup import esc, session_url
from plait.view.page.session_rows import render_age
from plait.web.api import edits, model
from plait.web.responses import get_library, page_or_fragment

NO_EDITS = (
    '<div class="empty" role="status"><p>No edits yet.</p><p>Edit sessions on their page or in the '
    "list of sessions. Every edit is listed here and can be undone.</p></div>"
)


class ListedEdit(Struct, frozen=True):
    """An edit, and the session it was made in."""

    entry: EditEntry
    name: str | None
    """None if the session is gone."""
    title: str | None


def serve_edits(request: Request) -> Response:
    """Serve the page."""
    rows, now = list(_iter_edits(get_library(request))), datetime.now(UTC)
    return page_or_fragment(
        request,
        "Edits",
        partial(render_edits_table, rows, now),
        partial(render_edits_page, rows, now),
    )


def _iter_edits(library: LiveArchive) -> Iterator[ListedEdit]:
    snapshot = library.snapshot
    for entry in edits.edits(library, model.Nothing()).edits:
        name = snapshot.name_of.get(entry.path)
        facts = snapshot.facts_of(snapshot.names[name]) if name else None
        title = (facts.title or facts.first_prompt) if facts else None
        yield ListedEdit(entry, name, title)


def render_edits_page(rows: Sequence[ListedEdit], now: datetime) -> str:
    """Render the page."""
    return (
        '<main class="page" id="main" data-live="edits"><div class="heading"><h1>Edits</h1>'
        '<a href="/sessions">Sessions</a></div><p class="edit-status" role="status"></p>'
        f"<div data-results>{render_edits_table(rows, now)}</div></main>"
    )


def render_edits_table(rows: Sequence[ListedEdit], now: datetime) -> str:
    """Render the edits as a table."""
    if not rows:
        return NO_EDITS
    return (
        '<table class="figures edit-list"><thead><tr><th scope="col">Edit</th>'
        '<th scope="col">Session</th><th scope="col">When</th>'
        '<th scope="col"><span class="state">Undo</span></th></tr></thead>'
        f"<tbody>{''.join(_render_row(row, now) for row in rows)}</tbody></table>"
    )


def _render_row(row: ListedEdit, now: datetime) -> str:
    entry = row.entry
    title, label = esc(row.title or entry.session[:8]), esc(format_entry(entry))
    session = f'<a href="{session_url(row.name)}">{title}</a>' if row.name else title
    undo = ""
    if entry.can_undo:
        undo = (
            f'<button class="edits" data-edit="undo" data-id="{esc(entry.id)}" '
            f'aria-label="Undo: {label} {title}">Undo</button>'
        )
    return (
        f'<tr data-name="{esc(entry.id)}"><th scope="row">{label}</th>'
        f'<td class="words">{session}</td><td>{render_age(entry.when, now)}</td>'
        f"<td>{undo}</td></tr>"
    )
