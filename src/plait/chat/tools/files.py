"""Safe reading and writing of files: paths, links, encodings, atomic writes.

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
    """Return the absolute path of a path as written; links are not followed."""
    if "\0" in text:
        raise ToolError("A path cannot contain null bytes (\\0).", is_misuse=True)
    home = place.environment.get("HOME")
    if home and (text == "~" or text.startswith("~/")):
        text = home + text[1:]
    return Path(os.path.normpath(place.cwd / text))


def resolve_path(text: str, place: Workplace) -> Path:
    """Return the absolute path of a path as written, with all links resolved."""
    path = place.cwd / make_absolute(text, place)
    try:
        return Path(os.path.realpath(path))
    except (OSError, ValueError) as error:
        raise ToolError(f"Cannot resolve {text}: {error}") from error


def require_inside(path: Path, text: str, place: Workplace) -> None:
    """Raise ToolError unless a resolved path lies in the workspace."""
    if not place.contains(path):
        allowed = ", ".join(str(folder) for folder in (place.root, *place.extra_directories))
        shown = text if str(path) == text else f"{text} ({path})"
        raise ToolError(
            f"Refusing to write {shown}: it is outside the workspace. Files are written only in:"
            f" {allowed}.",
            is_misuse=True,
        )


def make_file_error(error: OSError, verb: str, path: str | Path) -> ToolError:
    """Return the error for a file operation that failed, as Claude Code words it."""
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
    """Open the folder of a file without following links; create missing folders if asked."""
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
    """Read a regular file without following links; never block on a device or a pipe."""
    with open_parent(path) as folder:
        handle = os.open(path.name or ".", FILE_FLAGS, dir_fd=folder)
        with os.fdopen(handle, "rb", closefd=True) as file:
            _require_regular_file(os.fstat(handle).st_mode, path)
            return file.read() if limit is None else file.read(limit)


def get_status(path: Path) -> os.stat_result:
    """Return the status of a regular file without following links."""
    with open_parent(path) as folder:
        status = os.stat(path.name or ".", dir_fd=folder, follow_symlinks=False)
    _require_regular_file(status.st_mode, path)
    return status


def _require_regular_file(mode: int, path: Path) -> None:
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, "is a directory")
    if stat.S_ISLNK(mode):
        raise OSError(errno.ELOOP, "is a link")
    if not stat.S_ISREG(mode):
        raise make_not_a_file_error(path)


def make_not_a_file_error(path: str | Path) -> ToolError:
    """Return the error for a path that is not a regular file."""
    return ToolError(
        f"Cannot read '{path}': this path names a device or process file that this tool does not"
        " read.",
        is_misuse=True,
    )


def write_bytes(path: Path, data: bytes) -> None:
    """Write a file atomically, without following links.

    An existing file keeps its permissions; missing folders are created.
    """
    with open_parent(path, make=True) as folder:
        draft = f".{path.name[:100]}.{token_hex(6)}.new"
        mode: int | None = None
        with suppress(FileNotFoundError):
            status = os.stat(path.name, dir_fd=folder, follow_symlinks=False)
            if not stat.S_ISREG(status.st_mode):
                raise OSError(errno.EPERM, "not a regular file")
            mode = stat.S_IMODE(status.st_mode)
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
    """A decoded file, with what is needed to encode it again."""

    raw: str
    """The text with its byte order mark and line endings."""
    encoding: str
    is_valid: bool
    """Whether all bytes could be decoded."""
    has_nulls: bool
    """Whether it begins like binary data."""

    @property
    def problem(self) -> str:
        """Why it cannot be encoded again; empty if it can."""
        return HAS_NULLS if self.has_nulls else "" if self.is_valid else NOT_UTF8

    @property
    def note(self) -> str:
        """The note for the model about such a problem."""
        if not self.problem:
            return ""
        shown = "" if self.has_nulls else REPLACED_BYTES
        return f"\n\n[This file {self.problem}{shown}{READ_WARNING}"

    @property
    def text(self) -> str:
        """The text with LF line endings, as the model sees it."""
        return self.raw.replace("\r\n", "\n")

    @property
    def content(self) -> str:
        """The text without the byte order mark."""
        return self.text.removeprefix(BYTE_ORDER_MARK)

    def encode(self, text: str) -> bytes:
        """Encode a text like this file; lone surrogates become question marks."""
        return text.encode(self.encoding, "replace")

    def replace_spans(self, spans: list[tuple[int, int]], new: str) -> str:
        """Return the raw text with spans of `text` replaced, and nothing else changed."""
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
    """Decode a file; bytes that are not valid become U+FFFD."""
    is_wide = data.startswith(UTF16)
    encoding = "utf-16-le" if is_wide else "utf-8"
    has_nulls = not is_wide and b"\0" in data[:NULL_SAMPLE]
    try:
        return FileText(data.decode(encoding), encoding, True, has_nulls)
    except UnicodeDecodeError:
        return FileText(data.decode(encoding, "replace"), encoding, False, has_nulls)


def decode_for_edit(data: bytes, *, is_misuse: bool) -> FileText:
    """Decode a file that will be written again; raise ToolError if it cannot be."""
    decoded = decode_file(data)
    if decoded.problem:
        raise ToolError(f"File {decoded.problem}{WRITE_REFUSED}", is_misuse=is_misuse)
    return decoded


def compute_digest(data: bytes) -> bytes:
    """Return a digest of a file's text, to notice changes."""
    return compute_text_digest(decode_file(data).content)


def compute_text_digest(text: str) -> bytes:
    """Return the digest of a text, such as the log has it."""
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def format_size(count: int) -> str:
    """Return a size as Claude Code writes it: 512 bytes, 394.4KB, 2MB."""
    if count < 1024:
        return f"{count} bytes"
    for unit, scale in (("KB", 1024), ("MB", 1024**2)):
        if count < scale * 1024:
            return f"{count / scale:.1f}".removesuffix(".0") + unit
    return f"{count / 1024**3:.1f}".removesuffix(".0") + "GB"
