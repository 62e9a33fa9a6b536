"""Search: the turns that match a query, from the index or, if there is none, from the logs."""

import re
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

from msgspec.structs import replace

from plait.errors import PlaitError, SourceError, UserError
from plait.index.freshness import is_fresh, load_stamps
from plait.index.model import Hit, SearchResult, SearchSort, elapsed_ms
from plait.index.query import And, Phrase, QueryNode, Word, parse_query
from plait.index.search import IndexReader, SharedReader, make_excerpt, read_passage_text
from plait.index.text_index import split_words
from plait.index.text_query import drop_repeated_words, has_words, phrase_pattern, word_pattern
from plait.line import iter_lines
from plait.record.reader import parse_entry
from plait.record.types import Summary
from plait.sessions.model import ProgressCallback, Session
from plait.sessions.project_folders import read_indexed_project_folders

if TYPE_CHECKING:
    from plait.archive.archive import Archive
    from plait.index.expression import Highlighter, ScanPattern
    from plait.index.scanning import ScanMatch


SearchWay: TypeAlias = Literal["words", "exact", "regex"]
UNINDEXED = "cannot write the index: the logs were read instead"
NO_INDEX_YET = "the index is still being built: results may be incomplete"
OUTDATED = "cannot write the index: newer messages are not searched"
INDEX_HINT = "pass an index folder: Archive(roots, index)"
MOST_WAITED = 1.0
"""Seconds a search waits for another process that is writing the index."""


@dataclass(frozen=True)
class SearchRequest:
    """A search and its limits."""

    text: str
    filters: Sequence[QueryNode] = ()
    way: SearchWay = "words"
    limit: int = 10
    context: int = 0
    has_facets: bool = False
    sort: SearchSort | None = None
    is_each: bool | None = None

    @property
    def is_by_fields(self) -> bool:
        """Return whether everything that passes the filters is requested."""
        return self.way == "words" and not self.text.strip() and bool(self.filters)

    def sought(self) -> "QueryNode | ScanPattern | None":
        """Return the query for the index, or the text for a scan, punctuation included.

        None if everything that passes the filters is requested.
        """
        if self.is_by_fields:
            return None
        wanted = parse_query(self.text) if self.way == "words" else None
        if isinstance(wanted, Word):
            if has_words(wanted.text):  # not only punctuation
                return wanted
        elif wanted:
            return wanted
        from plait.index.expression import pattern_for_regex, pattern_for_text

        return (
            pattern_for_regex(self.text)
            if self.way == "regex"
            else pattern_for_text(self.text.strip())
        )


def search(
    archive: "Archive",
    folder: Path | None,
    text: str,
    filters: Sequence[QueryNode] = (),
    *,
    way: SearchWay = "words",
    limit: int = 10,
    context: int = 0,
    has_facets: bool = False,
    sort: SearchSort | None = None,
    is_each: bool | None = None,
    is_updating: bool = True,
    reader: SharedReader | None = None,
    watch: ProgressCallback | None = None,
) -> SearchResult:
    """Return the turns that match, best first, after updating the index.

    Without words, but with filters, everything that passes them is listed, newest first. Exact
    texts and expressions are searched in the logs themselves. If no index can be written, the last
    one is used; if there is none, the logs are. A caller that keeps the index up to date need not
    wait for that: words are searched in it as it is, by a reader that may stay open.
    """
    if sort == "relevance" and way != "words":
        raise UserError("exact and regex searches are sorted by time", "leave out the sort order")
    asked = SearchRequest(text, filters, way, limit, context, has_facets, sort, is_each)
    found = _run(archive, folder, asked, watch, reader, is_updating=is_updating)
    if all(hit.kind != "summary" or hit.uuid for hit in found.hits):
        return found
    return replace(found, hits=tuple(place_summary(archive, hit) for hit in found.hits))


