"""Recovering content of broken lines."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plait.line import Line
from plait.record import Broken, parse_entry

ONE = b'{"type":"user","uuid":"a","sessionId":"s"}'
TWO = b'{"type":"assistant","uuid":"b","sessionId":"s"}'
TORN = b'{"parentUuid":null,"type":"user","message":{"content":"cut in the mid'


def broken(data: bytes, *, is_ended: bool = True) -> Broken:
    entry = parse_entry(Line(3, 1000, data, is_ended))
    assert isinstance(entry, Broken)
    return entry


@pytest.mark.parametrize(
    ("data", "reason", "uuids"),
    [
        (ONE + TWO, "2 records glued together", ["a", "b"]),
        (ONE + b" " + TWO, "2 records glued together", ["a", "b"]),
        (ONE + TWO + ONE, "3 records glued together", ["a", "b", "a"]),
        (TORN + TWO, "a record next to parts of another", ["b"]),
        (TORN + ONE + TWO, "2 records glued together", ["a", "b"]),
        (TORN + ONE + TORN, "a record next to parts of another", ["a"]),
        (ONE + TORN, "a record next to parts of another", ["a"]),
        (b"\0\0\0" + ONE, "a record next to parts of another", ["a"]),
        (ONE + b"\0\0\0", "a record next to parts of another", ["a"]),
        (b"\xff\xfe" + ONE, "a record next to parts of another", ["a"]),
        (
            b'is the rest"}]},"uuid":"c","timestamp":"t"}',
            "the end of a truncated line",
            ["c"],
        ),
        (
            b'x"},{"a":[1,{"b":2}]}]},"requestId":"r","uuid":"c"}',
            "the end of a truncated line",
            ["c"],
        ),
        (b'{"uuid":"d","timestamp":"t","message":{"ro', "the start of a truncated line", ["d"]),
    ],
)
def test_complete_objects_on_a_line_are_read(data: bytes, reason: str, uuids: list[str]) -> None:
    entry = broken(data)
    assert entry.reason == reason
    assert [found.fields["uuid"] for found in entry.recovered] == uuids


def test_recovered_record_has_its_position() -> None:
    data = "é".encode() + TORN + TWO
    (found,) = broken(data).recovered
    assert (found.line, found.offset) == (3, 1000 + len(data) - len(TWO))
    assert found.data == TWO
    assert found.is_whole


def test_object_inside_a_torn_record_is_no_record() -> None:
    data = b'{"type":"progress","data":{"message":{"type":"user","uuid":"x"},"normal'
    assert broken(data).recovered == ()


def test_partial_record_is_marked() -> None:
    (found,) = broken(b'rest"}]},"uuid":"c","timestamp":"t"}').recovered
    assert not found.is_whole
    assert found.fields == {"uuid": "c", "timestamp": "t"}


def test_last_line_of_a_live_file_is_only_torn() -> None:
    entry = broken(TORN, is_ended=False)
    assert entry.reason == "truncated: the line does not end"
    assert entry.recovered == ()


@given(st.integers(1, len(ONE) - 1), st.integers(1, len(TWO) - 1))
def test_a_complete_record_after_any_cut_is_recovered(one: int, two: int) -> None:
    entry = broken(ONE[:one] + TWO)
    assert entry.recovered[-1].fields["uuid"] == "b"
    assert entry.recovered[-1].offset == 1000 + one
    after = parse_entry(Line(1, 0, ONE + TWO[:two], True))
    assert isinstance(after, Broken)
    assert after.recovered[0].fields["uuid"] == "a"


@pytest.mark.parametrize("data", [b'{"type":' * 100_000, b',"a":"' * 100_000 + b"x"])
def test_expensive_line_is_given_up(data: bytes) -> None:
    assert broken(data).recovered == ()


def test_tail_gives_minor_fields() -> None:
    (found,) = broken(b'il":"x"},"userType":"external","cwd":"/home/dev"}').recovered
    assert found.fields == {"userType": "external", "cwd": "/home/dev"}
