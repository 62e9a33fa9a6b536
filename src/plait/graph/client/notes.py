"""An attachment to what the client sends for it: the text it was given, or one made again.

The client keeps the text that an attachment was sent with (`rendered`) beside it. Where that is
missing, it words the attachment once more, from its fields.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from plait.graph.client.model import Block, Said
from plait.graph.client.models import Notes
from plait.graph.client.wording import (
    CLOSING,
    OPENING,
    Fields,
    Piece,
    as_reminder,
    text_block,
    worded,
)
from plait.record import Record

APART = frozenset({"file", "directory", "nested_memory"})
"""Kinds that stand beside a result, never in it."""


@dataclass(frozen=True, slots=True)
class Listener:
    """Whom the notes of a session are for."""

    notes: Notes
    tools: frozenset[str] = frozenset()
    """Those that the session holds a description of."""


def note(number: int, record: Record, listener: Listener) -> list[Said]:
    """Returns what an attachment says, one piece after the other; none where it is silent."""
    fields, manner = _fields_of(record), listener.notes
    added = _added_tools(fields, listener)
    pieces, is_system = _pieces(record, fields, is_retold=added is None)
    if manner is not Notes.AS_USER and _is_typed(fields):
        blocks = [_bare(block) for piece in pieces for block in piece]
        return [Said(number, "user", blocks, is_queued=True)] if blocks else []
    if manner is not Notes.AS_USER and is_system:
        return _told_by_system(number, pieces, manner, added or [])
    is_apart = fields.get("type") in APART and record.fields.get("renderedRole") == "user"
    return [
        Said(number, "user", piece, is_note=True, is_apart=is_apart, place=place)
        for place, piece in enumerate(pieces)
    ]


def described_tools(records: Iterable[Record]) -> frozenset[str]:
    """Returns the tools whose descriptions the attachments among some records hold."""
    held = (_fields_of(record) for record in records if record.type == "attachment")
    entries = [one.get("entries") for one in held if one.get("type") == "deferred_tools_record"]
    named = (entry for some in entries if isinstance(some, list) for entry in some)
    return frozenset(str(one.get("name")) for one in named if isinstance(one, dict))


def _added_tools(fields: Fields, listener: Listener) -> list[Block] | None:
    """Returns blocks that add the tools an attachment brings, None where it cannot add them."""
    names = fields.get("surfacedNames") if fields.get("type") == "deferred_tools_delta" else None
    if not isinstance(names, list) or not names:
        return []
    if listener.notes is not Notes.AS_SYSTEM or not listener.tools.issuperset(map(str, names)):
        return None
    return [
        {"type": "tool_addition", "tool": {"type": "tool_reference", "name": name}}
        for name in names
    ]


def _told_by_system(
    number: int, pieces: list[Piece], manner: Notes, added: list[Block]
) -> list[Said]:
    texts = [_bare(block)["text"] for piece in pieces for block in piece if "text" in block]
    words = "\n".join(texts)
    told = as_reminder(words) if manner is Notes.TAGGED else words
    return [Said(number, "system", [text_block(told), *added], is_note=True)] if texts else []


def _fields_of(record: Record) -> Fields:
    fields = record.fields.get("attachment")
    return fields if isinstance(fields, dict) else {}


def _is_typed(fields: Fields) -> bool:
    """Tells a prompt that a person typed while the model worked."""
    origin = fields.get("origin")
    is_human = isinstance(origin, dict) and origin.get("kind") == "human"
    is_prompt = fields.get("type") == "queued_command" and fields.get("commandMode") == "prompt"
    return is_prompt and is_human and fields.get("humanTurn") is True


def _pieces(record: Record, fields: Fields, *, is_retold: bool) -> tuple[list[Piece], bool]:
    """Returns the texts of an attachment, and whether they are of the system."""
    rendered = record.fields.get("rendered")
    is_kept = isinstance(rendered, list) and not is_retold
    pieces = _rendered(rendered) if is_kept else worded(fields)
    is_text = all(block["type"] == "text" for piece in pieces for block in piece)
    return pieces, is_text and record.fields.get("renderedRole") != "user"


def _rendered(rendered: Any) -> list[Piece]:
    contents = [piece.get("content") for piece in rendered if isinstance(piece, dict)]
    pieces = [[text_block(one)] if isinstance(one, str) else _texts(one) for one in contents]
    said = [[block for block in piece if block["text"].strip()] for piece in pieces]
    return [piece for piece in said if piece]


def _texts(content: object) -> Piece:
    blocks = content if isinstance(content, list) else []
    texts = [block.get("text") for block in blocks if isinstance(block, dict)]
    return [text_block(text) for text in texts if isinstance(text, str)]


def _bare(block: Block) -> Block:
    """Returns a text without the tags of a reminder where they are all around it."""
    text = block.get("text", "")
    if not (text.startswith(OPENING) and text.endswith(CLOSING)):
        return block
    inner = text.removeprefix(OPENING).removesuffix(CLOSING)
    return text_block(inner.removeprefix("\n").removesuffix("\n"))
