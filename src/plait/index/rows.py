"""Sessions that are taken in, grow or go, and what is worked out from them, to rows.

What is worked out can be worked out again, so nobody waits for the right to write: who does
not get it, or finds that the catalogue has changed meanwhile, keeps nothing.
"""

import os
import sqlite3
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from msgspec import Struct
from msgspec.structs import astuple

from plait.errors import SourceError
from plait.index.access import locked
from plait.index.catalogue import CATALOGUE, DERIVED, OWNED, Catalogue, Transaction
from plait.index.model import FileMark, LineRow, SessionRows

RowChange: TypeAlias = Callable[[sqlite3.Connection], None]
UNBILLED = "DELETE FROM bills WHERE file = (SELECT file FROM files WHERE path = ?)"
BILLS = "INSERT OR REPLACE INTO bills SELECT file, sid, ? FROM files WHERE path = ?"
FILE = "size = ?, changed = ?, inode = ?, offset = ?, head = ?, mark = ?, tail = ?"
Rows: TypeAlias = Iterable[tuple[Any, ...]]
Tables: TypeAlias = dict[str, list[tuple[Any, ...]]]
"""Rows by the name of their table."""


def forgetting(sid: int) -> RowChange:
    """Returns the change that forgets a session."""

    def change(connection: sqlite3.Connection) -> None:
        for table in (*OWNED, "bills"):
            connection.execute(f"DELETE FROM {table} WHERE sid = ?", (sid,))  # noqa: S608  ours
        _forget_derived(connection, sid)

    return change


def _forget_derived(connection: sqlite3.Connection, sid: int) -> None:
    for table in DERIVED:
        connection.execute(f"DELETE FROM {table} WHERE sid = ?", (sid,))  # noqa: S608  ours
    connection.execute("DELETE FROM sharing WHERE other = ?", (sid,))
    own = connection.execute("SELECT family FROM members WHERE sid = ?", (sid,)).fetchall()
    connection.executemany("DELETE FROM families WHERE family = ?", own)
    connection.executemany("DELETE FROM members WHERE family = ?", own)


def rows_to_keep(
    sid: int, first_file: int, rows: SessionRows, bills: Mapping[str, bytes]
) -> Tables:
    """Returns the rows of a session that is taken in; what logs say of money is given by path."""
    facts = (rows.id, rows.project, rows.title, rows.started, rows.ended, rows.facts)
    tables: dict[str, Rows] = {
        "sessions": [(os.fsencode(rows.key), *facts)],
        "lines": [(dag, *astuple(one)) for dag, one in enumerate(rows.lines)],
        "turns": map(astuple, rows.turns),
    }
    found = {table: _rows_of(sid, several) for table, several in tables.items()}
    found["files"] = [
        (first_file + place, sid, os.fsencode(mark.path), mark.kind, *_file_state(mark, rows))
        for place, mark in enumerate(rows.files)
    ]
    found["bills"] = [
        (first_file + place, sid, bills[mark.path])
        for place, mark in enumerate(rows.files)
        if mark.path in bills
    ]
    return found


def keeping(tables: Mapping[str, Rows]) -> RowChange:
    """Returns the change that writes whole rows, in the place of those with the same keys."""
    return _inserting(tables)


def growing(sid: int, grown: SessionRows, dag: int) -> RowChange:
    """Returns the change that takes in what was added to one file of a session."""

    def change(connection: sqlite3.Connection) -> None:
        connection.execute(
            "UPDATE sessions SET title = ?, started = ?, ended = ?, facts = ? WHERE sid = ?",
            (*map(_fitting, (grown.title, grown.started, grown.ended)), grown.facts, sid),
        )
        for mark in grown.files:
            path = os.fsencode(mark.path)
            state = (*_file_state(mark, grown), path)
            connection.execute(f"UPDATE files SET {FILE} WHERE path = ?", state)  # noqa: S608  ours
            connection.execute(UNBILLED, (path,))
        _forget_derived(connection, sid)
        _insert(connection, "turns", _rows_of(sid, map(astuple, grown.turns)))
        connection.execute(
            "UPDATE lines SET turns = turns + ? WHERE sid = ? AND dag = ?",
            (len(grown.turns), sid, dag),
        )

    return change


def ignoring(marks: Iterable[FileMark]) -> RowChange:
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


def _file_state(mark: FileMark, rows: SessionRows) -> tuple[Any, ...]:
    tail = rows.tails.get(mark.path)
    return mark.size, mark.changed, mark.inode, mark.offset, mark.head, mark.mark, tail


def _rows_of(sid: int, rows: Rows) -> list[tuple[Any, ...]]:
    return [(sid, *map(_fitting, row)) for row in rows]


