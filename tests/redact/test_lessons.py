"""Redactors that learn separately and share what they learned."""

from __future__ import annotations

import pickle
from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plait.record import Record
from plait.record.codec import encode
from plait.record.reader import parse_record
from plait.redact import Redactor, Rules
from plait.redact.redactor import QuickVerdict
from plait.redact.stand_ins import Lesson
from tests.redact.planted import planted

TOKENS = [f"ghp_{letter}1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8" for letter in "abc"]
WORDS = [
    "plain words",
    f"GITHUB_TOKEN={TOKENS[0]}",
    f"use {TOKENS[1]} for it",
    f"https://x.test/?key={TOKENS[0]}",
    "ls /home/dev/shop /dev/null",
    "see /home/mallory/notes",
    "mail eve@corp-mail.com",
    "PASSWORD=hunter2hunter2 ./run",
    "what about hunter2hunter2?",
]
HOMES = ["/home/dev/shop", "/home/mallory/shop", "/Users/will/shop", "/srv/shop"]
texts = st.lists(st.sampled_from(WORDS), max_size=3).map("\n".join)
lines = st.builds(lambda text, cwd: line(text, cwd), texts, st.sampled_from(HOMES))
parts = st.lists(st.lists(lines, max_size=4), min_size=1, max_size=4)


def line(text: str, cwd: str) -> Record:
    fields = {"type": "user", "cwd": cwd, "message": {"role": "user", "content": text}}
    return parse_record(encode(fields), 1, 0)


def lesson(records: Iterable[Record], rules: Rules | None = None) -> Lesson:
    apprentice = Redactor(rules).apprentice()
    apprentice.learn(records)
    return apprentice.lesson


def taught(lessons: Iterable[Lesson]) -> Redactor:
    redactor = Redactor()
    for one in lessons:
        redactor.take(one)
    redactor.settle()
    return redactor


def raws(redactor: Redactor, records: Iterable[Record]) -> list[bytes]:
    return [one.raw for one in redactor.records(records)]


@given(parts)
def test_separately_learned_values_are_shared(found: list[list[Record]]) -> None:
    lessons = [lesson(records) for records in found]
    twins = [taught(lessons).twin(one) for one in lessons]
    alone = Redactor()
    alone.learn(one for records in found for one in records)
    everything = [one for records in found for one in records]
    apart = [raw for twin, one in zip(twins, found, strict=True) for raw in raws(twin, one)]
    at_once = raws(alone, everything)
    assert [_shape(raw) for raw in apart] == [_shape(raw) for raw in at_once]


def _shape(raw: bytes) -> bytes:
    """Return a line without the numbers of its stand-ins, which tell who came first."""
    parts = raw.decode().split("‹")
    shown = (part.partition("›") for part in parts[1:])
    return "".join([parts[0], *(f"‹{one.split()[0]}›{rest}" for one, _, rest in shown)]).encode()


@given(parts)
def test_parallel_redactors_use_the_same_placeholders(found: list[list[Record]]) -> None:
    lessons = [lesson(records) for records in found]
    here, there = taught(lessons), taught(lessons)
    sent = pickle.dumps(there)
    for records, one in zip(found, lessons, strict=True):
        serial = here.twin(one)
        expected = raws(serial, records)
        assert here.absorb(serial.outcome)
        twin = pickle.loads(sent).twin(one)
        made = raws(twin, records)
        if not there.absorb(pickle.loads(pickle.dumps(twin.outcome))):
            again = there.twin(one)
            made = raws(again, records)
            assert there.absorb(again.outcome)
        assert made == expected
    assert here.report == there.report
    assert here.key.items() >= there.key.items()


def test_used_placeholder_is_declined() -> None:
    redactor = taught([])
    twins = [redactor.twin(), redactor.twin()]
    for twin, token in zip(twins, TOKENS, strict=False):
        assert twin.text(token) == "‹secret 1: github token›"
    assert redactor.absorb(twins[0].outcome)
    assert not redactor.absorb(twins[1].outcome)
    assert list(redactor.report.found) == ["‹secret 1: github token›"]
    assert redactor.twin().text(TOKENS[1]) == "‹secret 2: github token›"


