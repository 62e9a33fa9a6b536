"""Front matter of Markdown files: commands, skills, agents and rules.

    ---
    description: Reviews a change
    allowed-tools: [Read, "Bash(git diff:*)"]
    ---
    Look at the change.

This reads the part of YAML that such files use: plain and quoted strings, lists in brackets or line
by line, multi-line strings. Anything else is skipped; front matter without an end is body text.
"""

import json
import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple, TypeAlias

Value: TypeAlias = str | tuple[str, ...]
HEAD = re.compile(r"\A\ufeff?---[ \t]*\r?\n(.*?)^---[ \t]*(?:\r?\n|\Z)", re.DOTALL | re.MULTILINE)
KEY = re.compile(r"([A-Za-z_][\w.-]*)[ \t]*:(?:[ \t]+(.*))?")
ITEM = re.compile(r"\s*-(?:[ \t]+(.*))?")
COMMENT = re.compile(r"(?:^|\s)#.*")
LIST = re.compile(r"\[([^\[\]]*)\]\s*(?:#.*)?", re.DOTALL)
BLOCK = re.compile(r"([|>])[-+0-9]*(?:\s+#.*)?")


class Document(NamedTuple):
    """A file with front matter."""

    head: Mapping[str, Value]
    body: str

    def get_text(self, name: str) -> str:
        """Return a value as text; empty if there is none."""
        value = self.head.get(name, "")
        return value if isinstance(value, str) else ", ".join(value)

    def get_list(self, name: str) -> tuple[str, ...]:
        """Return a value as a list: from a YAML list or separated by commas."""
        value = self.head.get(name, "")
        parts = _split_commas(value) if isinstance(value, str) else value
        return tuple(part for part in parts if part)

    def is_true(self, name: str) -> bool:
        """Return whether a value is true."""
        return self.get_text(name).casefold() in ("true", "yes", "on")


def parse_document(text: str) -> Document:
    """Return the front matter and body of a file; without front matter, all of it is body."""
    found = HEAD.match(text)
    if found is None:
        return Document({}, text)
    head: dict[str, Value] = {}
    lines, place = found[1].splitlines(), 0
    while place < len(lines):
        named = KEY.fullmatch(lines[place].rstrip())
        place = below = place + 1
        # blank and indented lines and items of a list belong to the name above them
        while below < len(lines) and (
            not lines[below].strip() or lines[below][0] in " \t" or ITEM.fullmatch(lines[below])
        ):
            below += 1
        if named:
            head[named[1]] = _parse_value((named[2] or "").strip(), lines[place:below])
        place = below
    return Document(head, text[found.end() :])


def _parse_value(first: str, below: Sequence[str]) -> Value:
    if block := BLOCK.fullmatch(first):
        indents = [len(line) - len(line.lstrip()) for line in below if line.strip()]
        bare = [line[min(indents, default=0) :].rstrip() for line in below]
        text = "\n".join(bare).strip("\n")
        return re.sub(r"(?<!\n)\n(?!\n)", " ", text) if (block[1] == ">") else text
    listed = LIST.fullmatch(" ".join([first, *below]).strip())
    if listed:  # the closing bracket of a list, with nothing after it
        return tuple(filter(None, map(_parse_scalar, _split_commas(listed[1]))))
    items = [found[1] or "" for line in below if (found := ITEM.fullmatch(line.rstrip()))]
    if not COMMENT.sub("", first) and items:
        return tuple(_parse_scalar(item) for item in items)
    if first and not first.startswith(("'", '"')):
        first = " ".join([first, *(line.strip() for line in below if line.strip())])
    return _parse_scalar(first)


def _parse_scalar(text: str) -> str:
    text = text.strip()
    if quoted := re.match(r'"(?:[^"\\]|\\.)*"', text):
        try:
            return str(json.loads(quoted[0], strict=False))
        except ValueError:
            return quoted[0][1:-1]
    if text.startswith('"'):
        return text
    if text.startswith("'"):
        quoted = re.match(r"'((?:[^']|'')*)'", text)
        return quoted[1].replace("''", "'") if quoted else text
    return COMMENT.sub("", text).strip()


def _split_commas(text: str) -> list[str]:
    """Return the parts between commas; brackets and quotes are not split."""
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
