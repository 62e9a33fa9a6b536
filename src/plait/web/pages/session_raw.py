"""The Raw tab of a session: the lines of its log files, single lines, and whole files."""

import json
from bisect import bisect_left
from contextlib import suppress

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, Response

from plait.sources.base import parse_object
from plait.view.formats import format_bytes, format_count
from plait.view.page.entries import render_time
from plait.view.page.frame import render_fetched_details, render_pager
from plait.view.page.markup import encode_query, esc, icon, render_options
from plait.web.responses import (
    SessionRequest,
    read_number,
    tab_fragment,
    tab_response,
    tagged_response,
)

STEP = 100
LINES_ABOVE = 3
"""Lines shown above the requested one."""
SHOWN = 200
"""Characters of a line shown in the list."""
MOST_FINDINGS = 200
MOST_PRETTY = 1_000_000
"""Characters of one line that are shown."""


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
    url, findings_html = session.header.tab_url("raw"), ""
    findings = sorted(session.findings(number), key=lambda finding: finding[0] or 0)
    if findings:
        file_url = esc(f"{url}?{encode_query({'file': str(number)})}")
        items = "".join(
            f'<li><a href="{file_url}&amp;line={at}">line {at}</a> {esc(sentence)}</li>'
            if at
            else f"<li>{esc(sentence)}</li>"
            for at, sentence in findings[:MOST_FINDINGS]
        )
        findings_html = (
            f'<details class="findings"><summary>{icon("warn")}'
            f"{format_count(len(findings), 'finding')}</summary><ul>{items}</ul></details>"
        )
    shown = list(survey.lines(numbers[first - 1 : first - 1 + STEP], SHOWN))
    rows = ""
    for row in shown:
        warnings = "".join(
            f'<span class="odd">{icon("warn")}{esc(sentence)}</span>'
            for at, sentence in findings
            if at == row.number
        )
        summary = (
            f'<span class="n">{row.number}</span><span class="kind">{esc(row.type)}</span>'
            f"<code>{esc(row.words or row.text[:SHOWN])}</code>{warnings}"
            f'<span class="size" title="byte {row.offset}">{format_bytes(row.length)}</span>'
        )
        css = ' class="wanted"' if row.number == line else ""
        details = render_fetched_details(f"{url}/{number}/{row.number}", summary)
        rows += f'<li id="line-{row.number}"{css}>{details}</li>'
    listed = f'<ol class="raw-lines">{rows}</ol>' if rows else '<p class="empty">No such line.</p>'
    query = {"file": str(number), **({"type": type_} if type_ else {})}
    last = first - 1 + len(shown)
    base = f"{url}?{encode_query(query)}&"
    pages = render_pager("lines", first, last, len(numbers), base, STEP)
    chooser = _render_chooser(session, number, type_, line)
    return tab_response(request, session, "raw", f"{chooser}{findings_html}{pages}{listed}{pages}")


def _render_chooser(
    session: SessionRequest, number: int, type_: str | None, line: int | None
) -> str:
    """Render the form that chooses a file, a type of lines and a line."""
    names = []
    for index, file in enumerate(session.session.files):
        is_own = file.kind == "session"
        name = "session" if is_own else f"{file.kind} {file.agent or file.run or ''}".strip()
        names.append((str(index), f"{name}: {file.path.name} ({format_bytes(file.size)})"))
    survey, url = session.survey(number), esc(session.header.tab_url("raw"))
    kinds = render_options(
        ((kind, f"{kind} ({count})") for kind, count in survey.counts.items()), type_
    )
    total, value = len(survey), f' value="{line}"' if line else ""
    return (
        f'<form class="chooser" action="{url}">'
        f'<label>File <select name="file">{render_options(names, str(number))}</select></label>'
        f'<label>Type <select name="type"><option value="">all ({total})</option>{kinds}'
        "</select></label>"
        f'<label>Line <input name="line" type="number" min="1" max="{max(total, 1)}"{value}>'
        "</label><button>Show</button>"
        f'<a class="download" href="{url}/{number}/file" download>Original file</a></form>'
    )


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
    header, uuid = session.header, line.uuid
    link = f'<a href="{esc(header.record_url(uuid))}">show in conversation</a>' if uuid else ""
    raw = f"{header.tab_url('raw')}/{file}/{number}?raw=1"
    facts = (
        f"<span>byte {line.offset}, {line.length} bytes</span>{render_time(line.time)}{link}"
        f'<button type="button" data-copy-from="{esc(raw)}">{icon("copy")}Copy line</button>'
    )
    body = _render_pretty(line.text, facts)
    if original:
        place, text = original
        body += _render_pretty(text, f"<span>translated from {esc(place)}</span>")
    return tab_fragment(request, session, "raw", body)


def _render_pretty(text: str, facts: str) -> str:
    """Render a line pretty-printed, below facts about it."""
    if len(text) <= MOST_PRETTY:
        with suppress(ValueError, RecursionError):
            text = json.dumps(json.loads(text), ensure_ascii=False, indent=2)
    if len(text) > MOST_PRETTY:
        facts += "<span>truncated here; the original file has the full line</span>"
    return (
        f'<div class="line-facts">{facts}</div>'
        f'<pre class="out json" tabindex="0">{esc(text[:MOST_PRETTY])}</pre>'
    )


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
