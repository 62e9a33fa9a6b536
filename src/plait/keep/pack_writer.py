"""New blocks to a new pack, that is there whole or not at all.

000007.pack.new ── on the disk ── 000007.index ── 000007.pack
"""

import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

import msgspec

from plait.keep.blocks import LONGEST
from plait.keep.packs import ENOUGH, FRAME, INDEX, NEW, PACK, SIZE_BYTES, IndexLine, Packs, placed
from plait.keep.zstd import note, packed
from plait.line.atomic import replace_file, settle
from plait.line.folder import BINARY, OWNER_FILE, OWNER_FOLDER

FULL = 64 << 20
"""Bytes after which a new pack is begun."""
FLAGS = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | BINARY
_ENCODER = msgspec.json.Encoder()


class PackWriter:
    """New blocks to packs, under the lock of the store."""

    def __init__(self, packs: Packs) -> None:
        self.packs = packs
        self._blocks: dict[str, int] = {}
        """The sizes of those that wait for their frame."""
        self._room = memoryview(bytearray(FRAME + LONGEST))
        self._waiting = 0
        """Bytes of them, in the room."""
        self._owner = "", "", ""
        """Root, project and session whose blocks come."""
        self._lines: list[IndexLine] = []
        self._written: set[str] = set()
        self._file: int | None = None
        self._number = 0
        self._end = self._at = 0
        self.stored = 0

    def has(self, name: str) -> bool:
        """Tells whether a block is in the store, or on its way there."""
        return name in self._blocks or name in self._written or name in self.packs.places

    def turn_to(self, root: str, project: str, session: str) -> None:
        """Says whose blocks follow: damage to a frame is to hurt one project, and few sessions."""
        owner, before = (root, project, session), self._owner
        is_enough = self._waiting >= ENOUGH and owner != before
        if is_enough or owner[:2] != before[:2]:
            self._flush()
        self._owner = owner

    def add(self, name: str, data: bytes | memoryview) -> None:
        """Takes a block in that the store does not have."""
        if len(data) > len(self._room) - self._waiting:  # cut when blocks were larger
            self._flush()
            self._room = memoryview(bytearray(FRAME + len(data)))
        self._blocks[name] = len(data)
        self._room[self._waiting : self._waiting + len(data)] = data
        self._waiting += len(data)
        if self._waiting >= FRAME:
            self._flush()

    @property
    def is_full(self) -> bool:
        """Whether the pack is as large as a pack is to be."""
        return self._end >= FULL

    def _flush(self) -> None:
        if not self._blocks:
            return
        frame = packed(self._room[: self._waiting])
        names = b"".join(
            bytes.fromhex(name) + size.to_bytes(SIZE_BYTES, "little")
            for name, size in self._blocks.items()
        )
        head = note(len(frame).to_bytes(SIZE_BYTES, "little") + names)
        handle = self._opened()
        _write_all(handle, head + frame)
        start = self._end + len(head)
        for name, size in self._blocks.items():
            self._lines.append(IndexLine(name, self._at, size, start, len(frame)))
            self._at += size
        self._end = start + len(frame)
        self._written.update(self._blocks)
        self._blocks, self._waiting = {}, 0

    def _opened(self) -> int:
        if self._file is None:
            self.packs.folder.mkdir(mode=OWNER_FOLDER, parents=True, exist_ok=True)
            self._number = self.packs.next_number()
            path = self._draft(PACK)
            self._file = os.open(path, FLAGS, OWNER_FILE)
        return self._file

    def _draft(self, suffix: str) -> Path:
        return self.packs.path(self._number, f"{suffix}{NEW}")

    def commit(self) -> None:
        """Waits until all blocks are on the disk and can be found there."""
        self._flush()
        if self._file is None:
            return
        os.fsync(self._file)
        os.close(self._file)
        self._file = None
        lines = _encoded(self._lines)
        _write_through(self._draft(INDEX), lines)
        self._draft(INDEX).rename(self.packs.path(self._number, INDEX))
        self._draft(PACK).rename(self.packs.path(self._number))
        settle(self.packs.folder)
        self.packs.places.update(placed(self._number, self._lines))
        self.stored += self._end + len(lines)
        self._written, self._lines, self._end, self._at = set(), [], 0, 0

    def give_up(self) -> None:
        """Leaves the store as the last commit left it."""
        if self._file is not None:
            os.close(self._file)
            self._file = None
            with suppress(OSError):
                self._draft(PACK).unlink(missing_ok=True)
                self._draft(INDEX).unlink(missing_ok=True)


def write_index(path: Path, lines: Iterable[IndexLine]) -> None:
    """Puts an index in the place of one that is damaged."""
    replace_file(path, _encoded(lines), mode=OWNER_FILE)


def _encoded(lines: Iterable[IndexLine]) -> bytes:
    return b"".join(_ENCODER.encode(line) + b"\n" for line in lines)


def _write_all(handle: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(handle, view) :]


def _write_through(path: Path, data: bytes) -> None:
    handle = os.open(path, FLAGS, OWNER_FILE)
    try:
        _write_all(handle, data)
        os.fsync(handle)
    finally:
        os.close(handle)


def clear_away(packs: Packs) -> None:
    """Deletes what a run that was cut off left: drafts, and indexes of packs that never were."""
    whole = set(packs.numbers())
    for path in packs.folder.glob("*"):
        stem, _, suffix = path.name.partition(".")
        is_alone = f".{suffix}" == INDEX and stem.isdecimal() and int(stem) not in whole
        if path.name.endswith(NEW) or is_alone:
            path.unlink(missing_ok=True)
