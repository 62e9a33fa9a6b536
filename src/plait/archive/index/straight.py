"""The log of a session that goes on straight to what stands on its one DAG-line, without a graph.

Where each record hangs on the turn it stands in (`plait.conversation.branching`), nothing forks:
all records stand on one line, in the order of the file. Most sessions are so. What the graph and
`plait.conversation.build` would make of them is the same.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

from plait.archive.checkpoint import follows
from plait.conversation.branching import Branching
from plait.conversation.build import words_told
from plait.conversation.classify import expanded
from plait.conversation.items import Responses, queue_item
from plait.conversation.model import Item, Noted
from plait.conversation.results import paired
from plait.graph.facts import node_of
from plait.graph.model import Node, Trait
from plait.graph.source import UUID, Source
from plait.index.passages import COPIES, light_items
from plait.record import Record
from plait.record.types.kinds import QueueOperation

CONTEXT = "fork-context-ref"
"""The kind that says which other session a file goes on from."""
TELLING = frozenset({"user", "attachment"})


class StraightLog(NamedTuple):
    """A log whose records stand on one line."""

    name: str
    """Of its session, and of the line."""
    label: str | None
    records: Sequence[Record]
    judge: Branching
    """What says whether the records that follow go on straight, too."""

    def items(self, responses: Responses) -> list[Item]:
        """Returns what stands on the line, in reading order, calls answered."""
        told = _Told(self.records)
        items = expanded(told.items(responses))
        return paired(items, told.source_of, told.is_known)


def straight_log(source: Source) -> StraightLog | None:
    """Returns the log of a session with one file, None where only a graph can tell it."""
    name = source.file.session or ""
    if source.file.kind != "session" or not UUID.fullmatch(name):
        return None
    records = [*source.records]
    judge = _judge_of(records, name)
    return StraightLog(name, _label_of(records), records, judge) if judge else None


def _judge_of(records: Iterable[Record], session: str) -> Branching | None:
    """Returns who has judged that all records go on straight, None where one may not."""
    judge = Branching()
    for record in records:
        envelope = record.envelope
        if envelope.is_sidechain or envelope.type == CONTEXT:
            return None
        if envelope.uuid is None:
            continue
        if envelope.session_id != session or not follows(record, judge.before):
            return None
        judge.add(record)
        if judge.may_branch:
            return None
    return judge if judge.before else None


def _label_of(records: Iterable[Record]) -> str | None:
    """Returns the first words that a person typed, else the first that were told at all."""
    first = None
    for node, _ in _told_nodes(records):
        if node.preview and node.traits & Trait.HUMAN:
            return node.preview
        first = first or node.preview
    return first


def _told_nodes(records: Iterable[Record]) -> Iterator[tuple[Node, Record]]:
    """Yields what tells words, as the graph knows it."""
    for record in records:
        node = node_of(record, 0, record.line) if record.kind in TELLING else None
        if node is not None:
            yield node, record


class _Told:
    """What stands in the records of one line; what few of them need is made when asked for."""

    def __init__(self, records: Sequence[Record]) -> None:
        self.records = records

    def items(self, responses: Responses) -> Iterator[Item]:
        """Yields all that stands there, in reading order."""
        for record in self.records:
            if record.envelope.uuid is not None:
                yield from light_items(record, responses)
            else:
                yield from self._beside(record, responses)

    def _beside(self, record: Record, responses: Responses) -> Iterable[Item]:
        """Returns what a line outside the chain says."""
        kind = record.envelope.type or ""
        if kind in COPIES and not isinstance(record, QueueOperation):
            return (Noted(line=record.line, time=record.timestamp, kind=kind),)
        if isinstance(record, QueueOperation):
            place = {"file": 0, "line": record.line, "time": record.timestamp}
            return (queue_item(record, place, self._words),)
        return light_items(record, responses)

    def source_of(self, uuid: str) -> str | None:
        """Returns the answer that a record says it goes back to."""
        return self._sources.get(uuid)

    def is_known(self, call: str) -> bool:
        """Tells whether any answer holds a call."""
        return call in self._calls

    @cached_property
    def _words(self) -> set[str]:
        return words_told(_told_nodes(self.records), self.records)

    @cached_property
    def _sources(self) -> dict[str, str | None]:
        return {node.uuid: node.source for node, _ in _told_nodes(self.records)}

    @cached_property
    def _calls(self) -> frozenset[str]:
        nodes = (node_of(record, 0, record.line) for record in self.records)
        return frozenset(call.id for node in nodes if node for call in node.calls)
