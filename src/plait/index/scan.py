"""Roots to the stamps of all their files, quickly: by what the system says, nothing is opened.

The files that `plait.line.discover` finds, with what lies beside them and changes what is
shown: titles, the notes on agents, outputs too large for the log.
"""

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from stat import S_ISREG
from typing import NamedTuple

from plait.line.discover import SUFFIX

TITLE = "custom-title.json"
META = ".meta.json"
OUTPUTS = "tool-results"


class Stamp(NamedTuple):
    """What the system says of a file."""

    size: int
    changed: int
    """In nanoseconds. Whoever sets the time of a file back is found out by when that was done."""
    inode: int


def stamps(places: Iterable[Path]) -> dict[str, Stamp]:
    """Returns the stamp of every log and side file at or below some places, by path."""
    return {
        path: Stamp(status.st_size, max(status.st_mtime_ns, status.st_ctime_ns), status.st_ino)
        for place in places
        for path, status in files_at(os.fspath(place))
    }


def files_at(place: str) -> Iterator[tuple[str, os.stat_result]]:
    """Yields the files that count, with what the system says of them."""
    if os.path.isfile(place):  # noqa: PTH113  text, as all paths here
        yield place, os.stat(place)  # noqa: PTH116
        return
    waiting, seen = [place], set[str]()
    while waiting:
        folder = waiting.pop()
        real = os.path.realpath(folder)
        if real in seen:
            continue
        seen.add(real)
        is_outputs = folder.endswith(OUTPUTS)
        for entry in entries_of(folder):
            status = status_of(entry)
            if status is None:
                waiting.append(entry.path)
            elif S_ISREG(status.st_mode) and (is_outputs or counts(entry.name)):
                yield entry.path, status


def entries_of(folder: str) -> list[os.DirEntry[str]]:
    """Returns what a folder holds, nothing where it cannot be read."""
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except OSError:
        return []


EMPTY = os.stat_result((0,) * 10)


def status_of(entry: os.DirEntry[str]) -> os.stat_result | None:
    """Returns what the system says of a file, None for a folder."""
    try:
        if entry.is_dir():
            return None
        if entry.is_symlink() or counts(entry.name) or OUTPUTS in entry.path:
            return entry.stat()
    except OSError:
        pass
    return EMPTY


def counts(name: str) -> bool:
    """Tells a file that the index depends on."""
    return name.endswith((SUFFIX, META)) or name == TITLE
