"""Sessions to the first page of an exported site: figures, days, a row for each session."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import date

import msgspec
from msgspec import Struct

from plait.record.time import moment
from plait.view.amounts import dotted, many, money_in_words, some, tokens_in_words
from plait.view.page.conversation.entries import clock
from plait.view.page.conversation.page import PageHeading
from plait.view.page.figures.heat import heat_map
from plait.view.page.markup import clean, esc, icon, with_breaks
from plait.view.text import shortened

LONGEST = 400


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


def site_page(entries: Sequence[SiteEntry], title: str) -> str:
    """Returns the body of the first page."""
    days = Counter(day for entry in entries for day in _days_of(entry))
    projects: dict[str, list[SiteEntry]] = {}
    for entry in sorted(entries, key=lambda one: one.heading.totals.last or "", reverse=True):
        projects.setdefault(entry.heading.project, []).append(entry)
    sections = "".join(_section(name, found) for name, found in projects.items())
    totals = [entry.heading.totals for entry in entries]
    costs = [one.cost_usd for one in totals if one.cost_usd is not None]
    told = dotted(
        many(len(entries), "session"),
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
        entry.session: [clean(prompt)[:LONGEST] for prompt in entry.prompts] for entry in entries
    }
    return msgspec.json.encode(table).decode()
