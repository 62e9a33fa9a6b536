"""To-do and task lists, and the tools that change them."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from plait.chat.tools.base import (
    Arguments,
    BuiltInTool,
    Field,
    Outcome,
    ProgressCallback,
    Proposal,
    ToolError,
    Workplace,
    make_input_error,
)

TODO_STATUSES = ("pending", "in_progress", "completed")
TODO_TEXTS = ("content", "activeForm")
TODO_SCHEMA = {
    "type": "object",
    "properties": {
        "content": {"type": "string", "minLength": 1},
        "status": {"type": "string", "enum": [*TODO_STATUSES]},
        "activeForm": {"type": "string", "minLength": 1},
    },
    "required": ["content", "status", "activeForm"],
    "additionalProperties": False,
}
TODOS_WRITTEN = (
    "Todos have been modified successfully. Ensure that you continue to use the todo list to track"
    " your progress. Please proceed with the current tasks if applicable"
)


class TodoWrite(BuiltInTool):
    """The tool that replaces the to-do list."""

    name = "TodoWrite"
    description = (
        "Replaces the to-do list: for each item its title, its status, and its title while it is in"
        " progress. Keep one item in progress at a time."
    )
    fields = (
        Field(
            "todos",
            "array",
            "The complete to-do list",
            is_required=True,
            extra={"items": TODO_SCHEMA},
        ),
    )

    def prepare(self, proposal: Proposal, place: Workplace) -> Proposal:
        todos = proposal.arguments["todos"]
        for index, todo in enumerate(todos):
            if not isinstance(todo, Mapping):
                raise _make_todo_error(index, None, "expected an object")
            for name in TODO_TEXTS:
                if not isinstance(todo.get(name), str) or not todo[name]:
                    raise _make_todo_error(index, name, "expected a non-empty string")
            if todo.get("status") not in TODO_STATUSES:
                offered = "|".join(f'"{status}"' for status in TODO_STATUSES)
                raise _make_todo_error(index, "status", f"expected one of {offered}")
            if unknown := [str(key) for key in todo if key not in (*TODO_TEXTS, "status")]:
                raise _make_todo_error(index, unknown[0], "unrecognized key")
        noun = "item" if len(todos) == 1 else "items"
        return replace(proposal, title=f"{len(todos)} to-do {noun}")

    async def run(self, proposal: Proposal, place: Workplace, report: ProgressCallback) -> Outcome:
        old = place.todos
        new = [dict(todo) for todo in proposal.arguments["todos"]]
        place.todos = _drop_finished(new)
        return Outcome(TODOS_WRITTEN, {"oldTodos": old, "newTodos": new})


def _drop_finished(todos: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the to-do list to continue with: empty if everything is done."""
    is_over = all(todo["status"] == "completed" for todo in todos)
    return [] if is_over else todos


def restore_todos(place: Workplace, arguments: Arguments) -> None:
    """Restore the to-do list that a logged call wrote."""
    try:
        checked = TodoWrite().propose(arguments, place).arguments
    except ToolError:
        return
    place.todos = _drop_finished([dict(todo) for todo in checked["todos"]])


def _make_todo_error(index: int, name: str | None, reason: str) -> ToolError:
    path: list[Any] = ["todos", index, *([name] if name else [])]
    return make_input_error(
        {"code": "invalid_value", "path": path, "message": f"Invalid input: {reason}"}
    )


STRING_ITEMS = {"items": {"type": "string"}}
ANY_OBJECT: dict[str, Any] = {"additionalProperties": {}}
TASK_ID = Field("taskId", "string", "Number of the task", is_required=True)
PLAIN_FIELDS = ("subject", "description", "activeForm", "owner")
LINK_FIELDS = {"addBlocks": ("blocks", "blockedBy"), "addBlockedBy": ("blockedBy", "blocks")}
"""For each argument: the links it adds to the task, and those it adds to the other one."""
NOT_FOUND = "Task not found"


class TaskCreate(BuiltInTool):
    """The tool that adds a task."""

    name = "TaskCreate"
    description = "Adds a task to the list."
    title = "{subject}"
    fields = (
        Field("subject", "string", "Title of the task", is_required=True),
        Field("description", "string", "What to do", is_required=True),
        Field("activeForm", "string", "Title while it is in progress"),
        Field("metadata", "object", "Arbitrary data to store with the task", extra=ANY_OBJECT),
    )

    def propose(self, arguments: Arguments, place: Workplace) -> Proposal:
        """Check the task; its description defaults to its subject."""
        subject = arguments.get("subject")
        if isinstance(subject, str) and subject:
            arguments = {"description": subject, **arguments}
        return super().propose(arguments, place)

    async def run(self, proposal: Proposal, place: Workplace, report: ProgressCallback) -> Outcome:
        number = str(max((int(task) for task in place.tasks), default=0) + 1)
        task = place.tasks[number] = _make_task(number, proposal.arguments)
        created = {key: task[key] for key in ("id", "subject", "description")}
        text = f"Task #{number} created successfully: {task['subject']}"
        return Outcome(text, {"task": created})


def _make_task(number: str, arguments: Arguments) -> dict[str, Any]:
    task = {
        "id": number,
        "subject": arguments["subject"],
        "description": arguments["description"],
        "status": "pending",
        "blocks": [],
        "blockedBy": [],
    }
    return task | {key: arguments[key] for key in ("activeForm", "metadata") if key in arguments}


