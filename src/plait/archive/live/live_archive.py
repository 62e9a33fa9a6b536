"""The archive behind the page: sessions and figures as they are now, cached until files change.

The watcher of the folders calls `refresh` when something has changed; until then nothing is looked
up twice. Everything may be called from any thread.
"""

import logging
import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from functools import cached_property, partial
from pathlib import Path
from threading import Event, Lock, RLock, Thread
from time import monotonic
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

from msgspec import Struct

from plait.archive.archive import Archive
from plait.archive.live.session import LiveSession, open_live_session
from plait.archive.live.snapshot import Billing, Snapshot
from plait.conversation.prices import Prices
from plait.errors import SourceError
from plait.files.touched import TouchedPath
from plait.index.catalogue import CATALOGUE
from plait.index.freshness import is_fresh
from plait.insights.report import Insights, InsightsInput, Period, compute_insights
from plait.insights.waste import CountedWaste, Waste
from plait.insights.why import Why
from plait.keep.backups import KeepStatus
from plait.line import LogFile, make_root
from plait.line.discovery import PROJECTS
from plait.sessions.facts import LogFacts, read_log_facts
from plait.sessions.fresh_index import scan_library
from plait.sessions.model import Facts, Session, StorePlace
from plait.sessions.page_cache import PageCache, fingerprint_session, open_page_cache
from plait.sessions.raw_lines import LineSurvey, survey_lines
from plait.sessions.statistics import SessionStatistics
from plait.sessions.worker_pool import FACTS_PARALLEL_BYTES, map_parallel
from plait.view.formats import format_bytes, format_count
from plait.view.page.session_rows import ListedSession

if TYPE_CHECKING:
    from plait.index.search import SharedReader
    from plait.redact import Rules


T = TypeVar("T")
S = TypeVar("S")
log = logging.getLogger("plait.web")


class CacheEntry(NamedTuple):
    """A value, and what it was made from."""

    source: object
    value: Any
    weight: int


