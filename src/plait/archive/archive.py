"""Roots to sessions, and to all that can be asked of them.

    with Archive(["/home/me/.claude"], index="/home/me/.cache/plait/index") as archive:
        archive.open("latest").turns
        archive.usage("weekly").rows
        archive.search("parser").hits

Where there is an index that is up to date, or can be brought to with little work, it answers
in the place of the logs, and gives the same answers.
"""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from plait.archive.facts import (
    CleanupRule,
    LogFacts,
    beginning_of,
    facts_of,
    log_facts,
    read_log_facts,
)
from plait.archive.figuring import Figuring
from plait.archive.filing import Filing
from plait.archive.index_or_logs import Answers
from plait.archive.inventory import Inventory, live_sessions, projects_of, store_place
from plait.archive.model import Facts, Named, Project, Session, Several, StorePlace, Watch
from plait.archive.sessions import resolve, session_at
from plait.archive.shares import ACCOUNTS_WORTH, FACTS_WORTH, Hands, made_of_each
from plait.line import Discovery, LogFile, Root, cores, root_at
from plait.line.discover import SUFFIX
from plait.record.read import read_if_there

if TYPE_CHECKING:  # listing needs no graph: its modules are loaded when one is asked for
    from plait.archive.export.formats import File
    from plait.archive.export.plan import ExportPlan
    from plait.archive.folding import Folding, Place
    from plait.archive.keeping import Keeping
    from plait.archive.open_session import OpenSession
    from plait.archive.plans import Plans
    from plait.archive.redaction import Redaction
    from plait.archive.resume import Resume, Resumption
    from plait.archive.session_turns import SessionConversations, SessionTurn
    from plait.archive.stars import Stars
    from plait.conversation.model import Turn
    from plait.conversation.prices import Prices
    from plait.edit.entry import Edit
    from plait.edit.journals import Journals
    from plait.edit.model import Violation
    from plait.graph import SessionGraph
    from plait.graph.client import Context
    from plait.graph.paths import Path as GraphPath
    from plait.index.model import IndexReport, IndexStatus, SearchResult
    from plait.index.query import Wanted
    from plait.record import Record
    from plait.record.account import FileAccount
    from plait.trace.model import Span

T = TypeVar("T")


