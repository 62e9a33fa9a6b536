"""A query to the turns that answer it, the best first, each once; or to why there are none."""

import re
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

from plait.errors import SourceError, UserError
from plait.index.catalogue import Catalogue
from plait.index.hits import ENOUGH, Hits
from plait.index.model import SORTS, Hit, PassagePlace, SearchResult, SearchSort, ms_since
from plait.index.query import All, Either, Field, Phrase, Wanted, Word, looks_of, parse
from plait.index.text_query import TextQuery, at_second
from plait.index.texts import is_damaged, open_searcher, places, unusable, words_of

if TYPE_CHECKING:
    from tantivy import Query, Searcher

    from plait.index.expression import Sought
    from plait.index.scanning import Sighting


class IndexReader:
    """An index, open for questions; never waits for who writes it."""

    def __init__(self, folder: Path) -> None:
        self.catalogue = Catalogue(folder)
        if not self.catalogue.is_current():
            self.catalogue.close()
            raise SourceError(
                f"the index in '{folder}' is of another version", "`plait index` makes it anew"
            )
        self.folder = folder
        self.searcher: Searcher
        self.searcher, self._links = open_searcher(folder)

    def close(self) -> None:
        """Lets go of the index."""
        self.catalogue.close()
        if self._links:
            self._links.cleanup()

    def search(
        self,
        text: str,
        filters: Sequence[Wanted] = (),
        *,
        limit: int = 10,
        context: int = 0,
        has_facets: bool = False,
        sort: SearchSort | None = None,
        is_each: bool | None = None,
    ) -> SearchResult:
        """Returns the turns that answer a query and pass all filters, the best first.

        Without words, the newest first; calls by their outcome alone, each by itself.
        """
        started = time.perf_counter()
        wanted = parse(text) if text.strip() or not filters else None
        asked, query = self.asked(wanted, filters)
        sort = sort or ("relevance" if asked.has_words else "time")
        listing = self.newest if sort == "time" else self.best
        total, best = listing(query, limit * ENOUGH)
        note, near, looks = None, tuple[str, ...](), looks_of(wanted)
        if not total and (inner := _within_words(wanted)):
            asked, query = self.asked(inner, filters)
            total, best = listing(query, limit * ENOUGH)
            looks = looks_of(inner)
            note = f"no word is '{text}': these hold it" if total else None
        if not total and wanted:
            note, near = _explanation(self, text, wanted, filters)
        is_each = asked.is_list_of_calls if is_each is None else is_each
        made = Hits(self.catalogue, asked.marks, context, is_each, is_weighed=sort == "time")
        hits, is_whole = made.of(lambda count: listing(query, count)[1], limit, best)
        return SearchResult(
            hits=tuple(hits),
            total=total,
            listed=_listed(hits),
            is_whole=is_whole,
            sort=sort,
            looks=looks,
            is_each=is_each,
            took_ms=ms_since(started),
            facets=self.facets(query, asked) if has_facets and total else {},
            note=note,
            near=near,
            sessions=self.catalogue.count("sessions"),
        )

    def sighted(
        self,
        sightings: "Iterable[Sighting]",
        sought: "Sought",
        filters: Sequence[Wanted] = (),
        *,
        limit: int = 10,
        context: int = 0,
        has_facets: bool = False,
        is_each: bool | None = None,
    ) -> SearchResult:
        """Returns what a scan has found with its turns, the newest first."""
        from plait.index.expression import finder_of
        from plait.index.scanning import known_passages

        started = time.perf_counter()
        passing = [TextQuery(self.catalogue).of(one) for one in filters]
        newest = known_passages(self.searcher, self.catalogue.logs(), sightings, passing)
        made = Hits(self.catalogue, [finder_of(sought)], context, bool(is_each))
        hits, is_whole = made.of(newest.first, limit)
        return SearchResult(
            hits=tuple(hits),
            total=len(newest.at),
            listed=_listed(hits),
            is_whole=is_whole,
            sort="time",
            is_each=bool(is_each),
            took_ms=ms_since(started),
            facets=newest.facets(self.catalogue) if has_facets and newest.at else {},
            by="scan",
            sessions=self.catalogue.count("sessions"),
        )

    def asked(self, wanted: Wanted | None, filters: Sequence[Wanted]) -> tuple[TextQuery, "Query"]:
        """Returns what is wanted as a query, with what shows why it was met."""
        asked = TextQuery(self.catalogue)
        parts = (*((wanted,) if wanted else ()), *filters)
        query = asked.whole(parts[0] if len(parts) == 1 else All(parts))
        return asked, query if asked.has_words else _evenly(query)

    def best(self, query: "Query", count: int) -> tuple[int, list[PassagePlace]]:
        """Returns how many passages answer, and the places of the best: by words, kind and age."""
        total, hits = self._ordered(query, count, weight_by_field="weight")
        return total, sorted(places(self.searcher, hits), key=_rank)

    def newest(self, query: "Query", count: int) -> tuple[int, list[PassagePlace]]:
        """Returns how many passages answer, and the places of the newest."""
        total, hits = self._ordered(query, count + EQUALS, order_by_field="time")
        last = hits[-1][0] if len(hits) < total else None
        if last is not None and hits[count - 1][0] == last:
            # which of many equals came so far depends on the parts of the index
            earlier = [one for one in hits if one[0] != last]
            hits = [*earlier, *self._ordered(at_second(query, last), total)[1]]
        found = places(self.searcher, [(0.0, address) for _, address in hits])
        return total, sorted(found, key=_lateness)[:count]

    def _ordered(self, query: "Query", count: int, **order: Any) -> tuple[int, list[Any]]:
        try:
            found = self.searcher.search(query, count, count=True, **order)
        except ValueError as error:
            if is_damaged(error):
                raise unusable(self.folder, error) from error
            raise UserError(f"cannot search: {' '.join(str(error).split())[:120]}") from error
        total: int | None = found.count  # type: ignore[attr-defined]
        return total or 0, found.hits

    def count(self, wanted: Wanted) -> int:
        """Returns how many passages answer."""
        found = self.searcher.search(_evenly(self.asked(wanted, ())[1]), 1, count=True)
        return found.count or 0  # type: ignore[attr-defined]

    def facets(self, query: "Query", asked: TextQuery) -> dict[str, dict[str, int]]:
        """Returns how many passages there are of each project, tool, kind, outcome and month."""
        return _facets_of(self.searcher, self.catalogue, query, is_of_calls=asked.is_of_calls)


