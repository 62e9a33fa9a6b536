"""Wording of edits: figures, reasons, and where two lines differ."""

import pytest

from plait.edit.plan import Change, Measures
from plait.edit.report import (
    BrokenRule,
    EditEntry,
    EditReport,
    cut_to_difference,
    format_done,
    format_entry,
    format_problem,
    format_saving,
    list_fate_rows,
    list_size_rows,
)
from plait.view.context import NextCost


def report(**given: object) -> EditReport:
    """Return a report of a clone of 1,234 lines, with some things changed."""
    result: dict[str, object] = {
        "operation": "clone",
        "source": "a",
        "session": "b",
        "path": "/b.jsonl",
        "applied": False,
        "before": Measures(1234, 5, 12_345, None),
        "after": Measures(1235, 5, 12_400, 15_400),
        "kept": 1,
        "dropped": 0,
        "rewritten": 1233,
        "added": 1,
    }
    return EditReport(**{**result, **given})  # type: ignore[arg-type]


def test_figures_have_units_and_unknown_is_not_zero() -> None:
    assert list(list_size_rows(report())) == [
        ("lines", "1,234", "1,235"),
        ("turns", "5", "5"),
        ("size", "12 KB", "12 KB"),
        ("tokens sent on resume", "–", "15k"),
    ]


def test_dollars_are_shown_on_request() -> None:
    before = Measures(9, 5, 12_345, 100_000, NextCost(0.05, 0.625))
    after = Measures(7, 5, 2_345, 40_000, NextCost(0.02, None))
    assert list(list_size_rows(report(before=before, after=after)))[4:] == [
        ("next prompt, cache warm", "$0.0500", "$0.0200"),
        ("next prompt, cache cold", "$0.62", "–"),
    ]


@pytest.mark.parametrize(
    ("operation", "tokens", "turns", "words"),
    [
        ("trim", 40_000, None, "60k fewer tokens per request, 60%"),
        (
            "compress",
            95_500,
            12.34,
            "4.5k fewer tokens per request, 4.5%; breaks even after 12 turns",
        ),
        (
            "trim",
            40_000,
            0.0,
            "60k fewer tokens per request, 60%; saves from the first request: the cache has expired",
        ),
        (
            "fork",
            40_000,
            2.0,
            "60k fewer tokens per request, 60%; breaks even after 2.0 turns",
        ),
        ("fork", 100_000, None, None),
        ("trim", 100_000, None, None),
        ("trim", None, None, None),
        ("switch", 40_000, None, None),
    ],
)
def test_cut_shows_its_savings(
    operation: str, tokens: int | None, turns: float | None, words: str | None
) -> None:
    first = report(
        operation=operation,
        before=Measures(9, 5, 12_345, 100_000),
        after=Measures(7, 5, 2_345, tokens),
        break_even_turns=turns,
    )
    assert format_saving(first) == words


def test_largest_cuts_come_first() -> None:
    reasons = (Change("dropped", 2, "thinking"), Change("rewritten", 9, "Bash result"))
    assert [row[0] for row in list_fate_rows(report(reasons=reasons))] == ["2", "9"]
    assert [row[0] for row in list_fate_rows(report(operation="trim", reasons=reasons))] == [
        "9",
        "2",
    ]


def test_only_existing_lines_have_a_reason() -> None:
    reasons = (Change("rewritten", 1233, "new ids"), Change("dropped", 0, "torn"))
    assert list(list_fate_rows(report(reasons=reasons))) == [("1,233", "rewritten", "new ids")]


@pytest.mark.parametrize(
    ("changes", "is_idle"),
    [
        ({}, False),
        ({"session": "a"}, False),
        ({"session": "a", "rewritten": 0, "added": 0}, True),
        ({"session": "a", "rewritten": 0, "added": 0, "dropped": 1}, False),
        ({"session": "a", "rewritten": 1, "added": 0}, False),
        ({"rewritten": 0, "added": 0}, False),
        ({"operation": "delete", "session": "a", "rewritten": 0, "added": 0}, False),
    ],
)
def test_edit_that_changes_no_line_is_idle(changes: dict[str, object], is_idle: bool) -> None:
    assert report(**changes).is_idle is is_idle


def test_report_names_the_new_session() -> None:
    assert format_done(report()) == "cloned as b"
    assert format_done(report(operation="rename", session="a")) == "renamed"


def test_rule_is_shown_with_its_line() -> None:
    assert format_problem(BrokenRule("pairs", None, 7, "no result")) == "line 7: no result"
    assert format_problem(BrokenRule("pairs", None, None, "no result")) == "no result"
    of_agent = BrokenRule("pairs", None, 7, "no result", "agent-a1.jsonl")
    assert format_problem(of_agent) == "agent-a1.jsonl line 7: no result"


@pytest.mark.parametrize(
    ("state", "words", "can_undo"),
    [
        ("done", "renamed", True),
        ("undone", "renamed, undone", False),
        ("begun", "rename, interrupted", True),
        ("ready", "rename, interrupted", True),
        ("undoing", "rename, interrupted", True),
    ],
)
def test_list_shows_which_edits_are_in_effect(state: str, words: str, can_undo: bool) -> None:
    entry = EditEntry("id", "rename", "a", "/a.jsonl", "2026-11-16T00:00:00Z", state)
    assert (format_entry(entry), entry.can_undo) == (words, can_undo)


SAME = "x" * 100


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        (None, b"abc", (None, "abc")),
        (b"abc", None, ("abc", None)),
        (b"abcdef", b"abXdef", ("abcdef", "abXdef")),
        (f"{SAME}a".encode(), f"{SAME}b".encode(), (f"…{'x' * 24}a", f"…{'x' * 24}b")),
        (b"a" * 99, b"b" * 9, ("a" * 39 + "…", "b" * 9)),
        (b"a" * 40, b"a" * 41, (f"…{'a' * 24}", f"…{'a' * 25}")),
        (b"\xff1", b"\xff2", ("\ufffd1", "\ufffd2")),
    ],
)
def test_lines_are_cut_to_their_difference(
    before: bytes | None, after: bytes | None, told: tuple[str | None, str | None]
) -> None:
    assert cut_to_difference(before, after, 40) == told
