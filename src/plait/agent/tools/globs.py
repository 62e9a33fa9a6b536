"""Patterns of paths to expressions that say which paths they mean, as ripgrep reads them."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from plait.agent.tools.model import ToolError

MOST = 10_000
"""Letters of a pattern."""


class _Reader:
    """A pattern that is being read, from left to right."""

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self.at = 0
        self.depth = 0

    def next(self) -> str:
        """Returns the expression of the next piece."""
        letter = self.pattern[self.at]
        self.at += 1
        match letter:
            case "*":
                return self._star()
            case "?":
                return "[^/]"
            case "[":
                return self._class()
            case "{":
                self.depth += 1
                return "(?:"
            case "}" if self.depth:
                self.depth -= 1
                return ")"
            case "," if self.depth:
                return "|"
            case "\\" if self.at < len(self.pattern):
                self.at += 1
                return re.escape(self.pattern[self.at - 1])
            case _:
                return re.escape(letter)

    def _star(self) -> str:
        if self.pattern[self.at : self.at + 1] != "*":
            return "[^/]*"
        self.at += 1
        is_folder = self.at < 3 or self.pattern[self.at - 3] in "/{,"
        if is_folder and self.pattern[self.at : self.at + 1] == "/":
            self.at += 1
            return "(?:.*/)?"
        return ".*"

    def _class(self) -> str:
        end = self.pattern.find("]", self.at + 1 + (self.pattern[self.at : self.at + 1] in "!^"))
        if end < 0:
            raise _rejected(self.pattern, "unclosed character class; missing ']'")
        inner = self.pattern[self.at : end]
        self.at = end + 1
        not_in = "^" if inner[:1] in ("!", "^") else ""
        body = (inner[1:] if not_in else inner).replace("\\", "\\\\").replace("[", "\\[")
        return f"(?!/)[{not_in}{body.replace('^', chr(92) + '^')}]"


def _rejected(pattern: str, why: str) -> ToolError:
    return rejected(f"rg: error parsing glob '{pattern}': {why}")


def rejected(why: str) -> ToolError:
    """Returns that a search cannot be done as it is asked for."""
    return ToolError(
        "Search failed — ripgrep rejected the pattern, glob, or file type without searching:\n"
        + why
    )


@lru_cache(maxsize=2048)
def expression(pattern: str) -> "re.Pattern[str]":
    """Returns the expression for a path relative to a folder; raises ToolError where it is none.

    A pattern without a slash means a name in any folder below.
    """
    if len(pattern) > MOST:
        raise _rejected(pattern[:80] + "…", "it is too long")
    reader = _Reader(pattern.removeprefix("/"))
    pieces = []
    while reader.at < len(reader.pattern):
        pieces.append(reader.next())
    if reader.depth:
        raise _rejected(pattern, "unclosed alternate group; missing '}'")
    any_folder = "" if "/" in pattern.rstrip("/") else "(?:.*/)?"
    try:
        return re.compile(any_folder + "".join(pieces), re.DOTALL)
    except re.error as error:
        raise _rejected(pattern, str(error)) from error


@dataclass(frozen=True, slots=True)
class Choice:
    """Which files are wanted, by patterns; with a `!` before it one takes away."""

    patterns: tuple[str, ...]

    @classmethod
    def of(cls, patterns: Iterable[str]) -> "Choice":
        """Reads patterns; raises ToolError where one is none."""
        found = tuple(patterns)
        for pattern in found:
            expression(pattern.removeprefix("!"))
        return cls(found)

    @property
    def is_positive(self) -> bool:
        """Whether only what is named is wanted."""
        return any(not pattern.startswith("!") for pattern in self.patterns)

    def wants(self, path: str) -> bool | None:
        """Tells whether a file is wanted; None where no pattern means it. The last one decides."""
        for pattern in reversed(self.patterns):
            if expression(pattern.removeprefix("!")).fullmatch(path):
                return not pattern.startswith("!")
        return False if self.is_positive else None


def patterns_in(text: str) -> list[str]:
    """Returns the patterns that a text lists, with blanks or commas between them."""
    found: list[str] = []
    for part in text.split():
        found += [part] if "{" in part else [piece for piece in part.split(",") if piece]
    return found
