"""A call to the parts that stand behind its line, as plain values that any sink can draw."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Literal, TypeAlias

from msgspec import Struct

from plait.conversation.patches import Patch, proposed_patch
from plait.view.passages.call_view import CallView, text_field

MOST_ON_THE_LINE = 90


class About(Struct, frozen=True):
    """Words on what a call is for."""

    text: str
    is_address: bool = False


class Output(Struct, frozen=True):
    """A text that a tool was given or answered."""

    text: str
    kind: Literal["answer", "command", "report"] = "answer"
    is_fallback: bool = False
    """Drawn only where nothing of the other parts is."""


class Given(Struct, frozen=True):
    """The input as it is."""

    is_fallback: bool = False


class FileLines(Struct, frozen=True):
    """Lines of a file, and the number of the first."""

    text: str
    first: object


class Change(Struct, frozen=True):
    """What was changed in a file."""

    patch: Patch


class TodoList(Struct, frozen=True):
    """Things to do: pairs of status and words."""

    items: tuple[tuple[str, str], ...]


class Asked(Struct, frozen=True):
    """A question with the labels that were offered and the answer."""

    text: str
    labels: tuple[str, ...]
    answer: str


class Prose(Struct, frozen=True):
    """Markdown: a plan, or what an agent was sent out with."""

    text: str
    kind: Literal["plan", "task"]


class Links(Struct, frozen=True):
    """Pages of the web: pairs of address and title."""

    pages: tuple[tuple[str, str], ...]


Part: TypeAlias = About | Output | Given | FileLines | Change | TodoList | Asked | Prose | Links
Body: TypeAlias = Callable[[CallView], Iterator[Part]]


def any_body(seen: CallView) -> Iterator[Part]:
    """Yields the input as it is, and the words of the answer."""
    yield Given()
    yield Output(seen.answer)


def answer_body(seen: CallView) -> Iterator[Part]:
    """Yields the answer alone: the line tells the rest."""
    yield Output(seen.answer)


def shell_body(seen: CallView) -> Iterator[Part]:
    """Yields a command, where it has more than the line tells, and what it printed."""
    command, about = seen.text("command"), seen.text("description")
    if about:
        yield About(about)
    if "\n" in command.strip() or len(command) >= MOST_ON_THE_LINE:
        yield Output(command, "command")
    yield Output(shell_output(seen))


def shell_output(seen: CallView) -> str:
    """Returns what a command printed, errors behind the rest."""
    parts = [seen.told("stdout").strip("\n"), seen.told("stderr").strip("\n")]
    return "\n".join(part for part in parts if part) or seen.answer


def read_body(seen: CallView) -> Iterator[Part]:
    """Yields the lines of a file that was read."""
    file = getattr(seen.detail, "file", None)
    content = file.get("content") if isinstance(file, Mapping) else None
    if isinstance(file, Mapping) and isinstance(content, str):
        yield FileLines(content, file.get("startLine"))
    else:
        yield Output(seen.answer)


def change_body(seen: CallView) -> Iterator[Part]:
    """Yields what changes in a file, or what went wrong."""
    patch, is_ok = proposed_patch(seen.called), seen.called.outcome == "ok"
    if patch:
        yield Change(patch)
    elif is_ok:
        yield from any_body(seen)
    if not is_ok:
        yield Output(seen.answer)
        yield Given(is_fallback=True)


def todo_body(seen: CallView) -> Iterator[Part]:
    """Yields things to do."""
    items = todo_items(seen.listed("todos") or seen.listed("tasks"))
    yield TodoList(items) if items else Output(seen.answer)


def todo_items(todos: list[Any]) -> tuple[tuple[str, str], ...]:
    """Returns things to do as pairs of status and words."""
    return tuple(
        (text_field(todo, "status"), text_field(todo, "content") or text_field(todo, "subject"))
        for todo in todos
    )


def question_body(seen: CallView) -> Iterator[Part]:
    """Yields questions, what was offered, what was chosen."""
    answers = getattr(seen.detail, "answers", None)
    chosen = answers if isinstance(answers, Mapping) else {}
    questions = seen.listed("questions")
    for asked in questions:
        text = text_field(asked, "question")
        options = asked.get("options") if isinstance(asked, Mapping) else None
        labels = [text_field(one, "label") for one in options] if isinstance(options, list) else []
        yield Asked(text, tuple(labels), text_field(chosen, text))
    if not questions:
        yield Output(seen.answer)


def plan_body(seen: CallView) -> Iterator[Part]:
    """Yields a plan that was put to the person."""
    text = plan_text(seen)
    yield Prose(text, "plan") if text else Output(seen.answer)


def plan_text(seen: CallView) -> str:
    """Returns the words of a plan."""
    return seen.text("plan") or seen.told("plan")


def search_body(seen: CallView) -> Iterator[Part]:
    """Yields the pages that a search of the web found, and the words beside them."""
    results = getattr(seen.detail, "results", None)
    found = results if isinstance(results, list) else []
    contents = [one.get("content") for one in found if isinstance(one, Mapping)]
    hits = [hit for content in contents if isinstance(content, list) for hit in content]
    if hits:
        yield Links(tuple((text_field(hit, "url"), text_field(hit, "title")) for hit in hits))
    yield Output("\n\n".join(one for one in found if isinstance(one, str)))
    yield Output(seen.answer, is_fallback=True)


def page_body(seen: CallView) -> Iterator[Part]:
    """Yields what a page of the web gave."""
    if seen.text("url"):
        yield About(seen.text("url"), is_address=True)
    if seen.text("prompt"):
        yield About(seen.text("prompt"))
    yield Output(seen.told("result") or seen.answer)


def agent_body(seen: CallView) -> Iterator[Part]:
    """Yields what an agent was asked and answered, where its conversation does not tell."""
    agents, asked = seen.called.agents, seen.text("prompt")
    if asked and not agents:
        yield Prose(asked, "task")
    if seen.answer and (not agents or seen.called.outcome != "ok"):
        yield Output(seen.answer, "report")
