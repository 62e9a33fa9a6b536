"""A session to a file that leaves this machine: redacted, unless somebody insists."""

import tempfile
from collections.abc import Iterator
from dataclasses import replace
from typing import IO, TYPE_CHECKING

import msgspec
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from plait.archive import Branches, ExportPlan, Session, ending_of, without_collector
from plait.archive.live import LiveArchive
from plait.errors import UserError
from plait.view.passages.stream import Manner
from plait.web.answers import library_in
from plait.web.guard import small_form

if TYPE_CHECKING:
    from plait.redact import Redactor

FORMATS = {
    "html": ("text/html; charset=utf-8", "sessions/"),
    "md": ("text/markdown; charset=utf-8", "transcripts"),
    "json": ("application/json", "transcripts"),
    "atif": ("application/json", "transcripts"),
    "toolpath": ("application/json", "transcripts"),
}
MOST_BYTES = 200_000_000
IN_MEMORY = 4_000_000
CHUNK = 1 << 18


async def _serve_export(request: Request) -> Response:
    """Returns a session as one file; the header `Plait-Redacted` says what was replaced."""
    return await run_in_threadpool(_answered, request, await small_form(request))


def _answered(request: Request, asked: dict[str, str]) -> Response:
    from plait.redact import Redactor, Rules

    format_ = asked.get("format", "html")
    if format_ not in FORMATS:
        raise UserError(f"there is no format '{format_[:20]}'", f"choose {', '.join(FORMATS)}")
    is_redacted = asked.get("redact", "yes") != "no"
    if not is_redacted and asked.get("sure") != "yes":
        raise UserError("nothing would be redacted", "say `sure=yes` where that is meant")
    library = library_in(request)
    session = library.now.session(request.path_params["name"])
    own = library.rules() if library.rules else Rules()
    rules = replace(own, strict=asked.get("strict") == "yes")
    redactor = Redactor(rules) if is_redacted else None
    branches: Branches = "all" if asked.get("branches") == "all" else "active"
    file, size = _written(library, session, format_, branches, redactor)
    kind, _ = FORMATS[format_]
    called = _file_name(session, format_, is_redacted)
    headers = {
        "Content-Disposition": f'attachment; filename="{called}"',
        "Content-Length": str(size),
        "Cache-Control": "no-store",
        "Plait-Redacted": _redacted_kinds(redactor),
    }
    return StreamingResponse(_chunks(file), 200, headers, kind)


def _written(
    library: LiveArchive,
    session: Session,
    format_: str,
    branches: Branches,
    redactor: "Redactor | None",
) -> tuple[IO[bytes], int]:
    plan = ExportPlan(
        (session,),
        Manner(),
        branches,
        is_combined=format_ != "html",
        redactor=redactor,
        pricing=library.prices,
        is_single=format_ == "html",
    )
    _, wanted = FORMATS[format_]
    file = tempfile.SpooledTemporaryFile(IN_MEMORY)  # noqa: SIM115  closed when it is sent
    size = 0
    with without_collector():
        for path, data in library.now.archive.export(plan, format_):
            if size == 0 and path.startswith(wanted):
                size = len(data)
                file.write(data)
            if size > MOST_BYTES:
                file.close()
                raise UserError(
                    "this session is too large for one file",
                    "`plait export` writes it as a site",
                )
    file.seek(0)
    return file, size


def _chunks(file: IO[bytes]) -> Iterator[bytes]:
    with file:
        while data := file.read(CHUNK):
            yield data


def _redacted_kinds(redactor: "Redactor | None") -> str:
    kinds = redactor.report.kinds if redactor else None
    return msgspec.json.encode(kinds).decode().encode("ascii", "replace").decode()


def _file_name(session: Session, format_: str, is_redacted: bool) -> str:
    short = "".join(letter for letter in session.id[:8] if letter.isascii() and letter.isalnum())
    return f"session-{short or 'plait'}{'-redacted' if is_redacted else ''}.{ending_of(format_)}"


ROUTES = (Route("/s/{name}/export", _serve_export, methods=["POST"]),)
