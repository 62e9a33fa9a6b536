"""Log text as safe Markdown.

`escape_literal` is for what users typed: it is shown as it was written. `sanitize_markdown` is for
what the model wrote: headings, lists and tables stay, HTML and unsafe links become text. Fenced
code is always rewritten, at the margin and with a fence of our own, so that it is never ambiguous
where code ends.
"""

import re
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import NamedTuple

from plait.view.text import clean_text

FENCE = re.compile(r"[ \t]*(?:(`{3,})([^`]*)|(~{3,})(.*))$")
NOT_NAMED = re.compile(r"[`|]+")
"""Characters no language name may contain: some readers would see a table header."""
TICKS = re.compile("`+")
TAG = re.compile(r"(?<!\\)(\\*)<(?=[A-Za-z/!?])")
ENTITY = re.compile(r"(?<!\\)(\\*)&(?=#?\w{1,40};)")
IMAGE = re.compile(r"(?<!\\)(\\*)!\[")
TARGET = re.compile(r"\](?:\((?=([^)\s]{0,200}))|:)")
ADDRESSES = ("://", "www.", "@")
HARMLESS = re.compile(r"<?(?:https?://|mailto:|[#/.?]|[^:]+$)", re.IGNORECASE)
HEADING = re.compile(r" {0,3}(#{1,6})(?=[ \t]|$)")
UNDERLINE = re.compile(r" {0,3}(?:=+|-+)[ \t]*$")
RISKY = re.compile(r"[<&\[\]`#~]|^[ \t]*[=-]+[ \t]*$", re.MULTILINE)
SPECIAL = re.compile(
    r"\\(?=[!-/:-@\[-`{-~]|$)|[`*~$]|(?<!\w)_|_(?!\w)|(?<=\])[(:\[]"  # anywhere
    r"|^(?:#(?=[#\s]|$)|>|[+-](?=[\s-]|$)|=(?==*$)|[|:](?=[|:\s-]*$))"  # at the beginning of a line
)
NUMBER = re.compile(r"(\d{1,9})([.)])(?=\s|$)")
LOWEST = 6
DEMOTED = 3


class TextPart(NamedTuple):
    """Lines of prose, or of code between fences."""

    lines: list[str]
    is_code: bool = False
    language: str = ""


def escape_literal(text: str) -> str:
    """Return typed text so that it is shown as typed, line by line."""
    blocks = []
    for part in _split_parts(clean_text(text)):
        if part.is_code:
            blocks.append(fence_code("\n".join(part.lines), part.language))
        else:
            paragraphs = groupby(part.lines, key=lambda line: bool(line.strip()))
            blocks.append(
                "\n\n".join(
                    "  \n".join(map(_escape_line, paragraph))
                    for has_text, paragraph in paragraphs
                    if has_text
                )
            )
    return "\n\n".join(block for block in blocks if block)


def sanitize_markdown(text: str) -> str:
    """Return the model's Markdown without HTML, unsafe links and remote images."""
    text = clean_text(text).strip("\n")
    if RISKY.search(text) is None:
        return text
    blocks = []
    for part in _split_parts(text):
        if part.is_code:
            blocks.append(fence_code("\n".join(part.lines), part.language))
        else:
            blocks.append("\n".join(_iter_inert_lines(part.lines)).strip("\n"))
    return "\n\n".join(block for block in blocks if block)


def quote_block(block: str) -> str:
    """Return a block of Markdown as a quotation."""
    return "\n".join(f"> {line}" if line else ">" for line in block.split("\n"))


def fence_code(text: str, language: str = "") -> str:
    """Return text as code, between fences longer than any in it."""
    fence = "```"
    if fence in text:
        fence = "`" * (max(map(len, TICKS.findall(text))) + 1)
    return f"{fence}{language}\n{text}\n{fence}"


def format_code_span(text: str) -> str:
    """Return one line of code within prose."""
    line = " ".join(text.split())
    if "`" not in line:
        return f"`{line}`" if line else ""
    fence = "`" * (max(map(len, TICKS.findall(line))) + 1)
    return f"{fence} {line} {fence}"


def escape_phrase(text: str) -> str:
    """Return text on one line with nothing active in it, for headings, cells and links."""
    line = " ".join(clean_text(text).split())
    return _escape_line(line).replace("[", r"\[").replace("]", r"\]").replace("|", r"\|")


def escape_html_line(text: str) -> str:
    """Return text on one line for use between HTML tags."""
    line = " ".join(clean_text(text).split())
    return line.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def make_anchor(name: str) -> str:
    """Return a name as an HTML id: letters, digits, `-` and `_`."""
    return re.sub(r"[^A-Za-z0-9_-]", "-", name)


