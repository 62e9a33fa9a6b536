"""Responses: pages and JSON with an ETag, assets, errors; and the session that a request names."""

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

from plait.archive import LineSurvey, Session, read_asset, read_style
from plait.archive.live import LiveArchive, LiveSession
from plait.errors import NoSuchSession, PlaitError, Refused, SourceError
from plait.line import LogFile
from plait.view.page.frame import (
    SessionHeader,
    bundle_script,
    render_error_page,
    render_framed_page,
    render_tab_page,
)
from plait.view.page.session import render_facts

S = TypeVar("S", bound=msgspec.Struct)
log = logging.getLogger("plait.web")
PLAIN = {404: "page not found", 405: "method not allowed"}
READ_ONLY = b".marking, .edits { display: none !important; }\n"
"""A style rule for read-only servers: controls that would change something are hidden."""
NO_CACHE = {"Cache-Control": "private, no-cache"}
FRAGMENT_HEADER = "x-plait-part"
"""Sent by scripts that want a part of a tab without the page around it."""


def html_response(request: Request, text: str, status: int = 200) -> Response:
    """Return a page, or 304 if the browser has it already."""
    return tagged_response(
        request, text.encode("utf-8", "replace"), "text/html; charset=utf-8", status
    )


def is_fragment(request: Request) -> bool:
    """Return whether a script requests the changing part of a page.

    The parameter must differ from those of pages: `part`, for one, is a field of slices.
    """
    return "fragment" in request.query_params


def page_or_fragment(
    request: Request, title: str, part: Callable[[], str], page: Callable[[], str], **frame: Any
) -> Response:
    """Return a page in its frame, or only its changing part if requested."""
    if is_fragment(request):
        return html_response(request, part())
    return html_response(request, render_framed_page(title, page(), **frame))


def copy_fields(kind: type[S], value: object, **given: Any) -> S:
    """Create a struct from given fields and the equally named fields of another value."""
    rest = (name for name in kind.__struct_fields__ if name not in given)
    return kind(**given, **{name: getattr(value, name) for name in rest})


def json_response(request: Request, value: Any, status: int = 200) -> Response:
    """Return a value as JSON."""
    return tagged_response(request, _encoded(value), "application/json", status)


def _encoded(value: Any) -> bytes:
    try:
        return msgspec.json.encode(value)
    except UnicodeEncodeError:
        return dumps(msgspec.to_builtins(value), separators=(",", ":")).encode()


def tagged_response(request: Request, data: bytes, kind: str, status: int = 200) -> Response:
    """Return bytes with an ETag, or 304 if the browser has them already."""
    tag = f'"{blake2b(data, digest_size=12).hexdigest()}"'
    headers = {**NO_CACHE, "ETag": tag}
    if status == 200 and request.headers.get("if-none-match") == tag:
        return Response(status_code=304, headers=headers)
    return Response(data, status, headers, kind)


async def handle_plait_error(request: Request, error: Exception) -> Response:
    """Answer an invalid request, or one for something invalid."""
    assert isinstance(error, PlaitError)
    status = 404 if isinstance(error, NoSuchSession) else 400
    if isinstance(error, SourceError):
        status = 503
    if isinstance(error, Refused):
        status = 409
    return error_response(request, status, error.message, error.hints)


async def handle_http_error(request: Request, error: Exception) -> Response:
    """Answer a request for an unknown address or with a wrong method."""
    assert isinstance(error, HTTPException)
    is_plain = error.detail == HTTPStatus(error.status_code).phrase
    words = PLAIN.get(error.status_code, error.detail) if is_plain else error.detail
    response = error_response(request, error.status_code, words, ())
    response.headers.update(error.headers or {})
    return response


async def handle_disconnect(request: Request, error: Exception) -> Response:
    """Answer a client that disconnected while sending: nobody reads it."""
    return Response(status_code=400)


async def handle_exception(request: Request, error: Exception) -> Response:
    """Answer an internal error; the local log has the traceback."""
    log.error("%s %r failed", request.method, request.url.path, exc_info=error)
    return error_response(
        request, 500, "something went wrong in Plait", ("see the terminal for details",)
    )


