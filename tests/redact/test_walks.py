"""Values, records and rules: what is walked, joined, replaced and counted."""

import base64
import json
import re
from dataclasses import dataclass
from random import Random
from typing import Any, NamedTuple

import msgspec
import pytest

from plait.errors import ConfigError
from plait.record import Record, parse_record
from plait.redact import Place, Redactor, Rules, parse_rules
from plait.redact.likelihood import is_mixed, is_random
from plait.redact.model import MOST_PLACES
from tests.redact.letters import ALNUM, HEX, drawn

KEY = "gh" + "p_" + drawn(Random(3), ALNUM, 36)
PACKED = "AK" + "IA" + "QWERTYUIOP234567"
HASH = "3f9a1c77e0b24d58a6c1f0e92b7d4c35"
TOKEN = "‹secret 1: github token›"
SETTING = "‹secret 1: secret in a setting›"
WORD = drawn(Random(4), ALNUM, 12)


def line(**fields: Any) -> Record:
    return parse_record(json.dumps(fields, separators=(",", ":"), ensure_ascii=False).encode(), 7)


class Pair(NamedTuple):
    one: str
    other: int


@dataclass(frozen=True)
class Held:
    text: str
    inner: Any = None


class Block(msgspec.Struct, frozen=True):
    text: str
    inner: Any = None


WALKED: dict[str, tuple[Any, Any]] = {
    "a list": ([KEY, 1], [TOKEN, 1]),
    "a tuple": ((KEY, 1), (TOKEN, 1)),
    "a named tuple": (Pair(KEY, 1), Pair(TOKEN, 1)),
    "a dataclass": (Held("x", [KEY]), Held("x", [TOKEN])),
    "a struct": (Block("x", {"y": KEY}), Block("x", {"y": TOKEN})),
    "a class is no value": (["x", Held], ["x", Held]),
    "what comes before and behind a container": (
        {"a": KEY, "b": {"c": KEY}, "d": KEY},
        {"a": TOKEN, "b": {"c": TOKEN}, "d": TOKEN},
    ),
    "a key that is no name": ({f"/x/{KEY}": 1}, {f"/x/{TOKEN}": 1}),
    "a long key": ({KEY: KEY, "z": 1}, {TOKEN: TOKEN, "z": 1}),
    "an id is left": (
        {"db_password": HASH, "uuid": HASH},
        {"db_password": "‹secret 1: secret in a setting›", "uuid": HASH},
    ),
    "ids are left": (
        {"db_password": HASH, "uuids": [HASH]},
        {"db_password": "‹secret 1: secret in a setting›", "uuids": [HASH]},
    ),
    "what is no picture is not": ({"type": "image", "data": KEY}, {"type": "image", "data": TOKEN}),
    "what is no id is not": ({"uuid": KEY, "uuids": [KEY]}, {"uuid": TOKEN, "uuids": [TOKEN]}),
    "an id in what a tool was given is not": ({"input": {"id": KEY}}, {"input": {"id": TOKEN}}),
    "nor deeper in it": ({"input": {"x": {"id": KEY}}}, {"input": {"x": {"id": TOKEN}}}),
    "nor in what a tool gave": (
        {"structuredContent": [{"id": KEY}]},
        {"structuredContent": [{"id": TOKEN}]},
    ),
    "an id that is a table": ({"id": {"x": KEY}}, {"id": {"x": TOKEN}}),
    "a picture is left": ({"type": "image", "data": PACKED}, {"type": "image", "data": PACKED}),
    "by its medium": ({"media_type": "x", "base64": PACKED}, {"media_type": "x", "base64": PACKED}),
    "its other fields are not": ({"type": "image", "x": KEY}, {"type": "image", "x": TOKEN}),
    "data of another kind is not": ({"type": "x", "data": KEY}, {"type": "x", "data": TOKEN}),
    "data that is a list is not": (
        {"type": "pdf", "data": [KEY]},
        {"type": "pdf", "data": [TOKEN]},
    ),
    "the key tells": ({"api_key": WORD}, {"api_key": SETTING}),
    "another does not": ({"colour": WORD}, {"colour": WORD}),
    "the name beside the value": (
        {"name": "API_TOKEN", "value": WORD},
        {"name": "API_TOKEN", "value": SETTING},
    ),
    "the key beside it": (
        {"Key": "API_TOKEN", "Value": WORD},
        {"Key": "API_TOKEN", "Value": SETTING},
    ),
    "a value without a name": ({"value": WORD}, {"value": WORD}),
    "a name that is no text": ({"name": 1, "value": WORD}, {"name": 1, "value": WORD}),
    "a name that tells nothing": (
        {"name": "colour", "value": WORD},
        {"name": "colour", "value": WORD},
    ),
    "a value of a dataclass": (Held("x", Block("value", WORD)), Held("x", Block("value", WORD))),
    "neighbours in a list are lines": (
        ["x " + KEY[:20], KEY[20:] + " y"],
        ["x ‹secret 1.1: github token›", "‹secret 1.2› y"],
    ),
    "texts in two lists are apart": (
        [["x " + KEY[:20]], [KEY[20:] + " y"]],
        [["x " + KEY[:20]], [KEY[20:] + " y"]],
    ),
    "blocks with another between are apart": (
        [{"text": "x " + KEY[:20]}, {"image": ""}, {"text": KEY[20:]}],
        [{"text": "x " + KEY[:20]}, {"image": ""}, {"text": KEY[20:]}],
    ),
    "blocks of other fields are apart": (
        [{"said": "x " + KEY[:20]}, {"said": KEY[20:]}],
        [{"said": "x " + KEY[:20]}, {"said": KEY[20:]}],
    ),
    "a text and a block are apart": (
        {"text": "x " + KEY[:20], "x": {"text": KEY[20:]}},
        {"text": "x " + KEY[:20], "x": {"text": KEY[20:]}},
    ),
    "blocks beside each other are one": (
        [{"text": "x " + KEY[:20]}, {"text": KEY[20:]}],
        [{"text": "x ‹secret 1.1: github token›"}, {"text": "‹secret 1.2›"}],
    ),
}


