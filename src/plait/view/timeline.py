"""Conversations to bars in time: turns, the responses and calls in them, agents in lanes.

The times are those of the spans of a trace: of turns from `conversation.timing`, of responses
and calls from `conversation.spoken`.
"""

from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Literal, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from plait.conversation.model import (
    WENT_WELL,
    Answered,
    Called,
    Conversation,
    Conversations,
    Outcome,
    Told,
    Turn,
)
from plait.conversation.spoken import SpokenResponse, SpokenResponses
from plait.conversation.tools import tool_named
from plait.conversation.totals import agents_below
from plait.conversation.turns import SPOKEN
from plait.conversation.walk import opened
from plait.record.time import covered, moment
from plait.view.passages.call_view import CallView
from plait.view.passages.tools import call_line
from plait.view.text import shortened
from plait.view.words import plain_words

BarKind: TypeAlias = Literal[
    "model",  # a response, from its first block until the next begins
    "tool",
    "person",  # a question that a person answered
    "agent",
]
LONGEST = 300


class Bar(Struct, frozen=True, kw_only=True):
    """Something that took time; times are milliseconds since the timeline began."""

    kind: BarKind
    name: str
    """The model, the tool, or what an agent was sent out for."""
    words: str = ""
    start: float
    end: float
    outcome: Outcome = "ok"
    uuid: str | None = None
    agents: tuple[str, ...] = ()
    """The conversations that a call sent out."""
    output_tokens: int = 0
    asked: float | None = None
    """When what a response answers stood there: from then to its last block the model worked."""
    spoken: float | None = None
    """When the last block of a response was written."""

    @property
    def length(self) -> float:
        """How long it took."""
        return self.end - self.start


class TurnBar(Struct, frozen=True, kw_only=True):
    """A turn, and what its time went into."""

    number: int
    words: str
    uuid: str | None
    started: str | None
    start: float
    end: float
    model_ms: float = 0
    """From what its responses answer to their last blocks; side by side counts once."""
    tools_ms: float = 0
    """Without the time in which a person was asked for leave to run them."""
    asking_ms: float = 0
    """Waiting for a person, be it for leave to run a tool."""
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
    """Of the conversation that is looked at; None where no turn sent it out."""
    start: float
    end: float
    lane: int = 0
    """From 1."""
    calls: int = 0
    failed: int = 0
    is_failed: bool = False
    """Its last word is an error, or the call that sent it out failed."""


class Timeline(Struct, frozen=True, kw_only=True):
    """A conversation in time."""

    line: str
    started: str | None
    length: float
    turns: tuple[TurnBar, ...]
    lanes: tuple[Lane, ...]


def timeline_of(told: Conversations, name: str) -> Timeline:
    """Returns a conversation in time: its turns, and the agents that were at work."""
    shown = told.by_line[name]
    zero, spoken = began(shown), SpokenResponses(shown)
    turns = tuple(_turn_bar(spoken, turn, zero) for turn in shown.turns if turn.started)
    lanes = tuple(laid_out(_lanes_of(told, shown, zero)))
    ends = [*(turn.end for turn in turns), *(lane.end for lane in lanes)]
    return Timeline(
        line=name, started=shown.started, length=max(ends, default=0.0), turns=turns, lanes=lanes
    )


def waterfall(
    told: Conversations, timeline: Timeline, number: int, directory: str | None
) -> tuple[list[Bar], dict[str, tuple[Lane, list[Bar]]]]:
    """Returns what took time in a turn, and what did in the agents that it sent out."""
    line = told.by_line[timeline.line]
    zero = began(line)
    bars = bars_of(line, number, directory)
    wanted = {name for bar in bars for name in bar.agents}
    agents = {
        lane.line: (lane, _all_bars(told.by_line[lane.line], zero))
        for lane in timeline.lanes
        if lane.line in wanted
    }
    return sorted(bars, key=lambda bar: bar.start), agents


def bars_of(line: Conversation, number: int, directory: str | None = None) -> list[Bar]:
    """Returns the responses and the calls of a turn, each response before its calls."""
    zero, spoken = began(line), SpokenResponses(line)
    turns = [turn for turn in line.turns if turn.number == number]
    return [bar for turn in turns for bar in _turn_bars(spoken, turn, zero, directory)]


def _all_bars(one: Conversation, zero: float) -> list[Bar]:
    spoken = SpokenResponses(one)
    return [bar for turn in one.turns for bar in _turn_bars(spoken, turn, zero)]


def began(conversation: Conversation) -> float:
    """Returns when a conversation began, in milliseconds since 1970."""
    stamps = [conversation.started, *(turn.started for turn in conversation.turns)]
    return min((at for at in map(_milliseconds, stamps) if at is not None), default=0.0)


def _milliseconds(time: str | datetime | None) -> float | None:
    when = time if isinstance(time, datetime) else moment(time)
    return when.timestamp() * 1000 if when else None


