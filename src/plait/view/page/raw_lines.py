"""The Raw tab: lines of a log with their findings; lines packed for exported pages."""

import json
from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple

import msgspec
from msgspec import Struct

from plait.view.formats import format_bytes, format_count
from plait.view.page.entries import render_time
from plait.view.page.frame import SessionHeader, render_fetched_details, render_pager
from plait.view.page.markup import encode_query, esc, icon, render_options
from plait.view.summaries import RawLine

STEP = 100
SHOWN = 200
"""Characters of a line shown in the list."""
MOST_FINDINGS = 200
MOST_PRETTY = 1_000_000
"""Characters of one line that are shown."""
LEVEL, PART_LEVEL = 2, 3
PIECE = 1_000_000


class FileChoice(Struct, frozen=True):
    """A log file of the session."""

    number: int
    name: str
    size: int


class RawView(Struct, frozen=True, kw_only=True):
    """A part of a file."""

    files: Sequence[FileChoice]
    file: int
    """The number of the file shown."""
    total: int
    """Lines in it."""
    counts: Mapping[str, int]
    kind: str | None
    first: int
    """The position of the part among the lines of that type."""
    matching: int
    rows: Sequence[RawLine]
    line: int | None = None
    """The requested line."""
    findings: Sequence[tuple[int | None, str]] = ()
    """All of the file: line and message."""


def render_raw_body(head: SessionHeader, view: RawView) -> str:
    """Render a part of a file, and links to the rest."""
    findings_by_line: dict[int | None, list[str]] = {}
    for line, sentence in view.findings:
        findings_by_line.setdefault(line, []).append(sentence)
    rows = ""
    for row in view.rows:
        warnings = "".join(
            f'<span class="odd">{icon("warn")}{esc(finding)}</span>'
            for finding in findings_by_line.get(row.number, ())
        )
        css = ' class="wanted"' if row.number == view.line else ""
        summary = (
            f'<span class="n">{row.number}</span><span class="kind">{esc(row.type)}</span>'
            f"<code>{esc(row.words or row.text[:SHOWN])}</code>{warnings}"
            f'<span class="size" title="byte {row.offset}">{format_bytes(row.length)}</span>'
        )
        inner = render_fetched_details(f"{head.tab_url('raw')}/{view.file}/{row.number}", summary)
        rows += f'<li id="line-{row.number}"{css}>{inner}</li>'
    base = _build_raw_url(head, view.file, view.kind)
    last = view.first - 1 + len(view.rows)
    pages = render_pager("lines", view.first, last, view.matching, f"{base}&", STEP)
    listed = f'<ol class="raw-lines">{rows}</ol>' if rows else '<p class="empty">No such line.</p>'
    files = render_options(
        ((str(file.number), f"{file.name} ({format_bytes(file.size)})") for file in view.files),
        str(view.file),
    )
    kinds = render_options(
        ((kind, f"{kind} ({count})") for kind, count in view.counts.items()), view.kind
    )
    value = f' value="{view.line}"' if view.line else ""
    chooser = (
        f'<form class="chooser" action="{esc(head.tab_url("raw"))}">'
        f'<label>File <select name="file">{files}</select></label>'
        f'<label>Type <select name="type"><option value="">all ({view.total})</option>{kinds}'
        "</select></label>"
        f'<label>Line <input name="line" type="number" min="1" max="{max(view.total, 1)}"{value}>'
        "</label><button>Show</button>"
        f'<a class="download" href="{esc(head.tab_url("raw"))}/{view.file}/file" download>'
        "Original file</a></form>"
    )
    findings = ""
    if view.findings:
        url = esc(_build_raw_url(head, view.file))
        items = "".join(
            f'<li><a href="{url}&amp;line={line}">line {line}</a> {esc(sentence)}</li>'
            if line
            else f"<li>{esc(sentence)}</li>"
            for line, sentence in view.findings[:MOST_FINDINGS]
        )
        findings = (
            f'<details class="findings"><summary>{icon("warn")}'
            f"{format_count(len(view.findings), 'finding')}</summary><ul>{items}</ul></details>"
        )
    return f"{chooser}{findings}{pages}{listed}{pages}"


