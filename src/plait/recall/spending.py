"""What was spent, in columns that a server answers from until the index changes.

Counting the responses of a large archive takes a third of a second; summing these columns takes a
hundredth, and they are twenty times smaller than the responses.
"""

from array import array
from collections.abc import Mapping, Sequence
from datetime import datetime
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from plait.usage.responses import count_responses, list_billed_paths

if TYPE_CHECKING:
    from plait.archive import Archive
    from plait.sessions.model import Session

UNTIMED = -1e12
"""Before every year."""


class SpendingGroup(NamedTuple):
    """What the responses of a sum have in common."""

    project: str
    model: str
    session: str
    is_priced: bool


class Spending:
    """The time, cost and tokens of every response, and which sessions share responses."""

    def __init__(self, archive: "Archive", sessions: "Sequence[Session] | None" = None) -> None:
        counted = archive.responses() if sessions is None else count_responses(sessions)
        sessions = archive.sessions if sessions is None else sessions
        project_of, get_cost = archive.folding.project, archive.prices.cost
        groups: dict[SpendingGroup, int] = {}
        self._times, self._costs = array("d"), array("d")
        self._tokens, self._numbers = array("q"), array("l")
        for response in counted.responses:
            model, tokens, moment = response.model, response.tokens, response.time
            cost = get_cost(model, tokens, moment)
            project = project_of(response.project)
            group = SpendingGroup(project, model or "", response.session, cost is not None)
            self._times.append(moment.timestamp() if moment else UNTIMED)
            self._costs.append(cost or 0.0)
            self._tokens.append(tokens.total)
            self._numbers.append(groups.setdefault(group, len(groups)))
        self.groups = list(groups)
        self.sharing: dict[Path, set[Path]] = {}
        """The sessions that hold responses of others, each with all that must be counted with it."""
        owners = {file.path: session for session in sessions for file in session.files}
        paths = list_billed_paths(sessions)
        for files in counted.shared:
            together = {owners[paths[number]].path for number in files}
            together.update(*(self.sharing.get(path, ()) for path in together))
            for path in together:
                self.sharing[path] = together

    def sum(
        self, start: datetime | None, end: datetime | None, project: str | None
    ) -> Mapping[SpendingGroup, tuple[float, int]]:
        """Return dollars and tokens by group, in a period and a project; without empty groups."""
        # Responses without a time are in no period.
        first = start.timestamp() if start else UNTIMED + 1 if end else UNTIMED
        last = end.timestamp() if end else inf
        dollars, tokens = [0.0] * len(self.groups), [0] * len(self.groups)
        columns = zip(self._times, self._numbers, self._costs, self._tokens, strict=True)
        for time, number, cost, count in columns:
            if first <= time < last:
                dollars[number] += cost
                tokens[number] += count
        return {
            group: (cost, count)
            for group, cost, count in zip(self.groups, dollars, tokens, strict=True)
            if (cost or count) and project in (None, group.project)
        }
