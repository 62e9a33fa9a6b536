"""DAG-lines and their records to conversations."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

from msgspec.structs import replace

from plait.conversation.classify import expanded
from plait.conversation.items import (
    Responses,
    items_of,
    joined_parts,
    queue_item,
    squeezed,
    words_key,
)
from plait.conversation.model import (
    Called,
    Conversation,
    Conversations,
    Folded,
    Item,
    Left,
    Noted,
    Told,
    Turn,
)
from plait.conversation.results import paired
from plait.conversation.turns import turns_of
from plait.graph.model import DagLine, Loose, Node, Place, SessionGraph
from plait.graph.paths import SPOKEN
from plait.graph.tree import unfolded
from plait.record import Record
from plait.record.types.kinds import QueueOperation

RecordAt: TypeAlias = Callable[[Place], Record | None]
"""Gives the record at a place of the graph's files, None where it has gone."""
QUEUED = "queued_command"
ItemsOf: TypeAlias = Callable[[Record, Responses, int], list[Item]]
"""Gives what a record of a file is in a conversation."""


def conversations_of(graph: SessionGraph, session: str, record_at: RecordAt) -> Conversations:
    """Returns all conversations of a session's graph, those of sessions inside its file too."""
    teller = Teller(graph, record_at)
    found = {line.id: teller.conversation(line) for line in told_lines(graph)}
    trunk = graph.sessions[session].trunk
    return Conversations(session, trunk if trunk in found else _first_of(found, session), found)


def told_lines(graph: SessionGraph) -> list[DagLine]:
    """Returns the DAG-lines that are told; a session outside any chain has one without records."""
    bare = (name for name, known in graph.sessions.items() if not known.lines)
    return [*graph.lines.values(), *(DagLine(name, "trunk", name, ()) for name in bare)]


def _first_of(found: Mapping[str, Conversation], session: str) -> str:
    own = (name for name, one in found.items() if one.session == session)
    return next(own, next(iter(found)))


def recovered_from(records: Iterable[tuple[int, Record]], session: str) -> Conversation | None:
    """Returns what could be read from broken lines as a conversation of its own."""
    responses = Responses()
    items = [item for file, one in records for item in items_of(one, responses, file)]
    if not items:
        return None
    told = paired(items, lambda _: None, lambda _: True)
    answers = responses.finished()
    name = f"{session}~recovered"
    return Conversation(name, "foreign", session, "", None, turns_of(told, answers), answers, ())


def _marked(turns: tuple[Turn, ...], unseen: frozenset[str]) -> tuple[Turn, ...]:
    """Returns turns with what the client will not send of each."""
    if not unseen:
        return turns
    return tuple(
        replace(turn, unseen=held) if (held := tuple(_held_by(turn, unseen))) else turn
        for turn in turns
    )


def _held_by(turn: Turn, beside: frozenset[str]) -> Iterator[str]:
    """Yields the records of a turn that are among some, each once."""
    found = (item.uuid for item in turn.items if item.uuid in beside)
    yield from (uuid for uuid in dict.fromkeys(found) if uuid)


