"""Starred sessions and pinned turns, in a small JSON file of the user.

    {"version": 1,
     "stars": {SESSION: {"at": TIME}},
     "pins": {SESSION: {RECORD: {"at": TIME, "turn": 3, "words": "fix the parser"}}}}

Unknown fields are preserved. A change reads the file again under a lock, so that two programs do
not overwrite each other's changes.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from shlex import quote
from typing import Any, TypeAlias

from msgspec import Struct

from plait.conversation.model import Conversations
from plait.errors import SourceError, UserError
from plait.line.output import lock_file, replace_file
from plait.record.codec import get_count
from plait.record.prompts import collapse_whitespace
from plait.record.time import format_timestamp
from plait.sessions.library import SessionLibrary
from plait.sessions.model import Session, SessionRef
from plait.sessions.names import resolve_turn

__all__ = ["Pin", "PinnedTurn", "Star", "StarFile", "Stars"]


VERSION = 1
LOCK_SECONDS = 5.0
"""Seconds to wait for another program that writes."""
MAX_PROMPT_CHARACTERS = 300
"""Characters of a prompt that are saved: a pin still shows them when its turn is gone."""
Table: TypeAlias = dict[str, Any]


class Star(Struct, frozen=True):
    """A starred session."""

    session: str
    at: str
    """When it was starred; empty if the file does not say."""


class Pin(Struct, frozen=True):
    """A pinned turn, identified by its first record."""

    session: str
    uuid: str
    at: str
    turn: int | None = None
    """Its number when it was pinned."""
    words: str = ""
    """The beginning of its prompt."""


class StarFile:
    """The stars and pins of one user; the file need not exist yet."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def stars(self) -> tuple[Star, ...]:
        """Return all stars, newest first."""
        found = _iter_tables(_get_table(self._read(), "stars"))
        stars = [Star(session, _get_text(value, "at")) for session, value in found]
        return tuple(sorted(stars, key=lambda star: (star.at, star.session), reverse=True))

    def pins(self) -> tuple[Pin, ...]:
        """Return all pins, newest first."""
        pins = [
            Pin(
                session,
                uuid,
                _get_text(value, "at"),
                get_count(value, "turn"),
                _get_text(value, "words"),
            )
            for session, held_ in _iter_tables(_get_table(self._read(), "pins"))
            for uuid, value in _iter_tables(held_)
        ]
        return tuple(sorted(pins, key=lambda pin: (pin.at, pin.session, pin.uuid), reverse=True))

    def star(self, session: str) -> bool:
        """Star a session; return whether it was not starred before."""
        return self._update(
            lambda data: _add(
                data, ("stars",), session, {"at": format_timestamp(datetime.now(UTC))}
            )
        )

    def unstar(self, session: str) -> bool:
        """Remove a star; return whether there was one."""
        return self._update(lambda data: _remove(data, ("stars",), session))

    def pin(self, session: str, uuid: str, turn: int | None, words: str) -> bool:
        """Pin a turn; return whether it was not pinned before."""
        value = {
            "at": format_timestamp(datetime.now(UTC)),
            "turn": turn,
            "words": words[:MAX_PROMPT_CHARACTERS],
        }
        return self._update(lambda data: _add(data, ("pins", session), uuid, value))

    def unpin(self, session: str, uuid: str) -> bool:
        """Remove a pin; return whether there was one."""
        return self._update(lambda data: _remove(data, ("pins", session), uuid))

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
            raise self._unreadable("does not contain stars")
        return found

    def _unreadable(self, why: str) -> SourceError:
        return SourceError(f"'{self.path}' {why}", "move it elsewhere to start with an empty list")

    def _update(self, change: Callable[[Table], bool]) -> bool:
        try:
            with lock_file(self.path.with_suffix(".lock"), LOCK_SECONDS) as is_ours:
                if not is_ours:
                    raise SourceError(f"'{self.path}' is locked by another program", "try again")
                data = self._read()
                # Refuse to write if that would lose what only another version knows.
                version = data.get("version", VERSION)
                parts = [data.get(name, {}) for name in ("stars", "pins")]
                pins = _get_table(data, "pins").values()
                if version != VERSION or not all(
                    isinstance(part, dict) for part in (*parts, *pins)
                ):
                    raise self._unreadable("was written by another version of Plait")
                if not change(data):
                    return False
                replace_file(
                    self.path, (json.dumps({"version": VERSION} | data, indent=1) + "\n").encode()
                )
                return True
        except OSError as error:
            raise SourceError(f"'{self.path}' cannot be written: {error.strerror}") from None


def _get_table(data: Mapping[str, Any], name: str) -> Table:
    found = data.get(name)
    return found if isinstance(found, dict) else {}


def _iter_tables(data: Mapping[str, Any]) -> Iterator[tuple[str, Table]]:
    return ((name, value) for name, value in data.items() if isinstance(value, dict))


def _get_text(value: Table, name: str) -> str:
    found = value.get(name)
    return found if isinstance(found, str) else ""


def _add(data: Table, within: tuple[str, ...], name: str, value: Table) -> bool:
    for step in within:
        data = data.setdefault(step, {})
    if name in data:
        return False
    data[name] = value
    return True


