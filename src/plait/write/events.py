"""Subtypes of system lines to what each must say and what it says unless told otherwise."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from plait.errors import UserError
from plait.write.model import Fields


class Event(NamedTuple):
    """One subtype."""

    needs: tuple[str, ...] = ()
    says: Mapping[str, Any] = {}


EVENTS = {
    "turn_duration": Event(("durationMs",), {"isMeta": False}),
    "local_command": Event(("content",), {"level": "info", "isMeta": False}),
    "informational": Event(("content",), {"isMeta": False, "level": "info"}),
    "away_summary": Event(("content",), {"isMeta": False}),
    "bridge_status": Event(("content", "url"), {"isMeta": False}),
    "api_error": Event(
        ("error", "retryInMs", "retryAttempt", "maxRetries"),
        {"level": "error", "source": "request_retry"},
    ),
    "stop_hook_summary": Event(
        ("hookInfos",),
        {
            "hookErrors": [],
            "hookAdditionalContext": [],
            "preventedContinuation": False,
            "stopReason": "",
            "hasOutput": False,
            "level": "suggestion",
        },
    ),
    "microcompact_boundary": Event(
        ("microcompactMetadata",),
        {"content": "Context microcompacted", "isMeta": False, "level": "info"},
    ),
    "compact_boundary": Event(
        ("compactMetadata",),
        {"content": "Conversation compacted", "level": "info"},
    ),
    "model_refusal_no_fallback": Event(
        ("originalModel", "requestId"),
        {
            "content": "",
            "level": "warning",
            "apiRefusalCategory": None,
            "apiRefusalExplanation": None,
            "isMeta": False,
        },
    ),
}
SINCE_NEWER = {"hookAdditionalContext", "messageCount", "source"}
"""Fields that the older version does not have."""


def event_fields(subtype: str, told: Fields, *, is_older: bool) -> Fields:
    """Returns all fields of an event; a subtype that is not known says what it is told to."""
    event = EVENTS.get(subtype, Event())
    if missing := [name for name in event.needs if name not in told]:
        raise UserError(f"a line of '{subtype}' does not go without '{missing[0]}'")
    fields = {**event.says, **told}
    if subtype == "stop_hook_summary":
        fields.setdefault("hookCount", len(told["hookInfos"]))
    return {name: value for name, value in fields.items() if not (is_older and name in SINCE_NEWER)}
