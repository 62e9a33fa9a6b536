"""Files of an export to a folder: private, each whole or not there, nothing else touched."""

import os
from collections.abc import Iterable
from pathlib import Path, PurePosixPath
from typing import Any

import msgspec

from plait.archive.export.plan import EXPORT_FORMAT, MANIFEST, File
from plait.errors import SourceError, UserError

OWNER_FILE, OWNER_FOLDER = 0o600, 0o700


def prepare(folder: Path, *, is_forced: bool) -> None:
    """Refuses a folder that holds anything but an earlier export, and makes it where it is not."""
    if folder.exists() and not folder.is_dir():
        raise UserError(f"'{folder}' is a file", "`-o` names a folder, or `-` for stdout")
    if folder.is_dir() and any(folder.iterdir()) and not is_forced and earlier(folder) is None:
        raise UserError(
            f"'{folder}' is not empty and no earlier export",
            "name another folder, or add `--force` to write into it",
        )
    make(folder)


def write(folder: Path, files: Iterable[File]) -> dict[str, int]:
    """Writes files one by one and returns their sizes; what an earlier export left over goes."""
    before = earlier(folder) or {}
    sizes: dict[str, int] = {}
    for name, data in files:
        write_file(folder / name, data)
        sizes[name] = len(data)
    for name in before.get("files") or ():
        if isinstance(name, str) and name not in sizes and is_inside(name):
            (folder / name).unlink(missing_ok=True)
    return sizes


def earlier(folder: Path) -> dict[str, Any] | None:
    """Returns the manifest of an earlier export, None where there is none."""
    try:
        found = msgspec.json.decode((folder / MANIFEST).read_bytes())
    except (OSError, ValueError):
        return None
    is_ours = isinstance(found, dict) and found.get("format") == EXPORT_FORMAT
    return found if is_ours else None


def is_inside(name: str) -> bool:
    """Tells whether a name of a manifest leads to a file within its folder."""
    path = PurePosixPath(name)
    return not path.is_absolute() and ".." not in path.parts and "\\" not in name


def make(folder: Path) -> None:
    """Makes a folder that its owner alone can open."""
    try:
        folder.mkdir(mode=OWNER_FOLDER, parents=True, exist_ok=True)
    except OSError as error:
        raise unwritable(folder, error) from error


def write_file(path: Path, data: bytes) -> None:
    """Writes a file under another name first, so that it is whole once it is there."""
    fresh = path.with_name(f".{path.name}.new")
    try:
        if not path.parent.is_dir():
            make(path.parent)
        fresh.unlink(missing_ok=True)
        handle = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, OWNER_FILE)
        with os.fdopen(handle, "wb") as out:
            out.write(data)
        fresh.replace(path)
    except OSError as error:
        fresh.unlink(missing_ok=True)
        raise unwritable(path, error) from error


def unwritable(path: Path, error: OSError) -> SourceError:
    """Returns the error of a file that cannot be written."""
    return SourceError(f"cannot write '{path}': {(error.strerror or str(error)).lower()}")
