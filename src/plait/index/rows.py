"""Sessions that are taken in, grow or go, and what is worked out from them, to rows.

What is worked out can be worked out again, so nobody waits for the right to write: who does
not get it, or finds that the catalogue has changed meanwhile, keeps nothing.
"""

import os
import sqlite3
from array import array
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

from plait.errors import SourceError
from plait.index.access import locked
from plait.index.catalogue import CATALOGUE, DERIVED, OWNED, Catalogue, Transaction
from plait.index.charges import charges_in
from plait.index.model import FileMark, LineRow, SessionRows, TurnRow

RowChange: TypeAlias = Callable[[sqlite3.Connection], None]
PAID_KINDS = frozenset({"session", "agent"})
UNBILLED = "DELETE FROM bills WHERE file = (SELECT file FROM files WHERE path = ?)"
TURN = "INSERT OR REPLACE INTO turns VALUES (?, ?, ?, ?, ?, ?)"


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


def keeping(sid: int, first_file: int, rows: SessionRows) -> RowChange:
    """Returns the change that takes a session in; what its logs say of money is read for it."""
    bills = [
        (first_file + place, sid, charges_in(Path(mark.path), mark.kind))
        for place, mark in enumerate(rows.files)
        if mark.kind in PAID_KINDS
    ]

    def change(connection: sqlite3.Connection) -> None:
        connection.execute(
            "INSERT INTO sessions VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (sid, os.fsencode(rows.key), *map(_written, _session_fields(rows)), rows.facts),
        )
        connection.executemany(
            "INSERT OR REPLACE INTO files VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            [
                _file_fields(first_file + place, sid, mark, rows)
                for place, mark in enumerate(rows.files)
            ],
        )
        connection.executemany(
            "INSERT INTO lines VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            [
                (sid, dag, _written(one.id), one.kind, one.state, one.turns, *_names_of(one))
                for dag, one in enumerate(rows.lines)
            ],
        )
        connection.executemany(TURN, _turn_fields(sid, rows.turns))
        connection.executemany("INSERT OR REPLACE INTO bills VALUES (?, ?, ?)", bills)

    return change


def growing(sid: int, grown: SessionRows, dag: int) -> RowChange:
    """Returns the change that takes in what was added to one file of a session."""

    def change(connection: sqlite3.Connection) -> None:
        connection.execute(
            "UPDATE sessions SET title = ?, started = ?, ended = ?, facts = ? WHERE sid = ?",
            (*map(_written, (grown.title, grown.started, grown.ended)), grown.facts, sid),
        )
        for mark in grown.files:
            connection.execute(
                "UPDATE files SET size = ?, changed = ?, inode = ?, offset = ?, head = ?, "
                "mark = ?, tail = ? WHERE path = ?",
                (*_file_fields(0, sid, mark, grown)[4:], os.fsencode(mark.path)),
            )
            connection.execute(UNBILLED, (os.fsencode(mark.path),))
        _forget_derived(connection, sid)
        connection.executemany(TURN, _turn_fields(sid, grown.turns))
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


def _session_fields(rows: SessionRows) -> tuple[str | None, ...]:
    return rows.id, rows.project, rows.title, rows.started, rows.ended


def _file_fields(file: int, sid: int, mark: FileMark, rows: SessionRows) -> tuple[Any, ...]:
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


def _names_of(line: LineRow) -> tuple[str | None, str | None]:
    return _written(line.parent), _written(line.label)


def _turn_fields(sid: int, turns: Iterable[TurnRow]) -> list[tuple[Any, ...]]:
    return [
        (sid, one.dag, one.number, one.kind, _written(one.time), _written(one.uuid))
        for one in turns
    ]


def _written(text: str | None) -> str | None:
    if text is None or text.isascii():
        return text
    return text.encode("utf-8", "replace").decode()


Rows = Iterable[tuple[object, ...]]
BILLS = "INSERT OR REPLACE INTO bills SELECT file, sid, ? FROM files WHERE path = ?"
LEFT = "INSERT OR REPLACE INTO abandoned VALUES (?, ?)"
KIN = "INSERT OR REPLACE INTO kin VALUES (?, ?, ?)"
SHARING = "INSERT OR IGNORE INTO sharing VALUES (?, ?)"


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


