"""Splitting jobs into chunks by size and number of workers."""

from dataclasses import dataclass
from typing import Any, cast

import pytest

from plait.lake.build import split_into_chunks

MB = 1_000_000


@dataclass(frozen=True)
class Sized:
    """A job of which nothing but its size matters."""

    size: int


@pytest.mark.parametrize(
    ("sizes", "chunks"),
    [
        ([], []),
        ([1] * 3, [3]),
        ([5, 3, 1], [2, 1]),  # eight at least
        ([9, 1], [1, 1]),  # a large one is by itself
        ([20] * 20, [1] * 20),  # a sixteenth of all, which is 25
        ([10] * 100, [3] * 33 + [1]),  # 32 at the most
    ],
)
def test_chunk_sizes(sizes: list[int], chunks: list[int]) -> None:
    jobs = cast(Any, [Sized(size * MB) for size in sizes])
    found = list(split_into_chunks(jobs, cast(Any, None)))
    assert [len(item.jobs) for item in found] == chunks
    assert [job for item in found for job in item.jobs] == jobs


def test_many_small_jobs_are_split() -> None:
    jobs = cast(Any, [Sized(0)] * 501)
    assert [len(item.jobs) for item in split_into_chunks(jobs, cast(Any, None))] == [500, 1]
