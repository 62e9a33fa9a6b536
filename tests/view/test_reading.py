"""Conversations as passages: content, order and depth."""

from __future__ import annotations

from datetime import datetime

import msgspec
import pytest
from msgspec.structs import replace

from plait.conversation.costs import SessionCosts
from plait.conversation.model import Conversation, Conversations, ToolCall, Turn, UserMessage
from plait.conversation.usage import Tokens
from plait.conversation.walk import Depth
from plait.view.calls import CallLine
from plait.view.terminal import (
    AnyBlock,
    BranchBlock,
    CompactionBlock,
    DiffBlock,
    OutputBlock,
    QuestionBlock,
    RemarkBlock,
    SpeechBlock,
    TerminalRenderer,
    TodoBlock,
    TurnHeaderBlock,
)
from tests.conversation.sketched import Talk, talk


class TenDollars:
    """Prices at which every response costs the same."""

    def cost(self, model: str | None, tokens: Tokens, when: datetime | None) -> float | None:
        """Return ten dollars."""
        return 10.0


def reading(found: Talk, depth: Depth = "tools", *, thinking: bool = False) -> TerminalRenderer:
    """Return a reading of drawn conversations."""
    return TerminalRenderer(found.all, SessionCosts(found.all, TenDollars()), depth, thinking)


def picture(found: Talk, depth: Depth = "tools", *, thinking: bool = False) -> list[str]:
    """Return what is read of the active conversation, a line a passage."""
    shown = reading(found, depth, thinking=thinking).iter_blocks(found.main)
    return ["  " * passage.level + describe(passage) for passage in shown]


def describe(passage: AnyBlock) -> str:
    """Return a passage in a few words."""
    match passage:
        case TurnHeaderBlock():
            return f"— {passage.number}"
        case SpeechBlock():
            return f"{passage.voice}: {passage.text or passage.note}"
        case CallLine():
            late = "late " * passage.is_late
            return f"{late}{passage.tool} {passage.subject} → {passage.result}"
        case OutputBlock():
            return f"| {' / '.join(passage.lines)}"
        case CompactionBlock():
            return f"{passage.text}: {', '.join(passage.details)}"
        case BranchBlock():
            left = passage.left
            return f"leaves: {left.label}, {'active' if left.is_active else 'abandoned'}"
        case RemarkBlock():
            return passage.text
        case DiffBlock() | TodoBlock() | QuestionBlock():
            return type(passage).__name__


LATE = """
U1 "go"
A1< Bash(command="sleep 9") as slow
A2<A1~A1 "Meanwhile, a word."
R1<A1 of slow "slept"
A3< "Done."
"""


def test_late_result_is_shown_where_it_arrived() -> None:
    # checklist: D64
    assert picture(talk(LATE)) == [
        "— 1",
        "prompt: go",
        "Bash sleep 9 → result below",
        "answer: Meanwhile, a word.",
        "late Bash sleep 9 → 1 line",
        "| slept",
        "answer: Done.",
    ]


def test_late_result_directly_after_its_call_is_shown_with_it() -> None:
    # checklist: D66
    thought = LATE.replace('"Meanwhile, a word."', 'think "hm"')
    assert picture(talk(thought)) == [
        "— 1",
        "prompt: go",
        "Bash sleep 9 → 1 line",
        "| slept",
        "answer: Done.",
    ]
    assert picture(talk(thought), thinking=True)[3:5] == [
        "thinking: hm",
        "late Bash sleep 9 → 1 line",
    ]


AGENTS = """
U1 "find out"
A1< Agent(description="Look", prompt="Look around") as look
R1< of look "Nothing."
A2< "Nothing is there."
agent looker of look
U11 "Look around"
A11< Grep(pattern="x") as grep + Agent(description="Dig", prompt="Dig deeper") as dig
R11< of grep "nothing"
R12< of dig "Nothing either."
A12< "Nothing."
agent digger of looker:dig
U21 "Dig deeper"
A21< "Nothing either."
"""


def test_agents_are_shown_at_their_call() -> None:
    found = talk(AGENTS)
    assert picture(found) == [
        "— 1",
        "prompt: find out",
        "Agent “Look” → 2 calls, 29k tokens, $20.00",
        "  task: Look around",
        "  Grep “x” → 2 lines",
        "  Agent “Dig” → 0 calls, 14k tokens, $10.00",
        "    task: Dig deeper",
        "    answer: Nothing either.",
        "  answer: Nothing.",
        "answer: Nothing is there.",
    ]
    assert [line for line in picture(found, "agents") if "Grep" in line] == []
    assert picture(found, "answers") == ["— 1", "prompt: find out", "answer: Nothing is there."]


def test_turn_cost_includes_its_agents() -> None:
    found = talk(AGENTS)
    (head,) = (p for p in reading(found).iter_blocks(found.main) if isinstance(p, TurnHeaderBlock))
    assert (head.spent.cost, head.spent.calls, head.spent.is_partly_priced) == (50.0, 1, False)


def test_response_continuing_after_a_prompt_is_priced_once() -> None:
    found = talk('U1 "one"\nA1< "a"\nU2< "two"\nA2<~A1 "b"\nA3< "c"')
    heads = [p for p in reading(found).iter_blocks(found.main) if isinstance(p, TurnHeaderBlock)]
    assert [head.spent.cost for head in heads] == [10.0, 10.0]


