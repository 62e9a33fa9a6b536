"""Writing the index on disk, safe against crashes at every point.

Two stores must agree, so each batch takes three steps:

    1  the catalogue notes which sessions are about to change     (pending)
    2  the text index adds their documents, all or none           (its own commit)
    3  the catalogue adds their rows and deletes the note         (one transaction)

A note that is found later means that a batch was interrupted: its sessions are deleted from both
stores and read again. A hit whose session the catalogue does not know is dropped, so a reader never
sees half a batch. Numbers of sessions are never reused.
"""

import shutil
import sqlite3
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from errno import ENOTEMPTY
from pathlib import Path

from msgspec import Struct
from tantivy import FieldType, IndexWriter, Occur, Query

from plait.errors import SourceError
from plait.index.catalogue import (
    CATALOGUE,
    VERSION,
    Catalogue,
    RowChange,
    Tables,
    catalogue_error,
    delete_session,
    extend_session,
    insert_tables,
    is_write_error,
    lock_index,
    unwritable_error,
)
from plait.index.model import KINDS, Passage, SessionRows
from plait.index.text_index import (
    PART,
    TEXT_FOLDER,
    SessionDocuments,
    build_documents,
    iter_documents,
    open_text_index,
    pack_pair,
    text_index_error,
    text_schema,
)
from plait.line import default_jobs

FIRST_BATCH, BATCH = 4_000_000, 64_000_000
"""Characters of text after which a batch is written while workers continue reading: early the first
time, so that something can be found.
"""
HEAP = 200_000_000
"""With less it writes and merges segments that it could have kept in memory."""
MOST_THREADS = 4
TRIES, PAUSE = 20, 0.05
LITTLE = 15_000_000
"""The minimum for the text index: enough for what was appended to a session."""


class SessionEntry(Struct, array_like=True):
    """Everything the index stores about a session."""

    sid: int
    project: str
    tables: Tables
    words: SessionDocuments


@contextmanager
def open_writer(
    folder: Path, *, is_large: bool = True, wait: float = 30.0, is_anew: bool = False
) -> "Iterator[Writer]":
    """Yield the right to change an index; uncommitted changes are dropped at the end."""
    with lock_index(folder, wait):
        if is_anew:
            _delete_index(folder)
        writer = _open_consistent_writer(folder, is_large=is_large)
        try:
            yield writer
        finally:
            writer.close()


def _open_consistent_writer(folder: Path, *, is_large: bool) -> "Writer":
    try:
        writer = Writer(folder, is_large=is_large)
        if writer.is_consistent():
            return writer
        writer.close()
    except SourceError as error:
        if is_write_error(error.__cause__) or not (folder / CATALOGUE).exists():
            raise
    _delete_index(folder)
    writer = Writer(folder, is_large=is_large)
    writer.catalogue.set_meta({"version": VERSION, "opstamp": writer.texts.commit_opstamp})
    return writer


def _delete_index(folder: Path) -> None:
    try:
        for path in folder.glob(f"{CATALOGUE}*"):
            path.unlink()
        if (folder / TEXT_FOLDER).exists():
            _delete_tree(folder / TEXT_FOLDER)
    except OSError as error:
        raise unwritable_error(folder, error) from error


def _delete_tree(folder: Path) -> None:
    """Delete a folder, although a thread of the text index may still clean up in it."""
    for _ in range(TRIES):
        try:
            shutil.rmtree(folder)
            return
        except OSError as error:
            if error.errno != ENOTEMPTY:
                raise
        time.sleep(PAUSE)
    shutil.rmtree(folder)


@contextmanager
def _translate_errors(folder: Path) -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as error:
        raise catalogue_error(folder, error) from error
    except (ValueError, OSError) as error:
        raise text_index_error(folder, error) from error


