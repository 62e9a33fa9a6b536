"""Attachments, and progress lines in older versions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from .model import Json
from .names import uuid_of
from .sheet import DrawnCall
from .stroke import Stroke


def attachment(stroke: Stroke) -> None:
    """Draw an attachment; its own keys come from named values."""
    kind = stroke.kind.subtype
    own = {**_ATTACHMENTS.get(kind, _nothing)(stroke), **stroke.given()}
    text = _RENDERED.get(kind)
    rendered: Json = {}
    if text and not stroke.is_before(2, 1, 300):
        content = f"<system-reminder>\n{text.format(**own)}\n</system-reminder>"
        rendered = {"rendered": [{"content": content}], "renderedRole": "system"}
    stroke.put(
        {
            "attachment": {"type": kind, **own},
            "type": "attachment",
            "uuid": stroke.uuid,
            "timestamp": stroke.time,
            **rendered,
        }
    )


def progress(stroke: Stroke) -> None:
    """Draw a progress record, as clients up to 2.1.81 wrote them."""
    call = _latest_call(stroke)
    about = call.id if call else uuid_of(f"hook {stroke.name}", stroke.sheet.name)
    own = _PROGRESS.get(stroke.kind.subtype, _nothing)(stroke)
    stroke.put(
        {
            "type": "progress",
            "data": {"type": stroke.kind.subtype, **own, **stroke.given()},
            "parentToolUseID": about,
            "toolUseID": about,
            "timestamp": stroke.time,
            "uuid": stroke.uuid,
        }
    )


def _hook(stroke: Stroke) -> Json:
    event = stroke.statement.fields().get("hookEvent", "PostToolUse")
    text = stroke.text("")
    return {
        "hookName": event,
        "toolUseID": _call_id(stroke),
        "hookEvent": event,
        "content": text,
        "stdout": f"{text}\n" if text else "",
        "stderr": "",
        "exitCode": 0,
        "command": "./scripts/lint.sh",
        "durationMs": 31,
    }


def _queued(stroke: Stroke) -> Json:
    return {"prompt": stroke.text(f"prompt {stroke.name}"), "commandMode": "prompt"}


def _environment(stroke: Stroke) -> Json:
    snapshot = {
        "workingDirectory": stroke.sheet.settings.cwd,
        "isWorktree": False,
        "isGitRepo": True,
        "additionalWorkingDirectories": [],
        "platform": "linux",
        "shell": "bash",
        "osVersion": "Linux 6.12.9",
    }
    return {"snapshot": snapshot}


def _date(stroke: Stroke) -> Json:
    return {"date": stroke.time[:10]}


def _file(stroke: Stroke) -> Json:
    path = str(stroke.statement.fields().get("filename", ""))
    text = stroke.text("") or stroke.sheet.files.get(path, "")
    count = len(text.split("\n"))
    lines = {"numLines": count, "startLine": 1, "totalLines": count}
    file = {"filePath": path, "content": text, **lines}
    rendered = path.removeprefix(stroke.sheet.settings.cwd + "/")
    return {"filename": path, "content": {"type": "text", "file": file}, "displayPath": rendered}


def _hook_progress(stroke: Stroke) -> Json:
    event = stroke.statement.fields().get("hookEvent", "PostToolUse")
    call = _latest_call(stroke)
    name = f"{event}:{call.tool}" if call and event == "PostToolUse" else event
    return {"hookEvent": event, "hookName": name, "command": stroke.text("callback")}


def _bash_progress(stroke: Stroke) -> Json:
    text = stroke.text("")
    count = len(text.split("\n"))
    return {"output": text, "fullOutput": text, "elapsedTimeSeconds": 3, "totalLines": count}


def _call_id(stroke: Stroke) -> str:
    call = _latest_call(stroke)
    return call.id if call else uuid_of(f"hook {stroke.name}", stroke.sheet.name)


def _latest_call(stroke: Stroke) -> DrawnCall | None:
    matching: Any = stroke.statement.fields().get("of")
    if matching:
        return stroke.sheet.call(str(matching), stroke.line)
    latest = stroke.sheet.latest_calls
    return latest[-1] if latest else None


def _nothing(_: Stroke) -> Json:
    return {}


_ATTACHMENTS: Final[dict[str, Callable[[Stroke], Json]]] = {
    "hook_success": _hook,
    "queued_command": _queued,
    "environment": _environment,
    "date": _date,
    "file": _file,
}

_RENDERED: Final = {
    "environment": "# Environment\nWorking directory: {snapshot[workingDirectory]}",
    "date": "Today's date is {date}.",
    "hook_success": "{hookName} hook success: {content}",
}

_PROGRESS: Final[dict[str, Callable[[Stroke], Json]]] = {
    "hook_progress": _hook_progress,
    "bash_progress": _bash_progress,
}
