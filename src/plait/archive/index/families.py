"""An index to the families of its sessions, worked out for those that are new or have grown."""

from array import array
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property

from plait.archive.families import families_of, sharing_pairs
from plait.archive.index.fresh import FreshIndex
from plait.archive.model import Session
from plait.archive.stats import began
from plait.index.rows import (
    RowChange,
    keeping_related,
    keeping_related_pairs,
    related_digests,
    related_pairs,
    related_starts,
)


class KnownFamilies:
    """Knows who shares something with whom, and learns it of others."""

    def __init__(self, warm: FreshIndex) -> None:
        self.warm = warm
        self.began = related_starts(warm.catalogue)
        self._pairs = set(related_pairs(warm.catalogue))
        self._new: dict[int, array[int]] = {}

    def unknown(self, sessions: Iterable[Session]) -> list[Session]:
        """Returns the sessions of which it is not known yet."""
        return [one for one in sessions if self.warm.number(one) not in self.began]

    def learn(self, session: Session, found: "array[int]") -> None:
        """Takes in what a session holds or names, if that is new."""
        sid = self.warm.number(session)
        if sid in self.began:
            return
        self.began[sid] = began(session)
        self._new[sid] = found

    def families(self, sessions: Sequence[Session]) -> list[tuple[int, ...]]:
        """Returns sessions by family."""
        return families_of(map(self.warm.number, sessions), self._pairs | self.new_pairs)

    def changes(self) -> Iterator[RowChange]:
        """Yields the changes that keep what was learnt."""
        if self._new:
            yield keeping_related(self.began, self._new)
            yield keeping_related_pairs(self.new_pairs)

    @cached_property
    def new_pairs(self) -> set[tuple[int, int]]:
        """Who shares something with the sessions that were learnt of, all of them by now."""
        return (
            sharing_pairs(self._new, related_digests(self.warm.catalogue)) if self._new else set()
        )
