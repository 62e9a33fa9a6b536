"""The Sessions page: a filtered and sorted table, and the sidebar of sessions beside a session."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Any, NamedTuple

from msgspec import Struct
from msgspec.structs import replace
from starlette.requests import Request
from starlette.responses import Response

from plait.archive import StarFile
from plait.archive.live import LiveArchive, Snapshot
from plait.errors import SourceError
from plait.record.time import parse_time
from plait.view.formats import (
    format_bytes,
    format_count,
    format_count_if_any,
    format_day,
    format_log_sizes,
    format_money,
    join_dotted,
)
from plait.view.page.markup import (
    break_path,
    build_url,
    esc,
    icon,
    quote_url,
    read_count,
    read_query,
    render_checkbox,
    render_date_input,
    render_hidden_input,
    render_select,
    session_url,
)
from plait.view.page.session_rows import (
    ListedSession,
    format_project,
    format_session_cost,
    format_session_tokens,
    join_facts,
    render_age,
    render_star_button,
    render_title_link,
)
from plait.view.page.slices import parse_day
from plait.view.summaries import LABEL_LENGTH
from plait.view.text import shorten, strip_markdown_marks
from plait.web.responses import get_library, html_response, is_fragment, page_or_fragment

STEP = 200
"""Sessions that a page shows at first, and adds when scrolled."""
MAX_SHOWN = 10_000
MAX_QUERY = 300
MAX_SIDEBAR = 150
MAX_SIDEBAR_TITLE = 70
MAX_ROW_TITLE = 110
MAX_SIDEBAR_DEPTH, MAX_DEPTH = 4, 6
SORTS: dict[str, Callable[[ListedSession], Any]] = {
    "ended": lambda session: session.ended or "",
    "started": lambda session: session.started or "",
    "title": lambda session: session.display_title.casefold(),
    "turns": lambda session: session.turns or 0,
    "branches": lambda session: session.branches,
    "agents": lambda session: session.agents,
    "tokens": lambda session: session.tokens or 0,
    "cost": lambda session: -1.0 if session.cost is None else session.cost,
    "size": lambda session: session.bytes,
}
FIGURES = frozenset({"turns", "branches", "agents", "tokens", "cost", "size"})
ASCENDING = ("title",)
"""Columns that are sorted in ascending order by default."""
COLUMNS: tuple[tuple[str, str, str], ...] = (
    ("title", "Session", ""),
    ("turns", "Turns", "num"),
    ("branches", "Branches", "num some"),
    ("agents", "Agents", "num some"),
    ("tokens", "Tokens", "num some"),
    ("cost", "Cost", "num"),
    ("size", "Size", "num some"),
    ("ended", "Last active", "num"),
)
"""Sort key, heading and CSS class of each column."""
BRANCH_KINDS = {"branch": "Branch", "agent": "Agent", "foreign": "Session"}
BRANCH_ICONS = {"branch": "fork", "agent": "agent"}


class SessionFilter(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Which sessions are listed, and in which order."""

    q: str = ""
    project: str = ""
    branch: str = ""
    agent: str = ""
    live: str = ""
    branches: str = ""
    agents: str = ""
    starred: str = ""
    since: str = ""
    until: str = ""
    sort: str = "ended"
    turned: str = ""
    """Not empty if the order is reversed."""
    flat: str = ""
    """Not empty if sessions are not grouped by project."""
    n: int = STEP

    @property
    def is_ascending(self) -> bool:
        """Whether the smallest comes first."""
        return (self.sort in ASCENDING) != bool(self.turned)

    @property
    def is_by_figure(self) -> bool:
        """Whether sessions are sorted by a figure, in one list of all projects."""
        return self.sort in FIGURES

    @property
    def is_narrowed(self) -> bool:
        """Whether anything is left out."""
        texts = self.q, self.project, self.branch, self.agent, self.live, self.branches, self.agents
        return any((*texts, self.starred, self.since, self.until))

    def url(self, **changes: object) -> str:
        """Return the URL of the list, with some fields changed."""
        return build_url("/sessions", self, **changes)


class SessionListPage(NamedTuple):
    """Everything the page shows."""

    rows: Sequence[ListedSession]
    filter: SessionFilter
    now: datetime
    drawings: Mapping[str, str] = {}
    """Thumbnails, by session."""
    is_counting: bool = False
    searched: Sequence[str] = ()
    """Folders that were searched."""
    start: int = 0
    """The number of rows already on the page, if only later ones are fetched."""
    unread: int = 0
    """Sessions that were not read yet."""


