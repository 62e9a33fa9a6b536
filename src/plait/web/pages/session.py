"""A session's page: its beginning at once, then what it holds, then what is written since."""

from collections.abc import Iterator
from contextlib import suppress
from threading import Thread

from msgspec import Struct
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from plait.archive import Session
from plait.archive.live import LARGE, LiveArchive, LiveSession
from plait.conversation.model import Conversation
from plait.errors import PlaitError
from plait.view.page.conversation.column import ReadingColumn, is_number, prompts_of
from plait.view.page.conversation.page import Glance, facts, page_beginning, page_rest
from plait.view.page.graph_svg import rail
from plait.view.page.markup import esc
from plait.view.text import shortened
from plait.web.answers import ALWAYS_ASK, html, json, library_in, log

PAGE = "text/html; charset=utf-8"
AS_IT_COMES = {**ALWAYS_ASK, "Content-Encoding": "identity"}
"""Nobody may hold back the beginning to pack it."""
TROUBLE = '</section><div class="nothing"><h2>{words}</h2><p>{hint}</p></div>'
LONGEST_QUERY = 400


def _serve_session(request: Request) -> Response:
    """Returns the page of a session; one that must be read first is sent as it is read."""
    library, name = library_in(request), request.path_params["name"]
    session = library.now.session(name)
    held = library.held(name)
    if held and held.is_of(session):
        return html(request, "".join(pieces(library, name)))
    sent = (piece.encode("utf-8", "replace") for piece in pieces(library, name))
    return StreamingResponse(sent, 200, AS_IT_COMES, PAGE)


def pieces(library: LiveArchive, name: str) -> Iterator[str]:
    """Yields the page: what is known of the session, then what is in it."""
    session = library.now.session(name)
    facts = library.now.facts_of(session)
    title = shortened(facts.title or facts.first_prompt or session.id)
    before, after = page_beginning(Glance(name, title, sum(one.size for one in session.files)))
    yield before
    try:
        yield _body_of(library, name, session)
    except PlaitError as error:
        yield _trouble(error.message, " ".join(error.hints))
    except Exception:  # the head of the page is sent: what is wrong must stand in it
        log.exception("the page of %s failed", name)
        yield _trouble("something went wrong in Plait", "The terminal says what.")
    yield after


def _body_of(library: LiveArchive, name: str, session: Session) -> str:
    held = library.held(name)
    is_held = held is not None and held.is_of(session)
    if not is_held and (known := library.kept_page(name, session)):
        Thread(target=_read_ahead, args=(library, name), name="plait-reader", daemon=True).start()
        return known
    one = library.opened(name)
    page = body(one)
    if one.bytes >= LARGE and one.is_of(session) and held is not one:
        library.pages.keep(name, one.mark, page)
    return page


def _read_ahead(library: LiveArchive, name: str) -> None:
    with suppress(PlaitError):  # gone since
        library.opened(name)


def body(one: LiveSession) -> str:
    """Returns what a session's page holds."""
    if one.reading is None or one.heading is None:
        return _trouble("there is nothing in this session", "Its log has no line that tells of it.")
    mark = f"{one.mark}.{one.shape}"
    return page_rest(one.reading, one.heading, rail(one.opened.rows), mark)


def _trouble(message: str, hint: str) -> str:
    words = message[:1].upper() + message[1:]
    return TROUBLE.format(words=esc(words), hint=esc(hint))


def _serve_part(request: Request) -> Response:
    """Returns turns that a page fetches, as a list of their sections."""
    library = library_in(request)
    name, key = request.path_params["name"], request.path_params["part"]
    held = library.held(name)
    if held and not held.is_of(library.now.session(name)) and (found := held.piece(key)):
        return json(request, found)  # it has grown: all of it need not be read for that
    one = library.opened(name)
    asked = one.reading.stretch(key) if one.reading else None
    if one.reading is None or asked is None:
        raise HTTPException(404, "there is no such part")
    return json(request, one.reading.piece(asked))


def _serve_line(request: Request) -> Response:
    """Returns one line of the log as it is."""
    file, _, line = request.path_params["place"].partition(".")
    if not (is_number(file) and is_number(line)):
        raise HTTPException(404, "there is no such line")
    place = int(file), int(line)
    held = library_in(request).held(request.path_params["name"])
    is_usable = held and held.growing.conversation()
    record = held.opened.record_on(*place) if held and is_usable else None
    record = record or _opened_for(request).opened.record_on(*place)
    if record is None:
        raise HTTPException(404, "there is no such line")
    return PlainTextResponse(record.raw, 200, ALWAYS_ASK)


