"""Changes of sessions to an index on disk, safe at every point.

Two stores must agree, so each batch takes three steps:

    1  the catalogue notes whose words are about to change        (pending)
    2  the text index takes the words in, all or none             (its own commit)
    3  the catalogue takes the rows in and forgets the note       (one transaction)

Whoever finds a note forgets those sessions in both; they are read anew. A hit whose session
the catalogue does not know is none, so a reader never sees half of a batch. Numbers of
sessions are never used twice.
"""

import shutil
import sqlite3
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from errno import ENOTEMPTY
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from plait.errors import SourceError
from plait.index.access import is_refused, locked, unwritable
from plait.index.catalogue import CATALOGUE, VERSION, Catalogue, broken_catalogue
from plait.index.documents import SessionWords, documents, two_in_one, words_to_index
from plait.index.model import KINDS, Passage, SessionRows
from plait.index.rows import RowChange, Tables, forgetting, growing, keeping
from plait.index.texts import PART, TEXT_FOLDER, open_texts, text_schema, unusable
from plait.line.cores import cores

if TYPE_CHECKING:
    from tantivy import IndexWriter

FIRST_BATCH, BATCH = 4_000_000, 64_000_000
"""Characters of text after which a batch is written, while the processes that read go on: soon
the first time, so that something is found."""
HEAP = 200_000_000
"""With less it writes, and joins, what it could have held."""
MOST_THREADS = 4
TRIES, PAUSE = 20, 0.05
LITTLE = 15_000_000
"""The least that the text index works with: enough for what was added to a session."""


class SessionEntry(Struct, array_like=True):
    """All that the index takes in of a session."""

    sid: int
    project: str
    tables: Tables
    words: SessionWords


@contextmanager
def writing(
    folder: Path, *, is_large: bool = True, wait: float = 30.0, is_anew: bool = False
) -> "Iterator[Writer]":
    """Gives the right to change an index; what was not written by the end is dropped."""
    with locked(folder, wait):
        if is_anew:
            _delete_index(folder)
        writer = _opened_writer(folder, is_large=is_large)
        try:
            yield writer
        finally:
            writer.close()


def _opened_writer(folder: Path, *, is_large: bool) -> "Writer":
    try:
        writer = Writer(folder, is_large=is_large)
        if writer.is_sound():
            return writer
        writer.close()
    except SourceError as error:
        if is_refused(error.__cause__) or not (folder / CATALOGUE).exists():
            raise
    _delete_index(folder)
    writer = Writer(folder, is_large=is_large)
    writer.catalogue.note({"version": VERSION, "opstamp": writer.texts.commit_opstamp})
    return writer


def _delete_index(folder: Path) -> None:
    try:
        for path in folder.glob(f"{CATALOGUE}*"):
            path.unlink()
        if (folder / TEXT_FOLDER).exists():
            _delete_tree(folder / TEXT_FOLDER)
    except OSError as error:
        raise unwritable(folder, error) from error


def _delete_tree(folder: Path) -> None:
    """Deletes a folder, though a thread of the text index may still tidy up in it."""
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
def _as_our_errors(folder: Path) -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as error:
        raise broken_catalogue(folder, error) from error
    except (ValueError, OSError) as error:
        raise unusable(folder, error) from error


class Writer:
    """Takes sessions in and forgets them, batch by batch."""

    texts: "IndexWriter"

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
            index = open_texts(folder, is_new=True)
            threads = max(1, min(MOST_THREADS, cores() - 1)) if is_large else 1
            with _as_our_errors(folder):
                self.texts = index.writer((HEAP if is_large else LITTLE) * threads, threads)
        except BaseException:
            self.catalogue.close()
            raise

    def is_sound(self) -> bool:
        """Tells whether both stores agree, after forgetting what was there by half."""
        if not self.catalogue.is_current():
            return False
        pending = self.catalogue.pending()
        if not pending:
            return bool(self.catalogue.meta("opstamp") == self.texts.commit_opstamp)
        for sid in pending:
            self.forget(sid)
        self.commit()
        return True

    def numbers(self, sessions: int, files: int) -> tuple[int, int]:
        """Returns the first of so many numbers for sessions and for files that nobody has had."""
        with _as_our_errors(self.folder):
            first = self.catalogue.numbers("sid", sessions)
            return first, self.catalogue.numbers("file", files)

    def take(self, old: int | None, entry: SessionEntry) -> None:
        """Takes a session in, in the place of what was known of it."""
        if old is not None:
            self.forget(old)
        with _as_our_errors(self.folder):
            self._sids.add(entry.sid)
            self._add(entry.words, entry.project)
        for table, rows in entry.tables.items():
            self._tables[table] += rows
        if self._held > self._batch:
            self.commit()
            self._batch = BATCH

    def extend(
        self, sid: int, file: int, grown: SessionRows, passages: Iterable[Passage], dag: int
    ) -> None:
        """Takes in what was added to one file of a session."""
        with _as_our_errors(self.folder):
            self._sids.add(sid)
            self._add(words_to_index(passages, sid, file), grown.project)
            self._changes.append(growing(sid, grown, dag))

    def forget_title(self, sid: int) -> None:
        """Forgets the words of a session's title."""
        self._delete({"sid": sid, "kind": KINDS.index("title")})

    def forget_passage(self, sid: int, file: int, line: int, part: int) -> None:
        """Forgets the words at one place."""
        from tantivy import FieldType, Occur, Query

        fields, at = text_schema(), two_in_one(line, part, PART)
        ranges = (
            Query.range_query(fields, name, FieldType.Unsigned, value, value)
            for name, value in (("file", file), ("at", at))
        )
        found = (Query.term_query(fields, "sid", sid), *ranges)
        with _as_our_errors(self.folder):
            query = Query.boolean_query([(Occur.Must, one) for one in found])
            self.texts.delete_documents_by_query(query)

    def forget(self, sid: int) -> None:
        """Forgets a session."""
        with _as_our_errors(self.folder):
            self._sids.add(sid)
            self._delete({"sid": sid})
            self._changes.append(forgetting(sid))

    def also(self, change: RowChange) -> None:
        """Makes a change of the catalogue alone, after the others."""
        self._later.append(change)

    def commit(self) -> None:
        """Writes what was taken in and forgotten so far."""
        if not (self._changes or self._tables or self._later):
            return
        with _as_our_errors(self.folder):
            self.catalogue.announce(self._sids)
            opstamp = self.texts.commit()
            changes = [*self._changes, keeping(self._tables), *self._later]
            self.catalogue.apply(changes, {"opstamp": opstamp})
        self._changes, self._later, self._tables = [], [], defaultdict(list)
        self._sids, self._held = set(), 0

    def close(self) -> None:
        """Lets go of both stores; what was not written is dropped.

        Not by a rollback: that ends merges before they are done, and leaves their threads behind.
        """
        with suppress(ValueError, OSError):
            self.texts.wait_merging_threads()
        self.catalogue.close()

    def _delete(self, numbers: dict[str, int]) -> None:
        """Deletes the passages with these numbers.

        By a query: deletion by a term takes a number for a signed one and finds nothing.
        """
        from tantivy import Occur, Query

        fields = text_schema()
        terms = [Query.term_query(fields, name, code) for name, code in numbers.items()]
        query = Query.boolean_query([(Occur.Must, term) for term in terms])
        with _as_our_errors(self.folder):
            self.texts.delete_documents_by_query(query)

    def _add(self, words: SessionWords, project: str) -> None:
        self._held += words.size
        add = self.texts.add_json
        for made in documents(words, self.catalogue.code, project):
            add(made)
