"""Lines of a log to HTML: their place, their type, what is odd; packed for who fetches them."""

import json
from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple
from urllib.parse import urlencode

import msgspec
from msgspec import Struct

from plait.view.amounts import bytes_in_words, many
from plait.view.page.conversation.entries import clock
from plait.view.page.markup import esc, icon, options
from plait.view.page.tabs.head import Head, pager, unfolding
from plait.view.words import RawLine

STEP = 100
SHOWN = 200
"""Characters of a line that stand in the list."""
MOST_PRETTY = 1_000_000
"""Characters of one line that are drawn."""
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
    """The one that is shown, by its number."""
    total: int
    """Lines in it."""
    counts: Mapping[str, int]
    kind: str | None
    first: int
    """Where the part begins among the lines of that type."""
    matching: int
    rows: Sequence[RawLine]
    line: int | None = None
    """The line that was asked for."""
    findings: Sequence[tuple[int | None, str]] = ()
    """All of the file: the line, the sentence."""


def raw_body(head: Head, view: RawView) -> str:
    """Returns a part of a file, and the ways to others."""
    odd: dict[int | None, list[str]] = {}
    for line, sentence in view.findings:
        odd.setdefault(line, []).append(sentence)
    rows = "".join(_raw_row(head, view, row, odd.get(row.number, ())) for row in view.rows)
    base = _raw_address(head, view.file, view.kind)
    last = view.first - 1 + len(view.rows)
    pages = pager("lines", view.first, last, view.matching, f"{base}&", STEP)
    listed = f'<ol class="raw-lines">{rows}</ol>' if rows else '<p class="empty">No such line.</p>'
    return f"{_chooser(head, view)}{_findings_html(head, view)}{pages}{listed}{pages}"


def _raw_address(head: Head, file: int, kind: str | None = None) -> str:
    asked = {"file": str(file), **({"type": kind} if kind else {})}
    return f"{head.place('raw')}?{urlencode(asked)}"


def _chooser(head: Head, view: RawView) -> str:
    files = options(
        ((str(one.number), f"{one.name} ({bytes_in_words(one.size)})") for one in view.files),
        str(view.file),
    )
    kinds = options(((kind, f"{kind} ({count})") for kind, count in view.counts.items()), view.kind)
    wanted = f' value="{view.line}"' if view.line else ""
    return (
        f'<form class="chooser" action="{esc(head.place("raw"))}">'
        f'<label>File <select name="file">{files}</select></label>'
        f'<label>Type <select name="type"><option value="">all ({view.total})</option>{kinds}'
        "</select></label>"
        f'<label>Line <input name="line" type="number" min="1" max="{max(view.total, 1)}"{wanted}>'
        "</label><button>Show</button>"
        f'<a class="download" href="{esc(head.place("raw"))}/{view.file}/file" download>'
        "The file as it is</a></form>"
    )


def _findings_html(head: Head, view: RawView) -> str:
    if not view.findings:
        return ""
    rows = "".join(
        f'<li><a href="{esc(_raw_address(head, view.file))}&amp;line={line}">line {line}</a> '
        f"{esc(sentence)}</li>"
        if line
        else f"<li>{esc(sentence)}</li>"
        for line, sentence in view.findings[:200]
    )
    words = many(len(view.findings), "finding")
    return (
        f'<details class="findings"><summary>{icon("warn")}{words}</summary><ul>{rows}</ul>'
        "</details>"
    )


def _raw_row(head: Head, view: RawView, row: RawLine, findings: Iterable[str]) -> str:
    odd = "".join(f'<span class="odd">{icon("warn")}{esc(one)}</span>' for one in findings)
    here = ' class="wanted"' if row.number == view.line else ""
    summary = (
        f'<span class="n">{row.number}</span><span class="kind">{esc(row.type)}</span>'
        f"<code>{esc(row.words or row.text[:SHOWN])}</code>{odd}"
        f'<span class="size" title="byte {row.offset}">{bytes_in_words(row.length)}</span>'
    )
    inner = unfolding(f"{head.place('raw')}/{view.file}/{row.number}", summary)
    return f'<li id="line-{row.number}"{here}>{inner}</li>'


def line_html(head: Head, file: int, row: RawLine) -> str:
    """Returns one line whole: pretty, with its place, to be copied."""
    text, is_whole = _pretty(row.text)
    link = f'<a href="{esc(head.at(row.uuid))}">in the conversation</a>' if row.uuid else ""
    rest = "" if is_whole else "<span>cut: the file as it is holds all of it</span>"
    raw = f"{head.place('raw')}/{file}/{row.number}?raw=1"
    return (
        f'<div class="line-facts"><span>byte {row.offset}, {row.length} bytes</span>'
        f"{clock(row.time)}{link}"
        f'<button type="button" data-copy-from="{esc(raw)}">{icon("copy")}Copy the line</button>'
        f'{rest}</div><pre class="out json" tabindex="0">{esc(text)}</pre>'
    )


def _pretty(line: str) -> tuple[str, bool]:
    text = line
    if len(line) <= MOST_PRETTY:
        try:
            text = json.dumps(json.loads(line), ensure_ascii=False, indent=2)
        except (ValueError, RecursionError):
            text = line
    return text[:MOST_PRETTY], len(text) <= MOST_PRETTY


try:  # several times faster; any other platform packs as well, in its own time
    from isal.isal_zlib import compress
except ImportError:  # pragma: no cover
    from zlib import compress


class PackedLines(NamedTuple):
    """Some lines of one file, packed."""

    file: int
    first: int
    last: int
    data: bytes

    @property
    def letters(self) -> str:
        """The same in plain letters, for a page that holds everything itself."""
        return b64encode(self.data).decode()


def packed_lines(file: int, lines: Iterable[tuple[int, bytes]]) -> Iterator[PackedLines]:
    """Yields the lines of a file, numbered, in pieces of about a megabyte."""
    held: list[bytes] = []
    first = last = size = 0
    for number, line in lines:
        if not held:
            first = number
        held.append(b"%d\t%s" % (number, line))
        last, size = number, size + len(line)
        if size >= PIECE:
            yield _packed(file, first, last, held)
            held, size = [], 0
    if held:
        yield _packed(file, first, last, held)


def _packed(file: int, first: int, last: int, lines: list[bytes]) -> PackedLines:
    return PackedLines(file, first, last, compress(b"\n".join(lines), LEVEL))


def script_of(piece: PackedLines) -> bytes:
    """Returns a piece as a script of its own: pages on a disk can load nothing else."""
    said = b"plait.lines(%d,%d,%d," % (piece.file, piece.first, piece.last)
    return said + _literal(piece.data) + b")\n"


def part_script(number: int, turns: Sequence[str]) -> bytes:
    """Returns turns that do not stand in their page as a script of its own."""
    data = compress(msgspec.json.encode(turns), PART_LEVEL)
    return b"plait.part(%d," % number + _literal(data) + b")\n"


def _literal(data: bytes) -> bytes:
    """Returns bytes as a string of a script that is read one letter a byte."""
    for byte, written in ESCAPES:
        data = data.replace(byte, written)
    return b'"' + data + b'"'


ESCAPES = ((b"\\", rb"\\"), (b'"', rb"\""), (b"\n", rb"\n"), (b"\r", rb"\r"))
