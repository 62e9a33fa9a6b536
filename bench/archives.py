"""Generated archives of a given size, made once and cached."""

from pathlib import Path

from bench.generate import generate
from bench.measure import CACHE

UNITS = {"KB": 1_000, "MB": 1_000_000, "GB": 1_000_000_000}


def archive(size: str, *, files: int | None = None, seed: int = 1) -> Path:
    """Return the folder of a generated archive, such as `100MB`."""
    folder = CACHE / f"{size}-{files or 'mixed'}-{seed}"
    if not (folder / ".whole").exists():
        folder.mkdir(parents=True, exist_ok=True)
        generate(folder, in_bytes(size), seed, files=files)
        (folder / ".whole").touch()
    return folder


def one_file(size: str) -> Path:
    """Return one log of that size: the files of an archive, one behind the other."""
    path = CACHE / f"{size}.jsonl"
    if not path.exists():
        with path.open("wb") as out:
            for part in sorted(archive(size).rglob("*.jsonl")):
                out.write(part.read_bytes())
    return path


def in_bytes(size: str) -> int:
    """Return the number of bytes that a size means."""
    number, unit = size[:-2], size[-2:]
    return int(float(number) * UNITS[unit])
