"""Threads that watch the log folders: they publish changes, index what is new, read ahead."""

import sys
from collections.abc import Callable
from contextlib import suppress
from threading import Event as Flag
from threading import Thread
from time import monotonic
from typing import TypeAlias

from plait.archive import Session, watch_changes
from plait.archive.live import (
    LIST_SECONDS,
    MIN_BYTES,
    LiveArchive,
    ReadingProgress,
    Snapshot,
    read_unread_facts,
)
from plait.conversation.usage import NO_TOKENS
from plait.errors import PlaitError
from plait.web.events import Event, Hub
from plait.web.pages.session import render_body
from plait.web.responses import log

QUIET = 2.0
"""Seconds without a request after which reading ahead disturbs nobody."""
MOST, MOST_BYTES = 12, 200_000_000
"""Sessions to read ahead, newest first, and their total size."""


def _prepare_pages(library: LiveArchive, stop: Flag) -> None:
    """Render the pages of large new sessions ahead, while nobody requests anything."""
    while not stop.wait(QUIET) and library.reading.is_under_way:
        pass
    if stop.is_set():
        return
    library.prices.cost("claude", NO_TOKENS, None)  # the price list is large as well
    chosen: list[tuple[str, Session]] = []
    room = MOST_BYTES
    for name, session in sorted(library.snapshot.names.items(), key=lambda item: -item[1].modified):
        size = sum(file.size for file in session.files)
        if len(chosen) < MOST and MIN_BYTES <= size <= room:
            room -= size
            chosen.append((name, session))
    for name, session in chosen:
        while monotonic() - library.last_read < QUIET:
            if stop.wait(QUIET):
                return
        if stop.wait(0.2):
            return
        if library.find_cached_page(name, session) is not None:
            continue
        last_request = library.last_read
        with suppress(PlaitError):  # gone since
            opened = library.open_session(name)
            library.pages.save(name, opened.fingerprint, render_body(opened))
        library.last_read = last_request


SWITCH = 0.001
"""Seconds after which a working thread yields to one that answers."""
REST, LONGEST_REST = 9, 20.0
"""Minimum pause between two indexing runs, as a multiple of the time one takes; maximum in
seconds.
"""
MUCH = 8_000_000
"""Size from which reading is announced."""
PROGRESS_SECONDS, RELOAD_SECONDS = 0.25, 2.0
"""Seconds between two progress reports, and between two checks of the present state."""
BUSY = 1.0
"""Seconds until the next attempt if another process writes the index."""
ReadingCallback: TypeAlias = Callable[[ReadingProgress | None], None]
"""Called with the progress of reading; None if there is nothing to read."""


class StoppedError(Exception):
    """Reading was stopped because the server ends."""


