"""Storage of a lake: Delta tables that several programs can write and read at once.

A row of any table is current where its `build` stands in `sessions`. So a session changes in all
tables in one step, the commit of `sessions`, which comes last:

    write    files that no table lists     a crash leaves files that nobody sees
    commit   records, turns, … + files     a crash leaves rows that are not current
             sessions: old rows, new rows  now the new rows are current, in all tables

Readers load `sessions` first and the other tables afterwards: what is current in it is already
there.

`LakeTable` is one table and its files; `Lake` is all of them.
"""

import json
import os
import random
import re
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import timedelta
from functools import cached_property
from itertools import chain
from math import ceil
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Self, TypeAlias
from uuid import uuid4

import msgspec
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from deltalake import CommitProperties, DeltaTable
from deltalake.exceptions import CommitFailedError, DeltaError
from deltalake.transaction import AddAction, RemoveAction
from pyarrow.fs import FileSelector

from plait.errors import SourceError, UserError
from plait.lake.location import Location, lake_not_found, parse_location, storage_errors
from plait.lake.schema import PROFILES, TABLES, VERSION, Profile, arrow_schema, tables_for_profile

if TYPE_CHECKING:
    from pyarrow.dataset import Dataset

Rows: TypeAlias = "pa.Table"
Actions: TypeAlias = list[AddAction | RemoveAction]
SessionKey: TypeAlias = tuple[str, str]
"""The source of a session and its id."""

ROW_GROUP_ROWS = 100_000
READ_BATCH_ROWS = 10_000
MAX_FILE_BYTES = 128_000_000
"""How large joined files become; files of half that size are left alone."""
WRITE_BATCH_BYTES = 32_000_000
"""How much `tidy` holds in memory of what it writes."""
NO_MONTH = "none"
"""The month of sessions without any time."""
MAX_PAUSE = 2.0
"""The longest pause between two attempts to commit, in seconds."""
APPEND_RETRIES = 50
REPLACE_ATTEMPTS = 40
TIDY_ATTEMPTS = 20
COMMIT_DEADLINE = timedelta(hours=12)
"""How long after it was written something can be committed; `tidy` should touch only older files."""

CURRENT = "sessions"
"""The table that says which rows are current."""
BUILD_COLUMNS = ("source", "session", "month", "family", "fingerprint", "build", "began")
_KEY_COLUMNS = ("source", "session")
_PROFILE, _SCHEMA = "plait.profile", "plait.schema"
# Without checkpoints whoever opens a table reads up to a hundred versions of it, one by one.
_CHECKPOINT_SETTINGS = {"delta.checkpointInterval": "10"}
_FIRST_VERSION = Path("_delta_log", f"{0:020}.json")
_BUILDS_IN_NAME = re.compile(r"/(-?\d+)_(-?\d+)_[^/]*$")


@dataclass(frozen=True, slots=True)
class DataFile:
    """A Parquet file of a table; all its rows have one partition value."""

    path: str
    value: str
    """The month or the source."""
    size: int
    rows: int
    modified: int
    """When its rows were written, in milliseconds; a joined file keeps the time of the newest."""

    @property
    def builds(self) -> tuple[int, int] | None:
        """The lowest and the highest build in it, if its name has them."""
        match = _BUILDS_IN_NAME.search(self.path)
        return (int(match[1]), int(match[2])) if match else None


@dataclass(frozen=True, slots=True)
class TidyResult:
    """What `tidy` did to the files of a lake."""

    joined: int = 0
    """Files whose current rows are in other files now."""
    made: int = 0
    """Files that were written for them."""
    rows: int = 0
    """Rows that were not current and were dropped."""
    deleted: int = 0
    """Files that were deleted."""

    def __add__(self, other: "TidyResult") -> "TidyResult":
        return TidyResult(
            self.joined + other.joined,
            self.made + other.made,
            self.rows + other.rows,
            self.deleted + other.deleted,
        )


