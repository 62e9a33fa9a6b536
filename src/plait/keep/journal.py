"""Lines that say what is kept to the states of files, and back; only ever added to.

    {"crc":"…","root":…,"path":…,"session":…,"size":…,"sha256":…,"blocks":[…]}   a state of a file
    {"crc":"…","forget":…,"root":…,"path":…,"size":…,"modified":…}               its states so far

Each line carries the CRC-32 of itself without that field. A line that was cut off at the end is
taken away by the next run; one that is damaged is passed over, and named by `verify`.
"""

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias
from zlib import crc32

import msgspec
from msgspec import Struct

from plait.keep.model import KeptFile
from plait.line.atomic import replace_file
from plait.line.folder import OWNER_FILE, OWNER_FOLDER

JOURNAL = "journal.jsonl"
HEAD = b'{"crc":"'
BODY = len(HEAD) + 10
"""Where what follows the checksum begins."""


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
    whole: int = 0
    """Bytes up to the end of the last whole line."""
    lines: int = 0

    def take(self, line: JournalLine) -> None:
        """Takes one line in."""
        self.lines += 1
        if isinstance(line, Forgotten):
            self.files.pop(line.key, None)
            self.forgotten[line.key] = line
            return
        self.forgotten.pop(line.key, None)
        held = (line.sha256, line.grew_from)
        states = [state for state in self.files.get(line.key, ()) if state.sha256 not in held]
        states.append(line)
        if len(states) > 1 and states[-2].kept > line.kept:  # it came from another machine
            states.sort(key=lambda state: state.kept)
        self.files[line.key] = states

    @property
    def newest(self) -> Iterator[KeptFile]:
        """The newest state of each file."""
        return (states[-1] for states in self.files.values())

    def all(self) -> Iterator[KeptFile]:
        """Yields every state that is kept."""
        for states in self.files.values():
            yield from states

    def live(self) -> set[str]:
        """Returns the blocks that some state needs."""
        return {block for state in self.all() for block in state.blocks}


def encoded(line: JournalLine) -> bytes:
    """Returns a line with its checksum and its newline."""
    body = _ENCODER.encode(line)
    return b'%s%08x",%s\n' % (HEAD, crc32(body), body[1:])


def decoded(line: bytes) -> JournalLine | None:
    """Returns what a line says, None where it is damaged."""
    body = b"{" + line[BODY:]
    if not line.startswith(HEAD) or line[len(HEAD) : BODY - 2] != b"%08x" % crc32(body):
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

    def read(self) -> States:
        """Returns what it says; a last line without its end does not count."""
        states = States()
        try:
            data = self.path.read_bytes()
        except FileNotFoundError:
            return states
        states.whole = data.rfind(b"\n") + 1
        for number, line in enumerate(data[: states.whole].split(b"\n")[:-1], 1):
            found = decoded(line)
            if found is None:
                states.damaged.append(number)
            else:
                states.take(found)
        return states

    def add(self, lines: Iterable[JournalLine], whole: int) -> int:
        """Adds lines behind what is whole, waits for the disk; returns where they end."""
        data = b"".join(map(encoded, lines))
        self.path.parent.mkdir(mode=OWNER_FOLDER, parents=True, exist_ok=True)
        handle = os.open(self.path, os.O_WRONLY | os.O_CREAT, OWNER_FILE)
        try:
            os.ftruncate(handle, whole)
            os.lseek(handle, whole, os.SEEK_SET)
            _write_all(handle, data, whole)
            os.fsync(handle)
        finally:
            os.close(handle)
        return whole + len(data)

    def rewrite(self, states: States) -> None:
        """Puts in its place a journal that says the same in fewer lines."""
        lines: list[JournalLine] = [*states.all(), *states.forgotten.values()]
        data = b"".join(map(encoded, sorted(lines, key=lambda line: line.kept)))
        replace_file(self.path, data, mode=OWNER_FILE)
        states.whole, states.lines = len(data), len(lines)


def _write_all(handle: int, data: bytes, whole: int) -> None:
    view = memoryview(data)
    try:
        while view:
            view = view[os.write(handle, view) :]
    except OSError:
        os.ftruncate(handle, whole)
        raise
