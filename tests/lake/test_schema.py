"""The tables of a lake: columns that every table has, and what counts alone may hold."""

import pytest

from plait.lake.schema import TABLES, WHOSE, schema_of, tables_in


@pytest.mark.parametrize("name", TABLES)
def test_every_table_says_whose_its_rows_are(name: str) -> None:
    names = schema_of(name).names
    assert names[: len(WHOSE)] == [one.name for one in WHOSE]
    assert len(names) == len(set(names))


def test_counts_have_no_table_of_words() -> None:
    assert {one.name for one in tables_in("full")} - {one.name for one in tables_in("counts")} == {
        "text",
        "raw",
    }
