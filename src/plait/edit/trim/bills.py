"""Responses that lost a line to such as still say what they cost.

All figures of a response come from one of its lines, the one with the most output. Where that goes
and another stays, the other one says it from now on, so that nobody paid less than they did.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from plait.edit.draft import Draft, DraftLine
from plait.edit.trim.splice import spliced
from plait.record import Record
from plait.record.codec import mapping, whole_number

BILLED = "says what its response cost, since the line that said it goes"


def keep_bills(draft: Draft) -> None:
    """Puts the cost of a response on a line of it that stays."""
    for gone, (line, record) in _lost(draft):
        draft.rewrite(line, spliced(record, {}, message={"usage": _usage(gone)}), BILLED)


def _lost(draft: Draft) -> Iterator[tuple[Record, tuple[DraftLine, Record]]]:
    """Yields lines that said what a response cost and go, each with one of it that stays."""
    touched = {
        line.entry.message_id
        for line in draft.lines
        if line.is_gone and isinstance(line.entry, Record) and line.entry.type == "assistant"
    } - {None}
    said: dict[str, Record] = {}
    stays: dict[str, tuple[DraftLine, Record]] = {}
    for line in draft.lines if touched else ():
        record = line.entry
        if isinstance(record, Record) and record.message_id and record.message_id in touched:
            name = record.message_id
            if name not in said or _output(record) >= _output(said[name]):
                said[name] = record
            if not line.is_gone and (
                name not in stays or _output(record) >= _output(stays[name][1])
            ):
                stays[name] = line, record
    for name, record in said.items():
        if name in stays and _usage(record) and _usage(record) != _usage(stays[name][1]):
            yield record, stays[name]


def _usage(record: Record) -> Mapping[str, Any]:
    return mapping(mapping(record.fields.get("message")).get("usage"))


def _output(record: Record) -> int:
    usage = _usage(record)
    return whole_number(usage.get("output_tokens")) if usage else -1
