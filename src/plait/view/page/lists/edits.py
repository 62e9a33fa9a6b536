"""Edits to their page: what was changed, the newest first, each with what takes it back."""

from collections.abc import Sequence
from datetime import datetime

from msgspec import Struct

from plait.view.edits import EditEntry, entry_words
from plait.view.page.lists.rows import ago
from plait.view.page.markup import esc, session_address

NOTHING = (
    '<div class="empty" role="status"><p>Nothing was changed.</p><p>Sessions are edited in their '
    "page and in the list; what was done stands here, and can be undone.</p></div>"
)


class ListedEdit(Struct, frozen=True):
    """An edit, and the session that it left as the page knows it."""

    entry: EditEntry
    name: str | None
    """None where the session is not there."""
    title: str | None


def edits_page(found: Sequence[ListedEdit], now: datetime) -> str:
    """Returns the page."""
    return (
        '<main class="page" id="main" data-live="edits"><div class="heading"><h1>Edits</h1>'
        '<a href="/sessions">Sessions</a></div><p class="edit-told" role="status"></p>'
        f"<div data-results>{edits_table(found, now)}</div></main>"
    )


def edits_table(found: Sequence[ListedEdit], now: datetime) -> str:
    """Returns the edits as a table."""
    if not found:
        return NOTHING
    rows = "".join(_row(one, now) for one in found)
    return (
        '<table class="figures edit-list"><thead><tr><th scope="col">Edit</th>'
        '<th scope="col">Session</th><th scope="col">When</th>'
        '<th scope="col"><span class="state">Undo</span></th></tr></thead>'
        f"<tbody>{rows}</tbody></table>"
    )


def _row(one: ListedEdit, now: datetime) -> str:
    entry = one.entry
    title = esc(one.title or entry.session[:8])
    session = f'<a href="{session_address(one.name)}">{title}</a>' if one.name else title
    undo = ""
    if entry.can_undo:
        undo = (
            f'<button class="edits" data-edit="undo" data-id="{esc(entry.id)}" '
            f'aria-label="Undo: {esc(entry_words(entry))} {title}">Undo</button>'
        )
    return (
        f'<tr data-name="{esc(entry.id)}"><th scope="row">{esc(entry_words(entry))}</th>'
        f'<td class="words">{session}</td><td>{ago(entry.when, now)}</td><td>{undo}</td></tr>'
    )
