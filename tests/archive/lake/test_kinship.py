"""Families of millions of digests at once: as of a few, one by one."""

from array import array

from hypothesis import given
from hypothesis import strategies as st

from plait.archive.families import families_of, sharing_pairs
from plait.archive.lake.kinship import families_in, kin_rows

TIES = st.lists(st.lists(st.integers(-9, 9) | st.integers(-(2**63), 2**63 - 1), unique=True))


@given(TIES)
def test_families_are_those_that_the_index_finds(drawn: list[list[int]]) -> None:
    ties = {number: array("q", one) for number, one in enumerate(drawn)}
    slowly = families_of(ties, sharing_pairs(ties, {}))
    rows = kin_rows("here", [(str(number), "", one) for number, one in ties.items()])
    assert sorted(families_in(rows)) == sorted(slowly)
