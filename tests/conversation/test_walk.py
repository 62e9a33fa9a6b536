"""Depths: what each shows, and how calls and results separate and join."""

from __future__ import annotations

import pytest

from plait.conversation.model import Item
from plait.conversation.results import iter_story
from plait.conversation.walk import DEPTHS, Depth, filter_visible
from tests.conversation.sketched import Talk, talk

EVERYTHING = """
U1 "look into it"
H1< hook_success
A1< think "hm" + "I will look." + Grep(pattern="x") as grep + Agent(prompt="p") as ask
R1< of grep
R2< of ask "Nobody."
A2< "Done."
M1< "a reminder of the client"
U2<A2 "fix teh bug"
U3<A2 "fix the bug"
Q1< "and be quick"
T3< Bash(command="true")
R3< "ok"
I1< interruption
"""
LATE = """
U1 "go"
A1< Bash(command="sleep 9") as slow
A2<A1~A1 {between}
R1<A1 of slow "slept"
A3< "Done."
"""

AGENT = """
U1 "go"
A1< Agent(description="ask", prompt="p") as ask
R1< of ask @+60s "Nobody."
A2< "Done."
agent asked of ask
U11 "p"
A11< "I am thinking aloud."
"""


def read_at(found: Talk, depth: Depth, *, thinking: bool = False) -> str:
    """Return the story at a depth in letters; a call that has its result beside it, a plus."""
    items: list[Item] = filter_visible(found.main.items(), depth, thinking=thinking)
    return " ".join(
        found.item(placed.item).replace("(", ":").split(":")[0] + "+" * placed.has_result
        for placed in iter_story(items)
    )


PICTURES: list[tuple[Depth, str]] = [
    ("prompts", "U1=prompt U3=prompt [retracted Q1=queued"),
    (
        "answers",
        "U1=prompt A1.2=said A2=said U3=prompt [retracted Q1=queued I1=interruption",
    ),
    (
        "agents",
        "U1=prompt A1.2=said A1=Agent+ A2=said U3=prompt [retracted Q1=queued I1=interruption",
    ),
    (
        "tools",
        "U1=prompt A1.2=said A1.3=Grep+ A1=Agent+ A2=said U3=prompt "
        "[retracted Q1=queued T3=Bash+ I1=interruption",
    ),
    (
        "all",
        "U1=prompt H1=hook_success A1.1=thought A1.2=said A1.3=Grep+ A1=Agent+ A2=said M1=meta "
        "U3=prompt [retracted Q1=queued T3=Bash+ I1=interruption",
    ),
]


@pytest.mark.parametrize(("depth", "picture"), PICTURES)
def test_each_depth_shows_more_than_the_one_before(depth: Depth, picture: str) -> None:
    assert read_at(talk(EVERYTHING), depth) == picture


def test_every_depth_has_a_picture() -> None:
    assert tuple(depth for depth, _ in PICTURES) == DEPTHS


@pytest.mark.parametrize("depth", ["answers", "agents", "tools"])
def test_thinking_on_request(depth: Depth) -> None:
    found = talk(EVERYTHING)
    assert "A1.1=thought" not in read_at(found, depth)
    assert "A1.1=thought A1.2=said" in read_at(found, depth, thinking=True)


def test_depth_prompts_has_no_thinking() -> None:
    assert "thought" not in read_at(talk(EVERYTHING), "prompts", thinking=True)


def test_late_result_keeps_its_place() -> None:
    # checklist: D64
    found = talk(LATE.format(between='"Meanwhile, a word."'))
    assert read_at(found, "tools") == "U1=prompt A1=Bash A2=said R1=own A3=said"
    assert read_at(found, "all") == "U1=prompt A1=Bash A2=said R1=own A3=said"


@pytest.mark.parametrize("between", ['" "', 'think ""', 'Read(file_path="/a") as other'])
def test_blank_text_and_other_calls_separate_nothing(between: str) -> None:
    # checklist: D65
    assert "A1=Bash+" in read_at(talk(LATE.format(between=between)), "all")


def test_running_agent_separates_nothing() -> None:
    # checklist: D65
    found = talk(AGENT)
    assert read_at(found, "tools") == "U1=prompt A1=Agent+ A2=said"


def test_pair_joins_if_the_thinking_between_is_hidden() -> None:
    # checklist: D66
    found = talk(LATE.format(between='think "hm"'))
    assert read_at(found, "tools", thinking=True) == "U1=prompt A1=Bash A2=thought R1=own A3=said"
    assert read_at(found, "tools") == "U1=prompt A1=Bash+ A3=said"


def test_incrementally_written_blocks_are_shown_once() -> None:
    found = talk('U1 "go"\nA1< "One wo"\nA2<A1~A1 "One word."')
    assert read_at(found, "answers") == "U1=prompt A2=said"
    assert read_at(found, "all") == "U1=prompt A1=said? A2=said"


HOOKED = """\
U1 "go"
M1< "Stop hook feedback:\\nnot yet"
M2< "PostToolUse hook success: fine"
U2< "Operation stopped by hook: not on a Friday"
S1< informational {"content": "UserPromptSubmit operation blocked by hook:\\nno"}
S2< informational {"content": "all is well"}
S3< api_error
S4< turn_duration
A1< "ok"
"""


@pytest.mark.parametrize(
    ("depth", "picture"),
    [
        ("prompts", "U1=prompt"),
        ("answers", "U1=prompt M1=hook U2=hook S1=hook A1=said"),
        ("tools", "U1=prompt M1=hook U2=hook S1=hook S3=api_error A1=said"),
    ],
)
def test_hook_objections_and_retries_are_shown(depth: Depth, picture: str) -> None:
    assert read_at(talk(HOOKED), depth) == picture
