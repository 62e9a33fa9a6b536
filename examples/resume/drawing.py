"""Build small session files from letters and positions, with the expected result."""

import json
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

NAMES = uuid.UUID("5f0f7a3e-6f0e-4f5e-9a39-0d6f3d5c1b77")
SESSION = "0b6a1f52-3c5d-4c8e-8f0a-6d1e2b7c9a10"
ZERO = "00000000-0000-0000-0000-000000000000"
MODEL = "claude-opus-5-5"
INTERRUPTED = (
    "[Tool call interrupted: the session ended before this call's result was recorded, so its "
    "outcome is unknown. Check whether it took effect before relying on it or running it again.]"
)

Line = dict[str, Any]


def uid(name: str | None) -> str | None:
    """Return the uuid of a letter; None and "zero" are special values."""
    if name is None:
        return None
    return ZERO if name == "zero" else str(uuid.uuid5(NAMES, name))


def entry(kind: str, drawn: str, /, **fields: Any) -> Line:
    """Return a line from `name<parent@second`: without a parent it is null, without a second it is the next one."""
    place, _, second = drawn.partition("@")
    name, _, parent = place.partition("<")
    line: Line = {
        "parentUuid": uid(parent or None),
        "isSidechain": False,
        "type": kind,
        "uuid": uid(name),
        "cwd": "/home/dev/garden",
        "sessionId": SESSION,
        "version": "2.1.325",
        "timestamp": second,
    }
    return {**line, **fields}


def name_of(drawn: str) -> str:
    """Return the letter of a drawn place."""
    return drawn.partition("<")[0].partition("@")[0]


def user(drawn: str, content: Any = None, **fields: Any) -> Line:
    """Return a prompt; its text is its letter by default."""
    text = f"prompt {name_of(drawn)}" if content is None else content
    return entry("user", drawn, message={"role": "user", "content": text}, **fields)


def says(drawn: str, content: Any = None, mid: str | None = "", **fields: Any) -> Line:
    """Return an answer; each is a separate response unless `mid` joins them."""
    name = name_of(drawn)
    model = fields.pop("model", MODEL)
    blocks = [text(f"answer {name}")] if content is None else content
    message = {"id": mid or f"msg_{name}", "role": "assistant", "model": model, "content": blocks}
    if mid is None:
        del message["id"]
    return entry("assistant", drawn, message=message, **fields)


def calls(drawn: str, *tools: str, **fields: Any) -> Line:
    """Return an answer that calls tools."""
    return says(drawn, [use(tool) for tool in tools], **fields)


def result(drawn: str, *tools: str, **fields: Any) -> Line:
    """Return the results of calls."""
    return user(drawn, [out(tool) for tool in tools], toolUseResult={"stdout": "ok"}, **fields)


def system(drawn: str, subtype: str = "turn_duration", **fields: Any) -> Line:
    """Return a notice."""
    return entry("system", drawn, subtype=subtype, **fields)


def boundary(drawn: str, **kept: Any) -> Line:
    """Return the boundary of a compaction, with its preserved messages."""
    metadata = {"trigger": "manual", "preTokens": 900, **kept}
    return system(drawn, "compact_boundary", compactMetadata=metadata)


def segment(head: str, anchor: str, tail: str) -> Line:
    """Return a preserved segment."""
    return {"headUuid": uid(head), "anchorUuid": uid(anchor), "tailUuid": uid(tail)}


def listed(anchor: str, *names: str) -> Line:
    """Return a list of preserved messages."""
    return {"anchorUuid": uid(anchor), "uuids": [uid(name) for name in names]}


def recap(drawn: str) -> Line:
    """Return the summary after a boundary."""
    return user(drawn, isCompactSummary=True, isVisibleInTranscriptOnly=True)


def note(drawn: str, **fields: Any) -> Line:
    """Return an attachment."""
    return entry("attachment", drawn, attachment={"type": "date", "date": "2026-11-02"}, **fields)


def rendered(words: str, role: str) -> Line:
    """Return the fields of an attachment that is sent."""
    return {"rendered": [{"content": words}], "renderedRole": role}


def attached(drawn: str, kind: str, /, sent: Line | None = None, **fields: Any) -> Line:
    """Return an attachment of a kind, with its sent text."""
    return entry("attachment", drawn, attachment={"type": kind, **fields}, **(sent or {}))


def reminder(words: str) -> str:
    """Return text as it is sent next to a prompt."""
    return f"<system-reminder>\n{words}\n</system-reminder>"


