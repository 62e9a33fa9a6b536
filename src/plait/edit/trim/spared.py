"""Cuts to those that may be made: what people said stays, and so do compactions."""

from collections.abc import Iterable, Iterator, Mapping

import msgspec

from plait.edit.trim.model import Cut
from plait.edit.trim.pairs import Pairs, answered_by, blocks_in, call_of, heads_in
from plait.graph.client.load import is_boundary, is_thinking
from plait.record import Record
from plait.record.machine_text import is_machine_text
from plait.record.prompt import is_human_prompt, is_typed_in_queue, queued_text

PICTURES = frozenset({"image", "document"})
PLAIN_RESULTS = frozenset({"tool_result", "mcp_tool_result"})
"""Results whose content may be any words; others hold what only the provider can write."""


def allowed(cuts: Iterable[Cut], records: Mapping[int, Record], pairs: Pairs) -> Iterator[Cut]:
    """Yields the cuts that take nothing from what a person said, nor a compaction."""
    for cut in cuts:
        record = records.get(cut.line)
        if record is None:
            continue
        if cut.block is None:
            if _may_go(record, pairs):
                yield cut
        elif _may_change(record, cut, cut.block, pairs):
            yield cut


def _may_go(record: Record, pairs: Pairs) -> bool:
    """Whether a record as a whole is nothing that a person said, and no compaction."""
    if record.type in ("attachment", "queue-operation"):
        words = queued_text(record)
        return not words or not is_typed_in_queue(record.envelope, words)
    if is_boundary(record) or record.is_compact_summary or record.subtype == "local_command":
        return False
    calls = {call_of(head) or answered_by(head) for head in heads_in(record)} - {None}
    if calls & pairs.of_people:
        return False
    return record.type != "user" or bool(calls) or (record.is_meta and not is_human_prompt(record))


def _may_change(record: Record, cut: Cut, place: int, pairs: Pairs) -> bool:
    heads = heads_in(record)
    if not 0 <= place < len(heads):
        return False
    head = heads[place]
    kind, call = head.type or "", call_of(head) or answered_by(head)
    if call is not None:
        return call not in pairs.of_people and _can_be(record, cut, kind)
    if is_thinking({"type": kind}):
        return cut.to is None
    if record.type != "user" or kind in PICTURES:
        return True
    text = str(blocks_in(record)[place].get("text", "")).strip()
    return record.is_meta or is_machine_text(text)


def _can_be(record: Record, cut: Cut, kind: str) -> bool:
    """Whether a call or a result can be as a cut wants it."""
    if kind in PLAIN_RESULTS:
        return cut.inner is None or _has_part(record, cut)
    if cut.to is None:
        return cut.inner is None
    return kind.endswith("tool_use") and cut.inner is None and _is_object(cut.to)


def _has_part(record: Record, cut: Cut) -> bool:
    content = blocks_in(record)[cut.block or 0].get("content")
    return isinstance(content, list) and 0 <= (cut.inner or 0) < len(content)


def _is_object(text: str) -> bool:
    try:
        return isinstance(msgspec.json.decode(text), dict)
    except msgspec.MsgspecError:
        return False
