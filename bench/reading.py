"""Reading logs: MB per CPU-second beside plain JSON, listing, starting, memory.

python -m bench.reading [SIZE]
"""

import json
import sys
from collections.abc import Callable
from pathlib import Path

import orjson

from bench.archives import archive
from bench.measure import best_of, plait, program, python, row
from plait.line import lines
from plait.record.decode import envelope_of
from plait.record.read import read

MB = 1_000_000


def main(size: str = "100MB") -> None:
    """Prints all figures."""
    decoding(archive(size))
    starting()
    listing(archive("100MB", files=5000))
    memory(archive("1GB", files=1))


def decoding(root: Path) -> None:
    """Prints how fast lines become envelopes, records and plain objects."""
    files = sorted(root.rglob("*.jsonl"))
    total = sum(path.stat().st_size for path in files) / MB
    count = sum(1 for path in files for _ in lines(path))
    row(f"{total:.0f} MB, {count} lines, {len(files)} files", "MB per CPU s", "x orjson", "x json")
    ways: dict[str, Callable[[bytes], object]] = {
        "split into lines only": len,
        "plait envelope": envelope_of,
        "orjson.loads": orjson.loads,
        "json.loads": json.loads,
    }

    def over(way: Callable[[bytes], object]) -> Callable[[], None]:
        def work() -> None:
            for path in files:
                for line in lines(path):
                    way(line.data)

        return work

    def records() -> None:
        for path in files:
            for _ in read(path):
                pass

    speeds = {name: total / best_of(3, over(way)) for name, way in ways.items()}
    speeds["plait.read (typed records)"] = total / best_of(3, records)
    for name, speed in speeds.items():
        against = (f"{speed / speeds[other]:.2f}" for other in ("orjson.loads", "json.loads"))
        row(name, f"{speed:.0f}", *against)


def starting() -> None:
    """Prints what it costs to start the command."""
    row("")
    row("starting", "CPU ms")
    bare = min(program(sys.executable, "-c", "pass").cpu for _ in range(5))
    row("python -c pass", f"{bare * 1000:.0f}")
    for arguments in (["--help"], ["ls", "--help"], ["--version"]):
        best = min(plait(*arguments).cpu for _ in range(5))
        row("plait " + " ".join(arguments), f"{best * 1000:.0f}")


def listing(root: Path) -> None:
    """Prints what it costs to list many files."""
    files = sorted(root.rglob("*.jsonl"))
    total = sum(path.stat().st_size for path in files) / MB
    row("")
    row(f"{len(files)} files, {total:.0f} MB", "CPU s", "wall s", "peak MB")
    for arguments in (["ls", "--json"], ["doctor", "--json"]):
        run = plait(*arguments, "--root", root)
        row(
            "plait " + " ".join(arguments),
            f"{run.cpu:.2f}",
            f"{run.wall:.2f}",
            f"{run.peak / MB:.0f}",
        )


def memory(root: Path) -> None:
    """Prints the peak memory of reading one large file, above the interpreter's."""
    path = max(root.rglob("*.jsonl"), key=lambda path: path.stat().st_size)
    row("")
    row(f"one file of {path.stat().st_size / MB:.0f} MB", "CPU s", "peak MB", "above bare")
    bare = python("pass")
    imported = python("import plait; plait.read")
    reading = python(f"import plait\nfor record in plait.read({str(path)!r}): pass")
    for name, run in (
        ("bare interpreter", bare),
        ("import plait.read", imported),
        ("plait.read, all records", reading),
    ):
        above = (run.peak - bare.peak) / MB
        row(name, f"{run.cpu:.2f}", f"{run.peak / MB:.0f}", f"{above:.0f}")


if __name__ == "__main__":
    main(*sys.argv[1:])
