"""Habits and outliers: a case on both sides of each threshold."""

from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest

from plait.conversation.prices import Prices
from plait.conversation.session_counts import (
    ArchiveFigures,
    DayFigures,
    LongSession,
    ModelFigures,
    SessionPart,
    ToolFigures,
)
from plait.conversation.usage import NO_TOKENS, BilledResponse, Tokens
from plait.insights.report import (
    HabitInput,
    Period,
    compute_outlier_bound,
    compute_trends,
    find_habits,
    find_outliers,
)
from plait.insights.waste import Evidence, Waste, WasteFinding

NOW = datetime(2026, 11, 15, 12, tzinfo=UTC)
MODEL = "claude-opus-4-5-20251101"


def part(name: str = "a", **given: Any) -> tuple[str, SessionPart]:
    """Return the part of a session."""
    empty: dict[str, Any] = {
        "session": LongSession(name, "p", name, 1, 0),
        "counts": {},
        "spent": {},
        "tools": {},
        "agents": {},
        "files": {},
        "prompts": {},
    }
    return name, SessionPart(**{**empty, **given})


def observed(
    *parts: tuple[str, SessionPart],
    waste: Waste | None = None,
    costs: Mapping[str, float] | None = None,
    **figures: Any,
) -> HabitInput:
    """Return something to look for habits in; quarters are hours of the week."""
    given = {"turns": 40, "prompts": 40, **figures}
    return HabitInput(
        ArchiveFigures(**given), parts or (part(),), waste, costs or {}, lambda at: divmod(at, 24)
    )


def kinds(found: HabitInput) -> list[tuple[str, str, int]]:
    return [(item.kind, item.subject, item.count) for item in find_habits(found)]


def tool(calls: int, failed: int = 0, rejected: int = 0) -> tuple[ToolFigures, ...]:
    return (ToolFigures("Edit", calls, failed, rejected, 0, 0, 0.0, None),)


@pytest.mark.parametrize(
    ("calls", "rejected", "is_habit"), [(50, 5, True), (51, 5, False), (10, 4, False)]
)
def test_often_rejected_tool(calls: int, rejected: int, is_habit: bool) -> None:
    where = part("a", tools={"Edit": {"rejected": rejected, "ok": 3}})
    found = observed(where, part("b"), tools=tool(calls, rejected=rejected))
    assert kinds(found) == ([("rejects", "Edit", rejected)] if is_habit else [])
    if is_habit:
        assert [(item.session, item.count) for item in find_habits(found)[0].evidence] == [
            ("a", rejected)
        ]


@pytest.mark.parametrize(
    ("calls", "failed", "is_habit"), [(50, 10, True), (51, 10, False), (20, 9, False)]
)
def test_often_failing_tool(calls: int, failed: int, is_habit: bool) -> None:
    found = observed(tools=tool(calls, failed=failed))
    assert kinds(found) == ([("fails", "Edit", failed)] if is_habit else [])


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ({"interruptions": 5}, [("interrupts", "", 5)]),
        ({"interruptions": 4, "turns": 20}, []),
        ({"interruptions": 5, "turns": 51}, []),
        ({"retracted": 5}, [("takes back", "", 5)]),
        ({"retracted": 5, "prompts": 51}, []),
        ({"interruptions": 19, "turns": 19}, []),
    ],
)
def test_both_share_and_count_are_required(
    given: dict[str, Any], wanted: list[tuple[str, str, int]]
) -> None:
    assert kinds(observed(**given)) == wanted


@pytest.mark.parametrize(
    ("prompts", "all_prompts", "wanted"),
    [
        ({23: 4, 24 + 4: 6}, 50, ["night"]),
        ({23: 4, 24 + 5: 6}, 50, []),
        ({23: 9}, 20, []),
        ({23: 10}, 51, []),
        ({5 * 24 + 12: 7, 6 * 24 + 12: 7}, 40, ["weekend"]),
        ({5 * 24 + 12: 7, 6 * 24 + 12: 6}, 40, []),
        ({4 * 24 + 12: 20}, 40, []),
    ],
)
def test_night_and_weekend_hours(
    prompts: dict[int, int], all_prompts: int, wanted: list[str]
) -> None:
    found = observed(part("a", prompts=prompts), prompts=all_prompts)
    assert [item.kind for item in find_habits(found)] == wanted


@pytest.mark.parametrize(
    ("dear", "answers", "wanted"),
    [(40.0, 20, ["dear model"]), (40.0, 19, []), (40.0, 21, []), (29.0, 20, [])],
)
def test_disproportionate_model(dear: float, answers: int, wanted: list[str]) -> None:
    models = (
        ModelFigures("dear", answers, NO_TOKENS),
        ModelFigures("plain", 100 - answers, NO_TOKENS),
    )
    found = observed(models=models, costs={"dear": dear, "plain": 100.0 - dear})
    assert [item.kind for item in find_habits(found)] == wanted


