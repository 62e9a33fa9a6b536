"""Cross tables: every response in one cell, totals matching the reports."""

from datetime import UTC, datetime, timedelta
from math import isclose

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plait.conversation.prices import Prices
from plait.conversation.usage import BilledResponse, Tokens
from plait.usage.spending import (
    DIMENSIONS,
    GROUP_BY,
    TIMES,
    Dimension,
    build_cross_table,
    group_spending,
)

START = datetime(2026, 10, 1, 12, tzinfo=UTC)
MODELS = ("claude-opus-4-5-20251101", "claude-sonnet-4-5-20250929", "claude-tomorrow-9", None)


def response(project: str, model: str | None, days: int | None, size: int) -> BilledResponse:
    """Return a response some days after the first of October; None for one without a time."""
    time = None if days is None else START + timedelta(days=days)
    tokens = Tokens(size, size * 2, size * 3, 0, size * 5)
    return BilledResponse(
        model, time, tokens, f"{project}-{size % 3}", project, "main", None, 0, None
    )


responses = st.lists(
    st.builds(
        response,
        st.sampled_from(["moor", "shore", "fen"]),
        st.sampled_from(MODELS),
        st.none() | st.integers(0, 60),
        st.integers(1, 10_000),
    ),
    max_size=30,
)


@settings(max_examples=30, deadline=None)
@given(responses, st.permutations(DIMENSIONS), st.integers(1, 4))
def test_sums_over_each_dimension_equal_its_report(
    found: list[BilledResponse], order: list[Dimension], count: int
) -> None:
    prices, by = Prices(), order[:count]
    table = build_cross_table(found, by, prices, UTC)
    assert sum(one.responses for one in table.cells.values()) == len(found)
    for dimension in by:
        rows = {
            row.key: row.total
            for row in group_spending(found, GROUP_BY[dimension], prices, UTC).rows
        }
        sums = {keys[0]: tally for keys, tally in table.sums_by(dimension).items()}
        assert sums.keys() == rows.keys()
        for key, tally in sums.items():
            assert tally.tokens == rows[key].tokens
            assert tally.unpriced == rows[key].unpriced
            assert isclose(tally.cost, rows[key].cost, abs_tol=1e-9)
    totals = group_spending(found, "model", prices, UTC).totals.total
    assert (table.totals.tokens, table.totals.responses) == (totals.tokens, totals.responses)
    assert isclose(table.totals.cost, totals.cost, abs_tol=1e-9)


def test_times_are_in_order_and_the_rest_by_cost() -> None:
    found = [
        response("moor", MODELS[0], 20, 10),
        response("shore", MODELS[0], 2, 500),
        response("fen", MODELS[0], None, 40),
    ]
    table = build_cross_table(found, ("project", "week"), Prices(), UTC)
    assert table.names("project") == ["shore", "fen", "moor"]
    assert table.names("week") == ["2026-09-28", "2026-10-19", None]
    assert [keys for keys, _ in table.sorted_cells()] == [
        ("shore", "2026-09-28"),
        ("fen", None),
        ("moor", "2026-10-19"),
    ]


@pytest.mark.parametrize("time", TIMES)
def test_unpriced_rows_sort_by_tokens(time: Dimension) -> None:
    found = [response("moor", "new-9", 1, 10), response("fen", "new-9", 1, 20)]
    assert build_cross_table(found, ("project", time), Prices(), UTC).names("project") == [
        "fen",
        "moor",
    ]
