"""What runs in the background to its output, or to its end."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from plait.agent.tools.arguments import Field, checked, definition
from plait.agent.tools.background import Background
from plait.agent.tools.model import (
    Arguments,
    Effect,
    Outcome,
    Proposal,
    Report,
    ToolError,
    Workplace,
)
from plait.agent.tools.persisted import LIMIT

USUAL_MS, MOST_MS = 30_000, 600_000
LOOKED_AT = (
    Field("task_id", "string", "The id of what runs in the background", is_needed=True),
    Field("block", "boolean", "Whether to wait for its end", default=True),
    Field("timeout", "number", "Milliseconds to wait at most"),
)
STOPPED = (
    Field("task_id", "string", "The id of what runs in the background"),
    Field("shell_id", "string", "The same, by its older name"),
)


@dataclass(frozen=True, slots=True)
class TaskOutput:
    """The tool that shows what a command or an agent in the background said."""

    name: str = "TaskOutput"
    effect: Effect = "none"

    @property
    def definition(self) -> Mapping[str, Any]:
        """Its name, description and schema."""
        about = "Shows what a command or agent in the background said, and whether it has ended."
        return definition(self.name, about, LOOKED_AT)

    def propose(self, arguments: Arguments, place: Workplace) -> Proposal:
        """Finds the command."""
        taken = checked(self.name, LOOKED_AT, arguments)
        task = _known(taken["task_id"], place)
        return Proposal(self.name, taken, self.effect, task.description)

    async def run(self, proposal: Proposal, place: Workplace, report: Report) -> Outcome:
        """Waits for its end, if asked to, and shows what it said."""
        taken = proposal.arguments
        task = _known(taken["task_id"], place)
        if taken["block"] and task.status == "running":
            waits = {"taskDescription": task.description, "taskType": task.kind}
            report({"type": "waiting_for_task", **waits})
            ms = min(max(float(taken.get("timeout", USUAL_MS)), 0), MOST_MS)
            await task.wait(ms / 1000)
        is_late = taken["block"] and task.status == "running"
        return _shown(task, "timeout" if is_late else "success")


def _known(name: str, place: Workplace) -> Background:
    task: Background | None = place.background.get(name)
    if task is None:
        raise ToolError(f"No task found with ID: {name}", is_misuse=True)
    return task


def _shown(task: Background, status: str) -> Outcome:
    said = task.said[-LIMIT:]
    told: dict[str, Any] = {
        "task_id": task.name,
        "task_type": task.kind,
        "status": task.status,
        "description": task.description,
        "output": said,
        **({"exitCode": task.code} if task.kind == "local_bash" else {}),
    }
    task.is_told = task.is_told or task.status != "running"
    parts = [
        f"<retrieval_status>{status}</retrieval_status>",
        f"<task_id>{task.name}</task_id>",
        f"<task_type>{task.kind}</task_type>",
        f"<status>{task.status}</status>",
    ]
    if task.code is not None:
        parts.append(f"<exit_code>{task.code}</exit_code>")
    if said.strip():
        parts.append(f"<output>\n{said.rstrip()}\n</output>")
    return Outcome("\n\n".join(parts), {"retrieval_status": status, "task": told})


@dataclass(frozen=True, slots=True)
class TaskStop:
    """The tool that ends a command or an agent in the background."""

    name: str = "TaskStop"
    effect: Effect = "none"

    @property
    def definition(self) -> Mapping[str, Any]:
        """Its name, description and schema."""
        about = "Ends a command or agent in the background, with all that it started."
        return definition(self.name, about, STOPPED)

    def propose(self, arguments: Arguments, place: Workplace) -> Proposal:
        """Finds the command."""
        taken = checked(self.name, STOPPED, arguments)
        name = taken.get("task_id") or taken.get("shell_id")
        if not name:
            raise ToolError("Missing required parameter: task_id", is_misuse=True)
        task = _known(name, place)
        if task.status != "running":
            told = f"Task {name} is not running (status: {task.status})"
            raise ToolError(told, is_misuse=True)
        return Proposal(self.name, taken, self.effect, task.description)

    async def run(self, proposal: Proposal, place: Workplace, report: Report) -> Outcome:
        """Ends it, and waits until it has ended."""
        taken = proposal.arguments
        task = _known(taken.get("task_id") or taken["shell_id"], place)
        await task.stop()
        output = {
            "message": f"Successfully stopped task: {task.name} ({task.subject})",
            "task_id": task.name,
            "task_type": task.kind,
            "command": task.subject,
        }
        return Outcome(json.dumps(output, ensure_ascii=False, separators=(",", ":")), output)
