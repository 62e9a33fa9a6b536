"""The column of sessions beside a page, and the palette over all pages."""

import re
from collections.abc import Sequence
from datetime import UTC, datetime

from starlette.requests import Request
from starlette.responses import Response

from plait.view.page.hits import Answer, Asked
from plait.view.page.listing import Listed
from plait.view.page.lists.choice import Choice, chosen
from plait.view.page.lists.side import OFFERED, palette, side_column, side_list
from plait.web.answers import html
from plait.web.library import State
from plait.web.pages.search import answered
from plait.web.rows import Shelf

SHOWN = 150
LONGEST = 300
LEAST = 2
"""Letters from which on the words of sessions are looked for."""
UNFINISHED = re.compile(r"\w{2,}$")


def serve(request: Request) -> Response:
    """Returns the column, or its list alone."""
    shelf: Shelf = request.app.state.shelf
    text, here = asked_of(request, "q"), asked_of(request, "here")
    found = chosen(shelf.rows().sessions, Choice(q=text))
    shown = with_here(found, here)
    told = side_list if "part" in request.query_params else side_column
    return html(request, told(shown, here, datetime.now(UTC), text, len(found)))


def with_here(found: Sequence[Listed], here: str) -> Sequence[Listed]:
    """Returns the sessions of the column; the one that is read is always among them."""
    shown = found[:SHOWN]
    rest = [one for one in found[SHOWN:] if one.name == here]
    return [*shown, *rest]


def serve_palette(request: Request) -> Response:
    """Returns what the palette offers for what was typed so far."""
    shelf: Shelf = request.app.state.shelf
    text = asked_of(request, "q").strip()
    rows = shelf.rows()
    sessions = chosen(rows.sessions, Choice(q=text))[:OFFERED]
    hits = hits_for(request.app.state.library.now, text) if len(text) >= LEAST else ()
    return html(request, palette(text, sessions, hits, datetime.now(UTC), rows.places))


def hits_for(state: State, text: str) -> Sequence[Answer]:
    """Returns turns that hold the words; the last may be the beginning of one."""
    is_open = UNFINISHED.search(text) and '"' not in text
    return answered(state, Asked(q=f"{text}*" if is_open else text)).hits[:OFFERED]


def asked_of(request: Request, name: str) -> str:
    """Returns what an address says under a name."""
    return str(request.query_params.get(name, ""))[:LONGEST]
