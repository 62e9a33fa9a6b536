"""Roots to what the page shows of them: sessions as they are now, each read when asked for.

Whoever watches the folders says when something has changed; until then nothing is looked at
twice. All of it may be asked in any thread.
"""

from collections import Counter, OrderedDict
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from threading import Lock, RLock
from time import monotonic

from plait.archive.archive import Archive
from plait.archive.index.facts import listed_facts
from plait.archive.live.cache import PageFolder
from plait.archive.live.session import Marks, Opened, open_for_page
from plait.archive.model import Facts, Session
from plait.conversation.prices import Prices
from plait.errors import NoSuchSession, SourceError
from plait.index.catalogue import CATALOGUE, Catalogue

MOST_BYTES = 160_000_000
"""Of logs whose conversations stay in memory; the one that was asked for always does."""


@dataclass
class LiveArchive:
    """The sessions under some roots."""

    roots: tuple[Path, ...]
    index: Path
    """The folder of the index."""
    prices: Prices = field(default_factory=Prices)
    _state: "Snapshot | None" = None
    _open: "OrderedDict[str, Opened]" = field(default_factory=OrderedDict)
    _lock: RLock = field(default_factory=RLock)
    _turns: dict[str, Lock] = field(default_factory=dict)
    """Whose turn it is to read a session: nobody reads what another reads already."""
    asked: float = 0.0
    """When somebody last wanted to read a session."""

    @cached_property
    def drawn(self) -> PageFolder:
        """Pages that were drawn before, beside the index."""
        return PageFolder(self.index.with_name(f"{self.index.name}-pages"))

    @property
    def now(self) -> "Snapshot":
        """The sessions that there are."""
        with self._lock:
            if self._state is None:
                self._state = Snapshot(Archive(self.roots, self.index, self.prices), self.index)
            return self._state

    def renew(self) -> None:
        """Looks again at once: something has changed."""
        with self._lock:
            before = self._state
            known = before.known_facts if before else {}
            self._state = Snapshot(Archive(self.roots, self.index, self.prices), self.index, known)

    def indexed(self) -> None:
        """Takes what lists show from the index again: it has taken in what was new."""
        with self._lock:
            if self._state:
                self._state = Snapshot(self._state.archive, self.index, self._state.known_facts)

    def opened(self, name: str) -> Opened:
        """Returns a session with all that was said in it, as its files are now."""
        session = self.now.session(name)
        marks = marks_of(session)
        known = self.held(name)
        if known and known.marks == marks:
            return known
        with self._turn(name):
            known = self.held(name)
            if known and known.marks == marks:
                return known
            one = open_for_page(session, marks, self.prices, known)
            with self._lock:
                self._open[name] = one
                self._open.move_to_end(name)
                self._forget()
        return one

    def held(self, name: str) -> Opened | None:
        """Returns a session as it was when it was last read, None where it is not in memory."""
        with self._lock:
            self.asked = monotonic()
            known = self._open.get(name)
            if known:
                self._open.move_to_end(name)
            return known

    @contextmanager
    def _turn(self, name: str) -> Iterator[None]:
        with self._lock:
            turn = self._turns.setdefault(name, Lock())
        with turn:
            yield
        with self._lock:
            if not turn.locked():
                self._turns.pop(name, None)

    def _forget(self) -> None:
        """Lets go of what was not asked for lately."""
        while len(self._open) > 1 and sum(one.bytes for one in self._open.values()) > MOST_BYTES:
            self._open.popitem(last=False)


class Snapshot:
    """An archive as it was at one moment."""

    def __init__(
        self, archive: Archive, index: Path, known: dict[Path, Facts] | None = None
    ) -> None:
        self.archive = archive
        self.index = index
        self._known = known or {}
        """What lists showed of sessions a moment ago."""

    @cached_property
    def facts(self) -> dict[Path, Facts]:
        """What a list shows of every session, from the index where it is up to date.

        Where it is not, what was known a moment ago will do until it is.
        """
        found = None
        with suppress(SourceError):  # an index that is being made is none yet
            found = listed_facts(self.archive, self.index)
        return found or {
            one.path: self._known.get(one.path) or self.archive.read_facts(one)
            for one in self.archive.sessions
        }

    @property
    def known_facts(self) -> dict[Path, Facts]:
        """What lists show, as far as anybody has asked."""
        asked: dict[Path, Facts] | None = self.__dict__.get("facts")
        return self._known if asked is None else asked

    @cached_property
    def names(self) -> dict[str, Session]:
        """All sessions by the names they have in addresses; equal ids get a number."""
        found: dict[str, Session] = {}
        counts: Counter[str] = Counter()
        for session in sorted(self.archive.sessions, key=lambda one: str(one.path)):
            counts[session.id] += 1
            number = counts[session.id]
            found[session.id if number == 1 else f"{session.id}~{number}"] = session
        return found

    @cached_property
    def name_of(self) -> dict[Path, str]:
        """The name in addresses of each session."""
        return {session.path: name for name, session in self.names.items()}

    def session(self, name: str) -> Session:
        """Returns the session of a name."""
        found = self.names.get(name)
        if found is None:
            raise NoSuchSession(f"no session is called '{name[:80]}'")
        return found

    def listed(self) -> Iterable[tuple[str, Facts]]:
        """Yields all sessions, the newest first."""
        for session in reversed(self.archive.sessions):
            facts = self.facts.get(session.path)
            if facts is not None:
                yield self.name_of[session.path], facts


def marks_of(session: Session) -> Marks:
    """Returns what changes when a session does."""
    return tuple((str(file.path), file.size, file.modified) for file in session.files)


@contextmanager
def catalogue_of(state: Snapshot) -> Iterator[Catalogue | None]:
    """Gives the catalogue; None without one, while it is first made, and of another version."""
    try:
        catalogue = Catalogue(state.index) if (state.index / CATALOGUE).exists() else None
    except SourceError:
        catalogue = None
    if catalogue is None:
        yield None
        return
    with closing(catalogue):
        yield catalogue if catalogue.is_current() else None
