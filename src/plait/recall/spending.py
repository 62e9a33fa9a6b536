"""Spending in columns that a server sums for each answer and that follow sessions as they grow.

Sessions are counted one at a time, so that the responses of a large archive are never in memory
together: the columns are twenty times smaller.
"""

from array import array
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from itertools import islice
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from plait.usage.index_rows import IndexedBills
from plait.usage.responses import (
    ReadBills,
    count_responses,
    list_billed_paths,
    make_bill_reader,
)

if TYPE_CHECKING:
    from plait.archive import Archive
    from plait.sessions.fresh_index import FreshIndex
    from plait.sessions.model import Session

UNTIMED = -1e12
"""Before every year."""
MOST_READ = 40_000_000
"""Bytes of changed logs up to which they are read rather than their rows of the index."""


class SpendingGroup(NamedTuple):
    """What the responses of a sum have in common."""

    project: str
    model: str
    session: str
    is_priced: bool


class Columns:
    """The responses of a session, or of several that share some."""

    def __init__(self, archive: "Archive", sessions: "Sequence[Session]", read: ReadBills) -> None:
        self.groups: dict[SpendingGroup, int] = {}
        self.numbers = array("q")
        """The group of each response, by its number."""
        self.times, self.costs, self.tokens = array("d"), array("d"), array("q")
        self.keys = array("q", (hash(("session", session.id)) for session in sessions))
        """What it has in common with the columns it must be counted with."""
        counted = count_responses(sessions, read=read)
        for key, response in zip(counted.keys, counted.responses, strict=True):
            cost = archive.prices.cost(response.model, response.tokens, response.time)
            group = SpendingGroup(
                response.project, response.model or "", response.session, cost is not None
            )
            self.numbers.append(self.groups.setdefault(group, len(self.groups)))
            self.times.append(response.time.timestamp() if response.time else UNTIMED)
            self.costs.append(cost or 0.0)
            self.tokens.append(response.tokens.total)
            if isinstance(key, str):
                self.keys.append(hash(key))


class Spending:
    """The time, cost and tokens of every response, and which sessions share responses."""

    def __init__(self) -> None:
        self._columns: dict[frozenset[Path], Columns] = {}
        """By the sessions that are counted together: those with the same id or response."""
        self._counted: Mapping[Path, object] = {}
        """The id of each session, and its files when it was counted, with size and time."""

    def find_related(self, session: "Session") -> frozenset[Path]:
        """Return a session with those that must be counted with it."""
        own = frozenset({session.path})
        return next((paths for paths in self._columns if session.path in paths), own)

    def update(self, archive: "Archive", sessions: "Sequence[Session]") -> None:
        """Count the sessions that are new or have changed, and drop all others that are gone."""
        now = {session.path: (session.id, session.files) for session in sessions}
        changed = {path for path, _ in now.items() ^ self._counted.items()}
        if not changed:
            return
        for paths in [paths for paths in self._columns if paths & changed]:
            del self._columns[paths]
            changed |= paths
        due = [session for session in sessions if session.path in changed]
        if sum(session.bytes for session in due) < MOST_READ:
            self._count(archive, due, make_bill_reader(1, []))
        else:

            def count_from_index(index: "FreshIndex") -> None:
                read = IndexedBills(index)
                self._count(archive, due, read)
                read.save()

            read = make_bill_reader(archive.jobs, archive.worker_failures)
            archive.answer(count_from_index, lambda: self._count(archive, due, read))
        self._counted = now

    def _count(self, archive: "Archive", sessions: "Sequence[Session]", read: ReadBills) -> None:
        """Count each session by itself, then those together that turn out to be related."""
        counted = dict(self._columns)
        related = {path: set[Path](paths) for paths in counted for path in paths}
        owners = {
            key: next(iter(paths)) for paths, columns in counted.items() for key in columns.keys
        }
        by_path = {session.path: session for session in archive.sessions}
        files = {file.path: file for session in sessions for file in session.files}
        # One call for all files: it may start worker processes.
        bills = read([files[path] for session in sessions for path in list_billed_paths([session])])
        for session in sessions:
            columns = Columns(archive, [session], lambda own: islice(bills, len(own)))
            counted[frozenset({session.path})] = columns
            together = {session.path}
            for key in columns.keys:
                together |= related.get(owners.setdefault(key, session.path), set())
            related |= dict.fromkeys(together, together)
        self._columns = {}
        for paths in dict.fromkeys(map(frozenset, related.values())):
            self._columns[paths] = counted.get(paths) or Columns(
                archive, [by_path[path] for path in sorted(paths)], read
            )

    def sum(
        self,
        start: datetime | None,
        end: datetime | None,
        project: str | None,
        project_of: Callable[[str], str],
    ) -> Mapping[SpendingGroup, tuple[float, int]]:
        """Return dollars and tokens by group, in a period and a project; without empty groups."""
        # Responses without a time are in no period.
        first = start.timestamp() if start else UNTIMED + 1 if end else UNTIMED
        last = end.timestamp() if end else inf
        sums: dict[SpendingGroup, tuple[float, int]] = {}
        for columns in self._columns.values():
            dollars, tokens = [0.0] * len(columns.groups), [0] * len(columns.groups)
            rows = zip(columns.times, columns.numbers, columns.costs, columns.tokens, strict=True)
            for time, number, cost, count in rows:
                if first <= time < last:
                    dollars[number] += cost
                    tokens[number] += count
            for found, cost, count in zip(columns.groups, dollars, tokens, strict=True):
                group = found._replace(project=project_of(found.project))
                if (cost or count) and project in (None, group.project):
                    known = sums.get(group, (0.0, 0))
                    sums[group] = known[0] + cost, known[1] + count
        return sums
