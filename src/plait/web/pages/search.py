"""The page that answers questions to all sessions."""

from datetime import UTC, datetime
from typing import cast

from starlette.requests import Request
from starlette.responses import Response

from plait.archive import SearchWay
from plait.archive.live import LiveArchive, SessionRows, Snapshot
from plait.errors import SourceError, UserError
from plait.index.model import Hit, SearchResult
from plait.index.query import Field
from plait.index.search import IndexReader
from plait.view.page.frame import framed
from plait.view.page.lists.search import (
    SearchHit,
    SearchQuery,
    SearchResults,
    results,
    search_page,
    search_query_in,
)
from plait.web.answers import html


def serve_search(request: Request) -> Response:
    """Returns the page, or the answers alone."""
    library: LiveArchive = request.app.state.library
    shelf: SessionRows = request.app.state.shelf
    asked, now = search_query_in(request.query_params), datetime.now(UTC)
    answers = answered(library.now, asked) if asked.q.strip() else None
    places = shelf.rows().places
    if "part" in request.query_params:
        return html(request, results(asked, answers, now, places))
    page = search_page(asked, answers, now, places)
    title = asked.q.strip()[:80] or "Search"
    return html(request, framed(title, page, here="search", query=asked.q, is_asking=True))


def answered(state: Snapshot, asked: SearchQuery) -> SearchResults:
    """Returns what answers a question, or what is wrong with it."""
    try:
        found = _found_for(state, asked)
    except UserError as error:
        return SearchResults(error=error.message, hints=error.hints)
    return SearchResults(
        hits=[_answer_of(state, hit) for hit in found.hits],
        total=found.total,
        took_ms=found.took_ms,
        facets=found.facets,
        note=found.note,
    )


def _found_for(state: Snapshot, asked: SearchQuery) -> SearchResult:
    filters = _filters_of(asked)
    if asked.way == "words":
        try:
            reader = IndexReader(state.index)
        except SourceError:
            pass
        else:
            try:
                return reader.search(asked.q, filters, limit=asked.n, has_facets=True)
            finally:
                reader.close()
    way = cast(SearchWay, asked.way)
    return state.archive.search(asked.q, filters, way=way, limit=asked.n, has_facets=True)


def _filters_of(asked: SearchQuery) -> list[Field]:
    told = {
        "kind": asked.kind,
        "project": asked.project,
        "tool": asked.tool,
        "branch": asked.branch,
        "after": asked.month,
        "before": _following(asked.month),
    }
    return [Field(name, value) for name, value in told.items() if value]


def _following(month: str) -> str:
    year, _, number = month.partition("-")
    if not (year.isdecimal() and number.isdecimal() and 1 <= int(number) <= 12):
        return ""
    return f"{int(year) + int(number) // 12}-{int(number) % 12 + 1:02}"


def _answer_of(state: Snapshot, hit: Hit) -> SearchHit:
    return SearchHit(
        name=_name_of(state, hit),
        title=hit.title,
        project=hit.project,
        kind=hit.kind,
        tool=hit.tool,
        state=hit.state,
        turn=hit.turn,
        uuid=hit.uuid,
        time=hit.time,
        snippet=hit.snippet,
        marks=hit.marks,
        more=hit.more,
    )


def _name_of(state: Snapshot, hit: Hit) -> str:
    number, name = 1, hit.session
    while name in state.names:
        if any(str(file.path.absolute()) == hit.path for file in state.names[name].files):
            return name
        number += 1
        name = f"{hit.session}~{number}"
    return hit.session
