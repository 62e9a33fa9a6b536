"""Text written by machines: user messages nobody typed, and what only a tool's view says.

Newer clients say who wrote something (`origin`, `commandMode`, `isMeta`) and are believed.
Otherwise machine-written text is recognised by its form: in tags with names of several words
(`<task-notification>`) or, in the queue of prompts, as an object on one line.
"""

import json
import re
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any, NamedTuple

from plait.record.codec import WORDLESS

MESSAGES = (
    "<cross-session-message",
    "<agent-message",
    "<observed_from_primary",
    '<channel source="',
    "Another Claude session sent a message",
    "A peer session sent a message",
    "The coordinator sent a message while you were working:",
)
"""Beginnings of messages from other sessions."""
BEGINNINGS = (
    "<command-name>",
    "<command-message>",
    "<local-command-",
    "<bash-",
    "<task-notification",
    "<teammate-message",
    "<system-reminder>",
    "<user-prompt-submit-hook>",
    "<session-start-hook>",
    "[Request interrupted",
    *MESSAGES,
)
"""Known beginnings of machine-written text."""
STOPPED = re.compile(r"Operation stopped by hook(?::|\s*\Z)")
NAME = r"[a-z][a-z0-9]*(?:[-_][a-z0-9]+)+"
OPENING = re.compile(rf"\s*<({NAME}|channel)(\s[^<>]*)?>")
EDITOR = "ide_"
"""Beginnings of the tags that an editor adds before a prompt."""
IDS = ("_id", "Id", "ID")
MOST_LOOKED_AT = 1 << 20


class TaggedText(NamedTuple):
    """Text in a tag."""

    tag: str
    head: str
    """The attributes as written."""
    text: str
    rest: str
    """What follows after it."""


def is_machine_text(text: str) -> bool:
    """Return whether a user message begins like a machine-written one."""
    return text.startswith(BEGINNINGS) or STOPPED.match(text) is not None


def is_machine_notice(text: str) -> bool:
    """Return whether a queued text was not typed: all in tags, or an object with ids."""
    text = text.strip()
    return is_machine_text(text) or is_only_tagged_text(text) or parse_notice(text) is not None


def is_only_tagged_text(text: str) -> bool:
    """Return whether a text consists of tagged texts only."""
    found = parse_tagged_text(text)
    while found and not found.tag.startswith(EDITOR):
        if not found.rest.strip():
            return True
        found = parse_tagged_text(found.rest)
    return False


def parse_tagged_text(text: str) -> TaggedText | None:
    """Return the text in the tag at the beginning; None if there is none."""
    start = OPENING.match(text) if "<" in text[:80] else None
    if start is None:
        return None
    closing = f"</{start[1]}>"
    end = text.find(closing, start.end())
    if end < 0:
        return None
    rest = text[end + len(closing) :]
    return TaggedText(start[1], start[2] or "", text[start.end() : end].strip(), rest)


def parse_notice(text: str) -> dict[str, Any] | None:
    """Return an object on one line that has an id, as machines write it; else None."""
    if not text.startswith('{"') or not text.endswith("}") or len(text) > MOST_LOOKED_AT:
        return None
    if "\n" in text:
        return None
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    is_notice = isinstance(found, dict) and any(str(name).endswith(IDS) for name in found)
    return found if is_notice else None


# The client's view of a tool result mostly repeats what the model got or what the tool was given.
# What it has beyond that (errors next to the output, lines around a change) is nowhere else in the
# log.


ECHOES = frozenset("originalFile oldString newString prompt".split())
"""Texts of the input, and former contents of files: a patch has what was removed from them."""
FACTS = frozenset("filePath mode status".split())
"""Texts of the client, and the path that the tool was given."""
WRITTEN = frozenset({"create", "update"})
NUMBERED = re.compile(r"\s*\d+[→\t]")
FAILED = "Error: "
FEW = 4
"""Lines from which a text is compared by its ends and its middle only."""
BASE64 = re.compile(r"[A-Za-z0-9+/_-]{200,}={0,2}")


def extract_extra_text(view: Any, *known_texts: str) -> dict[str, str]:
    """Return the texts of a view that are nowhere else, by the names that lead to them."""
    if view is None or (isinstance(view, str) and view in known_texts):
        return {}
    known = _KnownText(known_texts)
    found: dict[str, list[str]] = {}
    for name, text in _iter_texts(view):
        if not known.is_known(text) and (lines := [*filter(known.is_new, text.split("\n"))]):
            found.setdefault(name, []).extend(lines)
    return {name: "\n".join(lines) for name, lines in found.items()}


class _KnownText:
    """Lines that are known already; each new one is added."""

    def __init__(self, texts: tuple[str, ...]) -> None:
        self._text = "\n".join(texts)
        self._seen: set[str] = set()

    @cached_property
    def _lines(self) -> set[str]:
        lines = self._text.split("\n")
        return {NUMBERED.sub("", line, count=1).strip() for line in lines}

    def is_known(self, text: str) -> bool:
        """Return whether a text is known as it is, or with line numbers."""
        words = text.strip()
        if words in self._text:
            return True
        lines = words.count("\n")
        if lines < FEW or self._text.count("\n") < lines:
            return False
        ends = (words[: words.index("\n")], words[words.rindex("\n") + 1 :])
        middle = words[words.rfind("\n", 0, len(words) // 2) + 1 :].partition("\n")[0]
        return all(line.strip() in self._text for line in (*ends, middle))

    def is_new(self, line: str) -> bool:
        """Return whether a line is nowhere else yet."""
        words = line.strip().removeprefix(FAILED)
        if not words or words in self._seen or words in self._text or words in self._lines:
            return False
        self._seen.add(words)
        return True


def _iter_texts(view: Any) -> Iterator[tuple[str, str]]:
    """Yield the texts of a view with the names that lead to each."""
    waiting: list[tuple[tuple[str, ...], Any]] = [((), view)]
    while waiting:
        names, value = waiting.pop()
        if isinstance(value, str):
            if not BASE64.fullmatch(value):
                yield ".".join(names), value.replace("\r", "\n")
        elif isinstance(value, Mapping):
            is_written = value.get("type") in WRITTEN and isinstance(value.get("content"), str)
            has_patch = bool(value.get("structuredPatch"))
            waiting += [
                ((*names, str(key)), value[key])
                for key in reversed(
                    [
                        key
                        for key in value
                        if key not in WORDLESS
                        and key not in FACTS
                        and not (key in ECHOES and (has_patch or key != "originalFile"))
                        and not (key == "content" and is_written)
                    ]
                )
            ]
        elif isinstance(value, list | tuple):
            waiting += [(names, inner) for inner in reversed(value)]
