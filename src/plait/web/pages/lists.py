"""Pages about all sessions: the first one, the list, search, the column, the palette."""

import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from functools import partial

from msgspec.structs import replace
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from plait.archive.live import LiveArchive, Snapshot
from plait.errors import UserError
from plait.index.query import Field, of_sessions
from plait.view.page.lists.choice import (
    OFFERED,
    Choice,
    choice_in,
    chosen,
    palette,
    side_column,
    side_list,
)
from plait.view.page.lists.home import Home, KeptFigures, home_page, monday_of, two_weeks
from plait.view.page.lists.rows import ListedSession
from plait.view.page.lists.search import (
    SORTS,
    SearchHit,
    SearchQuery,
    SearchResults,
    search_page,
    search_query_in,
)
from plait.view.page.lists.search import results as search_results
from plait.view.page.lists.sessions import (
    SessionList,
    SessionPart,
    parts_rows,
    results,
    sessions_page,
    shown_of,
)
from plait.view.page.lists.starred import MOST as MOST_STARRED
from plait.web.answers import filled, html, is_fragment, library_in, page_or_part
from plait.web.pages.starred import marked_in, starred_order, starred_rows

RECENT = 12
SOON = timedelta(days=7)
SHOWN = 150
LONGEST = 300
LEAST = 2
"""Letters from which on the words of sessions are looked for."""
UNFINISHED = re.compile(r"\w{2,}$")
HIDDEN = ("service",)
UNREAD = "Your sessions are still being read: more may be found."


def _serve_home(request: Request) -> Response:
    page = partial(home_page, _home_of(library_in(request)))
    return page_or_part(request, "Plait", page, page, here="home", is_asking=True)


def _home_of(library: LiveArchive) -> Home:
    now = datetime.now(UTC)
    known, money, is_counting, unread = library.rows()
    rows = starred_rows(library, known)
    marked = marked_in(library, rows)
    newest = sorted(rows, key=lambda one: one.ended or "", reverse=True)
    running = [one for one in newest if one.is_live]
    recent = [one for one in newest if not one.is_live][:RECENT]
    days = library.days()
    make = partial(two_weeks, money.responses if money else None, days, library.prices, now)
    wasted, is_weighing = library.waste(since=monday_of(now)).ask(patience=0)
    weeks = library.made.of(("weeks", now.date(), now.hour), (money, known), make)
    return Home(
        now=now,
        running=running,
        recent=recent,
        drawings=library.now.drawings([*running, *recent, *marked.sessions[:MOST_STARRED]]),
        days=days,
        week=weeks[0],
        last_week=weeks[1],
        soon=_going_soon(rows, now),
        keeping=_kept_figures(library, rows),
        settings=[
            str(config / "settings.json") for config in library.now.archive.inventory.configs
        ],
        total=len(rows) + unread,
        looked=[str(root) for root in library.roots],
        is_counting=is_counting or is_weighing,
        wasted=wasted.waste if wasted else None,
        marked=marked,
    )


def _going_soon(rows: Sequence[ListedSession], now: datetime) -> list[ListedSession]:
    soon = [one for one in rows if one.deleted_at and one.deleted_at - now < SOON]
    return sorted(soon, key=lambda one: one.deleted_at or now)


def _kept_figures(library: LiveArchive, rows: Sequence[ListedSession]) -> KeptFigures | None:
    status = library.keeping.ask().value
    if status is None:
        return None
    at_risk = {one.path for one in status.at_risk}
    names = {library.now.name_of.get(path) for path in at_risk}
    lost = [one for one in rows if one.name in names and one.deleted_at]
    return KeptFigures(
        status.kept,
        status.gone,
        status.unkept,
        sorted(lost, key=lambda one: str(one.deleted_at)),
        status.bytes,
        status.stored_bytes,
    )


