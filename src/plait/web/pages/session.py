"""A session's page: its beginning at once, then what it holds; the rest as it is read."""

from collections.abc import Iterator
from contextlib import suppress
from threading import Thread

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse

from plait.archive.model import Session
from plait.errors import PlaitError
from plait.view.page.conversation.column import is_number
from plait.view.page.conversation.served import Glance, page_beginning, page_rest
from plait.view.page.escape import esc
from plait.view.page.rail import rail
from plait.view.text import shortened
from plait.web.answers import ALWAYS_ASK, html, json, log
from plait.web.drawn import LARGE
from plait.web.library import Library, marks_of
from plait.web.opened import Opened, mark_of

PAGE = "text/html; charset=utf-8"
AS_IT_COMES = {**ALWAYS_ASK, "Content-Encoding": "identity"}
"""Nobody may hold back the beginning to pack it."""
TROUBLE = '</section><div class="nothing"><h2>{words}</h2><p>{hint}</p></div>'
LONGEST_QUERY = 400


def serve(request: Request) -> Response:
    """Returns the page of a session; one that must be read first is sent as it is read."""
    library: Library = request.app.state.library
    name = request.path_params["name"]
    session = library.now.session(name)
    held = library.held(name)
    if held and held.marks == marks_of(session):
        return html(request, "".join(pieces(library, name)))
    sent = (piece.encode("utf-8", "replace") for piece in pieces(library, name))
    return StreamingResponse(sent, 200, AS_IT_COMES, PAGE)


def pieces(library: Library, name: str) -> Iterator[str]:
    """Yields the page: what is known of the session, then what is in it."""
    session = library.now.session(name)
    facts = library.now.facts.get(session.path)
    title = shortened((facts and (facts.title or facts.first_prompt)) or session.id)
    before, after = page_beginning(Glance(name, title, sum(one.size for one in session.files)))
    yield before
    try:
        yield body_of(library, name, session)
    except PlaitError as error:
        yield trouble(error.message, " ".join(error.hints))
    except Exception:  # the head of the page is sent: what is wrong must stand in it
        log.exception("the page of %s failed", name)
        yield trouble("something went wrong in Plait", "The terminal says what.")
    yield after


def body_of(library: Library, name: str, session: Session) -> str:
    """Returns what a session's page holds; one drawn before is there before it is read."""
    marks = marks_of(session)
    held = library.held(name)
    if (held is None or held.marks != marks) and (
        known := library.drawn.find(name, mark_of(marks))
    ):
        Thread(target=read_ahead, args=(library, name), name="plait-reader", daemon=True).start()
        return known
    one = library.opened(name)
    page = body(one, name)
    if one.bytes >= LARGE and one.marks == marks and held is not one:
        library.drawn.keep(name, one.mark, page)
    return page


def read_ahead(library: Library, name: str) -> None:
    """Reads a session whose page is there already: its parts will be asked for."""
    with suppress(PlaitError):  # gone since
        library.opened(name)


def body(one: Opened, name: str) -> str:
    """Returns what a session's page holds."""
    heading = one.headed(name)
    if one.reading is None or heading is None:
        return trouble("there is nothing in this session", "Its log has no line that tells of it.")
    return page_rest(one.reading, heading, rail(one.rows), f"{one.mark}.{shape_of(one)}")


def shape_of(one: Opened) -> str:
    """Returns what changes when a page must be drawn anew."""
    return f"{one.stock.epoch}.{one.reading.shape if one.reading else ''}"


def trouble(message: str, hint: str) -> str:
    """Says in the place of a session what is wrong with it."""
    words = message[:1].upper() + message[1:]
    return TROUBLE.format(words=esc(words), hint=esc(hint))


def serve_part(request: Request) -> Response:
    """Returns turns that a page fetches, as a list of their sections."""
    library: Library = request.app.state.library
    name, key = request.path_params["name"], request.path_params["part"]
    held = library.held(name)
    if held and held.marks != marks_of(library.now.session(name)) and (found := held.piece(key)):
        return json(request, found)  # it has grown: all of it need not be read for that
    one = library.opened(name)
    asked = one.reading.stretch(key) if one.reading else None
    if one.reading is None or asked is None:
        raise HTTPException(404, "there is no such part")
    return json(request, one.reading.piece(asked))


def serve_line(request: Request) -> Response:
    """Returns one line of the log as it is."""
    library: Library = request.app.state.library
    file, _, line = request.path_params["place"].partition(".")
    if not (is_number(file) and is_number(line)):
        raise HTTPException(404, "there is no such line")
    held = library.held(request.path_params["name"])
    record = held.record(int(file), int(line)) if held and held.growing.conversation() else None
    record = record or opened_for(request).record(int(file), int(line))
    if record is None:
        raise HTTPException(404, "there is no such line")
    return PlainTextResponse(record.raw, 200, ALWAYS_ASK)


def serve_where(request: Request) -> Response:
    """Returns where a record, or a line of the log, is read; null where it is not."""
    places = opened_for(request).places
    asked = request.query_params
    file, _, line = asked.get("at", "").partition(".")
    found = None
    if places and asked.get("id"):
        found = places.of_record(asked["id"])
    elif places and is_number(file) and is_number(line):
        found = places.of_line(int(file), int(line))
    return json(request, found)


def serve_find(request: Request) -> Response:
    """Returns the entries of a session that hold some words, those that are not drawn too."""
    words = request.query_params.get("q", "").strip()[:LONGEST_QUERY]
    places = opened_for(request).places
    if not words or places is None:
        return json(request, {"total": 0, "hits": []})
    return json(request, places.holding(words))


def opened_for(request: Request) -> Opened:
    """Returns the session that a request is about."""
    library: Library = request.app.state.library
    return library.opened(request.path_params["name"])
