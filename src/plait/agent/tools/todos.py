"""The list of things to do, written as a whole."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from plait.agent.tools.arguments import Field, checked, definition, refused
from plait.agent.tools.model import (
    Arguments,
    Effect,
    Outcome,
    Proposal,
    Report,
    ToolError,
    Workplace,
)

STATUSES = ("pending", "in_progress", "completed")
TEXTS = ("content", "activeForm")
ITEM = {
    "type": "object",
    "properties": {
        "content": {"type": "string", "minLength": 1},
        "status": {"type": "string", "enum": [*STATUSES]},
        "activeForm": {"type": "string", "minLength": 1},
    },
    "required": ["content", "status", "activeForm"],
    "additionalProperties": False,
}
FIELDS = (Field("todos", "array", "All things to do", is_needed=True, more={"items": ITEM}),)
ABOUT = (
    "Writes the list of things to do, as a whole: what each is, how far it is, and what it is"
    " called while it is being done. One should be in progress at a time."
)
TOLD = (
    "Todos have been modified successfully. Ensure that you continue to use the todo list to track"
    " your progress. Please proceed with the current tasks if applicable"
)


@dataclass(frozen=True, slots=True)
class TodoWrite:
    """The tool that writes the list of things to do."""

    name: str = "TodoWrite"
    effect: Effect = "none"

    @property
    def definition(self) -> Mapping[str, Any]:
        """Its name, description and schema."""
        return definition(self.name, ABOUT, FIELDS)

    def propose(self, arguments: Arguments, place: Workplace) -> Proposal:
        """Checks every thing to do."""
        taken = checked(self.name, FIELDS, arguments)
        for at, todo in enumerate(taken["todos"]):
            _check(at, todo)
        count = len(taken["todos"])
        title = f"{count} thing to do" if count == 1 else f"{count} things to do"
        return Proposal(self.name, taken, self.effect, title)

    async def run(self, proposal: Proposal, place: Workplace, report: Report) -> Outcome:
        """Puts the list in the place of the one that was there."""
        old = place.todos
        new = [dict(todo) for todo in proposal.arguments["todos"]]
        place.todos = _still_to_do(new)
        return Outcome(TOLD, {"oldTodos": old, "newTodos": new})


def _still_to_do(todos: list[dict[str, Any]]) -> list[dict[str, Any]]:
    is_over = all(todo["status"] == "completed" for todo in todos)
    return [] if is_over else todos


def recall_todos(place: Workplace, arguments: Arguments) -> None:
    """Has a workplace know a list that was written before its session went on."""
    try:
        taken = TodoWrite().propose(arguments, place).arguments
    except ToolError:
        return
    place.todos = _still_to_do([dict(todo) for todo in taken["todos"]])


def _check(at: int, todo: Any) -> None:
    if not isinstance(todo, Mapping):
        raise _wrong(at, None, "expected an object")
    for name in TEXTS:
        if not isinstance(todo.get(name), str) or not todo[name]:
            raise _wrong(at, name, "expected a text that is not empty")
    if todo.get("status") not in STATUSES:
        offered = "|".join(f'"{status}"' for status in STATUSES)
        raise _wrong(at, "status", f"expected one of {offered}")
    if unknown := [str(key) for key in todo if key not in (*TEXTS, "status")]:
        raise _wrong(at, unknown[0], "unrecognized key")


def _wrong(at: int, name: str | None, why: str) -> Exception:
    path: list[Any] = ["todos", at, *([name] if name else [])]
    return refused({"code": "invalid_value", "path": path, "message": f"Invalid input: {why}"})
