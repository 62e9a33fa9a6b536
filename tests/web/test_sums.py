"""Sums that are counted beside the requests: never waited for long, never older than needed."""

import time
from collections.abc import Callable
from pathlib import Path
from threading import Event

import pytest

from plait.web.library import Library, State
from plait.web.sums import Kept, Sum

PATIENCE = 20.0


@pytest.fixture
def library(tmp_path: Path) -> Library:
    """Returns a library without sessions."""
    (tmp_path / "logs").mkdir()
    return Library((tmp_path / "logs",), tmp_path / "index")


def asked_until(kept: Kept[int], is_right: Callable[[Sum[int]], bool]) -> Sum[int]:
    """Asks until the answer is right; a sum that was just counted is left alone for a while."""
    for _ in range(2000):
        answer = kept.ask(patience=0.01)
        if is_right(answer):
            return answer
        time.sleep(0.01)
    raise AssertionError(answer)


def test_a_quick_sum_is_there_at_once_and_counted_once(library: Library) -> None:
    counted: list[State] = []

    def work(state: State) -> int:
        counted.append(state)
        return 7

    kept = Kept(library, work)
    assert kept.ask(patience=PATIENCE) == Sum(7, False)
    assert kept.ask() == Sum(7, False)
    assert counted == [library.now]


def test_a_slow_sum_is_not_waited_for(library: Library) -> None:
    done = Event()

    def work(_: State) -> int:
        done.wait(PATIENCE)
        return 7

    kept = Kept(library, work)
    assert kept.ask(patience=0.01) == Sum(None, True)
    done.set()
    assert kept.ask(patience=PATIENCE) == Sum(7, False)


def test_the_last_sum_stands_in_for_one_that_is_on_its_way(library: Library) -> None:
    numbers, done = iter(range(1, 10)), Event()
    done.set()

    def work(_: State) -> int:
        done.wait(PATIENCE)
        return next(numbers)

    kept = Kept(library, work)
    assert kept.ask(patience=PATIENCE) == Sum(1, False)
    done.clear()
    library.renew()
    assert asked_until(kept, lambda sum_: sum_.is_counting) == Sum(1, True)
    done.set()
    assert asked_until(kept, lambda sum_: not sum_.is_counting) == Sum(2, False)


def test_what_cannot_be_counted_does_not_count_for_ever(
    library: Library, caplog: pytest.LogCaptureFixture
) -> None:
    def work(_: State) -> int:
        raise ArithmeticError("no")

    kept = Kept(library, work)
    assert kept.ask(patience=PATIENCE) == Sum(None, False)
    assert "counting failed" in caplog.text
