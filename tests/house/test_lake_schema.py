"""The page of a lake's tables: what the schema says today."""

import re

from plait.lake.schema import TABLES
from tools.lake_schema import PAGE, page


def test_the_tables_of_a_lake_are_documented_column_by_column() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run `python -m tools.lake_schema`"


def test_every_column_says_something_and_has_a_row() -> None:
    rows = re.findall(r"^\| `(\w+)` \| \S.* \| \S.* \| \S.* \|$", page(), re.MULTILINE)
    for table in TABLES.values():
        assert {column.name for column in table.columns} <= set(rows)
