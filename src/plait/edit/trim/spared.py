"""Cuts to those that may be made: what people said stays, and so do compactions."""

from collections.abc import Iterable, Iterator

from plait.edit.trim.model import Cut
from plait.edit.trim.pairs import Pairs, answered_by, blocks_in, call_of
from plait.graph.client.load import is_boundary, is_result
from plait.record import Record
from plait.record.machine_text import is_machine_text
from plait.record.prompt import is_human_prompt, is_typed_in_queue, queued_text

PICTURES = frozenset({"image", "document"})
REMOVED = "[{kind} removed]"


def allowed(cuts: Iterable[Cut], records: dict[int, Record], pairs: Pairs) -> Iterator[Cut]:
    """Yields the cuts that take nothing from what a person said, nor a compaction."""
    for cut in cuts:
        record = records.get(cut.line)
        if record is None:
            continue
        if cut.block is None:
            if _may_go(record):
                yield cut
        elif _is_free(record, cut.block, pairs):
            yield cut


def _may_go(record: Record) -> bool:
    if record.type == "user":
        return is_result(record) or (record.is_meta and not is_human_prompt(record))
    if record.type in ("attachment", "queue-operation"):
        words = queued_text(record)
        return not words or not is_typed_in_queue(record.envelope, words)
    return not is_boundary(record) and not record.is_compact_summary


def _is_free(record: Record, place: int, pairs: Pairs) -> bool:
    blocks = blocks_in(record)
    if place >= len(blocks) or not isinstance(blocks[place], dict):
        return False
    block = blocks[place]
    call = call_of(block) or answered_by(block)
    if call is not None:
        return call not in pairs.answered_by_people
    if record.type != "user" or block.get("type") in PICTURES:
        return True
    return record.is_meta or is_machine_text(str(block.get("text", "")).strip())
