"""`plait blame`, `history` and `files`: text, JSON and files written to a folder."""

import json
from pathlib import Path
from typing import Any

import pytest

from plait.cli.app import run
from tests.files.scripted import Script, Scripted

ONE, TWO, THREE = "one = first_value()", "two = second_value()", "three = third_value()"


@pytest.fixture
def home(tmp_path: Path) -> Scripted:
    return Scripted(tmp_path)


@pytest.fixture
def script(home: Scripted) -> Script:
    """Return a session of two turns; the file is changed by hand after the last."""
    file, script = home.top / "cart.py", home.session()
    script.prompt("make the cart")
    script.write(file, f"{ONE}\n{TWO}\n")
    script.prompt("and a third")
    script.edit(file, TWO, f"{TWO}\n{THREE}")
    script.write(home.top.parent / "notes.md", "a note that lies elsewhere\n")
    home.commit()
    file.write_text(f"# by hand\n{file.read_text(encoding='utf-8')}", encoding="utf-8")
    return script


class Command:
    """The command, as it is typed in the repository."""

    def __init__(self, home: Scripted, capfd: pytest.CaptureFixture[str]) -> None:
        self._home, self._capfd = home, capfd

    def run(self, *words: str, code: int = 0) -> str:
        name, *rest = words
        given = [name, "--root", str(self._home.config), "--no-pager", *rest]
        assert run(given) == code
        out, err = self._capfd.readouterr()
        return err if code else out

    def json(self, *words: str) -> Any:
        return json.loads(self.run(*words, "--json"))


@pytest.fixture
def command(
    home: Scripted, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Command:
    monkeypatch.chdir(home.top)
    return Command(home, capfd)


def test_blame_prints_the_file(command: Command, script: Script) -> None:
    report = command.run("blame", "cart.py")
    lines = report.split("\n")
    assert lines[1] == "4 lines: 3 likely, 1 unknown"
    assert lines[3].split() == ["unknown", "?1", "#", "by", "hand"]
    assert lines[4].split()[0] == f"{script.id[:8]}:1"
    assert lines[4].endswith(f"~2 {ONE}")
    assert lines[6].endswith(f"~4 {THREE}")
    assert "written by hand or by a command" in report
    assert f"plait show {script.id[:8]} --turn 1 --root" in report


def test_blame_json_has_the_documented_fields(command: Command, script: Script) -> None:
    found = command.json("blame", "cart.py")
    assert [item["line"] for item in found] == [1, 2, 3, 4]
    assert [item["text"] for item in found] == ["# by hand", ONE, TWO, THREE]
    assert [item["turn"] for item in found] == [None, 1, 1, 2]
    assert [item["session"] for item in found] == [None, *[script.id] * 3]
    assert [item["certainty"] for item in found] == ["unknown", *["likely"] * 3]
    assert found[0]["uuid"] is found[0]["time"] is found[0]["commit"] is None
    assert found[1]["prompt"] == "make the cart"
    assert found[1]["time"].startswith("2026-03-02T09:00")
    assert len(found[1]["commit"]) == 40


@pytest.mark.parametrize(("span", "count"), [("2", 1), ("2-3", 2), ("2-", 3), ("4-9", 1)])
def test_lines_can_be_selected(command: Command, script: Script, span: str, count: int) -> None:
    assert len(command.json("blame", "cart.py", "--lines", span)) == count


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (("blame", "cart.py", "--lines", "x"), "'x' is not a range of lines"),
        (("blame", "cart.py", "--lines", "9"), "no lines 9"),
        (("blame", "cart.py", "--yes"), "`--yes` needs `--notes`"),
        (("blame", "nowhere.py"), "no session mentions it"),
        (("history", "nowhere.py"), "no session touched 'nowhere.py'"),
        (("history", "cart.py", "--at", "9"), "no turn 9 in this session"),
        (("history", "cart.py", "--at", "never"), "'never' is not a time"),
        (("files", "latest", "-o", "x"), "`-o` writes the files as of a turn"),
        (("files", "latest", "--at", "7"), "no turn 7"),
    ],
)
def test_impossible_requests_are_explained(
    command: Command, script: Script, words: tuple[str, ...], error: str
) -> None:
    assert error in command.run(*words, code=2)


def test_history_of_a_file(command: Command, script: Script) -> None:
    report = command.run("history", "cart.py")
    assert "2 changes in 1 session" in report
    assert "created     +2  make the cart" in report
    assert "edited   +1 −0  and a third" in report
    patch = command.run("history", "cart.py", "--patch")
    assert f"+{THREE}" in patch
    assert [item["action"] for item in command.json("history", "cart.py")] == ["created", "edited"]