def serve_sessions(request: Request) -> Response:
    """Serve the page."""
    library = get_library(request)
    filter_ = read_session_filter(request.query_params)
    listed, _, is_pending, unread = library.rows()
    rows = mark_starred(library, listed)
    start_text = request.query_params.get("from", "")
    start = int(start_text) if start_text.isdecimal() and len(start_text) < 6 else 0
    shown = list_shown_sessions(rows, filter_)[start:]
    page = SessionListPage(
        rows,
        filter_,
        datetime.now(UTC),
        library.snapshot.draw_graphs(session for session, _ in shown),
        is_pending,
        [str(root) for root in library.roots],
        start,
        unread,
    )
    return page_or_fragment(
        request,
        "Sessions",
        partial(render_session_results, page),
        partial(render_sessions_page, page),
        here="sessions",
    )


def serve_branches(request: Request) -> Response:
    """Serve the branches and agents of one session, as rows below it."""
    name = request.path_params["name"]
    rows = []
    for line, uuid in get_library(request).snapshot.list_lines(name):
        if line.kind == "service" or line.state == "active":
            continue
        label = (
            shorten(line.label or "", LABEL_LENGTH) or line.id.rpartition("#")[2].rpartition("@")[2]
        )
        state = "abandoned" if line.state == "abandoned" else ""
        note = join_dotted(BRANCH_KINDS.get(line.kind, ""), state)
        anchor = quote_url(uuid) if uuid else f"line-{quote_url(line.id, safe='@#~')}"
        rows.append(
            '<tr class="part"><th scope="row"><div class="titled"><span class="fold"></span>'
            f'<a href="{session_url(name)}#{anchor}">'
            f"{icon(BRANCH_ICONS.get(line.kind, 'note'))}{esc(label)}</a>"
            f"<small>{esc(note)}</small></div></th>"
            f'<td class="num">{line.turns or ""}</td><td colspan="{len(COLUMNS) - 2}">'
            f'<span class="state">{format_count(line.turns, "turn")}</span></td></tr>'
        )
    if not rows:
        rows = [
            f'<tr class="part"><td colspan="{len(COLUMNS)}">'
            "The branches of this session are not indexed yet.</td></tr>"
        ]
    return html_response(request, "".join(rows))


def serve_sidebar(request: Request) -> Response:
    """Serve the sidebar of sessions, those that continue others below these.

    The current session is always included.
    """
    text, current = read_text(request, "q"), read_text(request, "here")
    found = filter_sessions(get_library(request).rows().sessions, SessionFilter(q=text))
    rest = [session for session in found[MAX_SIDEBAR:] if session.name == current]
    shown, now = [*found[:MAX_SIDEBAR], *rest], datetime.now(UTC)
    items = []
    for session, depth in nest_sessions(shown):
        mark = ' aria-current="true"' if session.name == current else ""
        css = f' class="d{min(depth, MAX_SIDEBAR_DEPTH)}"' if depth else ""
        facts = [
            esc(format_project(session.root)),
            render_age(session.ended, now),
            format_count_if_any(session.branches, "branch", "branches"),
        ]
        items.append(
            f'<li{css} data-name="{esc(session.name)}"{mark}>'
            f"{render_title_link(session, MAX_SIDEBAR_TITLE)}"
            f'<div class="sub">{join_facts(facts)}</div></li>'
        )
    sidebar = '<p class="empty" role="status">No matching sessions.</p>'
    if items:
        sidebar = f'<ol class="tree">{"".join(items)}</ol>'
    if len(found) > len(shown):
        label = format_count(len(found) - len(shown), "more session")
        url = esc(SessionFilter(q=text).url())
        sidebar += f'<p class="onward"><a href="{url}">{label}</a></p>'
    if not is_fragment(request):
        sidebar = (
            '<div class="side-head"><input type="search" placeholder="Filter sessions" '
            'aria-label="Filter sessions" autocomplete="off" spellcheck="false" '
            f'value="{esc(text)}" data-side-filter></div><div data-side-list>{sidebar}</div>'
        )
    return html_response(request, sidebar)


def read_text(request: Request, name: str) -> str:
    """Return a text of a query, cut to a length."""
    return str(request.query_params.get(name, ""))[:MAX_QUERY]


def mark_starred(library: LiveArchive, rows: Sequence[ListedSession]) -> Sequence[ListedSession]:
    """Return sessions with `is_starred` set; a broken star file hides no session."""
    try:
        order = load_star_order(library.snapshot)
    except SourceError:
        return rows
    if not order:
        return rows
    return [
        replace(session, is_starred=True) if session.name.partition("~")[0] in order else session
        for session in rows
    ]


