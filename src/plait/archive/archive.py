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

from plait.line import LogFile
from plait.sessions.library import SessionLibrary
from plait.sessions.model import Session, SessionRef, SessionRefs, Tracker
from plait.sessions.worker_pool import map_parallel

if TYPE_CHECKING:
    from plait.conversation.prices import Prices
    from plait.conversation.session_counts import ArchiveFigures
    from plait.conversation.usage import BilledResponse
    from plait.conversation.walk import Depth
    from plait.edit.journal import Edit, Journals
    from plait.edit.operations import Plans
    from plait.edit.plan import Violation
    from plait.export.formats import File
    from plait.export.plan import ExportPlan
    from plait.files.blame import Blame, NotePlan
    from plait.files.events import NetChange
    from plait.files.history import FileAt, FileHistory, WrittenFile
    from plait.files.touched import TouchedPath
    from plait.index.catalogue import SessionSize, TouchRow
    from plait.index.model import IndexReport, IndexStatus, SearchResult
    from plait.index.query import QueryNode
    from plait.insights.report import Insights
    from plait.insights.waste import FileLosses, SessionWaste, Waste
    from plait.insights.why import Why
    from plait.keep.backups import Backups
    from plait.lake import Lakes
    from plait.redact import Redactor, Report
    from plait.sessions.fresh_index import FreshIndex
    from plait.sessions.open_session import OpenSession
    from plait.sessions.statistics import SessionStatistics
    from plait.sessions.tree import SessionTree, TreeDetail
    from plait.trace.model import Span
    from plait.usage.responses import CountedResponses
    from plait.usage.spending import CrossTable, Dimension, GroupBy, Spending, SpendingSum
    from plait.view.comparison import Comparison

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
        from plait.search.search import search

        return search(self, self.index, text, filters, **options)

    def export(
        self, what: "SessionRef | ExportPlan | None" = None, as_: str = "md"
    ) -> "Iterator[File]":
        """Yield the files of an export: transcripts or pages, a manifest, a report.

        A session, or all of them, is redacted; with an `ExportPlan`, the plan decides.
        """
        from plait.export.plan import ExportPlan, export, make_redacted_plan

        if isinstance(what, ExportPlan):
            plan = what
        else:
            plan = make_redacted_plan(self.resolve_sessions(what), self.prices)
        return export(plan, as_, self.jobs, self.worker_failures)

    def render_markdown(self, opened: "OpenSession", line: str, depth: "Depth") -> str:
        """Return a conversation as a transcript, from the session's first turn to its end."""
        from plait.export.transcripts import Family, Names
        from plait.view.passages import RenderOptions
        from plait.view.transcript.markdown import iter_markdown, join_blocks

        family = Family(opened, str, Names())
        name = family.targets.get(line)
        if name is None:  # a session without a message
            return ""
        transcript = family.find_transcript(name)
        return join_blocks(iter_markdown(transcript, RenderOptions(depth=depth)))

    def traces(self, sessions: SessionRefs = None, **options: Any) -> "Iterator[list[Span]]":
        """Yield the spans of each answered turn of some sessions, the root span first."""
        from plait.trace.traces import traces

        return traces(
            self.resolve_sessions(sessions), among=self.sessions, hands=self.workers, **options
        )

    # ------------------------------------------------------------------ edits, backups, the lake

    @property
    def plan(self) -> "Plans":
        """Edits of its sessions, each as a plan first."""
        from plait.edit.operations import Plans

        return Plans(self)

    def check(self, session: SessionRef) -> "tuple[Violation, ...]":
        """Return the violations of the rules for written sessions."""
        return self.plan.check(session)

    @property
    def journals(self) -> "Journals":
        """The journals of its edits, with methods to finish and forget them."""
        from plait.edit.journal import Journals

        return Journals(self.roots)

    def edits(self) -> "list[Edit]":
        """Return the edits made to its sessions, newest first."""
        return self.journals.edits()

    def undo(self, id: str | None = None, *, force: bool = False) -> "Edit":  # noqa: A002
        """Undo an edit, by default the last one, restoring bytes, modes and times."""
        return self.journals.undo(id, force=force)

    @property
    def keep(self) -> "Backups":
        """Backups of its sessions that outlive Claude Code's cleanup."""
        from plait.keep.backups import Backups

        return Backups(self)

    @property
    def lake(self) -> "Lakes":
        """Lakes of tables built from its sessions."""
        from plait.lake import Lakes

        return Lakes(self)

    # ------------------------------------------------------------------ the index

    def update_index(self, folder: Path | None = None, **options: Any) -> "IndexReport":
        """Update the index, its own or that of a folder, and return what was done."""
        from plait.indexing import require_index_folder, update_index

        return update_index(self, folder or require_index_folder(self), **options)

    def index_status(self) -> "IndexStatus":
        """Return what the index contains, and whether it matches the logs."""
        from plait.indexing import read_index_status, require_index_folder

        return read_index_status(self, require_index_folder(self))

    # ------------------------------------------------------------------ trees and statistics

    def tree(
        self,
        sessions: SessionRefs = None,
        *,
        way: "TreeDetail" = "all",
        watch: Tracker[Session] | None = None,
    ) -> "SessionTree":
        """Return some sessions, or all, as a tree."""
        from plait.sessions.tree import read_indexed_tree, read_tree

        chosen = self.resolve_sessions(sessions)
        return self.answer(
            lambda index: read_indexed_tree(index, chosen, way, watch or _untracked),
            lambda: read_tree(chosen, way),
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
        from plait.index.catalogue import SessionSize, load_session_sizes

        chosen = self.resolve_sessions(sessions)

        def from_index(index: "FreshIndex") -> "list[SessionSize] | None":
            known = load_session_sizes(index.catalogue)
            keys = (str(session.path.absolute()) for session in chosen)
            return [known.get(key) or SessionSize(0, 0, 0) for key in keys]

        def from_logs() -> "list[SessionSize] | None":
            if most is not None and sum(session.bytes for session in chosen) > most:
                return None
            from plait.sessions.session_text import measure_session

            sizes = map_parallel(
                self.workers, measure_session, SessionSize, chosen, SIZES_PARALLEL_BYTES
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
        from plait.conversation.statistics import Statistics
        from plait.sessions.statistics import compute_statistics, read_indexed_statistics

        chosen = self.resolve_sessions(sessions)
        found = self.answer(
            lambda index: read_indexed_statistics(
                index, chosen, Statistics(zone, since, until), watch or _untracked
            ),
            lambda: compute_statistics(chosen, zone, since, until, watch, self.workers),
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
        from plait.sessions.names import resolve_conversation
        from plait.view.comparison import compare_branches

        conversations = self.open(session).conversations
        left, right = (
            resolve_conversation(conversations, name).id if name else None
            for name in (first, second)
        )
        return compare_branches(conversations, left, right, self.prices)

    # ------------------------------------------------------------------ tokens and money

    def responses(
        self, watch: Tracker[LogFile] | None = None, since: float | None = None
    ) -> "CountedResponses":
        """Return all responses, each counted once; of files written since a time, if given."""
        from plait.usage.responses import assign_agents, count_responses, make_bill_reader

        read = make_bill_reader(self.jobs, self.worker_failures)
        if since is not None:
            counted = count_responses(self.sessions, watch, since, read)
            return assign_agents(counted, self.sessions)

        def from_index(index: "FreshIndex") -> "CountedResponses":
            from plait.usage.index_rows import count_indexed_responses

            return count_indexed_responses(index, self.sessions)

        counted = self.answer(from_index, lambda: count_responses(self.sessions, watch, read=read))
        return assign_agents(counted, self.sessions)

    def abandoned(
        self,
        responses: "Sequence[BilledResponse]",
        sessions: SessionRefs = None,
        watch: Tracker[LogFile] | None = None,
    ) -> frozenset[str]:
        """Return the uuids of the responses on abandoned branches."""
        from plait.usage.responses import find_abandoned

        chosen = self.resolve_sessions(sessions)

        def from_index(index: "FreshIndex") -> frozenset[str]:
            from plait.usage.index_rows import find_indexed_abandoned

            return find_indexed_abandoned(index, chosen, responses, watch or _untracked)

        return self.answer(
            from_index, lambda: find_abandoned(chosen, responses, watch, pool=self.workers)
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
        from plait.usage.responses import report_usage

        return report_usage(self, by, prices or self.prices, zone, since, until)

    def cross(
        self,
        by: "Sequence[Dimension]",
        prices: "Prices | None" = None,
        zone: tzinfo | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
    ) -> "CrossTable":
        """Return tokens and cost by several dimensions at once: project, model, week."""
        from plait.sessions.project_folders import assign_projects
        from plait.usage.spending import build_cross_table, filter_by_time

        responses = filter_by_time(self.responses().responses, since, until)
        if "project" in by:
            responses = assign_projects(responses, self.folding)
        return build_cross_table(responses, by, prices or self.prices, zone)

    def costs(self, prices: "Prices | None" = None) -> "dict[str, SpendingSum]":
        """Return what each session cost, by id; each response counts once over all files."""
        from plait.usage.spending import sum_by_session

        return sum_by_session(self.responses().responses, prices or self.prices)

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
        from plait.insights.why import explain_session

        when = now or datetime.now(UTC)
        return explain_session(self, self.session(session), prices or self.prices, when, turn)

    def waste(
        self,
        sessions: SessionRefs = None,
        prices: "Prices | None" = None,
        since: datetime | None = None,
        until: datetime | None = None,
    ) -> "Waste":
        """Return avoidable spending by kind, the most expensive first."""
        from plait.insights.waste import report_waste

        chosen = self.resolve_sessions(sessions)
        return report_waste(self, chosen, prices or self.prices, since, until)

    def waste_by_session(
        self, sessions: Sequence[Session], prices: "Prices"
    ) -> "list[SessionWaste]":
        """Return the avoidable spending of each session."""
        from plait.insights.waste import find_session_waste, read_indexed_waste

        return self.answer(
            lambda index: read_indexed_waste(index, self, sessions, prices),
            lambda: find_session_waste(self, sessions, prices),
        )

    def losses_by_file(self, sessions: Sequence[Session]) -> "list[FileLosses]":
        """Return the avoidable requests in each file of some sessions, not priced yet."""
        from plait.insights.waste import make_loss_reader, read_indexed_losses, read_losses

        read = make_loss_reader(self.jobs, self.worker_failures)
        return self.answer(
            lambda index: list(read_indexed_losses(index, sessions, read)),
            lambda: list(read_losses(sessions, read)),
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
        from plait.insights.report import Period, read_insights

        period = Period(since, until, now or datetime.now(UTC), zone)
        return read_insights(self, sessions, period, prices or self.prices)

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
        from plait.files.history import read_history

        chosen = self.resolve_sessions(sessions)
        return read_history(self, str(path), directory or Path(), known_as, chosen)

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
        from plait.files.blame import compute_blame

        history = self.file_history(path, directory=directory, known_as=known_as, sessions=sessions)
        return compute_blame(history, has_notes=has_notes)

    def plan_notes(self, path: Path | str, *, directory: Path | None = None) -> "NotePlan":
        """Return the git-ai notes that would record what `blame` says about committed lines."""
        from plait.files.blame import compute_blame, plan_notes

        history = self.file_history(path, directory=directory)
        return plan_notes(compute_blame(history, has_notes=False), history.names.git)

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
        from plait.files.history import find_file_at, find_first_start, parse_moment

        history = self.file_history(path, directory=directory, known_as=known_as)
        moment = parse_moment(self, at, history.events, time_of)
        story = history.story_at(moment)
        return find_file_at(story, moment, find_first_start(self, story.events))

    def touches(self, path: str | None = None, *, sessions: SessionRefs = None) -> "list[TouchRow]":
        """Return what sessions did to files, or to the one with this path, by time."""
        from plait.files.touched import read_indexed_touches, read_touches

        chosen = self.resolve_sessions(sessions)
        return self.answer(
            lambda index: read_indexed_touches(index, chosen, path),
            lambda: read_touches(chosen, path),
        )

    def touched_files(self, *, sessions: SessionRefs = None) -> "list[TouchedPath]":
        """Return all paths that sessions touched with what they did to each, newest first."""
        from plait.files.touched import summarize_touches

        return summarize_touches(self.touches(sessions=sessions))

    def session_files(self, session: SessionRef) -> "list[NetChange]":
        """Return the net change of each file that a session changed."""
        from plait.files.history import read_session_events
        from plait.files.versions import compute_net_changes

        return list(compute_net_changes(read_session_events(self.open(session))).values())

    def session_files_at(self, session: SessionRef, turn: int) -> "list[FileAt]":
        """Return the content of each file that a session changes at the end of a turn."""
        from plait.files.history import find_end_of_turn, find_files_at, read_session_events

        opened = self.open(session)
        events = read_session_events(opened)
        return find_files_at(events, find_end_of_turn(opened.conversations, turn, events))

    def write_session_files(
        self, session: SessionRef, turn: int, folder: Path, *, is_forced: bool = False
    ) -> "list[WrittenFile]":
        """Write the files of a session into a folder, as they were at the end of a turn."""
        from plait.files.history import find_start_directory, write_files

        files = self.session_files_at(session, turn)
        directory = find_start_directory(self.open(session))
        return write_files(files, folder, directory, is_forced=is_forced)

    def disclosures(self, redactor: "Redactor | None" = None, **options: Any) -> "Report":
        """Return what its logs, or other `files`, contain that should not be shared."""
        from plait.sessions.disclosures import find_disclosures

        return find_disclosures(redactor, options.pop("files", self.files), self.workers, **options)


def _untracked(items: Sequence[Any]) -> Sequence[Any]:
    return items
