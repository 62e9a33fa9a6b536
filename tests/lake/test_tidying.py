"""Tidying a lake: same rows in fewer files, nothing recent lost."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable

from plait.lake.store import Lake, TidyResult, WrittenFiles
from tests.lake.rows import FEW, everywhere, files, held, tables

NOW = timedelta(0)
HOUR = timedelta(hours=1)


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    """Return an empty lake."""
    return Lake.create(str(tmp_path / "lake"), "counts")


def build(lake: Lake, *sessions: tuple[str, int], month: str = "2026-11") -> WrittenFiles:
    """Bring sessions into a lake."""
    written = lake.write(tables(*sessions, month=month))
    lake.commit([written])
    return written


def build_long_ago(lake: Lake, *sessions: tuple[str, int]) -> None:
    """Bring sessions into a lake whose files look as if they were written hours ago."""
    written = lake.write(tables(*sessions))
    past = int((2 * HOUR).total_seconds() * 1000)
    aged = {
        name: tuple(replace(one, modified=one.modified - past) for one in parts)
        for name, parts in written.files.items()
    }
    lake.commit([replace(written, files=aged)])


def holding(*sessions: tuple[str, int]) -> dict[str, list[tuple[str, str, int]]]:
    return everywhere(*(("desk", *one) for one in sessions))


@contextmanager
def before_first(kind: type, name: str, deed: Callable[[], object]) -> Iterator[None]:
    """Has something else happen right before the first call of what is outside of the lake."""
    real, is_first = getattr(kind, name), [True]

    def call(*given: Any, **named: Any) -> Any:
        if is_first.pop() if is_first else False:
            deed()
        return real(*given, **named)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kind, name, call)
        yield


def test_small_files_are_joined_and_outdated_rows_dropped(lake: Lake) -> None:
    build(lake, ("a", 1), ("b", 2))
    build(lake, ("a", 3))
    build(lake, ("c", 4), month="2026-10")
    lake.write(tables(("never", 5)))
    assert lake.tidy(NOW) == TidyResult(joined=4, made=2, rows=2, deleted=7)
    assert held(lake) == holding(("a", 3), ("b", 2), ("c", 4))
    assert [lake.dataset(name).count_rows() for name in FEW] == [3, 3, 3]
    there, known = files(lake)
    assert there == known
    assert len(known) == 6
    assert lake.tidy(NOW) == TidyResult()


def test_files_with_only_outdated_rows_are_removed(lake: Lake) -> None:
    build(lake, ("a", 1))
    lake.forget([("desk", "a")])
    assert lake.tidy(NOW) == TidyResult(joined=2, made=0, rows=2, deleted=3)
    assert files(lake) == (set(), set())


def test_young_files_are_left_alone(lake: Lake) -> None:
    """Whoever wrote it may be about to commit it."""
    build(lake, ("a", 1))
    build(lake, ("a", 2))
    waiting = lake.write(tables(("b", 3)))
    before = files(lake)
    assert lake.tidy(HOUR) == TidyResult()
    assert files(lake) == before
    lake.commit([waiting])
    assert held(lake) == holding(("a", 2), ("b", 3))


def test_joined_files_stay_for_current_readers(lake: Lake) -> None:
    build_long_ago(lake, ("a", 1))
    build_long_ago(lake, ("b", 2))
    reading = lake.dataset("turns")
    assert lake.tidy(HOUR) == TidyResult(joined=4, made=2)
    assert reading.count_rows() == 2
    there, known = files(lake)
    assert len(there - known) == 4
    lake.tidy(NOW)
    assert not files(lake)[0] & (there - known)


def test_joined_files_have_a_maximum_size(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = [build(lake, (f"s{number}", number)).files["turns"][0].size for number in range(5)]
    monkeypatch.setattr("plait.lake.store.MAX_FILE_BYTES", 2 * max(sizes) + 1)
    lake.tidy(NOW)
    assert len(_paths(lake)) == 3
    assert held(lake) == holding(*((f"s{number}", number) for number in range(5)))


def test_files_of_half_the_maximum_are_left_alone(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    """But not where something in it does not hold."""
    large = build(lake, *((f"l{number}", number) for number in range(1000)))
    small = build(lake, ("s", 1000))
    (one,), (other,) = large.files["turns"], small.files["turns"]
    monkeypatch.setattr("plait.lake.store.MAX_FILE_BYTES", 2 * one.size)
    lake.tidy(NOW)
    assert _paths(lake) == {one.path, other.path}
    lake.forget([("desk", "l0")])
    lake.tidy(NOW)
    assert not _paths(lake) & {one.path, other.path}
    assert lake.dataset("turns").count_rows() == 1000


def _paths(lake: Lake) -> set[str]:
    return {one.path for one in lake.dataset("turns").get_fragments()}


def test_rows_keep_their_order_with_small_batches(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(4):
        build(lake, *((f"s{number}{letter}", number) for letter in "abc"))
    before = sorted(lake.dataset("turns").to_table(["session"])["session"].to_pylist())
    monkeypatch.setattr("plait.lake.store.WRITE_BATCH_BYTES", 1)
    lake.tidy(NOW)
    assert lake.dataset("turns").to_table(["session"])["session"].to_pylist() == before


def test_links_are_tidied_too(lake: Lake) -> None:
    for number in range(2):
        rows = {"source": ["a b", "c"], "session": [f"s{number}", "t"]}
        ties = pa.array([[number], [7]], pa.list_(pa.int64()))
        lake.save_links(pa.table({**rows, "fingerprint": ["f", "g"], "ties": ties}))
    lake.tidy(NOW)
    there, known = files(lake)
    assert there == known
    assert len(known) == 2
    assert sorted(lake.read_links("a b")["ties"].to_pylist()) == [[0], [1]]
    assert lake.read_links("c")["ties"].to_pylist() == [[7]]


def test_only_one_of_two_tidy_runs_succeeds(lake: Lake) -> None:
    build(lake, ("a", 1), ("b", 2))
    build(lake, ("a", 3))
    other = Lake(lake.url)
    with before_first(DeltaTable, "create_write_transaction", lambda: other.tidy(NOW)):
        found = lake.tidy(NOW)
    assert found.rows < 2, "the other left out some of them"
    assert held(lake) == holding(("a", 3), ("b", 2))
    assert lake.dataset("turns").count_rows() == 2


def test_writing_during_a_tidy_loses_nothing(lake: Lake) -> None:
    build_long_ago(lake, ("a", 1))
    build_long_ago(lake, ("b", 2))
    other = Lake(lake.url)
    with before_first(DeltaTable, "create_write_transaction", lambda: build(other, ("c", 3))):
        assert lake.tidy(HOUR) == TidyResult(joined=4, made=2)
    assert held(lake) == holding(("a", 1), ("b", 2), ("c", 3))


def test_a_session_written_during_a_tidy_wins(lake: Lake) -> None:
    """The second reads again what it replaces: none of both is there twice."""
    build(lake, ("a", 1))
    other = Lake(lake.url)
    written = lake.write(tables(("a", 2), ("b", 3)))
    with before_first(pq.ParquetWriter, "write_table", lambda: build(other, ("a", 4), ("c", 5))):
        lake.commit([written])
    assert held(lake) == holding(("a", 2), ("b", 3), ("c", 5))


def test_two_writers_of_a_new_session_leave_one_row(lake: Lake) -> None:
    """Nothing that the second takes out tells it of the first: its version must be the next."""
    other = Lake(lake.url)
    written = lake.write(tables(("a", 1)))
    with before_first(pq.ParquetWriter, "write_table", lambda: build(other, ("a", 2))):
        lake.commit([written])
    assert held(lake) == holding(("a", 1))


def test_many_versions_are_read_from_a_checkpoint(lake: Lake) -> None:
    for number in range(12):
        build(lake, ("a", number))
    assert list(Path(lake.url, "turns", "_delta_log").glob("*.checkpoint.parquet"))
    assert lake.tidy(NOW).rows == 2 * 11
    assert held(lake) == holding(("a", 11))
