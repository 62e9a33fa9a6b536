"""Responses, calls, files touched, findings and usage of a session to rows of the catalogue."""

import sqlite3
from collections.abc import Iterable, Mapping
from typing import Any

from plait.index.changes import Change, written


def statement(table: str, columns: int) -> str:
    """Returns what writes rows of a table."""
    return f"INSERT OR REPLACE INTO {table} VALUES ({', '.join('?' * columns)})"  # noqa: S608  ours


RESPONSE = statement("responses", 17)
CALL = statement("calls", 10)
TOUCH = statement("touches", 11)
FINDING = statement("findings", 7)
USAGE = statement("usage", 19)
BILLED = statement("billed", 2)


def keeping_rows(sid: int, rows: Mapping[str, Iterable[tuple[Any, ...]]]) -> Change:
    """Returns the change that writes the rows of a session, by statement."""
    plain = {
        query: [(sid, *map(fitting, row)) for row in several] for query, several in rows.items()
    }

    def change(connection: sqlite3.Connection) -> None:
        for query, several in plain.items():
            connection.executemany(query, several)
        connection.execute("INSERT OR REPLACE INTO detailed VALUES (?)", (sid,))

    return change


def keeping_usage(sid: int, rows: Iterable[tuple[Any, ...]], digest: bytes) -> Change:
    """Returns the change that writes the responses that are counted for a session."""
    plain = [(sid, *map(fitting, row)) for row in rows]

    def change(connection: sqlite3.Connection) -> None:
        connection.execute("DELETE FROM usage WHERE sid = ?", (sid,))
        connection.executemany(USAGE, plain)
        connection.execute(BILLED, (sid, digest))

    return change


def fitting(value: Any) -> Any:
    """Returns a value of the log as a table can hold it."""
    if isinstance(value, str):
        return written(value)
    return value if not isinstance(value, int) or abs(value) < 1 << 63 else None
