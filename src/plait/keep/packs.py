"""Blocks to packs on the disk, and the name of a block to its bytes.

    packs/000001.pack     zstd frames, one behind the other; each holds several blocks
    packs/000001.index    a line for each block: its SHA-256, where it lies

A pack never changes once it has its name, and gets it last: whatever has another name was never
finished. Before each frame stands another one, which `zstd` passes over: the names and sizes of
the blocks, so that nothing is lost with an index.
"""

import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

import msgspec
from msgspec import Struct

from plait.keep.blocks import LONGEST
from plait.keep.zstd import HEAD, SKIPPABLE, BrokenFrame, beginning, note, packed, plain
from plait.line.atomic import settle
from plait.line.folder import OWNER_FILE, OWNER_FOLDER

PACK, INDEX, NEW = ".pack", ".index", ".new"
FRAME = 8 << 20
"""Bytes of blocks that are compressed together."""
FULL = 64 << 20
"""Bytes after which a new pack is begun."""
NAME_BYTES, SIZE_BYTES = 32, 4


class IndexLine(Struct, frozen=True):
    """Where a block lies."""

    sha256: str
    at: int
    """Its first byte in what `zstd -dc` makes of the pack."""
    size: int
    frame: int
    """The first byte of its frame in the pack."""
    packed: int
    """The bytes of its frame."""


class Place(NamedTuple):
    """Where a block lies, with its frame."""

    pack: int
    frame: int
    packed: int
    plain: int
    """Bytes of all blocks of the frame."""
    skip: int
    """Bytes of the frame before the block."""
    size: int


class LostBlock(Exception):
    """A block is not there, or not what it should be."""


_DECODER = msgspec.json.Decoder(IndexLine)
_ENCODER = msgspec.json.Encoder()


