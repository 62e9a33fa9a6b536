"""The catalogue's tables, and a connection to them."""

import sqlite3
from pathlib import Path

from plait.errors import SourceError
from plait.index.room import is_refused, refused

VERSION = 4
"""Of everything that the index holds: another one is built anew."""
NAME = "catalogue.sqlite"
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


def connect(folder: Path, *, is_reader: bool) -> sqlite3.Connection:
    """Returns a connection to a folder's catalogue; a reader never waits and never writes."""
    path = folder / NAME
    try:
        if is_reader:
            connection = reading(path)
        else:
            connection = sqlite3.connect(path, isolation_level=None, timeout=WAIT)
            connection.execute("PRAGMA journal_mode=WAL")
            connection.execute("PRAGMA synchronous=NORMAL")
            connection.executescript(f"BEGIN;{TABLES}{WORKED_OUT}COMMIT;")
        connection.execute("SELECT count(*) FROM meta").fetchone()
    except (sqlite3.Error, OSError) as error:
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


def broken(folder: Path, error: Exception) -> SourceError:
    """Returns the error that says what is wrong with a catalogue."""
    if is_refused(error):
        return refused(folder, error)
    return SourceError(
        f"cannot use the index in '{folder}': {error}", "`plait index --rebuild` makes it anew"
    )
