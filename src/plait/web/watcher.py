"""Folders of logs to what pages are told of them: what has changed, what is being read.

Everything is done in threads of their own: who asks for a page is answered meanwhile.
"""

import sys
from collections.abc import Callable
from threading import Event as Flag
from threading import Thread
from time import monotonic
from typing import TypeAlias

from plait.archive import Session, changes
from plait.archive.live import (
    LARGE,
    PATIENCE,
    LiveArchive,
    Progress,
    Snapshot,
    unread_facts,
)
from plait.conversation.usage import NOTHING
from plait.errors import PlaitError
from plait.web.answers import log
from plait.web.events import Event, Hub
from plait.web.pages.session import body

QUIET = 2.0
"""Seconds without a request after which nobody is kept waiting."""
MOST, MOST_BYTES = 12, 200_000_000
"""Sessions that are read, the newest first, and the bytes of their logs together."""


def _read_ahead(library: LiveArchive, stop: Flag) -> None:
    while not stop.wait(QUIET) and library.reading.is_under_way:
        pass
    if stop.is_set():
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
REST, LONGEST_REST = 9, 20.0
"""How much longer than it took to index what was new the next time has to wait; seconds at most."""
MUCH = 8_000_000
"""Bytes to be read from which on it is said that they are."""
TELL, SHOW = 0.25, 2.0
"""Seconds between two words on how far it has come, and between two looks at what is there."""
BUSY = 1.0
"""Seconds after which it is tried again, where another process writes the index."""
Told: TypeAlias = Callable[[Progress | None], None]
"""Is told how far the reading has come; None where there is nothing to be read."""


class StoppedError(Exception):
    """Nobody needs any more what is being read."""


class Watcher:
    """Looks on in threads of its own until it is stopped.

    One tells what has changed as soon as it has. Another reads what is new, the newest first: for
    lists, then for the index. The third reads ahead while nobody asks.
    """

    def __init__(self, library: LiveArchive, hub: Hub, told: Told = lambda _: None) -> None:
        self.library = library
        self.hub = hub
        self._tell_others = told
        self._stop = Flag()
        self._is_behind = Flag()
        self._told = self._shown = 0.0
        self._lost = library.lost
        self._threads = (
            Thread(target=self._watch, name="plait-watcher", daemon=True),
            Thread(target=self._read, name="plait-reader", daemon=True),
            Thread(
                target=_read_ahead, args=(library, self._stop), name="plait-warmer", daemon=True
            ),
        )

    def start(self) -> None:
        """Begins to look."""
        sys.setswitchinterval(SWITCH)
        self.library.patience = PATIENCE
        if not self.library.is_indexed:
            self.library.reading.begin(Progress())
            self._tell()
            self._is_behind.set()
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """Ends within a moment."""
        self._stop.set()
        self._is_behind.set()
        for thread in filter(Thread.is_alive, self._threads):
            thread.join(timeout=1)

    def _watch(self) -> None:
        before = self.library.now
        for _ in changes(self.library.places, stop=self._stop):
            if self._stop.is_set():
                return
            try:
                before = self.look(before)
            except Exception:  # what cannot be looked at now can be later
                log.exception("looking at what has changed failed")

    def look(self, before: Snapshot) -> Snapshot:
        """Tells what has changed since; returns how it is now."""
        self.library.renew()
        now = self.library.now
        if self._lost != self.library.lost:
            self._lost = self.library.lost
            self._end()
        changed = now.changed_since(before)
        events = [Event("session", name, size) for name, size in changed.items()]
        self.hub.tell([*events, Event("sessions")] if events else ())
        self._is_behind.set()
        return now

    def _read(self) -> None:
        while self._is_behind.wait() and not self._stop.is_set():
            self._is_behind.clear()
            start = monotonic()
            try:
                self.read_new()
            except StoppedError:
                return
            except Exception:
                log.exception("reading what is new failed")
                self._end("something went wrong in Plait: the terminal says what")
            self._stop.wait(min(REST * (monotonic() - start), LONGEST_REST))

    def read_new(self) -> None:
        """Reads what is new, and says so: for lists, then for the index."""
        if self.library.reading.is_under_way:
            archive = self.library.now.archive
            total = sum(file.size for file in archive.files)
            self.library.reading.go_on(Progress(len(archive.sessions), 0, total))
            self._tell()
        self._list_unread()
        while not self.take_in():
            if self._stop.wait(BUSY):
                return

    def _list_unread(self) -> None:
        state = self.library.now
        if not state.unread:
            return
        found = {}
        for session, facts in unread_facts(state):
            found[session.path] = facts
            if self._is_time(done=0, total=1):
                self.library.learn(found)
                self.hub.tell([Event("sessions")])
        self.library.learn(found)
        self.hub.tell([Event("sessions")])

    def take_in(self) -> bool:
        """Brings the index up to date, and says so; tells whether nobody else was at it."""
        was_behind = self.library.reading.is_under_way
        if self.library.lost:
            self._end()
            return True
        try:
            report = self.library.now.archive.update_index(wait=0.1, watch=self._meter)
        except PlaitError as error:
            if error.__cause__ is None and was_behind:  # another process makes it
                return False
            self._end(error.message)
            return True
        self._end()
        if was_behind or not report.is_unchanged:
            self.library.indexed()
            self.hub.tell([Event("index")])
        return True

    def _meter(self, done: int, total: int) -> None:
        reading = self.library.reading
        if total >= MUCH and not reading.is_under_way:
            reading.begin(Progress())
        if not self._is_time(done, total) or not reading.is_under_way:
            return
        sessions = len(self.library.now.archive.sessions)
        reading.go_on(Progress(sessions, done, total))
        self._tell()
        if monotonic() > self._shown + SHOW:
            self._shown = monotonic()
            self.library.indexed()
            self.hub.tell([Event("index")])

    def _is_time(self, done: int, total: int) -> bool:
        """Tells whether it is time for a word; ends where nobody wants to hear one."""
        if self._stop.is_set():
            raise StoppedError
        if done < total and monotonic() < self._told + TELL:
            return False
        self._told = monotonic()
        return True

    def _end(self, problem: str = "") -> None:
        """Says that nothing is being read, and why; what was said already is not said again."""
        reading = self.library.reading
        before = reading.progress
        reading.end(problem or _lost(self.library))
        if reading.progress != before:
            self._tell()

    def _tell(self) -> None:
        found = self.library.reading.progress
        event = Event("reading", words=found.words if found else "", share=_share(found))
        self.hub.standing = event if found else None
        self.hub.tell([event])
        self._tell_others(found)


def _lost(library: LiveArchive) -> str:
    if not library.lost:
        return ""
    places = ", ".join(f"'{path}'" for path in library.lost)
    are, it = ("are", "they hold") if len(library.lost) > 1 else ("is", "it holds")
    return f"{places} {are} not there: what {it} is shown when it is"


def _share(found: Progress | None) -> float:
    return round(found.share, 3) if found else 1.0
