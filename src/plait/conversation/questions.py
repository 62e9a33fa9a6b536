"""A conversation to what the model put to the person, questions and plans, and the answers."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from plait.conversation.model import Called, Conversation, Item, Noted, Outcome
from plait.conversation.tools import is_plan, tool_named
from plait.conversation.walk import calls_of, walk
from plait.record import Record
from plait.record.codec import mapping, said


class Option(Struct, frozen=True):
    """An answer that was offered."""

    label: str
    description: str | None = None


class Question(Struct, frozen=True):
    """A question with what was offered and what was chosen."""

    text: str
    turn: int
    header: str | None = None
    options: tuple[Option, ...] = ()
    is_multiple: bool = False
    answer: str | None = None
    """As the log has it; None where none was given."""
    chosen: tuple[str, ...] = ()
    """The offered labels that the answer names; empty where the person used own words."""
    notes: str | None = None
    """What the person added."""
    outcome: Outcome = "ok"
    feedback: str | None = None
    time: str | None = None
    answered_at: str | None = None
    uuid: str | None = None
    call: str | None = None


def questions_of(conversation: Conversation) -> tuple[Question, ...]:
    """Returns all questions, in order, each of several that were asked at once."""
    return tuple(
        question
        for turn, called in calls_of(conversation)
        if tool_named(called.name).kind == "ask"
        for question in asked_by(called, turn)
    )


def asked_by(called: Called, turn: int) -> Iterator[Question]:
    """Yields the questions of one call."""
    view = mapping(called.result.detail if called.result else None)
    given = mapping(called.input)
    answers = mapping(view.get("answers") or given.get("answers"))
    annotations = mapping(view.get("annotations") or given.get("annotations"))
    asked = given.get("questions") or view.get("questions")
    for one in asked if isinstance(asked, list) else ():
        if isinstance(one, Mapping):
            text = said(one, "question") or ""
            answer = _answer_in(answers.get(text))
            options = tuple(_options_in(one))
            yield Question(
                text,
                turn,
                said(one, "header"),
                options,
                one.get("multiSelect") is True,
                answer,
                _chosen(answer, answers.get(text), options),
                said(mapping(annotations.get(text)), "notes"),
                called.outcome,
                called.result.feedback if called.result else None,
                called.time,
                called.answered_at,
                called.uuid,
                called.call,
            )


def _options_in(question: Mapping[str, Any]) -> Iterator[Option]:
    options = question.get("options")
    for one in options if isinstance(options, list) else ():
        if isinstance(one, str):
            yield Option(one)
        elif isinstance(one, Mapping):
            yield Option(said(one, "label") or "", said(one, "description"))


def _answer_in(value: object) -> str | None:
    if isinstance(value, list):
        return ", ".join(one for one in value if isinstance(one, str))
    return value if isinstance(value, str) else None


def _chosen(answer: str | None, value: object, options: tuple[Option, ...]) -> tuple[str, ...]:
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
    """A plan, as it was put to the person."""

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
    """What the person said who rejected it."""
    is_edited: bool = False
    """True where what was accepted is not what was proposed."""
    is_of_agent: bool = False


def plans_of(conversation: Conversation) -> tuple[ProposedPlan, ...]:
    """Returns the plans of a conversation, in order."""
    return tuple(_plan_of(c, turn) for turn, c in calls_of(conversation) if is_plan(c.name))


def _plan_of(called: Called, turn: int) -> ProposedPlan:
    given = mapping(called.input)
    view = mapping(called.result.detail if called.result else None)
    proposed, accepted = said(given, "plan"), said(view, "plan") or _told_after(called)
    return ProposedPlan(
        accepted or proposed or "",
        VERDICTS.get(called.outcome, "open"),
        turn,
        called.time,
        called.answered_at,
        called.uuid,
        called.call,
        said(view, "filePath") or said(given, "planFilePath"),
        called.result.feedback if called.result else None,
        is_edited=bool(proposed and accepted and proposed.strip() != accepted.strip()),
        is_of_agent=view.get("isAgent") is True,
    )


def _told_after(called: Called) -> str | None:
    text = called.result.text if called.result and called.outcome == "ok" else ""
    for heading in APPROVED:
        _, found, plan = text.partition(heading)
        if found:
            return plan.strip()
    return None


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
