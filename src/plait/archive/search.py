"""A question to an archive to the turns that answer it, from its index or from the logs."""

import re
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

from msgspec.structs import replace

from plait.archive.folding import indexed_folding
from plait.archive.model import Meter
from plait.archive.summary_hits import leading_to_sessions
from plait.errors import PlaitError, SourceError, UserError
from plait.index.freshness import is_fresh, known_stamps
from plait.index.model import Hit, SearchResult, SearchSort, ms_since
from plait.index.query import All, Phrase, Wanted, Word, parse
from plait.index.search import IndexReader

if TYPE_CHECKING:
    from plait.archive.archive import Archive
    from plait.archive.model import Session
    from plait.index.expression import Mark, Sought
    from plait.index.scanning import Sighting

SearchWay: TypeAlias = Literal["words", "exact", "regex"]
UNINDEXED = "the index cannot be written: the logs were read instead"
UNMADE = "the index is not made yet: what it holds is found as soon as it is"
BEHIND = "the index cannot be written now: what came since the last time is not found"
INDEX_HINT = "name the folder of one: Archive(roots, index)"
MOST_WAITED = 1.0
"""Seconds for which one who searches waits for another who writes, where there is an index."""


@dataclass(frozen=True)
class Question:
    """What is asked for, and how much of it."""

    text: str
    filters: Sequence[Wanted] = ()
    way: SearchWay = "words"
    limit: int = 10
    context: int = 0
    has_facets: bool = False
    sort: SearchSort | None = None
    is_each: bool | None = None

    @property
    def is_by_fields(self) -> bool:
        """Tells whether everything is asked for that passes the filters."""
        return self.way == "words" and not self.text.strip() and bool(self.filters)

    def sought(self) -> "Wanted | Sought | None":
        """Returns what is wanted of the index, or what a scan looks for: signs alone too.

        None where everything is asked for that passes the filters.
        """
        if self.is_by_fields:
            return None
        wanted = parse(self.text) if self.way == "words" else None
        if wanted and not (isinstance(wanted, Word) and _is_signs(wanted.text)):
            return wanted
        from plait.index.expression import sought_pattern, sought_text

        return sought_pattern(self.text) if self.way == "regex" else sought_text(self.text.strip())


def _is_signs(text: str) -> bool:
    from plait.index.text_query import has_words

    return not has_words(text)


def search(
    archive: "Archive",
    folder: Path | None,
    text: str,
    filters: Sequence[Wanted] = (),
    *,
    way: SearchWay = "words",
    limit: int = 10,
    context: int = 0,
    has_facets: bool = False,
    sort: SearchSort | None = None,
    is_each: bool | None = None,
    is_updating: bool = True,
    watch: Meter | None = None,
) -> SearchResult:
    """Returns the turns that answer, the best first; brings the index up to date before.

    Without words, but with filters, everything that passes them is listed, the newest first.
    Texts and expressions are looked for in the logs themselves. Where no index can be written
    the last one answers; where there is none, the logs do. Who keeps the index up to date himself
    need not wait for that: words are looked for in it as it is.
    """
    if sort == "relevance" and way != "words":
        raise UserError("texts and expressions are listed by time", "leave out the order")
    asked = Question(text, filters, way, limit, context, has_facets, sort, is_each)
    found = _found(archive, folder, asked, watch, is_updating=is_updating)
    return leading_to_sessions(archive, found)


def _found(
    archive: "Archive",
    folder: Path | None,
    asked: Question,
    watch: Meter | None,
    *,
    is_updating: bool,
) -> SearchResult:
    started = time.perf_counter()
    sought = asked.sought()  # what is wrong is said before anything is read
    if folder and not is_updating:
        return _known_answer(archive, folder, asked, sought, started)
    if folder is None:
        if asked.filters:
            raise UserError("fields can be asked for only with an index", INDEX_HINT)
        return replace(_by_scan(archive, asked, sought, started), note=None)
    problem = _update_problem(archive, folder, watch)
    try:
        reader = _open_reader(archive, folder, watch, is_writable=problem is None)
    except SourceError as error:
        if problem is None or asked.filters:
            raise (problem or error) from None
        return _by_scan(archive, asked, sought, started)
    try:
        found = _answer(reader, archive, asked, sought, started)
    finally:
        reader.close()
    return replace(found, note=found.note or BEHIND) if problem else found


def _known_answer(
    archive: "Archive",
    folder: Path,
    asked: Question,
    sought: "Wanted | Sought | None",
    started: float,
) -> SearchResult:
    """Returns what the index answers as it is; nothing, and a word on it, before there is one."""
    try:
        reader = IndexReader(folder)
    except SourceError:
        return SearchResult(
            hits=(), total=0, took_ms=ms_since(started), by="index", note=UNMADE, sessions=0
        )
    with closing(reader):
        return _answer(reader, archive, asked, sought, started)


def _by_words(reader: IndexReader, asked: Question) -> SearchResult:
    return reader.search(
        asked.text,
        asked.filters,
        limit=asked.limit,
        context=asked.context,
        has_facets=asked.has_facets,
        sort=asked.sort,
        is_each=asked.is_each,
    )


