"""Shipping sessions to a remote lake, and previewing what would be sent.

A remote lake is built like any other, so an interrupted run continues where it stopped. The profile
decides what may be sent; a lake with another profile is not written to.
"""

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc
from msgspec import to_builtins

from plait.errors import UserError
from plait.lake.build import BuildOptions, BuildResult, build
from plait.lake.engine import Engine
from plait.lake.location import LakeNotFound, Location, parse_location
from plait.lake.schema import Profile, arrow_schema
from plait.lake.store import (
    BUILD_COLUMNS,
    CURRENT,
    DataFile,
    Lake,
    Rows,
    SessionKey,
    WrittenFiles,
    open_links,
    open_table,
)
from plait.sessions.model import ProgressCallback
from plait.view.text import UNSAFE

if TYPE_CHECKING:
    from plait.archive.archive import Archive


PROFILE_SUMMARIES: dict[Profile, str] = {
    "counts": "counts only: no text, paths or names",
    "redacted": "all messages, without secrets or names",
    "full": "everything, unredacted: prompts, answers, files, secrets",
}
MAX_EXAMPLES = 3
EXAMPLE_ROWS = 10_000
"""Rows that examples are taken from."""


@dataclass
class TableShipment:
    """What would be sent of one table: rows, bytes, and some values of each column."""

    rows: int = 0
    bytes: int = 0
    examples: dict[str, list[Any]] = field(default_factory=dict)

    def add(self, rows: Rows, files: Iterable[DataFile]) -> None:
        """Add rows and the files that they would be written to."""
        self.rows += rows.num_rows
        self.bytes += sum(file.size for file in files)
        sample = rows.slice(0, EXAMPLE_ROWS)
        for name in rows.column_names:
            values = sample[name]
            if pa.types.is_list(values.type):
                values = pc.list_flatten(values)
            examples = self.examples.setdefault(name, [])
            for value in pc.unique(values.drop_null())[:MAX_EXAMPLES].to_pylist():
                if len(examples) < MAX_EXAMPLES and value not in examples:
                    examples.append(value)


@dataclass(frozen=True)
class Shipment:
    """What would be sent from this machine."""

    built: BuildResult
    tables: Mapping[str, TableShipment]
    sessions: tuple[Mapping[str, Any], ...]
    """As the lake would have them."""
    is_new: bool
    """Whether the lake would be created."""

    @property
    def bytes(self) -> int:
        """The size of all files in bytes."""
        return sum(table.bytes for table in self.tables.values())

    def to_json(self, url: str, options: BuildOptions) -> dict[str, Any]:
        """Return what would be sent to a lake as JSON has it."""
        tables = {
            name: {
                "rows": table.rows,
                "bytes": table.bytes,
                "columns": {
                    column: [format_example(value) for value in values]
                    for column, values in table.examples.items()
                },
            }
            for name, table in self.tables.items()
        }
        return {
            "lake": url,
            "is_new": self.is_new,
            "profile": options.profile,
            **to_builtins(options.labels),
            "unchanged": self.built.unchanged,
            "failed": [failure._asdict() for failure in self.built.failed],
            "bytes": self.bytes,
            "sessions": [session["session"] for session in self.sessions],
            "tables": tables,
        }


def ship(
    archive: "Archive",
    url: str,
    build_options: BuildOptions,
    *,
    options: Mapping[str, str],
    engine: Engine,
    watch: ProgressCallback | None = None,
) -> BuildResult:
    """Update a remote lake, or create it."""
    _check_profile(url, build_options, options)
    lake = Lake.create(url, build_options.profile, options)
    return build(archive, lake, build_options, engine=engine, watch=watch)


def preview_shipment(
    archive: "Archive",
    url: str,
    build_options: BuildOptions,
    *,
    options: Mapping[str, str],
    engine: Engine,
    watch: ProgressCallback | None = None,
) -> Shipment:
    """Return what `ship` would send, to the byte; nothing is sent."""
    _check_profile(url, build_options, options)
    lake = DryRunLake(url, build_options.profile, options)
    built = build(archive, lake, build_options, engine=engine, watch=watch)
    sessions = tuple(row for rows in lake.sessions for row in rows.to_pylist())
    return Shipment(built, lake.shipments, sessions, not lake.exists)


