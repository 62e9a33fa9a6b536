"""What workers are given to do in tests."""

import os
import time
from pathlib import Path

from plait.errors import NoSuchSession


def doubled(number: int) -> bytes:
    """Return twice a number, as text."""
    return str(2 * number).encode()


def place(number: int) -> bytes:
    """Return which process did it."""
    time.sleep(0.01)
    return str(os.getpid()).encode()


def slow(number: int) -> bytes:
    """Return twice a number, not at once."""
    time.sleep(0.005)
    return doubled(number)


def dies_once(item: tuple[int, str]) -> bytes:
    """Dies at the first item that finds no mark, and leaves one."""
    number, mark = item
    if number == 5 and not Path(mark).exists():
        Path(mark).touch()
        os._exit(9)
    return doubled(number)


def dies(number: int) -> bytes:
    """Dies at the sixth item, always."""
    if number == 5:
        os._exit(9)
    return doubled(number)


def refuses(number: int) -> bytes:
    """Say that there is no such session."""
    raise NoSuchSession(f"no session '{number}'", "`plait ls` lists them")


def fails(number: int) -> bytes:
    """Has a fault of its own."""
    raise ZeroDivisionError(f"item {number}")


def prints(number: int) -> bytes:
    """Say something where results go."""
    print("between the frames", flush=True)
    return doubled(number)


def waits(number: int) -> bytes:
    """Never ends."""
    while True:
        time.sleep(60)
