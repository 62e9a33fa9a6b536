"""Folders of logs to events: what has changed is indexed, and those who look on are told."""

import sys
from threading import Event as Flag
from threading import Thread
from time import monotonic

from plait.archive import Session, changes
from plait.archive.live import LARGE, LiveArchive, Snapshot
from plait.conversation.usage import NOTHING
from plait.errors import PlaitError
from plait.web.events import Event, Hub
from plait.web.pages.session import body

QUIET = 2.0
"""Seconds without a request after which nobody is kept waiting."""
MOST, MOST_BYTES = 12, 200_000_000
"""Sessions that are read, the newest first, and the bytes of their logs together."""


def _read_ahead(library: LiveArchive, stop: Flag) -> None:
    if stop.wait(QUIET):
        return
    library.prices.cost("claude", NOTHING, None)  # the list of prices is large as well
    for name, session in _worth_reading(library):
        while monotonic() - library.asked < QUIET:
            if stop.wait(QUIET):
                return
        if stop.wait(0.2):
            return
        _draw_page(library, name, session)


def _worth_reading(library: LiveArchive) -> list[tuple[str, Session]]:
    found: list[tuple[str, Session]] = []
    room = MOST_BYTES
    newest = sorted(library.now.names.items(), key=lambda one: -one[1].modified)
    for name, session in newest:
        size = sum(file.size for file in session.files)
        if len(found) < MOST and LARGE <= size <= room:
            room -= size
            found.append((name, session))
    return found


def _draw_page(library: LiveArchive, name: str, session: Session) -> None:
    if library.kept_page(name, session) is not None:
        return
    asked = library.asked
    try:
        one = library.opened(name)
        library.pages.keep(name, one.mark, body(one))
    except PlaitError:  # gone since
        return
    finally:
        library.asked = asked


SWITCH = 0.001
"""Seconds after which a thread that works lets one that answers go first."""
REST = 9
"""How much longer than it took to index what was new the next time has to wait."""


class Watcher:
    """Looks on in threads of its own until it is stopped.

    One tells what has changed as soon as it has. Another brings the index up to date, which may
    take longer where a large session has turned. The third reads ahead while nobody asks.
    """

    def __init__(self, library: LiveArchive, hub: Hub) -> None:
        self.library = library
        self.hub = hub
        self._stop = Flag()
        self._is_behind = Flag()
        self._threads = (
            Thread(target=self._watch, name="plait-watcher", daemon=True),
            Thread(target=self._index, name="plait-indexer", daemon=True),
            Thread(
                target=_read_ahead, args=(library, self._stop), name="plait-warmer", daemon=True
            ),
        )

    def start(self) -> None:
        """Begins to look."""
        sys.setswitchinterval(SWITCH)
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """Ends within a moment."""
        self._stop.set()
        self._is_behind.set()
        for thread in self._threads:
            thread.join(timeout=1)

    def _watch(self) -> None:
        places = [root.logs for root in self.library.now.archive.roots]
        before = self.library.now
        for _ in changes(places, stop=self._stop):
            if self._stop.is_set():
                return
            before = self.look(before)

    def look(self, before: Snapshot) -> Snapshot:
        """Tells what has changed since; returns how it is now."""
        self.library.renew()
        now = self.library.now
        changed = now.changed_since(before)
        events = [Event("session", name, size) for name, size in changed.items()]
        self.hub.tell([*events, Event("sessions")] if events else ())
        self._is_behind.set()
        return now

    def _index(self) -> None:
        while self._is_behind.wait() and not self._stop.is_set():
            self._is_behind.clear()
            start = monotonic()
            self.take_in()
            self._stop.wait(REST * (monotonic() - start))

    def take_in(self) -> None:
        """Brings the index up to date, and says so."""
        try:
            report = self.library.now.archive.update_index(wait=0.1)
        except PlaitError:  # another process writes the index: its turn, or next time
            return
        if not report.is_unchanged:
            self.library.indexed()
            self.hub.tell([Event("index")])
