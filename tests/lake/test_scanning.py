"""Queries on every column of a lake on disk skip no relevant file."""

from datetime import timedelta
from typing import Any

import pyarrow.dataset as ds
import pytest

from plait.lake.query import open_query_engine
from plait.lake.schema import TABLES, ColumnKind
from plait.lake.store import Lake
from tests.lake.small import DAY, table_of

VALUES: dict[ColumnKind, tuple[Any, Any]] = {
    "text": ("one", "two"),
    "int": (1, 2),
    "float": (1.5, 2.5),
    "flag": (True, False),
    "time": (DAY, DAY + timedelta(days=1)),
    "bytes": (b"one", b"two"),
}
MONTHS = ("2026-10", "2026-11")


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Lake:
    """Make two sessions in two months, unlike in every column."""
    made = Lake.create(str(tmp_path_factory.mktemp("lake")), "full")
    for at in (0, 1):
        rows = {
            name: table_of(
                name, [{one.name: _value(one.name, one.kind, at) for one in table.columns}]
            )
            for name, table in TABLES.items()
        }
        made.commit([made.write(rows)])
    return made


def _value(name: str, kind: ColumnKind, at: int) -> Any:
    if name == "month":
        return MONTHS[at]
    return VALUES[kind][at]


@pytest.mark.parametrize("table", TABLES)
def test_row_is_found_by_each_column(lake: Lake, table: str) -> None:
    stored = lake.dataset(table)
    for one in TABLES[table].columns:
        for at in (0, 1):
            is_it = ds.field(one.name) == _value(one.name, one.kind, at)
            assert stored.count_rows(filter=is_it) == 1, (one.name, at)


def test_query_finds_it_as_well(lake: Lake) -> None:
    asked = open_query_engine(lake)
    for one in TABLES["responses"].columns:
        sql = f'SELECT month FROM responses WHERE "{one.name}" = $v'
        found = asked.query(sql, {"v": _value(one.name, one.kind, 1)}).rows()
        assert list(found) == [(MONTHS[1],)], one.name


def test_files_of_other_months_and_builds_are_skipped(lake: Lake) -> None:
    stored = lake.dataset("responses")
    for name, value in (("month", MONTHS[0]), ("build", 1)):
        (left,) = stored.get_fragments(filter=ds.field(name) == value)
        assert f"month={MONTHS[0]}" in left.path


def test_requests_of_a_lake_on_disk(lake: Lake) -> None:
    sql = "SELECT sum(cost_usd), max(s.person) FROM responses r JOIN sessions s USING (build)"
    assert list(open_query_engine(lake).query(sql).rows()) == [(4.0, "two")]
