"""`plait star` end to end: setting, listing, removing, and marks in `ls`."""

import json
from pathlib import Path
from typing import Any

import pytest

from examples.drawing import draw
from plait.cli.app import run

TALK = """
file talk cwd=/home/dev/tide
U1 "Count the boats."
A1< "Seven."
U2< "And the sails?"
A2< "Nine."
"""
OTHER = """
file other cwd=/home/dev/tide
U1 "Write a poem."
A1< "No."
"""


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return two sessions, and a data folder that holds nothing yet."""
    for text in (TALK, OTHER):
        draw(text).write(tmp_path / "logs")
    monkeypatch.setenv("PLAIT_DATA_DIR", str(tmp_path / "data"))
    return tmp_path / "logs"


def run_text(capfd: pytest.CaptureFixture[str], root: Path, *given: str) -> tuple[int, str, str]:
    """Run a command and return its code and both of its outputs."""
    code = run([*given, "--root", str(root)])
    captured = capfd.readouterr()
    return code, captured.out, captured.err


def value(capfd: pytest.CaptureFixture[str], root: Path, *given: str) -> Any:
    """Return the JSON of a command."""
    return json.loads(run_text(capfd, root, *given, "--json")[1])


def test_session_is_starred_listed_and_unstarred(
    root: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert run_text(capfd, root, "star")[1].startswith("no session is starred")
    code, out, err = run_text(capfd, root, "star", "Count the")
    assert (code, out) == (0, "")
    assert err.startswith("starred: ")
    assert run_text(capfd, root, "star", "Count the")[2].startswith("already starred: ")
    assert "★ Count the boats." in run_text(capfd, root, "star")[1]
    (item,) = value(capfd, root, "star")
    assert (item["title"], item["here"]) == ("Count the boats.", True)
    assert run_text(capfd, root, "star", item["session"], "--remove")[2].startswith(
        "no longer starred"
    )
    assert run_text(capfd, root, "star", "Count the", "--remove")[2].startswith("not starred: ")
    assert value(capfd, root, "star") == []


def test_starred_search_ignores_sessions_of_other_roots(
    capfd: pytest.CaptureFixture[str], root: Path, tmp_path: Path
) -> None:
    draw(OTHER.replace("file other", "file far")).write(tmp_path / "elsewhere")
    assert run_text(capfd, tmp_path / "elsewhere", "star", "latest")[0] == 0
    code, _, err = run_text(capfd, root, "search", "boats", "--starred")
    assert (code, err.splitlines()[0]) == (
        2,
        "error: no starred session is under these roots",
    )
    assert run_text(capfd, root, "star", "Count the")[0] == 0
    code, shown, _ = run_text(capfd, root, "search", "boats", "--starred")
    assert code == 0
    assert "boats" in shown


def test_ls_marks_and_filters_starred_sessions(
    root: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    run_text(capfd, root, "star", "Count the")
    out = run_text(capfd, root, "ls")[1]
    assert [line.strip()[10:12] for line in out.splitlines() if "boats" in line] == ["★ "]
    assert "★ Write" not in out
    chosen = value(capfd, root, "ls", "--starred")
    assert [(item["title"], item["starred"]) for item in chosen] == [("Count the boats.", True)]
    assert sorted(item["starred"] for item in value(capfd, root, "ls")) == [False, True]


def test_star_under_another_root_is_counted_and_can_be_removed(
    root: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    gone = "00000000-0000-4000-8000-000000000009"
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "stars.json").write_text(json.dumps({"stars": {gone: {}}}))
    assert "1 starred session not under these roots" in run_text(capfd, root, "star")[1]
    (item,) = value(capfd, root, "star")
    assert (item["session"], item["here"], item["title"]) == (gone, False, None)
    assert run_text(capfd, root, "star", gone, "--remove")[2] == "no longer starred: 00000000\n"


def test_turn_is_pinned_listed_and_unpinned(root: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert run_text(capfd, root, "star", "--turns")[1].startswith("no turn is starred")
    assert (
        run_text(capfd, root, "star", "Count the", "--turn", "2")[2]
        == "starred: turn 2, “And the sails?”\n"
    )
    listed = run_text(capfd, root, "star", "--turns")[1].splitlines()
    assert listed[1] == "  turn 2  And the sails?"
    assert listed[2].startswith("    plait show ")
    assert listed[2].endswith(f" --turn 2 --root {root}")
    assert run_text(capfd, root, "star", "Write a poem.", "--turns")[1].startswith(
        "no turn is starred"
    )
    (item,) = value(capfd, root, "star", "Count the", "--turns")
    assert (item["turn"], item["words"], item["why_gone"]) == (2, "And the sails?", None)
    assert item["open"] == listed[2].strip()
    err = run_text(capfd, root, "star", "Count the", "--turn", "sails", "--remove")[2]
    assert err == "no longer starred: turn 2, “And the sails?”\n"
    assert value(capfd, root, "star", "--turns") == []


def test_pin_of_a_missing_turn_says_so(root: Path, capfd: pytest.CaptureFixture[str]) -> None:
    run_text(capfd, root, "star", "Count the", "--turn", "2")
    draw(TALK[: TALK.index("U2")]).write(root)
    assert "    the turn is no longer in its session" in run_text(capfd, root, "star", "--turns")[1]
    (item,) = value(capfd, root, "star", "--turns")
    assert (item["why_gone"], item["open"]) == ("the turn is no longer in its session", None)


@pytest.mark.parametrize(
    ("given", "code", "output"),
    [
        (["star", "nobody"], 2, "no session"),
        (["star", "--remove"], 2, "no session given"),
        (["star", "Count the", "--turn", "9"], 2, "no turn 9"),
        (["star", "Count the", "--turn", "2", "--remove"], 2, "no pinned turn matches '2'"),
        (["star", "Count the", "--turns", "--remove"], 2, "no turn given"),
        (["star", "--branch", "2"], 2, "no turn given"),
        (["star", "Count the", "--turn", "1", "--branch", "7"], 2, "no branch named '7'"),
    ],
)
def test_impossible_requests_are_explained(
    root: Path, capfd: pytest.CaptureFixture[str], given: list[str], code: int, output: str
) -> None:
    found, out, err = run_text(capfd, root, *given)
    assert (found, out) == (code, "")
    assert err.startswith("error: ")
    assert output in err


def test_damaged_file_stops_stars_but_not_lists(
    root: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "stars.json").write_text("{")
    code, _, err = run_text(capfd, root, "star", "Count the")
    words = " ".join(err.split())
    assert (code, "is damaged" in words, "start with an empty list" in words) == (3, True, True)
    code, out, err = run_text(capfd, root, "ls")
    words = " ".join(err.split())
    assert (code, "Count the boats." in out, "is damaged" in words) == (0, True, True)


def test_search_in_starred_sessions_only(root: Path, capfd: pytest.CaptureFixture[str]) -> None:
    code, _, err = run_text(capfd, root, "search", "boats", "--starred")
    assert (code, "no session is starred" in err) == (2, True)
    run_text(capfd, root, "star", "Count the")
    assert len(value(capfd, root, "search", "boats", "--starred")["hits"]) == 1
    assert value(capfd, root, "search", "poem", "--starred")["hits"] == []
    run_text(capfd, root, "star", "Write a poem.")
    assert len(value(capfd, root, "search", "poem", "--starred")["hits"]) == 1
