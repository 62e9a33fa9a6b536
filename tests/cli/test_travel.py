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


class Desk:
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

    def said(self, *arguments: object, code: int = 0) -> str:
        """Run a command; returns what it said, and what it complained of."""
        given = [str(argument) for argument in arguments]
        assert run([*given, "--root", str(self.config)]) == code, self._capfd.readouterr()
        captured = self._capfd.readouterr()
        return captured.out + captured.err

    def told(self, *arguments: object, code: int = 0) -> Any:
        """Run a command with `--json`; returns its object."""
        return json.loads(self.said(*arguments, "--json", code=code))

    def logs(self) -> list[Path]:
        """Return the logs that there are."""
        return sorted((self.config / "projects").rglob("*.jsonl"))


@pytest.fixture
def desk(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> Desk:
    """Return a desk with a session that tells a key."""
    return Desk(tmp_path / "config", capfd)


def test_project_is_moved(desk: Desk) -> None:
    said = desk.said("move", "/home/dev/shop", "/srv/shop")
    assert "moved to /srv/shop" in said
    assert f"folder  {desk.config}/projects/-srv-shop" in said
    assert "plait undo " in said
    assert [path.parent.name for path in desk.logs()] == ["-srv-shop"]
    assert "moved" in desk.said("undo", "--list")
    assert "/srv/shop" in desk.said("undo", "--list")
    desk.said("undo")
    assert [path.parent.name for path in desk.logs()] == ["-home-dev-shop"]


def test_move_dry_run_changes_nothing(desk: Desk) -> None:
    said = desk.said("move", "shop", "/srv/shop", "--dry-run")
    assert said.startswith("/home/dev/shop\n")
    assert "the directory" in said
    assert "leave out `--dry-run` to apply the plan" in said
    assert [path.parent.name for path in desk.logs()] == ["-home-dev-shop"]


def test_move_json(desk: Desk) -> None:
    found = desk.told("move", "shop", "/srv/shop")
    assert (found["operation"], found["source"], found["session"], found["applied"]) == (
        "move",
        "/home/dev/shop",
        "/srv/shop",
        True,
    )
    assert found["path"] == f"{desk.config}/projects/-srv-shop"
    assert found["before"]["lines"] == found["after"]["lines"] > 0
    assert found["rewritten"] > 0
    assert found["undo"]


def test_project_is_moved_in_every_config_folder(
    desk: Desk, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    other = Desk(tmp_path / "other", capfd)
    found = desk.told("move", "shop", "/srv/shop", "--root", other.config)
    assert [one["applied"] for one in found] == [True, True]
    assert [path.parent.name for path in (*desk.logs(), *other.logs())] == ["-srv-shop"] * 2


def test_taken_target_path_is_refused(desk: Desk) -> None:
    (log,) = desk.logs()
    place = desk.config / "projects" / "-srv-shop" / log.name
    place.parent.mkdir()
    place.write_bytes(b"")
    assert "already" in desk.said("move", "shop", "/srv/shop", code=1)


def test_current_directory_names_a_project(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(desk.config)
    assert f"no project named '{desk.config}'" in desk.said("move", ".", "/x", code=2)


def test_redacted_copy_is_written(desk: Desk) -> None:
    found = desk.told("redact", desk.session, "--copy", "--title", "To show")
    assert found["applied"]
    assert KEY not in json.dumps(found)
    assert KEY not in Path(found["path"]).read_text()
    assert "To show" in Path(found["path"]).read_text()
    assert KEY in desk.logs()[0].read_text() + desk.logs()[1].read_text()


def test_in_place_redaction_needs_confirmation(desk: Desk) -> None:
    said = desk.said("redact", desk.session, "--in-place")
    assert "add `--yes` to apply the plan" in said
    assert KEY not in said
    (log,) = desk.logs()
    assert KEY in log.read_text()
    said = desk.said("redact", desk.session, "--in-place", "--yes")
    assert "redacted\n" in said
    assert KEY not in log.read_text()
    (forget,) = [line for line in said.splitlines() if line.startswith("  forget")]
    desk.said("undo", forget.split()[3], "--forget")
    left = b"".join(path.read_bytes() for path in desk.config.rglob("*") if path.is_file())
    assert KEY.encode() not in left


def test_session_without_secrets_is_not_changed(desk: Desk) -> None:
    desk.said("redact", desk.session, "--in-place", "--yes")
    found = desk.told("redact", desk.session, "--in-place", "--yes", "--force")
    assert (found["applied"], found["files"], found["rewritten"]) == (False, 0, 0)
    assert "nothing to do" in desk.said("redact", desk.session, "--in-place")


def test_secrets_in_files_beside_the_log_are_redacted(desk: Desk) -> None:
    desk.said("redact", desk.session, "--in-place", "--yes")
    (log,) = desk.logs()
    output = log.with_suffix("") / "tool-results" / "t.txt"
    output.parent.mkdir(parents=True)
    output.write_text(f"GITHUB_TOKEN={KEY}\n")
    desk.rest()
    found = desk.told("redact", desk.session, "--in-place", "--yes")
    assert (found["applied"], found["files"], found["rewritten"]) == (True, 1, 0)
    assert KEY not in output.read_text()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--copy", "--in-place"], "use either `--copy` or `--in-place`"),
        (["--copy", "--check"], "do not change sessions"),
        ([], "session files are changed only with `--in-place`"),
    ],
)
def test_conflicting_options_are_refused(desk: Desk, options: list[str], said: str) -> None:
    assert said in desk.said("redact", desk.session, *options, code=2)


def test_session_is_required(desk: Desk) -> None:
    assert "no session given" in desk.said("redact", "--copy", code=2)


def test_several_sessions_are_redacted_one_by_one(desk: Desk) -> None:
    copy = desk.told("clone", desk.session)["session"]
    found = desk.told("redact", desk.session, copy, "--in-place", "--yes")
    assert [one["applied"] for one in found] == [True, True]
    assert all(KEY not in path.read_text() for path in desk.logs())


def test_single_group_can_be_redacted(desk: Desk) -> None:
    found = desk.told("redact", desk.session, "--in-place", "--yes", "--only", "emails")
    assert found["files"] == 0


@pytest.fixture
def there(tmp_path: Path) -> Path:
    """Return the configuration folder of another machine."""
    config = tmp_path / "there"
    (config / "projects").mkdir(parents=True)
    return config


def bring(
    desk: Desk, file: Path, there: Path, *options: str, into: str = "/srv/shop", code: int = 0
) -> str:
    """Run the command on the other machine."""
    here, desk.config = desk.config, there
    try:
        return desk.said("port", file, "--into", into, *options, code=code)
    finally:
        desk.config = here


def test_session_is_packed_and_unpacked_once(desk: Desk, there: Path, tmp_path: Path) -> None:
    file = tmp_path / "s.zip"
    said = desk.said("port", desk.session, "-o", file)
    assert f"  file    {file}" in said
    assert "nothing is redacted" in said
    said = bring(desk, file, there)
    assert f"ported as {desk.session}" in said
    assert "cd /srv/shop && " in said
    assert "everything is already here" in bring(desk, file, there)
    said = bring(desk, file, there, into="/elsewhere", code=1)
    assert f"unchanged: session '{desk.session}' already exists here" in " ".join(said.split())
    here, desk.config = desk.config, there
    desk.said("undo")
    assert desk.logs() == []
    desk.config = here


def test_port_json(desk: Desk, there: Path, tmp_path: Path) -> None:
    file = tmp_path / "p.zip"
    found = desk.told("port", "/home/dev/shop", "-o", file, "--redacted")
    told = (found["operation"], found["source"], found["path"], found["applied"], found["undo"])
    assert told == ("port", "/home/dev/shop", str(file), True, None)
    assert found["files"] == 1
    assert found["rewritten"] > 0
    assert KEY not in json.dumps(found)
    brought = json.loads(bring(desk, file, there, "--json"))
    assert (brought["source"], brought["session"]) == (str(file), "/srv/shop")
    assert (brought["applied"], brought["added"]) == (True, brought["after"]["lines"])
    left = b"".join(path.read_bytes() for path in there.rglob("*") if path.is_file())
    assert KEY.encode() not in left


def test_port_dry_run_writes_nothing(desk: Desk, there: Path, tmp_path: Path) -> None:
    file = tmp_path / "s.zip"
    assert "leave out `--dry-run` to pack" in desk.said("port", "latest", "-o", file, "--dry-run")
    assert not file.exists()
    desk.said("port", "latest", "-o", file)
    assert "to apply the plan" in bring(desk, file, there, "--dry-run")
    assert list(there.rglob("*.jsonl")) == []


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ([], "use either `-o` to pack or `--into` to unpack"),
        (["-o", "f", "--into", "d"], "use either `-o` to pack or `--into` to unpack"),
        (["--into", "d", "--redacted"], "sessions are redacted when they are packed"),
        (["-o", "f", "--prove"], "only when unpacking"),
    ],
)
def test_conflicting_port_options_are_refused(desk: Desk, options: list[str], said: str) -> None:
    assert said in desk.said("port", desk.session, *options, code=2)


def test_existing_archive_is_not_overwritten(desk: Desk, tmp_path: Path) -> None:
    file = tmp_path / "s.zip"
    file.write_bytes(b"mine")
    assert "exists" in desk.said("port", "latest", "-o", file, code=2)
    assert file.read_bytes() == b"mine"


def test_file_that_is_not_an_archive_is_refused(desk: Desk, tmp_path: Path) -> None:
    file = tmp_path / "s.zip"
    file.write_bytes(b"no archive")
    assert "refusing to open" in desk.said("port", file, "--into", "/x", code=1)
    assert "no such file" in desk.said("port", tmp_path / "none", "--into", "/x", code=3)
