"""Redaction: MB per CPU-second of the expression, of whole sessions, and of `detect-secrets`.

python -m bench.redact [SIZE]
"""

import subprocess
import sys
from collections.abc import Callable, Iterable
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.archives import archive
from bench.measure import CACHE, PROJECT, SHARED, best_of, cpu_seconds, program, row
from plait.line import iter_lines
from plait.record import Record, read
from plait.redact import Redactor, Rules
from plait.redact.expression import Engine, Expression
from plait.redact.model import GROUP_OF
from plait.redact.redactor import ROWS, Rows

MB = 1_000_000
PEER = PROJECT / ".cache" / "peers" / "detect-secrets"
VERSION = "detect-secrets==1.5.0"
SAMPLE = 2 * MB  # of the peer, which needs minutes for more


def main(size: str = "100MB") -> None:
    """Print all figures."""
    root = archive(size)
    sets = {"generated": sorted(root.rglob("*.jsonl"))}
    if SHARED.is_dir():
        sets["real"] = sorted((SHARED / "corpus").rglob("*.jsonl"))
    for name, files in sets.items():
        held = [line.data for path in files for line in iter_lines(path)]
        total = sum(map(len, held)) / MB
        row(f"{name} logs: {total:.0f} MB, {len(held)} lines", "MB per CPU s", "first run")
        expressions(held, total)
        sessions(files, total)
        peers(files)
        row("")


def expressions(held: list[bytes], total: float) -> None:
    """Print how fast lines in memory are searched."""
    secrets = tuple(
        tuple(family for family in row if GROUP_OF[family.kind] == "secrets") for row in ROWS
    )
    choices: tuple[tuple[str, Rows, Engine], ...] = (
        ("expression, secrets, re2", secrets, "re2"),
        ("expression, everything, re2", ROWS, "re2"),
    )
    for name, rows, engine in choices:
        expression = Expression(*rows, engine=engine)

        def work(expression: Expression = expression) -> None:
            for finder in expression.finders:
                for data in held:
                    for _ in finder.finditer(data):
                        pass

        first = cpu_seconds(work)
        row(name, f"{total / best_of(3, work):.0f}", f"{total / first:.0f}")
    few, size = sample(held, SAMPLE)
    slow = Expression(tuple(chain.from_iterable(secrets)), engine="re")
    took = cpu_seconds(lambda: [slow.finders[0].search(data) for data in few])
    row("expression, secrets, re (no re2 installed)", f"{size / took:.1f}")


def sample(held: list[bytes], most: int) -> tuple[list[bytes], float]:
    """Return lines spread over all, of a total size, and that size in MB."""
    share = max(1, sum(map(len, held)) // most)
    few = held[::share]
    return few, sum(map(len, few)) / MB


def sessions(files: list[Path], total: float) -> None:
    """Print how fast whole files become redacted records, reading included."""
    for name, rules in (
        ("sessions, secrets only", Rules().only(["secrets"])),
        ("sessions, everything", Rules()),
    ):

        def work(rules: Rules = rules) -> None:
            for path in files:
                count_redacted_bytes(Redactor(rules).records(read(path)))

        first = cpu_seconds(work)
        row(name, f"{total / best_of(2, work):.0f}", f"{total / first:.0f}")


def count_redacted_bytes(records: Iterable[Record]) -> int:
    """Return how many bytes a redacted file would have."""
    return sum(len(record.raw) + 1 for record in records)


def peers(files: list[Path]) -> None:
    """Print how fast `detect-secrets` scans some of the same files."""
    held = [line.data for path in files for line in iter_lines(path)]
    few, size = sample(held, SAMPLE)
    CACHE.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=CACHE) as folder:
        path = Path(folder) / "session.jsonl"
        path.write_bytes(b"\n".join(few) + b"\n")
        peer = program(install_peer(), "-C", folder, "scan", "--all-files", path)
        took = best_of(2, lambda: count_redacted_bytes(Redactor().records(read(path))))
    row(f"detect-secrets, {size:.1f} MB of them", f"{size / peer.cpu:.2f}")
    row("  plait on the same lines, everything", f"{size / took:.0f}")


def install_peer() -> Path:
    """Return the peer in an environment of its own, set up when it is not there."""
    tool = PEER / "bin" / "detect-secrets"
    if not tool.exists():
        run: Callable[..., object] = subprocess.check_call
        run([sys.executable, "-m", "venv", str(PEER)])
        run([str(PEER / "bin" / "pip"), "install", "-q", VERSION])
    return tool


if __name__ == "__main__":
    main(*sys.argv[1:])
