"""Sessions that are open to Arrow tables of what was done in them, and of what that took.

What counts is decided by what `usage`, `stats`, `why` and `waste` count by, so that rows add up
to what those tell.
"""

from collections.abc import Sequence
from typing import NamedTuple

import pyarrow as pa

from plait.archive.lake.columns import Columns, joined, table_of
from plait.archive.lake.reading import OpenUnit
from plait.archive.lake.response_rows import ResponseRows
from plait.archive.lake.text_rows import text_rows
from plait.archive.lake.turn_rows import Row, TurnRows
from plait.conversation.agent_types import agent_types
from plait.conversation.prices import Prices
from plait.conversation.stats.owning import Ownership
from plait.conversation.stats.statistics import ResponseCounts
from plait.lake.schema import TABLES, WHOSE, tables_in

MADE = ("turns", "responses", "waste", "tool_calls", "files", "text")


class FigureTables(NamedTuple):
    """Rows of turns, responses, waste, calls, files and passages."""

    tables: dict[str, pa.Table]
    has_own: list[bool]
    """Of each session, whether it holds anything that none before it does."""


def figure_tables(read: OpenUnit, prices: Prices) -> FigureTables:
    """Returns what was done in sessions, and what that took."""
    wanted = {one.name for one in tables_in(read.unit.profile)}
    made = FigureRows(read, prices)
    found: dict[str, list[pa.Table]] = {name: [] for name in MADE if name in wanted}
    for number, owner in enumerate(read.owners):
        rows = made.of(number, has_text="text" in wanted)
        for name, tables in found.items():
            tables.append(table_of(name, owner, _columns_of(name, rows[name])))
    whole = {name: joined(name, several) for name, several in found.items()}
    return FigureTables(whole, made.has_own)


class FigureRows:
    """Makes the rows of one session after the other, in the order in which they began."""

    def __init__(self, read: OpenUnit, prices: Prices) -> None:
        self._read = read
        self._ownership, self._answers = Ownership(), ResponseCounts()
        self._responses = ResponseRows(read, prices)
        self.has_own: list[bool] = []

    def of(self, number: int, *, has_text: bool) -> dict[str, Sequence[Row]]:
        """Returns the rows of a session by table; what one before it has does not count again."""
        opened = self._read.alone[number]
        self._ownership.begin(opened.copied)
        told = TurnRows(self._ownership, self._answers)
        types = agent_types(opened.conversations)
        for conversation in opened.conversations.by_line.values():
            told.add(conversation, types.get(conversation.id))
        self.has_own.append(self._ownership.is_any)
        return {
            "turns": told.turns,
            "tool_calls": told.calls,
            "files": told.files,
            "responses": list(self._responses.responses(number, told.standings)),
            "waste": list(self._responses.waste(number)),
            "text": list(text_rows(opened, self._read.facts[number])) if has_text else (),
        }


def _columns_of(name: str, rows: Sequence[Row]) -> Columns:
    names = [one.name for one in TABLES[name].columns[len(WHOSE) :]]
    if not rows:
        return dict.fromkeys(names, ())
    return dict(zip(names, zip(*rows, strict=True), strict=True))
