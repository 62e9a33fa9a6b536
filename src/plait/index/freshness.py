"""File stamps: whether an index still matches the files it was built from.

Logs, titles, notes on agents, and outputs too large for the log count. This module imports little:
most runs find nothing to do.
"""

import os
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from hashlib import blake2b
from io import BufferedReader, BytesIO
from pathlib import Path
from stat import S_ISREG
from typing import NamedTuple

from plait.errors import SourceError
from plait.index.catalogue import CATALOGUE, Catalogue
from plait.index.model import FileMark
from plait.line.discovery import LOG_SUFFIX, make_root
from plait.line.files import open_buffered

TITLE = "custom-title.json"
META = ".meta.json"
OUTPUTS = "tool-results"


class FileStamp(NamedTuple):
    """The file system's metadata of a file."""

    size: int
    changed: int
    """In nanoseconds. Setting a file's time back is noticed by its change time."""
    inode: int


def scan_stamps(places: Iterable[Path]) -> dict[str, FileStamp]:
    """Return the stamp of every log and side file at or below some paths."""
    return {
        path: FileStamp(status.st_size, max(status.st_mtime_ns, status.st_ctime_ns), status.st_ino)
        for place in places
        for path, status in _iter_files_at(os.fspath(place))
    }


def _iter_files_at(place: str) -> Iterator[tuple[str, os.stat_result]]:
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
        for entry in _list_entries(folder):
            status = _read_status(entry)
            if status is None:
                waiting.append(entry.path)
            elif S_ISREG(status.st_mode) and (is_outputs or _is_indexed_name(entry.name)):
                yield entry.path, status


def _list_entries(folder: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except OSError:
        return []


EMPTY = os.stat_result((0,) * 10)


def _read_status(entry: os.DirEntry[str]) -> os.stat_result | None:
    try:
        if entry.is_dir():
            return None
        if entry.is_symlink() or _is_indexed_name(entry.name) or OUTPUTS in entry.path:
            return entry.stat()
    except OSError:
        pass
    return EMPTY


def is_indexed(path: str) -> bool:
    """Return whether a file counts, by its name and that of its folder."""
    folder, _, name = path.rpartition(os.sep)
    return folder.endswith(OUTPUTS) or _is_indexed_name(name)


def _is_indexed_name(name: str) -> bool:
    return name.endswith((LOG_SUFFIX, META)) or name == TITLE


HEAD = 512
TAIL = 512


def mark_file(
    path: str, stamp: FileStamp, kind: str, offset: int, data: bytes | None = None
) -> FileMark:
    """Return the marks of a file that was read up to an offset; its bytes may be given."""
    try:
        with BytesIO(data) if data is not None else open_buffered(Path(path)) as file:
            head, mark = _compute_digests(file, offset)
    except OSError:
        head = mark = b""
    return FileMark(path, *stamp, kind, offset, head, mark)


def has_grown(known: FileMark, now: FileStamp) -> bool:
    """Return whether a file was only appended to, not rewritten.

    A touched file of the same size may have changed anywhere; one with another inode was replaced.
    """
    if now.size <= known.size or now.inode != known.inode:
        return False
    try:
        with open_buffered(Path(known.path)) as file:
            return _compute_digests(file, known.offset) == (known.head, known.mark)
    except OSError:
        return False


def _compute_digests(file: BufferedReader | BytesIO, offset: int) -> tuple[bytes, bytes]:
    head = file.read(min(HEAD, offset))
    start = max(0, offset - TAIL)
    file.seek(start)
    return _digest(head), _digest(file.read(offset - start))


def _digest(data: bytes) -> bytes:
    return blake2b(data, digest_size=8).digest()


def is_fresh(folder: Path, now: Mapping[str, FileStamp]) -> bool:
    """Return whether an index is complete and every file unchanged."""
    return _load_stamps(folder, only_complete=True) == now


def is_fresh_for_roots(folder: Path, roots: Iterable[Path]) -> bool:
    """Return whether an index matches the files under some roots."""
    try:
        places = [make_root(path.absolute()).logs for path in roots]
    except SourceError:
        return False
    return is_fresh(folder, scan_stamps(places))


def load_stamps(folder: Path) -> dict[str, tuple[int, int, int]]:
    """Return the stamps of an index; empty if there is none."""
    return _load_stamps(folder, only_complete=False) or {}


def _load_stamps(folder: Path, *, only_complete: bool) -> dict[str, tuple[int, int, int]] | None:
    """Return the stamps of an index; None if it is missing, broken, or incomplete."""
    try:
        if not (folder / CATALOGUE).exists():
            return None
        catalogue = Catalogue(folder)
    except (OSError, SourceError):  # missing, not readable, or broken
        return None
    try:
        if only_complete and not (catalogue.is_current() and not catalogue.pending()):
            return None
        return catalogue.stamps()
    except sqlite3.Error:  # an incomplete catalogue
        return None
    finally:
        catalogue.close()
