"""Sessions to their conversations; each file is read once, for the graph and for the words."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias

from msgspec.structs import replace as replace_field

from plait.archive.model import Session
from plait.conversation.build import RecordAt, conversations_of, recovered_from
from plait.conversation.model import Conversations
from plait.errors import SourceError
from plait.graph.build import Builder
from plait.graph.client import resumed_leaf
from plait.graph.leaf import leaf_of
from plait.graph.model import Place, SessionGraph
from plait.graph.source import FileFacts, Readable, Source, sources
from plait.line import lines
from plait.line.split import count_lines
from plait.record import Record
from plait.record.encode import encode
from plait.record.read import Broken, entries, record_of
from plait.record.recover import Recovered

LEAF_MATTERS = frozenset({"rewind", "parallel", "retracted", "resent"})
"""Verdicts in which the record that the client goes on from has a say."""
Through: TypeAlias = Callable[[Record, str], Record]
"""What each record goes through before anything is made of it, with the path of its file."""


def conversations(session: Session) -> Conversations:
    """Returns all conversations of a session, its branches and agents among them."""
    return Read.of(session).told


@dataclass(frozen=True, slots=True)
class Read:
    """A session with all that its conversations were made of."""

    session: Session
    shelf: "Shelf"
    graph: SessionGraph
    told: Conversations

    @classmethod
    def of(cls, session: Session) -> "Read":
        """Reads a session."""
        shelf = Shelf(session.files)
        graph = shelf.graph()
        name = session_in(graph, session)
        told = conversations_of(graph, name, shelf.finder(graph))
        broken = recovered_from(shelf.recovered(graph), name)
        whole = replace_field(told, recovered=broken) if broken else told
        return cls(session, shelf, graph, whole)


class Shelf:
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
            for one in broken_in(Path(file.path), len(self._records.get(file.path, ()))):
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


def broken_in(path: Path, whole: int) -> Iterator[Recovered]:
    """Yields what the broken lines of a file hold, where it has more lines than records."""
    try:
        if count_lines(path)[0] == whole:
            return
        for entry in entries(lines(path)):
            if isinstance(entry, Broken):
                yield from entry.recovered
    except SourceError:  # gone since it was read
        return


def session_in(graph: SessionGraph, session: Session) -> str:
    """Returns the name that a graph knows a session by."""
    if session.id in graph.sessions:
        return session.id
    return next(iter(graph.sessions))
