"""Replacing the files of a session: drafts, copies, moves, and changes at the end of a file.

    write_draft, copy_draft ─ install_draft, install_new_file     old or new bytes, never a mix
    keep_copy, move_file                                          old bytes under another name
    append_at, cut_from_end                                       lines at the end, and undone

Whoever locks a file to append to it (`plait.line.output`) waits while it changes here.
"""

import hashlib
import os
import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from errno import EXDEV
from pathlib import Path
from stat import S_IMODE, S_ISLNK, S_ISREG
from typing import NamedTuple

from plait.line.files import CHUNK, make_read_error
from plait.line.output import OWNER_FILE, OWNER_FOLDER, open_locked

DRAFT_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
MOST_AT_ONCE = 1 << 30
"""Bytes that the system is asked to copy in one call."""
MANY = 16
"""Files above which syncing all disks takes less time than syncing each file."""


class FileState(NamedTuple):
    """Status of a file: enough to recognise it and to restore its times."""

    inode: int
    size: int
    mode: int
    accessed: int
    modified: int

    def is_same_as(self, other: "FileState | None") -> bool:
        """Return whether both are one file with the same bytes, as far as the system can tell."""
        if other is None:
            return False
        ours, theirs = (
            (self.inode, self.size, self.modified),
            (other.inode, other.size, other.modified),
        )
        return ours == theirs


def read_file_state(path: Path) -> FileState | None:
    """Return the state of a file or of a link itself, None if there is neither."""
    try:
        status = path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise make_read_error(path, error) from error
    times = status.st_atime_ns, status.st_mtime_ns
    return FileState(status.st_ino, status.st_size, S_IMODE(status.st_mode), *times)


def is_plain(path: Path) -> bool:
    """Return whether a path is a regular file and not a link to one."""
    return S_ISREG(path.lstat().st_mode)


def write_draft(draft: Path, pieces: Iterable[bytes]) -> str:
    """Write a draft piece by piece and return its SHA-256."""
    digest = hashlib.sha256()
    with os.fdopen(os.open(draft, DRAFT_FLAGS, OWNER_FILE), "wb", CHUNK) as out:
        for piece in pieces:
            digest.update(piece)
            out.write(piece)
    return digest.hexdigest()


def copy_draft(draft: Path, source: Path) -> None:
    """Copy a file to a draft, within the file system where it can do that."""
    handle = os.open(draft, DRAFT_FLAGS, OWNER_FILE)
    with os.fdopen(handle, "wb", 0) as out, source.open("rb", buffering=0) as file:
        try:
            while os.copy_file_range(file.fileno(), out.fileno(), MOST_AT_ONCE):
                pass
        except (AttributeError, OSError):  # not on every system, nor between all of its disks
            shutil.copyfileobj(file, out, CHUNK)


def finish_draft(
    draft: Path, mode: int, times: tuple[int, int] | None, like: Path | None = None
) -> None:
    """Set the mode and the times of a draft, and the owner that the file `like` has."""
    if like:  # it stays whose it was, even if another user, such as root, has written the draft
        owner, ours = like.stat(), draft.stat()
        if (owner.st_uid, owner.st_gid) != (ours.st_uid, ours.st_gid):
            with suppress(OSError, AttributeError):
                os.chown(draft, owner.st_uid, owner.st_gid)
    draft.chmod(mode)
    if times:
        os.utime(draft, ns=times)


def sync_files(paths: Sequence[Path]) -> None:
    """Wait until the bytes of files are on the disk: each file, or all disks for many files."""
    if len(paths) > MANY and hasattr(os, "sync"):
        os.sync()
        return
    for path in paths:
        handle = os.open(path, os.O_RDONLY if os.name == "posix" else os.O_RDWR)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def install_draft(draft: Path, path: Path, was: FileState) -> bool:
    """Put a draft in a file's place if the file is as it was; return whether it was."""
    with open_locked(path, is_new=False):
        if not was.is_same_as(read_file_state(path)):
            return False
        draft.replace(path)
    return True