class Cache:
    """Values by name, each valid as long as what it was made from is unchanged.

    Concurrent requests for a value share its computation. Values not requested lately are dropped
    when all together are too large; the last one always stays.
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self._lock = Lock()
        self._entries: OrderedDict[Hashable, CacheEntry] = OrderedDict()
        self._locks: dict[Hashable, Lock] = {}

    def get_or_make(
        self, name: Hashable, source: object, make: Callable[[], T], weight: int = 1
    ) -> T:
        """Return a value, computed again if what it is made from has changed."""
        known = self.get(name)
        if known is None or known.source != source:
            with self._hold_entry(name):
                known = self.get(name)
                if known is None or known.source != source:
                    known = CacheEntry(source, make(), weight)
                    with self._lock:
                        self._entries[name] = known
                        self._entries.move_to_end(name)
                        while len(self._entries) > 1 and self._weight() > self.most:
                            self._entries.popitem(last=False)
        found: T = known.value
        return found

    def get(self, name: Hashable) -> CacheEntry | None:
        """Return the value last computed for a name, even if outdated."""
        with self._lock:
            known = self._entries.get(name)
            if known is not None:
                self._entries.move_to_end(name)
            return known

    def _weight(self) -> int:
        return sum(cache_entry.weight for cache_entry in self._entries.values())

    @contextmanager
    def _hold_entry(self, name: Hashable) -> Iterator[None]:
        with self._lock:
            turn = self._locks.setdefault(name, Lock())
        try:
            with turn:
                yield
        finally:
            with self._lock:
                if not turn.locked():
                    self._locks.pop(name, None)


FIRST_WAIT, NEXT_WAIT = 0.2, 0.02
"""Seconds a request waits for the first result, and for a newer one."""
REST_FACTOR = 4
"""Minimum pause before recounting, as a multiple of the time it took."""


class PartialResult(NamedTuple, Generic[T]):
    """A result; empty if it is not computed yet, or could not be."""

    value: T | None
    is_pending: bool
    """Whether a newer one is being computed."""


class BackgroundResult(Generic[S, T]):
    """A result computed over changing data in a thread of its own.

    A request waits only briefly. A longer computation continues, and the last result is returned
    meanwhile. Nothing is computed before it is ready to be.
    """

    def __init__(
        self,
        now: Callable[[], S],
        work: Callable[[S], T],
        is_ready: Callable[[], bool] = lambda: True,
    ) -> None:
        self._now = now
        self._work = work
        self._is_ready = is_ready
        self._cache = Cache(1)
        self._lock = Lock()
        self._thread: Thread | None = None
        self._failed: S | None = None
        self._rested = 0.0

    def get(self, timeout: float = FIRST_WAIT) -> PartialResult[T]:
        """Return the newest result available within a moment."""
        known = self._cache.get("sum")
        if not self._is_ready():
            return PartialResult(known.value if known else None, is_pending=True)
        with self._lock:
            now = self._now()
            is_rested = time.monotonic() >= self._rested
            if self._thread is None and is_rested and not self._is_counted(now):
                self._thread = Thread(
                    target=self._count, args=(now,), name="plait-sums", daemon=True
                )
                self._thread.start()
            thread = self._thread
        if thread is not None:
            thread.join(NEXT_WAIT if self._cache.get("sum") else timeout)
        known = self._cache.get("sum")
        return PartialResult(known.value if known else None, not self._is_counted(self._now()))

    def wait(self) -> T:
        """Return the result for the present data, however long that takes."""
        return self._compute(self._now())

    def _compute(self, state: S) -> T:
        return self._cache.get_or_make("sum", state, partial(self._work, state))

    def _is_counted(self, state: S) -> bool:
        known = self._cache.get("sum")
        return self._failed is state or (known is not None and known.source is state)

    def _count(self, state: S) -> None:
        started = time.monotonic()
        try:
            self._compute(state)
        except Exception:
            log.exception("counting failed")
            self._failed = state
        with self._lock:
            now = time.monotonic()
            self._thread, self._rested = None, now + (now - started) * REST_FACTOR


FIRST_SECONDS = 0.3
"""Seconds after the start in which a request waits: little is read by then."""


class ReadingProgress(Struct, frozen=True):
    """How much of the new data was read."""

    sessions: int = 0
    """The number of sessions."""
    done: int = 0
    """Bytes read, of the total."""
    total: int = 0
    problem: str = ""
    """Why it does not continue."""

    @property
    def share(self) -> float:
        """The share that was read, from 0 to 1."""
        return self.done / self.total if self.total else 0.0

    @property
    def description(self) -> str:
        """The same as text."""
        if self.problem:
            return self.problem[:1].upper() + self.problem[1:]
        if not self.total:
            return "Scanning your sessions"
        so_far, all_ = format_bytes(self.done), format_bytes(self.total)
        return f"Reading {format_count(self.sessions, 'session')}: {so_far} of {all_}"


class ReadingState:
    """Whether new data is still being read; what needs all of it waits for the end."""

    def __init__(self) -> None:
        self.progress: ReadingProgress | None = None
        """None if there is nothing to read."""
        self._is_over = Event()
        self._is_over.set()
        self._began = 0.0

    @property
    def is_under_way(self) -> bool:
        """Return whether reading is in progress."""
        return not self._is_over.is_set()

    def begin(self, progress: ReadingProgress) -> None:
        """Mark reading as begun, so that others wait for its end."""
        self.progress, self._began = progress, monotonic()
        self._is_over.clear()

    def update(self, progress: ReadingProgress) -> None:
        """Set the progress."""
        if self.is_under_way:
            self.progress = progress

    def end(self, problem: str = "") -> None:
        """Release those who wait; `problem` says why it failed."""
        self.progress = ReadingProgress(problem=problem) if problem else None
        self._is_over.set()

    def is_over(self) -> bool:
        """Return whether reading has ended; wait for a moment if it has only begun."""
        return self._is_over.wait(max(0.0, self._began + FIRST_SECONDS - monotonic()))


def read_unread_facts(state: "Snapshot") -> Iterator[tuple[Session, Facts]]:
    """Yield the facts of sessions that lists do not show yet, newest first."""
    archive = state.archive
    unread = [session for session in reversed(archive.sessions) if session.path not in state.facts]
    found = map_parallel(archive.workers, read_log_facts, LogFacts, unread, FACTS_PARALLEL_BYTES)
    for session, log in zip(unread, found, strict=True):
        yield session, archive.complete_facts(session, log)


# ---------------------------------------------------------------------- the archive


MAX_OPEN_BYTES = 160_000_000
"""Size of logs whose conversations stay in memory; the one last requested always does."""
MAX_VALUES, MAX_RESULTS = 48, 8
RUNNING_CHECK_SECONDS = 1.0
"""Seconds between two checks for running clients."""
LIST_SECONDS = 0.15
"""Seconds a page waits for facts while they are being read in the background."""


class ListedSessions(NamedTuple):
    """All sessions, newest first, with their usage."""

    sessions: Sequence[ListedSession]
    billing: Billing | None
    """None if not counted yet."""
    is_pending: bool
    unread: int = 0
    """The number of further sessions that were not read yet."""

    @property
    def directories(self) -> Mapping[str, str]:
        """The directory of each project."""
        return {session.project: session.root for session in reversed(self.sessions)}


@dataclass
class LiveArchive:
    """The sessions under some roots."""

    roots: tuple[Path, ...]
    index: Path
    """The folder of the index."""
    prices: Prices = field(default_factory=Prices)
    rules: "Callable[[], Rules] | None" = None
    """Further redaction rules for whatever is shared."""
    is_read_only: bool = False
    """Whether nobody may change its sessions from here."""
    store: StorePlace | None = None
    """The backup store."""
    client_folder: Path | None = None
    """The client's own folder, which a resume command need not name."""
    star_file: Path | None = None
    """The file of the user's stars and pins."""
    translations: Path | None = None
    """The folder for translated logs of other agents."""
    program: str = "plait"
    """The command that starts this program in any folder."""
    cache: Cache = field(default_factory=lambda: Cache(MAX_VALUES))
    """Values computed from all sessions, or from a file."""
    _open: Cache = field(default_factory=lambda: Cache(MAX_OPEN_BYTES))
    _figures: Cache = field(default_factory=lambda: Cache(MAX_RESULTS))
    _wasted: Cache = field(default_factory=lambda: Cache(MAX_RESULTS))
    _state: Snapshot | None = None
    _lock: RLock = field(default_factory=RLock)
    _looked: float = 0.0
    last_read: float = 0.0
    """When somebody last read a session."""
    reading: ReadingState = field(default_factory=ReadingState)
    """Whether new data is still being read."""
    missing_roots: tuple[Path, ...] = ()
    """Roots that do not exist now."""
    _configs: set[Path] = field(default_factory=set)
    """Roots that are or were configuration folders."""
    patience: float | None = None
    """Seconds that lists wait for unread sessions; None if nobody reads in the background."""

    @cached_property
    def pages(self) -> PageCache:
        """Cached pages, beside the index."""
        return open_page_cache(self.index)

    @property
    def snapshot(self) -> Snapshot:
        """The present sessions."""
        with self._lock:
            if self._state is None:
                self._state = Snapshot(self._archive(), patience=self.patience)
            return self._state

    def refresh(self) -> None:
        """Check for changes at once."""
        with self._lock:
            known = self._state.known_facts if self._state else {}
            self._state = Snapshot(self._archive(), known, self.patience)

    @property
    def places(self) -> list[Path]:
        """Where its logs are or would be."""
        return [path / PROJECTS if path in self._configs else path for path in self.roots]

    def _archive(self) -> Archive:
        """Return the present archive; without an index if a folder is missing, so that nothing is
        deleted from it.
        """
        there = [path for path in self.roots if self._is_there(path)]
        self.missing_roots = tuple(path for path in self.roots if path not in there)
        index = None if self.missing_roots else self.index
        return Archive(
            there,
            index,
            self.prices,
            store=self.store,
            stars=self.star_file,
            translations=self.translations,
        )

    def _is_there(self, path: Path) -> bool:
        """Return whether a root exists; one that was a configuration folder must have projects."""
        with suppress(SourceError):
            root = make_root(path)
            if root.config == path:
                self._configs.add(path)
            return root.config is not None or path not in self._configs
        return False

    @property
    def is_index_fresh(self) -> bool:
        """Return whether the index matches all logs."""
        is_there = (self.index / CATALOGUE).exists()  # otherwise there is nothing to compare
        return is_there and is_fresh(self.index, scan_library(self.snapshot.archive))

    def reload_facts(self) -> None:
        """Reload the facts from the index after it was updated."""
        with self._lock:
            if self._state:
                self._replace_snapshot(self._state.known_facts)

    def add_facts(self, found: Mapping[Path, Facts]) -> None:
        """Add facts of further sessions."""
        with self._lock:
            self._replace_snapshot({**self.snapshot.known_facts, **found})

    def _replace_snapshot(self, known: dict[Path, Facts]) -> None:
        self._state = Snapshot(self.snapshot.archive, known, self.patience)

    @property
    def complete_snapshot(self) -> Snapshot:
        """The present sessions with the facts of all, however long that takes."""
        state = self.snapshot
        if self.patience is not None and state.unread:
            self.add_facts({session.path: facts for session, facts in read_unread_facts(state)})
        return self.snapshot

    def open_session(self, name: str) -> LiveSession:
        """Return an open session with the present state of its files."""
        session = self.snapshot.session(name)

        def read() -> LiveSession:
            known = self.cached_session(name)
            where = self.roots, self.client_folder, self.program
            return open_live_session(name, session, self.prices, known, *where)

        self.last_read = monotonic()
        size = sum(file.size for file in session.files)
        return self._open.get_or_make(name, session.files, read, size)

    def cached_session(self, name: str) -> LiveSession | None:
        """Return a session as last read; None if it is not in memory."""
        self.last_read = monotonic()
        known = self._open.get(name)
        return known.value if known else None

    @cached_property
    def index_reader(self) -> "SharedReader":
        """The index, kept open between searches."""
        from plait.index.search import SharedReader

        return SharedReader(self.index)

    def find_cached_page(self, name: str, session: Session) -> str | None:
        """Return the cached page of a session rendered from the same files."""
        return self.pages.find(name, fingerprint_session(session))

    def survey_lines(self, file: LogFile) -> LineSurvey:
        """Return where the lines of a file are."""
        return self.cache.get_or_make(file.path, file, partial(survey_lines, file.path, file.size))

    @cached_property
    def billing(self) -> BackgroundResult[Snapshot, Billing]:
        """All usage and cost."""
        return self._compute_in_background(Snapshot.billing)

    def _compute_in_background(
        self, work: Callable[[Snapshot], T]
    ) -> BackgroundResult[Snapshot, T]:
        """Return a result that is not computed while the index reads the same logs."""
        return BackgroundResult(lambda: self.snapshot, work, self.reading.is_over)

    @cached_property
    def backup_status(self) -> BackgroundResult[Snapshot, "KeepStatus | None"]:
        """What is backed up and what will be lost; None if nothing can be backed up."""
        return self._compute_in_background(Snapshot.backup_status)

    @cached_property
    def _parents(self) -> BackgroundResult[Snapshot, Mapping[str, str]]:
        return self._compute_in_background(Snapshot.find_parents)

    @cached_property
    def touched_files(self) -> BackgroundResult[Snapshot, "list[TouchedPath]"]:
        """All paths that sessions touched."""
        return self._compute_in_background(Snapshot.touched_files)

    def figures(
        self,
        project: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
    ) -> BackgroundResult[Snapshot, "SessionStatistics"]:
        """Return statistics: of all sessions, of a project, in a period."""
        chosen = project, since, until

        def begin() -> BackgroundResult[Snapshot, "SessionStatistics"]:
            return self._compute_in_background(lambda state: state.statistics(*chosen))

        return self._figures.get_or_make(chosen, None, begin)

    def waste(
        self,
        project: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
    ) -> BackgroundResult[Snapshot, "CountedWaste"]:
        """Return avoidable spending: of all sessions, of a project, in a period."""
        chosen = project, since, until

        def count(state: Snapshot) -> CountedWaste:
            return state.waste(self.billing.wait().by_file, self.prices, *chosen)

        def begin() -> BackgroundResult[Snapshot, "CountedWaste"]:
            return self._compute_in_background(count)

        return self._wasted.get_or_make(chosen, None, begin)

    def insights(
        self,
        project: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
    ) -> PartialResult["Insights"]:
        """Return the insights into the counted figures, as far as they are complete."""
        found, is_counting = self.figures(project, since, until).get()
        all_time, _ = self.figures(project).get()
        money, _ = self.billing.get(timeout=0)
        if found is None or all_time is None or money is None:
            return PartialResult(None, True)
        waste, is_weighing = self.waste(project, since, until).get(timeout=0)

        def make() -> Insights:
            lost = waste.waste if waste else None
            return self._compute_insights(found, all_time, money, lost, (project, since, until))

        source = found, all_time, money, waste
        value = self.cache.get_or_make(("insights", project, since, until), source, make)
        return PartialResult(value, is_counting or is_weighing)

    def _compute_insights(
        self,
        found: SessionStatistics,
        all_time: SessionStatistics,
        money: Billing,
        waste: Waste | None,
        asked: tuple[str | None, datetime | None, datetime | None],
    ) -> Insights:
        project, since, until = asked
        parts = [(self.snapshot.name_session(session), part) for session, part in found.parts]
        chosen = [
            billed_response
            for billed_response in money.responses
            if project in (None, billed_response.project)
        ]
        counted = InsightsInput(found.figures, parts, all_time.figures.days, chosen, waste)
        return compute_insights(counted, Period(since, until, datetime.now(UTC)), self.prices)

    def why(self, name: str) -> PartialResult[Why]:
        """Return what the requests of a session cost and why, as far as all is counted."""
        money, is_counting = self.billing.get()
        if money is None:
            return PartialResult(None, is_counting)
        live_session = self.open_session(name)
        source = live_session.opened.session.files, money
        found = self.cache.get_or_make(
            ("why", name), source, lambda: live_session.why(money.by_file)
        )
        return PartialResult(found, is_counting)

    def rows(self) -> ListedSessions:
        """Return all sessions for lists."""
        self._refresh_running()
        state = self.snapshot
        money, is_counting = self.billing.get()
        parents = self._parents.get(timeout=0).value or {}
        make = partial(state.list_rows, money, parents, self.prices)
        found = self.cache.get_or_make("rows", (state, money, parents), make)
        return ListedSessions(found, money, is_counting, state.unread)

    def _refresh_running(self) -> None:
        """Refresh if clients started or ended; logs do not show it."""
        state = self.snapshot
        if monotonic() >= self._looked + RUNNING_CHECK_SECONDS:
            self._looked = monotonic()
            if self._archive().running != state.archive.running:
                self.refresh()

    def count_turns_by_day(self) -> Mapping[date, int]:
        """Return the number of turns begun on each local day."""
        return Counter(started_turn.time.date() for started_turn in self.snapshot.prompted_turns)
