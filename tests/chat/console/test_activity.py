"""To-dos, agents and background tasks as they are shown below the input."""

from itertools import count
from typing import Any

import pytest

from plait.chat.console.screen import Activity
from plait.chat.events import (
    AgentEvent,
    Event,
    PromptLogged,
    ResponseLogged,
    ToolFinished,
    ToolStarted,
    TurnEnded,
)
from plait.chat.tools.base import Outcome, Proposal


def called(call: str, tool: str, **given: Any) -> ToolStarted:
    return ToolStarted(call, Proposal(tool, given, "none", str(given.get("command", tool))))


def resulted(call: str, tool: str, output: Any = None, text: str = "") -> ToolFinished:
    return ToolFinished(call, tool, Outcome(text, output))


def after(*events: Event) -> Activity:
    beside = Activity(clock=lambda: 0.0)
    for event in events:
        beside.record(event)
    return beside


def todo(words: str, status: str) -> dict[str, str]:
    return {"content": words, "status": status, "activeForm": words}


def ended() -> TurnEnded:
    return TurnEnded("done", "", 0, 1, {}, None)


def notice(task: str) -> PromptLogged:
    return PromptLogged(
        "u", f"<task-notification>\n<task-id>{task}</task-id>\n</task-notification>"
    )


def test_todos() -> None:
    todos = [todo("look", "completed"), todo("mend", "in_progress"), todo("test", "pending")]
    beside = after(called("t", "TodoWrite", todos=todos), resulted("t", "TodoWrite"))
    assert beside.lines() == ["  ✓ 1 of 3 done", "  ▸ mend", "  ○ test"]
    done = [todo("look", "completed")]
    beside.record(called("u", "TodoWrite", todos=done))
    beside.record(resulted("u", "TodoWrite"))
    assert beside.lines() == []
    assert beside.plan == (("completed", "look"),)


def test_long_todo_list_is_cut() -> None:
    todos = [todo(f"thing {number}", "pending") for number in range(7)]
    beside = after(called("t", "TodoWrite", todos=todos), resulted("t", "TodoWrite"))
    assert beside.lines()[-2:] == ["  ○ thing 4", "  … and 2 more"]
    five = after(called("t", "TodoWrite", todos=todos[:5]), resulted("t", "TodoWrite"))
    assert five.lines()[-1] == "  ○ thing 4"


def test_rejected_todo_list_is_ignored() -> None:
    todos = [todo("look", "pending")]
    refused = ToolFinished("t", "TodoWrite", Outcome("no"), is_denied=True)
    assert after(called("t", "TodoWrite", todos=todos), refused).plan == ()
    assert after(called("t", "TodoWrite", todos="?"), resulted("t", "TodoWrite")).plan == ()


def test_tasks_update_individually() -> None:
    beside = after(
        called("a", "TaskCreate", subject="look"),
        resulted("a", "TaskCreate", {"task": {"id": "1", "subject": "look"}}),
        called("b", "TaskCreate", subject="mend"),
        resulted("b", "TaskCreate", {"task": {"id": "2", "subject": "mend"}}),
        called("c", "TaskUpdate", taskId="1", status="in_progress"),
        resulted("c", "TaskUpdate", {"success": True}),
    )
    assert beside.lines() == ["  ▸ look", "  ○ mend"]
    for number, status in (("1", "completed"), ("2", "deleted")):
        beside.record(called("d", "TaskUpdate", taskId=number, status=status))
        beside.record(resulted("d", "TaskUpdate", {"success": True}))
    assert beside.plan == (("completed", "look"),)


TOLD = (
    "Command running in background with ID: b1. Output is being written to: /tmp/t/b1.output. "
    "You will be notified when it completes."
)


def test_background_command_until_it_ends() -> None:
    ticks = count(step=65)
    beside = Activity(clock=lambda: float(next(ticks)))
    beside.record(called("t", "Bash", command="make serve", description="Serve"))
    beside.record(resulted("t", "Bash", {"backgroundTaskId": "b1"}, TOLD))
    assert beside.lines() == ["  ◐ b1 · Serve · 1 min 5 s"]
    assert str(beside.jobs["b1"].output) == "/tmp/t/b1.output"
    assert beside.summary == "1 task running"
    beside.record(ended())
    assert beside.jobs
    beside.record(notice("other"))
    assert beside.jobs
    beside.record(notice("b1"))
    assert (beside.lines(), beside.summary) == ([], "")


def test_finished_command_is_not_listed() -> None:
    assert (
        after(called("t", "Bash", command="ls"), resulted("t", "Bash", {"stdout": ""})).jobs == {}
    )


def test_stopped_task_is_removed() -> None:
    beside = after(
        called("t", "Bash", command="make serve"),
        resulted("t", "Bash", {"backgroundTaskId": "b1"}),
        called("u", "TaskStop", task_id="b1"),
        resulted("u", "TaskStop"),
    )
    assert beside.jobs == {}


def answered(**usage: int) -> ResponseLogged:
    return ResponseLogged("m", "r", "claude-opus-5-5", (), None, usage)


def test_agent_until_it_reports() -> None:
    beside = after(
        called("t", "Agent", description="Find the tests", prompt="…"),
        AgentEvent("a1", "t", answered(input_tokens=1000, output_tokens=500)),
        AgentEvent("a1", "t", called("x", "Grep", command="def test")),
    )
    assert beside.lines() == ["  ◐ agent: Find the tests · Grep def test · 1 call · 1.5k tokens"]
    assert beside.summary == "1 agent"
    beside.record(resulted("t", "Agent", {"status": "completed"}))
    assert beside.agents == {}


@pytest.mark.parametrize("is_background", [True, False])
def test_background_agent_outlives_the_turn(is_background: bool) -> None:
    status = {"status": "async_launched", "agentId": "a1"} if is_background else None
    beside = after(
        called("t", "Agent", description="Look"),
        AgentEvent("a1", "t", called("x", "Grep")),
        *([resulted("t", "Agent", status)] if is_background else []),
        ended(),
    )
    assert ("a1" in beside.agents) == is_background
    beside.record(notice("a1"))
    assert beside.agents == {}
