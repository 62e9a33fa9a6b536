"""The algorithms of the published descriptions of the log format, quirks included.

They are for comparison with tools that follow these descriptions, and know no graph. Plait's own
turns, which come from the graph, are those of `plait.conversation`.
"""

from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from plait.conversation.items import get_blocks, get_message_content
from plait.conversation.usage import SYNTHETIC
from plait.record import Record, Text, ToolResult, ToolUse, UnknownBlock, Usage, User
from plait.record.message import Block
from plait.record.time import parse_time

# "Claude Code Session File Format Specification". Its algorithms read a file from top to bottom,
# take every string for a prompt and only the final line of a response, so they lose blocks:
# versions that write one block a line put thinking, text and calls on other lines than the final
# one. Plait's own turns keep every block.

__all__ = [
    "counts_match",
    "deduplicate_messages",
    "detect_turns",
    "group_turns",
    "match_tool_results",
    "merge_assistant_parts",
    "pair_tool_calls",
    "rebuild_messages",
    "without_synthetic",
]


class TurnCall(Struct, frozen=True):
    """A call within a turn, and the entries with it and its result."""

    id: str
    name: str
    assistant: str | None
    """The uuid of the entry with the call; None if that has none."""
    result: str | None = None
    """The uuid of the entry with the result; None if none came in this turn."""


class DetectedTurn(Struct, frozen=True):
    """A prompt, the final entries of the responses to it, and their calls."""

    start: str | None
    """The uuid of the prompt's entry."""
    prompt: str
    responses: tuple[str | None, ...] = ()
    calls: tuple[TurnCall, ...] = ()


class CallMatch(Struct, frozen=True):
    """A call with its result."""

    id: str
    name: str
    input: Any
    call_uuid: str | None
    result_uuid: str | None
    result: Any
    metadata: Any
    """The client's own view of the result; a plain string where the tool failed."""


class OpenCall(Struct, frozen=True):
    """A call without a result so far."""

    id: str
    name: str
    input: Any
    uuid: str | None


class StrayResult(Struct, frozen=True):
    """A result without an open call."""

    id: str
    uuid: str | None


class Pairing(Struct, frozen=True):
    """Calls with their results, and what has no counterpart."""

    matches: tuple[CallMatch, ...]
    """In the order of the results."""
    orphans: tuple[OpenCall, ...]
    strays: tuple[StrayResult, ...]


class DeduplicatedMessage(Struct, frozen=True):
    """The final entry of a response, and the others that it replaces."""

    id: str | None
    final: str | None
    intermediates: tuple[str | None, ...]
    content: tuple[Block, ...]
    usage: Usage | None


def detect_turns(entries: Iterable[Record]) -> list[DetectedTurn]:
    """Return the turns of a file: each begins at a user entry whose content is a string.

    Entries before the first turn are skipped, and so are responses that are not final.
    """
    turns: list[_OpenTurn] = []
    for entry in entries:
        content = get_message_content(entry) if entry.type == "user" else None
        if isinstance(content, str):
            turns.append(_OpenTurn(entry.uuid, content))
        elif turns and entry.type == "user":
            turns[-1].add_results(entry)
        elif turns and _is_final_response(entry):
            turns[-1].add_response(entry)
    return [turn.closed() for turn in turns]


class _OpenTurn:
    """A turn that may still get responses and results."""

    def __init__(self, start: str | None, prompt: str) -> None:
        self.start = start
        self.prompt = prompt
        self.responses: list[str | None] = []
        self.calls: list[TurnCall] = []
        self.waiting: dict[str, deque[int]] = defaultdict(deque)

    def add_response(self, entry: Record) -> None:
        """Add a final entry with its calls."""
        self.responses.append(entry.uuid)
        for call in _calls_in(entry):
            self.waiting[call.id].append(len(self.calls))
            self.calls.append(TurnCall(call.id, call.name, entry.uuid))

    def add_results(self, entry: Record) -> None:
        """Assign each result to the first open call."""
        for result in _results_in(entry):
            if waiting := self.waiting.get(result.tool_use_id):
                place = waiting.popleft()
                self.calls[place] = replace(self.calls[place], result=entry.uuid)

    def closed(self) -> DetectedTurn:
        """Return the turn as it is."""
        return DetectedTurn(self.start, self.prompt, tuple(self.responses), tuple(self.calls))


def pair_tool_calls(entries: Iterable[Record]) -> Pairing:
    """Pair the calls of final responses with the results that follow them.

    Of two open calls with the same id the later one counts.
    """
    waiting: dict[str, OpenCall] = {}
    matches: list[CallMatch] = []
    strays: list[StrayResult] = []
    for entry in entries:
        if _is_final_response(entry):
            for call in _calls_in(entry):
                waiting[call.id] = OpenCall(call.id, call.name, call.input, entry.uuid)
        elif isinstance(entry, User) and entry.type == "user":
            for result in _results_in(entry):
                known = waiting.pop(result.tool_use_id, None)
                if known:
                    matches.append(
                        CallMatch(
                            id=known.id,
                            name=known.name,
                            input=known.input,
                            call_uuid=known.uuid,
                            result_uuid=entry.uuid,
                            result=result.content,
                            metadata=entry.tool_use_result,
                        )
                    )
                else:
                    strays.append(StrayResult(result.tool_use_id, entry.uuid))
    return Pairing(tuple(matches), tuple(waiting.values()), tuple(strays))


