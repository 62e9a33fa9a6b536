"""Messages in their order to turns, as a tracer of transcripts groups them.

This is `groupTurns` of "Claude Code JSONL Transcript Structure" with its exact results, for
those who trace transcripts line by line. It knows no graph: rewound branches follow each
other, and a response whose lines another response parts is two. Plait's own turns, which
come from the graph, do otherwise.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from msgspec import Struct

from plait.conversation.items import blocks_in, content_of_message
from plait.record import Record, Text, ToolResult, ToolUse, UnknownBlock, Usage
from plait.record.message import Block
from plait.record.time import moment


class MergedMessage(Struct, frozen=True):
    """One response: the blocks of all its parts, and what its first part says of it."""

    parts: tuple[Record, ...]
    content: tuple[Block, ...]

    @property
    def id(self) -> str | None:
        """The id that its parts share; None where the first has none."""
        return self.parts[0].message_id

    @property
    def model(self) -> str | None:
        """The model that the first part names."""
        message = self.parts[0].message
        return message.model if message else None

    @property
    def usage(self) -> Usage | None:
        """The tokens that the first part tells, which are seldom the final ones."""
        message = self.parts[0].message
        return message.usage if message else None

    @property
    def time(self) -> datetime | None:
        """When the first part was written."""
        return timestamp_of_message(self.parts[0])

    @property
    def text(self) -> str:
        """The words of its text blocks, a line break between two."""
        return "\n".join(block.text for block in self.content if isinstance(block, Text))

    @property
    def calls(self) -> tuple[ToolUse, ...]:
        """Its calls of tools."""
        return tuple(block for block in self.content if isinstance(block, ToolUse))


class GroupedTurn(Struct, frozen=True):
    """A prompt, the responses to it, and the results of their calls."""

    user: Record
    assistants: tuple[MergedMessage, ...]
    tool_results: tuple[Record, ...]


class Grouped(Struct, frozen=True):
    """The complete turns, and how many of the messages they used up."""

    turns: tuple[GroupedTurn, ...]
    consumed: int
    """Where to begin next time: the prompt after the last complete turn, or the end."""


class MatchedCall(Struct, frozen=True):
    """A call of a tool with what came back; None where nothing did."""

    id: str
    name: str
    input: Any
    output: Any
    time: datetime | None
    """When the result was written."""
    result: Record | None
    """The record of the result: tells an empty output from none."""


def group_turns(messages: Iterable[Record]) -> Grouped:
    """Groups messages into turns; one without a prompt or without a response is left out.

    The last turn counts as complete as soon as it has a response, though more may follow.
    """
    grouping = _Grouping()
    count = 0
    for place, message in enumerate(messages):
        count = place + 1
        if message.is_meta:
            continue
        role = role_of_message(message)
        if role == "assistant":
            grouping.add_part(message)
        elif role == "user" and is_tool_result(message):
            grouping.results.append(message)
        elif role == "user":
            grouping.close(place)
            grouping.open(message)
    grouping.close(count)
    return Grouped(tuple(grouping.turns), grouping.consumed)


class _Grouping:
    """The turns so far, and the one that is open."""

    def __init__(self) -> None:
        self.turns: list[GroupedTurn] = []
        self.consumed = 0
        self.open(None)

    def open(self, user: Record | None) -> None:
        """Begins a turn; what no turn took is dropped."""
        self.user = user
        self.assistants: list[MergedMessage] = []
        self.results: list[Record] = []
        self.parts: list[Record] = []
        self.id: str | None = None

    def add_part(self, message: Record) -> None:
        """Takes a line of a response: another id than before begins another response."""
        id_ = message.message_id
        if id_ and id_ != self.id:  # a part without an id joins what is open
            self._close_parts()
            self.id = id_
        self.parts.append(message)

    def _close_parts(self) -> None:
        if self.parts:
            self.assistants.append(merge_assistant_parts(self.parts))
        self.parts = []
        self.id = None

    def close(self, end: int) -> None:
        """Gives out the turn that ends here, if it is complete."""
        self._close_parts()
        if self.user is not None and self.assistants:
            turn = GroupedTurn(self.user, tuple(self.assistants), tuple(self.results))
            self.turns.append(turn)
            self.consumed = end


def merge_assistant_parts(parts: Sequence[Record]) -> MergedMessage:
    """Returns one message of several lines: their blocks in order, the first's metadata."""
    content = [block for part in parts for block in blocks_in(part)]
    return MergedMessage(tuple(parts), tuple(content))


def match_tool_results(
    calls: Iterable[ToolUse], tool_results: Iterable[Record]
) -> tuple[MatchedCall, ...]:
    """Returns each call with the first result that names it, or with None as its output."""
    found: dict[str, tuple[Record, ToolResult]] = {}
    for record in tool_results:
        for block in blocks_in(record):
            if isinstance(block, ToolResult):
                found.setdefault(block.tool_use_id, (record, block))
    return tuple(_matched(call, found.get(call.id)) for call in calls)


def _matched(call: ToolUse, result: tuple[Record, ToolResult] | None) -> MatchedCall:
    if result is None:
        return MatchedCall(call.id, call.name, call.input, None, None, None)
    record, block = result
    time = timestamp_of_message(record)
    return MatchedCall(call.id, call.name, call.input, block.content, time, record)


def role_of_message(record: Record) -> str | None:
    """Returns the type of the line, else the role of its message."""
    if record.type is not None:
        return record.type
    message = record.envelope.message
    return message.role if message else None


def is_tool_result(record: Record) -> bool:
    """Tells whether any block of a message is the result of a tool."""
    content = content_of_message(record)
    return isinstance(content, tuple) and any(map(_is_result_block, content))


def _is_result_block(block: Block) -> bool:
    return isinstance(block, ToolResult) or (
        isinstance(block, UnknownBlock) and block.type == "tool_result"
    )


def timestamp_of_message(record: Record) -> datetime | None:
    """Returns the line's own time, else its message's; None where that is no string."""
    stamp = record.fields.get("timestamp")
    if stamp is None:
        message = record.fields.get("message")
        stamp = message.get("timestamp") if isinstance(message, dict) else None
    return moment(stamp) if isinstance(stamp, str) else None