class Watcher:
    """Watches in threads of its own until it is stopped.

    One publishes changes at once. Another reads what is new, newest first: for lists, then for the
    index. The third reads ahead while there are no requests.
    """

    def __init__(
        self, library: LiveArchive, hub: Hub, on_progress: ReadingCallback = lambda _: None
    ) -> None:
        self.library = library
        self.hub = hub
        self._on_progress = on_progress
        self._stop = Flag()
        self._has_work = Flag()
        self._last_publish = self._last_reload = 0.0
        self._missing_roots = library.missing_roots
        self._threads = (
            Thread(target=self._watch, name="plait-watcher", daemon=True),
            Thread(target=self._read, name="plait-reader", daemon=True),
            Thread(
                target=_prepare_pages, args=(library, self._stop), name="plait-warmer", daemon=True
            ),
        )

    def start(self) -> None:
        """Start the threads."""
        sys.setswitchinterval(SWITCH)
        self.library.patience = LIST_SECONDS
        if not self.library.is_index_fresh:
            self.library.reading.begin(ReadingProgress())
            self._publish_progress()
            self._has_work.set()
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """Stop within a moment."""
        self._stop.set()
        self._has_work.set()
        for thread in filter(Thread.is_alive, self._threads):
            thread.join(timeout=1)

    def _watch(self) -> None:
        before = self.library.snapshot
        for _ in watch_changes(self.library.places, stop=self._stop):
            if self._stop.is_set():
                return
            try:
                before = self.publish_changes(before)
            except Exception:  # what cannot be read now may be readable later
                log.exception("checking for changes failed")

    def publish_changes(self, before: Snapshot) -> Snapshot:
        """Publish what has changed since; return the current snapshot."""
        self.library.refresh()
        current = self.library.snapshot
        if self._missing_roots != self.library.missing_roots:
            self._missing_roots = self.library.missing_roots
            self._finish()
        changed = current.changed_since(before)
        events = [Event("session", name, size) for name, size in changed.items()]
        self.hub.publish([*events, Event("sessions")] if events else ())
        self._has_work.set()
        return current

    def _read(self) -> None:
        while self._has_work.wait() and not self._stop.is_set():
            self._has_work.clear()
            start = monotonic()
            try:
                self.read_new()
            except StoppedError:
                return
            except Exception:
                log.exception("reading new lines failed")
                self._finish("something went wrong in Plait: see the terminal for details")
            self._stop.wait(min(REST * (monotonic() - start), LONGEST_REST))

    def read_new(self) -> None:
        """Read what is new for lists, then for the index, and publish it."""
        if self.library.reading.is_under_way:
            archive = self.library.snapshot.archive
            total = sum(file.size for file in archive.files)
            self.library.reading.update(ReadingProgress(len(archive.sessions), 0, total))
            self._publish_progress()
        self._read_unread_facts()
        while not self.update_index():
            if self._stop.wait(BUSY):
                return

    def _read_unread_facts(self) -> None:
        state = self.library.snapshot
        if not state.unread:
            return
        facts_by_path = {}
        for session, facts in read_unread_facts(state):
            facts_by_path[session.path] = facts
            if self._is_report_due(done=0, total=1):
                self.library.add_facts(facts_by_path)
                self.hub.publish([Event("sessions")])
        self.library.add_facts(facts_by_path)
        self.hub.publish([Event("sessions")])

    def update_index(self) -> bool:
        """Update the index and publish that; return whether no other process was doing so."""
        was_reading = self.library.reading.is_under_way
        if self.library.missing_roots:
            self._finish()
            return True
        try:
            report = self.library.snapshot.archive.update_index(
                wait=0.1, watch=self._report_progress
            )
        except PlaitError as error:
            if error.__cause__ is None and was_reading:  # another process is building it
                return False
            self._finish(error.message)
            return True
        self._finish()
        if was_reading or not report.is_unchanged:
            self.library.reload_facts()
            self.hub.publish([Event("index")])
        return True

    def _report_progress(self, done: int, total: int) -> None:
        reading = self.library.reading
        if total >= MUCH and not reading.is_under_way:
            reading.begin(ReadingProgress())
        if not self._is_report_due(done, total) or not reading.is_under_way:
            return
        sessions = len(self.library.snapshot.archive.sessions)
        reading.update(ReadingProgress(sessions, done, total))
        self._publish_progress()
        if monotonic() > self._last_reload + RELOAD_SECONDS:
            self._last_reload = monotonic()
            self.library.reload_facts()
            self.hub.publish([Event("index")])

    def _is_report_due(self, done: int, total: int) -> bool:
        """Return whether a report is due; raise if reading was cancelled."""
        if self._stop.is_set():
            raise StoppedError
        if done < total and monotonic() < self._last_publish + PROGRESS_SECONDS:
            return False
        self._last_publish = monotonic()
        return True

    def _finish(self, problem: str = "") -> None:
        """Publish that reading has ended, and why."""
        missing = self.library.missing_roots
        if missing and not problem:
            paths = ", ".join(f"'{path}'" for path in missing)
            verb, subject = ("do", "they are") if len(missing) > 1 else ("does", "it is")
            problem = f"{paths} {verb} not exist; sessions appear once {subject} created"
        reading = self.library.reading
        previous = reading.progress
        reading.end(problem)
        if reading.progress != previous:
            self._publish_progress()

    def _publish_progress(self) -> None:
        progress = self.library.reading.progress
        event = Event(
            "reading",
            words=progress.description if progress else "",
            share=round(progress.share, 3) if progress else 1.0,
        )
        self.hub.first_event = event if progress else None
        self.hub.publish([event])
        self._on_progress(progress)
