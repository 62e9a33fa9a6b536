"""All sessions to their page: filters above, projects, a row for each session."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from plait.view.amounts import bytes_in_words, many, money_in_words
from plait.view.page.escape import esc, with_breaks
from plait.view.page.icons import icon
from plait.view.page.listing import (
    Listed,
    cost_cell,
    short_place,
    title_link,
    tokens_cell,
)
from plait.view.page.lists.choice import STEP, Choice, by_project, chosen, nested
from plait.view.page.lists.rows import ago
from plait.view.page.span import day
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


class Page(NamedTuple):
    """What the page is made of."""

    rows: Sequence[Listed]
    choice: Choice
    now: datetime
    drawings: Mapping[str, str] = {}
    """Small plaits, by session."""
    is_counting: bool = False
    looked: Sequence[str] = ()
    """Where sessions were looked for."""
    start: int = 0
    """Rows that are there already, where only those after them are asked for."""


def sessions_page(page: Page) -> str:
    """Returns the page."""
    return (
        '<main class="page wide" id="main" data-live="sessions"><div class="heading">'
        f"<h1>Sessions</h1></div>{filters(page)}"
        f'<div id="results" data-results>{results(page)}</div></main>'
    )


def shown_of(rows: Sequence[Listed], choice: Choice) -> list[tuple[Listed, int]]:
    """Returns the sessions that a page shows, project by project, with how deep they lie."""
    found = chosen(rows, choice)
    groups = [found] if choice.flat else by_project(found).values()
    ordered = [entry for group in groups for entry in nested(group)]
    return ordered[: choice.n]


def results(page: Page) -> str:
    """Returns the sessions that are asked for."""
    found = chosen(page.rows, page.choice)
    if not found:
        return nothing(page)
    counting = ' data-counting="1"' if page.is_counting else ""
    return (
        f'<p class="told" role="status"{counting}>{summary(found, page)}</p>'
        f'<table class="rows">{head(page.choice)}{bodies(page, found)}</table>'
        f"{more(page.choice, len(found))}"
    )


def summary(found: Sequence[Listed], page: Page) -> str:
    """Returns how much is shown, and the way to all of it."""
    parts = [
        many(len(found), "session"),
        many(len({one.project for one in found}), "project"),
        bytes_in_words(sum(one.bytes for one in found)),
        "counting tokens and cost …" if page.is_counting and not is_counted(found) else "",
    ]
    told = " · ".join(part for part in parts if part)
    everything = '<a href="/sessions">Show all</a>' if page.choice.is_narrowed else ""
    return f"<span>{esc(told)}</span>{everything}"


def is_counted(rows: Iterable[Listed]) -> bool:
    """Tells whether the figures of sessions are known, if not the newest."""
    return any(one.tokens is not None for one in rows)


def head(choice: Choice) -> str:
    """Returns the names of the columns; each sorts by what it names."""
    cells = "".join(head_cell(choice, *column) for column in COLUMNS)
    return f"<thead><tr>{cells}</tr></thead>"


def head_cell(choice: Choice, sort: str, words: str, kind: str) -> str:
    """Returns the name of one column."""
    is_sorted = choice.sort == sort
    state = ("ascending" if choice.is_rising else "descending") if is_sorted else ""
    turned = "" if choice.turned or not is_sorted else "1"
    mark = f' aria-sort="{state}"' if state else ""
    name = f' class="{kind}"' if kind else ""
    return (
        f'<th scope="col"{name}{mark}>'
        f'<a href="{esc(choice.address(sort=sort, turned=turned))}">{words}</a></th>'
    )


def bodies(page: Page, found: Sequence[Listed]) -> str:
    """Returns the rows, project by project where they are told apart."""
    shown = shown_of(page.rows, page.choice)
    before, shown = shown[: page.start], shown[page.start :]
    if page.choice.flat:
        return f"<tbody>{rows_html(shown, page)}</tbody>"
    sizes, last = by_project(found), before[-1][0].project if before else None
    groups: dict[str, list[tuple[Listed, int]]] = {}
    for entry in shown:
        groups.setdefault(entry[0].project, []).append(entry)
    return "".join(
        f"<tbody>{'' if name == last else project_row(sizes[name])}{rows_html(group, page)}</tbody>"
        for name, group in groups.items()
    )


def project_row(members: Sequence[Listed]) -> str:
    """Returns the heading of a project: its directory, how much there is of it."""
    first = members[0]
    costs = [one.cost for one in members if one.cost is not None]
    told = [many(len(members), "session"), money_in_words(sum(costs)) if costs else ""]
    only = Choice(project=first.project).address()
    return (
        f'<tr class="group"><th scope="rowgroup" colspan="{len(COLUMNS)}">'
        f'<a href="{esc(only)}">{with_breaks(first.place)}</a>'
        f"<small>{esc(' · '.join(part for part in told if part))}</small></th></tr>"
    )


def rows_html(entries: Iterable[tuple[Listed, int]], page: Page) -> str:
    """Returns the rows of some sessions."""
    return "".join(row(one, depth, page) for one, depth in entries)


def row(one: Listed, depth: int, page: Page) -> str:
    """Returns the row of one session."""
    deep = f' class="d{min(depth, DEEPEST)}"' if depth else ""
    cells = "".join(
        f'<td class="{kind}">{cell}</td>'
        for cell, (_, _, kind) in zip(figures(one, page.now), COLUMNS[1:], strict=True)
    )
    return f'<tr{deep} data-name="{esc(one.name)}">{title_cell(one, page)}{cells}</tr>'


def figures(one: Listed, now: datetime) -> tuple[str, ...]:
    """Returns the figures of a session, column by column."""
    return (
        f"{one.turns:,}".replace(",", " ") if one.turns else "",
        str(one.branches or ""),
        str(one.agents or ""),
        tokens_cell(one.tokens),
        cost_cell(one),
        bytes_in_words(one.bytes),
        ago(one.ended, now),
    )


def title_cell(one: Listed, page: Page) -> str:
    """Returns what a session is called, and how it began."""
    prompt = shortened(one.prompt or "", 200)
    if not one.title or prompt.startswith(one.words.removesuffix(" …")):
        prompt = ""
    where = esc(short_place(one.place)) if page.choice.flat else ""
    git = f'<span class="git">{icon("fork")}{esc(one.branch)}</span>' if one.branch else ""
    parts = [part for part in (where, git, f"<span>{esc(prompt)}</span>" if prompt else "") if part]
    sub = f'<div class="sub">{"".join(parts)}</div>' if parts else ""
    return (
        f'<th scope="row"><div class="titled">{opener(one)}<div class="naming">{title_link(one)}'
        f'{sub}</div><span class="draw">{page.drawings.get(one.name, "")}</span></div></th>'
    )


def opener(one: Listed) -> str:
    """Returns what shows the branches and agents of a session."""
    if not one.has_parts:
        return '<span class="fold"></span>'
    told = [
        many(one.branches, "branch", "branches") if one.branches else "",
        many(one.agents, "agent") if one.agents else "",
    ]
    words = ", ".join(part for part in told if part)
    return (
        f'<button class="fold" data-parts="{esc(one.name)}" aria-expanded="false" '
        f'aria-label="Show {words}" title="{words}"></button>'
    )


def more(choice: Choice, count: int) -> str:
    """Returns the way to more sessions; a page adds them by itself when one comes near."""
    if count <= choice.n:
        return ""
    address = choice.address(n=choice.n + STEP)
    return (
        f'<p class="more-rows"><a href="{esc(address)}" data-more="{choice.n}">'
        f"Show {many(min(STEP, count - choice.n), 'more session')}</a></p>"
    )


def filters(page: Page) -> str:
    """Returns what narrows the list, as a form that works without a script too."""
    choice = page.choice
    projects = {one.project: short_place(one.place) for one in reversed(page.rows)}
    branches = sorted({one.branch for one in page.rows if one.branch})
    return (
        '<form class="filters" action="/sessions" data-typing role="search" '
        'aria-label="Filter sessions">'
        '<input type="search" name="q" placeholder="Filter by title, prompt, directory" '
        f'aria-label="Filter by title, prompt, directory" value="{esc(choice.q)}" '
        'autocomplete="off" spellcheck="false" data-filter>'
        '<button type="button" class="quiet shower" data-show="filters" aria-expanded="false">'
        f'{icon("filter")}Filters</button><div class="narrowing">'
        f"{select('project', 'All projects', projects, choice.project)}"
        f"{select('branch', 'All git branches', {one: one for one in branches}, choice.branch)}"
        f"{day('since', 'From', choice.since)}{day('until', 'to', choice.until)}"
        f"{toggle('live', 'Running', choice.live)}{toggle('branches', 'Branches', choice.branches)}"
        f"{toggle('agents', 'Agents', choice.agents)}{toggle('flat', 'One list', choice.flat)}"
        f"{hidden('sort', choice.sort, 'ended')}{hidden('turned', choice.turned, '')}"
        '<button class="quiet" data-unscripted>Filter</button></div></form>'
    )


def select(name: str, everything: str, options: Mapping[str, str], value: str) -> str:
    """Returns a choice among names."""
    ordered = sorted(options.items(), key=lambda pair: pair[1].casefold())
    choices = "".join(
        f'<option value="{esc(one)}"{" selected" if one == value else ""}>'
        f"{esc(shortened(words, 60))}</option>"
        for one, words in ordered
    )
    return (
        f'<select name="{name}" aria-label="{everything}"><option value="">{everything}</option>'
        f"{choices}</select>"
    )


def toggle(name: str, words: str, value: str) -> str:
    """Returns something that is asked or not."""
    checked = " checked" if value else ""
    return (
        f'<label class="toggle"><input type="checkbox" name="{name}" value="1"{checked}>'
        f"<span>{words}</span></label>"
    )


def hidden(name: str, value: str, usual: str) -> str:
    """Returns what a form keeps of its address."""
    return f'<input type="hidden" name="{name}" value="{esc(value)}">' if value != usual else ""


def nothing(page: Page) -> str:
    """Says that there is nothing, and what to do."""
    if page.rows:
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
        "<code>plait serve --root FOLDER</code>. This page fills by itself when the first one "
        "is written.</p></div>"
    )
