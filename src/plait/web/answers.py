"""Values to answers: pages with a tag by which a browser knows them again, JSON, files, errors."""

import logging
from collections.abc import Callable, Iterator
from functools import cached_property, lru_cache
from hashlib import blake2b
from http import HTTPStatus
from json import dumps
from typing import Any, TypeVar

import msgspec
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from plait.archive import LineSurvey, Session, asset, style
from plait.archive.live import LiveArchive, LiveSession
from plait.errors import NoSuchSession, PlaitError, Refused, SourceError
from plait.line import LogFile
from plait.view.page.conversation.page import facts
from plait.view.page.frame import error_page, framed, script
from plait.view.page.tabs.head import Head

S = TypeVar("S", bound=msgspec.Struct)
log = logging.getLogger("plait.web")
PLAIN = {404: "there is nothing here", 405: "this address cannot be asked so"}
READ_ONLY = b".marking, .edits { display: none !important; }\n"
"""A rule of style for a server that only reads: what would change something is not offered."""
ALWAYS_ASK = {"Cache-Control": "private, no-cache"}


def html(request: Request, text: str, status: int = 200) -> Response:
    """Returns a page, or word that the browser has it already."""
    return tagged(request, text.encode("utf-8", "replace"), "text/html; charset=utf-8", status)


def is_fragment(request: Request) -> bool:
    """Tells whether a script asks for what changes in a page, and not somebody for the page.

    What pages are asked about has other names: `part` is one of a figure's.
    """
    return "fragment" in request.query_params


def page_or_part(
    request: Request, title: str, part: Callable[[], str], page: Callable[[], str], **frame: Any
) -> Response:
    """Returns a page in its frame, or what changes in it alone where that is asked for."""
    if is_fragment(request):
        return html(request, part())
    return html(request, framed(title, page(), **frame))


def filled(kind: type[S], value: object, **given: Any) -> S:
    """Returns a value of a kind: some fields as given, the others from a value that has them."""
    rest = (name for name in kind.__struct_fields__ if name not in given)
    return kind(**given, **{name: getattr(value, name) for name in rest})


def json(request: Request, value: Any, status: int = 200) -> Response:
    """Returns a value as JSON."""
    return tagged(request, _encoded(value), "application/json", status)


def _encoded(value: Any) -> bytes:
    try:
        return msgspec.json.encode(value)
    except UnicodeEncodeError:
        return dumps(msgspec.to_builtins(value), separators=(",", ":")).encode()


def tagged(request: Request, data: bytes, kind: str, status: int = 200) -> Response:
    """Returns bytes, or word that the browser has them already."""
    tag = f'"{blake2b(data, digest_size=12).hexdigest()}"'
    headers = {**ALWAYS_ASK, "ETag": tag}
    if status == 200 and request.headers.get("if-none-match") == tag:
        return Response(status_code=304, headers=headers)
    return Response(data, status, headers, kind)


async def refused(request: Request, error: Exception) -> Response:
    """Says what is wrong with a request, or with what it asks for."""
    assert isinstance(error, PlaitError)
    status = 404 if isinstance(error, NoSuchSession) else 400
    if isinstance(error, SourceError):
        status = 503
    if isinstance(error, Refused):
        status = 409
    return troubled(request, status, error.message, error.hints)


async def unanswered(request: Request, error: Exception) -> Response:
    """Says that there is nothing here, or that it cannot be asked for so."""
    assert isinstance(error, HTTPException)
    is_plain = error.detail == HTTPStatus(error.status_code).phrase
    words = PLAIN.get(error.status_code, error.detail) if is_plain else error.detail
    response = troubled(request, error.status_code, words, ())
    response.headers.update(error.headers or {})
    return response


async def hung_up(request: Request, error: Exception) -> Response:
    """Answers a client that went while it was speaking: nobody hears it, and nothing is wrong."""
    return Response(status_code=400)


async def failed(request: Request, error: Exception) -> Response:
    """Says that something went wrong here; the log on this machine says what."""
    log.error("%s %r failed", request.method, request.url.path, exc_info=error)
    return troubled(request, 500, "something went wrong in Plait", ("the terminal says what",))


def troubled(request: Request, status: int, message: str, hints: tuple[str, ...]) -> Response:
    """Says what is wrong, to a person or to a program."""
    if request.url.path.startswith("/api/"):
        value = {"error": message, "hints": list(hints)}
        return Response(msgspec.json.encode(value), status, ALWAYS_ASK, "application/json")
    page = error_page(message, hints)
    return Response(page.encode("utf-8", "replace"), status, ALWAYS_ASK, "text/html; charset=utf-8")


def serve_asset(request: Request) -> Response:
    """Returns one of them."""
    name = request.path_params["name"]
    if name == "plait.css":
        library = getattr(request.app.state, "library", None)
        rest = READ_ONLY if library is None or library.is_read_only else b""
        return tagged(request, _sheet() + rest, "text/css; charset=utf-8")
    if text := _scripts().get(name):
        return tagged(request, text, "text/javascript; charset=utf-8")
    raise HTTPException(404, "there is no such file")


@lru_cache
def _sheet() -> bytes:
    return (style() + asset("app.css") + asset("tabs.css")).encode()


@lru_cache
def _scripts() -> dict[str, bytes]:
    ours = {name: script(name).encode() for name in ("app.js", "tabs.js", "lake.js")}
    return {**ours, "highlight.js": asset("highlight.js").encode()}


def library_in(request: Request) -> LiveArchive:
    """Returns the archive that is served."""
    found: LiveArchive = request.app.state.library
    return found


class SessionRequest:
    """The session that a request names; it is read where what is asked for needs it."""

    def __init__(self, request: Request) -> None:
        self.library = library_in(request)
        self.name: str = request.path_params["name"]
        self.session: Session = self.library.now.session(self.name)

    @cached_property
    def opened(self) -> LiveSession:
        """The session, read."""
        return self.library.opened(self.name)

    @cached_property
    def head(self) -> Head:
        """What stands above its tabs."""
        heading = self.opened.heading
        if heading is None:
            return Head(name=self.name, title=self.session.id)
        kept = self.session.is_kept
        return Head(name=self.name, title=heading.title, facts=facts(heading), is_kept=kept)

    def file(self, number: int) -> LogFile:
        """Returns one of its log files."""
        if not 0 <= number < len(self.session.files):
            raise HTTPException(404, "this session has no such file")
        return self.session.files[number]

    def survey(self, number: int) -> LineSurvey:
        """Returns where the lines of one of its files lie."""
        return self.library.survey(self.file(number))

    def findings(self, number: int) -> Iterator[tuple[int | None, str]]:
        """Yields what is odd in one of its files: the line and a sentence."""
        path, graph = str(self.file(number).path), self.opened.opened.graph
        places = {at for at, file in enumerate(graph.files) if file.path == path}
        yield from self.survey(number).broken.items()
        for one in graph.findings:
            if one.file in places:
                yield one.line, one.sentence


def number_in(request: Request, name: str) -> int | None:
    """Returns a number of a query, None where there is none."""
    text = request.query_params.get(name, "").strip()
    if not text:
        return None
    if not text.isascii() or not text.isdigit() or len(text) > 12:
        raise HTTPException(400, f"'{name}' must be a number")
    return int(text)
