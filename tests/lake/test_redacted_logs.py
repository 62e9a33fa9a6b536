"""Redacted lakes of real logs contain no hidden value, and lines stay lines."""

import re
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest

from plait.archive import Archive
from plait.conversation.prices import Prices
from plait.lake.profiles import Unit
from plait.lake.rows import OpenUnit, build_tables
from plait.line import Line
from plait.record import Record, parse_entry
from tests.lake.units import units_of

KINDS = ("‹secret ", "‹email ")
SHORTEST = 8
"""Shorter ones stand in other words by chance."""
NAME = 3
"""Letters of a name that is looked for; the folder of a single letter tells nobody."""


def hidden_in(read: OpenUnit) -> list[re.Pattern[bytes]]:
    """Return what was replaced in a unit, as it was written; of names the home folders."""
    assert read.redaction
    for path in read.logs:
        read.masked_lines(path)
    known = read.redaction.redactor.key.items()
    plain = {value for name, value in known if name.startswith(KINDS) and len(value) >= SHORTEST}
    users = {value for name, value in known if name.startswith("‹user ") and len(value) >= NAME}
    homes = (rf"(?<!\w)/(?:home|Users)/{re.escape(one)}/" for one in users)
    return [re.compile(one.encode()) for one in (*map(re.escape, plain), *homes)]


def texts_in(tables: dict[str, pa.Table]) -> Iterator[tuple[str, bytes]]:
    """Yield all that the columns of tables say, with their names."""
    for name, table in tables.items():
        for field in table.schema:
            if pa.types.is_string(field.type) or pa.types.is_binary(field.type):
                values = table[field.name].unique().drop_null().cast(pa.binary()).to_pylist()
                yield f"{name}.{field.name}", b"\n".join(values)


def places_left(unit: Unit) -> tuple[set[str], int]:
    """Return the columns in which something to hide still stands, and how much there is of it."""
    read = OpenUnit(unit)
    hidden = hidden_in(read)
    tables = build_tables(unit, Prices())
    _check_lines(read, tables["raw"])
    found = {at for at, text in texts_in(tables) if any(one.search(text) for one in hidden)}
    return found, len(hidden)


def _check_lines(read: OpenUnit, raw: pa.Table) -> None:
    """Sees that there are as many lines as there were, and as many of them are records."""
    lines = [Line(1, 0, data, True) for data in raw["data"].to_pylist()]
    assert len(lines) == sum(len(one.lines) for one in read.logs.values())
    records = sum(isinstance(parse_entry(one), Record) for one in lines)
    assert records == sum(len(one.log.records) for one in read.logs.values())


@pytest.mark.parametrize("every", [50, pytest.param(1, marks=pytest.mark.long)])
def test_a_redacted_lake_of_real_logs_has_no_secrets(shared: Path, every: int) -> None:
    units = list(units_of(Archive([shared / "corpus"]), "redacted"))[::every]
    found = [places_left(one) for one in units]
    assert [places for places, _ in found if places] == []
    assert sum(count for _, count in found) > 4


def test_a_redacted_lake_of_examples_has_no_secrets(gallery: Path) -> None:
    units = list(units_of(Archive([gallery / "redacted"]), "redacted"))
    found = [places_left(one) for one in units]
    assert [places for places, _ in found if places] == []
    assert sum(count for _, count in found)