class LakeSource(msgspec.Struct, frozen=True):
    """What a lake has of one source."""

    source: str
    person: str
    team: str
    sessions: int
    log_bytes: int
    first: str
    """The first month; `none` if no session has a time."""
    last: str


class LakeTable:
    """One Delta table: its files, its commits."""

    def __init__(
        self,
        location: Location,
        name: str,
        schema: "pa.Schema",
        partition_by: str = "month",
        *,
        has_partition_folders: bool = True,
    ) -> None:
        self.location = location
        self.name = name
        self.schema = schema
        self.partition_by = partition_by
        self.has_partition_folders = has_partition_folders
        """Whether paths show the partition value, for readers of plain Parquet."""

    @property
    def url(self) -> str:
        """The address of the table."""
        return self.location.table_url(self.name)

    def open(self) -> DeltaTable:
        """Open the table as it is now."""
        return DeltaTable(self.url, storage_options=dict(self.location.options))

    def create(self, configuration: Mapping[str, str]) -> None:
        """Create the table, empty, unless it exists; safe when several programs do so at once."""
        if self.location.folder:
            folder = self.location.folder / self.name
            with TemporaryDirectory(prefix="plait-lake-") as scratch:
                self._create_delta_table(scratch, configuration, {})
                lines = Path(scratch, _FIRST_VERSION).read_bytes().splitlines()
            actions = [msgspec.json.decode(line) for line in lines]
            for action in actions:
                action.get("commitInfo", {}).get("operationParameters", {}).pop("location", None)
            first_version = folder / _FIRST_VERSION
            first_version.parent.mkdir(parents=True, exist_ok=True)
            draft = folder / f".{uuid4().hex}"
            try:
                draft.write_bytes(b"\n".join(map(msgspec.json.encode, actions)))
                os.link(draft, first_version)
            except FileExistsError:  # somebody else created the table
                pass
            finally:
                draft.unlink(missing_ok=True)
            return
        options = dict(self.location.options)
        try:
            self._create_delta_table(self.url, configuration, options)
        except DeltaError:
            if not DeltaTable.is_deltatable(self.url, options):  # else somebody else created it
                raise

    def _create_delta_table(
        self, url: str, configuration: Mapping[str, str], options: dict[str, str]
    ) -> None:
        DeltaTable.create(
            url,
            self.schema,
            mode="ignore",
            partition_by=[self.partition_by],
            configuration=dict(configuration),
            storage_options=options,
            raise_if_key_not_exists=False,
        )

    # Files

    def list_files(self, table: DeltaTable | None = None) -> list[DataFile]:
        """Return the files that the table consists of."""
        rows = pa.table((table or self.open()).get_add_actions(flatten=True)).to_pylist()
        return [
            DataFile(
                path=row["path"],
                value=row[f"partition.{self.partition_by}"],
                size=row["size_bytes"],
                rows=row["num_records"],
                modified=row["modification_time"],
            )
            for row in rows
        ]

    def write(self, rows: Rows) -> list[DataFile]:
        """Write rows to new files, one for each partition value, which no reader sees yet."""
        rows = rows.cast(self.schema)
        values = sorted(pc.unique(rows[self.partition_by]).to_pylist())
        files = []
        for value in values:
            part = rows
            if len(values) > 1:
                part = rows.filter(pc.equal(rows[self.partition_by], value))
            builds = None
            if "build" in part.column_names:
                bounds = pc.min_max(part["build"]).as_py()
                builds = bounds["min"], bounds["max"]
            files.append(self._write_file(value, [part.drop_columns([self.partition_by])], builds))
        return files

    def _write_file(
        self,
        value: str,
        batches: Iterable[Rows],
        builds: tuple[int, int] | None,
        modified: int | None = None,
    ) -> DataFile:
        folder = f"{self.partition_by}={value}" if self.has_partition_folders else "files"
        prefix = f"{builds[0]}_{builds[1]}_" if builds else ""
        path = f"{folder}/{prefix}{uuid4().hex}.parquet"
        inner = pa.schema([column for column in self.schema if column.name != self.partition_by])
        count = 0
        with (
            self.location.open_new_file(self.name, path) as out,
            pq.ParquetWriter(out, inner, compression="zstd") as writer,
        ):
            for batch in batches:
                writer.write_table(batch, row_group_size=ROW_GROUP_ROWS)
                count += batch.num_rows
            writer.close()
            size = out.tell()
        return DataFile(path, value, size, count, modified or int(time.time() * 1000))

    def read(self, columns: Sequence[str] | None = None, value: str | None = None) -> Rows:
        """Return the rows; only those of one partition if its value is given."""
        files = [file for file in self.list_files() if value in (None, file.value)]
        return self.read_files(files, columns)

    def read_files(self, files: Iterable[DataFile], columns: Sequence[str] | None = None) -> Rows:
        """Return the rows of some files, with all columns or some."""
        names = [name for name in self.schema.names if columns is None or name in columns]
        stored_names = [name for name in names if name != self.partition_by]
        filesystem = self.location.filesystem(self.name)
        tables = [pa.schema([self.schema.field(name) for name in names]).empty_table()]
        for file in files:
            with filesystem.open_input_file(file.path) as opened:
                rows = pq.ParquetFile(opened).read(columns=stored_names)
            if self.partition_by in names:
                value = pa.repeat(pa.scalar(file.value, pa.string()), rows.num_rows)
                rows = rows.append_column(self.partition_by, value)
            tables.append(rows.select(names))
        return pa.concat_tables(tables)

    def open_dataset(self) -> "Dataset":
        """Return all rows as a dataset whose files are opened when they are read.

        Built here and not by deltalake, which does not know the builds in a file (so it could skip
        none) and asks an object store for the size of each.
        """
        from pyarrow.dataset import (
            FileSystemDataset,
            ParquetFileFormat,
            ParquetFragmentScanOptions,
            field,
        )

        filesystem = self.location.filesystem(self.name)
        form = ParquetFileFormat(default_fragment_scan_options=ParquetFragmentScanOptions())
        fragments = []
        for file in self.list_files():
            condition = field(self.partition_by) == file.value
            if file.builds:
                lowest, highest = file.builds
                condition &= (field("build") >= lowest) & (field("build") <= highest)
            fragments.append(
                form.make_fragment(
                    file.path,
                    filesystem=filesystem,
                    partition_expression=condition,
                    file_size=file.size,
                )
            )
        return FileSystemDataset(fragments, self.schema, form, filesystem)

    # Commits

    def make_add_action(self, file: DataFile, *, is_new: bool = True) -> AddAction:
        """Return the action that adds a file to the table."""
        # The bounds of builds are in the name, not here: if one column has statistics, deltalake
        # takes all others for empty, and a query for these finds nothing.
        stats = json.dumps({"numRecords": file.rows})
        partition = {self.partition_by: file.value}
        return AddAction(file.path, file.size, partition, file.modified, is_new, stats)

    def make_remove_action(self, file: DataFile, *, is_new: bool = True) -> RemoveAction:
        """Return the action that removes a file; the file itself stays for current readers."""
        now = int(time.time() * 1000)
        return RemoveAction(file.path, is_new, now, file.size, {self.partition_by: file.value})

    def append(self, files: Sequence[DataFile]) -> None:
        """Add written files to the table, after checking that they arrived whole."""
        paths = [file.path for file in files]
        stored_files = self.location.filesystem(self.name).get_file_info(paths)
        for file, stored in zip(files, stored_files, strict=True):
            if stored.size != file.size:
                raise SourceError(
                    f"'{self.url}/{file.path}' is missing or incomplete",
                    "workers on other machines need a location that all of them can reach",
                )
        actions: Actions = [self.make_add_action(file) for file in files]
        self._commit(self.open(), actions, APPEND_RETRIES)

    def _commit(self, table: DeltaTable, actions: Actions, retries: int) -> None:
        table.create_write_transaction(
            actions,
            mode="append",
            schema=self.schema,
            partition_by=[self.partition_by],
            commit_properties=CommitProperties(max_commit_retries=retries),
        )

    def commit_planned(self, plan: Callable[[DeltaTable], Actions], attempts: int) -> bool:
        """Commit what a function plans for a version of the table, as the very next version.

        Plans again where somebody else committed in between. Returns False after too many attempts.
        Files that a failed attempt wrote stay until `tidy`: a lost answer may hide that the commit
        did succeed.
        """
        for attempt in range(attempts):
            table = self.open()
            actions = plan(table)
            if not actions:
                return True
            try:
                self._commit(table, actions, retries=0)
            except CommitFailedError:
                time.sleep(random.uniform(0, min(MAX_PAUSE, 0.02 * 2**attempt)))
            else:
                return True
        return False

    def tidy(self, current_builds: Collection[int] | None, older: timedelta) -> TidyResult:
        """Join small files and drop rows that are not current, in files older than a time.

        Younger files may belong to somebody who has not committed yet. Files that were joined stay
        just as long for those who read them.
        """
        before = int((time.time() - older.total_seconds()) * 1000)
        files = [file for file in self.list_files() if file.modified <= before]
        stale = set()
        if current_builds is not None:
            for file in files:
                builds = pc.unique(self.read_files([file], ["build"])["build"]).to_pylist()
                if not all(build in current_builds for build in builds):
                    stale.add(file.path)
        result = TidyResult()
        for group in _group_small_files(files, stale):
            if len(group) > 1 or group[0].path in stale:
                result += self._join_files(group, current_builds)
        table, hours = self.open(), ceil(older / timedelta(hours=1))
        listed = table.vacuum(hours, dry_run=True, enforce_retention_duration=False, full=True)
        entries = self.location.filesystem(self.name).get_file_info(
            FileSelector("", recursive=True)
        )
        present = {entry.path for entry in entries if entry.is_file}
        deleted = set(listed) & present  # files that were removed earlier are listed again
        if deleted:
            table.vacuum(hours, dry_run=False, enforce_retention_duration=False, full=True)
        return result + TidyResult(deleted=len(deleted))

    def _join_files(
        self, files: Sequence[DataFile], current_builds: Collection[int] | None
    ) -> TidyResult:
        made: list[DataFile] = []
        batches = self._iter_current_rows(files, current_builds)
        first = next(batches, None)
        if first is not None:
            bounds = [file.builds for file in files if file.builds]
            builds = None
            if len(bounds) == len(files):
                builds = min(low for low, _ in bounds), max(high for _, high in bounds)
            modified = max(file.modified for file in files)
            made = [self._write_file(files[0].value, chain([first], batches), builds, modified)]
        dropped = sum(file.rows for file in files) - sum(file.rows for file in made)
        actions: Actions = [
            *(self.make_remove_action(file, is_new=dropped > 0) for file in files),
            *(self.make_add_action(file, is_new=dropped > 0) for file in made),
        ]
        is_ours = False

        def plan(table: DeltaTable) -> Actions:
            nonlocal is_ours
            paths = {file.path for file in self.list_files(table)}
            is_ours = {file.path for file in files} <= paths
            return actions if is_ours else []  # else somebody else has tidied them

        if self.commit_planned(plan, TIDY_ATTEMPTS) and is_ours:
            return TidyResult(len(files), len(made), dropped)
        return TidyResult()

    def _iter_current_rows(
        self, files: Sequence[DataFile], current_builds: Collection[int] | None
    ) -> Iterator[Rows]:
        """Yield the current rows of some files, in batches of a good size for writing."""
        filesystem = self.location.filesystem(self.name)
        waiting: list[Rows] = []
        for file in files:
            with filesystem.open_input_file(file.path) as opened:
                for batch in pq.ParquetFile(opened).iter_batches(READ_BATCH_ROWS):
                    rows = pa.Table.from_batches([batch])
                    if current_builds is not None:
                        builds = pc.unique(rows["build"]).to_pylist()
                        kept = [build for build in builds if build in current_builds]
                        rows = rows.filter(pc.is_in(rows["build"], pa.array(kept, pa.int64())))
                    if not rows.num_rows:
                        continue
                    waiting.append(rows)
                    if sum(rows.nbytes for rows in waiting) >= WRITE_BATCH_BYTES:
                        yield pa.concat_tables(waiting)
                        waiting = []
        if waiting:
            yield pa.concat_tables(waiting)


