"""Walking through conversations: their items at a depth, their paths and their responses.

A reader asks for as much as they want to see. What is not shown never separates a call from its
result: `iter_story` takes what is left.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from typing import Literal, TypeAlias, get_args

from msgspec.structs import replace

from plait.conversation.model import (
    AssistantText,
    AssistantThinking,
    BranchPoint,
    ClientNote,
    CompactionItem,
    Conversation,
    Conversations,
    FoldedItems,
    Item,
    LateResult,
    NotableOutcome,
    OtherBlock,
    Response,
    ToolCall,
    Turn,
    UserMessage,
    UserMessageKind,
)
from plait.conversation.results import get_call_key, get_notable_outcome
from plait.conversation.tools import get_tool
from plait.conversation.turns import add_times, find_noted_end, iter_response_numbers
from plait.graph.paths import SPOKEN
from plait.record.codec import as_mapping, get_text
from plait.record.time import Interval, parse_time


def iter_items(conversation: Conversation) -> Iterator[tuple[int, Item]]:
    """Yield every item with the number of its turn, what is folded in the place of its fold.

    What was written twice is yielded once: replays stay folded.
    """
    for turn in conversation.turns:
        for item in unfold_items(turn.items):
            yield turn.number, item


def unfold_items(items: Iterable[Item]) -> Iterator[Item]:
    """Yield items in order, those of folds in the place of the fold, replays left out."""
    waiting = [iter(items)]
    while waiting:
        item = next(waiting[-1], None)
        if item is None:
            waiting.pop()
        elif not isinstance(item, FoldedItems):
            yield item
        elif item.reason != "replay":
            waiting.append(iter(item.items))


def iter_calls(conversation: Conversation) -> Iterator[tuple[int, ToolCall]]:
    """Yield every call with the number of its turn, once where it was written as it came in."""
    for number, item in iter_items(conversation):
        if isinstance(item, ToolCall) and not item.is_intermediate:
            yield number, item


def filter_turns_by_call(
    turns: Iterable[Turn], outcome: NotableOutcome | None = None, tool: str | None = None
) -> tuple[Turn, ...]:
    """Return the turns with a call that ended so, or of a tool: their openers and such calls."""
    found: list[Turn] = []
    for turn in turns:
        wanted = list(_iter_matching_items(turn.items, outcome, tool))
        if wanted:
            opener = (turn.opener,) if turn.opener and turn.opener not in wanted else ()
            found.append(replace(turn, items=(*opener, *wanted)))
    return tuple(found)


def _iter_matching_items(
    items: Iterable[Item], outcome: NotableOutcome | None, tool: str | None
) -> Iterator[Item]:
    names = {name.strip().casefold() for name in tool.split(",")} if tool else None
    shown = set[tuple[str, str | None]]()
    for item in unfold_items(items):
        is_shown = isinstance(item, LateResult) and get_call_key(item) in shown
        if is_shown or _matches(item, outcome, names):
            yield item
            if isinstance(item, ToolCall):
                shown.add(get_call_key(item))


def _matches(item: Item, outcome: NotableOutcome | None, names: Collection[str] | None) -> bool:
    if _is_again(item) or (outcome and get_notable_outcome(item) != outcome):
        return False
    if isinstance(item, UserMessage):
        return outcome is not None and names is None
    if not isinstance(item, ToolCall | LateResult):
        return False
    return names is None or (item.name or "").casefold() in names


def _is_again(item: Item) -> bool:
    return isinstance(item, ToolCall) and item.is_intermediate


Depth: TypeAlias = Literal[
    "prompts",  # what people typed
    "answers",  # and what the model said
    "agents",  # and whom it sent out, with their prompts and answers
    "tools",  # and every call, with its outcome
    "all",  # and everything else
]
DEPTHS: tuple[Depth, ...] = get_args(Depth)

TYPED: frozenset[UserMessageKind] = frozenset({"prompt", "queued", "command", "bash"})
HEARD: frozenset[UserMessageKind] = TYPED | {
    "command-output",
    "bash-output",
    "interruption",
    "notice",
    "teammate",
    "peer",
}
OBJECTIONS = frozenset({"feedback", "blocked", "stopped", "error"})
"""Of a hook: why the model went on, or a prompt did not come through."""
TROUBLE = frozenset(
    {
        "api_error",
        "api_refusal",
        "model_refusal_fallback",
        "model_refusal_no_fallback",
        "hook_stopped_continuation",
        "max_turns_reached",
        "error",
    }
)
"""Notes of the client that tell why an answer took long, or did not come."""


def filter_visible(items: Iterable[Item], depth: Depth, *, thinking: bool = False) -> list[Item]:
    """Return the items that a depth shows, in their order; everything includes the thinking."""
    seen = list(items)
    if depth == "all":
        return seen
    level = DEPTHS.index(depth)
    sending = frozenset(_calls_that_send(seen))
    return [item for item in seen if _is_visible(item, level, sending, thinking=thinking)]


def _calls_that_send(items: Iterable[Item]) -> Iterator[str]:
    for item in items:
        if isinstance(item, ToolCall) and (item.agents or get_tool(item.name).sends_agents):
            yield item.call


def _is_visible(item: Item, level: int, sending: Collection[str], *, thinking: bool) -> bool:
    has_answers, has_agents, has_tools = (level >= place for place in (1, 2, 3))
    match item:
        case UserMessage(kind="hook", status=status):
            return has_answers and status in OBJECTIONS
        case UserMessage(kind=kind):
            return kind in (HEARD if has_answers else TYPED)
        case AssistantText():
            return has_answers and not item.is_intermediate and bool(item.text.strip())
        case AssistantThinking():
            return has_answers and thinking and not item.is_intermediate
        case ToolCall() | LateResult():
            return not _is_again(item) and (has_tools or (has_agents and item.call in sending))
        case CompactionItem() | BranchPoint():
            return True
        case FoldedItems():
            return any(
                isinstance(folded, UserMessage) and folded.kind in TYPED for folded in item.items
            )
        case ClientNote():
            return has_tools and (item.subtype in TROUBLE or item.kind == "gone")
        case _:
            return has_tools and item.enclosure.kind != "empty"


ConversationOf: TypeAlias = Callable[[str], Conversation | None]
"""Gives the conversation of a DAG-line, None where it was not read."""


def build_path(end: Conversation, conversation_of: ConversationOf) -> Conversation:
    """Return a conversation with all that it goes on from, as one."""
    way = [end]
    while above := find_parent(way[-1], conversation_of):
        way.append(above)
    if len(way) == 1:
        return end
    parts = [(above, _turns_before(above, below.id)) for above, below in pairwise(way[::-1])]
    return _join_path([*parts, (end, end.turns)], end)


def find_parent(line: Conversation, conversation_of: ConversationOf) -> Conversation | None:
    """Return the conversation that another leaves, None for one with a root of its own."""
    above = conversation_of(line.parent) if line.parent and line.kind in SPOKEN else None
    is_left = above is not None and above.kind in SPOKEN and _leaves(above, line.id)
    return above if is_left else None


def _leaves(above: Conversation, below: str) -> bool:
    before = 0
    for item in above.items():
        if isinstance(item, BranchPoint):
            if item.to == below:
                return before > 0
        elif item.uuid:
            before += 1
    return False


def _turns_before(above: Conversation, below: str) -> tuple[Turn, ...]:
    found: list[Turn] = []
    for turn in above.turns:
        for place, item in enumerate(turn.items):
            if isinstance(item, BranchPoint) and item.to == below:
                return (*found, replace(turn, items=turn.items[: place + 1]))
        found.append(turn)
    return tuple(found)


def _join_path(
    parts: Sequence[tuple[Conversation, Sequence[Turn]]], end: Conversation
) -> Conversation:
    turns: list[Turn] = []
    responses: list[Response] = []
    for conversation, stretch in parts:
        places = {
            number: len(responses) + place
            for place, number in enumerate(sorted(set(_responses_in_turns(stretch))))
        }
        for turn in (_renumber(turn, places) for turn in stretch):
            if turn.number == 0 and turns:
                turns[-1] = _merge_turns(turns[-1], turn)
            else:
                turns.append(turn)
        responses.extend(conversation.responses[number] for number in places)
    first = turns[0].number if turns else 0
    numbered = (replace(turn, number=first + place) for place, turn in enumerate(turns))
    return replace(end, turns=add_times(numbered, responses), responses=tuple(responses))


def _responses_in_turns(turns: Iterable[Turn]) -> Iterator[int]:
    for turn in turns:
        yield from iter_response_numbers(turn.items)


def _renumber(turn: Turn, places: Mapping[int, int]) -> Turn:
    items = _moved_items(turn.items, places)
    return replace(
        turn,
        opener=items[0] if turn.opener else None,
        items=items,
        responses=tuple(places[number] for number in turn.responses if number in places),
    )


def _moved_items(items: Iterable[Item], places: Mapping[int, int]) -> tuple[Item, ...]:
    return tuple(
        replace(item, items=_moved_items(item.items, places))
        if isinstance(item, FoldedItems)
        else replace(item, response=places[item.response])
        if isinstance(item, AssistantText | AssistantThinking | ToolCall | OtherBlock)
        else item
        for item in items
    )


def _merge_turns(turn: Turn, more: Turn) -> Turn:
    responses = tuple(dict.fromkeys((*turn.responses, *more.responses)))
    return replace(turn, items=(*turn.items, *more.items), responses=responses)


AGENTS = frozenset({"agent", "service"})
UNKNOWN = "unknown"


def find_agent_types(conversations: Conversations) -> dict[str, str]:
    """Return the type of each agent by its line; "unknown" where no call names it."""
    known = {
        name: _agent_type(call)
        for conversation in conversations.by_line.values()
        for _, call in iter_calls(conversation)
        for name in call.agents
    }
    return {
        conversation.id: conversation.kind
        if conversation.kind == "service"
        else known.get(conversation.id, UNKNOWN)
        for conversation in conversations.by_line.values()
        if conversation.kind in AGENTS
    }


def _agent_type(called: ToolCall) -> str:
    view = as_mapping(called.result.detail if called.result else None)
    asked = get_text(as_mapping(called.input), "subagent_type") or get_text(view, "agentType")
    return asked or get_tool(called.name).agent or called.name


# Responses as they were spoken. A response lasts until the next of its turn starts, the last one
# until its last block or result; traces and the Timeline draw the same intervals from here. Lines
# without any id join the response that is open, as in `documents.group_turns`.


Spoken: TypeAlias = AssistantText | AssistantThinking | ToolCall | OtherBlock
UNKNOWN_INTERVAL = Interval(None, None)


@dataclass(frozen=True, slots=True)
class TurnResponse:
    """A response that begins in a turn, with all that belongs to it."""

    numbers: tuple[int, ...]
    """Its places in the conversation's responses: several where lines without an id joined it."""
    parts: tuple[Response, ...]
    blocks: tuple[Spoken, ...]
    folded: str | None
    """Why it is out of the reading order, where it is."""
    interval: Interval

    @property
    def response(self) -> Response:
        """What is said of it: the metadata of its first part."""
        return self.parts[0]

    @property
    def is_error(self) -> bool:
        """Whether it is the API's error in the place of an answer."""
        return self.response.is_error

    @property
    def text(self) -> str:
        """Its words, a line break between two blocks."""
        return "\n".join(block.text for block in self.blocks if isinstance(block, AssistantText))

    @property
    def thinking(self) -> str | None:
        """Its thoughts, None where none were recorded."""
        texts = [
            block.text
            for block in self.blocks
            if isinstance(block, AssistantThinking) and block.text
        ]
        return "\n".join(texts) or None

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        """Its calls of tools."""
        return tuple(block for block in self.blocks if isinstance(block, ToolCall))

    @property
    def spoken_until(self) -> datetime | None:
        """When its last block was written."""
        return max(
            (at for at in map(parse_time, ((part.ended for part in self.parts))) if at),
            default=None,
        )


