"""The catalogue: its tables, a connection to them, and what they know of files and sessions."""

import json
import os
import sqlite3
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from plait.errors import SourceError
from plait.index.access import is_refused, refusal
from plait.index.model import FileMark, LineRow, SessionKnown, TurnRow

if TYPE_CHECKING:
    from plait.index.rows import RowChange


T = TypeVar("T")
JSON = b"[{"
"""How a value begins that was written as JSON."""


def to_bytes(value: Any) -> bytes:
    """Returns the bytes of a value; lone surrogates and huge numbers are kept as they are."""
    try:
        return msgspec.msgpack.encode(value)
    except (UnicodeEncodeError, OverflowError):
        return json.dumps(msgspec.to_builtins(value, str_keys=True)).encode()


def from_bytes(data: bytes, kind: type[T]) -> T:
    """Returns the value that some bytes stand for."""
    if data[:1] and data[:1] in JSON:
        return msgspec.convert(json.loads(data), kind, str_keys=True)
    return msgspec.msgpack.decode(data, type=kind)


VERSION = 12
"""Of everything that the index holds: another one is built anew."""
CATALOGUE = "catalogue.sqlite"
WAIT = 2.0
"""Seconds for which whoever writes waits for another program; Plait's own wait for a lock."""
TABLES = """
CREATE TABLE IF NOT EXISTS meta (name TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS names (
    code INTEGER PRIMARY KEY, sort TEXT NOT NULL, name TEXT NOT NULL, UNIQUE (sort, name));
CREATE TABLE IF NOT EXISTS sessions (
    sid INTEGER PRIMARY KEY, key BLOB NOT NULL UNIQUE, id TEXT NOT NULL, project TEXT NOT NULL,
    title TEXT, started TEXT, ended TEXT, facts BLOB);
CREATE TABLE IF NOT EXISTS files (
    file INTEGER PRIMARY KEY, sid INTEGER NOT NULL, path BLOB NOT NULL UNIQUE,
    kind TEXT NOT NULL, size INTEGER NOT NULL, changed INTEGER NOT NULL, inode INTEGER NOT NULL,
    offset INTEGER NOT NULL, head BLOB NOT NULL, mark BLOB NOT NULL, tail BLOB);
CREATE INDEX IF NOT EXISTS files_of ON files (sid);
CREATE TABLE IF NOT EXISTS lines (
    sid INTEGER NOT NULL, dag INTEGER NOT NULL, id TEXT NOT NULL, kind TEXT NOT NULL,
    state TEXT NOT NULL, turns INTEGER NOT NULL, parent TEXT, label TEXT,
    PRIMARY KEY (sid, dag)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS turns (
    sid INTEGER NOT NULL, dag INTEGER NOT NULL, number INTEGER NOT NULL, kind TEXT, time TEXT,
    uuid TEXT, PRIMARY KEY (sid, dag, number)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS pending (sid INTEGER PRIMARY KEY);
"""
WORKED_OUT = """
CREATE TABLE IF NOT EXISTS bills (file INTEGER PRIMARY KEY, sid INTEGER NOT NULL, data BLOB);
CREATE INDEX IF NOT EXISTS bills_of ON bills (sid);
CREATE TABLE IF NOT EXISTS abandoned (sid INTEGER PRIMARY KEY, data BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS losses (sid INTEGER PRIMARY KEY, data BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS wasted (sid INTEGER PRIMARY KEY, data BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS kin (sid INTEGER PRIMARY KEY, began TEXT NOT NULL, ties BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS sharing (
    sid INTEGER NOT NULL, other INTEGER NOT NULL, PRIMARY KEY (sid, other)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS families (
    family INTEGER PRIMARY KEY, sort TEXT NOT NULL, members BLOB NOT NULL, data BLOB NOT NULL,
    UNIQUE (sort, members));
CREATE TABLE IF NOT EXISTS members (
    sid INTEGER NOT NULL, family INTEGER NOT NULL, PRIMARY KEY (sid, family)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS detailed (sid INTEGER PRIMARY KEY);
CREATE TABLE IF NOT EXISTS responses (
    sid INTEGER NOT NULL, dag INTEGER NOT NULL, number INTEGER NOT NULL, turn INTEGER,
    key TEXT, uuid TEXT, model TEXT, time TEXT, input INTEGER, output INTEGER,
    cache_write_5m INTEGER, cache_write_1h INTEGER, cache_read INTEGER, web_searches INTEGER,
    web_fetches INTEGER, is_error INTEGER NOT NULL, is_synthetic INTEGER NOT NULL,
    PRIMARY KEY (sid, dag, number)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS calls (
    sid INTEGER NOT NULL, dag INTEGER NOT NULL, number INTEGER NOT NULL, turn INTEGER NOT NULL,
    call TEXT, tool TEXT, time TEXT, outcome TEXT, took_ms REAL, uuid TEXT,
    PRIMARY KEY (sid, dag, number)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS touches (
    sid INTEGER NOT NULL, dag INTEGER NOT NULL, number INTEGER NOT NULL, turn INTEGER NOT NULL,
    path TEXT NOT NULL, action TEXT NOT NULL, time TEXT, outcome TEXT, added INTEGER,
    removed INTEGER, uuid TEXT, PRIMARY KEY (sid, dag, number)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS findings (
    sid INTEGER NOT NULL, number INTEGER NOT NULL, kind TEXT NOT NULL, text TEXT NOT NULL,
    path TEXT, line INTEGER, uuid TEXT, PRIMARY KEY (sid, number)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS usage (
    sid INTEGER NOT NULL, number INTEGER NOT NULL, key TEXT, uuid TEXT, model TEXT, time TEXT,
    run TEXT NOT NULL, agent TEXT, input INTEGER, output INTEGER, cache_write_5m INTEGER,
    cache_write_1h INTEGER, cache_read INTEGER, web_searches INTEGER, web_fetches INTEGER,
    tier TEXT, speed TEXT, geo TEXT, logged REAL, PRIMARY KEY (sid, number)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS billed (sid INTEGER PRIMARY KEY, digest BLOB NOT NULL);
CREATE INDEX IF NOT EXISTS usage_by_key ON usage (key);
CREATE VIEW IF NOT EXISTS answers AS
    SELECT responses.*, EXISTS (
        SELECT 1 FROM usage WHERE usage.key = responses.key AND usage.sid = responses.sid
    ) AS is_billed FROM responses;
"""
"""What is worked out from the logs when it is first asked for, and forgotten when they change."""
OWNED = ("lines", "turns", "files", "sessions")
"""Tables whose rows belong to one session."""
DERIVED = (
    "abandoned",
    "losses",
    "wasted",
    "kin",
    "sharing",
    "detailed",
    "responses",
    "calls",
    "touches",
    "findings",
    "usage",
    "billed",
)
"""Tables of what was worked out from one session; it is worked out anew when that grows."""


