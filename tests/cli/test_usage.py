"""`plait usage` end to end: tables at two widths, JSON, status line, prices, errors."""

from __future__ import annotations

import json
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from plait.cli.app import run

FOLDER = "projects/-home-dev-shop"
SESSION = "5e551011-0000-4000-8000-000000000001"
OTHER = "5e551011-0000-4000-8000-000000000002"


@pytest.fixture(autouse=True)
def clock_without_a_zone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()


def answer(
    number: int, stamp: str, model: str = "claude-opus-4-5-20251101", **fields: Any
) -> dict[str, Any]:
    """Return a line of a response that took a few thousand tokens."""
    usage = {
        "input_tokens": 1_200,
        "output_tokens": 3_400,
        "cache_creation_input_tokens": 56_000,
        "cache_read_input_tokens": 7_800_000,
    }
    message = {"id": f"msg_{number}", "role": "assistant", "model": model, "usage": usage}
    return {
        "parentUuid": None,
        "isSidechain": False,
        "type": "assistant",
        "uuid": f"a{number}",
        "timestamp": stamp,
        "sessionId": SESSION,
        "cwd": "/home/dev/shop",
        "message": message,
        **fields,
    }


def write(root: Path, name: str, *lines: dict[str, Any]) -> None:
    path = root / FOLDER / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """Return a folder with two days, two models, an agent and a model without a price."""
    write(
        tmp_path,
        f"{SESSION}.jsonl",
        {"type": "ai-title", "aiTitle": "A search box for products", "sessionId": SESSION},
        answer(1, "2026-11-02T09:00:00.000Z"),
        answer(2, "2026-11-02T23:30:00.000Z", "claude-sonnet-4-5-20250929"),
        {"type": "cost-state", "sessionId": SESSION, "totalCostUSD": 9.5},
    )
    write(
        tmp_path,
        f"{OTHER}.jsonl",
        answer(3, "2026-11-03T10:00:00.000Z", "claude-tomorrow-9", sessionId=OTHER),
    )
    write(
        tmp_path,
        f"{SESSION}/subagents/agent-a1.jsonl",
        answer(4, "2026-11-02T09:01:00.000Z", isSidechain=True, agentId="a1"),
    )
    return tmp_path


def out(capfd: pytest.CaptureFixture[str], *arguments: object) -> str:
    code = run(["usage", *(str(argument) for argument in arguments)])
    captured = capfd.readouterr()
    assert (code, captured.err) == (0, "")
    return captured.out


def fails(capfd: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str]:
    code = run(["usage", *(str(argument) for argument in arguments)])
    captured = capfd.readouterr()
    assert captured.out == ""
    return code, captured.err


def value(capfd: pytest.CaptureFixture[str], *arguments: object) -> Any:
    return json.loads(out(capfd, *arguments, "--json"))


def shown(text: str) -> str:
    """Return a picture without the margin of the test."""
    return "\n".join(line[4:].rstrip() for line in text.strip("\n").splitlines()).rstrip()


