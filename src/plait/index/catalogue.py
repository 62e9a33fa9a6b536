"""The SQLite catalogue of the index: its tables, connections, queries and changes of rows."""

import json
import os
import sqlite3
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Literal, TypeAlias, TypeVar

import msgspec
from msgspec import Struct
from msgspec.structs import astuple

from plait.errors import SourceError
from plait.index.model import FileMark, LineRow, SessionKnown, SessionRows, TurnRow
from plait.line.output import lock_file

IN_USE = "LockBusy"
TEXT_INDEX_ERRORS = ("os error 28", "os error 27", "os error 122", "writer was killed", IN_USE)
"""Messages of the text index about full disks, size limits and quotas; its threads stopped."""
DISK_ERRORS = ("SQLITE_FULL", "SQLITE_IOERR")
LOCKED_ERRORS = (
    "SQLITE_BUSY",
    "SQLITE_LOCKED",
    "SQLITE_READONLY",
    "SQLITE_CANTOPEN",
    "SQLITE_PERM",
)
"""Messages of SQLite if the catalogue is locked or read-only."""


def is_write_error(error: BaseException | None) -> bool:
    """Return whether writing failed without damage; the index is unchanged."""
    if isinstance(error, sqlite3.Error):
        return getattr(error, "sqlite_errorname", "").startswith((*DISK_ERRORS, *LOCKED_ERRORS))
    return isinstance(error, ValueError | OSError) and any(
        sign in str(error) for sign in TEXT_INDEX_ERRORS
    )


def write_error(folder: Path, error: Exception) -> SourceError:
    """Return the error for that."""
    message = " ".join(str(error).split())[:200]
    is_held = getattr(error, "sqlite_errorname", "").startswith(LOCKED_ERRORS) or IN_USE in message
    hint = "stop the program that is using the index" if is_held else "free disk space"
    return SourceError(
        f"cannot write the index in '{folder}': {message}",
        f"{hint}, or set PLAIT_CACHE_DIR to another folder",
    )


LOCK_FILE = "lock"


@contextmanager
def lock_index(folder: Path, wait: float = 30.0) -> Iterator[None]:
    """Hold the lock of a folder; wait for another process that has it, up to a limit."""
    with ExitStack() as stack:
        try:
            is_ours = stack.enter_context(lock_file(folder / LOCK_FILE, wait))
        except OSError as error:
            raise unwritable_error(folder, error) from error
        if not is_ours:
            raise SourceError(
                f"another process is writing the index in '{folder}'",
                "wait until it is done, or stop a running `plait index --watch`",
            )
        yield


def unwritable_error(folder: Path, error: OSError) -> SourceError:
    """Return the error for an index that cannot be written."""
    reason = (error.strerror or str(error)).lower()
    return SourceError(
        f"cannot write the index in '{folder}': {reason}",
        "set PLAIT_CACHE_DIR to a folder that you can write to",
    )


T = TypeVar("T")
JSON = b"[{"
"""The beginning of values that were written as JSON."""


def to_bytes(value: Any) -> bytes:
    """Return a value as bytes; lone surrogates and huge numbers are preserved."""
    try:
        return msgspec.msgpack.encode(value)
    except (UnicodeEncodeError, OverflowError):
        return json.dumps(msgspec.to_builtins(value, str_keys=True)).encode()


def from_bytes(data: bytes, kind: type[T]) -> T:
    """Return the value of some bytes."""
    if data[:1] and data[:1] in JSON:
        return msgspec.convert(json.loads(data), kind, str_keys=True)
    return msgspec.msgpack.decode(data, type=kind)


