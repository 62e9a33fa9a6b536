"""A message that the client has told to the moment when its log has it."""

import asyncio
from pathlib import Path

TRIES, BREATH = 60, 0.05
"""How often the log is looked at for what was told, and the seconds between."""
TAIL = 1 << 20
"""Bytes of the log that are looked at."""


async def is_logged(path: Path, uuid: str) -> bool:
    """Waits until a log says what was told: the client writes it a moment later."""
    mark = f'"{uuid}"'.encode()
    for _ in range(TRIES if uuid else 0):
        if mark in _tail(path):
            return True
        await asyncio.sleep(BREATH)
    return False


def _tail(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - TAIL))
            return file.read()
    except OSError:
        return b""
