"""Conversations as passages: which, in which order, where agents and folds open."""

from __future__ import annotations

import json
from typing import Any, assert_never

import pytest
from msgspec.structs import replace

from plait.conversation.model import ClientNote, ToolCall
from plait.view.calls import dump_json
from plait.view.passages import (
    AgentReference,
    AgentStart,
    AnyPassage,
    FoldStart,
    ItemPassage,
    PassageStream,
    RenderOptions,
    SectionEnd,
    TurnStart,
    format_note,
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


def stream(found: Talk, manner: RenderOptions, *, folds: bool = True) -> PassageStream:
    return PassageStream(found.all.by_line, manner, has_closed_folds=not folds)


def picture(found: Talk, manner: RenderOptions | None = None, *, folds: bool = True) -> str:
    """Return the passages of the active conversation, as deep as they stand."""
    result = stream(found, manner or RenderOptions(), folds=folds)
    passages = [item for turn in found.main.turns for item in result.iter_turn(found.main, turn)]
    return " ".join(f"{'>' * item.level}{letters(found, item)}" for item in passages)


def letters(found: Talk, passage: AnyPassage) -> str:
    match passage:
        case TurnStart(turn=turn):
            return f"{turn.number}:"
        case ItemPassage():
            has_result = "+" * passage.has_result + "?" * (passage.called is not None)
            return found.names.get(passage.item.uuid or "", "fold") + has_result
        case AgentStart(agent=agent):
            return f"({agent.label}"
        case AgentReference(agent=agent, name=name):
            return f"see:{agent.label}{' in ' + name if name else ''}"
        case FoldStart():
            return "["
        case SectionEnd():
            return ")"
        case _:
            assert_never(passage)


def test_agents_are_inserted_at_their_call() -> None:
    assert picture(talk(AGENTS)) == (
        "1: U1 A1+ (Look >1: >U11 >A11+ >(Dig >>1: >>U21 >>A21 >) >A12 ) A2"
    )


def test_writer_may_put_agents_apart_or_in_files() -> None:
    found = talk(AGENTS)
    assert picture(found, RenderOptions(agents="apart")) == "1: U1 A1+ A2"
    assert picture(found, RenderOptions(agents="files")) == "1: U1 A1+ see:Look A2"
    names = dict.fromkeys(found.all.by_line, "a file")
    result = PassageStream(found.all.by_line, RenderOptions(agents="files"), names)
    seen = [letters(found, item) for item in result.iter_turn(found.main, found.main.turns[0])]
    assert seen == ["1:", "U1", "A1+", "see:Look in a file", "A2"]


def test_agent_appears_once() -> None:
    found = talk(AGENTS)
    result = stream(found, RenderOptions())
    (turn,) = found.main.turns
    first = [letters(found, item) for item in result.iter_turn(found.main, turn)]
    again = [letters(found, item) for item in result.iter_turn(found.main, turn)]
    assert "(Look" in first
    assert again == ["1:", "U1", "A1+", "see:Look", "A2"]


def test_agents_of_a_call_can_be_ordered_by_time() -> None:
    found = talk(AGENTS)
    (turn,) = found.main.turns
    names = tuple(line.id for line in reversed([*found.all.by_line.values()]) if line.agent)
    items = [
        replace(item, agents=names) if isinstance(item, ToolCall) else item for item in turn.items
    ]
    both = replace(turn, items=tuple(items))
    for is_by_time, first in ((False, "Dig"), (True, "Look")):
        result = PassageStream(
            found.all.by_line, RenderOptions(depth="agents"), has_agents_by_time=is_by_time
        )
        begun = [
            item for item in result.iter_turn(found.main, both) if isinstance(item, AgentStart)
        ]
        assert begun[0].agent.label == first
        assert begun[0].siblings == 2


def test_folds_are_open_or_one_passage() -> None:
    found = talk(RETRACTED)
    assert picture(found) == "1: U1 A1 2: U3 [ >U2 ) A3"
    assert picture(found, folds=False) == "1: U1 A1 2: U3 U2 A3"


def test_hidden_items_do_not_separate_a_call_from_its_result() -> None:
    found = talk(LATE)
    assert picture(found) == "1: U1 A1 A2 R1? A3"
    assert picture(found, RenderOptions(has_thinking=False)) == "1: U1 A1+ A3"
    assert picture(found, RenderOptions(has_tools=False)) == "1: U1 A2 A3"


def test_empty_turn_is_no_passage() -> None:
    found = talk(LATE)
    (turn,) = found.main.turns
    rest = replace(turn, items=turn.items[1:])
    result = stream(found, RenderOptions(depth="prompts"))
    assert list(result.iter_turn(found.main, rest)) == []
    assert [letters(found, item) for item in result.iter_turn(found.main, turn)] == ["1:", "U1"]


def test_turn_names_its_first_visible_item() -> None:
    found = talk(LATE)
    (turn,) = found.main.turns
    (begun, *_) = stream(found, RenderOptions()).iter_turn(found.main, turn)
    assert isinstance(begun, TurnStart)
    assert begun.first == turn.opener


def test_agents_without_a_call_are_at_the_end() -> None:
    found = talk(AGENTS)
    for manner, expected in (
        (RenderOptions(), ["(Look", "1:", "U11"]),
        (RenderOptions(depth="answers"), []),
        (RenderOptions(has_tools=False), []),
    ):
        result = stream(found, manner)
        (name,) = (item.id for item in found.all.by_line.values() if item.label == "Look")
        passages = list(result.iter_unnamed_agents(found.main, [name]))
        assert [letters(found, item) for item in passages][:3] == expected
        assert not any(item.is_called for item in passages[:1] if isinstance(item, AgentStart))


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
def test_retry_has_a_number(value: dict[str, Any], times: int, words: str) -> None:
    assert format_note(ClientNote(kind="system", subtype="api_error", value=value), times) == words


def test_only_a_lone_surrogate_is_escaped() -> None:
    value = {"one": "\ud800 and é", "two": "naïve 日本", "three": "x" * 100}
    assert "\\ud800 and é" in dump_json(value)
    assert "naïve 日本" in dump_json(value)
    assert json.loads(dump_json(value)) == value
