"""What is said of a whole session to the line that says it: no uuid, no parent, the last counts."""

from collections.abc import Mapping
from typing import Any, Literal, TypeAlias

from plait.record.codec import encode

QueueOperation: TypeAlias = Literal["enqueue", "dequeue", "remove", "popAll"]


def custom_title(session: str, title: str) -> bytes:
    """Returns the line by which a person names a session."""
    return state(session, "custom-title", {"customTitle": title})


def ai_title(session: str, title: str) -> bytes:
    """Returns the line by which the model names a session."""
    return state(session, "ai-title", {"aiTitle": title})


def tag(session: str, word: str) -> bytes:
    """Returns the line that tags a session; an empty word takes the tag away."""
    return state(session, "tag", {"tag": word})


def state(session: str, kind: str, fields: Mapping[str, Any]) -> bytes:
    """Returns a line of any other kind that is said of a session: `mode`, `agent-name` …"""
    return encode({"type": kind, **fields, "sessionId": session})


def cost_state(session: str, fields: Mapping[str, Any]) -> bytes:
    """Returns the line that says what a session cost in all."""
    return encode({"type": "cost-state", "sessionId": session, **fields})


def last_prompt(
    session: str, leaf: str | None, words: str | None = None, *, is_explicit: bool = False
) -> bytes:
    """Returns the line that says where a session goes on.

    Where the leaf lies before the end of what goes on by itself, only an explicit one counts.
    """
    fields: dict[str, object] = {}
    if words is not None:
        fields["lastPrompt"] = words
    fields["leafUuid"] = leaf
    if is_explicit:
        fields["explicit"] = True
    return state(session, "last-prompt", fields)


def summary(text: str, leaf: str) -> bytes:
    """Returns the line that sums up what leads to a leaf, as older versions wrote it."""
    return encode({"type": "summary", "summary": text, "leafUuid": leaf})


def pull_request(session: str, time: str, number: int, url: str, repository: str) -> bytes:
    """Returns the line that links a session to a pull request."""
    told = {"prNumber": number, "prUrl": url, "prRepository": repository}
    return encode({"type": "pr-link", "sessionId": session, **told, "timestamp": time})


def queue_operation(
    session: str,
    time: str,
    operation: QueueOperation,
    content: str | None,
    others: Mapping[str, Any] = {},
) -> bytes:
    """Returns the line that says what happened to a prompt that was typed too early."""
    fields = {
        "type": "queue-operation",
        "operation": operation,
        "timestamp": time,
        "sessionId": session,
    }
    return encode(fields | ({} if content is None else {"content": content}) | {**others})


def snapshot(
    prompt: str, backups: Mapping[str, Any], time: str, update_of: str | None = None
) -> bytes:
    """Returns the line that says how files were when a prompt was sent.

    One that is written later, when another file is about to change, names the message too.
    """
    told = {"messageId": prompt, "trackedFileBackups": {**backups}, "timestamp": time}
    return encode(
        {
            "type": "file-history-snapshot",
            "messageId": update_of or prompt,
            "snapshot": told,
            "isSnapshotUpdate": update_of is not None,
        }
    )


def file_delta(message: str, prompt: str, path: str, backup: Mapping[str, Any], time: str) -> bytes:
    """Returns the line that says how one more file was when a prompt was sent."""
    return encode(
        {
            "type": "file-history-delta",
            "messageId": message,
            "snapshotMessageId": prompt,
            "trackingPath": path,
            "backup": {**backup},
            "timestamp": time,
        }
    )
