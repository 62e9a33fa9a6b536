"""Entries as the client sees them: timestamps in every form."""

import json
from math import isnan

import pytest

from plait.graph.client.entries import RECORD_ACCESSORS
from plait.record import parse_record

NINE = 1_793_610_000_000.0
TIMES = {
    "in UTC": ("2026-11-02T09:00:00.000Z", NINE),
    "with an offset": ("2026-11-02T11:00:00+02:00", NINE),
    "without a zone it is UTC": ("2026-11-02T09:00:00", NINE),
    "to the minute": ("2026-11-02T09:00Z", NINE),
    "with parts of a second": ("2026-11-02T09:00:00.0015Z", NINE + 2),
    "a day": ("2026-11-02", NINE - 9 * 3_600_000),
    "a month": ("2026-11", NINE - 33 * 3_600_000),
    "a year": ("2026", 1_767_225_600_000.0),
    "a number": (1_793_610_000_000, NINE),
    "none": (None, float("-inf")),
    "what the engine takes for a date": ("Nov 2, 2026", 0.0),
}


def time_of(stamp: object) -> float:
    line = {"type": "user", "uuid": "u", "timestamp": stamp}
    return RECORD_ACCESSORS.time(parse_record(json.dumps(line).encode()))


@pytest.mark.parametrize("why", TIMES)
def test_times(why: str) -> None:
    stamp, expected = TIMES[why]
    assert time_of(stamp) == expected


@pytest.mark.parametrize("stamp", ["soon", "", "2026-13-02T09:00:00Z", "2026-11-02T09:00:00Zulu"])
def test_invalid_times(stamp: str) -> None:
    assert isnan(time_of(stamp))
