"""What is told of a compressed band to the lines that tell it, in the form of the client's own."""

from collections.abc import Mapping
from hashlib import blake2b
from typing import Any

from plait.conversation.usage import SYNTHETIC
from plait.edit.draft import made_uuid
from plait.record import Record
from plait.record.codec import mapping
from plait.write.events import event_fields
from plait.write.order import NEWEST, ordered
from plait.write.response import NO_USAGE

FRAME = "userType entrypoint cwd sessionId version gitBranch slug".split()
"""What a made line has in common with the one it stands beside."""
FRAMED = {"userType": "external", "cwd": "", "version": ""}
MADE = "msg_compressed_"
"""How the ids of made answers begin: by them a compressed turn is known again."""
REQUEST = "req_compressed_"
MARK = "compressedTurns"
"""By this a compaction is known that was made here."""
CONTENT = "Conversation compressed"
OPENING = (
    "The earlier turns of this conversation were compressed. The user's prompts below stand as "
    "they were typed; what you answered is summed up behind each. Thoughts and results of tool "
    "calls are no longer here: look again where you need them."
)
NO_FORM = (
    " Your calls of that time are listed in words, for the record only; call tools as you always "
    "do."
)

BEFORE = "Before the first prompt you said:"


def note(near: Record, parent: str | None, words: str) -> dict[str, Any]:
    """Returns the note that says what was compressed; it is never sent."""
    fields = event_fields("informational", {"content": words}, is_older=False)
    return _framed("system", near, parent, "note", {**_head("informational"), **fields})


def boundary(near: Record, after: str, metadata: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the compaction behind which the compressed turns stand."""
    told = {"compactMetadata": {**metadata}, "logicalParentUuid": after, "content": CONTENT}
    fields = event_fields("compact_boundary", {**told, "isMeta": False}, is_older=False)
    return _framed("system", near, None, "boundary", {**_head("compact_boundary"), **fields})


def opening_words(before: str | None, *, tells_calls: bool) -> str:
    """Returns what Claude is told of the turns that follow, and of what stood before them."""
    words = OPENING + (NO_FORM if tells_calls else "")
    return f"{words}\n\n{BEFORE}\n\n{before}" if before else words


def opening(near: Record, parent: str, words: str) -> dict[str, Any]:
    """Returns the message that tells it."""
    fields = {
        "type": "user",
        "message": {"role": "user", "content": words},
        "isVisibleInTranscriptOnly": True,
        "isCompactSummary": True,
    }
    return _framed("user", near, parent, "opening", fields)


def answer(near: Record, parent: str, time: str | None, words: str) -> dict[str, Any]:
    """Returns what stands for the answers of a turn: the client's own words, as far as it knows."""
    digest = blake2b((near.uuid or "").encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()
    message = {
        "id": MADE + digest,
        "model": SYNTHETIC,
        "role": "assistant",
        "stop_reason": "stop_sequence",
        "stop_sequence": "",
        "type": "message",
        "usage": NO_USAGE,
        "content": [{"type": "text", "text": words}],
    }
    fields = {
        "type": "assistant",
        "message": message,
        "requestId": REQUEST + digest,
        "isApiErrorMessage": False,
        "madeBy": "other",
        "timestamp": time,
    }
    return _framed("api error", near, parent, "answer", fields)


def is_made(record: Record) -> bool:
    """Tells an answer that stands for others."""
    return (record.message_id or "").startswith(MADE)


def is_made_boundary(record: Record | None) -> bool:
    """Tells a compaction that was made here."""
    return record is not None and MARK in mapping(record.fields.get("compactMetadata"))


def _head(subtype: str) -> dict[str, Any]:
    return {"type": "system", "subtype": subtype}


def _framed(
    kind: str, near: Record, parent: str | None, role: str, told: Mapping[str, Any]
) -> dict[str, Any]:
    seed = f"compress {role} {near.uuid}".encode("utf-8", "surrogatepass")
    frame = {**FRAMED, **{key: near.fields[key] for key in FRAME if key in near.fields}}
    first = {"parentUuid": parent, "isSidechain": False, "uuid": made_uuid(seed)}
    time = {"timestamp": near.timestamp}
    return ordered(kind, {**first, **frame, **time, **told}, NEWEST)
