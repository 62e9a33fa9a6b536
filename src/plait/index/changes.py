"""Sessions that are taken in, grow or go, to changes of the catalogue's rows."""

import os
import sqlite3
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypeAlias

from plait.index.charges import charges_in
from plait.index.model import FileMark, LineRow, SessionRows, TurnRow
from plait.index.schema import DERIVED, OWNED

Change: TypeAlias = Callable[[sqlite3.Connection], None]
BILLED = frozenset({"session", "agent"})
UNBILLED = "DELETE FROM bills WHERE file = (SELECT file FROM files WHERE path = ?)"
TURN = "INSERT OR REPLACE INTO turns VALUES (?, ?, ?, ?, ?, ?)"


def forgetting(sid: int) -> Change:
    """Returns the change that forgets a session."""

    def change(connection: sqlite3.Connection) -> None:
        for table in (*OWNED, "bills"):
            connection.execute(f"DELETE FROM {table} WHERE sid = ?", (sid,))  # noqa: S608  ours
        forget_derived(connection, sid)

    return change


def forget_derived(connection: sqlite3.Connection, sid: int) -> None:
    """Forgets what was worked out from a session, alone or together with others."""
    for table in DERIVED:
        connection.execute(f"DELETE FROM {table} WHERE sid = ?", (sid,))  # noqa: S608  ours
    connection.execute("DELETE FROM sharing WHERE other = ?", (sid,))
    own = connection.execute("SELECT family FROM members WHERE sid = ?", (sid,)).fetchall()
    connection.executemany("DELETE FROM families WHERE family = ?", own)
    connection.executemany("DELETE FROM members WHERE family = ?", own)


def keeping(sid: int, first_file: int, rows: SessionRows) -> Change:
    """Returns the change that takes a session in; what its logs say of money is read for it."""
    bills = [
        (first_file + place, sid, charges_in(Path(mark.path), mark.kind))
        for place, mark in enumerate(rows.files)
        if mark.kind in BILLED
    ]

    def change(connection: sqlite3.Connection) -> None:
        connection.execute(
            "INSERT INTO sessions VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (sid, os.fsencode(rows.key), *map(written, session_fields(rows)), rows.facts),
        )
        connection.executemany(
            "INSERT OR REPLACE INTO files VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            [
                file_fields(first_file + place, sid, mark, rows)
                for place, mark in enumerate(rows.files)
            ],
        )
        connection.executemany(
            "INSERT INTO lines VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            [
                (sid, dag, written(one.id), one.kind, one.state, one.turns, *names_of(one))
                for dag, one in enumerate(rows.lines)
            ],
        )
        connection.executemany(TURN, turn_fields(sid, rows.turns))
        connection.executemany("INSERT OR REPLACE INTO bills VALUES (?, ?, ?)", bills)

    return change


def growing(sid: int, grown: SessionRows, dag: int) -> Change:
    """Returns the change that takes in what was added to one file of a session."""

    def change(connection: sqlite3.Connection) -> None:
        connection.execute(
            "UPDATE sessions SET title = ?, started = ?, ended = ?, facts = ? WHERE sid = ?",
            (*map(written, (grown.title, grown.started, grown.ended)), grown.facts, sid),
        )
        for mark in grown.files:
            connection.execute(
                "UPDATE files SET size = ?, changed = ?, inode = ?, offset = ?, head = ?, "
                "mark = ?, tail = ? WHERE path = ?",
                (*file_fields(0, sid, mark, grown)[4:], os.fsencode(mark.path)),
            )
            connection.execute(UNBILLED, (os.fsencode(mark.path),))
        forget_derived(connection, sid)
        connection.executemany(TURN, turn_fields(sid, grown.turns))
        connection.execute(
            "UPDATE lines SET turns = turns + ? WHERE sid = ? AND dag = ?",
            (len(grown.turns), sid, dag),
        )

    return change


def ignoring(marks: Iterable[FileMark]) -> Change:
    """Returns the change that remembers files which belong to no session."""

    def change(connection: sqlite3.Connection) -> None:
        connection.execute("DELETE FROM files WHERE sid = 0")
        connection.executemany(
            "INSERT OR IGNORE INTO files "
            "(sid, path, kind, size, changed, inode, offset, head, mark) "
            "VALUES (0, ?, 'side', ?, ?, ?, 0, x'', x'')",
            [(os.fsencode(one.path), one.size, one.changed, one.inode) for one in marks],
        )

    return change


def session_fields(rows: SessionRows) -> tuple[str | None, ...]:
    """Returns the fields of a session that are texts."""
    return rows.id, rows.project, rows.title, rows.started, rows.ended


def file_fields(file: int, sid: int, mark: FileMark, rows: SessionRows) -> tuple[Any, ...]:
    """Returns the row of a file."""
    return (
        file,
        sid,
        os.fsencode(mark.path),
        mark.kind,
        mark.size,
        mark.changed,
        mark.inode,
        mark.offset,
        mark.head,
        mark.mark,
        rows.tails.get(mark.path),
    )


def names_of(line: LineRow) -> tuple[str | None, str | None]:
    """Returns what a DAG-line leaves, and what it is called."""
    return written(line.parent), written(line.label)


def turn_fields(sid: int, turns: Iterable[TurnRow]) -> list[tuple[Any, ...]]:
    """Returns the rows of turns."""
    return [
        (sid, one.dag, one.number, one.kind, written(one.time), written(one.uuid)) for one in turns
    ]


def written(text: str | None) -> str | None:
    """Returns a text of the log as a table can hold it."""
    if text is None or text.isascii():
        return text
    return text.encode("utf-8", "replace").decode()
