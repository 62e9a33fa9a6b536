"""Logs as text: lines become what their records become, and can be restored."""

import json
from random import Random

import pytest

from plait.record import parse_record
from plait.redact import Redactor, is_log, redact_log, restore_log
from tests.redact.forms import Case, cases, keys
from tests.redact.letters import ALNUM, drawn

KEY = "gh" + "p_" + drawn(Random(3), ALNUM, 36)
SAID = {"type": "user", "message": {"role": "user", "content": f'"x"\n{KEY}'}}
LINE = json.dumps(SAID)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (LINE, True),
        (f"\n\ufeff {LINE}\nrest", True),
        ('{"a": 1}', False),
        ('{"type": 1}', False),
        ("{", False),
        ("", False),
        (f"x\n{LINE}", False),
        (f"[{LINE}]", False),
    ],
)
def test_log_detection(text: str, expected: bool) -> None:
    assert is_log(text) == expected


def test_each_line_becomes_its_redacted_record() -> None:
    lines = [json.dumps(SAID | {"n": n, "x": case.text}) for n, case in enumerate(chosen())]
    one, other = Redactor(), Redactor()
    found = redact_log(one, "\n".join(lines)).split("\n")
    records = [parse_record(line.encode()) for line in lines]
    other.learn(records)
    assert [json.loads(line) for line in found] == [other.record(each).fields for each in records]


def chosen() -> list[Case]:
    return [case for case in cases("all", 3) if case.form.family == "private key"][::3]


def test_private_keys_in_logs_and_records_agree() -> None:
    left = []
    for case in cases("all", 2):
        if case.form.family == "private key":
            line = json.dumps({"type": "user", "message": {"content": case.text}})
            found = json.loads(redact_log(Redactor(), line))["message"]["content"]
            left += [case.form.name] * case.leaks(found)
    assert left == []
    assert len(keys.SHOWN) > 20


def test_non_object_lines_are_text() -> None:
    text = f'{LINE}\r\n\nnot json {KEY}\n{{"a" : "b"}}\n{{"torn": "{KEY}\n'
    redactor = Redactor()
    found = redact_log(redactor, text)
    assert KEY not in found
    assert found.split("\n")[0].endswith("}\r")
    assert found.split("\n")[1:4] == ["", "not json ‹secret 1: github token›", '{"a" : "b"}']
    back = restore_log(found, redactor.key)
    assert json.loads(back.split("\n")[0]) == SAID
    assert back.split("\n")[1:] == text.split("\n")[1:]


def test_value_learned_later_is_replaced_earlier() -> None:
    word = "hopper" + drawn(Random(8), ALNUM, 8)
    lines = [{"type": "user", "x": f"it is {word}"}, {"type": "user", "x": f"password: {word}"}]
    found = redact_log(Redactor(), "\n".join(map(json.dumps, lines)))
    assert word not in found
