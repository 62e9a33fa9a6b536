"""An archive with an index gives the same answers as its logs."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from plait import Archive

GALLERY = Path(__file__).resolve().parents[2] / "examples" / "gallery"
QUESTIONS: dict[str, Callable[[Archive], object]] = {
    "usage": lambda archive: archive.usage("session").rows,
    "stats": lambda archive: archive.stats(),
    "stats of none": lambda archive: archive.stats([]),
    "stats of one": lambda archive: archive.stats(archive.sessions[0]),
    "tree": lambda archive: archive.tree(),
    "tree of one": lambda archive: archive.tree("latest", way="agents"),
    "facts": lambda archive: [archive.facts(item) for item in archive],
}


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder of drawn sessions."""
    folder = tmp_path_factory.mktemp("logs")
    for number, path in enumerate(sorted(GALLERY.rglob("*.jsonl"))[:12]):
        (folder / str(number)).mkdir()
        shutil.copy(path, folder / str(number))
    return folder


@pytest.fixture(scope="module")
def index(logs: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return its index."""
    folder = tmp_path_factory.mktemp("index")
    Archive([logs], folder).update_index()
    return folder


@pytest.mark.parametrize("name", QUESTIONS)
def test_index_and_logs_agree(logs: Path, index: Path, name: str) -> None:
    ask = QUESTIONS[name]
    wanted = plain(ask(Archive([logs])))
    assert plain(ask(Archive([logs], index))) == wanted
    with Archive([logs], index) as archive:
        assert plain(ask(archive)) == wanted
        assert plain(ask(archive)) == wanted


def test_without_an_index_the_logs_are_read(logs: Path, tmp_path: Path) -> None:
    with Archive([logs], tmp_path / "none") as archive:
        assert plain(archive.stats()) == plain(Archive([logs]).stats())
    assert not (tmp_path / "none").exists()


def plain(value: object) -> object:
    """Return a value as plain ones, which compare by what they hold."""
    return msgspec.to_builtins(
        value, enc_hook=lambda item: getattr(item, "__dict__", None) or str(item)
    )