def _serve_sessions(request: Request) -> Response:
    library = library_in(request)
    choice = choice_in(request.query_params)
    known, _, is_counting, unread = library.rows()
    rows = starred_rows(library, known)
    start = _start_in(request.query_params.get("from", ""))
    page = SessionList(
        rows,
        choice,
        datetime.now(UTC),
        library.now.drawings(one for one, _ in shown_of(rows, choice)[start:]),
        is_counting,
        [str(root) for root in library.roots],
        start,
        unread,
    )
    part, whole = partial(results, page), partial(sessions_page, page)
    return page_or_part(request, "Sessions", part, whole, here="sessions")


def _start_in(text: str) -> int:
    return int(text) if text.isdecimal() and len(text) < 6 else 0


def _serve_parts(request: Request) -> Response:
    """Returns the branches and agents of one session, as rows below it."""
    name = request.path_params["name"]
    shown = [
        SessionPart(one.id, one.kind, one.state, one.turns, one.label, uuid)
        for one, uuid in library_in(request).now.lines(name)
        if one.kind not in HIDDEN and one.state != "active"
    ]
    return html(request, parts_rows(name, shown))


def _serve_side(request: Request) -> Response:
    text, here = _asked_of(request, "q"), _asked_of(request, "here")
    found = chosen(library_in(request).rows().sessions, Choice(q=text))
    shown = _with_here(found, here)
    told = side_list if is_fragment(request) else side_column
    return html(request, told(shown, here, datetime.now(UTC), text, len(found)))


def _with_here(found: Sequence[ListedSession], here: str) -> Sequence[ListedSession]:
    shown = found[:SHOWN]
    rest = [one for one in found[SHOWN:] if one.name == here]
    return [*shown, *rest]


def _serve_palette(request: Request) -> Response:
    library, text = library_in(request), _asked_of(request, "q").strip()
    rows = library.rows()
    sessions = chosen(rows.sessions, Choice(q=text))[:OFFERED]
    hits = _hits_for(library.now, text) if len(text) >= LEAST else ()
    return html(request, palette(text, sessions, hits, datetime.now(UTC), rows.places))


def _hits_for(state: Snapshot, text: str) -> Sequence[SearchHit]:
    is_open = UNFINISHED.search(text) and '"' not in text
    return _answered(state, SearchQuery(q=f"{text}*" if is_open else text)).hits[:OFFERED]


def _asked_of(request: Request, name: str) -> str:
    return str(request.query_params.get(name, ""))[:LONGEST]


def _serve_search(request: Request) -> Response:
    library = library_in(request)
    asked = search_query_in(request.query_params)
    answers = _answered(library.now, asked) if asked.is_asking else None
    if answers and library.reading.is_under_way:
        answers = replace(answers, note=UNREAD)
    given = asked, answers, datetime.now(UTC), library.rows().places
    part, page = partial(search_results, *given), partial(search_page, *given)
    title = asked.q.strip()[:80] or "Search"
    return page_or_part(request, title, part, page, here="search", query=asked.q, is_asking=True)


def _answered(state: Snapshot, asked: SearchQuery) -> SearchResults:
    starred = starred_order(state) if asked.starred else ()
    if asked.starred and not starred:
        return SearchResults(note="No session is starred.")
    try:
        found = state.archive.search(
            asked.q,
            [*_filters_of(asked), *([of_sessions(starred)] if starred else ())],
            way=asked.way,
            limit=asked.n,
            has_facets=True,
            sort=asked.sort if asked.sort in SORTS and asked.way == "words" else None,
            is_each=True if asked.each else None,
            is_updating=False,
        )
    except UserError as error:
        return SearchResults(error=error.message, hints=error.hints)
    hits = [
        filled(SearchHit, hit, name=state.name_of.get(hit.path, hit.session), looks=found.looks)
        for hit in found.hits
    ]
    return filled(SearchResults, found, hits=hits, error=None, hints=())


def _filters_of(asked: SearchQuery) -> list[Field]:
    told = {
        "kind": asked.kind,
        "outcome": asked.outcome,
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


ROUTES = (
    Route("/", _serve_home),
    Route("/sessions", _serve_sessions),
    Route("/sessions/{name}/parts", _serve_parts),
    Route("/search", _serve_search),
    Route("/side", _serve_side),
    Route("/palette", _serve_palette),
)