def _answer(
    reader: IndexReader,
    archive: "Archive",
    asked: Question,
    sought: "Wanted | Sought | None",
    started: float,
) -> SearchResult:
    reader.catalogue.project_of = indexed_folding(archive, reader.catalogue).project
    if sought is None or isinstance(sought, Wanted):
        return _folded(_by_words(reader, asked), reader.catalogue.project_of)
    found = reader.sighted(
        _scan_all(archive, sought),
        sought,
        asked.filters,
        limit=asked.limit,
        context=asked.context,
        has_facets=asked.has_facets,
        is_each=asked.is_each,
    )
    found = _folded(found, reader.catalogue.project_of)
    return replace(found, took_ms=ms_since(started))


def _folded(found: SearchResult, project_of: Callable[[str], str]) -> SearchResult:
    hits = (replace(one, project=project_of(one.project), folder=one.project) for one in found.hits)
    return replace(found, hits=tuple(hits))


def _update_problem(archive: "Archive", folder: Path, watch: Meter | None) -> SourceError | None:
    if is_fresh(folder, archive.inventory.stamps()):
        return None
    from plait.archive.index.update import refresh

    try:
        if known_stamps(folder):
            refresh(archive, folder, watch=watch, wait=MOST_WAITED)
        else:
            refresh(archive, folder, watch=watch)
    except SourceError as problem:
        return problem
    return None


def _open_reader(
    archive: "Archive", folder: Path, watch: Meter | None, *, is_writable: bool
) -> IndexReader:
    try:
        return IndexReader(folder)
    except SourceError:
        if not is_writable:
            raise
    from plait.archive.index.update import refresh

    refresh(archive, folder, rebuild=True, watch=watch)
    return IndexReader(folder)


def _scan_all(archive: "Archive", sought: "Sought") -> "list[Sighting]":
    from plait.index.scanning import scan

    files = archive.files
    paths = [str(file.path.absolute()) for file in files]
    return scan(paths, [file.size for file in files], sought, archive.jobs, archive.losses)


def _by_scan(
    archive: "Archive", asked: Question, sought: "Wanted | Sought | None", started: float
) -> SearchResult:
    from plait.index.expression import Sought, finder_of, sought_patterns

    if sought is None:
        raise _more_than_words(archive)
    if isinstance(sought, Sought):
        marks: list[Mark] = [finder_of(sought)]
    else:
        looks = list(_looks_of(sought, _more_than_words(archive)))
        sought = sought_patterns(looks)
        marks = [re.compile(look, re.IGNORECASE) for look in looks]
    sightings = _scan_all(archive, sought)
    owners = {str(file.path.absolute()): one for one in archive.sessions for file in one.files}
    newest = sorted(sightings, key=lambda one: owners[one.path].modified, reverse=True)
    hits = (_bare_hit(owners[one.path], one, marks, asked.context) for one in newest[: asked.limit])
    found = SearchResult(
        hits=tuple(hits),
        total=len(newest),
        listed=min(asked.limit, len(newest)),
        is_whole=len(newest) <= asked.limit,
        sort="time",
        is_each=True,
        took_ms=ms_since(started),
        by="scan",
        note=UNINDEXED,
        sessions=len(archive.sessions),
    )
    return _folded(found, archive.folding.project)


def _more_than_words(archive: "Archive") -> PlaitError:
    if archive.index is None:
        return UserError("without an index only words can be looked for", INDEX_HINT)
    return SourceError(
        "no index can be written, and without one only words can be looked for",
        "set PLAIT_CACHE_DIR to a folder that can be written",
    )


def _looks_of(wanted: Wanted, refusal: PlaitError) -> Iterator[str]:
    from plait.index.text_query import distinct_words, phrase_pattern, word_pattern
    from plait.index.texts import words_of

    for part in distinct_words(wanted.wanted) if isinstance(wanted, All) else (wanted,):
        words = words_of(part.text) if isinstance(part, Word | Phrase) else []
        if words and isinstance(part, Word):
            yield word_pattern(words, part)
        elif words and isinstance(part, Phrase):
            yield phrase_pattern(words, part)
        else:
            raise refusal


def _bare_hit(session: "Session", one: "Sighting", marks: "Sequence[Mark]", context: int) -> Hit:
    from plait.index.hits import passage_text_at, shown_part
    from plait.index.scanning import number_at

    lying = passage_text_at(*one, session.path.with_suffix(""))
    shown = shown_part(lying.text if lying else "", marks, context)
    return Hit(
        session=session.id,
        uuid=lying.uuid if lying else None,
        turn=None,
        kind=lying.kind if lying else "note",
        time=lying.time if lying else None,
        snippet=shown.snippet.text,
        marks=shown.snippet.marks,
        score=0.0,
        project=session.project,
        title=None,
        branch=None,
        state=None,
        path=one.path,
        line=one.line or number_at(Path(one.path), one.offset),
        before=shown.before,
        after=shown.after,
    )
