"""Entries of one file to turns, pairs and messages, as the format's first description has them.

These are the algorithms of "Claude Code Session File Format Specification" with their exact
results, quirks included, for those who compare with tools that follow it. They read a file
from top to bottom, take every string for a prompt and only the final line of a response, so
they lose blocks: versions that write one block a line put thinking, text and calls on other
lines than the final one. Plait's own turns, which come from the graph, keep every block.
"""

from collections import defaultdict, deque
from collections.abc import Iterable, Iterator
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from plait.conversation.items import blocks_in, content_of_message
from plait.conversation.usage import SYNTHETIC
from plait.record import Record, ToolResult, ToolUse, Usage, User
from plait.record.message import Block


class TurnCall(Struct, frozen=True):
    """A call within a turn, and the entries that hold it and its result."""

    id: str
    name: str
    assistant: str | None
    """The uuid of the entry with the call; None where that has none."""
    result: str | None = None
    """The uuid of the entry with the result; None where none came in this turn."""


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
    """A call that waits for its result."""

    id: str
    name: str
    input: Any
    uuid: str | None


class StrayResult(Struct, frozen=True):
    """A result for which no call waits."""

    id: str
    uuid: str | None


class Pairing(Struct, frozen=True):
    """Calls with their results, and what found no counterpart."""

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
    """Returns the turns of a file: each begins at a user entry whose content is a string.

    Entries before the first turn are passed over, and so are responses that are not final.
    """
    turns: list[_OpenTurn] = []
    for entry in entries:
        content = content_of_message(entry) if entry.type == "user" else None
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
        """Takes a final entry with its calls."""
        self.responses.append(entry.uuid)
        for call in _calls_in(entry):
            self.waiting[call.id].append(len(self.calls))
            self.calls.append(TurnCall(call.id, call.name, entry.uuid))

    def add_results(self, entry: Record) -> None:
        """Gives each result to the first call that waits for it."""
        for result in _results_in(entry):
            if waiting := self.waiting.get(result.tool_use_id):
                place = waiting.popleft()
                self.calls[place] = replace(self.calls[place], result=entry.uuid)

    def closed(self) -> DetectedTurn:
        """Returns the turn as it is."""
        return DetectedTurn(self.start, self.prompt, tuple(self.responses), tuple(self.calls))


def pair_tool_calls(entries: Iterable[Record]) -> Pairing:
    """Pairs the calls of final responses with the results that follow them.

    Of two waiting calls with the same id the later one counts.
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
                    matches.append(_match_of(known, entry, result))
                else:
                    strays.append(StrayResult(result.tool_use_id, entry.uuid))
    return Pairing(tuple(matches), tuple(waiting.values()), tuple(strays))


def _match_of(call: OpenCall, entry: User, result: ToolResult) -> CallMatch:
    return CallMatch(
        id=call.id,
        name=call.name,
        input=call.input,
        call_uuid=call.uuid,
        result_uuid=entry.uuid,
        result=result.content,
        metadata=entry.tool_use_result,
    )


def counts_match(entries: Iterable[Record]) -> bool:
    """Tells whether there are as many results as calls, final or not."""
    surplus = 0
    for entry in entries:
        if entry.type == "assistant":
            surplus += sum(1 for _ in _calls_in(entry))
        elif entry.type == "user":
            surplus -= sum(1 for _ in _results_in(entry))
    return surplus == 0


def deduplicate_messages(entries: Iterable[Record]) -> dict[str | None, DeduplicatedMessage]:
    """Returns one message for each `message.id`: all that its final entry says.

    Final is the first with a stop reason, else the one with the most output tokens, the first
    among equals. Entries without an id form one message together, under None. The blocks of
    the intermediate entries are not in it.
    """
    groups: dict[str | None, list[Record]] = defaultdict(list)
    for entry in entries:
        if entry.type == "assistant":
            groups[entry.message_id].append(entry)
    return {id_: _deduplicated(id_, group) for id_, group in groups.items()}


def _deduplicated(id_: str | None, group: list[Record]) -> DeduplicatedMessage:
    final = next(filter(is_final_message, group), None) or max(group, key=output_tokens)
    return DeduplicatedMessage(
        id=id_,
        final=final.uuid,
        intermediates=tuple(entry.uuid for entry in group if entry.uuid != final.uuid),
        content=blocks_in(final),
        usage=final.message.usage if final.message else None,
    )


def output_tokens(entry: Record) -> int:
    """Returns the output that an entry tells, nothing where it is silent."""
    usage = entry.message.usage if entry.message else None
    return usage.output_tokens if usage else 0


def is_final_message(entry: Record) -> bool:
    """Tells whether the stop reason of a message is not null; an absent one is not null."""
    message = entry.fields.get("message")
    return isinstance(message, dict) and message.get("stop_reason", "") is not None


def _is_final_response(entry: Record) -> bool:
    return entry.type == "assistant" and is_final_message(entry)


def is_synthetic(entry: Record) -> bool:
    """Tells whether the client wrote a response itself, such as "No response requested."."""
    message = entry.envelope.message
    return message is not None and message.model == SYNTHETIC


def without_synthetic(entries: Iterable[Record]) -> Iterator[Record]:
    """Yields the entries that the client did not make up."""
    return (entry for entry in entries if not is_synthetic(entry))


def _calls_in(entry: Record) -> Iterator[ToolUse]:
    return (block for block in blocks_in(entry) if isinstance(block, ToolUse))


def _results_in(entry: Record) -> Iterator[ToolResult]:
    return (block for block in blocks_in(entry) if isinstance(block, ToolResult))