VERSION = 13
"""Version of everything in the index: another one is rebuilt."""
CATALOGUE = "catalogue.sqlite"
WRITE_WAIT = 2.0
"""Seconds a writer waits for another program; Plait's own writers wait for a lock."""
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
DERIVED_TABLES = """
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
"""What is computed from the logs on demand, and deleted when they change."""
SESSION_TABLE_NAMES = ("lines", "turns", "files", "sessions")
"""Tables whose rows belong to one session."""
DERIVED_TABLE_NAMES = (
    *("abandoned", "losses", "wasted", "kin", "sharing", "detailed"),
    *("responses", "calls", "touches", "findings", "usage", "billed"),
)
"""Tables with rows computed from one session; they are computed again when it grows."""


def catalogue_error(folder: Path, error: Exception) -> SourceError:
    """Return the error for a broken catalogue."""
    if is_write_error(error):
        return write_error(folder, error)
    return SourceError(
        f"cannot use the index in '{folder}': {error}", "`plait index --rebuild` rebuilds it"
    )


class Catalogue:
    """The tables of one index."""

    def __init__(self, folder: Path, *, is_reader: bool = True) -> None:
        path = folder / CATALOGUE
        connection: sqlite3.Connection
        try:
            if is_reader:
                place = path.absolute().as_uri()
                options: Any = {"uri": True, "isolation_level": None, "timeout": 5}
                options["check_same_thread"] = False  # `SharedReader` takes care of threads
                connection = sqlite3.connect(f"{place}?mode=ro", **options)
                try:
                    connection.execute("SELECT count(*) FROM meta").fetchone()
                except sqlite3.OperationalError:
                    connection.close()
                    if path.with_name(f"{path.name}-wal").exists():
                        raise
                    place = f"{place}?mode=ro&immutable=1"
                    connection = sqlite3.connect(place, **options)
            else:
                connection = sqlite3.connect(path, isolation_level=None, timeout=WRITE_WAIT)
                connection.execute("PRAGMA journal_mode=WAL")
                connection.execute("PRAGMA synchronous=NORMAL")
                connection.execute("PRAGMA secure_delete=ON")  # deleted content is overwritten
                connection.executescript(f"BEGIN;{TABLES}{DERIVED_TABLES}COMMIT;")
            connection.execute("SELECT count(*) FROM meta").fetchone()
        except (sqlite3.Error, OSError) as error:
            raise catalogue_error(folder, error) from error
        self.connection = connection
        self._codes: dict[tuple[str, str], int] = {}
        self.project_of: Callable[[str], str] = str
        """Returns the project of a folder of sessions."""

    def close(self) -> None:
        """Close the connection."""
        self.connection.close()

    def truncate_journal(self) -> None:
        """Write the journal into the catalogue itself, so that it contains nothing old."""
        self.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    # reading

    def is_current(self) -> bool:
        """Return whether this version of the program wrote it."""
        return bool(self.meta("version") == VERSION)

    def meta(self, name: str) -> Any:
        """Return a value by name."""
        row = self.connection.execute("SELECT value FROM meta WHERE name = ?", (name,)).fetchone()
        return row[0] if row else None

    def generation(self) -> int:
        """Return how often it has been changed."""
        return int(self.meta("generation") or 0)

    def stamps(self) -> dict[str, tuple[int, int, int]]:
        """Return size, time and inode of every known file, by path."""
        rows = self.connection.execute("SELECT path, size, changed, inode FROM files")
        return {os.fsdecode(path): (size, changed, inode) for path, size, changed, inode in rows}

    def owners(self) -> dict[str, int]:
        """Return the session of every known file, by path."""
        rows = self.connection.execute("SELECT path, sid FROM files")
        return {os.fsdecode(path): sid for path, sid in rows}

    def appendable_logs(self) -> set[str]:
        """Return the logs that can be read on from where they ended."""
        rows = self.connection.execute("SELECT path FROM files WHERE tail IS NOT NULL")
        return {os.fsdecode(path) for (path,) in rows}

    def file_mark(self, path: str) -> tuple[int, int, FileMark, bytes | None] | None:
        """Return a file's number, session, marks and the state at its end."""
        row = self.connection.execute(
            "SELECT file, sid, size, changed, inode, kind, offset, head, mark, tail "
            "FROM files WHERE path = ?",
            (os.fsencode(path),),
        ).fetchone()
        return (row[0], row[1], FileMark(path, *row[2:9]), row[9]) if row else None

    def sessions(self, sids: Iterable[int] | None = None) -> dict[int, SessionKnown]:
        """Return sessions by number: some, or all."""
        query = "SELECT sid, key, id, project, title, started, ended FROM sessions"
        chosen = None if sids is None else list(sids)
        if chosen is not None:
            query += f" WHERE sid IN ({','.join('?' * len(chosen))})"
        found = {}
        for sid, key, *rest in self.connection.execute(query, chosen or ()):
            found[sid] = SessionKnown(sid, os.fsdecode(key), *rest)
        return found

    def keys(self) -> dict[str, int]:
        """Return the numbers of all sessions by key."""
        rows = self.connection.execute("SELECT key, sid FROM sessions")
        return {os.fsdecode(key): sid for key, sid in rows}

    def facts_by_project(self) -> list[tuple[str, str, bytes]]:
        """Return key, folder and facts of each session, newest last."""
        rows = self.connection.execute("SELECT key, project, facts FROM sessions ORDER BY ended")
        return [(os.fsdecode(key), project, facts) for key, project, facts in rows]

    def facts(self) -> dict[str, bytes]:
        """Return the facts of each session, by key."""
        rows = self.connection.execute("SELECT key, facts FROM sessions")
        return {os.fsdecode(key): facts for key, facts in rows}

    def facts_of(self, sid: int) -> bytes:
        """Return the facts of one session."""
        row = self.connection.execute("SELECT facts FROM sessions WHERE sid = ?", (sid,)).fetchone()
        return bytes(row[0]) if row else b""

    def paths(self, files: Iterable[int]) -> dict[int, str]:
        """Return the paths of some files by number."""
        chosen = list(files)
        marks = ",".join("?" * len(chosen))
        query = f"SELECT file, path FROM files WHERE file IN ({marks})"  # noqa: S608  marks alone
        rows = self.connection.execute(query, chosen)
        return {file: os.fsdecode(path) for file, path in rows}

    def logs(self) -> dict[str, tuple[int, int]]:
        """Return the numbers of all logs and of their sessions, by path."""
        rows = self.connection.execute("SELECT path, file, sid FROM files WHERE kind != 'side'")
        return {os.fsdecode(path): (file, sid) for path, file, sid in rows}

    def lines(self, sid: int) -> list[LineRow]:
        """Return the DAG-lines of a session by number."""
        query = "SELECT id, kind, state, turns, parent, label FROM lines WHERE sid = ? ORDER BY dag"
        return [LineRow(*row) for row in self.connection.execute(query, (sid,))]

    def turns(self, sid: int) -> list[TurnRow]:
        """Return the turns of a session."""
        query = "SELECT dag, number, kind, time, uuid FROM turns WHERE sid = ? ORDER BY dag, number"
        return [TurnRow(*row) for row in self.connection.execute(query, (sid,))]

    def names(self, sort: str) -> dict[int, str]:
        """Return the names of a kind by number: tools, models, projects."""
        rows = self.connection.execute("SELECT code, name FROM names WHERE sort = ?", (sort,))
        return dict(rows.fetchall())

    def count(self, table: str) -> int:
        """Return how many rows a table has."""
        query = f"SELECT count(*) FROM {table}"  # noqa: S608  a name of ours
        found: int = self.connection.execute(query).fetchone()[0]
        return found

    def bytes(self) -> int:
        """Return the size of the logs that it covers."""
        row = self.connection.execute("SELECT sum(size) FROM files WHERE kind != 'side'")
        return int(row.fetchone()[0] or 0)

    def pending(self) -> list[int]:
        """Return the sessions whose documents may be incomplete."""
        return [sid for (sid,) in self.connection.execute("SELECT sid FROM pending")]

    # writing

    def code(self, sort: str, name: str | None) -> int:
        """Return the number of a name, 0 for none; a new name gets one at once."""
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

    def reserve_numbers(self, name: str, count: int) -> int:
        """Reserve unused numbers and return the first."""
        first = int(self.meta(name) or 1)
        self.set_meta({name: first + count})
        return first

    def set_meta(self, values: Mapping[str, Any]) -> None:
        """Set values by name."""
        self.connection.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", values.items())

    def mark_pending(self, sids: Iterable[int]) -> None:
        """Note the sessions whose documents are about to be written."""
        with Transaction(self.connection):
            self.connection.executemany(
                "INSERT OR IGNORE INTO pending VALUES (?)", [(sid,) for sid in sids]
            )

    def apply(self, changes: "Iterable[RowChange]", values: Mapping[str, Any]) -> None:
        """Apply changes whose documents have been written, all or none."""
        with Transaction(self.connection):
            for change in changes:
                change(self.connection)
            self.set_meta({**values, "generation": self.generation() + 1})
            self.connection.execute("DELETE FROM pending")


