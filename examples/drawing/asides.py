"""Lines without a uuid: titles, modes, snapshots, queue operations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from .clock import stamp
from .model import DrawingError, Json, Statement
from .names import ZERO_UUID, digest
from .sheet import Sheet

# Lines with one value: their type, and the key of the value.
_SINGLE: Final = {
    "mode": "mode",
    "permission-mode": "permissionMode",
    "ai-title": "aiTitle",
    "custom-title": "customTitle",
    "agent-name": "agentName",
    "agent-setting": "agentSetting",
    "atis-latch": "atis",
    "tag": "tag",
}


def is_aside(verb: str) -> bool:
    """Return whether a statement draws a line without a uuid."""
    return verb in _SINGLE or verb in _LINES


def aside(sheet: Sheet, statement: Statement) -> None:
    """Draw a line without a uuid."""
    make = _LINES.get(statement.verb, _single)
    sheet.put(statement, make(sheet, statement))


def _single(sheet: Sheet, statement: Statement) -> Json:
    key = _SINGLE[statement.verb]
    return {"type": statement.verb, key: _value(statement), "sessionId": sheet.session}


def _value(statement: Statement) -> str:
    found = [*statement.texts(), *(word for word in statement.words() if word != "open")]
    return found[0] if found else ""


def _summary(sheet: Sheet, statement: Statement) -> Json:
    return {
        "type": "summary",
        "summary": _value(statement),
        "leafUuid": _leaf(sheet, statement),
    }


def _last_prompt(sheet: Sheet, statement: Statement) -> Json:
    """`last-prompt "text" leaf NAME explicit`; without text and `explicit` it names the prompt."""
    texts, is_explicit = statement.texts(), "explicit" in statement.words()
    text = texts[0] if texts else ("" if is_explicit else sheet.prompt.text)
    return {
        "type": "last-prompt",
        **({"lastPrompt": text} if text else {}),
        "leafUuid": _leaf(sheet, statement),
        **({"explicit": True} if is_explicit else {}),
        "sessionId": sheet.session,
    }


def _leaf(sheet: Sheet, statement: Statement) -> str | None:
    name = str(statement.fields().get("leaf") or sheet.previous)
    if name in ("none", ""):
        return None
    return ZERO_UUID if name == "zero" else sheet.uuid(name, statement.line)


def _queue(sheet: Sheet, statement: Statement) -> Json:
    texts = statement.texts()
    return {
        "type": "queue-operation",
        "operation": statement.verb,
        "timestamp": _now(sheet, statement),
        "sessionId": sheet.session,
        **({"content": texts[0]} if texts else {}),
    }


def _snapshot(sheet: Sheet, statement: Statement) -> Json:
    """`file-history-snapshot of U1 files={"cart.py": 2}`: the version number of each file's backup."""
    name = str(statement.fields().get("of") or sheet.previous)
    message, time = sheet.uuid(name, statement.line), _now(sheet, statement)
    files = statement.fields().get("files", {})
    return {
        "type": "file-history-snapshot",
        "messageId": message,
        "snapshot": {
            "messageId": message,
            "trackedFileBackups": {
                path: _backup(sheet, path, version, time) for path, version in files.items()
            },
            "timestamp": time,
        },
        "isSnapshotUpdate": "update" in statement.words(),
    }


def _backup(sheet: Sheet, path: str, version: int, time: str) -> Json:
    name = f"{digest(path, 16)}@v{version}"
    folder = f"{sheet.settings.cwd}/{path}".rpartition("/")[0]
    own = {"backupFileName": name, "version": version, "backupTime": time}
    return own if sheet.settings.is_before(2, 1, 200) else {**own, "realParentDir": folder}


def _pr_link(sheet: Sheet, statement: Statement) -> Json:
    fields = statement.fields()
    number, repository = fields.get("number", 1), fields.get("repository", "dev/shop")
    return {
        "type": "pr-link",
        "sessionId": sheet.session,
        "prNumber": number,
        "prUrl": f"https://github.com/{repository}/pull/{number}",
        "prRepository": repository,
        "timestamp": _now(sheet, statement),
    }


def _tools_used(sheet: Sheet, statement: Statement) -> Json:
    return {"type": "tools-used", "tools": statement.words(), "sessionId": sheet.session}


def _line(_: Sheet, statement: Statement) -> Json:
    """Any line: `line {…}`."""
    if not statement.tokens:
        raise DrawingError(statement.line, "'line' needs a JSON object")
    return {}


def _now(sheet: Sheet, statement: Statement) -> str:
    """The time given in the statement, or else that of the previous record."""
    spec: Any = statement.time
    return sheet.clock.tick(spec, statement.line) if spec else stamp(sheet.clock.now)


_LINES: Final[dict[str, Callable[[Sheet, Statement], Json]]] = {
    "summary": _summary,
    "last-prompt": _last_prompt,
    "enqueue": _queue,
    "dequeue": _queue,
    "remove": _queue,
    "popAll": _queue,
    "file-history-snapshot": _snapshot,
    "pr-link": _pr_link,
    "tools-used": _tools_used,
    "line": _line,
}
