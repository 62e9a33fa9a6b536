"""New bytes of a session to its files: written apart, put in place whole, kept before they go.

    write_draft, copy_draft ── put, put_new     a file is the old one or the new one, whole
    keep, move                                  what it was stays under another name
    add, cut                                    lines at its end, and its end as it was

Whoever locks a file to append to it (`append.py`) is held off while it changes here.
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

from plait.line.append import appending
from plait.line.folder import OWNER_FILE, OWNER_FOLDER
from plait.line.split import CHUNK, unreadable

DRAFT_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
MOST_AT_ONCE = 1 << 30
"""Bytes that the system is asked to copy in one go."""
MANY = 16
"""Files after which waiting for all disks takes less time than for each file."""


class FileState(NamedTuple):
    """What the system says of a file: enough to know it again, and to give it back its times."""

    inode: int
    size: int
    mode: int
    accessed: int
    modified: int

    def is_as(self, other: "FileState | None") -> bool:
        """Whether both are one file with the same bytes, as far as the system can tell."""
        return other is not None and self._mark == other._mark

    @property
    def _mark(self) -> tuple[int, int, int]:
        return self.inode, self.size, self.modified


def state_of(path: Path) -> FileState | None:
    """Returns what the system says of a file or of a link, None where there is neither."""
    try:
        status = path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise unreadable(path, error) from error
    times = status.st_atime_ns, status.st_mtime_ns
    return FileState(status.st_ino, status.st_size, S_IMODE(status.st_mode), *times)


def is_plain(path: Path) -> bool:
    """Tells whether a path is a file, and no link to one."""
    return S_ISREG(path.lstat().st_mode)


def write_draft(draft: Path, pieces: Iterable[bytes]) -> str:
    """Writes a file that has no name of its own yet, piece by piece; returns its SHA-256."""
    digest = hashlib.sha256()
    with os.fdopen(os.open(draft, DRAFT_FLAGS, OWNER_FILE), "wb", CHUNK) as out:
        for piece in pieces:
            digest.update(piece)
            out.write(piece)
    return digest.hexdigest()


def copy_draft(draft: Path, source: Path) -> None:
    """Copies a file to one that has no name of its own yet, by the system's shortest way."""
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
    """Gives a draft its mode, its times and the owner of another file."""
    if like:
        _give_owner_of(like, draft)
    draft.chmod(mode)
    if times:
        os.utime(draft, ns=times)


def _give_owner_of(like: Path, draft: Path) -> None:
    """Leaves a file to whom it belonged, where another, such as root, has written it anew."""
    owner, ours = like.stat(), draft.stat()
    if (owner.st_uid, owner.st_gid) != (ours.st_uid, ours.st_gid):
        with suppress(OSError, AttributeError):
            os.chown(draft, owner.st_uid, owner.st_gid)


def settle_files(paths: Sequence[Path]) -> None:
    """Waits until the bytes of files are on the disk: one by one, of many all at once."""
    if len(paths) > MANY and hasattr(os, "sync"):
        os.sync()
        return
    for path in paths:
        handle = os.open(path, os.O_RDONLY if os.name == "posix" else os.O_RDWR)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def put(draft: Path, path: Path, was: FileState) -> bool:
    """Gives a draft the name of a file, in whose place it stands then, if that is as it was."""
    with appending(path, is_new=False):
        if not was.is_as(state_of(path)):
            return False
        draft.replace(path)
    return True


def put_new(draft: Path, path: Path) -> None:
    """Gives a draft the name of a file that is not there; FileExistsError where it is."""
    try:
        os.link(draft, path)
    except FileExistsError:
        raise
    except OSError:  # a file system without second names
        if os.path.lexists(path):
            raise FileExistsError(f"'{path}' is there") from None
        draft.rename(path)
    else:
        draft.unlink()


def keep(path: Path, kept: Path) -> None:
    """Gives a file a second name, by which its bytes stay when it is replaced, else copies it."""
    kept.unlink(missing_ok=True)
    try:
        os.link(path, kept)
    except OSError:  # another disk, or one without second names
        _copied(path, kept)


def move(path: Path, to: Path) -> None:
    """Gives a file another name; on another disk it is copied first, whole, with its times."""
    try:
        path.replace(to)
    except OSError as error:
        if error.errno != EXDEV:
            raise
        _copied(path, to)
        path.unlink()


def _copied(path: Path, to: Path) -> None:
    part = to.with_name(f".{to.name}.part")
    part.unlink(missing_ok=True)
    shutil.copy2(path, part, follow_symlinks=False)
    if not S_ISLNK(part.lstat().st_mode):
        settle_files([part])
    part.replace(to)


def add(path: Path, data: bytes, at: int) -> bool:
    """Writes at the end of a file, to the disk, if that is where it is thought to be.

    What an earlier attempt has written of the same bytes stays and is gone on with.
    """
    with appending(path, is_new=False) as handle:
        size = os.fstat(handle).st_size
        done = size - at
        if not 0 <= done <= len(data) or _read_at(handle, at, done) != data[:done]:
            return False
        rest = memoryview(data)[done:]
        while rest:
            rest = rest[os.write(handle, rest) :]
        os.fsync(handle)
    return True


def cut(path: Path, data: bytes, at: int) -> bool:
    """Takes bytes, or the beginning of them, from the end of a file, if they stand there."""
    with appending(path, is_new=False) as handle:
        done = os.fstat(handle).st_size - at
        if not 0 <= done <= len(data) or _read_at(handle, at, done) != data[:done]:
            return False
        os.ftruncate(handle, at)
        os.fsync(handle)
    return True


def _read_at(handle: int, at: int, count: int) -> bytes:
    os.lseek(handle, at, os.SEEK_SET)
    return os.read(handle, count)


def holds(path: Path, data: bytes, at: int) -> bool:
    """Tells whether these bytes stand at that place of a file."""
    with path.open("rb") as file:
        file.seek(at)
        return file.read(len(data)) == data


def pieces_without(path: Path, start: int, length: int) -> Iterator[bytes]:
    """Yields the bytes of a file but for some in its middle."""
    with path.open("rb", buffering=0) as file:
        while piece := file.read(min(CHUNK, start - file.tell())):
            yield piece
        file.seek(start + length)
        while piece := file.read(CHUNK):
            yield piece


def pieces_from(path: Path, start: int) -> Iterator[bytes]:
    """Yields the bytes of a file from some place on."""
    with path.open("rb", buffering=0) as file:
        file.seek(start)
        while piece := file.read(CHUNK):
            yield piece


def digest_of(path: Path, size: int | None = None) -> str:
    """Returns the SHA-256 of a file's bytes, or of so many of its first."""
    with path.open("rb", buffering=0) as file:
        if size is None:
            return hashlib.file_digest(file, "sha256").hexdigest()
        digest = hashlib.sha256()
        while size and (piece := file.read(min(CHUNK, size))):
            digest.update(piece)
            size -= len(piece)
        return digest.hexdigest()


def make_folder(folder: Path) -> None:
    """Makes a folder, and those around it, where there is none; it is the owner's alone."""
    missing = [one for one in (folder, *folder.parents) if not one.is_dir()]
    for one in reversed(missing):  # each by itself: of several only the last has the mode
        one.mkdir(mode=OWNER_FOLDER, exist_ok=True)


def remove_if_empty(folder: Path) -> None:
    """Takes a folder away in which nothing is left."""
    with suppress(OSError):
        folder.rmdir()


def remove_folder(folder: Path) -> None:
    """Takes a folder away with all that lies in it; no link in it is followed."""
    shutil.rmtree(folder)
