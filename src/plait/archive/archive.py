"""The public entry point of the library: `SessionLibrary` with a method for each feature.

    with Archive(["/home/me/.claude"], index="/home/me/.cache/plait/index") as archive:
        archive.open("latest").turns
        archive.usage("weekly").rows
        archive.search("parser").hits

A question over many sessions is answered from the index if it is fresh, else from the logs; both
ways are side by side here and give the same answer. Features are imported when they are used.
"""

from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, tzinfo
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from plait.lazy import LazyModule
from plait.line import LogFile
from plait.sessions.library import SessionLibrary
from plait.sessions.model import Session, SessionRef, SessionRefs, Tracker
from plait.sessions.worker_pool import map_parallel

if TYPE_CHECKING:
    from plait import indexing, lake
    from plait.conversation import statistics as counters
    from plait.conversation.prices import Prices
    from plait.conversation.session_counts import ArchiveFigures
    from plait.conversation.usage import BilledResponse
    from plait.conversation.walk import Depth
    from plait.edit import journal, operations
    from plait.edit.journal import Edit, Journals
    from plait.edit.operations import Plans
    from plait.edit.plan import Violation
    from plait.export import plan as export
    from plait.export import transcripts
    from plait.export.formats import File
    from plait.export.plan import ExportPlan
    from plait.files import blame as authors
    from plait.files import history, touched, versions
    from plait.files.blame import Blame, NotePlan
    from plait.files.events import NetChange
    from plait.files.history import FileAt, FileHistory, WrittenFile
    from plait.files.touched import TouchedPath
    from plait.index import catalogue
    from plait.index.catalogue import SessionSize, TouchRow
    from plait.index.model import IndexReport, IndexStatus, SearchResult
    from plait.index.query import QueryNode
    from plait.insights import report as insights
    from plait.insights import waste
    from plait.insights import why as causes
    from plait.insights.report import Insights
    from plait.insights.waste import FileLosses, SessionWaste, Waste
    from plait.insights.why import Why
    from plait.keep import backups
    from plait.keep.backups import Backups
    from plait.lake import Lakes
    from plait.redact import Redactor, Report
    from plait.search import search
    from plait.sessions import disclosures, names, project_folders, session_text, statistics, tree
    from plait.sessions.fresh_index import FreshIndex
    from plait.sessions.open_session import OpenSession
    from plait.sessions.statistics import SessionStatistics
    from plait.sessions.tree import SessionTree, TreeDetail
    from plait.trace import traces
    from plait.trace.model import Span
    from plait.usage import index_rows, spending
    from plait.usage import responses as bills
    from plait.usage.responses import CountedResponses
    from plait.usage.spending import CrossTable, Dimension, GroupBy, Spending, SpendingSum
    from plait.view import comparison, passages
    from plait.view.comparison import Comparison
    from plait.view.transcript import markdown
else:
    counters = LazyModule("plait.conversation.statistics")
    journal = LazyModule("plait.edit.journal")
    operations = LazyModule("plait.edit.operations")
    export = LazyModule("plait.export.plan")
    transcripts = LazyModule("plait.export.transcripts")
    authors = LazyModule("plait.files.blame")
    history = LazyModule("plait.files.history")
    touched = LazyModule("plait.files.touched")
    versions = LazyModule("plait.files.versions")
    catalogue = LazyModule("plait.index.catalogue")
    indexing = LazyModule("plait.indexing")
    insights = LazyModule("plait.insights.report")
    waste = LazyModule("plait.insights.waste")
    causes = LazyModule("plait.insights.why")
    backups = LazyModule("plait.keep.backups")
    lake = LazyModule("plait.lake")
    search = LazyModule("plait.search.search")
    disclosures = LazyModule("plait.sessions.disclosures")
    names = LazyModule("plait.sessions.names")
    project_folders = LazyModule("plait.sessions.project_folders")
    session_text = LazyModule("plait.sessions.session_text")
    statistics = LazyModule("plait.sessions.statistics")
    tree = LazyModule("plait.sessions.tree")
    traces = LazyModule("plait.trace.traces")
    index_rows = LazyModule("plait.usage.index_rows")
    bills = LazyModule("plait.usage.responses")
    spending = LazyModule("plait.usage.spending")
    comparison = LazyModule("plait.view.comparison")
    passages = LazyModule("plait.view.passages")
    markdown = LazyModule("plait.view.transcript.markdown")

SIZES_PARALLEL_BYTES = 4_000_000
"""Bytes of logs from which several processes measure sessions faster than one."""