def _split_parts(text: str) -> Iterator[TextPart]:
    """Yield prose and fenced code in turn; a fence that never closes ends with the text."""
    lines: list[str] = []
    fence: tuple[str, int, str] | None = None
    for line in text.split("\n"):
        match = FENCE.match(line) if "```" in line or "~~~" in line else None
        if fence:
            mark = (match[1] or match[3]) if match else ""
            is_bare = match is not None and not (match[2] or match[4] or "").strip()
            if is_bare and mark[0] == fence[0][0] and len(mark) >= len(fence[0]):
                yield TextPart(lines, True, fence[2])
                lines, fence = [], None
            else:
                lines.append(line[min(fence[1], len(line) - len(line.lstrip())) :])
        elif match:
            if lines:
                yield TextPart(lines)
            language = NOT_NAMED.sub("", match[2] or match[4] or "").strip()
            lines, fence = [], (match[1] or match[3], len(line) - len(line.lstrip()), language)
        else:
            lines.append(line)
    if fence:
        yield TextPart(lines, True, fence[2])
    elif lines:
        yield TextPart(lines)


def _escape_line(line: str) -> str:
    text = line.strip()
    if not text:
        return ""
    text = _escape_html(SPECIAL.sub(r"\\\g<0>", text))
    if text[0].isdigit():
        text = NUMBER.sub(r"\1\\\2", text, count=1)
    if line[0].isspace():
        expanded = line.expandtabs(4)
        text = "&nbsp;" * min(len(expanded) - len(expanded.lstrip()), 40) + text
    return text


def _escape_html(text: str) -> str:
    if "&" in text:
        text = ENTITY.sub(lambda match: _unescape_slashes(match[1], "&amp;"), text)
    if "<" in text:
        text = TAG.sub(lambda match: _unescape_slashes(match[1], "&lt;"), text)
    return text


def _unescape_slashes(slashes: str, safe: str) -> str:
    return slashes[: len(slashes) // 2 * 2] + safe


def _iter_inert_lines(lines: Iterable[str]) -> Iterator[str]:
    previous, is_open = "", False
    for line in lines:
        if not line.strip():
            previous, is_open = "", False
            yield ""
            continue
        if line[0] in "# " and (match := HEADING.match(line)):
            level = len(match[1])
            line = "#" * min(level + DEMOTED, LOWEST) + line[match.end() :]
        elif previous and line[0] in "=- " and UNDERLINE.match(line):
            line = "\\" + line.strip()
        previous = line
        line, is_open = _make_inert(line, is_open=is_open)
        yield line


def _make_inert(line: str, *, is_open: bool) -> tuple[str, bool]:
    """Return a line of Markdown without HTML, and whether a code span may be open after it.

    Code spans keep their characters, but only where every reader agrees on where they are: not
    after a single backtick of the same paragraph, an escaped one, a bar of a table, an address.
    """
    if "`" not in line:
        return _neutralize(line), is_open
    spans = list(_iter_code_spans(line))
    is_lone = sum(len(TICKS.findall(line[a:b])) for a, b in spans) != len(TICKS.findall(line))
    is_barred = any("|" in line[start:end] for start, end in spans)
    code_words = [word for word in line.split() if "`" in word]
    is_in_url = any(mark in word for word in code_words for mark in ADDRESSES)
    if is_open or is_barred or is_in_url or "\\`" in line:
        return _neutralize(line), True
    pieces, last = [], 0
    for start, end in spans:
        pieces += [_neutralize(line[last:start]), line[start:end]]
        last = end
    return "".join([*pieces, _neutralize(line[last:])]), is_lone


def _iter_code_spans(line: str) -> Iterator[tuple[int, int]]:
    runs = list(TICKS.finditer(line))
    closing: dict[int, int] = {}
    newest: dict[int, int] = {}
    for index in range(len(runs) - 1, -1, -1):
        length = len(runs[index][0])
        closing[index] = newest.get(length, -1)
        newest[length] = index
    index = 0
    while index < len(runs):
        if closing[index] > 0:
            yield runs[index].start(), runs[closing[index]].end()
        index = max(index, closing[index]) + 1


def _neutralize(text: str) -> str:
    def disarm(link: re.Match[str]) -> str:
        is_harmless = link[1] and HARMLESS.match(link[1])
        return link[0] if is_harmless else f"]\\{link[0][1:]}"

    text = _escape_html(text)
    if "![" in text:
        text = IMAGE.sub(lambda match: _unescape_slashes(match[1], "&#33;["), text)
    return TARGET.sub(disarm, text) if "](" in text or "]:" in text else text
