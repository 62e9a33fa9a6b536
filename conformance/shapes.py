"""Build the objects of a session file, by kind of entry."""

from collections.abc import Iterable
from uuid import UUID, uuid5

from conformance.model import Json
from conformance.sandbox import SESSION

NAMES = UUID(int=7)
ZERO = str(UUID(int=0))
MODEL = "claude-opus-5-5"


def uuid_of(name: str) -> str:
    """Return the uuid that stands for a name."""
    return str(uuid5(NAMES, name))


def time_of(second: int) -> str:
    """Return a time so many seconds after the hour."""
    return f"2026-11-01T10:{second // 60:02d}:{second % 60:02d}.000Z"


def entry(name: str, parent: str | None, kind: str, **fields: object) -> Json:
    """Return an entry of the chain."""
    return {
        "parentUuid": parent and uuid_of(parent),
        "isSidechain": False,
        "userType": "external",
        "cwd": "/home/dev/demo",
        "sessionId": SESSION,
        "version": "2.1.325",
        "gitBranch": "main",
        "type": kind,
        **fields,
        "uuid": uuid_of(name),
    }


def user(name: str, parent: str | None, content: object = None, **fields: object) -> Json:
    """Return a prompt; its text is its name where nothing is given."""
    message = {"role": "user", "content": name if content is None else content}
    return entry(name, parent, "user", message=message, **fields)


def answer(
    name: str, parent: str | None, blocks: list[Json], message: str | None, **fields: object
) -> Json:
    """Return one line of an answer; an empty message id is left out."""
    model = fields.pop("model", MODEL)
    own = {} if message == "" else {"id": message or f"msg_{name}"}
    said = {**own, "type": "message", "role": "assistant", "model": model, "content": blocks}
    usage = {"input_tokens": 1, "output_tokens": 1}
    whole = {**said, "stop_reason": "end_turn", "stop_sequence": None, "usage": usage}
    return entry(name, parent, "assistant", message=whole, **fields)


def text(words: str) -> Json:
    """Return a block of text."""
    return {"type": "text", "text": words}


def thinking(words: str) -> Json:
    """Return a block of thinking."""
    return {"type": "thinking", "thinking": words, "signature": "signed"}


def use(call: str) -> Json:
    """Return the block of a call."""
    return {"type": "tool_use", "id": call, "name": "Bash", "input": {"command": call}}


def result(name: str, parent: str | None, call: str, **fields: object) -> Json:
    """Return the result of a call."""
    block = {"type": "tool_result", "tool_use_id": call, "content": f"of {call}", "is_error": False}
    return user(name, parent, [block], toolUseResult={"stdout": "x"}, **fields)


def boundary(name: str, parent: str | None, kept: Json, **fields: object) -> Json:
    """Return the boundary of a compaction, with what it keeps."""
    metadata = {"trigger": "manual", "preTokens": 100, **kept}
    own = {"subtype": "compact_boundary", "content": "Conversation compacted", "level": "info"}
    return entry(name, parent, "system", **own, isMeta=False, compactMetadata=metadata, **fields)


def segment(head: str, anchor: str, tail: str) -> Json:
    """Return what a boundary keeps, as the ends of a stretch."""
    ends = {"headUuid": uuid_of(head), "anchorUuid": uuid_of(anchor), "tailUuid": uuid_of(tail)}
    return {"preservedSegment": ends}


def kept_messages(names: Iterable[str], anchor: str) -> Json:
    """Return what a boundary keeps, one by one."""
    uuids = [uuid_of(name) for name in names]
    return {"preservedMessages": {"anchorUuid": uuid_of(anchor), "uuids": uuids}}


def last_prompt(leaf: str, **fields: object) -> Json:
    """Return the line that points to a leaf."""
    uuid = ZERO if leaf == "zero" else uuid_of(leaf)
    own = {"type": "last-prompt", "lastPrompt": "words", "leafUuid": uuid}
    return {**own, **fields, "sessionId": SESSION}