def test_daily_table_with_full_numbers(
    capfd: pytest.CaptureFixture[str], shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    assert out(capfd, "--root", shop).rstrip() == shown("""
    date        models                input  output  cache write  cache read      tokens    cost
    2026-11-02  opus-4-5, sonnet-4-5  3,600  10,200      168,000  23,400,000  23,581,800  $13.87
    2026-11-03  tomorrow-9            1,200   3,400       56,000   7,800,000   7,860,600       ?*
    ─────────────────────────────────────────────────────────────────────────────────────────────
    total                             4,800  13,600      224,000  31,200,000  31,442,400  $13.87*

    4 responses with usage · agents $4.34
    * no known price for claude-tomorrow-9 (1 response)
      `--prices FILE` adds your own prices
    """)


def test_narrow_daily_table_with_breakdown(
    capfd: pytest.CaptureFixture[str], shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    printed = out(capfd, "--breakdown", "--limit", "1", "--until", "2026-11-03", "--root", shop)
    assert printed.rstrip() == shown("""
    date        models                input  output  write   read  tokens    cost
    2026-11-02  opus-4-5, sonnet-4-5   3.6k     10k   168k  23.4M   23.6M  $13.87
      opus-4-5                         2.4k    6.8k   112k  15.6M   15.7M   $8.68
      sonnet-4-5                       1.2k    3.4k    56k   7.8M    7.9M   $5.18
      agents                           1.2k    3.4k    56k   7.8M    7.9M   $4.34
    ─────────────────────────────────────────────────────────────────────────────
    total                              3.6k     10k   168k  23.4M   23.6M  $13.87
      opus-4-5                         2.4k    6.8k   112k  15.6M   15.7M   $8.68
      sonnet-4-5                       1.2k    3.4k    56k   7.8M    7.9M   $5.18
      agents                           1.2k    3.4k    56k   7.8M    7.9M   $4.34

    3 responses with usage
    """)


@pytest.mark.parametrize("width", [60, 80, 100, 120])
@pytest.mark.parametrize(
    "report", ["daily", "weekly", "monthly", "session", "project", "model", "blocks"]
)
def test_no_row_is_wider_than_the_terminal(
    capfd: pytest.CaptureFixture[str],
    shop: Path,
    monkeypatch: pytest.MonkeyPatch,
    report: str,
    width: int,
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    printed = out(capfd, report, "--breakdown", "--root", shop)
    assert max(map(len, printed.splitlines())) <= width
    assert "total" in printed and "$13.87*" in printed


def test_sessions_by_cost_with_titles(capfd: pytest.CaptureFixture[str], shop: Path) -> None:
    lines = out(capfd, "session", "--root", shop).splitlines()
    assert lines[1].startswith("5e551011  A search box for products")
    rows = value(capfd, "session", "--root", shop)["rows"]
    assert [row["session"] for row in rows] == [SESSION, OTHER]
    assert rows[0]["title"] == "A search box for products"
    assert rows[0]["client_cost_usd"] == 9.5
    assert rows[0]["project"] == "-home-dev-shop"


def test_projects_are_named_by_their_directory(
    capfd: pytest.CaptureFixture[str], shop: Path
) -> None:
    assert "\n/home/dev/shop " in out(capfd, "project", "--root", shop)


def test_json_has_rows_and_totals(capfd: pytest.CaptureFixture[str], shop: Path) -> None:
    shown_ = value(capfd, "--root", shop, "--timezone", "Europe/Rome")
    assert [row["date"] for row in shown_["rows"]] == ["2026-11-02", "2026-11-03"]
    assert [row["responses"] for row in shown_["rows"]] == [2, 2]
    totals = shown_["totals"]
    assert totals["input_tokens"] == 4_800
    assert totals["cache_creation_tokens"] == 224_000
    assert totals["total_tokens"] == 31_442_400
    assert totals["unpriced"] == ["claude-tomorrow-9"]
    assert totals["abandoned"]["responses"] == 0
    assert totals["agents"]["responses"] == 1
    assert "breakdown" not in totals


def test_a_breakdown_is_by_model(capfd: pytest.CaptureFixture[str], shop: Path) -> None:
    totals = value(capfd, "--breakdown", "--root", shop)["totals"]
    assert {name: item["responses"] for name, item in totals["breakdown"].items()} == {
        "claude-opus-4-5-20251101": 2,
        "claude-sonnet-4-5-20250929": 1,
        "claude-tomorrow-9": 1,
    }
    assert totals["abandoned"]["responses"] == 0


def test_branches_of_large_archives_are_counted_on_request(
    capfd: pytest.CaptureFixture[str], shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("plait.cli.usage.LITTLE", 100)
    shown_ = value(capfd, "--root", shop)
    assert [item["abandoned"] for item in (*shown_["rows"], shown_["totals"])] == [None] * 3
    totals = value(capfd, "--breakdown", "--root", shop)["totals"]
    assert totals["abandoned"]["responses"] == 0


def test_each_response_counts_at_its_own_time(
    capfd: pytest.CaptureFixture[str], shop: Path
) -> None:
    def count(*arguments: str) -> int:
        totals = value(capfd, "--root", shop, *arguments)["totals"]
        return int(totals["responses"])

    assert count("--since", "2026-11-03") == 1
    assert count("--until", "2026-11-03") == 3
    assert count("--since", "2026-11-03", "--timezone", "Europe/Rome") == 2
    assert count("--since", "2026-11-02T09:00:30", "--until", "2026-11-02T10:00") == 1
    assert count("--since", "20261103") == 1


def test_rows_in_other_orders(capfd: pytest.CaptureFixture[str], shop: Path) -> None:
    def days(*arguments: str) -> list[str]:
        rows = value(capfd, "--root", shop, *arguments)["rows"]
        return [row["date"] for row in rows]

    assert days("--order", "desc") == ["2026-11-03", "2026-11-02"]
    assert days("--limit", "1") == ["2026-11-03"]
    assert days("--order", "desc", "--limit", "1") == ["2026-11-03"]
    assert days("--order", "cost", "--limit", "1") == ["2026-11-02"]
    assert "1 row not shown" in out(capfd, "--limit", "1", "--root", shop)


def test_single_project(capfd: pytest.CaptureFixture[str], shop: Path) -> None:
    assert value(capfd, "--project", "shop", "--root", shop)["totals"]["responses"] == 4
    code, output = fails(capfd, "--project", "harbour", "--root", shop)
    assert code == 2
    assert output.startswith("error: no project named 'harbour'")


def test_blocks(capfd: pytest.CaptureFixture[str], shop: Path) -> None:
    rows = value(capfd, "blocks", "--root", shop)["rows"]
    assert [(row["start"], row["gap"], row["responses"]) for row in rows] == [
        ("2026-11-02T09:00:00Z", False, 2),
        ("2026-11-02T14:01:00Z", True, 0),
        ("2026-11-02T23:00:00Z", False, 1),
        ("2026-11-03T04:30:00Z", True, 0),
        ("2026-11-03T10:00:00Z", False, 1),
    ]
    assert rows[0]["tokens_per_minute"] == 2 * 7_860_600
    assert "gap" in out(capfd, "blocks", "--root", shop)


@pytest.fixture
def now_running(tmp_path: Path) -> Path:
    """Return a folder with a session that was answered ten and forty minutes ago."""
    now = datetime.now(UTC)
    stamps = [f"{now - timedelta(minutes=ago):%Y-%m-%dT%H:%M:%S.000Z}" for ago in (40, 10)]
    lines = [answer(number, stamp) for number, stamp in enumerate(stamps)]
    write(tmp_path, f"{SESSION}.jsonl", *lines)
    return tmp_path


def test_current_block_and_projection(capfd: pytest.CaptureFixture[str], now_running: Path) -> None:
    printed = out(capfd, "blocks", "--root", now_running)
    assert " now " in printed
    assert (
        "this block: " in printed
        and " left · " in printed
        and "/h · projected for this block: " in printed
    )
    (row,) = (
        item for item in value(capfd, "blocks", "--root", now_running)["rows"] if item["active"]
    )
    assert row["projected_cost_usd"] > row["cost_usd"] > 0


def test_the_status_line_is_one_line(
    capfd: pytest.CaptureFixture[str], now_running: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    output = out(capfd, "--statusline", "--root", now_running)
    assert output.count("\n") == 1
    assert "block $8.68, " in output and " left · $17.36/h" in output
    assert out(capfd, "--statusline", "--root", tmp_path_factory.mktemp("none")) == "today $0.00\n"


def test_no_usage(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert out(capfd, "--root", tmp_path) == "no usage\n"
    assert out(capfd, "blocks", "--root", tmp_path) == "no usage\n"
    totals = value(capfd, "--root", tmp_path)["totals"]
    assert (totals["responses"], totals["cost_usd"], totals["unpriced"]) == (0, 0, [])


OWN = '["claude-tomorrow-*"]\ninput = 1\noutput = 2\ncache_write = 3\ncache_read = 4\n'
OWN_COST = (1_200 + 3_400 * 2 + 56_000 * 3 + 7_800_000 * 4) / 1_000_000


def test_own_prices_by_option_environment_and_setting(
    capfd: pytest.CaptureFixture[str],
    shop: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    prices = tmp_path / "prices.toml"
    prices.write_text(OWN, encoding="utf-8")
    config = tmp_path / "config.toml"
    config.write_text(f'prices = "{prices}"\n', encoding="utf-8")
    asked = ("--since", "2026-11-03", "--root", shop)
    by_option = value(capfd, *asked, "--prices", prices)["totals"]
    monkeypatch.setenv("PLAIT_PRICES", str(prices))
    by_environment = value(capfd, *asked)["totals"]
    monkeypatch.delenv("PLAIT_PRICES")
    monkeypatch.setenv("PLAIT_CONFIG", str(config))
    by_setting = value(capfd, *asked)["totals"]
    assert by_option == by_environment == by_setting
    assert by_option["cost_usd"] == pytest.approx(OWN_COST)
    assert by_option["unpriced"] == []


def test_errors_are_explained(
    capfd: pytest.CaptureFixture[str], shop: Path, tmp_path: Path
) -> None:
    wrong = tmp_path / "wrong.toml"
    wrong.write_text("[m]\ninput = 1\noutpt = 2\n", encoding="utf-8")
    code, output = fails(capfd, "--prices", wrong, "--root", shop)
    assert code == 4
    assert f"error: unknown price 'outpt' for 'm' in '{wrong}'" in output
    assert "hint: did you mean 'output'?" in output
    assert fails(capfd, "--prices", tmp_path / "none.toml", "--root", shop)[0] == 4
    code, output = fails(capfd, "--timezone", "Mars/Olympus", "--root", shop)
    assert (code, output.splitlines()[0]) == (2, "error: unknown time zone 'Mars/Olympus'")
    assert fails(capfd, "--since", "whenever", "--timezone", "UTC", "--root", shop)[0] == 2


def test_cached_prices_of_an_earlier_version_are_ignored(
    capfd: pytest.CaptureFixture[str], shop: Path, nobodys_home: Path
) -> None:
    first = out(capfd, "--root", shop)
    kept = nobodys_home / "cache" / "plait" / "prices.json"
    assert not kept.exists()
    kept.parent.mkdir(parents=True, exist_ok=True)
    kept.write_bytes(b'{"edition": "", "cards": {"claude-tomorrow-9": null}}')
    assert out(capfd, "--root", shop) == first
