"""Find a record's kind from its name and text."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from .model import Call, DrawingError, Statement, flags

FLAGS: Final = frozenset(
    (
        "async",
        "error",
        "explicit",
        "forked",
        "hidden",
        "listed",
        "meta",
        "open",
        "redacted",
        "rejected",
        "side",
        "together",
        "update",
    )
)


@dataclass(frozen=True, slots=True)
class Kind:
    """A family of records, and the subtype within it."""

    family: str
    subtype: str = ""


LETTERS: Final = {
    "U": Kind("prompt"),
    "A": Kind("response"),
    "T": Kind("response", "call"),
    "R": Kind("result"),
    "P": Kind("progress", "hook_progress"),
    "H": Kind("attachment", "hook_success"),
    "Q": Kind("attachment", "queued_command"),
    "S": Kind("system", "turn_duration"),
    "B": Kind("system", "compact_boundary"),
    "C": Kind("recap"),
    "M": Kind("meta"),
    "N": Kind("notice"),
    "I": Kind("interruption"),
    "E": Kind("api-error"),
    "K": Kind("command"),
    "L": Kind("output"),
    "X": Kind("unknown", "novel-record"),
}

WORDS: Final = {
    "user": LETTERS["U"],
    "assistant": LETTERS["A"],
    "result": LETTERS["R"],
    "progress": LETTERS["P"],
    "attachment": LETTERS["H"],
    "queued": LETTERS["Q"],
    "system": LETTERS["S"],
    "boundary": LETTERS["B"],
    "recap": LETTERS["C"],
    "notice": LETTERS["N"],
    "interruption": LETTERS["I"],
    "api-error": LETTERS["E"],
    "command": LETTERS["K"],
    "output": LETTERS["L"],
    "unknown": LETTERS["X"],
}

_SUBTYPED: Final = frozenset(("progress", "attachment", "system", "unknown"))
_USERS: Final = frozenset(
    ("prompt", "result", "recap", "meta", "notice", "interruption", "command", "output")
)


def kind_of(statement: Statement, parent_role: str) -> tuple[Kind, frozenset[str]]:
    """Return the kind of a record and its flags; a bare letter alternates with its parent."""
    given, words = flags(statement.words(), FLAGS)
    kind = _first_kind(statement, words, parent_role)
    for word in words:
        if word in WORDS:
            continue
        if kind.family not in _SUBTYPED:
            raise DrawingError(statement.line, f"'{word}' means nothing on a {kind.family}")
        kind = Kind(kind.family, word)
    return kind, given


def _first_kind(statement: Statement, words: list[str], parent_role: str) -> Kind:
    for word in words:
        if word in WORDS:
            return WORDS[word]
    letters = re.match(r"[A-Z]+", statement.name)
    if letters and letters[0] in LETTERS and letters[0] != statement.name:
        return LETTERS[letters[0]]
    if any(isinstance(token, Call) for token in statement.tokens):
        return LETTERS["A"]
    return LETTERS["A"] if parent_role == "user" else LETTERS["U"]


def role_of(kind: Kind, parent_role: str) -> str:
    """Return the speaker: user, assistant, or that of the previous record."""
    if kind.family in _USERS:
        return "user"
    return "assistant" if kind.family in ("response", "api-error") else parent_role