def _group_small_files(
    files: Iterable[DataFile], stale: Collection[str]
) -> Iterator[list[DataFile]]:
    """Yield files that should become one: small ones, and those with rows that are not current."""
    groups: dict[str, list[DataFile]] = {}
    for file in sorted(files, key=lambda file: (file.modified, file.path)):
        if file.size * 2 >= MAX_FILE_BYTES and file.path not in stale:
            continue
        group = groups.setdefault(file.value, [])
        if group and sum(member.size for member in group) + file.size > MAX_FILE_BYTES:
            yield group
            group = groups[file.value] = []
        group.append(file)
    yield from groups.values()


class SessionTable(LakeTable):
    """A table with one row for each session, or two if two folders contain the same id.

    A row replaces the earlier row of its session in one commit, based on the version that was read.
    So of two programs that write the same session, the later one wins.
    """

    @cached_property
    def _keys_by_file(self) -> dict[str, pa.Array]:
        """Keys of the sessions in each file; files never change."""
        return {}

    def replace(self, rows: Rows, removed: Collection[SessionKey] = ()) -> None:
        """Replace the rows of the same sessions; take out some sessions."""
        removed_keys = [f"{source}\0{session}" for source, session in removed]
        keys = pa.concat_arrays([_join_session_keys(rows), pa.array(removed_keys, pa.string())])

        def plan(table: DeltaTable) -> Actions:
            files = self.list_files(table)
            if self.partition_by == "source":
                sources = {key.partition("\0")[0] for key in keys.to_pylist()}
                files = [file for file in files if file.value in sources]
            touched = [
                file for file in files if pc.any(pc.is_in(self._read_keys(file), keys)).as_py()
            ]
            old = self.read_files(touched)
            kept = old.filter(pc.invert(pc.is_in(_join_session_keys(old), keys)))
            return [
                *map(self.make_remove_action, touched),
                *map(self.make_add_action, self.write(pa.concat_tables([kept, rows]))),
            ]

        if len(keys) and not self.commit_planned(plan, REPLACE_ATTEMPTS):
            raise SourceError(
                f"'{self.url}' is being written to constantly",
                "nothing that was built is lost: try again later",
            )

    def _read_keys(self, file: DataFile) -> pa.Array:
        if file.path not in self._keys_by_file:
            self._keys_by_file[file.path] = _join_session_keys(
                self.read_files([file], _KEY_COLUMNS)
            )
        return self._keys_by_file[file.path]


