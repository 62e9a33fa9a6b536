"""Commands killed at any moment: the next run completes as if nothing had happened."""

import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

from plait.export.plan import STATE_FILE
from tests.hostile.archive import hostile_archive
from tests.hostile.conftest import rounds
from tests.view.page.packed import packed_in

PLAIT = (sys.executable, "-m", "plait")


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return an archive."""
    return hostile_archive(tmp_path_factory.mktemp("killed"), "some words", "name")


def files_of(folder: Path) -> dict[str, bytes]:
    """Return what an export has written; its manifest tells the same."""
    found = (path for path in folder.rglob("*") if path.is_file() and path.name != STATE_FILE)
    return {path.relative_to(folder).as_posix(): _held(path) for path in found}


def _held(path: Path) -> bytes:
    """Return what a file holds; the same may be packed in other bytes."""
    parts = list(packed_in(path.read_bytes())) if path.suffix == ".js" else []
    return repr(parts).encode() if parts else path.read_bytes()


def killed(words: list[str], after: float) -> None:
    """Run a command for a moment."""
    nothing = subprocess.DEVNULL
    with subprocess.Popen([*PLAIT, *words], stdout=nothing, stderr=nothing) as item:
        time.sleep(after)
        item.kill()


@pytest.mark.parametrize("seed", range(rounds(1, 14)))
@pytest.mark.parametrize("format_", ["html", "md"])
def test_killed_export(root: Path, tmp_path: Path, format_: str, seed: int) -> None:
    rng = random.Random(seed)
    words = ["export", "--all", "--root", str(root), "-f", format_, "-o"]
    for _ in range(3):
        killed([*words, str(tmp_path / "out")], rng.uniform(0.1, 1.2))
    done = subprocess.run([*PLAIT, *words, str(tmp_path / "out")], capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    subprocess.run([*PLAIT, *words, str(tmp_path / "whole")], capture_output=True, check=True)
    assert files_of(tmp_path / "out") == files_of(tmp_path / "whole")


@pytest.mark.parametrize("seed", range(rounds(1, 14)))
def test_killed_index(root: Path, seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(3):
        killed(["index", "--rebuild", "--root", str(root)], rng.uniform(0.1, 1.0))
    found = [
        subprocess.run([*PLAIT, *words], capture_output=True, check=True).stdout
        for words in (
            ["search", "words", "--json", "--root", str(root)],
            ["index", "--rebuild", "--root", str(root)],
            ["search", "words", "--json", "--root", str(root)],
        )
    ]
    assert without_times(found[0]) == without_times(found[2])


def without_times(data: bytes) -> list[bytes]:
    """Return lines but those that tell how long something took."""
    return [line for line in data.splitlines() if b"took" not in line and b"_ms" not in line]