def _check_profile(url: str, build_options: BuildOptions, options: Mapping[str, str]) -> None:
    """Refuse a lake with another profile: more could be sent than requested."""
    try:
        profile = Lake(url, options).profile
    except LakeNotFound:
        return
    if profile != build_options.profile:
        raise UserError(
            f"'{url}' is a lake with the profile '{profile}', not '{build_options.profile}': "
            "nothing was sent",
            f"`--profile {profile}` sends {PROFILE_SUMMARIES[profile]}",
        )


class _MemoryLocation(Location):
    """A location whose files are discarded: only their size matters."""

    def open_new_file(self, name: str, path: str) -> Any:
        """Open a file in memory."""
        return pa.BufferOutputStream()


@dataclass(frozen=True, slots=True)
class _MeasuredRows(WrittenFiles):
    """Rows that would have been written, by table."""

    rows: Mapping[str, Rows] = field(default_factory=dict)


class DryRunLake(Lake):
    """A lake, existing or not, that is read as usual and never written to.

    It replaces the lake during a build and adds up what would have been written.
    """

    def __init__(
        self, url: str, profile: Profile, options: Mapping[str, str] | None = None
    ) -> None:
        self.location = parse_location(url, options)
        self.profile = profile
        self._scratch = _MemoryLocation("memory")
        links = open_links(self._scratch)
        self.shipments = {name: TableShipment() for name in (*self.tables, links.name)}
        """What would be sent, by table."""
        self.sessions: list[Rows] = []
        """The rows of `sessions` that would be sent."""
        try:
            self.exists = Lake(url, options).profile == profile
        except LakeNotFound:
            self.exists = False

    def write(self, tables: Mapping[str, Rows]) -> WrittenFiles:
        """Encode rows to measure them."""
        files = {
            name: tuple(open_table(self._scratch, name).write(rows)) if rows.num_rows else ()
            for name, rows in tables.items()
        }
        return _MeasuredRows(files, tables[CURRENT].cast(arrow_schema(CURRENT)), tables)

    def commit(self, written: Sequence[WrittenFiles]) -> None:
        """Add up what would be committed."""
        for batch in written:
            self.sessions.append(batch.sessions)
            if isinstance(batch, _MeasuredRows):
                for name, rows in batch.rows.items():
                    self.shipments[name].add(rows, batch.files[name])

    def save_links(self, rows: Rows) -> None:
        """Add up what would be saved."""
        links = open_links(self._scratch)
        rows = rows.cast(links.schema)
        self.shipments[links.name].add(rows, links.write(rows) if rows.num_rows else ())

    def forget(self, keys: Collection[SessionKey]) -> None:
        """Leave the lake as it is."""

    def read_builds(self, source: str | None = None) -> Rows:
        """Return what is current in the lake; nothing if there is none."""
        if self.exists:
            return super().read_builds(source)
        return arrow_schema(CURRENT).empty_table().select(BUILD_COLUMNS)

    def read_links(self, source: str, columns: Sequence[str] | None = None) -> Rows:
        """Return what sessions share according to the lake; nothing if there is none."""
        if self.exists:
            return super().read_links(source, columns)
        schema = open_links(self._scratch).schema
        return schema.empty_table().select(columns or schema.names)


def format_example(value: object, most: int | None = None) -> str:
    """Format a value of a column on one line, shortened to some characters."""
    if isinstance(value, bytes):
        value = value.decode("utf-8", "replace")
    if isinstance(value, datetime):
        value = value.isoformat()
    line = value if isinstance(value, str) else json.dumps(value, default=str)
    line = UNSAFE.sub("\ufffd", line).replace("\n", "\ufffd").replace("\t", " ")
    return line if most is None or len(line) <= most else f"{line[: most - 1]}…"
