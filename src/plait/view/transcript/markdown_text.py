"""Text of a log to Markdown that shows it: nothing in it is markup but what may be.

`literal` is for what people typed: it reads as it was written. `markdown` is for what the
model said: its headings, lists and tables stay, its HTML and unsafe links become text. Fenced
code is always written anew, at the margin and with a fence of our own, so that where code ends
is never in doubt.
"""

import re
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import NamedTuple

from plait.view.text import clean

FENCE = re.compile(r"[ \t]*(?:(`{3,})([^`]*)|(~{3,})(.*))$")
NOT_NAMED = re.compile(r"[`|]+")
"""What no language may hold: some readers would see the head of a table."""
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
    r"|^(?:#(?=[#\s]|$)|>|[+-](?=[\s-]|$)|=(?==*$)|[|:](?=[|:\s-]*$))"  # where a line begins
)
NUMBER = re.compile(r"(\d{1,9})([.)])(?=\s|$)")
LOWEST = 6
DEMOTED = 3


class TextPart(NamedTuple):
    """Lines of prose, or of code between fences."""

    lines: list[str]
    is_code: bool = False
    language: str = ""


def literal(text: str) -> str:
    """Returns what a person typed so that it reads as typed, line by line."""
    blocks = []
    for part in _parts_of(clean(text)):
        if part.is_code:
            blocks.append(fenced("\n".join(part.lines), part.language))
        else:
            blocks.append(_broken_lines(part.lines))
    return "\n\n".join(block for block in blocks if block)


def markdown(text: str) -> str:
    """Returns what the model wrote, without HTML, unsafe links and pictures from elsewhere."""
    text = clean(text).strip("\n")
    if RISKY.search(text) is None:
        return text
    blocks = []
    for part in _parts_of(text):
        if part.is_code:
            blocks.append(fenced("\n".join(part.lines), part.language))
        else:
            blocks.append("\n".join(_inert_lines(part.lines)).strip("\n"))
    return "\n\n".join(block for block in blocks if block)


def quoted(block: str) -> str:
    """Returns a block of Markdown as a quotation."""
    return "\n".join(f"> {line}" if line else ">" for line in block.split("\n"))


def fenced(text: str, language: str = "") -> str:
    """Returns a text as code, between fences longer than any in it."""
    fence = "```"
    if fence in text:
        fence = "`" * (max(map(len, TICKS.findall(text))) + 1)
    return f"{fence}{language}\n{text}\n{fence}"


def code(text: str) -> str:
    """Returns one line of code within prose."""
    words = " ".join(text.split())
    if "`" not in words:
        return f"`{words}`" if words else ""
    fence = "`" * (max(map(len, TICKS.findall(words))) + 1)
    return f"{fence} {words} {fence}"


def phrase(text: str) -> str:
    """Returns a text on one line with nothing active in it, for headings, cells and links."""
    words = " ".join(clean(text).split())
    return _literal_line(words).replace("[", r"\[").replace("]", r"\]").replace("|", r"\|")


def html(text: str) -> str:
    """Returns a text on one line for use between HTML tags."""
    words = " ".join(clean(text).split())
    return words.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def anchor(name: str) -> str:
    """Returns an id as it can stand in a link."""
    return re.sub(r"[^A-Za-z0-9_-]", "-", name)


def _parts_of(text: str) -> Iterator[TextPart]:
    """Yields prose and fenced code in turn; a fence that never closes ends with the text."""
    lines: list[str] = []
    opened: tuple[str, int, str] | None = None
    for line in text.split("\n"):
        found = FENCE.match(line) if "```" in line or "~~~" in line else None
        if opened:
            if found and _is_closing(found, opened[0]):
                yield TextPart(lines, True, opened[2])
                lines, opened = [], None
            else:
                lines.append(_dedented(line, opened[1]))
        elif found:
            if lines:
                yield TextPart(lines)
            lines, opened = [], _opening(found, line)
        else:
            lines.append(line)
    if opened:
        yield TextPart(lines, True, opened[2])
    elif lines:
        yield TextPart(lines)