def _fitting(value: Any) -> Any:
    """Returns a value of the log as a table can hold it."""
    if isinstance(value, str):
        return value if value.isascii() else value.encode("utf-8", "replace").decode()
    return value if not isinstance(value, int) or abs(value) < 1 << 63 else None


def _inserting(tables: Mapping[str, Rows]) -> RowChange:
    chosen = {table: list(rows) for table, rows in tables.items()}

    def change(connection: sqlite3.Connection) -> None:
        for table, rows in chosen.items():
            _insert(connection, table, rows)

    return change


def _insert(connection: sqlite3.Connection, table: str, rows: Sequence[tuple[Any, ...]]) -> None:
    """Writes whole rows in the place of those with the same keys."""
    if not rows:
        return
    marks = ", ".join("?" * len(rows[0]))
    query = f"INSERT OR REPLACE INTO {table} VALUES ({marks})"  # noqa: S608  ours
    connection.executemany(query, rows)


def keep_rows(folder: Path, generation: int, changes: Iterable[RowChange]) -> bool:
    """Keeps what was worked out; False where others write, have written since, or all has gone."""
    if not (folder / CATALOGUE).exists():
        return False
    try:
        with locked(folder, wait=0):
            catalogue = Catalogue(folder, is_reader=False)
            try:
                return _done_if_same(catalogue, generation, changes)
            finally:
                catalogue.close()
    except (SourceError, sqlite3.Error):
        return False


def _done_if_same(catalogue: Catalogue, generation: int, changes: Iterable[RowChange]) -> bool:
    with Transaction(catalogue.connection):
        is_whole = catalogue.is_current() and not catalogue.pending()
        is_same = is_whole and catalogue.generation() == generation
        if is_same:
            for change in changes:
                change(catalogue.connection)
    return is_same


def kept_bills(catalogue: Catalogue) -> dict[str, bytes]:
    """Returns what is kept of the bills of each file, by path."""
    rows = catalogue.connection.execute("SELECT path, data FROM bills JOIN files USING (file)")
    return {os.fsdecode(path): data for path, data in rows}


def keeping_bills(found: Mapping[str, bytes]) -> RowChange:
    """Returns the change that keeps the bills of some files."""
    rows = [(data, os.fsencode(path)) for path, data in found.items()]

    def change(connection: sqlite3.Connection) -> None:
        connection.executemany(BILLS, rows)

    return change


def abandoned_records(catalogue: Catalogue) -> dict[int, bytes]:
    """Returns what is kept of abandoned branches, by session."""
    return dict(catalogue.connection.execute("SELECT sid, data FROM abandoned").fetchall())


def keeping_abandoned(found: Mapping[int, bytes]) -> RowChange:
    """Returns the change that keeps which records of sessions were left behind."""
    return _inserting({"abandoned": found.items()})


def kept_losses(catalogue: Catalogue) -> dict[int, bytes]:
    """Returns what is kept of what was paid for in vain, by session."""
    return dict(catalogue.connection.execute("SELECT sid, data FROM losses").fetchall())


def keeping_losses(found: Mapping[int, bytes]) -> RowChange:
    """Returns the change that keeps what was paid for in vain in sessions."""
    return _inserting({"losses": found.items()})


def kept_waste(catalogue: Catalogue) -> dict[int, bytes]:
    """Returns what is kept of the same with its prices, by session."""
    return dict(catalogue.connection.execute("SELECT sid, data FROM wasted").fetchall())


def keeping_waste(found: Mapping[int, bytes]) -> RowChange:
    """Returns the change that keeps what sessions could have cost less."""
    return _inserting({"wasted": found.items()})


def detailed_sessions(catalogue: Catalogue) -> set[int]:
    """Returns the sessions whose responses, calls, files and findings are there as rows."""
    return {sid for (sid,) in catalogue.connection.execute("SELECT sid FROM detailed")}


def usage_digests(catalogue: Catalogue) -> dict[int, bytes]:
    """Returns what stands for the rows of usage, by session."""
    return dict(catalogue.connection.execute("SELECT sid, digest FROM billed").fetchall())


def noting(name: str, value: object) -> RowChange:
    """Returns the change that notes something about the whole catalogue."""
    return _inserting({"meta": [(name, value)]})


def related_starts(catalogue: Catalogue) -> dict[int, str]:
    """Returns when each session began of which is known with whom it shares anything."""
    return dict(catalogue.connection.execute("SELECT sid, began FROM kin").fetchall())


def related_digests(catalogue: Catalogue) -> dict[int, "array[int]"]:
    """Returns what each session holds or names, by digests."""
    rows = catalogue.connection.execute("SELECT sid, ties FROM kin")
    return {sid: array("q", data) for sid, data in rows}


