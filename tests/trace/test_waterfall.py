"""Spans as waterfall rows: order, indentation, bars, totals."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plait.conversation.usage import Tokens
from plait.trace.model import Span
from plait.trace.spans import WaterfallRow, build_waterfall, drop_quiet_hooks
from tests.trace.test_content import span


def piece(name: str, parent: str | None, start: int | None, end: int | None, **facts: Any) -> Span:
    above = f"{ord(parent):016x}" if parent else None
    return span(id=f"{ord(name):016x}", name=name, parent=above, start=start, end=end, **facts)


TREE = [
    piece("R", None, 0, 100),
    piece("a", "R", 0, 50),
    piece("b", "a", 10, 20),
    piece("c", "R", 50, 200),
    piece("d", "c", 60, 90),
    piece("e", "R", 20, 20),
    piece("f", "R", -50, 10),
]


def test_children_follow_their_parent_by_time() -> None:
    drawn = [f"{row.rails}{row.span.name}" for row in build_waterfall(TREE)]
    assert drawn == ["R", "├ f", "├ a", "│ └ b", "├ e", "└ c", "  └ d"]


def test_bars_use_the_scale_of_the_turn() -> None:
    bars = {
        row.span.name: (row.left, row.right, row.is_early, row.is_late)
        for row in build_waterfall(TREE)
    }
    expected = {
        "R": (0, 1, False, False),
        "b": (0.1, 0.2, False, False),
        "c": (0.5, 1, False, True),
        "f": (0, 0.1, True, False),
    }
    assert {name: bars[name] for name in expected} == expected


def test_tokens_and_cost_include_children() -> None:
    tokens = Tokens(input=1, output=2)
    rows = by_name(
        [
            piece("R", None, 0, 9),
            piece("a", "R", 0, 5, tokens=tokens, cost=0.5),
            piece("b", "a", 1, 2),
            piece("c", "b", 1, 2, tokens=tokens, cost=0.25),
            piece("d", "R", 5, 9, tokens=tokens),
        ]
    )
    assert {name: (row.tokens, row.cost) for name, row in rows.items()} == {
        "R": (9, 0.75),
        "a": (6, 0.75),
        "b": (3, 0.25),
        "c": (3, 0.25),
        "d": (3, None),
    }


def test_spans_without_times_begin_with_their_parent() -> None:
    rows = by_name([piece("R", None, 10, 20), piece("a", "R", None, None)])
    assert (rows["a"].left, rows["a"].right, rows["a"].duration) == (0, 0, None)


def test_turn_without_duration_uses_the_scale_of_its_spans() -> None:
    rows = by_name([piece("R", None, 10, 10), piece("a", "R", 10, 30), piece("b", "R", 20, 30)])
    assert (rows["b"].left, rows["b"].right) == (0.5, 1)


def test_only_hooks_without_output_are_quiet() -> None:
    spans = [
        piece("R", None, 0, 9, kind="turn"),
        piece("a", "R", 1, 1, kind="hook"),
        piece("b", "R", 1, 2, kind="hook"),
        piece("c", "R", 1, 1, kind="hook", level="WARNING"),
        piece("d", "R", 1, 1, kind="event"),
    ]
    assert [one.name for one in drop_quiet_hooks(spans)] == ["R", "b", "c", "d"]


def by_name(spans: list[Span]) -> dict[str, WaterfallRow]:
    return {row.span.name: row for row in build_waterfall(spans)}


def test_a_chain_of_ten_thousand_spans_is_drawn() -> None:
    chain = [
        span(id=f"{n:016x}", parent=f"{n - 1:016x}" if n > 1 else None, start=0, end=9)
        for n in range(1, 10_001)
    ]
    assert len(build_waterfall(chain)) == 10_000


times = st.none() | st.integers(0, 50)


@given(st.lists(st.tuples(st.integers(0, 20), times, times), min_size=1, max_size=20))
def test_every_span_has_one_row_within_the_scale(given_: list[tuple[int, Any, Any]]) -> None:
    spans = [
        span(
            id=f"{n + 1:016x}",
            parent=f"{above % n + 1:016x}" if n else None,
            start=start,
            end=end,
        )
        for n, (above, start, end) in enumerate(given_)
    ]
    rows = build_waterfall(spans)
    assert sorted(row.span.id for row in rows) == sorted(one.id for one in spans)
    assert all(0 <= row.left <= row.right <= 1 for row in rows)
    assert rows[0].span is spans[0]


@pytest.mark.parametrize("count", [1, 2])
def test_a_span_without_its_parent_is_not_lost(count: int) -> None:
    spans = [piece("R", None, 0, 9), piece("a", "z", 1, 2)][:count]
    assert len(build_waterfall(spans)) == count
