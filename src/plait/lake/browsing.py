"""What a page of a lake asks to rows: sessions, one of them with its words, passages, sums.

All of it goes through what somebody may see; nothing here looks at stored tables.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, TypeAlias

from plait.lake.asking import Answer, Asking

Row: TypeAlias = dict[str, Any]
SNIPPET, BEFORE = 240, 60
"""Characters of a passage that are shown around the first word, and before it."""
LONGEST_PASSAGE = 20_000
TOKENS = "input + output + cache_write_5m + cache_write_1h + cache_read"
ABOUT = "source, session, person, team, project, directory, git_branch, title, started, ended"
CHOSEN = """
  ($person IS NULL OR s.person = $person) AND ($project IS NULL OR s.project = $project)
"""
LIST = f"""
SELECT build, month, {ABOUT}, branches, agents, log_lines, count(*) OVER () AS total
FROM sessions s WHERE {CHOSEN}
ORDER BY ended DESC NULLS LAST, session, source LIMIT $limit OFFSET $start
"""  # noqa: S608  names of ours
FIGURES = f"""
WITH spent AS (
  SELECT build, count(*) AS responses, sum({TOKENS}) AS tokens, sum(cost_usd) AS cost_usd,
         count(*) FILTER (cost_usd IS NULL) AS unpriced
  FROM responses WHERE month IN (MONTHS) AND build IN (BUILDS) GROUP BY build
), had AS (
  SELECT build, count(*) FILTER (counts AND typed) AS turns FROM turns
  WHERE month IN (MONTHS) AND build IN (BUILDS) GROUP BY build
)
SELECT coalesce(spent.build, had.build) AS build, coalesce(turns, 0) AS turns,
       coalesce(responses, 0) AS responses, coalesce(tokens, 0) AS tokens,
       cost_usd, coalesce(unpriced, 0) AS unpriced
FROM spent FULL JOIN had ON spent.build = had.build
"""  # noqa: S608  names of ours
NONE = {"turns": 0, "responses": 0, "tokens": 0, "cost_usd": None, "unpriced": 0}
WHO = """
SELECT DISTINCT person, project FROM sessions ORDER BY person, project
"""
ONE = f"""
SELECT build, month, {ABOUT}, branches, agents, log_lines, version
FROM sessions s WHERE source = $source AND session = $session
"""  # noqa: S608  names of ours
STATES = """
SELECT state, count(*) AS passages FROM text
WHERE month = $month AND build = $build AND kind != 'title' GROUP BY state ORDER BY passages DESC
"""
PASSAGES = f"""
SELECT turn, uuid, kind, state, tool, time, length(text) AS length,
       substr(text, 1, {LONGEST_PASSAGE}) AS text
FROM (SELECT *, row_number() OVER () AS place FROM text WHERE month = $month AND build = $build)
WHERE state = $state AND kind != 'title' AND ($turn IS NULL OR turn >= $turn)
ORDER BY place LIMIT $limit OFFSET $start
"""  # noqa: S608  names of ours
TOOLS = """
SELECT tool, count(*) AS calls, count(*) FILTER (outcome = 'failed') AS failed
FROM tool_calls WHERE month = $month AND build = $build AND counts
GROUP BY tool ORDER BY calls DESC, tool
"""
MODELS = f"""
SELECT model, count(*) AS responses, sum({TOKENS}) AS tokens, sum(cost_usd) AS cost_usd
FROM responses WHERE month = $month AND build = $build GROUP BY model
ORDER BY cost_usd DESC NULLS LAST, model
"""  # noqa: S608  names of ours
FOUND = f"""
SELECT s.source AS source, s.session AS session, s.person AS person, s.project AS project,
       s.directory AS directory, s.title AS title, t.turn AS turn, t.uuid AS uuid, t.kind AS kind,
       t.state AS state, t.tool AS tool, t.time AS time,
       substr(t.text, greatest(instr(lower(t.text), $first) - {BEFORE}, 1), {SNIPPET}) AS snippet,
       count(*) OVER () AS total
FROM text t JOIN sessions s ON s.build = t.build
WHERE {CHOSEN} AND ($kind IS NULL OR t.kind = $kind) AND WORDS
ORDER BY t.time DESC NULLS LAST, t.uuid, t.kind LIMIT $limit
"""  # noqa: S608  names of ours
SUMS = f"""
SELECT count(DISTINCT r.build) AS sessions, count(*) AS responses,
       coalesce(sum({TOKENS}), 0) AS tokens, coalesce(sum(r.output), 0) AS output,
       coalesce(sum(r.cost_usd), 0) AS cost_usd, count(*) FILTER (r.cost_usd IS NULL) AS unpriced