def _turn_bar(spoken: SpokenResponses, turn: Turn, zero: float) -> TurnBar:
    bars = list(_turn_bars(spoken, turn, zero))
    start = (_milliseconds(turn.started) or zero) - zero
    end = max((_milliseconds(turn.ended) or zero) - zero, start)
    calls = [bar for bar in bars if bar.kind != "model"]
    leave = turn.asking_ms - covered(_within(start, end, _stretches(bars, "person")))
    tools = covered(_within(start, end, _stretches(bars, "tool")))
    return TurnBar(
        number=turn.number,
        words=shortened(plain_words(turn.opener.text), LONGEST) if turn.opener else "",
        uuid=turn.opener.uuid if turn.opener else None,
        started=turn.started,
        start=start,
        end=end,
        model_ms=covered(_within(start, end, ((one.asked, one.spoken) for one in bars))),
        tools_ms=max(tools - leave, 0),
        asking_ms=turn.asking_ms,
        responses=len(bars) - len(calls),
        calls=len(calls),
        failed=sum(bar.outcome not in WENT_WELL for bar in bars),
        agents=tuple(agent for bar in calls for agent in bar.agents),
        is_interrupted=turn.is_interrupted,
    )


def _stretches(bars: Iterable[Bar], kind: BarKind) -> Iterator[tuple[float, float]]:
    return ((bar.start, bar.end) for bar in bars if bar.kind == kind)


def _within(
    start: float, end: float, stretches: Iterable[tuple[float | None, float | None]]
) -> Iterator[tuple[float, float]]:
    """Yields stretches as far as they lie within a turn.

    A compaction writes records anew, with its own time: they may end after their turn.
    """
    for first, last in stretches:
        if first is not None and last is not None:
            yield max(first, start), min(last, end)


def _turn_bars(
    spoken: SpokenResponses, turn: Turn, zero: float, directory: str | None = None
) -> Iterator[Bar]:
    heard = _heard_before(turn)
    for one in spoken.of(turn):
        yield from _model_bar(one, heard.get(one.numbers[0]), zero)
        for called in one.calls:
            yield from _call_bar(called, zero, directory)


def _heard_before(turn: Turn) -> dict[int, float | None]:
    """Returns when what each response answers stood there: a prompt, or the last result."""
    heard, found = _milliseconds(turn.started), dict[int, float | None]()
    for item in opened(turn.items):
        if isinstance(item, Told | Answered):
            at = _milliseconds(item.time)
            heard = at if heard is None else max(heard, at or heard)
        elif isinstance(item, SPOKEN):
            found.setdefault(item.response, heard)
    return found


def _model_bar(one: SpokenResponse, heard: float | None, zero: float) -> Iterator[Bar]:
    start, end = map(_milliseconds, one.interval)
    if start is None:
        return
    last = _milliseconds(one.spoken_until) or start
    yield Bar(
        kind="model",
        name=one.response.model or "model",
        start=start - zero,
        end=(end or start) - zero,
        asked=min(start if heard is None else heard, start) - zero,
        spoken=max(last, start) - zero,
        outcome="failed" if one.is_error else "ok",
        uuid=next(iter(one.response.uuids), None),
        output_tokens=sum(part.tokens.output for part in one.parts),
    )


def _call_bar(called: Called, zero: float, directory: str | None) -> Iterator[Bar]:
    start, end = map(_milliseconds, called.interval)
    if start is None:
        return
    line = call_line(CallView(called, directory))
    yield Bar(
        kind="person" if tool_named(called.name).is_answered_by_person else "tool",
        name=line.tool,
        words=line.subject[:LONGEST],
        start=start - zero,
        end=(end or start) - zero,
        outcome=called.outcome,
        uuid=called.uuid,
        agents=called.agents,
    )


def _lanes_of(told: Conversations, shown: Conversation, zero: float) -> Iterator[Lane]:
    senders = {
        name: (turn.number, item.outcome)
        for turn in shown.turns
        for item in turn.items
        if isinstance(item, Called)
        for name in item.agents
    }
    below = agents_below(told, shown.id)
    if shown.id == told.main:
        known = {*below, shown.id}
        lost = [one for one in told.by_line.values() if one.kind in ("agent", "service")]
        below += [one.id for one in lost if one.id not in known]
    for name in below:
        one = told.by_line[name]
        start, end = map(_milliseconds, one.interval)
        if start is not None:
            yield _agent_lane(one, senders, start - zero, max((end or zero) - zero, start - zero))


def _agent_lane(
    one: Conversation, senders: dict[str, tuple[int, Outcome]], start: float, end: float
) -> Lane:
    calls = [item for item in one.items() if isinstance(item, Called) and not item.is_intermediate]
    turn, outcome = senders.get(one.id, (None, "ok"))
    last = one.responses[-1] if one.responses else None
    return Lane(
        line=one.id,
        words=shortened(one.label or one.title or one.agent or one.id, LONGEST),
        kind=one.kind,
        parent=one.parent,
        turn=turn,
        start=start,
        end=end,
        calls=len(calls),
        failed=sum(not call.went_well for call in calls),
        is_failed=outcome not in WENT_WELL or bool(last and last.is_error),
    )


def laid_out(lanes: Iterable[Lane]) -> Iterator[Lane]:
    """Yields agents in the order of time, each in the first lane that is free."""
    busy: list[float] = []
    for one in sorted(lanes, key=lambda lane: (lane.start, lane.line)):
        place = next((i for i, until in enumerate(busy) if until <= one.start), len(busy))
        busy[place : place + 1] = [one.end]
        yield replace(one, lane=place + 1)