def _run(
    archive: "Archive",
    folder: Path | None,
    asked: SearchRequest,
    watch: ProgressCallback | None,
    shared: SharedReader | None,
    *,
    is_updating: bool,
) -> SearchResult:
    started = time.perf_counter()
    sought = asked.sought()  # errors are reported before anything is read
    if folder and not is_updating:
        with ExitStack() as stack:
            try:
                lent = shared.open() if shared else closing(IndexReader(folder))
                reader = stack.enter_context(lent)
            except SourceError:
                took = elapsed_ms(started)
                return SearchResult(
                    hits=(), total=0, took_ms=took, by="index", note=NO_INDEX_YET, sessions=0
                )
            return _answer(reader, archive, asked, sought, started)
    if folder is None:
        if asked.filters:
            raise UserError("searching by field needs an index", INDEX_HINT)
        return replace(_search_by_scan(archive, asked, sought, started), note=None)
    problem = update_if_stale(archive, folder, watch)
    try:
        reader = _open_reader(archive, folder, watch, is_writable=problem is None)
    except SourceError as error:
        if problem is None or asked.filters:
            raise (problem or error) from None
        return _search_by_scan(archive, asked, sought, started)
    with closing(reader):
        found = _answer(reader, archive, asked, sought, started)
    return replace(found, note=found.note or OUTDATED) if problem else found


def _answer(
    reader: IndexReader,
    archive: "Archive",
    asked: SearchRequest,
    sought: "QueryNode | ScanPattern | None",
    started: float,
) -> SearchResult:
    if reader.catalogue.project_of is str:
        folders = read_indexed_project_folders(archive, reader.catalogue)
        reader.catalogue.project_of = folders.project
    if sought is None or isinstance(sought, QueryNode):
        return assign_projects(
            reader.search(
                asked.text,
                asked.filters,
                limit=asked.limit,
                context=asked.context,
                has_facets=asked.has_facets,
                sort=asked.sort,
                is_each=asked.is_each,
            ),
            reader.catalogue.project_of,
        )
    found = reader.resolve_matches(
        _scan_all(archive, sought),
        sought,
        asked.filters,
        limit=asked.limit,
        context=asked.context,
        has_facets=asked.has_facets,
        is_each=asked.is_each,
    )
    found = assign_projects(found, reader.catalogue.project_of)
    return replace(found, took_ms=elapsed_ms(started))


def assign_projects(found: SearchResult, project_of: Callable[[str], str]) -> SearchResult:
    """Return an answer with projects in place of the folders of the logs."""
    hits = (replace(hit, project=project_of(hit.project), folder=hit.project) for hit in found.hits)
    return replace(found, hits=tuple(hits))


def update_if_stale(
    archive: "Archive", folder: Path, watch: ProgressCallback | None = None
) -> SourceError | None:
    """Bring an index up to date; return why it cannot be written."""
    if is_fresh(folder, archive.inventory.stamps()):
        return None
    from plait.indexing import update_index

    try:
        if load_stamps(folder):
            update_index(archive, folder, watch=watch, wait=MOST_WAITED)
        else:
            update_index(archive, folder, watch=watch)
    except SourceError as problem:
        return problem
    return None


def _open_reader(
    archive: "Archive", folder: Path, watch: ProgressCallback | None, *, is_writable: bool
) -> IndexReader:
    try:
        return IndexReader(folder)
    except SourceError:
        if not is_writable:
            raise
    from plait.indexing import update_index

    update_index(archive, folder, rebuild=True, watch=watch)
    return IndexReader(folder)


def _scan_all(archive: "Archive", sought: "ScanPattern") -> "list[ScanMatch]":
    from plait.index.scanning import scan_logs

    files = archive.files
    paths = [str(file.path.absolute()) for file in files]
    return scan_logs(
        paths, [file.size for file in files], sought, archive.jobs, archive.worker_failures
    )


