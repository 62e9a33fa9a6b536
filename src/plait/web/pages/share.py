"""Downloads of a session: an export, redacted unless the user insists; copies as Markdown."""

import tempfile
from collections.abc import Iterator
from dataclasses import replace
from typing import IO

import msgspec
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse

from plait.archive import (
    Branches,
    ExportPlan,
    gc_paused,
    get_file_ending,
    read_full_output,
    render_session_markdown,
    render_turn_markdown,
)
from plait.errors import UserError
from plait.redact import Redactor, Rules
from plait.view.passages import RenderOptions
from plait.web.guard import read_small_form
from plait.web.responses import NO_CACHE, SessionRequest, get_library

FORMATS = {
    "html": ("text/html; charset=utf-8", "sessions/"),
    "md": ("text/markdown; charset=utf-8", "transcripts"),
    "json": ("application/json", "transcripts"),
    "atif": ("application/json", "transcripts"),
    "toolpath": ("application/json", "transcripts"),
}
"""The media type of each format, and how the path of its file in an export starts."""
MAX_BYTES = 200_000_000
MAX_IN_MEMORY = 4_000_000
CHUNK = 1 << 18


async def serve_export(request: Request) -> Response:
    """Serve a session as one file; the header `Plait-Redacted` says what was replaced."""
    return await run_in_threadpool(_export, request, await read_small_form(request))


def _export(request: Request, form: dict[str, str]) -> Response:
    format_ = form.get("format", "html")
    if format_ not in FORMATS:
        raise UserError(f"unknown format '{format_[:20]}'", f"use one of {', '.join(FORMATS)}")
    is_redacted = form.get("redact", "yes") != "no"
    if not is_redacted and form.get("sure") != "yes":
        raise UserError(
            "this would export the session without redaction", "add `sure=yes` if that is intended"
        )
    library = get_library(request)
    session = library.snapshot.session(request.path_params["name"])
    rules = library.rules() if library.rules else Rules()
    redactor = Redactor(replace(rules, strict=form.get("strict") == "yes")) if is_redacted else None
    branches: Branches = "all" if form.get("branches") == "all" else "active"
    media_type, path_start = FORMATS[format_]
    plan = ExportPlan(
        (session,),
        RenderOptions(),
        branches,
        is_combined=format_ != "html",
        redactor=redactor,
        pricing=library.prices,
        is_single=format_ == "html",
    )
    file = tempfile.SpooledTemporaryFile(MAX_IN_MEMORY)  # noqa: SIM115  closed when it is sent
    size = 0
    with gc_paused():
        for path, data in library.snapshot.archive.export(plan, format_):
            if size == 0 and path.startswith(path_start):
                size = len(data)
                file.write(data)
            if size > MAX_BYTES:
                file.close()
                raise UserError(
                    "this session is too large for one file", "`plait export` writes it as a site"
                )
    file.seek(0)
    counts = redactor.report.kinds if redactor else None
    short_id = "".join(char for char in session.id[:8] if char.isascii() and char.isalnum())
    suffix = "-redacted" if is_redacted else ""
    name = f"session-{short_id or 'plait'}{suffix}.{get_file_ending(format_)}"
    headers = {
        "Content-Disposition": f'attachment; filename="{name}"',
        "Content-Length": str(size),
        "Cache-Control": "no-store",
        # headers are ASCII only
        "Plait-Redacted": msgspec.json.encode(counts).decode().encode("ascii", "replace").decode(),
    }
    return StreamingResponse(_iter_chunks(file), 200, headers, media_type)


def _iter_chunks(file: IO[bytes]) -> Iterator[bytes]:
    with file:
        while data := file.read(CHUNK):
            yield data


async def serve_markdown(request: Request) -> Response:
    """Serve a branch of a session, or the turn of a record, like an export."""
    session, query = SessionRequest(request), request.query_params

    def render() -> str | None:
        opened = session.live.opened
        if uuid := query.get("turn"):
            return render_turn_markdown(opened, uuid)
        line = session.live.line(query.get("line")).id
        return render_session_markdown(opened, line, session.live.prices)

    return _respond(await run_in_threadpool(render), "text/markdown; charset=utf-8")


async def serve_output(request: Request) -> Response:
    """Serve the full output of a tool call."""
    session, call = SessionRequest(request), request.query_params.get("call", "")
    text = await run_in_threadpool(lambda: read_full_output(session.live.opened, call))
    return _respond(text, "text/plain; charset=utf-8")


def _respond(text: str | None, media_type: str) -> Response:
    if text is None:
        raise HTTPException(404, "this content is no longer in the session")
    return PlainTextResponse(text.encode("utf-8", "replace"), 200, NO_CACHE, media_type)
