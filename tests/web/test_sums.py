"""Totals computed in the background: never awaited long, never older than needed."""

import time
from collections.abc import Callable
from pathlib import Path
from threading import Event

import pytest

from plait.archive.live.live_archive import BackgroundResult, LiveArchive, PartialResult
from plait.archive.live.snapshot import Snapshot

PATIENCE = 20.0


@pytest.fixture
def library(tmp_path: Path) -> LiveArchive:
    """Return a library without sessions."""
    (tmp_path / "logs").mkdir()
    return LiveArchive((tmp_path / "logs",), tmp_path / "index")


def wait_until(
    kept: BackgroundResult[Snapshot, int], is_right: Callable[[PartialResult[int]], bool]
) -> PartialResult[int]:
    """Ask until the answer is right; a sum that was just counted is left alone for a while."""
    for _ in range(2000):
        answer = kept.get(timeout=0.01)
        if is_right(answer):
            return answer
        time.sleep(0.01)
    raise AssertionError(answer)


def test_quick_total_is_immediate_and_computed_once(library: LiveArchive) -> None:
    counted: list[Snapshot] = []

    def work(state: Snapshot) -> int:
        counted.append(state)
        return 7

    kept = BackgroundResult(lambda: library.snapshot, work)
    assert kept.get(timeout=PATIENCE) == PartialResult(7, False)
    assert kept.get() == PartialResult(7, False)
    assert counted == [library.snapshot]


def test_slow_total_is_not_awaited(library: LiveArchive) -> None:
    done = Event()

    def work(_: Snapshot) -> int:
        done.wait(PATIENCE)
        return 7

    kept = BackgroundResult(lambda: library.snapshot, work)
    assert kept.get(timeout=0.01) == PartialResult(None, True)
    done.set()
    assert kept.get(timeout=PATIENCE) == PartialResult(7, False)


def test_last_total_is_shown_while_computing(library: LiveArchive) -> None:
    numbers, done = iter(range(1, 10)), Event()
    done.set()

    def work(_: Snapshot) -> int:
        done.wait(PATIENCE)
        return next(numbers)

    kept = BackgroundResult(lambda: library.snapshot, work)
    assert kept.get(timeout=PATIENCE) == PartialResult(1, False)
    done.clear()
    library.refresh()
    assert wait_until(kept, lambda sum_: sum_.is_pending) == PartialResult(1, True)
    done.set()
    assert wait_until(kept, lambda sum_: not sum_.is_pending) == PartialResult(2, False)


def test_failed_total_does_not_stay_pending(
    library: LiveArchive, caplog: pytest.LogCaptureFixture
) -> None:
    def work(_: Snapshot) -> int:
        raise ArithmeticError("no")

    kept = BackgroundResult(lambda: library.snapshot, work)
    assert kept.get(timeout=PATIENCE) == PartialResult(None, False)
    assert "counting failed" in caplog.text
