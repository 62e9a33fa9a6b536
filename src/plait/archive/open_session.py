"""Sessions to all that is in them: records, graph, conversations; each file is read once."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple, TypeAlias

from msgspec.structs import replace as replace_field

from plait.archive.model import Session
from plait.conversation.build import RecordAt, conversations_of, recovered_from
from plait.conversation.model import Conversations
from plait.errors import SourceError
from plait.graph.build import Builder
from plait.graph.client import resumed_leaf
from plait.graph.leaf import leaf_of
from plait.graph.model import Place, SessionGraph
from plait.graph.source import FileFacts, Readable, Source, source_file, sources
from plait.line import LogFile, lines, read_slice
from plait.line.split import count_lines
from plait.record import Record
from plait.record.codec import encode
from plait.record.read import Broken, Recovered, entries, entry_of, read_if_there, record_of
from plait.record.sidecar import agent_meta, title_file

LEAF_MATTERS = frozenset({"rewind", "parallel", "retracted", "resent"})
"""Verdicts in which the record that the client goes on from has a say."""
Through: TypeAlias = Callable[[Record, str], Record]
"""What each record goes through before anything is made of it, with the path of its file."""


def conversations(session: Session) -> Conversations:
    """Returns all conversations of a session, its branches and agents among them."""
    return ReadSession.of(session).told


@dataclass(frozen=True, slots=True)
class ReadSession:
    """A session with all that its conversations were made of."""

    session: Session
    shelf: "Records"
    graph: SessionGraph
    told: Conversations

    @classmethod
    def of(cls, session: Session) -> "ReadSession":
        """Reads a session."""
        shelf = Records(session.files)
        graph = shelf.graph()
        name = name_in_graph(graph, session)
        told = conversations_of(graph, name, shelf.finder(graph))
        broken = recovered_from(shelf.recovered(graph), name)
        whole = replace_field(told, recovered=broken) if broken else told
        return cls(session, shelf, graph, whole)


class Records:
    """All records of some files, as they were when those were read."""

    def __init__(self, files: Iterable[Readable], through: Through | None = None) -> None:
        self.through = through
        self.sources: list[Source] = []
        self.facts: tuple[FileFacts, ...] = ()
        """What the graph was made of, once it is."""
        self._records: dict[str, list[Record]] = {}
        for source in sources(files):
            held = list(source.records)
            if through:
                held = [through(record, source.file.path) for record in held]
            self._records[source.file.path] = held
            self.sources.append(replace(source, records=held))

    def graph(self) -> SessionGraph:
        """Returns the graph of all records.

        Only where something forks does it matter where the client would go on; there its own
        rule decides, which looks at contents, elsewhere the same rule on facts.
        """
        builder = Builder()
        for source in self.sources:
            builder.add(source)
        self.facts = tuple(builder.facts.values())
        found = builder.graph()
        is_forked = any(verdict.rung in LEAF_MATTERS for verdict in found.verdicts)
        own = (one for one in builder.facts.values() if one.file.kind == "session")
        if is_forked and any(self.leaf(facts) != leaf_of(facts) for facts in own):
            builder.leaf_of = self.leaf
            return builder.graph()
        return found

    def leaf(self, facts: FileFacts) -> str | None:
        """Returns the record that the client goes on from, else the one by the facts alone."""
        held = self._records[facts.file.path]
        return resumed_leaf(held, facts.file.size) or leaf_of(facts)

    def records_of(self, path: str) -> list[Record]:
        """Returns the records of one file."""
        return self._records.get(path, [])

    def recovered(self, graph: SessionGraph) -> Iterator[tuple[int, Record]]:
        """Yields what can be read from broken lines; a file of whole lines is not read again."""
        for number, file in enumerate(graph.files):
            for one in _broken_in(Path(file.path), len(self._records.get(file.path, ()))):
                record = record_of(encode(one.fields), one.line, one.offset)
                yield number, self.through(record, file.path) if self.through else record

    def finder(self, graph: SessionGraph) -> RecordAt:
        """Returns what finds a record by its place in the files of a graph."""
        held = [
            {record.offset: record for record in self._records[file.path]} for file in graph.files
        ]

        def record_at(place: Place) -> Record | None:
            return held[place.file].get(place.offset)

        return record_at


def _broken_in(path: Path, whole: int) -> Iterator[Recovered]:
    try:
        if count_lines(path)[0] == whole:
            return
        for entry in entries(lines(path)):
            if isinstance(entry, Broken):
                yield from entry.recovered
    except SourceError:  # gone since it was read
        return


def name_in_graph(graph: SessionGraph, session: Session) -> str:
    """Returns the name that a graph knows a session by."""
    if session.id in graph.sessions:
        return session.id
    return next(iter(graph.sessions))


class FileStamp(NamedTuple):
    """What the system said of a file before it was read."""

    inode: int
    size: int
    changed: int


@dataclass(frozen=True)
class RecordsSoFar:
    """The records of some files, and how those were when they were read."""

    shelf: Records
    stamps: dict[str, FileStamp | None]
    epoch: str
    """The same as long as files have only grown."""


def records_so_far(files: Iterable[LogFile], before: RecordsSoFar | None = None) -> RecordsSoFar:
    """Returns the records of files; of those that have only grown, the old ones and the new."""
    given = list(files)
    stamps = {str(file.path): _file_stamp(file.path) for file in given}
    held = {path: _known_records(Path(path), now, before) for path, now in stamps.items()}
    shelf = Records(
        source_of(file, read_if_there(file.path) if known is None else known)
        for file, known in zip(given, held.values(), strict=True)
    )
    is_grown = before is not None and all(
        held.get(path) is not None for path, stamp in before.stamps.items() if stamp
    )
    return RecordsSoFar(shelf, stamps, before.epoch if before and is_grown else _epoch_of(stamps))


def _epoch_of(stamps: dict[str, FileStamp | None]) -> str:
    text = repr(sorted(stamps.items())).encode("utf-8", "surrogatepass")
    return blake2b(text, digest_size=8).hexdigest()


def source_of(file: LogFile, records: Iterable[Record]) -> Source:
    """Returns records with the name of their file and what lies beside it."""
    meta = agent_meta(file.path) if file.kind == "agent" else None
    title = title_file(file.folder) if file.kind == "session" else None
    return Source(source_file(file), records, meta, title)


def _file_stamp(path: Path) -> FileStamp | None:
    """Returns what the system says of a file, None where it has gone."""
    try:
        status = path.stat()
    except OSError:
        return None
    return FileStamp(status.st_ino, status.st_size, max(status.st_mtime_ns, status.st_ctime_ns))


def _known_records(
    path: Path, now: FileStamp | None, before: RecordsSoFar | None
) -> list[Record] | None:
    """Returns the records of a file that was read before, with the new ones.

    None where it must be read anew: it is another file, or no longer begins as it did.
    """
    then = before.stamps.get(str(path)) if before else None
    if before is None or now is None or then is None or now.inode != then.inode:
        return None
    known = before.shelf.records_of(str(path))
    if now == then:
        return known
    if not known or now.size < then.size or not is_still_there(path, known[-1]):
        return None
    return [*known, *_records_after(path, known[-1])]


def is_still_there(path: Path, record: Record) -> bool:
    """Tells whether a line still stands where it stood, whole."""
    try:
        data = read_slice(path, record.offset, len(record.raw) + 1)
    except SourceError:
        return False
    return data[:-1] == record.raw and data[-1:] == b"\n"


def _records_after(path: Path, last: Record) -> Iterator[Record]:
    end = last.offset + len(last.raw) + 1
    try:
        for line in lines(path, offset=end, number=last.line + 1):
            entry = entry_of(line)
            if isinstance(entry, Record):
                yield entry
    except SourceError:  # gone since
        return
