"""Sightings of a scan to the passages that the index knows there, the newest first."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from plait.index.catalogue import Catalogue
from plait.index.facets import FACETS, MOST
from plait.index.hits import stamp_of
from plait.index.model import KINDS, Place
from plait.index.rawscan import Sighting
from plait.index.texts import LENGTH, PART, places, schema, values

if TYPE_CHECKING:
    from tantivy import Query, Searcher

FEW = 64
"""Sessions that are asked for by name; of more, everything is looked at."""


def known_places(
    searcher: "Searcher",
    logs: dict[str, tuple[int, int]],
    sightings: Iterable[Sighting],
    filters: Sequence["Query"],
) -> "Newest":
    """Returns the passages that were sighted and pass all filters."""
    wanted, sids = set[tuple[int, int, int]](), set[int]()
    for one in sightings:
        if one.path in logs:
            file, sid = logs[one.path]
            wanted.add(sighted(file, one))
            sids.add(sid)
    if not wanted:
        return Newest(searcher, [])
    query = all_of([*filters, *of_sessions(sids)])
    at = [hit[1] for hit in searcher.search(query, max(1, searcher.num_docs), count=False).hits]
    columns = (values(searcher, name, at) for name in ("file", "at", "bytes"))
    rows = zip(at, *columns, strict=True)
    known = [address for address, *numbers in rows if key_of(*numbers) in wanted]
    return Newest(searcher, known)


class Newest:
    """Passages in the order of their time, the last first."""

    def __init__(self, searcher: "Searcher", at: list[Any]) -> None:
        self.searcher = searcher
        times = values(searcher, "time", at) if at else []
        order = sorted(range(len(at)), key=lambda row: times[row] or 0, reverse=True)
        self.at = [at[row] for row in order]
        self.times = [times[row] for row in order]

    def first(self, count: int) -> list[Place]:
        """Returns the first of them."""
        return places(self.searcher, [(0.0, one) for one in self.at[:count]])

    def facets(self, catalogue: Catalogue) -> dict[str, dict[str, int]]:
        """Returns how many there are of each project, tool, kind and month."""
        columns = {name: values(self.searcher, name, self.at) for name in FACETS}
        counts = {name: Counter(column).most_common() for name, column in columns.items()}
        names = {sort: catalogue.names(sort) for sort in ("project", "tool")}
        names["kind"] = dict(enumerate(KINDS))
        months = Counter((stamp_of(time) or "")[:7] for time in self.times if time is not None)
        return {
            name: dict([(known[code], n) for code, n in counts[name] if code in known][:MOST])
            for name, known in names.items()
        } | {"month": dict(sorted(months.items()))}


def sighted(file: int, one: Sighting) -> tuple[int, int, int]:
    """Returns what a sighting is known by: file, offset and part; its line where that says more."""
    if one.length and (one.offset or one.length >> LENGTH == 0):
        return file, one.offset, one.part
    return file, -1 - (one.line or 1), one.part


def key_of(file: int, at: int, length: int) -> tuple[int, int, int]:
    """Returns what a passage is known by, as its sighting is."""
    return file, length >> LENGTH if length else -1 - (at >> PART), at & (1 << PART) - 1


def of_sessions(sids: set[int]) -> "list[Query]":
    """Returns the query for the passages of some sessions; none for many."""
    from tantivy import Query

    if len(sids) > FEW:
        return []
    return [Query.const_score_query(Query.term_set_query(schema(), "sid", sorted(sids)), 0.0)]


def all_of(parts: "Sequence[Query]") -> "Query":
    """Returns the query for what answers all of some."""
    from tantivy import Occur, Query

    found = Query.boolean_query([(Occur.Must, part) for part in parts]) if parts else None
    return Query.const_score_query(found or Query.all_query(), 1.0)