@pytest.mark.parametrize("why", WALKED)
def test_values_of_every_shape(why: str) -> None:
    value, expected = WALKED[why]
    redacted = Redactor().value(value)
    assert redacted == expected
    assert type(redacted) is type(expected)
    assert (redacted is value) == (value == expected)


@pytest.mark.parametrize("length", [6, 24, 25])
def test_unknown_key_is_checked(length: int) -> None:
    name = "k" + drawn(Random(9), ALNUM, length - 1)
    redactor = Redactor()
    redactor.learn(f"password: {name}!9")
    assert redactor.value({f"{name}!9": 1, "content": 2}) == {SETTING: 1, "content": 2}


@pytest.mark.parametrize("before", ["", "a", "ab"])
@pytest.mark.parametrize("behind", ["", "c", "cd"])
@pytest.mark.parametrize(("length", "is_hidden"), [(7, False), (8, True), (9, True), (10, True)])
def test_value_is_found_in_base64(before: str, behind: str, length: int, is_hidden: bool) -> None:
    secret = "?" + drawn(Random(2), ALNUM, length - 1)
    redactor = Redactor()
    redactor.learn(f"password: {secret}")
    written = base64.b64encode(f"{before}{secret}{behind}".encode()).decode()
    redacted = redactor.text(f"[{written}]")
    expected = r"\[[\w/]{0,4}‹secret 1\.1: secret in a setting›[\w/=]{0,6}\]"
    assert (re.fullmatch(expected, redacted) is not None) == is_hidden
    if is_hidden:
        # All letters that hold bits of the value alone: eight bits a letter, six a sign.
        first = -(-len(before) * 8 // 6)
        last = (len(before) + length) * 8 // 6
        assert redactor.key["‹secret 1.1: secret in a setting›"] == written[first:last]


MIXED = {
    "a1": True,
    "A1": True,
    "z1": True,
    "Z1": True,
    "a0": True,
    "a9": True,
    "a!": True,
    "a/": False,
    "a:": False,
    "@1": False,
    "[1": False,
    "`1": False,
    "{1": False,
    "ab": False,
    "12": False,
}
CHANCE = {
    "bcdf0hjk": True,
    "bcdf9hjk": True,
    "bcdf/hjk": False,
    "bcdf:hjk": False,
    "A1234567": True,
    "Z1234567": True,
    "a1234567": True,
    "z1234567": True,
    "@1234567": False,
    "[1234567": False,
    "`1234567": False,
    "{1234567": False,
    "bcdf0hj": False,
}


@pytest.mark.parametrize("value", MIXED)
def test_mixed_values(value: str) -> None:
    assert is_mixed(value.encode()) == MIXED[value]


@pytest.mark.parametrize("value", CHANCE)
def test_random_values(value: str) -> None:
    assert is_random(value.encode()) == CHANCE[value]


def hinted(text: str) -> list[str]:
    redactor = Redactor()
    redactor.text(text)
    return [found.hint for found in redactor.report.found.values()]


def test_hint_shows_only_the_public_prefix() -> None:
    assert hinted(KEY) == ["ghp_"]
    assert hinted("xa" + "i-" + drawn(Random(1), ALNUM, 70)) == ["xai-"]
    assert hinted("oy" + "2" + drawn(Random(1), "abcdefghijk2345", 43)) == ["oy2"]
    assert hinted("S" + "K" + drawn(Random(1), HEX, 32)) == [""]
    assert hinted(f"password: {WORD}") == [""]


def test_report_keeps_two_hundred_places() -> None:
    redactor = Redactor()
    assert not redactor.report
    redactor.text("\n".join([KEY] * (MOST_PLACES + 1)))
    (found,) = redactor.report.found.values()
    assert redactor.report
    assert (found.count, len(found.places)) == (MOST_PLACES + 1, MOST_PLACES)
    assert [place.line for place in found.places[:3]] == [1, 2, 3]
    redactor.text("/home/ana/x", Place("a", 12, "u"))
    assert redactor.report.count == MOST_PLACES + 2
    assert redactor.report.kinds == {"github token": MOST_PLACES + 1, "user": 1}
    assert redactor.report.found["‹user 1›"].places == [Place("a", 12, "u")]


def test_report_contains_no_key_of_a_log() -> None:
    redactor = Redactor()
    redactor.value({"message": {f"ana@firm.io {KEY}": {"someones_name": KEY, "content": [KEY]}}})
    places = [one.field for found in redactor.report.found.values() for one in found.places]
    assert places == ["message.*", "message.*", "message.*.*", "message.*.content[0]"]


def test_places_in_values_and_records() -> None:
    redactor = Redactor()
    redactor.value({"a": [{"b": KEY}]}, Place("x", 3))
    redactor.record(line(cwd="/home/marlene/x", uuid="u2"), "y")
    redactor.value([KEY])
    redactor.value(line(uuid="u3", x=KEY), Place("z"))
    assert redactor.report.found[TOKEN].places == [
        Place("x", 3, None, "a[0].b"),
        Place(None, None, None, "[0]"),
        Place("z", 7, "u3", "x"),
    ]
    assert redactor.report.found["‹user 1›"].places == [Place("y", 7, "u2")]
    cut = Redactor()
    cut.value([{"text": KEY[:20]}, {"text": KEY[20:]}])
    assert [found.places for found in cut.report.found.values()] == [
        [Place(None, None, None, "[0].text")]
    ]


RECORDS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "a name is replaced in the bytes": ({"cwd": "/home/marlene/x"}, {"cwd": "/home/‹user 1›/x"}),
    "as often as it stands there": (
        {"cwd": "/home/marlene/x", "a": "/home/marlene/y -marlene- marlene"},
        {"cwd": "/home/‹user 1›/x", "a": "/home/‹user 1›/y -‹user 1›- ‹user 1›"},
    ),
    "at the end of a path": ({"cwd": "/home/marlene"}, {"cwd": "/home/‹user 1›"}),
    "a secret is replaced in the fields": ({"cwd": "/x", "a": KEY}, {"cwd": "/x", "a": TOKEN}),
    "both are": (
        {"cwd": "/home/marlene/x", "a": KEY},
        {"cwd": "/home/‹user 1›/x", "a": TOKEN},
    ),
    "a name of Windows": (
        {"cwd": "C:\\Users\\marlene\\x", "a": "marlene"},
        {"cwd": "C:\\Users\\‹user 1›\\x", "a": "‹user 1›"},
    ),
    "a name behind a break": (
        {"cwd": "/home/nancy/x", "a": "by\nnancy and \\nancy"},
        {"cwd": "/home/‹user 1›/x", "a": "by\n‹user 1› and \\‹user 1›"},
    ),
    "a short name in paths alone": (
        {"cwd": "/home/bo/x", "a": "bo /home/bo/y"},
        {"cwd": "/home/‹user 1›/x", "a": "bo /home/‹user 1›/y"},
    ),
    "a quoted name": (
        {"cwd": "/x", "a": 'to "ana@firm.io"'},
        {"cwd": "/x", "a": 'to "‹email 1›"'},
    ),
    "an id is left": (
        {"db_password": HASH, "uuid": HASH},
        {"db_password": "‹secret 1: secret in a setting›", "uuid": HASH},
    ),
    "what is no id is not": ({"uuid": KEY, "x": 1}, {"uuid": TOKEN, "x": 1}),
    "what an escape hides": (
        {"x": "ana\\u0040firm.io"},
        {"x": "‹email 1.1›"},
    ),
}


