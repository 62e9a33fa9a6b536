"""Building a lake locally and with Ray: MB per CPU-second, size on disk, query times.

    python -m bench.lake build [--sizes 100MB 1GB] [--engines local ray]
    python -m bench.lake disk [--size 1GB]
    python -m bench.lake ask [--size 1GB] [--copies 1 4 16 100]

CPU seconds are of all processes that a run begins, those of Ray among them. To ask more than one
archive, the rows of its lake are multiplied: each copy is another source, with sessions and
buildings of its own; `text` and `raw` are left out.
"""

import argparse
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from bench.archives import archive
from bench.measure import CACHE, row

if TYPE_CHECKING:
    import pyarrow as pa

    from plait.lake.store import Lake

MEGA = 1e6
TICKS = os.sysconf("SC_CLK_TCK")
OFTEN = 0.2
"""Seconds between two looks at the processes of a run."""
LEFT_OUT = ("text", "raw")
WIDTHS = (16, 12, 12, 12, 12, 12)
ASKED = (8, 16, 10, 10, 12, 8)


def main() -> None:
    """Measure what was asked for."""
    given = _arguments()
    if given.what == "build":
        _build(given.sizes, given.engines)
    elif given.what == "disk":
        _disk(given.size)
    else:
        _ask(given.size, given.copies)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.lake")
    parser.add_argument("what", choices=("build", "disk", "ask"))
    parser.add_argument("--sizes", nargs="+", default=["100MB", "1GB"])
    parser.add_argument("--engines", nargs="+", default=["local", "ray"])
    parser.add_argument("--size", default="1GB")
    parser.add_argument("--copies", nargs="+", type=int, default=[1, 4, 16, 100])
    return parser.parse_args()


def _build(sizes: list[str], engines: list[str]) -> None:
    row("", "CPU s", "wall s", "MB/CPU-s", "MB of logs", "load", widths=WIDTHS)
    for size in sizes:
        logs = archive(size)
        total = sum(path.stat().st_size for path in logs.rglob("*.jsonl"))
        for engine in engines:
            cpu, wall = _built(logs, CACHE / f"lake-{size}-{engine}", engine)
            speed, load = total / MEGA / cpu, os.getloadavg()[0]
            figures = (f"{cpu:.1f}", f"{wall:.1f}", f"{speed:.1f}", f"{total / MEGA:.0f}")
            row(f"{size}, {engine}", *figures, f"{load:.1f}", widths=WIDTHS)


def _built(logs: Path, to: Path, engine: str) -> tuple[float, float]:
    shutil.rmtree(to, ignore_errors=True)
    command = (sys.executable, "-m", "plait", "lake", "build", "--root", logs, "--to", to)
    return _spent(*command, "--profile", "full", "--engine", engine, "--jobs", 2)


def _spent(*command: object) -> tuple[float, float]:
    """Return the CPU seconds of a program and of all that it begins, and its wall seconds."""
    started = time.perf_counter()
    process = subprocess.Popen([str(item) for item in command], start_new_session=True)
    seen: dict[int, float] = {}
    while process.poll() is None:
        seen |= dict(_processes(process.pid))
        time.sleep(OFTEN)
    if process.returncode:
        raise SystemExit(f"{command} ended with {process.returncode}")
    return sum(seen.values()), time.perf_counter() - started


def _processes(session: int) -> Iterator[tuple[int, float]]:
    """Yield the processes of a session, and the CPU seconds that each has had."""
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with suppress(OSError):
                parts = (entry / "stat").read_text().rpartition(") ")[2].split()
                if int(parts[3]) == session:
                    yield int(entry.name), (int(parts[11]) + int(parts[12])) / TICKS


