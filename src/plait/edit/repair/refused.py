"""What the API refuses, so that a session is stuck, to what it takes.

The client itself leaves out answers that only think, thoughts of another model and blank words
beside others: these stay as they are.
"""

from collections.abc import Callable
from typing import Any

from plait.edit.check.line_rules import is_claudes, is_unsigned
from plait.edit.check.pictures import pictures_in, refusal_of, shape_of
from plait.edit.draft import Draft, with_field
from plait.graph.client import context
from plait.graph.client.load import is_thinking
from plait.graph.client.model import NO_CONTENT
from plait.record import Record
from plait.record.codec import mapping
from plait.record.record import content_blocks

UNSIGNED = "a thought without a signature goes: the API refuses it"
TWICE = "a thought that stands in its answer already goes: the API takes it for a changed one"
RETYPED = "a picture is called what its bytes say it is"
REFUSED = "a picture that the API refuses is replaced by a note that says why"
BLANK = "a prompt of nothing but white space says so: the API refuses blank words"
MANY = 20
"""So many pictures in one request may be as large as any."""
MANY_PIXELS = 2000
"""On one side, where there are more."""

Block = dict[str, Any]


def thoughts(draft: Draft) -> None:
    """Takes thoughts away that the API refuses, where their answer says more than them."""
    spoken = {
        record.message_id
        for record in draft.records
        if any(not is_thinking(block) for block in content_blocks(record))
    }
    seen: set[tuple[str, str]] = set()
    for line, record in list(draft.spoken):
        heads = {head.type for head in record.block_heads}
        if record.type != "assistant" or "thinking" not in heads or not is_claudes(record):
            continue
        blocks = content_blocks(record)
        kept = [block for block in blocks if not is_unsigned(block)]
        fresh = [block for block in kept if _is_new(record, block, seen)]
        if len(fresh) < len(blocks) and record.message_id in spoken:
            reason = UNSIGNED if len(kept) < len(blocks) else TWICE
            draft.rewrite(line, _with_blocks(record, fresh), reason)


def _is_new(record: Record, block: Block, seen: set[tuple[str, str]]) -> bool:
    if block["type"] != "thinking" or not record.message_id:
        return True
    thought = (record.message_id, str(block.get("signature")))
    is_new = thought not in seen
    seen.add(thought)
    return is_new


def _with_blocks(record: Record, blocks: list[Block]) -> bytes:
    message = {**mapping(record.fields.get("message")), "content": blocks}
    return with_field(record, "message", message)


def pictures(draft: Draft) -> None:
    """Mends pictures, or puts a note in the place of those that cannot be."""
    for line, record in list(draft.spoken):
        if b'"image"' not in record.raw or record.type not in ("user", "assistant"):
            continue
        blocks = content_blocks(record)
        if not any(map(refusal_of, pictures_in(blocks))):
            continue
        mended = _mended(blocks, _picture)
        is_less = len(list(pictures_in(mended))) < len(list(pictures_in(blocks)))
        reason = REFUSED if is_less else RETYPED
        draft.rewrite(line, _with_blocks(record, mended), reason)


def _picture(picture: Block) -> Block:
    refusal = refusal_of(picture)
    if refusal is None:
        return picture
    source = mapping(picture.get("source"))
    shape = shape_of(str(source.get("data")))
    retyped = {**picture, "source": {**source, "media_type": shape.media_type}} if shape else {}
    return retyped if retyped and refusal_of(retyped) is None else _note(refusal)


def _note(refusal: str) -> Block:
    return {"type": "text", "text": f"[Image left out: it {refusal}]"}


def _mended(blocks: list[Block], mend: Callable[[Block], Block]) -> list[Block]:
    """Returns blocks with other pictures, those inside of results too."""
    found: list[Block] = []
    for block in blocks:
        content = block.get("content")
        if block.get("type") == "image":
            found.append(mend(block))
        elif block.get("type") == "tool_result" and isinstance(content, list):
            inner = [mend(one) if _is_picture(one) else one for one in content]
            found.append({**block, "content": inner})
        else:
            found.append(block)
    return found


def _is_picture(value: object) -> bool:
    return isinstance(value, dict) and value.get("type") == "image"


def many_pictures(draft: Draft) -> None:
    """Puts notes in the place of pictures too large for a request that holds many."""
    if sum(b'"image"' in record.raw for record in draft.records) == 0:
        return
    request = context(draft.records, size=draft.size)
    sent = [one for _, blocks in request.request for one in pictures_in(blocks)]
    if len(sent) <= MANY:
        return
    chain = frozenset(request.chain)
    for line, record in list(draft.spoken):
        if record.uuid not in chain or not any(map(_is_wide, pictures_in(content_blocks(record)))):
            continue
        mended = _mended(content_blocks(record), _narrow)
        draft.rewrite(line, _with_blocks(record, mended), REFUSED)


def _is_wide(picture: Block) -> bool:
    shape = shape_of(str(mapping(picture.get("source")).get("data")))
    return shape is not None and max(shape.width, shape.height) > MANY_PIXELS


def _narrow(picture: Block) -> Block:
    if not _is_wide(picture):
        return picture
    return _note(f"is larger than {MANY_PIXELS} pixels, and there are more than {MANY} pictures")


def blank_prompts(draft: Draft) -> None:
    """Says in words that a prompt has none."""
    for line, record in list(draft.spoken):
        message = record.envelope.message
        content = message.content if message else None
        if record.type == "user" and isinstance(content, str) and not content.strip():
            worded = {**mapping(record.fields.get("message")), "content": NO_CONTENT}
            draft.rewrite(line, with_field(record, "message", worded), BLANK)
