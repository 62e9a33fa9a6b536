"""Iterating over conversations: their items at a depth, their paths and their responses.

A reader chooses how much to see. What is hidden never separates a call from its result:
`iter_story` handles what is left.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from dataclasses import replace as replace_fields
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
    """Yield every item with the number of its turn, folded items in the place of their fold.

    Repeated records are yielded once: replays stay folded.
    """
    for turn in conversation.turns:
        for item in unfold_items(turn.items):
            yield turn.number, item


def unfold_items(items: Iterable[Item]) -> Iterator[Item]:
    """Yield items in order, folded ones in the place of their fold, without replays."""
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
    """Yield every call with the number of its turn, once if it was logged repeatedly while
    streaming.
    """
    for number, item in iter_items(conversation):
        if isinstance(item, ToolCall) and not item.is_intermediate:
            yield number, item


def filter_turns_by_call(
    turns: Iterable[Turn], outcome: NotableOutcome | None = None, tool: str | None = None
) -> tuple[Turn, ...]:
    """Return the turns with a call of this outcome or tool: their prompts and such calls."""
    names = {name.strip().casefold() for name in tool.split(",")} if tool else None
    found: list[Turn] = []
    for turn in turns:
        wanted: list[Item] = []
        calls = set[tuple[str, str | None]]()
        for item in unfold_items(turn.items):
            is_result = isinstance(item, LateResult) and get_call_key(item) in calls
            if is_result or _matches(item, outcome, names):
                wanted.append(item)
                if isinstance(item, ToolCall):
                    calls.add(get_call_key(item))
        if wanted:
            opener = (turn.opener,) if turn.opener and turn.opener not in wanted else ()
            found.append(replace(turn, items=(*opener, *wanted)))
    return tuple(found)


def _matches(item: Item, outcome: NotableOutcome | None, names: Collection[str] | None) -> bool:
    if _is_repeated(item) or (outcome and get_notable_outcome(item) != outcome):
        return False
    if isinstance(item, UserMessage):
        return outcome is not None and names is None
    if not isinstance(item, ToolCall | LateResult):
        return False
    return names is None or (item.name or "").casefold() in names


def _is_repeated(item: Item) -> bool:
    return isinstance(item, ToolCall) and item.is_intermediate


Depth: TypeAlias = Literal[
    "prompts",  # what the user typed
    "answers",  # and what the model answered
    "agents",  # and the agents it started, with their prompts and answers
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
"""Events of hooks that made the model continue, or blocked a prompt."""
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
"""Notes of the client that explain a late or missing response."""


def filter_visible(items: Iterable[Item], depth: Depth, *, thinking: bool = False) -> list[Item]:
    """Return the items that a depth shows, in order; `all` includes the thinking."""
    seen = list(items)
    if depth == "all":
        return seen
    level = DEPTHS.index(depth)
    sending = frozenset(
        item.call
        for item in seen
        if isinstance(item, ToolCall) and (item.agents or get_tool(item.name).sends_agents)
    )
    return [item for item in seen if _is_visible(item, level, sending, thinking=thinking)]


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
            return not _is_repeated(item) and (has_tools or (has_agents and item.call in sending))
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
"""Returns the conversation of a DAG-line; None if it was not read."""


def build_path(end: Conversation, conversation_of: ConversationOf) -> Conversation:
    """Return a conversation joined with all that it continues."""
    way = [end]
    while above := find_parent(way[-1], conversation_of):
        way.append(above)
    if len(way) == 1:
        return end
    parts = [(above, _turns_before(above, below.id)) for above, below in pairwise(way[::-1])]
    turns: list[Turn] = []
    responses: list[Response] = []
    for conversation, stretch in [*parts, (end, end.turns)]:
        numbers = {number for turn in stretch for number in iter_response_numbers(turn.items)}
        places = {number: len(responses) + at for at, number in enumerate(sorted(numbers))}
        for turn in stretch:
            items = _moved_items(turn.items, places)
            own = tuple(places[number] for number in turn.responses if number in places)
            if turn.number == 0 and turns:  # what a branch has before its first prompt
                last = turns[-1]
                joined = tuple(dict.fromkeys((*last.responses, *own)))
                turns[-1] = replace(last, items=(*last.items, *items), responses=joined)
            else:
                opener = items[0] if turn.opener else None
                turns.append(replace(turn, opener=opener, items=items, responses=own))
        responses.extend(conversation.responses[number] for number in places)
    first = turns[0].number if turns else 0
    numbered = (replace(turn, number=first + place) for place, turn in enumerate(turns))
    return replace(end, turns=add_times(numbered, responses), responses=tuple(responses))


def find_parent(line: Conversation, conversation_of: ConversationOf) -> Conversation | None:
    """Return the conversation that another leaves; None for one with a root of its own."""
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


def _moved_items(items: Iterable[Item], places: Mapping[int, int]) -> tuple[Item, ...]:
    return tuple(
        replace(item, items=_moved_items(item.items, places))
        if isinstance(item, FoldedItems)
        else replace(item, response=places[item.response])
        if isinstance(item, AssistantText | AssistantThinking | ToolCall | OtherBlock)
        else item
        for item in items
    )


AGENTS = frozenset({"agent", "service"})
UNKNOWN = "unknown"


def find_agent_types(conversations: Conversations) -> dict[str, str]:
    """Return the type of each agent by its line; "unknown" if no call names it."""
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


# Responses in time. A response lasts until the next of its turn starts, the last one until its last
# block or result; traces and the Timeline draw the same intervals from here. Lines without any id
# join the open response, as in `documents.group_turns`.


Spoken: TypeAlias = AssistantText | AssistantThinking | ToolCall | OtherBlock
UNKNOWN_INTERVAL = Interval(None, None)


@dataclass(frozen=True, slots=True)
class TurnResponse:
    """A response that begins in a turn, with everything that belongs to it."""

    numbers: tuple[int, ...]
    """Its positions among the conversation's responses: several if lines without an id joined it."""
    parts: tuple[Response, ...]
    blocks: tuple[Spoken, ...]
    folded: str | None
    """Why it is out of the reading order, if it is."""
    interval: Interval

    @property
    def response(self) -> Response:
        """The metadata of its first part."""
        return self.parts[0]

    @property
    def is_error(self) -> bool:
        """Whether it is an API error in place of a response."""
        return self.response.is_error

    @property
    def text(self) -> str:
        """Its text, a line break between two blocks."""
        return "\n".join(block.text for block in self.blocks if isinstance(block, AssistantText))

    @property
    def thinking(self) -> str | None:
        """Its thinking; None if none was recorded."""
        texts = [
            block.text
            for block in self.blocks
            if isinstance(block, AssistantThinking) and block.text
        ]
        return "\n".join(texts) or None

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        """Its tool calls."""
        return tuple(block for block in self.blocks if isinstance(block, ToolCall))

    @property
    def spoken_until(self) -> datetime | None:
        """When its last block was written."""
        ends = (parse_time(part.ended) for part in self.parts)
        return max((end for end in ends if end), default=None)