def test_file_at_a_point_in_time(command: Command, script: Script) -> None:
    assert command.run("history", "cart.py", "--at", f"{script.id[:8]}:1") == f"{ONE}\n{TWO}\n"
    assert command.run("history", "cart.py", "--at", "2") == f"{ONE}\n{TWO}\n{THREE}\n"
    before = command.run("history", "cart.py", "--at", "2026-03-02T08:00:00Z", code=2)
    assert "did not exist then" in before
    report = command.json("history", "cart.py", "--at", "1")
    assert (report["text"], report["certainty"]) == (f"{ONE}\n{TWO}\n", "sure")


def test_content_known_only_from_patches_is_unknown(home: Scripted, command: Command) -> None:
    file, script = home.top / "cart.py", home.session()
    file.write_text(f"{ONE}\n{TWO}\n", encoding="utf-8")
    script.has_originals = False
    script.prompt("add")
    script.edit(file, TWO, THREE)
    for copy in (home.config / "file-history" / script.id).iterdir():
        copy.unlink()
    assert "the log has only patches for the file" in command.run(
        "history", "cart.py", "--at", "1", code=2
    )


def test_net_change_of_a_session(command: Command, script: Script) -> None:
    report = command.run("files", "latest")
    assert "new  +3 −0        2  1, 2   " in report
    assert "2 files: +4 −0 in total" in report
    first, second = command.json("files", "latest")
    assert (first["changes"], first["added"], first["is_new"]) == (2, 3, True)
    assert (second["path"].rpartition("/")[2], second["turns"]) == ("notes.md", [2])
    assert f"+{THREE}" in command.run("files", "latest", "-p").split("\n")


def test_files_are_extracted_to_a_folder(home: Scripted, command: Command, script: Script) -> None:
    report = command.run("files", "latest", "--at", "1")
    assert f"certain            {home.top / 'cart.py'}" in report
    assert "did not exist (likely)" in report
    assert "1 file written" in command.run("files", "latest", "--at", "1", "-o", "then")
    assert (home.top / "then/cart.py").read_text(encoding="utf-8") == f"{ONE}\n{TWO}\n"
    assert not (home.top / "then/outside").exists()
    refused = command.run("files", "latest", "--at", "2", "-o", "then", code=2)
    assert "refusing to overwrite 1 file:" in refused
    assert not (home.top / "then/outside").exists()
    command.run("files", "latest", "--at", "2", "-o", "then", "--force")
    assert THREE in (home.top / "then/cart.py").read_text(encoding="utf-8")
    elsewhere = home.top / "then/outside" / str(home.top.parent).lstrip("/") / "notes.md"
    assert elsewhere.read_text(encoding="utf-8") == "a note that lies elsewhere\n"


def test_nothing_is_written_outside_the_folder(
    home: Scripted, command: Command, script: Script
) -> None:
    (home.top / "then").mkdir()
    (home.top / "then" / "outside").symlink_to(home.top.parent)
    report = command.json("files", "latest", "--at", "2", "-o", "then")
    assert {item["name"] for item in report} == {"cart.py", None}
    assert "is outside the folder" in {item["why"] for item in report if item["name"] is None}.pop()


def test_git_notes_are_a_plan_first(home: Scripted, command: Command, script: Script) -> None:
    report = command.run("blame", "cart.py", "--notes")
    assert "a new note: cart.py" in report
    assert "nothing written yet" in report
    assert "refs/notes/ai" not in home.git("for-each-ref")
    assert command.json("blame", "cart.py", "--notes", "--yes")["written"] == 1
    note = home.git("notes", "--ref=ai", "show", "HEAD")
    assert note.startswith("cart.py\n  s_")
    assert '"schema_version": "authorship/3.0.0"' in note
    assert f'"id": "{script.id}"' in note
    again = command.run("blame", "cart.py", "--notes", "--yes")
    assert "the existing note already covers this file" in again
    script.log.unlink()
    lines = command.json("blame", "cart.py")
    assert [line["session"] for line in lines] == [None, *[script.id] * 3]
    assert {line["why"] for line in lines[1:]} == {"from a Git note"}


def test_foreign_git_note_is_not_changed(home: Scripted, command: Command, script: Script) -> None:
    home.git("notes", "--ref=ai", "add", "-m", "my own words", "HEAD")
    assert "is not from git-ai" in command.run("blame", "cart.py", "--notes", "--yes")
    assert home.git("notes", "--ref=ai", "show", "HEAD") == "my own words\n"


def test_uncommitted_file_has_no_notes(home: Scripted, command: Command, script: Script) -> None:
    (home.top / "new.py").write_text("x = 1\n", encoding="utf-8")
    assert "is not committed" in command.run("blame", "new.py", "--notes", code=2)
