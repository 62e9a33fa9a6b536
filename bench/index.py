"""The index of generated archives: building, refreshing, following.

python -m bench.index [SIZE]...      without a size: 100MB
"""

import json
import os
import random
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from bench.archives import archive
from bench.measure import CACHE, Run, program, row
from bench.peers import PEERS, nobodys
from plait.archive import Archive
from plait.index.search import IndexReader
from plait.indexing import update_index

AGENTSVIEW = "0.46.1"
MB = 1_000_000
HOME = CACHE / "index"
WIDTHS = (32, 9, 9, 9, 9, 9, 12, 12)
COMPILED = {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": str(CACHE / "bytecode")}
"""Modules are compiled once, as they are where a program is installed."""


def main(*sizes: str) -> None:
    """Print all figures."""
    shutil.rmtree(HOME, ignore_errors=True)
    indexed(archive("10MB").resolve())
    for size in sizes or ("100MB",):
        first_index(f"first index, {size}", archive(size).resolve())
    first_index("100 MB in 5,000 files", archive("100MB", files=5000).resolve())
    tiny_files()
    measure_unchanged()
    appended()
    idle(archive("10MB").resolve())


def cache_for(root: Path) -> Path:
    """Return the cache folder of one archive."""
    return HOME / root.name


def indexed(root: Path, *options: str, cores: str = "") -> Run:
    """Bring the index of an archive up to date, on some cores or on all."""
    words = [sys.executable, "-m", "plait", "index", "--root", root, *options]
    env = {**COMPILED, "PLAIT_CACHE_DIR": str(cache_for(root))}
    return program(*_bound(cores), *words, **env)


def _bound(cores: str) -> tuple[str, ...]:
    return ("taskset", "-c", cores) if cores else ()


TURNS = 3
"""Each way is gone so often, in turn with the others: the least of each counts."""


def first_index(title: str, root: Path) -> None:
    """Print what a first index takes on one core and on two, by one process, beside the peer."""
    ways: dict[str, tuple[Callable[[], Run], Path]] = {
        "plait index, one core": (lambda: indexed(root, cores="0"), cache_for(root)),
        "plait index, two cores": (lambda: indexed(root, cores="0,1"), cache_for(root)),
        "  --jobs 1, two cores": (
            lambda: indexed(root, "--jobs", "1", cores="0,1"),
            cache_for(root),
        ),
        **peer_ways(root),
    }
    held = sum(path.stat().st_size for path in root.rglob("*.jsonl")) / MB
    names = ("CPU s", "MB/CPU s", "wall s", "peak MB", "disk MB", "again CPU s", "again wall s")
    row(title, *names, widths=WIDTHS)
    runs = [{name: twice(*way) for name, way in ways.items()} for _ in range(TURNS)]
    for name in ways:
        mine = [turn[name] for turn in runs]
        cpu, wall = min(item[0].cpu for item in mine), min(item[0].wall for item in mine)
        again = min(item[1].cpu for item in mine), min(item[1].wall for item in mine)
        peak, disk = max(item[0].peak for item in mine) / MB, mine[0][2] / MB
        row(
            name,
            *(f"{cpu:.2f}", f"{held / cpu:.1f}", f"{wall:.2f}", f"{peak:.0f}", f"{disk:.0f}"),
            *(f"{item:.2f}" for item in again),
            widths=WIDTHS,
        )
    print(flush=True)


def twice(way: Callable[[], Run], place: Path) -> tuple[Run, Run, int]:
    """Return a first run, one that finds nothing new, and the bytes that are on the disk then."""
    shutil.rmtree(place, ignore_errors=True)
    run, again = way(), way()
    return run, again, sum(path.stat().st_size for path in place.rglob("*") if path.is_file())


def peer_ways(root: Path) -> dict[str, tuple[Callable[[], Run], Path]]:
    """Return the same by the peer."""
    peer = agentsview()
    if peer is None:
        return {}
    home = HOME / f"nobody-{root.name}"
    env = {
        **nobodys(root, home),
        "AGENTSVIEW_NO_DAEMON": "1",
        "CLAUDE_PROJECTS_DIR": str(root / "projects"),
    }

    def sync(cores: str) -> Run:
        home.mkdir(parents=True, exist_ok=True)
        return program(*_bound(cores), peer, "sync", **env)

    return {
        f"agentsview {AGENTSVIEW}, one core": (lambda: sync("0"), home),
        f"agentsview {AGENTSVIEW}, two cores": (lambda: sync("0,1"), home),
    }


def agentsview() -> Path | None:
    """Return the peer, installed once in a folder of its own; None where that fails."""
    venv = PEERS / "agentsview" / "venv"
    found = venv / "bin" / "agentsview"
    if not found.exists():
        uv = Path(sys.executable).with_name("uv")
        try:
            subprocess.run([uv, "venv", "-q", venv], check=True)
            python = venv / "bin" / "python"
            install = [str(uv), "pip", "install", "-q", "--python", str(python)]
            subprocess.run([*install, f"agentsview=={AGENTSVIEW}"], check=True)
        except (OSError, subprocess.CalledProcessError):
            return None
    return found


TINY = 5000


def tiny_files() -> None:
    """Print what a log takes of which there is next to nothing to read: one prompt, one answer."""
    root = HOME / "logs" / "tiny"
    for number in range(TINY):
        session = f"{number:08}-2222-4333-8444-555555555555"
        path = root / "projects" / f"-home-dev-p{number % 50}" / f"{session}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(next(lines(session, number)))
    runs = [twice(lambda: indexed(root), cache_for(root))[0] for _ in range(TURNS)]
    cpu = min(run.cpu for run in runs)
    row(f"{TINY:,} logs of one prompt each", "CPU s", "ms a log", widths=WIDTHS)
    row("", f"{cpu:.2f}", f"{cpu * 1000 / TINY:.2f}", widths=WIDTHS)
    print(flush=True)


def measure_unchanged() -> None:
    """Print what a run takes that finds nothing to do among 5,000 files."""
    root = archive("100MB", files=5000).resolve()
    indexed(root)
    runs = [indexed(root) for _ in range(8)]
    row("nothing changed in 5,000 files", "CPU ms", "wall ms", widths=WIDTHS)
    cpu, wall = min(run.cpu for run in runs), min(run.wall for run in runs)
    row("", f"{cpu * 1000:.0f}", f"{wall * 1000:.0f}", widths=WIDTHS)
    print(flush=True)


def appended() -> None:
    """Print what it takes to find two lines that were added to a session of 50 MB."""
    root, folder = HOME / "fifty", HOME / "fifty-index"
    path = root / "projects" / "-home-dev-shop" / f"{SESSION}.jsonl"
    path.parent.mkdir(parents=True)
    talk = lines()
    with path.open("wb") as out:
        while out.tell() < 50 * MB:
            out.write(next(talk))
    update_index(Archive([root]), folder)
    row("two lines added to 50 MB", "CPU ms", "found, ms", widths=WIDTHS)
    for number in range(5):
        with path.open("ab") as out:
            out.write(next(talk))
        wall, cpu = time.perf_counter(), time.process_time()
        report = update_index(Archive([root]), folder)
        cpu = time.process_time() - cpu
        reader = IndexReader(folder)
        assert reader.search("needle", limit=1).total
        reader.close()
        wall = time.perf_counter() - wall
        kind = "new lines read" if report.grown else "session read anew"
        row(f"{number + 1}: {kind}", f"{cpu * 1000:.1f}", f"{wall * 1000:.1f}", widths=WIDTHS)
    print(flush=True)


SESSION = "11111111-2222-4333-8444-555555555555"


def lines(session: str = SESSION, first: int = 0) -> Iterator[bytes]:
    """Yield turns of a straight session: a prompt, a long answer."""
    chance, parent = random.Random(1), None
    for number in range(first, 1 << 20):
        words = " ".join(chance.choice(("needle", "hay", "stack", "barn")) for _ in range(700))
        output = [
            ("user", {"role": "user", "content": f"prompt {number}"}),
            ("assistant", {"role": "assistant", "id": f"m{number}", "content": words}),
        ]
        data = b""
        for kind, message in output:
            uuid = f"{number:08}-{kind}"
            record = {
                "parentUuid": parent,
                "type": kind,
                "uuid": uuid,
                "sessionId": session,
                "timestamp": f"2026-11-02T09:{number // 60 % 60:02}:{number % 60:02}.000Z",
                "message": message,
            }
            data += json.dumps(record).encode() + b"\n"
            parent = uuid
        yield data


def idle(root: Path) -> None:
    """Print what a watch takes while nothing happens."""
    env = {**os.environ, **COMPILED, "PLAIT_CACHE_DIR": str(cache_for(root))}
    words = [sys.executable, "-m", "plait", "index", "--watch", "--json", "--root", str(root)]
    child = subprocess.Popen(words, env=env, stdout=subprocess.PIPE)
    assert child.stdout
    child.stdout.readline()
    time.sleep(2)
    before, seconds = ticks(child.pid), 20
    time.sleep(seconds)
    used = (ticks(child.pid) - before) / os.sysconf("SC_CLK_TCK")
    child.terminate()
    child.wait()
    row("idle watch", "CPU s an hour", widths=(36, 16))
    row("", f"{used * 3600 / seconds:.1f}", widths=(36, 16))


def ticks(pid: int) -> int:
    """Return how much of the processor a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12])


if __name__ == "__main__":
    main(*sys.argv[1:])
