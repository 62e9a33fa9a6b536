"""Watching folders of logs for changes, by the system's notifications or by polling."""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from threading import Event
from time import monotonic

from plait.index.freshness import FileStamp, scan_stamps
from plait.sessions.library import SessionLibrary
from plait.sessions.model import Session

STEP_MS = 50
SETTLE_MS = 100
POLL = 2.0
IDLE_MS = 500
REST = 200
"""Minimum pause between two polls, as a multiple of the time one takes."""


def watch_changes(
    places: Iterable[Path], *, poll_seconds: float = POLL, stop: Event | None = None
) -> Iterator[None]:
    """Yield at the start and after each change, by the system's notifications or else by polling.

    A folder need not exist. Its notifications end when it is removed, and many changes at once are
    more than the system reports: so all files are polled every few seconds, too.
    """
    watched, ends = list(places), stop or Event()
    try:
        import watchfiles  # noqa: F401  whether it is there
    except ImportError:
        yield from poll_changes(watched, poll_seconds, ends)
        return
    look = _Poller(watched, poll_seconds)
    while not ends.is_set():
        before, is_first = _read_identities(watched), True
        for is_notified in _iter_notices([place for place in watched if place.exists()], ends):
            is_moved = _read_identities(watched) != before
            # What changed before the notifications began was not reported.
            if is_notified or is_first or is_moved or look.has_changed():
                yield
            is_first = False
            if is_moved:  # another folder is there now, or none: its notifications are not ours
                break


def _iter_notices(places: list[Path], stop: Event) -> Iterator[bool]:
    """Yield whether anything changed, again and again; end when that is no longer possible."""
    from watchfiles import watch

    while not places:
        if stop.wait(IDLE_MS / 1000):
            return
        yield False
    with suppress(FileNotFoundError):  # it has been removed since
        for changes in watch(
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
            yield bool(changes)


def _read_identities(places: list[Path]) -> list[tuple[int, int] | None]:
    """Return the identities of the folders at some places, to notice when they are replaced."""
    return [_read_identity(place) for place in places]


def _read_identity(place: Path) -> tuple[int, int] | None:
    try:
        status = place.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


class _Poller:
    """Polls all files now and then."""

    def __init__(self, places: list[Path], poll: float) -> None:
        self._places, self._poll = places, poll
        self._known: dict[str, FileStamp] = {}
        self._due = 0.0
        self.has_changed()

    def has_changed(self) -> bool:
        """Return whether a file has changed since the last poll; False before the next is due."""
        started = monotonic()
        if started < self._due:
            return False
        before, self._known = self._known, scan_stamps(self._places)
        took = monotonic() - started
        self._due = monotonic() + max(self._poll, REST * took)
        return before != self._known


def watch_sessions(
    archive: SessionLibrary, *, poll: float = POLL, stop: Event | None = None
) -> Iterator["Session"]:
    """Yield the sessions that are written to or started, each time with their present state."""
    known = _snapshot_files(archive)
    for _ in watch_changes([root.logs for root in archive.roots], poll_seconds=poll, stop=stop):
        archive = archive.reopen()
        before, known = known, _snapshot_files(archive)
        yield from (
            session
            for session in archive.sessions
            if before.get(session.path) != known[session.path]
        )


def _snapshot_files(archive: SessionLibrary) -> dict[Path, list[tuple[Path, int, float]]]:
    return {
        session.path: [(file.path, file.size, file.modified) for file in session.files]
        for session in archive.sessions
    }


def poll_changes(places: list[Path], poll: float, stop: Event | None = None) -> Iterator[None]:
    """Yield whenever the stamps of the files have changed."""
    before = scan_stamps(places)
    waits = (stop or Event()).wait
    while not waits(poll):
        now = scan_stamps(places)
        if now != before:
            before = now
            yield