class Archive(Figuring, Filing):
    """All sessions under some roots.

    A root is a configuration folder of the client, a projects folder, any folder with logs
    somewhere in it, or one file. Nothing is read before it is asked for, and reading
    never writes: what changes a session is a plan first. Within a `with` block the index is
    opened once.
    """

    def __init__(
        self,
        roots: Iterable[Path | str],
        index: Path | str | None = None,
        prices: "Prices | None" = None,
        jobs: int | None = None,
        store: StorePlace | Path | str | None = None,
        stars: Path | str | None = None,
    ) -> None:
        self.jobs = jobs or cores()
        self.losses: list[str] = []  # what is said of processes that died while they read
        self.hands = Hands(self.jobs, self.losses)
        self.roots: tuple[Root, ...] = tuple(root_at(Path(root)) for root in roots)
        self.index = Path(index) if index is not None else None
        """The folder of the index, None where the logs answer."""
        self.store = store_place(store) if store else None
        """Where sessions are kept, None where there are but those at their source."""
        self.is_folding = True
        """Whether worktrees and sub-directories are of their repository's project."""
        self.star_file = Path(stars) if stars is not None else None
        """The file of what the user has starred and pinned, None where there is none."""
        self._prices = prices
        self.inventory = Inventory(self.roots, self.store)
        self._facts: dict[Path, Facts] = {}
        self._cleanup = CleanupRule()
        self._open: OpenSession | None = None
        self._talked: tuple[OpenSession, SessionConversations] | None = None
        self.answers = Answers(self)

    def __enter__(self) -> "Archive":
        self.answers.hold()
        return self

    def __exit__(self, *_: object) -> None:
        self.answers.release()

    @property
    def prices(self) -> "Prices":
        """What tokens cost; the list that ships with Plait where none was given."""
        if self._prices is None:
            from plait.conversation.prices import Prices

            self._prices = Prices()
        return self._prices

    @property
    def discovery(self) -> Discovery:
        """Everything that lies under the roots."""
        return self.inventory.discovery

    @property
    def files(self) -> tuple[LogFile, ...]:
        """All log files, in the order of their paths; then those of what is only kept."""
        return self.inventory.files

    @cached_property
    def sessions(self) -> tuple[Session, ...]:
        """All sessions, the newest last."""
        return tuple(replace(one, archive=self) for one in self.inventory.sessions())

    def __iter__(self) -> Iterator[Session]:
        return iter(self.sessions)

    def __len__(self) -> int:
        return len(self.sessions)

    @cached_property
    def folding(self) -> "Folding":
        """The projects that folders of sessions belong to."""
        from plait.archive.folding import archive_folding

        found = archive_folding(self)
        return found if self.is_folding else found.unfolded()

    def place(self, session: Session) -> "Place":
        """Returns where a session was begun; no more of its log is read than says so."""
        from plait.archive.folding import place_of

        return place_of(session, self._facts.get(session.path) or beginning_of(session))

    @cached_property
    def projects(self) -> tuple[Project, ...]:
        """All projects by name, with their sessions: worktrees are of their repository."""
        return projects_of(self.sessions, self.folding)

    @cached_property
    def live(self) -> frozenset[str]:
        """The ids of sessions that a client is running now."""
        return live_sessions(self.roots)

    def session(self, name: Named, directory: Path | None = None) -> Session:
        """Returns the session that a name means: a file, an id, a title, `latest`, `.`."""
        if isinstance(name, Session):
            return name
        path = Path(name)
        if path.suffix == SUFFIX or (os.sep in str(name) and path.exists()):
            return self.session_at(path)
        return resolve(
            str(name), self.sessions, self.facts, directory, lambda one: self.folding.project(one)
        )

    def session_at(self, path: Path) -> Session:
        """Returns the session that a file belongs to, whether it lies under a root or not."""
        return replace(session_at(path, self.sessions), archive=self)

    def facts(self, session: Named) -> Facts:
        """Returns what a list shows of a session: from the index, else its file is read once."""
        meant = self.session(session)
        if meant.path not in self._facts:
            self.answers.remember_facts()
        return self.read_facts(meant)

    def all_facts(self, watch: Watch[Session] | None = None) -> list[Facts]:
        """Returns what a list shows of all sessions, in their order."""
        self.answers.remember_facts()
        unknown = [one for one in self.sessions if one.path not in self._facts]
        read = made_of_each(self.hands, read_log_facts, LogFacts, unknown, FACTS_WORTH)
        for session, found in zip(watch(unknown) if watch else unknown, read, strict=True):
            self._facts[session.path] = self.facts_with(session, found)
        return [self.read_facts(one) for one in self.sessions]

    def read_facts(self, session: Session) -> Facts:
        """Returns what a list shows of a session, without asking the index."""
        known = self._facts.get(session.path)
        if known is None:
            held = self._open_with(session, session.files[:1] if session.file else session.agents)
            found = log_facts(session, held.records_of if held else read_if_there)
            known = self._facts[session.path] = self.facts_with(session, found)
        return known

    def facts_with(self, session: Session, found: LogFacts) -> Facts:
        """Returns what a list shows of a session whose log says so much."""
        days = self._cleanup.days(session.config, found.cwd) if session.config else None
        return facts_of(session, found, is_live=session.id in self.live, kept_days=days)

    def accounts(self) -> "Iterator[FileAccount]":
        """Yields the account of every file, in their order: its lines, and what no type knows."""
        from plait.record.account import FileAccount, account_of

        return made_of_each(self.hands, account_of, FileAccount, self.files, ACCOUNTS_WORTH)

    def remember(self, known: Mapping[Path, Facts]) -> None:
        """Takes the facts of sessions, by path, that need not be read again."""
        self._facts.update(known)

    def open(self, session: Named, *, through: "Redaction | None" = None) -> "OpenSession":
        """Reads a session, once; the last one stays open as long as its files do not change.

        All of it goes through what is given before anything is made of it.
        """
        from plait.archive.open_session import opened

        meant = self.session(session)
        if through:
            return opened(meant, through)
        self._open = self._open_with(meant, meant.files) or opened(meant)
        return self._open

    def _open_with(self, session: Session, files: Sequence[LogFile]) -> "OpenSession | None":
        """Returns the session that is open, where it is this one and holds these files."""
        held = self._open
        return held if held and held.session == session and held.holds(*files) else None

    def graph(self, *sessions: Named) -> "SessionGraph":
        """Returns the graph of some sessions with their agents, or of the whole archive."""
        from plait.archive.open_session import graph_of

        if len(sessions) == 1:
            return self.open(sessions[0]).client_graph
        return graph_of(self.named(sessions or None))

    def records(
        self, graph: "SessionGraph", uuids: Iterable[str]
    ) -> "Iterator[tuple[str, Record]]":
        """Yields the records behind some nodes of a graph, in no certain order."""
        from plait.archive.raw_lines import records_of

        return records_of(graph, uuids, self._open)

    def turns_on(self, graph: "SessionGraph", lines: Iterable[str]) -> "dict[str, Turn]":
        """Returns the turns of some DAG-lines of a graph, by the first record of each."""
        from plait.archive.session_turns import turns_on

        return turns_on(self, self._open, graph, list(lines))

    def conversations(self, session: Named) -> "SessionConversations":
        """Returns a session as people and tools took turns: its trunk, branches and agents."""
        from plait.archive.session_turns import session_conversations

        opened = self.open(session)
        if not (self._talked and self._talked[0] is opened):
            self._talked = opened, session_conversations(opened, self)
        return self._talked[1]

    def turns(
        self, since: datetime | None = None, until: datetime | None = None
    ) -> "Iterator[tuple[Session, SessionTurn]]":
        """Yields every turn that people held with its session; one that was copied comes once."""
        from plait.archive.session_turns import distinct_turns

        return distinct_turns(self.sessions, since, until)

    def paths(self, *sessions: Named) -> "tuple[GraphPath, ...]":
        """Returns the ways through some sessions, one for each ending."""
        from plait.graph.paths import paths

        return paths(self.graph(*sessions))

    def context(self, session: Named, as_: Literal["client", "sdk"] = "client") -> "Context":
        """Returns what Claude will see when a session is resumed."""
        return self.resumption(session, as_).context

    def resumption(self, session: Named, as_: Literal["client", "sdk"] = "client") -> "Resumption":
        """Returns what Claude will see when a session is resumed, and how large that is."""
        from plait.archive.resume import opened_alone, resumption_of

        meant = self.session(session)
        own = (meant.file,) if meant.file else ()
        self._open = self._open_with(meant, own) or opened_alone(meant)
        return resumption_of(self._open, as_)

    def resume(self, session: Named, *, default: Path, turn: int | str | None = None) -> "Resume":
        """Returns how a session goes on in Claude Code; with a turn also what leads back to it."""
        from plait.archive.resume import resume_of

        meant = self.session(session)
        return resume_of(meant, default=default, is_live=meant.id in self.live, turn=turn)

    @property
    def plan(self) -> "Plans":
        """What can be done to its sessions, each as a plan first."""
        from plait.archive.plans import Plans

        return Plans(self)

    @property
    def keep(self) -> "Keeping":
        """What keeps its sessions beyond the client's cleanup, and brings them back."""
        from plait.archive.keeping import Keeping

        return Keeping(self)

    @property
    def stars(self) -> "Stars":
        """Which sessions are starred and which turns pinned; set and taken away there."""
        from plait.archive.stars import Stars

        return Stars(self)

    def check(self, session: Named) -> "tuple[Violation, ...]":
        """Returns what is wrong with a session by the rules for what Plait writes."""
        return self.plan.check(session)

    def edits(self) -> "list[Edit]":
        """Returns what was done to its sessions by plans, the newest first."""
        return self.journals.edits()

    def undo(self, id: str | None = None, *, force: bool = False) -> "Edit":  # noqa: A002
        """Brings back what an edit has changed: bytes, modes and times; else the last one's."""
        return self.journals.undo(id, force=force)

    @property
    def journals(self) -> "Journals":
        """Where its edits are remembered: they are finished and forgotten there too."""
        from plait.edit.journals import Journals

        return Journals(self.roots)

    def search(self, text: str, filters: "Sequence[Wanted]" = (), **options: Any) -> "SearchResult":
        """Returns the turns that answer, the best first; an index is brought up to date before.

        Where there is none, the logs are looked through: for words, exact texts, expressions.
        """
        from plait.archive.search import search

        return search(self, self.index, text, filters, **options)

    def export(self, what: "Named | ExportPlan | None" = None, as_: str = "md") -> "Iterator[File]":
        """Yields the files of an export: transcripts or pages, a manifest, a report.

        A session, or all of them, is redacted; a plan says for itself what becomes of it.
        """
        from plait.archive.export.plan import ExportPlan, export, redacted

        plan = what if isinstance(what, ExportPlan) else redacted(self.named(what), self.prices)
        return export(plan, as_, self.jobs, self.losses)

    def traces(self, sessions: Several = None, **options: Any) -> "Iterator[list[Span]]":
        """Yields the spans of each answered turn of some sessions, the root of each first."""
        from plait.archive.traces import traces

        return traces(self.named(sessions), among=self.sessions, hands=self.hands, **options)

    def watch(self, **options: Any) -> Iterator[Session]:
        """Yields each session that is written to or begun from now on, as it is then."""
        from plait.archive.watch import changed_sessions

        return changed_sessions(self, **options)

    def renewed(self) -> "Archive":
        """Returns the same archive as its folders are now."""
        roots = [root.path for root in self.roots]
        return Archive(roots, self.index, self._prices, self.jobs, self.store, self.star_file)

    def update_index(self, **options: Any) -> "IndexReport":
        """Brings the index up to date and says what that took."""
        from plait.archive.index.update import folder_of, refresh

        return refresh(self, folder_of(self), **options)

    def index_status(self) -> "IndexStatus":
        """Returns what the index holds, and whether the logs are still as it knows them."""
        from plait.archive.index.update import folder_of, status_of

        return status_of(self, folder_of(self))

    def named(self, sessions: Several) -> tuple[Session, ...]:
        """Returns the sessions that some names mean, all of them for none."""
        if sessions is None:
            return self.sessions
        if isinstance(sessions, Session | Path | str):
            return (self.session(sessions),)
        return tuple(self.session(one) for one in sessions)
