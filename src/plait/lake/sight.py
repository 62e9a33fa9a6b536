"""A policy and a person to the rows of a lake that they see, and counts of the rest.

    a session they see   its rows in every table; its words where the policy says so
    the rest             sums of whole months that are over, of several people together

The rest has no other breakdown and no days: of two sums that differ by one person, or by one
session, the difference would tell what neither does.
"""

from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from plait.lake.asking import SESSIONS, Asking, Kept, stored
from plait.lake.policy import Policy, Whose
from plait.lake.schema import Column, Table, tables_in

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa

SEEN = "seen sessions"
SEEN_NAMES = f"""
  SELECT session FROM "{stored(SESSIONS)}" WHERE build IN (SELECT build FROM "{SEEN}")
"""  # noqa: S608  names of ours
WHOSE = f"""
  SELECT build, person, team, project FROM "{stored(SESSIONS)}"
"""  # noqa: S608  names of ours
REST = f"""
WITH unseen AS (
  SELECT build, month, coalesce(nullif(person, ''), 'from ' || source) AS who
  FROM "{stored(SESSIONS)}"
  WHERE build NOT IN (SELECT build FROM "{SEEN}") AND month < $month
), spent AS (
  SELECT build, count(*) AS responses,
         sum(input + output + cache_write_5m + cache_write_1h + cache_read) AS tokens,
         sum(cost_usd) AS cost
  FROM "{stored("responses")}" GROUP BY build
)
SELECT month, count(DISTINCT who) AS people, count(*) AS sessions,
       coalesce(sum(responses), 0) AS responses, coalesce(sum(tokens), 0) AS tokens,
       coalesce(sum(cost), 0) AS cost_usd
FROM unseen LEFT JOIN spent USING (build)
GROUP BY month HAVING count(DISTINCT who) >= $fewest
ORDER BY month DESC
"""  # noqa: S608  names of ours


class RestMonth(NamedTuple):
    """What the sessions that somebody does not see came to in a month."""

    month: str
    people: int
    sessions: int
    responses: int
    tokens: int
    cost_usd: float


class Sight(Asking):
    """Answers questions of one person about one state of a lake."""

    def __init__(self, lake: Kept, policy: Policy, name: str) -> None:
        super().__init__(lake.dataset, [table.name for table in tables_in(lake.profile)])
        self.policy = policy
        self.name = name

    def prepare(self, connection: "duckdb.DuckDBPyConnection") -> None:
        """Tells which sessions are seen."""
        whose = connection.execute(WHOSE).fetchall()
        connection.register(SEEN, _seen(whose, self.policy, self.name))

    def view(self, table: Table) -> str:
        """Returns what shows a table without what is not seen."""
        has_words = f'build IN (SELECT build FROM "{SEEN}" WHERE words)'  # noqa: S608  ours
        is_seen = f'build IN (SELECT build FROM "{SEEN}")' if table.is_in_counts else has_words  # noqa: S608  ours
        columns = ", ".join(_shown(one, has_words) for one in table.columns)
        from_all = f'SELECT {columns} FROM "{stored(table.name)}" WHERE {is_seen}'  # noqa: S608  ours
        return f'CREATE VIEW "{table.name}" AS {from_all}'

    def rest(self, now: datetime | None = None) -> Iterator[RestMonth]:
        """Yields what the other sessions came to, month by month, the last first.

        A month in which too few people stand behind a sum is left out, and so is the one that
        goes on: whoever looked twice would see what came in between.
        """
        month = f"{now or datetime.now(UTC):%Y-%m}"
        values = {"month": month, "fewest": self.policy.fewest}
        yield from (RestMonth(*row) for row in self.ask(REST, values).rows())


def _shown(column: Column, has_words: str) -> str:
    """Returns a column as it is seen: words where they are, and no session that is not."""
    if column.bearing == "worded":
        return f'CASE WHEN {has_words} THEN "{column.name}" END AS "{column.name}"'
    if column.name == "family":
        return f"CASE WHEN family IN ({SEEN_NAMES}) THEN family ELSE session END AS family"
    return f'"{column.name}"'


def _seen(sessions: Iterable[Sequence[Any]], policy: Policy, name: str) -> "pa.Table":
    """Returns the builds of the sessions that somebody sees, and whether their words, too."""
    import pyarrow as pa

    levels: dict[Whose, str | None] = {}
    builds, words = [], []
    for build, *about in sessions:
        whose = Whose(*(one or "" for one in about))
        if whose not in levels:
            levels[whose] = policy.level(name, whose)
        if level := levels[whose]:
            builds.append(build)
            words.append(level == "text")
    return pa.table({"build": pa.array(builds, pa.int64()), "words": pa.array(words, pa.bool_())})
