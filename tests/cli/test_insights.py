"""`plait insights` end to end: text, JSON, one project, no data, unknown names."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from plait.cli.app import run
from plait.insights.report import Habit, HabitEvidence
from plait.insights.report import group_by_session as by_session

GALLERY = Path(__file__).parents[2] / "examples" / "gallery"


def run_text(capfd: pytest.CaptureFixture[str], *arguments: object) -> str:
    code = run(["insights", *map(str, arguments), "-z", "UTC"])
    captured = capfd.readouterr()
    assert (code, captured.err) == (0, "")
    return captured.out


def value(capfd: pytest.CaptureFixture[str], *arguments: object) -> Any:
    return json.loads(run_text(capfd, *arguments, "--json"))


def test_trends_habits_and_outliers(capfd: pytest.CaptureFixture[str]) -> None:
    printed = run_text(capfd, "--root", GALLERY)
    assert "Cost                     $1.81             $0.09  19.0 ×" in printed
    assert (
        "Small questions are sent to an expensive model\n10 of 149 responses, $0.11: use" in printed
    )
    assert "c85a106f  A small team for the docs  $0.37 cost, 3.6 × the median of $0.10" in printed
    assert "threshold: 5 times or more" in printed


def test_session_with_a_frequent_habit_is_listed_once() -> None:
    shown = [("a", 0.2, 1), ("b", 0.15, 1), ("b", 0.1, 1), ("c", None, 4)]
    evidence = tuple(
        HabitEvidence(session=name, cost_usd=cost, count=count) for name, cost, count in shown
    )
    habit = Habit(kind="pause", count=9, whole=20, evidence=evidence)
    assert list(by_session(habit)) == [("b", "2 ×  $0.25"), ("a", "$0.20"), ("c", "4 ×")]


def test_json_agrees_with_the_text_and_with_usage(
    capfd: pytest.CaptureFixture[str],
) -> None:
    found = value(capfd, "--root", GALLERY, "--since", "2026-10-05", "--until", "2026-10-13")
    trends = found["trends"]
    assert (trends["since"], trends["before_since"]) == ("2026-10-05", "2026-09-27")
    span = ["--since", trends["since"], "--until", "2026-10-13"]
    assert run(["usage", "--json", "--root", str(GALLERY), "-z", "UTC", *span]) == 0
    totals = json.loads(capfd.readouterr().out)["totals"]
    now = {item["measure"]: item["now"] for item in trends["measures"]}
    assert now["tokens"] == totals["total_tokens"]
    assert now["cost"] == pytest.approx(totals["cost_usd"])


def test_the_index_answers_what_the_logs_answer(
    capfd: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PLAIT_CACHE_DIR", str(tmp_path))
    cold = value(capfd, "--root", GALLERY, "--no-index")
    assert run(["index", "--root", str(GALLERY)]) == 0
    capfd.readouterr()
    assert value(capfd, "--root", GALLERY) == cold


def test_few_turns_give_no_habits(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    found = value(capfd, "--root", GALLERY, "--project", "ledger")
    assert found["habits"] == []
    assert run_text(capfd, "--root", tmp_path).startswith("no insights")


def test_unknown_name(capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["insights", "nobody", "--root", str(GALLERY)]) == 2
    assert "nobody" in capfd.readouterr().err
