"""Generated archives to the figures of the index: building, refreshing, searching, watching.

python -m bench.index [SIZE]...      without a size: 100MB
"""

import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from bench.archives import archive
from bench.measure import CACHE, Run, plait, program, row
from bench.peers import PEERS, nobodys
from plait.archive import Archive
from plait.archive.indexing import refresh
from plait.archive.search import search
from plait.index.search import Reader

AGENTSVIEW = "0.46.1"
MB = 1_000_000
HOME = CACHE / "index"
QUERIES = {
    "rare word": ["zomita", "falelemu", "goseuna"],
    "common word": ["return", "config", "value"],
    "two words": ["return value", "config buffer", "query worker"],
    "phrase": ['"raise ValueError"', '"for item in"', '"is None and"'],
    "filter": ["tool:Bash config", "in:prompt config", "branch:abandoned value"],
    "prefix": ["zomi*", "conf*", "buf*"],
    "nothing": ["qqqqzzzz", '"no such phrase here"'],
}
TIMES = 20


def main(*sizes: str) -> None:
    """Prints all figures."""
    shutil.rmtree(HOME, ignore_errors=True)
    for size in sizes or ("100MB",):
        first_index(size, archive(size).resolve())
        searches(archive(size).resolve())
    unchanged()
    appended()
    idle(archive("10MB").resolve())


def cache_for(root: Path) -> Path:
    """Returns the cache folder of one archive."""
    return HOME / root.name


def first_index(size: str, root: Path) -> None:
    """Prints what a first index takes, beside the peer."""
    ways: dict[str, tuple[Callable[[], Run], Path]] = {
        "plait index": (
            lambda: plait("index", "--root", root, PLAIT_CACHE_DIR=str(cache_for(root))),
            cache_for(root),
        )
    }
    peer = agentsview()
    home = HOME / f"nobody-{root.name}"
    if peer:
        env = {
            **nobodys(root, home),
            "AGENTSVIEW_NO_DAEMON": "1",
            "CLAUDE_PROJECTS_DIR": str(root / "projects"),
        }
        ways[f"agentsview {AGENTSVIEW} sync"] = (lambda: program(peer, "sync", **env), home)
    held = sum(path.stat().st_size for path in root.rglob("*.jsonl")) / MB
    heading = f"first index, {size}"
    row(heading, "CPU s", "MB/CPU s", "wall s", "peak MB", "disk MB", widths=WIDTHS)
    for name, (way, place) in ways.items():
        shutil.rmtree(place, ignore_errors=True)
        run = way()
        disk = sum(path.stat().st_size for path in place.rglob("*") if path.is_file()) / MB
        row(
            name,
            *(f"{run.cpu:.2f}", f"{held / run.cpu:.1f}", f"{run.wall:.2f}"),
            *(f"{run.peak / MB:.0f}", f"{disk:.0f}"),
            widths=WIDTHS,
        )
    print(flush=True)


WIDTHS = (36, 9, 9, 9, 9, 9)


def agentsview() -> Path | None:
    """Returns the peer, installed once in a folder of its own; None where that fails."""
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


def searches(root: Path) -> None:
    """Prints how long answers take: from the index, and from the logs."""
    folder = next((cache_for(root) / "index").iterdir())
    reader = Reader(folder)
    row("search, in ms", "p50", "p95", "most", widths=WIDTHS)
    for name, queries in QUERIES.items():
        took = sorted(reader.search(one).took_ms for one in queries * TIMES)
        figures = (statistics.median(took), took[int(len(took) * 0.95)], took[-1])
        row(name, *(f"{one:.1f}" for one in figures), widths=WIDTHS)
    reader.close()
    asked = Archive([root])
    for name, way, text in (
        ("exact, rare", "exact", "zomita nodimobo"),
        ("exact, common", "exact", "raise ValueError"),
        ("expression with a word", "regex", r"zomita \w+obo"),
        ("expression without", "regex", r"\d{4}:\]"),
    ):
        found = search(asked, folder, text, way=way)  # type: ignore[arg-type]
        row(f"{name}: {found.total} passages", f"{found.took_ms:.0f}", widths=WIDTHS)
    rg = shutil.which("rg")
    if rg:
        run = program(rg, "--count-matches", "-uuu", "zomita nodimobo", root)
        row("rg, the same rare text", f"{run.wall * 1000:.0f}", widths=WIDTHS)
    print(flush=True)


def unchanged() -> None:
    """Prints what a run takes that finds nothing to do among 5,000 files."""
    root = archive("100MB", files=5000).resolve()
    env = {"PLAIT_CACHE_DIR": str(cache_for(root))}
    plait("index", "--root", root, **env)
    runs = [plait("index", "--root", root, **env) for _ in range(5)]
    row("nothing changed, 5,000 files", "CPU ms", "wall ms", widths=WIDTHS)
    cpu, wall = min(one.cpu for one in runs), min(one.wall for one in runs)
    row("whole command", f"{cpu * 1000:.0f}", f"{wall * 1000:.0f}", widths=WIDTHS)
    print(flush=True)


def appended() -> None:
    """Prints what it takes to find two lines that were added to a session of 50 MB."""
    root, folder = HOME / "fifty", HOME / "fifty-index"
    path = root / "projects" / "-home-dev-shop" / f"{SESSION}.jsonl"
    path.parent.mkdir(parents=True)
    talk = lines()
    with path.open("wb") as out:
        while out.tell() < 50 * MB:
            out.write(next(talk))
    refresh(Archive([root]), folder)
    row("two lines added to 50 MB", "CPU ms", "found, ms", widths=WIDTHS)
    for number in range(5):
        with path.open("ab") as out:
            out.write(next(talk))
        wall, cpu = time.perf_counter(), time.process_time()
        report = refresh(Archive([root]), folder)
        cpu = time.process_time() - cpu
        reader = Reader(folder)
        assert reader.search("needle", limit=1).total
        reader.close()
        wall = time.perf_counter() - wall
        kind = "new lines read" if report.grown else "session read anew"
        row(f"{number + 1}: {kind}", f"{cpu * 1000:.1f}", f"{wall * 1000:.1f}", widths=WIDTHS)
    print(flush=True)


SESSION = "11111111-2222-4333-8444-555555555555"


def lines() -> Iterator[bytes]:
    """Yields turns of a straight session: a prompt, a long answer."""
    chance, parent = random.Random(1), None
    for number in range(1 << 20):
        words = " ".join(chance.choice(("needle", "hay", "stack", "barn")) for _ in range(700))
        said = [
            ("user", {"role": "user", "content": f"prompt {number}"}),
            ("assistant", {"role": "assistant", "id": f"m{number}", "content": words}),
        ]
        data = b""
        for kind, message in said:
            uuid = f"{number:08}-{kind}"
            record = {
                "parentUuid": parent,
                "type": kind,
                "uuid": uuid,
                "sessionId": SESSION,
                "timestamp": f"2026-11-02T09:{number // 60 % 60:02}:{number % 60:02}.000Z",
                "message": message,
            }
            data += json.dumps(record).encode() + b"\n"
            parent = uuid
        yield data


def idle(root: Path) -> None:
    """Prints what a watch takes while nothing happens."""
    env = {**os.environ, "PLAIT_CACHE_DIR": str(cache_for(root))}
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
    """Returns how much of the processor a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12])


if __name__ == "__main__":
    main(*sys.argv[1:])