@pytest.mark.parametrize("why", RECORDS)
def test_records(why: str) -> None:
    fields, expected = RECORDS[why]
    redactor = Redactor()
    record = line(**fields)
    redacted = redactor.record(record)
    assert redacted.fields == expected
    assert (redacted is record) == (fields == expected)
    assert (redacted.line, redacted.offset) == (record.line, record.offset)
    counted = [found.count for found in redactor.report.found.values()]
    assert sum(counted) == json.dumps(expected, ensure_ascii=False).count("‹")


def test_learned_value_is_found_before_its_source() -> None:
    told = [f"password: {WORD}", {"api_key": WORD}, line(password=WORD), [[f"password: {WORD}"]]]
    for source in told:
        redactor = Redactor()
        assert redactor.learnt == 0
        redactor.learn(source)
        assert redactor.learnt > 0, source
        assert redactor.text(f"x {WORD} y") == f"x {SETTING} y", source
    redactor = Redactor()
    redactor.learn(5)
    redactor.learn(Held(f"password: {WORD}"))
    assert redactor.values == frozenset()
    assert redactor.text(WORD) == SETTING
    assert redactor.values == {WORD}


def test_record_teaches_its_owner() -> None:
    redactor = Redactor()
    redactor.learn(line(cwd="/home/marlene/x"))
    assert redactor.text("marlene") == "‹user 1›"


