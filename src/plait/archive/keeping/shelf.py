"""Kept sessions to plain files that can be read, put there when one of them is opened.

    <shelf>/<what it holds>/projects/<slug>/<session>.jsonl      as it lay below its root

A shelf can be emptied at any time. It holds so much at most: what was put there first goes first.
"""

import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from functools import cached_property, lru_cache
from hashlib import sha256
from pathlib import Path
from secrets import token_hex
from threading import Lock
from typing import TYPE_CHECKING

from plait.archive.keeping.joined import joined
from plait.archive.model import StorePlace
from plait.errors import SourceError
from plait.line.fetch import offer

if TYPE_CHECKING:
    from plait.keep.model import KeptSession
    from plait.keep.store import Store

MOST = 1 << 29
"""Bytes that lie on a shelf; the session that was put there last always does."""
READ = frozenset({"session", "agent", "journal", "beside"})
"""Kinds of files that a session is read from."""


class Shelf:
    """Where the kept sessions of a store can be read; all in one process share it."""

    def __init__(self, place: StorePlace, most: int = MOST) -> None:
        self.place = place
        self.most = most
        self._known: dict[str, KeptSession] = {}
        self._paths: dict[str, frozenset[str]] = {}
        self._lock = Lock()
        self._held: int | None = None
        """Bytes that lie there, as far as this process knows; None before it has looked."""
        begin = f"{__name__}:offered", (str(place.folder), str(place.shelf))
        offer(place.shelf, self.fetch, begin)

    def folder_of(self, session: "KeptSession") -> Path:
        """Returns the folder of a kept session, in which its files lie as below its root."""
        read = replace(session, files=tuple(file for file in session.files if file.kind in READ))
        names = "".join(f"{file.path}\0{file.sha256}\n" for file in read.files)
        key = sha256(f"{session.root}\0{names}".encode("utf-8", "surrogatepass")).hexdigest()[:20]
        if key not in self._known:
            self._known[key] = read
            self._paths[key] = frozenset(file.path for file in read.files)
        return self.place.shelf.absolute() / key

    def fetch(self, path: Path) -> bool:
        """Puts the session there that a file is of; tells whether the file is there then."""
        key, *below = path.relative_to(self.place.shelf.absolute()).parts
        if "/".join(below) not in self._paths.get(key, ()):
            return False
        with self._lock:
            folder = self.place.shelf / key
            if not folder.exists():
                self._put(self._known[key], folder)
        return path.exists()

    @cached_property
    def _store(self) -> "Store":
        from plait.keep.store import Store

        return Store.open(self.place.folder)

    def _put(self, session: "KeptSession", folder: Path) -> None:
        draft = folder.with_name(f".{folder.name}.{token_hex(4)}")
        try:
            draft.mkdir(parents=True, mode=0o700)
            self._store.restore(session, draft, partial=True)
            with suppress(OSError):  # somebody else was first
                draft.rename(folder)
        except OSError as error:
            said = (error.strerror or str(error)).lower()
            raise SourceError(
                f"cannot unpack kept session '{session.session}' to '{folder}': {said}",
                "`plait restore SESSION --to DIR` puts it elsewhere",
            ) from error
        finally:
            shutil.rmtree(draft, ignore_errors=True)
        if self._held is not None:
            self._held += session.size
        if self._held is None or self._held > self.most:
            self._held = self._make_room(folder)

    def _make_room(self, last: Path) -> int:
        """Takes away what was put there first, as long as it is too much; returns what is left."""
        held = sorted(_folders_in(self.place.shelf), key=_by_age)
        sizes = {one: self._size_of(one) for one in held}
        total = sum(sizes.values())
        for one in held:
            if total > self.most and one != last:
                total -= sizes[one]
                _discard(one)
        return total

    def _size_of(self, folder: Path) -> int:
        known = self._known.get(folder.name)
        if known is not None:
            return known.size
        return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


@lru_cache(maxsize=8)
def shelf_at(place: StorePlace) -> Shelf:
    """Returns the shelf of a store, one for all archives that have it."""
    return Shelf(place)


def offered(place: tuple[str, str]) -> bytes:
    """Lets kept sessions be read in this process, by the folders of the store and the shelf."""
    from plait.keep.store import Store

    folder, shelf = map(Path, place)
    known = shelf_at(StorePlace(folder, shelf))
    for session in joined(Store.open(folder)):
        known.folder_of(session)
    return b""


def _folders_in(shelf: Path) -> Iterable[Path]:
    return [path for path in _entries(shelf) if not path.name.startswith(".")]


def _entries(shelf: Path) -> Iterator[Path]:
    with suppress(OSError):
        yield from shelf.iterdir()


def _by_age(folder: Path) -> float:
    try:
        return folder.stat().st_ctime
    except OSError:
        return 0.0


def _discard(folder: Path) -> None:
    """Takes a session from the shelf, at once for whoever looks."""
    aside = folder.with_name(f".{folder.name}.{token_hex(4)}")
    with suppress(OSError):
        os.rename(folder, aside)  # noqa: PTH104  a folder that is gone is no fault
        shutil.rmtree(aside, ignore_errors=True)