def error_response(request: Request, status: int, message: str, hints: tuple[str, ...]) -> Response:
    """Return an error as a page, or as JSON for the API."""
    if request.url.path.startswith("/api/"):
        value = {"error": message, "hints": list(hints)}
        return Response(msgspec.json.encode(value), status, NO_CACHE, "application/json")
    render = getattr(request.app.state, "render_error", None)
    page: str = render(request, message, hints) if render else render_error_page(message, hints)
    return Response(page.encode("utf-8", "replace"), status, NO_CACHE, "text/html; charset=utf-8")


def serve_asset(request: Request) -> Response:
    """Serve a style sheet or a script."""
    name = request.path_params["name"]
    if name == "plait.css":
        library = getattr(request.app.state, "library", None)
        rest = READ_ONLY if library is None or library.is_read_only else b""
        return tagged_response(request, _load_assets()[name] + rest, "text/css; charset=utf-8")
    if text := _load_assets().get(name):
        return tagged_response(request, text, "text/javascript; charset=utf-8")
    raise HTTPException(404, "no such file")


@lru_cache
def _load_assets() -> dict[str, bytes]:
    ours = {name: bundle_script(name).encode() for name in ("app.js", "tabs.js", "lake.js")}
    style = read_style() + read_asset("app.css") + read_asset("tabs.css")
    return {
        **ours,
        "highlight.js": read_asset("highlight.js").encode(),
        "plait.css": style.encode(),
    }


def get_library(request: Request) -> LiveArchive:
    """Return the archive that is served."""
    found: LiveArchive = request.app.state.library
    return found


class SessionRequest:
    """The session in a request; its logs are read only if needed."""

    def __init__(self, request: Request) -> None:
        self.library = get_library(request)
        self.name: str = request.path_params["name"]
        self.session: Session = self.library.snapshot.session(self.name)

    @cached_property
    def live(self) -> LiveSession:
        """The session, opened."""
        return self.library.open_session(self.name)

    @cached_property
    def header(self) -> SessionHeader:
        """The header above its tabs."""
        heading = self.live.heading
        if heading is None:
            return SessionHeader(name=self.name, title=self.session.id)
        return SessionHeader(
            name=self.name,
            title=heading.title,
            facts=render_facts(heading),
            is_kept=bool(self.session.mark),
        )

    def file(self, number: int) -> LogFile:
        """Return one of its log files."""
        if not 0 <= number < len(self.session.files):
            raise HTTPException(404, "this session has no such file")
        return self.session.files[number]

    def survey(self, number: int) -> LineSurvey:
        """Return where the lines of one of its files lie."""
        return self.library.survey_lines(self.file(number))

    def findings(self, number: int) -> Iterator[tuple[int | None, str]]:
        """Yield the findings in one of its files: line and sentence."""
        path, graph = str(self.file(number).path), self.live.opened.graph
        indexes = {index for index, file in enumerate(graph.files) if file.path == path}
        yield from self.survey(number).broken.items()
        for finding in graph.findings:
            if finding.file in indexes:
                yield finding.line, finding.sentence


def tab_response(request: Request, session: SessionRequest, tab: str, body: str) -> Response:
    """Return a complete page with a tab of a session."""
    return html_response(request, render_tab_page(session.header, tab, body))


def tab_fragment(request: Request, session: SessionRequest, tab: str, body: str) -> Response:
    """Return a part of a tab: alone for a script, else in its page."""
    if FRAGMENT_HEADER not in request.headers:
        return tab_response(request, session, tab, body)
    response = html_response(request, body)
    response.headers["Vary"] = FRAGMENT_HEADER
    return response


def read_number(request: Request, name: str) -> int | None:
    """Return a number of a query; None if there is none."""
    text = request.query_params.get(name, "").strip()
    if not text:
        return None
    if not text.isascii() or not text.isdigit() or len(text) > 12:
        raise HTTPException(400, f"'{name}' must be a number")
    return int(text)