def _opening(found: re.Match[str], line: str) -> tuple[str, int, str]:
    language = NOT_NAMED.sub("", found[2] or found[4] or "").strip()
    return found[1] or found[3], len(line) - len(line.lstrip()), language


def _is_closing(found: re.Match[str], fence: str) -> bool:
    ticks = found[1] or found[3]
    is_bare = not (found[2] or found[4] or "").strip()
    return is_bare and ticks[0] == fence[0] and len(ticks) >= len(fence)


def _dedented(line: str, by: int) -> str:
    return line[min(by, len(line) - len(line.lstrip())) :]


def _broken_lines(lines: Iterable[str]) -> str:
    paragraphs = groupby(lines, key=lambda line: bool(line.strip()))
    return "\n\n".join(
        "  \n".join(map(_literal_line, part)) for spoken, part in paragraphs if spoken
    )


def _literal_line(line: str) -> str:
    body = line.strip()
    if not body:
        return ""
    body = _without_html(SPECIAL.sub(r"\\\g<0>", body))
    if body[0].isdigit():
        body = NUMBER.sub(r"\1\\\2", body, count=1)
    return _indented(line) + body if line[0].isspace() else body


def _indented(line: str) -> str:
    wide = line.expandtabs(4)
    return "&nbsp;" * min(len(wide) - len(wide.lstrip()), 40)


def _without_html(text: str) -> str:
    if "&" in text:
        text = ENTITY.sub(lambda found: _protected(found[1], "&amp;"), text)
    if "<" in text:
        text = TAG.sub(lambda found: _protected(found[1], "&lt;"), text)
    return text


def _protected(slashes: str, safe: str) -> str:
    return slashes[: len(slashes) // 2 * 2] + safe


def _inert_lines(lines: Iterable[str]) -> Iterator[str]:
    before, is_open = "", False
    for line in lines:
        if not line.strip():
            before, is_open = "", False
            yield ""
            continue
        if line[0] in "# " and (found := HEADING.match(line)):
            level = len(found[1])
            line = "#" * min(level + DEMOTED, LOWEST) + line[found.end() :]
        elif before and line[0] in "=- " and UNDERLINE.match(line):
            line = "\\" + line.strip()
        before = line
        line, is_open = _inert(line, is_open=is_open)
        yield line


def _inert(line: str, *, is_open: bool) -> tuple[str, bool]:
    r"""Returns a line of Markdown without HTML, and whether a code span may be open behind it.

    Code spans keep their signs, but only where every reader agrees on where they are: not
    behind a lone backtick of the same paragraph, an escaped one, a bar of a table, an address.
    """
    if "`" not in line:
        return _neutral(line), is_open
    spans = list(_code_spans(line))
    is_lone = sum(len(TICKS.findall(line[a:b])) for a, b in spans) != len(TICKS.findall(line))
    is_barred = any("|" in line[start:end] for start, end in spans)
    if is_open or is_barred or "\\`" in line or _is_in_address(line):
        return _neutral(line), True
    found, last = [], 0
    for start, end in spans:
        found += [_neutral(line[last:start]), line[start:end]]
        last = end
    return "".join([*found, _neutral(line[last:])]), is_lone


def _is_in_address(line: str) -> bool:
    words = (word for word in line.split() if "`" in word)
    return any(mark in word for word in words for mark in ADDRESSES)


def _code_spans(line: str) -> Iterator[tuple[int, int]]:
    runs = list(TICKS.finditer(line))
    closing: dict[int, int] = {}
    newest: dict[int, int] = {}
    for place in range(len(runs) - 1, -1, -1):
        length = len(runs[place][0])
        closing[place] = newest.get(length, -1)
        newest[length] = place
    place = 0
    while place < len(runs):
        if closing[place] > 0:
            yield runs[place].start(), runs[closing[place]].end()
        place = max(place, closing[place]) + 1


def _neutral(text: str) -> str:
    text = _without_html(text)
    if "![" in text:
        text = IMAGE.sub(lambda found: _protected(found[1], "&#33;["), text)
    return TARGET.sub(_followed, text) if "](" in text or "]:" in text else text


def _followed(link: re.Match[str]) -> str:
    if link[1] and HARMLESS.match(link[1]):
        return link[0]
    return f"]\\{link[0][1:]}"
