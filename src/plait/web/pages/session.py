"""The page of a session: its header at once, then its contents, then what is written since."""

from collections.abc import Iterator
from contextlib import suppress
from threading import Thread

from msgspec import Struct
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse

from plait.archive import Session
from plait.archive.live import MIN_BYTES, LiveArchive, LiveSession
from plait.conversation.model import Conversation
from plait.errors import PlaitError
from plait.redact.model import NOT_RECOGNISED
from plait.view.page.column import ReadingColumn, is_index, list_prompts
from plait.view.page.graph import render_rail
from plait.view.page.markup import esc, icon, quote_url
from plait.view.page.session import (
    render_facts,
    render_page_rest,
    render_page_start,
)
from plait.view.text import shorten
from plait.web.responses import NO_CACHE, get_library, html_response, json_response, log

PAGE = "text/html; charset=utf-8"
UNCOMPRESSED = {**NO_CACHE, "Content-Encoding": "identity"}
"""Compression would delay the header until the log is read."""
TROUBLE = '</section><div class="nothing"><h2>{words}</h2><p>{hint}</p></div>'
LONGEST_QUERY = 400
EXPORT_FORMATS = (
    ("html", "Web page", "one file for any browser"),
    ("md", "Markdown", "for notes, issues and repositories"),
    ("json", "JSON", "for programs"),
    ("atif", "ATIF", "a trajectory for Harbor and training tools"),
    ("toolpath", "Toolpath", "a graph of steps, including abandoned branches"),
)


def serve_session(request: Request) -> Response:
    """Serve the page; if the log must be read, the header is sent first."""
    library, name = get_library(request), request.path_params["name"]
    session = library.snapshot.session(name)
    cached = library.cached_session(name)
    if cached and cached.is_current(session):
        return html_response(request, "".join(iter_page(library, name)))
    chunks = (chunk.encode("utf-8", "replace") for chunk in iter_page(library, name))
    return StreamingResponse(chunks, 200, UNCOMPRESSED, PAGE)


def iter_page(library: LiveArchive, name: str) -> Iterator[str]:
    """Yield the page: what is known of the session, then its contents."""
    session = library.snapshot.session(name)
    facts = library.snapshot.facts_of(session)
    title = shorten(facts.title or facts.first_prompt or session.id)
    start, end = render_page_start(name, title, sum(file.size for file in session.files))
    yield start
    try:
        yield _get_body(library, name, session)
    except PlaitError as error:
        yield _render_problem(error.message, " ".join(error.hints))
    except Exception:  # the beginning of the page was sent: errors must be shown inside it
        log.exception("rendering the page of %s failed", name)
        yield _render_problem("something went wrong in Plait", "See the terminal for details.")
    yield end


def _get_body(library: LiveArchive, name: str, session: Session) -> str:
    cached = library.cached_session(name)
    is_held = cached is not None and cached.is_current(session)
    if not is_held and (saved := library.find_cached_page(name, session)):
        Thread(target=_load_session, args=(library, name), name="plait-reader", daemon=True).start()
        return saved
    opened = library.open_session(name)
    page = render_body(opened)
    if opened.bytes >= MIN_BYTES and opened.is_current(session) and cached is not opened:
        library.pages.save(name, opened.fingerprint, page)
    return page


def _load_session(library: LiveArchive, name: str) -> None:
    with suppress(PlaitError):  # gone since
        library.open_session(name)


def render_body(session: LiveSession) -> str:
    """Render the contents of a session's page."""
    if session.column is None or session.heading is None:
        return _render_problem("this session is empty", "Its log has no conversation.")
    version = f"{session.fingerprint}.{session.shape}"
    rest = render_page_rest(
        session.column, session.heading, render_rail(session.opened.rows), version
    )
    formats = "".join(
        f'<label><input type="radio" name="format" value="{value}"{"" if index else " checked"}>'
        f"<b>{label}</b> <span>{description}</span></label>"
        for index, (value, label, description) in enumerate(EXPORT_FORMATS)
    )
    limits = "".join(f"<li>{esc(limit)}</li>" for limit in NOT_RECOGNISED)
    share_dialog = (
        '<dialog class="exporting" aria-labelledby="share-title">'
        f'<form method="post" action="/s/{esc(quote_url(session.heading.session))}/export">'
        f'<h2 id="share-title">Export this session</h2><div class="formats">{formats}'
        '<label class="all"><input type="checkbox" name="branches" value="all" checked>'
        "<b>All branches</b> <span>including abandoned ones</span></label>"
        '<label class="all"><input type="checkbox" name="strict" value="yes">'
        "<b>Strict</b> <span>also replace anything that looks like a secret</span></label></div>"
        "<p>Secrets, user names in paths, hosts, addresses and accounts are replaced by "
        "placeholders before the file is created. Plait then lists what it replaced.</p>"
        f"<details><summary>What redaction can miss</summary><ul>{limits}</ul></details>"
        '<p class="status-text" role="status"></p><div class="buttons">'
        f'<button class="main" name="redact" value="yes">{icon("share")}Download redacted'
        "</button>"
        '<button name="redact" value="no" data-sure="Click again to download without redaction">'
        "Download unredacted …</button>"
        '<button type="button" data-do="close">Close</button></div></form></dialog>'
    )
    return f"{rest}{share_dialog}"


def _render_problem(message: str, hint: str) -> str:
    title = message[:1].upper() + message[1:]
    return TROUBLE.format(words=esc(title), hint=esc(hint))


