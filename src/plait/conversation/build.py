"""Conversations built from a graph, and a quick check whether a session needs one.

Building a graph takes longer than all the counting, and most sessions are linear: each prompt
follows the record before it, and what answers it stays within its turn. Such a session has one
line. Anything else may have a branch, and only the graph can tell.

    U₁ ── A ── U₂ ── A ┬ A ── R        linear: the calls of a turn may run in parallel
                       └── R
    U₁ ── A ── U₂ ── A                 may branch: U₃ goes back
          └── U₃ ── A
    U₁ ┬─ A                            may branch: U₂ goes back, through a note
       └── N ── U₂
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeAlias

from msgspec.structs import replace

from plait.conversation.items import (
    Responses,
    attach_expansions,
    build_items,
    build_queue_item,
    make_text_key,
    split_joined_prompts,
)
from plait.conversation.model import (
    BranchPoint,
    ClientNote,
    Conversation,
    Conversations,
    FoldedItems,
    Item,
    ToolCall,
    UserMessage,
)
from plait.conversation.results import pair_results
from plait.conversation.turns import build_turns
from plait.graph.model import DagLine, Node, Place, PlacedLine, SessionGraph
from plait.graph.paths import SPOKEN, get_label
from plait.graph.tree import resolve_fold
from plait.record import Record
from plait.record.prompts import collapse_whitespace
from plait.record.types import QueueOperation, get_content

BOUNDARY = "compact_boundary"


@dataclass(slots=True)
class BranchDetector:
    """Checks the records of a session's own file in order."""

    may_branch: bool = False
    before: Record | None = None
    """The last record of the main line."""
    after: str = ""
    """What the last message was: a prompt, a result, a response."""
    session: str | None = None
    turn: set[str] = field(default_factory=set)
    """The records since the last prompt."""
    seen: set[str] = field(default_factory=set)
    """All records before that."""
    response: set[str] = field(default_factory=set)
    """The responses of this turn."""
    responses: set[str] = field(default_factory=set)
    """All responses before that."""
    last: str | None = None
    """The last message of the user or the model."""
    hosts: dict[str, str] = field(default_factory=dict)
    """The notes of this turn, with the records they follow."""

    def add(self, record: Record) -> None:
        """Add one record."""
        uuid = record.uuid
        if uuid is None or self.may_branch:
            return
        named = record.session_id
        self.session = self.session or named
        if uuid in self.turn or uuid in self.seen or named != self.session:
            self.may_branch = True
        elif not record.envelope.is_sidechain:
            self.may_branch = not self.extend(record, uuid)
            self.before = record
        else:
            self.seen.add(uuid)

    def extend(self, record: Record, uuid: str) -> bool:
        """Add a record to the turn and return whether it continues the line without a fork."""
        role = get_line_role(record)
        parent, before = record.parent_uuid, self.before
        if role == "prompt":
            is_next = before is None or (parent == before.uuid and self._is_at_the_end(before))
            self.hosts.clear()
            self.seen |= self.turn
            self.responses |= self.response
            self.turn, self.response = set(), set()
        else:
            is_next = before is None or parent in self.turn or self._goes_on(record)
        self.turn.add(uuid)
        if role:
            self.after, self.last = role, uuid
        elif parent:
            self.hosts[uuid] = self.hosts.get(parent, parent)
        return is_next and (role != "answer" or self._is_new(record))

    def _is_at_the_end(self, before: Record) -> bool:
        """Return whether a child of the last record follows everything so far."""
        host = self.hosts.get(before.uuid or "")
        return self.after != "result" and (host is None or self.last in (None, host))

    def _goes_on(self, record: Record) -> bool:
        """Return whether a compaction continues the turn that it follows."""
        is_boundary = record.parent_uuid is None and record.subtype == BOUNDARY
        return is_boundary and record.logical_parent_uuid in self.turn

    def _is_new(self, record: Record) -> bool:
        """Return whether a response belongs to this turn only."""
        name = record.message_id or record.request_id
        if name is None:
            return True
        self.response.add(name)
        return name not in self.responses


def get_line_role(record: Record) -> str:
    """Return what a record is to the line: a prompt, a result, a response, or nothing."""
    if record.kind == "assistant":
        return "answer"
    if record.kind != "user":
        return ""
    content = get_content(record.envelope)
    heads = content if isinstance(content, list) else []
    return "result" if any(head.type == "tool_result" for head in heads) else "prompt"


def may_branch(records: Iterable[Record]) -> bool:
    """Return whether a session may have branches; if not, it certainly has none."""
    branching = BranchDetector()
    for record in records:
        branching.add(record)
        if branching.may_branch:
            return True
    return False


