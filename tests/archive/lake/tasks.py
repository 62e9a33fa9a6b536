"""What engines are given to do in tests."""

import os
from dataclasses import dataclass
from pathlib import Path

from plait.errors import SourceError


@dataclass(frozen=True)
class Number:
    """An item that says what is to become of it."""

    number: int
    size: int = 1
    mark: Path | None = None


def doubled(item: Number) -> int:
    """Return twice a number."""
    return 2 * item.number


def place(item: Number) -> int:
    """Return which process did it."""
    return os.getpid()


def uneven(item: Number) -> int:
    """Return twice a number, of those that can be halved; the others each have a fault."""
    match item.number % 4:
        case 1:
            raise SourceError(f"cannot read '{item.number}'")
        case 3:
            raise FileNotFoundError(2, "No such file or directory")
        case _:
            return doubled(item)


def faulty(item: Number) -> int:
    """Has a fault of its own."""
    return 1 // (item.number - item.number)


def deadly(item: Number) -> int:
    """Dies at the third item, always."""
    if item.number == 2:
        os._exit(9)
    return doubled(item)


def dies_once(item: Number) -> int:
    """Dies at the third item, where there is no mark, and leaves one."""
    if item.number == 2 and item.mark and not item.mark.exists():
        item.mark.touch()
        os._exit(9)
    return doubled(item)
