"""Treemaps: areas proportional to their amounts, without overlap."""

from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plait.usage.page import Area, Box, Group, lay_out_squarified, render_treemap
from plait.view.page.slices import Slice

BOX = Box(0, 0, 300, 200)
amounts = st.lists(st.floats(0.01, 1000), min_size=1, max_size=20).map(
    lambda found: sorted(found, reverse=True)
)


@settings(max_examples=40, deadline=None)
@given(amounts)
def test_areas_are_proportional_and_do_not_overlap(values: list[float]) -> None:
    boxes = lay_out_squarified(values, BOX)
    full = sum(values)
    for value, box in zip(values, boxes, strict=True):
        assert box.width * box.height == pytest.approx(value / full * 60_000, rel=1e-6)
        assert -1e-6 <= box.x <= box.x + box.width <= 300 + 1e-6
        assert -1e-6 <= box.y <= box.y + box.height <= 200 + 1e-6
    for item, other in combinations(boxes, 2):
        across = min(item.x + item.width, other.x + other.width) - max(item.x, other.x)
        down = min(item.y + item.height, other.y + other.height) - max(item.y, other.y)
        assert min(across, down) <= 1e-6


def test_equal_amounts_are_nearly_squares() -> None:
    for box in lay_out_squarified([1.0] * 6, BOX):
        assert 0.5 <= box.width / box.height <= 2


def test_zero_has_no_area() -> None:
    assert lay_out_squarified([0.0, 0.0], BOX) == [Box(0, 0, 0, 0)] * 2
    assert lay_out_squarified([], BOX) == []


def test_areas_are_labelled_and_in_a_table() -> None:
    parts = [Area("<opus>", 3.0, Slice(model="o")), Area("tiny", 0.001, Slice(model="t"))]
    html = render_treemap(
        [Group(Area("moor", 3.001, Slice()), parts)], lambda item: f"${item:g}", "cost", "x"
    )
    assert html.count("&lt;opus&gt; $3</text>") == 2
    assert "tiny</text>" not in html
    assert html.count('aria-label="moor, tiny: $0.001"') == 2
    assert '<a class="fig" href="/counted?model=t" data-figure="cost=0.001">$0.001</a>' in html
