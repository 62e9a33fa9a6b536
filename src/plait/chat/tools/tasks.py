"""The to-do list and the task list, and the tools that change them."""

from collections.abc import Mapping
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
ITEM = {
    "type": "object",
    "properties": {
        "content": {"type": "string", "minLength": 1},
        "status": {"type": "string", "enum": [*TODO_STATUSES]},
        "activeForm": {"type": "string", "minLength": 1},
    },
    "required": ["content", "status", "activeForm"],
    "additionalProperties": False,
}
TODO_FIELDS = (
    Field("todos", "array", "All things to do", is_required=True, extra={"items": ITEM}),
)
TODO_DESCRIPTION = (
    "Writes the list of things to do, as a whole: what each is, how far it is, and what it is"
    " called while it is being done. One should be in progress at a time."
)
TODOS_WRITTEN = (
    "Todos have been modified successfully. Ensure that you continue to use the todo list to track"
    " your progress. Please proceed with the current tasks if applicable"
)


class TodoWrite(BuiltInTool):
    """The tool that writes the list of things to do."""

    name = "TodoWrite"
    description = TODO_DESCRIPTION
    fields = TODO_FIELDS

    def propose(self, arguments: Arguments, place: Workplace) -> Proposal:
        """Check every thing to do."""
        checked = self.check(arguments)
        for at, todo in enumerate(checked["todos"]):
            if not isinstance(todo, Mapping):
                raise _make_error(at, None, "expected an object")
            for name in TODO_TEXTS:
                if not isinstance(todo.get(name), str) or not todo[name]:
                    raise _make_error(at, name, "expected a text that is not empty")
            if todo.get("status") not in TODO_STATUSES:
                offered = "|".join(f'"{status}"' for status in TODO_STATUSES)
                raise _make_error(at, "status", f"expected one of {offered}")
            if unknown := [str(key) for key in todo if key not in (*TODO_TEXTS, "status")]:
                raise _make_error(at, unknown[0], "unrecognized key")
        count = len(checked["todos"])
        title = f"{count} thing to do" if count == 1 else f"{count} things to do"
        return Proposal(self.name, checked, self.effect, title)

    async def run(self, proposal: Proposal, place: Workplace, report: ProgressCallback) -> Outcome:
        """Put the list in the place of the one that was there."""
        old = place.todos
        new = [dict(todo) for todo in proposal.arguments["todos"]]
        place.todos = _drop_finished(new)
        return Outcome(TODOS_WRITTEN, {"oldTodos": old, "newTodos": new})


def _drop_finished(todos: list[dict[str, Any]]) -> list[dict[str, Any]]:
    is_over = all(todo["status"] == "completed" for todo in todos)
    return [] if is_over else todos


def restore_todos(place: Workplace, arguments: Arguments) -> None:
    """Have a workplace know a list that was written before its session went on."""
    try:
        checked = TodoWrite().propose(arguments, place).arguments
    except ToolError:
        return
    place.todos = _drop_finished([dict(todo) for todo in checked["todos"]])


def _make_error(at: int, name: str | None, why: str) -> Exception:
    path: list[Any] = ["todos", at, *([name] if name else [])]
    return make_input_error(
        {"code": "invalid_value", "path": path, "message": f"Invalid input: {why}"}
    )


TASK_STATUSES = ("pending", "in_progress", "completed", "deleted")
STRING_ITEMS = {"items": {"type": "string"}}
ANY_OBJECT: dict[str, Any] = {"additionalProperties": {}}
CREATE_FIELDS = (
    Field("subject", "string", "What the task is, in a few words", is_required=True),
    Field("description", "string", "What is to be done", is_required=True),
    Field("activeForm", "string", "What it is called while it is being done"),
    Field("metadata", "object", "Anything to keep with it", extra=ANY_OBJECT),
)
GET_FIELDS = (Field("taskId", "string", "The number of the task", is_required=True),)
UPDATE_FIELDS = (
    *GET_FIELDS,
    Field("subject", "string", "What the task is"),
    Field("description", "string", "What is to be done"),
    Field("activeForm", "string", "What it is called while it is being done"),
    Field("status", "string", "How far it is", choices=TASK_STATUSES),
    Field("addBlocks", "array", "Tasks that wait for this one", extra=STRING_ITEMS),
    Field("addBlockedBy", "array", "Tasks that this one waits for", extra=STRING_ITEMS),
    Field("owner", "string", "Who does it"),
    Field("metadata", "object", "What to keep with it; null takes a key away", extra=ANY_OBJECT),
)
PLAIN_FIELDS = ("subject", "description", "activeForm", "owner")
LINK_FIELDS = {"addBlocks": ("blocks", "blockedBy"), "addBlockedBy": ("blockedBy", "blocks")}


class TaskCreate(BuiltInTool):
    """The tool that makes a task."""

    name = "TaskCreate"
    description = "Puts a task on the list."
    fields = CREATE_FIELDS

    def propose(self, arguments: Arguments, place: Workplace) -> Proposal:
        """Take the task as it is."""
        subject = arguments.get("subject")
        if isinstance(subject, str) and subject:
            arguments = {"description": subject, **arguments}
        checked = self.check(arguments)
        return Proposal(self.name, checked, self.effect, checked["subject"])

    async def run(self, proposal: Proposal, place: Workplace, report: ProgressCallback) -> Outcome:
        """Put it on the list, with the next number."""
        arguments = proposal.arguments
        number = str(max((int(task) for task in place.tasks), default=0) + 1)
        task = place.tasks[number] = _make_task(number, arguments)
        made = {key: task[key] for key in ("id", "subject", "description")}
        text = f"Task #{number} created successfully: {task['subject']}"
        return Outcome(text, {"task": made})


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


