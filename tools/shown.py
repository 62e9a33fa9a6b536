"""Refresh the command output shown in the docs and the gallery.

    python -m tools.shown          write what they print now into the pages

A page shows a command in a `console` block: a line `$ plait …`, then its output, in which
a line `…` stands for any lines. A folder of the gallery has a `command` and an `expected.txt`.
"""

import os
import re
import shlex
import time
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from tools.standby import printed

ROOT = Path(__file__).resolve().parents[1]
BLOCK = re.compile(r"```console\n(.*?)```", re.DOTALL)
ANY_LINES = "…"


def pages() -> list[Path]:
    """Return the documents that may show commands."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def folders() -> list[Path]:
    """Return the folders of examples that show a command."""
    return sorted(path.parent for path in (ROOT / "examples").glob("*/*/command"))


def shown_in(page: str) -> Iterator[tuple[str, str]]:
    """Yield the commands that a page shows, each with its output."""
    for block in BLOCK.findall(page):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, output = part.partition("\n")
            yield command, output.rstrip("\n")


HOUR = 3600
MINUTES = 600


@cache
def _age_examples() -> None:
    """Make logs that were checked out just now an hour older: else they would count as live."""
    for path in (ROOT / "examples").rglob("*.jsonl"):
        written = path.stat().st_mtime
        if time.time() - written < MINUTES:
            os.utime(path, (written - HOUR, written - HOUR))


def run_shown_command(command: str, folder: Path = ROOT) -> str:
    """Run a command as a newcomer would, without settings of anybody's own."""
    _age_examples()
    words = shlex.split(command)
    assert words[0] == "plait", command
    env = {
        "PATH": os.environ["PATH"],
        "PLAIT_CACHE_DIR": str(ROOT / ".cache" / "shown"),
        "HOME": str(ROOT / "nobody"),
        "TZ": "UTC",
    }
    output = printed(words[1:], folder, env)
    return "\n".join(line.rstrip() for line in output.rstrip("\n").split("\n"))


def agrees(expected: str, printed: str) -> bool:
    """Return whether an output is the one shown, where `…` stands for any lines."""
    # Stretches between the marks are looked for in order: an expression with several open ends
    # would take exponential time where a page and an output differ.
    lines, wanted = printed.split("\n"), expected.split("\n")
    stretches: list[list[str]] = [[]]
    for line in wanted:
        if line == ANY_LINES:
            stretches.append([])
        else:
            stretches[-1].append(line)
    first, last = stretches[0], stretches[-1]
    if len(stretches) == 1:
        return lines == first
    if lines[: len(first)] != first or (last and lines[-len(last) :] != last):
        return False
    at, end = len(first), len(lines) - len(last)
    for stretch in stretches[1:-1]:
        size = len(stretch)
        found = next((i for i in range(at + 1, end - size) if lines[i : i + size] == stretch), None)
        if found is None:
            return False
        at = found + size
    return at < end


def refresh_page(page: str) -> str:
    """Return a page with the outputs of today; one that is cut by `…` stays."""

    def block(match: re.Match[str]) -> str:
        parts = []
        for command, output in shown_in(match[0]):
            printed = output if f"\n{ANY_LINES}" in f"\n{output}" else run_shown_command(command)
            parts.append(f"$ {command}\n{printed}".rstrip("\n"))
        return "```console\n" + "\n\n".join(parts) + "\n```"

    return BLOCK.sub(block, page)


def main() -> None:
    """Write what the commands print now."""
    for page in pages():
        text = page.read_text(encoding="utf-8")
        if BLOCK.search(text):
            page.write_text(refresh_page(text), encoding="utf-8")
    for folder in folders():
        command = (folder / "command").read_text(encoding="utf-8").strip()
        (folder / "expected.txt").write_text(
            run_shown_command(command, folder) + "\n", encoding="utf-8"
        )


if __name__ == "__main__":
    main()
