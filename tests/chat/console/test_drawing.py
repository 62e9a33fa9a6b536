"""Events as they appear on screen."""

import asyncio
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from plait.chat.console.keyboard import PlainKeyboard
from plait.chat.console.screen import EventRenderer, Screen
from plait.chat.events import (
    Compacted,
    Event,
    Notice,
    PromptLogged,
    ResponseLogged,
    RetryScheduled,
    TextDelta,
    ThinkingDelta,
    ToolFinished,
    ToolProgress,
    ToolStarted,
    TurnEnded,
)
from plait.chat.tools.base import Outcome, Proposal
from plait.settings import load_settings
from plait.terminal.output import Output

HERE = "/home/me/app"


def response_logged(model: str = "claude-opus-5-5", *content: Any) -> ResponseLogged:
    return ResponseLogged("msg_1", "req_1", model, content, "end_turn", {"input_tokens": 5})


def turn_ended(ending: str = "done", text: str = "", **more: object) -> TurnEnded:
    figures = {"duration_ms": 2400, "responses": 2, "usage": {"input_tokens": 1500}, "cost": 0.02}
    return TurnEnded(ending, text, **{**figures, **more})  # type: ignore[arg-type]


def bash(call: str, command: str) -> ToolStarted:
    return ToolStarted(call, Proposal("Bash", {"command": command}, "execute", command))


def read_drawing(capsys: pytest.CaptureFixture[str], *events: Event, echoes: bool = True) -> str:
    ticks = count(step=1.5)
    drawing = EventRenderer(HERE, echoes, clock=lambda: next(ticks))
    screen = Screen(Output(load_settings(environment={"HOME": "/h"})), drawing, PlainKeyboard())

    async def show() -> None:
        for event in events:
            await screen.show(event)

    asyncio.run(show())
    return capsys.readouterr().out


def test_turn_on_screen(capsys: pytest.CaptureFixture[str]) -> None:
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
        read_drawing(
            capsys,
            PromptLogged("u1", "Make it 2."),
            ThinkingDelta("Hm."),
            TextDelta("I look"),
            TextDelta(" first.\n\nThen I ch"),
            TextDelta("ange it."),
            response_logged(),
            bash("t1", "cat a.py\nls"),
            ToolStarted("t2", edit),
            ToolProgress("t1", {"output": "a = 1"}),
            ToolFinished("t2", "Edit", Outcome("Changed.", patch)),
            ToolFinished(
                "t1", "Bash", Outcome("\n".join("123456789"), {"stdout": "x", "stderr": ""})
            ),
            TextDelta("Done."),
            response_logged(),
            turn_ended(),
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


def test_output_is_folded_and_failures_are_shown(capsys: pytest.CaptureFixture[str]) -> None:
    long = "\n".join(f"line {number}" for number in range(1, 101))
    detail = {"stdout": long, "stderr": "", "interrupted": False}
    assert (
        read_drawing(
            capsys,
            bash("t1", "seq 100"),
            ToolFinished("t1", "Bash", Outcome(long, detail)),
            bash("t2", "make"),
            ToolFinished("t2", "Bash", Outcome("Exit code 2\nno rule", "Error: x", is_error=True)),
            response_logged(
                "opus", {"type": "tool_use", "id": "t3", "input": {"command": "rm -r ."}}
            ),
            ToolFinished("t3", "Bash", Outcome("no", "no", is_error=True), is_denied=True),
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


def test_retries_compactions_and_notices_are_drawn(capsys: pytest.CaptureFixture[str]) -> None:
    error = {"type": "text", "text": "API Error: 529 busy"}
    assert (
        read_drawing(
            capsys,
            TextDelta("half a wo"),
            RetryScheduled("529 busy", 1, 10, 2.4),
            Compacted("auto", 167_503, "sum"),
            Notice("the disk is full", is_error=True),
            response_logged("<synthetic>", error),
            turn_ended("failed", responses=1, usage={}, cost=None),
        )
        == REMARKS
    )


REMARKS = """\
half a wo

529 busy: retrying in 2 s (attempt 1 of 10)

📦 compacted automatically: conversation replaced by a summary
    previously 167k tokens

the disk is full

✗ API Error: 529 busy

failed · 2 s
"""


@pytest.mark.parametrize(
    ("ending", "words"),
    [
        ("done", ""),
        ("interrupted", "stopped · "),
        ("max_turns", "turn limit reached · "),
        ("max_budget", "budget limit reached · "),
        ("refused", "the model declined to answer · "),
    ],
)
def test_endings(capsys: pytest.CaptureFixture[str], ending: str, words: str) -> None:
    assert (
        read_drawing(capsys, turn_ended(ending))
        == f"{words}2 s · 2 responses · 1.5k tokens · $0.02\n"
    )


def test_prompt_is_drawn_unless_already_on_screen(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert read_drawing(capsys, PromptLogged("u", "hi"), echoes=False) == ""
    long = "\n".join("abcdefghijklmnopqrst")
    assert read_drawing(capsys, PromptLogged("u", long)).endswith("▌ l\n▌ … 8 more lines (16 B)\n")


def test_text_cannot_control_the_terminal(
    capsys: pytest.CaptureFixture[str],
) -> None:
    evil = "\x1b]0;owned\x07\x1b[2J\x9b31m\u202etxt\r\x08"
    proposal = Proposal(f"Ba{evil}sh", {"command": evil}, "execute", evil, (Path(f"/{evil}"),))
    out = read_drawing(
        capsys,
        PromptLogged("u", evil),
        TextDelta(evil),
        response_logged("<synthetic>", {"type": "text", "text": evil}),
        ToolStarted("t1", proposal),
        ToolFinished("t1", f"Ba{evil}sh", Outcome(evil, {"stdout": evil, "stderr": evil})),
        RetryScheduled(evil, 1, 2, 1),
        Compacted("manual", 5, evil),
        Notice(evil),
        turn_ended("failed", evil),
    )
    assert {item for item in out if not item.isprintable()} <= {"\n"}
    assert "\u202e" not in out


def test_short_status_texts() -> None:
    drawing = EventRenderer()
    results = []
    for event in (
        PromptLogged("u", "x"),
        ThinkingDelta("hm"),
        TextDelta("a"),
        bash("t", "make test"),
        ToolProgress("t", {"output": "one\ntwo\n"}),
        ToolProgress("t", {"output": ""}),
        ToolFinished("t", "Bash", Outcome("")),
        RetryScheduled("busy", 1, 2, 3.2),
    ):
        list(drawing.render(event))
        results.append(drawing.status)
    assert results == [
        "waiting for the model",
        "thinking",
        "answering",
        "Bash make test",
        "two",
        "two",
        "waiting for the model",
        "waiting 3 s",
    ]