def test_settled_values_need_no_lookup() -> None:
    redactor = taught([lesson([line(TOKENS[0], "/srv")]), lesson([line(TOKENS[1], "/srv")])])
    twin = redactor.twin()
    assert twin.text(TOKENS[1]) == "‹secret 2: github token›"
    assert not twin.outcome.unsettled
    assert twin.text(TOKENS[2]) == "‹secret 3: github token›"
    assert {one.stand_in for one in twin.outcome.unsettled} == {"‹secret 3: github token›"}


def test_copy_does_not_affect_its_original() -> None:
    redactor = taught([])
    twin = redactor.twin()
    twin.learn(f"GITHUB_TOKEN={TOKENS[0]}")
    twin.text(TOKENS[0])
    assert redactor.learnt == 0
    assert not redactor.report


def test_quiet_lines_are_not_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    records = [line("plain words", "/srv/shop"), line(TOKENS[0], "/srv/shop")]
    held = lesson(records)
    assert len(held.quiet) == 8
    twin = taught([held]).twin(held)
    read: list[bytes] = []
    look = Redactor._classify_quickly

    def noted(self: Redactor, raw: bytes, fields: Any, **options: Any) -> QuickVerdict:
        read.append(raw)
        return look(self, raw, fields, **options)

    monkeypatch.setattr(Redactor, "_classify_quickly", noted)
    raws(twin, records)
    assert read == [records[1].raw]


def test_quiet_line_with_a_known_value_is_redacted() -> None:
    quiet, loud = line("say hunter2hunter2", "/srv"), line("PASSWORD=hunter2hunter2", "/srv")
    lessons = [lesson([quiet]), lesson([loud])]
    assert len(lessons[0].quiet) == 8
    (raw,) = raws(taught(lessons).twin(lessons[0]), [quiet])
    assert b"hunter2" not in raw


@pytest.mark.parametrize("cwd", ["/home/dev/shop", "/Users/will/shop"])
def test_home_of_a_common_name_is_found(cwd: str) -> None:
    home = cwd.removesuffix("/shop")
    fields = {
        "type": "user",
        "cwd": cwd,
        "path": f"{home}/x",
        "files": {f"{home}/a": 1, f"{home}": {}, f"{home}ish": 2},
        "text": f"{home} {home}/z not {home}elop",
        "none": "/dev/null will",
    }
    record = parse_record(encode(fields), 1, 0)
    redactor, slow = Redactor(), Redactor()
    slow._learn_owner = lambda record: None  # type: ignore[method-assign]
    for one in (redactor, slow):
        one.learn(record)
    assert redactor.record(record).raw == slow.record(record).raw
    assert redactor.report.kinds == slow.report.kinds
    assert redactor._without_owners(record.raw)[0].count("‹user 1›".encode()) == 3
    assert b"/dev/null" in redactor.record(record).raw


@pytest.mark.parametrize("cwd", ["/home/DEV/shop", "/srv/dev", "C:\\Users\\dev\\x"])
def test_other_homes_are_checked_carefully(cwd: str) -> None:
    redactor = Redactor()
    redactor.learn(line("x", cwd))
    assert redactor._owners.homes == {}


@pytest.mark.parametrize("name", ["mallory", "dev"])
def test_kept_owner_is_not_replaced(name: str) -> None:
    redactor = Redactor(Rules(keep=(name,)))
    record = line("x", f"/home/{name}/shop")
    redactor.learn(record)
    assert redactor.record(record) is record


def test_parallel_redactors_find_every_planted_form() -> None:
    records = [line(one.text, "/home/dev/shop") for one in list(planted(seed=5))[::9]]
    held = lesson(records)
    twin, alone = taught([held]).twin(held), Redactor()
    alone.learn(records)
    assert [_shape(one) for one in raws(twin, records)] == [
        _shape(one) for one in raws(alone, records)
    ]
    assert twin.report.kinds == alone.report.kinds
