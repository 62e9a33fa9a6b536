"""Questions that the model asked, the plans it proposed, and its task lists."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from plait.conversation.model import ClientNote, Conversation, Item, Outcome, ToolCall
from plait.conversation.tools import get_tool, is_plan_tool
from plait.conversation.walk import iter_calls, iter_items
from plait.record.codec import as_mapping, get_text


class Option(Struct, frozen=True):
    """An answer that was offered."""

    label: str
    description: str | None = None


class Question(Struct, frozen=True):
    """A question with the offered and the chosen answers."""

    text: str
    turn: int
    header: str | None = None
    options: tuple[Option, ...] = ()
    is_multiple: bool = False
    answer: str | None = None
    """As logged; None if there was none."""
    chosen: tuple[str, ...] = ()
    """The offered labels in the answer; empty if the user typed another answer."""
    notes: str | None = None
    """Notes added by the user."""
    outcome: Outcome = "ok"
    feedback: str | None = None
    time: str | None = None
    answered_at: str | None = None
    uuid: str | None = None
    call: str | None = None


def questions_of(conversation: Conversation) -> tuple[Question, ...]:
    """Return all questions, in order, each of several that were asked at once."""
    return tuple(
        question
        for turn, called in iter_calls(conversation)
        if get_tool(called.name).kind == "ask"
        for question in asked_by(called, turn)
    )


def asked_by(called: ToolCall, turn: int) -> Iterator[Question]:
    """Yield the questions of one call."""
    view = as_mapping(called.result.detail if called.result else None)
    given = as_mapping(called.input)
    answers = as_mapping(view.get("answers") or given.get("answers"))
    annotations = as_mapping(view.get("annotations") or given.get("annotations"))
    asked = given.get("questions") or view.get("questions")
    for part in asked if isinstance(asked, list) else ():
        if isinstance(part, Mapping):
            text = get_text(part, "question") or ""
            value = answers.get(text)
            answer = value if isinstance(value, str) else None
            if isinstance(value, list):
                answer = ", ".join(choice for choice in value if isinstance(choice, str))
            choices: list[Option] = []
            listed = part.get("options")
            for option in listed if isinstance(listed, list) else ():
                if isinstance(option, str):
                    choices.append(Option(option))
                elif isinstance(option, Mapping):
                    choices.append(
                        Option(get_text(option, "label") or "", get_text(option, "description"))
                    )
            options = tuple(choices)
            yield Question(
                text,
                turn,
                get_text(part, "header"),
                options,
                part.get("multiSelect") is True,
                answer,
                _find_chosen_options(answer, answers.get(text), options),
                get_text(as_mapping(annotations.get(text)), "notes"),
                called.outcome,
                called.result.feedback if called.result else None,
                called.time,
                called.answered_at,
                called.uuid,
                called.call,
            )


def _find_chosen_options(
    answer: str | None, value: object, options: tuple[Option, ...]
) -> tuple[str, ...]:
    if answer is None:
        return ()
    labels = [option.label for option in options if option.label]
    if isinstance(value, list):
        return tuple(label for label in labels if label in value)
    if answer in labels:
        return (answer,)
    rest, found = f", {answer}, ", set[str]()
    for label in sorted(labels, key=len, reverse=True):
        if f", {label}, " in rest:
            rest = rest.replace(f", {label}, ", ", ")
            found.add(label)
    return tuple(label for label in labels if label in found)


APPROVED = ("## Approved Plan:\n", "## Approved Plan (edited by user):\n")
Verdict: TypeAlias = Literal["accepted", "rejected", "open"]
VERDICTS: dict[Outcome, Verdict] = {"ok": "accepted", "rejected": "rejected"}


class ProposedPlan(Struct, frozen=True):
    """A plan as it was proposed to the user."""

    text: str
    verdict: Verdict
    turn: int
    time: str | None = None
    answered_at: str | None = None
    uuid: str | None = None
    call: str | None = None
    path: str | None = None
    """The file that it was written to."""
    feedback: str | None = None
    """The user's words when rejecting it."""
    is_edited: bool = False
    """Whether the accepted plan differs from the proposed one."""
    is_of_agent: bool = False


