"""Events to what stands on the screen, as pictures."""

import asyncio
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from plait.agent.events import (
    Answered,
    Called,
    Compacted,
    Event,
    Noticed,
    Progressed,
    Prompted,
    Resulted,
    Retried,
    Said,
    Thought,
    TurnEnded,
)
from plait.agent.tools.model import Outcome, Proposal
from plait.cli.chat.drawing import Drawing
from plait.cli.chat.keyboard import PlainKeyboard
from plait.cli.chat.screen import Screen
from plait.cli.output import Output
from plait.cli.settings import load_settings

HERE = "/home/me/app"


def answered(model: str = "claude-opus-5-5", *content: Any) -> Answered:
    return Answered("msg_1", "req_1", model, content, "end_turn", {"input_tokens": 5})


def ended(ending: str = "done", text: str = "", **more: object) -> TurnEnded:
    figures = {"duration_ms": 2400, "responses": 2, "usage": {"input_tokens": 1500}, "cost": 0.02}
    return TurnEnded(ending, text, **{**figures, **more})  # type: ignore[arg-type]


def bash(call: str, command: str) -> Called:
    return Called(call, Proposal("Bash", {"command": command}, "execute", command))


def drawn(capsys: pytest.CaptureFixture[str], *events: Event, echoes: bool = True) -> str:
    ticks = count(step=1.5)
    drawing = Drawing(HERE, echoes, clock=lambda: next(ticks))
    screen = Screen(Output(load_settings(environment={"HOME": "/h"})), drawing, PlainKeyboard())

    async def show() -> None:
        for event in events:
            await screen.show(event)

    asyncio.run(show())
    return capsys.readouterr().out


def test_a_turn(capsys: pytest.CaptureFixture[str]) -> None:
    patch = {
        "filePath": f"{HERE}/a.py",
        "structuredPatch": [
            {
                "oldStart": 1,
                "oldLines": 1,
                "newStart": 1,
                "newLines": 1,
                "lines": ["-a = 1", "+a = 2"],
            }
        ],
    }
    edit = Proposal("Edit", {"file_path": f"{HERE}/a.py"}, "write", f"{HERE}/a.py")
    assert (
        drawn(
            capsys,
            Prompted("u1", "Make it 2."),
            Thought("Hm."),
            Said("I look"),
            Said(" first.\n\nThen I ch"),
            Said("ange it."),
            answered(),
            bash("t1", "cat a.py\nls"),
            Called("t2", edit),
            Progressed("t1", {"output": "a = 1"}),
            Resulted("t2", "Edit", Outcome("Changed.", patch)),
            Resulted("t1", "Bash", Outcome("\n".join("123456789"), {"stdout": "x", "stderr": ""})),
            Said("Done."),
            answered(),
            ended(),
        )
        == PICTURE
    )


PICTURE = """\
▌ Make it 2.

I look first.

Then I change it.

● Edit  a.py  → +1 −1                                                                            2 s
    1 - a = 1
    1 + a = 2
● Bash  cat a.py …  → 1 line                                                                     4 s
    x

Done.

2 s · 2 responses · 1.5k tokens · $0.02
"""


def test_output_is_folded_and_failure_told(capsys: pytest.CaptureFixture[str]) -> None:
    long = "\n".join(f"line {number}" for number in range(1, 101))
    detail = {"stdout": long, "stderr": "", "interrupted": False}
    assert (
        drawn(
            capsys,
            bash("t1", "seq 100"),
            Resulted("t1", "Bash", Outcome(long, detail)),
            bash("t2", "make"),
            Resulted("t2", "Bash", Outcome("Exit code 2\nno rule", "Error: x", is_error=True)),
            answered("opus", {"type": "tool_use", "id": "t3", "input": {"command": "rm -r ."}}),
            Resulted("t3", "Bash", Outcome("no", "no", is_error=True), is_denied=True),
        )
        == FOLDED
    )


FOLDED = """\
● Bash  seq 100  → 100 lines                                                                     2 s
    line 1
    line 2
    … 96 more lines (761 B)
    line 99
    line 100
✗ Bash  make  → exit 2                                                                           2 s
    no rule
⊘ Bash  rm -r .  → rejected
"""


def test_what_else_happens(capsys: pytest.CaptureFixture[str]) -> None:
    error = {"type": "text", "text": "API Error: 529 busy"}
    assert (
        drawn(
            capsys,
            Said("half a wo"),
            Retried("529 busy", 1, 10, 2.4),
            Compacted("auto", 167_503, "sum"),
            Noticed("the disk is full", is_error=True),
            answered("<synthetic>", error),
            ended("failed", responses=1, usage={}, cost=None),
        )
        == REMARKS
    )


REMARKS = """\
half a wo

529 busy: trying again in 2 s, 1 of 10

📦 compacted by itself: a summary stands for what was said
    167k tokens before

the disk is full

✗ API Error: 529 busy

failed · 2 s
"""


@pytest.mark.parametrize(
    ("ending", "words"),
    [
        ("done", ""),
        ("interrupted", "stopped · "),
        ("max_turns", "the limit of turns is reached · "),
        ("max_budget", "the limit of money is reached · "),
        ("refused", "the model declined to answer · "),
    ],
)
def test_endings(capsys: pytest.CaptureFixture[str], ending: str, words: str) -> None:
    assert drawn(capsys, ended(ending)) == f"{words}2 s · 2 responses · 1.5k tokens · $0.02\n"


def test_a_prompt_is_drawn_where_it_does_not_stand_already(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert drawn(capsys, Prompted("u", "hi"), echoes=False) == ""
    long = "\n".join("abcdefghijklmnopqrst")
    assert drawn(capsys, Prompted("u", long)).endswith("▌ l\n▌ … 8 more lines (16 B)\n")


def test_nothing_that_is_said_or_printed_commands_the_terminal(
    capsys: pytest.CaptureFixture[str],
) -> None:
    evil = "\x1b]0;owned\x07\x1b[2J\x9b31m\u202etxt\r\x08"
    proposal = Proposal(f"Ba{evil}sh", {"command": evil}, "execute", evil, (Path(f"/{evil}"),))
    out = drawn(
        capsys,
        Prompted("u", evil),
        Said(evil),
        answered("<synthetic>", {"type": "text", "text": evil}),
        Called("t1", proposal),
        Resulted("t1", f"Ba{evil}sh", Outcome(evil, {"stdout": evil, "stderr": evil})),
        Retried(evil, 1, 2, 1),
        Compacted("manual", 5, evil),
        Noticed(evil),
        ended("failed", evil),
    )
    assert {one for one in out if not one.isprintable()} <= {"\n"}
    assert "\u202e" not in out


def test_what_is_going_on_in_a_few_words() -> None:
    drawing = Drawing()
    told = []
    for event in (
        Prompted("u", "x"),
        Thought("hm"),
        Said("a"),
        bash("t", "make test"),
        Progressed("t", {"output": "one\ntwo\n"}),
        Progressed("t", {"output": ""}),
        Resulted("t", "Bash", Outcome("")),
        Retried("busy", 1, 2, 3.2),
    ):
        list(drawing.of(event))
        told.append(drawing.doing)
    assert told == [
        "waiting for the model",
        "thinking",
        "answering",
        "Bash make test",
        "two",
        "two",
        "waiting for the model",
        "waiting 3 s",
    ]
