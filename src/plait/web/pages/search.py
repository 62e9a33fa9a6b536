"""The page that answers questions to all sessions."""

from datetime import UTC, datetime
from functools import partial

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from plait.archive.live import Snapshot
from plait.errors import UserError
from plait.index.query import Field
from plait.view.page.lists.search import (
    SearchHit,
    SearchQuery,
    SearchResults,
    results,
    search_page,
    search_query_in,
)
from plait.web.answers import filled, page_or_part
from plait.web.requests import library_in


def _serve_search(request: Request) -> Response:
    library = library_in(request)
    asked = search_query_in(request.query_params)
    answers = answered(library.now, asked) if asked.q.strip() else None
    given = asked, answers, datetime.now(UTC), library.rows().places
    part, page = partial(results, *given), partial(search_page, *given)
    title = asked.q.strip()[:80] or "Search"
    return page_or_part(request, title, part, page, here="search", query=asked.q, is_asking=True)


def answered(state: Snapshot, asked: SearchQuery) -> SearchResults:
    """Returns what answers a question, or what is wrong with it."""
    try:
        found = state.archive.search(
            asked.q,
            _filters_of(asked),
            way=asked.way,
            limit=asked.n,
            has_facets=True,
            is_updating=False,
        )
    except UserError as error:
        return SearchResults(error=error.message, hints=error.hints)
    hits = [
        filled(SearchHit, hit, name=state.name_of.get(hit.path, hit.session)) for hit in found.hits
    ]
    return filled(SearchResults, found, hits=hits, error=None, hints=())


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


ROUTES = (Route("/search", _serve_search),)