def related_pairs(catalogue: Catalogue) -> list[tuple[int, int]]:
    """Returns the sessions that share something, two by two."""
    return catalogue.connection.execute("SELECT sid, other FROM sharing").fetchall()


def keeping_related(began: Mapping[int, str], found: Mapping[int, "array[int]"]) -> RowChange:
    """Returns the change that keeps what sessions hold or name."""
    return _inserting({"kin": [(sid, began[sid], found[sid].tobytes()) for sid in found]})


def keeping_related_pairs(pairs: Iterable[tuple[int, int]]) -> RowChange:
    """Returns the change that keeps who shares something with whom."""
    return _inserting({"sharing": pairs})


def group_results(catalogue: Catalogue, sort: str) -> dict[tuple[int, ...], bytes]:
    """Returns what was worked out of families of sessions, by their members."""
    query = "SELECT members, data FROM families WHERE sort = ?"
    rows = catalogue.connection.execute(query, (sort,))
    return {tuple(array("q", members)): data for members, data in rows}


def keeping_group_result(sort: str, members: tuple[int, ...], data: bytes) -> RowChange:
    """Returns the change that keeps what was worked out of a family."""

    def change(connection: sqlite3.Connection) -> None:
        row = connection.execute(
            "INSERT OR REPLACE INTO families (sort, members, data) VALUES (?, ?, ?)",
            (sort, array("q", members).tobytes(), data),
        )
        _insert(connection, "members", [(sid, row.lastrowid) for sid in members])

    return change


def keeping_rows(sid: int, tables: Mapping[str, Rows]) -> RowChange:
    """Returns the change that writes the rows of a session, by table."""
    rows = {table: _rows_of(sid, several) for table, several in tables.items()}
    return _inserting({**rows, "detailed": [(sid,)]})


def keeping_usage(sid: int, rows: Rows, digest: bytes) -> RowChange:
    """Returns the change that writes the responses that are counted for a session."""
    written = _inserting({"usage": _rows_of(sid, rows), "billed": [(sid, digest)]})

    def change(connection: sqlite3.Connection) -> None:
        connection.execute("DELETE FROM usage WHERE sid = ?", (sid,))
        written(connection)

    return change


SHAPES = """
SELECT key,
    sum(CASE WHEN lines.kind IN ('trunk', 'branch', 'foreign') THEN turns ELSE 0 END),
    sum(lines.kind = 'branch'), sum(lines.kind = 'agent')
FROM lines JOIN sessions USING (sid) GROUP BY sid
"""
BEGINNINGS = """
SELECT sessions.key, max(turns.time), number, uuid FROM turns JOIN lines USING (sid, dag)
JOIN sessions USING (sid)
WHERE turns.kind = 'prompt' AND lines.kind IN ('trunk', 'branch', 'foreign')
    AND uuid IS NOT NULL AND turns.time IS NOT NULL GROUP BY uuid
"""
PLACED = """
SELECT turns.dag, lines.kind, lines.state, turns.time FROM sessions JOIN turns USING (sid)
JOIN lines USING (sid, dag) WHERE key = ? ORDER BY turns.time, turns.dag, number
"""


class SessionShape(Struct, frozen=True, gc=False):
    """How large a session is, in the words of a list."""

    turns: int
    branches: int
    agents: int


class ListedTurn(Struct, frozen=True, gc=False):
    """A turn, by the line that it stands on."""

    dag: int
    kind: str
    state: str
    time: str | None


def session_shapes(catalogue: Catalogue) -> dict[str, SessionShape]:
    """Returns the shape of every session, by key."""
    rows = catalogue.connection.execute(SHAPES)
    return {os.fsdecode(key): SessionShape(*counts) for key, *counts in rows}


def begun_turns(catalogue: Catalogue) -> Iterator[tuple[str, str, int, str]]:
    """Yields the turns that people began: session, time, number, uuid; copies of one count once."""
    for key, time, number, uuid in catalogue.connection.execute(BEGINNINGS):
        yield os.fsdecode(key), time, number, uuid


def turns_in_order(catalogue: Catalogue, keys: Iterable[str]) -> dict[str, list[ListedTurn]]:
    """Returns the turns of some sessions as time went, by key."""
    return {
        key: [ListedTurn(*row) for row in catalogue.connection.execute(PLACED, (os.fsencode(key),))]
        for key in keys
    }


def lines_of_session(catalogue: Catalogue, key: str) -> list[tuple[LineRow, str | None]]:
    """Returns the lines of one session, each with the record that it begins with."""
    sid = catalogue.keys().get(key)
    if sid is None:
        return []
    first = {turn.dag: turn.uuid for turn in reversed(catalogue.turns(sid))}
    return [(line, first.get(dag)) for dag, line in enumerate(catalogue.lines(sid))]
