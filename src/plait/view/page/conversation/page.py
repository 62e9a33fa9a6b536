"""Conversations of a session to its page: header, outline, reading column, rail."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec
from msgspec import Struct

from plait.conversation.model import Conversation, Conversations, Left, Turn
from plait.conversation.totals import Totals
from plait.graph.paths import SPOKEN
from plait.graph.rows import RowShape
from plait.view.amounts import many, money_in_words, time_in_words, tokens_in_words
from plait.view.page.conversation.blocks import Setting
from plait.view.page.conversation.entries import clock
from plait.view.page.conversation.turns import agents_html, turns_html
from plait.view.page.graph_svg import rail
from plait.view.page.markup import clean, esc, icon
from plait.view.page.tabs.raw import PackedLines
from plait.view.text import model_names, shortened

FIRST_PART = 400_000
"""So many characters of a conversation stand in the page itself; the rest comes as it is read."""
PART = 400_000
OUTLINED = 140


class PageHeading(Struct, frozen=True, kw_only=True):
    """What the head of a page says of its session."""

    session: str
    title: str
    project: str
    directory: str | None = None
    git_branch: str | None = None
    models: tuple[str, ...] = ()
    turns: int = 0
    """Of the conversations that people had, agents apart."""
    totals: Totals
    resume: str | None = None
    """The line that continues it in Claude Code."""


class TurnsPart(Struct, frozen=True):
    """Turns that do not stand in the page itself."""

    number: int
    turns: tuple[str, ...]


class SessionPage(Struct, frozen=True):
    """The body of a page, and what it fetches later."""

    body: str
    parts: tuple[TurnsPart, ...]


def session_page(
    told: Conversations,
    rows: Sequence[RowShape],
    heading: PageHeading,
    setting: Setting,
    lines: Sequence[PackedLines] = (),
    *,
    home: str | None = "../index.html",
) -> SessionPage:
    """Returns the page of a session."""
    parts = TurnsParts()
    agents = agents_html(told.by_line, setting, parts.put_aside)
    reading = "".join(_line_html(one, setting, agents, parts) for one in spoken(told))
    places = [[piece.file, piece.first, piece.last] for piece in lines]
    body = (
        f"{header(heading, told, home)}"
        '<div class="sheet3">'
        f'<nav class="outline" aria-label="Prompts">{outline(told.active)}</nav>'
        f'<main data-session="{esc(heading.session)}" data-lines="{as_attribute(places)}" '
        f'data-main="{esc(told.main)}">{reading}{unplaced(told, agents)}'
        f"{_recovered(told, setting)}</main>"
        f'<aside class="rail" aria-label="Graph">{rail(rows)}</aside></div>'
    )
    return SessionPage(body, tuple(parts.found))


class TurnsParts:
    """Keeps what is too long for the page."""

    def __init__(self) -> None:
        self.found: list[TurnsPart] = []
        self.room = FIRST_PART

    def placed(self, turns: Iterable[tuple[Turn, str]]) -> Iterator[str]:
        """Yields turns while there is room in the page, then the places of parts."""
        waiting: list[tuple[Turn, str]] = []
        size = 0
        for turn, html in turns:
            if self.room > 0:
                self.room -= len(html)
                yield html
                continue
            waiting.append((turn, html))
            size += len(html)
            if size >= PART:
                yield self.put_aside(waiting)
                waiting, size = [], 0
        if waiting:
            yield self.put_aside(waiting)

    def put_aside(self, turns: list[tuple[Turn, str]]) -> str:
        """Keeps turns as a part and returns its place."""
        number = len(self.found) + 1
        self.found.append(TurnsPart(number, tuple(html for _, html in turns)))
        openers = [turn.opener for turn, _ in turns if turn.opener and turn.number]
        prompts = [(one.uuid or "", clean(shortened(one.text, OUTLINED))) for one in openers]
        forks = [item.to for turn, _ in turns for item in turn.items if isinstance(item, Left)]
        return (
            f'<div class="part" data-part="{number}" data-turns="{len(turns)}" '
            f'data-prompts="{as_attribute(prompts)}" data-forks="{as_attribute(forks)}"></div>'
        )


def as_attribute(value: object) -> str:
    """Returns a value as JSON within an attribute."""
    return esc(msgspec.json.encode(value).decode())


def spoken(told: Conversations) -> Iterator[Conversation]:
    """Yields the active conversation, then its branches and the others in its file."""
    yield told.active
    for one in told.by_line.values():
        if one.kind in SPOKEN and one.id != told.main:
            yield one


def _line_html(
    one: Conversation, setting: Setting, agents: Mapping[str, str], parts: TurnsParts
) -> str:
    drawn = zip(one.turns, turns_html(one, setting, agents), strict=True)
    turns = "".join(parts.placed(drawn))
    state = "" if one.is_active else " abandoned"
    above = f' data-above="{esc(one.parent)}"' if one.parent else ""
    at = f' data-at="{esc(one.attachment)}"' if one.attachment else ""
    return (
        f'<article class="dag{state}" id="line-{esc(one.id)}" data-line="{esc(one.id)}"{above}{at}>'
        f"{backlink(one, setting)}{turns}</article>"
    )


def backlink(one: Conversation, setting: Setting) -> str:
    """Returns where a conversation comes from."""
    if not one.parent or one.kind not in SPOKEN:
        return ""
    state = "A branch" if one.kind == "branch" else "This session goes on"
    if not one.is_active:
        state = "An abandoned branch"
    page = setting.page_of(one.parent.partition("@")[0]) if one.kind == "trunk" else ""
    href = f"{page or ''}#{one.attachment or f'line-{one.parent}'}"
    words = f"{icon('fork')}<span>{state}: it leaves from here</span>"
    return f'<a class="from" href="{esc(href)}">{words}</a>'


def header(heading: PageHeading, told: Conversations, home: str | None) -> str:
    """Returns the one line above everything."""
    back = f'<a class="home" href="{home}" title="All sessions">{icon("back")}</a>' if home else ""
    title = esc(heading.title)
    return (
        f'<header class="top">{back}<h1 title="{title}">{title}</h1>{switch(told)}'
        f'<div class="facts">{facts(heading)}</div>{ACTIONS}</header>{about(heading)}'
    )


def facts(heading: PageHeading) -> str:
    """Returns what a session came to, on one line."""
    totals = heading.totals
    words = [
        model_names(heading.models),
        many(heading.turns, "turn") if heading.turns else "",
        time_in_words(totals.working_ms),
        f"{tokens_in_words(totals.tokens.total)} tokens" if totals.tokens.total else "",
        money_in_words(totals.cost_usd) if totals.cost_usd else "",
    ]
    return "".join(f"<span>{esc(word)}</span>" for word in words if word)


ACTIONS = (
    '<div class="actions"><input type="search" id="find" placeholder="Find" aria-label="Find">'
    f'<button data-do="filter" title="Filter (f)">{icon("filter")}</button>'
    f'<button data-do="outline" title="Prompts (o)">{icon("menu")}</button>'
    f'<button data-do="rail" title="Graph (g)">{icon("fork")}</button>'
    f'<button data-do="theme" title="Light or dark (t)">{icon("moon")}</button>'
    '<button data-do="help" title="Keys (?)" aria-label="Keys">?</button></div>'
)


def about(heading: PageHeading, more: str = "") -> str:
    """Returns the second line: where, when, what else there is to say, and how to go on."""
    where = heading.directory or heading.project
    branch = f" · {esc(heading.git_branch)}" if heading.git_branch else ""
    resume = ""
    if heading.resume:
        resume = (
            f'<button class="resume" data-copy="{esc(heading.resume)}">{icon("copy")}'
            f"<code>{esc(heading.resume)}</code></button>"
        )
    first, last = clock(heading.totals.first), clock(heading.totals.last)
    times = f"{first} – {last}" if first and last else first
    unpriced = ", ".join(heading.totals.unpriced)
    missing = f'<span class="warn">no price for {esc(unpriced)}</span>' if unpriced else ""
    return (
        f'<div class="about-line"><span>{esc(where)}{branch}</span><span>{times}</span>'
        f"{more}{missing}{resume}</div>"
    )


def switch(told: Conversations) -> str:
    """Returns the choice between the ways through a session, where there are several."""
    ways = list(spoken(told))
    if len(ways) < 2:
        return ""
    options = "".join(
        f'<option value="{esc(one.id)}">{esc(way_name(one, told))}</option>' for one in ways
    )
    return f'<select class="ways" aria-label="Branch">{options}</select>'


def way_name(one: Conversation, told: Conversations) -> str:
    """Returns what a way through a session is called."""
    if one.id == told.main:
        return "active"
    words = shortened(one.label or one.title or one.id, 60)
    return f"{'abandoned' if not one.is_active else 'also'}: {words}"


def outline(conversation: Conversation) -> str:
    """Returns the prompts of a conversation as a list of links."""
    rows = "".join(
        f'<li><a href="#{esc(turn.opener.uuid or "")}"><b>{turn.number}</b> '
        f"{esc(shortened(turn.opener.text, OUTLINED)) or '…'}</a></li>"
        for turn in conversation.turns
        if turn.opener
    )
    return f"<ol>{rows}</ol>"


def unplaced(told: Conversations, agents: Mapping[str, str]) -> str:
    """Returns the agents that no call of this session names."""
    lost = [
        one
        for one in told.by_line.values()
        if one.kind in ("agent", "service") and not one.call and one.id != told.main
    ]
    placed = {name for one in told.by_line.values() for name in _sent_out(one)}
    rest = [agents[one.id] for one in lost if one.id not in placed]
    if not rest:
        return ""
    return f'<section class="unplaced"><h2>Agents that no call names</h2>{"".join(rest)}</section>'


def _recovered(told: Conversations, setting: Setting) -> str:
    if told.recovered is None:
        return ""
    html = "".join(turns_html(told.recovered, setting, {}))
    title = "Recovered from broken lines, never seen by the client"
    return f'<section class="unplaced"><h2>{title}</h2>{html}</section>'


def _sent_out(conversation: Conversation) -> Iterator[str]:
    for item in conversation.items():
        yield from getattr(item, "agents", ())
