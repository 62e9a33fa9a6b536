"""`plait stats` end to end: output at several widths, wording."""

import json
import time
from pathlib import Path
from typing import Any

import pytest

from examples.drawing import draw
from plait.cli.app import run
from plait.cli.stats import tool_name
from plait.view.formats import format_hours
from plait.view.text import shorten_path

WORK = """
file work cwd=/home/dev/shop start=2026-11-02T09:00:00Z
set model=claude-opus-4-6
U1 "Add a search box"
T1< Read(file_path="/home/dev/shop/models.py")
R1< @+2s "class Product"
T2< Edit(file_path="/home/dev/shop/models.py", old_string="Product", new_string="Item")
R2< @+4s
A2< "Done, with a test."
U3< @2026-11-03T14:00:00Z "And now by address"
T3< Bash(command="false")
R3< @+1s error "Exit code 1"
A3< "That failed."
I3<
file other cwd=/home/dev/quill start=2026-11-03T20:00:00Z
set model=claude-opus-4-6
U11 "Hello"
A11< "Hello."
"""


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """Return a folder with two sessions of two projects."""
    draw(WORK).write(tmp_path)
    return tmp_path


@pytest.fixture
def page(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """Give the command a clock without a zone and a page of 80 columns."""
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    monkeypatch.setenv("COLUMNS", "80")
    return monkeypatch


def out(capfd: pytest.CaptureFixture[str], *arguments: object) -> str:
    code = run([str(argument) for argument in arguments])
    captured = capfd.readouterr()
    assert (code, captured.err) == (0, "")
    return captured.out


def value(capfd: pytest.CaptureFixture[str], *arguments: object) -> Any:
    return json.loads(out(capfd, *arguments, "--json"))


def shown(text: str) -> str:
    """Return a picture without the margin of the test."""
    return "\n".join(line[4:].rstrip() for line in text.strip("\n").splitlines()).rstrip()


@pytest.mark.usefixtures("page")
def test_main_figures_come_first(capfd: pytest.CaptureFixture[str], work: Path) -> None:
    lines = [line.rstrip() for line in out(capfd, "stats", "--root", work).splitlines()]
    assert "\n".join(lines).rstrip() == shown("""
    2 sessions · 2 projects · 2026-11-02 to 2026-11-03 · 2 days with prompts

    3          6            3             0         123           13 s
    prompts    responses    tool calls    agents    tokens out    work time

    Prompts by day
       ███
    ▄▄▄███
    ██████
    2026-11-02

    Prompts by hour of the day
                      ██        ██          ██
                      ██        ██          ██
                      ██        ██          ██
    0:00        6:00        12:00       18:00

    Prompts by day of the week
    Mon  ██████████████████                    1
    Tue  ████████████████████████████████████  2
    Wed
    Thu
    Fri
    Sat
    Sun

    Tools            calls  failed   time  median
    Read   ████████      1          2.0 s   2.0 s
    Edit   ████████      1          4.0 s   4.0 s
    Bash   ████████      1    100%  1.0 s   1.0 s

    Events
    9  words typed
    7  words by Claude
    1  interruption

    Models              responses  tokens in  out
    opus-4-6  ████████          6        86k  123

    Most changed files        changes  added  removed
    /home/dev/shop/models.py        1     +1       -1

    Longest turns
         9.0 s  Add a search box                                            44c6406c
         3.0 s  And now by address                                          44c6406c
         1.0 s  Hello                                                       32ca6930

    Longest sessions
          12 s  Add a search box                                            44c6406c
         1.0 s  Hello                                                       32ca6930
    """)


def test_a_wide_page_has_two_columns(
    capfd: pytest.CaptureFixture[str], work: Path, page: pytest.MonkeyPatch
) -> None:
    page.setenv("COLUMNS", "120")
    lines = out(capfd, "stats", "--root", work).splitlines()
    assert max(map(len, lines)) <= 120
    both = next(line for line in lines if "Prompts by day  " in line)
    assert both.index("Events") == 62


@pytest.mark.parametrize("width", [40, 80, 109, 110, 200])
def test_no_line_is_wider_than_the_page(
    capfd: pytest.CaptureFixture[str], work: Path, page: pytest.MonkeyPatch, width: int
) -> None:
    page.setenv("COLUMNS", str(width))
    assert max(map(len, out(capfd, "stats", "--root", work).splitlines())) <= width


@pytest.mark.usefixtures("page")
def test_plain_characters_on_request(capfd: pytest.CaptureFixture[str], work: Path) -> None:
    assert out(capfd, "stats", "--ascii", "--root", work).isascii()


KEYS = """
    sessions all_sessions copied_sessions
    projects first last turns prompts queued retracted commands shell_lines interruptions
    responses calls failed rejected api_errors api_retries rewinds compactions agents
    service_agents words_typed words_said working_ms asking_ms waiting_ms tokens tools models
    agent_types files hours weekdays days longest_turns longest_sessions
""".split()


def test_json_has_the_documented_keys(capfd: pytest.CaptureFixture[str], work: Path) -> None:
    found = value(capfd, "stats", "--root", work)
    assert list(found) == KEYS
    assert (found["sessions"], found["prompts"], found["interruptions"]) == (2, 3, 1)
    assert found["tokens"]["output_tokens"] == sum(
        model["tokens"]["output_tokens"] for model in found["models"]
    )
    guide = (Path(__file__).parents[2] / "docs" / "guide" / "json.md").read_text(encoding="utf-8")
    inner = [key for name in ("tools", "files", "days", "longest_turns") for key in found[name][0]]
    assert [key for key in (*KEYS, *found["tokens"], *inner) if f"`{key}`" not in guide] == []


def test_one_session_or_one_project(capfd: pytest.CaptureFixture[str], work: Path) -> None:
    assert value(capfd, "stats", "Hello", "--root", work)["prompts"] == 1
    assert value(capfd, "stats", "shop", "--root", work)["prompts"] == 2
    assert value(capfd, "stats", "--project", "quill", "--root", work)["prompts"] == 1
    assert out(capfd, "stats", "Hello", "--root", work).startswith("Hello\n")


def test_file_outside_the_roots(capfd: pytest.CaptureFixture[str], work: Path) -> None:
    (file, *_) = sorted(work.rglob("*.jsonl"))
    assert "1 session · " in out(capfd, "stats", file)


def test_only_events_within_the_period(capfd: pytest.CaptureFixture[str], work: Path) -> None:
    found = value(capfd, "stats", "--since", "2026-11-03T00:00+00:00", "--root", work)
    assert (found["prompts"], found["calls"]) == (2, 1)
    found = value(capfd, "stats", "--until", "2026-11-03T00:00+00:00", "--root", work)
    assert (found["prompts"], found["calls"]) == (1, 2)


def test_hours_in_another_time_zone(capfd: pytest.CaptureFixture[str], work: Path) -> None:
    found = value(capfd, "stats", "--timezone", "Asia/Tokyo", "--root", work)
    assert [hour for hour, count in enumerate(found["hours"]) if count] == [5, 18, 23]


@pytest.mark.parametrize("zone", ["Mars/Olympus", "../etc/passwd", "", "/"])
def test_unknown_time_zone(capfd: pytest.CaptureFixture[str], work: Path, zone: str) -> None:
    assert run(["stats", "--timezone", zone, "--root", str(work)]) == 2
    assert capfd.readouterr().err.startswith(f"error: unknown time zone '{zone}'\nhint: ")


def test_nothing_to_count(capfd: pytest.CaptureFixture[str], work: Path, tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    assert out(capfd, "stats", "--root", empty).startswith("no sessions in ")
    assert value(capfd, "stats", "--root", empty)["sessions"] == 0
    assert out(capfd, "stats", "--since", "2030-01-01", "--root", work) == "nothing to count\n"


@pytest.mark.parametrize(
    ("milliseconds", "words"),
    [
        (0, ""),
        (400, "0.4 s"),
        (59_000, "59 s"),
        (90_000, "2 min"),
        (3_600_000, "1 h"),
        (5_400_000, "1 h 30 min"),
        (360_000_000, "100 h"),
    ],
)
def test_durations_in_words(milliseconds: float, words: str) -> None:
    assert format_hours(milliseconds) == words


@pytest.mark.parametrize(
    ("path", "room", "words"),
    [
        ("/a/b.py", 20, "/a/b.py"),
        ("/home/dev/shop/models.py", 16, "…/shop/models.py"),
        ("/home/dev/shop/models.py", 12, "…/models.py"),
        ("/home/dev/a_very_long_name.py", 12, "…ong_name.py"),
        ("/家/家家家家.py", 8, "…家家.py"),
    ],
)
def test_paths_are_cut_at_their_beginning(path: str, room: int, words: str) -> None:
    assert shorten_path(path, room) == words


def test_tool_names() -> None:
    assert tool_name("mcp__journal__read") == "journal: read"
    assert tool_name("mcp__odd") == "mcp__odd"
