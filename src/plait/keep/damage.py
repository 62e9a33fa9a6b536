"""Blocks that were found damaged to a list in the store, so that the next run stores them again."""

from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from plait.line.atomic import replace_file

DAMAGED = "damaged.txt"


def damaged_blocks(folder: Path) -> frozenset[str]:
    """Returns the blocks that were found damaged."""
    try:
        return frozenset((folder / DAMAGED).read_text("ascii", "replace").split())
    except OSError:
        return frozenset()


def mark_damaged(folder: Path, names: Iterable[str]) -> None:
    """Says which blocks are damaged, where the store can be written to."""
    path, found = folder / DAMAGED, sorted(names)
    with suppress(OSError):
        if found:
            replace_file(path, "".join(f"{name}\n" for name in found).encode())
        else:
            path.unlink(missing_ok=True)
