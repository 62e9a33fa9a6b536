"""Measure CPU seconds and peak memory, in this process or in another."""

import os
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[1]
SHARED = Path(os.environ.get("PLAIT_SHARED", PROJECT.parent / "shared")).resolve()
CACHE = PROJECT / ".cache" / "bench"


@dataclass(frozen=True, slots=True)
class Run:
    """What one run of a program took."""

    cpu: float
    wall: float
    peak: int
    """Resident memory at its highest, in bytes."""
    output: str


def cpu_seconds(work: Callable[[], object]) -> float:
    """Return the CPU seconds that a piece of work takes in this process."""
    started = time.process_time()
    work()
    return time.process_time() - started


def best_of(count: int, work: Callable[[], object]) -> float:
    """Return the least CPU seconds of several runs: noise only ever adds."""
    return min(cpu_seconds(work) for _ in range(count))


def program(*arguments: object, **environment: str) -> Run:
    """Run a program and return what it took."""
    started = time.perf_counter()
    process = subprocess.Popen(
        [str(argument) for argument in arguments],
        stdout=subprocess.PIPE,
        env=os.environ | environment,
    )
    assert process.stdout is not None
    output = process.stdout.read().decode()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{arguments} ended with {process.returncode}")
    return Run(
        usage.ru_utime + usage.ru_stime,
        time.perf_counter() - started,
        usage.ru_maxrss * 1024,
        output,
    )


def plait(*arguments: object, **environment: str) -> Run:
    """Run the `plait` command."""
    return program(sys.executable, "-m", "plait", *arguments, **environment)


def python(code: str) -> Run:
    """Run a piece of Python in a process of its own."""
    return program(sys.executable, "-c", code)


def row(*cells: object, widths: tuple[int, ...] = (46, 14, 14, 14)) -> None:
    """Print one row of figures."""
    parts = [
        f"{cell!s:<{width}}" if place == 0 else f"{cell!s:>{width}}"
        for place, (cell, width) in enumerate(zip(cells, widths, strict=False))
    ]
    print(" ".join(parts), flush=True)