def _join_session_keys(rows: Rows) -> pa.Array:
    """Return the session of each row as one text."""
    keys = pc.binary_join_element_wise(rows["source"], rows["session"], "\0")
    return keys.combine_chunks() if isinstance(keys, pa.ChunkedArray) else keys


@dataclass(frozen=True, slots=True)
class WrittenFiles:
    """Files that were written to a lake and not committed yet, and the sessions in them."""

    files: Mapping[str, tuple[DataFile, ...]]
    """By table."""
    sessions: Rows = field(repr=False)

    @property
    def all_files(self) -> Iterator[DataFile]:
        """The files of all tables."""
        return chain.from_iterable(self.files.values())

    @property
    def size(self) -> int:
        """The size of all files in bytes."""
        return sum(file.size for file in self.all_files)


class Lake:
    """The tables of a lake. It can be pickled, so that workers on other machines write to it."""

    def __init__(self, url: str, options: Mapping[str, str] | None = None) -> None:
        self.location = parse_location(url, options)
        self.profile: Profile = self._read_profile()

    @classmethod
    def create(cls, url: str, profile: Profile, options: Mapping[str, str] | None = None) -> Self:
        """Open a lake, created if there is none; an existing one must have the same profile."""
        location = parse_location(url, options)
        with storage_errors(location, "create a lake at"):
            if location.folder:
                location.folder.mkdir(parents=True, exist_ok=True)
            if not DeltaTable.is_deltatable(location.table_url(CURRENT), dict(location.options)):
                configuration = {_PROFILE: profile, _SCHEMA: str(VERSION), **_CHECKPOINT_SETTINGS}
                for table in iter_tables(location, profile):
                    table.create(configuration)
        lake = cls(url, options)
        if lake.profile != profile:
            raise UserError(
                f"'{location.url}' is a lake with the profile '{lake.profile}', not '{profile}'",
                f"build with `--profile {lake.profile}`, or to another location",
            )
        return lake

    def _read_profile(self) -> Profile:
        with storage_errors(self.location, "read"):
            settings = open_table(self.location, CURRENT).open().metadata().configuration
        if settings.get(_SCHEMA) != str(VERSION):
            raise UserError(
                f"'{self.location.url}' has tables of version {settings.get(_SCHEMA, 'none')}, "
                f"and this Plait needs version {VERSION}",
                "build to another location, or use the Plait that created it",
            )
        for profile in PROFILES:
            if settings.get(_PROFILE) == profile:
                return profile
        raise lake_not_found(self.location)

    def __getstate__(self) -> dict[str, Any]:
        return {"location": self.location, "profile": self.profile}

    @property
    def url(self) -> str:
        """The address of the lake."""
        return self.location.url

    @property
    def tables(self) -> tuple[str, ...]:
        """The names of its tables, `sessions` first."""
        return tuple(table.name for table in tables_for_profile(self.profile))

    @cached_property
    def _sessions(self) -> SessionTable:
        return SessionTable(self.location, CURRENT, arrow_schema(CURRENT))

    @cached_property
    def _links(self) -> SessionTable:
        return open_links(self.location)

    def table(self, name: str) -> LakeTable:
        """Return a table by its name."""
        if name not in self.tables:
            raise UserError(
                f"a lake with the profile '{self.profile}' has no table '{name}'",
                f"it has {', '.join(self.tables)}",
            )
        return open_table(self.location, name)

    def write(self, tables: Mapping[str, Rows]) -> WrittenFiles:
        """Write the rows of sessions to new files, which no reader sees before `commit`."""
        filled = [self.table(name) for name, rows in tables.items() if rows.num_rows]
        with storage_errors(self.location, "write to"):
            files = {
                table.name: tuple(table.write(tables[table.name]))
                for table in filled
                if table.name != CURRENT
            }
        return WrittenFiles(files, tables[CURRENT].cast(arrow_schema(CURRENT)))

    def commit(self, written: Sequence[WrittenFiles]) -> None:
        """Make written rows current, in place of the earlier rows of the same sessions."""
        if not written:
            return
        deadline = (time.time() - COMMIT_DEADLINE.total_seconds()) * 1000
        if any(file.modified < deadline for batch in written for file in batch.all_files):
            raise SourceError(  # `tidy` may have deleted the files by now
                f"the rows written to '{self.url}' were not committed in time",
                "run the build again",
            )
        names = [name for name in TABLES if any(name in batch.files for batch in written)]
        files = [
            [file for batch in written for file in batch.files.get(name, ())] for name in names
        ]
        with storage_errors(self.location, "write to"):
            with ThreadPoolExecutor(4) as threads:
                for _ in threads.map(lambda name, new: self.table(name).append(new), names, files):
                    pass
            # Of a session that was written several times, the last rows count.
            kept: list[Rows] = []
            later_keys = pa.array([], pa.string())
            for rows in (batch.sessions for batch in reversed(written)):
                keys = _join_session_keys(rows)
                kept.insert(0, rows.filter(pc.invert(pc.is_in(keys, later_keys))))
                later_keys = pa.concat_arrays([later_keys, keys])
            self._sessions.replace(pa.concat_tables(kept))

    def read_builds(self, source: str | None = None) -> Rows:
        """Return what is current: one row for each session, with what it was built from."""
        with storage_errors(self.location, "read"):
            rows = self._sessions.read(BUILD_COLUMNS).select(BUILD_COLUMNS)
        return rows if source is None else rows.filter(pc.equal(rows["source"], source))

    def read_links(self, source: str, columns: Sequence[str] | None = None) -> Rows:
        """Return what sessions of a source share with others, as of their files back then."""
        with storage_errors(self.location, "read"):
            return self._links.read(columns, value=source)

    def save_links(self, rows: Rows) -> None:
        """Save what sessions share with others, in place of their earlier rows."""
        with storage_errors(self.location, "write to"):
            self._links.replace(rows.cast(self._links.schema))

    def forget(self, keys: Collection[SessionKey]) -> None:
        """Remove sessions; their rows are deleted by the next `tidy`."""
        with storage_errors(self.location, "write to"):
            self._sessions.replace(self._sessions.schema.empty_table(), keys)
            self._links.replace(self._links.schema.empty_table(), keys)

    def forget_source(self, source: str) -> None:
        """Remove all sessions of a source, and what they shared with others."""
        sessions = {*self.read_builds(source)["session"].to_pylist()}
        sessions |= {*self.read_links(source, ("session",))["session"].to_pylist()}
        self.forget([(source, session) for session in sessions])

    def list_sources(self) -> list[LakeSource]:
        """List the sources of the sessions, each with its labels."""
        columns = ["source", "person", "team", "month", "log_bytes"]
        by_labels: dict[tuple[str, str, str], list[dict[str, Any]]] = {}
        for row in self.dataset(CURRENT).to_table(columns=columns).to_pylist():
            labels = (row["source"], row["person"] or "", row["team"] or "")
            by_labels.setdefault(labels, []).append(row)
        sources = []
        for labels, rows in sorted(by_labels.items()):
            months = [row["month"] for row in rows if row["month"] != NO_MONTH] or [NO_MONTH]
            size = sum(row["log_bytes"] or 0 for row in rows)
            sources.append(LakeSource(*labels, len(rows), size, min(months), max(months)))
        return sources

    def dataset(self, table: str) -> "Dataset":
        """Open a table with all its rows, current or not; open `sessions` before the others."""
        opened = self.table(table)
        with storage_errors(self.location, f"read {table} in"):
            return opened.open_dataset()

    def tidy(self, older: timedelta) -> TidyResult:
        """Join small files, drop rows that are not current, delete files that no table lists.

        Only files older than `older` are touched. If that is less than `COMMIT_DEADLINE`, nobody
        else may write meanwhile.
        """
        with storage_errors(self.location, "tidy"):
            current_builds = frozenset(self._sessions.read(["build"])["build"].to_pylist())
            result = TidyResult()
            for table in iter_tables(self.location, self.profile):
                has_stale_rows = not isinstance(table, SessionTable)
                result += table.tidy(current_builds if has_stale_rows else None, older)
            return result


def open_table(location: Location, name: str) -> LakeTable:
    """Return a table that the schema names."""
    kind = SessionTable if name == CURRENT else LakeTable
    return kind(location, name, arrow_schema(name))


def open_links(location: Location) -> SessionTable:
    """Return the table of what sessions share with others."""
    schema = pa.schema(
        [
            ("source", pa.string()),
            ("session", pa.string()),
            ("fingerprint", pa.string()),
            ("ties", pa.list_(pa.int64())),
        ]
    )
    return SessionTable(location, "kin", schema, "source", has_partition_folders=False)


def iter_tables(location: Location, profile: Profile) -> Iterator[LakeTable]:
    """Yield all tables, `sessions` last: only with it is a lake complete."""
    yield open_links(location)
    for table in reversed(tables_for_profile(profile)):
        yield open_table(location, table.name)