class TaskGet(BuiltInTool):
    """The tool that looks up a task."""

    name = "TaskGet"
    description = "Shows a task of the list by its number."
    fields = GET_FIELDS

    def title(self, arguments: Arguments) -> str:
        """Return the number of the task."""
        return f"#{arguments['taskId']}"

    async def run(self, proposal: Proposal, place: Workplace, report: ProgressCallback) -> Outcome:
        """Show it."""
        task = _list_tasks(place).get(proposal.arguments["taskId"])
        if task is None:
            return Outcome("Task not found", {"task": None})
        keys = ("id", "subject", "description", "status", "blocks", "blockedBy")
        lines = [
            f"Task #{task['id']}: {task['subject']}",
            f"Status: {task['status']}",
            f"Description: {task['description']}",
            *_format_links("Blocked by", task["blockedBy"]),
            *_format_links("Blocks", task["blocks"]),
        ]
        return Outcome("\n".join(lines), {"task": {key: task[key] for key in keys}})


def _list_tasks(place: Workplace) -> dict[str, dict[str, Any]]:
    return {key: task for key, task in place.tasks.items() if task["status"] != "deleted"}


def _format_links(words: str, numbers: list[str]) -> list[str]:
    return [f"{words}: {', '.join(f'#{number}' for number in numbers)}"] if numbers else []


class TaskList(BuiltInTool):
    """The tool that shows the list of tasks."""

    name = "TaskList"
    description = "Shows all tasks of the list."

    def title(self, arguments: Arguments) -> str:
        """Return what is listed."""
        return "all tasks"

    async def run(self, proposal: Proposal, place: Workplace, report: ProgressCallback) -> Outcome:
        """Show them; what a task waits for is only told while that is not done."""
        tasks = [_summarize(task, place) for task in _list_tasks(place).values()]
        text = "\n".join(map(_format_task, tasks)) or "No tasks found"
        return Outcome(text, {"tasks": tasks})


def _summarize(task: Mapping[str, Any], place: Workplace) -> dict[str, Any]:
    open_ones = {key for key, task in _list_tasks(place).items() if task["status"] != "completed"}
    fields = {key: task[key] for key in ("id", "subject", "status", "owner") if key in task}
    return fields | {"blockedBy": [key for key in task["blockedBy"] if key in open_ones]}


def _format_task(task: Mapping[str, Any]) -> str:
    owner = f" ({task['owner']})" if "owner" in task else ""
    waits = ", ".join(f"#{number}" for number in task["blockedBy"])
    blocked = f" [blocked by {waits}]" if waits else ""
    return f"#{task['id']} [{task['status']}] {task['subject']}{owner}{blocked}"


class TaskUpdate(BuiltInTool):
    """The tool that changes a task."""

    name = "TaskUpdate"
    description = "Changes a task of the list, or takes it away."
    fields = UPDATE_FIELDS

    def title(self, arguments: Arguments) -> str:
        """Return the number of the task."""
        return f"#{arguments['taskId']}"

    async def run(self, proposal: Proposal, place: Workplace, report: ProgressCallback) -> Outcome:
        """Change it, and says what is new."""
        arguments = proposal.arguments
        number = arguments["taskId"]
        output: dict[str, Any] = {"success": True, "taskId": number, "updatedFields": []}
        task = _list_tasks(place).get(number)
        if task is None:
            return Outcome("Task not found", output | {"success": False, "error": "Task not found"})
        before = task["status"]
        output["updatedFields"] = _change_task(task, arguments, place)
        if task["status"] != before:
            output["statusChange"] = {"from": before, "to": task["status"]}
        return Outcome(f"Updated task #{number} {', '.join(output['updatedFields'])}", output)


def _change_task(task: dict[str, Any], arguments: Arguments, place: Workplace) -> list[str]:
    """Change a task; returns the names of what is new."""
    if arguments.get("status") == "deleted":
        task["status"] = "deleted"
        for other in place.tasks.values():
            for links in (other["blocks"], other["blockedBy"]):
                links[:] = [key for key in links if key != task["id"]]
        return ["deleted"]
    changed = [key for key in PLAIN_FIELDS if key in arguments and arguments[key] != task.get(key)]
    task.update({key: arguments[key] for key in changed})
    if "metadata" in arguments:
        kept = {**task.get("metadata", {}), **arguments["metadata"]}
        task["metadata"] = {key: value for key, value in kept.items() if value is not None}
        changed.append("metadata")
    if arguments.get("status", task["status"]) != task["status"]:
        task["status"] = arguments["status"]
        changed.append("status")
    return changed + _link_tasks(task, arguments, place)


def _link_tasks(task: dict[str, Any], arguments: Arguments, place: Workplace) -> list[str]:
    """Join a task with others; those that are not on the list are passed over."""
    changed, listed = [], _list_tasks(place)
    for field, (own, other) in LINK_FIELDS.items():
        new = [key for key in map(str, arguments.get(field, ())) if key not in task[own]]
        for key in new:
            if key in listed:
                task[own].append(key)
                listed[key][other].append(task["id"])
        changed += [own] if new else []
    return changed


def restore_task(place: Workplace, tool: str, arguments: Arguments, output: Arguments) -> None:
    """Have a workplace know a task that was made or changed before its session went on."""
    try:
        if tool == "TaskUpdate":
            checked = TaskUpdate().propose(arguments, place).arguments
            if output.get("success") and (task := _list_tasks(place).get(checked["taskId"])):
                _change_task(task, checked, place)
            return
        checked = TaskCreate().propose(arguments, place).arguments
    except ToolError:
        return
    made = output.get("task")
    number = str(made.get("id")) if isinstance(made, Mapping) else ""
    if number.isdecimal():
        place.tasks[number] = _make_task(number, checked)
