"""The backup store beside `tar | zstd` and `borg`, on an archive that grows for thirty days.

    python -m bench.keep [--logs FOLDER] [--days 30] [--files 5000]

Every day some sessions begin, some grow and some rest; each way keeps what is there, in a process
of its own. Then a run over many files in which nothing is new, one run from nothing, and all back.
"""

import argparse
import os
import shutil
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from bench.archives import archive
from bench.measure import SHARED, Run, plait, program, row
from bench.peers import borg

LONGEST = 4
"""Days that a session grows at most."""
MEGA = 1e6
WIDTHS = (30, 14, 14, 14, 14, 14)
EVERYTHING = """
import sys
from pathlib import Path
from plait.store.store import Store
store = Store.open(Path(sys.argv[1]) / "keep")
for session in sorted(store.sessions(), key=lambda one: one.modified):
    store.restore(session, Path(sys.argv[2]))
"""


@dataclass(slots=True)
class Growing:
    """A file of an archive, and how it comes to be."""

    source: Path
    target: Path
    first: int
    days: int
    ends: list[int]
    written: int = 0

    def grow(self, day: int) -> None:
        """Write what the file has by the end of a day, whole lines of it."""
        part = min(1.0, (day - self.first + 1) / self.days)
        if part <= 0 or self.written == self.ends[-1]:
            return
        end = self.ends[max(0, round(part * len(self.ends)) - 1)]
        if end > self.written:
            self.target.parent.mkdir(parents=True, exist_ok=True)
            with self.source.open("rb") as source, self.target.open("ab") as target:
                source.seek(self.written)
                target.write(source.read(end - self.written))
            self.written = end


def growing(logs: Path, target: Path, days: int) -> list[Growing]:
    """Return the files of an archive, each with when it begins and how long it grows."""
    rng = Random(str(days))
    found = []
    for path in sorted(path for path in logs.rglob("*") if path.is_file()):
        data = path.read_bytes()
        ends = [place + 1 for place, byte in enumerate(data) if byte == 10] or []
        if not ends or ends[-1] != len(data):
            ends.append(len(data))
        is_log = path.suffix == ".jsonl"
        place = target / path.relative_to(logs)
        first, length = rng.randrange(days), rng.randint(1, LONGEST) if is_log else 1
        found.append(Growing(path, place, min(first, days - length), length, ends))
    return found


class Way:
    """How a folder is kept; each has a place of its own."""

    name: str

    def __init__(self, place: Path) -> None:
        self.place = place
        place.mkdir(parents=True)

    def keep(self, folder: Path, day: int) -> Run:
        """Keep what a folder holds."""
        raise NotImplementedError

    def restore(self, to: Path) -> Run:
        """Put all of it back."""
        raise NotImplementedError

    @property
    def size(self) -> int:
        """Bytes on the disk."""
        files = (path for path in self.place.rglob("*") if path.is_file())
        return sum(path.stat().st_size for path in files)


class Keep(Way):
    """`plait keep`."""

    name = "plait keep"

    def keep(self, folder: Path, day: int) -> Run:
        cache = str(self.place.with_name(f"{self.place.name}-cache"))
        return plait(
            "keep", "--root", folder, PLAIT_DATA_DIR=str(self.place), PLAIT_CACHE_DIR=cache
        )

    def restore(self, to: Path) -> Run:
        return program(sys.executable, "-c", EVERYTHING, self.place, to)


class Tar(Way):
    """One compressed archive of everything, written anew each day over the last."""

    name = "tar | zstd"

    def keep(self, folder: Path, day: int) -> Run:
        target = self.place / "all.tar.zst"
        return program("sh", "-c", f'tar -C "$0" -c . | zstd -3 -q -f -o "{target}"', folder)

    def restore(self, to: Path) -> Run:
        command = f'zstd -dc "{self.place / "all.tar.zst"}" | tar -C "$0" -x'
        return program("sh", "-c", command, to)


class TarEachDay(Tar):
    """The same, and every day's archive stays."""

    name = "tar | zstd, every day's"

    def keep(self, folder: Path, day: int) -> Run:
        run = super().keep(folder, day)
        shutil.copy(self.place / "all.tar.zst", self.place / f"{day:03}.tar.zst")
        return run

    @property
    def size(self) -> int:
        return super().size - (self.place / "all.tar.zst").stat().st_size


