"""`plait usage --by` and `--csv` end to end: tables that fit and sums that agree."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest

from plait.usage.formats import format_csv
from tests.cli.test_usage import clock_without_a_zone, fails, out, shop, shown, value

__all__ = ["clock_without_a_zone", "shop"]
GALLERY = Path(__file__).parents[2] / "examples" / "gallery"


def loaded(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_cross_table_with_totals(capfd: pytest.CaptureFixture[str], shop: Path) -> None:
    assert out(capfd, "--by", "project,model,day", "--root", shop).rstrip() == shown("""
    project, model  2026-11-02   2026-11-03    total
    /home/dev/shop      $13.87            ?*  $13.87*
      opus-4-5           $8.68                 $8.68
      sonnet-4-5         $5.18                 $5.18
      tomorrow-9                          ?*       ?*
    ─────────────────────────────────────────────────
    total               $13.87            ?*  $13.87*

    4 responses with usage, 31,442,400 tokens
    * no known price for claude-tomorrow-9 (1 response)
    """)


def test_older_columns_are_combined_if_they_do_not_fit(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    printed = out(capfd, "--by", "project,week", "--root", GALLERY, "-z", "UTC")
    assert printed.rstrip() == shown("""
    project            before   2026-10-19   2026-10-26   total
    /home/dev/quill     $1.05                     $0.09   $1.13
    /home/dev/shop      $1.05                             $1.05
    /home/dev/ledger    $0.09        $0.10        $0.27   $0.45
    /home/dev/weather   $0.41                             $0.41
    ────────────────────────────────────────────────────────────
    total               $2.59        $0.10        $0.35   $3.04

    149 responses with usage, 2,192,723 tokens
    """)


def test_expensive_columns_stay_and_the_rest_is_other(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    printed = out(capfd, "--by", "project,model", "-n", "1", "--of", "tokens", "--root", GALLERY)
    assert printed.rstrip() == shown("""
    project          opus-5-5   opus-4-8   other   total
    /home/dev/quill      364k       205k    132k    701k
    ─────────────────────────────────────────────────────
    total                1.5M       205k    494k    2.2M

    149 responses with usage, 2,192,723 tokens, 3 rows not shown
    """)


FIGURES = (
    *("responses", "input_tokens", "output_tokens", "cache_creation_tokens"),
    *("cache_read_tokens", "total_tokens", "cost_usd"),
)


@pytest.mark.parametrize(
    "by", ["project,model,week", "session,day", "model,month", "month,project"]
)
def test_sums_agree_with_the_reports(capfd: pytest.CaptureFixture[str], by: str) -> None:
    found = value(capfd, "--by", by, "--root", GALLERY, "-z", "UTC")
    full = value(capfd, "--root", GALLERY, "-z", "UTC")["totals"]
    cells = loaded(out(capfd, "--by", by, "--csv", "--root", GALLERY, "-z", "UTC"))
    reports = {"day": "daily", "week": "weekly", "month": "monthly"}
    for figure in FIGURES:
        assert found["totals"][figure] == pytest.approx(full[figure], abs=1e-9)
        assert sum(float(cell[figure]) for cell in cells) == pytest.approx(full[figure], abs=1e-8)
    for name in by.split(","):
        report = reports.get(name, name)
        rows = value(capfd, report, "--root", GALLERY, "-z", "UTC")["rows"]
        key = "date" if name == "day" else name
        result = {row[key]: [row[figure] for figure in FIGURES] for row in rows}
        sums = {item[name]: [item[figure] for figure in FIGURES] for item in found["sums"][name]}
        assert sums.keys() == result.keys()
        assert all(sums[item] == pytest.approx(result[item], abs=1e-9) for item in sums)


@pytest.mark.parametrize("report", ["daily", "weekly", "monthly", "session", "project", "model"])
def test_csv_of_every_report_matches_its_json(
    capfd: pytest.CaptureFixture[str], report: str
) -> None:
    rows = value(capfd, report, "--root", GALLERY, "-z", "UTC")["rows"]
    lines = loaded(out(capfd, report, "--csv", "--root", GALLERY, "-z", "UTC"))
    for row, line in zip(rows, lines, strict=True):
        for name, text in line.items():
            result: Any = row[name]
            assert (
                text == result if isinstance(result, str) else float(text) == pytest.approx(result)
            )


def test_csv_blocks_have_no_gaps(capfd: pytest.CaptureFixture[str]) -> None:
    blocks = value(capfd, "blocks", "--root", GALLERY)["rows"]
    lines = loaded(out(capfd, "blocks", "--csv", "--root", GALLERY))
    assert [line["start"] for line in lines] == [
        block["start"] for block in blocks if not block["gap"]
    ]


@pytest.mark.parametrize(
    ("given", "error"),
    [
        (["--by", "project,hour"], "cannot group by 'hour'"),
        (["--by", ""], "cannot group by ''"),
        (["--by", "week,week"], "'week' is given twice"),
        (["--by", "day,week"], "only one of day, week and month"),
        (["--by", "project,model,session,week"], "at most 3 dimensions"),
        (["weekly", "--by", "project,week"], "either 'weekly' or `--by`"),
        (["--csv", "--json"], "use either `--csv` or `--json`"),
    ],
)
def test_refused_options(capfd: pytest.CaptureFixture[str], given: list[str], error: str) -> None:
    code, report = fails(capfd, *given, "--root", GALLERY)
    output = json.loads(report)["error"] if "--json" in given else report
    assert code == 2
    assert error in output


def test_single_dimension_is_the_report(capfd: pytest.CaptureFixture[str]) -> None:
    same = out(capfd, "project", "--root", GALLERY)
    assert out(capfd, "--by", "project", "--root", GALLERY) == same


def test_empty_csv_is_a_header(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert loaded(out(capfd, "--by", "project,week", "--csv", "--root", tmp_path)) == []
    assert out(capfd, "--by", "project,week", "--root", tmp_path) == "no usage\n"


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("=1+1", "'=1+1"),
        ("+cmd", "'+cmd"),
        ("@SUM(A1)", "'@SUM(A1)"),
        ("-2+3|x", "'-2+3|x"),
        ("\t=1", "' =1"),
        ("-home-dev-shop", "-home-dev-shop"),
        ('a "b", c', 'a "b", c'),
        ("two\nlines\ud800", "two lines "),
        (None, ""),
    ],
)
def test_text_is_never_a_formula(name: str | None, written: str) -> None:
    from plait.usage.spending import SpendingSum

    assert loaded(format_csv(("name",), [((name,), SpendingSum())]))[0]["name"] == written
