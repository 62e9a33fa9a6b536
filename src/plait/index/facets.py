"""A query to how many passages answer it of each project, tool, kind and month."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from plait.index.model import KINDS

if TYPE_CHECKING:
    from tantivy import Query, Searcher

    from plait.index.catalogue import Catalogue

FACETS = ("project", "tool", "kind")
MOST = 12
"""Names of each sort that are counted; a thirteenth may stand for passages without any."""
EARLIEST = datetime(2020, 1, 1, tzinfo=UTC).timestamp()
LATEST = datetime(2099, 12, 1, tzinfo=UTC).timestamp()


def facets_of(
    searcher: "Searcher", catalogue: "Catalogue", query: "Query"
) -> dict[str, dict[str, int]]:
    """Returns the counts, the largest first; months in their order."""
    wanted: dict[str, Any] = {name: {"terms": {"field": name, "size": MOST + 1}} for name in FACETS}
    ends = {name: {name: {"field": "time"}} for name in ("min", "max")}
    counts = searcher.aggregate(query, wanted | ends)
    names = {sort: catalogue.names(sort) for sort in ("project", "tool")}
    names["kind"] = dict(enumerate(KINDS))
    found = {name: named(counts[name]["buckets"], names[name]) for name in names}
    spans = list(months(counts["min"]["value"], counts["max"]["value"]))
    found["month"] = by_month(searcher, query, spans) if spans else {}
    return found


def by_month(searcher: "Searcher", query: "Query", spans: list[dict[str, Any]]) -> dict[str, int]:
    """Returns how many passages there are of each month."""
    wanted = {"month": {"range": {"field": "time", "ranges": spans}}}
    counts = searcher.aggregate(query, wanted)["month"]["buckets"]
    found = {one["key"]: int(one["doc_count"]) for one in counts}
    return {key: n for key, n in found.items() if n and "-" in key[4:5]}


def months(first: float | None, last: float | None) -> Iterator[dict[str, Any]]:
    """Yields the months between two moments, each as a span of time; none beyond this century."""
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


def named(buckets: list[dict[str, Any]], names: dict[int, str]) -> dict[str, int]:
    """Returns the counts of a facet by what its numbers stand for."""
    found = [(names.get(int(one["key"])), int(one["doc_count"])) for one in buckets]
    return dict([(name, count) for name, count in found if name is not None][:MOST])
