"""The journal of a store: which states of files it has; lines are only appended.

    {"crc":"…","root":…,"path":…,"session":…,"size":…,"sha256":…,"blocks":[…]}   a state of a file
    {"crc":"…","forget":…,"root":…,"path":…,"size":…,"modified":…}               forgets its states

Each line carries the CRC-32 of the rest of itself. A torn last line is removed by the next run.
Next to the journal is a compressed copy, from which damaged lines are read:

    frame │ 24 bytes: which bytes of the journal it holds │ frame │ …

The copy is not synced to disk: one that does not end where the journal ends is written again.
"""

import os
import struct
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, TypeAlias
from zlib import crc32

import msgspec
from msgspec import Struct

from plait.line.output import BINARY, OWNER_FILE, OWNER_FOLDER, replace_file, sync_folder
from plait.store.model import KeptFile
from plait.store.packs import (
    FRAME_HEAD,
    SKIPPABLE,
    BrokenFrame,
    encode_note,
    packed,
    plain,
    write_all,
)

COPY = "journal.copy.zst"
SPAN = struct.Struct("<QQQ")
"""The range of the journal in a frame, and the size of the frame."""
MAX_COPY = 1 << 32
TRAIL = FRAME_HEAD.size + SPAN.size


class JournalCopy:
    """The copy of a journal."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / COPY

    def add(self, journal: Path, data: bytes, start: int) -> None:
        """Add what was appended to the journal; a copy that lags behind gets all of it."""
        with suppress(OSError):  # the copy is optional
            if self.end() != start:
                self.drop()
                data, start = journal.read_bytes(), 0
            frame = packed(data)
            span = encode_note(SPAN.pack(start, start + len(data), len(frame)))
            handle = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | BINARY, OWNER_FILE)
            with os.fdopen(handle, "wb") as out:
                out.write(frame + span)

    def remake(self, journal: Path) -> None:
        """Rewrite the copy."""
        self.drop()
        self.add(journal, b"", -1)

    def drop(self) -> None:
        """Delete the copy because the journal is about to be replaced."""
        self.path.unlink(missing_ok=True)

    def end(self) -> int:
        """Return its end in the journal, -1 if it was truncated."""
        try:
            with self.path.open("rb") as file:
                return _measure_span_before(file, file.seek(0, os.SEEK_END))[1]
        except FileNotFoundError:
            return 0
        except _NoSpan:
            return -1

    def read(self) -> bytes:
        """Return the journal as far as the copy can be read, with zeros for the rest."""
        try:
            with self.path.open("rb") as file:
                end = file.seek(0, os.SEEK_END)
                found: list[bytes] = []
                start = 0
                with suppress(_NoSpan):
                    while end > 0:
                        start, stop, length = _measure_span_before(file, end)
                        end -= TRAIL + length
                        if end < 0 or not 0 <= stop - start <= MAX_COPY:
                            raise _NoSpan
                        try:
                            found.append(plain(_read_at(file, end, length), stop - start))
                        except BrokenFrame:
                            found.append(bytes(stop - start))
                found.append(bytes(min(start, MAX_COPY)))  # everything before it is lost
                return b"".join(reversed(found))
        except OSError:
            return b""


class _NoSpan(Exception):
    """No span ends there."""


def _measure_span_before(file: BinaryIO, end: int) -> tuple[int, int, int]:
    data = _read_at(file, end - TRAIL, TRAIL) if end >= TRAIL else b""
    if data[: FRAME_HEAD.size] != FRAME_HEAD.pack(SKIPPABLE, SPAN.size):
        raise _NoSpan
    start, stop, length = SPAN.unpack(data[FRAME_HEAD.size :])
    return start, stop, length


def _read_at(file: BinaryIO, place: int, length: int) -> bytes:
    file.seek(place)
    return file.read(length)


JOURNAL = "journal.jsonl"
LINE_HEAD = b'{"crc":"'
BODY = len(LINE_HEAD) + 10
"""The start of what follows the checksum."""
LINE, NAME = 400, 67
"""Approximate size of a line, and of each block it names."""
SLACK = 64 << 10


class Forgotten(Struct, frozen=True, tag_field="forget", tag="file", kw_only=True):
    """A file whose earlier states are deleted."""

    root: str
    path: str
    size: int
    modified: int
    """Its modification time at the source: it is not backed up again unless it changes."""
    kept: str
    """When it was forgotten."""

    @property
    def key(self) -> tuple[str, str]:
        """Which file it is."""
        return self.root, self.path


JournalLine: TypeAlias = KeptFile | Forgotten
Key: TypeAlias = tuple[str, str]

_ENCODER = msgspec.json.Encoder()
_KEPT = msgspec.json.Decoder(KeptFile)
_FORGOTTEN = msgspec.json.Decoder(Forgotten)


@dataclass(slots=True)
class JournalState:
    """The content of a journal."""

    files: dict[Key, list[KeptFile]] = field(default_factory=dict)
    """The stored states of each file, newest last."""
    forgotten: dict[Key, Forgotten] = field(default_factory=dict)
    damaged: list[int] = field(default_factory=list)
    """Numbers of unreadable lines."""
    lost: list[int] = field(default_factory=list)
    """Those that are unreadable in the copy too."""
    complete_bytes: int = 0
    """Bytes up to the end of the last complete line."""
    mark: tuple[int, ...] = field(default=(), compare=False)
    """The journal's file metadata: while it is unchanged, nothing was added."""

    def add(self, line: JournalLine) -> None:
        """Add one line."""
        if isinstance(line, Forgotten):
            self.files.pop(line.key, None)
            self.forgotten[line.key] = line
            return
        self.forgotten.pop(line.key, None)
        known = self.files.get(line.key)
        if known is None:
            self.files[line.key] = [line]
            return
        held = (line.sha256, line.grew_from)
        states = [state for state in known if state.sha256 not in held]
        states.append(line)
        if len(states) > 1 and states[-2].kept > line.kept:  # it came from another machine
            states.sort(key=lambda state: state.kept)
        self.files[line.key] = states

    def find_newest(self, root: str, path: str) -> KeptFile | None:
        """Return the newest state of a file."""
        known = self.files.get((root, path))
        return known[-1] if known else None

    def iter_states(self) -> Iterator[KeptFile]:
        """Yield every stored state."""
        for states in self.files.values():
            yield from states

    def find_needed_blocks(self) -> set[str]:
        """Return the blocks that some state needs."""
        return {block for state in self.iter_states() for block in state.blocks}

    @property
    def is_wordy(self) -> bool:
        """Whether most of the journal is about states replaced by newer ones."""
        needed = sum(LINE + NAME * len(state.blocks) for state in self.iter_states())
        return self.complete_bytes > 2 * (needed + LINE * len(self.forgotten)) + SLACK


