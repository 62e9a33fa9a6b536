"""Rows of sessions in lists: titles, projects, ages, costs; the first page of an exported site."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime

import msgspec
from msgspec import Struct

from plait.record.time import parse_time
from plait.view import formats
from plait.view.formats import (
    format_count,
    format_count_if_any,
    format_money,
    format_tokens,
    format_utc,
    join_dotted,
)
from plait.view.page.charts import render_year_map
from plait.view.page.entries import render_time
from plait.view.page.markup import (
    MARK_TITLES,
    break_path,
    esc,
    icon,
    render_mark,
    replace_deceptive,
    session_url,
)
from plait.view.page.session import PageHeading
from plait.view.text import shorten, strip_markdown_marks

LONGEST = 160
WORKTREE = re.compile(r"(?:^|[/\\])\.?worktrees[/\\]([^/\\]+)")


def render_age(stamp: str | None, now: datetime) -> str:
    """Render how long ago a time was; the page keeps it up to date, the tooltip is exact."""
    time = parse_time(stamp)
    if time is None:
        return ""
    exact = format_utc(time)
    age = esc(formats.format_age(time, now))
    return f'<span class="ago" data-at="{exact}" title="{exact}">{age}</span>'


class ListedSession(Struct, frozen=True, kw_only=True):
    """A session as lists show it."""

    name: str
    """Its name in URLs."""
    title: str | None
    prompt: str | None
    project: str
    folder: str
    """The name of its folder; a worktree has its own, but belongs to its repository."""
    place: str
    """The directory it worked in, else its project."""
    root: str
    """The directory of its project."""
    branch: str | None = None
    started: str | None = None
    ended: str | None = None
    bytes: int = 0
    all_bytes: int = 0
    """With its agents and all its side files."""
    is_live: bool = False
    mark: str = ""
    """`kept` if it no longer exists at its source, `incomplete` if only parts of it were left, else
    the name of the agent that wrote it unless that is Claude Code.
    """
    deleted_at: datetime | None = None
    turns: int | None = None
    """None if not counted yet; so are all the other figures."""
    branches: int = 0
    agents: int = 0
    tokens: int | None = None
    cost: float | None = None
    is_partly_priced: bool = False
    parent: str | None = None
    """The session that it continues."""
    is_starred: bool = False

    @property
    def display_title(self) -> str:
        """Its title, else its first prompt."""
        title = shorten(self.title or self.prompt or "", LONGEST)
        return strip_markdown_marks(title) or "No title"

    @property
    def agent(self) -> str:
        """The coding agent that wrote it."""
        return "claude" if self.mark in ("", *MARK_TITLES) else self.mark

    @property
    def subfolder(self) -> str:
        """The folder in its project where it ran; empty for the project's own."""
        if self.place == self.root:
            return ""
        relative = self.place.removeprefix(self.root)
        is_inside = relative != self.place and relative[:1] in ("/", "\\")
        return replace_deceptive(relative[1:] if is_inside else self.place)

    @property
    def short_subfolder(self) -> str:
        """That folder in few words: the name of a worktree, else the last two parts of a long path."""
        if worktree := WORKTREE.search(self.subfolder):
            return worktree[1]
        parts = self.subfolder.replace("\\", "/").split("/")
        return self.subfolder if len(parts) < 4 else f"…/{'/'.join(parts[-2:])}"

    @property
    def has_branches(self) -> bool:
        """Whether it has branches or agents."""
        return bool(self.branches or self.agents)


def render_title_link(session: ListedSession, limit: int = LONGEST) -> str:
    """Render a session's title linked to its page, with marks for running and backed-up ones."""
    live = '<span class="live" title="Running now"><span class="state">Running</span></span>'
    css = "" if session.title or session.prompt else ' class="untitled"'
    title = esc(shorten(session.display_title, limit)).replace(" …", "&nbsp;…")
    label = f"{live if session.is_live else ''}{render_mark(session.mark)}{title}"
    return f'<a href="{session_url(session.name)}"{css}>{label}</a>'


def render_star_button(session: ListedSession) -> str:
    """Render the button that stars a session, or removes its star."""
    return (
        f'<button class="marking rowbtn star" data-star="{esc(session.name)}" '
        f'aria-pressed="{str(session.is_starred).lower()}" aria-label="Star {esc(session.display_title)}" '
        f'title="Star">{icon("star")}</button>'
    )


def format_project(directory: str) -> str:
    """Return the last part of a directory, as the name of a project."""
    return replace_deceptive(
        directory.rstrip("/\\").replace("\\", "/").rpartition("/")[2] or directory
    )


def format_session_tokens(count: int | None) -> str:
    """Format tokens, "" for none."""
    return format_tokens(count) if count else ""


def format_session_cost(session: ListedSession) -> str:
    """Format what a session cost, with a star if it is partly unpriced."""
    return format_cost(session.cost, is_partly=session.is_partly_priced)


def format_cost(cost: float | None, *, is_partly: bool = False) -> str:
    """Format a cost; a star marks a partly unpriced one."""
    if cost is None:
        return '<abbr title="has no price">*</abbr>' if is_partly else ""
    star = '<abbr title="some of it has no price">*</abbr>' if is_partly else ""
    return f"{format_money(cost) if cost else '$0'}{star}"


