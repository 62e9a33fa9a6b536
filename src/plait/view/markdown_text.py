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

from plait.view.plain_text import clean

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


class Part(NamedTuple):
    """Lines of prose, or of code between fences."""

    lines: list[str]
    is_code: bool = False
    language: str = ""


def literal(text: str) -> str:
    """Returns what a person typed so that it reads as typed, line by line."""
    blocks = []
    for part in parts_of(clean(text)):
        if part.is_code:
            blocks.append(fenced("\n".join(part.lines), part.language))
        else:
            blocks.append(broken_lines(part.lines))
    return "\n\n".join(block for block in blocks if block)


def markdown(text: str) -> str:
    """Returns what the model wrote, without HTML, unsafe links and pictures from elsewhere."""
    text = clean(text).strip("\n")
    if RISKY.search(text) is None:
        return text
    blocks = []
    for part in parts_of(text):
        if part.is_code:
            blocks.append(fenced("\n".join(part.lines), part.language))
        else:
            blocks.append("\n".join(inert_lines(part.lines)).strip("\n"))
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
    return literal_line(words).replace("[", r"\[").replace("]", r"\]").replace("|", r"\|")


def html(text: str) -> str:
    """Returns a text on one line for use between HTML tags."""
    words = " ".join(clean(text).split())
    return words.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def anchor(name: str) -> str:
    """Returns an id as it can stand in a link."""
    return re.sub(r"[^A-Za-z0-9_-]", "-", name)


def parts_of(text: str) -> Iterator[Part]:
    """Yields prose and fenced code in turn; a fence that never closes ends with the text."""
    lines: list[str] = []
    opened: tuple[str, int, str] | None = None
    for line in text.split("\n"):
        found = FENCE.match(line) if "```" in line or "~~~" in line else None
        if opened:
            if found and is_closing(found, opened[0]):
                yield Part(lines, True, opened[2])
                lines, opened = [], None
            else:
                lines.append(dedented(line, opened[1]))
        elif found:
            if lines:
                yield Part(lines)
            lines, opened = [], opening(found, line)
        else:
            lines.append(line)
    if opened:
        yield Part(lines, True, opened[2])
    elif lines:
        yield Part(lines)


def opening(found: re.Match[str], line: str) -> tuple[str, int, str]:
    """Returns a fence, how far it is indented and the language that it names."""
    language = NOT_NAMED.sub("", found[2] or found[4] or "").strip()
    return found[1] or found[3], len(line) - len(line.lstrip()), language


def is_closing(found: re.Match[str], fence: str) -> bool:
    """Tells whether a fence ends what another began."""
    ticks = found[1] or found[3]
    is_bare = not (found[2] or found[4] or "").strip()
    return is_bare and ticks[0] == fence[0] and len(ticks) >= len(fence)


def dedented(line: str, by: int) -> str:
    """Returns a line without as much white space as its fence had."""
    return line[min(by, len(line) - len(line.lstrip())) :]


def broken_lines(lines: Iterable[str]) -> str:
    """Returns lines that stay apart, each as it was typed."""
    paragraphs = groupby(lines, key=lambda line: bool(line.strip()))
    return "\n\n".join(
        "  \n".join(map(literal_line, part)) for spoken, part in paragraphs if spoken
    )


def literal_line(line: str) -> str:
    """Returns one line in which nothing is active, its indent kept."""
    body = line.strip()
    if not body:
        return ""
    body = without_html(SPECIAL.sub(r"\\\g<0>", body))
    if body[0].isdigit():
        body = NUMBER.sub(r"\1\\\2", body, count=1)
    return indented(line) + body if line[0].isspace() else body


def indented(line: str) -> str:
    """Returns the white space before a line in a form that stays."""
    wide = line.expandtabs(4)
    return "&nbsp;" * min(len(wide) - len(wide.lstrip()), 40)


def without_html(text: str) -> str:
    """Returns a text in which no tag, comment or entity begins."""
    if "&" in text:
        text = ENTITY.sub(lambda found: protected(found[1], "&amp;"), text)
    if "<" in text:
        text = TAG.sub(lambda found: protected(found[1], "&lt;"), text)
    return text


def protected(slashes: str, safe: str) -> str:
    """Returns a sign in a safe form, without the backslash that made it so before."""
    return slashes[: len(slashes) // 2 * 2] + safe


def inert_lines(lines: Iterable[str]) -> Iterator[str]:
    """Yields lines of Markdown in which only formatting is active."""
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
        line, is_open = inert(line, is_open=is_open)
        yield line


def inert(line: str, *, is_open: bool) -> tuple[str, bool]:
    r"""Returns a line of Markdown without HTML, and whether a code span may be open behind it.

    Code spans keep their signs, but only where every reader agrees on where they are: not
    behind a lone backtick of the same paragraph, an escaped one, a bar of a table, an address.
    """
    if "`" not in line:
        return neutral(line), is_open
    spans = list(code_spans(line))
    is_lone = sum(len(TICKS.findall(line[a:b])) for a, b in spans) != len(TICKS.findall(line))
    is_barred = any("|" in line[start:end] for start, end in spans)
    if is_open or is_barred or "\\`" in line or is_in_address(line):
        return neutral(line), True
    found, last = [], 0
    for start, end in spans:
        found += [neutral(line[last:start]), line[start:end]]
        last = end
    return "".join([*found, neutral(line[last:])]), is_lone


def is_in_address(line: str) -> bool:
    """Tells whether a backtick stands where some readers take it for a part of an address."""
    words = (word for word in line.split() if "`" in word)
    return any(mark in word for word in words for mark in ADDRESSES)


def code_spans(line: str) -> Iterator[tuple[int, int]]:
    """Yields where code stands in a line: from a run of backticks to the next of that length."""
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


def neutral(text: str) -> str:
    """Returns prose without HTML, pictures, definitions and links that lead anywhere odd."""
    text = without_html(text)
    if "![" in text:
        text = IMAGE.sub(lambda found: protected(found[1], "&#33;["), text)
    return TARGET.sub(followed, text) if "](" in text or "]:" in text else text


def followed(link: re.Match[str]) -> str:
    """Returns the target of a link, as text where it is neither a web page nor a file nearby."""
    if link[1] and HARMLESS.match(link[1]):
        return link[0]
    return f"]\\{link[0][1:]}"
