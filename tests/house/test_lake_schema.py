"""The lake schema page matches the schema."""

import re

from plait.lake.schema import TABLES
from tools.lake_schema import PAGE, page


def test_lake_tables_are_documented_by_column() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run `python -m tools.lake_schema`"


def test_every_column_is_described() -> None:
    rows = re.findall(r"^\| `(\w+)` \| \S.* \| \S.* \| \S.* \|$", page(), re.MULTILINE)
    for table in TABLES.values():
        assert {column.name for column in table.columns} <= set(rows)
