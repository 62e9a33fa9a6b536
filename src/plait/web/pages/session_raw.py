"""The Raw tab of a session: the lines of its log files, single lines, and whole files."""

from bisect import bisect_left

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, Response

from plait.sources.base import parse_object
from plait.view.page.raw_lines import (
    MOST_PRETTY,
    SHOWN,
    STEP,
    FileChoice,
    RawView,
    render_line,
    render_raw_body,
)
from plait.web.responses import (
    SessionRequest,
    read_number,
    tab_fragment,
    tab_response,
    tagged_response,
)

LINES_ABOVE = 3
"""Lines shown above the requested one."""


def serve_raw(request: Request) -> Response:
    """Serve a part of a file: from a line on, of one type or all."""
    session = SessionRequest(request)
    number = read_number(request, "file") or 0
    type_ = request.query_params.get("type") or None
    line, start = read_number(request, "line"), read_number(request, "from")
    survey = session.survey(number)
    numbers = survey.numbers(type_)
    if line is not None:
        first = max(bisect_left(numbers, line) + 1 - LINES_ABOVE, 1)
    else:
        first = min(max(start or 1, 1), max(len(numbers), 1))
    files = []
    for index, file in enumerate(session.session.files):
        is_own = file.kind == "session"
        name = "the session" if is_own else f"{file.kind} {file.agent or file.run or ''}".strip()
        files.append(FileChoice(index, f"{name}: {file.path.name}", file.size))
    view = RawView(
        files=files,
        file=number,
        total=len(survey),
        counts=survey.counts,
        kind=type_,
        first=first,
        matching=len(numbers),
        rows=list(survey.lines(numbers[first - 1 : first - 1 + STEP], SHOWN)),
        line=line,
        findings=sorted(session.findings(number), key=lambda finding: finding[0] or 0),
    )
    return tab_response(request, session, "raw", render_raw_body(session.header, view))


def serve_line(request: Request) -> Response:
    """Serve one line, pretty-printed or as it is."""
    session = SessionRequest(request)
    file, number = request.path_params["file"], request.path_params["line"]
    survey = session.survey(file)
    if not 0 < number <= len(survey):
        raise HTTPException(404, "no such line")
    is_raw = "raw" in request.query_params
    line = next(survey.lines([number], None if is_raw else MOST_PRETTY))
    if is_raw:
        data = line.text.encode("utf-8", "replace")
        return tagged_response(request, data, "text/plain; charset=utf-8")
    original = _find_original(session, file, line.text)
    return tab_fragment(request, session, "raw", render_line(session.header, file, line, original))


def _find_original(session: SessionRequest, file: int, text: str) -> tuple[str, str] | None:
    """Return where the line stands that a line was translated from, and what it says."""
    origin = session.library.snapshot.archive.inventory.find_origin(session.file(file).path)
    if origin is None:
        return None
    from plait.sources.originals import find_original

    fields = parse_object(text.encode("utf-8", "replace"))
    line = find_original(origin, fields)
    if line is None:
        return None
    place = f"line {line.number} of {fields.get('sourceFile', origin.path)}"
    return place, line.data.decode("utf-8", "replace")


def serve_file(request: Request) -> Response:
    """Serve a whole log file as a download."""
    file = SessionRequest(request).file(request.path_params["file"])
    if not file.path.is_file():
        raise HTTPException(404, "the file no longer exists")
    # the name goes into a header
    name = "".join(char if char.isalnum() or char in "-_.~" else "_" for char in file.path.name)
    return FileResponse(file.path, media_type="application/x-ndjson", filename=name)
