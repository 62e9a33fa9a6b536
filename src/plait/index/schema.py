"""The catalogue's tables, and a connection to them."""

import sqlite3
from pathlib import Path

from plait.errors import SourceError

VERSION = 1
"""Of everything that the index holds: another one is built anew."""
NAME = "catalogue.sqlite"
TABLES = """
CREATE TABLE IF NOT EXISTS meta (name TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS names (
    code INTEGER PRIMARY KEY, sort TEXT NOT NULL, name TEXT NOT NULL, UNIQUE (sort, name));
CREATE TABLE IF NOT EXISTS sessions (
    sid INTEGER PRIMARY KEY, key BLOB NOT NULL UNIQUE, id TEXT NOT NULL, project TEXT NOT NULL,
    title TEXT, started TEXT, ended TEXT, facts BLOB);
CREATE TABLE IF NOT EXISTS files (
    file INTEGER PRIMARY KEY, sid INTEGER NOT NULL, path BLOB NOT NULL UNIQUE,
    kind TEXT NOT NULL, size INTEGER NOT NULL, mtime INTEGER NOT NULL, inode INTEGER NOT NULL,
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
OWNED = ("lines", "turns", "files", "sessions")
"""Tables whose rows belong to one session."""


def connect(folder: Path, *, is_reader: bool) -> sqlite3.Connection:
    """Returns a connection to a folder's catalogue; a reader never waits and never writes."""
    path = folder / NAME
    try:
        if is_reader:
            connection = reading(path)
        else:
            connection = sqlite3.connect(path, isolation_level=None, timeout=30)
            connection.execute("PRAGMA journal_mode=WAL")
            connection.execute("PRAGMA synchronous=NORMAL")
            connection.executescript(TABLES)
        connection.execute("SELECT count(*) FROM meta").fetchone()
    except sqlite3.Error as error:
        raise broken(folder, error) from error
    return connection


def reading(path: Path) -> sqlite3.Connection:
    """Returns a connection that only reads, in a folder that may not be written."""
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


def broken(folder: Path, error: sqlite3.Error) -> SourceError:
    """Returns the error that says what is wrong with a catalogue."""
    return SourceError(
        f"cannot use the index in '{folder}': {error}", "`plait index --rebuild` makes it anew"
    )
