"""Kept sessions to those of them that lie elsewhere since: a session that moved is one session.

    kept   projects/-home-me-shop/<id>.jsonl
    then   projects/-srv-shop/<id>.jsonl        the same id below the same root, no older, and
                                                not kept there before: it is this session

Two logs with one id that were kept side by side are two, and stay two.
"""

import os
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from plait.archive.sessions import is_uuid
from plait.line.discover import SUFFIX

if TYPE_CHECKING:
    from plait.keep.model import KeptSession

GRAIN = 1000
"""Nanoseconds by which a time may differ that was told in seconds."""


@dataclass(frozen=True, slots=True)
class Log:
    """A session's own log: where it lies or lay, when it was written to, when it was kept."""

    place: str
    modified: int
    kept: str | None

    def is_later_than(self, other: "Log") -> bool:
        """Tells whether this is what became of another one."""
        return (
            self.place != other.place
            and self.modified + GRAIN >= other.modified
            and (self.kept is None or self.kept > (other.kept or ""))
        )


class Moves:
    """Where sessions lie and lay, by their roots and ids."""

    def __init__(
        self, kept: Iterable["KeptSession"], here: Mapping[str, float] | None = None
    ) -> None:
        self._logs: dict[tuple[str, str], dict[str, Log]] = defaultdict(dict)
        self._real: dict[str, str] = {}
        for one in kept:
            log = self._log_of(one)
            if log:
                self._logs[self._key(one)][log.place] = log
        if here and self._logs:
            self._add(here)

    def _add(self, here: Mapping[str, float]) -> None:
        """Takes in the logs that are at their source, with their times in seconds."""
        names = defaultdict(list)
        for root, name in self._logs:
            names[name].append(root)
        for place, seconds in here.items():
            name = os.path.basename(place).removesuffix(SUFFIX)  # noqa: PTH119
            for root in names.get(name, ()):
                if place.startswith(f"{root}{os.sep}"):
                    logs = self._logs[root, name]
                    known = logs.get(place)
                    logs[place] = Log(place, round(seconds * 1e9), known.kept if known else None)

    def has_left(self, kept: "KeptSession") -> bool:
        """Tells whether a kept session lies elsewhere since, or did when it was kept again."""
        own = self._log_of(kept)
        logs = self._logs.get(self._key(kept), {})
        return own is not None and any(log.is_later_than(own) for log in logs.values())

    def _key(self, kept: "KeptSession") -> tuple[str, str]:
        if kept.root not in self._real:
            self._real[kept.root] = os.path.realpath(kept.root)
        return self._real[kept.root], kept.session

    def _log_of(self, kept: "KeptSession") -> Log | None:
        log = kept.log
        if log is None or not is_uuid(kept.session) or not log.path.endswith(_name(kept)):
            return None
        place = os.path.join(self._key(kept)[0], *log.path.split("/"))  # noqa: PTH118
        return Log(place, log.modified, log.kept)


def _name(kept: "KeptSession") -> str:
    return f"/{kept.session}{SUFFIX}"


def earlier_places(kept: "KeptSession", others: Iterable["KeptSession"]) -> list["KeptSession"]:
    """Returns a session as it was kept where it lay before it moved."""
    same = [one for one in others if (one.root, one.session) == (kept.root, kept.session)]
    return [one for one in same if one != kept and Moves([kept, one]).has_left(one)]