FROM responses r JOIN sessions s ON s.build = r.build
WHERE {CHOSEN} AND ($since IS NULL OR r.time >= $since)
"""  # noqa: S608  names of ours


def sessions_listed(
    asking: Asking, *, person: str | None, project: str | None, start: int, limit: int
) -> tuple[int, list[Row]]:
    """Returns how many sessions there are, and some of them with their figures."""
    asked = {"person": person, "project": project, "start": start, "limit": limit}
    rows = objects(asking.ask(LIST, asked))
    total = rows[0]["total"] if rows else 0
    return total, _with_figures(asking, rows)


def people_and_projects(asking: Asking) -> tuple[list[str], list[str]]:
    """Returns the people and the projects of which sessions are seen."""
    found = list(asking.ask(WHO).rows())
    return sorted({one for one, _ in found if one}), sorted({one for _, one in found if one})


def session_told(asking: Asking, source: str, session: str) -> Row | None:
    """Returns what is known of a session, None where there is none or it is not seen."""
    found = objects(asking.ask(ONE, {"source": source, "session": session}))
    if not found:
        return None
    (row,) = _with_figures(asking, found[:1])
    where = {"month": found[0]["month"], "build": found[0]["build"]}
    row["tools"] = objects(asking.ask(TOOLS, where))
    row["models"] = objects(asking.ask(MODELS, where))
    row["states"] = objects(asking.ask(STATES, where)) if "text" in asking.names else []
    return row


def passages_of(
    asking: Asking,
    source: str,
    session: str,
    state: str,
    *,
    turn: int | None = None,
    start: int = 0,
    limit: int,
) -> list[Row]:
    """Returns what was said in a session, in its order, from a turn on.

    Nothing where its words are not seen.
    """
    found = objects(asking.ask(ONE, {"source": source, "session": session}))
    if not found or "text" not in asking.names:
        return []
    where = {"month": found[0]["month"], "build": found[0]["build"]}
    asked = {"state": state, "turn": turn, "start": start, "limit": limit}
    return objects(asking.ask(PASSAGES, {**where, **asked}))


def passages_found(
    asking: Asking,
    words: Sequence[str],
    *,
    person: str | None = None,
    project: str | None = None,
    kind: str | None = None,
    limit: int,
) -> tuple[int, list[Row]]:
    """Returns how many passages hold all words, and the newest of them."""
    if not words or "text" not in asking.names:
        return 0, []
    looked = {f"word{at}": word.lower() for at, word in enumerate(words)}
    all_held = " AND ".join(f"contains(lower(t.text), ${name})" for name in looked)
    asked = {"person": person, "project": project, "kind": kind, "limit": limit}
    sql = FOUND.replace("WORDS", all_held)
    rows = objects(asking.ask(sql, {**asked, **looked, "first": words[0].lower()}))
    total = rows[0]["total"] if rows else 0
    return total, [_without(row, "total") for row in rows]


def sums(asking: Asking, *, person: str | None, project: str | None, since: datetime | None) -> Row:
    """Returns what the sessions that are seen came to."""
    (row,) = objects(asking.ask(SUMS, {"person": person, "project": project, "since": since}))
    return row


def objects(answer: Answer) -> list[Row]:
    """Returns rows by the names of their columns."""
    return [dict(zip(answer.columns, row, strict=True)) for row in answer.rows()]


def _with_figures(asking: Asking, rows: Sequence[Row]) -> list[Row]:
    """Returns sessions with what they came to; only months that they are of are looked at."""
    if not rows:
        return []
    builds = {f"build{at}": row["build"] for at, row in enumerate(rows)}
    months = {f"month{at}": one for at, one in enumerate(sorted({row["month"] for row in rows}))}
    sql = FIGURES.replace("MONTHS", _named(months)).replace("BUILDS", _named(builds))
    found = {row["build"]: row for row in objects(asking.ask(sql, {**builds, **months}))}
    told = [{**row, **NONE, **found.get(row["build"], {})} for row in rows]
    return [_without(row, "build", "month", "total") for row in told]


def _named(values: Mapping[str, object]) -> str:
    return ", ".join(f"${name}" for name in values)


def _without(row: Row, *names: str) -> Row:
    return {name: value for name, value in row.items() if name not in names}
