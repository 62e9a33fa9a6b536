"""Thousands of different values: bounded memory and steps."""

import resource
import subprocess
import sys
from random import Random

import pytest

from plait.redact import Redactor
from plait.redact import redactor as known_values
from plait.redact.expression import compile_expression
from plait.redact.model import Hit, TextSpan
from plait.redact.redactor import RENEWALS, KnownValues
from tests.redact.letters import ALNUM, drawn

COUNT = 3000
MOST_BYTES = 200 << 20
SCRIPT = f"""
import json
from plait.record import record_of
from plait.redact import Redactor
from random import Random
from tests.redact.letters import ALNUM, drawn
redactor, rng = Redactor(), Random(1)
for number in range({COUNT}):
    text = "use gh" + "p_" + drawn(rng, ALNUM, 36) + " now"
    redactor.record(record_of(json.dumps({{"type": "user", "x": text}}).encode()))
assert len(redactor.report.found) == {COUNT}
"""


def token(rng: Random) -> str:
    return "gh" + "p_" + drawn(rng, ALNUM, 36)


def test_memory_is_bounded_in_one_pass() -> None:
    done = subprocess.run([sys.executable, "-c", SCRIPT], check=False, preexec_fn=bounded)
    assert done.returncode == 0


def bounded() -> None:
    """Give a process so much memory for its data."""
    resource.setrlimit(resource.RLIMIT_DATA, (MOST_BYTES, MOST_BYTES))


def test_automaton_is_rebuilt_rarely(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[bytes] = []

    def counted(expression: bytes, *more: object) -> object:
        made.append(expression)
        return compile_expression(expression, *more)  # type: ignore[arg-type]

    monkeypatch.setattr(known_values, "compile_expression", counted)
    redactor, rng = Redactor(), Random(2)
    for _ in range(RENEWALS * 2):
        redactor.text(f"use {token(rng)} now")
    assert len(made) == RENEWALS


def test_learning_builds_no_automaton(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(known_values, "compile_expression", None)
    redactor, rng = Redactor(), Random(3)
    redactor.learn([f"use {token(rng)} now" for _ in range(20)])
    assert redactor.learnt > 20


def many(*values: bytes) -> KnownValues:
    known = KnownValues()
    known._renewed = RENEWALS
    for value in values:
        known.add(Hit("secret", "x", value, (TextSpan(0, len(value)),)))
    return known


def test_common_prefixes_are_not_used() -> None:
    rng = Random(4)
    known = many(*(token(rng).encode() for _ in range(500)))
    assert [*known.hits(b"nothing here")] == []
    crowded = max(len(bucket) for grams in known._samples or () for bucket in grams.values())
    assert crowded < 20


@pytest.mark.parametrize("shift", range(9))
@pytest.mark.parametrize("length", [6, 7, 9, 11, 12, 13, 18, 24, 27, 28, 29, 40])
def test_value_is_found_among_many(length: int, shift: int) -> None:
    rng = Random(length)
    value, other = (drawn(rng, ALNUM, length).encode() for _ in range(2))
    text = b"." * shift + value + b". " + other + b" " + value
    found = [text[hit.start : hit.end] for hit in many(value, other).hits(text)]
    assert found == [value, other, value]


def test_long_values_fit_the_automaton(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[bytes] = []
    monkeypatch.setattr(known_values, "compile_expression", lambda *given: made.append(given[0]))
    known, rng = KnownValues(), Random(2)
    values = [drawn(rng, ALNUM, 4000).encode() for _ in range(30)]
    for value in values:
        known.add(Hit("secret", "", value, (TextSpan(0, len(value)),)))
    assert [hit.value for hit in known.hits(b"so " + values[7] + b" it is")] == [values[7]]
    assert made == []
