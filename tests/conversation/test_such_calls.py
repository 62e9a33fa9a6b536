"""Filtering turns by tool or outcome of their calls."""

from pathlib import Path
from textwrap import dedent
from typing import get_args

import pytest

from plait import Archive
from plait.conversation.model import LateResult, NotableOutcome, ToolCall, Turn, UserMessage
from plait.conversation.walk import filter_turns_by_call, iter_calls
from tests.conversation.sketched import talk

TALK = """
    U1 "test"
    T1< Bash(command="pytest") as one
    T2< Read(file_path="/x") as two
    R1< of one error "Exit code 1"
    R2< of two error "File does not exist."
    A1< "Two fail."
    U2< "fine"
    T3< Bash(command="true")
    R3< "ok"
    U4< "[Request interrupted by user]"
    U5< "plan"
    T4< ExitPlanMode(plan="p")
    R4< error "The user doesn't want to proceed with this tool use"
"""


def shown(turns: tuple[Turn, ...]) -> list[str]:
    """Return what stands in turns, in letters."""
    return [" ".join([str(turn.number), *map(letter, turn.items)]) for turn in turns]


def letter(item: object) -> str:
    match item:
        case ToolCall(name=name) | LateResult(name=name):
            return f"{type(item).__name__[0]}:{name}"
        case UserMessage(text=text):
            return text
        case _:
            return "?"


@pytest.mark.parametrize(
    ("outcome", "tool", "expected"),
    [
        ("failed", None, ["1 test T:Bash T:Read L:Bash L:Read"]),
        ("failed", "bash", ["1 test T:Bash L:Bash"]),
        ("failed", "Read, Bash", ["1 test T:Bash T:Read L:Bash L:Read"]),
        (None, "Bash", ["1 test T:Bash L:Bash", "2 fine T:Bash L:Bash"]),
        ("rejected", None, ["3 plan T:ExitPlanMode L:ExitPlanMode"]),
        ("interrupted", None, ["2 fine [Request interrupted by user]"]),
        ("interrupted", "Bash", []),
        ("launched", None, []),
        (None, "Ba", []),
    ],
)
def test_only_matching_calls_with_their_prompts(
    outcome: NotableOutcome | None, tool: str | None, expected: list[str]
) -> None:
    assert shown(filter_turns_by_call(talk(dedent(TALK)).main.turns, outcome, tool)) == expected


def test_every_call_of_an_outcome_appears_once() -> None:
    gallery = Path(__file__).parents[2] / "examples" / "gallery"
    archive = Archive([gallery])
    for session in archive.sessions:
        for conversation in archive.conversations(session).by_line.values():
            for outcome in get_args(NotableOutcome):
                turns = filter_turns_by_call(conversation.turns, outcome)
                found = [one for turn in turns for one in turn.items if isinstance(one, ToolCall)]
                every = [one for _, one in iter_calls(conversation) if one.outcome == outcome]
                assert found == every
