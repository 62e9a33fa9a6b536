"""Cloning one large session: MB per CPU-second and peak memory, beside `cp` and `sed`.

python -m bench.edit [SIZE]

`sed` does the one substitution of the session's id, and nothing of the rest: every uuid stays as
it is, no line says where it comes from, nothing is planned, checked or kept for an undo.
"""

import re
import shutil
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

from bench.archives import archive
from bench.measure import CACHE, Run, program, row

MB = 1_000_000
TIMES = 3
SESSION = "5e551011-0000-4000-8000-000000000001"
OTHER = "5e551011-0000-4000-8000-000000000002"
NAMED = re.compile(rb'"sessionId":"[^"]+"')
CLONE = """
import sys
from plait import Archive
plan = Archive([sys.argv[1]]).plan.clone(sys.argv[2])
"""
WAYS = {
    "plait: the plan": CLONE,
    "plait: plan and check": CLONE + "plan.check()",
    "plait: plan and apply": CLONE + "plan.apply()",
}


def main(size: str = "500MB") -> None:
    """Print all figures, each of the best of some runs."""
    file = one_session(size)
    total = file.stat().st_size / MB
    row(f"one session of {total:.0f} MB", "MB per CPU s", "CPU s", "peak MB")
    copy = file.with_name("copy")
    by_sed = f"sed s/{SESSION}/{OTHER}/g '{file}' > '{copy}'"
    print_run("cp", total, best(file, partial(program, "cp", file, copy)))
    print_run("sed", total, best(file, partial(program, "sh", "-c", by_sed)))
    print_run("import plait.Archive", total, python_run("from plait import Archive"))
    home = file.parents[2]
    for name, code in WAYS.items():
        print_run(name, total, best(file, partial(python_run, code, home, SESSION)))


def one_session(size: str) -> Path:
    """Return the log of one session of that size, alone in a configuration folder."""
    file = CACHE / f"session-{size}" / "projects" / "-home-dev-demo" / f"{SESSION}.jsonl"
    if not file.exists():
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("wb") as out:
            for part in sorted(archive(size).rglob("*.jsonl")):
                out.write(NAMED.sub(b'"sessionId":"%s"' % SESSION.encode(), part.read_bytes()))
    return file


def python_run(code: str, *arguments: object) -> Run:
    """Run a piece of Python in a process of its own."""
    return program(sys.executable, "-c", code, *arguments)


def best(file: Path, work: Callable[[], Run]) -> Run:
    """Return the run that took the least CPU; what each leaves is taken away."""
    runs: list[Run] = []
    for _ in range(TIMES):
        runs.append(work())
        for left in file.parent.iterdir():
            if left != file:
                left.unlink()
        shutil.rmtree(file.parents[2] / ".plait", ignore_errors=True)
    return min(runs, key=lambda run: run.cpu)


def print_run(name: str, total: float, run: Run) -> None:
    """Print what a run took."""
    row(name, f"{total / run.cpu:.0f}", f"{run.cpu:.2f}", f"{run.peak / MB:.0f}")


if __name__ == "__main__":
    main(*sys.argv[1:])
