"""Pairing calls and results in every arrangement."""

import json
from collections.abc import Sequence
from textwrap import dedent

import pytest

from plait.conversation.model import AssistantText, AssistantThinking, Item, LateResult, ToolCall
from plait.conversation.results import iter_story
from tests.conversation.sketched import Talk, talk

LATE = """
U1 "go"
A1< Bash(command="sleep 9") as slow
A2<A1~A1 "Meanwhile, a word."
R1<A1 of slow
A3< "Done."
"""
SAME = '{"type": "tool_use", "id": "$(call a)", "name": "Bash", "input": {"command": "b"}}'
TWO = """
U1 "go"
A1< Bash(command="a") as a
A2<A1~A1 Bash(command="b") as b
R2<A2 of b
R1<A1 of a
A3< "Done."
"""


def told(found: Talk, items: Sequence[Item] | None = None) -> list[str]:
    """Return the story in letters; a call that is read with its result has a plus."""
    chosen = list(found.main.items()) if items is None else items
    return [
        found.names.get(placed.item.uuid or "", "·") + ("+" if placed.has_result else "")
        for placed in iter_story(chosen)
    ]


def test_parallel_calls_get_their_own_results() -> None:
    # checklist: F6, F32, F34, D65, P16
    found = talk(TWO)
    assert "A1=Bash:ok(R1) A2=Bash:ok(R2)" in found.picture
    assert told(found) == ["U1", "A1+", "A2+", "A3"]


def test_late_result_keeps_its_place() -> None:
    # checklist: D64
    assert told(talk(LATE)) == ["U1", "A1", "A2", "R1", "A3"]


def test_with_hidden_text_call_and_result_are_together() -> None:
    # checklist: D66
    found = talk(LATE)
    seen = [item for item in found.main.items() if not isinstance(item, AssistantText)]
    assert told(found, seen) == ["U1", "A1+"]


@pytest.mark.parametrize("between", ['" "', 'think ""'])
def test_blank_text_separates_nothing(between: str) -> None:
    # checklist: D65
    assert told(talk(LATE.replace('"Meanwhile, a word."', between)))[1] == "A1+"


def test_thinking_separates_like_text() -> None:
    found = talk(LATE.replace('"Meanwhile, a word."', 'think "hm"'))
    assert told(found) == ["U1", "A1", "A2", "R1", "A3"]
    seen = [item for item in found.main.items() if not isinstance(item, AssistantThinking)]
    assert told(found, seen) == ["U1", "A1+", "A3"]


def test_a_missing_result_is_marked() -> None:
    # checklist: F35, F6
    found = talk("U1 T1< U2< A2<")
    (call,) = (item for item in found.main.items() if isinstance(item, ToolCall))
    assert (call.outcome, call.result, call.answered_by) == ("missing", None, None)


def test_result_without_a_call_is_an_orphan() -> None:
    # checklist: F35
    found = talk('U1 "go"\nA1< Bash(command="a") as a\nR1< of a\nA2< "ok"')
    answers = [item for item in found.main.items() if isinstance(item, LateResult)]
    assert [item.origin for item in answers] == ["own"]
    stray = {"type": "tool_result", "tool_use_id": "toolu_nowhere", "content": "words"}
    content = json.dumps({"message": {"role": "user", "content": [stray]}})
    lost = talk(f'U1 "go"\nA1< "ok"\nU2< "" {content}\nA2< "ok"')
    (answer,) = (item for item in lost.main.items() if isinstance(item, LateResult))
    assert answer.origin == "orphan"
    assert told(lost) == ["U1", "A1", "U2", "A2"]


def test_second_result_is_a_repeat() -> None:
    found = talk('U1 "go"\nA1< Bash(command="a") as a\nR1< of a "one"\nR2< of a "two"\nA2< "ok"')
    call = next(item for item in found.main.items() if isinstance(item, ToolCall))
    assert call.result is not None
    assert call.result.text == "one"
    assert "R1=own R2=repeat" in found.picture
    assert told(found) == ["U1", "A1+", "R2", "A2"]


def test_a_result_on_another_branch_is_with_its_call() -> None:
    found = talk(
        dedent("""\
            U1 "go"
            A1< "ok"
            U2< "left"
            A2< Bash(command="a") as a
            A3< "on the left"
            U3<A1 "right"
            A4< "hm"
            R1< of a "stray"
            A5< "ok"
        """)
    )
    assert "U2=prompt A2=Bash:ok(R1) A3=said R1=own A5=said" in found.picture


def test_a_result_whose_call_is_in_another_conversation_is_foreign() -> None:
    # checklist: D42
    stray = {"type": "tool_result", "tool_use_id": "toolu_read", "content": "words"}
    content = json.dumps({"message": {"role": "user", "content": [stray]}})
    use = {"type": "tool_use", "id": "toolu_read", "name": "Read", "input": {}}
    call = json.dumps({"message": {"role": "assistant", "id": "m9", "content": [use]}})
    found = talk(
        dedent(f"""\
            U1 "go"
            A1< Task(prompt="Read it", description="Read") as sent
            R1< of sent "done"
            U2< "" {content}
            A2< "ok"
            agent reader of sent
            U9 "Read it"
            A9< "" {call}
        """)
    )
    assert "U2=foreign" in found.picture


def test_repeated_call_id_pairs_each_call() -> None:
    found = talk(
        dedent("""\
        U1 "go"
        A1< Bash(command="a") as a
        R1< of a "one"
        U2< "again"
        A2< "x" {"message": {"role": "assistant", "id": "msg_2", "content": [$CALL]}}
        R2< of a "two" {"sourceToolAssistantUUID": "$(uuid A2)"}
        A3< "ok"
    """).replace("$CALL", SAME)
    )
    calls = [item for item in found.main.items() if isinstance(item, ToolCall)]
    assert [call.result.text if call.result else None for call in calls] == ["one", "two"]