def _connect(folder: Path, *, is_reader: bool) -> sqlite3.Connection:
    """Returns a connection to a folder's catalogue; a reader never waits and never writes."""
    path = folder / CATALOGUE
    try:
        if is_reader:
            connection = _read_only(path)
        else:
            connection = sqlite3.connect(path, isolation_level=None, timeout=WAIT)
            connection.execute("PRAGMA journal_mode=WAL")
            connection.execute("PRAGMA synchronous=NORMAL")
            connection.execute("PRAGMA secure_delete=ON")  # what is forgotten is overwritten
            connection.executescript(f"BEGIN;{TABLES}{WORKED_OUT}COMMIT;")
        connection.execute("SELECT count(*) FROM meta").fetchone()
    except (sqlite3.Error, OSError) as error:
        raise broken_catalogue(folder, error) from error
    return connection


def _read_only(path: Path) -> sqlite3.Connection:
    place = path.absolute().as_uri()
    connection = sqlite3.connect(f"{place}?mode=ro", uri=True, isolation_level=None, timeout=5)
    try:
        connection.execute("SELECT count(*) FROM meta").fetchone()
    except sqlite3.OperationalError:
        connection.close()
        if path.with_name(f"{path.name}-wal").exists():
            raise
        place = f"{place}?mode=ro&immutable=1"
        connection = sqlite3.connect(place, uri=True, isolation_level=None, timeout=5)
    return connection


