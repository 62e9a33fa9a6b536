"""Roots to what the page shows of them: sessions as they are now, each read when asked for.

Whoever watches the folders says when something has changed; until then nothing is looked at
twice. All of it may be asked in any thread.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from functools import cached_property, partial
from pathlib import Path
from threading import RLock
from time import monotonic
from typing import TYPE_CHECKING, NamedTuple

from plait.archive.accounting import Why
from plait.archive.archive import Archive
from plait.archive.kept_pages import PageFolder, mark_of, pages_beside
from plait.archive.live.cache import Cache, RunningSum, SumSoFar
from plait.archive.live.session import LiveSession, live_session
from plait.archive.live.snapshot import Money, Snapshot
from plait.archive.model import Session, StorePlace
from plait.archive.raw_lines import LineSurvey, line_survey
from plait.conversation.prices import Prices
from plait.conversation.stats.model import Figures
from plait.conversation.waste.findings import Waste
from plait.line import LogFile
from plait.view.page.lists.rows import ListedSession

if TYPE_CHECKING:
    from plait.archive.keeping import KeepStatus
    from plait.redact import Rules

MOST_BYTES = 160_000_000
"""Of logs whose conversations stay in memory; the one that was asked for always does."""
MOST_VALUES, MOST_FIGURES = 48, 8
OFTEN = 1.0
"""Seconds between two looks for clients that run."""


class ListedSessions(NamedTuple):
    """All sessions, the newest first, with what they took."""

    sessions: Sequence[ListedSession]
    money: Money | None
    """None where nobody has counted yet."""
    is_counting: bool

    @property
    def places(self) -> Mapping[str, str]:
        """The directory of each project, that of its newest session."""
        return {one.project: one.place for one in reversed(self.sessions)}


@dataclass
class LiveArchive:
    """The sessions under some roots."""

    roots: tuple[Path, ...]
    index: Path
    """The folder of the index."""
    prices: Prices = field(default_factory=Prices)
    rules: "Rules | None" = None
    """What else is hidden from whatever is shared."""
    is_read_only: bool = False
    """Whether nobody may change its sessions from here."""
    store: StorePlace | None = None
    """Where sessions are kept."""
    made: Cache = field(default_factory=lambda: Cache(MOST_VALUES))
    """What was made of all sessions, or of a file."""
    _open: Cache = field(default_factory=lambda: Cache(MOST_BYTES))
    _figures: Cache = field(default_factory=lambda: Cache(MOST_FIGURES))
    _wasted: Cache = field(default_factory=lambda: Cache(MOST_FIGURES))
    _state: Snapshot | None = None
    _lock: RLock = field(default_factory=RLock)
    _looked: float = 0.0
    asked: float = 0.0
    """When somebody last wanted to read a session."""

    @cached_property
    def pages(self) -> PageFolder:
        """Pages that were drawn before, beside the index."""
        return pages_beside(self.index)

    @property
    def now(self) -> Snapshot:
        """The sessions that there are."""
        with self._lock:
            if self._state is None:
                self._state = Snapshot(self._archive())
            return self._state

    def renew(self) -> None:
        """Looks again at once: something has changed."""
        with self._lock:
            known = self._state.known_facts if self._state else {}
            self._state = Snapshot(self._archive(), known)

    def _archive(self) -> Archive:
        return Archive(self.roots, self.index, self.prices, store=self.store)

    def indexed(self) -> None:
        """Takes what lists show from the index again: it has taken in what was new."""
        with self._lock:
            if self._state:
                self._state = Snapshot(self._state.archive, self._state.known_facts)

    def opened(self, name: str) -> LiveSession:
        """Returns a session with all that was said in it, as its files are now."""
        session = self.now.session(name)

        def read() -> LiveSession:
            return live_session(name, session, self.prices, self.held(name))

        self.asked = monotonic()
        size = sum(file.size for file in session.files)
        return self._open.of(name, session.files, read, size)

    def held(self, name: str) -> LiveSession | None:
        """Returns a session as it was when it was last read, None where it is not in memory."""
        self.asked = monotonic()
        known = self._open.last(name)
        return known.value if known else None

    def kept_page(self, name: str, session: Session) -> str | None:
        """Returns the page of a session as it was drawn from these very files."""
        return self.pages.find(name, mark_of(session))

    def survey(self, file: LogFile) -> LineSurvey:
        """Returns where the lines of a file lie."""
        return self.made.of(file.path, file, partial(line_survey, file.path, file.size))

    @cached_property
    def money(self) -> RunningSum[Snapshot, Money]:
        """All that was paid for."""
        return RunningSum(lambda: self.now, Snapshot.money)

    @cached_property
    def keeping(self) -> RunningSum[Snapshot, "KeepStatus | None"]:
        """What is kept, and what will be lost; None where nothing can be kept."""
        return RunningSum(lambda: self.now, Snapshot.keeping)

    @cached_property
    def _parents(self) -> RunningSum[Snapshot, Mapping[str, str]]:
        return RunningSum(lambda: self.now, Snapshot.parents)

    def figures(
        self,
        project: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
    ) -> RunningSum[Snapshot, Figures]:
        """Returns what was done: in all sessions, in those of a project, in a span of time."""
        chosen = project, since, until

        def begin() -> RunningSum[Snapshot, Figures]:
            return RunningSum(lambda: self.now, lambda state: state.figures(*chosen))

        return self._figures.of(chosen, None, begin)

    def waste(
        self,
        project: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
    ) -> RunningSum[Snapshot, Waste]:
        """Returns what was paid for in vain: in all sessions, of a project, in a span of time."""
        chosen = project, since, until

        def count(state: Snapshot) -> Waste:
            return state.waste(self.money.whole().owned, self.prices, *chosen)

        def begin() -> RunningSum[Snapshot, Waste]:
            return RunningSum(lambda: self.now, count)

        return self._wasted.of(chosen, None, begin)

    def why(self, name: str) -> SumSoFar[Why]:
        """Returns what the requests of a session cost and why, as far as all is counted."""
        money, is_counting = self.money.ask()
        if money is None:
            return SumSoFar(None, is_counting)
        one = self.opened(name)
        source = one.opened.session.files, money
        found = self.made.of(("why", name), source, lambda: one.why(money.owned))
        return SumSoFar(found, is_counting)

    def rows(self) -> ListedSessions:
        """Returns all sessions as lists show them."""
        self._look_for_clients()
        state = self.now
        money, is_counting = self.money.ask()
        parents = self._parents.ask(patience=0).value or {}
        make = partial(state.rows, money, parents, self.prices)
        found = self.made.of("rows", (state, money, parents), make)
        return ListedSessions(found, money, is_counting)

    def _look_for_clients(self) -> None:
        """Looks anew where a client has come or gone: no log tells of that."""
        state = self.now
        if monotonic() >= self._looked + OFTEN:
            self._looked = monotonic()
            if Archive(self.roots).live != state.archive.live:
                self.renew()

    def days(self) -> Mapping[date, int]:
        """Returns how many turns were begun on each day, here."""
        return Counter(time.date() for time in self.now.begun)

    def hours(self) -> Mapping[tuple[int, int], int]:
        """Returns how many turns were begun in each hour of each day of the week, here."""
        return Counter((time.weekday(), time.hour) for time in self.now.begun)
