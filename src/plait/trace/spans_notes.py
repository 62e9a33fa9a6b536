"""What stands between responses to spans: compactions, hooks, queued prompts, trouble."""

from collections.abc import Iterable
from typing import Any

from plait.conversation.model import Compacted, Item, Noted, Told, ToldKind, Turn
from plait.conversation.values import mapping, said
from plait.conversation.walk import opened
from plait.trace.spans_draft import Draft, Where, key_of
from plait.trace.spans_hooks import HookRun, hooks_in
from plait.trace.spans_parts import message
from plait.trace.spans_times import before, nanoseconds
from plait.trace.spans_tools import first_line

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


def add_notes(draft: Draft, where: Where, parent: str, turn: Turn, *, is_answered: bool) -> None:
    """Adds what a turn holds besides its responses; what opened it is no note if answered."""
    items = list(opened(turn.items))
    for place, item in enumerate(items):
        match item:
            case Compacted():
                add_compaction(draft, where, parent, item, items[place + 1 :])
            case Noted(subtype=subtype) if subtype == API_ERROR:
                add_api_error(draft, where, parent, item)
            case Told() if item is not turn.opener:
                add_event(draft, where, parent, item)
            case Told() if not is_answered:
                add_event(draft, where, parent, item, UNANSWERED)
            case _:
                pass
    for run in hooks_in(items):
        add_hook(draft, where, parent, run)


def add_compaction(
    draft: Draft, where: Where, parent: str, point: Compacted, after: Iterable[Item]
) -> None:
    """Adds a compaction, with the summary that followed it."""
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
        key_of(point),
        name="Compaction",
        parent=parent,
        start=before(end, point.duration_ms),
        end=end,
        output=text,
        metadata=known(facts),
        record=point.uuid,
    )
    draft.compactions.append(span)


def add_api_error(draft: Draft, where: Where, parent: str, note: Noted) -> None:
    """Adds an error of the API, after which the client tried again."""
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
    add_moment(
        draft,
        where,
        parent,
        note,
        name="API error",
        level="ERROR",
        status=first_line(words or "the API gave an error"),
        metadata=known(facts),
    )


def add_event(draft: Draft, where: Where, parent: str, told: Told, name: str | None = None) -> None:
    """Adds what was told in the middle of a turn, as far as it is worth a span."""
    kind = EVENTS.get(told.kind)
    if kind is None or (told.kind == "prompt" and not told.text):
        return
    is_stop = told.kind == "interruption"
    facts = {
        "name": told.name,
        "status": told.status,
        "is_only_queued": told.is_only_queued or None,
    }
    add_moment(
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


def add_moment(draft: Draft, where: Where, parent: str, item: Item, **facts: Any) -> None:
    """Adds an event, which takes no time."""
    time = nanoseconds(item.time)
    draft.add(
        where,
        "event",
        key_of(item),
        parent=parent,
        start=time,
        end=time,
        record=item.uuid,
        **facts,
    )


def add_hook(draft: Draft, where: Where, parent: str, run: HookRun) -> None:
    """Adds the run of a hook, within the call that it ran beside where that is known."""
    end = nanoseconds(run.note.time)
    facts = {"event": run.event, "command": run.command, "exit_code": run.exit_code}
    draft.add(
        where,
        "hook",
        key_of(run.note),
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


def known(facts: dict[str, Any]) -> dict[str, Any]:
    """Returns the facts that are known."""
    return {name: value for name, value in facts.items() if value is not None}