def serve_part(request: Request) -> Response:
    """Serve turns that a page fetches, as a list of sections."""
    library = get_library(request)
    name, key = request.path_params["name"], request.path_params["part"]
    cached = library.cached_session(name)
    if (
        cached
        and not cached.is_current(library.snapshot.session(name))
        and (turns := cached.render_turns(key))
    ):
        return json_response(
            request, turns
        )  # it has grown: that does not require reading all of it
    session = library.open_session(name)
    stretch = session.column.parse_stretch(key) if session.column else None
    if session.column is None or stretch is None:
        raise HTTPException(404, "no such part")
    return json_response(request, session.column.render_stretch(stretch))


def serve_line(request: Request) -> Response:
    """Serve one line of the log as it is."""
    file, _, line = request.path_params["place"].partition(".")
    if not (is_index(file) and is_index(line)):
        raise HTTPException(404, "no such line")
    position = int(file), int(line)
    cached = get_library(request).cached_session(request.path_params["name"])
    is_usable = cached and cached.follower.conversation()
    record = cached.opened.record_at_line(*position) if cached and is_usable else None
    record = record or _open_session(request).opened.record_at_line(*position)
    if record is None:
        raise HTTPException(404, "no such line")
    return PlainTextResponse(record.raw, 200, NO_CACHE)


def serve_where(request: Request) -> Response:
    """Serve where a record, or a line of the log, is shown; null if it is not."""
    locator = _open_session(request).places
    query = request.query_params
    file, _, line = query.get("at", "").partition(".")
    location = None
    if locator and query.get("id"):
        location = locator.locate_record(query["id"])
    elif locator and is_index(file) and is_index(line):
        location = locator.locate_line(int(file), int(line))
    return json_response(request, location)


def serve_find(request: Request) -> Response:
    """Serve the entries of a session that contain some words, including those not rendered."""
    text = request.query_params.get("q", "").strip()[:LONGEST_QUERY]
    locator = _open_session(request).places
    if not text or locator is None:
        return json_response(request, {"total": 0, "hits": []})
    return json_response(request, locator.find_text(text))


def _open_session(request: Request) -> LiveSession:
    return get_library(request).open_session(request.path_params["name"])


SMALL = 1_000_000
"""Size of logs that are read again at once."""
REST, OFTEN = 3000, 10
"""Milliseconds until a large session is read completely, and that pause as a multiple of the time
it takes.
"""


class News(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a page lacks."""

    mark: str = ""
    is_gone: bool = False
    first: int = 0
    """The index of the first turn included."""
    count: int = 0
    """How many turns the active line has."""
    turns: tuple[str, ...] = ()
    """The sections of the turns from there on."""
    prompts: tuple[tuple[str, str], ...] = ()
    is_redrawn: bool = False
    """Whether the page must be reloaded because more than its end changed."""
    wait: int = 0
    """Milliseconds after which the page should ask for the rest."""
    facts: str | None = None
    rail: str | None = None
    title: str | None = None


def serve_growth(request: Request) -> Response:
    """Serve what was added since a page was rendered."""
    library = get_library(request)
    name, query = request.path_params["name"], request.query_params
    known_turns = int(query["turns"]) if is_index(query.get("turns", "")) else 0
    version, _, shape = query.get("mark", "").partition(".")
    session = library.snapshot.names.get(name)
    if session is None:
        return json_response(request, News(is_gone=True))
    cached = library.cached_session(name)
    is_grown = cached and not cached.is_current(session) and shape == cached.shape
    if (
        cached
        and is_grown
        and "whole" not in query
        and (news := _get_quick_news(cached, known_turns))
    ):
        return json_response(request, news)
    current = library.open_session(name)
    if current.fingerprint == version and shape == current.shape:
        return json_response(
            request, News(mark=f"{current.fingerprint}.{shape}", count=known_turns)
        )
    return json_response(request, _get_full_news(current, known_turns, shape))


def _get_quick_news(cached: LiveSession, known_turns: int) -> News | None:
    """Return new turns of a large session without reading the rest."""
    if cached.column is None or cached.bytes <= SMALL:
        return None
    tail = cached.follower.conversation()
    first = cached.follower.first_turn
    if tail is None or known_turns <= first:
        return None
    start = known_turns - 1 - first
    return News(
        mark=f"grown.{cached.shape}",
        first=known_turns - 1,
        count=first + len(tail.turns),
        turns=_render_turns(cached.column, tail, start),
        prompts=list_prompts(tail.turns[start:]),
        wait=max(REST, int(cached.read_seconds * 1000 * OFTEN)),
    )


def _get_full_news(session: LiveSession, known_turns: int, shape: str) -> News:
    conversations, heading = session.conversations_if_any, session.heading
    version = f"{session.fingerprint}.{session.shape}"
    if session.column is None or conversations is None or heading is None or shape != session.shape:
        return News(mark=version, is_redrawn=True, title=heading.title if heading else None)
    start = max(min(known_turns, len(conversations.active.turns)) - 1, 0)
    return News(
        mark=version,
        first=start,
        count=len(conversations.active.turns),
        turns=_render_turns(session.column, conversations.active, start),
        prompts=list_prompts(conversations.active.turns[start:]),
        facts=render_facts(heading),
        rail=render_rail(session.opened.rows),
        title=heading.title,
    )


def _render_turns(column: ReadingColumn, conversation: Conversation, first: int) -> tuple[str, ...]:
    return tuple(column.iter_turns(conversation, first, len(conversation.turns)))
