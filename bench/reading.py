"""Reading logs: MB per CPU-second beside plain JSON, listing, starting, memory.

python -m bench.reading [SIZE]
"""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import orjson

from bench.archives import archive, one_file
from bench.measure import best_of, plait, program, python, row
from plait.line import iter_lines
from plait.record.codec import decode_envelope
from plait.record.reader import read

MB = 1_000_000
Speeds: TypeAlias = dict[str, float]
TELL_PEAK = "import re; print(re.search(r'VmHWM:\\s+(\\d+)', open('/proc/self/status').read())[1])"


def main(size: str = "100MB") -> None:
    """Print all figures."""
    decoding(archive(size))
    starting()
    listing(archive("100MB", files=5000))
    memory(one_file("1GB"))


def decoding(root: Path) -> None:
    """Print how fast lines become envelopes, records and plain objects."""
    files = sorted(root.rglob("*.jsonl"))
    total = sum(path.stat().st_size for path in files) / MB
    count = sum(1 for path in files for _ in iter_lines(path))
    row(f"{total:.0f} MB, {count} lines, {len(files)} files", "MB per CPU s", "x orjson", "x json")
    ways: dict[str, Callable[[bytes], object]] = {
        "split into lines only": len,
        "plait envelope": decode_envelope,
        "orjson.loads": orjson.loads,
        "json.loads": json.loads,
    }

    def over(way: Callable[[bytes], object]) -> Callable[[], None]:
        def work() -> None:
            for path in files:
                for line in iter_lines(path):
                    way(line.data)

        return work

    def records() -> None:
        for path in files:
            for _ in read(path):
                pass

    speeds = {name: total / best_of(3, over(way)) for name, way in ways.items()}
    speeds["plait.read (typed records)"] = total / best_of(3, records)
    print_speeds(speeds)
    row("decoding alone, 50 MB of lines in memory")
    print_speeds(decoding_alone(files, ways))


def decoding_alone(files: list[Path], ways: dict[str, Callable[[bytes], object]]) -> Speeds:
    """Return how fast lines are decoded that have been read before."""
    held: list[bytes] = []
    size = 0
    for path in files:
        for line in iter_lines(path):
            held.append(line.data)
            size += len(line.data)
        if size > 50 * MB:
            break

    def over(way: Callable[[bytes], object]) -> Callable[[], None]:
        def work() -> None:
            for data in held:
                way(data)

        return work

    names = [name for name in ways if ways[name] is not len]
    return {name: size / MB / best_of(5, over(ways[name])) for name in names}


def print_speeds(speeds: Speeds) -> None:
    """Print speeds beside those of the plain decoders in the same run."""
    for name, speed in speeds.items():
        against = (f"{speed / speeds[other]:.2f}" for other in ("orjson.loads", "json.loads"))
        row(name, f"{speed:.0f}", *against)


def starting() -> None:
    """Print what it costs to start the command."""
    row("")
    row("starting", "CPU ms")
    bare = min(program(sys.executable, "-c", "pass").cpu for _ in range(5))
    row("python -c pass", f"{bare * 1000:.0f}")
    for arguments in (["--help"], ["ls", "--help"], ["--version"]):
        best = min(plait(*arguments).cpu for _ in range(5))
        row("plait " + " ".join(arguments), f"{best * 1000:.0f}")


def listing(root: Path) -> None:
    """Print what it costs to list many files."""
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


def memory(path: Path) -> None:
    """Print the peak memory of reading one large file, above the interpreter's."""
    row("")
    row(f"one file of {path.stat().st_size / MB:.0f} MB", "CPU s", "peak MB", "above bare")
    bare = 0.0
    for name, code in (
        ("bare interpreter", "pass"),
        ("import plait.read", "import plait; plait.read"),
        ("plait.read, all records", f"import plait\nfor record in plait.read({str(path)!r}): pass"),
    ):
        run = python(f"{code}\n{TELL_PEAK}")
        peak = int(run.output) / 1000
        bare = bare or peak
        row(name, f"{run.cpu:.2f}", f"{peak:.0f}", f"{peak - bare:.0f}")


if __name__ == "__main__":
    main(*sys.argv[1:])
