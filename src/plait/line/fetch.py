"""A file that is not where it is looked for to the file itself, brought there by who has it.

Kept sessions have a place of their own, which is empty until one of their files is opened. Who
opens a file that is there pays nothing for this.
"""

from collections.abc import Callable
from io import BufferedReader, FileIO
from os import stat_result
from pathlib import Path
from typing import TypeAlias, TypeVar

T = TypeVar("T")
Fetch: TypeAlias = Callable[[Path], bool]
"""Brings a file to its path, and tells whether it did."""

Begin: TypeAlias = tuple[str, tuple[str, ...]]
"""The name of a function, and what it is given, by which another process makes the same offer."""

_sources: dict[Path, Fetch] = {}
_offers: dict[Path, Begin] = {}


def offer(folder: Path, fetch: Fetch, begin: Begin | None = None) -> None:
    """Lets somebody bring what is looked for in a folder and not there; the last who asks does."""
    _sources[folder.absolute()] = fetch
    if begin is not None:
        _offers[folder.absolute()] = begin


def offers() -> tuple[Begin, ...]:
    """Returns how a process that knows nothing of them makes the same offers."""
    return tuple(_offers.values())


def is_fetched(path: Path) -> bool:
    """Tells whether a file that was not there has been brought."""
    if not _sources:
        return False
    whole = path.absolute()
    return any(fetch(whole) for folder, fetch in _sources.items() if folder in whole.parents)


def opened(path: Path) -> FileIO:
    """Opens a file to read it without a buffer; it is brought first where it must be."""
    return with_fetched(path, _opened)


def opened_buffered(path: Path) -> BufferedReader:
    """Opens a file to read it; it is brought first where it must be."""
    return with_fetched(path, _opened_buffered)


def status_of(path: Path) -> stat_result:
    """Returns what the system says of a file; it is brought first where it must be."""
    return with_fetched(path, Path.stat)


def with_fetched(path: Path, look: Callable[[Path], T]) -> T:
    """Returns what a look at a file gives, a second one where the file had to be brought."""
    try:
        return look(path)
    except FileNotFoundError:
        if not is_fetched(path):
            raise
    return look(path)


def _opened(path: Path) -> FileIO:
    return path.open("rb", buffering=0)


def _opened_buffered(path: Path) -> BufferedReader:
    return path.open("rb")
