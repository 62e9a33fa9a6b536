"""What is asked of a list of sessions, as an address says it, to the sessions that are shown."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from msgspec import Struct

from plait.record.time import moment
from plait.view.amounts import many, some
from plait.view.forms import day_of
from plait.view.page.figures.period import midnight
from plait.view.page.frame import PLACES
from plait.view.page.lists.rows import ListedSession, ago, joined, short_place, title_link
from plait.view.page.lists.search import KINDS, SearchHit, SearchQuery, marked, place_of
from plait.view.page.markup import (
    address,
    asked_in,
    count_in,
    esc,
    icon,
    kept_badge,
    session_address,
)
from plait.view.text import shortened

STEP = 200
"""Sessions that a page shows at first, and adds as one scrolls."""
MOST = 10_000
LONGEST = 300
"""Characters of one thing that is asked."""
Key = Callable[[ListedSession], Any]
SORTS: dict[str, Key] = {
    "ended": lambda one: one.ended or "",
    "started": lambda one: one.started or "",
    "title": lambda one: one.words.casefold(),
    "turns": lambda one: one.turns or 0,
    "branches": lambda one: one.branches,
    "agents": lambda one: one.agents,
    "tokens": lambda one: one.tokens or 0,
    "cost": lambda one: -1.0 if one.cost is None else one.cost,
    "size": lambda one: one.bytes,
}
DAYS = ("since", "until")
RISING = ("title",)
"""What is sorted from the bottom up, if nothing is said."""


class Choice(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What is asked of the list."""

    q: str = ""
    project: str = ""
    branch: str = ""
    live: str = ""
    branches: str = ""
    agents: str = ""
    starred: str = ""
    since: str = ""
    until: str = ""
    sort: str = "ended"
    turned: str = ""
    """Not empty where the order is turned round."""
    flat: str = ""
    """Not empty where projects are not told apart."""
    n: int = STEP

    @property
    def is_rising(self) -> bool:
        """Tells whether the smallest comes first."""
        return (self.sort in RISING) != bool(self.turned)

    @property
    def is_narrowed(self) -> bool:
        """Tells whether anything is left out."""
        told = (self.q, self.project, self.branch, self.live, self.branches, self.agents)
        return any((*told, self.starred, self.since, self.until))

    def address(self, **changes: object) -> str:
        """Returns the address that asks for this, with some things changed."""
        return address("/sessions", self, **changes)


def choice_in(query: Mapping[str, str]) -> Choice:
    """Returns what an address asks for; what makes no sense is as if it were not said."""
    names = set(Choice.__struct_fields__) - {"n", "sort"}
    told = asked_in(query, names, LONGEST)
    told = {name: one for name, one in told.items() if name not in DAYS or midnight(one, 0)}
    sort = query.get("sort", "ended")
    count = count_in(query, STEP, MOST)
    return Choice(**told, sort=sort if sort in SORTS else "ended", n=count)


def chosen(rows: Iterable[ListedSession], choice: Choice) -> list[ListedSession]:
    """Returns the sessions that are asked for, in the order asked for."""
    words = choice.q.casefold().split()
    found = [one for one in rows if _is_wanted(one, choice) and _has_words(one, words)]
    return sorted(found, key=SORTS[choice.sort], reverse=not choice.is_rising)


def _is_wanted(one: ListedSession, choice: Choice) -> bool:
    passes = (
        choice.project in ("", one.project, one.folder),
        not choice.branch or one.branch == choice.branch,
        not choice.live or one.is_live,
        not choice.branches or one.branches > 0,
        not choice.agents or one.agents > 0,
        not choice.starred or one.is_starred,
        not choice.since or _day_of(one.ended) >= choice.since,
        not choice.until or "" < _day_of(one.started) <= choice.until,
    )
    return all(passes)


def _day_of(stamp: str | None) -> str:
    time = moment(stamp)
    try:
        return day_of(time.astimezone()) if time else ""
    except (OverflowError, OSError, ValueError):  # a year that no clock knows
        return ""


def _has_words(one: ListedSession, words: Sequence[str]) -> bool:
    if not words:
        return True
    told = (one.title, one.prompt, one.place, one.project, one.folder, one.branch, one.name)
    text = "\n".join(part for part in told if part).casefold()
    return all(word in text for word in words)


def nested(rows: Sequence[ListedSession]) -> list[tuple[ListedSession, int]]:
    """Returns sessions with how deep they lie: those that go on from others below these."""
    by_name = {one.name: one for one in rows}
    children: dict[str | None, list[ListedSession]] = {}
    for one in rows:
        parent = one.parent if one.parent in by_name and one.parent != one.name else None
        children.setdefault(parent, []).append(one)
    waiting = [(one, 0) for one in reversed(children.get(None, []))]
    found: dict[str, tuple[ListedSession, int]] = {}
    while waiting:
        one, depth = waiting.pop()
        found[one.name] = one, depth
        waiting += [(child, depth + 1) for child in reversed(children.get(one.name, []))]
    rest = [(one, 0) for one in rows if one.name not in found]  # each goes on from the other
    return [*found.values(), *rest]


