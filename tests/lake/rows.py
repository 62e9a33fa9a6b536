"""Small lakes of sessions with given builds, and their current rows."""

from collections.abc import Iterable
from pathlib import Path
from typing import TypeAlias

import pyarrow as pa
from deltalake import DeltaTable

from plait.lake.store import Lake
from tests.lake.small import table_of

Held: TypeAlias = "dict[str, list[tuple[str, str, int]]]"
"""By table: source, session and building of each row."""
FEW = ("sessions", "turns", "files")
"""What says how all tables are: each takes its time."""


def tables(
    *sessions: tuple[str, int],
    source: str = "desk",
    month: str = "2026-11",
    names: Iterable[str] = FEW,
) -> dict[str, pa.Table]:
    """Return a row in each table for each session."""
    rows = [{"session": one, "build": to, "source": source, "month": month} for one, to in sessions]
    return {name: table_of(name, rows) for name in names}


def held(lake: Lake, names: Iterable[str] = FEW, source: str | None = None) -> Held:
    """Return what holds, table by table; of one source alone, where one is named."""
    builds = set(lake.dataset("sessions").to_table(["build"])["build"].to_pylist())
    found = {}
    for name in names:
        found[name] = sorted(
            one for one in _rows(lake, name) if one[2] in builds and source in (None, one[0])
        )
    return found


def _rows(lake: Lake, name: str) -> list[tuple[str, str, int]]:
    rows = lake.dataset(name).to_table(["source", "session", "build"])
    return list(zip(*(rows[one].to_pylist() for one in rows.column_names), strict=True))


def everywhere(*rows: tuple[str, str, int], names: Iterable[str] = FEW) -> Held:
    """Return the same rows in each table."""
    return {name: sorted(rows) for name in names}


def files(lake: Lake) -> tuple[set[str], set[str]]:
    """Return the files that lie in the folder of a lake, and those that its tables know."""
    there = {str(one) for one in Path(lake.url).rglob("*.parquet") if "_delta_log" not in str(one)}
    known: set[str] = set()
    for name in (*lake.tables, "kin"):
        known |= set(DeltaTable(f"{lake.url}/{name}").file_uris())
    return there, known
