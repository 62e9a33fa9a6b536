"""The Search page, and the palette that finds pages, sessions and turns from anywhere."""

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import partial

from msgspec.structs import replace
from starlette.requests import Request
from starlette.responses import Response

from plait.archive.live import LiveArchive
from plait.errors import UserError
from plait.index.query import Field, filter_by_sessions
from plait.search.page import (
    PASSAGE_KINDS,
    SORTS,
    SearchHit,
    SearchQuery,
    SearchResults,
    hit_url,
    read_search_query,
    render_marked_text,
    render_results,
    render_search_page,
)
from plait.view.page.frame import PLACES
from plait.view.page.markup import esc, icon, render_mark, session_url
from plait.view.page.session_rows import ListedSession, format_project, render_age
from plait.view.text import shorten
from plait.web.pages.session_list import (
    SessionFilter,
    filter_sessions,
    load_star_order,
    read_text,
)
from plait.web.responses import copy_fields, get_library, html_response, page_or_fragment

MAX_OFFERED = 7
"""Sessions, and turns, in the palette."""
MIN_LETTERS = 2
"""Letters from which the palette searches in sessions."""
LAST_WORD = re.compile(r"\w{2,}$")
"""A word that may still be incomplete."""
STILL_READING = "Your sessions are still being read, so more results may appear."


def serve_search(request: Request) -> Response:
    """Serve the Search page."""
    library = get_library(request)
    query = read_search_query(request.query_params)
    results = _search(library, query) if query.is_asking else None
    if results and library.reading.is_under_way:
        results = replace(results, note=STILL_READING)
    arguments = query, results, datetime.now(UTC), library.rows().directories
    return page_or_fragment(
        request,
        query.q.strip()[:80] or "Search",
        partial(render_results, *arguments),
        partial(render_search_page, *arguments),
        here="search",
        query=query.q,
        is_asking=True,
    )


def serve_palette(request: Request) -> Response:
    """Serve the palette's suggestions for a text."""
    library, text = get_library(request), read_text(request, "q").strip()
    rows = library.rows()
    sessions = filter_sessions(rows.sessions, SessionFilter(q=text))[:MAX_OFFERED]
    hits: Sequence[SearchHit] = ()
    if len(text) >= MIN_LETTERS:
        is_unfinished = LAST_WORD.search(text) and '"' not in text
        query = SearchQuery(q=f"{text}*" if is_unfinished else text)
        hits = _search(library, query).hits[:MAX_OFFERED]
    return html_response(
        request, render_palette(text, sessions, hits, datetime.now(UTC), rows.directories)
    )


def _search(library: LiveArchive, query: SearchQuery) -> SearchResults:
    snapshot = library.snapshot
    starred = load_star_order(snapshot) if query.starred else ()
    if query.starred and not starred:
        return SearchResults(note="No starred sessions.")
    fields = {
        "kind": query.kind,
        "outcome": query.outcome,
        "project": query.project,
        "tool": query.tool,
        "branch": query.branch,
        "after": query.month,
        "before": _get_following_month(query.month),
    }
    filters = [Field(name, value) for name, value in fields.items() if value]
    try:
        found = snapshot.archive.search(
            query.q,
            [*filters, *([filter_by_sessions(starred)] if starred else ())],
            way=query.way,
            limit=query.n,
            has_facets=True,
            sort=query.sort if query.sort in SORTS and query.way == "words" else None,
            is_each=True if query.each else None,
            is_updating=False,
            reader=library.index_reader,
        )
    except UserError as error:
        return SearchResults(error=error.message, hints=error.hints)
    hits = [
        copy_fields(
            SearchHit, hit, name=snapshot.name_of.get(hit.path, hit.session), looks=found.looks
        )
        for hit in found.hits
    ]
    return copy_fields(SearchResults, found, hits=hits, error=None, hints=())


def _get_following_month(month: str) -> str:
    year, _, number = month.partition("-")
    if not (year.isdecimal() and number.isdecimal() and 1 <= int(number) <= 12):
        return ""
    return f"{int(year) + int(number) // 12}-{int(number) % 12 + 1:02}"


def render_palette(
    text: str,
    sessions: Sequence[ListedSession],
    hits: Sequence[SearchHit],
    now: datetime,
    project_directories: Mapping[str, str],
) -> str:
    """Render the palette's suggestions: sessions by name, turns by content, pages."""
    words = text.casefold().split()

    def render_option(href: str, content: str) -> str:
        return f'<li role="option" aria-selected="false" data-href="{href}">{content}</li>'

    session_options = []
    for session in sessions:
        live = '<span class="live"></span>' if session.is_live else ""
        session_options.append(
            render_option(
                session_url(session.name),
                f"{icon('note')}<span>{live}{render_mark(session.mark)}"
                f"{esc(session.display_title)}</span>"
                f"<small>{esc(format_project(session.root))}</small>"
                f"<small>{render_age(session.ended, now)}</small>",
            )
        )
    hit_options = []
    for hit in hits:
        label, drawing = PASSAGE_KINDS.get(hit.kind, (hit.kind, "note"))
        project = format_project(project_directories.get(hit.project, hit.project))
        hit_options.append(
            render_option(
                esc(hit_url(hit, SearchQuery(q=text))),
                f'{icon(drawing)}<span class="snippet">'
                f"{render_marked_text(hit.snippet, hit.marks, hit.kind)}</span>"
                f"<small>{esc(hit.tool or label)}</small><small>{esc(project)}</small>",
            )
        )
    place_options = [
        render_option(href, f"{icon('next')}<span>{name}</span>")
        for _, href, name in PLACES
        if all(word in name.casefold() for word in words)
    ]
    groups = [
        ("Sessions" if words else "Recent", session_options),
        ("In sessions", hit_options),
        ("Go to", place_options),
    ]
    if words:
        everything = f"<span>All results for <b>{esc(shorten(text, 60))}</b></span>"
        url = esc(SearchQuery(q=text).url())
        groups.append(("Search", [render_option(url, icon("find") + everything)]))
    return "".join(
        f'<li role="presentation" class="group">{name}</li>{"".join(options)}'
        for name, options in groups
        if options
    )