class TurnResponses:
    """The responses of a conversation, by the turn in which each begins."""

    def __init__(self, conversation: Conversation) -> None:
        self.conversation = conversation
        self._blocks: dict[int, list[Spoken]] = {}
        self._folded: dict[int, str] = {}
        self._by_turn: dict[int, list[TurnResponse]] = {}
        for item in conversation.items():
            reason = item.reason if isinstance(item, FoldedItems) else None
            for inner in unfold_items((item,)):
                if not isinstance(inner, AssistantText | AssistantThinking | ToolCall | OtherBlock):
                    continue
                if reason and inner.response not in self._blocks:
                    self._folded[inner.response] = reason
                held = self._blocks.setdefault(inner.response, [])
                if isinstance(inner, OtherBlock) or not inner.is_intermediate:
                    held.append(inner)

    def has(self, turn: Turn) -> bool:
        """Return whether a response begins in a turn; one added by the client does not count."""
        return any(True for _ in self._numbers(turn))

    def starting_in(self, turn: Turn) -> list[TurnResponse]:
        """Return the responses that begin in a turn, in order."""
        known = self._by_turn.get(turn.number)
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
                _add_interval(response, following, turn)
                for response, following in zip(found, after, strict=False)
            ]
            self._by_turn[turn.number] = known
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
        """Return whether a response has no id and so joins the open one; an error never does."""
        response = self.conversation.responses[number]
        return response.id is None and response.request is None and not response.is_error


def _add_interval(response: TurnResponse, after: TurnResponse | None, turn: Turn) -> TurnResponse:
    """Return a response with its times: it ends when the next one begins."""
    start = parse_time(response.response.started)
    end = parse_time(after.response.started) if after else None
    if end is None:
        end = response.spoken_until
        ends = (end, *(call.interval.end for call in response.calls))
        end = max((at for at in ends if at), default=None) or parse_time(find_noted_end(turn))
    end = max(start, end) if start and end else end
    return replace_fields(response, interval=Interval(start, end))
