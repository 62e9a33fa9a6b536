"""Bytes of a file to the text that a model sees and changes, and back."""

import re
from bisect import bisect_left
from dataclasses import dataclass
from hashlib import blake2b

from plait.agent.tools.model import ToolError

UTF16 = b"\xff\xfe"
MARK = "\ufeff"
SAMPLE = 8192
FOREIGN = (
    "is not valid UTF-8: it uses a legacy encoding such as Windows-1252, Shift-JIS or GBK, or it is"
    " binary."
)
NULLS = (
    "has NUL bytes in its first 8 KB: binary data, UTF-16/UTF-32 without a byte-order mark, or text"
    " with embedded NULs."
)
SHOWN_AS = " Its undecodable bytes show above as U+FFFD."
NOT_FOR_TOOLS = (
    " Edit and Write will refuse it: change it with a shell command that keeps its encoding, or"
    " ask the user whether to convert it to UTF-8.]"
)
NOT_WRITTEN = (
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
    is_sound: bool
    """Whether every byte was of the encoding."""
    has_nulls: bool
    """Whether it begins as only binary data does."""

    @property
    def trouble(self) -> str:
        """Why it cannot be written again, empty where it can."""
        return NULLS if self.has_nulls else "" if self.is_sound else FOREIGN

    @property
    def note(self) -> str:
        """What is told of that to whoever reads it."""
        if not self.trouble:
            return ""
        shown = "" if self.has_nulls else SHOWN_AS
        return f"\n\n[This file {self.trouble}{shown}{NOT_FOR_TOOLS}"

    @property
    def text(self) -> str:
        """With line ends as the model sees them."""
        return self.raw.replace("\r\n", "\n")

    @property
    def shown(self) -> str:
        """Without the mark of byte order too."""
        return self.text.removeprefix(MARK)

    @property
    def has_long_ends(self) -> bool:
        """Whether most of its lines end as they do on Windows."""
        return self.raw.count("\r\n") * 2 > self.raw.count("\n")

    def encoded(self, text: str) -> bytes:
        """Returns a text in the encoding of this file; a lone surrogate becomes a question mark."""
        return text.encode(self.encoding, "replace")

    def replaced(self, spans: list[tuple[int, int]], new: str) -> str:
        """Returns the raw text with spans of `text` replaced; all else stays as it is."""
        if "\r\n" not in self.raw:
            return _put_in(self.raw, spans, new)
        ends = _long_ends(self.raw)
        own = new.replace("\r\n", "\n")
        own = own.replace("\n", "\r\n") if self.has_long_ends else own
        return _put_in(self.raw, [(_back(ends, a), _back(ends, b)) for a, b in spans], own)


def _long_ends(raw: str) -> list[int]:
    """Returns where line ends of two letters stand in the text where they are one."""
    return [found.start() - order for order, found in enumerate(re.finditer("\r\n", raw))]


def _back(ends: list[int], place: int) -> int:
    return place + bisect_left(ends, place)


def _put_in(raw: str, spans: list[tuple[int, int]], new: str) -> str:
    pieces, at = [], 0
    for start, end in spans:
        pieces += [raw[at:start], new]
        at = end
    return "".join([*pieces, raw[at:]])


def decoded(data: bytes) -> FileText:
    """Returns bytes as text; what is not of the encoding becomes U+FFFD."""
    is_wide = data.startswith(UTF16)
    encoding = "utf-16-le" if is_wide else "utf-8"
    has_nulls = not is_wide and b"\0" in data[:SAMPLE]
    try:
        return FileText(data.decode(encoding), encoding, True, has_nulls)
    except UnicodeDecodeError:
        return FileText(data.decode(encoding, "replace"), encoding, False, has_nulls)


def to_change(data: bytes, *, is_misuse: bool) -> FileText:
    """Returns bytes as text that can be written again; raises ToolError where it cannot."""
    found = decoded(data)
    if found.trouble:
        raise ToolError(f"File {found.trouble}{NOT_WRITTEN}", is_misuse=is_misuse)
    return found


def digest_of(data: bytes) -> bytes:
    """Returns what tells whether a file still says what it said."""
    return digest_of_text(decoded(data).shown)


def digest_of_text(text: str) -> bytes:
    """Returns the same of a text as it was shown, such as the log keeps it."""
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def size_of(count: int) -> str:
    """Returns a number of bytes as the client writes it: 512 bytes, 394.4KB, 2MB."""
    if count < 1024:
        return f"{count} bytes"
    for unit, scale in (("KB", 1024), ("MB", 1024**2)):
        if count < scale * 1024:
            return f"{count / scale:.1f}".removesuffix(".0") + unit
    return f"{count / 1024**3:.1f}".removesuffix(".0") + "GB"
