"""Paths that a model names to files, opened so that no link leads out of the workspace.

A path is resolved once, when a call is proposed; what is allowed is that place. When the call
is done it is walked from the root, folder by folder, and no link is followed any more: whoever
puts one there in between gets an error.
"""

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from secrets import token_hex

from plait.agent.tools.model import ToolError, Workplace

PRIVATE = 0o600
NO_LINK = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
STEP = NO_LINK | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_PATH", os.O_RDONLY)
LOOK = NO_LINK | os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0)
DEVICES = ("/dev/", "/proc/", "/sys/")


def named(text: str, place: Workplace) -> Path:
    """Returns the absolute path that a text names, links not followed."""
    if "\0" in text:
        raise ToolError("A path cannot contain null bytes (\\0).", is_misuse=True)
    home = place.environment.get("HOME")
    if home and (text == "~" or text.startswith("~/")):
        text = home + text[1:]
    return Path(os.path.normpath(place.cwd / text))


def located(text: str, place: Workplace) -> Path:
    """Returns the path that a text names, all links followed."""
    path = place.cwd / named(text, place)
    try:
        return Path(os.path.realpath(path))
    except (OSError, ValueError) as error:
        raise ToolError(f"Cannot find {text}: {error}") from error


def refuse_outside(path: Path, text: str, place: Workplace) -> None:
    """Refuses to write a path that is not in the workspace, links followed."""
    if not place.holds(path):
        allowed = ", ".join(str(folder) for folder in (place.root, *place.others))
        shown = text if str(path) == text else f"{text} ({path})"
        raise ToolError(
            f"Refusing to write {shown}: it is outside the workspace. Files are written only in:"
            f" {allowed}.",
            is_misuse=True,
        )


def fault(error: OSError, verb: str, path: str | Path) -> ToolError:
    """Returns what went wrong with a file, as the client words it."""
    code = errno.errorcode.get(error.errno or 0, "EIO")
    words = {
        "EACCES": "permission denied",
        "EISDIR": "illegal operation on a directory",
        "ELOOP": "too many symbolic links encountered",
        "ENAMETOOLONG": "name too long",
        "ENOENT": "no such file or directory",
        "ENOSPC": "no space left on device",
        "ENOTDIR": "not a directory",
        "EPERM": "operation not permitted",
        "EROFS": "read-only file system",
    }
    said = words.get(code, (error.strerror or str(error)).lower())
    return ToolError(f"{code}: {said}, {verb} '{path}'")


@contextmanager
def folder_of(path: Path, *, make: bool = False) -> Iterator[int]:
    """Opens the folder that a file lies in, no link followed on the way; it may make it."""
    handle = os.open(path.anchor, STEP)
    try:
        for part in path.parts[1:-1]:
            if make:
                with suppress(FileExistsError):
                    _make_folder(part, handle)
            inner = os.open(part, STEP, dir_fd=handle)
            os.close(handle)
            handle = inner
        yield handle
    finally:
        os.close(handle)


def _make_folder(name: str, parent: int) -> None:
    try:
        os.stat(name, dir_fd=parent, follow_symlinks=False)
    except FileNotFoundError:
        os.mkdir(name, dir_fd=parent)


def read_bytes(path: Path, most: int | None = None) -> bytes:
    """Returns what a plain file holds, no link followed; never waits for a device or a pipe."""
    with folder_of(path) as folder, os.fdopen(_look(path, folder), "rb") as file:
        return file.read() if most is None else file.read(most)


def status(path: Path) -> os.stat_result:
    """Returns the status of a plain file, no link followed."""
    with folder_of(path) as folder:
        found = os.stat(path.name or ".", dir_fd=folder, follow_symlinks=False)
    _refuse_special(found.st_mode, path)
    return found


def _look(path: Path, folder: int) -> int:
    handle = os.open(path.name or ".", LOOK, dir_fd=folder)
    try:
        _refuse_special(os.fstat(handle).st_mode, path)
    except BaseException:
        os.close(handle)
        raise
    return handle


def _refuse_special(mode: int, path: Path) -> None:
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, "is a directory")
    if stat.S_ISLNK(mode):
        raise OSError(errno.ELOOP, "is a link")
    if not stat.S_ISREG(mode):
        raise no_file(path)


def no_file(path: str | Path) -> ToolError:
    """Returns the refusal to read what is no file."""
    return ToolError(
        f"Cannot read '{path}': this path names a device or process file that this tool does not"
        " read.",
        is_misuse=True,
    )


def write_bytes(path: Path, data: bytes) -> None:
    """Puts bytes into a file, whole or not at all, no link followed on the way.

    A file that was there keeps its permissions; folders that are missing are made.
    """
    with folder_of(path, make=True) as folder:
        draft = f".{path.name[:100]}.{token_hex(6)}.new"
        mode = _mode_of(path.name, folder)
        try:
            _write_draft(draft, folder, data, mode)
            os.rename(draft, path.name, src_dir_fd=folder, dst_dir_fd=folder)
        except BaseException:
            with suppress(OSError):
                os.unlink(draft, dir_fd=folder)
            raise


def _mode_of(name: str, folder: int) -> int | None:
    try:
        found = os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(found.st_mode):
        raise OSError(errno.EPERM, "is no plain file")
    return stat.S_IMODE(found.st_mode)


def _write_draft(draft: str, folder: int, data: bytes, mode: int | None) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | NO_LINK
    handle = os.open(draft, flags, 0o666 if mode is None else PRIVATE, dir_fd=folder)
    with os.fdopen(handle, "wb") as file:
        file.write(data)
        if mode is not None:
            os.fchmod(handle, mode)