class Transaction:
    """A block that is applied completely or not at all."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.connection = connection

    def __enter__(self) -> None:
        self.connection.execute("BEGIN IMMEDIATE")

    def __exit__(self, kind: object, *_: object) -> None:
        self.connection.execute("ROLLBACK" if kind else "COMMIT")


# ---------------------------------------------------------------------- changes of rows
#
# Derived rows can be computed again, so saving them never waits for the lock: if it is taken, or if
# the catalogue has changed since, nothing is saved.


RowChange: TypeAlias = Callable[[sqlite3.Connection], None]
DELETE_BILL = "DELETE FROM bills WHERE file = (SELECT file FROM files WHERE path = ?)"
SELECT_BILL = "SELECT data FROM bills JOIN files USING (file) WHERE path = ?"
INSERT_BILL = "INSERT OR REPLACE INTO bills SELECT file, sid, ? FROM files WHERE path = ?"
UPDATE_FILE = "size = ?, changed = ?, inode = ?, offset = ?, head = ?, mark = ?, tail = ?"
Rows: TypeAlias = Iterable[tuple[Any, ...]]
Tables: TypeAlias = dict[str, list[tuple[Any, ...]]]
"""Rows by table."""


def delete_session(sid: int) -> RowChange:
    """Return the change that removes a session."""

    def change(connection: sqlite3.Connection) -> None:
        for table in (*SESSION_TABLE_NAMES, "bills"):
            connection.execute(f"DELETE FROM {table} WHERE sid = ?", (sid,))  # noqa: S608  ours
        _delete_derived(connection, sid)

    return change


def _delete_derived(connection: sqlite3.Connection, sid: int) -> None:
    for table in DERIVED_TABLE_NAMES:
        connection.execute(f"DELETE FROM {table} WHERE sid = ?", (sid,))  # noqa: S608  ours
    connection.execute("DELETE FROM sharing WHERE other = ?", (sid,))
    own = connection.execute("SELECT family FROM members WHERE sid = ?", (sid,)).fetchall()
    connection.executemany("DELETE FROM families WHERE family = ?", own)
    connection.executemany("DELETE FROM members WHERE family = ?", own)


def build_session_tables(
    sid: int, first_file: int, rows: SessionRows, bills: Mapping[str, bytes]
) -> Tables:
    """Return the rows of a new session; what logs say about usage is given by path."""
    facts = (rows.id, rows.project, rows.title, rows.started, rows.ended, rows.facts)
    tables: dict[str, Rows] = {
        "sessions": [(os.fsencode(rows.key), *facts)],
        "lines": [(dag, *astuple(line_row)) for dag, line_row in enumerate(rows.lines)],
        "turns": map(astuple, rows.turns),
    }
    found = {table: _select_by_prefix(sid, several) for table, several in tables.items()}
    found["files"] = [
        (first_file + place, sid, os.fsencode(mark.path), mark.kind, *_make_file_state(mark, rows))
        for place, mark in enumerate(rows.files)
    ]
    found["bills"] = [
        (first_file + place, sid, bills[mark.path])
        for place, mark in enumerate(rows.files)
        if mark.path in bills
    ]
    return found


def extend_session(sid: int, grown: SessionRows, dag: int) -> RowChange:
    """Return the change that adds what was appended to one file of a session."""

    def change(connection: sqlite3.Connection) -> None:
        connection.execute(
            "UPDATE sessions SET title = ?, started = ?, ended = ?, facts = ? WHERE sid = ?",
            (*map(_fit_value, (grown.title, grown.started, grown.ended)), grown.facts, sid),
        )
        for mark in grown.files:
            path = os.fsencode(mark.path)
            state = (*_make_file_state(mark, grown), path)
            connection.execute(f"UPDATE files SET {UPDATE_FILE} WHERE path = ?", state)  # noqa: S608  ours
            connection.execute(DELETE_BILL, (path,))
        _delete_derived(connection, sid)
        _insert(connection, "turns", _select_by_prefix(sid, map(astuple, grown.turns)))
        connection.execute(
            "UPDATE lines SET turns = turns + ? WHERE sid = ? AND dag = ?",
            (len(grown.turns), sid, dag),
        )

    return change


def ignore_files(marks: Iterable[FileMark]) -> RowChange:
    """Return the change that notes files that belong to no session."""

    def change(connection: sqlite3.Connection) -> None:
        connection.execute("DELETE FROM files WHERE sid = 0")
        connection.executemany(
            "INSERT OR IGNORE INTO files "
            "(sid, path, kind, size, changed, inode, offset, head, mark) "
            "VALUES (0, ?, 'side', ?, ?, ?, 0, x'', x'')",
            [
                (os.fsencode(file_mark.path), file_mark.size, file_mark.changed, file_mark.inode)
                for file_mark in marks
            ],
        )

    return change


def _make_file_state(mark: FileMark, rows: SessionRows) -> tuple[Any, ...]:
    tail = rows.tails.get(mark.path)
    return mark.size, mark.changed, mark.inode, mark.offset, mark.head, mark.mark, tail


def _select_by_prefix(sid: int, rows: Rows) -> list[tuple[Any, ...]]:
    return [(sid, *map(_fit_value, row)) for row in rows]


def _fit_value(value: Any) -> Any:
    """Return a value of the log in a form that a table can hold."""
    if isinstance(value, str):
        return value if value.isascii() else value.encode("utf-8", "replace").decode()
    return value if not isinstance(value, int) or abs(value) < 1 << 63 else None


def insert_tables(tables: Mapping[str, Rows]) -> RowChange:
    """Return the change that inserts rows, replacing those with the same keys."""
    chosen = {table: list(rows) for table, rows in tables.items()}

    def change(connection: sqlite3.Connection) -> None:
        for table, rows in chosen.items():
            _insert(connection, table, rows)

    return change


def _insert(connection: sqlite3.Connection, table: str, rows: Sequence[tuple[Any, ...]]) -> None:
    """Insert rows, replacing those with the same keys."""
    if not rows:
        return
    marks = ", ".join("?" * len(rows[0]))
    query = f"INSERT OR REPLACE INTO {table} VALUES ({marks})"  # noqa: S608  ours
    connection.executemany(query, rows)


def write_if_unchanged(folder: Path, generation: int, changes: Iterable[RowChange]) -> bool:
    """Save computed rows; return False if others are writing or have written since."""
    if not (folder / CATALOGUE).exists():
        return False
    try:
        with lock_index(folder, wait=0):
            catalogue = Catalogue(folder, is_reader=False)
            try:
                with Transaction(catalogue.connection):
                    is_complete = catalogue.is_current() and not catalogue.pending()
                    is_same = is_complete and catalogue.generation() == generation
                    if is_same:
                        for change in changes:
                            change(catalogue.connection)
                return is_same
            finally:
                catalogue.close()
    except (SourceError, sqlite3.Error):
        return False


def load_bill(catalogue: Catalogue, path: str) -> bytes | None:
    """Return the saved usage of a file, if any."""
    row = catalogue.connection.execute(SELECT_BILL, (os.fsencode(path),)).fetchone()
    return row[0] if row else None


def save_bills(found: Mapping[str, bytes]) -> RowChange:
    """Return the change that saves the usage of some files."""
    rows = [(data, os.fsencode(path)) for path, data in found.items()]

    def change(connection: sqlite3.Connection) -> None:
        connection.executemany(INSERT_BILL, rows)

    return change


def load_by_session(
    catalogue: Catalogue, table: Literal["abandoned", "losses", "wasted", "billed"]
) -> dict[int, bytes]:
    """Return the rows of a table of derived values, by session."""
    return dict(catalogue.connection.execute(f"SELECT * FROM {table}").fetchall())  # noqa: S608


def load_detailed_sessions(catalogue: Catalogue) -> set[int]:
    """Return the sessions whose responses, calls, files and findings are saved as rows."""
    return {sid for (sid,) in catalogue.connection.execute("SELECT sid FROM detailed")}


def save_meta(name: str, value: object) -> RowChange:
    """Return the change that saves a value about the catalogue."""
    return insert_tables({"meta": [(name, value)]})


def load_session_starts(catalogue: Catalogue) -> dict[int, str]:
    """Return the start of each session whose references are known."""
    return dict(catalogue.connection.execute("SELECT sid, began FROM kin").fetchall())


def load_references(catalogue: Catalogue) -> dict[int, "array[int]"]:
    """Return what each session contains or refers to, as digests."""
    rows = catalogue.connection.execute("SELECT sid, ties FROM kin")
    return {sid: array("q", data) for sid, data in rows}


def load_sharing_pairs(catalogue: Catalogue) -> list[tuple[int, int]]:
    """Return the pairs of sessions that share something."""
    return catalogue.connection.execute("SELECT sid, other FROM sharing").fetchall()


def save_references(began: Mapping[int, str], found: Mapping[int, "array[int]"]) -> RowChange:
    """Return the change that saves the references of sessions."""
    return insert_tables({"kin": [(sid, began[sid], found[sid].tobytes()) for sid in found]})


def save_sharing_pairs(pairs: Iterable[tuple[int, int]]) -> RowChange:
    """Return the change that saves which sessions share something."""
    return insert_tables({"sharing": pairs})


def load_family_results(catalogue: Catalogue, sort: str) -> dict[tuple[int, ...], bytes]:
    """Return the results computed for families of sessions, by their members."""
    query = "SELECT members, data FROM families WHERE sort = ?"
    rows = catalogue.connection.execute(query, (sort,))
    return {tuple(array("q", members)): data for members, data in rows}


def save_family_result(sort: str, members: tuple[int, ...], data: bytes) -> RowChange:
    """Return the change that saves a result for a family."""

    def change(connection: sqlite3.Connection) -> None:
        row = connection.execute(
            "INSERT OR REPLACE INTO families (sort, members, data) VALUES (?, ?, ?)",
            (sort, array("q", members).tobytes(), data),
        )
        _insert(connection, "members", [(sid, row.lastrowid) for sid in members])

    return change


def save_session_rows(sid: int, tables: Mapping[str, Rows]) -> RowChange:
    """Return the change that writes the rows of a session, by table."""
    rows = {table: _select_by_prefix(sid, several) for table, several in tables.items()}
    return insert_tables({**rows, "detailed": [(sid,)]})


def save_usage_rows(sid: int, rows: Rows, digest: bytes) -> RowChange:
    """Return the change that writes the responses counted for a session."""
    written = insert_tables({"usage": _select_by_prefix(sid, rows), "billed": [(sid, digest)]})

    def change(connection: sqlite3.Connection) -> None:
        connection.execute("DELETE FROM usage WHERE sid = ?", (sid,))
        written(connection)

    return change


SELECT_SIZES = """
SELECT key,
    sum(CASE WHEN lines.kind IN ('trunk', 'branch', 'foreign') THEN turns ELSE 0 END),
    sum(lines.kind = 'branch'), sum(lines.kind = 'agent')
