"""Tables of sessions to a lake that several can write to and read from at once.

A row of any table holds where `sessions` has its `build`. So a session changes in all tables in one
step, the commit of `sessions`, which comes last:

    write    files that no table knows     a kill leaves files that nobody sees
    commit   records, turns, … + files     a kill leaves rows that do not hold
             sessions: old rows, new rows  now the new rows hold, in all tables

Who reads loads `sessions` first and the others then: what holds in it is already there.
"""

import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import timedelta
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import pyarrow as pa
from deltalake import DeltaTable

from plait.errors import SourceError, UserError
from plait.lake.committing import Actions, commit, opened
from plait.lake.creating import create_table
from plait.lake.keyed import Key, Keyed, keys_of
from plait.lake.model import PROFILES, Profile
from plait.lake.parquet import Layout, Part, Rows, adding, write_rows
from plait.lake.places import Place, no_lake, place_of, told
from plait.lake.scanning import dataset_of
from plait.lake.schema import TABLES, VERSION, schema_of, tables_in
from plait.lake.tidying import Tidied, tidy_table

if TYPE_CHECKING:
    from pyarrow.dataset import Dataset

HOLDING = "sessions"
"""The table that says what holds."""
KNOWN = ("source", "session", "month", "family", "fingerprint", "build", "began")
PATIENCE = timedelta(hours=12)
"""How long after it was written something can be committed; what is tidied should be older."""
_PROFILE, _SCHEMA = "plait.profile", "plait.schema"
_SHORT = {"delta.checkpointInterval": "10"}
"""Else who opens a table has up to a hundred of its versions to read, one by one."""
_RETRIES = 50
_KIN = Layout(
    "kin",
    pa.schema(
        [
            ("source", pa.string()),
            ("session", pa.string()),
            ("fingerprint", pa.string()),
            ("ties", pa.list_(pa.int64())),
        ]
    ),
    by="source",
    is_named_by=False,
)


@dataclass(frozen=True, slots=True)
class Written:
    """Files that lie in a lake and are not seen yet, and the sessions that they are of."""

    parts: Mapping[str, tuple[Part, ...]]
    """By table."""
    sessions: Rows = field(repr=False)

    @property
    def size(self) -> int:
        """The bytes of all files."""
        return sum(part.size for part in _all_parts(self))


class Lake:
    """Delta tables in a folder or an object store; can be sent to other machines."""

    def __init__(self, url: str, options: Mapping[str, str] | None = None) -> None:
        self.place = place_of(url, options)
        self.profile: Profile = _profile_of(self.place)

    @classmethod
    def create(cls, url: str, profile: Profile, options: Mapping[str, str] | None = None) -> Self:
        """Makes a lake where none is; the one that is there must be of the same kind."""
        place = place_of(url, options)
        with told(place, "make a lake at"):
            if place.folder:
                place.folder.mkdir(parents=True, exist_ok=True)
            if not DeltaTable.is_deltatable(place.table(HOLDING), dict(place.options)):
                said = {_PROFILE: profile, _SCHEMA: str(VERSION), **_SHORT}
                for layout in _layouts(profile):
                    create_table(place, layout, said)
        found = cls(url, options)
        if found.profile != profile:
            raise UserError(
                f"'{place.url}' is a lake of {found.profile}, not of {profile}",
                f"build with `--profile {found.profile}`, or to another place",
            )
        return found

    def __getstate__(self) -> dict[str, Any]:
        return {"place": self.place, "profile": self.profile}

    @property
    def url(self) -> str:
        """Where it lies."""
        return self.place.url

    @property
    def tables(self) -> tuple[str, ...]:
        """The names of its tables, the one that says what holds first."""
        return tuple(one.name for one in tables_in(self.profile))

    def write(self, tables: Mapping[str, Rows]) -> Written:
        """Writes the rows of sessions into files of their own, which nobody sees yet."""
        layouts = [self._layout(name) for name, rows in tables.items() if rows.num_rows]
        with told(self.place, "write to"):
            parts = {
                one.name: tuple(write_rows(self.place, one, tables[one.name]))
                for one in layouts
                if one.name != HOLDING
            }
        return Written(parts, tables[HOLDING].cast(schema_of(HOLDING)))

    def commit(self, written: Sequence[Written]) -> None:
        """Has what was written hold, in place of what there was of the same sessions."""
        if not written:
            return
        _check_age(self.place, written)
        with told(self.place, "write to"):
            with ThreadPoolExecutor(4) as threads:
                for _ in threads.map(self._append, *zip(*_by_table(written), strict=True)):
                    pass
            self._sessions.replace(_last_of_each(written))

    def _append(self, name: str, parts: Sequence[Part]) -> None:
        layout = self._layout(name)
        _check_there(self.place, layout, parts)
        actions: Actions = [adding(part, layout) for part in parts]
        commit(opened(self.place, layout), layout, actions, _RETRIES)

    def known(self, source: str | None = None) -> Rows:
        """Returns what holds: one row a session, with what it was built from."""
        with told(self.place, "read"):
            found = self._sessions.read(KNOWN).select(KNOWN)
        return found if source is None else found.filter(pa.compute.equal(found["source"], source))

    def kin(self, source: str, columns: Sequence[str] | None = None) -> Rows:
        """Returns what sessions of a source share with others, by what their files were."""
        with told(self.place, "read"):
            return self._kin.read(columns, value=source)

    def keep_kin(self, rows: Rows) -> None:
        """Keeps what sessions share with others, in place of what was kept of the same ones."""
        with told(self.place, "write to"):
            self._kin.replace(rows.cast(_KIN.schema))

    def forget(self, keys: Collection[Key]) -> None:
        """Has sessions hold no more; their rows go when the lake is tidied."""
        with told(self.place, "write to"):
            self._sessions.replace(schema_of(HOLDING).empty_table(), keys)
            self._kin.replace(_KIN.schema.empty_table(), keys)

    def forget_source(self, source: str) -> None:
        """Has no session of a source hold any more, and knows nothing of what they shared."""
        held = {*self.known(source)["session"].to_pylist()}
        held |= {*self.kin(source, ("session",))["session"].to_pylist()}
        self.forget([(source, session) for session in held])

    def dataset(self, table: str) -> "Dataset":
        """Returns a table as it is now, with the rows that do not hold; `sessions` comes first."""
        layout = self._layout(table)
        with told(self.place, f"read {table} in"):
            return dataset_of(opened(self.place, layout), layout, self.place.files(table))

    def tidy(self, older: timedelta) -> Tidied:
        """Joins small files, leaves out rows that do not hold, deletes files that nobody knows.

        Only what is older than that is touched. With less than `PATIENCE` nobody else may write.
        """
        with told(self.place, "tidy"):
            holding = frozenset(self._sessions.read(["build"])["build"].to_pylist())
            found = Tidied()
            for layout in _layouts(self.profile):
                held = holding if layout.name not in (HOLDING, _KIN.name) else None
                found += tidy_table(self.place, layout, held, older)
            return found

    def _layout(self, table: str) -> Layout:
        if table not in self.tables:
            raise UserError(
                f"a lake of {self.profile} has no table '{table}'",
                f"it has {', '.join(self.tables)}",
            )
        return _layout(table)

    @cached_property
    def _sessions(self) -> Keyed:
        return Keyed(self.place, _layout(HOLDING))

    @cached_property
    def _kin(self) -> Keyed:
        return Keyed(self.place, _KIN)


