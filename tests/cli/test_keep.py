"""`plait keep` and `plait restore` end to end: output, backups, refusals."""

import hashlib
import json
import os
import pty
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from plait.cli.app import run

RunText: TypeAlias = Callable[..., str]
RunJson: TypeAlias = Callable[..., Any]
DAY = 86400


@pytest.fixture
def config(gallery: Path, tmp_path: Path) -> Path:
    """A configuration folder with some sessions of the gallery."""
    for name in ("sub-agent", "rewind", "straight-line"):
        source = gallery / name / "projects"
        shutil.copytree(source, tmp_path / "config" / "projects", dirs_exist_ok=True)
    return tmp_path / "config"


@pytest.fixture
def run_text(config: Path, capfd: pytest.CaptureFixture[str]) -> RunText:
    """Run a command on it and return what it prints."""

    def runs(*words: str, code: int = 0) -> str:
        assert run([*words, "--root", str(config)]) == code, capfd.readouterr()
        out, err = capfd.readouterr()
        return out + err if code else out

    return runs


@pytest.fixture
def run_json(run_text: RunText) -> RunJson:
    return lambda *words: json.loads(run_text(*words, "--json"))


def logs(config: Path) -> list[Path]:
    return sorted(config.glob("projects/*/*.jsonl"))


def empty(config: Path) -> None:
    shutil.rmtree(config / "projects")
    (config / "projects").mkdir()


def test_a_folder_that_cannot_be_read_is_named(
    config: Path, run_text: RunText, run_json: RunJson, monkeypatch: pytest.MonkeyPatch
) -> None:
    closed = str(next(config.glob("projects/*")))
    scandir = os.scandir

    def refuse(path: str) -> Any:
        if str(path) == closed:
            raise PermissionError(13, "Permission denied", path)
        return scandir(path)

    expected = f"1 file or folder could not be read: '{closed}': permission denied"
    with monkeypatch.context() as patched:
        patched.setattr("plait.store.sources.os.scandir", refuse)
        assert f"error: {expected}; not backed up" in run_text("keep", code=3)
    assert run_json("keep", "status")["kept"] > 0  # the others are backed up all the same


def test_everything_is_backed_up_once(config: Path, run_text: RunText, run_json: RunJson) -> None:
    assert "nothing was written" in run_text("keep", "--dry-run")
    planned = run_json("keep", "--dry-run")
    assert (planned["dry_run"], len(planned["sessions"])) == (True, len(logs(config)))
    assert run_json("keep", "status")["kept"] == 0
    done = run_json("keep")
    assert (done["dry_run"], sorted(done["sessions"])) == (False, sorted(planned["sessions"]))
    assert done["files"] == planned["files"] == len([*config.rglob("*.json*")])
    assert 0 < done["stored_bytes"] < done["bytes"] == planned["bytes"]
    assert run_text("keep") == f"nothing new: {done['files']} files already backed up\n"
    assert run_text("keep", "--dry-run").startswith("nothing to back up")


def test_status_json_has_the_documented_keys(
    config: Path, run_text: RunText, run_json: RunJson
) -> None:
    first = logs(config)[0]
    os.utime(first, (time.time() - 28.5 * DAY,) * 2)
    status = run_json("keep", "status")
    assert {"kept", "unkept", "at_risk", "bytes", "stored_bytes"} <= status.keys()
    day = time.strftime("%Y-%m-%d", time.localtime(first.stat().st_mtime + 30 * DAY))
    risk = status["at_risk"][0]
    assert (risk["session"], risk["deleted_on"]) == (first.stem, day)
    assert len(status["at_risk"]) == status["unkept"] == len(logs(config))
    words = run_text("keep", "status")
    assert "1 session will be deleted within a week:" in words
    assert f"{day}         {first.stem[:8]}" in words
    os.utime(first, (time.time() - 31 * DAY,) * 2)
    assert "at the next start" in run_text("keep", "status")
    run_text("keep")
    assert "everything is backed up" in run_text("keep", "status")
    assert run_json("keep", "status")["at_risk"] == []


