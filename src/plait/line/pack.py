"""ZIP archives of session files with a manifest, and the checks before one is trusted.

    manifest.json     each file with its size and SHA-256, and what the maker adds
    project/…         the files, by the names in the manifest

An archive may be hostile, so everything that is read of one is checked here, before and while it
is read: a name leads nowhere but down, an entry is a regular file, has the stated size and not a
byte more, and the content that the manifest vouches for.
"""

import hashlib
import os
import stat
import time
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

import msgspec

from plait.errors import Refused, SourceError, UserError
from plait.line.files import CHUNK
from plait.line.output import OWNER_FILE, is_plain_name, make_write_error

MANIFEST = "manifest.json"
FORM = 1
MOST_FILES = 500_000
MOST_MANIFEST = 256 << 20
MOST_BYTES = 256 << 30
LARGE, MOST_TIMES = 1 << 30, 250
"""Unpacked bytes from which on the ratio to the packed size is limited."""
BROKEN = (
    zipfile.BadZipFile,
    zipfile.LargeZipFile,
    zlib.error,
    EOFError,
    NotImplementedError,
    OSError,
    RuntimeError,
    ValueError,
)


class PackedFile(msgspec.Struct, frozen=True):
    """One file of an archive."""

    name: str
    size: int
    sha256: str


class Manifest(msgspec.Struct, frozen=True, kw_only=True):
    """The contents of an archive."""

    plait: int
    """The version of the format."""
    files: tuple[PackedFile, ...]
    about: dict[str, Any] = {}
    """What its maker adds."""


class Member(NamedTuple):
    """A file to pack."""

    name: str
    content: Callable[[], Iterable[bytes]]
    modified: int = 0
    """In nanoseconds since 1970."""
    is_compressed: bool = False
    """Compressing it again would not help."""


def write_pack(path: Path, members: Iterable[Member], about: dict[str, Any]) -> Manifest:
    """Write an archive completely or not at all; an existing file is never overwritten."""
    if os.path.lexists(path):
        raise UserError(f"'{path}' already exists", "choose another name: nothing is overwritten")
    draft = path.with_name(f".{path.name}.{os.getpid()}.new")
    try:
        handle = os.open(draft, os.O_RDWR | os.O_CREAT | os.O_EXCL, OWNER_FILE)
        with os.fdopen(handle, "w+b") as out:
            files: list[PackedFile] = []
            with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, allowZip64=True) as pack:
                for member in members:
                    digest, size = hashlib.sha256(), 0
                    entry = _make_entry(member.name, member.modified)
                    if member.is_compressed:
                        entry.compress_type = zipfile.ZIP_STORED
                    with pack.open(entry, "w", force_zip64=True) as file:
                        for piece in member.content():
                            digest.update(piece)
                            size += len(piece)
                            file.write(piece)
                    files.append(PackedFile(member.name, size, digest.hexdigest()))
                manifest = Manifest(plait=FORM, files=tuple(files), about=about)
                with pack.open(_make_entry(MANIFEST, 0), "w") as file:
                    file.write(msgspec.json.format(msgspec.json.encode(manifest), indent=2))
            out.flush()
            os.fsync(out.fileno())
        try:
            os.link(draft, path)
        except FileExistsError:
            raise UserError(f"'{path}' already exists", "choose another name") from None
        except OSError:  # a file system without hard links
            draft.rename(path)
    except OSError as error:
        raise make_write_error(path, error) from error
    finally:
        with suppress(OSError):
            draft.unlink(missing_ok=True)
    return manifest


def _make_entry(name: str, modified: int) -> zipfile.ZipInfo:
    date = time.gmtime(modified / 1e9)[:6]
    entry = zipfile.ZipInfo(name, date if 1980 <= date[0] < 2108 else (1980, 1, 1, 0, 0, 0))
    entry.compress_type = zipfile.ZIP_DEFLATED
    entry.external_attr = (stat.S_IFREG | OWNER_FILE) << 16
    return entry


