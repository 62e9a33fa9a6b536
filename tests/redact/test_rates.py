"""Planted secrets are found, look-alikes stay, and the docs give the rates."""

from random import Random

import pytest

from plait.redact import Redactor, restore_text
from plait.redact.expression import Expression
from plait.redact.redactor import FAMILIES
from tests.redact.lookalikes import lookalikes
from tests.redact.planted import planted
from tests.redact.rates import BEGIN, END, PAGE, false_rates, found_rates, is_false, is_found, total
from tests.redact.rates import table as rates_table
from tests.redact.rule_sets import ROWS, made
from tests.sampling import EACH_AND_ALL, one_of

PLANTED = list(planted())
LOOKALIKES = list(lookalikes())


def test_enough_secrets_are_found() -> None:
    rates = found_rates()
    hits, count = total(rates)
    missed = [(case.family, case.place, case.text[:80]) for case in PLANTED if not is_found(case)]
    assert count >= 300
    assert hits / count >= 0.99, missed


def test_few_look_alikes_are_replaced() -> None:
    hits, count = total(false_rates())
    assert count >= 300
    assert hits / count <= 0.01, [case for case in LOOKALIKES if is_false(case)]


def test_every_family_is_planted() -> None:
    labels = {family.label for family in FAMILIES if family.kind == "secret"} - {"in base64"}
    assert labels - {case.family for case in PLANTED} == set()


def test_docs_show_these_rates() -> None:
    page = PAGE.read_text(encoding="utf-8")
    shown = page.partition(BEGIN)[2].partition(END)[0]
    assert shown == rates_table(), "python -m tests.redact.rates"


@pytest.mark.parametrize("case", [*PLANTED[::7], *LOOKALIKES[::7]], ids=lambda case: case.family)
def test_both_engines_find_the_same(case: object) -> None:
    text = getattr(case, "text", "")
    assert Redactor(engine="re").text(text) == Redactor(engine="re2").text(text)


@pytest.mark.parametrize("every", EACH_AND_ALL)
def test_both_engines_match_the_same_places(every: int) -> None:
    fast, slow = Expression(FAMILIES, engine="re2"), Expression(FAMILIES, engine="re")
    texts = [*(case.text for case in PLANTED), *(case.text for case in LOOKALIKES)]
    for text in one_of(every, texts):
        data = text.encode()
        spans = [[match.span() for match in one.finders[0].finditer(data)] for one in (fast, slow)]
        assert spans[0] == spans[1], text


def test_redacted_text_is_stable_and_reversible() -> None:
    for case in PLANTED:
        redactor = Redactor()
        text = redactor.text(case.text)
        assert Redactor().text(text) == text
        assert restore_text(text, redactor.key) == case.text


def test_secret_kinds_are_named() -> None:
    for case in PLANTED:
        if case.family not in ("chosen password", "other form", "not told"):
            redactor = Redactor()
            redactor.text(case.text)
            assert case.family in redactor.report.kinds, case


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_short_or_broken_keys_are_not_secrets(row: tuple[str, str]) -> None:
    key = made(Random(row[1]), row[1])
    assert Redactor().text(f"see {key} there") != f"see {key} there"
    for other in (f"{key[:14]} there", f"{key[:12]}{'x' * (len(key) - 12)}"):
        assert Redactor().text(f"see {other}") == f"see {other}"
