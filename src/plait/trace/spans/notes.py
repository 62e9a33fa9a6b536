"""What stands between responses to spans: compactions, hooks, queued prompts, trouble.

Three kinds of note tell of a hook, and a newer one says more than an older one: `hook_progress`
that it began, `stop_hook_summary` how long those at the end of a turn took, attachments
(`hook_success` and its kin) what it ran, printed and returned. Each run is told once.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from plait.conversation.model import Compacted, Item, Noted, Told, ToldKind, Turn
from plait.conversation.walk import opened
from plait.record.codec import mapping, said
from plait.trace.model import Level
from plait.trace.spans.builder import TraceBuilder, Where, before, known, nanoseconds, record_key
from plait.trace.spans.facts import first_line, message

PROGRESS, SUMMARY, ATTACHED = "hook_progress", "stop_hook_summary", "hook_"
OWN = "callback"
"""What the client runs itself beside each call: no hook of the user's."""
HOOK_LEVELS: dict[str, Level] = {
    "hook_blocking_error": "ERROR",
    "hook_error_during_execution": "ERROR",
    "hook_non_blocking_error": "WARNING",
    "hook_cancelled": "WARNING",
}
EVENTS: dict[ToldKind, str] = {
    "queued": "Queued prompt",
    "interruption": "Interrupted",
    "command": "Command",
    "bash": "Shell",
    "notice": "Notice",
    "teammate": "Teammate",
    "peer": "Peer",
    "hook": "Hook message",
    "prompt": "Prompt",
}
UNANSWERED = "Unanswered prompt"
API_ERROR = "api_error"


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
    notes = [item for item in items if isinstance(item, Noted) and _is_of_hook(item)]
    runs = [run for note in notes for run in _runs_of(note)]
    best: dict[str, int] = {}
    for run in runs:
        best[run.event] = max(best.get(run.event, 0), _weight(run.note))
    for run in runs:
        is_end = run.event in ("Stop", "SubagentStop")
        if not is_end or _weight(run.note) == best[run.event]:
            yield run


def _is_of_hook(note: Noted) -> bool:
    subtype = note.subtype or ""
    return subtype == SUMMARY or subtype.startswith(ATTACHED)


def _weight(note: Noted) -> int:
    return 1 if note.subtype == PROGRESS else 2 if note.subtype == SUMMARY else 3


def _runs_of(note: Noted) -> Iterator[HookRun]:
    value = mapping(note.value)
    if note.subtype == SUMMARY:
        yield from _at_the_end(note, value)
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
        output=_printed(facts),
        milliseconds=number(facts.get("durationMs")),
        exit_code=whole(facts.get("exitCode")),
        call=said(facts, "toolUseID") or said(value, "parentToolUseID"),
        level=HOOK_LEVELS.get(note.subtype or "", "DEFAULT"),
        status=_complaint(facts) if note.subtype in HOOK_LEVELS else "",
    )


def _at_the_end(note: Noted, value: Mapping[str, Any]) -> Iterator[HookRun]:
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


def _printed(facts: Mapping[str, Any]) -> str | None:
    content = facts.get("content")
    if isinstance(content, list):
        content = "\n".join(one for one in content if isinstance(one, str))
    return said(facts, "stdout") or (content if isinstance(content, str) else None) or None


def _complaint(facts: Mapping[str, Any]) -> str:
    blocking = facts.get("blockingError")
    words = said(mapping(blocking), "blockingError") or (
        blocking if isinstance(blocking, str) else ""
    )
    return first_line(words or said(facts, "stderr") or _printed(facts) or "the hook failed")


def number(value: object) -> float | None:
    """Returns a number of the log, None where it is something else."""
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def whole(value: object) -> int | None:
    """Returns a whole number of the log, None where it is something else."""
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def add_notes(
    draft: TraceBuilder, where: Where, parent: str, turn: Turn, *, is_answered: bool
) -> None:
    """Adds what a turn holds besides its responses; what opened it is no note if answered."""
    items = list(opened(turn.items))
    for place, item in enumerate(items):
        match item:
            case Compacted():
                _add_compaction(draft, where, parent, item, items[place + 1 :])
            case Noted(subtype=subtype) if subtype == API_ERROR:
                _add_api_error(draft, where, parent, item)
            case Told() if item is not turn.opener:
                _add_event(draft, where, parent, item)
            case Told() if not is_answered:
                _add_event(draft, where, parent, item, UNANSWERED)
            case _:
                pass
    for run in hooks_in(items):
        _add_hook(draft, where, parent, run)


def _add_compaction(
    draft: TraceBuilder, where: Where, parent: str, point: Compacted, after: Iterable[Item]
) -> None:
    told = (item for item in after if isinstance(item, Told | Compacted))
    summary = next(told, None)
    text = summary.text if isinstance(summary, Told) and summary.kind == "summary" else None
    end = nanoseconds(point.time)
    facts = {
        "trigger": point.trigger,
        "pre_tokens": point.pre_tokens,
        "post_tokens": point.post_tokens,
        "preserved": len(point.preserved) or None,
    }
    span = draft.add(
        where,
        "compaction",
        record_key(point),
        name="Compaction",
        parent=parent,
        start=before(end, point.duration_ms),
        end=end,
        output=text,
        metadata=known(facts),
        record=point.uuid,
    )
    draft.compactions.append(span)


def _add_api_error(draft: TraceBuilder, where: Where, parent: str, note: Noted) -> None:
    value = mapping(note.value)
    error = mapping(value.get("error"))
    words = said(error, "message") or said(mapping(error.get("error")), "message") or note.text
    status = error.get("status")
    facts = {
        "status": status if isinstance(status, int) else None,
        "retry_attempt": value.get("retryAttempt"),
        "max_retries": value.get("maxRetries"),
        "retry_in_ms": value.get("retryInMs"),
    }
    _add_moment(
        draft,
        where,
        parent,
        note,
        name="API error",
        level="ERROR",
        status=first_line(words or "the API gave an error"),
        metadata=known(facts),
    )


def _add_event(
    draft: TraceBuilder, where: Where, parent: str, told: Told, name: str | None = None
) -> None:
    kind = EVENTS.get(told.kind)
    if kind is None or (told.kind == "prompt" and not told.text):
        return
    is_stop = told.kind == "interruption"
    facts = {
        "name": told.name,
        "status": told.status,
        "is_only_queued": told.is_only_queued or None,
    }
    _add_moment(
        draft,
        where,
        parent,
        told,
        name=name or kind,
        level="WARNING" if is_stop else "DEFAULT",
        status="interrupted by the user" if is_stop else "",
        input=None if is_stop else message("user", told.text),
        output=told.output,
        metadata=known(facts),
    )


def _add_moment(draft: TraceBuilder, where: Where, parent: str, item: Item, **facts: Any) -> None:
    time = nanoseconds(item.time)
    draft.add(
        where,
        "event",
        record_key(item),
        parent=parent,
        start=time,
        end=time,
        record=item.uuid,
        **facts,
    )


def _add_hook(draft: TraceBuilder, where: Where, parent: str, run: HookRun) -> None:
    end = nanoseconds(run.note.time)
    facts = {"event": run.event, "command": run.command, "exit_code": run.exit_code}
    draft.add(
        where,
        "hook",
        record_key(run.note),
        name=run.name,
        parent=draft.calls.get(run.call or "", parent),
        start=before(end, run.milliseconds),
        end=end,
        level=run.level,
        status=run.status,
        output=run.output,
        metadata=known(facts),
        record=run.note.uuid,
    )
