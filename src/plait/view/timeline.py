"""A conversation in time: bars for turns, responses and calls, and lanes for agents.

Times equal those of a trace's spans: of turns from `conversation.turns`, of responses and calls
from their blocks.
"""

from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Literal, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from plait.conversation.costs import list_descendant_agents
from plait.conversation.model import (
    SUCCESSFUL,
    Conversation,
    Conversations,
    LateResult,
    Outcome,
    ToolCall,
    Turn,
    UserMessage,
)
from plait.conversation.tools import get_tool
from plait.conversation.turns import SPOKEN
from plait.conversation.walk import TurnResponses, unfold_items
from plait.record.time import parse_time, sum_covered_time
from plait.view.calls import CallView, format_call_line
from plait.view.summaries import format_prompt
from plait.view.text import shorten

BarKind: TypeAlias = Literal[
    "model",  # a response, from its first block until the next begins
    "tool",
    "person",  # a question that the user answered
    "agent",
]
LONGEST = 300


class Bar(Struct, frozen=True, kw_only=True):
    """A duration, in milliseconds since the timeline began."""

    kind: BarKind
    name: str
    """The model, the tool, or an agent's task."""
    words: str = ""
    start: float
    end: float
    outcome: Outcome = "ok"
    uuid: str | None = None
    agents: tuple[str, ...] = ()
    """The conversations of agents that a call started."""
    output_tokens: int = 0
    asked: float | None = None
    """When the input of a response was complete: from then to its last block the model worked."""
    spoken: float | None = None
    """When the last block of a response was written."""

    @property
    def length(self) -> float:
        """How long it took."""
        return self.end - self.start


class TurnBar(Struct, frozen=True, kw_only=True):
    """A turn, and how its time was used."""

    number: int
    words: str
    uuid: str | None
    started: str | None
    start: float
    end: float
    model_ms: float = 0
    """From the input of its responses to their last blocks; parallel ones count once."""
    tools_ms: float = 0
    """Without the time spent waiting for permission."""
    asking_ms: float = 0
    """Time waiting for the user, including for permission."""
    responses: int = 0
    calls: int = 0
    failed: int = 0
    agents: tuple[str, ...] = ()
    is_interrupted: bool = False

    @property
    def length(self) -> float:
        """How long it took."""
        return self.end - self.start


class Lane(Struct, frozen=True, kw_only=True):
    """An agent, in a lane that no other uses at the same time."""

    line: str
    words: str
    kind: str
    parent: str | None
    turn: int | None
    """The turn that started it; None if no turn did."""
    start: float
    end: float
    lane: int = 0
    """From 1."""
    calls: int = 0
    failed: int = 0
    is_failed: bool = False
    """Whether its last message is an error, or its call failed."""


class Timeline(Struct, frozen=True, kw_only=True):
    """A conversation in time."""

    line: str
    started: str | None
    length: float
    turns: tuple[TurnBar, ...]
    lanes: tuple[Lane, ...]


def build_timeline(conversations: Conversations, line_id: str) -> Timeline:
    """Return the timeline of a conversation: its turns, and the agents at work."""
    conversation = conversations.by_line[line_id]
    start, responses = find_start_ms(conversation), TurnResponses(conversation)
    turns = tuple(
        _create_turn_bar(responses, turn, start) for turn in conversation.turns if turn.started
    )
    lanes = tuple(assign_lanes(_iter_lanes(conversations, conversation, start)))
    ends = [*(turn.end for turn in turns), *(lane.end for lane in lanes)]
    return Timeline(
        line=line_id,
        started=conversation.started,
        length=max(ends, default=0.0),
        turns=turns,
        lanes=lanes,
    )


def build_waterfall(
    conversations: Conversations, timeline: Timeline, number: int, directory: str | None
) -> tuple[list[Bar], dict[str, tuple[Lane, list[Bar]]]]:
    """Return the bars of a turn and those of the agents it started."""
    line = conversations.by_line[timeline.line]
    start = find_start_ms(line)
    bars = list_turn_bars(line, number, directory)
    agent_ids = {name for bar in bars for name in bar.agents}
    agents = {
        lane.line: (lane, list_turn_bars(conversations.by_line[lane.line], None, start=start))
        for lane in timeline.lanes
        if lane.line in agent_ids
    }
    return sorted(bars, key=lambda bar: bar.start), agents


def list_turn_bars(
    line: Conversation, number: int | None, directory: str | None = None, start: float | None = None
) -> list[Bar]:
    """Return the responses and calls of a turn, or of all, each response before its calls."""
    responses = TurnResponses(line)
    origin = find_start_ms(line) if start is None else start
    return [
        bar
        for turn in line.turns
        if number is None or turn.number == number
        for bar in _iter_turn_bars(responses, turn, origin, directory)
    ]


def find_start_ms(conversation: Conversation) -> float:
    """Return when a conversation began, in milliseconds since 1970."""
    stamps = [conversation.started, *(turn.started for turn in conversation.turns)]
    return min(
        (
            milliseconds
            for milliseconds in map(_to_milliseconds, stamps)
            if milliseconds is not None
        ),
        default=0.0,
    )


