"""An archive and its index to an index that tells what the logs hold, where there is one.

It answers in the place of the logs, and gives the same answers. One that is behind is brought
up to date first, where that is little work; one that is not there, or broken, is left alone.
"""

import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from msgspec import MsgspecError

from plait.archive.archive import Archive
from plait.archive.facts import LogFacts
from plait.archive.model import Facts, Session
from plait.errors import SourceError
from plait.index.catalogue import CATALOGUE, Catalogue, from_bytes
from plait.index.freshness import TITLE, FileStamp, is_fresh
from plait.index.rows import RowChange, keep_rows
from plait.line.discover import SUFFIX, session_folder

MOST = 8_000_000
"""Bytes that are read to bring an index up to date before a question is answered."""
TROUBLE = (
    OSError,
    SourceError,
    sqlite3.Error,
    MsgspecError,
    ArithmeticError,
    LookupError,
    TypeError,
    ValueError,
)
"""What goes wrong with an index that is broken: the logs answer then."""


@dataclass
class FreshIndex:
    """An index that is up to date."""

    archive: Archive
    folder: Path
    catalogue: Catalogue
    generation: int

    @cached_property
    def sids(self) -> Mapping[Path, int]:
        """The numbers of all sessions, by path."""
        known = self.catalogue.keys()
        return {one.path: known[key_of(one.path)] for one in self.archive.sessions}

    def number(self, session: Session) -> int:
        """Returns the number of a session."""
        return self.sids[session.path]

    def remember(self) -> None:
        """Gives the archive the facts of all sessions."""
        known = self.catalogue.facts()
        self.archive.remember(
            {
                one.path: _facts_from(known[key_of(one.path)], one, self.archive)
                for one in self.archive.sessions
            }
        )

    def keep(self, changes: Iterable[RowChange]) -> None:
        """Keeps what was worked out for the next time, if nobody else is writing."""
        chosen = list(changes)
        if chosen:
            keep_rows(self.folder, self.generation, chosen)


def key_of(path: Path) -> str:
    """Returns how the catalogue names a file."""
    return str(path.absolute())


@contextmanager
def fresh_index(archive: Archive, folder: Path) -> Iterator[FreshIndex | None]:
    """Gives the index of an archive, None where the logs must be read."""
    catalogue = None
    with suppress(*TROUBLE):
        catalogue = _fresh_catalogue(archive, folder)
    try:
        yield _with_facts(archive, folder, catalogue) if catalogue else None
    finally:
        if catalogue:
            catalogue.close()


def _with_facts(archive: Archive, folder: Path, catalogue: Catalogue) -> FreshIndex | None:
    with suppress(*TROUBLE):
        found = FreshIndex(archive, folder, catalogue, catalogue.generation())
        found.remember()
        return found
    return None


def _fresh_catalogue(archive: Archive, folder: Path) -> Catalogue | None:
    if not (folder / CATALOGUE).exists():
        return None
    catalogue = Catalogue(folder)
    try:
        now = stamps_of(archive)
        due = _bytes_due(catalogue, now) if _is_whole(catalogue) else MOST + 1
    except BaseException:
        catalogue.close()
        raise
    if not due:
        return catalogue
    catalogue.close()
    return _refreshed_catalogue(archive, folder) if due <= MOST else None


def _refreshed_catalogue(archive: Archive, folder: Path) -> Catalogue | None:
    from plait.archive.index.update import refresh

    refresh(archive, folder, wait=0)
    catalogue = Catalogue(folder)
    if _is_whole(catalogue) and catalogue.stamps() == stamps_of(archive):
        return catalogue
    catalogue.close()
    return None


def _is_whole(catalogue: Catalogue) -> bool:
    return catalogue.is_current() and not catalogue.pending()


def stamps_of(archive: Archive) -> dict[str, FileStamp]:
    """Returns the stamps of all files of an archive, by their whole paths."""
    return archive.inventory.stamps()


def _bytes_due(catalogue: Catalogue, now: Mapping[str, FileStamp]) -> int:
    """Returns how many bytes must be read, at most, to bring an index up to date; 0 for none."""
    known = catalogue.stamps()
    if known == now:
        return 0
    owners, straight = catalogue.owners(), catalogue.straight()
    sizes: dict[int, int] = {}
    for path, sid in owners.items():
        sizes[sid] = sizes.get(sid, 0) + known[path][0]
    due, read = 1, {owners[path] for path in known.keys() - now.keys()}
    for path, stamp in now.items():
        before = known.get(path, (0, 0, 0))
        if before != stamp:
            due += max(stamp.size - before[0], 0)
            if path not in straight or before[0] >= stamp.size or before[2] != stamp.inode:
                read.add(owners.get(path, owners.get(_own_log(path), 0)))
    return due + sum(sizes[sid] for sid in read if sid)


def _own_log(path: str) -> str:
    folder, _ = session_folder(Path(path))
    return str(folder.with_suffix(SUFFIX)) if folder else ""


def listed_facts(archive: Archive, folder: Path) -> dict[Path, Facts] | None:
    """Returns the facts of all sessions by path; None where the index is behind, or broken.

    They are the ones that `Archive.facts` reads from the logs.
    """
    with suppress(*TROUBLE):
        if is_fresh(folder, stamps_of(archive)):
            return _facts_in(archive, folder)
    return None


def known_facts(archive: Archive, folder: Path) -> dict[Path, Facts]:
    """Returns the facts of the sessions whose files are as an index knows them, by path.

    It need not be up to date, nor whole.
    """
    with suppress(*TROUBLE):
        if (folder / CATALOGUE).exists():
            return _unchanged_facts(archive, folder)
    return {}


def _unchanged_facts(archive: Archive, folder: Path) -> dict[Path, Facts]:
    with closing(Catalogue(folder)) as catalogue:
        if not catalogue.is_current():
            return {}
        stamps, known = catalogue.stamps(), catalogue.facts()
    now = stamps_of(archive)

    def is_same(session: Session) -> bool:
        title = session.path.with_suffix("") / TITLE
        keys = [key_of(path) for path in (*(file.path for file in session.files), title)]
        return keys[0] in known and all(stamps.get(key) == now.get(key) for key in keys)

    return {
        session.path: _facts_from(known[key_of(session.path)], session, archive)
        for session in archive.sessions
        if is_same(session)
    }


def _facts_in(archive: Archive, folder: Path) -> dict[Path, Facts]:
    catalogue = Catalogue(folder)
    try:
        known = catalogue.facts()
    finally:
        catalogue.close()
    keys = {session.path: str(session.path.absolute()) for session in archive.sessions}
    return {
        session.path: _facts_from(known[keys[session.path]], session, archive)
        for session in archive.sessions
        if keys[session.path] in known
    }


def _facts_from(data: bytes, session: Session, archive: Archive) -> Facts:
    return archive.facts_with(session, from_bytes(data, LogFacts))
