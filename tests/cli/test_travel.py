"""`plait move`, `port`, `redact --copy` and `--in-place`: output, files, exit codes."""

import json
import os
import time
from pathlib import Path
from typing import Any

import pytest

from examples.drawing import draw
from plait.cli.app import run

KEY = "ghp_" + "Zk4QwErTyUiOpAsDfGhJkLzXcVbNm1234567"[:36]
WORK = f"""
file work cwd=/home/dev/shop start=2026-11-02T09:00:00Z
ai-title "A search box"
U1 "The token is GITHUB_TOKEN={KEY}"
A1< "Two ways."
"""


class Runner:
    """A configuration folder with one session, and the command at hand."""

    def __init__(self, config: Path, capfd: pytest.CaptureFixture[str]) -> None:
        self.config, self._capfd = config, capfd
        drawing = draw(WORK)
        drawing.write(config)
        self.session = drawing.session
        self.rest()

    def rest(self) -> None:
        """Make all files old."""
        then = time.time() - 3600
        for path in self.config.rglob("*"):
            os.utime(path, (then, then))

    def run_text(self, *arguments: object, code: int = 0) -> str:
        """Run a command; returns what it said, and what it complained of."""
        given = [str(argument) for argument in arguments]
        assert run([*given, "--root", str(self.config)]) == code, self._capfd.readouterr()
        captured = self._capfd.readouterr()
        return captured.out + captured.err

    def run_json(self, *arguments: object, code: int = 0) -> Any:
        """Run a command with `--json`; returns its object."""
        return json.loads(self.run_text(*arguments, "--json", code=code))

    def logs(self) -> list[Path]:
        """Return the logs that there are."""
        return sorted((self.config / "projects").rglob("*.jsonl"))


