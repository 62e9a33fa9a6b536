"""A query to the turns that answer it, the best first, each once."""

import re
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from plait.errors import SourceError, UserError
from plait.index.catalogue import Catalogue
from plait.index.meaning import Meaning
from plait.index.model import KINDS, Found, Hit, LineRow, Place, SessionKnown
from plait.index.query import All, Field, Wanted, Word, parse
from plait.index.snippet import Lying, lying_at, shown_of
from plait.index.texts import open_texts, places, recency, schema

if TYPE_CHECKING:
    from tantivy import Query, Searcher

ENOUGH = 6
"""Passages that are looked at for each hit: several may stand in one turn."""
MOST_LOOKED = 4000
MOST_IN_ONE = 1_000_000
MOST_FACETS = 12


class Reader:
    """An index, open for questions; never waits for who writes it."""

    def __init__(self, folder: Path) -> None:
        self.catalogue = Catalogue(folder)
        if not self.catalogue.is_current():
            self.catalogue.close()
            raise SourceError(
                f"the index in '{folder}' is of another version", "`plait index` makes it anew"
            )
        self.searcher: Searcher = open_texts(folder).searcher()

    def close(self) -> None:
        """Lets go of the index."""
        self.catalogue.close()

    def search(
        self,
        text: str,
        filters: Sequence[Field] = (),
        *,
        limit: int = 10,
        context: int = 0,
        has_facets: bool = False,
    ) -> Found:
        """Returns the turns that answer a query and pass all filters."""
        started = time.perf_counter()
        wanted = parse(text)
        asked, query = self.asked(wanted, filters)
        note = None
        total, best = self.best(query, limit * ENOUGH)
        inner = within_words(wanted) if total == 0 else None
        if inner:
            asked, query = self.asked(inner, filters)
            total, best = self.best(query, limit * ENOUGH)
            note = f"no word is '{text}': these hold it" if total else None
        hits = Hits(self, asked.marks, context).of(query, best, limit)
        return Found(
            hits=tuple(hits),
            total=total,
            took_ms=round((time.perf_counter() - started) * 1000, 3),
            facets=self.facets(query) if has_facets and total else {},
            note=note,
        )

    def asked(self, wanted: Wanted, filters: Sequence[Field]) -> tuple[Meaning, "Query"]:
        """Returns what is wanted as a query, with what shows why it was met."""
        asked = Meaning(self.catalogue)
        query = asked.of(All((wanted, *filters)) if filters else wanted)
        return asked, query if asked.has_words else evenly(query)

    def best(self, query: "Query", count: int) -> tuple[int, list[Place]]:
        """Returns how many passages answer, and the places of the best: by words, kind and age."""
        try:
            found = self.searcher.search(query, count, count=True, weight_by_field="weight")
        except ValueError as error:
            raise UserError(f"cannot search: {' '.join(str(error).split())[:120]}") from error
        total: int | None = found.count  # type: ignore[attr-defined]
        return total or 0, places(self.searcher, found.hits)

    def in_session(self, sid: int, filters: Sequence[Field]) -> list[Place]:
        """Returns the passages of a session that pass all filters."""
        from tantivy import Occur, Query

        own = Query.term_query(schema(), "sid", sid)
        parts = [own, *(Meaning(self.catalogue).of(one) for one in filters)]
        query = Query.boolean_query([(Occur.Must, part) for part in parts])
        return places(self.searcher, self.searcher.search(query, MOST_IN_ONE, count=False).hits)

    def facets(self, query: "Query") -> dict[str, dict[str, int]]:
        """Returns how many passages there are of each project, tool, kind and month."""
        wanted: dict[str, Any] = {
            name: {"terms": {"field": name, "size": MOST_FACETS}}
            for name in ("project", "tool", "kind")
        }
        wanted["month"] = {"range": {"field": "time", "ranges": list(self.months())}}
        counts = self.searcher.aggregate(query, wanted)
        names = {sort: self.catalogue.names(sort) for sort in ("project", "tool")}
        names["kind"] = dict(enumerate(KINDS))
        found = {name: named(counts[name]["buckets"], names[name]) for name in names}
        months = {one["key"]: int(one["doc_count"]) for one in counts["month"]["buckets"]}
        found["month"] = {key: count for key, count in months.items() if count and "-" in key[4:5]}
        return found

    def months(self) -> Iterator[dict[str, Any]]:
        """Yields the months in which there were sessions, each as a span of time."""
        first, last = self.catalogue.span()
        if first is None or last is None:
            return
        year, month = first
        while (year, month) <= last:
            following = (year + month // 12, month % 12 + 1)
            start, end = (datetime(*one, 1, tzinfo=UTC) for one in ((year, month), following))
            span = {"from": start.timestamp(), "to": end.timestamp()}
            yield {"key": f"{year}-{month:02}", **span}
            year, month = following


def named(buckets: list[dict[str, Any]], names: dict[int, str]) -> dict[str, int]:
    """Returns the counts of a facet by what its numbers stand for."""
    return {
        names[int(one["key"])]: int(one["doc_count"]) for one in buckets if int(one["key"]) in names
    }


def evenly(query: "Query") -> "Query":
    """Returns a query without words: kind and age alone decide."""
    from tantivy import Query

    return Query.const_score_query(query, 1.0)


def within_words(wanted: Wanted) -> Word | None:
    """Returns the word to be looked for within others, where one plain word is all there is.

    So `user` finds `getUserName`, which is one word to the index.
    """
    is_plain = isinstance(wanted, Word) and not (wanted.is_prefix or wanted.distance)
    if not is_plain or not isinstance(wanted, Word) or not re.fullmatch(r"\w{3,}", wanted.text):
        return None
    return None if wanted.is_inner else Word(wanted.text, is_inner=True)


@dataclass
class Hits:
    """Makes hits of places; reads what lies there."""

    reader: Reader
    marks: Sequence[re.Pattern[str]]
    context: int = 0
    sessions: dict[int, SessionKnown] = field(default_factory=dict)
    lines: dict[int, list[LineRow]] = field(default_factory=dict)

    def of(self, query: "Query", best: list[Place], limit: int) -> list[Hit]:
        """Returns the best hits of a query, one a turn; looks further where turns are few."""
        count = limit * ENOUGH
        while True:
            hits = list(self.made(best, limit))
            if len(hits) >= limit or len(best) < count or count >= MOST_LOOKED:
                return hits
            count *= ENOUGH
            best = self.reader.best(query, count)[1]

    def made(self, found: Iterable[Place], limit: int) -> Iterator[Hit]:
        """Yields a hit for each turn, up to a limit; what stands in a copy of it too is one."""
        turns: dict[tuple[int, ...], list[Place]] = {}
        for place in found:
            turns.setdefault((place.sid, place.dag, place.turn), []).append(place)
        self.sessions |= self.reader.catalogue.sessions({key[0] for key in turns})
        paths = self.reader.catalogue.paths({group[0].file for group in turns.values()})
        now = recency(int(datetime.now(UTC).timestamp()))
        seen: set[tuple[str, str]] = set()
        for group in turns.values():
            session = self.sessions.get(group[0].sid)
            if session is None:  # of a batch that is being written
                continue
            hit = self.hit(group[0], session, paths.get(group[0].file), len(group) - 1, now)
            if hit.uuid:
                if (hit.uuid, hit.kind) in seen:
                    continue
                seen.add((hit.uuid, hit.kind))
            yield hit
            limit -= 1
            if limit <= 0:
                return

    def hit(
        self, place: Place, session: SessionKnown, path: str | None, more: int, now: float
    ) -> Hit:
        """Returns the hit at a place."""
        lying = self.lying(place, session, path)
        text = lying.words.text if lying else session.title or "" if not place.line else ""
        shown = shown_of(text, self.marks, self.context)
        line = self.line_of(place)
        return Hit(
            session=session.id,
            uuid=lying.uuid if lying else None,
            turn=place.turn if place.line else None,
            kind=place.kind,
            time=lying.time if lying and lying.time else stamp_of(place.time) or session.ended,
            snippet=shown.snippet.text,
            marks=shown.snippet.marks,
            score=round(place.score / now, 4),
            project=session.project,
            title=session.title,
            branch=line.id if line and place.line else None,
            state=place.state,
            tool=getattr(lying.item, "name", None) if lying and place.kind == "input" else None,
            path=path or session.key,
            line=place.line,
            more=more,
            before=shown.before,
            after=shown.after,
        )

    def lying(self, place: Place, session: SessionKnown, path: str | None) -> Lying | None:
        """Returns what lies at a place."""
        if not place.line or path is None:
            return None
        folder = Path(session.key).with_suffix("")
        return lying_at(path, place.line, place.offset, place.length, place.part, folder)

    def line_of(self, place: Place) -> LineRow | None:
        """Returns the DAG-line of a place."""
        if place.sid not in self.lines:
            self.lines[place.sid] = self.reader.catalogue.lines(place.sid)
        rows = self.lines[place.sid]
        return rows[place.dag] if place.dag < len(rows) else None


def stamp_of(seconds: int | None) -> str | None:
    """Returns a moment as the log writes it."""
    if seconds is None:
        return None
    try:
        return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%S}.000Z"
    except (ValueError, OverflowError, OSError):
        return None