def part_link(one: ListedSession) -> str:
    """Returns where in its project a session was held, leading to all that were held there."""
    if not one.part:
        return ""
    only = esc(Choice(project=one.folder).address())
    return f'<a class="within" href="{only}" title="{esc(one.place)}">{esc(one.part)}</a>'


def by_project(rows: Iterable[ListedSession]) -> dict[str, list[ListedSession]]:
    """Returns sessions by project, in the order in which the projects come up."""
    groups: dict[str, list[ListedSession]] = {}
    for one in rows:
        groups.setdefault(one.project, []).append(one)
    return groups


DEEPEST = 4
OFFERED = 7
LONGEST_NAME = 70
"""Characters of a title in the column."""


def side_column(
    rows: Sequence[ListedSession], here: str, now: datetime, text: str, count: int
) -> str:
    """Returns the column of sessions, a box to filter it above."""
    return (
        '<div class="side-head"><input type="search" placeholder="Filter sessions" '
        f'aria-label="Filter sessions" autocomplete="off" spellcheck="false" value="{esc(text)}" '
        "data-side-filter></div>"
        f"<div data-side-list>{side_list(rows, here, now, text, count)}</div>"
    )


def side_list(
    rows: Sequence[ListedSession], here: str, now: datetime, text: str, count: int
) -> str:
    """Returns the sessions of the column, those that go on from others below these."""
    if not rows:
        return '<p class="empty" role="status">No session is like that.</p>'
    items = "".join(_side_item(one, depth, here, now) for one, depth in nested(rows))
    rest = count - len(rows)
    more = ""
    if rest > 0:
        href = esc(Choice(q=text).address())
        more = f'<p class="onward"><a href="{href}">{many(rest, "more session")}</a></p>'
    return f'<ol class="tree">{items}</ol>{more}'


def _side_item(one: ListedSession, depth: int, here: str, now: datetime) -> str:
    current = ' aria-current="true"' if one.name == here else ""
    deep = f' class="d{min(depth, DEEPEST)}"' if depth else ""
    told = [
        esc(short_place(one.root)),
        ago(one.ended, now),
        some(one.branches, "branch", "branches"),
    ]
    return (
        f'<li{deep} data-name="{esc(one.name)}"{current}>{title_link(one, LONGEST_NAME)}'
        f'<div class="sub">{joined(told)}</div></li>'
    )


def palette(
    text: str,
    sessions: Sequence[ListedSession],
    hits: Sequence[SearchHit],
    now: datetime,
    places: Mapping[str, str],
) -> str:
    """Returns what the palette offers: places, sessions by name, turns by their words."""
    words = text.casefold().split()
    ways = [one for one in PLACES if all(word in one[2].casefold() for word in words)]
    parts = [
        _group("Sessions" if words else "Recent", [_session_option(one, now) for one in sessions]),
        _group("In sessions", [_hit_option(one, text, places) for one in hits]),
        _group("Go to", [_place_option(href, name) for _, href, name in ways]),
    ]
    if words:
        everything = esc(SearchQuery(q=text).address())
        last = f"<span>All that matches <b>{esc(shortened(text, 60))}</b></span>"
        parts.append(_group("Search", [_option(everything, icon("find") + last)]))
    return "".join(parts)


def _group(name: str, options: Sequence[str]) -> str:
    if not options:
        return ""
    return f'<li role="presentation" class="group">{name}</li>{"".join(options)}'


def _option(href: str, inner: str) -> str:
    return f'<li role="option" aria-selected="false" data-href="{href}">{inner}</li>'


def _place_option(href: str, name: str) -> str:
    return _option(href, f"{icon('back')}<span>{name}</span>")


def _session_option(one: ListedSession, now: datetime) -> str:
    live = '<span class="live"></span>' if one.is_live else ""
    return _option(
        session_address(one.name),
        f"{icon('note')}<span>{live}{kept_badge(one.mark)}{esc(one.words)}</span>"
        f"<small>{esc(short_place(one.root))}</small><small>{ago(one.ended, now)}</small>",
    )


def _hit_option(one: SearchHit, text: str, places: Mapping[str, str]) -> str:
    words, drawing = KINDS.get(one.kind, (one.kind, "note"))
    where = short_place(places.get(one.project, one.project))
    return _option(
        esc(place_of(one, SearchQuery(q=text))),
        f'{icon(drawing)}<span class="snippet">{marked(one.snippet, one.marks)}</span>'
        f"<small>{esc(one.tool or words)}</small><small>{esc(where)}</small>",
    )
