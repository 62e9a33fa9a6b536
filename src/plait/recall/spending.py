"""What was spent, in columns that a server answers from, and that follow sessions as they go on.

Counting the responses of a large archive takes a third of a second; summing these columns takes a
hundredth, and they are twenty times smaller than the responses.
"""

from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from itertools import compress
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from plait.usage.responses import CountedResponses, count_responses, list_billed_paths

if TYPE_CHECKING:
    from plait.archive import Archive
    from plait.sessions.model import Session

UNTIMED = -1e12
"""Before every year."""
MOST_RECOUNTED = 40_000_000
"""Bytes of logs up to which changed sessions are counted alone."""


class SpendingGroup(NamedTuple):
    """What the responses of a sum have in common."""

    project: str
    model: str
    session: str
    is_priced: bool


class Spending:
    """The time, cost and tokens of every response, and which sessions share responses."""

    def __init__(self, archive: "Archive", sessions: "Sequence[Session] | None" = None) -> None:
        self.sharing: dict[Path, set[Path]] = {}
        """The sessions that hold responses of others, each with all that must be counted with it."""
        self._groups: dict[SpendingGroup, int] = {}
        self._times, self._costs = array("d"), array("d")
        self._tokens, self._numbers, self._keys = array("q"), array("q"), array("q")
        chosen = archive.sessions if sessions is None else sessions
        self._counted = {session.path: (session.id, session.files) for session in chosen}
        """The id of each session, and its files when it was counted, with size and time."""
        counted = archive.responses() if sessions is None else count_responses(chosen)
        self._add(archive, chosen, counted)

    def _add(
        self, archive: "Archive", sessions: "Sequence[Session]", counted: CountedResponses
    ) -> None:
        for key, response in zip(counted.keys, counted.responses, strict=True):
            model, tokens, moment = response.model, response.tokens, response.time
            cost = archive.prices.cost(model, tokens, moment)
            is_priced = cost is not None
            group = SpendingGroup(response.project, model or "", response.session, is_priced)
            self._times.append(moment.timestamp() if moment else UNTIMED)
            self._costs.append(cost or 0.0)
            self._tokens.append(tokens.total)
            self._numbers.append(self._groups.setdefault(group, len(self._groups)))
            self._keys.append(hash(key))
        owners = {file.path: session.path for session in sessions for file in session.files}
        paths = list_billed_paths(sessions)
        for files in counted.shared:
            together = self._with_sharing(owners[paths[number]] for number in files)
            for path in together:
                self.sharing[path] = together

    def _with_sharing(self, paths: Iterable[Path]) -> set[Path]:
        """Return sessions with those that share responses with them."""
        return {other for path in paths for other in self.sharing.get(path, {path})}

    def update(self, archive: "Archive") -> bool:
        """Count the sessions again whose files have changed; return whether that was little work.

        Sessions that share responses, now or before, are counted together.
        """
        now = {session.path: (session.id, session.files) for session in archive.sessions}
        changed = {path for path, _ in now.items() ^ self._counted.items()}
        paths: dict[str, set[Path]] = {}
        for path, (name, _) in (*now.items(), *self._counted.items()):
            paths.setdefault(name, set()).add(path)
        names = {name for name, among in paths.items() if among & changed}
        sessions_of_groups = [group.session for group in self._groups]
        while names:
            together = self._with_sharing(path for name in names for path in paths[name])
            chosen = [session for session in archive.sessions if session.path in together]
            if sum(session.bytes for session in chosen) > MOST_RECOUNTED:
                return False
            counted = count_responses(chosen)
            keys = set(map(hash, counted.keys))
            rows = zip(self._numbers, self._keys, strict=True)
            found = {sessions_of_groups[number] for number, key in rows if key in keys}
            found |= {name for name, among in paths.items() if among & together}
            if found <= names:
                kept = [sessions_of_groups[number] not in names for number in self._numbers]
                for floats in (self._times, self._costs):
                    floats[:] = array("d", compress(floats, kept))
                for integers in (self._tokens, self._numbers, self._keys):
                    integers[:] = array("q", compress(integers, kept))
                for path in together:
                    self.sharing.pop(path, None)
                self._counted = now
                self._add(archive, chosen, counted)
                break
            names |= found
        return True

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
        dollars, tokens = [0.0] * len(self._groups), [0] * len(self._groups)
        columns = zip(self._times, self._numbers, self._costs, self._tokens, strict=True)
        for time, number, cost, count in columns:
            if first <= time < last:
                dollars[number] += cost
                tokens[number] += count
        sums: dict[SpendingGroup, tuple[float, int]] = {}
        for found, cost, count in zip(self._groups, dollars, tokens, strict=True):
            group = found._replace(project=project_of(found.project))
            if (cost or count) and project in (None, group.project):
                known = sums.get(group, (0.0, 0))
                sums[group] = known[0] + cost, known[1] + count
        return sums
