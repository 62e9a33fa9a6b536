"""Sessions to their conversations; each file is read once, for the graph and for the words."""

from dataclasses import replace

from plait.archive.model import Session
from plait.conversation.build import RecordAt, conversations_of
from plait.conversation.model import Conversations
from plait.graph.build import build
from plait.graph.client import resumed_leaf
from plait.graph.leaf import leaf_of
from plait.graph.model import Place, SessionGraph
from plait.graph.source import FileFacts, Source, sources
from plait.record import Record


def conversations(session: Session) -> Conversations:
    """Returns all conversations of a session, its branches and agents among them."""
    shelf = Shelf(session)
    graph = build(shelf.sources, leaf_of=shelf.leaf)
    return conversations_of(graph, session_in(graph, session), shelf.finder(graph))


class Shelf:
    """All records of a session, as they were when its files were read."""

    def __init__(self, session: Session) -> None:
        self.sources: list[Source] = []
        self._records: dict[str, list[Record]] = {}
        for source in sources(session.files):
            held = list(source.records)
            self._records[source.file.path] = held
            self.sources.append(replace(source, records=held))

    def leaf(self, facts: FileFacts) -> str | None:
        """Returns the record that the client goes on from, else the one by the facts alone."""
        held = self._records[facts.file.path]
        return resumed_leaf(held, facts.file.size) or leaf_of(facts)

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