class Writer:
    """Adds and deletes sessions, batch by batch."""

    texts: IndexWriter

    def __init__(self, folder: Path, *, is_large: bool) -> None:
        self.folder = folder
        self.catalogue = Catalogue(folder, is_reader=False)
        self._changes: list[RowChange] = []
        self._tables: Tables = defaultdict(list)
        self._later: list[RowChange] = []
        self._sids: set[int] = set()
        self._held = 0
        self._batch = FIRST_BATCH
        try:
            index = open_text_index(folder, is_new=True)
            threads = max(1, min(MOST_THREADS, default_jobs() - 1)) if is_large else 1
            with _translate_errors(folder):
                self.texts = index.writer((HEAP if is_large else LITTLE) * threads, threads)
        except BaseException:
            self.catalogue.close()
            raise

    def is_consistent(self) -> bool:
        """Return whether both stores agree, after deleting incomplete batches."""
        if not self.catalogue.is_current():
            return False
        pending = self.catalogue.pending()
        if not pending:
            return bool(self.catalogue.meta("opstamp") == self.texts.commit_opstamp)
        for sid in pending:
            self.delete_session(sid)
        self.commit()
        return True

    def reserve_numbers(self, sessions: int, files: int) -> tuple[int, int]:
        """Reserve unused numbers for sessions and files, and return the first."""
        with _translate_errors(self.folder):
            first = self.catalogue.reserve_numbers("sid", sessions)
            return first, self.catalogue.reserve_numbers("file", files)

    def add_session(self, old: int | None, entry: SessionEntry) -> None:
        """Add a session, replacing what was stored about it."""
        if old is not None:
            self.delete_session(old)
        with _translate_errors(self.folder):
            self._sids.add(entry.sid)
            self._add(entry.words, entry.project)
        for table, rows in entry.tables.items():
            self._tables[table] += rows
        if self._held > self._batch:
            self.commit()
            self._batch = BATCH

    def extend_session(
        self, sid: int, file: int, grown: SessionRows, passages: Iterable[Passage], dag: int
    ) -> None:
        """Add what was appended to one file of a session."""
        with _translate_errors(self.folder):
            self._sids.add(sid)
            self._add(build_documents(passages, sid, file), grown.project)
            self._changes.append(extend_session(sid, grown, dag))

    def delete_title(self, sid: int) -> None:
        """Delete the document of a session's title."""
        self._delete({"sid": sid, "kind": KINDS.index("title")})

    def delete_passage(self, sid: int, file: int, line: int, part: int) -> None:
        """Delete the documents at one place."""
        fields, at = text_schema(), pack_pair(line, part, PART)
        ranges = (
            Query.range_query(fields, name, FieldType.Unsigned, value, value)
            for name, value in (("file", file), ("at", at))
        )
        found = (Query.term_query(fields, "sid", sid), *ranges)
        with _translate_errors(self.folder):
            query = Query.boolean_query([(Occur.Must, query) for query in found])
            self.texts.delete_documents_by_query(query)

    def delete_session(self, sid: int) -> None:
        """Delete a session."""
        with _translate_errors(self.folder):
            self._sids.add(sid)
            self._delete({"sid": sid})
            self._changes.append(delete_session(sid))

    def add_change(self, change: RowChange) -> None:
        """Add a change of the catalogue alone, after the others."""
        self._later.append(change)

    def commit(self) -> None:
        """Write all changes so far."""
        if not (self._changes or self._tables or self._later):
            return
        with _translate_errors(self.folder):
            self.catalogue.mark_pending(self._sids)
            opstamp = self.texts.commit()
            changes = [*self._changes, insert_tables(self._tables), *self._later]
            self.catalogue.apply(changes, {"opstamp": opstamp})
        self._changes, self._later, self._tables = [], [], defaultdict(list)
        self._sids, self._held = set(), 0

    def close(self) -> None:
        """Close both stores; uncommitted changes are dropped.

        Not by a rollback: that ends merges before they are done, and leaves their threads behind.
        """
        with suppress(ValueError, OSError):
            self.texts.wait_merging_threads()
        self.catalogue.close()

    def _delete(self, numbers: dict[str, int]) -> None:
        """Delete the passages with these numbers.

        By a query: deletion by term takes a number as signed and finds nothing.
        """
        fields = text_schema()
        terms = [Query.term_query(fields, name, code) for name, code in numbers.items()]
        query = Query.boolean_query([(Occur.Must, term) for term in terms])
        with _translate_errors(self.folder):
            self.texts.delete_documents_by_query(query)

    def _add(self, words: SessionDocuments, project: str) -> None:
        self._held += words.size
        add = self.texts.add_json
        for made in iter_documents(words, self.catalogue.code, project):
            add(made)
