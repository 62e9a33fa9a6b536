"""Folders of logs to a tick each time something in them has changed."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING

from plait.index.freshness import stamps

if TYPE_CHECKING:
    from plait.archive.archive import Archive
    from plait.archive.model import Session

STEP_MS = 50
SETTLE_MS = 100
POLL = 2.0
IDLE_MS = 500
OFTEN = 600


def changes(
    places: Iterable[Path], *, poll: float = POLL, stop: Event | None = None
) -> Iterator[None]:
    """Yields after each change; by the system's own notices, by looking where it gives none."""
    try:
        from watchfiles import watch
    except ImportError:
        yield from polled_changes(list(places), poll, stop)
        return
    told = watch(
        *places,
        watch_filter=None,
        debounce=SETTLE_MS,
        step=STEP_MS,
        rust_timeout=IDLE_MS,
        yield_on_timeout=True,
        raise_interrupt=True,
        stop_event=stop,
        recursive=True,
    )
    for number, change in enumerate(told):
        # What changed before the notices began, or was not told, is seen now and then.
        if change or number % OFTEN == 0:
            yield


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
