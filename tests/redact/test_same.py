"""A text becomes the same alone, in a record and in every output."""

import html
import json
import re
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plait.record import Record, parse_record
from plait.redact import Redactor, Rules, redact
from plait.redact.redactor import Scanner
from plait.redact.texts import Joined, Tree, collect_texts, known_keys
from tests.redact.forms import cases, forms
from tests.redact.letters import ALNUM, drawn
from tests.redact.ways_out import PLACES, WAYS, Line, spoken, written

KEY = "gh" + "p_" + drawn(Random(3), ALNUM, 36)
NUMBER = re.compile(r"(‹[a-z]+) [0-9.]+")
ALONE = ("prompt", "answer", "thinking", "call", "result", "queue", "summary", "hook", "notice")
"""Places in which a text stands by itself, with nothing that goes on or tells what it is."""


def recorded(line: Line) -> Record:
    return parse_record(json.dumps(line, ensure_ascii=False).encode("utf-8", "surrogatepass"))


def texts_in(value: Any) -> list[str]:
    return [leaf.text for leaf in Tree(value).leaves if not leaf.is_key]


@pytest.mark.parametrize("family", sorted({form.family for form in forms()}))
def test_forms_agree_in_records_and_alone(family: str) -> None:
    for case in cases("all", 5):
        if case.form.family == family:
            said = Redactor().record(recorded(spoken("user", case.text)))
            assert said.fields["message"]["content"] == redact(case.text), case.form.name


@given(
    st.sampled_from(forms()),
    st.integers(0, 99),
    st.sampled_from(ALONE),
    st.sampled_from(("", "\n", "\\", '"', "a ", "é", "\U0001f511", "\x1b[1m")),
    st.sampled_from(("", "\n", "\\", '"', " z", "é", "…", "\x1b[0m")),
)
def test_any_form_agrees_in_any_place(
    form: Any, seed: int, place: str, before: str, behind: str
) -> None:
    text = before + form.case(seed).text + behind
    expected = redact(text)
    redactor = Redactor()
    for line in PLACES[place](text):
        record = recorded(line)
        found = texts_in(redactor.record(record).fields)
        for old, new in zip(texts_in(record.fields), found, strict=True):
            assert new == (expected if old == text else old)


def test_any_form_agrees_in_every_output(tmp_path: Path) -> None:
    chosen = [case.text for case in cases("all", 8) if is_plain(case.text)][::12]
    lines = [line for number, text in enumerate(chosen) for line in asked(text, number)]
    root = written(tmp_path / "root", lines, "nothing")
    redactor = Redactor()
    redactor.learn(chosen)
    expected = [without_numbers(redactor.text(text)) for text in chosen]
    for way in ("md", "txt", "html", "json", "jsonl", "share html", "trace", "library"):
        left = WAYS[way](root, tmp_path / way).decode("utf-8", "replace")
        readable = without_numbers("\n".join((left, html.unescape(left), unescaped(left))))
        assert [one for one in expected if one not in readable] == [], way


def asked(text: str, number: int) -> Iterator[Line]:
    """Yield a prompt and an answer that is no other's."""
    yield spoken("user", text)
    yield spoken("assistant", [{"type": "text", "text": "Yes" + "!" * number}])


def is_plain(text: str) -> bool:
    """Return whether no format needs to write a text in another way."""
    is_odd = any(sign in text for sign in "\n\t\\`*_~\x1b\"'<&") or not text[0].isalnum()
    return not is_odd and len(text) < 60


def without_numbers(text: str) -> str:
    return NUMBER.sub(r"\1", text)


def unescaped(text: str) -> str:
    return (
        text.replace('\\"', '"')
        .replace("\\\\", "\\")
        .replace("\\u2039", "‹")
        .replace("\\u203a", "›")
    )


BOTH = st.recursive(
    st.sampled_from(
        ["x", KEY, KEY[:20], KEY[20:], "password:", "hunter2hunter2", "/home/zoe/x", ""]
    ),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(["text", "a", "value", "name", "password", "content", KEY, "id"]), inner
        )
    ),
    max_leaves=12,
)


@given(st.dictionaries(st.sampled_from(["message", "text", "token", "x"]), BOTH))
def test_quick_answers_are_correct(fields: dict[str, Any]) -> None:
    texts = collect_texts(fields)
    if texts is not None and not any(Scanner().hits_in(texts)):
        assert list(Scanner().hits_in(Joined(Tree(fields)))) == []


@pytest.mark.parametrize(
    "fields",
    [
        {"a": KEY},
        {KEY: 1},
        {"a": {"b": [["x", KEY]]}},
        {"a": ["x " + KEY[:20], KEY[20:]]},
        {"a": [{"text": "x " + KEY[:20]}, {"text": KEY[20:]}]},
        {"password": "Tr0ub4dor3x"},
        {"a": {"name": "API_KEY", "value": "Tr0ub4dor3x"}},
        {"a": "x" * 300 + " \\u0067" + KEY[1:]},
    ],
)
def test_single_pass_cases(fields: dict[str, Any]) -> None:
    redacted = Redactor().record(recorded(fields))
    assert KEY not in redacted.raw.decode()
    assert "‹secret 1" in redacted.raw.decode()


def test_duplicate_keys_do_not_hide_values() -> None:
    raw = f'{{"type":"user","a":"{KEY}","a":"\\":"}}'.encode()
    redacted = Redactor().record(parse_record(raw))
    assert json.loads(redacted.raw) == {"type": "user", "a": '":'}
    for twins in ('"b":%,"b":1,"c":"x"', '"b":%,"b":1,"c"  :"x"', '"b":%,"b":1,"c\\\\":"x"'):
        line = f'{{"a":{{{twins.replace("%", json.dumps(KEY))}}}}}'.encode()
        assert KEY.encode() not in Redactor().record(parse_record(line)).raw, twins


def test_spaces_in_a_line_are_kept() -> None:
    raw = b'{"type" : "user" , "a": "\\":"}'
    record = parse_record(raw)
    assert Redactor().record(record) is record


def test_own_pattern_sees_the_start_of_a_text() -> None:
    rules = Rules(expressions=("^Nimbus.*$",))
    assert Redactor(rules).value({"x": "b", "a": "Nimbus 7"}) == {"x": "b", "a": "‹word 1›"}


def test_keys_of_the_format_are_not_redacted() -> None:
    assert [leaf.text for leaf in Tree(dict.fromkeys(known_keys(), 1)).leaves] == []
    assert [leaf.text for leaf in Tree({"wilhelmq": 1, "id": 2}).leaves] == ["wilhelmq"]
