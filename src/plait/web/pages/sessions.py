"""The page of all sessions, and what hangs on one of them."""

from datetime import UTC, datetime

from starlette.requests import Request
from starlette.responses import Response

from plait.index.shapes import parts_of
from plait.view.page.frame import framed
from plait.view.page.lists.choice import choice_in
from plait.view.page.lists.sessions import SessionPart, parts_rows
from plait.view.page.sessions import Page, results, sessions_page, shown_of
from plait.web.answers import html
from plait.web.catalogued import catalogue_of
from plait.web.drawings import drawings
from plait.web.library import Library
from plait.web.rows import Shelf

HIDDEN = ("service",)


def serve(request: Request) -> Response:
    """Returns the page, or its list alone."""
    library: Library = request.app.state.library
    shelf: Shelf = request.app.state.shelf
    choice = choice_in(request.query_params)
    rows, _, is_counting = shelf.rows()
    start = start_in(request.query_params.get("from", ""))
    shown = [one for one, _ in shown_of(rows, choice)[start:]]
    page = Page(
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


def start_in(text: str) -> int:
    """Returns how many rows a page has already."""
    return int(text) if text.isdecimal() and len(text) < 6 else 0


def serve_parts(request: Request) -> Response:
    """Returns the branches and agents of one session, as rows below it."""
    library: Library = request.app.state.library
    state, name = library.now, request.path_params["name"]
    key = str(state.session(name).path.absolute())
    with catalogue_of(state) as catalogue:
        found = parts_of(catalogue, key) if catalogue else []
    shown = [
        SessionPart(one.id, one.kind, one.state, one.turns, one.label, uuid)
        for one, uuid in found
        if one.kind not in HIDDEN and one.state != "active"
    ]
    return html(request, parts_rows(name, shown))