def load_star_order(snapshot: Snapshot) -> dict[str, int]:
    """Return the ids of starred sessions with their position, newest star first."""
    path = snapshot.archive.star_file
    if not path:
        return {}
    return {star.session: index for index, star in enumerate(StarFile(path).stars())}


def read_session_filter(query: Mapping[str, str]) -> SessionFilter:
    """Read a filter from a URL's query, ignoring invalid fields."""
    names = set(SessionFilter.__struct_fields__) - {"n", "sort"}
    fields = {
        name: value
        for name, value in read_query(query, names, MAX_QUERY).items()
        if name not in ("since", "until") or parse_day(value)
    }
    sort = query.get("sort", "ended")
    return SessionFilter(
        **fields,
        sort=sort if sort in SORTS else "ended",
        n=read_count(query, STEP, MAX_SHOWN),
    )


def filter_sessions(rows: Iterable[ListedSession], filter_: SessionFilter) -> list[ListedSession]:
    """Return the sessions that pass a filter, in its order."""
    words = filter_.q.casefold().split()

    def matches(session: ListedSession) -> bool:
        is_chosen = (
            filter_.project in ("", session.project, session.folder)
            and (not filter_.branch or session.branch == filter_.branch)
            and filter_.agent in ("", session.agent)
            and (not filter_.live or session.is_live)
            and (not filter_.branches or session.branches > 0)
            and (not filter_.agents or session.agents > 0)
            and (not filter_.starred or session.is_starred)
            and (not filter_.since or _get_local_day(session.ended) >= filter_.since)
            and (not filter_.until or "" < _get_local_day(session.started) <= filter_.until)
        )
        if not is_chosen or not words:
            return is_chosen
        parts = (
            session.title,
            session.prompt,
            session.place,
            session.project,
            session.folder,
            session.branch,
            session.name,
        )
        text = "\n".join(part for part in parts if part).casefold()
        return all(word in text for word in words)

    return sorted(filter(matches, rows), key=SORTS[filter_.sort], reverse=not filter_.is_ascending)


def _get_local_day(stamp: str | None) -> str:
    time = parse_time(stamp)
    try:
        return format_day(time.astimezone()) if time else ""
    except (OverflowError, OSError, ValueError):  # a year beyond the calendar
        return ""


def nest_sessions(rows: Sequence[ListedSession]) -> list[tuple[ListedSession, int]]:
    """Return sessions with their depth: those that continue others come below these."""
    by_name = {session.name: session for session in rows}
    children: dict[str | None, list[ListedSession]] = {}
    for session in rows:
        has_parent = session.parent in by_name and session.parent != session.name
        children.setdefault(session.parent if has_parent else None, []).append(session)
    stack = [(session, 0) for session in reversed(children.get(None, []))]
    nested: dict[str, tuple[ListedSession, int]] = {}
    while stack:
        session, depth = stack.pop()
        nested[session.name] = session, depth
        stack += [(child, depth + 1) for child in reversed(children.get(session.name, []))]
    # sessions that continue each other are at the top level
    rest = [(session, 0) for session in rows if session.name not in nested]
    return [*nested.values(), *rest]


def group_by_project(rows: Iterable[ListedSession]) -> dict[str, list[ListedSession]]:
    """Return sessions by project, in the order in which the projects first appear."""
    groups: dict[str, list[ListedSession]] = {}
    for session in rows:
        groups.setdefault(session.project, []).append(session)
    return groups


def list_shown_sessions(
    rows: Sequence[ListedSession], filter_: SessionFilter
) -> list[tuple[ListedSession, int]]:
    """Return the sessions that a page shows, by project unless sorted by a figure, with their
    depth.
    """
    found = filter_sessions(rows, filter_)
    if filter_.is_by_figure:
        return [(session, 0) for session in found[: filter_.n]]
    groups = [found] if filter_.flat else group_by_project(found).values()
    return [entry for group in groups for entry in nest_sessions(group)][: filter_.n]


def render_subfolder_link(session: ListedSession) -> str:
    """Render the folder in its project where a session ran, linked to all sessions there."""
    if not session.subfolder:
        return ""
    url = esc(SessionFilter(project=session.folder).url())
    return (
        f'<a class="within" href="{url}" title="{esc(session.place)}">'
        f"{esc(session.short_subfolder)}</a>"
    )


