"""The list of tasks, one at a time: made, looked up, listed, changed."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from plait.agent.tools.arguments import Field, checked, definition
from plait.agent.tools.model import (
    Arguments,
    Effect,
    Outcome,
    Proposal,
    Report,
    ToolError,
    Workplace,
)

STATUSES = ("pending", "in_progress", "completed", "deleted")
TEXTS = {"items": {"type": "string"}}
ANY: dict[str, Any] = {"additionalProperties": {}}
CREATED = (
    Field("subject", "string", "What the task is, in a few words", is_needed=True),
    Field("description", "string", "What is to be done", is_needed=True),
    Field("activeForm", "string", "What it is called while it is being done"),
    Field("metadata", "object", "Anything to keep with it", more=ANY),
)
ASKED = (Field("taskId", "string", "The number of the task", is_needed=True),)
CHANGED = (
    *ASKED,
    Field("subject", "string", "What the task is"),
    Field("description", "string", "What is to be done"),
    Field("activeForm", "string", "What it is called while it is being done"),
    Field("status", "string", "How far it is", choices=STATUSES),
    Field("addBlocks", "array", "Tasks that wait for this one", more=TEXTS),
    Field("addBlockedBy", "array", "Tasks that this one waits for", more=TEXTS),
    Field("owner", "string", "Who does it"),
    Field("metadata", "object", "What to keep with it; null takes a key away", more=ANY),
)
PLAIN = ("subject", "description", "activeForm", "owner")
LINKS = {"addBlocks": ("blocks", "blockedBy"), "addBlockedBy": ("blockedBy", "blocks")}


@dataclass(frozen=True, slots=True)
class TaskCreate:
    """The tool that makes a task."""

    name: str = "TaskCreate"
    effect: Effect = "none"

    @property
    def definition(self) -> Mapping[str, Any]:
        """Its name, description and schema."""
        return definition(self.name, "Puts a task on the list.", CREATED)

    def propose(self, arguments: Arguments, place: Workplace) -> Proposal:
        """Takes the task as it is."""
        subject = arguments.get("subject")
        if isinstance(subject, str) and subject:
            arguments = {"description": subject, **arguments}
        taken = checked(self.name, CREATED, arguments)
        return Proposal(self.name, taken, self.effect, taken["subject"])

    async def run(self, proposal: Proposal, place: Workplace, report: Report) -> Outcome:
        """Puts it on the list, with the next number."""
        taken = proposal.arguments
        number = str(max((int(one) for one in place.planned), default=0) + 1)
        task = place.planned[number] = _made(number, taken)
        made = {key: task[key] for key in ("id", "subject", "description")}
        told = f"Task #{number} created successfully: {task['subject']}"
        return Outcome(told, {"task": made})


def _made(number: str, taken: Arguments) -> dict[str, Any]:
    task = {
        "id": number,
        "subject": taken["subject"],
        "description": taken["description"],
        "status": "pending",
        "blocks": [],
        "blockedBy": [],
    }
    return task | {key: taken[key] for key in ("activeForm", "metadata") if key in taken}


@dataclass(frozen=True, slots=True)
class TaskGet:
    """The tool that looks up a task."""

    name: str = "TaskGet"
    effect: Effect = "none"

    @property
    def definition(self) -> Mapping[str, Any]:
        """Its name, description and schema."""
        return definition(self.name, "Shows a task of the list by its number.", ASKED)

    def propose(self, arguments: Arguments, place: Workplace) -> Proposal:
        """Takes the number as it is."""
        taken = checked(self.name, ASKED, arguments)
        return Proposal(self.name, taken, self.effect, f"#{taken['taskId']}")

    async def run(self, proposal: Proposal, place: Workplace, report: Report) -> Outcome:
        """Shows it."""
        task = _listed(place).get(proposal.arguments["taskId"])
        if task is None:
            return Outcome("Task not found", {"task": None})
        keys = ("id", "subject", "description", "status", "blocks", "blockedBy")
        told = [
            f"Task #{task['id']}: {task['subject']}",
            f"Status: {task['status']}",
            f"Description: {task['description']}",
            *_waiting("Blocked by", task["blockedBy"]),
            *_waiting("Blocks", task["blocks"]),
        ]
        return Outcome("\n".join(told), {"task": {key: task[key] for key in keys}})


def _listed(place: Workplace) -> dict[str, dict[str, Any]]:
    return {key: task for key, task in place.planned.items() if task["status"] != "deleted"}


def _waiting(words: str, numbers: list[str]) -> list[str]:
    return [f"{words}: {', '.join(f'#{number}' for number in numbers)}"] if numbers else []


@dataclass(frozen=True, slots=True)
class TaskList:
    """The tool that shows the list of tasks."""

    name: str = "TaskList"
    effect: Effect = "none"

    @property
    def definition(self) -> Mapping[str, Any]:
        """Its name, description and schema."""
        return definition(self.name, "Shows all tasks of the list.", ())

    def propose(self, arguments: Arguments, place: Workplace) -> Proposal:
        """Takes nothing."""
        return Proposal(self.name, checked(self.name, (), arguments), self.effect, "all tasks")

    async def run(self, proposal: Proposal, place: Workplace, report: Report) -> Outcome:
        """Shows them; what a task waits for is only told while that is not done."""
        tasks = [_in_short(task, place) for task in _listed(place).values()]
        told = "\n".join(map(_line, tasks)) or "No tasks found"
        return Outcome(told, {"tasks": tasks})


def _in_short(task: Mapping[str, Any], place: Workplace) -> dict[str, Any]:
    open_ones = {key for key, one in _listed(place).items() if one["status"] != "completed"}
    told = {key: task[key] for key in ("id", "subject", "status", "owner") if key in task}
    return told | {"blockedBy": [key for key in task["blockedBy"] if key in open_ones]}


def _line(task: Mapping[str, Any]) -> str:
    owner = f" ({task['owner']})" if "owner" in task else ""
    waits = ", ".join(f"#{number}" for number in task["blockedBy"])
    blocked = f" [blocked by {waits}]" if waits else ""
    return f"#{task['id']} [{task['status']}] {task['subject']}{owner}{blocked}"


@dataclass(frozen=True, slots=True)
class TaskUpdate:
    """The tool that changes a task."""

    name: str = "TaskUpdate"
    effect: Effect = "none"

    @property
    def definition(self) -> Mapping[str, Any]:
        """Its name, description and schema."""
        return definition(self.name, "Changes a task of the list, or takes it away.", CHANGED)

    def propose(self, arguments: Arguments, place: Workplace) -> Proposal:
        """Takes the changes as they are."""
        taken = checked(self.name, CHANGED, arguments)
        return Proposal(self.name, taken, self.effect, f"#{taken['taskId']}")

    async def run(self, proposal: Proposal, place: Workplace, report: Report) -> Outcome:
        """Changes it, and says what is new."""
        taken = proposal.arguments
        number = taken["taskId"]
        output: dict[str, Any] = {"success": True, "taskId": number, "updatedFields": []}
        task = _listed(place).get(number)
        if task is None:
            return Outcome("Task not found", output | {"success": False, "error": "Task not found"})
        before = task["status"]
        output["updatedFields"] = _change(task, taken, place)
        if task["status"] != before:
            output["statusChange"] = {"from": before, "to": task["status"]}
        return Outcome(f"Updated task #{number} {', '.join(output['updatedFields'])}", output)


def _change(task: dict[str, Any], taken: Arguments, place: Workplace) -> list[str]:
    """Changes a task; returns the names of what is new."""
    if taken.get("status") == "deleted":
        task["status"] = "deleted"
        for other in place.planned.values():
            for links in (other["blocks"], other["blockedBy"]):
                links[:] = [key for key in links if key != task["id"]]
        return ["deleted"]
    changed = [key for key in PLAIN if key in taken and taken[key] != task.get(key)]
    task.update({key: taken[key] for key in changed})
    if "metadata" in taken:
        kept = {**task.get("metadata", {}), **taken["metadata"]}
        task["metadata"] = {key: value for key, value in kept.items() if value is not None}
        changed.append("metadata")
    if taken.get("status", task["status"]) != task["status"]:
        task["status"] = taken["status"]
        changed.append("status")
    return changed + _link(task, taken, place)


def _link(task: dict[str, Any], taken: Arguments, place: Workplace) -> list[str]:
    """Joins a task with others; those that are not on the list are passed over."""
    changed, listed = [], _listed(place)
    for field, (own, other) in LINKS.items():
        new = [key for key in map(str, taken.get(field, ())) if key not in task[own]]
        for key in new:
            if key in listed:
                task[own].append(key)
                listed[key][other].append(task["id"])
        changed += [own] if new else []
    return changed


def recall_task(place: Workplace, tool: str, arguments: Arguments, output: Arguments) -> None:
    """Has a workplace know a task that was made or changed before its session went on."""
    try:
        if tool == "TaskUpdate":
            taken = TaskUpdate().propose(arguments, place).arguments
            if output.get("success") and (task := _listed(place).get(taken["taskId"])):
                _change(task, taken, place)
            return
        taken = TaskCreate().propose(arguments, place).arguments
    except ToolError:
        return
    made = output.get("task")
    number = str(made.get("id")) if isinstance(made, Mapping) else ""
    if number.isdecimal():
        place.planned[number] = _made(number, taken)
