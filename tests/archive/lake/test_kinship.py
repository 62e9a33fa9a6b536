"""Grouping millions of digests into families at once equals doing it one by one."""

from array import array

from hypothesis import given
from hypothesis import strategies as st

from plait.lake.build import build_link_rows, find_families
from plait.sessions.families import find_sharing_pairs, group_by_pairs

TIES = st.lists(st.lists(st.integers(-9, 9) | st.integers(-(2**63), 2**63 - 1), unique=True))


@given(TIES)
def test_families_match_those_of_the_index(drawn: list[list[int]]) -> None:
    ties = {number: array("q", item) for number, item in enumerate(drawn)}
    slowly = group_by_pairs(ties, find_sharing_pairs(ties, {}))
    rows = build_link_rows("here", [(str(number), "", item) for number, item in ties.items()])
    assert sorted(find_families(rows)) == sorted(slowly)
