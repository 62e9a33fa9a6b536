"""A small file to the stars and pins in it, and each change of them to the whole file again.

    {"version": 1,
     "stars": {SESSION: {"at": TIME}},
     "pins": {SESSION: {RECORD: {"at": TIME, "turn": 3, "words": "fix the parser"}}}}

Whatever else stands in it stays as it is. A change reads the file again under a lock, so that two
programs lose nothing of each other's.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeAlias

from msgspec import Struct

from plait.errors import SourceError
from plait.line.atomic import held, replace_file

VERSION = 1
PATIENCE = 5.0
"""Seconds to wait for another program that writes."""
WORDS = 300
"""So much of a prompt is kept, to be told where its turn is gone."""
Table: TypeAlias = dict[str, Any]


class Star(Struct, frozen=True):
    """A session that its user wants to find again."""

    session: str
    at: str
    """When it was starred; "" where the file does not say."""


class Pin(Struct, frozen=True):
    """A turn that its user wants to find again, known by the record that opens it."""

    session: str
    uuid: str
    at: str
    turn: int | None = None
    """The number that it had then."""
    words: str = ""
    """What it began with."""


class StarFile:
    """The stars and pins of one user; the file need not be there yet."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def stars(self) -> tuple[Star, ...]:
        """Returns all stars, the newest first."""
        found = _tables(_table(self._read(), "stars"))
        stars = [Star(session, _text(value, "at")) for session, value in found]
        return tuple(sorted(stars, key=lambda one: (one.at, one.session), reverse=True))

    def pins(self) -> tuple[Pin, ...]:
        """Returns all pins, the newest first."""
        pins = [
            Pin(session, uuid, _text(value, "at"), _number(value, "turn"), _text(value, "words"))
            for session, held_ in _tables(_table(self._read(), "pins"))
            for uuid, value in _tables(held_)
        ]
        return tuple(sorted(pins, key=lambda one: (one.at, one.session, one.uuid), reverse=True))

    def star(self, session: str) -> bool:
        """Stars a session; tells whether it was not starred before."""
        return self._changed(lambda data: _put(data, ("stars",), session, {"at": _now()}))

    def unstar(self, session: str) -> bool:
        """Takes a star away; tells whether there was one."""
        return self._changed(lambda data: _taken(data, ("stars",), session))

    def pin(self, session: str, uuid: str, turn: int | None, words: str) -> bool:
        """Pins a turn; tells whether it was not pinned before."""
        value = {"at": _now(), "turn": turn, "words": words[:WORDS]}
        return self._changed(lambda data: _put(data, ("pins", session), uuid, value))

    def unpin(self, session: str, uuid: str) -> bool:
        """Takes a pin away; tells whether there was one."""
        return self._changed(lambda data: _taken(data, ("pins", session), uuid))

    def _read(self) -> Table:
        try:
            found = json.loads(self.path.read_bytes())
        except FileNotFoundError:
            return {}
        except OSError as error:
            raise SourceError(f"'{self.path}' cannot be read: {error.strerror}") from None
        except (ValueError, RecursionError):
            raise self._unreadable("is damaged") from None
        if not isinstance(found, dict):
            raise self._unreadable("holds no stars")
        return found

    def _unreadable(self, why: str) -> SourceError:
        return SourceError(f"'{self.path}' {why}", "move it away, and stars begin anew")

    def _changed(self, change: Callable[[Table], bool]) -> bool:
        try:
            with held(self.path.with_suffix(".lock"), PATIENCE) as is_ours:
                if not is_ours:
                    raise SourceError(f"'{self.path}' is held by another program", "try again")
                data = self._read()
                self._check(data)
                if not change(data):
                    return False
                replace_file(self.path, _bytes_of({"version": VERSION} | data))
                return True
        except OSError as error:
            raise SourceError(f"'{self.path}' cannot be written: {error.strerror}") from None

    def _check(self, data: Table) -> None:
        """Refuses to write where something would be lost that only another version knows."""
        version = data.get("version", VERSION)
        parts = [data.get(name, {}) for name in ("stars", "pins")]
        pins = _table(data, "pins").values()
        if version != VERSION or not all(isinstance(one, dict) for one in (*parts, *pins)):
            raise self._unreadable("was written by another version of Plait")


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _bytes_of(data: Table) -> bytes:
    return (json.dumps(data, indent=1) + "\n").encode()


def _table(data: Mapping[str, Any], name: str) -> Table:
    found = data.get(name)
    return found if isinstance(found, dict) else {}


def _tables(data: Mapping[str, Any]) -> Iterator[tuple[str, Table]]:
    return ((name, value) for name, value in data.items() if isinstance(value, dict))


def _text(value: Table, name: str) -> str:
    found = value.get(name)
    return found if isinstance(found, str) else ""


def _number(value: Table, name: str) -> int | None:
    found = value.get(name)
    return found if isinstance(found, int) and not isinstance(found, bool) else None


def _put(data: Table, within: tuple[str, ...], name: str, value: Table) -> bool:
    for step in within:
        data = data.setdefault(step, {})
    if name in data:
        return False
    data[name] = value
    return True


def _taken(data: Table, within: tuple[str, ...], name: str) -> bool:
    holders = [data]
    for step in within:
        holders.append(_table(holders[-1], step))
    if name not in holders[-1]:
        return False
    del holders[-1][name]
    for step, holder, inner in zip(within[1:], holders[1:], holders[2:], strict=False):
        if not inner:
            del holder[step]
    return True
