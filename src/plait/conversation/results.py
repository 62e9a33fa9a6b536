"""A tool's answer in the log to a result: its words, its outcome, where the rest of it lies."""

import re
from collections.abc import Mapping
from typing import Any

from plait.conversation.enclosures import enclosures_of
from plait.conversation.model import Outcome, Persisted, Result
from plait.record import Record, User
from plait.record.message import AdvisorToolResult, Text, ToolResult, blocks_of

REJECTED = (
    "The user doesn't want to proceed with this tool use",
    "The user doesn't want to take this action right now",
    "User rejected",
)
FEEDBACK = re.compile(r"the user (?:said|provided the following reason[^:]*):\s*(.+)", re.DOTALL)
EXIT_CODE = re.compile(r"(?:Error: )?Exit code (-?\d+)")
SAVED_AS = re.compile(r"<persisted-output>.{0,400}?saved to: ([^\n]+)", re.DOTALL)
RUNNING = frozenset({"async_launched", "teammate_spawned", "remote_launched"})


def result_of(record: Record, block: ToolResult | AdvisorToolResult, detail: Any = None) -> Result:
    """Returns the answer that a block gives, with the client's own view of it."""
    blocks = blocks_of(block.content)
    text = "\n".join(one.text for one in blocks if isinstance(one, Text))
    is_error = isinstance(block, ToolResult) and block.is_error is True
    return Result(
        text,
        outcome_of(record, text, detail, is_error=is_error),
        enclosures_of(one for one in blocks if not isinstance(one, Text)),
        detail,
        persisted_of(text, detail),
        feedback_of(record, text) if is_error else None,
        exit_code_of(text, detail),
    )


def outcome_of(record: Record, text: str, detail: Any, *, is_error: bool) -> Outcome:
    """Returns how a call went."""
    view = detail if isinstance(detail, Mapping) else {}
    if is_error and (text.startswith(REJECTED) or is_denied(record)):
        return "rejected"
    if view.get("interrupted") is True or text.startswith("[Request interrupted"):
        return "interrupted"
    if is_error or (isinstance(detail, str) and detail.startswith("Error: ")):
        return "failed"
    status = view.get("status")
    if (isinstance(status, str) and status in RUNNING) or view.get("isAsync") is True:
        return "launched"
    return "launched" if view.get("backgroundTaskId") else "ok"


def is_denied(record: Record) -> bool:
    """Tells whether the client says that the person said no."""
    kind = record.tool_denial_kind if isinstance(record, User) else None
    return kind is not None and "user" in kind


def feedback_of(record: Record, text: str) -> str | None:
    """Returns what the person said who rejected a call."""
    said = record.user_feedback if isinstance(record, User) else None
    if said or not text.startswith(REJECTED):
        return said
    found = FEEDBACK.search(text)
    return found[1].strip() if found else None


def exit_code_of(text: str, detail: Any) -> int | None:
    """Returns the exit code of a command where the log says it."""
    found = EXIT_CODE.match(text) or (EXIT_CODE.match(detail) if isinstance(detail, str) else None)
    if found:
        return int(found[1])
    code = detail.get("exitCode") if isinstance(detail, Mapping) else None
    return code if isinstance(code, int) else None


def persisted_of(text: str, detail: Any) -> Persisted | None:
    """Returns the file that holds the whole output, by its name alone: paths are not trusted."""
    view = detail if isinstance(detail, Mapping) else {}
    path, size = view.get("persistedOutputPath"), view.get("persistedOutputSize")
    if not isinstance(path, str):
        found = SAVED_AS.match(text)
        path = found[1].strip() if found else ""
    name = re.split(r"[/\\]", path)[-1]
    if not name or name in (".", "..") or "\0" in name:
        return None
    return Persisted(name, int(size) if isinstance(size, int | float) else None)