def test_deleted_sessions_are_listed_marked_and_restored(
    config: Path, run_text: RunText, run_json: RunJson
) -> None:
    run_text("keep")
    before = {path: (path.read_bytes(), path.stat()) for path in config.rglob("*.json*")}
    empty(config)
    listed = run_json("ls")
    assert all(item["kept"] and item["deleted_at"] is None for item in listed)
    assert run_json("ls", "--kept") == listed
    for words in (("ls",), ("tree",), ("paths",), ("usage", "session"), ("search", "the")):
        assert "kept" in run_text(*words), words
    for path in [path for path in before if path.parent.parent.name == "projects"]:
        assert "  kept\n" in run_text("show", path.stem)
        restored = run_json("restore", path.stem)
        assert restored["path"] == str(path)
        assert restored["sha256"] == hashlib.sha256(before[path][0]).hexdigest()
    for path, (data, status) in before.items():
        now = path.stat()
        assert path.read_bytes() == data
        assert (now.st_mtime_ns, now.st_mode) == (status.st_mtime_ns, status.st_mode)
    assert run_json("ls", "--kept") == []
    assert run_text("restore", logs(config)[0].stem).startswith("nothing to do: ")


def test_restore_elsewhere_keeps_the_layout(
    config: Path, run_json: RunJson, run_text: RunText
) -> None:
    run_text("keep")
    log = logs(config)[0]
    restored = run_json("restore", log.stem, "--to", str(config.parent / "there"))
    assert restored["path"] == str(config.parent / "there" / log.relative_to(config))
    assert Path(restored["path"]).read_bytes() == log.read_bytes()


def test_differing_existing_file_stays(config: Path, run_text: RunText) -> None:
    run_text("keep")
    log = logs(config)[0]
    log.write_bytes(b'{"type":"tag"}\n')
    assert "not the same as in the backup" in run_text("restore", str(log), code=1)
    assert log.read_bytes() == b'{"type":"tag"}\n'
    assert "restored" in run_text("restore", str(log), "--overwrite")
    assert log.read_bytes() != b'{"type":"tag"}\n'


def test_restore_can_touch_an_old_session(
    config: Path, run_text: RunText, capfd: pytest.CaptureFixture[str]
) -> None:
    log = logs(config)[0]
    os.utime(log, (time.time() - 40 * DAY,) * 2)
    run_text("keep")
    empty(config)
    assert run(["restore", log.stem, "--root", str(config)]) == 0
    assert "may delete it again" in capfd.readouterr().err
    run_text("restore", log.stem, "--touch")
    assert time.time() - log.stat().st_mtime < 600


def test_resume_offers_to_restore_first(config: Path, run_text: RunText, run_json: RunJson) -> None:
    run_text("keep")
    log = logs(config)[0]
    empty(config)
    assert f"`plait resume {log.stem[:8]} --restore --root {config}`" in run_text(
        "resume", log.stem
    )
    answer = run_json("resume", log.stem)
    assert (answer["resumes"], answer["kept"], answer["line"]) == (False, True, None)
    assert "--restore --run" in run_text("resume", log.stem, "--run", code=2)
    assert not log.exists()
    assert f"claude --resume {log.stem}" in run_text("resume", log.stem, "--restore")
    assert time.time() - log.stat().st_mtime < 600


@pytest.mark.parametrize(("answer", "is_restored"), [(b"y\n", True), (b"n\n", False)])
def test_restore_asks_on_a_terminal(
    config: Path, run_text: RunText, answer: bytes, is_restored: bool
) -> None:
    run_text("keep")
    log = logs(config)[0]
    empty(config)
    ours, theirs = pty.openpty()
    words = [sys.executable, "-m", "plait", "resume", log.stem, "--root", str(config)]
    process = subprocess.Popen(words, stdin=theirs, stderr=theirs, stdout=subprocess.PIPE)
    os.write(ours, answer)
    printed, _ = process.communicate(timeout=60)
    os.close(ours)
    os.close(theirs)
    assert log.exists() is is_restored
    assert (b"claude --resume" in printed) is is_restored


def test_selected_sessions_are_backed_up(
    config: Path, run_text: RunText, run_json: RunJson
) -> None:
    log, other = logs(config)[:2]
    assert run_json("keep", log.stem)["sessions"] == [log.stem]
    assert run_json("keep", str(other))["sessions"] == [other.stem]
    assert log.stem not in run_json("keep", "--project", other.parent.name, "--dry-run")["sessions"]
    assert "no session" in run_text("keep", "nobody", code=2)
    assert "no session matches" in run_text("keep", "--project", "nobody", code=2)
    empty(config)
    assert "backed up already" in run_text("keep", log.stem, code=2)


