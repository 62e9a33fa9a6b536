"""A log before and after lines of it changed to notes of how many tokens went, and where.

The usage of an answer tells what was sent then. Where an edit takes something away before it,
the record that lost it, or the next one that stays, notes how much: so what the next prompt
sends can be told from the log alone, in copies and forks of it too.
"""

from collections.abc import Iterable, Mapping

from plait.edit.draft import Draft, with_field
from plait.graph.client import contributions
from plait.graph.client.weigh import tokens_in
from plait.record import Record
from plait.record.record import TRIMMED

NOTED = "notes how many tokens went before it"


def weights_of(records: Iterable[Record], size: int) -> dict[int, int]:
    """Returns what each record of the chain takes, by its line, with what it lost before."""
    return {
        record.line: sum(map(tokens_in, blocks)) + record.trimmed_tokens
        for record, blocks in contributions(records, size)
    }


def note_what_went(draft: Draft, before: Mapping[int, int]) -> None:
    """Writes into a draft how many tokens went, given what the lines took before."""
    lines = {line.number: line for line in draft.lines if line.number and not line.is_gone}
    had = _running(before)
    has = noted = 0
    for record, blocks in contributions(draft.records, draft.size):
        has += sum(map(tokens_in, blocks)) + record.trimmed_tokens
        gone = had.get(record.line, 0) - has - noted
        line = lines.get(record.line)
        if gone > 0 and line is not None:
            data = _with_note(record, record.trimmed_tokens + gone)
            draft.rewrite(line, data, line.reasons[-1] if line.reasons else NOTED)
            noted += gone


def _running(weights: Mapping[int, int]) -> dict[int, int]:
    """Returns what all records up to each take."""
    total, found = 0, {}
    for line, weight in weights.items():
        total += weight
        found[line] = total
    return found


def _with_note(record: Record, tokens: int) -> bytes:
    """Returns the line of a record with the note, all else byte for byte."""
    end = record.raw.rfind(b"}")
    if TRIMMED in record.fields or end < 0:
        return with_field(record, TRIMMED, tokens)
    return b'%b,"%b":%d%b' % (record.raw[:end], TRIMMED.encode(), tokens, record.raw[end:])