class Borg(Way):
    """`borg create`, compressed alike, without encryption."""

    name = "borg, zstd 3"

    def __init__(self, place: Path) -> None:
        super().__init__(place)
        self._borg("init", "-e", "none", self.place / "repository")

    def _borg(self, *arguments: object) -> Run:
        command = borg()
        assert command is not None
        base = str(self.place.with_name(f"{self.place.name}-cache"))
        leave = "BORG_UNKNOWN_UNENCRYPTED_REPO_ACCESS_IS_OK"
        return program(command, *arguments, BORG_BASE_DIR=base, **{leave: "yes"})

    def keep(self, folder: Path, day: int) -> Run:
        archive_ = f"{self.place / 'repository'}::{day:04}"
        return self._borg("create", "--compression", "zstd,3", archive_, folder)

    def restore(self, to: Path) -> Run:
        names = self._borg("list", "--short", self.place / "repository").output.split()
        before = Path.cwd()
        os.chdir(to)
        try:
            return self._borg("extract", f"{self.place / 'repository'}::{names[-1]}")
        finally:
            os.chdir(before)


@dataclass(slots=True)
class Figures:
    """What a way took."""

    growth: float = 0.0
    """CPU seconds of all days."""
    size: int = 0
    first: list[float] = field(default_factory=list)


def main() -> None:
    """Measure all ways, and print a table for each question."""
    given = arguments()
    with tempfile.TemporaryDirectory(prefix="plait-bench-keep-") as name:
        folder = Path(name)
        ways = [Keep, Tar, TarEachDay, *([Borg] if borg() else [])]
        if borg() is None:
            print("borg is not here and could not be built: its rows are left out")
        grown(given.logs, folder, given.days, ways)
        at_rest(folder, given.files, [way for way in ways if way is not TarEachDay])


def arguments() -> argparse.Namespace:
    """Return what was asked for."""
    parser = argparse.ArgumentParser(prog="python -m bench.keep")
    corpus = SHARED / "corpus"
    usual = corpus if corpus.is_dir() else None
    parser.add_argument("--logs", type=Path, default=usual, help="a folder with sessions")
    parser.add_argument("--days", type=int, default=30)
    parser.add_argument("--files", type=int, default=5000)
    given = parser.parse_args()
    given.logs = given.logs or archive("100MB")
    return given


def grown(logs: Path, folder: Path, days: int, ways: list[type[Way]]) -> None:
    """Measure the days, then a run from nothing, then all back."""
    source = folder / "source"
    files = growing(logs, source, days)
    kept = [way(folder / f"way{number}") for number, way in enumerate(ways)]
    figures = {way.name: Figures() for way in kept}
    for day in range(days):
        for file in files:
            file.grow(day)
        for way in kept:
            figures[way.name].growth += way.keep(source, day).cpu
    size = sum(file.written for file in files)
    print(f"{len(files)} files, {size / MEGA:.0f} MB in the end, {days} days")
    row("", "CPU s", "on disk, MB", "of plain", "MB per CPU-s", "back, MB/CPU-s", widths=WIDTHS)
    for way in kept:
        first = fresh(type(way), folder, source)
        back = brought_back(way, folder, size)
        item = figures[way.name]
        share = f"{way.size / size:.1%}"
        cells = (f"{item.growth:.1f}", f"{way.size / MEGA:.1f}", share)
        row(way.name, *cells, f"{size / MEGA / first:.0f}", f"{back:.0f}", widths=WIDTHS)


def fresh(way: type[Way], folder: Path, source: Path) -> float:
    """Return the CPU seconds of keeping everything in one run: the least of two."""
    return min(
        way(folder / f"fresh-{number}-{way.__name__}").keep(source, 0).cpu for number in (1, 2)
    )


def brought_back(way: Way, folder: Path, size: int) -> float:
    """Return the MB per CPU second of restoring everything; what comes back is all there was."""
    runs = []
    for number in (1, 2):
        to = folder / f"back-{number}-{type(way).__name__}"
        to.mkdir()
        runs.append(way.restore(to).cpu)
        found = sum(path.stat().st_size for path in to.rglob("*") if path.is_file())
        if found < size * 0.99:
            print(f"{way.name} brought back {found / MEGA:.1f} of {size / MEGA:.1f} MB")
        shutil.rmtree(to)
    return size / MEGA / min(runs)


def at_rest(folder: Path, files: int, ways: list[type[Way]]) -> None:
    """Measure a run in which nothing is new: the least of three."""
    logs = archive("50MB", files=files)
    count = sum(path.suffix == ".jsonl" for path in logs.rglob("*"))
    print(f"\nnothing new in {count} files")
    row("", "CPU s", "wall s", widths=WIDTHS)
    for way in ways:
        item = way(folder / f"rest-{way.__name__}")
        item.keep(logs, 0)
        runs = [item.keep(logs, number) for number in (1, 2, 3)]
        least = min(runs, key=lambda run: run.cpu)
        row(item.name, f"{least.cpu:.2f}", f"{least.wall:.2f}", widths=WIDTHS)


if __name__ == "__main__":
    main()
