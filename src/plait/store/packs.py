"""Packs of compressed blocks: how files are split, stored, read and checked.

    line line line line │ line line │ line …          block ends depend on a hash of the line before

Files that share lines share blocks, and a file that grew keeps all its old blocks but the last.

    packs/000001.pack     zstd frames, one after the other; each holds several blocks
    packs/000001.index    a line for each block: its SHA-256 and where it is

    000007.pack.new ── synced ── 000007.index ── 000007.pack

A pack never changes once it has its name, and gets it last: anything under another name was never
finished. Before each frame is a skippable frame that names its blocks, so that a lost index can be
rebuilt.
"""

import os
import struct
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple, TypeAlias
from zlib import crc32

import msgspec
from msgspec import Struct

from plait.line.compression import zstd
from plait.line.output import BINARY, OWNER_FILE, OWNER_FOLDER, replace_file, sync_folder

LEVEL = 3
WINDOW, HASHES, MATCH = 23, 18, 6
"""Eight megabytes, the size of a frame. `zstd` reads up to 27 without options. Larger tables of
longer matches than the level's defaults: logs repeat themselves in long runs.
"""
SKIPPABLE = 0x184D2A50
FRAME_HEAD = struct.Struct("<II")


class BrokenFrame(Exception):
    """The bytes are no complete frame."""


def encode_note(data: bytes) -> bytes:
    """Return bytes as a frame that `zstd` skips."""
    return FRAME_HEAD.pack(SKIPPABLE, len(data)) + data


OPTIONS: dict[int, int] = {
    zstd.CompressionParameter.compression_level: LEVEL,
    zstd.CompressionParameter.window_log: WINDOW,
    zstd.CompressionParameter.hash_log: HASHES,
    zstd.CompressionParameter.min_match: MATCH,
    zstd.CompressionParameter.checksum_flag: 1,
}


def packed(data: bytes | memoryview) -> bytes:
    """Return bytes as one frame with its size and a checksum."""
    frame: bytes = zstd.compress(data, options=OPTIONS)
    return frame


def plain(frame: bytes, size: int) -> bytes:
    """Return the bytes of a frame, and raise if the sizes do not match."""
    try:
        data = zstd.ZstdDecompressor().decompress(frame, size + 1)
    except zstd.ZstdError as error:
        raise BrokenFrame(str(error)) from error
    if len(data) != size:
        raise BrokenFrame(f"{len(data)} bytes instead of {size}")
    return data


_BROKEN: tuple[type[Exception], ...] = (zstd.ZstdError, EOFError)
STEP = 1 << 12


def read_damaged(frame: bytes, size: int) -> bytes:
    """Return what can be read of a damaged frame: everything before the damage."""
    reader, found = zstd.ZstdDecompressor(), bytearray()
    for at in range(0, len(frame), STEP):
        try:
            found += reader.decompress(frame[at : at + STEP])
        except _BROKEN:
            break
        if len(found) > size:
            return bytes(found[:size])
    else:
        return bytes(found[:size])
    # Once more up to the step that failed, and byte by byte within it.
    reader = zstd.ZstdDecompressor()
    found = bytearray(reader.decompress(frame[:at])) if at else bytearray()
    with suppress(*_BROKEN):
        for place in range(at, min(at + STEP, len(frame))):
            found += reader.decompress(frame[place : place + 1])
    return bytes(found[:size])


MIN_BLOCK = 32 << 10
"""Minimum size of a block."""
MAX_BLOCK_TARGET = 256 << 10
"""Size from which a block ends with its line."""
MAX_BLOCK = 1 << 20
"""Size at which a block ends anywhere."""
BOUNDARY_RATE = 16
"""The average number of lines per block boundary."""
BOUNDARY_BYTES = 256
"""Bytes at the beginning of a line that decide: they contain ids and times."""
ROOM = 4 * MAX_BLOCK