def ruled(value: Any, **rules: Any) -> Any:
    return Redactor(Rules(**rules)).value(value)


def test_rules_for_some_groups() -> None:
    assert Rules(off=("paths",)).only(["paths", "emails"]).groups == ("emails",)
    assert Rules().only(["hosts"]).off == ("secrets", "paths", "emails", "accounts", "rules")
    assert ruled("x BLUE", words=("BLUE",)) == "x ‹word 1›"
    assert ruled("x BLUE", words=("BLUE",), off=("rules",)) == "x BLUE"
    assert ruled("x BLUE", expressions=("BL..",), off=("rules",)) == "x BLUE"


def test_patterns_replace_their_group_or_everything() -> None:
    assert ruled("a1 b2", expressions=(r"[a-z](\d)",)) == "a‹word 1› b‹word 2›"
    assert ruled("a1 b2", expressions=(r"[a-z]\d",)) == "‹word 1› ‹word 2›"
    assert ruled("a b2", expressions=(r"[a-z](\d?)",)) == "a b‹word 1›"
    assert ruled("ä a1", expressions=(r"a(1)",)) == "ä a‹word 1›"


FIELDS = {
    "a key anywhere": (("b",), {"a": {"b": "x", "c": "y"}}, {"a": {"b": "‹field 1›", "c": "y"}}),
    "a way to it": (("a.b",), {"a": {"b": "x"}, "b": "y"}, {"a": {"b": "‹field 1›"}, "b": "y"}),
    "through lists": (("a.b",), {"a": [{"b": "x"}]}, {"a": [{"b": "‹field 1›"}]}),
    "all below a key": (("a",), {"a": [["x"], 1]}, {"a": [["‹field 1›"], 1]}),
    "not the name of a key": (("a-b",), {"a-b": "x", "c": "a-b"}, {"a-b": "‹field 1›", "c": "a-b"}),
    "not an empty text": (("a",), {"a": ["", "x"]}, {"a": ["", "‹field 1›"]}),
    "nor one that was hidden": (("a",), {"a": "‹field 1›"}, {"a": "‹field 1›"}),
}


