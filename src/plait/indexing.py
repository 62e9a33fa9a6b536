"""Building the index and keeping it up to date: only what has changed is read.

`update_index` compares the stamps of all files with those in the catalogue. A log to which lines
were appended is extended at the cost of those lines alone (`read_growth`), if they can change
nothing before them; in doubt its session is read again, which is always right. Sessions are read by
several processes if there is much to read.
"""

import dataclasses
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from plait.conversation.build import BranchDetector, get_line_role
from plait.conversation.items import Responses, build_items
from plait.conversation.model import ClientNote, Item, LateResult, ToolCall, UserMessage
from plait.conversation.results import get_notable_outcome
from plait.conversation.turns import SPOKEN
from plait.conversation.walk import unfold_items
from plait.errors import SourceError, UserError
from plait.index.catalogue import (
    VERSION,
    Catalogue,
    build_session_tables,
    from_bytes,
    ignore_files,
    to_bytes,
)
from plait.index.freshness import (
    META,
    OUTPUTS,
    TITLE,
    FileStamp,
    has_grown,
    is_fresh,
    load_stamps,
    mark_file,
)
from plait.index.model import (
    FileMark,
    IndexReport,
    IndexStatus,
    LineRow,
    LineState,
    Passage,
    SessionRows,
    TurnRow,
    elapsed_ms,
)
from plait.index.passages import extract_words, find_path, is_read_with_call
from plait.index.search import IndexReader
from plait.index.text_index import build_documents, is_damaged
from plait.index.writer import SessionEntry, Writer, open_writer
from plait.line import iter_lines, read_slice
from plait.line.discovery import LOG_SUFFIX
from plait.record import Record
from plait.record.codec import NotAnObject
from plait.record.prompts import SURE, collapse_whitespace
from plait.record.reader import Blank, parse_entry, parse_record
from plait.record.side_files import read_title_file
from plait.sessions.checkpoint import (
    AgentBranching,
    Checkpoint,
    continues_from,
    digest,
    stays_linear,
)
from plait.sessions.facts import LogFacts, collect_log_facts
from plait.sessions.fresh_index import scan_library
from plait.sessions.library import SessionLibrary
from plait.sessions.model import ProgressCallback, Session
from plait.sessions.page_cache import fingerprint_session, open_page_cache
from plait.sessions.session_text import TextLine, TextSession, iter_passages, make_title_passage
from plait.sessions.worker_pool import gc_paused
from plait.usage.index_rows import pack_bills

if TYPE_CHECKING:
    from plait.line.workers import Workers


MAX_GROWTH_BYTES = 4 << 20
"""Bytes of appended lines beyond which reading the session again is as good."""
AMBIGUOUS_KINDS = frozenset({"queue-operation", "summary", "fork-context-ref"})
"""Lines that may change what was read before them."""
PARALLEL_BYTES = 12_000_000
"""Bytes of logs from which several processes read faster than one."""
LARGE_UPDATE_BYTES = 8_000_000
"""Bytes from which the text index gets all the memory and threads it can use."""
BILLED_KINDS = frozenset({"session", "agent"})
NO_STAMP = FileStamp(0, 0, 0)


# ---------------------------------------------------------------------- where a log ended


class OpenCall(Struct, gc=False, array_like=True):
    """A call of the last turn: later lines may hold its result."""

    tool: str
    path: str | None
    """The file in its input."""
    line: int
    offset: int
    length: int
    part: int
    """The index of the item in its record."""
    is_answered: bool = False

    @classmethod
    def of(cls, call: ToolCall, record: Record, part: int) -> "OpenCall":
        """Return a call with its place."""
        place = (record.line, record.offset, len(record.raw), part)
        return cls(call.name, find_path(call.input), *place, call.result is not None)


class LogEnd(Struct, gc=False, array_like=True):
    """The end of a log, as stored in the catalogue: what is needed to read on from there."""

    dag: int
    turn: int
    state: LineState
    lines: int
    calls: dict[str, OpenCall]
    """Of the last turn, by id."""
    queued: list[bytes]
    """Digests of the first lines of prompts that are only queued: a later prompt may repeat one."""
    checkpoint: Checkpoint

    def encode(self) -> bytes | None:
        """Return it as bytes; None if an id in it is not valid text."""
        try:
            return msgspec.msgpack.encode(self)
        except UnicodeEncodeError:
            return None


