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


def tool_started(call: str, tool: str, **given: Any) -> ToolStarted:
    return ToolStarted(call, Proposal(tool, given, "none", str(given.get("command", tool))))


def tool_finished(call: str, tool: str, output: Any = None, text: str = "") -> ToolFinished:
    return ToolFinished(call, tool, Outcome(text, output))


def after(*events: Event) -> Activity:
    beside = Activity(clock=lambda: 0.0)
    for event in events:
        beside.record(event)
    return beside


def todo(words: str, status: str) -> dict[str, str]:
    return {"content": words, "status": status, "activeForm": words}


def turn_ended() -> TurnEnded:
    return TurnEnded("done", "", 0, 1, {}, None)


def notice(task: str) -> PromptLogged:
    return PromptLogged(
        "u", f"<task-notification>\n<task-id>{task}</task-id>\n</task-notification>"
    )


def test_todos() -> None:
    todos = [todo("look", "completed"), todo("mend", "in_progress"), todo("test", "pending")]
    beside = after(tool_started("t", "TodoWrite", todos=todos), tool_finished("t", "TodoWrite"))
    assert beside.lines() == ["  ✓ 1 of 3 done", "  ▸ mend", "  ○ test"]
    done = [todo("look", "completed")]
    beside.record(tool_started("u", "TodoWrite", todos=done))
    beside.record(tool_finished("u", "TodoWrite"))
    assert beside.lines() == []
    assert beside.plan == (("completed", "look"),)


def test_long_todo_list_is_cut() -> None:
    todos = [todo(f"thing {number}", "pending") for number in range(7)]
    beside = after(tool_started("t", "TodoWrite", todos=todos), tool_finished("t", "TodoWrite"))
    assert beside.lines()[-2:] == ["  ○ thing 4", "  … and 2 more"]
    five = after(tool_started("t", "TodoWrite", todos=todos[:5]), tool_finished("t", "TodoWrite"))
    assert five.lines()[-1] == "  ○ thing 4"


def test_rejected_todo_list_is_ignored() -> None:
    todos = [todo("look", "pending")]
    refused = ToolFinished("t", "TodoWrite", Outcome("no"), is_denied=True)
    assert after(tool_started("t", "TodoWrite", todos=todos), refused).plan == ()
    assert (
        after(tool_started("t", "TodoWrite", todos="?"), tool_finished("t", "TodoWrite")).plan == ()
    )


def test_tasks_update_individually() -> None:
    beside = after(
        tool_started("a", "TaskCreate", subject="look"),
        tool_finished("a", "TaskCreate", {"task": {"id": "1", "subject": "look"}}),
        tool_started("b", "TaskCreate", subject="mend"),
        tool_finished("b", "TaskCreate", {"task": {"id": "2", "subject": "mend"}}),
        tool_started("c", "TaskUpdate", taskId="1", status="in_progress"),
        tool_finished("c", "TaskUpdate", {"success": True}),
    )
    assert beside.lines() == ["  ▸ look", "  ○ mend"]
    for number, status in (("1", "completed"), ("2", "deleted")):
        beside.record(tool_started("d", "TaskUpdate", taskId=number, status=status))
        beside.record(tool_finished("d", "TaskUpdate", {"success": True}))
    assert beside.plan == (("completed", "look"),)


TOLD = (
    "Command running in background with ID: b1. Output is being written to: /tmp/t/b1.output. "
    "You will be notified when it completes."
)


def test_background_command_until_it_ends() -> None:
    ticks = count(step=65)
    beside = Activity(clock=lambda: float(next(ticks)))
    beside.record(tool_started("t", "Bash", command="make serve", description="Serve"))
    beside.record(tool_finished("t", "Bash", {"backgroundTaskId": "b1"}, TOLD))
    assert beside.lines() == ["  ◐ b1 · Serve · 1 min 5 s"]
    assert str(beside.jobs["b1"].output) == "/tmp/t/b1.output"
    assert beside.summary == "1 task running"
    beside.record(turn_ended())
    assert beside.jobs
    beside.record(notice("other"))
    assert beside.jobs
    beside.record(notice("b1"))
    assert (beside.lines(), beside.summary) == ([], "")


def test_finished_command_is_not_listed() -> None:
    assert (
        after(
            tool_started("t", "Bash", command="ls"), tool_finished("t", "Bash", {"stdout": ""})
        ).jobs
        == {}
    )


def test_stopped_task_is_removed() -> None:
    beside = after(
        tool_started("t", "Bash", command="make serve"),
        tool_finished("t", "Bash", {"backgroundTaskId": "b1"}),
        tool_started("u", "TaskStop", task_id="b1"),
        tool_finished("u", "TaskStop"),
    )
    assert beside.jobs == {}


def answered(**usage: int) -> ResponseLogged:
    return ResponseLogged("m", "r", "claude-opus-5-5", (), None, usage)


def test_agent_until_it_reports() -> None:
    beside = after(
        tool_started("t", "Agent", description="Find the tests", prompt="…"),
        AgentEvent("a1", "t", answered(input_tokens=1000, output_tokens=500)),
        AgentEvent("a1", "t", tool_started("x", "Grep", command="def test")),
    )
    assert beside.lines() == ["  ◐ agent: Find the tests · Grep def test · 1 call · 1.5k tokens"]
    assert beside.summary == "1 agent"
    beside.record(tool_finished("t", "Agent", {"status": "completed"}))
    assert beside.agents == {}


@pytest.mark.parametrize("is_background", [True, False])
def test_background_agent_outlives_the_turn(is_background: bool) -> None:
    status = {"status": "async_launched", "agentId": "a1"} if is_background else None
    beside = after(
        tool_started("t", "Agent", description="Look"),
        AgentEvent("a1", "t", tool_started("x", "Grep")),
        *([tool_finished("t", "Agent", status)] if is_background else []),
        turn_ended(),
    )
    assert ("a1" in beside.agents) == is_background
    beside.record(notice("a1"))
    assert beside.agents == {}