def plans_of(conversation: Conversation) -> tuple[ProposedPlan, ...]:
    """Return the plans of a conversation, in order."""
    return tuple(
        _make_plan(c, turn) for turn, c in iter_calls(conversation) if is_plan_tool(c.name)
    )


def _make_plan(called: ToolCall, turn: int) -> ProposedPlan:
    given = as_mapping(called.input)
    view = as_mapping(called.result.detail if called.result else None)
    proposed, accepted = (
        get_text(given, "plan"),
        get_text(view, "plan") or _find_approved_plan(called),
    )
    return ProposedPlan(
        accepted or proposed or "",
        VERDICTS.get(called.outcome, "open"),
        turn,
        called.time,
        called.answered_at,
        called.uuid,
        called.call,
        get_text(view, "filePath") or get_text(given, "planFilePath"),
        called.result.feedback if called.result else None,
        is_edited=bool(proposed and accepted and proposed.strip() != accepted.strip()),
        is_of_agent=view.get("isAgent") is True,
    )


def _find_approved_plan(called: ToolCall) -> str | None:
    text = called.result.text if called.result and called.outcome == "ok" else ""
    for heading in APPROVED:
        _, found, plan = text.partition(heading)
        if found:
            return plan.strip()
    return None


ListKind: TypeAlias = Literal[
    "todos",  # rewritten as a whole
    "tasks",  # numbered, changed one by one
]
CREATED = re.compile(r"Task #(\S+) created")
LISTED = re.compile(r"^#(\S+) \[(\w+)\] (.*)$", re.MULTILINE)


class Task(Struct, frozen=True):
    """One task of a list."""

    text: str
    status: str = "pending"
    id: str | None = None
    """None for older lists and those that are rewritten as a whole."""
    doing: str | None = None
    """Its name while it is in progress."""
    description: str | None = None
    owner: str | None = None
    blocked_by: tuple[str, ...] = ()


class ListState(Struct, frozen=True):
    """A list after a change."""

    kind: ListKind
    tasks: tuple[Task, ...]
    turn: int | None
    time: str | None = None
    uuid: str | None = None
    call: str | None = None

    @property
    def done(self) -> int:
        """The number of completed tasks."""
        return sum(task.status == "completed" for task in self.tasks)


def lists_of(conversation: Conversation) -> tuple[ListState, ...]:
    """Return every state of the lists, in order; unchanged ones are left out."""
    known: dict[ListKind, tuple[Task, ...]] = {"todos": (), "tasks": ()}
    found: list[ListState] = []
    for turn, item in iter_items(conversation):
        for kind, tasks in _iter_list_changes(item, known["tasks"]):
            if tasks != known[kind]:
                known[kind] = tasks
                call = item.call if isinstance(item, ToolCall) else None
                found.append(ListState(kind, tasks, turn, item.time, item.uuid, call))
    return tuple(found)


def last_lists(states: Iterable[ListState]) -> dict[ListKind, ListState]:
    """Return the last state of each kind of list."""
    return {state.kind: state for state in states}


def _iter_list_changes(
    item: Item, tasks: tuple[Task, ...]
) -> Iterator[tuple[ListKind, tuple[Task, ...]]]:
    if isinstance(item, ToolCall) and item.outcome == "ok" and not item.is_intermediate:
        if item.name == "TodoWrite":
            view = as_mapping(item.result.detail if item.result else None)
            written = view.get("newTodos", as_mapping(item.input).get("todos"))
            if isinstance(written, list):
                yield "todos", _parse_tasks(written)
        elif item.name in CHANGES:
            yield "tasks", CHANGES[item.name](item, tasks)
    elif isinstance(item, ClientNote) and item.subtype in ("task_reminder", "todo_reminder"):
        content = as_mapping(as_mapping(item.value).get("attachment")).get("content")
        if isinstance(content, list) and content:  # otherwise the tool has not been used recently
            if item.subtype == "task_reminder":
                yield "tasks", _read_task_list(content, tasks)
            else:
                yield "todos", _parse_tasks(content)


