"""API requests about stars and pins: list, set, remove."""

from msgspec import Struct

from plait.archive import Pin, PinnedTurn, StarFile
from plait.archive.live import LiveArchive, Snapshot
from plait.errors import UserError
from plait.web.api import model


class WhichMarks(Struct, frozen=True, forbid_unknown_fields=True):
    """Of which session, and whether turns are located in their sessions."""

    session: model.Name | None = None
    """By its name in URLs, or its id; of all if none is named."""
    placed: bool = False
    """Return where each pinned turn is now; for that sessions are read."""


class MarkedSession(Struct, frozen=True):
    """A session that is starred."""

    session: str
    at: str
    name: str | None
    """Its name in URLs; none if it is not here."""


class MarkedTurn(Struct, frozen=True):
    """A turn that is pinned."""

    session: str
    uuid: str
    """Its first record."""
    at: str
    turn: int | None
    words: str
    name: str | None
    """Its session's name in URLs; none if it is not here."""
    line: str | None = None
    """The conversation it is in, if it was located."""
    why_gone: str | None = None
    """What is missing, if it is gone."""


class Marks(Struct, frozen=True):
    """What is starred and pinned, newest first."""

    stars: tuple[MarkedSession, ...]
    pins: tuple[MarkedTurn, ...]
    is_read_only: bool


class ToStar(Struct, frozen=True, forbid_unknown_fields=True):
    """Which session to star or unstar."""

    session: model.Name
    """By its name in URLs, or its id."""
    on: bool = True


class NowStarred(Struct, frozen=True):
    """Whether a session is starred."""

    session: str
    on: bool


class ToPin(Struct, frozen=True, forbid_unknown_fields=True):
    """Which turn to pin or unpin."""

    session: model.Name
    """By its name in URLs, or its id."""
    uuid: model.Name
    """The first record of the turn."""
    on: bool = True


class NowPinned(Struct, frozen=True):
    """Whether a turn is pinned."""

    session: str
    uuid: str
    on: bool
    turn: int | None = None
    words: str = ""


def marks(library: LiveArchive, asked: WhichMarks) -> Marks:
    """Return what is starred and pinned."""
    if library.star_file is None:
        return Marks((), (), library.is_read_only)
    state, star_file = library.snapshot, StarFile(library.star_file)
    session = asked.session and _get_id(state, asked.session)
    stars = [mark for mark in star_file.stars() if session in (None, mark.session)]
    pins = [mark for mark in star_file.pins() if session in (None, mark.session)]
    return Marks(
        tuple(
            MarkedSession(mark.session, mark.at, _get_name(state, mark.session)) for mark in stars
        ),
        tuple(locate_pin(library, mark, is_placed=asked.placed) for mark in pins),
        library.is_read_only,
    )


def star(library: LiveArchive, asked: ToStar) -> NowStarred:
    """Star a session or remove its star, even if the session is gone."""
    file, session = _get_star_file(library), _get_id(library.snapshot, asked.session)
    if asked.on:
        file.star(library.snapshot.session(asked.session).id)
    else:
        file.unstar(session)
    return NowStarred(session, asked.on)


def pin(library: LiveArchive, asked: ToPin) -> NowPinned:
    """Pin a turn or remove its pin, even if the turn is gone."""
    file, session = _get_star_file(library), _get_id(library.snapshot, asked.session)
    if not asked.on:
        file.unpin(session, asked.uuid)
        return NowPinned(session, asked.uuid, on=False)
    conversations = library.open_session(asked.session).conversations_if_any
    turn = PinnedTurn.from_pin(Pin(session, asked.uuid, ""), conversations)
    if turn.why_gone:
        raise UserError(f"no turn starts with the message '{asked.uuid[:80]}'")
    file.pin(session, turn.uuid, turn.turn, turn.words)
    return NowPinned(session, turn.uuid, on=True, turn=turn.turn, words=turn.words)


def locate_pin(library: LiveArchive, pin: Pin, *, is_placed: bool) -> MarkedTurn:
    """Return a pinned turn, with its present place if requested."""
    name = _get_name(library.snapshot, pin.session)
    if name is None or not is_placed:
        why_gone = None if name else PinnedTurn.from_pin(pin, None).why_gone
        return MarkedTurn(pin.session, pin.uuid, pin.at, pin.turn, pin.words, name, None, why_gone)
    files = library.snapshot.session(name).files

    def find() -> PinnedTurn:
        return PinnedTurn.from_pin(pin, library.open_session(name).conversations_if_any)

    turn = library.cache.get_or_make(("pin", name, pin.uuid), (files, pin), find)
    return MarkedTurn(
        pin.session, pin.uuid, pin.at, turn.turn, turn.words, name, turn.line, turn.why_gone
    )


def _get_star_file(library: LiveArchive) -> StarFile:
    return library.snapshot.archive.stars.file


def _get_id(snapshot: Snapshot, name: str) -> str:
    session = snapshot.names.get(name)
    return session.id if session else name


def _get_name(snapshot: Snapshot, session: str) -> str | None:
    return session if session in snapshot.names else None
