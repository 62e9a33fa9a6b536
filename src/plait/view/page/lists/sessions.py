"""All sessions to their page: filters above, projects, a row for each session."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple
from urllib.parse import quote

from plait.view.amounts import bytes_in_words, dotted, many, money_in_words, some
from plait.view.page.lists.choice import STEP, Choice, by_project, chosen, nested, part_link
from plait.view.page.lists.rows import (
    ListedSession,
    ago,
    cost_cell,
    short_place,
    star_button,
    title_link,
    tokens_cell,
)
from plait.view.page.markup import (
    day,
    esc,
    hidden,
    icon,
    select,
    session_address,
    toggle,
    with_breaks,
)
from plait.view.text import shortened

COLUMNS: tuple[tuple[str, str, str], ...] = (
    ("title", "Session", ""),
    ("turns", "Turns", "num"),
    ("branches", "Branches", "num some"),
    ("agents", "Agents", "num some"),
    ("tokens", "Tokens", "num some"),
    ("cost", "Cost", "num"),
    ("size", "Size", "num some"),
    ("ended", "Last", "num"),
)
DEEPEST = 6
NAMES = {"branch": "Branch", "agent": "Agent", "foreign": "Session"}
ICONS = {"branch": "fork", "agent": "agent"}


class SessionList(NamedTuple):
    """What the page is made of."""

    rows: Sequence[ListedSession]
    choice: Choice
    now: datetime
    drawings: Mapping[str, str] = {}
    """Small plaits, by session."""
    is_counting: bool = False
    looked: Sequence[str] = ()
    """Where sessions were looked for."""
    start: int = 0
    """Rows that are there already, where only those after them are asked for."""
    unread: int = 0
    """Sessions that nobody has read yet."""


def sessions_page(page: SessionList) -> str:
    """Returns the page."""
    return (
        '<main class="page wide" id="main" data-live="sessions"><div class="heading">'
        '<h1>Sessions</h1><a class="edits" href="/edits">Edits</a></div>'
        f"{_filters(page)}"
        f'<div id="results" data-results>{results(page)}</div></main>'
    )


def shown_of(rows: Sequence[ListedSession], choice: Choice) -> list[tuple[ListedSession, int]]:
    """Returns the sessions that a page shows, project by project, with how deep they lie."""
    found = chosen(rows, choice)
    groups = [found] if choice.flat else by_project(found).values()
    ordered = [entry for group in groups for entry in nested(group)]
    return ordered[: choice.n]


def results(page: SessionList) -> str:
    """Returns the sessions that are asked for."""
    found = chosen(page.rows, page.choice)
    if not found:
        return _nothing(page)
    counting = ' data-counting="1"' if page.is_counting else ""
    return (
        f'<p class="told" role="status"{counting}>{_summary(found, page)}</p>'
        f'<table class="rows listed">{_head(page.choice)}{_bodies(page, found)}</table>'
        f"{_more(page.choice, len(found))}"
    )


def _summary(found: Sequence[ListedSession], page: SessionList) -> str:
    told = dotted(
        many(len(found), "session"),
        many(len({one.project for one in found}), "project"),
        bytes_in_words(sum(one.bytes for one in found)),
        f"{many(page.unread, 'more session')} to be read …" if page.unread else "",
        "counting tokens and cost …" if page.is_counting and not _is_counted(found) else "",
    )
    everything = '<a href="/sessions">Show all</a>' if page.choice.is_narrowed else ""
    return f"<span>{esc(told)}</span>{everything}"


def _is_counted(rows: Iterable[ListedSession]) -> bool:
    return any(one.tokens is not None for one in rows)


def _head(choice: Choice) -> str:
    cells = "".join(_head_cell(choice, *column) for column in COLUMNS)
    return f"<thead><tr>{cells}</tr></thead>"


def _head_cell(choice: Choice, sort: str, words: str, kind: str) -> str:
    is_sorted = choice.sort == sort
    state = ("ascending" if choice.is_rising else "descending") if is_sorted else ""
    turned = "" if choice.turned or not is_sorted else "1"
    mark = f' aria-sort="{state}"' if state else ""
    name = f' class="{kind}"' if kind else ""
    return (
        f'<th scope="col"{name}{mark}>'
        f'<a href="{esc(choice.address(sort=sort, turned=turned))}">{words}</a></th>'
    )


def _bodies(page: SessionList, found: Sequence[ListedSession]) -> str:
    shown = shown_of(page.rows, page.choice)
    before, shown = shown[: page.start], shown[page.start :]
    if page.choice.flat:
        return f"<tbody>{_rows_html(shown, page)}</tbody>"
    sizes, last = by_project(found), before[-1][0].project if before else None
    groups: dict[str, list[tuple[ListedSession, int]]] = {}
    for entry in shown:
        groups.setdefault(entry[0].project, []).append(entry)
    return "".join(
        f"<tbody>{'' if name == last else _project_row(sizes[name])}"
        f"{_rows_html(group, page)}</tbody>"
        for name, group in groups.items()
    )


def _project_row(members: Sequence[ListedSession]) -> str:
    first = members[0]
    costs = [one.cost for one in members if one.cost is not None]
    told = dotted(many(len(members), "session"), money_in_words(sum(costs)) if costs else "")
    only = Choice(project=first.project).address()
    return (
        f'<tr class="group"><th scope="rowgroup" colspan="{len(COLUMNS)}">'
        f'<a href="{esc(only)}">{with_breaks(first.root)}</a>'
        f"<small>{esc(told)}</small>{_folders(members)}</th></tr>"
    )


def _folders(members: Sequence[ListedSession]) -> str:
    """Returns the folders that a project is made of, one click away; nothing where it is one."""
    places: dict[str, list[ListedSession]] = {}
    for one in members:
        places.setdefault(one.folder, []).append(one)
    if len(places) < 2:
        return ""
    items = "".join(
        f'<li><a href="{esc(Choice(project=folder).address())}" title="{esc(folder)}">'
        f"{with_breaks(held[0].place)}</a> <small>{many(len(held), 'session')}</small></li>"
        for folder, held in sorted(places.items(), key=lambda one: one[1][0].place)
    )
    return (
        f'<details class="folders"><summary>{many(len(places), "folder")}</summary>'
        f"<ul>{items}</ul></details>"
    )


def _rows_html(entries: Iterable[tuple[ListedSession, int]], page: SessionList) -> str:
    return "".join(_row(one, depth, page) for one, depth in entries)


def _row(one: ListedSession, depth: int, page: SessionList) -> str:
    deep = f' class="d{min(depth, DEEPEST)}"' if depth else ""
    cells = "".join(
        f'<td class="{kind}">{cell}</td>'
        for cell, (_, _, kind) in zip(_figures(one, page.now), COLUMNS[1:], strict=True)
    )
    return f'<tr{deep} data-name="{esc(one.name)}">{_title_cell(one, page)}{cells}</tr>'


def _figures(one: ListedSession, now: datetime) -> tuple[str, ...]:
    return (
        f"{one.turns:,}".replace(",", " ") if one.turns else "",
        str(one.branches or ""),
        str(one.agents or ""),
        tokens_cell(one.tokens),
        cost_cell(one),
        bytes_in_words(one.bytes),
        ago(one.ended, now),
    )


def _title_cell(one: ListedSession, page: SessionList) -> str:
    prompt = shortened(one.prompt or "", 200)
    if not one.title or prompt.startswith(one.words.removesuffix(" …")):
        prompt = ""
    where = esc(short_place(one.root)) if page.choice.flat else ""
    git = f'<span class="git">{icon("fork")}{esc(one.branch)}</span>' if one.branch else ""
    parts = [
        part
        for part in (where, part_link(one), git, f"<span>{esc(prompt)}</span>" if prompt else "")
        if part
    ]
    sub = f'<div class="sub">{"".join(parts)}</div>' if parts else ""
    return (
        f'<th scope="row"><div class="titled">{_opener(one)}<div class="naming">{title_link(one)}'
        f'{sub}</div><span class="draw">{page.drawings.get(one.name, "")}</span>'
        f"{star_button(one)}{_edit_button(one)}</div></th>"
    )


def _edit_button(one: ListedSession) -> str:
    if one.mark:  # there is nothing to edit before it is restored
        return ""
    title = esc(one.words)
    return (
        f'<button class="edits rowbtn" data-edit="menu" data-session="{esc(one.name)}" '
        f'data-title="{title}" aria-haspopup="dialog" aria-label="Edit {title}" title="Edit">'
        f"{icon('pen')}</button>"
    )


def _opener(one: ListedSession) -> str:
    if not one.has_parts:
        return '<span class="fold"></span>'
    told = (some(one.branches, "branch", "branches"), some(one.agents, "agent"))
    words = ", ".join(filter(None, told))
    return (
        f'<button class="fold" data-parts="{esc(one.name)}" aria-expanded="false" '
        f'aria-label="Show {words}" title="{words}"></button>'
    )


def _more(choice: Choice, count: int) -> str:
    if count <= choice.n:
        return ""
    address = choice.address(n=choice.n + STEP)
    return (
        f'<p class="more-rows"><a href="{esc(address)}" data-more="{choice.n}">'
        f"Show {many(min(STEP, count - choice.n), 'more session')}</a></p>"
    )


def _filters(page: SessionList) -> str:
    choice = page.choice
    projects = {one.project: short_place(one.root) for one in reversed(page.rows)}
    branches = {one: one for one in sorted({one.branch for one in page.rows if one.branch})}
    every_branch = "All git branches"
    return (
        '<form class="filters" action="/sessions" data-typing role="search" '
        'aria-label="Filter sessions">'
        '<input type="search" name="q" placeholder="Filter by title, prompt, directory" '
        f'aria-label="Filter by title, prompt, directory" value="{esc(choice.q)}" '
        'autocomplete="off" spellcheck="false" data-filter>'
        '<button type="button" class="quiet shower" data-show="filters" aria-expanded="false">'
        f'{icon("filter")}Filters</button><div class="narrowing">'
        f"{select('project', 'All projects', 'All projects', projects, choice.project)}"
        f"{select('branch', every_branch, every_branch, branches, choice.branch)}"
        f"{day('since', 'From', choice.since)}{day('until', 'to', choice.until)}"
        f"{toggle('live', 'Running', choice.live)}"
        f"{toggle('starred', 'Starred', choice.starred)}"
        f"{toggle('branches', 'Branches', choice.branches)}"
        f"{toggle('agents', 'Agents', choice.agents)}{toggle('flat', 'One list', choice.flat)}"
        f"{hidden('sort', choice.sort, 'ended')}{hidden('turned', choice.turned)}"
        '<button class="quiet" data-unscripted>Filter</button></div></form>'
    )


def _nothing(page: SessionList) -> str:
    if page.rows or page.unread:
        return (
            '<div class="empty" role="status"><p>No session is like that.</p>'
            '<p><a href="/sessions">Show all sessions</a></p></div>'
        )
    return no_sessions(page.looked)


def no_sessions(looked: Sequence[str]) -> str:
    """Says where sessions were looked for, and what to do."""
    places = "".join(f"<li><code>{with_breaks(place)}</code></li>" for place in looked)
    return (
        '<div class="empty" role="status"><p>No sessions yet.</p><p>Plait looked in</p>'
        f"<ul>{places}</ul><p>Claude Code writes them there. To look elsewhere, start "
        "Plait with <code>--root FOLDER</code>. This page fills by itself when the first one "
        "is written.</p></div>"
    )


class SessionPart(NamedTuple):
    """One of the lines that hang on a session."""

    id: str
    kind: str
    state: str
    turns: int
    label: str | None
    uuid: str | None
    """The record that it begins with."""


def parts_rows(name: str, parts: Sequence[SessionPart]) -> str:
    """Returns what hangs on a session, as rows of its table."""
    if not parts:
        return (
            f'<tr class="part"><td colspan="{len(COLUMNS)}">'
            "Nothing is known of its branches yet: the index is being written.</td></tr>"
        )
    return "".join(_part_row(name, part) for part in parts)


def _part_row(name: str, part: SessionPart) -> str:
    words = shortened(part.label or "", 160) or part.id.rpartition("#")[2].rpartition("@")[2]
    state = "abandoned" if part.state == "abandoned" else ""
    told = dotted(NAMES.get(part.kind, ""), state)
    anchor = quote(part.uuid) if part.uuid else f"line-{quote(part.id, safe='@#~')}"
    return (
        f'<tr class="part"><th scope="row"><div class="titled"><span class="fold"></span>'
        f'<a href="{session_address(name)}#{anchor}">{icon(ICONS.get(part.kind, "note"))}'
        f"{esc(words)}</a><small>{esc(told)}</small></div></th>"
        f'<td class="num">{part.turns or ""}</td><td colspan="{len(COLUMNS) - 2}">'
        f'<span class="state">{many(part.turns, "turn")}</span></td></tr>'
    )
