"""Sessions and turns of an archive to their stars and pins: set, taken away, listed."""

from collections.abc import Iterator
from shlex import quote
from typing import TYPE_CHECKING

from msgspec import Struct

from plait.archive.model import Named, Session
from plait.archive.stars.file import Pin, StarFile
from plait.errors import UserError
from plait.record.prompt import one_line

if TYPE_CHECKING:
    from plait.archive.archive import Archive
    from plait.conversation.model import Conversations


class PinnedTurn(Struct, frozen=True, kw_only=True):
    """A pin, and where its turn is now."""

    session: str
    uuid: str
    """The record that opens the turn."""
    at: str
    turn: int | None
    """Its number now; where it is gone, the one that it had."""
    words: str
    line: str | None = None
    """The conversation that it stands in, None where it is gone."""
    is_main: bool = True
    """It stands on the line that goes on."""
    why_gone: str | None = None
    """Where it is no longer there: what is missing."""

    @classmethod
    def of(cls, pin: Pin, told: "Conversations | None") -> "PinnedTurn":
        """Returns a pin with where its turn is now, in the conversations of its session."""
        if told is None:
            return _gone(pin, "its session is not here")
        for line in _main_first(told):
            for turn in told.by_line[line].turns:
                if turn.opener and turn.opener.uuid == pin.uuid:
                    return cls(
                        session=pin.session,
                        uuid=pin.uuid,
                        at=pin.at,
                        turn=turn.number,
                        words=one_line(turn.opener.text) or pin.words,
                        line=line,
                        is_main=line == told.main,
                    )
        return _gone(pin, "it is no longer in its session")


class Stars:
    """What a user has starred and pinned, of the sessions of an archive."""

    def __init__(self, archive: "Archive") -> None:
        self._archive = archive

    @property
    def file(self) -> StarFile:
        """The file that holds them, which need not be there yet."""
        if self._archive.star_file is None:
            raise UserError("this archive has no stars", "name their file: Archive(roots, stars=…)")
        return StarFile(self._archive.star_file)

    @property
    def ids(self) -> frozenset[str]:
        """The ids of all starred sessions, of other archives too."""
        return frozenset(one.session for one in self.file.stars())

    @property
    def sessions(self) -> tuple[Session, ...]:
        """The starred sessions that are there, the newest star first."""
        by_id = {one.id: one for one in self._archive.sessions}
        return tuple(by_id[one.session] for one in self.file.stars() if one.session in by_id)

    def add(self, session: Named) -> bool:
        """Stars a session; tells whether it was not starred before."""
        return self.file.star(self._archive.session(session).id)

    def remove(self, session: Named) -> bool:
        """Takes a star away, of a session that is gone too; tells whether there was one."""
        if isinstance(session, str) and session in self.ids:
            return self.file.unstar(session)
        return self.file.unstar(self._archive.session(session).id)

    def pin(self, session: Named, turn: str | int, branch: str | None = None) -> PinnedTurn:
        """Pins a turn by its number, its record or words of its prompt; once is enough."""
        from plait.archive.choosing import turn_named

        meant = self._archive.session(session)
        found = turn_named(self._archive.open(meant), turn, branch)
        if found.opener is None or not found.opener.uuid:
            raise UserError(f"turn {found.number} has no record that it could be found by")
        self.file.pin(meant.id, found.opener.uuid, found.number, one_line(found.opener.text))
        return next(one for one in self.pins(meant) if one.uuid == found.opener.uuid)

    def unpin(self, session: Named, turn: str | int, branch: str | None = None) -> PinnedTurn:
        """Takes a pin away: by the turn's number, its record, words of its prompt."""
        meant = self._archive.session(session)
        found = self.pins(meant)
        named = [one for one in found if _is_named(one, str(turn), branch)]
        if len(named) != 1:
            count = f"{len(named)} pinned turns are" if named else "no pinned turn is"
            raise UserError(f"{count} '{turn}'", f"`plait pin {quote(meant.id[:8])}` lists them")
        self.file.unpin(meant.id, named[0].uuid)
        return named[0]

    def pins(self, session: Named | None = None) -> tuple[PinnedTurn, ...]:
        """Returns the pinned turns of a session, or of all, the newest pin first."""
        wanted = None if session is None else self._archive.session(session).id
        held = [one for one in self.file.pins() if wanted in (None, one.session)]
        sessions = {one.id: one for one in self._archive.sessions}
        told = {
            name: self._archive.open(sessions[name]).conversations
            for name in dict.fromkeys(one.session for one in held)
            if name in sessions
        }
        return tuple(PinnedTurn.of(one, told.get(one.session)) for one in held)


def _main_first(told: "Conversations") -> Iterator[str]:
    yield told.main
    yield from (line for line in told.by_line if line != told.main)


def _gone(pin: Pin, why: str) -> PinnedTurn:
    return PinnedTurn(
        session=pin.session,
        uuid=pin.uuid,
        at=pin.at,
        turn=pin.turn,
        words=pin.words,
        is_main=False,
        why_gone=why,
    )


def _is_named(pin: PinnedTurn, name: str, branch: str | None) -> bool:
    if branch is not None and branch not in (pin.line or ""):
        return False
    if name.isdecimal() and len(name) < 6:
        return pin.turn == int(name) and (branch is not None or pin.is_main or bool(pin.why_gone))
    return pin.uuid.startswith(name.lower()) or name.casefold() in pin.words.casefold()
