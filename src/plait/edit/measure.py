"""Records of a session to how large it is: lines, turns, bytes, tokens of the next resume.

A log that is too large to be held is read line by line: what stands behind its last compaction
is all that the client reads of it, and where even that is too much, the last answer says how many
tokens there are. Its turns are then the prompts that people typed.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from plait.conversation.build import conversations_of
from plait.conversation.model import Conversation
from plait.conversation.next_prompt import NextPrompt, break_even_turns, next_prompt
from plait.conversation.prices import Prices
from plait.edit.model import Measures, Plan
from plait.graph.build import Builder
from plait.graph.client import resumed_leaf
from plait.graph.client.load import is_boundary
from plait.graph.leaf import leaf_of
from plait.graph.model import Place
from plait.graph.source import FileFacts, Source, source_file
from plait.line import Line, LogFile, lines
from plait.record import Record, client_record, entry_of
from plait.record.prompt import is_human_prompt

LARGE = 64_000_000
"""Bytes of a log from which on it is not held in memory."""


def measures_of(log: LogFile, size: int, prices: Prices | None = None) -> Measures:
    """Returns how large a session is, by the first bytes of its log."""
    found = lines(log.path, end=size)
    if size >= LARGE:
        return large_measures(found, size, prices)
    records: list[Record] = []
    count = 0
    for line in found:
        count += 1
        if record := client_record(entry_of(line)):
            records.append(record)
    return measures(log, records, lines=count, size=size, prices=prices)


def measures(
    file: LogFile,
    records: Sequence[Record],
    *,
    lines: int,
    size: int,
    prices: Prices | None = None,
) -> Measures:
    """Returns how large a session is whose file holds these records, broken lines counted too.

    With prices, also what its next prompt costs.
    """
    found = Measures(lines, turns_of(file, records, size), size, None)
    return _with_next(found, next_prompt(records, size), prices)


def _with_next(found: Measures, sent: NextPrompt, prices: Prices | None) -> Measures:
    warm, cold = (sent.warm_usd(prices), sent.cold_usd(prices)) if prices else (None, None)
    return replace(found, tokens=sent.tokens, warm_usd=warm, cold_usd=cold)


def with_break_even(plan: Plan, before: Sequence[Record], now: datetime) -> Plan:
    """Returns a plan with how soon it has paid for the cache that it spends."""
    turns = break_even_turns(
        next_prompt(before, plan.before.bytes),
        warm=plan.before.warm_usd,
        warm_after=plan.after.warm_usd,
        cold_after=plan.after.cold_usd,
        now=now,
    )
    return replace(plan, break_even_turns=turns)


def turns_of(file: LogFile, records: Sequence[Record], size: int) -> int:
    """Counts the turns of the conversation that goes on; what stands before the first is none."""
    active = active_of(file, records, size)
    return sum(turn.number > 0 for turn in active.turns) if active else 0


def active_of(file: LogFile, records: Sequence[Record], size: int) -> Conversation | None:
    """Returns the conversation that goes on, None where there is none."""

    def client_leaf(facts: FileFacts) -> str | None:
        return resumed_leaf(records, size) or leaf_of(facts)

    builder = Builder(leaf_of=client_leaf)
    builder.add(Source(source_file(file), records))
    graph = builder.graph()
    if not graph.sessions:
        return None
    by_offset = {record.offset: record for record in records}

    def record_at(place: Place) -> Record | None:
        return by_offset.get(place.offset)

    name = file.session if file.session in graph.sessions else next(iter(graph.sessions))
    return conversations_of(graph, name or "", record_at).active


@dataclass(slots=True)
class _Tail:
    """What is kept of a log that is too large to be held."""

    records: list[Record] = field(default_factory=list)
    bytes: int = 0
    is_held: bool = True
    """False once even what stands behind the last compaction is too much."""
    last: Record | None = None
    """The last answer of the main conversation."""

    def take(self, record: Record) -> None:
        """Takes the next record."""
        if is_boundary(record):
            self.records, self.bytes, self.is_held = [], 0, True
        if record.kind == "assistant" and not record.is_sidechain:
            self.last = record
        self.bytes += len(record.raw)
        self.is_held = self.is_held and self.bytes < LARGE
        if self.is_held:
            self.records.append(record)
        else:
            self.records.clear()


def large_measures(found: Iterable[Line], size: int, prices: Prices | None = None) -> Measures:
    """Returns how large a session is whose log is not held in memory."""
    count = turns = 0
    tail = _Tail()
    for line in found:
        count += 1
        if record := client_record(entry_of(line)):
            turns += is_human_prompt(record)
            tail.take(record)
    sent = next_prompt(tail.records or ([tail.last] if tail.last else []), size)
    return _with_next(Measures(count, turns, size, None), sent, prices)
