"""Requests about stars and pins to their answers: what is marked, to mark more, to take it away."""

from msgspec import Struct

from plait.archive import Pin, PinnedTurn, StarFile
from plait.archive.live import LiveArchive, Snapshot
from plait.errors import UserError
from plait.web.api import model


class WhichMarks(Struct, frozen=True, forbid_unknown_fields=True):
    """Of which session, and whether turns are looked for in their sessions."""

    session: model.Name | None = None
    """By its name in addresses, or its id; of all where none is named."""
    placed: bool = False
    """Says where each pinned turn is now, or that it is gone; for that sessions are read."""


class MarkedSession(Struct, frozen=True):
    """A session that is starred."""

    session: str
    at: str
    name: str | None
    """By which it is asked for; none where it is not here."""


class MarkedTurn(Struct, frozen=True):
    """A turn that is pinned."""

    session: str
    uuid: str
    """The record that opens it."""
    at: str
    turn: int | None
    words: str
    name: str | None
    """By which its session is asked for; none where it is not here."""
    line: str | None = None
    """The conversation that it stands in, where it was looked for."""
    why_gone: str | None = None
    """Where it is no longer there: what is missing."""


class Marks(Struct, frozen=True):
    """What is starred and pinned, the newest first."""

    stars: tuple[MarkedSession, ...]
    pins: tuple[MarkedTurn, ...]
    is_read_only: bool


class ToStar(Struct, frozen=True, forbid_unknown_fields=True):
    """Which session is to be starred, or no longer."""

    session: model.Name
    """By its name in addresses, or its id."""
    on: bool = True


class NowStarred(Struct, frozen=True):
    """Whether a session is starred."""

    session: str
    on: bool


class ToPin(Struct, frozen=True, forbid_unknown_fields=True):
    """Which turn is to be pinned, or no longer."""

    session: model.Name
    """By its name in addresses, or its id."""
    uuid: model.Name
    """The record that opens the turn."""
    on: bool = True


class NowPinned(Struct, frozen=True):
    """Whether a turn is pinned."""

    session: str
    uuid: str
    on: bool
    turn: int | None = None
    words: str = ""


def marks(library: LiveArchive, asked: WhichMarks) -> Marks:
    """Returns what is starred and pinned."""
    if library.star_file is None:
        return Marks((), (), library.is_read_only)
    state, file = library.now, StarFile(library.star_file)
    only = asked.session and _id_of(state, asked.session)
    stars = [one for one in file.stars() if only in (None, one.session)]
    pins = [one for one in file.pins() if only in (None, one.session)]
    return Marks(
        tuple(MarkedSession(one.session, one.at, _name_of(state, one.session)) for one in stars),
        tuple(pinned(library, one, is_placed=asked.placed) for one in pins),
        library.is_read_only,
    )


def star(library: LiveArchive, asked: ToStar) -> NowStarred:
    """Stars a session, or takes its star away; that of one that is gone, too."""
    file, session = _file(library), _id_of(library.now, asked.session)
    if asked.on:
        file.star(library.now.session(asked.session).id)
    else:
        file.unstar(session)
    return NowStarred(session, asked.on)


def pin(library: LiveArchive, asked: ToPin) -> NowPinned:
    """Pins a turn, or takes its pin away; that of one that is gone, too."""
    file, session = _file(library), _id_of(library.now, asked.session)
    if not asked.on:
        file.unpin(session, asked.uuid)
        return NowPinned(session, asked.uuid, on=False)
    told = library.opened(asked.session).told
    found = PinnedTurn.of(Pin(session, asked.uuid, ""), told)
    if found.why_gone:
        raise UserError(f"no turn begins with '{asked.uuid[:80]}'")
    file.pin(session, found.uuid, found.turn, found.words)
    return NowPinned(session, found.uuid, on=True, turn=found.turn, words=found.words)


def pinned(library: LiveArchive, one: Pin, *, is_placed: bool) -> MarkedTurn:
    """Returns a pinned turn, with where it is now if that is asked for."""
    name = _name_of(library.now, one.session)
    if name is None or not is_placed:
        gone = None if name else PinnedTurn.of(one, None).why_gone
        return MarkedTurn(one.session, one.uuid, one.at, one.turn, one.words, name, None, gone)
    found = _placed(library, one, name)
    return MarkedTurn(
        one.session, one.uuid, one.at, found.turn, found.words, name, found.line, found.why_gone
    )


def _placed(library: LiveArchive, one: Pin, name: str) -> PinnedTurn:
    """Returns where a turn is; its session is read again only where that has changed."""
    files = library.now.session(name).files

    def look() -> PinnedTurn:
        return PinnedTurn.of(one, library.opened(name).told)

    return library.made.of(("pin", name, one.uuid), (files, one), look)


def _file(library: LiveArchive) -> StarFile:
    return library.now.archive.stars.file


def _id_of(state: Snapshot, name: str) -> str:
    found = state.names.get(name)
    return found.id if found else name


def _name_of(state: Snapshot, session: str) -> str | None:
    return session if session in state.names else None
