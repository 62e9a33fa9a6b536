"""Tool names and their properties."""

import pytest

from plait.conversation.tools import TOOLS, get_tool, is_plan_tool


def names(fact: str) -> set[str]:
    return {name for name in TOOLS if getattr(get_tool(name), fact)}


def test_tools_that_start_agents() -> None:
    assert names("sends_agents") == {"Task", "Agent", "Workflow"}
    assert names("agent") == {"Task", "Agent"}


def test_tools_answered_by_the_user() -> None:
    assert names("is_answered_by_person") == {"AskUserQuestion", "ExitPlanMode", "exit_plan_mode"}


def test_terminal_output_and_prose() -> None:
    assert names("is_terminal") == {"Bash", "PowerShell", "BashOutput", "TaskOutput"}
    assert names("is_prose") == {"Task", "Agent", "ExitPlanMode", "exit_plan_mode", "WebFetch"}


def test_file_actions_of_tools() -> None:
    assert {name: tool.action for name, tool in TOOLS.items() if tool.action} == {
        "Read": "read",
        "NotebookRead": "read",
        "Write": "written",
        "Edit": "edited",
        "MultiEdit": "edited",
        "NotebookEdit": "edited",
    }


@pytest.mark.parametrize(
    ("name", "kind"), [("mcp__github__search", "mcp"), ("Frobnicate", "other"), ("", "other")]
)
def test_unknown_tool(name: str, kind: str) -> None:
    tool = get_tool(name)
    assert (tool.name, tool.kind, tool.nouns, tool.action) == (name, kind, None, None)
    assert not tool.sends_agents


@pytest.mark.parametrize(
    ("name", "expected"),
    [("ExitPlanMode", True), ("exit_plan_mode", True), ("EnterPlanMode", False), ("Bash", False)],
)
def test_plans_are_presented_by_exit_plan_mode(name: str, expected: bool) -> None:
    assert is_plan_tool(name) is expected
