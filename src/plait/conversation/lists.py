"""A conversation to its lists of things to do, as they changed over time."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from plait.conversation.model import Called, Conversation, Item, Noted
from plait.conversation.values import mapping, said
from plait.conversation.walk import walk
from plait.record import Record

ListKind: TypeAlias = Literal[
    "todos",  # written anew as a whole
    "tasks",  # numbered, changed one by one
]
CREATED = re.compile(r"Task #(\S+) created")
LISTED = re.compile(r"^#(\S+) \[(\w+)\] (.*)$", re.MULTILINE)


class Task(Struct, frozen=True):
    """One thing to do."""

    text: str
    status: str = "pending"
    id: str | None = None
    """None for those of a list that is written as a whole, and older ones."""
    doing: str | None = None
    """How it is called while it is being done."""
    description: str | None = None
    owner: str | None = None
    blocked_by: tuple[str, ...] = ()


class ListState(Struct, frozen=True):
    """A list as it stood after a change."""

    kind: ListKind
    tasks: tuple[Task, ...]
    turn: int | None
    """None where it was taken from records alone."""
    time: str | None = None
    uuid: str | None = None
    call: str | None = None

    @property
    def done(self) -> int:
        """How many of its tasks are completed."""
        return sum(task.status == "completed" for task in self.tasks)


def lists_of(conversation: Conversation) -> tuple[ListState, ...]:
    """Returns every state of the lists, in order; what changed nothing is left out."""
    known: dict[ListKind, tuple[Task, ...]] = {"todos": (), "tasks": ()}
    found: list[ListState] = []
    for turn, item in walk(conversation):
        for kind, tasks in told_by(item, known["tasks"]):
            if tasks != known[kind]:
                known[kind] = tasks
                call = item.call if isinstance(item, Called) else None
                found.append(ListState(kind, tasks, turn, item.time, item.uuid, call))
    return tuple(found)


def last_lists(states: Iterable[ListState]) -> dict[ListKind, ListState]:
    """Returns the last state of each kind of list."""
    return {state.kind: state for state in states}


def recorded_todos(records: Iterable[Record]) -> Iterator[ListState]:
    """Yields the lists that prompts of older clients carry, where they changed."""
    known: tuple[Task, ...] = ()
    for record in records:
        if record.kind == "user" and b'"todos"' in record.raw:
            written = record.fields.get("todos")
            tasks = todos_in(written) if isinstance(written, list) else known
            if tasks != known:
                known = tasks
                yield ListState("todos", tasks, None, record.timestamp, record.uuid)


def told_by(item: Item, tasks: tuple[Task, ...]) -> Iterator[tuple[ListKind, tuple[Task, ...]]]:
    """Yields the list that an item leaves behind."""
    if isinstance(item, Called) and item.outcome == "ok" and not item.is_intermediate:
        if item.name == "TodoWrite":
            view = mapping(item.result.detail if item.result else None)
            written = view.get("newTodos", mapping(item.input).get("todos"))
            if isinstance(written, list):
                yield "todos", todos_in(written)
        elif item.name in CHANGES:
            yield "tasks", CHANGES[item.name](item, tasks)
    elif isinstance(item, Noted) and item.subtype in ("task_reminder", "todo_reminder"):
        content = mapping(mapping(item.value).get("attachment")).get("content")
        if isinstance(content, list) and content:  # else the tool has not been used of late
            is_tasks = item.subtype == "task_reminder"
            yield ("tasks", listed(content, tasks)) if is_tasks else ("todos", todos_in(content))


def todos_in(value: object) -> tuple[Task, ...]:
    """Returns the tasks of a list that is written as a whole."""
    among = value if isinstance(value, list) else []
    return tuple(task_of(mapping(one)) for one in among if isinstance(one, Mapping))


def task_of(value: Mapping[str, Any]) -> Task:
    """Returns one task as the log has it."""
    return Task(
        said(value, "subject") or said(value, "content") or "",
        said(value, "status") or "pending",
        name_of(value.get("id")),
        said(value, "activeForm"),
        said(value, "description"),
        said(value, "owner"),
        names_in(value.get("blockedBy")),
    )


def created(called: Called, tasks: tuple[Task, ...]) -> tuple[Task, ...]:
    """Adds a task under the number that the client gave it."""
    result = called.result
    view = mapping(mapping(result.detail if result else None).get("task"))
    found = CREATED.search(result.text) if result else None
    name = name_of(view.get("id")) or (found[1] if found else None)
    return with_task(tasks, replace(task_of(mapping(called.input)), id=name, status="pending"))


def updated(called: Called, tasks: tuple[Task, ...]) -> tuple[Task, ...]:
    """Changes what the call names; one that nobody created here is told with what is known."""
    given = mapping(called.input)
    view = mapping(called.result.detail if called.result else None)
    name = name_of(given.get("taskId"))
    if name is None or view.get("success") is False:
        return tasks
    if given.get("status") == "deleted":
        return tuple(task for task in tasks if task.id != name)
    before = next((task for task in tasks if task.id == name), Task("", id=name))
    blocked = (*before.blocked_by, *names_in(given.get("addBlockedBy")))
    return with_task(
        tasks,
        Task(
            said(given, "subject") or before.text,
            said(given, "status") or before.status,
            name,
            said(given, "activeForm") or before.doing,
            said(given, "description") or before.description,
            said(given, "owner") or before.owner,
            tuple(dict.fromkeys(blocked)),
        ),
    )


def looked_up(called: Called, tasks: tuple[Task, ...]) -> tuple[Task, ...]:
    """Takes over what one task or all of them are said to be."""
    result = called.result
    view = mapping(result.detail if result else None)
    if view.get("task") or view.get("tasks"):
        among = view.get("tasks") or [view.get("task")]
        return listed(among, tasks, is_whole="tasks" in view)
    lines = LISTED.findall(result.text) if result and called.name == "TaskList" else []
    told = [{"id": name, "status": status, "subject": text} for name, status, text in lines]
    return listed(told, tasks) if told else tasks


CHANGES = {
    "TaskCreate": created,
    "TaskUpdate": updated,
    "TaskGet": looked_up,
    "TaskList": looked_up,
}


def listed(value: object, tasks: tuple[Task, ...], *, is_whole: bool = True) -> tuple[Task, ...]:
    """Returns the tasks as a list tells them; what it leaves out is known from before."""
    before = {task.id: task for task in tasks}
    found = () if is_whole else tasks
    for task in todos_in(value):
        known = before.get(task.id, task)
        found = with_task(
            found,
            replace(
                task,
                text=task.text or known.text,
                doing=task.doing or known.doing,
                description=task.description or known.description,
                owner=task.owner or known.owner,
            ),
        )
    return tuple(sorted(found, key=by_number)) if is_whole else found


def with_task(tasks: tuple[Task, ...], task: Task) -> tuple[Task, ...]:
    """Returns the tasks with one put in its place, or at the end."""
    if task.id is None or all(one.id != task.id for one in tasks):
        return (*tasks, task)
    return tuple(task if one.id == task.id else one for one in tasks)


def by_number(task: Task) -> tuple[int, str]:
    """Returns the key that sorts tasks as they were numbered."""
    name = task.id or ""
    return (int(name) if name.isascii() and name.isdigit() and len(name) < 16 else 1 << 60, name)


def names_in(value: object) -> tuple[str, ...]:
    """Returns the ids in a list of the log."""
    among = value if isinstance(value, list) else []
    return tuple(name for one in among if (name := name_of(one)))


def name_of(value: object) -> str | None:
    """Returns an id, be it written as text or as a number."""
    if isinstance(value, bool) or not isinstance(value, str | int):
        return None
    return str(value) or None
