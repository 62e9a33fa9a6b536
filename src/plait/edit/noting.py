"""A log before and after lines of it changed to notes of how many tokens went, and where.

The usage of an answer tells what was sent then. Where an edit takes something away before it,
the record that lost it, or one beside the gap that stays, notes how much: so what the next prompt
sends can be told from the log alone, in copies and forks of it too.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from plait.edit.draft import Draft, with_field
from plait.graph.client import contributions
from plait.graph.client.model import Block
from plait.graph.client.weigh import tokens_in
from plait.record import Record
from plait.record.record import TRIMMED

NOTED = "notes how many tokens went beside it"


def weights_of(records: Iterable[Record], size: int) -> dict[int, int]:
    """Returns what each record of the chain takes, by its line, with what it lost before."""
    return {
        record.line: sum(map(tokens_in, blocks)) + record.trimmed_tokens
        for record, blocks in contributions(records, size)
    }


def note_what_went(draft: Draft, before: Mapping[int, int]) -> None:
    """Writes into a draft how many tokens went, given what the lines took before."""
    lines = {line.number: line for line in draft.lines if line.number and not line.is_gone}
    chain = list(contributions(draft.records, draft.size))
    records = {record.line: record for record, _ in chain}
    for number, tokens in _losses(draft, chain, before).items():
        line, record = lines[number], records[number]
        data = _with_note(record, record.trimmed_tokens + tokens)
        draft.rewrite(line, data, line.reasons[-1] if line.reasons else NOTED)


def _losses(
    draft: Draft, chain: Sequence[tuple[Record, list[Block]]], before: Mapping[int, int]
) -> Counter[int]:
    """Returns what went by the line that notes it.

    What went before an answer was read by it: the record above notes it, so that it counts to
    what the request had grown by then. What the answer itself lost was read by the next one.
    """
    less, gone_answers = _less_from_there(chain, before), _gone_answers(draft)
    found: Counter[int] = Counter()
    noted = above = 0
    for record, blocks in chain:
        taken = sum(map(tokens_in, blocks)) + record.trimmed_tokens
        if record.line not in before:
            continue  # it is new
        gone = less[record.line] - noted
        if gone > 0:
            own = gone
            if above and record.type == "assistant":
                lost = gone_answers.get(record.message_id, ())
                parts = sum(before.get(line, 0) for line in lost if above < line < record.line)
                own = min(max(before[record.line] - taken, 0) + parts, gone)
            found[record.line] += own
            found[above or record.line] += gone - own
            noted += gone
        above = record.line
    return +found


def _less_from_there(
    chain: Sequence[tuple[Record, list[Block]]], before: Mapping[int, int]
) -> dict[int, int]:
    """Returns how much less is sent up to each line, there and wherever it is looked later.

    Where the client puts what is left in another order, less at one place can be more at the next.
    """
    had, has = _running(before), 0
    found: dict[int, int] = {}
    for record, blocks in chain:
        has += sum(map(tokens_in, blocks)) + record.trimmed_tokens
        if record.line in before:
            found[record.line] = had[record.line] - has
    least: int | None = None
    for line in reversed(found):
        least = found[line] = found[line] if least is None else min(found[line], least)
    return found


def _gone_answers(draft: Draft) -> dict[str | None, list[int]]:
    """Returns the lines of each response that are gone."""
    found: dict[str | None, list[int]] = {}
    for line in draft.lines:
        entry = line.entry
        if line.is_gone and line.number and isinstance(entry, Record) and entry.message_id:
            found.setdefault(entry.message_id, []).append(line.number)
    return found


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