def _list_tasks(place: Workplace) -> dict[str, dict[str, Any]]:
    return {key: task for key, task in place.tasks.items() if task["status"] != "deleted"}


class TaskGet(BuiltInTool):
    """The tool that shows a task."""

    name = "TaskGet"
    description = "Shows one task."
    fields = (TASK_ID,)
    title = "#{taskId}"

    async def run(self, proposal: Proposal, place: Workplace, report: ProgressCallback) -> Outcome:
        task = _list_tasks(place).get(proposal.arguments["taskId"])
        if task is None:
            return Outcome(NOT_FOUND, {"task": None})
        lines = [
            f"Task #{task['id']}: {task['subject']}",
            f"Status: {task['status']}",
            f"Description: {task['description']}",
        ]
        for label, numbers in (("Blocked by", task["blockedBy"]), ("Blocks", task["blocks"])):
            if numbers:
                lines.append(f"{label}: {', '.join(f'#{number}' for number in numbers)}")
        keys = ("id", "subject", "description", "status", "blocks", "blockedBy")
        return Outcome("\n".join(lines), {"task": {key: task[key] for key in keys}})


class TaskList(BuiltInTool):
    """The tool that shows the task list."""

    name = "TaskList"
    description = "Shows all tasks."
    title = "all tasks"

    async def run(self, proposal: Proposal, place: Workplace, report: ProgressCallback) -> Outcome:
        listed = _list_tasks(place)
        tasks, lines = [], []
        for task in listed.values():
            blockers = [
                key
                for key in task["blockedBy"]
                if key in listed and listed[key]["status"] != "completed"
            ]
            fields = {key: task[key] for key in ("id", "subject", "status", "owner") if key in task}
            tasks.append(fields | {"blockedBy": blockers})
            owner = f" ({task['owner']})" if "owner" in task else ""
            names = ", ".join(f"#{number}" for number in blockers)
            blocked = f" [blocked by {names}]" if names else ""
            lines.append(f"#{task['id']} [{task['status']}] {task['subject']}{owner}{blocked}")
        return Outcome("\n".join(lines) or "No tasks found", {"tasks": tasks})


class TaskUpdate(BuiltInTool):
    """The tool that changes a task."""

    name = "TaskUpdate"
    description = "Updates or deletes a task."
    title = "#{taskId}"
    fields = (
        TASK_ID,
        Field("subject", "string", "Title of the task"),
        Field("description", "string", "What to do"),
        Field("activeForm", "string", "Title while it is in progress"),
        Field("status", "string", "Status of the task", choices=(*TODO_STATUSES, "deleted")),
        Field("addBlocks", "array", "Tasks that this one blocks", extra=STRING_ITEMS),
        Field("addBlockedBy", "array", "Tasks that block this one", extra=STRING_ITEMS),
        Field("owner", "string", "Owner of the task"),
        Field(
            "metadata",
            "object",
            "Data to store with the task; null removes a key",
            extra=ANY_OBJECT,
        ),
    )

    async def run(self, proposal: Proposal, place: Workplace, report: ProgressCallback) -> Outcome:
        number = proposal.arguments["taskId"]
        output: dict[str, Any] = {"success": True, "taskId": number, "updatedFields": []}
        task = _list_tasks(place).get(number)
        if task is None:
            return Outcome(NOT_FOUND, output | {"success": False, "error": NOT_FOUND})
        before = task["status"]
        output["updatedFields"] = _change_task(task, proposal.arguments, place)
        if task["status"] != before:
            output["statusChange"] = {"from": before, "to": task["status"]}
        return Outcome(f"Updated task #{number} {', '.join(output['updatedFields'])}", output)


def _change_task(task: dict[str, Any], arguments: Arguments, place: Workplace) -> list[str]:
    """Change a task; return the names of the changed fields."""
    if arguments.get("status") == "deleted":
        task["status"] = "deleted"
        for other in place.tasks.values():
            for links in (other["blocks"], other["blockedBy"]):
                links[:] = [key for key in links if key != task["id"]]
        return ["deleted"]
    changed = [key for key in PLAIN_FIELDS if key in arguments and arguments[key] != task.get(key)]
    task.update({key: arguments[key] for key in changed})
    if "metadata" in arguments:
        merged = {**task.get("metadata", {}), **arguments["metadata"]}
        task["metadata"] = {key: value for key, value in merged.items() if value is not None}
        changed.append("metadata")
    if arguments.get("status", task["status"]) != task["status"]:
        task["status"] = arguments["status"]
        changed.append("status")
    listed = _list_tasks(place)
    for field, (own, other_links) in LINK_FIELDS.items():
        new = [key for key in map(str, arguments.get(field, ())) if key not in task[own]]
        for key in new:
            if key in listed:  # numbers that are not on the list are skipped
                task[own].append(key)
                listed[key][other_links].append(task["id"])
        changed += [own] if new else []
    return changed


def restore_task(place: Workplace, tool: str, arguments: Arguments, output: Arguments) -> None:
    """Restore a task that a logged call created or changed."""
    try:
        if tool == "TaskUpdate":
            checked = TaskUpdate().propose(arguments, place).arguments
            if output.get("success") and (task := _list_tasks(place).get(checked["taskId"])):
                _change_task(task, checked, place)
            return
        checked = TaskCreate().propose(arguments, place).arguments
    except ToolError:
        return
    created = output.get("task")
    number = str(created.get("id")) if isinstance(created, Mapping) else ""
    if number.isdecimal():
        place.tasks[number] = _make_task(number, checked)
