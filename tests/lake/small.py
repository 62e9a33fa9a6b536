"""Small lakes made of short row descriptions."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa
import pyarrow.dataset as ds

from plait.lake.schema import TABLES, Profile, arrow_schema

Row = Mapping[str, Any]
EMPTY: dict[str, Any] = {"text": "", "int": 0, "flag": False, "bytes": b""}
DAY = datetime(2026, 11, 2, 9, tzinfo=UTC)
BUILDS = {"a": 1, "b": 2, "c": 3, "d": 4, "e": 5, "f": 6}
"""What the rows of each session are built by, where none says otherwise."""


def table_of(name: str, rows: Sequence[Row]) -> pa.Table:
    """Return rows as a table: what they do not say is empty, a build follows from the session."""
    whole = [_filled(name, row) for row in rows]
    return pa.Table.from_pylist(whole, schema=arrow_schema(name))


def _filled(name: str, row: Row) -> dict[str, Any]:
    given = {"month": "2026-11", "source": "home", "counts": True, "has_own": True, **row}
    given.setdefault("build", BUILDS.get(given["session"]))
    columns = TABLES[name].columns
    return {one.name: given.get(one.name, EMPTY.get(one.kind)) for one in columns}


class SmallLake:
    """Tables in memory that stand for a lake."""

    def __init__(self, profile: Profile = "full", /, **tables: Sequence[Row]) -> None:
        self.profile = profile
        self.tables = {name: table_of(name, tables.get(name, ())) for name in TABLES}
        self.opened: list[str] = []

    def dataset(self, table: str) -> ds.Dataset:
        """Open a table, and remembers that."""
        self.opened.append(table)
        return ds.dataset(self.tables[table])
