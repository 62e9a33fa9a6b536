"""The cache: values are kept as long as their source is unchanged."""

from itertools import count
from threading import Event, Thread

import pytest

from plait.archive.live.live_archive import BackgroundResult, Cache


def test_value_is_computed_once_per_source() -> None:
    cache, numbers = Cache(10), count(1)
    made = [cache.get_or_make("name", source, numbers.__next__) for source in "aabba"]
    assert made == [1, 1, 2, 2, 3]


def test_last_value_is_available_after_changes() -> None:
    cache = Cache(10)
    assert cache.get("name") is None
    cache.get_or_make("name", 1, lambda: "one")
    found = cache.get("name")
    assert found is not None
    assert (found.source, found.value) == (1, "one")


def test_least_recently_used_is_evicted_first() -> None:
    cache = Cache(2)
    for name in ("a", "b", "a", "c"):
        cache.get_or_make(name, 0, str)
    assert [name for name in "abc" if cache.get(name)] == ["a", "c"]


def test_weights_add_up_and_the_newest_entry_stays() -> None:
    cache = Cache(10)
    for name, weight in (("a", 6), ("b", 4), ("c", 1)):
        cache.get_or_make(name, 0, str, weight)
    assert [name for name in "abc" if cache.get(name)] == ["b", "c"]
    cache.get_or_make("heavy", 0, str, 11)
    assert [name for name in ("b", "c", "heavy") if cache.get(name)] == ["heavy"]


def test_concurrent_requests_compute_once() -> None:
    cache, made, begun, done = Cache(10), [], Event(), Event()

    def make() -> int:
        begun.set()
        done.wait(20)
        made.append(1)
        return len(made)

    found: list[int] = []
    threads = [
        Thread(target=lambda: found.append(cache.get_or_make("name", 0, make))) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    assert begun.wait(20)
    done.set()
    for thread in threads:
        thread.join(timeout=20)
    assert found == [1, 1, 1, 1]


def test_failed_computation_is_retried() -> None:
    cache = Cache(10)
    with pytest.raises(ZeroDivisionError):
        cache.get_or_make("name", 0, lambda: 1 // 0)
    assert cache.get("name") is None
    assert cache.get_or_make("name", 0, lambda: 1) == 1


def test_complete_sum_is_current_when_requested() -> None:
    now, counted = [1], []

    def work(state: int) -> int:
        counted.append(state)
        return state * 10

    kept = BackgroundResult(lambda: now[0], work)
    assert kept.wait() == 10
    assert kept.get() == (10, False)
    now[0] = 2
    assert kept.wait() == 20
    assert counted == [1, 2]
