"""Files to one archive that anybody can open, and such an archive to files that can be trusted.

    manifest.json     what is in it: each file with its size and SHA-256; what the maker says
    project/…         and the other files, by the names that the manifest has

It is a ZIP file. Whoever made it may mean harm: everything that is read of one is checked here,
before and while it is read. A name leads nowhere but down, a file is a file, has the size that
was said and not a byte more, and holds what the manifest vouches for.
"""

import hashlib
import os
import stat
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

import msgspec

from plait.errors import Refused, SourceError, UserError
from plait.line.folder import OWNER_FILE, is_plain_name, unwritable
from plait.line.split import CHUNK

MANIFEST = "manifest.json"
FORM = 1
MOST_FILES = 500_000
MOST_MANIFEST = 256 << 20
MOST_BYTES = 256 << 30
LARGE, MOST_TIMES = 1 << 30, 250
"""Bytes from which on it is asked how many times as large as the archive its files are."""
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
    """What an archive says of itself."""

    plait: int
    """The form of the archive."""
    files: tuple[PackedFile, ...]
    about: dict[str, Any] = {}
    """What its maker says besides."""


class Member(NamedTuple):
    """A file that is to be packed."""

    name: str
    content: Callable[[], Iterable[bytes]]
    modified: int = 0
    """In nanoseconds since 1970."""
    is_compressed: bool = False
    """Its bytes would not get fewer."""


def write_pack(path: Path, members: Iterable[Member], about: dict[str, Any]) -> Manifest:
    """Writes an archive, whole or not at all; one that is there already is never written over."""
    if os.path.lexists(path):
        raise UserError(f"'{path}' is there already", "say another name: nothing is written over")
    draft = path.with_name(f".{path.name}.{os.getpid()}.new")
    try:
        handle = os.open(draft, os.O_RDWR | os.O_CREAT | os.O_EXCL, OWNER_FILE)
        with os.fdopen(handle, "w+b") as out:
            manifest = _written(out, members, about)
            out.flush()
            os.fsync(out.fileno())
        _take_name(draft, path)
    except OSError as error:
        raise unwritable(path, error) from error
    finally:
        with suppress(OSError):
            draft.unlink(missing_ok=True)
    return manifest


def _take_name(draft: Path, path: Path) -> None:
    try:
        os.link(draft, path)
    except FileExistsError:
        raise UserError(f"'{path}' is there already", "say another name") from None
    except OSError:  # a file system without second names
        draft.rename(path)


def _written(out: Any, members: Iterable[Member], about: dict[str, Any]) -> Manifest:
    files: list[PackedFile] = []
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, allowZip64=True) as pack:
        for member in members:
            digest, size = hashlib.sha256(), 0
            entry = _entry(member.name, member.modified)
            if member.is_compressed:
                entry.compress_type = zipfile.ZIP_STORED
            with pack.open(entry, "w", force_zip64=True) as file:
                for piece in member.content():
                    digest.update(piece)
                    size += len(piece)
                    file.write(piece)
            files.append(PackedFile(member.name, size, digest.hexdigest()))
        manifest = Manifest(plait=FORM, files=tuple(files), about=about)
        told = msgspec.json.format(msgspec.json.encode(manifest), indent=2)
        with pack.open(_entry(MANIFEST, 0), "w") as file:
            file.write(told)
    return manifest


def _entry(name: str, modified: int) -> zipfile.ZipInfo:
    import time

    when = time.gmtime(modified / 1e9)[:6]
    found = zipfile.ZipInfo(name, when if 1980 <= when[0] < 2108 else (1980, 1, 1, 0, 0, 0))
    found.compress_type = zipfile.ZIP_DEFLATED
    found.external_attr = (stat.S_IFREG | OWNER_FILE) << 16
    return found


