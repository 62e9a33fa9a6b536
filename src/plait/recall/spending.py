"""What was spent, in columns that a server answers from until the index changes.

Counting the responses of a large archive takes a third of a second; summing these columns takes a
hundredth, and they are twenty times smaller than the responses.
"""

from array import array
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from datetime import datetime
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
        rows = []
        for response in counted.responses:
            model, tokens, moment = response.model, response.tokens, response.time
            cost = get_cost(model, tokens, moment)
            project = project_of(response.project)
            group = SpendingGroup(project, model or "", response.session, cost is not None)
            number = groups.setdefault(group, len(groups))
            rows.append(
                (moment.timestamp() if moment else UNTIMED, cost or 0.0, tokens.total, number)
            )
        rows.sort(key=lambda row: row[0])
        self.groups = list(groups)
        self._times = array("d", (row[0] for row in rows))
        self._costs = array("d", (row[1] for row in rows))
        self._tokens = array("q", (row[2] for row in rows))
        self._numbers = array("l", (row[3] for row in rows))
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
        # Responses without a time come first, and are in no period.
        first = bisect_left(self._times, start.timestamp() if start else UNTIMED + 1)
        first = first if start or end else 0
        last = bisect_left(self._times, end.timestamp()) if end else len(self._times)
        dollars, tokens = [0.0] * len(self.groups), [0] * len(self.groups)
        columns = (self._numbers, self._costs, self._tokens)
        for number, cost, count in zip(*(column[first:last] for column in columns), strict=True):
            dollars[number] += cost
            tokens[number] += count
        return {
            group: (cost, count)
            for group, cost, count in zip(self.groups, dollars, tokens, strict=True)
            if (cost or count) and project in (None, group.project)
        }
