"""Sessions to rows of lists: their names, where they are, how long ago they were."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime

import msgspec
from msgspec import Struct

from plait.record.time import moment
from plait.view import forms
from plait.view.amounts import dotted, many, money_in_words, some, tokens_in_words
from plait.view.forms import stamp_of
from plait.view.page.conversation.entries import clock
from plait.view.page.conversation.page import PageHeading
from plait.view.page.figures.heat import heat_map
from plait.view.page.markup import clean, esc, icon, kept_badge, session_address, with_breaks
from plait.view.text import shortened

LONGEST = 160


def ago(stamp: str | None, now: datetime) -> str:
    """Returns a time in a page: relative, kept so by the page, exact where one points at it."""
    time = moment(stamp)
    if time is None:
        return ""
    exact = stamp_of(time)
    words = esc(forms.ago(time, now))
    return f'<span class="ago" data-at="{exact}" title="{exact}">{words}</span>'


class ListedSession(Struct, frozen=True, kw_only=True):
    """What lists say of a session."""

    name: str
    """In addresses."""
    title: str | None
    prompt: str | None
    project: str
    folder: str
    """The name of the folder that it lies in; a worktree has its own, and is of its repository."""
    place: str
    """The directory that it was held in, else its project."""
    root: str
    """The directory of its project."""
    branch: str | None = None
    started: str | None = None
    ended: str | None = None
    bytes: int = 0
    is_live: bool = False
    mark: str = ""
    """`kept` where it is no longer at its source, `incomplete` where only parts of it were left."""
    deleted_at: datetime | None = None
    turns: int | None = None
    """None where nobody has counted yet; so are all the other figures."""
    branches: int = 0
    agents: int = 0
    tokens: int | None = None
    cost: float | None = None
    is_partly_priced: bool = False
    parent: str | None = None
    """The session that it goes on from."""
    is_starred: bool = False

    @property
    def words(self) -> str:
        """What it is called where it has no title of its own."""
        return shortened(self.title or self.prompt or "", LONGEST) or "No title"

    @property
    def part(self) -> str:
        """Where in its project it was held, nothing where that is the project itself."""
        if self.place == self.root:
            return ""
        below = self.place.removeprefix(self.root)
        is_below = below != self.place and below[:1] in ("/", "\\")
        return clean(below[1:] if is_below else self.place)

    @property
    def has_parts(self) -> bool:
        """Tells whether something hangs on it: branches, agents."""
        return bool(self.branches or self.agents)


def title_link(one: ListedSession, most: int = LONGEST) -> str:
    """Returns a session's title, leading to its page, with the dot of a live one or its mark."""
    live = '<span class="live" title="Running now"><span class="state">Running</span></span>'
    plain = "" if one.title or one.prompt else ' class="untitled"'
    told = esc(shortened(one.words, most)).replace(" …", "&nbsp;…")
    words = f"{live if one.is_live else ''}{kept_badge(one.mark)}{told}"
    return f'<a href="{session_address(one.name)}"{plain}>{words}</a>'


def star_button(one: ListedSession) -> str:
    """Returns what stars a session, and takes its star away."""
    return (
        f'<button class="marking rowbtn star" data-star="{esc(one.name)}" '
        f'aria-pressed="{str(one.is_starred).lower()}" aria-label="Star {esc(one.words)}" '
        f'title="Star">{icon("star")}</button>'
    )


def short_place(place: str) -> str:
    """Returns the last part of a directory: what people call a project."""
    return clean(place.rstrip("/\\").replace("\\", "/").rpartition("/")[2] or place)


def tokens_cell(count: int | None) -> str:
    """Returns tokens, nothing where there are none."""
    return tokens_in_words(count) if count else ""


def cost_cell(one: ListedSession) -> str:
    """Returns what a session cost; a star where something in it has no price."""
    return priced(one.cost, is_partly=one.is_partly_priced)


def priced(cost: float | None, *, is_partly: bool = False) -> str:
    """Returns a sum of money; a star says that something in it has no price."""
    if cost is None:
        return '<abbr title="has no price">*</abbr>' if is_partly else ""
    star = '<abbr title="some of it has no price">*</abbr>' if is_partly else ""
    return f"{money_in_words(cost) if cost else '$0'}{star}"


def joined(parts: Iterable[str]) -> str:
    """Returns parts of a line, those that are there, with dots between."""
    return '<span class="dot"> · </span>'.join(part for part in parts if part)


LONGEST_ENTRY = 400


