"""Generated logs to transcripts, beside what another program makes of the same logs.

    python -m bench.export            10 MB and 100 MB
    python -m bench.export 10MB

Every program runs in a process of its own, one after the other, on the same files.
"""

import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.archives import archive, in_bytes
from bench.measure import CACHE, Run, plait, program, row
from bench.peers import PEERS

PEER = "claude-code-log==1.7.0"
SIZES = ("10MB", "100MB")
WIDTHS = (34, 12, 12, 12, 12, 12)


def main(sizes: tuple[str, ...] = SIZES) -> None:
    """Prints what each program takes for each size, and how many times less ours does."""
    for size in sizes:
        compare(size, archive(size), installed())


def compare(size: str, logs: Path, peer: Path) -> None:
    """Prints what each program takes for Markdown."""
    print(f"\nMarkdown of {size} of logs")
    row("", "CPU s", "wall s", "MB/CPU s", "peak MB", "written MB", widths=WIDTHS)
    ours = told("plait export", size, lambda out: transcripts(logs, out, "--no-redact"))
    safe = told("plait export, redacted", size, lambda out: transcripts(logs, out))
    theirs = told(PEER, size, lambda out: peers_transcripts(peer, logs, out))
    print(f"CPU: {theirs / ours:.1f} times less, redacted {theirs / safe:.1f} times less")


def told(name: str, size: str, work: Callable[[Path], Run]) -> float:
    """Runs a program, prints its figures and returns its CPU seconds."""
    with folder() as out:
        run = work(out)
        written = sum(path.stat().st_size for path in out.rglob("*") if path.is_file())
    rate = in_bytes(size) / run.cpu / 1e6
    figures = [run.cpu, run.wall, rate, run.peak / 1e6, written / 1e6]
    row(name, *(f"{figure:.2f}" for figure in figures), widths=WIDTHS)
    return run.cpu


@contextmanager
def folder() -> Iterator[Path]:
    """Gives a folder that is gone afterwards."""
    with TemporaryDirectory() as name:
        yield Path(name)


def transcripts(logs: Path, out: Path, *options: str) -> Run:
    """Runs ours."""
    cache = {"PLAIT_CACHE_DIR": str(CACHE / "plait")}
    return plait("export", "--all", "--root", logs, "-o", out / "made", *options, **cache)


def peers_transcripts(peer: Path, logs: Path, out: Path) -> Run:
    """Runs theirs for the first time: it keeps notes beside the logs, so it gets a copy."""
    copy = shutil.copytree(logs / "projects", out / "projects")
    made = program(
        peer, copy, "--all-projects", "--format", "md", "-o", out / "made", HOME=str(out)
    )
    shutil.rmtree(copy)
    return made


def installed() -> Path:
    """Returns the other program, in an environment of its own."""
    place = PEERS / PEER.partition("==")[0]
    command = place / "bin" / "claude-code-log"
    if not command.exists():
        uv = shutil.which("uv") or str(Path(sys.executable).parent / "uv")
        subprocess.run([uv, "venv", "--allow-existing", place], check=True)
        python = place / "bin" / "python"
        subprocess.run([uv, "pip", "install", "--python", python, PEER], check=True)
    return command


if __name__ == "__main__":
    main(tuple(sys.argv[1:]) or SIZES)