EQUALS = 40
"""More passages of one second than this are looked for apart."""


def _rank(place: PassagePlace) -> tuple[float, ...]:
    """Orders equals as they were taken in, in whatever parts the text index has them."""
    return -place.score, place.sid, place.dag, place.turn, place.file, place.line, place.part


def _lateness(place: PassagePlace) -> tuple[float, ...]:
    """Orders the newest first, what has no time last; what one session says at once, backwards."""
    time = float("inf") if place.time is None else -place.time
    return time, place.sid, place.dag, -place.turn, place.file, -place.line, -place.part


def _listed(hits: Iterable[Hit]) -> int:
    return sum(1 + hit.more for hit in hits)


def _evenly(query: "Query") -> "Query":
    from tantivy import Query

    return Query.const_score_query(query, 1.0)


def _within_words(wanted: Wanted | None) -> Word | None:
    """Returns the word to be looked for within others, where one plain word is all there is.

    So `user` finds `getUserName`, which is one word to the index.
    """
    if not isinstance(wanted, Word) or wanted.is_prefix or wanted.distance or wanted.is_inner:
        return None
    return Word(wanted.text, is_inner=True) if re.fullmatch(r"\w{3,}", wanted.text) else None


FACETS = ("project", "tool", "kind")
MOST_NAMES = 12
"""Names of each sort that are counted; a thirteenth may stand for passages without any."""
EARLIEST = datetime(2020, 1, 1, tzinfo=UTC).timestamp()
LATEST = datetime(2099, 12, 1, tzinfo=UTC).timestamp()


def _facets_of(
    searcher: "Searcher", catalogue: "Catalogue", query: "Query", *, is_of_calls: bool
) -> dict[str, dict[str, int]]:
    names = {name: catalogue.names(name) for name in ("project", "tool")}
    sizes = {"project": len(names["project"]) + 1}  # several may be one
    least = max(MOST_NAMES + 1, len(SORTS))
    wanted: dict[str, Any] = {
        name: {"terms": {"field": name, "size": max(least, sizes.get(name, 0))}} for name in FACETS
    }
    ends = {name: {name: {"field": "time"}} for name in ("min", "max")}
    counts = searcher.aggregate(query, wanted | ends)
    folded = {code: catalogue.project_of(name) for code, name in names["project"].items()}
    found = {
        "project": _named(counts["project"]["buckets"], folded),
        "tool": _named(counts["tool"]["buckets"], names["tool"]),
    }
    sorts = {int(one["key"]): int(one["doc_count"]) for one in counts["kind"]["buckets"]}
    found |= by_sort(sorts, is_of_calls=is_of_calls)
    spans = list(_months(counts["min"]["value"], counts["max"]["value"]))
    found["month"] = _by_month(searcher, query, spans) if spans else {}
    return found


def _by_month(searcher: "Searcher", query: "Query", spans: list[dict[str, Any]]) -> dict[str, int]:
    wanted = {"month": {"range": {"field": "time", "ranges": spans}}}
    counts = searcher.aggregate(query, wanted)["month"]["buckets"]
    found = {one["key"]: int(one["doc_count"]) for one in counts}
    return {key: n for key, n in found.items() if n and "-" in key[4:5]}