def encode_log_ends(session: TextSession) -> dict[str, bytes]:
    """Return the ends of those files of a session that can be read on from there, by path."""
    lines = session.lines
    if any(text_line.is_recovered for text_line in lines):
        return {}
    queued = sorted(
        {
            _hash_first_line(item)
            for text_line in lines
            for item in unfold_items(text_line.items)
            if isinstance(item, UserMessage) and item.is_only_queued
        }
    )
    numbers = {text_line.line.id: number for number, text_line in enumerate(lines)}
    ends: dict[str, bytes] = {}
    for file in session.files:
        records = session.records_of(file.path)
        if session.linear_log:
            number: int | None = 0
        else:
            # Only a file whose records are all on one DAG-line can be read on from its end.
            graph = session.graph
            uuids = [record.uuid for record in records if record.uuid]
            line = graph.line_of.get(uuids[-1], "") if uuids else ""
            is_only = all(
                graph.line_of.get(uuid) == line and uuid not in graph.folds for uuid in uuids
            )
            number = numbers.get(line) if is_only else None
        if number is None or not _can_continue(lines[number]):
            continue
        text_line = lines[number]
        is_agent = text_line.line.kind == "agent"
        if session.linear_log:
            branching: BranchDetector | None = session.linear_log.branching
        else:
            branching = _replay_line(records, AgentBranching() if is_agent else BranchDetector())
        if not branching or not branching.before:
            continue
        data = LogEnd(
            number,
            len(text_line.openers),
            "agent" if is_agent else "active",
            records[-1].line,
            _find_open_calls(text_line.last_turn, records),
            queued,
            Checkpoint.from_detector(branching),
        ).encode()
        if data:
            ends[file.path] = data
    return ends


def _replay_line(records: Iterable[Record], branching: BranchDetector) -> BranchDetector | None:
    """Replay the records of one line; return None if the last turn ends on a side branch.

    U ┬ A        what continues the side branch would leave the answer behind
      └ P
    """
    is_twig = False
    for record in records:
        is_twig = (is_twig and get_line_role(record) != "prompt") or not continues_from(
            record, branching.before
        )
        branching.add(record)
        branching.may_branch = False  # the graph has decided: all are on one line
    return None if is_twig else branching


def _can_continue(text_line: TextLine) -> bool:
    """Return whether a prompt that follows would begin a turn of this line."""
    line = text_line.line
    if line.kind not in ("trunk", "agent") or not text_line.items:
        return False
    if line.kind == "trunk" and not line.is_active:
        return False
    for item in reversed(text_line.last_turn):
        if isinstance(item, SPOKEN):
            return True
        if isinstance(item, UserMessage) and not _opens_turn(item, is_agent=line.kind == "agent"):
            return False
    return bool(text_line.openers)


def _find_open_calls(items: list[Item], records: list[Record]) -> dict[str, OpenCall]:
    by_line = {record.line: record for record in records}
    parts = Counter[int]()
    calls: dict[str, OpenCall] = {}
    for item in unfold_items(items):
        record, part = by_line.get(item.line), parts[item.line]
        parts[item.line] += 1
        if isinstance(item, ToolCall) and record and not item.is_intermediate:
            calls[item.call] = OpenCall.of(item, record, part)
    return calls


def _opens_turn(item: UserMessage, *, is_agent: bool) -> bool:
    return item.kind == "prompt" and (item.is_typed or is_agent)


def _hash_first_line(message: UserMessage) -> bytes:
    return digest(collapse_whitespace(message.text.strip().partition("\n")[0]))


# ---------------------------------------------------------------------- appended lines


@dataclass(frozen=True, slots=True)
class Growth:
    """What appended lines add to a session."""

    sid: int
    file: int
    dag: int
    rows: SessionRows
    passages: list[Passage]
    has_new_title: bool
    replaced: list[OpenCall]
    """Calls whose passages are written again, with their outcome."""


def read_growth(catalogue: Catalogue, path: str, now: FileStamp) -> Growth | None:
    """Return what was appended to a file; None if its session must be read again."""
    known = catalogue.file_mark(path)
    if known is None:
        return None
    file, sid, mark, tail = known
    if not tail or now.size - mark.offset > MAX_GROWTH_BYTES or not has_grown(mark, now):
        return None
    try:
        end = msgspec.msgpack.decode(tail, type=LogEnd)
        return GrowthReader(catalogue, path, end).read(file, sid, mark, now)
    except (SourceError, NotAnObject, msgspec.ValidationError):
        return None


