"""Encoding changed records as the client would write them."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plait.record import parse_record
from plait.record.codec import encode, javascript_number
from tests.record.test_decode import JSON


def test_untouched_record_keeps_its_bytes() -> None:
    data = b'{ "type" : "user",  "uuid":"u", "n": 1.0 }\r'
    assert parse_record(data).raw == data


def test_changed_record_is_compact_and_keeps_key_order() -> None:
    record = parse_record(b'{ "b" : "\\u00e9\\/", "parentUuid": null, "a": [1.0, {"c": true}] }')
    changed = record.replace(parentUuid="p", new=1)
    assert changed.raw == '{"b":"é/","parentUuid":"p","a":[1,{"c":true}],"new":1}'.encode()
    assert changed.parent_uuid == "p"
    assert record.parent_uuid is None


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (1.0, "1"),
        (-0.0, "0"),
        (0.1, "0.1"),
        (1e-5, "0.00001"),
        (1.5e-6, "0.0000015"),
        (1e-7, "1e-7"),
        (1e16, "10000000000000000"),
        (1.2345678901234568e20, "123456789012345680000"),
        (1e21, "1e+21"),
        (1.5e300, "1.5e+300"),
        (5e-324, "5e-324"),
        (float("inf"), "null"),
    ],
)
def test_numbers_are_written_as_in_javascript(number: float, text: str) -> None:
    assert javascript_number(number) == text


def test_a_lone_surrogate_is_escaped() -> None:
    record = parse_record(b'{"text":"a\\ud800b \\ud83d\\ude00"}')
    assert record.replace(x=1).raw == '{"text":"a\\ud800b 😀","x":1}'.encode()


@pytest.mark.parametrize("character", ["\x00", "\x1f", "\b", "\f", "\n", "\r", "\t", '"', "\\"])
def test_control_characters_are_escaped(character: str) -> None:
    assert encode({"a": character}) == json.dumps({"a": character}, separators=(",", ":")).encode()


@given(st.dictionaries(st.text(), JSON, max_size=5))
def test_encoding_round_trips(fields: dict[str, Any]) -> None:
    read = json.loads(encode(fields), parse_int=float)  # 1e20 is written as a whole number
    assert read == json.loads(json.dumps(fields), parse_int=float)


def test_deep_nesting_needs_no_recursion() -> None:
    value: Any = 1.0
    for _ in range(400):
        value = [value]
    assert encode({"a": value}) == b'{"a":' + b"[" * 400 + b"1" + b"]" * 400 + b"}"