class TurnResponses:
    """The responses of a conversation, by the turn in which each begins."""

    def __init__(self, conversation: Conversation) -> None:
        self.conversation = conversation
        self._blocks: dict[int, list[Spoken]] = {}
        self._folded: dict[int, str] = {}
        self._folded_reasons: dict[int, list[TurnResponse]] = {}
        for item, reason in _items_with_folds(conversation):
            if isinstance(item, AssistantText | AssistantThinking | ToolCall | OtherBlock):
                if reason and item.response not in self._blocks:
                    self._folded[item.response] = reason
                held = self._blocks.setdefault(item.response, [])
                if not (
                    isinstance(item, AssistantText | AssistantThinking | ToolCall)
                    and item.is_intermediate
                ):
                    held.append(item)

    def has(self, turn: Turn) -> bool:
        """Return whether a response begins in a turn; what the client put in is none."""
        return any(True for _ in self._numbers(turn))

    def starting_in(self, turn: Turn) -> list[TurnResponse]:
        """Return the responses that begin in a turn, in their order."""
        known = self._folded_reasons.get(turn.number)
        if known is None:
            groups: list[list[int]] = []
            for number in self._numbers(turn):
                if groups and self._joins(number):
                    groups[-1].append(number)
                else:
                    groups.append([number])
            found = [
                TurnResponse(
                    tuple(numbers),
                    tuple(self.conversation.responses[number] for number in numbers),
                    tuple(block for number in numbers for block in self._blocks[number]),
                    self._folded.get(numbers[0]),
                    UNKNOWN_INTERVAL,
                )
                for numbers in groups
            ]
            after = (*found[1:], None)
            known = [
                _add_interval(response, then, turn)
                for response, then in zip(found, after, strict=False)
            ]
            self._folded_reasons[turn.number] = known
        return known

    def last(self, turns: Iterable[Turn]) -> TurnResponse | None:
        """Return the last response of some turns."""
        return next(
            (response for turn in reversed([*turns]) for response in self.starting_in(turn)[-1:]),
            None,
        )

    def _numbers(self, turn: Turn) -> Iterator[int]:
        responses = self.conversation.responses
        return (
            number
            for number in turn.responses
            if number in self._blocks and not responses[number].is_meta
        )

    def _joins(self, number: int) -> bool:
        """Tells a line without any id, which joins what is open; an error is one of its own."""
        response = self.conversation.responses[number]
        return response.id is None and response.request is None and not response.is_error


def _items_with_folds(conversation: Conversation) -> Iterator[tuple[Item, str | None]]:
    for turn in conversation.turns:
        for item in turn.items:
            reason = item.reason if isinstance(item, FoldedItems) else None
            for inner in unfold_items((item,)):
                yield inner, reason


def _add_interval(response: TurnResponse, after: TurnResponse | None, turn: Turn) -> TurnResponse:
    """Return a response with its times: it gives way to the next."""
    start = parse_time(response.response.started)
    end = parse_time(after.response.started) if after else None
    if end is None:
        end = response.spoken_until
        ends = (end, *(call.interval.end for call in response.calls))
        end = max((at for at in ends if at), default=None) or parse_time(find_noted_end(turn))
    end = max(start, end) if start and end else end
    return TurnResponse(
        response.numbers, response.parts, response.blocks, response.folded, Interval(start, end)
    )