def _search_by_scan(
    archive: "Archive",
    asked: SearchRequest,
    sought: "QueryNode | ScanPattern | None",
    started: float,
) -> SearchResult:
    from plait.index.expression import ScanPattern, make_finder, pattern_for_all
    from plait.index.scanning import number_lines

    if sought is None:
        raise _find_inexact_terms(archive)
    if isinstance(sought, ScanPattern):
        marks: list[Highlighter] = [make_finder(sought)]
    else:
        looks: list[str] = []
        refusal = _find_inexact_terms(archive)
        for part in drop_repeated_words(sought.operands) if isinstance(sought, And) else (sought,):
            words = split_words(part.text) if isinstance(part, Word | Phrase) else []
            if words and isinstance(part, Word):
                looks.append(word_pattern(words, part))
            elif words and isinstance(part, Phrase):
                looks.append(phrase_pattern(words, part))
            else:
                raise refusal
        sought = pattern_for_all(looks)
        marks = [re.compile(look, re.IGNORECASE) for look in looks]
    sightings = _scan_all(archive, sought)
    owners = {
        str(file.path.absolute()): session for session in archive.sessions for file in session.files
    }
    newest = sorted(sightings, key=lambda sighting: owners[sighting.path].modified, reverse=True)
    shown = newest[: asked.limit]
    # of a complete line only the offset is known: they are numbered in one pass over each log
    unnumbered: dict[str, list[int]] = {}
    for sighting in shown:
        if not sighting.line:
            unnumbered.setdefault(sighting.path, []).append(sighting.offset)
    numbers: dict[tuple[str, int], int] = {}
    for path, offsets in unnumbered.items():
        places = sorted(set(offsets))
        found_numbers = number_lines(Path(path), places)
        numbers |= {(path, at): n for at, n in zip(places, found_numbers, strict=True)}
    hits = (
        _make_bare_hit(
            owners[hit.path], hit, hit.line or numbers[hit.path, hit.offset], marks, asked.context
        )
        for hit in shown
    )
    found = SearchResult(
        hits=tuple(hits),
        total=len(newest),
        listed=min(asked.limit, len(newest)),
        is_whole=len(newest) <= asked.limit,
        sort="time",
        is_each=True,
        took_ms=elapsed_ms(started),
        by="scan",
        note=UNINDEXED,
        sessions=len(archive.sessions),
    )
    return assign_projects(found, archive.folding.project)


def _find_inexact_terms(archive: "Archive") -> PlaitError:
    if archive.index is None:
        return UserError("without an index only words can be searched", INDEX_HINT)
    return SourceError(
        "cannot write the index; without it, only words can be searched",
        "set PLAIT_CACHE_DIR to a folder that you can write to",
    )


def _make_bare_hit(
    session: Session, match: "ScanMatch", line: int, marks: "Sequence[Highlighter]", context: int
) -> Hit:
    lying = read_passage_text(*match, session.path.with_suffix(""))
    shown = make_excerpt(lying.separated if lying else "", marks, context)
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
        path=match.path,
        line=line,
        before=shown.before,
        after=shown.after,
    )


def place_summary(archive: "Archive", hit: Hit) -> Hit:
    """Return a hit in a summary line with the turn that it summarises, if a session has it."""
    leaf = (
        _find_leaf_at(Path(hit.path), hit.line) if hit.kind == "summary" and not hit.uuid else None
    )
    if leaf is None:
        return hit
    for session in _find_sessions_with(archive, hit, leaf):
        for conversation in archive.conversations(session).by_line.values():
            for turn in conversation.turns:
                if any(item.uuid == leaf for item in turn.items):
                    return replace(
                        hit,
                        session=session.id,
                        uuid=leaf,
                        turn=turn.number,
                        title=archive.facts(session).title,
                        project=archive.folding.project(session.project),
                        folder=session.project,
                        branch=conversation.id,
                    )
    return hit


def _find_leaf_at(path: Path, number: int) -> str | None:
    try:
        entry = next(
            (parse_entry(line) for line in iter_lines(path) if line.number == number), None
        )
    except SourceError:
        return None
    return entry.leaf_uuid if isinstance(entry, Summary) else None


def _find_sessions_with(archive: "Archive", hit: Hit, leaf: str) -> Iterator[Session]:
    """Yield the sessions of the project that mention a record, the one that was hit first."""
    near = [
        session for session in archive.sessions if session.project == hit.folder and session.file
    ]
    sign = f'"{leaf}"'.encode()
    for session in sorted(near, key=lambda session: str(session.path) != hit.path):
        try:
            if any(sign in line.data for line in iter_lines(session.path)):
                yield session
        except SourceError:
            continue
