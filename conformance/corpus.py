"""Pick a deterministic sample of sessions from real logs, covering versions and sizes."""

import re
from collections import defaultdict
from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path

VERSION = re.compile(rb'"version":"(\d+\.\d+)\.(\d+)')
HEAD = 200_000
LARGEST = 40_000_000


def sample(folder: Path, count: int) -> list[Path]:
    """Return so many session files, taken in turn from each range of versions."""
    ranges: dict[str, list[Path]] = defaultdict(list)
    for file in sorted(sessions(folder)):
        ranges[version_range(file)].append(file)
    spread = [by_size(files) for _, files in sorted(ranges.items())]
    in_turn = [file for turn in zip_longest(*spread) for file in turn if file]
    return in_turn[:count]


def sessions(folder: Path) -> Iterator[Path]:
    """Yield the files of sessions, not those of agents."""
    for file in folder.rglob("*.jsonl"):
        is_agent = file.name.startswith("agent-") or "subagents" in file.parts
        is_other = file.name in ("history.jsonl", "journal.jsonl")
        if not is_agent and not is_other and 0 < file.stat().st_size < LARGEST:
            yield file


def version_range(file: Path) -> str:
    """Return the version that wrote a file, patches by fifties."""
    with file.open("rb") as opened:
        found = VERSION.search(opened.read(HEAD))
    if found is None:
        return "unknown"
    return f"{found[1].decode()}.{int(found[2]) // 50 * 50:03d}+"


def by_size(files: list[Path]) -> list[Path]:
    """Return files so that any first few are of mixed sizes: largest, smallest, and so on."""
    sizes = sorted(files, key=lambda file: file.stat().st_size)
    mixed: list[Path] = []
    while sizes:
        mixed.append(sizes.pop())
        mixed.extend([sizes.pop(0)] if sizes else [])
        mixed.extend([sizes.pop(len(sizes) // 2)] if sizes else [])
    return mixed
