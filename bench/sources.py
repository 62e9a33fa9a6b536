"""Reading the logs of other agents: MB per CPU-second of each source, translated and indexed.

python -m bench.sources [FOLDER]       a folder with a folder of logs for each agent

The logs are copied under other ids until they are 20 MB, as in an archive that has grown. On Codex's,
the peer that indexes them too does the same.
"""

import re
import shutil
import sys
import tempfile
from functools import partial
from pathlib import Path
from uuid import UUID, uuid5

from bench.index import AGENTSVIEW, agentsview
from bench.measure import SHARED, best_of, plait, program, row
from bench.peers import nobodys
from plait.sources.cache import TranslationCache, find_sources

MB = 1_000_000
ENOUGH = 20 * MB
ID = re.compile(rb"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
TIME = re.compile(rb"\.\d{3}Z")


def main(folder: str = "") -> None:
    """Print the figures of each agent that has logs there."""
    widths = (30, 8, 8, 16, 16)
    row("logs of", "files", "MB", "MB/CPU s, read", "and indexed", widths=widths)
    for logs in sorted(Path(folder or SHARED / "agents").iterdir()):
        if not [*logs.rglob("*.jsonl")]:
            continue
        with tempfile.TemporaryDirectory() as place:
            paths = multiply(logs, Path(place, ".codex/sessions/2026/10/01"))
            root = Path(place, ".codex")
            total = sum(path.stat().st_size for path in paths) / MB
            seconds = best_of(2, partial(translate, paths))
            if not seconds or not find_sources(paths, TranslationCache(Path(place, "c"))).sessions:
                continue  # OpenCode's recordings are parts of messages, not its database
            figures = [f"{total:.1f}", f"{total / seconds:.0f}"]
            indexed = min(index(root, Path(place)) for _ in range(2))
            row(logs.name, len(paths), *figures, f"{total / indexed:.1f}", widths=widths)
            peer = agentsview() if logs.name == "codex" else None
            if peer is not None:
                took = min(sync(peer, root, Path(place)) for _ in range(2))
                name = f"  agentsview {AGENTSVIEW}"
                row(name, len(paths), f"{total:.1f}", "", f"{total / took:.1f}", widths=widths)


def multiply(logs: Path, folder: Path) -> list[Path]:
    """Copy logs, each time with other ids and times, until there is enough of them."""
    originals = [(path, path.read_bytes()) for path in sorted(logs.rglob("*.jsonl"))]
    folder.mkdir(parents=True)
    made: list[Path] = []
    size = copy = 0
    while size < ENOUGH:
        for number, (_path, data) in enumerate(originals):
            text = ID.sub(partial(_rename, copy), TIME.sub(b".%03dZ" % (copy % 1000), data))
            found = ID.search(text)
            name = found[0].decode() if found else str(uuid5(UUID(int=copy), str(number)))
            path = folder / f"rollout-2026-10-01T10-00-00-{name}.jsonl"
            if path.exists():
                path = folder / f"rollout-2026-10-01T10-00-{number:02}-{name}.jsonl"
            path.write_bytes(text)
            made.append(path)
            size += len(text)
        copy += 1
    return made


def _rename(copy: int, match: re.Match[bytes]) -> bytes:
    return str(uuid5(UUID(int=copy), match[0].decode())).encode()


def translate(paths: list[Path]) -> None:
    """Translate logs into a new cache."""
    with tempfile.TemporaryDirectory() as cache:
        translations = TranslationCache(Path(cache))
        for session in find_sources(paths, translations).sessions:
            for file, _ in session.files:
                translations.fetch(file.path)


def index(root: Path, place: Path) -> float:
    """Return the CPU seconds of a first search, which translates and indexes everything."""
    home = place / "own"
    shutil.rmtree(home, ignore_errors=True)
    names = ("XDG_CACHE_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME")
    env = {name: str(home / name) for name in names}
    return plait("search", "--root", root, "hello", **env).cpu


def sync(peer: Path, root: Path, place: Path) -> float:
    """Return the CPU seconds that the peer takes for the same files, from nothing."""
    home = place / "home"
    shutil.rmtree(home, ignore_errors=True)
    own = {"AGENTSVIEW_NO_DAEMON": "1", "CODEX_SESSIONS_DIR": str(root / "sessions")}
    env = nobodys(place / "nothing", home) | own
    return program("taskset", "-c", "0", peer, "sync", **env).cpu


if __name__ == "__main__":
    main(*sys.argv[1:])
