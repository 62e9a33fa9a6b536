"""What the user has starred and pinned to the parts of the first page that lead back to it."""

from collections.abc import Sequence
from datetime import datetime
from urllib.parse import quote

from msgspec import Struct

from plait.view.amounts import many
from plait.view.page.lists.choice import Choice
from plait.view.page.lists.rows import ListedSession, ago, joined
from plait.view.page.markup import esc, icon, session_address
from plait.view.text import shortened

MOST = 12
LONGEST = 160


class PinnedRow(Struct, frozen=True, kw_only=True):
    """A turn that is pinned."""

    session: str
    """Its id."""
    name: str | None
    """In addresses; None where the session is not here."""
    title: str
    """Of its session, as far as it is known."""
    uuid: str
    turn: int | None
    words: str
    at: str


class Marked(Struct, frozen=True):
    """What is starred and pinned, the newest first."""

    sessions: Sequence[ListedSession] = ()
    pins: Sequence[PinnedRow] = ()
    trouble: str | None = None
    """Why nobody knows."""


def starred_part(marked: Marked, items: str) -> str:
    """Returns the starred sessions, drawn already; nothing where there are none."""
    if marked.trouble:
        return f'<p class="note-line" role="status">Stars and pins: {esc(marked.trouble)}</p>'
    count = len(marked.sessions)
    if not count:
        return ""
    every = esc(Choice(starred="1").address())
    onward = ""
    if count > MOST:
        onward = f'<p class="onward"><a href="{every}">All {many(count, "starred session")}</a></p>'
    return (
        f'<section class="starred"><h2>Starred <small>{count}</small></h2>'
        f'<ol class="recent">{items}</ol>{onward}</section>'
    )


def pinned_part(marked: Marked, now: datetime) -> str:
    """Returns the pinned turns; nothing where there are none."""
    if not marked.pins:
        return ""
    rows = "".join(_pin(one, now) for one in marked.pins)
    return (
        f'<section class="pinned"><h2>Pinned turns <small>{len(marked.pins)}</small></h2>'
        f'<ol class="pins">{rows}</ol></section>'
    )


def _pin(one: PinnedRow, now: datetime) -> str:
    words = shortened(one.words, LONGEST) or "No words"
    told = joined(
        [
            f"turn {one.turn}" if one.turn is not None else "",
            f'<span class="of">{esc(shortened(one.title, 90))}</span>' if one.title else "",
            ago(one.at, now),
            "" if one.name else _gone("its session is not here"),
        ]
    )
    return (
        f'<li data-pinned="{esc(one.uuid)}"><div class="naming">{_opening(one, words)}'
        f'<div class="sub">{told}</div></div>'
        f'<button class="marking rowbtn" data-unpin="{esc(one.uuid)}" '
        f'data-session="{esc(one.session)}" aria-label="Unpin: {esc(words)}" title="Unpin">'
        f"{icon('pin')}</button></li>"
    )


def _opening(one: PinnedRow, words: str) -> str:
    if one.name is None:
        return f'<span class="gone">{esc(words)}</span>'
    return f'<a href="{session_address(one.name)}#{quote(one.uuid)}">{esc(words)}</a>'


def _gone(why: str) -> str:
    return f'<span class="why-gone">Gone: {why}</span>'