@dataclass
class GrowthReader:
    """Reads the appended records of one file, as long as they only continue it."""

    catalogue: Catalogue
    path: str
    end: LogEnd
    turns: list[TurnRow] = field(default_factory=list)
    passages: list[Passage] = field(default_factory=list)
    new_calls: dict[str, int] = field(default_factory=dict)
    """The places of the passages of new calls, by id."""
    replaced: list[OpenCall] = field(default_factory=list)

    def read(self, file: int, sid: int, mark: FileMark, now: FileStamp) -> Growth | None:
        """Return what was appended."""
        records = self._read_new_records(mark)
        session = self.catalogue.sessions([sid]).get(sid)
        if records is None or session is None:
            return None
        kind = AgentBranching if self.end.state == "agent" else BranchDetector
        branching = self.end.checkpoint.to_branching(Path(self.path), kind)
        if not all(self._add_record(record, branching) for record in records):
            return None
        before = from_bytes(self.catalogue.facts_of(sid), LogFacts)
        facts = self._update_facts(before, records, mark, session.key)
        if records:
            self.end.lines = records[-1].line
        self.end.checkpoint = Checkpoint.from_detector(branching)
        tail = self.end.encode()
        if facts is None or tail is None:
            return None
        offset = records[-1].offset + len(records[-1].raw) + 1 if records else mark.offset
        rows = SessionRows(
            session.key,
            session.id,
            session.project,
            facts.title,
            facts.started,
            facts.ended,
            (mark_file(self.path, now, mark.kind, offset),),
            (),
            tuple(self.turns),
            to_bytes(facts),
            tails={self.path: tail},
        )
        has_new_title = (facts.title, facts.started) != (before.title, before.started)
        if has_new_title and facts.title:
            self.passages.append(make_title_passage(facts.title, facts.started))
        return Growth(sid, file, self.end.dag, rows, self.passages, has_new_title, self.replaced)

    def _read_new_records(self, mark: FileMark) -> list[Record] | None:
        """Return the records of complete new lines; None if one cannot be read.

        A last line that is still being written is left for the next time.
        """
        if mark.offset and read_slice(Path(self.path), mark.offset - 1, 1) != b"\n":
            return None
        records: list[Record] = []
        for line in iter_lines(Path(self.path), offset=mark.offset, number=self.end.lines + 1):
            entry = parse_entry(line)
            if isinstance(entry, Record) and line.is_ended:
                records.append(entry)
            elif not isinstance(entry, Blank) and (isinstance(entry, Record) or line.is_ended):
                return None
        return records

    def _add_record(self, record: Record, branching: BranchDetector) -> bool:
        """Add one record; return False if it may do more than continue the last turn."""
        is_agent = self.end.state == "agent"
        if record.kind in AMBIGUOUS_KINDS or (record.is_sidechain and not is_agent):
            return False
        if not continues_from(record, branching.before) or not stays_linear(branching, [record]):
            return False
        items = build_items(record, Responses())
        return all(self._add_item(record, part, item) for part, item in enumerate(items))

    def _add_item(self, record: Record, part: int, item: Item) -> bool:
        """Add one item; return False if it may begin a turn later, or belongs elsewhere."""
        end, call = self.end, None
        if isinstance(item, UserMessage):
            if not _opens_turn(item, is_agent=end.state == "agent"):
                return False
            if _hash_first_line(item) in end.queued:
                return False
            end.turn += 1
            end.calls.clear()
            self.new_calls.clear()
            self.turns.append(TurnRow(end.dag, end.turn, item.kind, item.time, item.uuid))
        elif isinstance(item, ToolCall):
            if item.call in end.calls:
                return False
            call = end.calls[item.call] = OpenCall.of(item, record, part)
            self.new_calls[item.call] = len(self.passages)
        elif isinstance(item, LateResult):
            call = end.calls.get(item.call)
            if call is None or item.result.persisted:
                return False
            self._set_outcome(item, call)
        elif not isinstance(item, ClientNote) and record.kind != "assistant":
            return False
        self._add_passage(record, part, item, call)
        return True

    def _set_outcome(self, result: LateResult, call: OpenCall) -> None:
        """Set the outcome of a call, if it is notable; the first result counts."""
        outcome = get_notable_outcome(result)
        if outcome and not call.is_answered:
            place = self.new_calls.get(result.call)
            if place is None:  # the index has it without an outcome: its passage is replaced
                place = len(self.passages)
                data = read_slice(Path(self.path), call.offset, call.length)
                record = parse_record(data, call.line, call.offset)
                item = build_items(record, Responses())[call.part]
                self._add_passage(record, call.part, item, call)
                self.replaced.append(call)
            self.passages[place] = replace(self.passages[place], outcome=outcome)
        call.is_answered = True

    def _add_passage(self, record: Record, part: int, item: Item, call: OpenCall | None) -> None:
        words = extract_words(item)
        if words is None:
            return
        message = record.envelope.message
        model = message.model if message and hasattr(item, "response") else None
        end = self.end
        self.passages.append(
            Passage(
                words.kind,
                words.text,
                end.state,
                end.dag,
                end.turn,
                0,
                record.line,
                record.offset,
                len(record.raw),
                part,
                item.time,
                call.tool if call else None,
                model,
                call.path if call else None,
                get_notable_outcome(item),
                is_read_with_call(item),
            )
        )

    def _update_facts(
        self, before: LogFacts, records: list[Record], mark: FileMark, key: str
    ) -> LogFacts | None:
        """Return the present facts of the session.

        None if its title may come from a summary, or from anything that replaces a prompt.
        """
        if self.path != key or mark.kind != "session":
            return before
        if before.first_prompt is None:
            return None
        survey = before.to_survey()
        for record in records:
            survey.add(record)
        title = survey.titles.title() or (None, None)
        if before.has_summaries and title[1] not in SURE:
            return None
        file_title = read_title_file(Path(key).with_suffix(""))
        if file_title and not survey.titles.custom:
            title = (" ".join(file_title.split()), "custom")
        return replace(survey.to_facts(title), has_summaries=before.has_summaries)


