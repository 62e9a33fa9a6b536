"""Logs that nobody has read yet to how far their reading has come, and who waits for it."""

from collections.abc import Iterator
from threading import Event
from time import monotonic
from typing import TYPE_CHECKING

from msgspec import Struct

from plait.archive.facts import LogFacts, read_log_facts
from plait.archive.model import Facts, Session
from plait.archive.shares import FACTS_WORTH, made_of_each
from plait.view.amounts import bytes_in_words, many

if TYPE_CHECKING:
    from plait.archive.live.snapshot import Snapshot

AT_FIRST = 0.3
"""Seconds after the beginning in which one who asks waits: little is read by then."""


class Progress(Struct, frozen=True):
    """How much of what is new was read."""

    sessions: int = 0
    """How many there are."""
    done: int = 0
    """Bytes; so many of the total."""
    total: int = 0
    problem: str = ""
    """Why it does not go on."""

    @property
    def share(self) -> float:
        """How much that is of all, from 0 to 1."""
        return self.done / self.total if self.total else 0.0

    @property
    def words(self) -> str:
        """The same for a reader."""
        if self.problem:
            return self.problem[:1].upper() + self.problem[1:]
        if not self.total:
            return "Looking through your sessions"
        so_far, all_ = bytes_in_words(self.done), bytes_in_words(self.total)
        return f"Reading {many(self.sessions, 'session')}: {so_far} of {all_}"


class Reading:
    """Whether what is new is still being read; what needs all of it waits for the end."""

    def __init__(self) -> None:
        self.progress: Progress | None = None
        """None where there is nothing to be read."""
        self._is_over = Event()
        self._is_over.set()
        self._began = 0.0

    @property
    def is_under_way(self) -> bool:
        """Tells whether it goes on."""
        return not self._is_over.is_set()

    def begin(self, progress: Progress) -> None:
        """Lets others wait."""
        self.progress, self._began = progress, monotonic()
        self._is_over.clear()

    def go_on(self, progress: Progress) -> None:
        """Takes how far it has come."""
        if self.is_under_way:
            self.progress = progress

    def end(self, problem: str = "") -> None:
        """Lets nobody wait any more; where it could not be done, says why."""
        self.progress = Progress(problem=problem) if problem else None
        self._is_over.set()

    def is_over(self) -> bool:
        """Tells whether it is; waits for a moment where it has only begun."""
        return self._is_over.wait(max(0.0, self._began + AT_FIRST - monotonic()))


def unread_facts(state: "Snapshot") -> Iterator[tuple[Session, Facts]]:
    """Yields what lists show of the sessions that they do not show yet, the newest first."""
    archive = state.archive
    unread = [one for one in reversed(archive.sessions) if one.path not in state.facts]
    found = made_of_each(archive.hands, read_log_facts, LogFacts, unread, FACTS_WORTH)
    for session, log in zip(unread, found, strict=True):
        yield session, archive.facts_with(session, log)
