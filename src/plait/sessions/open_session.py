"""An open session: its records, its graph and its conversations, each built on first use.

The files are read once, when the session is opened. `reopen` reads only what was appended since.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cached_property
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from msgspec.structs import replace as replace_field

from plait.errors import SourceError
from plait.graph.build import Builder, build
from plait.graph.facts import FileFacts, Source, make_source
from plait.graph.layout import RowShape, iter_rows
from plait.graph.leaf import find_leaf
from plait.graph.model import OtherSummary, Place, SessionGraph
from plait.graph.tree import label_lines
from plait.line import FileStamp, LogFile, iter_lines, read_file_stamp, read_slice
from plait.record import Record
from plait.record.billing import SentLine, decode_sent_lines
from plait.record.codec import encode
from plait.record.reader import Broken, Recovered, parse_entry, parse_record
from plait.sessions.model import Session
from plait.sessions.other_summaries import find_other_summaries

if TYPE_CHECKING:  # a graph or a context needs no conversations: their modules load on demand
    from plait.conversation.build import RecordAt
    from plait.conversation.model import Conversation, Conversations, Turn
    from plait.sessions.redaction import Redaction
    from plait.sessions.resume import Resumption

LEAF_MATTERS = frozenset({"rewind", "parallel", "retracted", "resent"})
"""Verdicts that depend on the record from which the client would resume."""


class Log(NamedTuple):
    """What was read of one file."""

    records: list[Record]
    recovered: list[Recovered]
    """Records recovered from its broken lines."""


NOT_READ = FileStamp(-1, -1, -1)
"""For a file that was not read."""
Reader: TypeAlias = Callable[[Path], Log]
LogOrSource: TypeAlias = LogFile | Source


def read_log(path: Path, offset: int = 0, number: int = 1) -> Log:
    """Read a file from a line on; empty if it is gone."""
    found = Log([], [])
    try:
        for line in iter_lines(path, offset=offset, number=number):
            entry = parse_entry(line)
            if isinstance(entry, Record):
                found.records.append(entry)
            elif isinstance(entry, Broken):
                found.recovered.extend(entry.recovered)
    except SourceError:
        pass
    return found


class OpenSession:
    """A session, or several that share records, with the state of their files when opened."""

    def __init__(
        self,
        files: Iterable[LogOrSource],
        *sessions: Session,
        redaction: "Redaction | None" = None,
        read: Reader = read_log,
        other_summaries: tuple[OtherSummary, ...] = (),
    ) -> None:
        self.sessions = sessions
        self.redaction = redaction
        """The redaction that everything passes first."""
        self.other_summaries = other_summaries
        """Summaries of its branches in other files."""
        self.sources: list[Source] = []
        self.stamps: dict[str, FileStamp | None] = {}
        self._logs: dict[str, Log] = {}
        for file in files:
            self._add_file(file, read)

    def _add_file(self, log_or_source: LogOrSource, read: Reader) -> None:
        if isinstance(log_or_source, Source):
            path, log = log_or_source.file.path, Log(list(log_or_source.records), [])
        else:
            path = str(log_or_source.path)
            self.stamps[path] = read_file_stamp(log_or_source.path)
            log = read(log_or_source.path)
            log_or_source = make_source(log_or_source, log.records)
        if self.redaction:
            log_or_source = self.redaction.redact_source(log_or_source)
            log = Log(list(log_or_source.records), log.recovered)
        self._logs[path] = log
        self.sources.append(replace(log_or_source, records=log.records))

    @property
    def session(self) -> Session:
        """The session, the first of several."""
        return self.sessions[0]

    @cached_property
    def id(self) -> str:
        """The name of the session in the graph; empty if it has none."""
        known = self.graph.sessions
        own = self.session.id if self.sessions else ""
        if self.redaction:
            own = self.redaction.redact_name(own)
        return own if own in known else next(iter(known), "")

    @property
    def title(self) -> str | None:
        """What the session is called."""
        known = self.graph.sessions.get(self.id)
        return known.title if known else None

    def records_of(self, path: Path | str) -> list[Record]:
        """Return the records of one file."""
        log = self._logs.get(str(path))
        return log.records if log else []

    @property
    def records(self) -> list[Record]:
        """The records of the session's own file."""
        return self.records_of(self.session.file.path) if self.session.file else []

    def recovered_of(self, path: Path | str) -> list[Recovered]:
        """Return the records recovered from broken lines of one file."""
        log = self._logs.get(str(path))
        return log.recovered if log else []

    def sent_lines(self, path: Path | str) -> "Iterator[tuple[int, SentLine]]":
        """Yield what the lines of one file say about requests, as read."""
        found = [(record.offset, record.line, record.raw) for record in self.records_of(path)]
        found += [(o.offset, o.line, o.data) for o in self.recovered_of(path) if o.is_whole]
        return decode_sent_lines((line, data) for _, line, data in sorted(found))

    @cached_property
    def client_records(self) -> list[Record]:
        """The records that the client reads from the session's own file.

        Of a broken line that is the object at its beginning.
        """
        path = self.session.file.path if self.session.file else ""
        begun = [
            parse_record(recovered.data, recovered.line, recovered.offset)
            for recovered in self.recovered_of(path)
            if recovered.is_first
        ]
        found = [*self.records, *begun]
        return sorted(found, key=lambda record: record.offset) if begun else found

    @property
    def copied(self) -> dict[str, str]:
        """Records that were copied under other ids, each with its original."""
        return {uuid: node.copy_of for uuid, node in self.graph.nodes.items() if node.copy_of}

    def recovered(self) -> Iterator[tuple[int, Record]]:
        """Yield recovered records with the number of their file."""
        for number, file in enumerate(self.graph.files):
            for recovered in self.recovered_of(file.path):
                record = parse_record(encode(recovered.fields), recovered.line, recovered.offset)
                yield (
                    number,
                    self.redaction.redact_record(record, file.path) if self.redaction else record,
                )

    @cached_property
    def _builder(self) -> Builder:
        builder = Builder()
        for source in self.sources:
            builder.add(source)
        return builder

    @property
    def file_facts(self) -> Iterable[FileFacts]:
        """The facts that the graph is built from."""
        return self._builder.facts.values()

    @cached_property
    def graph(self) -> SessionGraph:
        """The graph of all records."""
        return self.full_graph

    @cached_property
    def full_graph(self) -> SessionGraph:
        """The graph with all findings and counts.

        Where the client would resume matters only at forks; there its own rule decides, which reads
        contents; elsewhere the same rule on facts.
        """
        found = self.plain_graph
        is_forked = any(verdict.rung in LEAF_MATTERS for verdict in found.verdicts)
        own = (file_facts for file_facts in self.file_facts if file_facts.file.kind == "session")
        if is_forked and any(self._leaf(facts) != find_leaf(facts) for facts in own):
            return self.client_graph
        return found

    @cached_property
    def plain_graph(self) -> SessionGraph:
        """The same, by the rule on facts alone."""
        return self._label(self._builder.graph())

    @cached_property
    def client_graph(self) -> SessionGraph:
        """The same, with the leaf that the client's own rule chooses wherever one is needed."""
        builder = Builder(leaf_of=self._leaf)
        builder.facts = self._builder.facts
        return self._label(builder.graph())

    def _label(self, graph: SessionGraph) -> SessionGraph:
        if not self.other_summaries:
            return graph
        redact = self.redaction.redact_name if self.redaction else str
        others = [other._replace(text=redact(other.text)) for other in self.other_summaries]
        return label_lines(graph, others)

    def _leaf(self, facts: FileFacts) -> str | None:
        from plait.graph.client import find_resumed_leaf

        return find_resumed_leaf(self.records_of(facts.file.path), facts.file.size) or find_leaf(
            facts
        )

    @cached_property
    def record_at(self) -> "RecordAt":
        """A function that finds a record by its place in the files of the graph."""
        return self._make_record_finder(self.graph)

    def _make_record_finder(self, graph: SessionGraph) -> "RecordAt":
        held = [
            {record.offset: record for record in self.records_of(file.path)} for file in graph.files
        ]

        def found_at(place: Place) -> Record | None:
            return held[place.file].get(place.offset)

        return found_at

    def owns_graph(self, graph: SessionGraph) -> bool:
        """Return whether a graph was built from this session."""
        return any(self.__dict__.get(name) is graph for name in ("graph", "client_graph"))

    def iter_node_records(
        self, graph: SessionGraph, uuids: Iterable[str]
    ) -> Iterator[tuple[str, Record]]:
        """Yield the records of some nodes of its graph."""
        record_at = self._make_record_finder(graph)
        for uuid in uuids:
            record = record_at(graph.nodes[uuid].place)
            if record is not None:
                yield uuid, record

    def turns_on(self, graph: SessionGraph, lines: Iterable[str]) -> "dict[str, Turn]":
        """Return the turns of some DAG-lines of its graph, by their first record."""
        from plait.conversation.build import ConversationBuilder

        builder = ConversationBuilder(graph, self._make_record_finder(graph))
        conversations = (builder.conversation(graph.lines[name]) for name in lines)
        found: dict[str, Turn] = {}
        for turn in (turn for item in conversations for turn in item.turns):
            first = next((item.uuid for item in turn.items if item.uuid), None)
            if first:
                found[first] = turn
        return found

    def record_at_line(self, file: int, line: int) -> Record | None:
        """Return the record on a line of one of its files."""
        files = self.graph.files
        held = self.records_of(files[file].path) if 0 <= file < len(files) else []
        place = bisect_left(held, line, key=lambda record: record.line)
        return held[place] if place < len(held) and held[place].line == line else None

    @cached_property
    def by_line(self) -> "Mapping[str, Conversation]":
        """All conversations by DAG-line."""
        return self._base_conversations.by_line if self.graph.sessions else {}

    @cached_property
    def _base_conversations(self) -> "Conversations":
        from plait.conversation.build import build_conversations

        return build_conversations(self.graph, self.id, self.record_at)

    @cached_property
    def conversations(self) -> "Conversations":
        """All conversations, including what was recovered from broken lines."""
        from plait.conversation.build import build_recovered

        broken = build_recovered(self.recovered(), self.id)
        return (
            replace_field(self._base_conversations, recovered=broken)
            if broken
            else self._base_conversations
        )

    @property
    def turns(self) -> "tuple[Turn, ...]":
        """The turns of the active conversation."""
        return self.conversations.active.turns

    @cached_property
    def rows(self) -> "list[RowShape]":
        """The graph of the session as drawn rows."""
        return list_graph_rows(self.graph, self.id)

    def context(self, as_: Literal["client", "sdk"] = "client") -> "Resumption":
        """Return what Claude will see when the session is resumed, and its size."""
        from plait.sessions.resume import build_resumption

        return build_resumption(self, as_)

    @cached_property
    def epoch(self) -> str:
        """A number that changes unless files have only grown."""
        text = repr(sorted(self.stamps.items())).encode("utf-8", "surrogatepass")
        return blake2b(text, digest_size=8).hexdigest()

    def redact(self, redaction: "Redaction") -> "OpenSession":
        """Return the same session with everything redacted before anything is built."""
        return self._rebuild(redaction, self.other_summaries)

    def with_other_summaries(self) -> "OpenSession":
        """Return the same session, also labelled by summaries in other files of its folder."""
        assert self.redaction is None, "labels are added before redaction"
        others = find_other_summaries(self.sessions)
        return self if others == self.other_summaries else self._rebuild(None, others)

    def _rebuild(
        self, redaction: "Redaction | None", others: tuple[OtherSummary, ...]
    ) -> "OpenSession":
        found = OpenSession(
            self.sources, *self.sessions, redaction=redaction, other_summaries=others
        )
        for path, log in self._logs.items():
            found._logs[path].recovered.extend(log.recovered)
        if redaction is None:
            found.stamps = self.stamps
        return found

    def is_current(self, *files: LogFile) -> bool:
        """Return whether some files were read and are unchanged."""
        return all(
            self.stamps.get(str(file.path), NOT_READ) == read_file_stamp(file.path)
            for file in files
        )

    def reopen(self, session: Session) -> "OpenSession":
        """Return the session with its present files; for those that have grown only the rest is
        read.
        """
        kept: dict[str, Log] = {}

        def read(path: Path) -> Log:
            known = self._read_appended(path)
            if known:
                kept[str(path)] = known
            return known or read_log(path)

        found = OpenSession(session.files, session, read=read)
        if all(path in kept for path, stamp in self.stamps.items() if stamp):
            found.epoch = self.epoch
        return found

    def _read_appended(self, path: Path) -> Log | None:
        """Return the records of a file with those that were appended.

        None if it must be read again: it is another file, or its beginning changed.
        """
        now, then = read_file_stamp(path), self.stamps.get(str(path))
        if now is None or then is None or now.inode != then.inode:
            return None
        known = self._logs[str(path)]
        if now == then:
            return known
        last = known.records[-1] if known.records else None
        if last is None or now.size < then.size or not is_record_unchanged(path, last):
            return None
        new = read_log(path, last.offset + len(last.raw) + 1, last.line + 1)
        before = [recovered for recovered in known.recovered if recovered.line <= last.line]
        return Log([*known.records, *new.records], [*before, *new.recovered])