def test_log_outside_the_roots_is_backed_up_and_found(
    config: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "nothing").mkdir()
    log = logs(config)[0]
    assert run(["keep", str(log), "--json", "--root", str(tmp_path / "nothing")]) == 0
    assert json.loads(capfd.readouterr().out)["sessions"] == [log.stem]
    log.unlink()
    assert run(["ls", "--json", "--root", str(config)]) == 0
    found = {item["session"]: item["kept"] for item in json.loads(capfd.readouterr().out)}
    assert found[log.stem]


def test_forgetting_is_a_plan_first(config: Path, run_text: RunText, run_json: RunJson) -> None:
    run_text("keep")
    log = logs(config)[0]
    assert "nothing was deleted" in run_text("keep", "forget", log.stem)
    assert run_json("keep", "status")["unkept"] == 0
    assert run_json("keep", "forget", log.stem, "--yes")["sessions"] == [log.stem]
    assert run_json("keep", "status")["unkept"] == 1
    empty(config)
    assert log.stem not in {item["session"] for item in run_json("ls")}
    assert "lost for good" in run_text("keep", "forget", "latest")
    assert run_text("keep", "forget", "--max-age", "100000") == "nothing to delete\n"
    left = run_json("keep", "forget", "--max-size", "0")
    assert left["forgotten"] is False
    assert (
        run_json("keep", "forget", "--max-size", "0", "--yes")["sessions"] == left["sessions"] != []
    )
    assert run_json("ls") == []
    for wrong in ([], ["x", "--max-age", "1"]):
        assert "name sessions or give a limit" in run_text("keep", "forget", *wrong, code=2)
    assert "is not a size" in run_text("keep", "forget", "--max-size", "much", code=2)


def test_packed_sessions_are_imported_once(
    config: Path,
    run_text: RunText,
    run_json: RunJson,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    run_text("keep")
    file = str(tmp_path / "all.pack")
    packed = run_json("keep", "pack", file)
    assert len(packed["sessions"]) == len(logs(config))
    monkeypatch.setenv("PLAIT_DATA_DIR", str(tmp_path / "elsewhere"))
    assert run_json("keep", "unpack", file)["files"] == packed["files"]
    assert run_text("keep", "unpack", file) == f"nothing new in '{file}'\n"
    empty(config)
    assert len(run_json("ls", "--kept")) == len(packed["sessions"])


def test_damaged_block_is_reported(
    config: Path, run_text: RunText, run_json: RunJson, nobodys_home: Path
) -> None:
    run_text("keep")
    assert "no damage" in run_text("keep", "verify")
    pack = next((nobodys_home / "data" / "plait" / "keep" / "packs").glob("*.pack"))
    data = bytearray(pack.read_bytes())
    data[len(data) // 2] ^= 1
    pack.write_bytes(data)
    assert "damage" in run_text("keep", "verify", code=1)
    run_text("keep", "verify", "--json", code=1)


def test_arguments_are_subcommands_or_sessions(
    config: Path, run_text: RunText, capfd: pytest.CaptureFixture[str]
) -> None:
    assert run(["keep", "--root", str(config), "status", "--json"]) == 0
    assert json.loads(capfd.readouterr().out)["kept"] == 0
    assert "no session" in run_text("keep", "--", "status", code=2)
    assert "no session matches" in run_text("keep", "--project", "status", code=2)
    assert run(["keep", "--help"]) == 0
    shown = capfd.readouterr().out
    assert all(word in shown for word in ("status", "verify", "forget", "pack", "unpack"))


def test_empty_archive_has_nothing_to_back_up(
    config: Path, run_text: RunText, run_json: RunJson
) -> None:
    empty(config)
    assert run_text("keep") == "nothing new: there are no sessions\n"
    assert run_json("keep", "status")["unkept"] == 0
    assert "no session" in run_text("restore", "latest", code=2)


def test_status_without_backups_or_sessions(config: Path, run_text: RunText) -> None:
    """Before anything is kept, where all is gone from its source, and without any session."""
    assert "no backup yet\n" in run_text("keep", "status")
    run_text("keep")
    assert "everything is backed up" in run_text("keep", "status")
    empty(config)
    gone = run_text("keep", "status")
    assert "all of these sessions have been deleted: `plait restore SESSION` restores one" in gone
    assert "no folder" not in gone
    run_text("keep", "forget", "--max-age", "0", "--yes")
    assert "no backup\nthere are no sessions to back up\n" in run_text("keep", "status")


def test_status_reports_a_missing_config_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "gone"))
    assert run(["keep", "status"]) == 0
    assert "Claude Code's session folder was not found" in capfd.readouterr().out
