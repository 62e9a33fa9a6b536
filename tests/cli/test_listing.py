"""Lists of sessions: turns and cost, shared columns for all projects, at any width."""

import json
from pathlib import Path

import pytest

from plait.archive import Archive, listing
from plait.cli.app import run

TALKED = ("trunk", "branch", "foreign")


def printed(capsys: pytest.CaptureFixture[str], *words: object) -> str:
    assert run([str(word) for word in words]) == 0
    return capsys.readouterr().out


def at_width(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    width: int,
    *words: object,
) -> str:
    monkeypatch.setenv("COLUMNS", str(width))
    return printed(capsys, "ls", *words)


def test_piped_output_honours_columns(
    gallery: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def widest(columns: str) -> int:
        monkeypatch.setenv("COLUMNS", columns)
        return max(map(len, printed(capsys, "ls", "--root", gallery).splitlines()))

    assert 50 < widest("60") <= 60
    assert 60 < widest("100") == widest("") == widest("wide") == widest("0") <= 100
    assert 100 < widest("300") < 160, "a title is not stretched over a wide screen"


def test_groups_share_a_header(
    gallery: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    text = at_width(capsys, monkeypatch, 80, "weather", "quill", "--root", gallery, "-n", 5)
    assert text == (
        "  session   title                                   ended  turns   cost   agents\n"
        "/home/dev/quill\n"
        "  b4bc37f8  Different anchors for equal…       2026-10-30      2  $0.09\n"
        "  7d5638b0  Changelog for version 1.4          2026-10-12      3  $0.10\n"
        "  30ca0be7  Two tests that fail once in ten…   2026-10-06      2  $0.34        3\n"
        "/home/dev/weather\n"
        "  6c327eac  Dark mode for the dashboard        2026-10-07      2  $0.09\n"
        "  4a59044d  Daily files with one reading a…    2026-09-30      2  $0.09\n"
        "\n"
        "5 sessions in 2 projects, 11 turns including copies, 113 entries, 97 KB (117 KB \nwith agents), $0.71\n"
    )


@pytest.mark.parametrize(
    ("width", "heads"),
    [
        (200, "session title ended turns cost size agents"),
        (80, "session title ended turns cost agents"),
        (60, "session title ended turns cost"),
        (44, "session title ended cost"),
        (33, "session title cost"),
        (20, "session title"),
    ],
)
def test_figures_are_dropped_before_titles(
    gallery: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    width: int,
    heads: str,
) -> None:
    text = at_width(capsys, monkeypatch, width, "shop", "--root", gallery)
    assert " ".join(text.split()).startswith(f"{heads} /home/dev/shop")
    rows = text.partition("/home/dev/shop\n")[2].partition("\n\n")[0].splitlines()
    assert all(len(row) <= max(width, 13) for row in rows)


def test_long_list_repeats_the_totals_at_the_end(
    gallery: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    text = at_width(capsys, monkeypatch, 50, "ledger", "-n1", "--long", "--root", gallery)
    assert text == (
        "  session   title                    ended   cost\n"
        "/home/dev/ledger\n"
        "  2c687a8d  Monthly report…     2026-10-28  $0.27\n"
        "            2c687a8d-5984-451b-aa86-5fdd619b2532\n"
        "            Monthly report from 40 minutes to\n"
        "            seconds\n"
        "            report.py takes 40 minutes for\n"
        "            October. The bank export has 2.1\n"
        "            million rows. Where does the time go?\n"
        "            version 2.1.325\n"
        "\n"
        "1 session in 1 project, 4 turns including copies, \n47 entries, 49 KB, $0.27\n"
    )


def test_turns_match_those_of_show(gallery: Path, capsys: pytest.CaptureFixture[str]) -> None:
    archive = Archive([gallery])
    for row in json.loads(printed(capsys, "ls", "--json", "--root", gallery)):
        report = archive.open(Path(row["path"])).conversations
        lines = [item for item in report.by_line.values() if item.kind in TALKED]
        assert row["turns"] == sum(turn.number > 0 for line in lines for turn in line.turns)


def test_cost_matches_usage(gallery: Path, capsys: pytest.CaptureFixture[str]) -> None:
    spent = json.loads(printed(capsys, "usage", "session", "--json", "--root", gallery))
    known = {row["session"]: row["cost_usd"] for row in spent["rows"]}
    rows = json.loads(printed(capsys, "ls", "--json", "--root", gallery, "--sort", "cost"))
    found = [row["cost_usd"] for row in rows]
    assert found == pytest.approx([known.get(row["session"]) for row in rows])
    assert found == sorted(found, reverse=True)


def test_sort_by_turns(gallery: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = json.loads(printed(capsys, "ls", "--json", "--root", gallery, "--sort", "turns", "-r"))
    assert [row["turns"] for row in rows] == sorted(row["turns"] for row in rows)


def test_turns_of_large_archives_need_an_index(
    gallery: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    size = sum(session.bytes for session in Archive([gallery]).sessions)
    monkeypatch.setattr(listing, "MOST_COUNTED", size)
    assert " turns " in printed(capsys, "ls", "--root", gallery)
    monkeypatch.setattr(listing, "MOST_COUNTED", size - 1)
    text = printed(capsys, "ls", "--root", gallery)
    assert " turns " not in text.splitlines()[0]
    assert text.endswith(f"`plait index --root {gallery}` once to see them\n")
    assert run(["index", "--root", str(gallery)]) == 0
    capsys.readouterr()
    assert " turns " in printed(capsys, "ls", "--root", gallery).splitlines()[0]


def test_list_does_not_look_up_sessions_separately(
    gallery: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def look(*_: object) -> None:
        raise AssertionError("thousands of sessions would each be held against all others")

    monkeypatch.setattr(Archive, "session_at", look)
    assert json.loads(printed(capsys, "ls", "--json", "--no-index", "--root", gallery))
