"""Small drawings to resume cases: a session file, and what the real client makes of it.

Each case names its lines in letters and says what follows: the chain by the same letters,
and the messages that Claude sees. All were confirmed with client 2.1.325. Run this file to
write `<name>/session.jsonl` and `<name>/expected.json` beside it.
"""

import json
import sys
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
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
    """Returns the uuid that a letter stands for; None and "zero" stand for themselves."""
    if name is None:
        return None
    return ZERO if name == "zero" else str(uuid.uuid5(NAMES, name))


def entry(kind: str, drawn: str, /, **fields: Any) -> Line:
    """Returns a line from `name<parent@second`: no parent is a null one, no second the next."""
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
    """Returns the letter of a drawn place."""
    return drawn.partition("<")[0].partition("@")[0]


def user(drawn: str, content: Any = None, **fields: Any) -> Line:
    """Returns a prompt; its text is its letter unless told otherwise."""
    text = f"prompt {name_of(drawn)}" if content is None else content
    return entry("user", drawn, message={"role": "user", "content": text}, **fields)


def says(drawn: str, content: Any = None, mid: str | None = "", **fields: Any) -> Line:
    """Returns an answer; each is a response of its own unless `mid` joins some."""
    name = name_of(drawn)
    model = fields.pop("model", MODEL)
    blocks = [text(f"answer {name}")] if content is None else content
    message = {"id": mid or f"msg_{name}", "role": "assistant", "model": model, "content": blocks}
    if mid is None:
        del message["id"]
    return entry("assistant", drawn, message=message, **fields)


def calls(drawn: str, *tools: str, **fields: Any) -> Line:
    """Returns an answer that calls tools."""
    return says(drawn, [use(tool) for tool in tools], **fields)


def result(drawn: str, *tools: str, **fields: Any) -> Line:
    """Returns the results of calls."""
    return user(drawn, [out(tool) for tool in tools], toolUseResult={"stdout": "ok"}, **fields)


def system(drawn: str, subtype: str = "turn_duration", **fields: Any) -> Line:
    """Returns a notice."""
    return entry("system", drawn, subtype=subtype, **fields)


def boundary(drawn: str, **kept: Any) -> Line:
    """Returns the boundary of a compaction, with what it preserved."""
    metadata = {"trigger": "manual", "preTokens": 900, **kept}
    return system(drawn, "compact_boundary", compactMetadata=metadata)


def segment(head: str, anchor: str, tail: str) -> Line:
    """Returns a preserved segment."""
    return {"headUuid": uid(head), "anchorUuid": uid(anchor), "tailUuid": uid(tail)}


def listed(anchor: str, *names: str) -> Line:
    """Returns a list of preserved messages."""
    return {"anchorUuid": uid(anchor), "uuids": [uid(name) for name in names]}


def recap(drawn: str) -> Line:
    """Returns the summary behind a boundary."""
    return user(drawn, isCompactSummary=True, isVisibleInTranscriptOnly=True)


def note(drawn: str, **fields: Any) -> Line:
    """Returns an attachment."""
    return entry("attachment", drawn, attachment={"type": "date", "date": "2026-11-02"}, **fields)


def rendered(words: str, role: str) -> Line:
    """Returns the fields of an attachment that is sent."""
    return {"rendered": [{"content": words}], "renderedRole": role}


def pointer(leaf: str | None, **fields: Any) -> Line:
    """Returns a `last-prompt` line."""
    line = {"type": "last-prompt", "lastPrompt": "…", "leafUuid": uid(leaf), "sessionId": SESSION}
    return {**line, **fields}


def error(drawn: str) -> Line:
    """Returns an answer that is an API error."""
    blocks = [text("API Error: 529 overloaded")]
    return says(drawn, blocks, model="<synthetic>", isApiErrorMessage=True)


def text(words: str) -> Line:
    """Returns a block of text."""
    return {"type": "text", "text": words}


def made_up(words: str) -> Line:
    """Returns a text that stands for an answer's lost content."""
    return {"type": "text", "text": words, "citations": []}


def thought(words: str) -> Line:
    """Returns a thought, with a signature."""
    return {"type": "thinking", "thinking": words, "signature": "c2lnbmVk"}


def use(tool: str) -> Line:
    """Returns a call."""
    return {"type": "tool_use", "id": tool, "name": "Bash", "input": {"command": f"run {tool}"}}


def out(tool: str, words: str | None = None, **fields: Any) -> Line:
    """Returns a result."""
    content = words or f"output of {tool}"
    return {"type": "tool_result", "tool_use_id": tool, "content": content, **fields}


def lost(tool: str) -> Line:
    """Returns the result of a call whose own stands elsewhere."""
    return out(tool, "[Tool result missing due to internal error]", is_error=True)


def stopped(tool: str) -> Line:
    """Returns the result of a call that the end of the session cut off."""
    return out(tool, INTERRUPTED, is_error=True)


def without(line: Line, *keys: str) -> Line:
    """Returns a line that lacks some keys."""
    return {key: value for key, value in line.items() if key not in keys}


NO_RESPONSE = "No response requested."


@dataclass(frozen=True, slots=True)
class Case:
    """A drawing and what the client makes of it; `chain` None where it does not resume."""

    name: str
    lines: Sequence[Line | bytes]
    chain: str | None
    sdk: str
    messages: list[tuple[Any, ...]] = field(default_factory=list)
    """Each begins with U or A; a string is a text block."""

    def session(self) -> bytes:
        """Returns the file; lines without a second follow each other by one."""
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
        """Returns the expected result, letters spelled out."""
        chain = [uid(name) for name in (self.chain or "").split()]
        roles = {"U": "user", "A": "assistant"}
        return {
            "resumes": self.chain is not None,
            "leaf": chain[-1] if chain else None,
            "chain": chain,
            "messages": [
                [roles[role], [text(one) if isinstance(one, str) else one for one in blocks]]
                for role, *blocks in self.messages
            ],
            "sdk_messages": [uid(name) for name in self.sdk.split()],
        }


TALK = [user("U1"), says("A1<U1"), user("U2<A1"), says("A2<U2")]
FORK = [*TALK, user("U3<A1"), says("A3<U3")]
PARALLEL = [
    user("U1"),
    calls("C1<U1", "x", mid="m"),
    calls("C2<C1", "y", mid="m"),
    result("R1<C1", "x"),
    result("R2<C2", "y"),
]

