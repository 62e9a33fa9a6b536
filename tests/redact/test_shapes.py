"""Shapes of secrets in every wrapping, and near misses."""

import pytest

from plait.redact import Redactor
from tests.redact.shape_cases import WRAPPINGS, Half, iter_shape_cases

LEAST_FOUND = {"secret": 0.97, "personal": 0.95}
MOST_FALSE = 0.01


@pytest.mark.parametrize("half", ["first", "second"])
def test_shapes_reach_their_rates(half: Half) -> None:
    results: dict[str, list[bool]] = {}
    missed: list[str] = []
    for case in iter_shape_cases(half, seed=1, wrapped=5):
        redacted = Redactor().text(case.text)
        is_bad = case.is_changed(redacted) if case.group == "harmless" else case.leaks(redacted)
        results.setdefault(case.group, []).append(is_bad)
        if is_bad:
            missed.append(f"{case.group} {case.kind} [{case.wrapping}]")
    assert len(results["secret"]) >= 400
    assert len(results["harmless"]) >= 300
    assert sum(results["harmless"]) <= MOST_FALSE * len(results["harmless"]), missed
    for group, least in LEAST_FOUND.items():
        found = len(results[group]) - sum(results[group])
        assert found >= least * len(results[group]), missed


@pytest.mark.parametrize(
    ("half", "wrapping"),
    [(half, name) for half in WRAPPINGS for name in WRAPPINGS[half] if name != "hard"],
)
def test_shape_is_found_in_each_wrapping(half: Half, wrapping: str) -> None:
    cases = [
        case
        for case in iter_shape_cases(half, seed=2, wrapped=len(WRAPPINGS[half]) - 1)
        if case.group == "secret" and case.wrapping == wrapping
    ]
    found = sum(not case.leaks(Redactor().text(case.text)) for case in cases)
    assert len(cases) >= 40
    assert found >= 0.94 * len(cases)