RecordAt: TypeAlias = Callable[[Place], Record | None]
"""Returns the record at a place of the graph's files; None if it is gone."""
QUEUED = "queued_command"
BuildItems: TypeAlias = Callable[[Record, Responses, int], list[Item]]
"""Returns the conversation items of a record."""


def build_conversations(graph: SessionGraph, session: str, record_at: RecordAt) -> Conversations:
    """Return all conversations of a session's graph, including those of sessions inside its file."""
    builder = ConversationBuilder(graph, record_at)
    found = {line.id: builder.conversation(line) for line in list_conversation_lines(graph)}
    trunk = graph.sessions[session].trunk
    if trunk not in found:
        own = (name for name, known in found.items() if known.session == session)
        trunk = next(own, next(iter(found)))
    return Conversations(session, trunk, found)


def list_conversation_lines(graph: SessionGraph) -> list[DagLine]:
    """Return the DAG-lines that become conversations; a session outside any chain has an empty
    one.
    """
    bare = (name for name, known in graph.sessions.items() if not known.lines)
    return [*graph.lines.values(), *(DagLine(name, "trunk", name, ()) for name in bare)]


def build_recovered(records: Iterable[tuple[int, Record]], session: str) -> Conversation | None:
    """Return what could be read from broken lines as a conversation of its own."""
    responses = Responses()
    items = [item for file, record in records for item in build_items(record, responses, file)]
    if not items:
        return None
    items_with_results = pair_results(items, lambda _: None, lambda _: True)
    answers = responses.finished()
    name = f"{session}~recovered"
    return Conversation(
        name, "foreign", session, "", None, build_turns(items_with_results, answers), answers, ()
    )


