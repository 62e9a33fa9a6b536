"""Names of tools to what they are."""

import pytest

from plait.conversation.tools import TOOLS, get_tool, is_plan_tool


def names(fact: str) -> set[str]:
    return {name for name in TOOLS if getattr(get_tool(name), fact)}


def test_which_tools_send_agents_out() -> None:
    assert names("sends_agents") == {"Task", "Agent", "Workflow"}
    assert names("agent") == {"Task", "Agent"}


def test_whose_answer_a_person_gives() -> None:
    assert names("is_answered_by_person") == {"AskUserQuestion", "ExitPlanMode", "exit_plan_mode"}


def test_what_a_terminal_prints_and_what_is_prose() -> None:
    assert names("is_terminal") == {"Bash", "PowerShell", "BashOutput", "TaskOutput"}
    assert names("is_prose") == {"Task", "Agent", "ExitPlanMode", "exit_plan_mode", "WebFetch"}


def test_what_happens_to_the_file_that_a_call_names() -> None:
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
def test_a_tool_without_a_row(name: str, kind: str) -> None:
    tool = get_tool(name)
    assert (tool.name, tool.kind, tool.nouns, tool.action) == (name, kind, None, None)
    assert not tool.sends_agents


@pytest.mark.parametrize(
    ("name", "expected"),
    [("ExitPlanMode", True), ("exit_plan_mode", True), ("EnterPlanMode", False), ("Bash", False)],
)
def test_plans_are_put_to_the_person_by_leaving_the_mode(name: str, expected: bool) -> None:
    assert is_plan_tool(name) is expected
