"""Splitting bytes into blocks: complete, at line ends, stable."""

from io import BytesIO
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plait.store.packs import MAX_BLOCK, MAX_BLOCK_TARGET, MIN_BLOCK, BlockSplitter
from tests.keep.archives import lines


def cut(data: bytes, first: bytes = b"", most: int = MAX_BLOCK) -> list[bytes]:
    source = BytesIO(data)
    parts = BlockSplitter().split(lambda room: source.readinto(room[:most]), first)
    return [bytes(part) for part in parts]


LOG = lines(6000, length=600)

SHAPES = st.lists(st.tuples(st.integers(0, 300), st.integers(1, 40)), max_size=30).map(
    lambda parts: b"".join(b"%d" % size * size * 40 + b"\n" * count for size, count in parts)
)


@given(SHAPES, st.integers(1, MAX_BLOCK))
def test_blocks_do_not_depend_on_how_the_bytes_arrive(data: bytes, most: int) -> None:
    parts = cut(data)
    assert b"".join(parts) == data
    assert cut(data, most=max(most, 4096)) == parts
    assert all(0 < len(part) <= MAX_BLOCK for part in parts)


@given(st.integers(0, len(LOG)), st.integers(0, len(LOG)))
def test_grown_file_keeps_all_blocks_but_the_last(one: int, other: int) -> None:
    shorter, longer = sorted((one, other))
    before = cut(LOG[:shorter])
    grown = before[:-1] + cut(LOG[shorter:longer], before[-1] if before else b"")
    assert grown == cut(LOG[:longer])


def test_blocks_end_at_lines_within_size_limits() -> None:
    parts = cut(LOG)
    assert all(part.endswith(b"\n") for part in parts)
    assert all(MIN_BLOCK <= len(part) < MAX_BLOCK_TARGET + 1000 for part in parts[:-1])
    assert 32 < len(LOG) / len(parts) / 1024 < 96


@pytest.mark.parametrize("before", [b"x\n", lines(70, 90_000), b"y" * MAX_BLOCK + b"\n"])
def test_lines_form_the_same_blocks_after_other_lines(before: bytes) -> None:
    known = set(cut(LOG))
    new = [part for part in cut(before + LOG) if part not in known]
    assert sum(map(len, new)) <= len(before) + 3 * MAX_BLOCK_TARGET


@pytest.mark.parametrize("count", [10, 144])
def test_a_line_that_is_too_long_is_split_into_blocks_of_its_own(count: int) -> None:
    short, long = lines(count), b"z" * (3 * MAX_BLOCK) + b"\n"
    assert cut(short) == [short]
    parts = cut(short + long + short)
    assert [len(part) for part in parts[:4]] == [len(short), MAX_BLOCK, MAX_BLOCK, MAX_BLOCK]
    assert b"".join(parts) == short + long + short


def test_block_ends_with_the_line_that_fills_it() -> None:
    alike = b"a" * 1000 + b"\n"  # all lines say the same: none of them ends a block, or all do
    parts = cut(alike * 2000)
    ends = {len(part) for part in parts[:-1]}
    assert ends <= {-(-size // 1001) * 1001 for size in (MIN_BLOCK, MAX_BLOCK_TARGET)} | {
        33 * 1001 + 1001
    }
    assert all(first == second for first, second in pairwise(parts[:-1]))
