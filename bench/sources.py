"""Reading the logs of other agents: MB per CPU-second of each source, translated and indexed.

python -m bench.sources [FOLDER]       a folder with a folder of logs for each agent
"""

import os
import sys
import tempfile
from functools import partial
from pathlib import Path

from bench.measure import best_of, row
from plait import Archive
from plait.sources.cache import TranslationCache, find_sources

MB = 1_000_000


def main(folder: str = "") -> None:
    """Print the figures of each agent that has logs there."""
    shared = os.environ.get("PLAIT_SHARED", "")
    row("logs of", "MB", "MB per CPU s, translated", "and indexed")
    for logs in sorted(Path(folder or Path(shared, "agents")).iterdir()):
        paths = sorted(path for path in logs.rglob("*.jsonl") if path.is_file())
        if not paths:
            continue
        total = sum(path.stat().st_size for path in paths) / MB
        seconds = best_of(3, partial(translate, paths))
        indexed = best_of(3, partial(index, logs))
        row(logs.name, f"{total:.2f}", f"{total / seconds:.0f}", f"{total / indexed:.1f}")


def translate(paths: list[Path]) -> None:
    """Translate logs into a new cache."""
    with tempfile.TemporaryDirectory() as cache:
        translations = TranslationCache(Path(cache))
        for session in find_sources(paths, translations).sessions:
            for file, _ in session.files:
                translations.fetch(file.path)


def index(logs: Path) -> None:
    """Translate and indexes logs, from nothing."""
    with tempfile.TemporaryDirectory() as own:
        archive = Archive([logs], translations=Path(own, "cache"), index=Path(own, "index"))
        archive.search("hello")


if __name__ == "__main__":
    main(*sys.argv[1:])
