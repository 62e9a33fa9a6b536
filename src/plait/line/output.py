"""Writing files so that each is complete or absent: output folders, Plait's own files, appends.

`OutputFolder` writes what has a name that a log may have had a hand in: `make_file_name` makes a
name harmless, and a folder refuses one that is not or that a link leads outside. `replace_file`
writes Plait's own files: they hold all of the new bytes or what they held before, even after a
crash. `append` adds lines to a session's file under that file's own lock:

    open for appending ─ lock ─ still the file of that name? ─ "\\n" if the end is torn ─ write

A line that the system took is there for every reader and outlives the process; only a power cut
can still lose it, unless `is_synced` waits for the disk. What does not fit on the disk is taken
back. Another writer, even one without a lock, never lands within a line.
"""

import os
import re
import time
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath
from stat import S_ISREG

from plait.errors import SourceError

OWNER_FILE, OWNER_FOLDER = 0o600, 0o700
BINARY = getattr(os, "O_BINARY", 0)
"""Without it one system writes two bytes for a newline."""
LONGEST_NAME, MOST_BYTES = 120, 200
"""Characters and bytes of a made name: suffixes are added to it."""
MOST_ENTRY_BYTES = 240
"""For any part of a path: file systems take 255, and a draft's name is longer."""
UNSAFE = re.compile(r"[^\w.~-]+")
# On one system these are devices in every folder, whatever ending they have.
RESERVED = re.compile(r"(?i)(con|prn|aux|nul|conin\$|conout\$|com[\d¹²³]|lpt[\d¹²³])(\..*)?")
FORBIDDEN = re.compile('[\x00-\x1f\x7f\\\\:*?"<>|\ud800-\udfff]')


def make_file_name(text: str) -> str:
    """Return a text as a file name that is harmless on any system; it has no suffix yet."""
    name = UNSAFE.sub("_", unicodedata.normalize("NFC", text[: LONGEST_NAME * 4]))[:LONGEST_NAME]
    name = name.encode()[:MOST_BYTES].decode("utf-8", "ignore").rstrip(".")
    if name.startswith(".") or not name or RESERVED.fullmatch(name):
        name = f"_{name.lstrip('.')}"
    return name


class OutputFolder:
    """A folder into which files are written by names with `/` between their parts."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def make(self) -> None:
        """Create the folder if it does not exist."""
        _make_folder(self.path)

    def write(self, name: str, data: bytes) -> None:
        """Write a file under another name first, so that it is complete once it has its own."""
        place = self.place(name)
        draft = _get_draft(place)
        try:
            _make_folder(place.parent)
            draft.unlink(missing_ok=True)
            handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, OWNER_FILE)
            with os.fdopen(handle, "wb") as out:
                out.write(data)
            draft.replace(place)
        except OSError as error:
            with suppress(OSError):
                draft.unlink(missing_ok=True)
            raise make_write_error(place, error) from error

    def remove(self, name: str) -> None:
        """Remove a file and its draft, if they exist and are within the folder."""
        with suppress(SourceError, OSError):
            place = self.place(name)
            _get_draft(place).unlink(missing_ok=True)
            place.unlink(missing_ok=True)

    def place(self, name: str) -> Path:
        """Return the path of a file; raise if that would not be within the folder."""
        parts = PurePosixPath(name).parts
        if not parts or name.endswith("/") or not all(map(is_plain_name, parts)):
            shown = FORBIDDEN.sub("\ufffd", name[:80])
            raise SourceError(f"refusing to write '{shown}': not a file name")
        folder = self.path
        for part in parts[:-1]:
            folder = folder / part
            if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
                raise SourceError(f"refusing to write '{name}': '{folder}' is a link or a file")
        return self.path.joinpath(*parts)


def is_plain_name(part: str) -> bool:
    """Return whether a part of a path is a valid file name on any system."""
    if part in ("", ".", "..", "/") or part[-1] in ". " or FORBIDDEN.search(part):
        return False
    return len(part.encode()) <= MOST_ENTRY_BYTES and RESERVED.fullmatch(part) is None


def _get_draft(path: Path) -> Path:
    return path.with_name(f".{path.name}.new")


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(mode=OWNER_FOLDER, parents=True, exist_ok=True)
    except OSError as error:
        raise make_write_error(folder, error) from error


def make_write_error(path: Path, error: OSError) -> SourceError:
    """Return the error that says which file could not be written and why."""
    return SourceError(f"cannot write '{path}': {(error.strerror or str(error)).lower()}")


def replace_file(path: Path, data: bytes, *, mode: int = 0o600) -> None:
    """Write a file under another name, wait until it is on the disk, and give it its own."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    draft = path.with_name(f".{path.name}.{os.getpid()}.new")
    try:
        handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode)
        with open(handle, "wb") as file:  # noqa: PTH123  of the handle, whose mode is set
            file.write(data)
            file.flush()
            os.fsync(handle)
        draft.replace(path)
    except OSError:
        with suppress(OSError):
            draft.unlink()
        raise
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Wait until the names in a folder are on the disk, if the system can do that."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


