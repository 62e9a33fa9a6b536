"""The tab that shows the lines of a session's files as they lie."""

from bisect import bisect_left
from collections.abc import Sequence
from pathlib import Path

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, Response

from plait.archive.rawlines import RawLine, raw_lines
from plait.line import LogFile
from plait.view.page.raw_page import (
    MOST_PRETTY,
    SHOWN,
    STEP,
    FileChoice,
    RawRow,
    RawView,
    line_html,
    raw_body,
)
from plait.view.page.tabs import tab_page
from plait.web.answers import html, tagged
from plait.web.looks import Look, look_at, number_in
from plait.web.pages.fragment import fragment

PLAIN = "text/plain; charset=utf-8"


def serve(request: Request) -> Response:
    """Returns a part of a file: from a line on, of one type or all."""
    look = look_at(request)
    number = number_in(request, "file") or 0
    kind = request.query_params.get("type") or None
    line, start = number_in(request, "line"), number_in(request, "from")
    view = view_of(look, number, kind, line, start)
    return html(request, tab_page(look.head, "raw", raw_body(look.head, view)))


def view_of(
    look: Look, number: int, kind: str | None, line: int | None, start: int | None
) -> RawView:
    """Returns the part of a file that is asked for."""
    found = look.survey(number)
    numbers = found.numbers(kind)
    first = first_of(numbers, line, start)
    findings = sorted(look.findings(number), key=lambda one: one[0] or 0)
    told: dict[int, list[str]] = {}
    for at, sentence in findings:
        told.setdefault(at or 0, []).append(sentence)
    shown = raw_lines(found, numbers[first - 1 : first - 1 + STEP], SHOWN)
    files = [choice_of(at, file) for at, file in enumerate(look.session.files)]
    return RawView(
        files=files,
        file=number,
        total=len(found),
        counts=found.counts,
        kind=kind,
        first=first,
        matching=len(numbers),
        rows=[row_of(one, told.get(one.number, ())) for one in shown],
        line=line,
        findings=findings,
    )


def first_of(numbers: Sequence[int], line: int | None, start: int | None) -> int:
    """Returns where a page begins, so that a line stands near its top."""
    if line is not None:
        return max(bisect_left(numbers, line) + 1 - 3, 1)
    return min(max(start or 1, 1), max(len(numbers), 1))


def choice_of(number: int, file: LogFile) -> FileChoice:
    """Returns how a file is offered."""
    name = (
        "the session" if file.kind == "session" else f"{file.kind} {file.agent or file.run or ''}"
    )
    return FileChoice(number, f"{name.strip()}: {file.path.name}", file.size)


def row_of(one: RawLine, findings: Sequence[str]) -> RawRow:
    """Returns one line as it is drawn."""
    return RawRow(
        number=one.number,
        offset=one.offset,
        length=one.length,
        type=one.type,
        uuid=one.uuid,
        time=one.time,
        words=one.words,
        text=one.text,
        findings=tuple(findings),
    )


def serve_line(request: Request) -> Response:
    """Returns one line, pretty or as it is."""
    look = look_at(request)
    file, number = request.path_params["file"], request.path_params["line"]
    found = look.survey(file)
    if not 0 < number <= len(found):
        raise HTTPException(404, "there is no such line")
    is_raw = "raw" in request.query_params
    one = next(raw_lines(found, [number], None if is_raw else MOST_PRETTY))
    if is_raw:
        return tagged(request, one.text.encode("utf-8", "replace"), PLAIN)
    return fragment(request, look.head, "raw", line_html(look.head, file, row_of(one, ())))


def serve_file(request: Request) -> Response:
    """Returns a file as it is, to be kept."""
    file = look_at(request).file(request.path_params["file"])
    if not file.path.is_file():
        raise HTTPException(404, "the file is no longer there")
    return FileResponse(file.path, media_type="application/x-ndjson", filename=safe_name(file.path))


def safe_name(path: Path) -> str:
    """Returns a name that is one on any system."""
    return "".join(one if one.isalnum() or one in "-_.~" else "_" for one in path.name)
