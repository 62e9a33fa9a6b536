"""Notes of the client to the runs of hooks that they tell of.

Three kinds of note tell of a hook, and a newer one says more than an older one: `hook_progress`
that it began, `stop_hook_summary` how long those at the end of a turn took, attachments
(`hook_success` and its kin) what it ran, printed and returned. Each run is told once.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from plait.conversation.model import Item, Noted
from plait.conversation.values import mapping, said
from plait.trace.model import Level
from plait.trace.spans_tools import first_line

PROGRESS, SUMMARY, ATTACHED = "hook_progress", "stop_hook_summary", "hook_"
OWN = "callback"
"""What the client runs itself beside each call: no hook of the user's."""
LEVELS: dict[str, Level] = {
    "hook_blocking_error": "ERROR",
    "hook_error_during_execution": "ERROR",
    "hook_non_blocking_error": "WARNING",
    "hook_cancelled": "WARNING",
}


@dataclass(frozen=True, slots=True)
class HookRun:
    """One run of a hook."""

    note: Noted
    name: str
    event: str
    command: str | None = None
    output: str | None = None
    milliseconds: float | None = None
    exit_code: int | None = None
    call: str | None = None
    """The call that it ran beside."""
    level: Level = "DEFAULT"
    status: str = ""


def hooks_in(items: Iterable[Item]) -> Iterator[HookRun]:
    """Yields the runs of hooks that a turn tells of, each by the note that says the most."""
    notes = [item for item in items if isinstance(item, Noted) and is_of_hook(item)]
    runs = [run for note in notes for run in runs_of(note)]
    best: dict[str, int] = {}
    for run in runs:
        best[run.event] = max(best.get(run.event, 0), weight(run.note))
    for run in runs:
        is_end = run.event in ("Stop", "SubagentStop")
        if not is_end or weight(run.note) == best[run.event]:
            yield run


def is_of_hook(note: Noted) -> bool:
    """Tells whether a note is about hooks."""
    subtype = note.subtype or ""
    return subtype == SUMMARY or subtype.startswith(ATTACHED)


def weight(note: Noted) -> int:
    """Returns how much a kind of note says."""
    return 1 if note.subtype == PROGRESS else 2 if note.subtype == SUMMARY else 3


def runs_of(note: Noted) -> Iterator[HookRun]:
    """Yields the runs that one note tells of."""
    value = mapping(note.value)
    if note.subtype == SUMMARY:
        yield from at_the_end(note, value)
        return
    facts = mapping(value.get("data" if note.subtype == PROGRESS else "attachment"))
    command = said(facts, "command")
    if command == OWN:
        return
    event = said(facts, "hookEvent") or "hook"
    yield HookRun(
        note,
        name=said(facts, "hookName") or event,
        event=event,
        command=command or said(mapping(facts.get("blockingError")), "command"),
        output=printed(facts),
        milliseconds=number(facts.get("durationMs")),
        exit_code=whole(facts.get("exitCode")),
        call=said(facts, "toolUseID") or said(value, "parentToolUseID"),
        level=LEVELS.get(note.subtype or "", "DEFAULT"),
        status=complaint(facts) if note.subtype in LEVELS else "",
    )


def at_the_end(note: Noted, value: Mapping[str, Any]) -> Iterator[HookRun]:
    """Yields the hooks that ran at the end of a turn."""
    infos, errors = value.get("hookInfos"), value.get("hookErrors")
    failed = [str(one) for one in errors] if isinstance(errors, list) else []
    for info in map(mapping, infos if isinstance(infos, list) else []):
        yield HookRun(
            note,
            name="Stop",
            event="Stop",
            command=said(info, "command"),
            milliseconds=number(info.get("durationMs")),
            level="WARNING" if failed else "DEFAULT",
            status=first_line("\n".join(failed)),
        )


def printed(facts: Mapping[str, Any]) -> str | None:
    """Returns what a hook printed, or what the client was told by it."""
    content = facts.get("content")
    if isinstance(content, list):
        content = "\n".join(one for one in content if isinstance(one, str))
    return said(facts, "stdout") or (content if isinstance(content, str) else None) or None


def complaint(facts: Mapping[str, Any]) -> str:
    """Returns what a hook objects to."""
    blocking = facts.get("blockingError")
    words = said(mapping(blocking), "blockingError") or (
        blocking if isinstance(blocking, str) else ""
    )
    return first_line(words or said(facts, "stderr") or printed(facts) or "the hook failed")


def number(value: object) -> float | None:
    """Returns a number of the log, None where it is something else."""
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def whole(value: object) -> int | None:
    """Returns a whole number of the log, None where it is something else."""
    return value if isinstance(value, int) and not isinstance(value, bool) else None
