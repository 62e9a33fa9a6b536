"""What a person wants to go to the cuts that take it away."""

from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase

from plait.edit.trim.model import Cut, TrimChoice
from plait.edit.trim.pairs import call_of, heads_in
from plait.graph.client import Context
from plait.record import Record

THINKING = frozenset({"thinking", "redacted_thinking"})


def cuts_of(records: Sequence[Record], choice: TrimChoice, sent: Context) -> list[Cut]:
    """Returns the cuts that take away what is wanted, in the order of the log."""
    return [cut for record in records for cut in _cuts_in(record, choice)]


def _cuts_in(record: Record, choice: TrimChoice) -> Iterator[Cut]:
    if choice.progress and record.type == "progress":
        yield Cut(record.line, None, None, "progress")
    if record.type != "assistant":
        return
    for place, block in enumerate(heads_in(record)):
        kind, call, name = block.type, call_of(block), block.name or ""
        if choice.thinking and kind in THINKING:
            yield Cut(record.line, place, None, "thinking")
        if call and _is_wanted(call, name, choice):
            yield Cut(record.line, place, None, f"call of {name}")


def _is_wanted(call: str, name: str, choice: TrimChoice) -> bool:
    by_name = any(fnmatchcase(name, one) for one in choice.tools)
    return by_name or any(call.startswith(one) for one in choice.calls)