@pytest.mark.parametrize(
    ("counts", "wanted"), [((2, 2, 2), [("compacts", "", 6)]), ((2, 2, 1), []), ((9, 1, 1), [])]
)
def test_repeatedly_compacted_sessions(
    counts: tuple[int, ...], wanted: list[tuple[str, str, int]]
) -> None:
    parts = [part(f"s{at}", counts={"compactions": item}) for at, item in enumerate(counts)]
    assert kinds(observed(*parts, compactions=sum(counts))) == wanted


@pytest.mark.parametrize(("count", "wanted"), [(5, [("reread", "", 5)]), (4, [])])
def test_frequent_waste_is_a_habit_with_its_cost(
    count: int, wanted: list[tuple[str, str, int]]
) -> None:
    result = Evidence(session="a", uuid="u", time=NOW, cost_usd=0.5, about="Read x.py")
    finding = WasteFinding(kind="reread", cost_usd=2.5, count=count, evidence=[result] * count)
    other = WasteFinding(kind="giant", cost_usd=9.0, count=9)
    waste = Waste(
        findings=[finding, other],
        total_usd=2.5,
        least_usd=0,
        input_usd=9,
        share_of_input=None,
        sessions=1,
    )
    found = observed(waste=waste, responses=90)
    assert kinds(found) == wanted
    for habit in find_habits(found):
        assert (habit.cost_usd, habit.whole, habit.evidence[0].uuid) == (2.5, 90, "u")


def test_most_expensive_habit_comes_first() -> None:
    models = (ModelFigures("dear", 20, NO_TOKENS), ModelFigures("plain", 80, NO_TOKENS))
    costs = {"dear": 50.0, "plain": 50.0}
    found = observed(models=models, costs=costs, interruptions=30)
    assert [item.kind for item in find_habits(found)] == ["dear model", "interrupts"]


def test_outliers_are_relative_to_the_own_median() -> None:
    usual = {f"s{at}": 1.0 + at % 3 * 0.1 for at in range(12)}
    found = find_outliers({**usual, "idle": 0.0, "far": 9.0, "near": 2.9}, "session", "cost")
    assert [(item.name, item.count) for item in found] == [("far", 14)]
    assert found[0].times == pytest.approx(9.0 / 1.1)
    assert find_outliers({**dict(list(usual.items())[:10]), "far": 9.0}, "session", "cost") == []


def test_high_variance_gives_few_outliers() -> None:
    values = [float(2**at) for at in range(13)]
    middle, bound = compute_outlier_bound(values)
    assert middle == pytest.approx(64)
    assert bound == pytest.approx(64 * 2 ** (3 * 1.4826 * 2))


def make_response(days: int, size: int = 1000) -> BilledResponse:
    """Return a response some days ago."""
    time = NOW - timedelta(days=days)
    return BilledResponse(MODEL, time, Tokens(size), f"s{days}", "p", "main", None, 0, None)


def test_period_is_compared_with_the_one_before() -> None:
    found = [
        make_response(1),
        make_response(6, 3000),
        make_response(7, 500),
        make_response(13, 500),
        make_response(14, 9),
    ]
    days = [DayFigures(f"{NOW.date() - timedelta(days=8)}", 4, 3, 2, 1)]
    since = datetime(2026, 11, 9, tzinfo=UTC)
    trends = compute_trends(found, days, Prices(), Period(since, None, NOW, UTC))
    assert trends is not None
    assert (trends.since, trends.until) == ("2026-11-09", "2026-11-15")
    assert (trends.before_since, trends.before_until) == ("2026-11-02", "2026-11-08")
    result = {str(measure.measure): [measure.now, measure.before] for measure in trends.measures}
    assert result["tokens"] == [4000, 1000]
    assert result["sessions"] == [2, 2]
    assert [result[measure] for measure in ("prompts", "calls", "failed")] == [
        [0, 4],
        [0, 2],
        [0, 1],
    ]
    tokens = next(measure for measure in trends.measures if measure.measure == "tokens")
    assert tokens.change == 3.0
    assert trends.weeks[-3:] == ("2026-10-26", "2026-11-02", "2026-11-09")
    assert tokens.weeks[-3:] == (9, 1000, 4000)
    assert sum(tokens.weeks) == sum(measure.tokens.total for measure in found)


def test_all_time_ends_with_the_last_active_day() -> None:
    found = [make_response(40), make_response(41), make_response(75)]
    trends = compute_trends(found, [], Prices(), Period(None, None, NOW, UTC))
    assert trends is not None
    assert trends.until == f"{NOW.date() - timedelta(days=40)}"
    assert (date.fromisoformat(trends.until) - date.fromisoformat(trends.since)).days == 29
    assert compute_trends(found[:2], [], Prices(), Period(None, None, NOW, UTC)) is None
    late = NOW + timedelta(days=9)
    assert compute_trends(found, [], Prices(), Period(late, None, NOW, UTC)) is None