class Packs:
    """The packs of a folder, to read from."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._places: dict[str, Place] | None = None
        self._seen: tuple[int, ...] = ()
        self._are_listed = False
        """The packs themselves were asked, because an index is damaged."""
        self._frame: tuple[int, int, bytes] = (0, 0, b"")

    @property
    def places(self) -> dict[str, Place]:
        """Where each block lies."""
        if self._places is None:
            self._seen = self.numbers()
            self._places = {
                name: place for number in self._seen for name, place in self.index(number)
            }
        return self._places

    def miss(self, names: Iterable[str]) -> None:
        """Passes over blocks that are damaged: they are to be stored again."""
        for name in names:
            self.places.pop(name, None)

    def forget(self) -> None:
        """Reads the folder anew when it is asked next."""
        self._places, self._are_listed = None, False

    def numbers(self) -> tuple[int, ...]:
        """Returns the packs that are whole, in the order in which they were written."""
        return tuple(sorted(self._named(PACK)))

    def _named(self, suffix: str) -> set[int]:
        try:
            names = os.listdir(self.folder)  # noqa: PTH208
        except FileNotFoundError:
            return set()
        stems = (name.removesuffix(suffix) for name in names if name.endswith(suffix))
        return {int(stem) for stem in stems if stem.isdecimal()}

    def next_number(self) -> int:
        """Returns a number that no pack has."""
        return max(self._named(INDEX) | self._named(PACK), default=0) + 1

    def path(self, number: int, suffix: str = PACK) -> Path:
        """Returns where a pack lies, or its index."""
        return self.folder / f"{number:06}{suffix}"

    def index(self, number: int) -> Iterator[tuple[str, Place]]:
        """Yields the blocks of a pack; where its index is damaged, by what the pack itself says."""
        try:
            lines = _DECODER.decode_lines(self.path(number, INDEX).read_bytes())
        except (FileNotFoundError, msgspec.MsgspecError, ValueError):
            lines = self.listed(number)
        yield from _placed(number, lines)

    def listed(self, number: int) -> list[IndexLine]:
        """Returns what a pack says of its blocks by itself."""
        found: list[IndexLine] = []
        with suppress(OSError, _Torn), self.path(number).open("rb") as file:
            at = 0
            for frame, length, names in _frames(file.fileno()):
                for name, size in names:
                    found.append(IndexLine(name, at, size, frame, length))
                    at += size
        return found

    def read(self, name: str) -> bytes:
        """Returns a block, and raises where it is not there or not what its name says."""
        try:
            return self._read(name)
        except LostBlock:
            if self._seen != self.numbers():
                self.forget()  # packs were put together since
            elif not self._ask_packs():
                raise
        return self._read(name)

    def _ask_packs(self) -> bool:
        """Takes what the packs say of themselves for their indexes; tells whether that is news."""
        if self._are_listed:
            return False
        self._are_listed = True
        listed = {
            name: place
            for number in self._seen
            for name, place in _placed(number, self.listed(number))
        }
        is_news = listed.items() - self.places.items()
        self.places.update(listed)
        self._frame = (0, 0, b"")
        return bool(is_news)

    def _read(self, name: str) -> bytes:
        place = self.places.get(name)
        if place is None:
            raise LostBlock("it is in no pack")
        data = self._of_frame(place)[place.skip : place.skip + place.size]
        if sha256(data).hexdigest() != name:
            data = b""
        if len(data) != place.size:
            raise LostBlock("its bytes are not those that were kept")
        return data

    def _of_frame(self, place: Place) -> bytes:
        if self._frame[:2] != (place.pack, place.frame):
            frame = self._frame_bytes(place)
            try:
                data = plain(frame, place.plain)
            except BrokenFrame:
                data = beginning(frame, place.plain)
            self._frame = (place.pack, place.frame, data)
        return self._frame[2]

    def _frame_bytes(self, place: Place) -> bytes:
        try:
            with self.path(place.pack).open("rb") as file:
                file.seek(place.frame)
                return file.read(place.packed)
        except FileNotFoundError:
            raise LostBlock("its pack is gone") from None

    def where(self, name: str) -> str:
        """Returns in words where a block lies."""
        place = self.places.get(name)
        if place is None:
            return "no pack"
        return f"{self.path(place.pack).name}, frame at byte {place.frame}"

    def stored_bytes(self) -> int:
        """Returns how large all packs are, with their indexes."""
        found = 0
        for number in self.numbers():
            for suffix in (PACK, INDEX):
                with suppress(FileNotFoundError):
                    found += self.path(number, suffix).stat().st_size
        return found


class _Torn(Exception):
    """A pack ends within a frame."""


def _placed(number: int, lines: Iterable[IndexLine]) -> Iterator[tuple[str, Place]]:
    together: dict[int, list[IndexLine]] = {}
    for line in lines:
        together.setdefault(line.frame, []).append(line)
    for frame, inside in together.items():
        start = min(line.at for line in inside)
        whole = sum(line.size for line in inside)
        for line in inside:
            skip = line.at - start
            yield line.sha256, Place(number, frame, line.packed, whole, skip, line.size)


def _frames(handle: int) -> Iterator[tuple[int, int, list[tuple[str, int]]]]:
    """Yields where each frame of a pack lies, its length and the blocks in it."""
    at, end = 0, os.fstat(handle).st_size
    while at < end:
        magic, length = _head(handle, at)
        names = os.pread(handle, length, at + HEAD.size)
        if magic != SKIPPABLE or len(names) != length or length % (NAME_BYTES + SIZE_BYTES) != 4:
            raise _Torn
        packed_length = int.from_bytes(names[:SIZE_BYTES], "little")
        at += HEAD.size + length
        yield at, packed_length, list(_names(names[SIZE_BYTES:]))
        at += packed_length


def _head(handle: int, at: int) -> tuple[int, int]:
    head = os.pread(handle, HEAD.size, at)
    if len(head) < HEAD.size:
        raise _Torn
    magic, length = HEAD.unpack(head)
    return magic, length


def _names(data: bytes) -> Iterator[tuple[str, int]]:
    for at in range(0, len(data), NAME_BYTES + SIZE_BYTES):
        size = int.from_bytes(data[at + NAME_BYTES : at + NAME_BYTES + SIZE_BYTES], "little")
        yield data[at : at + NAME_BYTES].hex(), size


class PackWriter:
    """New blocks to packs, under the lock of the store."""

    def __init__(self, packs: Packs) -> None:
        self.packs = packs
        self._blocks: dict[str, int] = {}
        """The sizes of those that wait for their frame."""
        self._room = memoryview(bytearray(FRAME + LONGEST))
        self._waiting = 0
        """Bytes of them, in the room."""
        self._lines: list[IndexLine] = []
        self._written: set[str] = set()
        self._file: int | None = None
        self._number = 0
        self._end = self._at = 0
        self.stored = 0

    def has(self, name: str) -> bool:
        """Tells whether a block is in the store, or on its way there."""
        return name in self._blocks or name in self._written or name in self.packs.places

    def add(self, name: str, data: bytes | memoryview) -> None:
        """Takes a block in that the store does not have."""
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
            self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, OWNER_FILE)
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
        lines = b"".join(_ENCODER.encode(line) + b"\n" for line in self._lines)
        _write_through(self._draft(INDEX), lines)
        self._draft(INDEX).rename(self.packs.path(self._number, INDEX))
        self._draft(PACK).rename(self.packs.path(self._number))
        settle(self.packs.folder)
        self.packs.places.update(_placed(self._number, self._lines))
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


def _write_all(handle: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(handle, view) :]


def _write_through(path: Path, data: bytes) -> None:
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, OWNER_FILE)
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