def join_facts(parts: Iterable[str]) -> str:
    """Join the non-empty parts of a line with dots; none is left at the end of a wrapped line."""
    return (
        f'<span class="dotted">{" ".join(f"<span>{part}</span>" for part in parts if part)}</span>'
    )


LONGEST_ENTRY = 400


class SiteEntry(Struct, frozen=True, kw_only=True):
    """A session in the list of an exported site."""

    heading: PageHeading
    href: str
    branches: int
    agents: int
    drawing: str
    """Its thumbnail."""
    prompts: tuple[str, ...]
    prompt_times: tuple[str, ...]
    parent: str | None = None
    """The session that it continues."""

    @property
    def session(self) -> str:
        """Its id."""
        return self.heading.session


def render_site_page(entries: Sequence[SiteEntry], title: str, sessions: Sequence[str] = ()) -> str:
    """Render the body of the first page; `sessions` may give their number."""
    times = [parse_time(stamp) for entry in entries for stamp in entry.prompt_times]
    days = Counter(time.date() for time in times if time)
    projects: dict[str, list[SiteEntry]] = {}
    for entry in sorted(entries, key=lambda item: item.heading.totals.last or "", reverse=True):
        projects.setdefault(entry.heading.project, []).append(entry)
    sections = "".join(_render_project(name, group) for name, group in projects.items())
    totals = [entry.heading.totals for entry in entries]
    costs = [item.cost_usd for item in totals if item.cost_usd is not None]
    summary = join_dotted(
        *(sessions or [format_count(len(entries), "session")]),
        format_count(len(projects), "project"),
        format_count(sum(entry.heading.turns for entry in entries), "turn"),
        f"{format_tokens(sum(item.tokens.total for item in totals))} tokens",
        format_money(sum(costs)) if costs else "",
    )
    no_match = "No session has these words in its title or prompts."
    return (
        f'<main class="site"><div class="lead"><h1>{esc(title)}</h1>'
        '<input type="search" id="find" placeholder="Search titles and prompts" '
        'aria-label="Search titles and prompts" autofocus>'
        f'<span class="figures">{esc(summary)}</span>'
        '<div class="actions"><button data-do="theme" title="Light or dark (t)">'
        f"{icon('moon')}</button></div></div>"
        f'{render_year_map(days)}{sections}<p class="empty none" hidden>{no_match}</p></main>'
    )


def _render_project(project: str, entries: Sequence[SiteEntry]) -> str:
    """Render the sessions of a project, those that continue others nested below these."""
    ids = {entry.session for entry in entries}
    children: dict[str, list[SiteEntry]] = {}
    for entry in entries:
        if entry.parent in ids and entry.parent != entry.session:
            children.setdefault(entry.parent or "", []).append(entry)
    nested_ids = {entry.session for entries_below in children.values() for entry in entries_below}
    path = next((directory for entry in entries if (directory := entry.heading.directory)), project)
    items = ""
    for entry in entries:
        if entry.session in nested_ids:
            continue
        below = {entry.session: entry}
        queue = list(children.get(entry.session, ()))
        while queue:
            child = queue.pop(0)
            if child.session not in below:
                below[child.session] = child
                queue += children.get(child.session, ())
        root, *continued = map(_render_entry, below.values())
        items += root
        if continued:
            items += f'<li><ul class="sub-list list">{"".join(continued)}</ul></li>'
    count = f"<small>{format_count(len(entries), 'session')}</small>"
    return (
        f'<section class="project"><h2><span>{break_path(path)}</span> {count}</h2>'
        f'<ul class="list">{items}</ul></section>'
    )


def _render_entry(entry: SiteEntry) -> str:
    title, totals = entry.heading.title, entry.heading.totals
    details = join_dotted(
        format_count(entry.heading.turns, "turn"),
        format_count_if_any(entry.branches, "branch", "branches"),
        format_count_if_any(entry.agents, "agent"),
        f"{format_tokens(totals.tokens.total)} tokens" if totals.tokens.total else "",
        format_money(totals.cost_usd) if totals.cost_usd is not None else "",
    )
    first = shorten(entry.prompts[0], 200) if entry.prompts else "no prompt"
    if first.startswith(title.removesuffix(" …")) and len(first) <= len(title) + 2:
        first = ""
    return (
        f'<li data-session="{esc(entry.session)}"><a class="entry" href="{esc(entry.href)}">'
        f'<span class="title">{esc(title)}</span>'
        f'<span class="nums">{render_time(totals.last)}</span>'
        f'<span class="sub">{esc(first)}</span>'
        f'<span class="nums">{esc(details)}</span><span class="draw">{entry.drawing}</span>'
        "</a></li>"
    )


def encode_search_table(entries: Iterable[SiteEntry]) -> str:
    """Encode the prompts of all sessions as JSON, for the page to search."""
    table = {
        replace_deceptive(entry.session): [
            replace_deceptive(prompt)[:LONGEST_ENTRY] for prompt in entry.prompts
        ]
        for entry in entries
    }
    return msgspec.json.encode(table).decode()
