"""Homes and servers for the attacks; a short sample of each runs with all tests."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.hostile.archive import hostile_archive
from tests.web.bare import Bare, bare


@pytest.fixture(autouse=True)
def nobodys_home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give every command an empty home."""
    home = tmp_path_factory.mktemp("home")
    for name in ("CLAUDE_CONFIG_DIR", "PLAIT_ROOT", "PLAIT_PAGER", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(home))
    for kind in ("CONFIG", "CACHE", "DATA", "STATE"):
        monkeypatch.setenv(f"XDG_{kind}_HOME", str(home / kind.lower()))
    return home


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bare]:
    """Serve an archive that means harm, on loopback."""
    root = hostile_archive(tmp_path_factory.mktemp("hostile"))
    with bare(root, tmp_path_factory.mktemp("index") / "index") as server:
        yield server


def rounds(short: int, many: int) -> int:
    """Return how often something is tried: seldom with all tests, often by `make test-hostile`."""
    return many if os.environ.get("PLAIT_HOSTILE") else short
