"""Conversations to passages: which there are, in which order, where agents and folds open."""

from __future__ import annotations

import json
from typing import Any, assert_never

import pytest
from msgspec.structs import replace

from plait.conversation.model import Called, Noted
from plait.view.passages.call_view import as_json
from plait.view.passages.stream import (
    AgentBegins,
    AgentElsewhere,
    AnyPassage,
    Ends,
    Entry,
    FoldBegins,
    Manner,
    Stream,
    TurnBegins,
    note_line,
)
from tests.conversation.sketched import Talk, talk

AGENTS = """
U1 "find out"
A1< Agent(description="Look", prompt="Look around") as look
R1< of look "Nothing."
A2< "Nothing is there."
agent looker of look
U11 "Look around"
A11< Agent(description="Dig", prompt="Dig deeper") as dig
R11< of dig "Nothing either."
A12< "Nothing."
agent digger of looker:dig
U21 "Dig deeper"
A21< "Nothing either."
"""
RETRACTED = """
U1 "one"
A1< "First."
U2< "fix teh"
U3<A1 "fix the"
A3< "Fixed."
"""
LATE = """
U1 "go"
A1< Bash(command="sleep 9") as slow
A2<A1~A1 think "hm"
R1<A1 of slow "slept"
A3< "Done."
"""


def stream(found: Talk, manner: Manner, *, folds: bool = True) -> Stream:
    return Stream(found.all.by_line, manner, has_closed_folds=not folds)


def picture(found: Talk, manner: Manner | None = None, *, folds: bool = True) -> str:
    """Returns the passages of the active conversation, as deep as they stand."""
    told = stream(found, manner or Manner(), folds=folds)
    passages = [one for turn in found.main.turns for one in told.turn(found.main, turn)]
    return " ".join(f"{'>' * one.level}{letters(found, one)}" for one in passages)


def letters(found: Talk, passage: AnyPassage) -> str:
    match passage:
        case TurnBegins(turn=turn):
            return f"{turn.number}:"
        case Entry():
            has_result = "+" * passage.has_result + "?" * (passage.called is not None)
            return found.names.get(passage.item.uuid or "", "fold") + has_result
        case AgentBegins(agent=agent):
            return f"({agent.label}"
        case AgentElsewhere(agent=agent, name=name):
            return f"see:{agent.label}{' in ' + name if name else ''}"
        case FoldBegins():
            return "["
        case Ends():
            return ")"
        case _:
            assert_never(passage)


def test_agents_are_told_where_they_were_sent_out() -> None:
    assert picture(talk(AGENTS)) == (
        "1: U1 A1+ (Look >1: >U11 >A11+ >(Dig >>1: >>U21 >>A21 >) >A12 ) A2"
    )


def test_a_sink_may_keep_agents_apart_or_in_files() -> None:
    found = talk(AGENTS)
    assert picture(found, Manner(agents="apart")) == "1: U1 A1+ A2"
    assert picture(found, Manner(agents="files")) == "1: U1 A1+ see:Look A2"
    names = dict.fromkeys(found.all.by_line, "a file")
    told = Stream(found.all.by_line, Manner(agents="files"), names)
    seen = [letters(found, one) for one in told.turn(found.main, found.main.turns[0])]
    assert seen == ["1:", "U1", "A1+", "see:Look in a file", "A2"]


def test_an_agent_is_told_once() -> None:
    found = talk(AGENTS)
    told = stream(found, Manner())
    (turn,) = found.main.turns
    first = [letters(found, one) for one in told.turn(found.main, turn)]
    again = [letters(found, one) for one in told.turn(found.main, turn)]
    assert "(Look" in first
    assert again == ["1:", "U1", "A1+", "see:Look", "A2"]


def test_several_agents_of_a_call_come_in_their_time_where_that_is_wanted() -> None:
    found = talk(AGENTS)
    (turn,) = found.main.turns
    names = tuple(line.id for line in reversed([*found.all.by_line.values()]) if line.agent)
    items = [replace(one, agents=names) if isinstance(one, Called) else one for one in turn.items]
    both = replace(turn, items=tuple(items))
    for is_by_time, first in ((False, "Dig"), (True, "Look")):
        told = Stream(found.all.by_line, Manner(depth="agents"), has_agents_by_time=is_by_time)
        begun = [one for one in told.turn(found.main, both) if isinstance(one, AgentBegins)]
        assert begun[0].agent.label == first
        assert begun[0].siblings == 2


def test_folds_are_open_or_one_passage() -> None:
    found = talk(RETRACTED)
    assert picture(found) == "1: U1 A1 2: U3 [ >U2 ) A3"
    assert picture(found, folds=False) == "1: U1 A1 2: U3 U2 A3"


def test_what_is_not_told_parts_no_call_from_its_result() -> None:
    found = talk(LATE)
    assert picture(found) == "1: U1 A1 A2 R1? A3"
    assert picture(found, Manner(has_thinking=False)) == "1: U1 A1+ A3"
    assert picture(found, Manner(has_tools=False)) == "1: U1 A2 A3"


def test_a_turn_of_which_nothing_is_told_is_no_passage() -> None:
    found = talk(LATE)
    (turn,) = found.main.turns
    rest = replace(turn, items=turn.items[1:])
    told = stream(found, Manner(depth="prompts"))
    assert list(told.turn(found.main, rest)) == []
    assert [letters(found, one) for one in told.turn(found.main, turn)] == ["1:", "U1"]


def test_a_turn_says_what_is_told_first() -> None:
    found = talk(LATE)
    (turn,) = found.main.turns
    (begun, *_) = stream(found, Manner()).turn(found.main, turn)
    assert isinstance(begun, TurnBegins)
    assert begun.first == turn.opener


def test_agents_that_no_call_names_stand_at_the_end() -> None:
    found = talk(AGENTS)
    for manner, expected in (
        (Manner(), ["(Look", "1:", "U11"]),
        (Manner(depth="answers"), []),
        (Manner(has_tools=False), []),
    ):
        told = stream(found, manner)
        (name,) = (one.id for one in found.all.by_line.values() if one.label == "Look")
        passages = list(told.unnamed(found.main, [name]))
        assert [letters(found, one) for one in passages][:3] == expected
        assert not any(one.is_called for one in passages[:1] if isinstance(one, AgentBegins))


@pytest.mark.parametrize(
    ("value", "times", "words"),
    [
        ({}, 1, "API error"),
        ({"retryAttempt": 2, "maxRetries": 10}, 1, "API error, retry 2 of 10"),
        ({"retryAttempt": 2}, 1, "API error, retry 2"),
        ({"retryAttempt": 2, "maxRetries": 10}, 3, "API error, 3 times"),
        ({"error": {"status": 529}, "retryAttempt": 1}, 1, "API error 529, retry 1"),
    ],
)
def test_a_retry_says_which_it_is(value: dict[str, Any], times: int, words: str) -> None:
    assert note_line(Noted(kind="system", subtype="api_error", value=value), times) == words


def test_only_a_lone_surrogate_is_escaped() -> None:
    value = {"one": "\ud800 and é", "two": "naïve 日本", "three": "x" * 100}
    assert "\\ud800 and é" in as_json(value)
    assert "naïve 日本" in as_json(value)
    assert json.loads(as_json(value)) == value
