"""The index of a server: built and updated beside the questions, which never wait for it long."""

import ctypes
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import Timer
from typing import TYPE_CHECKING

from plait.errors import PlaitError
from plait.index.freshness import FileStamp, is_fresh, load_stamps
from plait.sessions.model import ProgressCallback

if TYPE_CHECKING:
    from plait.archive import Archive

FRESH_SECONDS = 3.0
"""How long the folders are taken to be as they were."""
PATIENCE = 1.0
"""Seconds for which a question waits for an update."""


@dataclass
class BackgroundIndex:
    """Keeps an index up to date in a thread of its own."""

    folder: Path
    report: ProgressCallback | None = None
    """Receives how much of an update is done; may change while one runs."""
    problem: str = ""
    _is_there: bool = False
    _thread: Timer | None = None
    _checked: float = -FRESH_SECONDS
    _stamps: dict[str, FileStamp] = field(default_factory=dict)
    """Of the files of the archive that answers."""

    @property
    def is_running(self) -> bool:
        """Return whether it is being built or updated now."""
        return self._thread is not None and self._thread.is_alive()

    @property
    def exists(self) -> bool:
        """Return whether there is an index that can answer; once there is, it stays."""
        self._is_there = self._is_there or bool(load_stamps(self.folder))
        return self._is_there

    def refresh(self, archive: "Archive", caller: str | None) -> "Archive":
        """Return the archive as it is now, with its index updated; the old one while that lasts.

        A question waits a moment for the update, unless only the session that asks went on.
        """
        if time.monotonic() - self._checked < FRESH_SECONDS:
            return archive
        self._checked = time.monotonic()
        now = archive.reopen()
        stamps = now.inventory.stamps()
        changed = {path for path, _ in stamps.items() ^ self._stamps.items()}
        if not changed:
            return archive
        if not self.is_running and not is_fresh(self.folder, stamps):
            # The first answer comes from the logs: building would take the processors from it.
            delay = 0.0 if self.exists else PATIENCE
            self._thread = Timer(delay, self._update, (now.reopen(),))
            self._thread.daemon = True
            self._thread.start()
        is_waiting = caller is None or any(caller not in path for path in changed)
        if self._thread and self.exists and is_waiting:
            self._thread.join(PATIENCE)
        if self.is_running:
            return archive
        self._stamps = stamps
        return now

    def _update(self, archive: "Archive") -> None:
        def watch(done: int, total: int) -> None:
            if report := self.report:
                report(done, total)

        try:
            archive.update_index(self.folder, watch=watch)
            self.problem = ""
        except PlaitError as error:
            self.problem = error.message
        release_memory()


def release_memory() -> None:
    """Give freed memory back to the system; glibc keeps it in fragments otherwise."""
    with suppress(OSError, AttributeError):  # another C library
        ctypes.CDLL(None).malloc_trim(0)