def _remove(data: Table, within: tuple[str, ...], name: str) -> bool:
    holders = [data]
    for step in within:
        holders.append(_get_table(holders[-1], step))
    if name not in holders[-1]:
        return False
    del holders[-1][name]
    for step, holder, inner in zip(within[1:], holders[1:], holders[2:], strict=False):
        if not inner:
            del holder[step]
    return True


class PinnedTurn(Struct, frozen=True, kw_only=True):
    """A pin, and the present place of its turn."""

    session: str
    uuid: str
    """The first record of the turn."""
    at: str
    turn: int | None
    """Its present number; if it is gone, its former one."""
    words: str
    line: str | None = None
    """The conversation it is in; None if it is gone."""
    is_main: bool = True
    """Whether it is on the active line."""
    why_gone: str | None = None
    """What is missing, if it is gone."""

    @classmethod
    def from_pin(cls, pin: Pin, conversations: Conversations | None) -> "PinnedTurn":
        """Return a pin with the present place of its turn in its session's conversations."""
        if conversations is None:
            return _make_missing_pin_error(pin, "its session is not under these roots")
        others = (line for line in conversations.by_line if line != conversations.main)
        for line in (conversations.main, *others):
            for turn in conversations.by_line[line].turns:
                if turn.opener and turn.opener.uuid == pin.uuid:
                    return cls(
                        session=pin.session,
                        uuid=pin.uuid,
                        at=pin.at,
                        turn=turn.number,
                        words=collapse_whitespace(turn.opener.text) or pin.words,
                        line=line,
                        is_main=line == conversations.main,
                    )
        return _make_missing_pin_error(pin, "the turn is no longer in its session")


class Stars:
    """The user's stars and pins in the sessions of an archive."""

    def __init__(self, archive: SessionLibrary) -> None:
        self._archive = archive

    @property
    def file(self) -> StarFile:
        """The file with them, which need not exist yet."""
        if self._archive.star_file is None:
            raise UserError("this archive has no stars", "give their file: Archive(roots, stars=…)")
        return StarFile(self._archive.star_file)

    @property
    def ids(self) -> frozenset[str]:
        """The ids of all starred sessions, including those of other archives."""
        return frozenset(star.session for star in self.file.stars())

    @property
    def sessions(self) -> tuple[Session, ...]:
        """The starred sessions that exist, newest star first."""
        by_id = {session.id: session for session in self._archive.sessions}
        return tuple(by_id[star.session] for star in self.file.stars() if star.session in by_id)

    def add(self, session: SessionRef) -> bool:
        """Star a session; return whether it was not starred before."""
        return self.file.star(self._archive.session(session).id)

    def remove(self, session: SessionRef) -> bool:
        """Remove a star, also of a deleted session; return whether there was one."""
        if isinstance(session, str) and session in self.ids:
            return self.file.unstar(session)
        return self.file.unstar(self._archive.session(session).id)

    def pin(self, session: SessionRef, turn: str | int, branch: str | None = None) -> PinnedTurn:
        """Pin a turn by its number, its record or words of its prompt; once is enough."""
        meant = self._archive.session(session)
        found = resolve_turn(self._archive.open(meant), turn, branch)
        if found.opener is None or not found.opener.uuid:
            raise UserError(f"turn {found.number} cannot be pinned: it has no record id")
        self.file.pin(
            meant.id, found.opener.uuid, found.number, collapse_whitespace(found.opener.text)
        )
        return next(
            pinned_turn for pinned_turn in self.pins(meant) if pinned_turn.uuid == found.opener.uuid
        )

    def unpin(self, session: SessionRef, turn: str | int, branch: str | None = None) -> PinnedTurn:
        """Remove a pin: by the turn's number, its record, words of its prompt."""
        meant = self._archive.session(session)
        found = self.pins(meant)
        named = [
            pinned_turn for pinned_turn in found if _matches_name(pinned_turn, str(turn), branch)
        ]
        if len(named) != 1:
            count = f"{len(named)} pinned turns match" if named else "no pinned turn matches"
            raise UserError(
                f"{count} '{turn}'", f"`plait star {quote(meant.id[:8])} --turns` lists them"
            )
        self.file.unpin(meant.id, named[0].uuid)
        return named[0]

    def pins(self, session: SessionRef | None = None) -> tuple[PinnedTurn, ...]:
        """Return the pinned turns of a session, or of all, newest pin first."""
        wanted = None if session is None else self._archive.session(session).id
        held = [pin for pin in self.file.pins() if wanted in (None, pin.session)]
        sessions = {session.id: session for session in self._archive.sessions}
        conversations = {
            name: self._archive.open(sessions[name]).conversations
            for name in dict.fromkeys(pin.session for pin in held)
            if name in sessions
        }
        return tuple(PinnedTurn.from_pin(pin, conversations.get(pin.session)) for pin in held)


def _make_missing_pin_error(pin: Pin, why: str) -> PinnedTurn:
    return PinnedTurn(
        session=pin.session,
        uuid=pin.uuid,
        at=pin.at,
        turn=pin.turn,
        words=pin.words,
        is_main=False,
        why_gone=why,
    )


def _matches_name(pin: PinnedTurn, name: str, branch: str | None) -> bool:
    if branch is not None and branch not in (pin.line or ""):
        return False
    if name.isdecimal() and len(name) < 6:
        return pin.turn == int(name) and (branch is not None or pin.is_main or bool(pin.why_gone))
    return pin.uuid.startswith(name.lower()) or name.casefold() in pin.words.casefold()
