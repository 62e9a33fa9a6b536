"""A session to all that is in it: records, graph, conversations, each made when asked for.

Its files are read once, when it is opened. What has been added since is read by `grown`,
which keeps what was read before.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cached_property
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from msgspec.structs import replace as replace_field

from plait.archive.model import Session
from plait.errors import SourceError
from plait.graph.build import Builder, build
from plait.graph.leaf import leaf_of
from plait.graph.model import Place, SessionGraph
from plait.graph.source import FileFacts, Source, source_of
from plait.line import FileStamp, LogFile, lines, read_slice, stamp_of
from plait.record import Record
from plait.record.codec import encode
from plait.record.read import Broken, Recovered, entry_of, record_of

if TYPE_CHECKING:  # a graph or a context needs no conversation: its modules are loaded when asked
    from plait.archive.redaction import Redaction
    from plait.archive.resume import Resumption
    from plait.conversation.build import RecordAt
    from plait.conversation.model import Conversation, Conversations, Turn
    from plait.graph.rows import RowShape
    from plait.record.lineage import Sent

LEAF_MATTERS = frozenset({"rewind", "parallel", "retracted", "resent"})
"""Verdicts in which the record that the client goes on from has a say."""


class Log(NamedTuple):
    """What was read of one file."""

    records: list[Record]
    recovered: list[Recovered]
    """What can be read from its broken lines."""


NEVER = FileStamp(-1, -1, -1)
"""Of a file that was not read."""
Reader: TypeAlias = Callable[[Path], Log]
Given: TypeAlias = LogFile | Source


def read_log(path: Path, offset: int = 0, number: int = 1) -> Log:
    """Reads a file, from a line on; nothing where it has gone."""
    found = Log([], [])
    try:
        for line in lines(path, offset=offset, number=number):
            entry = entry_of(line)
            if isinstance(entry, Record):
                found.records.append(entry)
            elif isinstance(entry, Broken):
                found.recovered.extend(entry.recovered)
    except SourceError:
        pass
    return found


class OpenSession:
    """A session, or several that share records, as their files were when they were opened."""

    def __init__(
        self,
        files: Iterable[Given],
        *sessions: Session,
        through: "Redaction | None" = None,
        read: Reader = read_log,
    ) -> None:
        self.sessions = sessions
        self.through = through
        """What everything goes through before anything is made of it."""
        self.sources: list[Source] = []
        self.stamps: dict[str, FileStamp | None] = {}
        self._logs: dict[str, Log] = {}
        for one in files:
            self._take(one, read)

    def _take(self, one: Given, read: Reader) -> None:
        if isinstance(one, Source):
            path, log = one.file.path, Log(list(one.records), [])
        else:
            path = str(one.path)
            self.stamps[path] = stamp_of(one.path)
            log = read(one.path)
            one = source_of(one, log.records)
        if self.through:
            one = self.through.source(one)
            log = Log(list(one.records), log.recovered)
        self._logs[path] = log
        self.sources.append(replace(one, records=log.records))

    @property
    def session(self) -> Session:
        """The session, the first of several."""
        return self.sessions[0]

    @cached_property
    def id(self) -> str:
        """The name that the graph knows the session by, "" where it knows none."""
        known = self.graph.sessions
        own = self.session.id if self.sessions else ""
        if self.through:
            own = self.through.name(own)
        return own if own in known else next(iter(known), "")

    @property
    def title(self) -> str | None:
        """What the session is called."""
        known = self.graph.sessions.get(self.id)
        return known.title if known else None

    def records_of(self, path: Path | str) -> list[Record]:
        """Returns the records of one file."""
        log = self._logs.get(str(path))
        return log.records if log else []

    @property
    def records(self) -> list[Record]:
        """The records of the session's own file."""
        return self.records_of(self.session.file.path) if self.session.file else []

    def recovered_of(self, path: Path | str) -> list[Recovered]:
        """Returns what can be read from the broken lines of one file."""
        log = self._logs.get(str(path))
        return log.recovered if log else []

    def sent_lines(self, path: Path | str) -> "Iterator[tuple[int, Sent]]":
        """Yields what the lines of one file tell of requests, as they were when it was read."""
        from plait.record.lineage import sent_in

        found = [(one.offset, one.line, one.raw) for one in self.records_of(path)]
        found += [(o.offset, o.line, o.data) for o in self.recovered_of(path) if o.is_whole]
        return sent_in((line, data) for _, line, data in sorted(found))

    @cached_property
    def client_records(self) -> list[Record]:
        """The records that the client reads from the session's own file.

        Of a broken line that is the object which it begins with.
        """
        path = self.session.file.path if self.session.file else ""
        begun = [
            record_of(one.data, one.line, one.offset)
            for one in self.recovered_of(path)
            if one.is_first
        ]
        found = [*self.records, *begun]
        return sorted(found, key=lambda record: record.offset) if begun else found

    @property
    def copied(self) -> dict[str, str]:
        """The records that were copied under other ids, each with the one that it is a copy of."""
        return {uuid: node.copy_of for uuid, node in self.graph.nodes.items() if node.copy_of}

    def recovered(self) -> Iterator[tuple[int, Record]]:
        """Yields what can be read from broken lines, with the number of the file."""
        for number, file in enumerate(self.graph.files):
            for one in self.recovered_of(file.path):
                record = record_of(encode(one.fields), one.line, one.offset)
                yield number, self.through.record(record, file.path) if self.through else record

    @cached_property
    def _builder(self) -> Builder:
        builder = Builder()
        for source in self.sources:
            builder.add(source)
        return builder

    @property
    def file_facts(self) -> Iterable[FileFacts]:
        """What the graph is made of."""
        return self._builder.facts.values()

    @cached_property
    def graph(self) -> SessionGraph:
        """The graph of all records."""
        return self.full_graph

    @cached_property
    def full_graph(self) -> SessionGraph:
        """The graph with all that it has found and counted.

        Only where something forks does it matter where the client would go on; there its own
        rule decides, which looks at contents, elsewhere the same rule on facts.
        """
        found = self.plain_graph
        is_forked = any(verdict.rung in LEAF_MATTERS for verdict in found.verdicts)
        own = (one for one in self.file_facts if one.file.kind == "session")
        if is_forked and any(self._leaf(facts) != leaf_of(facts) for facts in own):
            return self.client_graph
        return found

    @cached_property
    def plain_graph(self) -> SessionGraph:
        """The same, by the rule on facts alone."""
        return self._builder.graph()

    @cached_property
    def client_graph(self) -> SessionGraph:
        """The same, with the leaf that the client's own rule chooses wherever one is named."""
        builder = Builder(leaf_of=self._leaf)
        builder.facts = self._builder.facts
        return builder.graph()

    def _leaf(self, facts: FileFacts) -> str | None:
        from plait.graph.client import resumed_leaf

        return resumed_leaf(self.records_of(facts.file.path), facts.file.size) or leaf_of(facts)

    @cached_property
    def record_at(self) -> "RecordAt":
        """What finds a record by its place in the files of the graph."""
        return self._finder(self.graph)

    def _finder(self, graph: SessionGraph) -> "RecordAt":
        held = [
            {record.offset: record for record in self.records_of(file.path)} for file in graph.files
        ]

        def found_at(place: Place) -> Record | None:
            return held[place.file].get(place.offset)

        return found_at

    def is_graph(self, graph: SessionGraph) -> bool:
        """Tells whether a graph was made of it."""
        return any(self.__dict__.get(name) is graph for name in ("graph", "client_graph"))

    def records_behind(
        self, graph: SessionGraph, uuids: Iterable[str]
    ) -> Iterator[tuple[str, Record]]:
        """Yields the records of some nodes of its graph."""
        record_at = self._finder(graph)
        for uuid in uuids:
            record = record_at(graph.nodes[uuid].place)
            if record is not None:
                yield uuid, record

    def turns_on(self, graph: SessionGraph, lines: Iterable[str]) -> "dict[str, Turn]":
        """Returns the turns of some DAG-lines of its graph, by the first record of each."""
        from plait.conversation.build import Teller

        teller = Teller(graph, self._finder(graph))
        told = (teller.conversation(graph.lines[name]) for name in lines)
        found: dict[str, Turn] = {}
        for turn in (turn for one in told for turn in one.turns):
            first = next((item.uuid for item in turn.items if item.uuid), None)
            if first:
                found[first] = turn
        return found

    def record_on(self, file: int, line: int) -> Record | None:
        """Returns the record on a line of one of its files."""
        files = self.graph.files
        held = self.records_of(files[file].path) if 0 <= file < len(files) else []
        place = bisect_left(held, line, key=lambda record: record.line)
        return held[place] if place < len(held) and held[place].line == line else None

    @cached_property
    def by_line(self) -> "Mapping[str, Conversation]":
        """All conversations by the DAG-line that each reads."""
        return self._told.by_line if self.graph.sessions else {}

    @cached_property
    def _told(self) -> "Conversations":
        from plait.conversation.build import conversations_of

        return conversations_of(self.graph, self.id, self.record_at)

    @cached_property
    def conversations(self) -> "Conversations":
        """The session as people and tools took turns, with what broken lines tell."""
        from plait.conversation.build import recovered_from

        broken = recovered_from(self.recovered(), self.id)
        return replace_field(self._told, recovered=broken) if broken else self._told

    @property
    def turns(self) -> "tuple[Turn, ...]":
        """The turns of the conversation that goes on."""
        return self.conversations.active.turns

    @cached_property
    def rows(self) -> "list[RowShape]":
        """The graph of the session as it is drawn."""
        return rows_of(self.graph, self.id)

    def context(self, as_: Literal["client", "sdk"] = "client") -> "Resumption":
        """Returns what Claude will see when the session is resumed, and how large it is."""
        from plait.archive.resume import resumption_of

        return resumption_of(self, as_)

    @cached_property
    def epoch(self) -> str:
        """What stays the same as long as files have only grown."""
        text = repr(sorted(self.stamps.items())).encode("utf-8", "surrogatepass")
        return blake2b(text, digest_size=8).hexdigest()

    def passed_through(self, through: "Redaction") -> "OpenSession":
        """Returns the same session, all of it changed before anything is made of it."""
        found = OpenSession(self.sources, *self.sessions, through=through)
        for path, log in self._logs.items():
            found._logs[path].recovered.extend(log.recovered)
        return found

    def holds(self, *files: LogFile) -> bool:
        """Tells whether some files were read, and are as they were then."""
        return all(self.stamps.get(str(file.path), NEVER) == stamp_of(file.path) for file in files)

    def grown(self, session: Session) -> "OpenSession":
        """Returns the session as its files are now; of those that have grown only that is read."""
        kept: dict[str, Log] = {}

        def read(path: Path) -> Log:
            known = self._continued(path)
            if known:
                kept[str(path)] = known
            return known or read_log(path)

        found = OpenSession(session.files, session, read=read)
        if all(path in kept for path, stamp in self.stamps.items() if stamp):
            found.epoch = self.epoch
        return found

    def _continued(self, path: Path) -> Log | None:
        """Returns what was read of a file with what was added to it.

        None where it must be read anew: it is another file, or no longer begins as it did.
        """
        now, then = stamp_of(path), self.stamps.get(str(path))
        if now is None or then is None or now.inode != then.inode:
            return None
        known = self._logs[str(path)]
        if now == then:
            return known
        last = known.records[-1] if known.records else None
        if last is None or now.size < then.size or not is_still_there(path, last):
            return None
        new = read_log(path, last.offset + len(last.raw) + 1, last.line + 1)
        before = [one for one in known.recovered if one.line <= last.line]
        return Log([*known.records, *new.records], [*before, *new.recovered])