def broken_catalogue(folder: Path, error: Exception) -> SourceError:
    """Returns the error that says what is wrong with a catalogue."""
    if is_refused(error):
        return refusal(folder, error)
    return SourceError(
        f"cannot use the index in '{folder}': {error}", "`plait index --rebuild` makes it anew"
    )


class Catalogue:
    """The tables of one index."""

    def __init__(self, folder: Path, *, is_reader: bool = True) -> None:
        self.connection = _connect(folder, is_reader=is_reader)
        self._codes: dict[tuple[str, str], int] = {}
        self.project_of: Callable[[str], str] = str
        """Gives the project that a folder of sessions is of."""

    def close(self) -> None:
        """Closes the connection."""
        self.connection.close()

    def settle(self) -> None:
        """Brings everything into the catalogue itself, so that its journal holds nothing old."""
        self.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    # what is there

    def is_current(self) -> bool:
        """Tells whether this version of the program wrote it."""
        return bool(self.meta("version") == VERSION)

    def meta(self, name: str) -> Any:
        """Returns what is noted under a name."""
        row = self.connection.execute("SELECT value FROM meta WHERE name = ?", (name,)).fetchone()
        return row[0] if row else None

    def generation(self) -> int:
        """Returns how often it has been changed."""
        return int(self.meta("generation") or 0)

    def stamps(self) -> dict[str, tuple[int, int, int]]:
        """Returns size, time and inode of every file that is known, by path."""
        rows = self.connection.execute("SELECT path, size, changed, inode FROM files")
        return {os.fsdecode(path): (size, changed, inode) for path, size, changed, inode in rows}

    def owners(self) -> dict[str, int]:
        """Returns the session of every file that is known, by path."""
        rows = self.connection.execute("SELECT path, sid FROM files")
        return {os.fsdecode(path): sid for path, sid in rows}

    def straight(self) -> set[str]:
        """Returns the logs that can be read on from where they ended."""
        rows = self.connection.execute("SELECT path FROM files WHERE tail IS NOT NULL")
        return {os.fsdecode(path) for (path,) in rows}

    def mark(self, path: str) -> tuple[int, int, FileMark, bytes | None] | None:
        """Returns a file's number, its session, its marks and what is known of its end."""
        row = self.connection.execute(
            "SELECT file, sid, size, changed, inode, kind, offset, head, mark, tail "
            "FROM files WHERE path = ?",
            (os.fsencode(path),),
        ).fetchone()
        return (row[0], row[1], FileMark(path, *row[2:9]), row[9]) if row else None

    def sessions(self, sids: Iterable[int] | None = None) -> dict[int, SessionKnown]:
        """Returns sessions by number: some, or all."""
        query = "SELECT sid, key, id, project, title, started, ended FROM sessions"
        chosen = None if sids is None else list(sids)
        if chosen is not None:
            query += f" WHERE sid IN ({','.join('?' * len(chosen))})"
        found = {}
        for sid, key, *rest in self.connection.execute(query, chosen or ()):
            found[sid] = SessionKnown(sid, os.fsdecode(key), *rest)
        return found

    def keys(self) -> dict[str, int]:
        """Returns the numbers of all sessions by key."""
        rows = self.connection.execute("SELECT key, sid FROM sessions")
        return {os.fsdecode(key): sid for key, sid in rows}

    def facts_by_project(self) -> list[tuple[str, str, bytes]]:
        """Returns key, folder and what a list shows of each session, the newest last."""
        rows = self.connection.execute("SELECT key, project, facts FROM sessions ORDER BY ended")
        return [(os.fsdecode(key), project, facts) for key, project, facts in rows]

    def facts(self) -> dict[str, bytes]:
        """Returns what a list shows of each session, by key."""
        rows = self.connection.execute("SELECT key, facts FROM sessions")
        return {os.fsdecode(key): facts for key, facts in rows}

    def facts_of(self, sid: int) -> bytes:
        """Returns what a list shows of one session."""
        row = self.connection.execute("SELECT facts FROM sessions WHERE sid = ?", (sid,)).fetchone()
        return bytes(row[0]) if row else b""

    def paths(self, files: Iterable[int]) -> dict[int, str]:
        """Returns the paths of some files by number."""
        chosen = list(files)
        marks = ",".join("?" * len(chosen))
        query = f"SELECT file, path FROM files WHERE file IN ({marks})"  # noqa: S608  marks alone
        rows = self.connection.execute(query, chosen)
        return {file: os.fsdecode(path) for file, path in rows}

    def logs(self) -> dict[str, tuple[int, int]]:
        """Returns the numbers of all logs and of their sessions, by path."""
        rows = self.connection.execute("SELECT path, file, sid FROM files WHERE kind != 'side'")
        return {os.fsdecode(path): (file, sid) for path, file, sid in rows}

    def lines(self, sid: int) -> list[LineRow]:
        """Returns the DAG-lines of a session by number."""
        query = "SELECT id, kind, state, turns, parent, label FROM lines WHERE sid = ? ORDER BY dag"
        return [LineRow(*row) for row in self.connection.execute(query, (sid,))]

    def turns(self, sid: int) -> list[TurnRow]:
        """Returns the turns of a session."""
        query = "SELECT dag, number, kind, time, uuid FROM turns WHERE sid = ? ORDER BY dag, number"
        return [TurnRow(*row) for row in self.connection.execute(query, (sid,))]

    def names(self, sort: str) -> dict[int, str]:
        """Returns the names of a sort by number: tools, models, projects."""
        rows = self.connection.execute("SELECT code, name FROM names WHERE sort = ?", (sort,))
        return dict(rows.fetchall())

    def count(self, table: str) -> int:
        """Returns how many rows a table has."""
        query = f"SELECT count(*) FROM {table}"  # noqa: S608  a name of ours
        found: int = self.connection.execute(query).fetchone()[0]
        return found

    def bytes(self) -> int:
        """Returns how large the logs are that it covers."""
        row = self.connection.execute("SELECT sum(size) FROM files WHERE kind != 'side'")
        return int(row.fetchone()[0] or 0)

    def pending(self) -> list[int]:
        """Returns the sessions whose words may be there by half."""
        return [sid for (sid,) in self.connection.execute("SELECT sid FROM pending")]

    # what is written

    def code(self, sort: str, name: str | None) -> int:
        """Returns the number of a name, 0 for none; a new name gets one at once."""
        if not name:
            return 0
        known = self._codes.get((sort, name))
        if known is None:
            written = name.encode("utf-8", "replace").decode()
            self.connection.execute(
                "INSERT OR IGNORE INTO names (sort, name) VALUES (?, ?)", (sort, written)
            )
            row = self.connection.execute(
                "SELECT code FROM names WHERE sort = ? AND name = ?", (sort, written)
            )
            known = self._codes[sort, name] = int(row.fetchone()[0])
        return known

    def numbers(self, name: str, count: int) -> int:
        """Returns the first of some numbers that nobody has had before, and keeps them so."""
        first = int(self.meta(name) or 1)
        self.note({name: first + count})
        return first

    def note(self, values: Mapping[str, Any]) -> None:
        """Notes values under names."""
        self.connection.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", values.items())

    def announce(self, sids: Iterable[int]) -> None:
        """Says whose words are about to be written, before they are."""
        with Transaction(self.connection):
            self.connection.executemany(
                "INSERT OR IGNORE INTO pending VALUES (?)", [(sid,) for sid in sids]
            )

    def apply(self, changes: "Iterable[RowChange]", values: Mapping[str, Any]) -> None:
        """Makes changes whose words have been written; all of them or none."""
        with Transaction(self.connection):
            for change in changes:
                change(self.connection)
            self.note({**values, "generation": self.generation() + 1})
            self.connection.execute("DELETE FROM pending")


class Transaction:
    """All that is done within, or nothing."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.connection = connection

    def __enter__(self) -> None:
        self.connection.execute("BEGIN IMMEDIATE")

    def __exit__(self, kind: object, *_: object) -> None:
        self.connection.execute("ROLLBACK" if kind else "COMMIT")