# ---------------------------------------------------------------------- complete sessions


class IndexedSession(TextSession):
    """A session in the form for the index."""

    def to_rows(self, stamps: Mapping[str, FileStamp], side_files: list[str]) -> SessionRows:
        """Return the rows of the catalogue."""
        marks: list[FileMark] = []
        for file in self.files:
            records = self.records_of(file.path)
            end = records[-1].offset + len(records[-1].raw) + 1 if records else 0
            stamp = stamps.get(file.path, NO_STAMP)
            marks.append(mark_file(file.path, stamp, file.kind, end, self.bytes_of(file.path)))
        marks += [FileMark(path, *stamps[path], "side") for path in side_files if path in stamps]
        lines: list[LineRow] = []
        turns: list[TurnRow] = []
        for dag, text_line in enumerate(self.lines):
            line = text_line.line
            count = len(text_line.openers)
            lines.append(
                LineRow(line.id, line.kind, text_line.state, count, line.parent, line.label)
            )
            for number, place in enumerate(text_line.openers, 1):
                opener = text_line.items[place]
                if isinstance(opener, UserMessage):
                    turns.append(TurnRow(dag, number, opener.kind, opener.time, opener.uuid))
        facts = self.facts
        return SessionRows(
            key=str(self.session.path),
            id=self.session.id,
            project=self.session.project,
            title=facts.title,
            started=facts.started,
            ended=facts.ended,
            files=tuple(marks),
            lines=tuple(lines),
            turns=tuple(turns),
            facts=to_bytes(facts),
            tails=encode_log_ends(self),
        )

    @cached_property
    def facts(self) -> LogFacts:
        """Its facts for lists."""
        return collect_log_facts(self.session, self.records_of, lambda _: self.sources[0].title)

    def passages(self) -> Iterator[Passage]:
        """Yield the passages of the session, its title first."""
        facts = self.facts
        if facts.title:
            yield make_title_passage(facts.title, facts.started)
        places = [
            {record.line: (record.offset, len(record.raw)) for record in self.records_of(file.path)}
            for file in self.files
        ]
        folder = self.session.path.with_suffix("")
        for dag, text_line in enumerate(self.lines):
            yield from iter_passages(text_line, dag, places, folder)


class PendingSession(NamedTuple):
    """A session to be read, with the numbers assigned to it and its files."""

    key: str
    session: Session
    stamps: dict[str, FileStamp]
    """Of its files, by path."""
    sid: int
    first_file: int

    @property
    def size(self) -> int:
        """The size of its logs."""
        return sum(file.size for file in self.session.files)


TASK = f"{__name__}:read_entry_in_worker"


def read_entry_in_worker(pending: PendingSession) -> bytes:
    """Return the entry of a session as bytes."""
    with gc_paused():
        return msgspec.msgpack.encode(read_entry(pending))