class Archive(SessionLibrary):
    """All sessions under some roots, with every question and operation on them.

    What changes a session is a plan first.
    """

    # ------------------------------------------------------------------ search, export, traces

    def search(
        self, text: str, filters: "Sequence[QueryNode]" = (), **options: Any
    ) -> "SearchResult":
        """Return the turns that match, best first, after updating the index.

        Without an index the logs are searched: for words, exact texts, regular expressions.
        """
        return search.search(self, self.index, text, filters, **options)

    def export(
        self, what: "SessionRef | ExportPlan | None" = None, as_: str = "md"
    ) -> "Iterator[File]":
        """Yield the files of an export: transcripts or pages, a manifest, a report.

        A session, or all of them, is redacted; with an `ExportPlan`, the plan decides.
        """
        if isinstance(what, export.ExportPlan):
            plan = what
        else:
            plan = export.make_redacted_plan(self.resolve_sessions(what), self.prices)
        return export.export(plan, as_, self.jobs, self.worker_failures)

    def render_markdown(self, opened: "OpenSession", line: str, depth: "Depth") -> str:
        """Return a conversation as a transcript, from the session's first turn to its end."""
        # kept with the session: the next conversation needs the same names and paths
        family: transcripts.Family = vars(opened).setdefault(
            "family", transcripts.Family(opened, str, transcripts.Names())
        )
        transcript = family.find_transcript(line)
        if transcript is None:  # a session without a message
            return ""
        return markdown.join_blocks(
            markdown.iter_markdown(transcript, passages.RenderOptions(depth=depth))
        )

    def traces(self, sessions: SessionRefs = None, **options: Any) -> "Iterator[list[Span]]":
        """Yield the spans of each answered turn of some sessions, the root span first."""
        return traces.traces(
            self.resolve_sessions(sessions), among=self.sessions, hands=self.workers, **options
        )

    # ------------------------------------------------------------------ edits, backups, the lake

    @property
    def plan(self) -> "Plans":
        """Edits of its sessions, each as a plan first."""
        return operations.Plans(self)

    def check(self, session: SessionRef) -> "tuple[Violation, ...]":
        """Return the violations of the rules for written sessions."""
        return self.plan.check(session)

    @property
    def journals(self) -> "Journals":
        """The journals of its edits, with methods to finish and forget them."""
        return journal.Journals(self.roots)

    def edits(self) -> "list[Edit]":
        """Return the edits made to its sessions, newest first."""
        return self.journals.edits()

    def undo(self, id: str | None = None, *, force: bool = False) -> "Edit":  # noqa: A002
        """Undo an edit, by default the last one, restoring bytes, modes and times."""
        return self.journals.undo(id, force=force)

    @property
    def keep(self) -> "Backups":
        """Backups of its sessions that outlive Claude Code's cleanup."""
        return backups.Backups(self)

    @property
    def lake(self) -> "Lakes":
        """Lakes of tables built from its sessions."""
        return lake.Lakes(self)

    # ------------------------------------------------------------------ the index

    def update_index(self, folder: Path | None = None, **options: Any) -> "IndexReport":
        """Update the index, its own or that of a folder, and return what was done."""
        return indexing.update_index(self, folder or indexing.require_index_folder(self), **options)

    def index_status(self) -> "IndexStatus":
        """Return what the index contains, and whether it matches the logs."""
        return indexing.read_index_status(self, indexing.require_index_folder(self))

    # ------------------------------------------------------------------ trees and statistics

    def tree(
        self,
        sessions: SessionRefs = None,
        *,
        way: "TreeDetail" = "all",
        watch: Tracker[Session] | None = None,
    ) -> "SessionTree":
        """Return some sessions, or all, as a tree."""
        chosen = self.resolve_sessions(sessions)
        return self.answer(
            lambda index: tree.read_indexed_tree(index, chosen, way, watch or _untracked),
            lambda: tree.read_tree(chosen, way),
        )

    def shapes(
        self,
        sessions: SessionRefs = None,
        *,
        watch: Tracker[Session] | None = None,
        most: int | None = None,
    ) -> "list[SessionSize] | None":
        """Return the numbers of turns, branches and agents of some sessions, or all.

        None if more than `limit` bytes of logs would have to be read for it.
        """
        chosen = self.resolve_sessions(sessions)

        def from_index(index: "FreshIndex") -> "list[SessionSize] | None":
            known = catalogue.load_session_sizes(index.catalogue)
            keys = (str(session.path.absolute()) for session in chosen)
            return [known.get(key) or catalogue.SessionSize(0, 0, 0) for key in keys]

        def from_logs() -> "list[SessionSize] | None":
            if most is not None and sum(session.bytes for session in chosen) > most:
                return None
            sizes = map_parallel(
                self.workers,
                session_text.measure_session,
                catalogue.SessionSize,
                chosen,
                SIZES_PARALLEL_BYTES,
            )
            return [size for _, size in zip(watch(chosen) if watch else chosen, sizes, strict=True)]

        return self.answer(from_index, from_logs)

    def stats(
        self,
        sessions: SessionRefs = None,
        *,
        zone: tzinfo | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        watch: Tracker[Session] | None = None,
    ) -> "ArchiveFigures":
        """Return the statistics of some sessions, or all: turns, tools, agents, files."""
        return self.stats_by_session(
            sessions, zone=zone, since=since, until=until, watch=watch
        ).figures

    def stats_by_session(
        self,
        sessions: SessionRefs = None,
        *,
        zone: tzinfo | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        watch: Tracker[Session] | None = None,
    ) -> "SessionStatistics":
        """Return the same with the share of each session."""
        chosen = self.resolve_sessions(sessions)
        found = self.answer(
            lambda index: statistics.read_indexed_statistics(
                index, chosen, counters.Statistics(zone, since, until), watch or _untracked
            ),
            lambda: statistics.compute_statistics(chosen, zone, since, until, watch, self.workers),
        )
        folders = {session.project for session, share in found.parts if share.session}
        if len(folders) < 2:
            return found
        projects = {self.folding.project(folder) for folder in folders}
        return found._replace(figures=replace(found.figures, projects=len(projects)))

    def compare(
        self, session: SessionRef, first: str | None = None, second: str | None = None
    ) -> "Comparison":
        """Compare two branches of a session: by default the active one and the newest of the
        others.
        """
        conversations = self.open(session).conversations
        left, right = (
            names.resolve_conversation(conversations, name).id if name else None
            for name in (first, second)
        )
        return comparison.compare_branches(conversations, left, right, self.prices)

    # ------------------------------------------------------------------ tokens and money

    def responses(
        self, watch: Tracker[LogFile] | None = None, since: float | None = None
    ) -> "CountedResponses":
        """Return all responses, each counted once; of files written since a time, if given."""
        read = bills.make_bill_reader(self.jobs, self.worker_failures)
        if since is not None:
            counted = bills.count_responses(self.sessions, watch, since, read)
            return bills.assign_agents(counted, self.sessions)

        def from_index(index: "FreshIndex") -> "CountedResponses":
            return index_rows.count_indexed_responses(index, self.sessions)

        counted = self.answer(
            from_index, lambda: bills.count_responses(self.sessions, watch, read=read)
        )
        return bills.assign_agents(counted, self.sessions)

    def abandoned(
        self,
        responses: "Sequence[BilledResponse]",
        sessions: SessionRefs = None,
        watch: Tracker[LogFile] | None = None,
    ) -> frozenset[str]:
        """Return the uuids of the responses on abandoned branches."""
        chosen = self.resolve_sessions(sessions)

        def from_index(index: "FreshIndex") -> frozenset[str]:
            return index_rows.find_indexed_abandoned(index, chosen, responses, watch or _untracked)

        return self.answer(
            from_index, lambda: bills.find_abandoned(chosen, responses, watch, pool=self.workers)
        )

    def usage(
        self,
        by: "GroupBy" = "daily",
        prices: "Prices | None" = None,
        zone: tzinfo | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
    ) -> "Spending":
        """Return tokens and cost by day, week, month, session, project or model.

        Each response counts once over all files; without a time zone days are local ones.
        """
        return bills.report_usage(self, by, prices or self.prices, zone, since, until)

    def cross(
        self,
        by: "Sequence[Dimension]",
        prices: "Prices | None" = None,
        zone: tzinfo | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
    ) -> "CrossTable":
        """Return tokens and cost by several dimensions at once: project, model, week."""
        responses = spending.filter_by_time(self.responses().responses, since, until)
        if "project" in by:
            responses = project_folders.assign_projects(responses, self.folding)
        return spending.build_cross_table(responses, by, prices or self.prices, zone)

    def costs(self, prices: "Prices | None" = None) -> "dict[str, SpendingSum]":
        """Return what each session cost, by id; each response counts once over all files."""
        return spending.sum_by_session(self.responses().responses, prices or self.prices)

    # ------------------------------------------------------------------ insights

    def why(
        self,
        session: SessionRef,
        prices: "Prices | None" = None,
        now: datetime | None = None,
        *,
        turn: int | str | None = None,
    ) -> "Why":
        """Return why a session, or a turn of it, cost what it did.

        A turn is named by its number, one of its responses, or its first record.
        """
        when = now or datetime.now(UTC)
        return causes.explain_session(
            self, self.session(session), prices or self.prices, when, turn
        )

    def waste(
        self,
        sessions: SessionRefs = None,
        prices: "Prices | None" = None,
        since: datetime | None = None,
        until: datetime | None = None,
    ) -> "Waste":
        """Return avoidable spending by kind, the most expensive first."""
        chosen = self.resolve_sessions(sessions)
        return waste.report_waste(self, chosen, prices or self.prices, since, until)

    def waste_by_session(
        self, sessions: Sequence[Session], prices: "Prices"
    ) -> "list[SessionWaste]":
        """Return the avoidable spending of each session."""
        return self.answer(
            lambda index: waste.read_indexed_waste(index, self, sessions, prices),
            lambda: waste.find_session_waste(self, sessions, prices),
        )

    def losses_by_file(self, sessions: Sequence[Session]) -> "list[FileLosses]":
        """Return the avoidable requests in each file of some sessions, not priced yet."""
        read = waste.make_loss_reader(self.jobs, self.worker_failures)
        return self.answer(
            lambda index: list(waste.read_indexed_losses(index, sessions, read)),
            lambda: list(waste.read_losses(sessions, read)),
        )

    def insights(
        self,
        sessions: SessionRefs = None,
        *,
        prices: "Prices | None" = None,
        zone: tzinfo | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        now: datetime | None = None,
    ) -> "Insights":
        """Return trends, habits and outliers relative to the user's own median."""
        period = insights.Period(since, until, now or datetime.now(UTC), zone)
        return insights.read_insights(self, sessions, period, prices or self.prices)

    # ------------------------------------------------------------------ files

    def file_history(
        self,
        path: Path | str,
        *,
        directory: Path | None = None,
        known_as: tuple[str, ...] = (),
        sessions: SessionRefs = None,
    ) -> "FileHistory":
        """Return everything that sessions did to a file under any of its names, and its content
        over time.
        """
        chosen = self.resolve_sessions(sessions)
        return history.read_history(self, str(path), directory or Path(), known_as, chosen)

    def blame(
        self,
        path: Path | str,
        *,
        directory: Path | None = None,
        known_as: tuple[str, ...] = (),
        sessions: SessionRefs = None,
        has_notes: bool = True,
    ) -> "Blame":
        """Return the author of each line of a file: session, turn, prompt, time, and commit."""
        history = self.file_history(path, directory=directory, known_as=known_as, sessions=sessions)
        return authors.compute_blame(history, has_notes=has_notes)

    def plan_notes(self, path: Path | str, *, directory: Path | None = None) -> "NotePlan":
        """Return the git-ai notes that would record what `blame` says about committed lines."""
        history = self.file_history(path, directory=directory)
        return authors.plan_notes(
            authors.compute_blame(history, has_notes=False), history.names.git
        )

    def file_at(
        self,
        path: Path | str,
        at: str,
        *,
        directory: Path | None = None,
        known_as: tuple[str, ...] = (),
        time_of: Callable[[str], str] | None = None,
    ) -> "FileAt":
        """Return the content of a file at the end of a turn (`SESSION:TURN`, `TURN`), or at a
        time.
        """
        changes = self.file_history(path, directory=directory, known_as=known_as)
        moment = history.parse_moment(self, at, changes.events, time_of)
        story = changes.story_at(moment)
        return history.find_file_at(story, moment, history.find_first_start(self, story.events))

    def touches(self, path: str | None = None, *, sessions: SessionRefs = None) -> "list[TouchRow]":
        """Return what sessions did to files, or to the one with this path, by time."""
        chosen = self.resolve_sessions(sessions)
        return self.answer(
            lambda index: touched.read_indexed_touches(index, chosen, path),
            lambda: touched.read_touches(chosen, path),
        )

    def touched_files(self, *, sessions: SessionRefs = None) -> "list[TouchedPath]":
        """Return all paths that sessions touched with what they did to each, newest first."""
        return touched.summarize_touches(self.touches(sessions=sessions))

    def session_files(self, session: SessionRef) -> "list[NetChange]":
        """Return the net change of each file that a session changed."""
        return list(
            versions.compute_net_changes(history.read_session_events(self.open(session))).values()
        )

    def session_files_at(self, session: SessionRef, turn: int) -> "list[FileAt]":
        """Return the content of each file that a session changes at the end of a turn."""
        opened = self.open(session)
        events = history.read_session_events(opened)
        return history.find_files_at(
            events, history.find_end_of_turn(opened.conversations, turn, events)
        )

    def write_session_files(
        self, session: SessionRef, turn: int, folder: Path, *, is_forced: bool = False
    ) -> "list[WrittenFile]":
        """Write the files of a session into a folder, as they were at the end of a turn."""
        files = self.session_files_at(session, turn)
        directory = history.find_start_directory(self.open(session))
        return history.write_files(files, folder, directory, is_forced=is_forced)

    def disclosures(self, redactor: "Redactor | None" = None, **options: Any) -> "Report":
        """Return what its logs, or other `files`, contain that should not be shared."""
        return disclosures.find_disclosures(
            redactor, options.pop("files", self.files), self.workers, **options
        )


def _untracked(items: Sequence[Any]) -> Sequence[Any]:
    return items
