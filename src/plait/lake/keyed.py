"""Rows to a table of sessions: what it had of the same session goes in one step.

Nobody can commit between what is read here and what is written. So of two who write the same
session the later one's row takes the place of the other's, whoever they are.
"""

from collections.abc import Collection, Sequence
from typing import TypeAlias

import pyarrow as pa
import pyarrow.compute as pc
from deltalake import DeltaTable

from plait.errors import SourceError
from plait.lake.committing import Actions, commit_next, opened
from plait.lake.parquet import (
    Layout,
    Part,
    Rows,
    adding,
    parts_of,
    read_rows,
    removing,
    write_rows,
)
from plait.lake.places import Place

Key: TypeAlias = tuple[str, str]
"""The source of a session and its id."""
ATTEMPTS = 40
_KEY = ("source", "session")


class Keyed:
    """A table in which a session has one row; one whose id two folders hold has two."""

    def __init__(self, place: Place, layout: Layout) -> None:
        self.place, self.layout = place, layout
        self._keys: dict[str, pa.Array] = {}
        """By file: whose rows are in it; files never change."""

    def replace(self, rows: Rows, gone: Collection[Key] = ()) -> None:
        """Puts rows in the place of those of the same sessions; takes out those that are gone."""
        keys = pa.concat_arrays([keys_of(rows), _joined(gone)])

        def plan(table: DeltaTable) -> Actions:
            return self._actions(table, rows, keys)

        if len(keys) and not commit_next(self.place, self.layout, plan, ATTEMPTS):
            raise SourceError(
                f"others write to '{self.place.table(self.layout.name)}' all the time",
                "what was built is not lost: try again later",
            )

    def read(self, columns: Sequence[str] | None = None, value: str | None = None) -> Rows:
        """Returns its rows; of one month or source alone, where one is named."""
        table = opened(self.place, self.layout)
        parts = [one for one in parts_of(table, self.layout) if value in (None, one.value)]
        return read_rows(self.place, self.layout, parts, columns)

    def _actions(self, table: DeltaTable, new: Rows, keys: pa.Array) -> Actions:
        touched = [
            one
            for one in self._near(table, keys)
            if pc.any(pc.is_in(self._keys_in(one), keys)).as_py()
        ]
        old = read_rows(self.place, self.layout, touched)
        kept = old.filter(pc.invert(pc.is_in(keys_of(old), keys)))
        added = write_rows(self.place, self.layout, pa.concat_tables([kept, new]))
        return [
            *(removing(one, self.layout) for one in touched),
            *(adding(one, self.layout) for one in added),
        ]

    def _near(self, table: DeltaTable, keys: pa.Array) -> list[Part]:
        """Returns the files that may have rows of sessions."""
        parts = parts_of(table, self.layout)
        if self.layout.by != "source":
            return parts
        sources = {key.partition("\0")[0] for key in keys.to_pylist()}
        return [one for one in parts if one.value in sources]

    def _keys_in(self, part: Part) -> pa.Array:
        if part.path not in self._keys:
            self._keys[part.path] = keys_of(read_rows(self.place, self.layout, [part], _KEY))
        return self._keys[part.path]


def keys_of(rows: Rows) -> pa.Array:
    """Returns whose rows they are, as texts that can be compared."""
    joined = pc.binary_join_element_wise(rows["source"], rows["session"], "\0")
    return joined.combine_chunks() if isinstance(joined, pa.ChunkedArray) else joined


def _joined(keys: Collection[Key]) -> pa.Array:
    return pa.array([f"{source}\0{session}" for source, session in keys], pa.string())