def install_new_file(draft: Path, path: Path) -> None:
    """Give a draft the name of a new file; raise FileExistsError if there is one."""
    try:
        os.link(draft, path)
    except FileExistsError:
        raise
    except OSError:  # a file system without hard links
        if os.path.lexists(path):
            raise FileExistsError(f"'{path}' exists") from None
        draft.rename(path)
    else:
        draft.unlink()


def keep_copy(path: Path, copy: Path) -> None:
    """Give a file a second name under which its bytes survive a replacement, or copy it."""
    copy.unlink(missing_ok=True)
    try:
        os.link(path, copy)
    except OSError:  # another disk, or one without hard links
        _copy(path, copy)


def move_file(path: Path, to: Path) -> None:
    """Rename a file; on another disk it is copied first, with its times."""
    try:
        path.replace(to)
    except OSError as error:
        if error.errno != EXDEV:
            raise
        _copy(path, to)
        path.unlink()


def _copy(path: Path, to: Path) -> None:
    part = to.with_name(f".{to.name}.part")
    part.unlink(missing_ok=True)
    shutil.copy2(path, part, follow_symlinks=False)
    if not S_ISLNK(part.lstat().st_mode):
        sync_files([part])
    part.replace(to)


def append_at(path: Path, data: bytes, at: int) -> bool:
    """Append to a file and sync it if its end is where it is expected; return whether it was.

    What an earlier attempt has written of the same bytes stays and is continued.
    """
    with open_locked(path, is_new=False) as handle:
        size = os.fstat(handle).st_size
        done = size - at
        if not 0 <= done <= len(data) or _read_at(handle, at, done) != data[:done]:
            return False
        rest = memoryview(data)[done:]
        while rest:
            rest = rest[os.write(handle, rest) :]
        os.fsync(handle)
    return True


def cut_from_end(path: Path, data: bytes, at: int) -> bool:
    """Cut bytes, or the first part of them, off the end of a file if that is what it ends with."""
    with open_locked(path, is_new=False) as handle:
        done = os.fstat(handle).st_size - at
        if not 0 <= done <= len(data) or _read_at(handle, at, done) != data[:done]:
            return False
        os.ftruncate(handle, at)
        os.fsync(handle)
    return True


def _read_at(handle: int, at: int, count: int) -> bytes:
    os.lseek(handle, at, os.SEEK_SET)
    return os.read(handle, count)


def has_bytes_at(path: Path, data: bytes, at: int) -> bool:
    """Return whether a file has these bytes at a place."""
    with path.open("rb") as file:
        file.seek(at)
        return file.read(len(data)) == data


def iter_bytes_without(path: Path, start: int, length: int) -> Iterator[bytes]:
    """Yield the bytes of a file without a range in its middle."""
    with path.open("rb", buffering=0) as file:
        while piece := file.read(min(CHUNK, start - file.tell())):
            yield piece
        file.seek(start + length)
        while piece := file.read(CHUNK):
            yield piece


def iter_bytes_from(path: Path, start: int) -> Iterator[bytes]:
    """Yield the bytes of a file from a place on."""
    with path.open("rb", buffering=0) as file:
        file.seek(start)
        while piece := file.read(CHUNK):
            yield piece


def hash_file(path: Path, size: int | None = None) -> str:
    """Return the SHA-256 of a file's bytes, or of its first `size` bytes."""
    with path.open("rb", buffering=0) as file:
        if size is None:
            return hashlib.file_digest(file, "sha256").hexdigest()
        digest = hashlib.sha256()
        while size and (piece := file.read(min(CHUNK, size))):
            digest.update(piece)
            size -= len(piece)
        return digest.hexdigest()


def make_folder(folder: Path) -> None:
    """Create a folder and its parents if missing; what is new is the owner's alone."""
    missing = [parent for parent in (folder, *folder.parents) if not parent.is_dir()]
    for path in reversed(missing):  # each by itself: of several only the last would have the mode
        path.mkdir(mode=OWNER_FOLDER, exist_ok=True)


def remove_if_empty(folder: Path) -> None:
    """Remove a folder if it is empty."""
    with suppress(OSError):
        folder.rmdir()


def remove_folder(folder: Path) -> None:
    """Remove a folder with everything in it, without following links."""
    shutil.rmtree(folder)
