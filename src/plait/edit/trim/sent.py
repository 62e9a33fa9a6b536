"""Records of a log to what of them is sent, turn by turn, and what each of it weighs."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from plait.edit.draft import DraftLine
from plait.edit.trim.pairs import Pairs, Place, answered_by, blocks_in, call_of, heads_in
from plait.graph.client import contributions
from plait.graph.client.load import is_thinking
from plait.graph.client.model import Block
from plait.graph.client.weigh import tokens_in
from plait.record import Record
from plait.record.prompt import is_human_prompt

THINKING = frozenset({"thinking", "redacted_thinking"})


@dataclass(frozen=True, slots=True)
class SentRecord:
    """A record of the chain that the client sends."""

    record: Record
    blocks: list[Block]
    """As they are sent."""
    turn: int
    """Which prompt of a person it follows, or is; 0 before the first."""
    answer: int
    """How many responses began before it, its own among them."""

    @property
    def weight(self) -> int:
        """About how many tokens it takes."""
        return sum(map(tokens_in, self.blocks))

    @property
    def thinks(self) -> bool:
        """Tells whether thoughts of it are sent: those of another model are not."""
        return any(is_thinking(block) for block in self.blocks)


@dataclass(frozen=True, slots=True)
class SentBlock:
    """A block of a record of the chain, as it is written."""

    of: SentRecord
    place: int
    block: dict[str, Any]

    @property
    def line(self) -> int:
        """The line of its record."""
        return self.of.record.line


class SentLog:
    """A log, the chain of it that is sent, and its calls."""

    def __init__(self, records: Sequence[Record], size: int) -> None:
        self.records = records
        self.chain = list(_in_turns(contributions(records, size)))
        lines = (DraftLine(one, one.raw, number=one.line) for one in records)
        self.pairs = Pairs(zip(lines, records, strict=True))
        self.turns = self.chain[-1].turn if self.chain else 0
        self.answers = self.chain[-1].answer if self.chain else 0

    @cached_property
    def by_line(self) -> dict[int, SentRecord]:
        """The records of the chain by their lines."""
        return {one.record.line: one for one in self.chain}

    @cached_property
    def records_by_line(self) -> dict[int, Record]:
        """All records by their lines."""
        return {one.line: one for one in self.records}

    @cached_property
    def uuids(self) -> frozenset[str | None]:
        """What its records are called, and what a first one follows."""
        return frozenset((None, *(one.uuid for one in self.records)))

    @property
    def weight(self) -> int:
        """About how many tokens the messages take."""
        return sum(one.weight for one in self.chain)

    @property
    def trimmed(self) -> int:
        """About how many tokens were trimmed from them before."""
        return sum(one.record.trimmed_tokens for one in self.chain)

    def blocks(self) -> Iterator[SentBlock]:
        """Yields the blocks of the chain's messages in order."""
        for one in self.chain:
            for place, block in enumerate(blocks_in(one.record)):
                if isinstance(block, dict):
                    yield SentBlock(one, place, block)

    def results(self) -> Iterator[tuple[SentBlock, str]]:
        """Yields the results on the chain, each with the id of its call."""
        for one in self.blocks():
            if call := answered_by(heads_in(one.of.record)[one.place]):
                yield one, call

    def calls(self) -> Iterator[tuple[SentBlock, str]]:
        """Yields the calls on the chain, each with its id."""
        for one in self.blocks():
            if call := call_of(heads_in(one.of.record)[one.place]):
                yield one, call

    def block_at(self, place: Place) -> dict[str, Any]:
        """Returns the block at a place, nothing where it is none."""
        blocks = blocks_in(self.records_by_line[place.line])
        block = blocks[place.block] if place.block < len(blocks) else None
        return block if isinstance(block, dict) else {}

    def input_of(self, call: str) -> dict[str, Any]:
        """Returns what a call was given."""
        for place in self.pairs.calls.get(call, ()):
            given = self.block_at(place).get("input")
            return given if isinstance(given, dict) else {}
        return {}

    def is_recent(self, line: int, turns: int, answers: int | None = None) -> bool:
        """Tells whether a line is of the last turns; of a long turn only the last answers count."""
        one = self.by_line.get(line)
        if one is None or turns <= 0:
            return False
        is_late = answers is None or one.answer > self.answers - answers
        return is_late and one.turn > self.turns - turns


def _in_turns(chain: list[tuple[Record, list[Block]]]) -> Iterator[SentRecord]:
    turn = answer = 0
    last: str | None = None
    for record, blocks in chain:
        if is_human_prompt(record):
            turn += 1
        elif record.type == "assistant" and (record.message_id or record.uuid) != last:
            answer, last = answer + 1, record.message_id or record.uuid
        yield SentRecord(record, blocks, turn, answer)
