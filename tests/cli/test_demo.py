"""`--demo`: every command on the packaged example sessions."""

import json
from pathlib import Path

import pytest

from plait.cli.app import run


def sessions(capfd: pytest.CaptureFixture[str], *arguments: str) -> list[str]:
    assert run([*arguments, "--json"]) == 0
    return [row["session"] for row in json.loads(capfd.readouterr().out)]


def test_commands_use_the_examples(
    capfd: pytest.CaptureFixture[str], gallery: Path, nobodys_home: Path
) -> None:
    expected = sessions(capfd, "ls", "--root", str(gallery))
    assert len(expected) > 10
    assert sessions(capfd, "ls", "--demo") == expected
    assert sessions(capfd, "--demo", "ls") == expected
    (copy,) = (nobodys_home / "cache" / "plait").glob("demo-*")
    assert not list((nobodys_home / "cache" / "plait").glob("tmp*"))
    assert not any(path.stat().st_mtime > copy.stat().st_mtime for path in copy.rglob("*.jsonl"))


def test_suggested_commands_use_the_examples_too(capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["--demo"]) == 0
    out = capfd.readouterr().out
    assert "--demo" in out
    assert "--root" not in out
    assert run(["show", "nobody", "--demo"]) == 2
    err = capfd.readouterr().err
    assert "plait ls --demo" in err


def test_edits_change_the_copy_and_persist(
    capfd: pytest.CaptureFixture[str], gallery: Path, nobodys_home: Path
) -> None:
    before = {path: path.read_bytes() for path in gallery.rglob("*.jsonl")}
    assert run(["rename", "9f50ca92", "Another title", "--demo"]) == 0
    capfd.readouterr()
    assert run(["ls", "--demo", "--colour", "never"]) == 0
    assert "Another title" in capfd.readouterr().out
    assert before == {path: path.read_bytes() for path in gallery.rglob("*.jsonl")}


def test_unwritable_cache_is_an_error(
    capfd: pytest.CaptureFixture[str], nobodys_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (nobodys_home / "file").touch()
    monkeypatch.setenv("PLAIT_CACHE_DIR", str(nobodys_home / "file"))
    assert run(["ls", "--demo"]) == 3
    assert "cannot write the example sessions" in capfd.readouterr().err


def test_without_sessions_the_examples_are_suggested(
    capfd: pytest.CaptureFixture[str], nobodys_home: Path
) -> None:
    assert run([]) == 0
    assert "plait --demo" in capfd.readouterr().out