class SiteEntry(Struct, frozen=True, kw_only=True):
    """What the list says of a session."""

    heading: PageHeading
    href: str
    branches: int
    agents: int
    drawing: str
    """Its strands, small."""
    prompts: tuple[str, ...]
    prompt_times: tuple[str, ...]
    parent: str | None = None
    """The session that it goes on from."""

    @property
    def session(self) -> str:
        """Its id."""
        return self.heading.session


def site_page(entries: Sequence[SiteEntry], title: str, sessions: Sequence[str] = ()) -> str:
    """Returns the body of the first page; it can be told in words which sessions there are."""
    days = Counter(day for entry in entries for day in _days_of(entry))
    projects: dict[str, list[SiteEntry]] = {}
    for entry in sorted(entries, key=lambda one: one.heading.totals.last or "", reverse=True):
        projects.setdefault(entry.heading.project, []).append(entry)
    sections = "".join(_section(name, found) for name, found in projects.items())
    totals = [entry.heading.totals for entry in entries]
    costs = [one.cost_usd for one in totals if one.cost_usd is not None]
    told = dotted(
        *(sessions or [many(len(entries), "session")]),
        many(len(projects), "project"),
        many(sum(entry.heading.turns for entry in entries), "turn"),
        f"{tokens_in_words(sum(one.tokens.total for one in totals))} tokens",
        money_in_words(sum(costs)) if costs else "",
    )
    nothing = "No session has these words in its title or its prompts."
    return (
        f'<main class="site"><div class="lead"><h1>{esc(title)}</h1>'
        '<input type="search" id="find" placeholder="Search titles and prompts" '
        'aria-label="Search titles and prompts" autofocus>'
        f'<span class="figures">{esc(told)}</span>'
        '<div class="actions"><button data-do="theme" title="Light or dark (t)">'
        f"{icon('moon')}</button></div></div>"
        f'{heat_map(days)}{sections}<p class="empty none" hidden>{nothing}</p></main>'
    )


def _days_of(entry: SiteEntry) -> Iterable[date]:
    for time in entry.prompt_times:
        when = moment(time)
        if when:
            yield when.date()


def _section(project: str, entries: Sequence[SiteEntry]) -> str:
    known = {entry.session for entry in entries}
    children: dict[str, list[SiteEntry]] = {}
    for entry in entries:
        if entry.parent in known and entry.parent != entry.session:
            children.setdefault(entry.parent or "", []).append(entry)
    nested = {entry.session for found in children.values() for entry in found}
    tops = [entry for entry in entries if entry.session not in nested]
    where = next((one for entry in entries if (one := entry.heading.directory)), project)
    rows = "".join(_row(entry) + _below(entry, children) for entry in tops)
    count = f"<small>{many(len(entries), 'session')}</small>"
    return (
        f'<section class="project"><h2><span>{with_breaks(where)}</span> {count}</h2>'
        f'<ul class="list">{rows}</ul></section>'
    )


def _below(entry: SiteEntry, children: Mapping[str, Sequence[SiteEntry]]) -> str:
    found: list[SiteEntry] = []
    seen = {entry.session}
    waiting = list(children.get(entry.session, ()))
    while waiting:
        one = waiting.pop(0)
        if one.session not in seen:
            seen.add(one.session)
            found.append(one)
            waiting += children.get(one.session, ())
    rows = "".join(_row(one) for one in found)
    return f'<li><ul class="sub-list list">{rows}</ul></li>' if rows else ""


def _row(entry: SiteEntry) -> str:
    title, totals = entry.heading.title, entry.heading.totals
    told = dotted(
        many(entry.heading.turns, "turn"),
        some(entry.branches, "branch", "branches"),
        some(entry.agents, "agent"),
        f"{tokens_in_words(totals.tokens.total)} tokens" if totals.tokens.total else "",
        money_in_words(totals.cost_usd) if totals.cost_usd is not None else "",
    )
    first = shortened(entry.prompts[0], 200) if entry.prompts else "no prompt"
    if first.startswith(title.removesuffix(" …")) and len(first) <= len(title) + 2:
        first = ""
    return (
        f'<li data-session="{esc(entry.session)}"><a class="entry" href="{esc(entry.href)}">'
        f'<span class="title">{esc(title)}</span>'
        f'<span class="nums">{clock(totals.last)}</span>'
        f'<span class="sub">{esc(first)}</span>'
        f'<span class="nums">{esc(told)}</span><span class="draw">{entry.drawing}</span>'
        "</a></li>"
    )


def search_table(entries: Iterable[SiteEntry]) -> str:
    """Returns the prompts of all sessions as JSON, for the page to search."""
    table = {
        clean(entry.session): [clean(prompt)[:LONGEST_ENTRY] for prompt in entry.prompts]
        for entry in entries
    }
    return msgspec.json.encode(table).decode()
