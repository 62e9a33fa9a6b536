"""Roots to what the page shows of them: sessions as they are now, each read when asked for.

Whoever watches the folders says when something has changed; until then nothing is looked at
twice. All of it may be asked in any thread.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from functools import cached_property, partial
from pathlib import Path
from threading import RLock
from time import monotonic
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from plait.archive.accounting import Why
from plait.archive.archive import Archive
from plait.archive.index.fresh import stamps_of
from plait.archive.kept_pages import PageFolder, mark_of, pages_beside
from plait.archive.live.cache import Cache, RunningSum, SumSoFar
from plait.archive.live.reading import Reading, unread_facts
from plait.archive.live.session import LiveSession, live_session
from plait.archive.live.snapshot import Money, Snapshot
from plait.archive.model import Facts, Session, StorePlace
from plait.archive.raw_lines import LineSurvey, line_survey
from plait.conversation.prices import Prices
from plait.conversation.waste.findings import Waste
from plait.errors import SourceError
from plait.index.catalogue import CATALOGUE
from plait.index.freshness import is_fresh
from plait.line import LogFile, root_at
from plait.line.discover import PROJECTS
from plait.view.page.lists.rows import ListedSession

if TYPE_CHECKING:
    from plait.archive.families import CountedSessions
    from plait.archive.files.touched import TouchedPath
    from plait.archive.keeping import KeepStatus
    from plait.archive.wasting import CountedWaste
    from plait.conversation.insights.model import Insights
    from plait.redact import Rules

MOST_BYTES = 160_000_000
"""Of logs whose conversations stay in memory; the one that was asked for always does."""
MOST_VALUES, MOST_FIGURES = 48, 8
OFTEN = 1.0
"""Seconds between two looks for clients that run."""
PATIENCE = 0.15
"""Seconds for which a page waits for what lists show, where somebody reads on."""
T = TypeVar("T")


class ListedSessions(NamedTuple):
    """All sessions, the newest first, with what they took."""

    sessions: Sequence[ListedSession]
    money: Money | None
    """None where nobody has counted yet."""
    is_counting: bool
    unread: int = 0
    """How many there are besides that nobody has read yet."""

    @property
    def places(self) -> Mapping[str, str]:
        """The directory of each project."""
        return {one.project: one.root for one in reversed(self.sessions)}


@dataclass
class LiveArchive:
    """The sessions under some roots."""

    roots: tuple[Path, ...]
    index: Path
    """The folder of the index."""
    prices: Prices = field(default_factory=Prices)
    rules: "Callable[[], Rules] | None" = None
    """What else is hidden from whatever is shared."""
    is_read_only: bool = False
    """Whether nobody may change its sessions from here."""
    store: StorePlace | None = None
    """Where sessions are kept."""
    default: Path | None = None
    """The client's own folder, which a line that resumes a session need not name."""
    star_file: Path | None = None
    """The file of what the user has starred and pinned."""
    program: str = "plait"
    """What starts this program in any folder, as it is typed."""
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
    reading: Reading = field(default_factory=Reading)
    """Whether what is new is still being read."""
    lost: tuple[Path, ...] = ()
    """Roots that are not there now."""
    _configs: set[Path] = field(default_factory=set)
    """Roots that are configuration folders, or were."""
    patience: float | None = None
    """Seconds for which lists wait for what nobody has read; None where nobody reads on."""

    @cached_property
    def pages(self) -> PageFolder:
        """Pages that were drawn before, beside the index."""
        return pages_beside(self.index)

    @property
    def now(self) -> Snapshot:
        """The sessions that there are."""
        with self._lock:
            if self._state is None:
                self._state = Snapshot(self._archive(), patience=self.patience)
            return self._state

    def renew(self) -> None:
        """Looks again at once: something has changed."""
        with self._lock:
            known = self._state.known_facts if self._state else {}
            self._state = Snapshot(self._archive(), known, self.patience)

    @property
    def places(self) -> list[Path]:
        """Where its logs lie, or would."""
        return [path / PROJECTS if path in self._configs else path for path in self.roots]

    def _archive(self) -> Archive:
        """Returns what is there now; without an index where a folder is not, lest it forgets it."""
        there = [path for path in self.roots if self._is_there(path)]
        self.lost = tuple(path for path in self.roots if path not in there)
        index = None if self.lost else self.index
        return Archive(there, index, self.prices, store=self.store, stars=self.star_file)

    def _is_there(self, path: Path) -> bool:
        """Tells whether a root is; one that was a configuration folder has projects in it."""
        with suppress(SourceError):
            root = root_at(path)
            if root.config == path:
                self._configs.add(path)
            return root.config is not None or path not in self._configs
        return False

    @property
    def is_indexed(self) -> bool:
        """Tells whether the index tells what all logs hold."""
        is_there = (self.index / CATALOGUE).exists()  # else there is nothing to compare
        return is_there and is_fresh(self.index, stamps_of(self.now.archive))

    def indexed(self) -> None:
        """Takes what lists show from the index again: it has taken in what was new."""
        with self._lock:
            if self._state:
                self._take(self._state.known_facts)

    def learn(self, found: Mapping[Path, Facts]) -> None:
        """Takes what lists show of some more sessions."""
        with self._lock:
            self._take({**self.now.known_facts, **found})

    def _take(self, known: dict[Path, Facts]) -> None:
        self._state = Snapshot(self.now.archive, known, self.patience)

    @property
    def whole(self) -> Snapshot:
        """The sessions that there are, with what lists show of all, however long that takes."""
        state = self.now
        if self.patience is not None and state.unread:
            self.learn({session.path: facts for session, facts in unread_facts(state)})
        return self.now

    def opened(self, name: str) -> LiveSession:
        """Returns a session with all that was said in it, as its files are now."""
        session = self.now.session(name)

        def read() -> LiveSession:
            known = self.held(name)
            where = self.roots, self.default, self.program
            return live_session(name, session, self.prices, known, *where)

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
        return self._sum(Snapshot.money)

    def _sum(self, work: Callable[[Snapshot], T]) -> RunningSum[Snapshot, T]:
        """Returns a sum that is not begun while the index reads the same logs."""
        return RunningSum(lambda: self.now, work, self.reading.is_over)

    @cached_property
    def keeping(self) -> RunningSum[Snapshot, "KeepStatus | None"]:
        """What is kept, and what will be lost; None where nothing can be kept."""
        return self._sum(Snapshot.keeping)

    @cached_property
    def _parents(self) -> RunningSum[Snapshot, Mapping[str, str]]:
        return self._sum(Snapshot.parents)

    @cached_property
    def touched(self) -> RunningSum[Snapshot, "list[TouchedPath]"]:
        """All paths that sessions touched."""
        return self._sum(Snapshot.touched)

    def figures(
        self,
        project: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
    ) -> RunningSum[Snapshot, "CountedSessions"]:
        """Returns what was done: in all sessions, in those of a project, in a span of time."""
        chosen = project, since, until

        def begin() -> RunningSum[Snapshot, "CountedSessions"]:
            return self._sum(lambda state: state.figures(*chosen))

        return self._figures.of(chosen, None, begin)

    def waste(
        self,
        project: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
    ) -> RunningSum[Snapshot, "CountedWaste"]:
        """Returns what was paid for in vain: in all sessions, of a project, in a span of time."""
        chosen = project, since, until

        def count(state: Snapshot) -> "CountedWaste":
            return state.waste(self.money.whole().owned, self.prices, *chosen)

        def begin() -> RunningSum[Snapshot, "CountedWaste"]:
            return self._sum(count)

        return self._wasted.of(chosen, None, begin)

    def insights(
        self,
        project: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
    ) -> SumSoFar["Insights"]:
        """Returns what stands out in what was counted, as far as all of it is."""
        found, is_counting = self.figures(project, since, until).ask()
        whole, _ = self.figures(project).ask()
        money, _ = self.money.ask(patience=0)
        if found is None or whole is None or money is None:
            return SumSoFar(None, True)
        waste, is_weighing = self.waste(project, since, until).ask(patience=0)

        def make() -> "Insights":
            lost = waste.waste if waste else None
            return self._standing_out(found, whole, money, lost, (project, since, until))

        source = found, whole, money, waste
        value = self.made.of(("insights", project, since, until), source, make)
        return SumSoFar(value, is_counting or is_weighing)

    def _standing_out(
        self,
        found: "CountedSessions",
        whole: "CountedSessions",
        money: Money,
        waste: Waste | None,
        asked: tuple[str | None, datetime | None, datetime | None],
    ) -> "Insights":
        from plait.archive.standing_out import CountedBefore, Span, insights_of

        project, since, until = asked
        parts = [(self.now.named(one), part) for one, part in found.parts]
        chosen = [one for one in money.responses if project in (None, one.project)]
        counted = CountedBefore(found.figures, parts, whole.figures.days, chosen, waste)
        return insights_of(counted, Span(since, until, datetime.now(UTC)), self.prices)

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
        return ListedSessions(found, money, is_counting, state.unread)

    def _look_for_clients(self) -> None:
        """Looks anew where a client has come or gone: no log tells of that."""
        state = self.now
        if monotonic() >= self._looked + OFTEN:
            self._looked = monotonic()
            if self._archive().live != state.archive.live:
                self.renew()

    def days(self) -> Mapping[date, int]:
        """Returns how many turns were begun on each day, here."""
        return Counter(one.time.date() for one in self.now.begun)
