"""A question to an archive to the turns that answer it, from its index or from the logs."""

import re
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Literal, TypeAlias

from plait.archive.archive import Archive
from plait.archive.indexing import Watch, grounded, refresh
from plait.archive.model import Session
from plait.errors import SourceError
from plait.index.meaning import GAP, look_of
from plait.index.model import Found, Hit, Place
from plait.index.query import All, Field, Phrase, Wanted, Word, parse
from plait.index.rawscan import Sighting, Sought, scan, sought_pattern, sought_text
from plait.index.search import Hits, Reader
from plait.index.snippet import lying_at, shown_of
from plait.index.words import words_of

Way: TypeAlias = Literal["words", "exact", "regex"]
UNINDEXED = "the index cannot be written: the logs were read instead"


def search(
    archive: Archive,
    folder: Path,
    text: str,
    filters: Sequence[Field] = (),
    *,
    way: Way = "words",
    limit: int = 10,
    context: int = 0,
    has_facets: bool = False,
    watch: Watch | None = None,
) -> Found:
    """Returns the turns that answer, the best first; brings the index up to date before.

    Texts and expressions are looked for in the logs themselves. Where no index can be written
    the last one answers; where there is none, the logs do.
    """
    started = time.perf_counter()
    archive = grounded(archive)
    problem = brought_up(archive, folder, watch)
    sightings = scanned(archive, text, way) if way != "words" else None
    try:
        reader = opened(archive, folder, watch, is_writable=problem is None)
    except SourceError as error:
        if problem is None or filters:
            raise (problem or error) from None
        return by_scan(archive, text, way, sightings, limit, context, started)
    try:
        if sightings is not None:
            return placed(reader, text, way, sightings, filters, limit, context, started)
        return reader.search(text, filters, limit=limit, context=context, has_facets=has_facets)
    finally:
        reader.close()


def brought_up(archive: Archive, folder: Path, watch: Watch | None) -> SourceError | None:
    """Brings the index up to date; returns why that was not possible."""
    try:
        refresh(archive, folder, watch=watch)
    except SourceError as problem:
        return problem
    return None


def opened(archive: Archive, folder: Path, watch: Watch | None, *, is_writable: bool) -> Reader:
    """Opens an index; one that turns out to be damaged is made anew."""
    try:
        return Reader(folder)
    except SourceError:
        if not is_writable:
            raise
    refresh(archive, folder, rebuild=True, watch=watch)
    return Reader(folder)


def sought_for(text: str, way: Way) -> Sought:
    """Returns what a scan looks for."""
    return sought_text(text) if way == "exact" else sought_pattern(text)


def scanned(archive: Archive, text: str, way: Way) -> list[Sighting]:
    """Returns every passage of the logs that holds a text or matches an expression."""
    return scan_all(archive, sought_for(text, way))


def scan_all(archive: Archive, sought: Sought) -> list[Sighting]:
    """Scans all logs of an archive."""
    paths = [str(file.path) for file in archive.files]
    return scan(paths, sought, sum(file.size for file in archive.files))


def placed(
    reader: Reader,
    text: str,
    way: Way,
    sightings: Iterable[Sighting],
    filters: Sequence[Field],
    limit: int,
    context: int,
    started: float,
) -> Found:
    """Returns what a scan has found with its turns, the newest first; copies are left out."""
    found = list(places_of(reader, sightings, filters))
    marks = [sought_for(text, way).expression]
    found.sort(key=lambda place: place.time or 0, reverse=True)
    hits = tuple(Hits(reader, marks, context).made(found, limit))
    return Found(hits=hits, total=len(found), took_ms=since(started), by="scan")


def places_of(
    reader: Reader, sightings: Iterable[Sighting], filters: Sequence[Field]
) -> Iterator[Place]:
    """Yields the places that the index knows of some sightings."""
    numbers = reader.catalogue.logs()
    wanted: dict[int, set[tuple[int, int, int]]] = defaultdict(set)
    for one in sightings:
        if one.path in numbers:
            file, sid = numbers[one.path]
            wanted[sid].add((file, one.line, one.part))
    for sid, places in wanted.items():
        known = reader.in_session(sid, filters)
        yield from (one for one in known if (one.file, one.line, one.part) in places)


def by_scan(
    archive: Archive,
    text: str,
    way: Way,
    sightings: list[Sighting] | None,
    limit: int,
    context: int,
    started: float,
) -> Found:
    """Returns what the logs alone can answer: passages, without their turns."""
    if sightings is None:
        looks = list(looks_of(parse(text)))
        both = "".join(f"(?=.*?{look})" for look in looks)
        sought = Sought(both, re.IGNORECASE | re.DOTALL, b"")
        sightings = scan_all(archive, sought)
        marks = [re.compile(look, re.IGNORECASE) for look in looks]
    else:
        marks = [sought_for(text, way).expression]
    owners = {str(file.path): one for one in archive.sessions for file in one.files}
    newest = sorted(sightings, key=lambda one: owners[one.path].modified, reverse=True)
    hits = tuple(bare_hit(owners[one.path], one, marks, context) for one in newest[:limit])
    return Found(hits=hits, total=len(newest), took_ms=since(started), by="scan", note=UNINDEXED)


def looks_of(wanted: Wanted) -> Iterator[str]:
    """Yields how the words of a plain query look; raises where it asks for more than words."""
    for part in wanted.wanted if isinstance(wanted, All) else (wanted,):
        if isinstance(part, Word):
            yield look_of(words_of(part.text), part)
        elif isinstance(part, Phrase):
            yield GAP.join(map(re.escape, words_of(part.text)))
        else:
            raise SourceError(
                "no index can be written, and without one only words can be looked for",
                "set PLAIT_CACHE_DIR to a folder that can be written",
            )


def bare_hit(
    session: Session, one: Sighting, marks: Sequence[re.Pattern[str]], context: int
) -> Hit:
    """Returns a hit that only its log is known of."""
    lying = lying_at(*one, session.path.with_suffix(""))
    text = lying.words.text if lying else ""
    shown = shown_of(text, marks, context)
    return Hit(
        session=session.id,
        uuid=lying.uuid if lying else None,
        turn=None,
        kind=lying.words.kind if lying else "note",
        time=lying.time if lying else None,
        snippet=shown.snippet.text,
        marks=shown.snippet.marks,
        score=0.0,
        project=session.project,
        title=None,
        branch=None,
        state=None,
        path=one.path,
        line=one.line,
        before=shown.before,
        after=shown.after,
    )


def since(started: float) -> float:
    """Returns the milliseconds since a moment."""
    return round((time.perf_counter() - started) * 1000, 3)
