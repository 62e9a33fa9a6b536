"""Lines that say what is kept to the states of files, and back; only ever added to.

    {"crc":"…","root":…,"path":…,"session":…,"size":…,"sha256":…,"blocks":[…]}   a state of a file
    {"crc":"…","forget":…,"root":…,"path":…,"size":…,"modified":…}               its states so far

Each line carries the CRC-32 of itself without that field. A line that was cut off at the end is
taken away by the next run. Beside it lies a compressed copy: a line that is damaged is read there.
"""

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias
from zlib import crc32

import msgspec
from msgspec import Struct

from plait.keep.journal_copy import JournalCopy
from plait.keep.model import KeptFile
from plait.line.atomic import replace_file, settle
from plait.line.folder import BINARY, OWNER_FILE, OWNER_FOLDER

JOURNAL = "journal.jsonl"
HEAD = b'{"crc":"'
BODY = len(HEAD) + 10
"""Where what follows the checksum begins."""
LINE, NAME = 400, 67
"""Bytes of a line, about, and of each block it names."""
SLACK = 64 << 10


class Forgotten(Struct, frozen=True, tag_field="forget", tag="file", kw_only=True):
    """A file whose states up to here are not kept any more."""

    root: str
    path: str
    size: int
    modified: int
    """As it was at its source: unless it changes, it is not kept again."""
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
class States:
    """What a journal says."""

    files: dict[Key, list[KeptFile]] = field(default_factory=dict)
    """The states of each file that are kept, the newest last."""
    forgotten: dict[Key, Forgotten] = field(default_factory=dict)
    damaged: list[int] = field(default_factory=list)
    """The numbers of lines that cannot be read."""
    lost: list[int] = field(default_factory=list)
    """Those of them that cannot be read in the copy either."""
    whole: int = 0
    """Bytes up to the end of the last whole line."""
    mark: tuple[int, ...] = field(default=(), compare=False)
    """What the system said of the journal: as long as it says so, nothing was added."""

    def take(self, line: JournalLine) -> None:
        """Takes one line in."""
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

    def newest(self, root: str, path: str) -> KeptFile | None:
        """Returns the newest state of a file."""
        known = self.files.get((root, path))
        return known[-1] if known else None

    def all(self) -> Iterator[KeptFile]:
        """Yields every state that is kept."""
        for states in self.files.values():
            yield from states

    def live(self) -> set[str]:
        """Returns the blocks that some state needs."""
        return {block for state in self.all() for block in state.blocks}

    @property
    def is_wordy(self) -> bool:
        """Whether most of the journal is about states that newer ones took the place of."""
        needed = sum(LINE + NAME * len(state.blocks) for state in self.all())
        return self.whole > 2 * (needed + LINE * len(self.forgotten)) + SLACK


def encoded(line: JournalLine) -> bytes:
    """Returns a line with its checksum and its newline."""
    body = _ENCODER.encode(line)
    return b'%s%08x",%s\n' % (HEAD, crc32(body), body[1:])


def decoded(line: bytes) -> JournalLine | None:
    """Returns what a line says, None where it is damaged."""
    body = b"{" + line[BODY:]
    if not line.startswith(HEAD) or line[len(HEAD) : BODY] != b'%08x",' % crc32(body):
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

    def read(self) -> States:
        """Returns what it says; a last line without its end does not count."""
        states = States(mark=self.mark())
        try:
            data = self.path.read_bytes()
        except FileNotFoundError:
            data = self.copy.read()
        states.whole = data.rfind(b"\n") + 1
        found, broken = _lines(data)
        if broken:
            found |= _lines(self.copy.read()[: states.whole])[0]
            states.damaged = [data.count(b"\n", 0, start) + 1 for start in broken]
            ends = {start: end for start, (end, _) in found.items()}
            lost = (start for start in broken if not _is_covered(start, ends))
            states.lost = [data.count(b"\n", 0, start) + 1 for start in lost]
        for start in sorted(found) if broken else found:
            states.take(found[start][1])
        return states

    def mark(self) -> tuple[int, ...]:
        """Returns what the system says of it now, nothing where there is none."""
        try:
            status = self.path.stat()
        except FileNotFoundError:
            return ()
        return status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns

    def add(self, lines: Iterable[JournalLine], states: States) -> None:
        """Adds lines behind what is whole, waits for the disk, and takes them in."""
        lines = tuple(lines)
        data = b"".join(map(encoded, lines))
        self.path.parent.mkdir(mode=OWNER_FOLDER, parents=True, exist_ok=True)
        handle = os.open(self.path, os.O_RDWR | os.O_CREAT | BINARY, OWNER_FILE)
        try:
            os.ftruncate(handle, states.whole)
            os.lseek(handle, states.whole, os.SEEK_SET)
            _write_all(handle, data, states.whole)
            os.fsync(handle)
        finally:
            os.close(handle)
        if not states.whole:
            settle(self.path.parent)
        self.copy.add(self.path, data, states.whole)
        states.whole += len(data)
        for line in lines:
            states.take(line)

    def rewrite(self, states: States) -> None:
        """Puts in its place a journal that says the same in fewer lines."""
        lines: list[JournalLine] = [*states.all(), *states.forgotten.values()]
        data = b"".join(map(encoded, sorted(lines, key=lambda line: line.kept)))
        self.copy.drop()
        replace_file(self.path, data, mode=OWNER_FILE)
        self.copy.add(self.path, data, 0)
        states.whole, states.damaged, states.lost = len(data), [], []

    def stored_bytes(self) -> int:
        """Returns how large it is, with its copy."""
        paths = (self.path, self.copy.path)
        return sum(path.stat().st_size for path in paths if path.exists())


def _lines(data: bytes) -> tuple[dict[int, tuple[int, JournalLine]], list[int]]:
    """Returns the lines that can be read, by where they begin, and where others do."""
    found: dict[int, tuple[int, JournalLine]] = {}
    broken: list[int] = []
    start = 0
    while end := data.find(b"\n", start) + 1:
        line = decoded(data[start : end - 1])
        if line is None:
            broken.append(start)
        else:
            found[start] = (end, line)
        start = end
    return found, broken


def _is_covered(place: int, ends: dict[int, int]) -> bool:
    return any(start <= place < end for start, end in ends.items())


def _write_all(handle: int, data: bytes, whole: int) -> None:
    view = memoryview(data)
    try:
        while view:
            view = view[os.write(handle, view) :]
    except OSError:
        os.ftruncate(handle, whole)
        raise