def read_entry(pending: PendingSession) -> SessionEntry:
    """Read everything that the index stores about a session."""
    session = IndexedSession(pending.session)
    logs = {file.path for file in session.files}
    rows = session.to_rows(pending.stamps, sorted(pending.stamps.keys() - logs))
    bills = {
        mark.path: pack_bills(Path(mark.path), mark.kind, session.bytes_of(mark.path))
        for mark in rows.files
        if mark.kind in BILLED_KINDS
    }
    return SessionEntry(
        pending.sid,
        rows.project.encode("utf-8", "replace").decode(),
        build_session_tables(pending.sid, pending.first_file, rows, bills),
        build_documents(session.passages(), pending.sid, pending.first_file),
    )


# ---------------------------------------------------------------------- updating an index


def require_index_folder(library: SessionLibrary) -> Path:
    """Return the folder of a library's index; raise if it has none."""
    if library.index is None:
        raise UserError("this archive has no index", "pass an index folder: Archive(roots, index)")
    return library.index


def update_index(
    library: SessionLibrary,
    folder: Path,
    *,
    rebuild: bool = False,
    watch: ProgressCallback | None = None,
    wait: float = 30.0,
) -> IndexReport:
    """Update an index and return what was done."""
    started = time.perf_counter()
    failures = library.worker_failures
    # Files are discovered again after their stamps are taken: a log that appeared in between would
    # otherwise be noted as one that belongs to no session.
    roots = [root.path.absolute() for root in library.roots]
    library = SessionLibrary(roots, jobs=library.jobs, store=library.store)
    now = scan_library(library)
    if not rebuild and is_fresh(folder, now):
        return IndexReport(took_ms=elapsed_ms(started))
    known = {} if rebuild else load_stamps(folder)
    new_bytes = sum(stamp.size - known.get(path, (0,))[0] for path, stamp in now.items())
    is_large = new_bytes > LARGE_UPDATE_BYTES or rebuild
    with ExitStack() as stack:
        workers = None
        if library.jobs > 1 and new_bytes >= PARALLEL_BYTES:
            from plait.line.workers import Workers

            # Started before the text index starts threads, so that they can be forked.
            workers = stack.enter_context(Workers(library.jobs, failures))
        try:
            with open_writer(folder, is_large=is_large, wait=wait) as writer:
                report = Update(writer, now, library, watch, workers).run(rebuild=rebuild)
        except SourceError as error:
            if not (rebuild and is_damaged(error.__cause__)):
                raise
            with open_writer(folder, wait=wait, is_anew=True) as writer:
                report = Update(writer, now, library, watch, workers).run(rebuild=True)
    open_page_cache(folder).prune(lambda: {*map(fingerprint_session, library.all_sessions)})
    return replace(report, took_ms=elapsed_ms(started))


