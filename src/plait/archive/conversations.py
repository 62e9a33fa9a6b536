"""Sessions to their conversations; each file is read once, for the graph and for the words."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TypeAlias

from plait.archive.model import Session
from plait.conversation.build import RecordAt, conversations_of
from plait.conversation.model import Conversations
from plait.graph.build import build
from plait.graph.client import resumed_leaf
from plait.graph.leaf import leaf_of
from plait.graph.model import Place, SessionGraph
from plait.graph.source import FileFacts, Source, sources
from plait.line import LogFile
from plait.record import Record

Through: TypeAlias = Callable[[Record, str], Record]
"""What each record goes through before anything is made of it, with the path of its file."""


def conversations(session: Session) -> Conversations:
    """Returns all conversations of a session, its branches and agents among them."""
    shelf = Shelf(session.files)
    graph = build(shelf.sources, leaf_of=shelf.leaf)
    return conversations_of(graph, session_in(graph, session), shelf.finder(graph))


class Shelf:
    """All records of some files, as they were when those were read."""

    def __init__(self, files: Iterable[LogFile], through: Through | None = None) -> None:
        self.sources: list[Source] = []
        self._records: dict[str, list[Record]] = {}
        for source in sources(files):
            held = list(source.records)
            if through:
                held = [through(record, source.file.path) for record in held]
            self._records[source.file.path] = held
            self.sources.append(replace(source, records=held))

    def leaf(self, facts: FileFacts) -> str | None:
        """Returns the record that the client goes on from, else the one by the facts alone."""
        held = self._records[facts.file.path]
        return resumed_leaf(held, facts.file.size) or leaf_of(facts)

    def records_of(self, path: str) -> list[Record]:
        """Returns the records of one file."""
        return self._records.get(path, [])

    def finder(self, graph: SessionGraph) -> RecordAt:
        """Returns what finds a record by its place in the files of a graph."""
        held = [
            {record.offset: record for record in self._records[file.path]} for file in graph.files
        ]

        def record_at(place: Place) -> Record | None:
            return held[place.file].get(place.offset)

        return record_at


def session_in(graph: SessionGraph, session: Session) -> str:
    """Returns the name that a graph knows a session by."""
    if session.id in graph.sessions:
        return session.id
    return next(iter(graph.sessions))
