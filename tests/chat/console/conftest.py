"""A project, a script for a model, and words on standard input."""

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from plait.cli.app import run
from tests.cli.conftest import nobodys_home

__all__ = ["nobodys_home"]

Typed: TypeAlias = Callable[[str], None]
Chat: TypeAlias = Callable[..., int]


@pytest.fixture(autouse=True)
def no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave no key in the environment, and no client on the path."""
    for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "ANTHROPIC_MODEL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PLAIT_CLAUDE", "/nowhere/claude")


@pytest.fixture
def typed() -> Iterator[Typed]:
    """Return what puts words on standard input."""
    kept = os.dup(0)

    def put(text: str) -> None:
        read, write = os.pipe()
        os.write(write, text.encode())
        os.close(write)
        os.dup2(read, 0)
        os.close(read)

    put("")
    yield put
    os.dup2(kept, 0)
    os.close(kept)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a directory to work in, and stands there."""
    folder = tmp_path / "app"
    folder.mkdir()
    (folder / "notes.txt").write_text("one\ntwo\n")
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def chat(project: Path, typed: Typed) -> Chat:
    """Return what runs `plait chat` with a model that follows a script."""

    def start(*arguments: str, script: dict[str, Any] | None = None) -> int:
        file = project.parent / "script.json"
        file.write_text(json.dumps(script or {"otherwise": {"text": "ok"}}))
        root = project.parent / "claude"
        root.mkdir(exist_ok=True)
        return run(["chat", "--root", str(root), "--model", f"script:{file}", *arguments])

    return start