@dataclass(frozen=True)
class Teller:
    """Tells the conversations of one graph; what several of them need is made once."""

    graph: SessionGraph
    record_at: RecordAt
    items_of: ItemsOf = items_of

    def items(self, line: DagLine, responses: Responses) -> list[Item]:
        """Returns what stands on a DAG-line and beside it, in reading order, calls answered."""
        items = expanded(self._with_agents(self._items(line, responses)))
        return paired(items, self._source, self._calls.__contains__)

    @cached_property
    def _paths(self) -> tuple[str, ...]:
        """Where all files lie: one value, however many conversations there are."""
        return tuple(file.path for file in self.graph.files)

    @cached_property
    def _unseen(self) -> dict[str, frozenset[str]]:
        """By session: what the client will not send."""
        return {name: frozenset(one.unseen) for name, one in self.graph.sessions.items()}

    def conversation(self, line: DagLine) -> Conversation:
        """Returns one DAG-line as a conversation, with the lines outside the chain beside it."""
        responses = Responses()
        told = self.items(line, responses)
        answers = responses.finished()
        link = self.graph.agents.get(line.id)
        known = self.graph.sessions[line.session]
        is_agent = line.kind in ("agent", "service")
        return Conversation(
            line.id,
            line.kind,
            line.session,
            known.project,
            known.title if line.id == line.session else line.summary or line.label,
            _marked(turns_of(told, answers, is_agent=is_agent), self._unseen[line.session]),
            answers,
            self._paths,
            is_active=line.is_active,
            parent=line.parent,
            attachment=line.attachment,
            label=line.label,
            agent=line.agent,
            call=link.call if link else None,
            started=line.started,
            ended=line.ended,
        )

    def _items(self, line: DagLine, responses: Responses) -> Iterator[Item]:
        """Yields all that stands on a line, in reading order."""
        loose, leaving = dict(self._loose.get(line.id, {})), self._leaving.get(line.id, {})
        yield from self._aside(loose.pop(None, ()), responses)
        yield from leaving.get(None, ())
        for uuid in line.nodes:
            yield from self._of_node(uuid, responses)
            if uuid in line.folded:
                yield from self._folded(line, uuid, responses)
            if uuid in loose:
                yield from self._aside(loose.pop(uuid), responses)
            if uuid in leaving:
                yield from leaving[uuid]
        for left in loose.values():
            yield from self._aside(left, responses)

    def _of_node(self, uuid: str, responses: Responses) -> list[Item]:
        node = self.graph.nodes[uuid]
        record = self.record_at(node.place)
        if record is None:
            gone = "the record is no longer where it was"
            return [Noted(uuid=uuid, file=node.file, line=node.line, kind="gone", text=gone)]
        return self.items_of(record, responses, node.file)

    def _folded(self, line: DagLine, uuid: str, responses: Responses) -> list[Folded]:
        """Returns what is folded under a record, what is folded under that before it."""
        found: list[Folded] = []
        waiting = [uuid]
        while waiting:
            under = waiting.pop()
            members = line.folded.get(under, ())
            if members:
                items = [item for one in members for item in self._of_node(one, responses)]
                fold = self.graph.folds[members[0]]
                first = items[0]
                found.append(
                    Folded(
                        uuid=first.uuid,
                        file=first.file,
                        line=first.line,
                        time=first.time,
                        reason=fold.reason,
                        under=under,
                        items=tuple(paired(items, self._source, self._calls.__contains__)),
                    )
                )
                waiting += [one for one in members if one in line.folded]
        return found[::-1]

    def _aside(self, loose: Sequence[Loose], responses: Responses) -> Iterator[Item]:
        """Yields lines outside the chain."""
        for one in loose:
            record = self.record_at(one.place)
            if record is None:
                continue
            place = {
                "file": one.place.file,
                "line": one.place.line,
                "time": record.timestamp,
            }
            if isinstance(record, QueueOperation):
                yield queue_item(record, place, self._prompts)
            else:
                yield from (replace(i, **place) for i in self.items_of(record, responses, 0))

    def _with_agents(self, items: Iterable[Item]) -> list[Item]:
        """Returns the items, calls with the conversations that they sent out."""
        if not self._sent:
            return list(items)
        return [
            replace(item, agents=self._sent[item.uuid, item.call])
            if isinstance(item, Called) and (item.uuid, item.call) in self._sent
            else item
            for item in items
        ]

    def _source(self, uuid: str) -> str | None:
        node = self.graph.nodes.get(uuid)
        return node.source if node else None

    @cached_property
    def _calls(self) -> frozenset[str]:
        """Every call of the graph."""
        return frozenset(call.id for node in self.graph.nodes.values() for call in node.calls)

    @cached_property
    def _sent(self) -> dict[tuple[str | None, str], tuple[str, ...]]:
        """The agents that each call sent out, those of workflows too."""
        found: dict[tuple[str | None, str], tuple[str, ...]] = {}
        for link in self.graph.agents.values():
            if link.call and link.node:
                key = (link.node, link.call)
                found[key] = (*found.get(key, ()), link.line)
        for run in self.graph.workflows.values():
            for call in self.graph.nodes[run.node].calls[:1] if run.node else ():
                begun = (run.node, call.id)
                found[begun] = tuple(dict.fromkeys((*found.get(begun, ()), *run.agents)))
        return found

    @cached_property
    def _loose(self) -> dict[str, dict[str | None, list[Loose]]]:
        """The lines outside the chain, by the DAG-line and the record that they follow."""
        found: dict[str, dict[str | None, list[Loose]]] = {}
        homes = {
            file: session.trunk or next(iter(session.lines), session.id)
            for session in self.graph.sessions.values()
            for file in session.files
        }
        for one in self.graph.loose:
            name = one.line or homes.get(one.place.file, "")
            found.setdefault(name, {}).setdefault(one.after, []).append(one)
        return found

    @cached_property
    def _leaving(self) -> dict[str, dict[str | None, list[Left]]]:
        """The conversations that leave each line, by the record that they leave from."""
        found: dict[str, dict[str | None, list[Left]]] = {}
        for line in self.graph.lines.values():
            if line.parent and line.kind in SPOKEN:
                at = unfolded(self.graph, line.attachment)
                left = Left(
                    time=line.started,
                    to=line.id,
                    kind=line.kind,
                    label=line.label,
                    is_active=line.is_active,
                )
                found.setdefault(line.parent, {}).setdefault(at, []).append(left)
        return found

    @cached_property
    def _prompts(self) -> set[str]:
        """The words of everything that was told on a line, so that the queue's are known."""
        nodes = filter(_may_be_told, self.graph.nodes.values())
        records = ((node, self.record_at(node.place)) for node in nodes)
        waiting = (one.place for one in self.graph.loose if one.kind == "queue-operation")
        return words_told(records, map(self.record_at, waiting))


def words_told(
    told: Iterable[tuple[Node, Record | None]], waiting: Iterable[Record | None]
) -> set[str]:
    """Returns the words that were told, and those of the queue that were sent as one prompt."""
    found: set[str] = set()
    several: list[str] = []
    for node, record in told:
        if record is None or not _may_be_told(node):
            continue
        for item in items_of(record, Responses()):
            if isinstance(item, Told):
                found.add(words_key(item))
                several += [item.text] if item.kind == "prompt" and "\n" in item.text else []
    queued = _queued(waiting) if several else []
    return found | {squeezed(one) for text in several for one in joined_parts(text, queued)}


def _may_be_told(node: Node) -> bool:
    return node.preview is not None or node.subtype == QUEUED or node.is_human_prompt


def _queued(records: Iterable[Record | None]) -> list[str]:
    """Returns the words that waited in the queue, in their order."""
    contents = [
        one.content
        for one in records
        if isinstance(one, QueueOperation) and one.operation == "enqueue"
    ]
    return [one.strip() for one in contents if isinstance(one, str)]
