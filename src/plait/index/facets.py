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


def facets_of(
    searcher: "Searcher", catalogue: "Catalogue", query: "Query"
) -> dict[str, dict[str, int]]:
    """Returns the counts, the largest first; months in their order."""
    wanted: dict[str, Any] = {name: {"terms": {"field": name, "size": MOST}} for name in FACETS}
    wanted["month"] = {"range": {"field": "time", "ranges": list(months(catalogue))}}
    counts = searcher.aggregate(query, wanted)
    names = {sort: catalogue.names(sort) for sort in ("project", "tool")}
    names["kind"] = dict(enumerate(KINDS))
    found = {name: named(counts[name]["buckets"], names[name]) for name in names}
    found_months = {one["key"]: int(one["doc_count"]) for one in counts["month"]["buckets"]}
    found["month"] = {key: n for key, n in found_months.items() if n and "-" in key[4:5]}
    return found


def months(catalogue: "Catalogue") -> Iterator[dict[str, Any]]:
    """Yields the months in which there were sessions, each as a span of time."""
    first, last = catalogue.span()
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
