"""Small archives to back up, and the content of their store."""

import os
from pathlib import Path

from plait.line import make_root
from plait.store import KeptFile, Source, Store, find_sources

LINE = b'{"uuid":"%d","type":"user","text":"%s"}\n'
PROJECT = Path("projects/-home-me")


def lines(count: int, start: int = 0, length: int = 300) -> bytes:
    """Return so many lines, each another one."""
    return b"".join(LINE % (n, b"%d " % n * (length // 5)) for n in range(start, start + count))


def written(path: Path, data: bytes, mode: int = 0o600, modified: int = 1_700_000_000) -> Path:
    """Write a file with its mode and its time."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    path.chmod(mode)
    os.utime(path, (modified, modified))
    return path


def found(config: Path, backups: bool = False) -> tuple[Source, ...]:
    """Return the sessions of a configuration folder."""
    return find_sources([make_root(config)], backups=backups)


def contents(store: Store) -> dict[str, bytes]:
    """Return what every kept file holds, by its path."""
    return {file.path: store.read(file) for file in kept_files(store)}


def kept_files(store: Store) -> list[KeptFile]:
    """Return the newest state of every file."""
    return [file for session in store.sessions() for file in session.files]


def files_of(folder: Path) -> dict[str, bytes]:
    """Return what every file below a folder holds, by its path."""
    paths = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}