def _layout(table: str) -> Layout:
    return Layout(table, schema_of(table), by="month")


def _layouts(profile: Profile) -> Iterator[Layout]:
    """Yields all tables, the one that says what holds last: a lake without it is none."""
    yield _KIN
    for one in reversed(tables_in(profile)):
        yield _layout(one.name)


def _profile_of(place: Place) -> Profile:
    with told(place, "read"):
        said = opened(place, _layout(HOLDING)).metadata().configuration
    if said.get(_SCHEMA) != str(VERSION):
        raise UserError(
            f"'{place.url}' is a lake of another edition: its tables are of version "
            f"{said.get(_SCHEMA, 'none')}, not {VERSION}",
            "build to another place, or with the Plait that made it",
        )
    for profile in PROFILES:
        if said.get(_PROFILE) == profile:
            return profile
    raise no_lake(place)


def _last_of_each(written: Sequence[Written]) -> Rows:
    """Returns the rows of sessions: of those that were written several times the last ones."""
    found: list[Rows] = []
    later = pa.array([], pa.string())
    for rows in (one.sessions for one in reversed(written)):
        keys = keys_of(rows)
        found.insert(0, rows.filter(pa.compute.invert(pa.compute.is_in(keys, later))))
        later = pa.concat_arrays([later, keys])
    return pa.concat_tables(found)


def _by_table(written: Sequence[Written]) -> list[tuple[str, list[Part]]]:
    names = [name for name in TABLES if any(name in one.parts for one in written)]
    return [(name, [part for one in written for part in one.parts.get(name, ())]) for name in names]


def _check_age(place: Place, written: Sequence[Written]) -> None:
    """Sees that nobody can have tidied away what comes too late."""
    before = (time.time() - PATIENCE.total_seconds()) * 1000
    if any(part.modified < before for one in written for part in _all_parts(one)):
        raise SourceError(
            f"what was written to '{place.url}' waited too long to be committed",
            "build it again",
        )


def _all_parts(written: Written) -> Iterator[Part]:
    for parts in written.parts.values():
        yield from parts


def _check_there(place: Place, layout: Layout, parts: Sequence[Part]) -> None:
    """Sees that all files came whole to where the tables lie."""
    found = place.files(layout.name).get_file_info([part.path for part in parts])
    for part, file in zip(parts, found, strict=True):
        if file.size != part.size:
            raise SourceError(
                f"'{place.table(layout.name)}/{part.path}' is not there as it was written",
                "workers on other machines need a place that all of them see",
            )