def test_agent_without_a_log_has_its_answer_in_the_result() -> None:
    found = talk(AGENTS[: AGENTS.index("agent looker")])
    assert picture(found)[2:4] == ["Agent “Look” → 3 calls, 34k tokens", "  answer: Nothing."]


def test_items_match_what_is_shown() -> None:
    found = talk(AGENTS)
    names = [found.names[item.uuid or ""] for item in reading(found).iter_items(found.main)]
    assert " ".join(names) == "U1 A1 U11 A11.1 A11 U21 A21 R11 R12 A12 R1 A2"
    names = [
        found.names[item.uuid or ""] for item in reading(found, "prompts").iter_items(found.main)
    ]
    assert names == ["U1"]


def test_branch_marks_are_where_they_happened() -> None:
    found = talk(
        """
U1 "one"
A1< "First."
U2< "left"
A2< "Left."
U3<A1 "two"
A3< "Second."
B1 boundary after A3 trigger=auto
C1< "The story so far"
U4< "three"
A4< "Third."
U5< "fix teh"
U6<A4 "fix the"
A6< "Fixed."
"""
    )
    assert picture(found, "prompts") == [
        "— 1",
        "prompt: one",
        "leaves: left, abandoned",
        "— 2",
        "prompt: two",
        "Conversation compacted (14k tokens): automatically, 3k tokens left, took 42 s, "
        "summary of 3 lines",
        "— 3",
        "prompt: three",
        "— 4",
        "prompt: fix the",
        "◌ retracted: “fix teh”",
    ]
    assert "  prompt: fix teh" in picture(found, "all")


def test_consecutive_errors_are_shown_once() -> None:
    found = talk(
        """
U1 "go"
S1< api_error {"error": {"status": 529, "error": {"error": {"message": "Overloaded"}}}}
S2< api_error {"error": {"status": 529, "error": {"error": {"message": "Overloaded"}}}}
E1< "API Error: 529"
"""
    )
    assert picture(found)[2:] == ["API error 529: Overloaded, 2 times", "error: API Error: 529"]


def test_turn_with_a_hidden_opener_says_what_it_was() -> None:
    found = talk('M1 "Go on from where you were."\nA1< "Going on."')
    assert picture(found) == ["— 1", "meta: Go on from where you were.", "answer: Going on."]


HOOK = """{"attachment": {"type": "hook_non_blocking_error", "hookName": "Stop", "exitCode": 7,
"hookEvent": "Stop", "stderr": "no such file", "stdout": "half", "command": "curl x"}}"""


def test_hook_output_is_shown_with_its_kind_once() -> None:
    found = talk(f'U1 "go"\nX1< attachment {" ".join(HOOK.split())}\nA1< "a"')
    assert picture(found, "all")[2:4] == [
        "attachment hook_non_blocking_error  Stop, exit 7",
        "| stderr: no such file / stdout: half / command: curl x",
    ]


def test_carriage_return_in_text_is_a_new_line() -> None:
    found = talk('U1 "RETURN"\nA1< think "RETURN" + "RETURN"')
    main = found.main
    turns = msgspec.json.encode(main.turns).replace(b"RETURN", rb"one\rtwo")
    decoded = replace(main, turns=msgspec.json.decode(turns, type=tuple[Turn, ...]))
    shown = [describe(block) for block in reading(found, thinking=True).iter_blocks(decoded)]
    assert shown[1:] == ["prompt: one\ntwo", "thinking: one\ntwo", "answer: one\ntwo"]


STRAY = '{"message": {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "x"}]}}'


def test_missing_and_stray_results_are_mentioned() -> None:
    found = talk('U1 "go"\nT1< Bash(command="x")\nU2< "well?"\nA2< "Sorry."')
    assert "Bash x → no result in the log" in picture(found)
    stray = talk(f'U1 "go"\nX1< user {STRAY}\nA2< "b"')
    assert "late result  → result of a call missing from the log" in picture(stray)


def test_unrecorded_thinking_is_mentioned() -> None:
    found = talk('U1 "go"\nA1< think "" + "Done."')
    assert picture(found, thinking=True)[2] == "thinking: thinking not recorded"


@pytest.mark.parametrize("depth", ["tools", "all"])
def test_agents_may_be_nested_deeply(depth: Depth) -> None:
    deep = 3000

    def agent(number: int) -> Conversation:
        prompt = UserMessage(kind="prompt", text=f"{number}")
        sent = (f"s#agent-{number + 1}",) if number < deep else ()
        call = ToolCall(response=0, call=f"c{number}", name="Agent", agents=sent)
        turn = Turn(1, prompt, (prompt, call), (), None, None)
        name = f"s#agent-{number}" if number else "s"
        return Conversation(name, "agent", "s", "", None, (turn,), (), ())

    by_line = {entry.id: entry for entry in map(agent, range(deep + 1))}
    found = Conversations("s", "s", by_line)
    shown = TerminalRenderer(found, SessionCosts(found), depth).iter_blocks(found.active)
    assert max(passage.level for passage in shown) == deep


def test_repeated_items_are_shown_once() -> None:
    found = talk(AGENTS)
    main = found.main
    (turn,) = main.turns
    doubled = replace(main, turns=(replace(turn, items=(*turn.items, *turn.items)),))
    shown = [describe(block) for block in reading(found).iter_blocks(doubled)]
    assert shown.count("task: Look around") == 1
    assert "its conversation is shown above" in shown
