"""Strict mode: weak signs are enough, except for text found everywhere."""

from random import Random

import pytest

from plait.redact import Redactor, Rules, redact
from plait.redact.model import GROUPS, LOOKED_FOR, NOT_RECOGNISED
from tests.redact.forms import cases
from tests.redact.letters import ALNUM, drawn

STRICT = Rules(strict=True)
LONG = "q7" + drawn(Random(5), ALNUM, 22)
SUSPECTED = "‹secret 1: suspected›"

TAKEN = {
    "a long word of letters and digits": (f"got {LONG} back", f"got {SUSPECTED} back"),
    "a step of a path that is one": (f"/x/{LONG}/y", f"/{SUSPECTED}"),
    "a weak name": ("hash: items9x!", f"hash: {SUSPECTED}"),
    "a weak name of a password": ("my seed is 12ab!x", f"my seed is {SUSPECTED}"),
    "what only stands for a password": ("password=changeme", f"password={SUSPECTED}"),
    "a word behind the name, further on": (
        "my password, which I always forget, ends in Fox99x",
        f"my password, which I always forget, ends in {SUSPECTED}",
    ),
    "a flag of any program": ("frob -p Fox99x!", f"frob -p {SUSPECTED}"),
    "beside a word of logging in": ("for the vpn use Blue7Fox99", f"for the vpn use {SUSPECTED}"),
    "before a word of logging in": ("Blue7Fox99 for the vpn", f"{SUSPECTED} for the vpn"),
    "a host that not everybody asks": ("see https://shop.tinyfirm.io/x", "see https://‹host 1›/x"),
    "a host without an address": ("ask tinyfirm.de about it", "ask ‹host 1› about it"),
    "any address of the net": ("at 8.8.4.4 now", "at ‹host 1› now"),
    "a user of a forge": ("github.com/zoequill/dots", "github.com/‹user 1›/dots"),
    "a user that is told": ("git config user.name zoequill", "git config user.name ‹user 1›"),
}


@pytest.mark.parametrize("why", TAKEN)
def test_replaced_values(why: str) -> None:
    text, expected = TAKEN[why]
    found = redact(text, STRICT)
    assert found == expected
    assert redact(text) == text, "this needs no strictness"


LEFT = (
    "eee65f73-9491-4e80-8136-0eae679f0268",
    "toolu_01AbCdEfGhIjKlMnOpQrStUv",
    "claude-opus-4-5-20251101",
    "password: str",
    "password = None",
    "token: $TOKEN",
    "token = getToken()",
    "key: value",
    "id: 17",
    "hash: 2026-11-02T09:00:00Z",
    "https://github.com/",
    "https://docs.python.org/3/library",
    "http://127.0.0.1:8080/",
    "version 3.11.7 of it",
    "src/plait/redact/strict_things.py",
    "some_function_with_a_very_long_name_in_it",
    "aVeryLongNameOfSomethingInCamelCase",
)


@pytest.mark.parametrize("text", LEFT)
def test_kept_values(text: str) -> None:
    assert redact(text, STRICT) == text


def test_weak_value_is_not_searched_elsewhere() -> None:
    redactor = Redactor(STRICT)
    assert redactor.text("password: changeme") == f"password: {SUSPECTED}"
    assert redactor.text("please changeme and go on") == "please changeme and go on"
    assert redactor.text("seed: Blue7Fox99!") == "seed: ‹secret 2: suspected›"
    assert redactor.text("x Blue7Fox99! y") == "x ‹secret 2: suspected› y"


def test_key_keeps_its_name() -> None:
    key = "gh" + "p_" + drawn(Random(7), ALNUM, 36)
    assert redact(f"id={key}", STRICT) == "id=‹secret 1: github token›"


def test_strict_replaces_at_least_as_much() -> None:
    chosen = list(cases("all", 6))[::5]
    usual = {case.form.name for case in chosen if case.leaks(redact(case.text))}
    strict = {case.form.name for case in chosen if case.leaks(redact(case.text, STRICT))}
    assert strict <= usual
    assert len(strict) * 3 <= len(usual)


def test_groups_can_be_switched_off_in_strict_mode() -> None:
    rules = Rules(strict=True).only(["hosts"])
    assert rules.strict
    assert redact("seed: Blue7Fox99! at 8.8.4.4", rules) == "seed: Blue7Fox99! at ‹host 1›"


def test_report_lists_what_was_searched_and_what_cannot_be() -> None:
    usual = Redactor().report
    assert list(usual.looked_for) == list(GROUPS) == list(LOOKED_FOR)
    assert usual.not_recognised == NOT_RECOGNISED
    assert any("images" in one for one in NOT_RECOGNISED)
    some = Redactor(Rules(off=("hosts",), strict=True)).report
    assert list(some.looked_for) == ["secrets", "paths", "emails", "accounts", "rules", "strict"]
