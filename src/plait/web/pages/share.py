"""A session to a file that leaves this machine: redacted, unless somebody insists."""

import tempfile
from collections.abc import Iterator
from typing import IO

import msgspec
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from plait.archive.collector import without_collector
from plait.archive.export import Branches, ExportPlan, export
from plait.archive.model import Session
from plait.errors import UserError
from plait.redact import Redactor
from plait.view.transcript.model import Manner
from plait.web.door import small_form
from plait.web.library import Library

FORMATS = {
    "html": ("text/html; charset=utf-8", "sessions/"),
    "md": ("text/markdown; charset=utf-8", "transcripts"),
    "json": ("application/json", "transcripts"),
}
MOST_BYTES = 200_000_000
IN_MEMORY = 4_000_000
CHUNK = 1 << 18


async def serve(request: Request) -> Response:
    """Returns a session as one file; the header `Plait-Redacted` says what was replaced."""
    return await run_in_threadpool(answered, request, await small_form(request))


def answered(request: Request, asked: dict[str, str]) -> Response:
    """Makes the file."""
    format_ = asked.get("format", "html")
    if format_ not in FORMATS:
        raise UserError(f"there is no format '{format_[:20]}'", f"choose {', '.join(FORMATS)}")
    is_redacted = asked.get("redact", "yes") != "no"
    if not is_redacted and asked.get("sure") != "yes":
        raise UserError("nothing would be redacted", "say `sure=yes` where that is meant")
    library: Library = request.app.state.library
    name = request.path_params["name"]
    session = library.now.session(name)
    redactor = Redactor() if is_redacted else None
    branches: Branches = "all" if asked.get("branches") == "all" else "active"
    file, size = written(library, session, format_, branches, redactor)
    kind, _ = FORMATS[format_]
    headers = {
        "Content-Disposition": f'attachment; filename="{file_name(session, format_, is_redacted)}"',
        "Content-Length": str(size),
        "Cache-Control": "no-store",
        "Plait-Redacted": told(redactor),
    }
    return StreamingResponse(chunks(file), 200, headers, kind)


def written(
    library: Library,
    session: Session,
    format_: str,
    branches: Branches,
    redactor: Redactor | None,
) -> tuple[IO[bytes], int]:
    """Returns the file, at its beginning, and its size."""
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
        for path, data in export(plan, format_):
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


def chunks(file: IO[bytes]) -> Iterator[bytes]:
    """Yields a file piece by piece, and lets it go."""
    with file:
        while data := file.read(CHUNK):
            yield data


def told(redactor: Redactor | None) -> str:
    """Returns what was replaced, by its kinds, as a header can hold it."""
    kinds = redactor.report.kinds if redactor else None
    return msgspec.json.encode(kinds).decode().encode("ascii", "replace").decode()


def file_name(session: Session, format_: str, is_redacted: bool) -> str:
    """Returns what the file is called: nothing of its title, which may say too much."""
    short = "".join(letter for letter in session.id[:8] if letter.isascii() and letter.isalnum())
    return f"session-{short or 'plait'}{'-redacted' if is_redacted else ''}.{format_}"
