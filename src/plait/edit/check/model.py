"""Rules for written sessions and what is found by them, as values."""

from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from plait.edit.check.facts import LogFacts, Place
from plait.line import Line
from plait.record import Entry


class Found(NamedTuple):
    """A violation before it is told.

    Its keys are the same before and after an edit, whatever ids were given anew: so what an edit
    brought about can be told from what was there. One that is known is enough.
    """

    keys: tuple[Hashable, ...]
    sentence: str
    place: Place


@dataclass(frozen=True, slots=True)
class Log:
    """A log that is judged."""

    facts: LogFacts
    elsewhere: frozenset[str] = frozenset()
    """Records of other logs that may be named."""
    original: LogFacts | None = None
    """What it was made of, where an edit is judged."""
    why_not: str | None = None
    """Why the client would not resume it, where that was asked."""


class Rule(NamedTuple):
    """A rule for written sessions: it judges a whole log, or line by line."""

    name: str
    says: str
    of_log: Callable[[Log], Iterator[Found]] | None = None
    of_line: Callable[[Line, Entry], str | None] | None = None
    binds_all: bool = False
    """It binds every session; the others bind what an edit makes of one."""