@pytest.mark.parametrize("why", FIELDS)
def test_fields(why: str) -> None:
    fields, value, expected = FIELDS[why]
    assert ruled(value, fields=fields) == expected


SECRET_FILE = "/x/a.secret"
FILES: dict[str, tuple[Any, bool]] = {
    "a path and its content": ({"file_path": SECRET_FILE, "content": "plan"}, True),
    "another path": ({"file_path": "/x/a.txt", "content": "plan"}, False),
    "a path that is no text": ({"file_path": 5, "content": "plan"}, False),
    "a path of Windows": ({"filePath": "C:\\x\\a.secret", "newString": "plan"}, True),
    "a notebook": ({"notebook_path": SECRET_FILE, "new_source": "plan"}, True),
    "a folder in the pattern": ({"path": "/vault/b", "text": "plan"}, True),
    "content below": ({"filename": SECRET_FILE, "edits": [{"old": "plan"}]}, True),
    "content above it is another's": ({"content": "plan", "x": {"path": SECRET_FILE}}, False),
    "another field": ({"file_path": SECRET_FILE, "note": "plan"}, False),
    "a command": ({"command": "cat a.secret", "stdout": "plan"}, True),
    "a command in quotes": ({"command": "cat 'a.secret'; ls", "stdout": "plan"}, True),
    "another command": ({"command": "cat a.txt", "stdout": "plan"}, False),
    "no command": ({"command": ["cat a.secret"], "stdout": "plan"}, False),
}


@pytest.mark.parametrize("why", FILES)
def test_files(why: str) -> None:
    value, is_hidden = FILES[why]
    redacted = ruled({"v": value}, files=("*.secret", "/vault/*"))
    assert ("plan" not in json.dumps(redacted)) == is_hidden
    assert "a.secret" not in json.dumps(value) or "a.secret" in json.dumps(redacted)


def test_result_of_a_call_on_a_hidden_file() -> None:
    redactor = Redactor(Rules(files=("*.secret",)))
    call = {"id": "t1", "input": {"file_path": SECRET_FILE}}
    other = {"id": "t2", "input": {"file_path": "/x/a.txt"}}
    redactor.value({"c": [call, other, {"input": {"file_path": SECRET_FILE}}]})
    found = {"tool_use_id": "t1", "content": "plan"}
    assert redactor.value({"c": [found], "r": {"stdout": "plan"}}) == {
        "c": [{"tool_use_id": "t1", "content": "‹file 1›"}],
        "r": {"stdout": "‹file 1›"},
    }
    left = {"c": [{"tool_use_id": "t2", "content": "plan"}, {"tool_use_id": {}, "content": "x"}]}
    assert redactor.value(left) is left


@pytest.mark.parametrize(
    ("table", "hint"),
    [
        ({"word": ["x"]}, "did you mean 'words'?"),
        ({"zzz": ["x"]}, "keys are words, expressions, fields, files, keep, off"),
        ({"off": ["all"]}, "groups are secrets, paths, hosts, emails, accounts, rules"),
    ],
)
def test_wrong_rules_list_the_known_ones(table: dict[str, Any], hint: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse_rules(table)
    assert caught.value.hints == (hint,)


@pytest.mark.parametrize("value", ["x", [1], [""], ["x", ""], {"x": 1}, ["x", None]])
def test_rules_are_lists_of_texts(value: Any) -> None:
    with pytest.raises(ConfigError, match="must be a list of strings"):
        parse_rules({"words": value})
    assert parse_rules({"words": ["x"], "off": ["hosts"]}) == Rules(words=("x",), off=("hosts",))