FROM lines JOIN sessions USING (sid) GROUP BY sid
"""
SELECT_PROMPTED_TURNS = """
SELECT sessions.key, max(turns.time), number, uuid FROM turns JOIN lines USING (sid, dag)
JOIN sessions USING (sid)
WHERE turns.kind = 'prompt' AND lines.kind IN ('trunk', 'branch', 'foreign')
    AND uuid IS NOT NULL AND turns.time IS NOT NULL GROUP BY uuid
"""
SELECT_TURNS = """
SELECT turns.dag, lines.kind, lines.state, turns.time FROM sessions JOIN turns USING (sid)
JOIN lines USING (sid, dag) WHERE key = ? ORDER BY turns.time, turns.dag, number
"""


class SessionSize(Struct, frozen=True, gc=False):
    """The size of a session for lists."""

    turns: int
    branches: int
    agents: int


class ListedTurn(Struct, frozen=True, gc=False):
    """A turn, by the line that it is on."""

    dag: int
    kind: str
    state: str
    time: str | None


def load_session_sizes(catalogue: Catalogue) -> dict[str, SessionSize]:
    """Return the size of every session, by key."""
    rows = catalogue.connection.execute(SELECT_SIZES)
    return {os.fsdecode(key): SessionSize(*counts) for key, *counts in rows}


def load_prompted_turns(catalogue: Catalogue) -> Iterator[tuple[str, str, int, str]]:
    """Yield the turns with prompts: session, time, number, uuid; copies of one count once."""
    for key, time, number, uuid in catalogue.connection.execute(SELECT_PROMPTED_TURNS):
        yield os.fsdecode(key), time, number, uuid


def load_turns_by_time(catalogue: Catalogue, keys: Iterable[str]) -> dict[str, list[ListedTurn]]:
    """Return the turns of some sessions by time, by key."""
    return {
        key: [
            ListedTurn(*row)
            for row in catalogue.connection.execute(SELECT_TURNS, (os.fsencode(key),))
        ]
        for key in keys
    }


def load_session_lines(catalogue: Catalogue, key: str) -> list[tuple[LineRow, str | None]]:
    """Return the lines of one session, each with its first record."""
    sid = catalogue.keys().get(key)
    if sid is None:
        return []
    first = {turn.dag: turn.uuid for turn in reversed(catalogue.turns(sid))}
    return [(line, first.get(dag)) for dag, line in enumerate(catalogue.lines(sid))]


SELECT_TOUCHES = """
SELECT sessions.key, touches.path, touches.action, touches.outcome, touches.turn, touches.time,
    touches.uuid, touches.added, touches.removed,
    coalesce(lines.kind, 'trunk'), coalesce(lines.state, 'active')
FROM touches JOIN sessions USING (sid) LEFT JOIN lines USING (sid, dag)
WHERE touches.action != 'backed up'
"""
TOUCH_ORDER = " ORDER BY touches.time, sid, dag, touches.number"


class TouchRow(Struct, frozen=True, gc=False):
    """Something that happened to a file, and in which session."""

    session: str
    """The path of its log."""
    path: str
    action: str
    outcome: str
    turn: int
    """In its conversation, which may be an agent's."""
    time: str | None
    uuid: str | None
    added: int | None
    removed: int | None
    kind: str
    """Of its conversation: main line, branch or agent."""
    state: str


def load_touches(catalogue: Catalogue, path: str | None = None) -> list[TouchRow]:
    """Return what happened to files, or to one, by time."""
    only = "" if path is None else " AND touches.path = ?"
    given = () if path is None else (path,)
    rows = catalogue.connection.execute(f"{SELECT_TOUCHES}{only}{TOUCH_ORDER}", given)
    return [TouchRow(os.fsdecode(key), *rest) for key, *rest in rows]
