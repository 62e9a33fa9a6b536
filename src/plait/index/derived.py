"""The catalogue to what was worked out from logs once, and what is worked out now into it.

All of it can be worked out again, so nobody waits for the right to write: who does not get it,
or finds that the catalogue has changed meanwhile, keeps nothing.
"""

import os
import sqlite3
from array import array
from collections.abc import Iterable, Mapping
from pathlib import Path

from plait.errors import SourceError
from plait.index.catalogue import Catalogue, Transaction
from plait.index.changes import Change
from plait.index.lock import locked
from plait.index.schema import NAME

Rows = Iterable[tuple[object, ...]]
BILLS = "INSERT OR REPLACE INTO bills SELECT file, sid, ? FROM files WHERE path = ?"
LEFT = "INSERT OR REPLACE INTO abandoned VALUES (?, ?)"
KIN = "INSERT OR REPLACE INTO kin VALUES (?, ?, ?)"
SHARING = "INSERT OR IGNORE INTO sharing VALUES (?, ?)"


def keep(folder: Path, generation: int, changes: Iterable[Change]) -> bool:
    """Keeps what was worked out; False where others write, have written since, or all has gone."""
    if not (folder / NAME).exists():
        return False
    try:
        with locked(folder, wait=0):
            catalogue = Catalogue(folder, is_reader=False)
            try:
                return kept(catalogue, generation, changes)
            finally:
                catalogue.close()
    except (SourceError, sqlite3.Error):
        return False


def kept(catalogue: Catalogue, generation: int, changes: Iterable[Change]) -> bool:
    """Makes changes, all or none, where the catalogue is still what they were worked out from."""
    with Transaction(catalogue.connection):
        is_whole = catalogue.is_current() and not catalogue.pending()
        is_same = is_whole and catalogue.generation() == generation
        if is_same:
            for change in changes:
                change(catalogue.connection)
    return is_same


def inserting(query: str, rows: Rows) -> Change:
    """Returns the change that writes rows."""
    chosen = list(rows)

    def change(connection: sqlite3.Connection) -> None:
        connection.executemany(query, chosen)

    return change


def bills(catalogue: Catalogue) -> dict[str, bytes]:
    """Returns what is kept of the bills of each file, by path."""
    rows = catalogue.connection.execute("SELECT path, data FROM bills JOIN files USING (file)")
    return {os.fsdecode(path): data for path, data in rows}


def keeping_bills(found: Mapping[str, bytes]) -> Change:
    """Returns the change that keeps the bills of some files."""
    return inserting(BILLS, [(data, os.fsencode(path)) for path, data in found.items()])


def abandoned(catalogue: Catalogue) -> dict[int, bytes]:
    """Returns what is kept of abandoned branches, by session."""
    return dict(catalogue.connection.execute("SELECT sid, data FROM abandoned").fetchall())


def keeping_abandoned(found: Mapping[int, bytes]) -> Change:
    """Returns the change that keeps which records of sessions were left behind."""
    return inserting(LEFT, found.items())


def detailed(catalogue: Catalogue) -> set[int]:
    """Returns the sessions whose responses, calls, files and findings are there as rows."""
    return {sid for (sid,) in catalogue.connection.execute("SELECT sid FROM detailed")}


def billed(catalogue: Catalogue) -> dict[int, bytes]:
    """Returns what stands for the rows of usage, by session."""
    return dict(catalogue.connection.execute("SELECT sid, digest FROM billed").fetchall())


def noting(name: str, value: object) -> Change:
    """Returns the change that notes something about the whole catalogue."""
    return inserting("INSERT OR REPLACE INTO meta VALUES (?, ?)", [(name, value)])


def beginnings(catalogue: Catalogue) -> dict[int, str]:
    """Returns when each session began of which is known with whom it shares anything."""
    return dict(catalogue.connection.execute("SELECT sid, began FROM kin").fetchall())


def ties(catalogue: Catalogue) -> dict[int, "array[int]"]:
    """Returns what each session holds or names, by digests."""
    rows = catalogue.connection.execute("SELECT sid, ties FROM kin")
    return {sid: array("q", data) for sid, data in rows}


def sharing(catalogue: Catalogue) -> list[tuple[int, int]]:
    """Returns the sessions that share something, two by two."""
    return catalogue.connection.execute("SELECT sid, other FROM sharing").fetchall()


def keeping_kin(began: Mapping[int, str], found: Mapping[int, "array[int]"]) -> Change:
    """Returns the change that keeps what sessions hold or name."""
    return inserting(KIN, [(sid, began[sid], found[sid].tobytes()) for sid in found])


def keeping_sharing(pairs: Iterable[tuple[int, int]]) -> Change:
    """Returns the change that keeps who shares something with whom."""
    return inserting(SHARING, pairs)


def families(catalogue: Catalogue, sort: str) -> dict[tuple[int, ...], bytes]:
    """Returns what was worked out of families of sessions, by their members."""
    query = "SELECT members, data FROM families WHERE sort = ?"
    rows = catalogue.connection.execute(query, (sort,))
    return {tuple(array("q", members)): data for members, data in rows}


def keeping_family(sort: str, members: tuple[int, ...], data: bytes) -> Change:
    """Returns the change that keeps what was worked out of a family."""

    def change(connection: sqlite3.Connection) -> None:
        row = connection.execute(
            "INSERT OR REPLACE INTO families (sort, members, data) VALUES (?, ?, ?)",
            (sort, array("q", members).tobytes(), data),
        )
        rows = [(sid, row.lastrowid) for sid in members]
        connection.executemany("INSERT OR IGNORE INTO members VALUES (?, ?)", rows)

    return change
