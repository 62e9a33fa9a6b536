"""Copies under new ids next to their source are counted once."""

import shutil
from collections.abc import Callable
from datetime import UTC
from pathlib import Path
from typing import Any

import msgspec
import pytest

from plait import Archive
from tests.edit.copies import EXAMPLES, gallery, named

COPIES: dict[str, Callable[[Archive, str], Any]] = {
    "clone": lambda archive, name: archive.plan.clone(name),
    "fork": lambda archive, name: archive.plan.fork(name),
    "active": lambda archive, name: archive.plan.clone(name, active_only=True),
}


def figures(root: Path) -> dict[str, Any]:
    """Return what an archive comes to, but for how many sessions there are."""
    found: dict[str, Any] = msgspec.to_builtins(Archive([root]).stats(zone=UTC))
    counts = ("sessions", "all_sessions", "copied_sessions", "longest_turns", "longest_sessions")
    return {name: one for name, one in found.items() if name not in counts}


def money(root: Path) -> Any:
    return Archive([root]).usage().totals.total


def turns(root: Path) -> int:
    return sum(1 for _ in Archive([root]).turns())


@pytest.mark.parametrize("root", gallery(), ids=named)
def test_clone_adds_nothing(root: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(root, tmp_path / "root")
    before = figures(folder), money(folder), turns(folder)
    for session in Archive([folder]).sessions:
        if session.file:
            Archive([folder]).plan.clone(session).apply(force=True)
    assert (figures(folder), money(folder), turns(folder)) == before


@pytest.mark.parametrize("way", COPIES)
def test_copies_of_copies_add_nothing(way: str, tmp_path: Path) -> None:
    folder = shutil.copytree(EXAMPLES / "gallery" / "straight-line", tmp_path / "root")
    before = figures(folder), money(folder), turns(folder)
    (first,) = Archive([folder]).sessions
    second = COPIES[way](Archive([folder]), first.id).apply()
    COPIES[way](Archive([folder]), second.session).apply()
    assert len(Archive([folder]).sessions) == 3
    assert (figures(folder), money(folder), turns(folder)) == before
    assert Archive([folder]).stats().copied_sessions == 2


def test_redacted_copy_of_agents_adds_nothing(tmp_path: Path) -> None:
    folder = shutil.copytree(EXAMPLES / "gallery" / "sub-agent", tmp_path / "root")
    before = figures(folder), money(folder), turns(folder)
    (first,) = Archive([folder]).sessions
    Archive([folder]).plan.redact(first).apply()
    assert len(Archive([folder]).sessions) == 2
    assert (figures(folder), money(folder), turns(folder)) == before
