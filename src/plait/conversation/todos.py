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
        for kind, tasks in _told_by(item, known["tasks"]):
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
            tasks = _todos_in(written) if isinstance(written, list) else known
            if tasks != known:
                known = tasks
                yield ListState("todos", tasks, None, record.timestamp, record.uuid)


def _told_by(item: Item, tasks: tuple[Task, ...]) -> Iterator[tuple[ListKind, tuple[Task, ...]]]:
    if isinstance(item, Called) and item.outcome == "ok" and not item.is_intermediate:
        if item.name == "TodoWrite":
            view = mapping(item.result.detail if item.result else None)
            written = view.get("newTodos", mapping(item.input).get("todos"))
            if isinstance(written, list):
                yield "todos", _todos_in(written)
        elif item.name in CHANGES:
            yield "tasks", CHANGES[item.name](item, tasks)
    elif isinstance(item, Noted) and item.subtype in ("task_reminder", "todo_reminder"):
        content = mapping(mapping(item.value).get("attachment")).get("content")
        if isinstance(content, list) and content:  # else the tool has not been used of late
            is_tasks = item.subtype == "task_reminder"
            yield ("tasks", _listed(content, tasks)) if is_tasks else ("todos", _todos_in(content))


def _todos_in(value: object) -> tuple[Task, ...]:
    among = value if isinstance(value, list) else []
    return tuple(_task_of(mapping(one)) for one in among if isinstance(one, Mapping))


def _task_of(value: Mapping[str, Any]) -> Task:
    return Task(
        said(value, "subject") or said(value, "content") or "",
        said(value, "status") or "pending",
        _name_of(value.get("id")),
        said(value, "activeForm"),
        said(value, "description"),
        said(value, "owner"),
        _names_in(value.get("blockedBy")),
    )


def _created(called: Called, tasks: tuple[Task, ...]) -> tuple[Task, ...]:
    result = called.result
    view = mapping(mapping(result.detail if result else None).get("task"))
    found = CREATED.search(result.text) if result else None
    name = _name_of(view.get("id")) or (found[1] if found else None)
    return _with_task(tasks, replace(_task_of(mapping(called.input)), id=name, status="pending"))


def _updated(called: Called, tasks: tuple[Task, ...]) -> tuple[Task, ...]:
    given = mapping(called.input)
    view = mapping(called.result.detail if called.result else None)
    name = _name_of(given.get("taskId"))
    if name is None or view.get("success") is False:
        return tasks
    if given.get("status") == "deleted":
        return tuple(task for task in tasks if task.id != name)
    before = next((task for task in tasks if task.id == name), Task("", id=name))
    blocked = (*before.blocked_by, *_names_in(given.get("addBlockedBy")))
    return _with_task(
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


def _looked_up(called: Called, tasks: tuple[Task, ...]) -> tuple[Task, ...]:
    result = called.result
    view = mapping(result.detail if result else None)
    if view.get("task") or view.get("tasks"):
        among = view.get("tasks") or [view.get("task")]
        return _listed(among, tasks, is_whole="tasks" in view)
    lines = LISTED.findall(result.text) if result and called.name == "TaskList" else []
    told = [{"id": name, "status": status, "subject": text} for name, status, text in lines]
    return _listed(told, tasks) if told else tasks


CHANGES = {
    "TaskCreate": _created,
    "TaskUpdate": _updated,
    "TaskGet": _looked_up,
    "TaskList": _looked_up,
}


def _listed(value: object, tasks: tuple[Task, ...], *, is_whole: bool = True) -> tuple[Task, ...]:
    before = {task.id: task for task in tasks}
    found = () if is_whole else tasks
    for task in _todos_in(value):
        known = before.get(task.id, task)
        found = _with_task(
            found,
            replace(
                task,
                text=task.text or known.text,
                doing=task.doing or known.doing,
                description=task.description or known.description,
                owner=task.owner or known.owner,
            ),
        )
    return tuple(sorted(found, key=_by_number)) if is_whole else found


def _with_task(tasks: tuple[Task, ...], task: Task) -> tuple[Task, ...]:
    if task.id is None or all(one.id != task.id for one in tasks):
        return (*tasks, task)
    return tuple(task if one.id == task.id else one for one in tasks)


def _by_number(task: Task) -> tuple[int, str]:
    name = task.id or ""
    return (int(name) if name.isascii() and name.isdigit() and len(name) < 16 else 1 << 60, name)


def _names_in(value: object) -> tuple[str, ...]:
    among = value if isinstance(value, list) else []
    return tuple(name for one in among if (name := _name_of(one)))


def _name_of(value: object) -> str | None:
    if isinstance(value, bool) or not isinstance(value, str | int):
        return None
    return str(value) or None
