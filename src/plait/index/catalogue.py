"""The catalogue to what it knows: files, sessions, DAG-lines, turns, names."""

import os
import sqlite3
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from plait.index.model import FileMark, LineRow, SessionKnown, TurnRow
from plait.index.schema import VERSION, connect

if TYPE_CHECKING:  # whoever only looks whether anything has changed needs no more
    from plait.index.changes import Change


class Catalogue:
    """The tables of one index."""

    def __init__(self, folder: Path, *, is_reader: bool = True) -> None:
        self.connection = connect(folder, is_reader=is_reader)
        self._codes: dict[tuple[str, str], int] = {}

    def close(self) -> None:
        """Closes the connection."""
        self.connection.close()

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

    def apply(self, changes: "Iterable[Change]", values: Mapping[str, Any]) -> None:
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
