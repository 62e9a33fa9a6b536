"""Log values as columns: what Arrow cannot hold is adapted, the rest unchanged."""

from datetime import UTC, datetime
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plait.lake.rows import RowOwner, make_array, make_table
from plait.record.time import parse_time

TIME = pa.timestamp("us", "UTC")
STAMPS = (
    None,
    "2026-11-02T09:00:00.000Z",
    "2026-11-02T09:00:00Z",
    "2026-11-02T11:00:00.123456+02:00",
    "2026-11-02",
    "2026-13-45T99:00:00.000Z",
    "0000-00-00T00:00:00.000Z",
    "half past nine, I think Z",
    "\ud800026-11-02T09:00:00.00Z",
    "",
)


@given(st.lists(st.sampled_from(STAMPS) | st.datetimes().map("{:%Y-%m-%dT%H:%M:%S.123Z}".format)))
def test_times_are_parsed(stamps: list[str | None]) -> None:
    assert make_array(stamps, TIME).to_pylist() == [parse_time(one) for one in stamps]


def test_usual_timestamps_keep_milliseconds() -> None:
    found = make_array(["2026-11-02T09:00:00.250Z", None], TIME)
    assert found.to_pylist() == [datetime(2026, 11, 2, 9, 0, 0, 250_000, UTC), None]


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("plain", "plain"),
        ("naïve ✓ 𝄞", "naïve ✓ 𝄞"),
        ("a\ud83dz", "a\ufffdz"),
        ("\udc00", "\ufffd"),
        ("\ud834\udd1e", "𝄞"),
        (None, None),
    ],
)
def test_a_lone_surrogate_is_replaced(given: str | None, kept: str | None) -> None:
    assert make_array([given, "x"], pa.string()).to_pylist() == [kept, "x"]


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        (2**63 - 1, 2**63 - 1),
        (2**63, 2**63 - 1),
        (-(2**63), -(2**63)),
        (-(10**30), -(2**63)),
        (None, None),
        (7, 7),
    ],
)
def test_a_huge_integer_becomes_the_largest_one(given: int | None, kept: int | None) -> None:
    assert make_array([given, 10**20], pa.int64()).to_pylist() == [kept, 2**63 - 1]


def test_rows_begin_with_the_common_columns() -> None:
    owner = RowOwner(7, "here", "s\udc80", "-home", "2026-11")
    columns: dict[str, list[Any]] = {
        "code": ["cycle", "order"],
        "sentence": ["a", "b"],
        "file": ["f", None],
        "line": [1, None],
        "uuid": [None, "u"],
    }
    found = make_table("findings", owner, columns).to_pylist()
    assert [list(row.values())[:5] for row in found] == [
        [7, "here", "s\ufffd", "-home", "2026-11"]
    ] * 2
    assert [row["line"] for row in found] == [1, None]
