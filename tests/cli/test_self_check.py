"""`plait self-check`, `--verbose` and `--debug`."""

import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from plait.cli.app import run

Checks = dict[str, dict[str, str]]


def check(capfd: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, Checks]:
    code = run(["self-check", "--json", *arguments])
    found = json.loads(capfd.readouterr().out)
    assert found["ok"] is (code == 0)
    return code, {row["name"]: row for row in found["checks"]}


def plait(home: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run in a process of its own: what is recorded cannot be switched off again."""
    command = [sys.executable, "-m", "plait", *arguments]
    environment = {**os.environ, "HOME": str(home), "PLAIT_STATE_DIR": str(home / "state")}
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


def test_working_installation(
    capfd: pytest.CaptureFixture[str], gallery: Path, nobodys_home: Path
) -> None:
    code, found = check(capfd, "--root", str(gallery))
    assert code == 0
    assert "msgspec" in found["packages"]["detail"]
    assert found["sessions"]["detail"].startswith("20 sessions, ")
    assert found["index"]["state"] == "note"
    assert "plait index" in found["index"]["hint"]
    assert str(nobodys_home) not in json.dumps(found)
    assert run(["index", "--root", str(gallery)]) == 0
    capfd.readouterr()
    assert check(capfd, "--root", str(gallery))[1]["index"]["detail"] == "20 sessions"
    (catalogue,) = nobodys_home.rglob("catalogue.sqlite")
    catalogue.write_bytes(b"no database" * 1000)
    code, found = check(capfd, "--root", str(gallery))
    assert (code, found["index"]["state"]) == (1, "problem")
    assert "--rebuild" in found["index"]["hint"]


def test_broken_parts_are_problems(
    capfd: pytest.CaptureFixture[str], nobodys_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (nobodys_home / "file").touch()
    monkeypatch.setenv("PLAIT_STATE_DIR", str(nobodys_home / "file" / "state"))
    monkeypatch.setenv("PLAIT_CLAUDE", "/nowhere/claude")
    code, found = check(capfd, "--root", str(nobodys_home / "nothing"))
    assert code == 1
    problems = {name for name, row in found.items() if row["state"] == "problem"}
    assert problems == {"state", "root", "sessions", "claude"}
    assert "state_dir" in found["state"]["hint"]


def test_wrong_settings_are_a_problem_with_a_line_number(
    capfd: pytest.CaptureFixture[str], nobodys_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = nobodys_home / "config.toml"
    file.write_text("\njobs = 0\n")
    monkeypatch.setenv("PLAIT_CONFIG", str(file))
    code, found = check(capfd)
    assert code == 1
    assert found["settings"]["detail"].endswith("line 2")


def test_folders_readable_by_others_are_noted(
    capfd: pytest.CaptureFixture[str], nobodys_home: Path
) -> None:
    folder = nobodys_home / "data" / "plait"
    folder.mkdir(parents=True, mode=0o755)
    assert check(capfd, "--demo")[1]["data"]["state"] == "note"
    folder.chmod(0o700)
    found = check(capfd, "--demo")[1]
    assert (found["data"]["state"], found["cache"]["state"]) == ("ok", "ok")


def test_client_version_is_shown(
    capfd: pytest.CaptureFixture[str], nobodys_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = nobodys_home / "claude"
    client.write_text("#!/bin/sh\necho '2.1.327 (Claude Code)'\n")
    client.chmod(0o755)
    monkeypatch.setenv("PLAIT_CLAUDE", str(client))
    assert check(capfd)[1]["claude"]["detail"] == "2.1.327 (Claude Code), ~/claude"
    client.write_text("#!/bin/sh\nexit 3\n")
    assert check(capfd)[1]["claude"]["state"] == "problem"


def test_verbose_prints_what_is_read(gallery: Path, nobodys_home: Path) -> None:
    done = plait(nobodys_home, "ls", "--verbose", "--root", str(gallery))
    assert done.returncode == 0
    assert "9f50ca92-" not in done.stdout
    assert "missing-head/projects/-home-dev-ledger/9f50ca92-" in done.stderr
    assert "read" in done.stderr
    quiet = plait(nobodys_home, "ls", "--root", str(gallery))
    assert (quiet.stdout, quiet.stderr) == (done.stdout, "")


def test_debug_writes_a_file_without_secrets(gallery: Path, nobodys_home: Path) -> None:
    secret = "sk-ant-api03-" + "aB3dE5fG7h" * 9
    done = plait(nobodys_home, "show", secret, "--debug", "--root", str(gallery))
    assert done.returncode == 2
    file = nobodys_home / "state" / "debug.log"
    assert str(file) in done.stderr
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    text = file.read_text(encoding="utf-8")
    assert "NoSuchSession" in text
    assert "Traceback" in text
    assert "-home-dev-" not in text
    assert secret not in text


def test_debug_file_has_the_traceback_of_a_crash(nobodys_home: Path) -> None:
    code = (
        "import atexit, plait.cli.debug as debug; from pathlib import Path;"
        f"debug.start_recording(Path({str(nobodys_home / 'debug.log')!r})); 1 / 0"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "ZeroDivisionError" in done.stderr
    assert "ZeroDivisionError" in (nobodys_home / "debug.log").read_text()
