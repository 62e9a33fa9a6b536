"""Running jobs in parallel: failures are named and other jobs complete."""

import os
from pathlib import Path

import pytest

from plait.lake.engine import Failure, LocalEngine
from tests.archive.lake import tasks
from tests.archive.lake.tasks import Number

SIX = [Number(number) for number in range(6)]


@pytest.mark.parametrize("jobs", [1, 2])
def test_results_in_order(jobs: int) -> None:
    assert [*LocalEngine(jobs, min_parallel_bytes=0).each(tasks.doubled, SIX)] == [
        0,
        2,
        4,
        6,
        8,
        10,
    ]
    assert [*LocalEngine(jobs, min_parallel_bytes=0).each(tasks.doubled, [])] == []


@pytest.mark.parametrize("jobs", [1, 2])
def test_failed_job_is_reported_and_others_complete(jobs: int) -> None:
    assert [*LocalEngine(jobs, min_parallel_bytes=0).each(tasks.uneven, SIX)] == [
        0,
        Failure(Number(1), "cannot read '1'"),
        4,
        Failure(Number(3), "no such file or directory"),
        8,
        Failure(Number(5), "cannot read '5'"),
    ]


def test_internal_error_is_named() -> None:
    found = [*LocalEngine(1).each(tasks.faulty, SIX[:1])]
    assert found == [Failure(Number(0), "ZeroDivisionError: integer division or modulo by zero")]


def test_job_that_kills_three_workers_fails_alone() -> None:
    engine = LocalEngine(2, min_parallel_bytes=0)
    failed = Failure(Number(2), "3 processes crashed while reading it", killed_worker=True)
    assert [*engine.each(tasks.deadly, SIX)] == [0, 2, failed, 6, 8, 10]
    assert len(engine.losses) == 3


def test_job_is_retried_after_a_worker_dies(tmp_path: Path) -> None:
    engine = LocalEngine(2, min_parallel_bytes=0)
    items = [Number(number, mark=tmp_path / "mark") for number in range(4)]
    assert [*engine.each(tasks.dies_once, items)] == [0, 2, 4, 6]
    assert len(engine.losses) == 1


def test_small_work_stays_in_this_process(tmp_path: Path) -> None:
    small, large = Number(0, size=99), Number(1, size=1)
    assert [*LocalEngine(2, min_parallel_bytes=101).each(tasks.place, [small, large])] == [
        os.getpid()
    ] * 2
    others = [*LocalEngine(2, min_parallel_bytes=100).each(tasks.place, [small, large])]
    assert os.getpid() not in others