@dataclass(frozen=True)
class ConversationBuilder:
    """Builds the conversations of one graph; what several of them need is computed once."""

    graph: SessionGraph
    record_at: RecordAt
    build_items: BuildItems = build_items

    def items(self, line: DagLine, responses: Responses) -> list[Item]:
        """Return the items of a DAG-line and of its loose lines in reading order, calls with results."""
        items = attach_expansions(self._with_agents(self._iter_items(line, responses)))
        return pair_results(items, self._source, self._calls.__contains__)

    @cached_property
    def _paths(self) -> tuple[str, ...]:
        """The paths of all files: one value shared by all conversations."""
        return tuple(file.path for file in self.graph.files)

    @cached_property
    def _unseen(self) -> dict[str, frozenset[str]]:
        """By session: what the client will not send."""
        return {name: frozenset(session.unseen) for name, session in self.graph.sessions.items()}

    def conversation(self, line: DagLine) -> Conversation:
        """Return one DAG-line as a conversation, with the loose lines that belong to it."""
        responses = Responses()
        items = self.items(line, responses)
        answers = responses.finished()
        link = self.graph.agents.get(line.id)
        known = self.graph.sessions[line.session]
        is_agent = line.kind in ("agent", "service")
        turns = list(build_turns(items, answers, is_agent=is_agent))
        unseen = self._unseen[line.session]  # what the client will not send
        for place, turn in enumerate(turns) if unseen else ():
            uuids = dict.fromkeys(item.uuid for item in turn.items if item.uuid in unseen)
            if unsent := tuple(uuid for uuid in uuids if uuid):
                turns[place] = replace(turn, unseen=unsent)
        return Conversation(
            line.id,
            line.kind,
            line.session,
            known.project,
            get_label(self.graph, line),
            tuple(turns),
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

    def _iter_items(self, line: DagLine, responses: Responses) -> Iterator[Item]:
        """Yield all items of a line, in reading order."""
        loose, leaving = dict(self._loose.get(line.id, {})), self._leaving.get(line.id, {})
        yield from self._iter_loose_items(loose.pop(None, ()), responses)
        yield from leaving.get(None, ())
        for uuid in line.nodes:
            yield from self._items_of_node(uuid, responses)
            if uuid in line.folded:
                yield from self._build_folds(line, uuid, responses)
            if uuid in loose:
                yield from self._iter_loose_items(loose.pop(uuid), responses)
            if uuid in leaving:
                yield from leaving[uuid]
        for left in loose.values():
            yield from self._iter_loose_items(left, responses)

    def _items_of_node(self, uuid: str, responses: Responses) -> list[Item]:
        node = self.graph.nodes[uuid]
        record = self.record_at(node.place)
        if record is None:
            gone = "the record has moved"
            return [ClientNote(uuid=uuid, file=node.file, line=node.line, kind="gone", text=gone)]
        return self.build_items(record, responses, node.file)

    def _build_folds(self, line: DagLine, uuid: str, responses: Responses) -> list[FoldedItems]:
        """Return what is folded under a record; what is folded under that comes first."""
        found: list[FoldedItems] = []
        waiting = [uuid]
        while waiting:
            under = waiting.pop()
            members = line.folded.get(under, ())
            if members:
                items = [item for uuid in members for item in self._items_of_node(uuid, responses)]
                fold = self.graph.folds[members[0]]
                first = items[0]
                found.append(
                    FoldedItems(
                        uuid=first.uuid,
                        file=first.file,
                        line=first.line,
                        time=first.time,
                        reason=fold.reason,
                        under=under,
                        items=tuple(pair_results(items, self._source, self._calls.__contains__)),
                    )
                )
                waiting += [uuid for uuid in members if uuid in line.folded]
        return found[::-1]

    def _iter_loose_items(
        self, loose: Sequence[PlacedLine], responses: Responses
    ) -> Iterator[Item]:
        """Yield lines outside the chain."""
        for loose_line in loose:
            record = self.record_at(loose_line.place)
            if record is None:
                continue
            place = {
                "file": loose_line.place.file,
                "line": loose_line.place.line,
                "time": record.timestamp,
            }
            if isinstance(record, QueueOperation):
                yield build_queue_item(record, place, self._prompts)
            else:
                yield from (replace(i, **place) for i in self.build_items(record, responses, 0))

    def _with_agents(self, items: Iterable[Item]) -> list[Item]:
        """Return the items, calls with the conversations of agents they started."""
        if not self._agents_of_calls:
            return list(items)
        return [
            replace(item, agents=self._agents_of_calls[item.uuid, item.call])
            if isinstance(item, ToolCall) and (item.uuid, item.call) in self._agents_of_calls
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
    def _agents_of_calls(self) -> dict[tuple[str | None, str], tuple[str, ...]]:
        """The agents that each call started, including those of workflows."""
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
    def _loose(self) -> dict[str, dict[str | None, list[PlacedLine]]]:
        """The lines outside the chain, by the DAG-line and the record they follow."""
        found: dict[str, dict[str | None, list[PlacedLine]]] = {}
        homes = {
            file: session.trunk or next(iter(session.lines), session.id)
            for session in self.graph.sessions.values()
            for file in session.files
        }
        for loose_line in self.graph.loose:
            name = loose_line.line or homes.get(loose_line.place.file, "")
            found.setdefault(name, {}).setdefault(loose_line.after, []).append(loose_line)
        return found

    @cached_property
    def _leaving(self) -> dict[str, dict[str | None, list[BranchPoint]]]:
        """The conversations that leave each line, by the record where they leave."""
        found: dict[str, dict[str | None, list[BranchPoint]]] = {}
        for line in self.graph.lines.values():
            if line.parent and line.kind in SPOKEN:
                at = resolve_fold(self.graph, line.attachment)
                left = BranchPoint(
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
        """The texts of all prompts on a line, to recognise those of the queue."""
        nodes = filter(_is_shown, self.graph.nodes.values())
        records = ((node, self.record_at(node.place)) for node in nodes)
        waiting = (
            loose_line.place
            for loose_line in self.graph.loose
            if loose_line.kind == "queue-operation"
        )
        return collect_prompt_texts(records, map(self.record_at, waiting))


def collect_prompt_texts(
    shown: Iterable[tuple[Node, Record | None]], waiting: Iterable[Record | None]
) -> set[str]:
    """Return the texts of prompts, and those of the queue that were sent as one prompt."""
    found: set[str] = set()
    several: list[str] = []
    for node, record in shown:
        if record is None or not _is_shown(node):
            continue
        for item in build_items(record, Responses()):
            if isinstance(item, UserMessage):
                found.add(make_text_key(item))
                several += [item.text] if item.kind == "prompt" and "\n" in item.text else []
    queued = _queued(waiting) if several else []
    return found | {
        collapse_whitespace(part) for text in several for part in split_joined_prompts(text, queued)
    }


def _is_shown(node: Node) -> bool:
    return node.preview is not None or node.subtype == QUEUED or node.is_human_prompt


def _queued(records: Iterable[Record | None]) -> list[str]:
    """Return the texts that waited in the queue, in order."""
    contents = [
        content.content
        for content in records
        if isinstance(content, QueueOperation) and content.operation == "enqueue"
    ]
    return [content.strip() for content in contents if isinstance(content, str)]
