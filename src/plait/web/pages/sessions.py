"""The page of all sessions, the column beside others, the palette over all pages."""

import re
from collections.abc import Sequence
from datetime import UTC, datetime

from starlette.requests import Request
from starlette.responses import Response

from plait.archive.live import LiveArchive, SessionRows, Snapshot, catalogue_of, drawings
from plait.index.lists import lines_of_session
from plait.view.page.frame import framed
from plait.view.page.lists.choice import Choice, choice_in, chosen
from plait.view.page.lists.rows import ListedSession
from plait.view.page.lists.search import SearchHit, SearchQuery
from plait.view.page.lists.sessions import (
    SessionList,
    SessionPart,
    parts_rows,
    results,
    sessions_page,
    shown_of,
)
from plait.view.page.lists.side import OFFERED, palette, side_column, side_list
from plait.web.answers import html
from plait.web.pages.search import answered

HIDDEN = ("service",)


def serve_sessions(request: Request) -> Response:
    """Returns the page, or its list alone."""
    library: LiveArchive = request.app.state.library
    shelf: SessionRows = request.app.state.shelf
    choice = choice_in(request.query_params)
    rows, _, is_counting = shelf.rows()
    start = _start_in(request.query_params.get("from", ""))
    shown = [one for one, _ in shown_of(rows, choice)[start:]]
    page = SessionList(
        rows,
        choice,
        datetime.now(UTC),
        drawings(library.now, shown),
        is_counting,
        [str(root) for root in library.roots],
        start,
    )
    if "part" in request.query_params:
        return html(request, results(page))
    return html(request, framed("Sessions", sessions_page(page), here="sessions"))


def _start_in(text: str) -> int:
    return int(text) if text.isdecimal() and len(text) < 6 else 0


def serve_parts(request: Request) -> Response:
    """Returns the branches and agents of one session, as rows below it."""
    library: LiveArchive = request.app.state.library
    state, name = library.now, request.path_params["name"]
    key = str(state.session(name).path.absolute())
    with catalogue_of(state) as catalogue:
        found = lines_of_session(catalogue, key) if catalogue else []
    shown = [
        SessionPart(one.id, one.kind, one.state, one.turns, one.label, uuid)
        for one, uuid in found
        if one.kind not in HIDDEN and one.state != "active"
    ]
    return html(request, parts_rows(name, shown))


SHOWN = 150
LONGEST = 300
LEAST = 2
"""Letters from which on the words of sessions are looked for."""
UNFINISHED = re.compile(r"\w{2,}$")


def serve_side(request: Request) -> Response:
    """Returns the column, or its list alone."""
    shelf: SessionRows = request.app.state.shelf
    text, here = _asked_of(request, "q"), _asked_of(request, "here")
    found = chosen(shelf.rows().sessions, Choice(q=text))
    shown = _with_here(found, here)
    told = side_list if "part" in request.query_params else side_column
    return html(request, told(shown, here, datetime.now(UTC), text, len(found)))


def _with_here(found: Sequence[ListedSession], here: str) -> Sequence[ListedSession]:
    shown = found[:SHOWN]
    rest = [one for one in found[SHOWN:] if one.name == here]
    return [*shown, *rest]


def serve_palette(request: Request) -> Response:
    """Returns what the palette offers for what was typed so far."""
    shelf: SessionRows = request.app.state.shelf
    text = _asked_of(request, "q").strip()
    rows = shelf.rows()
    sessions = chosen(rows.sessions, Choice(q=text))[:OFFERED]
    hits = _hits_for(request.app.state.library.now, text) if len(text) >= LEAST else ()
    return html(request, palette(text, sessions, hits, datetime.now(UTC), rows.places))


def _hits_for(state: Snapshot, text: str) -> Sequence[SearchHit]:
    is_open = UNFINISHED.search(text) and '"' not in text
    return answered(state, SearchQuery(q=f"{text}*" if is_open else text)).hits[:OFFERED]


def _asked_of(request: Request, name: str) -> str:
    return str(request.query_params.get(name, ""))[:LONGEST]