def render_sessions_page(page: SessionListPage) -> str:
    """Render the page."""
    filter_ = page.filter
    projects = {session.project: format_project(session.root) for session in reversed(page.rows)}
    branches = {name: name for name in sorted({row.branch for row in page.rows if row.branch})}
    all_branches = "All git branches"
    names = {session.agent: session.agent for session in page.rows}
    agents = ""
    if names.keys() - {"claude"}:
        agents = render_select(
            "agent", "All coding agents", "All coding agents", names, filter_.agent
        )
    filters = (
        '<form class="filters" action="/sessions" data-typing role="search" '
        'aria-label="Filter sessions">'
        '<input type="search" name="q" placeholder="Title, prompt, folder" '
        f'aria-label="Filter by title, prompt, directory" value="{esc(filter_.q)}" '
        'autocomplete="off" spellcheck="false" data-filter>'
        '<button type="button" class="quiet shower" data-show="filters" aria-expanded="false">'
        f'{icon("filter")}Filters</button><div class="narrowing">'
        f"{render_select('project', 'All projects', 'All projects', projects, filter_.project)}"
        f"{render_select('branch', all_branches, all_branches, branches, filter_.branch)}"
        f"{agents}"
        f"{render_date_input('since', 'From', filter_.since)}"
        f"{render_date_input('until', 'to', filter_.until)}"
        f"{render_checkbox('live', 'Running', filter_.live)}"
        f"{render_checkbox('starred', 'Starred', filter_.starred)}"
        f"{render_checkbox('branches', 'Has branches', filter_.branches)}"
        f"{render_checkbox('agents', 'Has agents', filter_.agents)}"
        f"{render_checkbox('flat', 'Ungrouped', filter_.flat)}"
        f"{render_hidden_input('sort', filter_.sort, 'ended')}"
        f"{render_hidden_input('turned', filter_.turned)}"
        '<button class="quiet" data-unscripted>Filter</button></div></form>'
    )
    return (
        '<main class="page wide" id="main" data-live="sessions"><div class="heading">'
        '<h1>Sessions</h1><a class="edits" href="/edits">Edits</a></div>'
        f"{filters}"
        f'<div id="results" data-results>{render_session_results(page)}</div></main>'
    )


def render_session_results(page: SessionListPage) -> str:
    """Render the sessions that pass the filter."""
    filter_ = page.filter
    found = filter_sessions(page.rows, filter_)
    if not found and (page.rows or page.unread):
        return (
            '<div class="empty" role="status"><p>No matching sessions.</p>'
            '<p><a href="/sessions">Show all sessions</a></p></div>'
        )
    if not found:
        return render_no_sessions(page.searched)
    is_counted = any(session.tokens is not None for session in found)
    summary = join_dotted(
        format_count(len(found), "session"),
        format_count(len({session.project for session in found}), "project"),
        format_log_sizes(
            sum(session.bytes for session in found), sum(session.all_bytes for session in found)
        ),
        f"reading {format_count(page.unread, 'more session')} …" if page.unread else "",
        "counting tokens and cost …" if page.is_counting and not is_counted else "",
    )
    show_all = '<a href="/sessions">Show all</a>' if filter_.is_narrowed else ""
    more = ""
    if len(found) > filter_.n:
        label = format_count(min(STEP, len(found) - filter_.n), "more session")
        url = esc(filter_.url(n=filter_.n + STEP))
        more = f'<p class="more-rows"><a href="{url}" data-more="{filter_.n}">Show {label}</a></p>'
    counting = ' data-counting="1"' if page.is_counting else ""
    cells = []
    for sort, label, css_class in COLUMNS:
        is_sorted = filter_.sort == sort
        order = "ascending" if filter_.is_ascending else "descending"
        mark = f' aria-sort="{order}"' if is_sorted else ""
        css = f' class="{css_class}"' if css_class else ""
        turned = "" if filter_.turned or not is_sorted else "1"
        cells.append(
            f'<th scope="col"{css}{mark}>'
            f'<a href="{esc(filter_.url(sort=sort, turned=turned))}">{label}</a></th>'
        )
    head = f"<thead><tr>{''.join(cells)}</tr></thead>"
    return (
        f'<p class="status-text" role="status"{counting}><span>{esc(summary)}</span>{show_all}</p>'
        f'<table class="rows listed">{head}{_render_bodies(page, found)}</table>'
        f"{more}"
    )


def _render_bodies(page: SessionListPage, found: Sequence[ListedSession]) -> str:
    entries = list_shown_sessions(page.rows, page.filter)
    before, entries = entries[: page.start], entries[page.start :]

    def render_rows(group: Iterable[tuple[ListedSession, int]]) -> str:
        return "".join(_render_row(session, depth, page) for session, depth in group)

    if page.filter.flat or page.filter.is_by_figure:
        return f"<tbody>{render_rows(entries)}</tbody>"
    members = group_by_project(found)
    last_project = before[-1][0].project if before else None
    groups: dict[str, list[tuple[ListedSession, int]]] = {}
    for entry in entries:
        groups.setdefault(entry[0].project, []).append(entry)
    return "".join(
        f"<tbody>{'' if project == last_project else _render_project_row(members[project])}"
        f"{render_rows(group)}</tbody>"
        for project, group in groups.items()
    )