def _disk(size: str) -> None:
    logs = sum(path.stat().st_size for path in archive(size).rglob("*.jsonl"))
    row("", "MB", "of logs", "rows", "files", widths=WIDTHS)
    full = 0
    for name in _lake(size).tables:
        files = [*(CACHE / f"lake-{size}-local" / name).rglob("*.parquet")]
        held = sum(path.stat().st_size for path in files)
        full += held
        rows = _lake(size).dataset(name).count_rows()
        row(name, f"{held / MEGA:.1f}", f"{held / logs:.2%}", rows, len(files), widths=WIDTHS)
    row("all", f"{full / MEGA:.1f}", f"{full / logs:.2%}", widths=WIDTHS)


def _lake(size: str) -> "Lake":
    from plait.lake.store import Lake

    folder = CACHE / f"lake-{size}-local"
    if not folder.exists():
        _built(archive(size), folder, "local")
    return Lake(str(folder))


def _ask(size: str, copies: list[int]) -> None:
    names = ("copies", "question", "CPU s", "wall s", "MB on disk", "load")
    row(*names, widths=ASKED)
    for count in copies:
        lake = _multiplied(size, count)
        held = sum(path.stat().st_size for path in Path(lake.url).rglob("*.parquet"))
        for name, sql, values in _questions():
            cpu, wall = _asked(lake, sql, values)
            figures = (name, f"{cpu:.2f}", f"{wall:.2f}", f"{held / MEGA:.0f}")
            row(count, *figures, f"{os.getloadavg()[0]:.1f}", widths=ASKED)


def _questions() -> Iterator[tuple[str, str, dict[str, object]]]:
    """Yield what is asked: the saved questions as they are, one sum, one session by its id."""
    from plait.lake.saved_queries import load_saved_queries

    for name, item in load_saved_queries().items():
        yield name, item.sql, dict(item.parse_values({}, lambda _: None))
    yield "a sum", "SELECT count(*), sum(cost_usd) FROM responses", {}
    first = "(SELECT min(session) FROM sessions)"
    yield "one session", f"SELECT count(*) FROM records WHERE session = {first}", {}


def _asked(lake: "Lake", sql: str, values: dict[str, object]) -> tuple[float, float]:
    """Return the least of three, each with all that opening the lake takes."""
    from plait.lake.query import open_query_engine

    took = []
    for _ in range(3):
        cpu, wall = time.process_time(), time.perf_counter()
        for _row in open_query_engine(lake).query(sql, values).rows():
            pass
        took.append((time.process_time() - cpu, time.perf_counter() - wall))
    return min(took)


def _multiplied(size: str, count: int) -> "Lake":
    """Return a lake with so many copies of the rows of another one, made once and kept."""
    from plait.lake.store import Lake

    folder = CACHE / f"lake-{size}-times-{count}"
    if (folder / ".whole").exists():
        return Lake(str(folder))
    shutil.rmtree(folder, ignore_errors=True)
    made = Lake.create(str(folder), "full")
    tables = {name: _held(_lake(size), name) for name in made.tables if name not in LEFT_OUT}
    for number in range(count):
        copy = {name: _copied(name, rows, number) for name, rows in tables.items()}
        made.commit([made.write(copy)])
    (folder / ".whole").touch()
    return made


def _held(lake: "Lake", name: str) -> "pa.Table":
    from plait.lake.schema import arrow_schema

    return lake.dataset(name).to_table().select(arrow_schema(name).names)


def _copied(name: str, rows: "pa.Table", number: int) -> "pa.Table":
    """Return the same rows as another source has them."""
    import pyarrow as pa
    import pyarrow.compute as pc

    changed = {
        "build": pc.bit_wise_xor(rows["build"], pa.scalar(number << 32, pa.int64())),
        "source": pa.repeat(pa.scalar(f"source-{number}"), rows.num_rows),
        "session": pc.binary_join_element_wise(rows["session"], str(number), "-"),
    }
    for column, values in changed.items():
        at = rows.column_names.index(column)
        rows = rows.set_column(at, rows.schema.field(at), values)
    return rows


if __name__ == "__main__":
    main()