def _build_raw_url(head: SessionHeader, file: int, type_: str | None = None) -> str:
    query = {"file": str(file), **({"type": type_} if type_ else {})}
    return f"{head.tab_url('raw')}?{encode_query(query)}"


def render_line(
    head: SessionHeader, file: int, row: RawLine, original: tuple[str, str] | None = None
) -> str:
    """Render one line pretty-printed, with its position, ready to be copied.

    Below a line that was translated stands the `original`: its place, and what it says.
    """
    link = f'<a href="{esc(head.record_url(row.uuid))}">in the conversation</a>' if row.uuid else ""
    raw = f"{head.tab_url('raw')}/{file}/{row.number}?raw=1"
    facts = (
        f"<span>byte {row.offset}, {row.length} bytes</span>{render_time(row.time)}{link}"
        f'<button type="button" data-copy-from="{esc(raw)}">{icon("copy")}Copy the line</button>'
    )
    html = _render_pretty(row.text, facts)
    if original:
        place, text = original
        html += _render_pretty(text, f"<span>translated from {esc(place)}</span>")
    return html


def _render_pretty(text: str, facts: str) -> str:
    """Render a line pretty-printed, below facts about it."""
    if len(text) <= MOST_PRETTY:
        with suppress(ValueError, RecursionError):
            text = json.dumps(json.loads(text), ensure_ascii=False, indent=2)
    if len(text) > MOST_PRETTY:
        facts += "<span>truncated: the original file has all of it</span>"
    return (
        f'<div class="line-facts">{facts}</div>'
        f'<pre class="out json" tabindex="0">{esc(text[:MOST_PRETTY])}</pre>'
    )


try:  # several times faster; other platforms compress with zlib
    from isal.isal_zlib import compress
except ImportError:  # pragma: no cover
    from zlib import compress


class PackedLines(NamedTuple):
    """Some lines of one file, compressed."""

    file: int
    first: int
    last: int
    data: bytes

    @property
    def letters(self) -> str:
        """The same in base64, for a page that contains everything itself."""
        return b64encode(self.data).decode()


def pack_lines(file: int, lines: Iterable[tuple[int, bytes]]) -> Iterator[PackedLines]:
    """Yield the lines of a file, numbered, in chunks of about a megabyte."""
    chunk: list[bytes] = []
    first = last = size = 0
    for number, line in lines:
        if not chunk:
            first = number
        chunk.append(b"%d\t%s" % (number, line))
        last, size = number, size + len(line)
        if size >= PIECE:
            yield _pack(file, first, last, chunk)
            chunk, size = [], 0
    if chunk:
        yield _pack(file, first, last, chunk)


def _pack(file: int, first: int, last: int, lines: list[bytes]) -> PackedLines:
    return PackedLines(file, first, last, compress(b"\n".join(lines), LEVEL))


def make_lines_script(chunk: PackedLines) -> bytes:
    """Return a chunk as a script: pages on disk can load nothing else."""
    call = b"plait.lines(%d,%d,%d," % (chunk.file, chunk.first, chunk.last)
    return call + _quote_bytes(chunk.data) + b")\n"


def make_part_script(number: int, turns: Sequence[str]) -> bytes:
    """Return turns that are not in their page as a script."""
    data = compress(msgspec.json.encode(turns), PART_LEVEL)
    return b"plait.part(%d," % number + _quote_bytes(data) + b")\n"


def _quote_bytes(data: bytes) -> bytes:
    """Return bytes as a script string with one character per byte."""
    for byte, escape in ESCAPES:
        data = data.replace(byte, escape)
    return b'"' + data + b'"'


ESCAPES = ((b"\\", rb"\\"), (b'"', rb"\""), (b"\n", rb"\n"), (b"\r", rb"\r"))
