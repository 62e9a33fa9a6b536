"""Sessions to the column beside a page, and to what the palette offers."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from plait.view.amounts import many, some
from plait.view.page.forms import session_address
from plait.view.page.frame import PLACES
from plait.view.page.lists.choice import Choice, nested
from plait.view.page.lists.rows import ListedSession, ago, joined, short_place, title_link
from plait.view.page.lists.search import KINDS, SearchHit, SearchQuery, marked, place_of
from plait.view.page.markup import esc, icon
from plait.view.text import shortened

DEEPEST = 4
OFFERED = 7
LONGEST = 70
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
        esc(short_place(one.place)),
        ago(one.ended, now),
        some(one.branches, "branch", "branches"),
    ]
    return (
        f'<li{deep} data-name="{esc(one.name)}"{current}>{title_link(one, LONGEST)}'
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
        f"{icon('note')}<span>{live}{esc(one.words)}</span>"
        f"<small>{esc(short_place(one.place))}</small><small>{ago(one.ended, now)}</small>",
    )


def _hit_option(one: SearchHit, text: str, places: Mapping[str, str]) -> str:
    words, drawing = KINDS.get(one.kind, (one.kind, "note"))
    where = short_place(places.get(one.project, one.project))
    return _option(
        esc(place_of(one, SearchQuery(q=text))),
        f'{icon(drawing)}<span class="snippet">{marked(one.snippet, one.marks)}</span>'
        f"<small>{esc(one.tool or words)}</small><small>{esc(where)}</small>",
    )
