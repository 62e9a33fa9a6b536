"""`plait index` on real files: building, updating, status, watching."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from examples.drawing import draw
from plait import Archive
from plait.cli.app import run
from plait.errors import SourceError
from plait.index.catalogue import lock_index
from plait.sessions.watch import poll_changes

TALK = """
file work cwd=/home/dev/shop start=2026-11-02T09:00:00Z
U1 "The total is wrong"
A1< "It returns zero."
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    draw(TALK).write(tmp_path / "logs")
    return tmp_path / "logs"


def indexed(root: Path, capsys: pytest.CaptureFixture[str], *words: str) -> Any:
    assert run(["index", "--root", str(root), "--json", *words]) == 0
    return json.loads(capsys.readouterr().out)


def test_only_changed_files_are_read(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert indexed(root, capsys)["read"] == 1
    again = indexed(root, capsys)
    assert (again["read"], again["grown"], again["bytes"]) == (0, 0, 0)
    assert indexed(root, capsys, "--rebuild")["read"] == 1


def test_relative_root_is_resolved(
    root: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert indexed(root, capsys)["read"] == 1
    monkeypatch.chdir(root.parent)
    assert indexed(Path("logs"), capsys)["read"] == 0


def test_status_describes_the_index(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert not indexed(root, capsys, "--status")["exists"]
    indexed(root, capsys)
    status = indexed(root, capsys, "--status")
    assert (status["sessions"], status["turns"], status["changed"]) == (1, 1, 0)
    assert status["passages"] == 3
    draw(TALK.replace("work", "more")).write(root)
    assert indexed(root, capsys, "--status")["changed"] == 1
    assert run(["index", "--root", str(root), "--status"]) == 0
    assert "1 file changed since" in capsys.readouterr().out


def test_conflicting_options_are_refused(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["index", "--root", str(root), "--status", "--rebuild"]) == 2
    assert "use only one of" in capsys.readouterr().err


def test_nothing_is_written_outside_the_index(
    root: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PLAIT_CACHE_DIR", str(tmp_path / "cache"))
    before = {path: path.stat().st_mtime_ns for path in root.rglob("*")}
    folder = Path(indexed(root, capsys)["folder"])
    assert {path: path.stat().st_mtime_ns for path in root.rglob("*")} == before
    outside = [
        path
        for path in tmp_path.rglob("*")
        if path.is_file() and folder not in path.parents and root not in path.parents
    ]
    assert outside == []


def test_only_one_writer_at_a_time(tmp_path: Path) -> None:
    with (
        lock_index(tmp_path),
        pytest.raises(SourceError, match="another process is writing"),
        lock_index(tmp_path, wait=0.05),
    ):
        pass


def test_watch_indexes_new_lines(root: Path, tmp_path: Path) -> None:
    env = {**os.environ, "PLAIT_CACHE_DIR": str(tmp_path / "cache")}
    child = subprocess.Popen(
        [sys.executable, "-m", "plait", "index", "--watch", "--json", "--root", str(root)],
        stdout=subprocess.PIPE,
        env=env,
    )
    assert child.stdout
    try:
        assert json.loads(child.stdout.readline())["read"] == 1
        draw(TALK.replace("work", "more")).write(root)
        assert json.loads(child.stdout.readline())["read"] >= 1
    finally:
        child.send_signal(signal.SIGINT)
        child.communicate(timeout=20)
    assert child.returncode == 130
    assert Archive([root]).sessions


def test_watch_polls_without_system_notifications(root: Path) -> None:
    path = next(root.rglob("*.jsonl"))
    original = path.read_bytes()
    looks: list[float | None] = []

    class Changing(Event):
        """Writes to the log while somebody waits to look again, three times, then ends it."""

        def wait(self, timeout: float | None = None) -> bool:
            looks.append(timeout)
            path.write_bytes(original + b"\n" * len(looks))
            return len(looks) > 3

    assert len(list(poll_changes([root], 0.01, Changing()))) == 3
    assert looks == [0.01] * 4