class Pack:
    """An archive from elsewhere, each byte of which is checked before it is used."""

    def __init__(self, path: Path, allowed: Callable[[tuple[str, ...]], bool]) -> None:
        self.path = path
        with self._open() as pack:
            sizes = self._check_entries(pack)
            self.manifest = self._read_manifest(pack)
            self.files = {file.name: file for file in self.manifest.files}
            self._check_manifest(sizes, allowed)

    def content(self, name: str) -> Callable[[], Iterator[bytes]]:
        """Return a function that yields the bytes of a file and raises if they are wrong."""
        return lambda: self._iter_pieces(self.files[name])

    def verify(self) -> None:
        """Read all files once and refuse an archive whose contents are not as stated."""
        for file in self.manifest.files:
            for _ in self._iter_pieces(file):
                pass

    def _iter_pieces(self, stated: PackedFile) -> Iterator[bytes]:
        digest, left = hashlib.sha256(), stated.size
        with self._open() as pack, pack.open(stated.name) as file:
            while piece := file.read(min(CHUNK, left + 1)):
                left -= len(piece)
                if left < 0:
                    raise self._refuse(f"'{stated.name}' is larger than its manifest says")
                digest.update(piece)
                yield piece
        if left or digest.hexdigest() != stated.sha256:
            raise self._refuse(f"'{stated.name}' differs from its checksum in the manifest")

    @contextmanager
    def _open(self) -> Iterator[zipfile.ZipFile]:
        if not self.path.is_file():
            raise SourceError(f"no such file: '{self.path}'")
        try:
            with zipfile.ZipFile(self.path) as pack:
                yield pack
        except BROKEN as error:
            reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
            raise self._refuse(f"it cannot be read ({reason.lower()[:80]})") from error

    def _check_entries(self, pack: zipfile.ZipFile) -> dict[str, int]:
        """Return the sizes of the entries; refuse one that is not a regular file."""
        sizes: dict[str, int] = {}
        for entry in pack.infolist():
            kind = stat.S_IFMT(entry.external_attr >> 16)
            if entry.is_dir() or kind not in (0, stat.S_IFREG):
                raise self._refuse(f"'{entry.filename[:80]}' is not a regular file")
            if entry.flag_bits & 1:
                raise self._refuse(f"'{entry.filename[:80]}' is encrypted")
            if entry.filename in sizes:
                raise self._refuse(f"'{entry.filename[:80]}' occurs twice")
            sizes[entry.filename] = entry.file_size
        if len(sizes) > MOST_FILES:
            raise self._refuse(f"it has {len(sizes)} files, more than {MOST_FILES}")
        return sizes

    def _read_manifest(self, pack: zipfile.ZipFile) -> Manifest:
        if MANIFEST not in pack.namelist():
            raise self._refuse("it has no manifest")
        with pack.open(MANIFEST) as file:
            data = file.read(MOST_MANIFEST + 1)
        if len(data) > MOST_MANIFEST:
            raise self._refuse("its manifest is too large")
        try:
            manifest = msgspec.json.decode(data, type=Manifest)
        except (msgspec.DecodeError, ValueError, RecursionError) as error:
            raise self._refuse("its manifest cannot be read") from error
        if manifest.plait > FORM:
            raise self._refuse("it was made by a newer version of Plait")
        return manifest

    def _check_manifest(
        self, sizes: dict[str, int], allowed: Callable[[tuple[str, ...]], bool]
    ) -> None:
        """Refuse names that lead elsewhere, sizes other than stated, and ZIP bombs."""
        names = [file.name for file in self.manifest.files]
        for name in (*names, *sizes):
            parts = PurePosixPath(name).parts
            if name == MANIFEST and name not in names:
                continue
            is_plain = "/".join(parts) == name and all(map(is_plain_name, parts))
            if not is_plain or not allowed(parts):
                raise self._refuse(f"'{name[:80]}' is not the name of a session file")
        if len({name.casefold() for name in names}) < len(names):
            raise self._refuse("two file names differ only in case")
        if {*names, MANIFEST} != {*sizes}:
            raise self._refuse("its files are not the ones that its manifest lists")
        for file in self.manifest.files:
            if file.size != sizes[file.name]:
                raise self._refuse(f"'{file.name}' does not have the size that the manifest gives")
        total, packed = sum(file.size for file in self.manifest.files), self.path.stat().st_size
        if total > MOST_BYTES or (total > LARGE and total > MOST_TIMES * packed):
            raise self._refuse(f"it would be {total // max(packed, 1)} times larger when unpacked")

    def _refuse(self, why: str) -> Refused:
        return Refused(f"refusing to open '{self.path}': {why}", "nothing was changed")
