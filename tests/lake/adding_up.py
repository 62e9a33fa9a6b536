"""Sums of a lake's rows, and the same figures from other commands."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from typing import Any

import pyarrow as pa

from plait.archive import Archive
from plait.conversation.changes import CHANGING
from plait.conversation.prices import Prices
from plait.conversation.session_counts import ArchiveFigures
from plait.conversation.usage import Tokens
from plait.indexing import IndexedSession
from plait.insights.why import ResponsesByFile, explain_requests
from plait.lake.rows import replace_surrogates
from plait.usage.spending import GroupBy, SpendingSum, group_spending

Row = dict[str, Any]
Lake = dict[str, list[Row]]
TOKENS = [name for name in Tokens.__struct_fields__ if name not in ("tier", "speed", "geo")]
OF_TURNS = """
responses prompts queued retracted commands shell_lines interruptions compactions api_errors
api_retries calls failed rejected words_typed words_said
""".split()
OUTCOMES = ("failed", "rejected", "interrupted", "missing")
DUST = 1e-9


def rows_of(tables: dict[str, pa.Table]) -> Lake:
    """Return the rows of all tables as plain values."""
    return {name: table.to_pylist() for name, table in tables.items()}


def check(archive: Archive, lake: Lake, prices: Prices) -> None:
    """Hold rows against all that the rest tells of an archive."""
    check_usage(archive, lake, prices)
    check_stats(archive.stats(), lake)
    check_why(archive, lake, prices)
    check_waste(archive, lake, prices)
    check_text(archive, lake)


def check_usage(archive: Archive, lake: Lake, prices: Prices) -> None:
    """Hold responses against `usage`: by session, project, model, kind, branch."""
    found = archive.responses().responses
    left = archive.abandoned(found)
    responses = lake["responses"]
    whole = group_spending(found, "session", prices, abandoned=left).totals
    add_up(whole.total, responses)
    add_up(whole.abandoned, where(responses, lambda row: row["abandoned"]))
    add_up(whole.service, where(responses, lambda row: row["kind"] == "service"))
    add_up(whole.agents, where(responses, lambda row: row["kind"] in ("agent", "workflow")))
    columns: dict[GroupBy, str] = {"session": "session", "project": "project", "model": "model"}
    for by, column in columns.items():
        for one in group_spending(found, by, prices).rows:
            add_up(one.total, where(responses, lambda row: row[column] == said(one.key)))  # noqa: B023
    assert len({row["key"] for row in responses}) == len(responses)


def add_up(known: SpendingSum, rows: list[Row]) -> None:
    """Hold some responses against what they are said to come to."""
    assert len(rows) == known.responses
    for name in TOKENS:
        assert total(rows, name) == getattr(known.tokens, name)
    assert abs(total(rows, "cost_usd") - known.cost) < DUST
    assert abs(total(rows, "logged_usd") - (known.logged or 0.0)) < DUST
    assert sum(row["cost_usd"] is None for row in rows) == sum(known.unpriced.values())


def check_stats(figures: ArchiveFigures, lake: Lake) -> None:
    """Hold turns, calls and files against `stats`."""
    turns, calls, files = lake["turns"], counting(lake["tool_calls"]), counting(lake["files"])
    assert {name: total(turns, name) for name in OF_TURNS} == {
        name: getattr(figures, name) for name in OF_TURNS
    }
    own = counting(turns)
    assert len(own) == figures.turns
    for name, column in (("working", "working"), ("asking", "asking"), ("waiting", "waited")):
        assert abs(total(own, f"{column}_ms") - getattr(figures, f"{name}_ms")) < 1e-3
    begun = Counter(row["branch_kind"] for row in turns if row["begins"])
    assert begun["branch"] == figures.rewinds
    assert (begun["agent"], begun["service"]) == (figures.agents, figures.service_agents)
    assert {name: outcomes(found) for name, found in by(calls, "tool").items()} == {
        one.name: [one.calls, one.failed, one.rejected, one.interrupted, one.missing]
        for one in figures.tools
    }
    assert {name: touched(found) for name, found in by(files, "path").items()} == {
        said(one.path): [one.changes, one.reads, one.added, one.removed] for one in figures.files
    }
    check_agents(figures, turns)


def check_agents(figures: ArchiveFigures, turns: list[Row]) -> None:
    """Hold turns against what agents of each kind did."""
    kinds = by([row for row in turns if row["agent_type"]], "agent_type")
    begun = {
        name: [sum(row["begins"] for row in found), total(found, "calls")]
        for name, found in kinds.items()
    }
    assert {name: one for name, one in begun.items() if one[0]} == {
        one.type: [one.agents, one.calls] for one in figures.agent_types
    }


def outcomes(calls: list[Row]) -> list[int]:
    """Return how many calls there are, and how many that did not go well, by how."""
    found = Counter(row["outcome"] for row in calls)
    return [len(calls), *(found[name] for name in OUTCOMES)]


def touched(files: list[Row]) -> list[int]:
    """Return how often files were changed and read, and the lines that came and went."""
    found = Counter(row["action"] for row in files)
    changes = sum(found[name] for name in CHANGING)
    return [changes, found["read"], total(files, "added"), total(files, "removed")]


def check_why(archive: Archive, lake: Lake, prices: Prices) -> None:
    """Hold what was written again, and why, against `why` of each session."""
    owned = ResponsesByFile(archive.responses(), archive.sessions)
    again: Counter[str] = Counter()
    paid: defaultdict[str, float] = defaultdict(float)
    read = 0.0
    for session in archive.sessions:
        totals = explain_requests(owned, session, {}, prices).totals
        read += totals.input_cost_usd
        for cause, one in totals.causes.items():
            again[cause] += one.again
            paid[cause] += one.again_cost_usd
    found = by([row for row in lake["responses"] if row["again"]], "cause")
    assert {name: total(rows, "again") for name, rows in found.items()} == again
    for name, rows in found.items():
        assert abs(total(rows, "again_usd") - paid[name]) < DUST
    assert abs(total(lake["responses"], "input_usd") - read) < DUST


def check_waste(archive: Archive, lake: Lake, prices: Prices) -> None:
    """Hold what was paid for in vain against `waste`."""
    known = {one.kind: one for one in archive.waste(prices=prices).findings}
    found = by(lake["waste"], "kind")
    assert {name: len(rows) for name, rows in found.items()} == {
        name: one.count for name, one in known.items()
    }
    for name, one in known.items():
        assert abs(total(found[name], "cost_usd") - one.cost_usd) < DUST
        assert abs(total(found[name], "least_usd") - one.least_usd) < DUST
        ways = {way: total(rows, "cost_usd") for way, rows in by(found[name], "entrypoint").items()}
        assert {way or "unknown" for way in ways} == set(one.entrypoints)
    assert {row["key"] for row in lake["waste"]} <= {row["key"] for row in lake["responses"]}


def check_text(archive: Archive, lake: Lake) -> None:
    """Hold passages against what an index takes in."""
    known = Counter(
        (one.kind, one.state, one.turn, said(one.tool), replace_surrogates(one.text))
        for session in archive.sessions
        for one in IndexedSession(session).passages()
    )
    columns = ("kind", "state", "turn", "tool", "text")
    assert Counter(tuple(row[name] for name in columns) for row in lake["text"]) == known


def counting(rows: Iterable[Row]) -> list[Row]:
    """Return the rows that count."""
    return [row for row in rows if row["counts"]]


def where(rows: Iterable[Row], is_meant: Callable[[Row], bool]) -> list[Row]:
    """Return some rows."""
    return [row for row in rows if is_meant(row)]


def by(rows: Iterable[Row], column: str) -> dict[Any, list[Row]]:
    """Return rows by what one column says."""
    found: dict[Any, list[Row]] = {}
    for row in rows:
        found.setdefault(row[column], []).append(row)
    return found


def total(rows: Iterable[Row], column: str) -> Any:
    """Return the sum of a column."""
    return sum(row[column] or 0 for row in rows)


def said(text: str | None) -> str | None:
    """Return a text as a table can hold it."""
    return text if text is None else replace_surrogates(text)
