"""Worker processes: ordered results, failures, shutdown."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import closing, suppress
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plait.errors import NoSuchSession, SourceError
from plait.line import default_jobs
from plait.line import workers as pool
from plait.line.workers import Workers

TASKS = "tests.line.tasks"


@pytest.fixture(params=["forked", "spawned"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Workers that are copies of this process, and such that begin anew."""
    monkeypatch.setattr(pool, "_can_fork", lambda: request.param == "forked")
    return str(request.param)


def done(task: str, items: list[Any], jobs: int = 2, size: int = 3_000_000) -> list[bytes]:
    """Return what workers make of items, two of which make a run."""
    with Workers(jobs) as workers:
        return list(workers.map(f"{TASKS}:{task}", items, [size] * len(items)))


@pytest.mark.parametrize("count", [0, 1, 2, 25])
def test_results_are_in_order(way: str, count: int) -> None:
    assert done("doubled", [*range(count)]) == [str(2 * n).encode() for n in range(count)]


def test_every_worker_works(way: str) -> None:
    found = {int(pid) for pid in done("place", [*range(24)], jobs=3)}
    assert len(found) == 3
    assert os.getpid() not in found


def test_items_of_a_dead_worker_are_repeated(way: str, tmp_path: Path) -> None:
    items = [(number, str(tmp_path / "mark")) for number in range(12)]
    with Workers(2) as workers:
        found = list(workers.map(f"{TASKS}:dies_once", items, [3_000_000] * 12))
        assert found == [str(2 * n).encode() for n in range(12)]
        assert len(workers.losses) == 1
        assert re.fullmatch(r"process \d+ crashed while reading '4'", workers.losses[0])


def test_item_that_kills_three_workers_is_an_error(way: str) -> None:
    with (
        Workers(2) as workers,
        pytest.raises(SourceError, match="3 processes crashed while reading '4'"),
    ):
        list(workers.map(f"{TASKS}:dies", [*range(12)], [3_000_000] * 12))


def test_a_plait_error_arrives_unchanged(way: str) -> None:
    with pytest.raises(NoSuchSession, match="no session '0'") as caught:
        done("refuses", [*range(4)])
    assert caught.value.hints == ("`plait ls` lists them",)


def test_a_crash_names_its_place(way: str) -> None:
    with pytest.raises(RuntimeError, match=r"(?s)in fails.*ZeroDivisionError: item 0"):
        done("fails", [*range(4)])


def test_printed_output_is_not_a_result(way: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert done("prints", [1, 2]) == [b"2", b"4"]


def test_no_worker_is_left_when_nobody_reads_results(way: str) -> None:
    with Workers(2) as workers:
        pids = [process.pid for process in workers._processes]
        with closing(_each(workers, "doubled")) as results:
            next(results)
    for pid in pids:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


def test_pool_can_be_reused_after_an_early_stop(way: str) -> None:
    with Workers(2) as workers:
        with closing(_each(workers, "slow")) as results:
            assert next(results) == b"0"
        assert [*_each(workers, "doubled")] == [str(2 * n).encode() for n in range(30)]
        assert [*_each(workers, "doubled")] == [str(2 * n).encode() for n in range(30)]
        assert workers.losses == []


def _each(workers: Workers, task: str) -> Generator[bytes, None, None]:
    yield from workers.map(f"{TASKS}:{task}", [*range(30)], [3_000_000] * 30)


PROGRAM = """
import sys
from plait.line import workers as pool
pool._can_fork = lambda: sys.argv[1] == "forked"
with pool.Workers(2) as workers:
    print(*[one.pid for one in workers._processes], flush=True)
    list(workers.each("tests.line.tasks:waits", [1, 2, 3, 4], [9_000_000] * 4))
"""


@pytest.mark.parametrize("blow", [signal.SIGINT, signal.SIGKILL])
def test_workers_end_with_their_parent(way: str, blow: signal.Signals) -> None:
    program = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, way],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={"PYTHONPATH": ":".join(sys.path)},
        text=True,
    )
    assert program.stdout
    pids = [int(word) for word in program.stdout.readline().split()]
    program.send_signal(blow)
    program.wait(20)
    program.stdout.close()
    if blow == signal.SIGKILL:  # at work, they see it when they ask for more
        for pid in pids:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGTERM)
    for _ in range(200):
        if not any(_is_running(pid) for pid in pids):
            break
        time.sleep(0.05)
    assert not any(_is_running(pid) for pid in pids)


def _is_running(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()[0]
    except OSError:
        return False
    return state != "Z"


@given(st.lists(st.integers(0, 10_000_000), max_size=600))
def test_batches_are_complete_and_bounded(sizes: list[int]) -> None:
    runs = pool._split_into_runs(sizes)
    assert [n for run in runs for n in range(run.first, run.last)] == [*range(len(sizes))]
    assert [run.number for run in runs] == [*range(len(runs))]
    for run in runs:
        assert run.size == sum(sizes[run.first : run.last])
        assert run.last - run.first <= pool.RUN_ITEMS
        assert run.size - sizes[run.last - 1] < pool.RUN_BYTES


def test_number_of_workers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(64)), raising=False)
    assert default_jobs() == 8
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {3}, raising=False)
    assert default_jobs() == 1


def kills(count: int, seed: int) -> None:
    """Kill workers at random while they work, and compare what comes of it."""
    random = Random(seed)
    items = [*range(400)]
    with Workers(3) as workers:
        moments = set(random.sample(items, count))
        found = []
        for number, result in enumerate(workers.map(f"{TASKS}:slow", items, [2_500_000] * 400)):
            found.append(result)
            if number in moments:
                with suppress(ProcessLookupError):  # it has died at the last blow
                    os.kill(random.choice(workers._processes).pid, signal.SIGKILL)
        assert found == [str(2 * number).encode() for number in items]
        assert 0 < len(workers.losses) <= count


def test_randomly_killed_workers_lose_nothing() -> None:
    kills(6, 1)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(10))
def test_randomly_killed_workers_lose_nothing_at_length(seed: int) -> None:
    kills(5, seed)