@dataclass
class Update:
    """One round of changes to an index."""

    writer: Writer
    now: Mapping[str, FileStamp]
    library: SessionLibrary
    watch: ProgressCallback | None
    workers: "Workers | None"

    def run(self, *, rebuild: bool) -> IndexReport:
        """Make the changes; the duration in the report is not set yet."""
        catalogue = self.writer.catalogue
        if rebuild:
            for sid in catalogue.keys().values():
                self.writer.delete_session(sid)
        known = {} if rebuild else catalogue.stamps()
        changed = {path for path, stamp in self.now.items() if known.get(path) != stamp}
        gone = known.keys() - self.now.keys()
        growths: list[Growth] = []
        if not rebuild:
            growths, changed = self._read_growths(changed)
        for growth in growths:
            if growth.has_new_title:
                self.writer.delete_title(growth.sid)
            for call in growth.replaced:
                self.writer.delete_passage(growth.sid, growth.file, call.line, call.part)
            self.writer.extend_session(
                growth.sid, growth.file, growth.rows, growth.passages, growth.dag
            )
        size = sum(len(passage.text) for growth in growths for passage in growth.passages)
        report = IndexReport(grown=len(growths), bytes=size)
        if changed or gone or rebuild:
            return self._read_changed_sessions(changed | gone, report, rebuild=rebuild)
        self.writer.commit()
        return report

    def _read_growths(self, changed: Iterable[str]) -> tuple[list[Growth], set[str]]:
        """Return what was appended to files, a session's own log last, and all other files.

        If one file of a session is in doubt, the whole session is read again.
        """
        growths: dict[str, Growth] = {}
        others: set[str] = set()
        doubtful: set[int] = set()
        for path in changed:
            growth = read_growth(self.writer.catalogue, path, self.now[path])
            if growth is not None:
                growths[path] = growth
                continue
            others.add(path)
            known = self.writer.catalogue.file_mark(path)
            doubtful.update({known[1]} if known else ())
        others.update(path for path, growth in growths.items() if growth.sid in doubtful)
        sure = [growth for path, growth in growths.items() if path not in others]
        sure.sort(key=lambda growth: growth.rows.files[0].path == growth.rows.key)
        return sure, others

    def _read_changed_sessions(
        self, changed: set[str], report: IndexReport, *, rebuild: bool
    ) -> IndexReport:
        """Read the sessions that have changed, and delete those that are gone."""
        catalogue = self.writer.catalogue
        known = {} if rebuild else catalogue.keys()
        known_paths: dict[int, set[str]] = defaultdict(set)
        for path, sid in catalogue.owners().items():
            known_paths[sid].add(path)
        side_files: dict[str, list[str]] = defaultdict(list)
        for path in self.now:
            if log := _find_owning_log(path):
                side_files[log].append(path)

        def list_paths(session: Session) -> set[str]:
            logs = {str(file.path) for file in session.files}
            return logs.union(*(side_files.get(log, ()) for log in logs))

        sessions = self.library.all_sessions
        keys = {str(session.path) for session in sessions}
        deleted = [key for key in known if key not in keys]
        for key in deleted:
            self.writer.delete_session(known[key])
        due = []
        owned: set[str] = set()
        for session in reversed(sessions):  # the newest can be found first
            paths = list_paths(session)
            owned |= paths
            key = str(session.path)
            if key not in known or known_paths.get(known[key]) != paths or paths & changed:
                due.append((session, paths))
        size = self._read_sessions(due, known)
        # Files that belong to no session are noted, so that they do not look new next time.
        strays = [
            FileMark(path, *stamp, "side") for path, stamp in self.now.items() if path not in owned
        ]
        self.writer.add_change(ignore_files(strays))
        self.writer.commit()
        if deleted:
            catalogue.truncate_journal()
        return replace(report, read=len(due), forgotten=len(deleted), bytes=report.bytes + size)

    def _read_sessions(self, due: list[tuple[Session, set[str]]], known: Mapping[str, int]) -> int:
        """Read sessions into the index one by one, and return their size."""
        sid, file = self.writer.reserve_numbers(len(due), sum(len(paths) for _, paths in due))
        pending: list[PendingSession] = []
        for session, paths in due:
            stamps = {path: self.now[path] for path in paths if path in self.now}
            detached = dataclasses.replace(session, archive=None)
            pending.append(PendingSession(str(session.path), detached, stamps, sid, file))
            sid, file = sid + 1, file + len(paths)
        sizes = [item.size for item in pending]
        if self.workers is None:
            entries = map(read_entry, pending)
        else:
            decode = msgspec.msgpack.Decoder(SessionEntry).decode
            entries = map(decode, self.workers.map(TASK, pending, sizes))
        total, done = sum(sizes), 0
        with gc_paused():
            for item, entry in zip(pending, entries, strict=True):
                self.writer.add_session(known.get(item.key), entry)
                done += item.size
                if self.watch:
                    self.watch(done, total)
        return done


def _find_owning_log(path: str) -> str | None:
    """Return the log that a title, a saved output or an agent's side file belongs to."""
    folder, _, name = path.rpartition("/")
    if name == TITLE:
        return folder + LOG_SUFFIX
    if folder.endswith(f"/{OUTPUTS}"):
        return folder.removesuffix(f"/{OUTPUTS}") + LOG_SUFFIX
    return path.removesuffix(META) + LOG_SUFFIX if path.endswith(META) else None


def read_index_status(library: SessionLibrary, folder: Path) -> IndexStatus:
    """Return what an index contains, without changing it."""
    try:
        reader = IndexReader(folder)
    except SourceError:
        return IndexStatus(folder=str(folder), exists=False)
    try:
        catalogue = reader.catalogue
        known, now = catalogue.stamps(), scan_library(library)
        changed = sum(known.get(path) != stamp for path, stamp in now.items())
        return IndexStatus(
            folder=str(folder),
            exists=True,
            sessions=catalogue.count("sessions"),
            files=catalogue.count("files"),
            turns=catalogue.count("turns"),
            bytes=catalogue.bytes(),
            size=sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()),
            passages=reader.searcher.num_docs,
            schema=VERSION,
            changed=changed + len(known.keys() - now.keys()),
        )
    finally:
        reader.close()