Fill: TypeAlias = Callable[[memoryview], int]
"""Writes the next bytes of a file to a buffer and returns their number: 0 at the end."""


class BlockSplitter:
    """Splits one file after another, in the same buffer."""

    def __init__(self) -> None:
        self._buffer = bytearray(ROOM)

    def split(self, fill: Fill, first: bytes = b"") -> Iterator[memoryview]:
        """Yield the blocks of a file with this beginning, filled by a function.

        A block is valid until the next one is requested.
        """
        buffer, view = self._buffer, memoryview(self._buffer)
        start, end, is_more = 0, len(first), True
        view[:end] = first
        while is_more or start < end:
            if is_more and end - start < MAX_BLOCK:
                view[: end - start] = view[start:end]
                start, end = 0, end - start
                count = fill(view[end:])
                is_more, end = count > 0, end + count
                continue
            cut = _end(buffer, view, start, end)
            yield view[start:cut]
            start = cut


def _end(buffer: bytearray, view: memoryview, start: int, end: int) -> int:
    """Return the end of the block at a position, if no more bytes follow."""
    longest = min(start + MAX_BLOCK, end)
    line = buffer.find(b"\n", min(start + MIN_BLOCK, longest) - 1, longest) + 1
    if not line:
        is_too_long = longest - start == MAX_BLOCK
        return (is_too_long and buffer.rfind(b"\n", start, start + MIN_BLOCK) + 1) or longest
    while line - start < MAX_BLOCK_TARGET:
        following = buffer.find(b"\n", line, longest) + 1
        if not following:  # at the end of all lines, or before one that is too long
            return longest if longest - start < MAX_BLOCK else line
        if crc32(view[line : min(following, line + BOUNDARY_BYTES)]) % BOUNDARY_RATE == 0:
            return following
        line = following
    return line


DAMAGED = "damaged.txt"


def read_damaged_blocks(folder: Path) -> frozenset[str]:
    """Return the blocks that were found damaged."""
    try:
        return frozenset((folder / DAMAGED).read_text("ascii", "replace").split())
    except OSError:
        return frozenset()


def mark_damaged(folder: Path, names: Iterable[str]) -> None:
    """Note which blocks are damaged, if the store is writable."""
    path, found = folder / DAMAGED, sorted(names)
    with suppress(OSError):
        if found:
            replace_file(path, "".join(f"{name}\n" for name in found).encode())
        else:
            path.unlink(missing_ok=True)


PACK, INDEX, NEW = ".pack", ".index", ".new"
FRAME = 8 << 20
"""Maximum size of blocks that are compressed together, all of one project."""
ENOUGH = 2 << 20
"""Size from which a frame ends with its session."""
MOST_FRAME = 64 << 20
"""Size that no frame exceeds, whoever made it."""
MOST_HELD = 128 << 20
"""Size of cached frames: the blocks of a growing session are in several."""
NAME_BYTES, SIZE_BYTES = 32, 4


class IndexLine(Struct, frozen=True):
    """The place of a block."""

    sha256: str
    at: int
    """Its first byte in the output of `zstd -dc` of the pack."""
    size: int
    frame: int
    """The first byte of its frame in the pack."""
    packed: int
    """The size of its frame."""


class Place(NamedTuple):
    """The place of a block, with its frame."""

    pack: int
    frame: int
    packed: int
    plain: int
    """The uncompressed size of the frame."""
    skip: int
    """Bytes of the frame before the block."""
    size: int


class LostBlock(Exception):
    """A block is missing or damaged."""


_DECODER = msgspec.json.Decoder(IndexLine)


