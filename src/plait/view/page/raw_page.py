"""Lines of a log to HTML: where they lie, of what type they are, what is odd about them."""

import json
from collections.abc import Mapping, Sequence
from urllib.parse import urlencode

from msgspec import Struct

from plait.view.amounts import bytes_in_words, many
from plait.view.page.conversation.entries import clock
from plait.view.page.escape import esc
from plait.view.page.icons import icon
from plait.view.page.tabs import Head, fetched, pager

STEP = 100
SHOWN = 200
"""Characters of a line that stand in the list."""
MOST_PRETTY = 1_000_000
"""Characters of one line that are drawn."""


class FileChoice(Struct, frozen=True):
    """A log file of the session."""

    number: int
    name: str
    size: int


class RawRow(Struct, frozen=True, kw_only=True):
    """One line in the list."""

    number: int
    offset: int
    length: int
    type: str
    uuid: str | None
    time: str | None
    words: str
    text: str
    findings: tuple[str, ...] = ()


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
    rows: Sequence[RawRow]
    line: int | None = None
    """The line that was asked for."""
    findings: Sequence[tuple[int | None, str]] = ()
    """All of the file: the line, the sentence."""


def raw_body(head: Head, view: RawView) -> str:
    """Returns a part of a file, and the ways to others."""
    rows = "".join(raw_row(head, view, row) for row in view.rows)
    base = address(head, view.file, view.kind)
    last = view.first - 1 + len(view.rows)
    pages = pager("lines", view.first, last, view.matching, f"{base}&", STEP)
    listed = f'<ol class="raw-lines">{rows}</ol>' if rows else '<p class="empty">No such line.</p>'
    return f"{chooser(head, view)}{findings_html(head, view)}{pages}{listed}{pages}"


def address(head: Head, file: int, kind: str | None = None) -> str:
    """Returns the address of a file's lines, of one type or all."""
    asked = {"file": str(file), **({"type": kind} if kind else {})}
    return f"{head.place('raw')}?{urlencode(asked)}"


def chooser(head: Head, view: RawView) -> str:
    """Returns the choice of file, type and line, and the way to the file as it is."""
    files = "".join(
        f'<option value="{one.number}"{" selected" if one.number == view.file else ""}>'
        f"{esc(one.name)} ({bytes_in_words(one.size)})</option>"
        for one in view.files
    )
    kinds = "".join(
        f'<option value="{esc(kind)}"{" selected" if kind == view.kind else ""}>'
        f"{esc(kind)} ({count})</option>"
        for kind, count in view.counts.items()
    )
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


def findings_html(head: Head, view: RawView) -> str:
    """Returns what is odd in the file."""
    if not view.findings:
        return ""
    rows = "".join(
        f'<li><a href="{esc(address(head, view.file))}&amp;line={line}">line {line}</a> '
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


def raw_row(head: Head, view: RawView, row: RawRow) -> str:
    """Returns one line: its place, its type, how it begins."""
    odd = "".join(f'<span class="odd">{icon("warn")}{esc(one)}</span>' for one in row.findings)
    here = ' class="wanted"' if row.number == view.line else ""
    summary = (
        f'<span class="n">{row.number}</span><span class="kind">{esc(row.type)}</span>'
        f"<code>{esc(row.words or row.text[:SHOWN])}</code>{odd}"
        f'<span class="size" title="byte {row.offset}">{bytes_in_words(row.length)}</span>'
    )
    inner = fetched(f"{head.place('raw')}/{view.file}/{row.number}", summary)
    return f'<li id="line-{row.number}"{here}>{inner}</li>'


def line_html(head: Head, file: int, row: RawRow) -> str:
    """Returns one line whole: pretty, with its place, to be copied."""
    text, is_whole = pretty(row.text)
    link = f'<a href="{esc(head.at(row.uuid))}">in the conversation</a>' if row.uuid else ""
    rest = "" if is_whole else "<span>cut: the file as it is holds all of it</span>"
    raw = f"{head.place('raw')}/{file}/{row.number}?raw=1"
    return (
        f'<div class="line-facts"><span>byte {row.offset}, {row.length} bytes</span>'
        f"{clock(row.time)}{link}"
        f'<button type="button" data-copy-from="{esc(raw)}">{icon("copy")}Copy the line</button>'
        f'{rest}</div><pre class="out json" tabindex="0">{esc(text)}</pre>'
    )


def pretty(line: str) -> tuple[str, bool]:
    """Returns a line with one field to each line, and whether that is all of it."""
    text = line
    if len(line) <= MOST_PRETTY:
        try:
            text = json.dumps(json.loads(line), ensure_ascii=False, indent=2)
        except (ValueError, RecursionError):
            text = line
    return text[:MOST_PRETTY], len(text) <= MOST_PRETTY
