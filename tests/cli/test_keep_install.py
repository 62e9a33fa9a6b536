"""Automatic backups: shown, installed, run, and removed to the byte."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from plait.cli.app import run
from plait.hook.event import MAX_KEEP_LOG
from plait.store.store import Store
from plait.write import SessionWriter

THEIRS = '{\n  "model": "opus",\n  "hooks": {\n    "SessionEnd": []\n  }\n}\n'
CRONTAB = """#!/bin/sh
file="$HOME/crontab"
case "$1" in
-l) if [ -f "$file" ]; then cat "$file"; else echo "no crontab for me" >&2; exit 1; fi ;;
-r) rm "$file" ;;
-) cat > "$file" ;;
esac
"""
SYSTEMCTL = """#!/bin/sh
echo "$@" >> "$HOME/systemctl"
if [ -f "$HOME/no-bus" ]; then
    echo "Failed to connect to bus: No medium found" >&2
    exit 1
fi
"""


@pytest.fixture
def home(nobodys_home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    programs = nobodys_home / "bin"
    programs.mkdir()
    for name, text in (("crontab", CRONTAB), ("systemctl", SYSTEMCTL)):
        (programs / name).write_text(text, encoding="utf-8")
        (programs / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.chdir(nobodys_home)
    for name in ("PLAIT_DATA_DIR", "PLAIT_CACHE_DIR", "PLAIT_CONFIG"):
        monkeypatch.delenv(name, raising=False)
    return nobodys_home


def plait(*words: str) -> int:
    return run(["keep", *words])


def picture(home: Path) -> dict[str, bytes]:
    """Draw all files but those of the fakes and our own."""
    skipped = ("bin/", "data/", "state/", "systemctl")
    found = {path.relative_to(home).as_posix(): path for path in home.rglob("*") if path.is_file()}
    return {name: path.read_bytes() for name, path in found.items() if not name.startswith(skipped)}


def settings_of(home: Path) -> Path:
    path = home / ".claude" / "settings.json"
    path.parent.mkdir(exist_ok=True)
    return path


@pytest.mark.parametrize("way", ["hook", "systemd", "cron"])
def test_uninstall_restores_the_bytes(
    home: Path, way: str, capsys: pytest.CaptureFixture[str]
) -> None:
    settings_of(home).write_text(THEIRS, encoding="utf-8")
    (home / "crontab").write_text("5 4 * * * backup\n", encoding="utf-8")
    before = picture(home)
    assert plait("--install", way, "--dry-run") == 0
    assert "+" in capsys.readouterr().out
    assert picture(home) == before
    assert plait("--install", way, "--yes") == 0
    assert "will be backed up" in capsys.readouterr().out
    assert picture(home) != before
    installed = picture(home)
    assert plait("--install", way) == 0
    assert "already" in capsys.readouterr().out
    assert picture(home) == installed
    assert plait("--uninstall", way, "--yes") == 0
    assert picture(home) == before
    assert not (home / "config" / "systemd").exists()
    assert plait("--uninstall") == 0
    assert "nothing is installed" in capsys.readouterr().out


def test_status_names_the_automatic_backup(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (home / ".claude" / "projects").mkdir(parents=True)
    assert plait("status") == 0
    assert "`plait keep --install` turns it on" in capsys.readouterr().out
    assert plait("--install", "hook", "--yes") == 0
    assert plait("--install", "cron", "--yes") == 0
    capsys.readouterr()
    assert plait("status") == 0
    out = capsys.readouterr().out
    assert "backed up automatically at the end of each Claude Code session (hook)" in out
    assert "every hour (cron job)" in out
    assert plait("status", "--json") == 0
    assert json.loads(capsys.readouterr().out)["automatic"] == ["hook", "cron"]


def test_default_is_the_hook(home: Path) -> None:
    assert plait("--install", "--yes") == 0
    hooks = json.loads(settings_of(home).read_text(encoding="utf-8"))["hooks"]
    (group,) = hooks["SessionEnd"]
    assert group["hooks"][0]["command"].endswith("plait keep --background")
    assert plait("--uninstall", "--yes") == 0
    assert not settings_of(home).exists()


def test_all_automatic_backups_are_removed_together(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = picture(home)
    for way in ("hook", "systemd", "cron"):
        assert plait("--install", way, "--yes") == 0
    assert plait("--uninstall", "--yes") == 0
    assert picture(home) == before


def test_trace_hooks_stay(home: Path) -> None:
    assert run(["trace", "install", "--yes"]) == 0
    before = settings_of(home).read_bytes()
    assert plait("--install", "--yes") == 0
    assert run(["trace", "install", "--yes"]) == 0
    assert plait("--uninstall", "--yes") == 0
    assert settings_of(home).read_bytes() == before
    assert plait("--install", "--yes") == 0
    assert run(["trace", "uninstall", "--yes"]) == 0
    assert "plait keep --background" in settings_of(home).read_text(encoding="utf-8")


def test_without_a_terminal_nothing_is_written(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = picture(home)
    assert plait("--install") == 2
    assert "cannot ask for confirmation without a terminal" in capsys.readouterr().err
    assert picture(home) == before


def test_json_prints_the_plan(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert plait("--install", "cron", "--dry-run", "--json") == 0
    (report,) = json.loads(capsys.readouterr().out)
    assert (report["way"], report["changes"], report["written"]) == ("cron", True, False)
    assert report["plan"].endswith("plait keep # plait keep")


def test_hook_backs_up_its_session(home: Path) -> None:
    assert plait("--install", "--yes") == 0
    settings = json.loads(settings_of(home).read_text(encoding="utf-8"))
    with SessionWriter.new(home / ".claude", cwd=home) as session:
        session.prompt("Keep this.")
    command = settings["hooks"]["SessionEnd"][0]["hooks"][0]["command"]
    report = json.dumps({"session_id": session.session, "transcript_path": str(session.path)})
    done = subprocess.run(["sh", "-c", command], input=report.encode(), capture_output=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    store = Store.open(home / "data" / "plait" / "keep")
    wait_until(lambda: bool(store.sessions()))
    (kept,) = store.sessions()
    assert kept.log is not None
    assert store.read(kept.log) == session.path.read_bytes()


LIGHT = """
import sys
before = set(sys.modules)
import plait.cli, plait.hook.event
plait.hook.event.find_state_folder()
print(*sorted(set(sys.modules) - before))
"""


def test_hook_imports_very_little(home: Path) -> None:
    done = subprocess.run([sys.executable, "-c", LIGHT], capture_output=True, text=True, check=True)
    found = done.stdout.split()
    assert {item for item in found if not item.startswith("plait")} <= {"fcntl", "select", "time"}
    assert "plait.cli.app" not in found


def test_long_log_file_is_rotated(home: Path) -> None:
    log = home / "state" / "plait" / "keep" / "hook.log"
    for size, is_long in ((MAX_KEEP_LOG, False), (MAX_KEEP_LOG + 1, True)):
        log.parent.mkdir(parents=True, exist_ok=True)
        log.write_text("x" * size, encoding="utf-8")
        command = [sys.executable, "-m", "plait", "keep", "--background"]
        subprocess.run(command, check=True, stdin=subprocess.DEVNULL)
        wait_until(lambda: "nothing new" in log.read_text(encoding="utf-8"))
        assert log.read_text(encoding="utf-8").startswith("x") is not is_long


def wait_until(is_so: Callable[[], bool]) -> None:
    """Wait for a process in the background, but not for ever."""
    for _ in range(600):
        if is_so():
            return
        time.sleep(0.05)
    raise AssertionError("it did not come")


def test_timer_follows_moved_paths(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PLAIT_DATA_DIR", "my data")
    assert plait("--install", "cron", "--yes", "--root", str(home / "logs")) == 0
    line = (home / "crontab").read_text(encoding="utf-8")
    assert f"PLAIT_DATA_DIR='{home}/my data'" in line
    assert line.endswith(f"keep --root {home}/logs # plait keep\n")
    assert plait("--install", "hook", "--yes", "--root", str(home / "logs")) == 2
    assert "leave out `--root`" in capsys.readouterr().err


def test_systemd_is_reloaded(home: Path) -> None:
    assert plait("--install", "systemd", "--yes") == 0
    assert plait("--uninstall", "--yes") == 0
    assert (home / "systemctl").read_text(encoding="utf-8").splitlines() == [
        "--user daemon-reload",
        "--user enable --now plait-keep.timer",
        "--user disable --now plait-keep.timer",
        "--user daemon-reload",
    ]


def test_failed_systemd_install_leaves_nothing(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (home / "no-bus").touch()
    before = picture(home)
    assert plait("--install", "systemd", "--yes") == 2
    assert "systemctl failed: Failed to connect to bus" in capsys.readouterr().err
    assert picture(home) == before


def test_uninstall_works_without_systemd(home: Path) -> None:
    before = picture(home)
    assert plait("--install", "systemd", "--yes") == 0
    wants = home / "config" / "systemd" / "user" / "timers.target.wants"
    wants.mkdir()
    (wants / "plait-keep.timer").symlink_to(wants.parent / "plait-keep.timer")
    (home / "no-bus").touch()
    assert plait("--uninstall", "--yes") == 0
    (home / "no-bus").unlink()
    assert picture(home) == before
    assert not (home / "config" / "systemd").exists()


def test_unreadable_method_does_not_block_the_others(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert plait("--install", "cron", "--yes") == 0
    settings_of(home).write_text("{", encoding="utf-8")
    assert plait("--uninstall", "hook", "--yes") == 2
    assert "is not JSON" in capsys.readouterr().err
    assert plait("--uninstall", "--yes") == 0
    assert "hook: " in capsys.readouterr().err
    assert not (home / "crontab").exists()


def test_unreadable_crontab_is_not_overwritten(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (home / "bin" / "crontab").write_text("#!/bin/sh\necho you may not >&2\nexit 1\n")
    assert plait("--install", "cron", "--yes") == 2
    assert "crontab failed: you may not" in capsys.readouterr().err


@pytest.mark.parametrize("words", [("--uninstall", "hook"), ("latest",), ("--project", "x")])
def test_install_covers_all_sessions(
    home: Path, words: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    assert plait("--install", "hook", *words, "--yes") == 2
    assert "apply to all sessions" in capsys.readouterr().err
    assert not (home / ".claude").exists()


@pytest.mark.parametrize(("way", "program"), [("systemd", "systemctl"), ("cron", "crontab")])
def test_unavailable_method_is_reported(
    home: Path,
    way: str,
    program: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("PATH", str(home))
    assert plait("--install", way, "--yes") == 2
    assert f"{program} is not installed" in capsys.readouterr().err
    assert plait("--uninstall", "--yes") == 0


def test_foreign_unit_file_stays(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    unit = home / "config" / "systemd" / "user" / "plait-keep.service"
    unit.parent.mkdir(parents=True)
    unit.write_text("[Unit]\n", encoding="utf-8")
    assert plait("--install", "systemd", "--yes") == 2
    assert "not written by Plait" in capsys.readouterr().err
    assert plait("--uninstall", "--yes") == 0
    assert unit.read_text(encoding="utf-8") == "[Unit]\n"
