"""Rows of a table to Parquet files that nobody sees yet, and back."""

import json
import re
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias
from uuid import uuid4

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from deltalake import DeltaTable
from deltalake.transaction import AddAction, RemoveAction

from plait.lake.places import Place

Rows: TypeAlias = "pa.Table"
GROUP_ROWS = 100_000
BATCH_ROWS = 10_000
_NAMED = re.compile(r"/(-?\d+)_(-?\d+)_[^/]*$")


@dataclass(frozen=True, slots=True)
class Part:
    """A file of a table: all its rows are of one month, or of one source."""

    path: str
    value: str
    """The month or the source."""
    size: int
    rows: int
    modified: int
    """When its rows were written, in milliseconds; files that are joined keep the last."""

    @property
    def builds(self) -> tuple[int, int] | None:
        """The lowest and the highest building in it, where its name says so."""
        found = _NAMED.search(self.path)
        return (int(found[1]), int(found[2])) if found else None


@dataclass(frozen=True)
class Layout:
    """How the rows of a table lie in files."""

    name: str
    schema: "pa.Schema"
    by: str
    """The column that each file has one value of."""
    is_named_by: bool = True
    """Whether that value stands in the path, for those who read plain Parquet."""

    @property
    def inner(self) -> "pa.Schema":
        """The columns that stand in the files themselves."""
        return pa.schema([one for one in self.schema if one.name != self.by])


def write_rows(place: Place, layout: Layout, rows: Rows) -> list[Part]:
    """Writes rows into new files, one for each value that they are parted by."""
    cast = rows.cast(layout.schema)
    return [
        write_part(place, layout, value, [one.drop_columns([layout.by])], _builds(one))
        for value, one in _parted(cast, layout)
    ]


def _parted(rows: Rows, layout: Layout) -> Iterator[tuple[str, Rows]]:
    values = sorted(pc.unique(rows[layout.by]).to_pylist())
    for value in values:
        yield value, rows if len(values) == 1 else rows.filter(pc.equal(rows[layout.by], value))


def _builds(rows: Rows) -> tuple[int, int] | None:
    if "build" not in rows.column_names:
        return None
    found = pc.min_max(rows["build"]).as_py()
    return found["min"], found["max"]


def write_part(
    place: Place,
    layout: Layout,
    value: str,
    groups: Iterable[Rows],
    builds: tuple[int, int] | None,
    modified: int | None = None,
) -> Part:
    """Writes one new file, some rows after the other."""
    folder = f"{layout.by}={value}" if layout.is_named_by else "files"
    named = f"{builds[0]}_{builds[1]}_" if builds else ""
    path = f"{folder}/{named}{uuid4().hex}.parquet"
    rows = 0
    with (
        place.new_file(layout.name, path) as out,
        pq.ParquetWriter(out, layout.inner, compression="zstd") as writer,
    ):
        for group in groups:
            writer.write_table(group, row_group_size=GROUP_ROWS)
            rows += group.num_rows
        writer.close()
        size = out.tell()
    return Part(path, value, size, rows, modified or int(time.time() * 1000))


def read_rows(
    place: Place, layout: Layout, parts: Iterable[Part], columns: Sequence[str] | None = None
) -> Rows:
    """Returns the rows of files, all columns of them or some."""
    files = place.files(layout.name)
    wanted = [one for one in layout.schema.names if columns is None or one in columns]
    schema = pa.schema([layout.schema.field(name) for name in wanted])
    return pa.concat_tables(
        [schema.empty_table(), *(_read(files, layout, part, wanted) for part in parts)]
    )


def _read(files: Any, layout: Layout, part: Part, wanted: Sequence[str]) -> Rows:
    inner = [name for name in wanted if name != layout.by]
    with files.open_input_file(part.path) as file:
        found = pq.ParquetFile(file).read(columns=inner)
    if layout.by in wanted:
        value = pa.repeat(pa.scalar(part.value, pa.string()), found.num_rows)
        found = found.append_column(layout.by, value)
    return found.select(wanted)


def groups_of(place: Place, layout: Layout, part: Part) -> Iterator[Rows]:
    """Yields the rows of a file, some at a time, as they stand in it."""
    with place.files(layout.name).open_input_file(part.path) as file:
        for batch in pq.ParquetFile(file).iter_batches(BATCH_ROWS):
            yield pa.Table.from_batches([batch])


def parts_of(table: DeltaTable, layout: Layout) -> list[Part]:
    """Returns the files that a table is made of."""
    rows = pa.table(table.get_add_actions(flatten=True)).to_pylist()
    return [
        Part(
            path=one["path"],
            value=one[f"partition.{layout.by}"],
            size=one["size_bytes"],
            rows=one["num_records"],
            modified=one["modification_time"],
        )
        for one in rows
    ]


def adding(part: Part, layout: Layout, *, is_new: bool = True) -> AddAction:
    """Returns what brings a file into its table."""
    # Least and greatest buildings stand in the name, not here: where one column has them, deltalake
    # takes all others for empty, and whoever asks for these finds nothing.
    stats = json.dumps({"numRecords": part.rows})
    return AddAction(part.path, part.size, {layout.by: part.value}, part.modified, is_new, stats)


def removing(part: Part, layout: Layout, *, is_new: bool = True) -> RemoveAction:
    """Returns what takes a file out of its table; the file itself stays for those who read it."""
    now = int(time.time() * 1000)
    return RemoveAction(part.path, is_new, now, part.size, {layout.by: part.value})
