"""Records to their calls and results, and to what only accompanies a call."""

import re
from collections.abc import Iterable, Iterator, Sequence, Set
from typing import Any, NamedTuple

from plait.conversation.results import FEEDBACK, REJECTED
from plait.conversation.tools import tool_named
from plait.edit.draft import DraftLine
from plait.graph.client.load import is_thinking
from plait.record import Record
from plait.record.codec import mapping, said
from plait.record.machine_text import is_wholly_wrapped
from plait.record.model import BlockHead
from plait.record.prompt import queued_text

CALL, RESULT = "tool_use", "tool_result"
"""How the kinds of blocks end that call a tool and that answer one, whoever runs it."""
NAMED = re.compile(rb'"(?:parentToolUseID|toolUseID|sourceToolUseID)":"([^"\\]+)"')
NOTIFIED = re.compile(rb"<tool-use-id>([^<\\]+)</tool-use-id>")
NOTIFICATION = "<task-notification>"
COMPANIONS = frozenset({"progress", "attachment", "system"})

Spoken = Iterable[tuple[DraftLine, Record]]
Block = dict[str, Any]


class Place(NamedTuple):
    """Where a block stands."""

    line: int
    block: int


def blocks_in(record: Record) -> list[Any]:
    """Returns the content of a message as it is written, nothing where it is no list."""
    content = mapping(record.fields.get("message")).get("content")
    return content if isinstance(content, list) else []


def heads_in(record: Record) -> Sequence[BlockHead]:
    """Returns the heads of the blocks of a message, each at the place of its block."""
    message = record.envelope.message
    if message and isinstance(message.content, list):
        return message.content
    return [_head(block) for block in blocks_in(record)] if message else ()


def _head(block: object) -> BlockHead:
    value = mapping(block)
    named = {key: said(value, key) for key in ("tool_use_id", "type", "id", "name")}
    return BlockHead(**named)


def call_of(head: BlockHead) -> str | None:
    """Returns the id of the call that a block makes, None where it makes none."""
    return head.id if (head.type or "").endswith(CALL) else None


def answered_by(head: BlockHead) -> str | None:
    """Returns the id of the call that a block answers, None where it answers none."""
    return head.tool_use_id if (head.type or "").endswith(RESULT) else None


class Pairs:
    """The calls of a log, what answers them, and the thoughts of each response."""

    def __init__(self, spoken: Spoken) -> None:
        self.calls: dict[str, list[Place]] = {}
        self.results: dict[str, list[Place]] = {}
        self.names: dict[str, str] = {}
        self.thoughts: dict[str, list[Place]] = {}
        self.of_people: set[str] = set()
        """Calls whose result holds what a person said."""
        for line, record in spoken:
            for at, head in enumerate(heads_in(record)):
                self._take(Place(line.number or 0, at), record, head)

    def _take(self, place: Place, record: Record, head: BlockHead) -> None:
        if call := call_of(head):
            self.calls.setdefault(call, []).append(place)
            self.names.setdefault(call, head.name or "")
        elif call := answered_by(head):
            self.results.setdefault(call, []).append(place)
            if self._is_of_person(record, place.block, call):
                self.of_people.add(call)
        elif record.message_id and is_thinking({"type": head.type}):
            self.thoughts.setdefault(record.message_id, []).append(place)

    def _is_of_person(self, record: Record, place: int, call: str) -> bool:
        if tool_named(self.names.get(call, "")).is_answered_by_person:
            return True
        if b'"userFeedback"' in record.raw and record.fields.get("userFeedback"):
            return True
        if not any(words.encode() in record.raw for words in REJECTED):
            return False
        words = words_of(blocks_in(record)[place])
        return words.startswith(REJECTED) and FEEDBACK.search(words) is not None

    def places(self, call: str) -> Iterator[Place]:
        """Yields where a call and its results stand."""
        yield from self.calls.get(call, ())
        yield from self.results.get(call, ())


def words_of(result: Block) -> str:
    """Returns the words of a result, those of its parts one below the other."""
    content = result.get("content")
    parts = content if isinstance(content, list) else [{"text": content}]
    texts = (mapping(part).get("text") for part in parts)
    return "\n".join(text for text in texts if isinstance(text, str))


def accompanies(record: Record, calls: Set[str]) -> bool:
    """Tells whether a record is there only for one of some calls: news, hooks, notices of it."""
    if record.type == "user" and record.source_tool_use_id:
        return record.source_tool_use_id in calls
    if record.type in COMPANIONS and any(_named(one) in calls for one in NAMED.findall(record.raw)):
        return True
    notified = NOTIFIED.search(record.raw)
    return notified is not None and _named(notified[1]) in calls and _is_notice(record)


def calls_told_of(records: Iterable[Record]) -> set[str]:
    """Returns the calls that some records tell of: news, hooks, notices."""
    found = {one.source_tool_use_id for one in records if one.source_tool_use_id}
    for record in records:
        named = (*NAMED.findall(record.raw), *NOTIFIED.findall(record.raw))
        found.update(map(_named, named))
    return found


def _named(name: bytes) -> str:
    return name.decode("utf-8", "replace")


def _is_notice(record: Record) -> bool:
    """Tells the client's own news of work in the background from what people typed."""
    words = (record.text if record.type == "user" else queued_text(record)) or ""
    return words.strip().startswith(NOTIFICATION) and is_wholly_wrapped(words)