def _to_milliseconds(time: str | datetime | None) -> float | None:
    when = time if isinstance(time, datetime) else parse_time(time)
    return when.timestamp() * 1000 if when else None


def _create_turn_bar(responses: TurnResponses, turn: Turn, origin: float) -> TurnBar:
    bars = list(_iter_turn_bars(responses, turn, origin))
    start = (_to_milliseconds(turn.started) or origin) - origin
    end = max((_to_milliseconds(turn.ended) or origin) - origin, start)
    calls = [bar for bar in bars if bar.kind != "model"]

    def sum_time(spans: Iterable[tuple[float | None, float | None]]) -> float:
        # Clipped to the turn: a compaction writes records again with its own time.
        return sum_covered_time(
            (max(first, start), min(last, end))
            for first, last in spans
            if first is not None and last is not None
        )

    tools_ms, questions_ms = (
        sum_time((bar.start, bar.end) for bar in calls if bar.kind == kind)
        for kind in ("tool", "person")
    )
    return TurnBar(
        number=turn.number,
        words=shorten(format_prompt(turn.opener.text), LONGEST) if turn.opener else "",
        uuid=turn.opener.uuid if turn.opener else None,
        started=turn.started,
        start=start,
        end=end,
        model_ms=sum_time((bar.asked, bar.spoken) for bar in bars),
        tools_ms=max(tools_ms - (turn.asking_ms - questions_ms), 0),
        asking_ms=turn.asking_ms,
        responses=len(bars) - len(calls),
        calls=len(calls),
        failed=sum(bar.outcome not in SUCCESSFUL for bar in bars),
        agents=tuple(agent for bar in calls for agent in bar.agents),
        is_interrupted=turn.is_interrupted,
    )


def _iter_turn_bars(
    responses: TurnResponses, turn: Turn, origin: float, directory: str | None = None
) -> Iterator[Bar]:
    latest, input_times = _to_milliseconds(turn.started), dict[int, float | None]()
    for item in unfold_items(turn.items):
        if isinstance(item, UserMessage | LateResult):
            time = _to_milliseconds(item.time)
            latest = time if latest is None else max(latest, time or latest)
        elif isinstance(item, SPOKEN):
            input_times.setdefault(item.response, latest)
    for response in responses.starting_in(turn):
        start, end = map(_to_milliseconds, response.interval)
        if start is not None:
            input_time = input_times.get(response.numbers[0])
            last = _to_milliseconds(response.spoken_until) or start
            yield Bar(
                kind="model",
                name=response.response.model or "model",
                start=start - origin,
                end=(end or start) - origin,
                asked=min(start if input_time is None else input_time, start) - origin,
                spoken=max(last, start) - origin,
                outcome="failed" if response.is_error else "ok",
                uuid=next(iter(response.response.uuids), None),
                output_tokens=sum(part.tokens.output for part in response.parts),
            )
        for call in response.calls:
            start, end = map(_to_milliseconds, call.interval)
            if start is not None:
                line = format_call_line(CallView(call, directory))
                is_question = get_tool(call.name).is_answered_by_person
                yield Bar(
                    kind="person" if is_question else "tool",
                    name=line.tool,
                    words=line.subject[:LONGEST],
                    start=start - origin,
                    end=(end or start) - origin,
                    outcome=call.outcome,
                    uuid=call.uuid,
                    agents=call.agents,
                )


def _iter_lanes(
    conversations: Conversations, conversation: Conversation, origin: float
) -> Iterator[Lane]:
    launches: dict[str, tuple[int | None, Outcome]] = {
        name: (turn.number, item.outcome)
        for turn in conversation.turns
        for item in turn.items
        if isinstance(item, ToolCall)
        for name in item.agents
    }
    agents = list_descendant_agents(conversations, conversation.id)
    if conversation.id == conversations.main:
        listed = {*agents, conversation.id}
        others = [
            agent for agent in conversations.by_line.values() if agent.kind in ("agent", "service")
        ]
        agents += [agent.id for agent in others if agent.id not in listed]
    for name in agents:
        agent = conversations.by_line[name]
        start, end = map(_to_milliseconds, agent.interval)
        if start is None:
            continue
        items = agent.items()
        calls = [i for i in items if isinstance(i, ToolCall) and not i.is_intermediate]
        turn, outcome = launches.get(agent.id, (None, "ok"))
        last = agent.responses[-1] if agent.responses else None
        yield Lane(
            line=agent.id,
            words=shorten(agent.label or agent.title or agent.agent or agent.id, LONGEST),
            kind=agent.kind,
            parent=agent.parent,
            turn=turn,
            start=start - origin,
            end=max((end or origin) - origin, start - origin),
            calls=len(calls),
            failed=sum(not call.succeeded for call in calls),
            is_failed=outcome not in SUCCESSFUL or bool(last and last.is_error),
        )


def assign_lanes(lanes: Iterable[Lane]) -> Iterator[Lane]:
    """Yield agents by start time, each in the first free lane."""
    busy: list[float] = []
    for lane in sorted(lanes, key=lambda lane: (lane.start, lane.line)):
        index = next((i for i, end in enumerate(busy) if end <= lane.start), len(busy))
        busy[index : index + 1] = [lane.end]
        yield replace(lane, lane=index + 1)