def opened(session: Session, through: "Redaction | None" = None) -> OpenSession:
    """Reads a session."""
    return OpenSession(session.files, session, through=through)


def opened_together(sessions: Iterable[Session], through: "Redaction | None" = None) -> OpenSession:
    """Reads sessions that share records."""
    chosen = tuple(sessions)
    files = (file for session in chosen for file in session.files)
    return OpenSession(files, *chosen, through=through)


def graph_of(sessions: Iterable[Session]) -> SessionGraph:
    """Returns the graph of some sessions, their agents and workflows included.

    Where one session is asked for, the client's own rule says where it goes on; over many,
    the same rule on facts does, which does not hold their texts.
    """
    chosen = tuple(sessions)
    if len(chosen) == 1:
        return opened(chosen[0]).client_graph
    return build(file for session in chosen for file in session.files)


def rows_of(graph: SessionGraph, session: str) -> "list[RowShape]":
    """Returns the rows of one session of a graph."""
    from plait.graph.rows import rows

    known = graph.sessions[session]
    tops = [known.trunk] if known.trunk else []
    tops += [
        name for name in known.lines if name != known.trunk and graph.lines[name].parent is None
    ]
    return [row for row in rows(graph, roots=tops) if row.session == session]


def is_still_there(path: Path, record: Record) -> bool:
    """Tells whether a line still stands where it stood, whole."""
    try:
        data = read_slice(path, record.offset, len(record.raw) + 1)
    except SourceError:
        return False
    return data[:-1] == record.raw and data[-1:] == b"\n"
