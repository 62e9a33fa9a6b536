"""Folders of logs to a tick each time something in them has changed."""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from threading import Event
from time import monotonic
from typing import TYPE_CHECKING

from plait.index.freshness import FileStamp, stamps

if TYPE_CHECKING:
    from plait.archive.archive import Archive
    from plait.archive.model import Session

STEP_MS = 50
SETTLE_MS = 100
POLL = 2.0
IDLE_MS = 500
REST = 200
"""So many times as long as it took, nobody looks at all files again."""


def changes(
    places: Iterable[Path], *, poll: float = POLL, stop: Event | None = None
) -> Iterator[None]:
    """Yields at the beginning and after each change: by the system's own notices where it gives
    them, by looking where it gives none.

    A place need not be there. Its notices end where it goes, and many changes at once are more
    than the system tells: so all files are looked at every few seconds, too.
    """
    watched, ends = list(places), stop or Event()
    try:
        import watchfiles  # noqa: F401  whether it is there
    except ImportError:
        yield from polled_changes(watched, poll, ends)
        return
    look = _Look(watched, poll)
    while not ends.is_set():
        before, is_first = _identities(watched), True
        for is_told in _notices([place for place in watched if place.exists()], ends):
            is_moved = _identities(watched) != before
            # What changed before the notices began was not told.
            if is_told or is_first or is_moved or look.has_changed():
                yield
            is_first = False
            if is_moved:  # another folder lies there, or none: its notices are not ours
                break


def _notices(places: list[Path], stop: Event) -> Iterator[bool]:
    """Yields whether anything was told, again and again; ends where that cannot go on."""
    from watchfiles import watch

    while not places:
        if stop.wait(IDLE_MS / 1000):
            return
        yield False
    with suppress(FileNotFoundError):  # it has gone since
        for told in watch(
            *places,
            watch_filter=None,
            debounce=SETTLE_MS,
            step=STEP_MS,
            rust_timeout=IDLE_MS,
            yield_on_timeout=True,
            raise_interrupt=True,
            stop_event=stop,
            recursive=True,
        ):
            yield bool(told)


def _identities(places: list[Path]) -> list[tuple[int, int] | None]:
    """Returns what tells the folders at some places from others that may lie there."""
    return [_identity(place) for place in places]


def _identity(place: Path) -> tuple[int, int] | None:
    try:
        status = place.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


class _Look:
    """Looks at all files now and then."""

    def __init__(self, places: list[Path], poll: float) -> None:
        self._places, self._poll = places, poll
        self._known: dict[str, FileStamp] = {}
        self._due = 0.0
        self.has_changed()

    def has_changed(self) -> bool:
        """Tells whether a file has changed since it was last looked at; False before it is time."""
        started = monotonic()
        if started < self._due:
            return False
        before, self._known = self._known, stamps(self._places)
        took = monotonic() - started
        self._due = monotonic() + max(self._poll, REST * took)
        return before != self._known


def changed_sessions(
    archive: "Archive", *, poll: float = POLL, stop: Event | None = None
) -> Iterator["Session"]:
    """Yields the sessions that are written to or begun, each time as they are then."""
    known = _marks_of(archive)
    for _ in changes([root.logs for root in archive.roots], poll=poll, stop=stop):
        archive = archive.renewed()
        before, known = known, _marks_of(archive)
        yield from (one for one in archive.sessions if before.get(one.path) != known[one.path])


def _marks_of(archive: "Archive") -> dict[Path, list[tuple[Path, int, float]]]:
    return {
        session.path: [(file.path, file.size, file.modified) for file in session.files]
        for session in archive.sessions
    }


def polled_changes(places: list[Path], poll: float, stop: Event | None = None) -> Iterator[None]:
    """Yields each time the stamps of the files are others than before."""
    before = stamps(places)
    waits = (stop or Event()).wait
    while not waits(poll):
        now = stamps(places)
        if now != before:
            before = now
            yield
