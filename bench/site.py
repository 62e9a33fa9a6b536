"""Exporting a site, compared with another program; and a long session in a browser.

    python -m bench.site            10 MB, 100 MB, then a session of 20,000 entries
    python -m bench.site 10MB       one size; `browser` the session alone

CPU and wall are of one run each, in the same minute, on the same files. The peer is asked for
what Plait makes: an index and a page for each session.
"""

import shutil
import subprocess
import sys
from pathlib import Path

from bench.archives import archive
from bench.browser import watch
from bench.drawn import Make, compare
from bench.generate import generate
from bench.measure import CACHE, Run, plait, program, row
from bench.peers import PEERS, nobodys

PEER = "claude-code-log"
VERSION = "1.7.0"
MB = 1_000_000
LONG = 75 * MB


def main(*chosen: str) -> None:
    """Print what a site costs, and how a long one reads."""
    sizes = [size for size in chosen if size != "browser"] or (
        ["10MB", "100MB"] if not chosen else []
    )
    for size in sizes:
        pages_of(size)
    if not chosen or "browser" in chosen:
        read_long()


def pages_of(size: str) -> None:
    """Print what both take for the same logs."""
    root = archive(size)
    options = ("--format", "html", "--no-redact")
    compare(f"pages of {size}", root, options, f"{PEER} {VERSION}", peers_site(root))


def site(root: Path, folder: Path) -> Run:
    """Make a site with Plait."""
    asked = ("--all", "--format", "html", "--no-redact", "-o", folder)
    return plait("export", "--root", root, *asked, PLAIT_STATE_DIR=str(CACHE / "state"))


def peers_site(root: Path) -> Make | None:
    """Return what makes a site with the peer, None where it cannot be installed."""
    command = install_peer()
    if command is None:
        return None
    kept = CACHE / "peer.db"
    env = {**nobodys(root, CACHE / "nobody"), "CLAUDE_CODE_LOG_CACHE_PATH": str(kept)}

    def make(folder: Path, before: tuple[str, ...]) -> Run:
        kept.unlink(missing_ok=True)  # it makes the pages of sessions from what it keeps there
        asked = ("--all-projects", "--combined", "no", "-o", folder)
        return program(*before, command, root / "projects", *asked, **env)

    return make


def install_peer() -> Path | None:
    """Return the peer in an environment of its own, made once."""
    folder = PEERS / PEER
    command = folder / "bin" / PEER
    if not command.exists():
        uv = shutil.which("uv", path=str(Path(sys.executable).parent)) or shutil.which("uv")
        if uv is None:
            return None
        subprocess.run([uv, "venv", "--quiet", str(folder)], check=True)
        wanted = [uv, "pip", "install", "--quiet", "--python", str(folder / "bin" / "python")]
        subprocess.run([*wanted, f"{PEER}=={VERSION}"], check=True)
    return command


def read_long() -> None:
    """Print how a session of about 20,000 entries reads in a browser."""
    root, out = CACHE / "one-long-session", CACHE / "site"
    if not (root / ".whole").exists():
        generate(root, LONG, seed=1, files=1)
        (root / ".whole").touch()
    shutil.rmtree(out, ignore_errors=True)
    site(root, out)
    sizes = [path.stat().st_size for path in out.rglob("*") if path.is_file()]
    size, files = sum(sizes), len(sizes)
    page = max((out / "sessions").glob("*.html"), key=lambda item: item.stat().st_size)
    lines = sum(path.read_bytes().count(b"\n") for path in root.rglob("*.jsonl"))
    print(f"one session of {lines:,} lines: {size / MB:.1f} MB in {files} files")
    print(f"its page {page.stat().st_size / MB:.2f} MB", flush=True)
    seen = watch(page)
    if seen is None:
        print("no Chromium here: the browser's figures are left out")
        return
    for name, value in seen.items():
        row(name, value, widths=(52, 14))


if __name__ == "__main__":
    main(*sys.argv[1:])