@pytest.fixture
def runner(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> Runner:
    """Return a desk with a session that tells a key."""
    return Runner(tmp_path / "config", capfd)


def test_project_is_moved(runner: Runner) -> None:
    output = runner.run_text("move", "/home/dev/shop", "/srv/shop")
    assert "moved to /srv/shop" in output
    assert f"folder  {runner.config}/projects/-srv-shop" in output
    assert "plait undo " in output
    assert [path.parent.name for path in runner.logs()] == ["-srv-shop"]
    assert "moved" in runner.run_text("undo", "--list")
    assert "/srv/shop" in runner.run_text("undo", "--list")
    runner.run_text("undo")
    assert [path.parent.name for path in runner.logs()] == ["-home-dev-shop"]


def test_move_dry_run_changes_nothing(runner: Runner) -> None:
    output = runner.run_text("move", "shop", "/srv/shop", "--dry-run")
    assert output.startswith("/home/dev/shop\n")
    assert "the directory" in output
    assert "leave out `--dry-run` to apply the plan" in output
    assert [path.parent.name for path in runner.logs()] == ["-home-dev-shop"]


def test_move_json(runner: Runner) -> None:
    found = runner.run_json("move", "shop", "/srv/shop")
    assert (found["operation"], found["source"], found["session"], found["applied"]) == (
        "move",
        "/home/dev/shop",
        "/srv/shop",
        True,
    )
    assert found["path"] == f"{runner.config}/projects/-srv-shop"
    assert found["before"]["lines"] == found["after"]["lines"] > 0
    assert found["rewritten"] > 0
    assert found["undo"]


def test_project_is_moved_in_every_config_folder(
    runner: Runner, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    other = Runner(tmp_path / "other", capfd)
    found = runner.run_json("move", "shop", "/srv/shop", "--root", other.config)
    assert [item["applied"] for item in found] == [True, True]
    assert [path.parent.name for path in (*runner.logs(), *other.logs())] == ["-srv-shop"] * 2


def test_taken_target_path_is_refused(runner: Runner) -> None:
    (log,) = runner.logs()
    place = runner.config / "projects" / "-srv-shop" / log.name
    place.parent.mkdir()
    place.write_bytes(b"")
    assert "already" in runner.run_text("move", "shop", "/srv/shop", code=1)


def test_current_directory_names_a_project(runner: Runner, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(runner.config)
    assert f"no project named '{runner.config}'" in runner.run_text("move", ".", "/x", code=2)


def test_redacted_copy_is_written(runner: Runner) -> None:
    found = runner.run_json("redact", runner.session, "--copy", "--title", "To show")
    assert found["applied"]
    assert KEY not in json.dumps(found)
    assert KEY not in Path(found["path"]).read_text()
    assert "To show" in Path(found["path"]).read_text()
    assert KEY in runner.logs()[0].read_text() + runner.logs()[1].read_text()


def test_in_place_redaction_needs_confirmation(runner: Runner) -> None:
    output = runner.run_text("redact", runner.session, "--in-place")
    assert "add `--yes` to apply the plan" in output
    assert KEY not in output
    (log,) = runner.logs()
    assert KEY in log.read_text()
    output = runner.run_text("redact", runner.session, "--in-place", "--yes")
    assert "redacted\n" in output
    assert KEY not in log.read_text()
    (forget,) = [line for line in output.splitlines() if line.startswith("  forget")]
    runner.run_text("undo", forget.split()[3], "--forget")
    left = b"".join(path.read_bytes() for path in runner.config.rglob("*") if path.is_file())
    assert KEY.encode() not in left


def test_session_without_secrets_is_not_changed(runner: Runner) -> None:
    runner.run_text("redact", runner.session, "--in-place", "--yes")
    found = runner.run_json("redact", runner.session, "--in-place", "--yes", "--force")
    assert (found["applied"], found["files"], found["rewritten"]) == (False, 0, 0)
    assert "nothing to do" in runner.run_text("redact", runner.session, "--in-place")


def test_secrets_in_files_beside_the_log_are_redacted(runner: Runner) -> None:
    runner.run_text("redact", runner.session, "--in-place", "--yes")
    (log,) = runner.logs()
    output = log.with_suffix("") / "tool-results" / "t.txt"
    output.parent.mkdir(parents=True)
    output.write_text(f"GITHUB_TOKEN={KEY}\n")
    runner.rest()
    found = runner.run_json("redact", runner.session, "--in-place", "--yes")
    assert (found["applied"], found["files"], found["rewritten"]) == (True, 1, 0)
    assert KEY not in output.read_text()


@pytest.mark.parametrize(
    ("options", "output"),
    [
        (["--copy", "--in-place"], "use either `--copy` or `--in-place`"),
        (["--copy", "--check"], "do not change sessions"),
        ([], "session files are changed only with `--in-place`"),
    ],
)
def test_conflicting_options_are_refused(runner: Runner, options: list[str], output: str) -> None:
    assert output in runner.run_text("redact", runner.session, *options, code=2)


def test_session_is_required(runner: Runner) -> None:
    assert "no session given" in runner.run_text("redact", "--copy", code=2)


def test_several_sessions_are_redacted_one_by_one(runner: Runner) -> None:
    copy = runner.run_json("clone", runner.session)["session"]
    found = runner.run_json("redact", runner.session, copy, "--in-place", "--yes")
    assert [item["applied"] for item in found] == [True, True]
    assert all(KEY not in path.read_text() for path in runner.logs())


def test_single_group_can_be_redacted(runner: Runner) -> None:
    found = runner.run_json("redact", runner.session, "--in-place", "--yes", "--only", "emails")
    assert found["files"] == 0


@pytest.fixture
def there(tmp_path: Path) -> Path:
    """Return the configuration folder of another machine."""
    config = tmp_path / "there"
    (config / "projects").mkdir(parents=True)
    return config


def bring(
    runner: Runner, file: Path, there: Path, *options: str, into: str = "/srv/shop", code: int = 0
) -> str:
    """Run the command on the other machine."""
    here, runner.config = runner.config, there
    try:
        return runner.run_text("port", file, "--into", into, *options, code=code)
    finally:
        runner.config = here


def test_session_is_packed_and_unpacked_once(runner: Runner, there: Path, tmp_path: Path) -> None:
    file = tmp_path / "s.zip"
    output = runner.run_text("port", runner.session, "-o", file)
    assert f"  file    {file}" in output
    assert "not redacted: anyone" in output
    output = bring(runner, file, there)
    assert f"ported as {runner.session}" in output
    assert "cd /srv/shop && " in output
    assert "everything is already here" in bring(runner, file, there)
    output = bring(runner, file, there, into="/elsewhere", code=1)
    assert f"unchanged: session '{runner.session}' already exists here" in " ".join(output.split())
    here, runner.config = runner.config, there
    runner.run_text("undo")
    assert runner.logs() == []
    runner.config = here


def test_port_json(runner: Runner, there: Path, tmp_path: Path) -> None:
    file = tmp_path / "p.zip"
    found = runner.run_json("port", "/home/dev/shop", "-o", file, "--redacted")
    report = (found["operation"], found["source"], found["path"], found["applied"], found["undo"])
    assert report == ("port", "/home/dev/shop", str(file), True, None)
    assert found["files"] == 1
    assert found["rewritten"] > 0
    assert KEY not in json.dumps(found)
    brought = json.loads(bring(runner, file, there, "--json"))
    assert (brought["source"], brought["session"]) == (str(file), "/srv/shop")
    assert (brought["applied"], brought["added"]) == (True, brought["after"]["lines"])
    left = b"".join(path.read_bytes() for path in there.rglob("*") if path.is_file())
    assert KEY.encode() not in left


def test_port_dry_run_writes_nothing(runner: Runner, there: Path, tmp_path: Path) -> None:
    file = tmp_path / "s.zip"
    assert "leave out `--dry-run` to pack" in runner.run_text(
        "port", "latest", "-o", file, "--dry-run"
    )
    assert not file.exists()
    runner.run_text("port", "latest", "-o", file)
    assert "to apply the plan" in bring(runner, file, there, "--dry-run")
    assert list(there.rglob("*.jsonl")) == []


@pytest.mark.parametrize(
    ("options", "output"),
    [
        ([], "use either `-o` to pack or `--into` to unpack"),
        (["-o", "f", "--into", "d"], "use either `-o` to pack or `--into` to unpack"),
        (["--into", "d", "--redacted"], "sessions are redacted when they are packed"),
        (["-o", "f", "--prove"], "only when unpacking"),
    ],
)
def test_conflicting_port_options_are_refused(
    runner: Runner, options: list[str], output: str
) -> None:
    assert output in runner.run_text("port", runner.session, *options, code=2)


def test_existing_archive_is_not_overwritten(runner: Runner, tmp_path: Path) -> None:
    file = tmp_path / "s.zip"
    file.write_bytes(b"mine")
    assert "exists" in runner.run_text("port", "latest", "-o", file, code=2)
    assert file.read_bytes() == b"mine"


def test_file_that_is_not_an_archive_is_refused(runner: Runner, tmp_path: Path) -> None:
    file = tmp_path / "s.zip"
    file.write_bytes(b"no archive")
    assert "refusing to open" in runner.run_text("port", file, "--into", "/x", code=1)
    assert "no such file" in runner.run_text("port", tmp_path / "none", "--into", "/x", code=3)
