"""Queries shown in the guide agree with other commands on the gallery."""

import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from plait.archive import Archive
from plait.insights.why import ResponsesByFile, explain_requests
from plait.lake.query import QueryEngine
from plait.record.counts import LogCounts
from tests.lake.units import lake_of

GUIDE = Path(__file__).resolve().parents[2] / "docs" / "guide" / "lake.md"
SUM = re.compile(r"^\| `(SELECT .*?)` \|", re.MULTILINE)
Rows = set[tuple[Any, ...]]


@pytest.fixture(scope="module")
def told(gallery: Path) -> list[Rows]:
    """Return what is told elsewhere, in the order of the guide."""
    archive = Archive([gallery])
    usage, stats = archive.usage().totals.total, archive.stats()
    lines = archive.graph().lines
    return [
        {(usage.tokens.output, near(usage.cost))},
        {(stats.prompts, stats.calls, stats.words_said)},
        {(stats.turns,)},
        {(stats.rewinds,)},
        tools(archive),
        {(one.path, one.added, one.removed) for one in stats.files},
        causes(archive),
        {(one.kind, one.count, near(one.cost_usd)) for one in archive.waste().findings},
        findings(archive),
        {(len(lines), sum(one.kind == "branch" for one in lines.values()))},
    ]


def tools(archive: Archive) -> Rows:
    """Return the calls of each tool by outcome, as the sessions have their parts in them."""
    found: Counter[tuple[str, str]] = Counter()
    for _, part in archive.stats_by_session().parts:
        for name, outcomes in part.tools.items():
            found.update({(name, outcome): count for outcome, count in outcomes.items()})
    return {(*names, count) for names, count in found.items()}


def causes(archive: Archive) -> Rows:
    """Return what was written again by cause, over all sessions."""
    owned, found = ResponsesByFile(archive.responses(), archive.sessions), dict[str, list[float]]()
    for session in archive.sessions:
        for cause, one in explain_requests(
            owned, session, {}, archive.prices
        ).totals.causes.items():
            sums = found.setdefault(cause, [0, 0.0])
            sums[0] += one.again
            sums[1] += one.again_cost_usd
    return {(cause, again, near(cost)) for cause, (again, cost) in found.items()}


def findings(archive: Archive) -> Rows:
    """Return how often each kind of oddity is found, in lines and in the graph of all."""
    account = LogCounts()
    for file, found in zip(archive.files, archive.accounts(), strict=True):
        account.take(found, file.path)
    found_in_lines = Counter(one.code for one in account.findings)
    return set((found_in_lines + Counter(one.code for one in archive.graph().findings)).items())


def near(value: Any) -> Any:
    """Return a figure to the billionth, nothing as none."""
    return round(value, 9) if isinstance(value, float) else value or 0


def test_sums_of_the_guide_equal_the_commands(gallery: Path, told: list[Rows]) -> None:
    asking = QueryEngine(lake_of(Archive([gallery])).__getitem__)
    sums = SUM.findall(GUIDE.read_text(encoding="utf-8"))
    assert len(sums) == len(told)
    for sql, known in zip(sums, told, strict=True):
        found = [row for batch in asking.query(sql).batches() for row in batch.to_pylist()]
        rows = {tuple(map(near, row.values())) for row in found}
        assert {row for row in rows if row[0]} == known, sql
