"""The Edits page: what was changed, newest first, each with a button to undo it."""

from datetime import UTC, datetime

from starlette.requests import Request
from starlette.responses import Response

from plait.edit.report import EditEntry, format_entry
from plait.view.page.markup import esc, session_url
from plait.view.page.session_rows import render_age
from plait.web.api import edits, model
from plait.web.responses import get_library, page_or_fragment

NO_EDITS = (
    '<div class="empty" role="status"><p>No edits yet.</p><p>Edit sessions on their page or in the '
    "list of sessions. Every edit is listed here and can be undone.</p></div>"
)


def serve_edits(request: Request) -> Response:
    """Serve the page."""
    library, now = get_library(request), datetime.now(UTC)
    snapshot = library.snapshot
    rows = []
    for entry in edits.edits(library, model.Nothing()).edits:
        name = snapshot.name_of.get(entry.path)
        facts = snapshot.facts_of(snapshot.names[name]) if name else None
        title = (facts.title or facts.first_prompt) if facts else None
        rows.append(_render_row(entry, name, title, now))
    table = NO_EDITS
    if rows:
        table = (
            '<table class="figures edit-list"><thead><tr><th scope="col">Edit</th>'
            '<th scope="col">Session</th><th scope="col">When</th>'
            '<th scope="col"><span class="state">Undo</span></th></tr></thead>'
            f"<tbody>{''.join(rows)}</tbody></table>"
        )
    page = (
        '<main class="page" id="main" data-live="edits"><div class="heading"><h1>Edits</h1>'
        '<a href="/sessions">Sessions</a></div><p class="edit-status" role="status"></p>'
        f"<div data-results>{table}</div></main>"
    )
    return page_or_fragment(request, "Edits", lambda: table, lambda: page)


def _render_row(
    entry: EditEntry, name: str | None, session_title: str | None, now: datetime
) -> str:
    """Render an edit; `name` is that of its session in URLs, None if the session is gone."""
    title, label = esc(session_title or entry.session[:8]), esc(format_entry(entry))
    session = f'<a href="{session_url(name)}">{title}</a>' if name else title
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