def open_session(session: Session, redaction: "Redaction | None" = None) -> OpenSession:
    """Read a session."""
    return OpenSession(session.files, session, redaction=redaction)


def open_sessions(
    sessions: Iterable[Session],
    redaction: "Redaction | None" = None,
    summaries: Iterable[OtherSummary] = (),
) -> OpenSession:
    """Read sessions that share records, also labelled by summaries in other files."""
    chosen = tuple(sessions)
    files = [file for session in chosen for file in session.files]
    own = {str(file.path) for file in files}
    others = tuple(summary for summary in summaries if summary.path not in own)
    return OpenSession(files, *chosen, redaction=redaction, other_summaries=others)


def build_sessions_graph(sessions: Iterable[Session]) -> SessionGraph:
    """Return the graph of some sessions, their agents and workflows included.

    For a single session the client's own rule decides where it resumes; for many, the same rule on
    facts, which does not keep their texts in memory.
    """
    chosen = tuple(sessions)
    if len(chosen) == 1:
        return open_session(chosen[0]).with_other_summaries().client_graph
    graph = build(file for session in chosen for file in session.files)
    others = find_other_summaries(chosen)
    return label_lines(graph, others) if others else graph


def list_graph_rows(graph: SessionGraph, session: str) -> "list[RowShape]":
    """Return the rows of one session of a graph."""
    known = graph.sessions[session]
    tops = [known.trunk] if known.trunk else []
    tops += [
        name for name in known.lines if name != known.trunk and graph.lines[name].parent is None
    ]
    return [row for row in iter_rows(graph, roots=tops) if row.session == session]


def is_record_unchanged(path: Path, record: Record) -> bool:
    """Return whether a line is still complete at its place."""
    try:
        data = read_slice(path, record.offset, len(record.raw) + 1)
    except SourceError:
        return False
    return data[:-1] == record.raw and data[-1:] == b"\n"
