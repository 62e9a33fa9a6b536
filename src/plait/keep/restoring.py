"""A kept session to its files: bytes, times and modes as they were."""

import os
from collections.abc import Iterator
from contextlib import suppress
from hashlib import sha256
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from plait.errors import Refused, SourceError, UserError
from plait.keep.model import Damage, KeptFile, KeptSession, Restored
from plait.keep.pack_writer import FLAGS
from plait.keep.packs import LostBlock
from plait.line.folder import OWNER_FILE, OWNER_FOLDER, unwritable
from plait.line.split import pieces, unreadable

if TYPE_CHECKING:
    from plait.keep.store import Store


def restore(
    store: "Store", session: KeptSession, to: Path | None, *, overwrite: bool, partial: bool
) -> Restored:
    """Writes all files of a session; first it is asked whether something else is in the way."""
    if to is None and session.is_foreign:
        raise UserError(
            f"session '{session.session}' came from another machine", "say where with `--to DIR`"
        )
    home = Path(session.root) if to is None else to
    places = {file: _place(home, file) for file in session.files}
    same = {file: path for file, path in places.items() if _is_same(path, file)}
    in_the_way = [path for file, path in places.items() if file not in same and _is_there(path)]
    if in_the_way and not overwrite:
        more = f" and {len(in_the_way) - 1} more" if len(in_the_way) > 1 else ""
        raise Refused(
            f"'{in_the_way[0]}'{more} is there and is not what was kept",
            "restore it elsewhere with `--to DIR`, or write it over with `--overwrite`",
        )
    damaged: list[Damage] = []
    written: list[Path] = []
    for file, path in places.items():
        if file not in same and _restored(store, file, path, partial, damaged):
            written.append(path)
    first = session.log or session.files[0]
    return Restored(
        places[first], first.sha256, tuple(written), tuple(same.values()), tuple(damaged)
    )


def _place(home: Path, file: KeptFile) -> Path:
    parts = PurePosixPath(file.path).parts
    if not parts or any(part in ("/", "..", "") or "\0" in part for part in parts):
        raise SourceError(f"refusing to write '{file.path[:80]}': it leads elsewhere")
    return home.joinpath(*parts)


def _is_there(path: Path) -> bool:
    return os.path.lexists(path)


def _is_same(path: Path, file: KeptFile) -> bool:
    """Tells whether a file is there already, byte for byte."""
    try:
        if path.is_symlink() or not path.is_file() or path.stat().st_size != file.size:
            return False
    except OSError as error:
        raise unreadable(path, error) from error
    digest = sha256()
    for piece in pieces(path):
        digest.update(piece)
    return digest.hexdigest() == file.sha256


def _restored(
    store: "Store", file: KeptFile, path: Path, partial: bool, damaged: list[Damage]
) -> bool:
    """Writes one file under another name first; tells whether it has its own in the end."""
    draft = path.with_name(f".{path.name[:200]}.{os.getpid()}.restored")
    found: list[Damage] = []
    try:
        path.parent.mkdir(mode=OWNER_FOLDER, parents=True, exist_ok=True)
        handle = os.open(draft, FLAGS, OWNER_FILE)
        with os.fdopen(handle, "wb") as out:
            digest = sha256()
            for data in _blocks(store, file, found):
                digest.update(data)
                out.write(data)
        if not found and digest.hexdigest() != file.sha256:
            found.append(Damage("", "the journal", "its blocks are not the file", (file,)))
        if found and not partial:
            return False
        draft.chmod(file.mode)
        os.utime(draft, ns=(file.modified, file.modified))
        draft.replace(path)
    except OSError as error:
        raise unwritable(path, error) from error
    finally:
        damaged += found
        with suppress(OSError):
            draft.unlink(missing_ok=True)
    return True


def _blocks(store: "Store", file: KeptFile, damaged: list[Damage]) -> Iterator[bytes]:
    """Yields the blocks of a file that can be read, and notes the others."""
    for name in file.blocks:
        try:
            yield store.packs.read(name)
        except LostBlock as error:
            damaged.append(Damage(name, store.packs.where(name), str(error), (file,)))
