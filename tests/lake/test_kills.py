"""A writer killed at any step leaves a consistent lake."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Lock
from typing import Any, NamedTuple

import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable
from hypothesis import given, settings
from hypothesis import strategies as st

from plait.lake.store import Lake
from tests.lake.rows import FEW, everywhere, files, held, tables

NOW = timedelta(0)
NAMES = "abcd"


class Killed(BaseException):
    """The process is no more."""


class Step(NamedTuple):
    """What is done to a lake, and how many files and commits it comes to."""

    deed: str
    sessions: frozenset[str]
    month: str
    reach: int


STEPS = st.lists(
    st.builds(
        Step,
        st.sampled_from(["build", "build", "build", "forget", "tidy"]),
        st.frozensets(st.sampled_from(NAMES), min_size=1, max_size=3),
        st.sampled_from(["2026-10", "2026-11"]),
        st.one_of(st.integers(0, 18), st.just(10_000)),
    ),
    min_size=2,
    max_size=5,
)


@contextmanager
def killed_after(reach: int) -> Iterator[None]:
    """End whoever writes more files or versions than that: before one, or right after it."""
    left, lock = [reach], Lock()
    with pytest.MonkeyPatch.context() as patch:
        for kind, name in (
            (DeltaTable, "create_write_transaction"),
            (pq.ParquetWriter, "write_table"),
        ):
            patch.setattr(kind, name, _counted(getattr(kind, name), left, lock))
        yield


def _counted(real: Any, left: list[int], lock: Lock) -> Any:
    def counted(*given: Any, **named: Any) -> Any:
        _spend(left, lock)
        found = real(*given, **named)
        _spend(left, lock)
        return found

    return counted


def _spend(left: list[int], lock: Lock) -> None:
    with lock:
        left[0] -= 1
        if left[0] < 0:
            raise Killed


def taken(lake: Lake, step: Step, number: int) -> None:
    """Take a step, each with buildings of its own."""
    if step.deed == "build":
        built = [(one, number * 10 + NAMES.index(one)) for one in sorted(step.sessions)]
        lake.commit([lake.write(tables(*built, month=step.month))])
    elif step.deed == "forget":
        lake.forget([("desk", one) for one in step.sessions])
    else:
        lake.tidy(NOW)


def after(before: dict[str, int], step: Step, number: int) -> dict[str, int]:
    """Return which building holds of each session when the step is done."""
    if step.deed == "build":
        return before | {one: number * 10 + NAMES.index(one) for one in step.sessions}
    if step.deed == "forget":
        return {one: build for one, build in before.items() if one not in step.sessions}
    return before


def check(steps: list[Step], folder: Path) -> None:
    """Take all steps, and sees after each that the lake is as before it or as after it."""
    lake = Lake.create(str(folder), "counts")
    state: dict[str, int] = {}
    for number, step in enumerate(steps, 1):
        then = after(state, step, number)
        try:
            with killed_after(step.reach):
                taken(lake, step, number)
        except Killed:
            found = {session: build for _, session, build in held(lake)["sessions"]}
            assert found in (state, then)
            then = found
        state = then
        assert held(lake) == whole(state)
    lake.tidy(NOW)
    assert held(lake) == whole(state)
    there, known = files(lake)
    assert there == known
    assert [lake.dataset(name).count_rows() for name in FEW] == [len(state)] * 3


def whole(state: dict[str, int]) -> dict[str, list[tuple[str, str, int]]]:
    return everywhere(*(("desk", session, build) for session, build in state.items()))


@settings(max_examples=3)
@given(STEPS)
def test_a_killed_writer_leaves_the_old_or_the_new_state(steps: list[Step]) -> None:
    with TemporaryDirectory() as folder:
        check(steps, Path(folder))


@pytest.mark.long
@settings(max_examples=150)
@given(STEPS)
def test_killed_writers_leave_the_old_or_the_new_state(steps: list[Step]) -> None:
    with TemporaryDirectory() as folder:
        check(steps, Path(folder))


@pytest.mark.parametrize(
    "reach",
    [pytest.param(one, marks=[] if one in (6, 12, 13) else pytest.mark.long) for one in range(16)],
)
def test_rebuild_killed_at_each_step(tmp_path: Path, reach: int) -> None:
    again = Step("build", frozenset("ab"), "2026-10", reach)
    check([Step("build", frozenset("abc"), "2026-11", 10_000), again], tmp_path)
