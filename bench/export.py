"""Transcripts of generated logs, compared with another program on the same logs.

    python -m bench.export            10 MB and 100 MB
    python -m bench.export 10MB

Every program runs in a process of its own, one after the other, on the same files: with one
core and with all, the first time and again when nothing has changed.
"""

import shutil
import subprocess
import sys
from pathlib import Path

from bench.archives import archive
from bench.drawn import Make, compare
from bench.measure import CACHE, Run, program
from bench.peers import PEERS

PEER = "claude-code-log==1.7.0"
SIZES = ("10MB", "100MB")


def main(sizes: tuple[str, ...] = SIZES) -> None:
    """Print what each program takes for each size, and how many times less ours does."""
    command = install_peer()
    for size in sizes:
        root = archive(size)
        for title, options in (("Markdown", ("--no-redact",)), ("Markdown, redacted", ())):
            compare(f"{title} of {size}", root, options, PEER, markdown(command, root))


def markdown(command: Path, root: Path) -> Make:
    """Return what runs theirs for the first time: it keeps notes beside the logs, so it gets a
    copy.
    """

    def make(folder: Path, before: tuple[str, ...]) -> Run:
        home = CACHE / "peer-logs"
        shutil.rmtree(home, ignore_errors=True)
        copy = shutil.copytree(root / "projects", home / "projects")
        asked = ("--all-projects", "--format", "md", "-o", folder)
        return program(*before, command, copy, *asked, HOME=str(home))

    return make


def install_peer() -> Path:
    """Return the other program, in an environment of its own."""
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