def _inserting(query: str, rows: Rows) -> RowChange:
    chosen = list(rows)

    def change(connection: sqlite3.Connection) -> None:
        connection.executemany(query, chosen)

    return change


def kept_bills(catalogue: Catalogue) -> dict[str, bytes]:
    """Returns what is kept of the bills of each file, by path."""
    rows = catalogue.connection.execute("SELECT path, data FROM bills JOIN files USING (file)")
    return {os.fsdecode(path): data for path, data in rows}


def keeping_bills(found: Mapping[str, bytes]) -> RowChange:
    """Returns the change that keeps the bills of some files."""
    return _inserting(BILLS, [(data, os.fsencode(path)) for path, data in found.items()])


def abandoned_records(catalogue: Catalogue) -> dict[int, bytes]:
    """Returns what is kept of abandoned branches, by session."""
    return dict(catalogue.connection.execute("SELECT sid, data FROM abandoned").fetchall())


def keeping_abandoned(found: Mapping[int, bytes]) -> RowChange:
    """Returns the change that keeps which records of sessions were left behind."""
    return _inserting(LEFT, found.items())


def detailed_sessions(catalogue: Catalogue) -> set[int]:
    """Returns the sessions whose responses, calls, files and findings are there as rows."""
    return {sid for (sid,) in catalogue.connection.execute("SELECT sid FROM detailed")}


def usage_digests(catalogue: Catalogue) -> dict[int, bytes]:
    """Returns what stands for the rows of usage, by session."""
    return dict(catalogue.connection.execute("SELECT sid, digest FROM billed").fetchall())


def noting(name: str, value: object) -> RowChange:
    """Returns the change that notes something about the whole catalogue."""
    return _inserting("INSERT OR REPLACE INTO meta VALUES (?, ?)", [(name, value)])


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
    return _inserting(KIN, [(sid, began[sid], found[sid].tobytes()) for sid in found])


def keeping_related_pairs(pairs: Iterable[tuple[int, int]]) -> RowChange:
    """Returns the change that keeps who shares something with whom."""
    return _inserting(SHARING, pairs)


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
        rows = [(sid, row.lastrowid) for sid in members]
        connection.executemany("INSERT OR IGNORE INTO members VALUES (?, ?)", rows)

    return change


def _statement(table: str, columns: int) -> str:
    return f"INSERT OR REPLACE INTO {table} VALUES ({', '.join('?' * columns)})"  # noqa: S608  ours


RESPONSE_ROW = _statement("responses", 17)
CALL_ROW = _statement("calls", 10)
TOUCH_ROW = _statement("touches", 11)
FINDING_ROW = _statement("findings", 7)
USAGE_ROW = _statement("usage", 19)
BILLED_ROW = _statement("billed", 2)


def keeping_rows(sid: int, rows: Mapping[str, Iterable[tuple[Any, ...]]]) -> RowChange:
    """Returns the change that writes the rows of a session, by statement."""
    plain = {
        query: [(sid, *map(_fitting, row)) for row in several] for query, several in rows.items()
    }

    def change(connection: sqlite3.Connection) -> None:
        for query, several in plain.items():
            connection.executemany(query, several)
        connection.execute("INSERT OR REPLACE INTO detailed VALUES (?)", (sid,))

    return change


def keeping_usage(sid: int, rows: Iterable[tuple[Any, ...]], digest: bytes) -> RowChange:
    """Returns the change that writes the responses that are counted for a session."""
    plain = [(sid, *map(_fitting, row)) for row in rows]

    def change(connection: sqlite3.Connection) -> None:
        connection.execute("DELETE FROM usage WHERE sid = ?", (sid,))
        connection.executemany(USAGE_ROW, plain)
        connection.execute(BILLED_ROW, (sid, digest))

    return change


def _fitting(value: Any) -> Any:
    if isinstance(value, str):
        return _written(value)
    return value if not isinstance(value, int) or abs(value) < 1 << 63 else None
