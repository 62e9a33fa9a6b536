"""Access to an index that is up to date.

An index that is behind is updated first if that is little work; if it is missing or broken, the
logs are read instead: the answers are the same.
"""

import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import MsgspecError

from plait.errors import SourceError
from plait.index.catalogue import CATALOGUE, Catalogue, RowChange, from_bytes, write_if_unchanged
from plait.index.freshness import TITLE, FileStamp, is_fresh
from plait.line.discovery import LOG_SUFFIX, find_session_folder
from plait.sessions.facts import LogFacts
from plait.sessions.model import Facts, Session

if TYPE_CHECKING:
    from plait.sessions.library import SessionLibrary

MAX_UPDATE_BYTES = 8_000_000
"""The most bytes read to update an index before a question is answered."""
INDEX_ERRORS = (
    OSError,
    SourceError,
    sqlite3.Error,
    MsgspecError,
    ArithmeticError,
    LookupError,
    TypeError,
    ValueError,
)
"""Errors of a broken index, after which the logs are read."""


@dataclass
class FreshIndex:
    """An index that is up to date."""

    library: "SessionLibrary"
    folder: Path
    catalogue: Catalogue
    generation: int

    @cached_property
    def sids(self) -> Mapping[Path, int]:
        """The numbers of all sessions, by path."""
        known = self.catalogue.keys()
        return {
            session.path: known[catalogue_key(session.path)] for session in self.library.sessions
        }

    def session_number(self, session: Session) -> int:
        """Return the number of a session."""
        return self.sids[session.path]

    def load_facts(self) -> None:
        """Give the archive the facts of all sessions."""
        known = self.catalogue.facts()
        self.library.add_facts(
            {
                session.path: _decode_facts(
                    known[catalogue_key(session.path)], session, self.library
                )
                for session in self.library.sessions
            }
        )

    def save(self, changes: Iterable[RowChange]) -> None:
        """Save what was computed, if nobody else is writing."""
        chosen = list(changes)
        if chosen:
            write_if_unchanged(self.folder, self.generation, chosen)


def catalogue_key(path: Path) -> str:
    """Return the catalogue's name of a file."""
    return str(path.absolute())


@contextmanager
def open_fresh_index(library: "SessionLibrary", folder: Path) -> Iterator[FreshIndex | None]:
    """Return the index of an archive; None if the logs must be read."""
    catalogue = None
    with suppress(*INDEX_ERRORS):
        catalogue = _open_catalogue(library, folder)
    try:
        yield _load_fresh_index(library, folder, catalogue) if catalogue else None
    finally:
        if catalogue:
            catalogue.close()


def _load_fresh_index(
    library: "SessionLibrary", folder: Path, catalogue: Catalogue
) -> FreshIndex | None:
    with suppress(*INDEX_ERRORS):
        found = FreshIndex(library, folder, catalogue, catalogue.generation())
        found.load_facts()
        return found
    return None


def _open_catalogue(library: "SessionLibrary", folder: Path) -> Catalogue | None:
    if not (folder / CATALOGUE).exists():
        return None
    catalogue = Catalogue(folder)
    try:
        now = scan_library(library)
        due = _count_bytes_due(catalogue, now) if _is_complete(catalogue) else MAX_UPDATE_BYTES + 1
    except BaseException:
        catalogue.close()
        raise
    if not due:
        return catalogue
    catalogue.close()
    if due <= MAX_UPDATE_BYTES:
        library.update_index(folder, wait=0)
        catalogue = Catalogue(folder)
        if _is_complete(catalogue) and catalogue.stamps() == scan_library(library):
            return catalogue
        catalogue.close()
        return None
    return None


def _is_complete(catalogue: Catalogue) -> bool:
    return catalogue.is_current() and not catalogue.pending()


def scan_library(library: "SessionLibrary") -> dict[str, FileStamp]:
    """Return the stamps of all files of an archive, by absolute path."""
    return library.inventory.stamps()


def _count_bytes_due(catalogue: Catalogue, now: Mapping[str, FileStamp]) -> int:
    """Return how many bytes must be read, at most, to update an index; 0 for none."""
    known = catalogue.stamps()
    if known == now:
        return 0
    owners, straight = catalogue.owners(), catalogue.appendable_logs()
    sizes: dict[int, int] = {}
    for path, sid in owners.items():
        sizes[sid] = sizes.get(sid, 0) + known[path][0]
    due, read = 1, {owners[path] for path in known.keys() - now.keys()}
    for path, stamp in now.items():
        before = known.get(path, (0, 0, 0))
        if before != stamp:
            due += max(stamp.size - before[0], 0)
            if path not in straight or before[0] >= stamp.size or before[2] != stamp.inode:
                folder, _ = find_session_folder(Path(path))
                read.add(
                    owners.get(
                        path, owners.get(str(folder.with_suffix(LOG_SUFFIX)) if folder else "", 0)
                    )
                )
    return due + sum(sizes[sid] for sid in read if sid)


def read_fresh_facts(library: "SessionLibrary", folder: Path) -> dict[Path, Facts] | None:
    """Return the facts of all sessions by path; None if the index is behind or broken.

    They equal those that `Archive.facts` reads from the logs.
    """
    with suppress(*INDEX_ERRORS):
        if is_fresh(folder, scan_library(library)):
            catalogue = Catalogue(folder)
            try:
                known = catalogue.facts()
            finally:
                catalogue.close()
            keys = {session.path: str(session.path.absolute()) for session in library.sessions}
            return {
                session.path: _decode_facts(known[keys[session.path]], session, library)
                for session in library.sessions
                if keys[session.path] in known
            }
    return None


def read_unchanged_facts(library: "SessionLibrary", folder: Path) -> dict[Path, Facts]:
    """Return the facts of the sessions whose files are unchanged since indexing, by path.

    The index may be behind or incomplete.
    """
    with suppress(*INDEX_ERRORS):
        if (folder / CATALOGUE).exists():
            return _select_unchanged_facts(library, folder)
    return {}


def _select_unchanged_facts(library: "SessionLibrary", folder: Path) -> dict[Path, Facts]:
    with closing(Catalogue(folder)) as catalogue:
        if not catalogue.is_current():
            return {}
        stamps, known = catalogue.stamps(), catalogue.facts()
    now = scan_library(library)

    def is_same(session: Session) -> bool:
        title = session.path.with_suffix("") / TITLE
        keys = [catalogue_key(path) for path in (*(file.path for file in session.files), title)]
        return keys[0] in known and all(stamps.get(key) == now.get(key) for key in keys)

    return {
        session.path: _decode_facts(known[catalogue_key(session.path)], session, library)
        for session in library.sessions
        if is_same(session)
    }


def _decode_facts(data: bytes, session: Session, library: "SessionLibrary") -> Facts:
    return library.complete_facts(session, from_bytes(data, LogFacts))
