"""TodoWrite and the Task tools: lists kept by the model."""

import json
from typing import Any

import pytest

from tests.chat.tools.workspace import ToolWorkspace

ONE = {"content": "One", "status": "in_progress", "activeForm": "Doing one"}
TWO = {"content": "Two", "status": "pending", "activeForm": "Doing two"}


# checklist: P84, P85, P86, P116
def test_todo_list_is_written_as_a_whole(workspace: ToolWorkspace) -> None:
    first = workspace.run_tool("TodoWrite", todos=[ONE, TWO])
    assert first.content == (
        "Todos have been modified successfully. Ensure that you continue to use the todo list to"
        " track your progress. Please proceed with the current tasks if applicable"
    )
    assert first.output == {"oldTodos": [], "newTodos": [ONE, TWO]}
    second = workspace.run_tool("TodoWrite", todos=[TWO])
    assert second.output == {"oldTodos": [ONE, TWO], "newTodos": [TWO]}


def test_finished_list_is_empty(workspace: ToolWorkspace) -> None:
    done = {**ONE, "status": "completed"}
    assert workspace.run_tool("TodoWrite", todos=[done]).output["newTodos"] == [done]
    assert workspace.run_tool("TodoWrite", todos=[]).output["oldTodos"] == []


# checklist: P116
@pytest.mark.parametrize(
    ("todo", "path"),
    [
        (5, ["todos", 0]),
        ({**ONE, "content": ""}, ["todos", 0, "content"]),
        ({**ONE, "activeForm": None}, ["todos", 0, "activeForm"]),
        ({**ONE, "status": "late"}, ["todos", 0, "status"]),
        ({**ONE, "more": 1}, ["todos", 0, "more"]),
    ],
)
def test_invalid_todos(workspace: ToolWorkspace, todo: Any, path: list[Any]) -> None:
    outcome = workspace.run_tool("TodoWrite", todos=[todo])
    assert outcome.is_error
    assert json.loads(outcome.output.removeprefix("InputValidationError: "))[0]["path"] == path
    assert workspace.place.todos == []


# checklist: P84
def test_tasks_are_updated_individually(workspace: ToolWorkspace) -> None:
    results = [
        workspace.result_text("TaskCreate", subject="one", description="do one"),
        workspace.result_text("TaskCreate", subject="two", activeForm="Doing two"),
        workspace.result_text("TaskList"),
        workspace.result_text("TaskGet", taskId="1"),
        workspace.result_text("TaskUpdate", taskId="1", status="in_progress"),
        workspace.result_text("TaskUpdate", taskId="1", status="completed", subject="One"),
        workspace.result_text("TaskUpdate", taskId="2", addBlockedBy=["1", "7"], owner="me"),
        workspace.result_text("TaskGet", taskId="2"),
        workspace.result_text("TaskList"),
        workspace.result_text("TaskUpdate", taskId="1", status="pending"),
        workspace.result_text("TaskList"),
        workspace.result_text("TaskUpdate", taskId="1", status="deleted"),
        workspace.result_text("TaskGet", taskId="1"),
        workspace.result_text("TaskGet", taskId="2"),
        workspace.result_text("TaskCreate", subject="three"),
        workspace.result_text("TaskUpdate", taskId="9", status="completed"),
        workspace.result_text("TaskUpdate", taskId="3"),
    ]
    assert results == [
        "Task #1 created successfully: one",
        "Task #2 created successfully: two",
        "#1 [pending] one\n#2 [pending] two",
        "Task #1: one\nStatus: pending\nDescription: do one",
        "Updated task #1 status",
        "Updated task #1 subject, status",
        "Updated task #2 owner, blockedBy",
        "Task #2: two\nStatus: pending\nDescription: two\nBlocked by: #1",
        "#1 [completed] One\n#2 [pending] two (me)",
        "Updated task #1 status",
        "#1 [pending] One\n#2 [pending] two (me) [blocked by #1]",
        "Updated task #1 deleted",
        "Task not found",
        "Task #2: two\nStatus: pending\nDescription: two",
        "Task #3 created successfully: three",
        "Task not found",
        "Updated task #3 ",
    ]


# checklist: P86
def test_task_results_in_the_log(workspace: ToolWorkspace) -> None:
    made = workspace.run_tool(
        "TaskCreate", subject="one", description="do one", metadata={"k": 1, "l": 2}
    )
    assert made.output == {"task": {"id": "1", "subject": "one", "description": "do one"}}
    changed = workspace.run_tool(
        "TaskUpdate", taskId="1", status="completed", owner="me", metadata={"k": None, "m": 3}
    )
    assert changed.output == {
        "success": True,
        "taskId": "1",
        "updatedFields": ["owner", "metadata", "status"],
        "statusChange": {"from": "pending", "to": "completed"},
    }
    assert workspace.place.tasks["1"]["metadata"] == {"l": 2, "m": 3}
    assert workspace.run_tool("TaskGet", taskId="1").output["task"]["status"] == "completed"
    listed = workspace.run_tool("TaskList").output
    assert listed == {
        "tasks": [
            {"id": "1", "subject": "one", "status": "completed", "owner": "me", "blockedBy": []}
        ]
    }
    missing = workspace.run_tool("TaskUpdate", taskId="9").output
    assert missing == {
        "success": False,
        "taskId": "9",
        "updatedFields": [],
        "error": "Task not found",
    }
    assert workspace.run_tool("TaskGet", taskId="9").output == {"task": None}


def test_empty_list_says_so(workspace: ToolWorkspace) -> None:
    assert workspace.result_text("TaskList") == "No tasks found"
    assert "`description` is missing" in workspace.result_text("TaskCreate", subject="")