FIRST_STEP, STEP = 0.0005, 0.02


@contextmanager
def lock_file(path: Path, wait: float = 0.0) -> Iterator[bool]:
    """Hold a lock file's lock while the block runs; yield whether it was free in time.

    The system releases it even after a crash.
    """
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        is_ours = acquire_lock(handle, wait)
        try:
            yield is_ours
        finally:
            if is_ours:
                release_lock(handle)
    finally:
        os.close(handle)


def acquire_lock(handle: int, wait: float) -> bool:
    """Take the lock of an open file as soon as it is free; return False after `wait` seconds."""
    until, step = time.monotonic() + wait, FIRST_STEP
    while not try_lock(handle):
        if time.monotonic() >= until:
            return False
        time.sleep(step)
        step = min(step * 2, STEP)
    return True


if os.name == "nt":  # pragma: no cover
    import msvcrt

    def try_lock(handle: int) -> bool:
        """Take the lock where it is free."""
        try:
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
        except OSError:
            return False
        return True

    def release_lock(handle: int) -> None:
        """Give the lock back."""
        with suppress(OSError):
            msvcrt.locking(handle, msvcrt.LK_UNLCK, 1)  # type: ignore[attr-defined]
else:
    import fcntl

    def try_lock(handle: int) -> bool:
        """Take the lock where it is free."""
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
        return True

    def release_lock(handle: int) -> None:
        """Give the lock back."""
        with suppress(OSError):
            fcntl.flock(handle, fcntl.LOCK_UN)


# Lines to the end of a session's file: whole, in one write, under the file's own lock.
#
# opened to append ── lock ── still the file of that name? ── "\n" where the end is torn ── write
#
# A line that the system took is there for every reader and outlives the process; only a loss of
# power can still take it, unless `is_settled` waits for the disk. What does not fit on the disk
# is try_lock back. Whoever else writes, without a lock too, never lands within a line.


PATIENCE = 10.0
"""Seconds that one waits for others who write to the same file."""
APPEND_FLAGS = getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)
NO_WAITING = getattr(os, "O_NONBLOCK", 0)  # a pipe would wait for its reader


def append(path: Path, data: bytes, *, is_new: bool | None = None, is_synced: bool = False) -> int:
    """Add complete lines to a file and return the offset at which they start.

    A new file is the owner's alone. `is_new` demands that there is none yet or, if False, that
    there is one.
    """
    lines = data if data.endswith(b"\n") else data + b"\n"
    try:
        with open_locked(path, is_new=is_new) as handle:
            size = os.fstat(handle).st_size
            is_torn = False
            if size:
                os.lseek(handle, size - 1, os.SEEK_SET)
                is_torn = os.read(handle, 1) != b"\n"
            written = b"\n" + lines if is_torn else lines
            count = os.write(handle, written)
            if count < len(written):
                _take_back(handle, count)
                raise SourceError(f"cannot write '{path}': no space left on device")
            start = os.lseek(handle, 0, os.SEEK_CUR) - len(lines)
            if is_synced:
                os.fsync(handle)
    except OSError as error:
        raise make_write_error(path, error) from error
    if is_synced and start == 0:
        sync_folder(path.parent)
    return start


@contextmanager
def open_locked(path: Path, *, is_new: bool | None = None) -> Iterator[int]:
    """Hold a file open for appending while the block runs, locked against other appenders."""
    flags = os.O_RDWR | os.O_APPEND | APPEND_FLAGS | NO_WAITING
    if is_new is not False:
        path.parent.mkdir(mode=OWNER_FOLDER, parents=True, exist_ok=True)
        flags |= os.O_CREAT | (os.O_EXCL if is_new else 0)
    while True:
        handle = os.open(path, flags, OWNER_FILE)
        try:
            if not acquire_lock(handle, PATIENCE):
                raise SourceError(f"'{path}' is being written by another process")
            if _has_name(handle, path):  # it may have been replaced while we waited
                break
        except BaseException:
            os.close(handle)
            raise
        os.close(handle)
    try:
        yield handle
    finally:
        release_lock(handle)
        os.close(handle)


def _has_name(handle: int, path: Path) -> bool:
    """Return whether an open file is still the one of that name."""
    ours = os.fstat(handle)
    if not S_ISREG(ours.st_mode):
        raise SourceError(f"cannot write '{path}': not a file")
    try:
        theirs = path.stat()
    except FileNotFoundError:
        return False
    return (ours.st_dev, ours.st_ino) == (theirs.st_dev, theirs.st_ino)


def _take_back(handle: int, count: int) -> None:
    """Remove the first part of an incomplete write, unless somebody has written after it."""
    end = os.lseek(handle, 0, os.SEEK_CUR)
    if os.fstat(handle).st_size == end:
        os.ftruncate(handle, end - count)