def _render_project_row(members: Sequence[ListedSession]) -> str:
    """Render the heading of a project, with its folders if it has several."""
    first = members[0]
    costs = [session.cost for session in members if session.cost is not None]
    summary = join_dotted(
        format_count(len(members), "session"), format_money(sum(costs)) if costs else ""
    )
    by_folder: dict[str, list[ListedSession]] = {}
    for session in members:
        by_folder.setdefault(session.folder, []).append(session)
    folders = ""
    if len(by_folder) > 1:
        items = "".join(
            f'<li><a href="{esc(SessionFilter(project=folder).url())}" title="{esc(folder)}">'
            f"{break_path(sessions[0].place)}</a> "
            f"<small>{format_count(len(sessions), 'session')}</small></li>"
            for folder, sessions in sorted(by_folder.items(), key=lambda item: item[1][0].place)
        )
        folders = (
            f'<details class="folders"><summary>{format_count(len(by_folder), "folder")}</summary>'
            f"<ul>{items}</ul></details>"
        )
    url = SessionFilter(project=first.project).url()
    return (
        f'<tr class="group"><th scope="rowgroup" colspan="{len(COLUMNS)}">'
        f'<a href="{esc(url)}">{break_path(first.root)}</a>'
        f"<small>{esc(summary)}</small>{folders}</th></tr>"
    )


def _render_row(session: ListedSession, depth: int, page: SessionListPage) -> str:
    css = f' class="d{min(depth, MAX_DEPTH)}"' if depth else ""
    values = (
        f"{session.turns:,}" if session.turns else "",
        str(session.branches or ""),
        str(session.agents or ""),
        format_session_tokens(session.tokens),
        format_session_cost(session),
        format_bytes(session.bytes),
        render_age(session.ended, page.now),
    )
    cells = "".join(
        f'<td class="{css_class}">{value}</td>'
        for value, (_, _, css_class) in zip(values, COLUMNS[1:], strict=True)
    )
    title = esc(session.display_title)
    prompt = strip_markdown_marks(shorten(session.prompt or "", 200))
    if not session.title or prompt.startswith(session.display_title.removesuffix(" …")):
        prompt = ""
    branch = f'<span class="git">{icon("fork")}{esc(session.branch or "")}</span>'
    facts = (
        esc(format_project(session.root)) if page.filter.flat or page.filter.is_by_figure else "",
        branch if session.branch else "",
        render_subfolder_link(session),
        f"<span>{esc(prompt)}</span>" if prompt else "",
    )
    details = f'<div class="sub">{join_facts(facts)}</div>' if any(facts) else ""
    opener = '<span class="fold"></span>'
    if session.has_branches:
        counts = (
            format_count_if_any(session.branches, "branch", "branches"),
            format_count_if_any(session.agents, "agent"),
        )
        label = ", ".join(filter(None, counts))
        opener = (
            f'<button class="fold" data-parts="{esc(session.name)}" aria-expanded="false" '
            f'aria-label="Show {label}" title="{label}"></button>'
        )
    edit = ""
    if not session.mark:  # what is only backed up must be restored first
        edit = (
            f'<button class="edits rowbtn" data-edit="menu" data-session="{esc(session.name)}" '
            f'data-title="{title}" aria-haspopup="dialog" aria-label="Edit {title}" title="Edit">'
            f"{icon('pen')}</button>"
        )
    title_cell = (
        f'<th scope="row"><div class="titled">{opener}<div class="naming">'
        f"{render_title_link(session, MAX_ROW_TITLE)}{details}</div>"
        f'<span class="draw">{page.drawings.get(session.name, "")}</span>'
        f"{render_star_button(session)}{edit}</div></th>"
    )
    return f'<tr{css} data-name="{esc(session.name)}">{title_cell}{cells}</tr>'


def render_no_sessions(searched: Sequence[str]) -> str:
    """Render where sessions were searched, and what to do."""
    folders = "".join(f"<li><code>{break_path(folder)}</code></li>" for folder in searched)
    return (
        '<div class="empty" role="status"><p>No sessions yet.</p><p>Plait looked in</p>'
        f"<ul>{folders}</ul><p>Claude Code stores its sessions there. To use another folder, start "
        "Plait with <code>--root FOLDER</code>; to try Plait first, <code>plait serve --demo</code> "
        "shows example sessions. This page updates automatically when you start a session.</p></div>"
    )