def counts_match(entries: Iterable[Record]) -> bool:
    """Return whether there are as many results as calls, final or not."""
    surplus = 0
    for entry in entries:
        if entry.type == "assistant":
            surplus += sum(1 for _ in _calls_in(entry))
        elif entry.type == "user":
            surplus -= sum(1 for _ in _results_in(entry))
    return surplus == 0


def deduplicate_messages(entries: Iterable[Record]) -> dict[str | None, DeduplicatedMessage]:
    """Return one message for each `message.id`: all that its final entry says.

    Final is the first with a stop reason, else the one with the most output tokens, the first
    among equals. Entries without an id form one message together, under None. The blocks of
    the intermediate entries are not in it.
    """
    groups: dict[str | None, list[Record]] = defaultdict(list)
    for entry in entries:
        if entry.type == "assistant":
            groups[entry.message_id].append(entry)
    messages = {}
    for id_, group in groups.items():
        final = next(filter(is_final_message, group), None) or max(group, key=output_tokens)
        messages[id_] = DeduplicatedMessage(
            id=id_,
            final=final.uuid,
            intermediates=tuple(entry.uuid for entry in group if entry.uuid != final.uuid),
            content=get_blocks(final),
            usage=final.message.usage if final.message else None,
        )
    return messages


def output_tokens(entry: Record) -> int:
    """Return the output tokens of an entry; 0 if it has none."""
    usage = entry.message.usage if entry.message else None
    return usage.output_tokens if usage else 0


def is_final_message(entry: Record) -> bool:
    """Return whether the stop reason of a message is not null; an absent one is not null."""
    message = entry.fields.get("message")
    return isinstance(message, dict) and message.get("stop_reason", "") is not None


def _is_final_response(entry: Record) -> bool:
    return entry.type == "assistant" and is_final_message(entry)


def is_synthetic(entry: Record) -> bool:
    """Return whether the client wrote a response itself, such as "No response requested."."""
    message = entry.envelope.message
    return message is not None and message.model == SYNTHETIC


def without_synthetic(entries: Iterable[Record]) -> Iterator[Record]:
    """Yield the entries that the client did not add."""
    return (entry for entry in entries if not is_synthetic(entry))


def _calls_in(entry: Record) -> Iterator[ToolUse]:
    return (block for block in get_blocks(entry) if isinstance(block, ToolUse))


def _results_in(entry: Record) -> Iterator[ToolResult]:
    return (block for block in get_blocks(entry) if isinstance(block, ToolResult))


# `load_session` of "Claude Code Session Protocol Schema", appendix C. It reads a file from top to
# bottom. Four of its points no longer hold: meta messages are sent too, `summary` lines are titles
# and replace nothing, a response is known by its message id, and rewound branches and agents do
# not go along. What Claude will see is `plait.context`, which follows the client.


PREFIX = "[Previous conversation summary]: "


def rebuild_messages(entries: Iterable[Record]) -> list[dict[str, Any]]:
    """Return the messages of a file: prompts and results as they are, responses merged.

    Consecutive lines of one request are one message, and so are those without a request. A summary
    replaces everything before it. Entries without a message are skipped, where the description's
    own code would stop.
    """
    rebuilding = _Rebuilding()
    for entry in entries:
        message = entry.fields.get("message")
        if entry.type == "summary":
            rebuilding.begin_with(entry.fields.get("summary"))
        elif not isinstance(message, dict):
            continue
        elif entry.type == "user" and not entry.fields.get("isMeta"):
            rebuilding.messages.append(dict(message))
            rebuilding.is_open = False
        elif entry.type == "assistant":
            rebuilding.add_answer(message, entry.fields.get("requestId"))
    return rebuilding.messages


class _Rebuilding:
    """The messages so far, and the request that the last one answers."""

    def __init__(self) -> None:
        self.messages: list[dict[str, Any]] = []
        self.is_open = False
        self.request: Any = None

    def begin_with(self, summary: Any) -> None:
        self.messages = [{"role": "user", "content": f"{PREFIX}{summary}"}]
        self.is_open = False

    def add_answer(self, message: dict[str, Any], request: Any) -> None:
        content = message.get("content")
        blocks = content if isinstance(content, list) else []
        if self.is_open and self.request == request:
            self.messages[-1]["content"].extend(blocks)
            return
        self.messages.append({"role": "assistant", "content": list(blocks)})
        self.is_open, self.request = True, request


# `groupTurns` of "Claude Code JSONL Transcript Structure", for those who trace transcripts line by
# line: rewound branches follow each other, and a response interrupted by the lines of another one
# is two.