class Pack:
    """An archive that was made elsewhere, each byte of it checked before it is used."""

    def __init__(self, path: Path, allowed: Callable[[tuple[str, ...]], bool]) -> None:
        self.path = path
        with self._opened() as pack:
            found = self._checked_entries(pack)
            self.manifest = self._read_manifest(pack)
            self.files = {one.name: one for one in self.manifest.files}
            self._check(found, allowed)

    def content(self, name: str) -> Callable[[], Iterator[bytes]]:
        """Returns what yields the bytes of a file, piece by piece; raises where one is wrong."""
        return lambda: self._pieces(self.files[name])

    def verify(self) -> None:
        """Reads all files once, and refuses an archive that does not hold what it says."""
        for one in self.manifest.files:
            for _ in self._pieces(one):
                pass

    def _pieces(self, one: PackedFile) -> Iterator[bytes]:
        digest, left = hashlib.sha256(), one.size
        with self._opened() as pack, pack.open(one.name) as file:
            while piece := file.read(min(CHUNK, left + 1)):
                left -= len(piece)
                if left < 0:
                    raise self._refusal(f"'{one.name}' is larger than it says")
                digest.update(piece)
                yield piece
        if left or digest.hexdigest() != one.sha256:
            raise self._refusal(f"'{one.name}' does not hold what the manifest vouches for")

    @contextmanager
    def _opened(self) -> Iterator[zipfile.ZipFile]:
        if not self.path.is_file():
            raise SourceError(f"no such file: '{self.path}'")
        try:
            with zipfile.ZipFile(self.path) as pack:
                yield pack
        except BROKEN as error:
            raise self._refusal(f"it cannot be read ({_words(error)})") from error

    def _checked_entries(self, pack: zipfile.ZipFile) -> dict[str, int]:
        """Returns the sizes of the entries, or refuses one that is no plain file."""
        found: dict[str, int] = {}
        for entry in pack.infolist():
            kind = stat.S_IFMT(entry.external_attr >> 16)
            if entry.is_dir() or kind not in (0, stat.S_IFREG):
                raise self._refusal(f"'{_shown(entry.filename)}' is no plain file")
            if entry.flag_bits & 1:
                raise self._refusal(f"'{_shown(entry.filename)}' is encrypted")
            if entry.filename in found:
                raise self._refusal(f"'{_shown(entry.filename)}' is in it twice")
            found[entry.filename] = entry.file_size
        if len(found) > MOST_FILES:
            raise self._refusal(f"it holds {len(found)} files")
        return found

    def _read_manifest(self, pack: zipfile.ZipFile) -> Manifest:
        if MANIFEST not in pack.namelist():
            raise self._refusal("it has no manifest")
        with pack.open(MANIFEST) as file:
            data = file.read(MOST_MANIFEST + 1)
        if len(data) > MOST_MANIFEST:
            raise self._refusal("its manifest is too large")
        try:
            manifest = msgspec.json.decode(data, type=Manifest)
        except (msgspec.DecodeError, ValueError, RecursionError) as error:
            raise self._refusal("its manifest cannot be read") from error
        if manifest.plait > FORM:
            raise self._refusal("a newer version of Plait has made it")
        return manifest

    def _check(self, found: dict[str, int], allowed: Callable[[tuple[str, ...]], bool]) -> None:
        """Refuses names that lead elsewhere, sizes that are not those that were said, and bombs."""
        names = [one.name for one in self.manifest.files]
        for name in (*names, *found):
            parts = PurePosixPath(name).parts
            if name == MANIFEST and name not in names:
                continue
            is_plain = "/".join(parts) == name and all(map(is_plain_name, parts))
            if not is_plain or not allowed(parts):
                raise self._refusal(f"'{_shown(name)}' is no name of a session's file")
        if len({name.casefold() for name in names}) < len(names):
            raise self._refusal("two of its files have one name")
        if {*names, MANIFEST} != {*found}:
            raise self._refusal("it holds other files than its manifest names")
        for one in self.manifest.files:
            if one.size != found[one.name]:
                raise self._refusal(f"'{one.name}' has another size than the manifest says")
        total, packed = sum(one.size for one in self.manifest.files), self.path.stat().st_size
        if total > MOST_BYTES or (total > LARGE and total > MOST_TIMES * packed):
            raise self._refusal(f"its files are {total // max(packed, 1)} times as large as it is")

    def _refusal(self, why: str) -> Refused:
        return Refused(f"refusing to open '{self.path}': {why}", "nothing was changed")


def _words(error: BaseException) -> str:
    return (getattr(error, "strerror", None) or str(error) or type(error).__name__).lower()[:80]


def _shown(name: str) -> str:
    return name[:80]
