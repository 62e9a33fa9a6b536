"""Exports: one core, all cores, one process, repeated; compared with another program."""

import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from bench.measure import CACHE, Run, program, row

MB = 1_000_000
PINNED = ("taskset", "-c", "0")
WIDTHS = (42, 8, 8, 8, 8, 8, 9, 7, 8)
Make: TypeAlias = Callable[[Path, tuple[str, ...]], Run]
"""A folder, and what the program is started by, to what it took to write into the folder."""


@dataclass(frozen=True)
class Drawn:
    """What one way took."""

    name: str
    run: Run
    size: int
    files: int


def compare(title: str, root: Path, options: tuple[str, ...], name: str, peer: Make | None) -> None:
    """Print what Plait takes for an export, and what another program does."""
    out = CACHE / "drawn"
    shutil.rmtree(CACHE / "state", ignore_errors=True)
    theirs = {} if peer is None else _of_peer(name, peer, out)
    row(title, "CPU s", "x", "wall s", "x", "MB", "x", "files", "peak MB", widths=WIDTHS)
    ways: list[tuple[str, tuple[str, ...], tuple[str, ...], str]] = [
        ("plait, one core", PINNED, (), "one"),
        ("plait, all cores", (), (), "all"),
        ("plait, all cores, --jobs 1", (), ("--jobs", "1"), "all"),
    ]
    for label, before, more, cores in ways:
        _print(_drawn(label, out, _ours(root, (*options, *more)), before), theirs.get(cores))
    _print(_drawn("plait, again, nothing changed", out, _ours(root, options), (), is_new=False))
    for their in theirs.values():
        _print(their)
    print(flush=True)


def _of_peer(name: str, peer: Make, out: Path) -> dict[str, Drawn]:
    return {
        cores: _drawn(f"{name}, {cores} core{'s' * (cores == 'all')}", out, peer, before)
        for cores, before in (("one", PINNED), ("all", ()))
    }


def _ours(root: Path, options: tuple[str, ...]) -> Make:
    def make(folder: Path, before: tuple[str, ...]) -> Run:
        asked = ("export", "--all", "--root", root, "-o", folder, *options)
        places = {"PLAIT_CACHE_DIR": str(CACHE / "plait"), "PLAIT_STATE_DIR": str(CACHE / "state")}
        return program(*before, sys.executable, "-m", "plait", *asked, **places)

    return make


def _drawn(
    label: str, folder: Path, make: Make, before: tuple[str, ...], *, is_new: bool = True
) -> Drawn:
    if is_new:
        shutil.rmtree(folder, ignore_errors=True)
    run = make(folder, before)
    sizes = [path.stat().st_size for path in folder.rglob("*") if path.is_file()]
    return Drawn(label, run, sum(sizes), len(sizes))


def _print(item: Drawn, peer: Drawn | None = None) -> None:
    run = item.run
    times = ("", "", "")
    if peer:
        pairs = ((peer.run.cpu, run.cpu), (peer.run.wall, run.wall), (peer.size, item.size))
        times = tuple(f"{theirs / ours:.1f}" for theirs, ours in pairs)  # type: ignore[assignment]
    cpu, wall, size = times
    row(
        item.name,
        f"{run.cpu:.2f}",
        cpu,
        f"{run.wall:.2f}",
        wall,
        f"{item.size / MB:.1f}",
        size,
        item.files,
        f"{run.peak / MB:.0f}",
        widths=WIDTHS,
    )
