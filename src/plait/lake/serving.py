"""A lake and a policy to what each person is shown, as both are at the time."""

import time
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path
from threading import Lock

from plait.errors import ConfigError
from plait.lake.asking import Asking, Kept, asking
from plait.lake.policy import Policy, read_policy
from plait.lake.sight import RestMonth, Sight

FRESH = 30.0
"""Seconds for which what somebody sees is kept before the lake is looked at again."""
OWNER = ""
"""Whoever serves a lake without a policy: they can read all of its files."""


class PolicyFile:
    """A policy that is read again when its file changes; a wrong one lets nobody in."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._policy = read_policy(path)
        self._mark = self._stamp()

    def __call__(self) -> Policy:
        mark = self._stamp()
        if mark is None or mark != self._mark:
            self._policy, self._mark = self._read(), mark
        return self._policy

    def _read(self) -> Policy:
        try:
            return read_policy(self.path)
        except ConfigError:
            return Policy()

    def _stamp(self) -> tuple[int, int, int] | None:
        try:
            found = self.path.stat()
        except OSError:
            return None
        return found.st_mtime_ns, found.st_size, found.st_ino


class ServedLake:
    """Gives each person what they may ask."""

    def __init__(
        self,
        lake: Kept,
        policy: Callable[[], Policy] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.lake = lake
        self.policy = policy
        self._clock = clock
        self._lock = Lock()
        self._kept: dict[str, tuple[float, Policy | None, Asking]] = {}

    def sight(self, name: str) -> Asking:
        """Returns what answers to somebody."""
        policy = self.policy() if self.policy else None
        with self._lock:
            kept = self._kept.get(name)
            if kept and kept[1] == policy and self._clock() - kept[0] < FRESH:
                return kept[2]
            made = Sight(self.lake, policy, name) if policy else asking(self.lake)
            self._kept[name] = (self._clock(), policy, made)
            return made

    def rest(self, name: str, now: datetime | None = None) -> Iterator[RestMonth]:
        """Yields what the sessions came to that somebody does not see; nothing to the owner."""
        found = self.sight(name)
        if isinstance(found, Sight):
            yield from found.rest(now)
