"""The sessions under some roots: names, facts, open sessions, and the index where it is fresh.

`SessionLibrary` is what every feature is given. It knows no feature: `plait.archive.Archive`
extends it with a method for each of them.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from datetime import datetime
from functools import cached_property
from pathlib import Path
from threading import local
from typing import TYPE_CHECKING, Any, Literal, Self, TypeVar, cast

from plait.lazy import LazyModule
from plait.line import Discovery, LogFile, Root, default_jobs, make_root
from plait.line.discovery import LOG_SUFFIX
from plait.record import Record
from plait.record.reader import read_if_exists
from plait.sessions.discovery import (
    Inventory,
    find_running_sessions,
    find_session_at,
    group_by_project,
    resolve_store,
)
from plait.sessions.facts import (
    CleanupRule,
    LogFacts,
    build_facts,
    collect_log_facts,
    read_beginning,
    read_log_facts,
)
from plait.sessions.model import (
    Facts,
    Project,
    Session,
    SessionRef,
    SessionRefs,
    StorePlace,
    Tracker,
)
from plait.sessions.worker_pool import (
    ACCOUNTS_PARALLEL_BYTES,
    FACTS_PARALLEL_BYTES,
    WorkerPool,
    map_parallel,
)

if TYPE_CHECKING:  # a list needs no graph: most modules are loaded when one is asked for
    from plait.archive.archive import Archive
    from plait.conversation.model import Turn
    from plait.conversation.prices import Prices
    from plait.conversation.walk import Depth
    from plait.graph import SessionGraph
    from plait.graph import paths as graph_paths
    from plait.graph.client import Context
    from plait.graph.paths import Path as GraphPath
    from plait.index.model import IndexReport
    from plait.record import counts
    from plait.record.counts import LogFileCounts
    from plait.sessions import (
        blocks,
        conversations,
        fresh_index,
        names,
        open_session,
        project_folders,
        raw_lines,
        stars,
        watch,
    )
    from plait.sessions import resume as resumptions
    from plait.sessions.blocks import BlockEvent
    from plait.sessions.conversations import SessionConversations, SessionTurn
    from plait.sessions.fresh_index import FreshIndex
    from plait.sessions.open_session import OpenSession
    from plait.sessions.project_folders import Place, ProjectFolders
    from plait.sessions.redaction import Redaction
    from plait.sessions.resume import Resume, Resumption
    from plait.sessions.stars import Stars
else:
    graph_paths = LazyModule("plait.graph.paths")
    counts = LazyModule("plait.record.counts")
    blocks = LazyModule("plait.sessions.blocks")
    conversations = LazyModule("plait.sessions.conversations")
    fresh_index = LazyModule("plait.sessions.fresh_index")
    names = LazyModule("plait.sessions.names")
    open_session = LazyModule("plait.sessions.open_session")
    project_folders = LazyModule("plait.sessions.project_folders")
    raw_lines = LazyModule("plait.sessions.raw_lines")
    resumptions = LazyModule("plait.sessions.resume")
    stars = LazyModule("plait.sessions.stars")
    watch = LazyModule("plait.sessions.watch")

T = TypeVar("T")


class _HeldIndex(local):
    """The index that a `with` block keeps open: a SQLite connection serves one thread."""

    def __init__(self) -> None:
        self.index: FreshIndex | None = None
        self.is_held = False
        self.stack = ExitStack()


class SessionLibrary:
    """All sessions under some roots.

    A root is a configuration folder of Claude Code, a projects folder, the folder of another agent,
    any folder with logs somewhere in it, or one file. Nothing is read before it is needed, and
    reading never writes. Within a `with` block the index is opened once.
    """

    def __init__(
        self,
        roots: Iterable[Path | str],
        index: Path | str | None = None,
        prices: "Prices | None" = None,
        jobs: int | None = None,
        store: StorePlace | Path | str | None = None,
        stars: Path | str | None = None,
        translations: Path | str | None = None,
    ) -> None:
        self.jobs = jobs or default_jobs()
        self.worker_failures: list[str] = []
        """Messages about worker processes that died."""
        self.workers = WorkerPool(self.jobs, self.worker_failures)
        self.roots: tuple[Root, ...] = tuple(make_root(Path(root)) for root in roots)
        self.index = Path(index) if index is not None else None
        """The folder of the index; None to read the logs instead."""
        self.store = resolve_store(store) if store else None
        """The backup store; None for sessions at their source only."""
        self.is_folding = True
        """Whether worktrees and sub-directories count towards their repository's project."""
        self.agents: frozenset[str] | None = None
        """The agents to include, such as `claude` and `codex`; None for all."""
        self.star_file = Path(stars) if stars is not None else None
        """The file of the user's stars and pins; None if there is none."""
        self.translations = Path(translations) if translations is not None else None
        """The folder for translated logs of other agents; None for a temporary one."""
        self._prices = prices
        self.inventory = Inventory(self.roots, self.store, self.translations)
        self._facts: dict[Path, Facts] = {}
        self._has_asked_index = False
        self._cleanup = CleanupRule()
        self._open: OpenSession | None = None
        self._conversations: tuple[OpenSession, SessionConversations] | None = None
        self._held = _HeldIndex()

    def reopen(self) -> Self:
        """Return the same library with the present state of its folders."""
        roots = [root.path for root in self.roots]
        places = self.store, self.star_file, self.translations
        return type(self)(roots, self.index, self._prices, self.jobs, *places)

    # ------------------------------------------------------------------ what there is

    @property
    def prices(self) -> "Prices":
        """Prices of tokens; those that ship with Plait by default."""
        if self._prices is None:
            from plait.conversation.prices import Prices

            self._prices = Prices()
        return self._prices

    @property
    def discovery(self) -> Discovery:
        """Everything under the roots."""
        return self.inventory.discovery

    @property
    def files(self) -> tuple[LogFile, ...]:
        """All log files by path, then those that only the store has."""
        return self.inventory.files

    @cached_property
    def all_sessions(self) -> tuple[Session, ...]:
        """The sessions of all agents, newest last."""
        return tuple(map(self._adopt, self.inventory.sessions()))

    @cached_property
    def sessions(self) -> tuple[Session, ...]:
        """The sessions of the selected agents, newest last."""
        wanted = self.agents
        if wanted is None:
            return self.all_sessions
        return tuple(session for session in self.all_sessions if session.agent in wanted)

    def __iter__(self) -> Iterator[Session]:
        return iter(self.sessions)

    def __len__(self) -> int:
        return len(self.sessions)

    @cached_property
    def running(self) -> frozenset[str]:
        """The ids of sessions that Claude Code is running now."""
        return find_running_sessions(self.roots)

    @cached_property
    def folding(self) -> "ProjectFolders":
        """The project of each folder of sessions."""
        folders = project_folders.read_project_folders(self)
        return folders if self.is_folding else folders.unfolded()

    def place(self, session: Session) -> "Place":
        """Return where a session was started, reading no more of its log than needed."""
        return project_folders.get_session_place(
            session, self._facts.get(session.path) or read_beginning(session)
        )

    @cached_property
    def projects(self) -> tuple[Project, ...]:
        """All projects by name, with their sessions; worktrees count towards their repository."""
        return group_by_project(self.sessions, self.folding)

    def session(self, name: SessionRef, directory: Path | None = None) -> Session:
        """Return the session with this name: a file, an id, a title, `latest`, `.`."""
        if isinstance(name, Session):
            return name
        path = Path(name)
        if path.suffix == LOG_SUFFIX or (os.sep in str(name) and path.exists()):
            return self.session_at(path)
        return names.resolve_session(
            str(name),
            self.sessions,
            self.facts,
            directory,
            lambda folder: self.folding.project(folder),
        )

    def session_at(self, path: Path) -> Session:
        """Return the session that a file belongs to, under a root or not."""
        return self._adopt(find_session_at(path, self.sessions))

    def _adopt(self, session: Session) -> Session:
        # Users of the library have an `Archive`; only parts of Plait use the base class.
        return replace(session, archive=cast("Archive", self))

    def resolve_sessions(self, sessions: SessionRefs) -> tuple[Session, ...]:
        """Return the sessions with some names, or all for None."""
        if sessions is None:
            return self.sessions
        if isinstance(sessions, Session | Path | str):
            return (self.session(sessions),)
        return tuple(self.session(name) for name in sessions)

    # ------------------------------------------------------------------ facts, as lists show them

    def facts(self, session: SessionRef) -> Facts:
        """Return the facts of a session: from the index, else from its file, which is read once."""
        found = self.session(session)
        if found.path not in self._facts:
            self.load_facts()
        return self.read_facts(found)

    def list_facts(self, watch: Tracker[Session] | None = None) -> list[Facts]:
        """Return the facts of all sessions, in their order."""
        self.load_facts()
        unknown = [session for session in self.sessions if session.path not in self._facts]
        read = map_parallel(self.workers, read_log_facts, LogFacts, unknown, FACTS_PARALLEL_BYTES)
        for session, log in zip(watch(unknown) if watch else unknown, read, strict=True):
            self._facts[session.path] = self.complete_facts(session, log)
        return [self.read_facts(session) for session in self.sessions]

    def read_facts(self, session: Session) -> Facts:
        """Return the facts of a session without the index."""
        facts = self._facts.get(session.path)
        if facts is None:
            files = session.files[:1] if session.file else session.agents
            opened = self._reuse_open(session, files)
            log = collect_log_facts(session, opened.records_of if opened else read_if_exists)
            facts = self._facts[session.path] = self.complete_facts(session, log)
        return facts

    def complete_facts(self, session: Session, log: LogFacts) -> Facts:
        """Add to a log's facts those of the present moment: whether it is running, when it will be
        deleted.
        """
        days = self._cleanup.days(session.config, log.cwd) if session.config else None
        return build_facts(session, log, is_live=session.id in self.running, cleanup_days=days)

    def add_facts(self, facts: Mapping[Path, Facts]) -> None:
        """Add known facts of sessions, by path, so that they need not be read again."""
        self._facts.update(facts)

    def load_facts(self) -> None:
        """Load the facts of all sessions from the index, if it is fresh; once."""
        if self.index and not self._has_asked_index:
            with self.fresh_index():
                pass

    def accounts(self) -> "Iterator[LogFileCounts]":
        """Yield the line counts of every file in order, with unknown types."""
        return map_parallel(
            self.workers,
            counts.count_file,
            counts.LogFileCounts,
            self.files,
            ACCOUNTS_PARALLEL_BYTES,
        )

    # ------------------------------------------------------------------ index or logs

    def __enter__(self) -> Self:
        self._held.index = self._held.stack.enter_context(self.fresh_index())
        self._held.is_held = True
        return self

    def __exit__(self, *_: object) -> None:
        self._held.index, self._held.is_held = None, False
        self._held.stack.close()

    @contextmanager
    def fresh_index(self) -> "Iterator[FreshIndex | None]":
        """Open the index if it is up to date or quickly updated; None otherwise."""
        if self._held.is_held or self.index is None:
            yield self._held.index
            return
        self._has_asked_index = True
        with fresh_index.open_fresh_index(self, self.index) as index:
            yield index

    def answer(self, from_index: "Callable[[FreshIndex], T]", from_logs: Callable[[], T]) -> T:
        """Answer a question from a fresh index, else from the logs: the answers are the same."""
        with self.fresh_index() as index:
            if index is not None:
                with suppress(*fresh_index.INDEX_ERRORS):
                    return from_index(index)
            return from_logs()

    def update_index(self, folder: Path | None = None, **options: Any) -> "IndexReport":
        """Update the index. Only `Archive` can: features decide what is indexed."""
        raise NotImplementedError

    # ------------------------------------------------------------------ open sessions

    def open(self, session: SessionRef, *, redaction: "Redaction | None" = None) -> "OpenSession":
        """Read a session once; the last one stays open as long as its files do not change."""
        found = self.session(session)
        if redaction:
            return open_session.open_session(found, redaction)
        self._open = self._reuse_open(found, found.files) or open_session.open_session(found)
        return self._open

    def _reuse_open(self, session: Session, files: Sequence[LogFile]) -> "OpenSession | None":
        opened = self._open
        is_same = opened and opened.session == session and opened.is_current(*files)
        return opened if is_same else None

    def graph(self, *sessions: SessionRef) -> "SessionGraph":
        """Return the graph of some sessions with their agents, or of all."""
        if len(sessions) == 1:
            self._open = self.open(sessions[0]).with_other_summaries()
            return self._open.client_graph
        return open_session.build_sessions_graph(self.resolve_sessions(sessions or None))

    def paths(self, *sessions: SessionRef) -> "tuple[GraphPath, ...]":
        """Return every path through some sessions, from the first prompt to a leaf."""
        return graph_paths.list_paths(self.graph(*sessions))

    def records(self, graph: "SessionGraph", uuids: Iterable[str]) -> Iterator[tuple[str, Record]]:
        """Yield the records of some nodes of a graph, in no particular order."""
        return raw_lines.read_node_records(graph, uuids, self._open)

    def conversations(self, session: SessionRef) -> "SessionConversations":
        """Return the main line, the branches and the agents of a session, turn by turn."""
        opened = self.open(session)
        if not (self._conversations and self._conversations[0] is opened):
            self._conversations = opened, conversations.build_session_conversations(opened, self)
        return self._conversations[1]

    def render_markdown(self, opened: "OpenSession", line: str, depth: "Depth") -> str:
        """Return a conversation as a transcript. Only `Archive` can, with `plait.export`."""
        raise NotImplementedError

    def turns(
        self, since: datetime | None = None, until: datetime | None = None
    ) -> "Iterator[tuple[Session, SessionTurn]]":
        """Yield every turn with its session; a copied turn comes once."""
        return conversations.iter_distinct_turns(self.sessions, since, until)

    def find_turns_on_lines(
        self, graph: "SessionGraph", dag_lines: Iterable[str]
    ) -> "dict[str, Turn]":
        """Return the turns of some DAG-lines of a graph, by their first record."""
        names = list(dag_lines)
        if self._open and self._open.owns_graph(graph):
            return self._open.turns_on(graph, names)
        ids = {graph.lines[name].session for name in names}
        turns: dict[str, Turn] = {}
        for session in self.sessions:
            if session.id in ids:
                opened = self.open(session)
                turns.update(opened.turns_on(opened.graph, opened.graph.lines))
        return turns

    def context(self, session: SessionRef, as_: Literal["client", "sdk"] = "client") -> "Context":
        """Return what Claude will see when a session is resumed."""
        return self.resumption(session, as_).context

    def resumption(
        self, session: SessionRef, as_: Literal["client", "sdk"] = "client"
    ) -> "Resumption":
        """Return what Claude will see when a session is resumed, and its size."""
        found = self.session(session)
        own = (found.file,) if found.file else ()
        self._open = self._reuse_open(found, own) or resumptions.open_own_log(found)
        return resumptions.build_resumption(self._open, as_)

    def resume(
        self, session: SessionRef, *, default: Path, turn: int | str | None = None
    ) -> "Resume":
        """Return how to resume a session in Claude Code, and how to rewind it to a turn."""
        found = self.session(session)
        return resumptions.plan_resume(
            found, default=default, is_live=found.id in self.running, turn=turn
        )

    @property
    def stars(self) -> "Stars":
        """The user's starred sessions and pinned turns."""
        return stars.Stars(self)

    def watch(self, **options: Any) -> Iterator[Session]:
        """Yield each session that is written to or started from now on."""
        return watch.watch_sessions(self, **options)

    def follow(self, session: SessionRef, **options: Any) -> "Iterator[BlockEvent]":
        """Yield the blocks of a session, then the changes while it is written."""
        return blocks.follow_session(self, self.session(session), **options)