def _serve_where(request: Request) -> Response:
    """Returns where a record, or a line of the log, is read; null where it is not."""
    places = _opened_for(request).places
    asked = request.query_params
    file, _, line = asked.get("at", "").partition(".")
    found = None
    if places and asked.get("id"):
        found = places.of_record(asked["id"])
    elif places and is_number(file) and is_number(line):
        found = places.of_line(int(file), int(line))
    return json(request, found)


def _serve_find(request: Request) -> Response:
    """Returns the entries of a session that hold some words, those that are not drawn too."""
    words = request.query_params.get("q", "").strip()[:LONGEST_QUERY]
    places = _opened_for(request).places
    if not words or places is None:
        return json(request, {"total": 0, "hits": []})
    return json(request, places.holding(words))


def _opened_for(request: Request) -> LiveSession:
    return library_in(request).opened(request.path_params["name"])


SMALL = 1_000_000
"""Bytes of logs that are read anew in no time."""
REST, OFTEN = 3000, 10
"""Milliseconds until all of a large session is read anew; how much longer than that takes."""


class News(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a page lacks."""

    mark: str = ""
    is_gone: bool = False
    first: int = 0
    """The place of the first turn that is given."""
    count: int = 0
    """How many turns the active line has."""
    turns: tuple[str, ...] = ()
    """The sections of the turns from there on."""
    prompts: tuple[tuple[str, str], ...] = ()
    is_redrawn: bool = False
    """The page must be drawn anew: more has changed than its end."""
    wait: int = 0
    """Milliseconds after which the page should ask for the rest of what has changed."""
    facts: str | None = None
    rail: str | None = None
    title: str | None = None


def _serve_growth(request: Request) -> Response:
    """Returns what was added since a page was drawn."""
    library = library_in(request)
    name, asked = request.path_params["name"], request.query_params
    known = int(asked["turns"]) if is_number(asked.get("turns", "")) else 0
    mark, _, shape = asked.get("mark", "").partition(".")
    session = library.now.names.get(name)
    if session is None:
        return json(request, News(is_gone=True))
    held = library.held(name)
    is_grown = held and not held.is_of(session) and shape == held.shape
    if held and is_grown and "whole" not in asked and (news := _quick_news(held, known)):
        return json(request, news)
    one = library.opened(name)
    if one.mark == mark and shape == one.shape:
        return json(request, News(mark=f"{one.mark}.{shape}", count=known))
    return json(request, _full_news(one, known, shape))


def _quick_news(held: LiveSession, known: int) -> News | None:
    if held.reading is None or held.bytes <= SMALL:
        return None
    grown = held.growing.conversation()
    first = held.growing.first
    if grown is None or known <= first:
        return None
    start = known - 1 - first
    return News(
        mark=f"grown.{held.shape}",
        first=known - 1,
        count=first + len(grown.turns),
        turns=_drawn_turns(held.reading, grown, start),
        prompts=prompts_of(grown.turns[start:]),
        wait=max(REST, int(held.took * 1000 * OFTEN)),
    )


def _full_news(one: LiveSession, known: int, shape: str) -> News:
    told, heading = one.told, one.heading
    mark = f"{one.mark}.{one.shape}"
    if one.reading is None or told is None or heading is None or shape != one.shape:
        return News(mark=mark, is_redrawn=True, title=heading.title if heading else None)
    start = max(min(known, len(told.active.turns)) - 1, 0)
    return News(
        mark=mark,
        first=start,
        count=len(told.active.turns),
        turns=_drawn_turns(one.reading, told.active, start),
        prompts=prompts_of(told.active.turns[start:]),
        facts=facts(heading),
        rail=rail(one.opened.rows),
        title=heading.title,
    )


def _drawn_turns(reading: ReadingColumn, one: Conversation, first: int) -> tuple[str, ...]:
    return tuple(reading.drawn(one, first, len(one.turns)))


ROUTES = (
    Route("/s/{name}", _serve_session),
    Route("/s/{name}/part/{part}", _serve_part),
    Route("/s/{name}/line/{place}", _serve_line),
    Route("/s/{name}/where", _serve_where),
    Route("/s/{name}/find", _serve_find),
    Route("/s/{name}/since", _serve_growth),
)
