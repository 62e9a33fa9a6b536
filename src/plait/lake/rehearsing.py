"""A lake to what would come into it: rows are made and measured, and nothing is written.

It takes the place of the lake while one is built, reads what that knows, and remembers what was to
be written. So what it tells is what would leave the machine, to the byte.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from plait.lake.keyed import Key
from plait.lake.model import Profile
from plait.lake.parquet import Layout, Part, Rows, write_rows
from plait.lake.places import NoLake, Place, place_of
from plait.lake.schema import schema_of
from plait.lake.store import _KIN, HOLDING, KNOWN, Lake, Written

EXAMPLES = 3
LOOKED_AT = 10_000
"""Rows that examples are taken from."""


@dataclass
class TableLeaving:
    """What of one table would leave: rows, bytes, and for each column some of its values."""

    rows: int = 0
    bytes: int = 0
    examples: dict[str, list[Any]] = field(default_factory=dict)

    def join(self, other: "TableLeaving") -> None:
        """Adds what another has."""
        self.rows += other.rows
        self.bytes += other.bytes
        for column, values in other.examples.items():
            known = self.examples.setdefault(column, [])
            known += [one for one in values if one not in known][: EXAMPLES - len(known)]


@dataclass(frozen=True, slots=True)
class Measured(Written):
    """What would have been written, with what of each table would leave."""

    leaving: Mapping[str, TableLeaving] = field(default_factory=dict)


class Rehearsal(Lake):
    """A lake, there or not, that nothing is written to."""

    def __init__(
        self, url: str, profile: Profile, options: Mapping[str, str] | None = None
    ) -> None:
        self.place = place_of(url, options)
        self.profile = profile
        self.leaving = {name: TableLeaving() for name in (*self.tables, _KIN.name)}
        """What would leave, by table."""
        self.sessions: list[Rows] = []
        """The sessions that would leave, as the lake would have them."""
        try:
            self.is_there = Lake(url, options).profile == profile
        except NoLake:
            self.is_there = False

    def write(self, tables: Mapping[str, Rows]) -> Written:
        """Makes what would be written, and measures it."""
        found: dict[str, TableLeaving] = {}
        parts: dict[str, tuple[Part, ...]] = {}
        for name, rows in tables.items():
            made = tuple(_measured(self._layout(name), rows)) if rows.num_rows else ()
            found[name] = _leaving(rows, made)
            parts[name] = made
        return Measured(parts, tables[HOLDING].cast(schema_of(HOLDING)), found)

    def commit(self, written: Sequence[Written]) -> None:
        """Remembers what would be written."""
        for one in written:
            self.sessions.append(one.sessions)
            if isinstance(one, Measured):
                self._take(one.leaving.items())

    def keep_kin(self, rows: Rows) -> None:
        """Remembers what would be written of what sessions share."""
        cast = rows.cast(_KIN.schema)
        parts = _measured(_KIN, cast) if cast.num_rows else []
        self._take([(_KIN.name, _leaving(cast, parts))])

    def forget(self, keys: Collection[Key]) -> None:
        """Lets the lake have what it has."""

    def known(self, source: str | None = None) -> Rows:
        """Returns what the lake has, nothing where there is none."""
        if self.is_there:
            return super().known(source)
        return schema_of(HOLDING).empty_table().select(KNOWN)

    def kin(self, source: str, columns: Sequence[str] | None = None) -> Rows:
        """Returns what the lake knows of what sessions share."""
        if self.is_there:
            return super().kin(source, columns)
        return _KIN.schema.empty_table().select(columns or _KIN.schema.names)

    def _take(self, found: Iterable[tuple[str, TableLeaving]]) -> None:
        for name, one in found:
            self.leaving[name].join(one)


class _Nowhere(Place):
    """A place whose files go nowhere: only their size is known."""

    def new_file(self, name: str, path: str) -> Any:
        """Opens a file in memory."""
        return pa.BufferOutputStream()


def _measured(layout: Layout, rows: Rows) -> list[Part]:
    return write_rows(_Nowhere("nowhere"), layout, rows)


def _leaving(rows: Rows, parts: Iterable[Part]) -> TableLeaving:
    size = sum(part.size for part in parts)
    looked_at = rows.slice(0, LOOKED_AT)
    examples = {name: _some_of(looked_at[name]) for name in rows.column_names}
    return TableLeaving(rows.num_rows, size, examples)


def _some_of(values: "pa.ChunkedArray") -> list[Any]:
    """Returns the first values that differ; of lists their first items."""
    if pa.types.is_list(values.type):
        values = pc.list_flatten(values)
    found: list[Any] = pc.unique(values.drop_null())[:EXAMPLES].to_pylist()
    return found