class MergedMessage(Struct, frozen=True):
    """One response: the blocks of all its parts, and the metadata of its first part."""

    parts: tuple[Record, ...]
    content: tuple[Block, ...]

    @property
    def id(self) -> str | None:
        """The id that its parts share; None if the first has none."""
        return self.parts[0].message_id

    @property
    def model(self) -> str | None:
        """The model in the first part."""
        message = self.parts[0].message
        return message.model if message else None

    @property
    def usage(self) -> Usage | None:
        """The usage in the first part, which is seldom final."""
        message = self.parts[0].message
        return message.usage if message else None

    @property
    def time(self) -> datetime | None:
        """When the first part was written."""
        return timestamp_of_message(self.parts[0])

    @property
    def text(self) -> str:
        """The text of its text blocks, separated by line breaks."""
        return "\n".join(block.text for block in self.content if isinstance(block, Text))

    @property
    def calls(self) -> tuple[ToolUse, ...]:
        """Its tool calls."""
        return tuple(block for block in self.content if isinstance(block, ToolUse))


class GroupedTurn(Struct, frozen=True):
    """A prompt, the responses to it, and the results of their calls."""

    user: Record
    assistants: tuple[MergedMessage, ...]
    tool_results: tuple[Record, ...]


class Grouped(Struct, frozen=True):
    """The complete turns, and how many messages they contain."""

    turns: tuple[GroupedTurn, ...]
    consumed: int
    """Where to continue: the prompt after the last complete turn, or the end."""


class MatchedCall(Struct, frozen=True):
    """A tool call with its result; None if there is none."""

    id: str
    name: str
    input: Any
    output: Any
    time: datetime | None
    """When the result was written."""
    result: Record | None
    """The record of the result: distinguishes an empty output from none."""


def group_turns(messages: Iterable[Record]) -> Grouped:
    """Group messages into turns; one without a prompt or without a response is left out.

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
            id_ = message.message_id
            if id_ and id_ != grouping.id:  # a part without an id joins the open response
                grouping._close_parts()
                grouping.id = id_
            grouping.parts.append(message)
        elif role == "user" and is_tool_result(message):
            grouping.results.append(message)
        elif role == "user":
            grouping.close(place)
            grouping.open(message)
    grouping.close(count)
    return Grouped(tuple(grouping.turns), grouping.consumed)


class _Grouping:
    """The turns so far, and the open one."""

    def __init__(self) -> None:
        self.turns: list[GroupedTurn] = []
        self.consumed = 0
        self.open(None)

    def open(self, user: Record | None) -> None:
        """Begin a turn; what belongs to no turn is dropped."""
        self.user = user
        self.assistants: list[MergedMessage] = []
        self.results: list[Record] = []
        self.parts: list[Record] = []
        self.id: str | None = None

    def _close_parts(self) -> None:
        if self.parts:
            self.assistants.append(merge_assistant_parts(self.parts))
        self.parts = []
        self.id = None

    def close(self, end: int) -> None:
        """Add the open turn, if it is complete."""
        self._close_parts()
        if self.user is not None and self.assistants:
            turn = GroupedTurn(self.user, tuple(self.assistants), tuple(self.results))
            self.turns.append(turn)
            self.consumed = end


def merge_assistant_parts(parts: Sequence[Record]) -> MergedMessage:
    """Return one message of several lines: their blocks in order, the first's metadata."""
    content = [block for part in parts for block in get_blocks(part)]
    return MergedMessage(tuple(parts), tuple(content))


def match_tool_results(
    calls: Iterable[ToolUse], tool_results: Iterable[Record]
) -> tuple[MatchedCall, ...]:
    """Return each call with the first result that names it, or with None as its output."""
    found: dict[str, tuple[Record, ToolResult]] = {}
    for record in tool_results:
        for block in get_blocks(record):
            if isinstance(block, ToolResult):
                found.setdefault(block.tool_use_id, (record, block))
    matched = []
    for call in calls:
        output = time = result_record = None
        if call.id in found:
            result_record, result = found[call.id]
            output, time = result.content, timestamp_of_message(result_record)
        matched.append(MatchedCall(call.id, call.name, call.input, output, time, result_record))
    return tuple(matched)


def role_of_message(record: Record) -> str | None:
    """Return the type of the line, else the role of its message."""
    if record.type is not None:
        return record.type
    message = record.envelope.message
    return message.role if message else None


def is_tool_result(record: Record) -> bool:
    """Return whether any block of a message is the result of a tool."""
    content = get_message_content(record)
    return isinstance(content, tuple) and any(map(_is_result_block, content))


def _is_result_block(block: Block) -> bool:
    return isinstance(block, ToolResult) or (
        isinstance(block, UnknownBlock) and block.type == "tool_result"
    )


def timestamp_of_message(record: Record) -> datetime | None:
    """Return the line's own time, else its message's; None if that is not a string."""
    stamp = record.fields.get("timestamp")
    if stamp is None:
        message = record.fields.get("message")
        stamp = message.get("timestamp") if isinstance(message, dict) else None
    return parse_time(stamp) if isinstance(stamp, str) else None
