"""Lines that are no records to the records that are left of them.

    {"type":"user",…}{"type":"assistant",…}      glued: two lines
    ␀␀␀␀{"type":"user",…}                        padded by a crash: the record alone
    {"type":"user","mess{"type":"assistant",…}   torn, then written on: the second is a line again
    {"type":"user","message":{"content":"fix th  torn: its words are a record again

A torn line that holds nobody's words goes; one of which nobody can tell stays where it is.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

from plait.edit.draft import Draft, DraftLine, made_uuid
from plait.edit.repair.torn import closed
from plait.record import Broken, Record
from plait.record.codec import BYTE_ORDER_MARK, encode

GLUED = "records that stood on one line have one each"
FREED = "a record is freed of the remains that stood beside it"
TORN = "the words of a torn line are a record again"
WORDLESS = "a torn line that holds nobody's words goes"
NULS = "a line of NUL bytes goes"
ENDED = "a torn line gets its end, so that what is added does not go with it"
MARKED = "a byte order mark goes: the SDK does not read a line that has one"

PADDING = b"\0 \t\r" + BYTE_ORDER_MARK
WORDED = frozenset({"message", "content", "attachment", "lastPrompt", "summary", "prompt"})
"""Fields that may hold what a person said."""
MACHINES = frozenset({"assistant", "progress", "system", "file-history-snapshot"})
FRAME = {
    "isSidechain": False,
    "userType": "external",
    "cwd": "",
    "sessionId": "",
    "version": "",
    "timestamp": "1970-01-01T00:00:00.000Z",
}
"""What a torn record takes from its neighbour, and what stands there where it has none."""


class Part(NamedTuple):
    """What became of a part of a broken line: the bytes of a line, None where it goes."""

    data: bytes | None
    reason: str | None


def broken_lines(draft: Draft) -> None:
    """Mends glued, padded and torn lines."""
    uuids = {record.uuid for record in draft.records}
    lines = list(draft.lines)
    following: list[Record | None] = [None]
    for line in reversed(lines):
        following.append(line.record or following[-1])
    before: Record | None = None
    for line, after in zip(lines, following[-2::-1], strict=True):
        if isinstance(line.entry, Broken) and not line.is_gone:
            phantom = after.parent_uuid if after and after.parent_uuid not in uuids else None
            parts = [
                _part(part, is_whole, before or after, phantom)
                for part, is_whole in _parts(line.entry)
            ]
            _put(draft, line, parts)
        before = line.record or before


def _parts(broken: Broken) -> Iterator[tuple[bytes, bool]]:
    """Yields the whole records on a line and what stands around them."""
    line, end = broken.line, 0
    for one in broken.recovered:
        if one.is_whole:
            start = one.offset - line.offset
            yield line.data[end:start], False
            yield one.data, True
            end = start + len(one.data)
    yield line.data[end:], False


def _part(data: bytes, is_whole: bool, near: Record | None, phantom: str | None) -> Part:
    if is_whole:
        return Part(data, None)
    if not data.strip(PADDING):
        return Part(None, None)
    fields = closed(data.strip(PADDING))
    if fields is None:
        return Part(data, None)
    if record := _record_of(fields, near, phantom):
        return Part(encode(record), TORN)
    is_nobodys = _kind(fields) in MACHINES or _holds_no_words(fields)
    return Part(None, WORDLESS) if is_nobodys else Part(data, None)


def _holds_no_words(fields: dict[str, Any]) -> bool:
    if fields.get("type") == "user" or "message" in fields:
        return not _blocks(fields) and set(fields) & WORDED <= {"message"}
    return not set(fields) & WORDED


def _record_of(
    fields: dict[str, Any], near: Record | None, phantom: str | None
) -> dict[str, Any] | None:
    """Returns the record that a torn line began, where words of it are left."""
    kind, blocks = _kind(fields), _blocks(fields)
    if kind not in ("user", "assistant") or not blocks:
        return None
    if (last := next(reversed(fields))) != "message":
        fields = {key: value for key, value in fields.items() if key != last}  # it may be cut
    frame = {key: (near.fields if near else {}).get(key, other) for key, other in FRAME.items()}
    identity = fields.get("uuid") or phantom or made_uuid(encode(fields))
    parent = fields.get("parentUuid", near.uuid if near else None)
    message = {**fields["message"], "role": kind, "content": blocks}
    if kind == "assistant":
        message = {"model": "", "id": identity, "stop_reason": None, "usage": {}, **message}
        frame["requestId"] = message["id"]
    own = {"parentUuid": parent, "type": kind, "message": message, "uuid": identity}
    return {**fields, **own, **{key: frame[key] for key in frame if key not in fields}}


def _kind(fields: dict[str, Any]) -> object:
    """Returns what a torn record is: an answer's type stands behind its words."""
    message = fields.get("message")
    return fields.get("type") or (message.get("role") if isinstance(message, dict) else None)


def _blocks(fields: dict[str, Any]) -> str | list[dict[str, Any]]:
    """Returns the content that is left of a torn record: words, and results as far as they go."""
    message = fields.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return []
    is_cut = next(reversed(fields)) == "message"
    blocks = [block for block in content if isinstance(block, dict)]
    if is_cut and blocks and not _is_of_use(blocks[-1]):
        blocks.pop()
    return blocks


def _is_of_use(block: dict[str, Any]) -> bool:
    """Whether a block that was cut still says something that can be told."""
    if block.get("type") == "text":
        return bool(str(block.get("text", "")).strip())
    is_result = block.get("type") == "tool_result"
    return is_result and isinstance(block.get("tool_use_id"), str) and bool(block.get("content"))


def _put(draft: Draft, line: DraftLine, parts: list[Part]) -> None:
    """Puts what is left of a broken line in its place."""
    left = [part for part in parts if part.data is not None]
    reasons = [part.reason for part in parts if part.reason]
    if not left:
        draft.drop(line, reasons[0] if reasons else NULS)
        return
    if len(left) == 1 and left[0].data == line.data:
        if not line.is_ended:
            draft.end(line, ENDED)
        return
    reason = reasons[0] if reasons else GLUED if len(left) > 1 else FREED
    first, *others = (part.data or b"" for part in left)
    draft.rewrite(line, first, reason)
    if not line.is_ended:
        draft.end(line, reason)
    draft.insert(line, others, reason)


def byte_order_mark(draft: Draft) -> None:
    """Takes the marks away that some editors put before a text."""
    for line, record in draft.spoken:
        if record.raw.startswith(BYTE_ORDER_MARK):
            draft.rewrite(line, record.raw.removeprefix(BYTE_ORDER_MARK), MARKED)