def _parse_tasks(value: object) -> tuple[Task, ...]:
    among = value if isinstance(value, list) else []
    return tuple(_make_task(as_mapping(item)) for item in among if isinstance(item, Mapping))


def _make_task(value: Mapping[str, Any]) -> Task:
    return Task(
        get_text(value, "subject") or get_text(value, "content") or "",
        get_text(value, "status") or "pending",
        _get_name(value.get("id")),
        get_text(value, "activeForm"),
        get_text(value, "description"),
        get_text(value, "owner"),
        _parse_names(value.get("blockedBy")),
    )


def _create_task(called: ToolCall, tasks: tuple[Task, ...]) -> tuple[Task, ...]:
    result = called.result
    view = as_mapping(as_mapping(result.detail if result else None).get("task"))
    found = CREATED.search(result.text) if result else None
    name = _get_name(view.get("id")) or (found[1] if found else None)
    return _with_task(
        tasks, replace(_make_task(as_mapping(called.input)), id=name, status="pending")
    )


def _update_task(called: ToolCall, tasks: tuple[Task, ...]) -> tuple[Task, ...]:
    given = as_mapping(called.input)
    view = as_mapping(called.result.detail if called.result else None)
    name = _get_name(given.get("taskId"))
    if name is None or view.get("success") is False:
        return tasks
    if given.get("status") == "deleted":
        return tuple(task for task in tasks if task.id != name)
    before = next((task for task in tasks if task.id == name), Task("", id=name))
    blocked = (*before.blocked_by, *_parse_names(given.get("addBlockedBy")))
    return _with_task(
        tasks,
        Task(
            get_text(given, "subject") or before.text,
            get_text(given, "status") or before.status,
            name,
            get_text(given, "activeForm") or before.doing,
            get_text(given, "description") or before.description,
            get_text(given, "owner") or before.owner,
            tuple(dict.fromkeys(blocked)),
        ),
    )


def _read_tasks(called: ToolCall, tasks: tuple[Task, ...]) -> tuple[Task, ...]:
    result = called.result
    view = as_mapping(result.detail if result else None)
    if view.get("task") or view.get("tasks"):
        among = view.get("tasks") or [view.get("task")]
        return _read_task_list(among, tasks, is_complete="tasks" in view)
    lines = LISTED.findall(result.text) if result and called.name == "TaskList" else []
    tasks_by_field = [
        {"id": name, "status": status, "subject": text} for name, status, text in lines
    ]
    return _read_task_list(tasks_by_field, tasks) if tasks_by_field else tasks


CHANGES = {
    "TaskCreate": _create_task,
    "TaskUpdate": _update_task,
    "TaskGet": _read_tasks,
    "TaskList": _read_tasks,
}


def _read_task_list(
    value: object, tasks: tuple[Task, ...], *, is_complete: bool = True
) -> tuple[Task, ...]:
    before = {task.id: task for task in tasks}
    found = () if is_complete else tasks
    for task in _parse_tasks(value):
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
    return tuple(sorted(found, key=_task_order)) if is_complete else found


def _with_task(tasks: tuple[Task, ...], task: Task) -> tuple[Task, ...]:
    if task.id is None or all(other.id != task.id for other in tasks):
        return (*tasks, task)
    return tuple(task if other.id == task.id else other for other in tasks)


def _task_order(task: Task) -> tuple[int, str]:
    name = task.id or ""
    return (int(name) if name.isascii() and name.isdigit() and len(name) < 16 else 1 << 60, name)


def _parse_names(value: object) -> tuple[str, ...]:
    among = value if isinstance(value, list) else []
    return tuple(name for item in among if (name := _get_name(item)))


def _get_name(value: object) -> str | None:
    if isinstance(value, bool) or not isinstance(value, str | int):
        return None
    return str(value) or None
