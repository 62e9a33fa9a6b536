"""Safe access to files of the workspace: paths, links, encodings, atomic writes.

A path is resolved once, when a call is proposed, and permission is given for that place. When the
call runs, the path is walked from the root folder by folder without following links, so that a link
put there in between is an error.
"""

import errno
import os
import re
import stat
from bisect import bisect_left
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from secrets import token_hex

from plait.chat.tools.base import ToolError, Workplace

PRIVATE_MODE = 0o600
NO_FOLLOW = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
FOLDER_FLAGS = NO_FOLLOW | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_PATH", os.O_RDONLY)
FILE_FLAGS = NO_FOLLOW | os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0)
DEVICES = ("/dev/", "/proc/", "/sys/")


def make_absolute(text: str, place: Workplace) -> Path:
    """Return the absolute path that a text names, links not followed."""
    if "\0" in text:
        raise ToolError("A path cannot contain null bytes (\\0).", is_misuse=True)
    home = place.environment.get("HOME")
    if home and (text == "~" or text.startswith("~/")):
        text = home + text[1:]
    return Path(os.path.normpath(place.cwd / text))


def resolve_path(text: str, place: Workplace) -> Path:
    """Return the path that a text names, all links followed."""
    path = place.cwd / make_absolute(text, place)
    try:
        return Path(os.path.realpath(path))
    except (OSError, ValueError) as error:
        raise ToolError(f"Cannot find {text}: {error}") from error


def require_inside(path: Path, text: str, place: Workplace) -> None:
    """Refuse to write a path that is not in the workspace, links followed."""
    if not place.contains(path):
        allowed = ", ".join(str(folder) for folder in (place.root, *place.extra_directories))
        shown = text if str(path) == text else f"{text} ({path})"
        raise ToolError(
            f"Refusing to write {shown}: it is outside the workspace. Files are written only in:"
            f" {allowed}.",
            is_misuse=True,
        )


def make_file_error(error: OSError, verb: str, path: str | Path) -> ToolError:
    """Return what went wrong with a file, as the client words it."""
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
    text = words.get(code, (error.strerror or str(error)).lower())
    return ToolError(f"{code}: {text}, {verb} '{path}'")


@contextmanager
def open_parent(path: Path, *, make: bool = False) -> Iterator[int]:
    """Open the folder that a file lies in, no link followed on the way; it may make it."""
    handle = os.open(path.anchor, FOLDER_FLAGS)
    try:
        for part in path.parts[1:-1]:
            if make:
                with suppress(FileExistsError):
                    try:
                        os.stat(part, dir_fd=handle, follow_symlinks=False)
                    except FileNotFoundError:
                        os.mkdir(part, dir_fd=handle)
            inner = os.open(part, FOLDER_FLAGS, dir_fd=handle)
            os.close(handle)
            handle = inner
        yield handle
    finally:
        os.close(handle)


def read_bytes(path: Path, limit: int | None = None) -> bytes:
    """Return what a plain file holds, no link followed; never waits for a device or a pipe."""
    with open_parent(path) as folder, os.fdopen(_open_file(path, folder), "rb") as file:
        return file.read() if limit is None else file.read(limit)


def get_status(path: Path) -> os.stat_result:
    """Return the status of a plain file, no link followed."""
    with open_parent(path) as folder:
        found = os.stat(path.name or ".", dir_fd=folder, follow_symlinks=False)
    _require_plain_file(found.st_mode, path)
    return found


def _open_file(path: Path, folder: int) -> int:
    handle = os.open(path.name or ".", FILE_FLAGS, dir_fd=folder)
    try:
        _require_plain_file(os.fstat(handle).st_mode, path)
    except BaseException:
        os.close(handle)
        raise
    return handle


def _require_plain_file(mode: int, path: Path) -> None:
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, "is a directory")
    if stat.S_ISLNK(mode):
        raise OSError(errno.ELOOP, "is a link")
    if not stat.S_ISREG(mode):
        raise make_not_a_file_error(path)


def make_not_a_file_error(path: str | Path) -> ToolError:
    """Return the refusal to read what is no file."""
    return ToolError(
        f"Cannot read '{path}': this path names a device or process file that this tool does not"
        " read.",
        is_misuse=True,
    )


def write_bytes(path: Path, data: bytes) -> None:
    """Put bytes into a file, whole or not at all, no link followed on the way.

    A file that was there keeps its permissions; folders that are missing are made.
    """
    with open_parent(path, make=True) as folder:
        draft = f".{path.name[:100]}.{token_hex(6)}.new"
        mode = _get_mode(path.name, folder)
        try:
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | NO_FOLLOW
            handle = os.open(draft, flags, 0o666 if mode is None else PRIVATE_MODE, dir_fd=folder)
            with os.fdopen(handle, "wb") as file:
                file.write(data)
                if mode is not None:
                    os.fchmod(handle, mode)
            os.rename(draft, path.name, src_dir_fd=folder, dst_dir_fd=folder)
        except BaseException:
            with suppress(OSError):
                os.unlink(draft, dir_fd=folder)
            raise