def told(drawn: str, words: str, role: str = "system", kind: str = "garden_note") -> Line:
    """Return an attachment that was sent as a reminder."""
    return attached(drawn, kind, rendered(reminder(words), role))


def queued(drawn: str, words: str, /, **fields: Any) -> Line:
    """Return a prompt that was typed while the model worked."""
    typed = {"commandMode": "prompt", "humanTurn": True, "origin": {"kind": "human"}, **fields}
    sent = rendered(reminder(words), "system")
    return attached(drawn, "queued_command", sent, prompt=words, **typed)


def pointer(leaf: str | None, **fields: Any) -> Line:
    """Return a `last-prompt` line."""
    line = {"type": "last-prompt", "lastPrompt": "…", "leafUuid": uid(leaf), "sessionId": SESSION}
    return {**line, **fields}


def error(drawn: str) -> Line:
    """Return an answer that is an API error."""
    blocks = [text("API Error: 529 overloaded")]
    return says(drawn, blocks, model="<synthetic>", isApiErrorMessage=True)


def text(words: str) -> Line:
    """Return a block of text."""
    return {"type": "text", "text": words}


def made_up(words: str) -> Line:
    """Return a text that replaces an answer's lost content."""
    return {"type": "text", "text": words, "citations": []}


def thought(words: str) -> Line:
    """Return a thinking block, with a signature."""
    return {"type": "thinking", "thinking": words, "signature": "c2lnbmVk"}


def use(tool: str) -> Line:
    """Return a call."""
    return {"type": "tool_use", "id": tool, "name": "Bash", "input": {"command": f"run {tool}"}}


def out(tool: str, words: Any = None, **fields: Any) -> Line:
    """Return a result."""
    content = words or f"output of {tool}"
    return {"type": "tool_result", "tool_use_id": tool, "content": content, **fields}


def lost(tool: str) -> Line:
    """Return the placeholder result of a call whose real result is elsewhere."""
    return out(tool, "[Tool result missing due to internal error]", is_error=True)


def stopped(tool: str) -> Line:
    """Return the result of a call interrupted by the end of the session."""
    return out(tool, INTERRUPTED, is_error=True)


def without(line: Line, *keys: str) -> Line:
    """Return a line that lacks some keys."""
    return {key: value for key, value in line.items() if key not in keys}


NO_RESPONSE = "No response requested."


@dataclass(frozen=True, slots=True)
class Case:
    """A drawing and the expected result; `chain` is None if the client does not resume it."""

    name: str
    lines: Sequence[Line | bytes]
    chain: str | None
    sdk: str
    messages: list[tuple[Any, ...]] = field(default_factory=list)
    """Each begins with U or A; a string is a text block."""
    request: list[tuple[Any, ...]] | None = None
    """The same in full, where reminders and what the system says (S) are of interest."""

    def session(self) -> bytes:
        """Return the file; lines without a second follow each other by one."""
        second = 0
        found: list[bytes] = []
        for line in self.lines:
            if isinstance(line, bytes):
                found.append(line)
                continue
            if line.get("timestamp") is not None and len(str(line["timestamp"])) < 4:
                second = int(line["timestamp"] or second + 1)
                stamp = f"2026-11-02T09:{second // 60:02d}:{second % 60:02d}.000Z"
                line = {**line, "timestamp": stamp}
            found.append(json.dumps(line, separators=(",", ":")).encode())
        return b"".join(line + b"\n" for line in found)

    def expected(self) -> Line:
        """Return the expected result, letters spelled out."""
        chain = [uid(name) for name in (self.chain or "").split()]
        full = {} if self.request is None else {"request": spelled(self.request)}
        return {
            "resumes": self.chain is not None,
            "leaf": chain[-1] if chain else None,
            "chain": chain,
            "messages": spelled(self.messages),
            **full,
            "sdk_messages": [uid(name) for name in self.sdk.split()],
        }


def spelled(messages: list[tuple[Any, ...]]) -> list[Any]:
    """Return messages with roles and texts spelled out."""
    roles = {"U": "user", "A": "assistant", "S": "system"}
    return [
        [roles[role], [text(block) if isinstance(block, str) else block for block in blocks]]
        for role, *blocks in messages
    ]


TALK = [user("U1"), says("A1<U1"), user("U2<A1"), says("A2<U2")]
FORK = [*TALK, user("U3<A1"), says("A3<U3")]
PARALLEL = [
    user("U1"),
    calls("C1<U1", "x", mid="m"),
    calls("C2<C1", "y", mid="m"),
    result("R1<C1", "x"),
    result("R2<C2", "y"),
]
