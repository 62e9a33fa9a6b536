"""A kept session to its files: bytes, times and modes as they were."""

import os
from contextlib import suppress
from hashlib import sha256
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from plait.errors import Refused, SourceError, UserError
from plait.keep.model import Damage, KeptFile, KeptSession, Progress, Report, Restored
from plait.keep.pack_writer import FLAGS
from plait.keep.packs import LostBlock
from plait.line.folder import OWNER_FILE, OWNER_FOLDER, unwritable
from plait.line.replace import put_new
from plait.line.split import pieces, unreadable

if TYPE_CHECKING:
    from plait.keep.store import Store


def restore(
    store: "Store",
    session: KeptSession,
    to: Path | None,
    *,
    overwrite: bool,
    partial: bool,
    report: Report | None = None,
) -> Restored:
    """Writes all files of a session; first it is asked whether something else is in the way."""
    if to is None and session.is_foreign:
        raise UserError(
            f"session '{session.session}' came from another machine", "say where with `--to DIR`"
        )
    home = Path(session.root) if to is None else to
    places = [_place(home, file) for file in session.files]
    there = [os.path.lexists(path) for path in places]
    pairs = [*zip(session.files, places, there, strict=True)]
    same = [path for file, path, is_there in pairs if is_there and _is_same(path, file)]
    in_the_way = [path for _, path, is_there in pairs if is_there and path not in same]
    if in_the_way and not overwrite:
        raise _refusal(in_the_way)
    missing = [pair for pair in pairs if pair[1] not in same]
    restoring = _Restoring(store, partial, [file for file, _, _ in missing], report)
    for file, path, is_there in missing:
        restoring.restore(file, path, is_there)
    first = session.files.index(session.log) if session.log else 0
    return Restored(
        places[first],
        session.files[first].sha256,
        tuple(restoring.written),
        tuple(same),
        tuple(restoring.damaged),
    )


def _refusal(in_the_way: list[Path]) -> Refused:
    more = f" and {len(in_the_way) - 1} more" if len(in_the_way) > 1 else ""
    return Refused(
        f"'{in_the_way[0]}'{more} is there and is not what was kept",
        "restore it elsewhere with `--to DIR`, or write it over with `--overwrite`",
    )


def _place(home: Path, file: KeptFile) -> Path:
    parts = PurePosixPath(file.path).parts
    if not parts or any(part in ("/", "..", "") or "\0" in part for part in parts):
        raise SourceError(f"refusing to write '{file.path[:80]}': it leads elsewhere")
    return home.joinpath(*parts)


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


class _Restoring:
    """Files that are written one after the other, each under another name first."""

    def __init__(
        self, store: "Store", partial: bool, files: list[KeptFile], report: Report | None
    ) -> None:
        self._packs = store.packs
        self._partial = partial
        self._report = report
        self._files, self._bytes = len(files), sum(file.size for file in files)
        self._done = 0
        self.written: list[Path] = []
        self.damaged: list[Damage] = []

    def restore(self, file: KeptFile, path: Path, is_there: bool) -> None:
        """Writes one file, unless a block of it is damaged and no part of it is wanted."""
        draft = path.with_name(f".{file.sha256[:16]}.{os.getpid()}.restored")
        damaged: list[Damage] = []
        try:
            path.parent.mkdir(mode=OWNER_FOLDER, parents=True, exist_ok=True)
            self._write(draft, file, damaged)
            if damaged and not self._partial:
                draft.unlink()
            else:
                draft.chmod(file.mode)
                os.utime(draft, ns=(file.modified, file.modified))
                if is_there:
                    draft.replace(path)
                else:
                    put_new(draft, path)
                self.written.append(path)
        except OSError as error:
            with suppress(OSError):
                draft.unlink(missing_ok=True)
            raise unwritable(path, error) from error
        self.damaged += damaged

    def _tell(self, count: int, path: str) -> None:
        self._done += count
        if self._report:
            files = len(self.written)
            self._report(Progress(files, self._files, self._done, self._bytes, path))

    def _write(self, draft: Path, file: KeptFile, damaged: list[Damage]) -> None:
        digest = sha256()
        with os.fdopen(os.open(draft, FLAGS, OWNER_FILE), "wb") as out:
            for name in file.blocks:
                try:
                    data = self._packs.read(name)
                except LostBlock as error:
                    where = self._packs.where(name)
                    damaged.append(Damage(name, where, str(error), (file,)))
                    continue
                digest.update(data)
                out.write(data)
                self._tell(len(data), file.path)
        if not damaged and digest.hexdigest() != file.sha256:
            damaged.append(Damage("", "the journal", "its blocks are not the file", (file,)))
