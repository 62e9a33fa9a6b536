"""System entries, and records of unknown types."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from .cache import saved
from .clock import moment
from .model import Json
from .names import uuid_of
from .stroke import Stroke


def system(stroke: Stroke) -> None:
    """Draw a system record of the subtype that the words name."""
    own = _SYSTEM.get(stroke.kind.subtype, _plain)(stroke)
    stroke.put({"type": "system", "subtype": stroke.kind.subtype, **own})


def unknown(stroke: Stroke) -> None:
    """Build a record of an unknown type."""
    own = {**stroke.given(), **({"content": stroke.text("")} if stroke.statement.texts() else {})}
    stroke.put({"type": stroke.kind.subtype, **own, "uuid": stroke.uuid, "timestamp": stroke.time})


def _placed(stroke: Stroke) -> Json:
    return {"timestamp": stroke.time, "uuid": stroke.uuid}


def _turn_duration(stroke: Stroke) -> Json:
    begun = stroke.sheet.prompt.time
    count = {"messageCount": len(stroke.sheet.records)}
    return {
        "durationMs": _milliseconds(begun, stroke.time, stroke.line),
        **({} if stroke.is_before(2, 1, 92) else count),
        **_placed(stroke),
        "isMeta": False,
    }


def _milliseconds(begun: str, ended: str, line: int) -> int:
    if not begun:
        return 0
    span = moment(ended, line) - moment(begun, line)
    return round(span.total_seconds() * 1000)


def _compact_boundary(stroke: Stroke) -> Json:
    """A new root; `after NAME` is the old leaf (by default the previous record), `keep` the preserved messages."""
    sheet, fields = stroke.sheet, stroke.statement.fields()
    before = str(fields.get("after") or sheet.previous)
    tokens = sheet.meter.context + sheet.meter.fresh
    sheet.meter.restart()
    metadata: Json = {"trigger": fields.get("trigger", "manual"), "preTokens": tokens}
    if not stroke.is_before(2, 1, 92):
        metadata |= {"durationMs": 41_873, **_preserved(stroke, fields), "postTokens": 3_518}
    return {
        "logicalParentUuid": sheet.uuid(before, stroke.line) if before else None,
        "content": "Conversation compacted",
        "isMeta": False,
        **_placed(stroke),
        "level": "info",
        "compactMetadata": {**metadata, **fields.get("metadata", {})},
    }


def _preserved(stroke: Stroke, fields: Json) -> Json:
    """The messages that stay in the context: `keep=["A3","U4"] anchor=C1`."""
    keep = fields.get("keep")
    if not keep:
        return {}
    uuids = [stroke.sheet.uuid(name, stroke.line) for name in keep]
    anchor = stroke.sheet.uuid(str(fields.get("anchor") or stroke.name), stroke.line)
    segment = {"headUuid": uuids[0], "anchorUuid": anchor, "tailUuid": uuids[-1]}
    messages = {"anchorUuid": anchor, "uuids": uuids, "allUuids": uuids}
    return {"preservedSegment": segment, "preservedMessages": messages}


def _microcompact(stroke: Stroke) -> Json:
    """Results that the client removed: `clear=["A1"]` names their calls."""
    names = stroke.statement.fields().get("clear", [])
    calls = [stroke.sheet.call(name, stroke.line).id for name in names]
    metadata = {
        "trigger": "auto",
        "preTokens": stroke.sheet.meter.context,
        "tokensSaved": saved(stroke.sheet, calls) if calls else 8_100,
        "compactedToolIds": calls,
        "clearedAttachmentUUIDs": [],
    }
    return {
        "content": "Context microcompacted",
        "isMeta": False,
        **_placed(stroke),
        "level": "info",
        "microcompactMetadata": metadata,
    }


def _api_error(stroke: Stroke) -> Json:
    return {
        "level": "error",
        "error": {"message": stroke.text("529 Overloaded"), "status": 529},
        "retryInMs": 558,
        "retryAttempt": 1,
        "maxRetries": 10,
        **_placed(stroke),
    }


def _local_command(stroke: Stroke) -> Json:
    return {"content": stroke.text(""), "level": "info", **_placed(stroke), "isMeta": False}


def _stop_hooks(stroke: Stroke) -> Json:
    command = stroke.text("./scripts/notify.sh")
    return {
        "hookCount": 1,
        "hookInfos": [{"command": command, "durationMs": 38}],
        "hookErrors": [],
        "preventedContinuation": False,
        "stopReason": "",
        "hasOutput": False,
        "level": "suggestion",
        **_placed(stroke),
        "toolUseID": uuid_of(f"hook {stroke.name}", stroke.sheet.name),
    }


def _plain(stroke: Stroke) -> Json:
    return {
        "content": stroke.text(""),
        "isMeta": "meta" in stroke.flags,
        **_placed(stroke),
        "level": "info",
        **stroke.given(),
    }


_SYSTEM: Final[dict[str, Callable[[Stroke], Json]]] = {
    "turn_duration": _turn_duration,
    "compact_boundary": _compact_boundary,
    "microcompact_boundary": _microcompact,
    "api_error": _api_error,
    "local_command": _local_command,
    "stop_hook_summary": _stop_hooks,
}