class Packs:
    """The packs of a folder, for reading."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._places: dict[str, Place] | None = None
        self._seen: tuple[int, ...] = ()
        self._changed = 0
        self._are_listed = False
        """Whether the packs themselves were scanned because an index is damaged."""
        self._plain: dict[tuple[int, int], bytes] = {}
        """Frames that were read, by place, newest last."""

    @property
    def places(self) -> dict[str, Place]:
        """The place of each block."""
        if self._places is None:
            self._seen, self._changed = self.numbers(), self._stamp()
            self._places = {
                name: place for number in self._seen for name, place in self.index(number)
            }
        return self._places

    def skip(self, names: Iterable[str]) -> None:
        """Ignore damaged blocks, so that they are stored again."""
        for name in names:
            self.places.pop(name, None)

    def forget(self) -> None:
        """Read the folder again at the next request."""
        self._places, self._are_listed = None, False
        self._plain.clear()  # a number may be reused

    def _stamp(self) -> int:
        """Return when a pack was last added or removed, since numbers may be reused."""
        try:
            return self.folder.stat().st_mtime_ns
        except FileNotFoundError:
            return 0

    def numbers(self) -> tuple[int, ...]:
        """Return the complete packs, in the order in which they were written."""
        return tuple(sorted(self._list_numbers(PACK)))

    def _list_numbers(self, suffix: str) -> set[int]:
        try:
            names = os.listdir(self.folder)  # noqa: PTH208
        except FileNotFoundError:
            return set()
        stems = (name.removesuffix(suffix) for name in names if name.endswith(suffix))
        return {int(stem) for stem in stems if stem.isdecimal()}

    def next_number(self) -> int:
        """Return an unused number."""
        return max(self._list_numbers(INDEX) | self._list_numbers(PACK), default=0) + 1

    def path(self, number: int, suffix: str = PACK) -> Path:
        """Return the path of a pack or its index."""
        return self.folder / f"{number:06}{suffix}"

    def index(self, number: int) -> Iterator[tuple[str, Place]]:
        """Yield the blocks of a pack; if its index is damaged, from the pack itself."""
        lines = self.read_index(number)
        return iter_places(number, self.scan_pack(number) if lines is None else lines)

    def read_index(self, number: int) -> list[IndexLine] | None:
        """Return the index of a pack; None if it cannot be read."""
        try:
            return _DECODER.decode_lines(self.path(number, INDEX).read_bytes())
        except (OSError, msgspec.MsgspecError, ValueError):
            return None

    def scan_pack(self, number: int) -> list[IndexLine]:
        """Return the blocks found by scanning a pack."""
        found: list[IndexLine] = []
        with suppress(OSError), self.path(number).open("rb") as file:
            at, frame, end = 0, 0, file.seek(0, os.SEEK_END)
            while frame < end:
                # The note before a frame: the length of the frame, then its blocks.
                file.seek(frame)
                head = file.read(FRAME_HEAD.size)
                if len(head) < FRAME_HEAD.size:
                    break
                magic, count = FRAME_HEAD.unpack(head)
                note = file.read(count) if magic == SKIPPABLE else b""
                is_note = len(note) == count and count % (NAME_BYTES + SIZE_BYTES) == SIZE_BYTES
                if not note or not is_note:
                    break
                frame += FRAME_HEAD.size + len(note)
                length = int.from_bytes(note[:SIZE_BYTES], "little")
                for start in range(SIZE_BYTES, len(note), NAME_BYTES + SIZE_BYTES):
                    name = note[start : start + NAME_BYTES].hex()
                    size_bytes = note[start + NAME_BYTES : start + NAME_BYTES + SIZE_BYTES]
                    size = int.from_bytes(size_bytes, "little")
                    found.append(IndexLine(name, at, size, frame, length))
                    at += size
                frame += length
        return found

    def read(self, name: str) -> bytes:
        """Return a block; raise if it is missing or damaged."""
        try:
            return self._read(name)
        except LostBlock:
            if (self._seen, self._changed) != (self.numbers(), self._stamp()):
                self.forget()  # packs were merged since
            elif not self._ask_packs():
                raise
        return self._read(name)

    def _ask_packs(self) -> bool:
        """Use the results of scanning the packs instead of their indexes; return whether that is
        new.
        """
        if self._are_listed:
            return False
        self._are_listed = True
        listed = {
            name: place
            for number in self._seen
            for name, place in iter_places(number, self.scan_pack(number))
        }
        is_news = listed.items() - self.places.items()
        self.places.update(listed)
        self._plain.clear()
        return bool(is_news)

    def _read(self, name: str) -> bytes:
        place = self.places.get(name)
        if place is None:
            raise LostBlock("missing from all packs")
        return self.read_at(name, place)

    def read_at(self, name: str, place: Place) -> bytes:
        """Return the block at a place; raise if it is another one."""
        if not 0 <= place.skip <= place.plain - place.size <= place.plain <= MOST_FRAME:
            raise LostBlock("wrong entry in the pack's index")
        data = self._parse_frame(place)[place.skip : place.skip + place.size]
        if len(data) != place.size or sha256(data).hexdigest() != name:
            raise LostBlock("content does not match its hash")
        return data

    def _parse_frame(self, place: Place) -> bytes:
        key = place.pack, place.frame
        data = self._plain.pop(key, None)
        if data is None:
            try:
                with self.path(place.pack).open("rb") as file:
                    file.seek(place.frame)
                    frame = file.read(place.packed)
            except OSError as error:
                raise LostBlock(
                    f"cannot read its pack: {(error.strerror or str(error)).lower()}"
                ) from error
            try:
                data = plain(frame, place.plain)
            except BrokenFrame:
                data = read_damaged(frame, place.plain)
        self._plain[key] = data
        while len(self._plain) > 1 and sum(map(len, self._plain.values())) > MOST_HELD:
            del self._plain[next(iter(self._plain))]
        return data

    def describe_place(self, name: str) -> str:
        """Return the place of a block as text."""
        place = self.places.get(name)
        if place is None:
            return "no pack"
        return f"{self.path(place.pack).name}, frame at byte {place.frame}"

    def stored_bytes(self) -> int:
        """Return the size of all packs with their indexes."""
        found = 0
        for number in self.numbers():
            for suffix in (PACK, INDEX):
                with suppress(FileNotFoundError):
                    found += self.path(number, suffix).stat().st_size
        return found


def iter_places(number: int, lines: Iterable[IndexLine]) -> Iterator[tuple[str, Place]]:
    """Yield the blocks of a pack with their places."""
    together: dict[int, list[IndexLine]] = {}
    for line in lines:
        together.setdefault(line.frame, []).append(line)
    for frame, inside in together.items():
        start = min(line.at for line in inside)
        frame_size = sum(line.size for line in inside)
        for line in inside:
            skip = line.at - start
            yield line.sha256, Place(number, frame, line.packed, frame_size, skip, line.size)


FULL = 64 << 20
"""Size at which a new pack is started."""
FLAGS = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | BINARY
_ENCODER = msgspec.json.Encoder()


class PackWriter:
    """Writes new blocks to packs, under the lock of the store."""

    def __init__(self, packs: Packs) -> None:
        self.packs = packs
        self._blocks: dict[str, int] = {}
        """The sizes of those waiting for their frame."""
        self._room = memoryview(bytearray(FRAME + MAX_BLOCK))
        self._waiting = 0
        """Their bytes in the buffer."""
        self._owner = "", "", ""
        """The root, project and session of the blocks being added."""
        self._lines: list[IndexLine] = []
        self._written: set[str] = set()
        self._file: int | None = None
        self._number = 0
        self._end = self._at = 0
        self.stored = 0

    def has(self, name: str) -> bool:
        """Return whether a block is in the store or about to be written."""
        return name in self._blocks or name in self._written or name in self.packs.places

    def start_owner(self, root: str, project: str, session: str) -> None:
        """Start the blocks of another session, so that damage to a frame affects one project and
        few sessions.
        """
        owner, before = (root, project, session), self._owner
        is_enough = self._waiting >= ENOUGH and owner != before
        if is_enough or owner[:2] != before[:2]:
            self._flush()
        self._owner = owner

    def add(self, name: str, data: bytes | memoryview) -> None:
        """Add a block that the store does not have."""
        if len(data) > len(self._room) - self._waiting:  # split when blocks were larger
            self._flush()
            self._room = memoryview(bytearray(FRAME + len(data)))
        self._blocks[name] = len(data)
        self._room[self._waiting : self._waiting + len(data)] = data
        self._waiting += len(data)
        if self._waiting >= FRAME:
            self._flush()

    @property
    def is_full(self) -> bool:
        """Whether the pack has reached its maximum size."""
        return self._end >= FULL

    def _flush(self) -> None:
        if not self._blocks:
            return
        frame = packed(self._room[: self._waiting])
        names = b"".join(
            bytes.fromhex(name) + size.to_bytes(SIZE_BYTES, "little")
            for name, size in self._blocks.items()
        )
        head = encode_note(len(frame).to_bytes(SIZE_BYTES, "little") + names)
        if self._file is None:
            self.packs.folder.mkdir(mode=OWNER_FOLDER, parents=True, exist_ok=True)
            self._number = self.packs.next_number()
            self._file = os.open(self._draft(PACK), FLAGS, OWNER_FILE)
        write_all(self._file, head + frame)
        start = self._end + len(head)
        for name, size in self._blocks.items():
            self._lines.append(IndexLine(name, self._at, size, start, len(frame)))
            self._at += size
        self._end = start + len(frame)
        self._written.update(self._blocks)
        self._blocks, self._waiting = {}, 0

    def _draft(self, suffix: str) -> Path:
        return self.packs.path(self._number, f"{suffix}{NEW}")

    def commit(self) -> None:
        """Wait until all blocks are on disk and can be found there."""
        self._flush()
        if self._file is None:
            return
        os.fsync(self._file)
        os.close(self._file)
        self._file = None
        lines = _encoded(self._lines)
        handle = os.open(self._draft(INDEX), FLAGS, OWNER_FILE)
        try:
            write_all(handle, lines)
            os.fsync(handle)
        finally:
            os.close(handle)
        self._draft(INDEX).rename(self.packs.path(self._number, INDEX))
        self._draft(PACK).rename(self.packs.path(self._number))
        sync_folder(self.packs.folder)
        self.packs.places.update(iter_places(self._number, self._lines))
        self.stored += self._end + len(lines)
        self._written, self._lines, self._end, self._at = set(), [], 0, 0

    def roll_back(self) -> None:
        """Restore the state of the last commit."""
        if self._file is not None:
            os.close(self._file)
            self._file = None
            with suppress(OSError):
                self._draft(PACK).unlink(missing_ok=True)
                self._draft(INDEX).unlink(missing_ok=True)


def write_index(path: Path, lines: Iterable[IndexLine]) -> None:
    """Replace a damaged index."""
    replace_file(path, _encoded(lines), mode=OWNER_FILE)


def _encoded(lines: Iterable[IndexLine]) -> bytes:
    return b"".join(_ENCODER.encode(line) + b"\n" for line in lines)


def write_all(handle: int, data: bytes) -> None:
    """Write all bytes: the system may write only some of them at a time."""
    view = memoryview(data)
    while view:
        view = view[os.write(handle, view) :]


def remove_drafts(packs: Packs) -> None:
    """Delete what an interrupted run left: drafts, and indexes of unfinished packs."""
    numbers = set(packs.numbers())
    for path in packs.folder.glob("*"):
        stem, _, suffix = path.name.partition(".")
        is_alone = f".{suffix}" == INDEX and stem.isdecimal() and int(stem) not in numbers
        if path.name.endswith(NEW) or is_alone:
            path.unlink(missing_ok=True)