def _get_mode(name: str, folder: int) -> int | None:
    try:
        found = os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(found.st_mode):
        raise OSError(errno.EPERM, "is no plain file")
    return stat.S_IMODE(found.st_mode)


UTF16 = b"\xff\xfe"
BYTE_ORDER_MARK = "\ufeff"
NULL_SAMPLE = 8192
NOT_UTF8 = (
    "is not valid UTF-8: it uses a legacy encoding such as Windows-1252, Shift-JIS or GBK, or it is"
    " binary."
)
HAS_NULLS = (
    "has NUL bytes in its first 8 KB: binary data, UTF-16/UTF-32 without a byte-order mark, or text"
    " with embedded NULs."
)
REPLACED_BYTES = " Its undecodable bytes show above as U+FFFD."
READ_WARNING = (
    " Edit and Write will refuse it: change it with a shell command that keeps its encoding, or"
    " ask the user whether to convert it to UTF-8.]"
)
WRITE_REFUSED = (
    " These tools write UTF-8 (or UTF-16LE behind its"
    " byte-order mark) and never convert a file's encoding on their own, so nothing was written."
    " If the file is text, make the change with a shell command that reads and writes it in its"
    " own encoding (iconv, or PowerShell Get-Content/Set-Content -Encoding), or ask the user"
    " whether to convert it to UTF-8 first. To replace the whole file with new UTF-8 text anyway,"
    " delete it first, then Write it."
)


@dataclass(frozen=True, slots=True)
class FileText:
    """What a file holds as text, with what it takes to write it again."""

    raw: str
    """As it is: with its mark of byte order and its line ends."""
    encoding: str
    is_valid: bool
    """Whether every byte was of the encoding."""
    has_nulls: bool
    """Whether it begins as only binary data does."""

    @property
    def problem(self) -> str:
        """Why it cannot be written again, empty where it can."""
        return HAS_NULLS if self.has_nulls else "" if self.is_valid else NOT_UTF8

    @property
    def note(self) -> str:
        """What is told of that to whoever reads it."""
        if not self.problem:
            return ""
        shown = "" if self.has_nulls else REPLACED_BYTES
        return f"\n\n[This file {self.problem}{shown}{READ_WARNING}"

    @property
    def text(self) -> str:
        """With line ends as the model sees them."""
        return self.raw.replace("\r\n", "\n")

    @property
    def content(self) -> str:
        """Without the mark of byte order too."""
        return self.text.removeprefix(BYTE_ORDER_MARK)

    def encode(self, text: str) -> bytes:
        """Return a text in the encoding of this file; a lone surrogate becomes a question mark."""
        return text.encode(self.encoding, "replace")

    def replace_spans(self, spans: list[tuple[int, int]], new: str) -> str:
        """Return the raw text with spans of `text` replaced; all else stays as it is."""
        if "\r\n" not in self.raw:
            return _replace_spans(self.raw, spans, new)
        ends = [found.start() - order for order, found in enumerate(re.finditer("\r\n", self.raw))]
        own = new.replace("\r\n", "\n")
        own = (
            own.replace("\n", "\r\n")
            if (self.raw.count("\r\n") * 2 > self.raw.count("\n"))
            else own
        )
        return _replace_spans(
            self.raw, [(_to_raw_offset(ends, a), _to_raw_offset(ends, b)) for a, b in spans], own
        )


def _to_raw_offset(ends: list[int], place: int) -> int:
    return place + bisect_left(ends, place)


def _replace_spans(raw: str, spans: list[tuple[int, int]], new: str) -> str:
    pieces, at = [], 0
    for start, end in spans:
        pieces += [raw[at:start], new]
        at = end
    return "".join([*pieces, raw[at:]])


def decode_file(data: bytes) -> FileText:
    """Return bytes as text; what is not of the encoding becomes U+FFFD."""
    is_wide = data.startswith(UTF16)
    encoding = "utf-16-le" if is_wide else "utf-8"
    has_nulls = not is_wide and b"\0" in data[:NULL_SAMPLE]
    try:
        return FileText(data.decode(encoding), encoding, True, has_nulls)
    except UnicodeDecodeError:
        return FileText(data.decode(encoding, "replace"), encoding, False, has_nulls)


def decode_for_edit(data: bytes, *, is_misuse: bool) -> FileText:
    """Return bytes as text that can be written again; raises ToolError where it cannot."""
    found = decode_file(data)
    if found.problem:
        raise ToolError(f"File {found.problem}{WRITE_REFUSED}", is_misuse=is_misuse)
    return found


def compute_digest(data: bytes) -> bytes:
    """Return what tells whether a file still says what it said."""
    return compute_text_digest(decode_file(data).content)


def compute_text_digest(text: str) -> bytes:
    """Return the same of a text as it was shown, such as the log keeps it."""
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def format_size(count: int) -> str:
    """Return a number of bytes as the client writes it: 512 bytes, 394.4KB, 2MB."""
    if count < 1024:
        return f"{count} bytes"
    for unit, scale in (("KB", 1024), ("MB", 1024**2)):
        if count < scale * 1024:
            return f"{count / scale:.1f}".removesuffix(".0") + unit
    return f"{count / 1024**3:.1f}".removesuffix(".0") + "GB"
