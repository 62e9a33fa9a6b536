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
from typing import BinaryIO, NamedTuple

import msgspec
from msgspec import Struct

from plait.keep.zstd import HEAD, SKIPPABLE, BrokenFrame, beginning, plain

PACK, INDEX, NEW = ".pack", ".index", ".new"
FRAME = 8 << 20
"""Bytes of blocks that are compressed together, at most; those of one project."""
ENOUGH = 2 << 20
"""Bytes from which on a frame ends with its session."""
MOST_FRAME = 64 << 20
"""Bytes that no frame exceeds, whoever made it."""
MOST_HELD = 128 << 20
"""Bytes of frames that are at hand: the blocks of a session that grew lie in several."""
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


class Packs:
    """The packs of a folder, to read from."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._places: dict[str, Place] | None = None
        self._seen: tuple[int, ...] = ()
        self._changed = 0
        self._are_listed = False
        """The packs themselves were asked, because an index is damaged."""
        self._plain: dict[tuple[int, int], bytes] = {}
        """Frames that were read, by their places, the last one last."""

    @property
    def places(self) -> dict[str, Place]:
        """Where each block lies."""
        if self._places is None:
            self._seen, self._changed = self.numbers(), self._stamp()
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
        self._plain.clear()  # a number may come again

    def _stamp(self) -> int:
        """Returns when a pack last came or went: one may have the number of another before it."""
        try:
            return self.folder.stat().st_mtime_ns
        except FileNotFoundError:
            return 0

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
        lines = self.indexed(number)
        return placed(number, self.listed(number) if lines is None else lines)

    def indexed(self, number: int) -> list[IndexLine] | None:
        """Returns what the index of a pack says, None where it cannot be read."""
        try:
            return _DECODER.decode_lines(self.path(number, INDEX).read_bytes())
        except (OSError, msgspec.MsgspecError, ValueError):
            return None

    def listed(self, number: int) -> list[IndexLine]:
        """Returns what a pack says of its blocks by itself."""
        found: list[IndexLine] = []
        with suppress(OSError, _Torn), self.path(number).open("rb") as file:
            at = 0
            for frame, length, names in _frames(file):
                for name, size in names:
                    found.append(IndexLine(name, at, size, frame, length))
                    at += size
        return found

    def read(self, name: str) -> bytes:
        """Returns a block, and raises where it is not there or not what its name says."""
        try:
            return self._read(name)
        except LostBlock:
            if (self._seen, self._changed) != (self.numbers(), self._stamp()):
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
            for name, place in placed(number, self.listed(number))
        }
        is_news = listed.items() - self.places.items()
        self.places.update(listed)
        self._plain.clear()
        return bool(is_news)

    def _read(self, name: str) -> bytes:
        place = self.places.get(name)
        if place is None:
            raise LostBlock("it is in no pack")
        return self.read_at(name, place)

    def read_at(self, name: str, place: Place) -> bytes:
        """Returns a block that is said to lie at a place, and raises where it does not."""
        if not 0 <= place.skip <= place.plain - place.size <= place.plain <= MOST_FRAME:
            raise LostBlock("its index is wrong")
        data = self._of_frame(place)[place.skip : place.skip + place.size]
        if len(data) != place.size or sha256(data).hexdigest() != name:
            raise LostBlock("its bytes are not those that were kept")
        return data

    def _of_frame(self, place: Place) -> bytes:
        key = place.pack, place.frame
        data = self._plain.pop(key, None)
        if data is None:
            frame = self._frame_bytes(place)
            try:
                data = plain(frame, place.plain)
            except BrokenFrame:
                data = beginning(frame, place.plain)
        self._plain[key] = data
        while len(self._plain) > 1 and sum(map(len, self._plain.values())) > MOST_HELD:
            del self._plain[next(iter(self._plain))]
        return data

    def _frame_bytes(self, place: Place) -> bytes:
        try:
            with self.path(place.pack).open("rb") as file:
                file.seek(place.frame)
                return file.read(place.packed)
        except OSError as error:
            raise LostBlock(f"its pack: {(error.strerror or str(error)).lower()}") from error

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


def placed(number: int, lines: Iterable[IndexLine]) -> Iterator[tuple[str, Place]]:
    """Yields the blocks of a pack with their places."""
    together: dict[int, list[IndexLine]] = {}
    for line in lines:
        together.setdefault(line.frame, []).append(line)
    for frame, inside in together.items():
        start = min(line.at for line in inside)
        whole = sum(line.size for line in inside)
        for line in inside:
            skip = line.at - start
            yield line.sha256, Place(number, frame, line.packed, whole, skip, line.size)


def _frames(file: BinaryIO) -> Iterator[tuple[int, int, list[tuple[str, int]]]]:
    """Yields where each frame of a pack lies, its length and the blocks in it."""
    at, end = 0, file.seek(0, os.SEEK_END)
    while at < end:
        file.seek(at)
        names = _note(file)
        at += HEAD.size + len(names)
        length = int.from_bytes(names[:SIZE_BYTES], "little")
        yield at, length, list(_names(names[SIZE_BYTES:]))
        at += length


def _note(file: BinaryIO) -> bytes:
    """Returns what stands before a frame."""
    head = file.read(HEAD.size)
    if len(head) < HEAD.size:
        raise _Torn
    magic, length = HEAD.unpack(head)
    names = file.read(length) if magic == SKIPPABLE else b""
    if not names or len(names) != length or length % (NAME_BYTES + SIZE_BYTES) != SIZE_BYTES:
        raise _Torn
    return names


def _names(data: bytes) -> Iterator[tuple[str, int]]:
    for at in range(0, len(data), NAME_BYTES + SIZE_BYTES):
        size = int.from_bytes(data[at + NAME_BYTES : at + NAME_BYTES + SIZE_BYTES], "little")
        yield data[at : at + NAME_BYTES].hex(), size
