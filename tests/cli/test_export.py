"""`plait export` end to end: files, output and refusals."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest

from examples.drawing import draw
from plait.cli.app import run
from plait.line.output import OutputFolder
from plait.terminal import desktop
from tests.hostile.named import PATHS

TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
WORK = f"""
file work cwd=/home/dev/shop start=2026-11-02T09:00:00Z
ai-title "A search box"
U1 "What would a first version look like?"
A1< "Two ways."
U2< "Take LIKE, with {TOKEN}"
A2< Bash(command="ls") as list
R2< of list "a.py"
A3< "Done."
file other cwd=/home/dev/quill start=2026-11-05T09:00:00Z
U9 "Something else"
A9< "Else."
"""
SESSION = draw(WORK).session


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Return a folder with two sessions."""
    draw(WORK).write(tmp_path / "config" / "projects")
    return tmp_path / "config"


@pytest.fixture(autouse=True)
def no_clipboard(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take the clipboard of whoever runs the tests away from them."""
    monkeypatch.setattr(desktop, "PROGRAMS", ())


def ran(capfd: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    code = run(["export", *map(str, arguments)])
    captured = capfd.readouterr()
    return code, captured.out, captured.err


def test_export_writes_a_private_folder(
    root: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "out" / "deep"
    code, out, err = ran(capfd, "--all", "--root", root, "-o", folder)
    report = "".join(out.split()).split("(")[0]  # where lines end is up to the length of the path
    assert (code, report) == (0, "".join(f"2 transcripts from 2 sessions in {folder}".split()))
    assert "github token 1" in err and "redaction-report.json" in err.replace("\n", "")
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()} == {0o600}
    assert f"transcript_{SESSION}.md" in {path.name for path in folder.iterdir()}
    assert not any(TOKEN.encode() in path.read_bytes() for path in folder.iterdir())


def test_export_without_redaction_says_so(
    root: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    code, _, err = ran(capfd, SESSION, "--root", root, "-o", tmp_path / "out", "--no-redact")
    assert code == 0
    assert err.startswith("warning: nothing is redacted")
    assert not (tmp_path / "out" / "redaction-report.json").exists()
    assert TOKEN in (tmp_path / "out" / f"transcript_{SESSION}.md").read_text()


def test_export_overwrites_only_earlier_exports(
    root: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "out"
    assert ran(capfd, "--all", "--root", root, "-o", folder, "--no-redact")[0] == 0
    (folder / "mine.txt").write_text("mine")
    assert ran(capfd, "other", "--root", root, "-o", folder, "--project", "quill")[0] == 2
    assert ran(capfd, SESSION, "--root", root, "-o", folder)[0] == 0
    names = {path.name for path in folder.iterdir()}
    assert names == {
        f"transcript_{SESSION}.md",
        "index.md",
        "manifest.json",
        "redaction-report.json",
        "mine.txt",
        ".plait-drawn",
    }


def test_export_refuses_a_folder_with_other_files(
    root: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "out"
    folder.mkdir()
    (folder / "mine.txt").write_text("mine")
    (folder / "manifest.json").write_text('{"format": "something else"}')
    code, _, err = ran(capfd, "--all", "--root", root, "-o", folder)
    assert (code, err.splitlines()[0]) == (
        2,
        f"error: '{folder}' is not empty and is not an earlier export",
    )
    assert len(list(folder.iterdir())) == 2
    assert ran(capfd, "--all", "--root", root, "-o", folder, "--force")[0] == 0
    assert (folder / "mine.txt").read_text() == "mine"
    assert ran(capfd, "--all", "--root", root, "-o", folder / "mine.txt")[0] == 2


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (["-o", "x"], "error: nothing selected to export"),
        (["--all"], "error: no destination"),
        (["--all", "--until", "2020-01-01", "-o", "x"], "error: no session matches"),
        (["--project", "nothing", "-o", "x"], "error: no session matches"),
        (["--all", "--turn", "1"], "error: `--turn` takes one session"),
        ([SESSION, "--turn", "7"], "error: no turn 7 in this conversation"),
        (["--all", "--turn", "1", "-f", "jsonl"], "error: records are exported by path"),
        (["--all", "--turn", "1", "-f", "toolpath"], "error: step graphs are exported by"),
    ],
)
def test_export_errors_are_explained(
    root: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    arguments: list[str],
    error: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    code, out, err = ran(capfd, *arguments, "--root", root)
    assert (code, out) == (2, "")
    assert err.startswith(error)
    assert not (tmp_path / "x").exists()


def test_sessions_by_time_and_project(
    root: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    for number, (filters, held) in enumerate(
        [(["--until", "2026-11-03"], True), (["--since", "2026-11-04"], False)]
    ):
        folder = tmp_path / f"out{number}"
        assert ran(capfd, "--all", *filters, "--root", root, "-o", folder)[0] == 0
        assert (folder / f"transcript_{SESSION}.md").exists() == held
        assert len(list(folder.glob("transcript_*"))) == 1


@pytest.mark.parametrize("format_", ["md", "txt", "json", "jsonl", "atif", "toolpath"])
def test_to_stdout(root: Path, capfd: pytest.CaptureFixture[str], format_: str) -> None:
    code, out, err = ran(capfd, "--all", "--root", root, "-f", format_, "-o", "-")
    assert code == 0
    assert "Two ways." in out and "Else." in out
    assert TOKEN not in out and "github token" in err
    if format_ == "atif":
        assert [item["schema_version"] for item in json.loads(out)] == ["ATIF-v1.8"] * 2
    if format_ == "toolpath":
        assert len(json.loads(out)["paths"]) == 2
    if format_ == "json":
        assert [item["format"] for item in json.loads(out)] == ["plait-conversation/1"] * 2
    if format_ == "jsonl":
        assert all(map(json.loads, out.splitlines()))


def test_one_turn(root: Path, capfd: pytest.CaptureFixture[str]) -> None:
    code, out, _ = ran(capfd, SESSION, "--root", root, "--turn", "2", "--simple")
    assert code == 0
    assert out.startswith("## 2 · Take LIKE, with ‹secret 1")
    assert "* **Bash** `ls` → 1 line\n\nDone.\n" in out
    assert "Two ways." not in out
    code, out, _ = ran(capfd, SESSION, "--root", root, "--turn", "-1", "-f", "txt")
    assert "Done." in out and "Two ways." not in out
    code, out, _ = ran(capfd, SESSION, "--root", root, "--turn", "1", "-f", "json")
    assert len(json.loads(out)["conversation"]["turns"]) == 1


def test_losses_of_foreign_formats_are_listed(
    root: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    for format_, name in (("atif", "ATIF"), ("toolpath", "Toolpath")):
        for where in ("-", tmp_path / format_):
            _, out, err = ran(capfd, SESSION, "--root", root, "-f", format_, "-o", where)
            assert f"not in {name}: 1 note by Claude Code" in err.replace("\n", " ")
            assert "not held by" not in out
    again = ran(capfd, SESSION, "--root", root, "-f", "atif", "-o", tmp_path / "atif")[2]
    assert "not in ATIF: 1 note by Claude Code" in again.replace("\n", " ")
    assert "not held by" not in ran(capfd, SESSION, "--root", root, "-o", "-")[2]
    assert json.loads(ran(capfd, SESSION, "--root", root, "--turn", "2", "-f", "atif")[1])["steps"]


def test_turn_export_next_to_an_earlier_export(
    root: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "out"
    assert ran(capfd, SESSION, "--root", root, "-o", folder)[0] == 0
    before = {path.name for path in folder.iterdir()}
    assert ran(capfd, SESSION, "--root", root, "--turn", "2", "-o", folder)[0] == 0
    after = {path.name for path in folder.iterdir()}
    assert after - before == {f"transcript_{SESSION}_turn2.md"}
    assert before <= after


def test_copy_without_a_clipboard(root: Path, capfd: pytest.CaptureFixture[str]) -> None:
    code, out, err = ran(capfd, SESSION, "--root", root, "--turn", "1", "--copy")
    assert code == 0
    assert "Two ways." in out
    assert "no clipboard found" in err


def test_copy_with_a_program(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    kept = tmp_path / "kept"
    monkeypatch.setattr(desktop, "PROGRAMS", (("no-such-program",), ("tee", str(kept))))
    code, out, err = ran(capfd, SESSION, "--root", root, "--turn", "1", "--copy")
    assert (code, out) == (0, "")
    assert "copied" in err and "with tee" in err
    assert "Two ways." in kept.read_text()


def test_json_lists_written_files(
    root: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    code, out, _ = ran(capfd, "--all", "--root", root, "-o", tmp_path / "out", "--json")
    report = json.loads(out)
    written = json.loads((tmp_path / "out" / "manifest.json").read_text())
    assert code == 0
    assert report["sessions"] == written["sessions"]
    assert report["counts"]["transcripts"] == 2


def test_unwritable_folder(root: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").write_text("")
    code, _, err = ran(capfd, "--all", "--root", root, "-o", tmp_path / "file" / "out")
    assert code == 3
    assert err.startswith("error: cannot write")


def hostile(folder: Path, name: str) -> Path:
    """Return a root with a session whose records call it by any name."""
    draw('file work\nU1 "Hello"\nA1< "There."').write(folder / "root" / "projects")
    log = next(folder.rglob("*.jsonl"))
    lines = [json.loads(line) | {"sessionId": name} for line in log.read_text().splitlines()]
    log.unlink()
    text = "\n".join(map(json.dumps, lines)) + "\n"
    (log.parent / "work.jsonl").write_text(text)
    return folder / "root"


@pytest.mark.parametrize("extra", [[], ["--single-file"]], ids=["site", "single"])
@pytest.mark.parametrize("name", PATHS.values(), ids=PATHS)
def test_names_from_logs_cannot_escape_the_folder(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], name: str, extra: list[str]
) -> None:
    root = hostile(tmp_path, name)
    folder = tmp_path / "a" / "b" / "c" / "out"
    before = {*tmp_path.rglob("*")}
    assert ran(capfd, "--all", "--root", root, "-f", "html", "-o", folder, *extra)[0] == 0
    made = {path for path in {*tmp_path.rglob("*")} - before if path.is_file()}
    assert made and all(folder in path.parents for path in made)
    pages = [path for path in made if path.parent.name == "sessions" and path.suffix == ".html"]
    assert len(pages) == 1 and b"There." in pages[0].read_bytes()
    listed = json.loads((folder / "manifest.json").read_text())
    assert {path.relative_to(folder).as_posix() for path in made} - {".plait-drawn"} == {
        *listed["files"],
        "manifest.json",
    }
    link = f'href="sessions/{pages[0].name}"'
    assert link in (folder / "index.html").read_text()


@pytest.mark.parametrize("format_", ["md", "txt", "json", "jsonl"])
@pytest.mark.parametrize("name", PATHS.values(), ids=PATHS)
def test_transcripts_stay_in_the_folder(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], name: str, format_: str
) -> None:
    root = hostile(tmp_path, name)
    folder = tmp_path / "a" / "out"
    before = {*tmp_path.rglob("*")}
    code, *_ = ran(capfd, "--all", "--root", root, "-f", format_, "--agents", "files", "-o", folder)
    assert code == 0
    made = {path for path in {*tmp_path.rglob("*")} - before if path.is_file()}
    assert made and all(path.parent == folder for path in made)


def test_symlink_in_the_folder_is_not_followed(
    root: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    folder, elsewhere = tmp_path / "out", tmp_path / "elsewhere"
    assert ran(capfd, "--all", "--root", root, "-f", "html", "-o", folder)[0] == 0
    (folder / "sessions").rename(elsewhere)
    (folder / "sessions").symlink_to(elsewhere)
    for page in elsewhere.glob("*.html"):
        page.write_text("theirs")
    code, _, err = ran(capfd, "--all", "--root", root, "-f", "html", "-o", folder)
    assert (code, err[:24]) == (3, "error: refusing to write")
    assert {page.read_text() for page in elsewhere.glob("*.html")} == {"theirs"}


def test_interrupted_export_is_overwritten(
    root: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "out"
    full = OutputFolder.write

    def cut_short(self: OutputFolder, name: str, data: bytes) -> None:
        full(self, name, data)
        if name == "sessions/" + f"{SESSION}.html":
            raise KeyboardInterrupt

    monkeypatch.setattr(OutputFolder, "write", cut_short)
    code, *_ = ran(capfd, "--all", "--root", root, "-f", "html", "-o", folder)
    assert code != 0 and not (folder / "manifest.json").exists()
    monkeypatch.undo()
    monkeypatch.setattr(desktop, "PROGRAMS", ())
    (folder / "mine.txt").write_text("mine")
    code, _, err = ran(capfd, "--all", "--root", root, "-o", folder)
    assert (code, "error" in err) == (0, False)
    left = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    listed = json.loads((folder / "manifest.json").read_text())["files"]
    assert left == {*listed, "manifest.json", "mine.txt", ".plait-drawn"}


def test_session_without_turns_has_nothing_to_export(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    log = tmp_path / "projects" / "p" / f"{SESSION}.jsonl"
    log.parent.mkdir(parents=True)
    log.write_text(json.dumps({"type": "mode", "mode": "plan", "sessionId": SESSION}) + "\n")
    code, out, err = ran(capfd, SESSION, "--root", tmp_path, "--turn", "1")
    assert (code, out) == (2, "")
    assert err.startswith("error: this session has no turns")
