"""A Markdown file to what its head says and what stands below: commands, skills, agents, rules.

    ---
    description: Looks a change over
    allowed-tools: [Read, "Bash(git diff:*)"]
    ---
    Look at the change.

Of YAML this reads what such heads are written in: names with words, words in quotes, lists in
brackets or line by line, texts over several lines. What it does not understand it leaves out; a
head that does not end is none.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple, TypeAlias

Value: TypeAlias = str | tuple[str, ...]
HEAD = re.compile(r"\A\ufeff?---[ \t]*\r?\n(.*?)^---[ \t]*(?:\r?\n|\Z)", re.DOTALL | re.MULTILINE)
NAMED = re.compile(r"([A-Za-z_][\w.-]*)[ \t]*:(?:[ \t]+(.*))?")
ITEM = re.compile(r"\s*-(?:[ \t]+(.*))?")
REMARK = re.compile(r"(?:^|\s)#.*")
BLOCK = re.compile(r"([|>])[-+0-9]*(?:\s+#.*)?")


class Document(NamedTuple):
    """A file whose head is read."""

    head: Mapping[str, Value]
    body: str

    def said(self, name: str) -> str:
        """Returns what the head says of something in words, nothing where it does not."""
        value = self.head.get(name, "")
        return value if isinstance(value, str) else ", ".join(value)

    def listed(self, name: str) -> tuple[str, ...]:
        """Returns what the head lists: as a list, or between commas."""
        value = self.head.get(name, "")
        parts = _between_commas(value) if isinstance(value, str) else value
        return tuple(part for part in parts if part)

    def is_set(self, name: str) -> bool:
        """Tells whether the head says yes to something."""
        return self.said(name).casefold() in ("true", "yes", "on")


def document_of(text: str) -> Document:
    """Returns the head and the body of a file; without a head, all is body."""
    found = HEAD.match(text)
    if found is None:
        return Document({}, text)
    return Document(dict(_entries(found[1].splitlines())), text[found.end() :])


def _entries(lines: Sequence[str]) -> Iterator[tuple[str, Value]]:
    place = 0
    while place < len(lines):
        named = NAMED.fullmatch(lines[place].rstrip())
        place += 1
        below = place
        while below < len(lines) and _is_below(lines[below]):
            below += 1
        if named:
            yield named[1], _value((named[2] or "").strip(), lines[place:below])
        place = below


def _is_below(line: str) -> bool:
    """Tells whether a line belongs to the name above it."""
    return not line.strip() or line[0] in " \t" or bool(ITEM.fullmatch(line))


def _value(first: str, below: Sequence[str]) -> Value:
    if block := BLOCK.fullmatch(first):
        return _text(below, is_folded=block[1] == ">")
    if first.startswith("[") and (listed := _bracketed(" ".join([first, *below]))) is not None:
        return listed
    items = [found[1] or "" for line in below if (found := ITEM.fullmatch(line.rstrip()))]
    if not REMARK.sub("", first) and items:
        return tuple(_scalar(item) for item in items)
    if first and not first.startswith(("'", '"')):
        first = " ".join([first, *(line.strip() for line in below if line.strip())])
    return _scalar(first)


def _text(lines: Sequence[str], *, is_folded: bool) -> str:
    indents = [len(line) - len(line.lstrip()) for line in lines if line.strip()]
    bare = [line[min(indents, default=0) :].rstrip() for line in lines]
    text = "\n".join(bare).strip("\n")
    return re.sub(r"(?<!\n)\n(?!\n)", " ", text) if is_folded else text


def _scalar(text: str) -> str:
    text = text.strip()
    if text.startswith('"'):
        return _double_quoted(text)
    if text.startswith("'"):
        quoted = re.match(r"'((?:[^']|'')*)'", text)
        return quoted[1].replace("''", "'") if quoted else text
    return REMARK.sub("", text).strip()


def _double_quoted(text: str) -> str:
    quoted = re.match(r'"(?:[^"\\]|\\.)*"', text)
    if quoted is None:
        return text
    try:
        return str(json.loads(quoted[0], strict=False))
    except ValueError:
        return quoted[0][1:-1]


def _bracketed(text: str) -> tuple[str, ...] | None:
    """Returns the items of a list in brackets, None where it does not end, or goes on behind."""
    found = re.fullmatch(r"\[([^\[\]]*)\]\s*(?:#.*)?", text.strip(), re.DOTALL)
    return tuple(filter(None, map(_scalar, _between_commas(found[1])))) if found else None


def _between_commas(text: str) -> list[str]:
    """Returns what stands between commas, those in brackets and quotes left alone."""
    parts, part, depth, quote = [], "", 0, ""
    for letter in text:
        if quote:
            quote = "" if letter == quote else quote
        elif letter in "'\"" and not part.strip():
            quote = letter
        depth += 0 if quote else (letter in "({[") - (letter in ")}]")
        if letter == "," and not quote and depth <= 0:
            parts.append(part.strip())
            part = ""
        else:
            part += letter
    return [*parts, part.strip()]