def _months(first: float | None, last: float | None) -> Iterator[dict[str, Any]]:
    if first is None or last is None:
        return
    within = (min(max(one, EARLIEST), LATEST) for one in (first, last))
    start, end = (datetime.fromtimestamp(one, UTC) for one in within)
    year, month = start.year, start.month
    while (year, month) <= (end.year, end.month):
        following = (year + month // 12, month % 12 + 1)
        bounds = (datetime(*one, 1, tzinfo=UTC) for one in ((year, month), following))
        span = dict(zip(("from", "to"), (one.timestamp() for one in bounds), strict=True))
        yield {"key": f"{year}-{month:02}", **span}
        year, month = following


def by_sort(counts: Mapping[int, int], *, is_of_calls: bool = False) -> dict[str, dict[str, int]]:
    """Returns how many passages there are of each kind, and by what became of calls."""
    kinds, outcomes = Counter[str](), Counter[str]()
    for code, count in counts.items():
        kind, outcome, is_with_call = SORTS[code]
        kinds[kind] += count
        if outcome and not (is_of_calls and is_with_call):
            outcomes[outcome] += count
    return {"kind": most(kinds), "outcome": most(outcomes)}


def _named(buckets: list[dict[str, Any]], names: dict[int, str]) -> dict[str, int]:
    found = Counter[str]()
    for one in buckets:
        if (name := names.get(int(one["key"]))) is not None:
            found[name] += int(one["doc_count"])
    return most(found)


def most(counts: Mapping[str, int]) -> dict[str, int]:
    """Returns the largest counts, those of equals in the order of their names."""
    return dict(sorted(counts.items(), key=lambda one: (-one[1], one[0]))[:MOST_NAMES])


MOST_WORDS = 8
MOST_NEAR = 3
MOST_TERMS = 3000
LIKENESS = 0.74
SHORTEST = 4


def _explanation(
    reader: "IndexReader", text: str, wanted: Wanted, filters: Sequence[Wanted]
) -> tuple[str | None, tuple[str, ...]]:
    words = list(dict.fromkeys(_plain_words(wanted)))[:MOST_WORDS]
    counts = {word: reader.searcher.doc_freq("text", word) for word in words}
    unknown = [word for word in words if not counts[word]]
    if unknown:
        return None, tuple(_other_queries(reader.searcher, text, unknown))
    bare = _without_fields(wanted)
    if bare and (filters or bare != wanted) and (count := reader.count(bare)):
        return f"without the fields it is found in {_of_passages(count)}", ()
    if len(words) > 1:
        return (
            f"nothing holds all of it: {', '.join(map(' in '.join, _counts_in_words(counts)))}",
            (),
        )
    return None, ()


def _of_passages(count: int) -> str:
    return f"{count} passage{'' if count == 1 else 's'}"


def _counts_in_words(counts: dict[str, int]) -> Iterator[tuple[str, str]]:
    for word, count in counts.items():
        yield f"'{word}'", str(count)


def _plain_words(wanted: Wanted) -> Iterator[str]:
    match wanted:
        case Word(text=text, is_prefix=False, is_inner=False, distance=0) | Phrase(text=text):
            yield from words_of(text)
        case All(parts) | Either(parts):
            for part in parts:
                yield from _plain_words(part)


def _without_fields(wanted: Wanted) -> Wanted | None:
    """Returns the words of a query alone, None where there are none."""
    if isinstance(wanted, Field):
        return None
    if not isinstance(wanted, All):
        return wanted
    parts = tuple(part for part in wanted.wanted if not isinstance(part, Field))
    return All(parts) if parts else None


def _other_queries(searcher: "Searcher", text: str, unknown: Sequence[str]) -> Iterator[str]:
    near = {word: _near_words(searcher, word) for word in unknown}
    if not all(near.values()):
        return
    for choice in range(MOST_NEAR if len(unknown) == 1 else 1):
        if any(choice >= len(words) for words in near.values()):
            return
        other = text
        for word, words in near.items():
            other = re.sub(
                re.escape(word), words[choice].replace("\\", ""), other, flags=re.IGNORECASE
            )
        yield other


def _near_words(searcher: "Searcher", word: str) -> list[str]:
    if len(word) < SHORTEST:
        return []
    for start in dict.fromkeys((word[:2], word[:1])):
        terms = searcher.terms_with_prefix("text", start, limit=MOST_TERMS)
        like = [term for term, _ in terms if abs(len(term) - len(word)) <= 2]
        found = get_close_matches(word, like, n=MOST_NEAR, cutoff=LIKENESS)
        if found:
            return found
    return []
