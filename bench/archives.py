"""A size to a generated archive of that size, made once and kept."""

from pathlib import Path

from bench.generate import generate
from bench.measure import CACHE

UNITS = {"KB": 1_000, "MB": 1_000_000, "GB": 1_000_000_000}


def archive(size: str, *, files: int | None = None, seed: int = 1) -> Path:
    """Returns the folder of a generated archive, such as `100MB`."""
    folder = CACHE / f"{size}-{files or 'mixed'}-{seed}"
    if not (folder / ".whole").exists():
        folder.mkdir(parents=True, exist_ok=True)
        generate(folder, in_bytes(size), seed, files=files)
        (folder / ".whole").touch()
    return folder


def in_bytes(size: str) -> int:
    """Returns the number of bytes that a size means."""
    number, unit = size[:-2], size[-2:]
    return int(float(number) * UNITS[unit])