CASES = [
    Case(
        "straight-line",
        TALK,
        "U1 A1 U2 A2",
        "U1 A1 U2 A2",
        [("U", "prompt U1"), ("A", "answer A1"), ("U", "prompt U2"), ("A", "answer A2")],
    ),
    Case(
        "rewind-last-in-file-wins",
        FORK,
        "U1 A1 U3 A3",
        "U1 A1 U3 A3",
        [("U", "prompt U1"), ("A", "answer A1"), ("U", "prompt U3"), ("A", "answer A3")],
    ),
    Case(
        "rewind-older-clock-still-wins",
        [*TALK[:2], user("U2<A1@40"), says("A2<U2@41"), user("U3<A1@10"), says("A3<U3@11")],
        "U1 A1 U3 A3",
        "U1 A1 U3 A3",
        [("U", "prompt U1"), ("A", "answer A1"), ("U", "prompt U3"), ("A", "answer A3")],
    ),
    Case(
        "rewind-only-prompt",
        [*TALK, user("U3<A1")],
        "U1 A1 U3",
        "U1 A1 U3",
        [
            ("U", "prompt U1"),
            ("A", "answer A1"),
            ("U", "prompt U3"),
            ("A", "No response requested."),
        ],
    ),
    Case(
        "rewind-to-the-start",
        [*TALK, user("U3"), says("A3<U3")],
        "U3 A3",
        "U3 A3",
        [("U", "prompt U3"), ("A", "answer A3")],
    ),
    Case(
        "attachment-is-a-leaf",
        [*TALK, note("H1<A1")],
        "U1 A1 H1",
        "U1 A1 U2 A2",
        [("U", "prompt U1"), ("A", "answer A1")],
    ),
    Case(
        "notice-is-a-leaf",
        [*TALK, system("S1<A1")],
        "U1 A1 S1",
        "U1 A1 U2 A2",
        [("U", "prompt U1"), ("A", "answer A1")],
    ),
    Case(
        "meta-prompt-is-a-leaf",
        [*TALK, user("M1<A1", isMeta=True)],
        "U1 A1 M1",
        "U1 A1 U2 A2",
        [
            ("U", "prompt U1"),
            ("A", "answer A1"),
            ("U", "prompt M1"),
            ("A", "No response requested."),
        ],
    ),
    Case(
        "team-prompt-is-a-leaf",
        [*TALK, user("M1<A1", teamName="weeders")],
        "U1 A1 M1",
        "U1 A1 U2 A2",
        [
            ("U", "prompt U1"),
            ("A", "answer A1"),
            ("U", "prompt M1"),
            ("A", "No response requested."),
        ],
    ),
    Case(
        "sidechain-is-no-leaf",
        [*TALK, user("X1<A1", isSidechain=True), says("X2<X1", isSidechain=True)],
        "U1 A1 U2 A2",
        "U1 A1 U2 A2",
        [("U", "prompt U1"), ("A", "answer A1"), ("U", "prompt U2"), ("A", "answer A2")],
    ),
    Case(
        "sidechain-inside-the-walk",
        [*TALK[:2], user("X1<A1", isSidechain=True), user("U2<X1"), says("A2<U2")],
        "U1 A1 X1 U2 A2",
        "U1 A1 U2 A2",
        [
            ("U", "prompt U1"),
            ("A", "answer A1"),
            ("U", "prompt X1\n", "prompt U2"),
            ("A", "answer A2"),
        ],
    ),
    Case(
        "only-sidechain",
        [user("X1", isSidechain=True), says("X2<X1", isSidechain=True)],
        None,
        "",
    ),
    Case(
        "unanchored-attachment-is-no-leaf",
        [*TALK, note("H1<gone@30")],
        "U1 A1 U2 A2",
        "U1 A1 U2 A2",
        [("U", "prompt U1"), ("A", "answer A1"), ("U", "prompt U2"), ("A", "answer A2")],
    ),
    Case(
        "parent-after-child",
        [*TALK[:2], says("A2<U2@9"), user("U2<A1@4")],
        "U1 A1 U2 A2",
        "U1 A1 U2 A2",
        [("U", "prompt U1"), ("A", "answer A1"), ("U", "prompt U2"), ("A", "answer A2")],
    ),
    Case(
        "parent-after-child-with-a-pointer",
        [*TALK[:2], pointer("A1"), says("A2<U2@9"), user("U2<A1@4")],
        "U1 A1 U2",
        "U1 A1 U2 A2",
        [("U", "prompt U1"), ("A", "answer A1"), ("U", "prompt U2"), ("A", NO_RESPONSE)],
    ),
    Case(
        "pointer-to-other-branch",
        [*FORK, pointer("A2")],
        "U1 A1 U2 A2",
        "U1 A1 U3 A3",
        [("U", "prompt U1"), ("A", "answer A1"), ("U", "prompt U2"), ("A", "answer A2")],
    ),
    Case(
        "pointer-into-other-branch",
        [*FORK, pointer("U2")],
        "U1 A1 U2",
        "U1 A1 U3 A3",
        [
            ("U", "prompt U1"),
            ("A", "answer A1"),
            ("U", "prompt U2"),
            ("A", "No response requested."),
        ],
    ),
    Case(
        "pointer-to-ancestor",
        [*FORK, pointer("A1")],
        "U1 A1 U3 A3",
        "U1 A1 U3 A3",
        [("U", "prompt U1"), ("A", "answer A1"), ("U", "prompt U3"), ("A", "answer A3")],
    ),
    Case(
        "pointer-then-more",
        [*TALK, pointer("A2"), user("U3<A1"), says("A3<U3")],
        "U1 A1 U2 A2",
        "U1 A1 U3 A3",
        [("U", "prompt U1"), ("A", "answer A1"), ("U", "prompt U2"), ("A", "answer A2")],
    ),
    Case(
        "pointer-zero-after-stale",
        [*TALK, pointer("A2"), user("U3<A1"), says("A3<U3"), pointer("zero", explicit=True)],
        "U1 A1 U3 A3",
        "U1 A1 U3 A3",
        [("U", "prompt U1"), ("A", "answer A1"), ("U", "prompt U3"), ("A", "answer A3")],
    ),
    Case(
        "pointer-null-says-nothing",
        [*FORK, pointer("A2"), pointer(None)],
        "U1 A1 U2 A2",
        "U1 A1 U3 A3",
        [("U", "prompt U1"), ("A", "answer A1"), ("U", "prompt U2"), ("A", "answer A2")],
    ),
    Case(
        "pointer-to-nowhere",
        [*FORK, pointer("A2"), pointer("gone")],
        "U1 A1 U3 A3",
        "U1 A1 U3 A3",
        [("U", "prompt U1"), ("A", "answer A1"), ("U", "prompt U3"), ("A", "answer A3")],
    ),
    Case(
        "pointer-to-parallel-result",
        [*PARALLEL, says("A1<R1"), pointer("R2")],
        "U1 C1 C2 R1 R2 A1",
        "U1 C1 C2 R2 R1 A1",
        [
            ("U", "prompt U1"),
            ("A", use("x"), use("y")),
            ("U", out("x"), out("y")),
            ("A", "answer A1"),
        ],
    ),
    Case(
        "pointer-to-sidechain",
        [*TALK, user("X1<A1", isSidechain=True), pointer("X1")],
        None,
        "U1 A1 U2 A2",
    ),
    Case(
        "pointer-across-a-gap",
        [*TALK, user("U3<gone"), says("A3<U3"), pointer("A2")],
        "U1 A1 U2 A2",
        "U3 A3",
        [("U", "prompt U1"), ("A", "answer A1"), ("U", "prompt U2"), ("A", "answer A2")],
    ),
    Case(
        "explicit-cuts-at-ancestor",
        [*TALK, pointer("A1", explicit=True)],
        "U1 A1",
        "U1 A1 U2 A2",
        [("U", "prompt U1"), ("A", "answer A1")],
    ),
    Case(
        "explicit-then-more-is-plain",
        [*TALK, pointer("A1", explicit=True), user("U3<A2"), says("A3<U3")],
        "U1 A1 U2 A2 U3 A3",
        "U1 A1 U2 A2 U3 A3",
        [
            ("U", "prompt U1"),
            ("A", "answer A1"),
            ("U", "prompt U2"),
            ("A", "answer A2"),
            ("U", "prompt U3"),
            ("A", "answer A3"),
        ],
    ),
    Case(
        "explicit-then-progress-still-cuts",
        [*TALK, pointer("A1", explicit=True), entry("progress", "P1<A2")],
        "U1 A1",
        "U1 A1 U2 A2",
        [("U", "prompt U1"), ("A", "answer A1")],
    ),
    Case(
        "explicit-repeated-plainly",
        [*TALK, pointer("A1", explicit=True), pointer("A1")],
        "U1 A1",
        "U1 A1 U2 A2",
        [("U", "prompt U1"), ("A", "answer A1")],
    ),
    Case(
        "explicit-null-starts-anew",
        [*TALK, pointer(None, explicit=True)],
        "",
        "U1 A1 U2 A2",
    ),
    Case(
        "summary-leaf-is-ignored",
        [*FORK, {"type": "summary", "summary": "Beds", "leafUuid": uid("A2")}],
        "U1 A1 U3 A3",
        "U1 A1 U3 A3",
        [("U", "prompt U1"), ("A", "answer A1"), ("U", "prompt U3"), ("A", "answer A3")],
    ),
    Case(
        "progress-is-bridged",
        [
            *TALK,
            entry("progress", "P1<A1"),
            entry("progress", "P2<P1"),
            user("U3<P2@50"),
            says("A3<U3"),
        ],
        "U1 A1 U3 A3",
        "U1 A1 U3 A3",
        [("U", "prompt U1"), ("A", "answer A1"), ("U", "prompt U3"), ("A", "answer A3")],
    ),
    Case(
        "unknown-type-is-not-bridged",
        [*TALK, entry("weather", "X1<A1"), user("U3<X1@50"), says("A3<U3")],
        "U3 A3",
        "U3 A3",
        [("U", "prompt U3"), ("A", "answer A3")],
    ),
    Case(
        "repeated-uuid-last-line-wins",
        [*FORK, says("A2<U2", [text("answer A2, again")])],
        "U1 A1 U2 A2",
        "U1 A1 U2 A2",
        [("U", "prompt U1"), ("A", "answer A1"), ("U", "prompt U2"), ("A", "answer A2, again")],
    ),
    Case(
        "repeated-uuid-in-the-middle",
        [*TALK, user("U2<A1", "prompt U2, again")],
        "U1 A1 U2",
        "U1 A1 U2 A2",
        [
            ("U", "prompt U1"),
            ("A", "answer A1"),
            ("U", "prompt U2, again"),
            ("A", "No response requested."),
        ],
    ),
    Case(
        "prompt-without-message",
        [*TALK, entry("user", "U3<A1"), user("U4<U3@50"), says("A4<U4")],
        "U1 A1 U4 A4",
        "U1 A1 U3 U4 A4",
        [("U", "prompt U1"), ("A", "answer A1"), ("U", "prompt U4"), ("A", "answer A4")],
    ),
    Case(
        "broken-lines-are-skipped",
        [TALK[0], b'{"type":"user", torn', b"[1, 2]", b"null", b"", TALK[1]],
        "U1 A1",
        "U1 A1",
        [("U", "prompt U1"), ("A", "answer A1")],
    ),
    Case(
        "entry-without-uuid",
        [without(user("U0"), "uuid"), *TALK[:2]],
        "U1 A1",
        "U1 A1",
        [("U", "prompt U1"), ("A", "answer A1")],
    ),
    Case(
        "missing-parent-near-in-time",
        [*TALK, user("U3<gone@9"), says("A3<U3")],
        "U1 A1 U2 A2 U3 A3",
        "U3 A3",
        [
            ("U", "prompt U1"),
            ("A", "answer A1"),
            ("U", "prompt U2"),
            ("A", "answer A2"),
            ("U", "prompt U3"),
            ("A", "answer A3"),
        ],
    ),
    Case(
        "missing-parent-too-old",
        [*TALK, user("U3<gone@10"), says("A3<U3")],
        "U3 A3",
        "U3 A3",
        [("U", "prompt U3"), ("A", "answer A3")],
    ),
    Case(
        "missing-parent-by-time-not-file",
        [TALK[0], says("A1<U1@8"), user("U2<U1@4"), user("U3<gone@10"), says("A3<U3")],
        "U1 A1 U3 A3",
        "U3 A3",
        [("U", "prompt U1"), ("A", "answer A1"), ("U", "prompt U3"), ("A", "answer A3")],
    ),
    Case(
        "missing-parent-skips-sidechain",
        [*TALK[:2], user("X1<A1", isSidechain=True), user("U3<gone"), says("A3<U3")],
        "U1 A1 U3 A3",
        "U3 A3",
        [("U", "prompt U1"), ("A", "answer A1"), ("U", "prompt U3"), ("A", "answer A3")],
    ),
    Case(
        "missing-parent-of-sidechain",
        [*TALK[:2], user("X1<gone", isSidechain=True), user("U3<X1"), says("A3<U3")],
        "X1 U3 A3",
        "U3 A3",
        [("U", "prompt X1\n", "prompt U3"), ("A", "answer A3")],
    ),
    Case(
        "missing-first-parent",
        [user("U1<gone"), says("A1<U1")],
        "U1 A1",
        "U1 A1",
        [("U", "prompt U1"), ("A", "answer A1")],
    ),
    Case(
        "cycle-is-cut-where-the-walk-closes",
        [*TALK[:2], user("U3<U5"), says("A3<U3"), user("U5<A3"), user("U6<A3"), says("A6<U6")],
        "U1 A1 U5 U3 A3 U6 A6",
        "U5 U3 A3 U6 A6",
        [
            ("U", "prompt U1"),
            ("A", "answer A1"),
            ("U", "prompt U5\n", "prompt U3"),
            ("A", "answer A3"),
            ("U", "prompt U6"),
            ("A", "answer A6"),
        ],
    ),
    Case(
        "self-parent",
        [user("U1<U1"), says("A1<U1")],
        "U1 A1",
        "U1 A1",
        [("U", "prompt U1"), ("A", "answer A1")],
    ),
    Case(
        "no-timestamp-at-the-end",
        [*TALK[:3], without(says("A2<U2"), "timestamp")],
        None,
        "U1 A1 U2 A2",
    ),
    Case(
        "nonsense-timestamp-at-the-end",
        [*TALK[:3], {**says("A2<U2"), "timestamp": "yesterday"}],
        None,
        "U1 A1 U2 A2",
    ),
    Case(
        "nonsense-timestamp-inside",
        [TALK[0], {**says("A1<U1"), "timestamp": "yesterday"}, *TALK[2:]],
        "U1 A1 U2 A2",
        "U1 A1 U2 A2",
        [("U", "prompt U1"), ("A", "answer A1"), ("U", "prompt U2"), ("A", "answer A2")],
    ),
    Case(
        "loose-timestamp-at-the-end",
        [*TALK[:3], {**says("A2<U2"), "timestamp": "Mon Nov 02 2026"}],
        "U1 A1 U2 A2",
        "U1 A1 U2 A2",
        [("U", "prompt U1"), ("A", "answer A1"), ("U", "prompt U2"), ("A", "answer A2")],
    ),
    Case(
        "smallest-entry",
        [
            {
                "type": "user",
                "uuid": uid("U1"),
                "parentUuid": None,
                "timestamp": "2026-11-02T09:00:00.000Z",
                "message": {"role": "user", "content": "hello"},
            }
        ],
        "U1",
        "U1",
        [("U", "hello"), ("A", "No response requested.")],
    ),
    Case(
        "nothing-to-resume",
        [{"type": "custom-title", "customTitle": "Beds", "sessionId": SESSION}],
        None,
        "",
    ),
    Case(
        "parallel-chained",
        [*PARALLEL, says("A1<R2")],
        "U1 C1 C2 R1 R2 A1",
        "U1 C1 C2 R1 R2 A1",
        [
            ("U", "prompt U1"),
            ("A", use("x"), use("y")),
            ("U", out("x"), out("y")),
            ("A", "answer A1"),
        ],
    ),
    Case(
        "parallel-from-first-result",
        [*PARALLEL, says("A1<R1")],
        "U1 C1 C2 R1 R2 A1",
        "U1 C1 C2 R2 R1 A1",
        [
            ("U", "prompt U1"),
            ("A", use("x"), use("y")),
            ("U", out("x"), out("y")),
            ("A", "answer A1"),
        ],
    ),
    Case(
        "parallel-siblings-of-one-parent",
        [
            user("U1"),
            calls("C1<U1", "x", mid="m"),
            calls("C2<U1", "y", mid="m"),
            result("R1<C1", "x"),
            result("R2<C2", "y"),
            says("A1<R2"),
        ],
        "U1 C2 C1 R1 R2 A1",
        "U1 C2 C1 R1 R2 A1",
        [
            ("U", "prompt U1"),
            ("A", use("y"), use("x")),
            ("U", out("x"), out("y")),
            ("A", "answer A1"),
        ],
    ),
    Case(
        "parallel-results-in-file-order",
        [*PARALLEL[:3], result("R2<C2@9", "y"), result("R1<C1@7", "x"), says("A1<R1")],
        "U1 C1 C2 R2 R1 A1",
        "U1 C1 C2 R2 R1 A1",
        [
            ("U", "prompt U1"),
            ("A", use("x"), use("y")),
            ("U", out("y"), out("x")),
            ("A", "answer A1"),
        ],
    ),
    Case(
        "parallel-interleaved",
        [
            user("U1"),
            calls("C1<U1", "x", mid="m"),
            result("R1<C1", "x"),
            calls("C2<R1", "y", mid="m"),
            result("R2<C2", "y"),
            says("A1<R2"),
        ],
        "U1 C1 R1 C2 R2 A1",
        "U1 C1 R1 C2 R2 A1",
        [
            ("U", "prompt U1"),
            ("A", use("x"), use("y")),
            ("U", out("x"), out("y")),
            ("A", "answer A1"),
        ],
    ),
    Case(
        "parallel-without-message-id",
        [
            user("U1"),
            calls("C1<U1", "x", mid=None),
            calls("C2<C1", "y", mid=None),
            result("R1<C1", "x"),
            result("R2<C2", "y"),
            says("A1<R2"),
        ],
        "U1 C2 R2 A1",
        "U1 C1 C2 R2 A1",
        [("U", "prompt U1"), ("A", use("y")), ("U", out("y")), ("A", "answer A1")],
    ),
    Case(
        "parallel-rewound-text-and-call",
        [
            user("U1"),
            says("A1<U1", mid="m"),
            calls("C1<A1", "x", mid="m"),
            result("R1<C1", "x"),
            says("A2<R1"),
            user("U2<A1"),
            says("A3<U2"),
        ],
        "U1 A1 C1 R1 U2 A3",
        "U1 A1 C1 R1 U2 A3",
        [
            ("U", "prompt U1"),
            ("A", "answer A1", use("x")),
            ("U", out("x"), "prompt U2"),
            ("A", "answer A3"),
        ],
    ),
    Case(
        "parallel-sidechain-member",
        [
            *PARALLEL[:2],
            calls("C2<C1", "y", mid="m", isSidechain=True),
            PARALLEL[3],
            result("R2<C2", "y", isSidechain=True),
            says("A1<R1"),
        ],
        "U1 C1 C2 R1 R2 A1",
        "U1 C1 R1 A1",
        [
            ("U", "prompt U1"),
            ("A", use("x"), use("y")),
            ("U", out("x"), out("y")),
            ("A", "answer A1"),
        ],
    ),
    Case(
        "parallel-result-elsewhere",
        [*PARALLEL[:4], result("R2<U1", "y"), says("A1<R1")],
        "U1 C1 C2 R1 R2 A1",
        "U1 C1 C2 R2 R1 A1",
        [
            ("U", "prompt U1"),
            ("A", use("x"), use("y")),
            ("U", out("x"), out("y")),
            ("A", "answer A1"),
        ],
    ),
    Case(
        "parallel-notes-come-along",
        [*PARALLEL, note("H1<R2"), system("S1<H1"), user("M1<R2", isMeta=True), says("A1<R1")],
        "U1 C1 C2 R1 R2 H1 S1 M1 A1",
        "U1 C1 C2 R2 R1 A1",
        [
            ("U", "prompt U1"),
            ("A", use("x"), use("y")),
            ("U", out("x"), out("y"), "prompt M1"),
            ("A", "answer A1"),
        ],
    ),
    Case(
        "parallel-note-of-another-branch",
        [*PARALLEL, note("H1<R2"), user("U2<H1"), says("A1<R1")],
        "U1 C1 C2 R1 R2 A1",
        "U1 C1 C2 R2 R1 A1",
        [
            ("U", "prompt U1"),
            ("A", use("x"), use("y")),
            ("U", out("x"), out("y")),
            ("A", "answer A1"),
        ],
    ),
    Case(
        "parallel-two-results-for-a-call",
        [*PARALLEL, result("R3<C2", "y"), says("A1<R1")],
        "U1 C1 C2 R1 R2 R3 A1",
        "U1 C1 C2 R2 R3 R1 A1",
        [
            ("U", "prompt U1"),
            ("A", use("x"), use("y")),
            ("U", out("x"), out("y")),
            ("A", "answer A1"),
        ],
    ),
    Case(
        "text-after-a-call",
        [
            user("U1"),
            calls("C1<U1", "x", mid="m"),
            says("A1<C1", mid="m"),
            result("R1<C1", "x"),
            says("A2<R1"),
        ],
        "U1 C1 A1 R1 A2",
        "U1 C1 A1 R1 A2",
        [("U", "prompt U1"), ("A", "answer A1", use("x")), ("U", out("x")), ("A", "answer A2")],
    ),
    Case(
        "compaction",
        [*TALK, boundary("B1"), recap("K1<B1"), user("U3<K1"), says("A3<U3")],
        "B1 K1 U3 A3",
        "K1 U3 A3",
        [("U", "prompt K1\n", "prompt U3"), ("A", "answer A3")],
    ),
    Case(
        "compaction-with-parent",
        [*TALK, boundary("B1<A2"), recap("K1<B1"), user("U3<K1"), says("A3<U3")],
        "U1 A1 U2 A2 B1 K1 U3 A3",
        "U1 A1 U2 A2 K1 U3 A3",
        [("U", "prompt K1\n", "prompt U3"), ("A", "answer A3")],
    ),
    Case(
        "compaction-just-done",
        [*TALK, boundary("B1"), recap("K1<B1")],
        "B1 K1",
        "K1",
        [("U", "prompt K1"), ("A", "No response requested.")],
    ),
    Case(
        "compaction-twice",
        [
            *TALK,
            boundary("B1"),
            recap("K1<B1"),
            user("U3<K1"),
            says("A3<U3"),
            boundary("B2"),
            recap("K2<B2"),
            user("U4<K2"),
            says("A4<U4"),
        ],
        "B2 K2 U4 A4",
        "K2 U4 A4",
        [("U", "prompt K2\n", "prompt U4"), ("A", "answer A4")],
    ),
    Case(
        "compaction-branch-from-before",
        [*TALK, boundary("B1"), recap("K1<B1"), user("U3<A1"), says("A3<U3")],
        "U1 A1 U3 A3",
        "U1 A1 U3 A3",
        [("U", "prompt U1"), ("A", "answer A1"), ("U", "prompt U3"), ("A", "answer A3")],
    ),
    Case(
        "compaction-segment",
        [
            *TALK,
            boundary("B1", preservedSegment=segment("U2", "K1", "A2")),
            recap("K1<B1"),
            user("U3<K1"),
            says("A3<U3"),
        ],
        "B1 K1 U2 A2 U3 A3",
        "K1 U3 A3",
        [
            ("U", "prompt K1\n", "prompt U2"),
            ("A", "answer A2"),
            ("U", "prompt U3"),
            ("A", "answer A3"),
        ],
    ),
    Case(
        "compaction-segment-continued-on-tail",
        [
            *TALK,
            boundary("B1", preservedSegment=segment("U2", "K1", "A2")),
            recap("K1<B1"),
            user("U3<A2"),
            says("A3<U3"),
        ],
        "B1 K1 U2 A2 U3 A3",
        "U1 A1 U2 A2 U3 A3",
        [
            ("U", "prompt K1\n", "prompt U2"),
            ("A", "answer A2"),
            ("U", "prompt U3"),
            ("A", "answer A3"),
        ],
    ),
    Case(
        "compaction-segment-not-a-line",
        [
            *TALK,
            boundary("B1", preservedSegment=segment("A2", "K1", "U2")),
            recap("K1<B1"),
            user("U3<K1"),
            says("A3<U3"),
        ],
        "B1 K1 U3 A3",
        "K1 U3 A3",
        [("U", "prompt K1\n", "prompt U3"), ("A", "answer A3")],
    ),
    Case(
        "compaction-list-wins",
        [
            *TALK,
            boundary(
                "B1",
                preservedSegment=segment("U1", "K1", "A2"),
                preservedMessages=listed("K1", "A2"),
            ),
            recap("K1<B1"),
            user("U3<K1"),
            says("A3<U3"),
        ],
        "B1 K1 A2 U3 A3",
        "K1 U3 A3",
        [("U", "prompt K1"), ("A", "answer A2"), ("U", "prompt U3"), ("A", "answer A3")],
    ),
    Case(
        "compaction-list-with-a-gap",
        [
            *TALK,
            user("U4<A2"),
            says("A4<U4"),
            boundary("B1", preservedMessages=listed("K1", "U2", "A4")),
            recap("K1<B1"),
            user("U3<K1"),
            says("A3<U3"),
        ],
        "B1 K1 U2 A4 U3 A3",
        "K1 U3 A3",
        [
            ("U", "prompt K1\n", "prompt U2"),
            ("A", "answer A4"),
            ("U", "prompt U3"),
            ("A", "answer A3"),
        ],
    ),
    Case(
        "compaction-list-missing-one",
        [
            *TALK,
            boundary("B1", preservedMessages=listed("K1", "U2", "gone")),
            recap("K1<B1"),
            user("U3<K1"),
            says("A3<U3"),
        ],
        "B1 K1 U3 A3",
        "K1 U3 A3",
        [("U", "prompt K1\n", "prompt U3"), ("A", "answer A3")],
    ),
    Case(
        "compaction-anchor-is-boundary",
        [
            *TALK,
            boundary("B1", preservedSegment=segment("U1", "B1", "A1")),
            recap("K1<B1"),
            user("U3<K1"),
            says("A3<U3"),
        ],
        "B1 U1 A1 K1 U3 A3",
        "K1 U3 A3",
        [
            ("U", "prompt U1"),
            ("A", "answer A1"),
            ("U", "prompt K1\n", "prompt U3"),
            ("A", "answer A3"),
        ],
    ),
    Case(
        "compaction-preserved-just-done",
        [*TALK, boundary("B1", preservedMessages=listed("K1", "U2", "A2")), recap("K1<B1")],
        "B1 K1 U2 A2",
        "K1",
        [("U", "prompt K1\n", "prompt U2"), ("A", "answer A2")],
    ),
    Case(
        "compaction-preserved-forgets-the-rest",
        [
            *TALK,
            boundary("B1", preservedSegment=segment("U2", "K1", "A2")),
            recap("K1<B1"),
            user("U3<A1"),
            says("A3<U3"),
        ],
        "B1 K1 U2 A2 U3 A3",
        "U1 A1 U3 A3",
        [
            ("U", "prompt K1\n", "prompt U2"),
            ("A", "answer A2"),
            ("U", "prompt U3"),
            ("A", "answer A3"),
        ],
    ),
    Case(
        "compaction-only-last-preserves",
        [
            *TALK,
            boundary("B1", preservedSegment=segment("U2", "K1", "A2")),
            recap("K1<B1"),
            user("U3<K1"),
            says("A3<U3"),
            boundary("B2"),
            recap("K2<B2"),
            user("U4<K2"),
            says("A4<U4"),
        ],
        "B2 K2 U4 A4",
        "K2 U4 A4",
        [("U", "prompt K2\n", "prompt U4"), ("A", "answer A4")],
    ),
    Case(
        "lone-summary-cuts-nothing",
        [*TALK[:2], recap("K1<A1"), user("U2<K1"), says("A2<U2")],
        "U1 A1 K1 U2 A2",
        "U1 A1 K1 U2 A2",
        [
            ("U", "prompt U1"),
            ("A", "answer A1"),
            ("U", "prompt K1\n", "prompt U2"),
            ("A", "answer A2"),
        ],
    ),
    Case(
        "microcompaction-cuts-nothing",
        [*TALK[:2], system("S1<A1", "microcompact_boundary"), user("U2<S1"), says("A2<U2")],
        "U1 A1 S1 U2 A2",
        "U1 A1 U2 A2",
        [("U", "prompt U1"), ("A", "answer A1"), ("U", "prompt U2"), ("A", "answer A2")],
    ),
    Case(
        "users-in-a-row",
        [
            user("U1"),
            user("U2<U1", [text("one"), text("two")]),
            user("U3<U2", isMeta=True),
            says("A1<U3"),
        ],
        "U1 U2 U3 A1",
        "U1 U2 A1",
        [("U", "prompt U1\n", "one", "two\n", "prompt U3"), ("A", "answer A1")],
    ),
    Case(
        "answers-in-a-row",
        [*TALK[:2], says("A2<A1"), user("U2<A2")],
        "U1 A1 A2 U2",
        "U1 A1 A2 U2",
        [
            ("U", "prompt U1"),
            ("A", "answer A1"),
            ("A", "answer A2"),
            ("U", "prompt U2"),
            ("A", "No response requested."),
        ],
    ),
    Case(
        "local-command-notice",
        [
            *TALK[:2],
            system(
                "S1<A1",
                "local_command",
                content="<local-command-stdout>3 beds</local-command-stdout>",
            ),
            user("U2<S1"),
            says("A2<U2"),
        ],
        "U1 A1 S1 U2 A2",
        "U1 A1 U2 A2",
        [
            ("U", "prompt U1"),
            ("A", "answer A1"),
            ("U", "<local-command-stdout>3 beds</local-command-stdout>\n", "prompt U2"),
            ("A", "answer A2"),
        ],
    ),
    Case(
        "local-command-under-its-caveat",
        [
            *TALK[:2],
            user(
                "M1<A1",
                "<local-command-caveat>for the user only</local-command-caveat>",
                isMeta=True,
            ),
            user("U2<M1", "<command-name>/beds</command-name>"),
            user("U3<U2", "<local-command-stdout>3 beds</local-command-stdout>"),
        ],
        "U1 A1 M1 U2 U3",
        "U1 A1 U2 U3",
        [
            ("U", "prompt U1"),
            ("A", "answer A1"),
            (
                "U",
                "<local-command-caveat>for the user only</local-command-caveat>\n",
                "<command-name>/beds</command-name>\n",
                "<local-command-stdout>3 beds</local-command-stdout>\n",
            ),
        ],
    ),
    Case(
        "local-command-without-caveat",
        [
            *TALK[:2],
            user("U2<A1", "<command-name>/beds</command-name>"),
            user("U3<U2", "<local-command-stdout>3 beds</local-command-stdout>"),
        ],
        "U1 A1 U2 U3",
        "U1 A1 U2 U3",
        [
            ("U", "prompt U1"),
            ("A", "answer A1"),
            (
                "U",
                "<command-name>/beds</command-name>\n",
                "<local-command-stdout>3 beds</local-command-stdout>",
            ),
            ("A", "No response requested."),
        ],
    ),
    Case(
        "attachments-as-user-and-system",
        [
            user("U1"),
            note("H1<U1", **rendered("frost tonight", "user")),
            note("H2<H1", **rendered("be brief", "system")),
            says("A1<H2"),
        ],
        "U1 H1 H2 A1",
        "U1 A1",
        [("U", "frost tonight\n", "prompt U1"), ("A", "answer A1")],
    ),
    Case(
        "attachment-folds-into-a-result",
        [
            user("U1"),
            calls("C1<U1", "x"),
            result("R1<C1", "x"),
            note("H1<R1", **rendered("frost tonight", "user")),
            says("A1<H1"),
        ],
        "U1 C1 R1 H1 A1",
        "U1 C1 R1 A1",
        [
            ("U", "prompt U1"),
            ("A", use("x")),
            ("U", out("x", "output of x\n\nfrost tonight")),
            ("A", "answer A1"),
        ],
    ),
    Case(
        "task-notification-is-a-reminder",
        [
            *TALK[:2],
            user(
                "N1<A1",
                "<task-notification>done</task-notification>",
                origin={"kind": "task-notification"},
            ),
            user("U2<N1"),
            says("A2<U2"),
        ],
        "U1 A1 N1 U2 A2",
        "U1 A1 N1 U2 A2",
        [("U", "prompt U1"), ("A", "answer A1"), ("U", "prompt U2"), ("A", "answer A2")],
    ),
    Case(
        "api-error-parts-nothing",
        [user("U1"), error("E1<U1"), user("U2<E1"), says("A2<U2")],
        "U1 E1 U2 A2",
        "U1 E1 U2 A2",
        [("U", "prompt U1\n", "prompt U2"), ("A", "answer A2")],
    ),
    Case(
        "api-error-at-the-end",
        [*TALK[:2], user("U2<A1"), error("E1<U2")],
        "U1 A1 U2 E1",
        "U1 A1 U2 E1",
        [("U", "prompt U1"), ("A", "answer A1"), ("U", "prompt U2")],
    ),
    Case(
        "unknown-block-goes-through",
        [user("U1"), says("A1<U1", [{"type": "sketch", "lines": 3}, text("drawn")])],
        "U1 A1",
        "U1 A1",
        [("U", "prompt U1"), ("A", {"type": "sketch", "lines": 3}, "drawn")],
    ),
    Case(
        "blocks-that-are-none",
        [*TALK[:2], user("U2<A1", [1, {"type": "text", "text": 5}, text("kept")]), says("A2<U2")],
        "U1 A1 U2 A2",
        "U1 A1 U2 A2",
        [("U", "prompt U1"), ("A", "answer A1"), ("U", "kept"), ("A", "answer A2")],
    ),
    Case(
        "prompt-of-no-blocks",
        [*TALK, user("U3<A1", [1, "words", None])],
        "U1 A1 U2 A2",
        "U1 A1 U3",
        [("U", "prompt U1"), ("A", "answer A1"), ("U", "prompt U2"), ("A", "answer A2")],
    ),
    Case(
        "lone-surrogate",
        [user("U1", "half \ud83c a flower"), says("A1<U1")],
        "U1 A1",
        "U1 A1",
        [("U", "half \ufffd a flower"), ("A", "answer A1")],
    ),
    Case(
        "blank-prompt-leaves-its-line-break",
        [user("U1"), user("U2<U1", "  "), says("A1<U2")],
        "U1 U2 A1",
        "U1 U2 A1",
        [("U", "prompt U1\n"), ("A", "answer A1")],
    ),
    Case(
        "empty-prompt-list",
        [*TALK[:2], user("U2<A1", []), user("U3<U2"), says("A3<U3")],
        "U1 A1 U3 A3",
        "U1 A1 U2 U3 A3",
        [("U", "prompt U1"), ("A", "answer A1"), ("U", "prompt U3"), ("A", "answer A3")],
    ),
    Case(
        "empty-answer",
        [user("U1"), says("A1<U1", []), user("U2<A1"), says("A2<U2")],
        "U1 U2 A2",
        "U1 A1 U2 A2",
        [
            ("U", "prompt U1"),
            ("A", made_up("(no content)")),
            ("U", "prompt U2"),
            ("A", "answer A2"),
        ],
    ),
    Case(
        "blank-answer",
        [user("U1"), says("A1<U1", [text(" \n")]), user("U2<A1"), says("A2<U2")],
        "U1 U2 A2",
        "U1 A1 U2 A2",
        [("U", "prompt U1\n", "prompt U2"), ("A", "answer A2")],
    ),
    Case(
        "thoughts-only",
        [user("U1"), says("A1<U1", [thought("hm")]), user("U2<A1"), says("A2<U2")],
        "U1 U2 A2",
        "U1 A1 U2 A2",
        [("U", "prompt U1\n", "prompt U2"), ("A", "answer A2")],
    ),
    Case(
        "thought-with-its-text",
        [user("U1"), says("A1<U1", [thought("hm")], mid="m"), says("A2<A1", mid="m")],
        "U1 A1 A2",
        "U1 A1 A2",
        [("U", "prompt U1"), ("A", {"type": "thinking", "thinking": "hm"}, "answer A2")],
    ),
    Case(
        "thoughts-of-another-model",
        [
            user("U1"),
            says("A1<U1", [thought("hm"), text("older")], model="claude-sonnet-4-5"),
            user("U2<A1"),
            says("A2<U2", [thought("so"), text("newer")]),
        ],
        "U1 A1 U2 A2",
        "U1 A1 U2 A2",
        [
            ("U", "prompt U1"),
            ("A", "older"),
            ("U", "prompt U2"),
            ("A", {"type": "thinking", "thinking": "so"}, "newer"),
        ],
    ),
    Case(
        "call-at-the-end",
        [user("U1"), calls("C1<U1", "x")],
        "U1 C1",
        "U1 C1",
        [("U", "prompt U1"), ("A", use("x")), ("U", stopped("x")), ("A", "No response requested.")],
    ),
    Case(
        "call-at-the-end-one-answered",
        [*PARALLEL[:4]],
        "U1 C1 C2 R1",
        "U1 C1 C2 R1",
        [
            ("U", "prompt U1"),
            ("A", use("x"), use("y")),
            ("U", out("x"), stopped("y")),
            ("A", "No response requested."),
        ],
    ),
    Case(
        "call-in-the-middle",
        [user("U1"), calls("C1<U1", "x"), user("U2<C1"), says("A2<U2")],
        "U1 U2 A2",
        "U1 C1 U2 A2",
        [("U", "prompt U1\n", "prompt U2"), ("A", "answer A2")],
    ),
    Case(
        "call-in-the-middle-one-answered",
        [*PARALLEL[:4], says("A1<R1"), user("U2<A1"), says("A2<U2")],
        "U1 C1 R1 A1 U2 A2",
        "U1 C1 C2 R1 A1 U2 A2",
        [
            ("U", "prompt U1"),
            ("A", use("x")),
            ("U", out("x")),
            ("A", "answer A1"),
            ("U", "prompt U2"),
            ("A", "answer A2"),
        ],
    ),
    Case(
        "two-calls-in-one-entry-one-answered",
        [user("U1"), calls("C1<U1", "x", "y"), result("R1<C1", "x"), says("A1<R1")],
        "U1 C1 R1 A1",
        "U1 C1 R1 A1",
        [
            ("U", "prompt U1"),
            ("A", use("x"), use("y")),
            ("U", lost("y"), out("x")),
            ("A", "answer A1"),
        ],
    ),
    Case(
        "turn-cut-off-among-tools",
        [user("U1"), calls("C1<U1", "x"), calls("C2<C1", "y"), result("R2<C2", "y")],
        "U1 C1 C2 R2",
        "U1 C1 C2 R2",
        [
            ("U", "prompt U1"),
            ("A", use("x")),
            ("U", lost("x")),
            ("A", use("y")),
            ("U", out("y")),
            ("A", "No response requested."),
        ],
    ),
    Case(
        "result-without-call",
        [*TALK[:2], result("R1<A1", "x"), says("A2<R1")],
        "U1 A1 R1 A2",
        "U1 A1 R1 A2",
        [("U", "prompt U1"), ("A", "answer A1"), ("U", "(no content)"), ("A", "answer A2")],
    ),
    Case(
        "result-without-call-first",
        [result("R1", "x"), says("A1<R1")],
        "R1 A1",
        "R1 A1",
        [("U", "[Orphaned tool result removed due to conversation resume]"), ("A", "answer A1")],
    ),
    Case(
        "result-too-late",
        [
            user("U1"),
            calls("C1<U1", "x"),
            user("U2<C1"),
            says("A1<U2"),
            result("R1<A1", "x"),
            says("A2<R1"),
        ],
        "U1 C1 U2 A1 R1 A2",
        "U1 C1 U2 A1 R1 A2",
        [
            ("U", "prompt U1"),
            ("A", use("x")),
            ("U", lost("x"), "prompt U2"),
            ("A", "answer A1"),
            ("U", "(no content)"),
            ("A", "answer A2"),
        ],
    ),
    Case(
        "result-before-its-call",
        [user("U1"), result("R1<U1", "x"), calls("C1<R1", "x"), user("U2<C1"), says("A1<U2")],
        "U1 C1 R1 U2 A1",
        "U1 R1 C1 U2 A1",
        [("U", "prompt U1"), ("A", use("x")), ("U", out("x"), "prompt U2"), ("A", "answer A1")],
    ),
    Case(
        "second-result-is-dropped",
        [
            user("U1"),
            calls("C1<U1", "x"),
            result("R1<C1", "x"),
            says("A1<R1"),
            result("R2<A1", "x"),
            says("A2<R2"),
        ],
        "U1 C1 R1 A1 R2 A2",
        "U1 C1 R1 A1 R2 A2",
        [
            ("U", "prompt U1"),
            ("A", use("x")),
            ("U", out("x")),
            ("A", "answer A1"),
            ("U", "(no content)"),
            ("A", "answer A2"),
        ],
    ),
    Case(
        "call-id-used-twice",
        [
            user("U1"),
            calls("C1<U1", "x"),
            result("R1<C1", "x"),
            calls("C2<R1", "x"),
            result("R2<C2", "x"),
            says("A1<R2"),
        ],
        "U1 C1 R1 C2 R2 A1",
        "U1 C1 R1 C2 R2 A1",
        [
            ("U", "prompt U1"),
            ("A", use("x")),
            ("U", out("x")),
            ("A", made_up("[Tool use interrupted]")),
            ("U", "(no content)"),
            ("A", "answer A1"),
        ],
    ),
    Case(
        "pointer-with-trailing-notes",
        [*TALK, system("S1<A2"), note("H1<A2"), user("U3<A1"), says("A3<U3"), pointer("A2")],
        "U1 A1 U2 A2 S1 H1",
        "U1 A1 U3 A3",
        [("U", "prompt U1"), ("A", "answer A1"), ("U", "prompt U2"), ("A", "answer A2")],
    ),
    Case(
        "trailing-notes-of-other-branches",
        [*TALK[:2], system("S1<A1"), system("S2<S1"), user("U2<S2"), note("H1<S1")],
        "U1 A1 S1 S2 H1",
        "U1 A1 U2",
        [("U", "prompt U1"), ("A", "answer A1")],
    ),
    Case(
        "explicit-with-trailing-notes",
        [*TALK[:2], system("S1<A1"), user("U2<S1"), says("A2<U2"), pointer("A1", explicit=True)],
        "U1 A1 S1",
        "U1 A1 U2 A2",
        [("U", "prompt U1"), ("A", "answer A1")],
    ),
    Case(
        "compaction-done-with-attachments",
        [*TALK, boundary("B1"), recap("K1<B1"), note("H1<K1")],
        "B1 K1 H1",
        "K1",
        [("U", "prompt K1\n")],
    ),
]


def build(folder: Path = HERE) -> None:
    """Writes all cases into a folder."""
    for case in CASES:
        place = folder / case.name
        place.mkdir(exist_ok=True)
        (place / "session.jsonl").write_bytes(case.session())
        expected = json.dumps(case.expected(), indent=1, ensure_ascii=False) + "\n"
        (place / "expected.json").write_text(expected, encoding="utf-8")


if __name__ == "__main__":
    build(Path(sys.argv[1]) if sys.argv[1:] else HERE)