def encode_line(line: JournalLine) -> bytes:
    """Return a line with its checksum and its newline."""
    body = _ENCODER.encode(line)
    return b'%s%08x",%s\n' % (LINE_HEAD, crc32(body), body[1:])


def decode_line(line: bytes) -> JournalLine | None:
    """Return the content of a line; None if it is damaged."""
    body = b"{" + line[BODY:]
    if not line.startswith(LINE_HEAD) or line[len(LINE_HEAD) : BODY] != b'%08x",' % crc32(body):
        return None
    try:
        if body.startswith(b'{"forget"'):
            return _FORGOTTEN.decode(body)
        return _KEPT.decode(body)
    except (msgspec.MsgspecError, ValueError):
        return None


class Journal:
    """The journal of a store."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / JOURNAL
        self.copy = JournalCopy(folder)

    def read(self) -> JournalState:
        """Return its content; an incomplete last line does not count."""
        states = JournalState(mark=self.mark())
        try:
            data = self.path.read_bytes()
        except FileNotFoundError:
            data = self.copy.read()
        states.complete_bytes = data.rfind(b"\n") + 1
        found, broken = _lines(data)
        if broken:
            found |= _lines(self.copy.read()[: states.complete_bytes])[0]
            states.damaged = [data.count(b"\n", 0, start) + 1 for start in broken]
            ends = {start: end for start, (end, _) in found.items()}
            lost = (
                place
                for place in broken
                if not any(start <= place < end for start, end in ends.items())
            )
            states.lost = [data.count(b"\n", 0, start) + 1 for start in lost]
        for start in sorted(found) if broken else found:
            states.add(found[start][1])
        return states

    def mark(self) -> tuple[int, ...]:
        """Return its file metadata; empty if there is none."""
        try:
            status = self.path.stat()
        except FileNotFoundError:
            return ()
        return status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns

    def add(self, lines: Iterable[JournalLine], states: JournalState) -> None:
        """Append lines, wait for the disk, and add them to the state."""
        lines = tuple(lines)
        data = b"".join(map(encode_line, lines))
        self.path.parent.mkdir(mode=OWNER_FOLDER, parents=True, exist_ok=True)
        handle = os.open(self.path, os.O_RDWR | os.O_CREAT | BINARY, OWNER_FILE)
        try:
            os.ftruncate(handle, states.complete_bytes)
            os.lseek(handle, states.complete_bytes, os.SEEK_SET)
            try:
                write_all(handle, data)
            except OSError:  # such as a full disk: leave no torn line
                os.ftruncate(handle, states.complete_bytes)
                raise
            os.fsync(handle)
        finally:
            os.close(handle)
        if not states.complete_bytes:
            sync_folder(self.path.parent)
        self.copy.add(self.path, data, states.complete_bytes)
        states.complete_bytes += len(data)
        for line in lines:
            states.add(line)

    def rewrite(self, states: JournalState) -> None:
        """Replace the journal by an equivalent one with fewer lines."""
        lines: list[JournalLine] = [*states.iter_states(), *states.forgotten.values()]
        data = b"".join(map(encode_line, sorted(lines, key=lambda line: line.kept)))
        self.copy.drop()
        replace_file(self.path, data, mode=OWNER_FILE)
        self.copy.add(self.path, data, 0)
        states.complete_bytes, states.damaged, states.lost = len(data), [], []

    def stored_bytes(self) -> int:
        """Return its size, with its copy."""
        paths = (self.path, self.copy.path)
        return sum(path.stat().st_size for path in paths if path.exists())


def _lines(data: bytes) -> tuple[dict[int, tuple[int, JournalLine]], list[int]]:
    """Return the readable lines by offset, and the offsets of others."""
    found: dict[int, tuple[int, JournalLine]] = {}
    broken: list[int] = []
    start = 0
    while end := data.find(b"\n", start) + 1:
        line = decode_line(data[start : end - 1])
        if line is None:
            broken.append(start)
        else:
            found[start] = (end, line)
        start = end
    return found, broken
