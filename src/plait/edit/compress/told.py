"""Items of a turn to what is told of it: who asked, what was said, a line for each call."""

from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Any

from plait.conversation.model import Answered, Called, Item, Outcome, Said, Told, ToldKind
from plait.conversation.tools import tool_named
from plait.edit.compress.model import Segment, ToldTurn
from plait.record.codec import mapping

ASKED: frozenset[ToldKind] = frozenset({"prompt", "queued", "command", "bash", "summary"})
"""What stays as it is: people's words, and what an earlier compaction left of them."""
REPORTS: dict[ToldKind, str] = {
    "notice": "a background task reported",
    "teammate": "a teammate wrote",
    "peer": "another session wrote",
}
INTERRUPTED = "the user interrupted here"
OUTCOMES: dict[Outcome, str] = {
    "ok": "ok",
    "failed": "failed",
    "rejected": "rejected by the user",
    "interrupted": "interrupted",
    "launched": "started in the background",
    "missing": "no result",
}
SUBJECTS = """
    file_path notebook_path path command pattern query url description skill subject prompt
    task_id taskId shell_id bash_id
""".split()
"""Fields of a call's input that say what it is about, the surest first."""
LONGEST = 100
MOST_CALLS = 40


def told_turn(segment: Segment) -> ToldTurn:
    """Returns a turn as whoever sums it up reads it."""
    told = [item for item in segment.items if isinstance(item, Told)]
    return ToldTurn(
        segment.number,
        tuple(one.text for one in told if one.kind in ASKED and one.text.strip()),
        tuple(_answers(segment.items)),
        tuple(_few(_counted(_happenings(segment.items)))),
    )


def is_asked(item: Item) -> bool:
    """Tells what stays as it is."""
    return isinstance(item, Told) and item.kind in ASKED


def is_answer(item: Item) -> bool:
    """Tells what a summary stands for."""
    return isinstance(item, Said | Called | Answered) or (
        isinstance(item, Told) and (item.kind in REPORTS or item.kind == "interruption")
    )


def _answers(items: Iterable[Item]) -> Iterator[str]:
    return (item.text.strip() for item in items if isinstance(item, Said) and item.text.strip())


def _happenings(items: Iterable[Item]) -> Iterator[str]:
    for item in items:
        if isinstance(item, Called):
            yield call_line(item)
        elif isinstance(item, Told) and item.kind in REPORTS:
            yield f"{REPORTS[item.kind]}: {short(item.name or item.text)}"
        elif isinstance(item, Told) and item.kind == "interruption":
            yield INTERRUPTED


def call_line(called: Called) -> str:
    """Returns one call in a line: the tool, what it was about, how it went, what people said."""
    subject = short(_subject(called.input))
    words = f"{called.name} {subject}".strip()
    return f"{words}: {'; '.join((OUTCOMES[called.outcome], *_from_people(called)))}"


def _subject(given: Any) -> str:
    fields = mapping(given)
    named = (fields.get(name) for name in SUBJECTS)
    texts = (one for one in (*named, *fields.values()) if isinstance(one, str) and one.strip())
    return next(texts, "")


def _from_people(called: Called) -> Iterator[str]:
    """Yields what a person answered or objected: no tool says it again."""
    result = called.result
    if result and result.feedback:
        yield f"the user said: {' '.join(result.feedback.split())}"
    if result and called.outcome == "ok" and tool_named(called.name).is_answered_by_person:
        yield " ".join(result.text.split())


def _counted(lines: Iterable[str]) -> Iterator[str]:
    for line, same in groupby(lines):
        count = sum(1 for _ in same)
        yield f"{line} ({count} times)" if count > 1 else line


def _few(lines: Iterator[str]) -> list[str]:
    found = list(lines)
    more = len(found) - MOST_CALLS
    if more <= 1:
        return found
    half = MOST_CALLS // 2
    return [*found[:half], f"… {more} more …", *found[-half:]]


def short(text: str) -> str:
    """Returns the first words of a text, on one line."""
    words = " ".join(text[: 4 * LONGEST].split())
    return words if len(words) <= LONGEST else f"{words[: LONGEST - 1]}…"
