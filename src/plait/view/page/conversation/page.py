"""Conversations of a session to its page, exported or served: header, outline, column, rail.

A served page goes out in two pieces. Its beginning says what the list of sessions knows already;
the browser draws it while the log is read.
"""

from collections.abc import Sequence
from urllib.parse import quote

from msgspec import Struct

from plait.conversation.model import Conversation, Conversations
from plait.conversation.totals import Totals
from plait.graph.paths import SPOKEN
from plait.graph.rows import RowShape
from plait.view.amounts import bytes_in_words, many, money_in_words, time_in_words, tokens_in_words
from plait.view.forms import few_models
from plait.view.page.conversation.blocks import Setting
from plait.view.page.conversation.column import (
    OUTLINED,
    ExportedColumn,
    ReadingColumn,
    TurnsPart,
    as_attribute,
    spoken,
)
from plait.view.page.conversation.entries import clock
from plait.view.page.frame import framed
from plait.view.page.graph_svg import rail
from plait.view.page.markup import attribute, esc, icon, kept_badge, session_address
from plait.view.page.tabs.head import STAR, head_beginning, head_rest, share_dialog, tabs
from plait.view.page.tabs.raw import PackedLines
from plait.view.text import shortened

CUT = "\x00"
"""Stands in no page: texts of the log have lost it."""
EMPTY = (
    '<div class="nothing"><p>Nothing was said in this session.</p>'
    '<p>Its log holds lines, but no prompt and no answer: <a href="{raw}">read them as they are</a>'
    ".</p></div>"
)


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
    again: str | None = None
    """What is typed to go on from one of its turns, but for the turn."""
    mark: str = ""
    """`kept` or `incomplete` where it is no longer at its source."""


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
    column = ExportedColumn(told, setting)
    places = [[piece.file, piece.first, piece.last] for piece in lines]
    body = (
        f"{header(heading, told, home)}"
        '<div class="sheet3">'
        f'<nav class="outline" aria-label="Prompts">{outline(told.active)}</nav>'
        f'<main data-session="{esc(heading.session)}" data-lines="{as_attribute(places)}" '
        f'data-main="{esc(told.main)}"{attribute("data-again", heading.again)}>'
        f"{_about(heading)}{column.column()}</main>"
        f'<aside class="rail" aria-label="Graph">{rail(rows)}</aside></div>'
    )
    return SessionPage(body, tuple(column.parts))


def header(heading: PageHeading, told: Conversations, home: str | None) -> str:
    """Returns the one band above everything."""
    back = ""
    if home:
        back = (
            f'<a class="home" href="{home}" title="All sessions" aria-label="All sessions">'
            f"{icon('back')}</a>"
        )
    under = f'{_switch(told)}<div class="facts">{facts(heading)}</div>'
    band = f"{head_beginning(heading.title, back)}{head_rest(under, '', actions=ACTIONS)}"
    return f'<header class="banner">{band}</header>'


def facts(heading: PageHeading) -> str:
    """Returns what a session came to, on one line; where that is too long, its end is not shown."""
    totals = heading.totals
    took = time_in_words(totals.working_ms)
    words = [
        few_models(heading.models),
        many(heading.turns, "turn") if heading.turns else "",
        money_in_words(totals.cost_usd) if totals.cost_usd else "",
        f"{took} of work" if took else "",
        f"{tokens_in_words(totals.tokens.total)} tokens" if totals.tokens.total else "",
    ]
    told = "".join(f"<span>{esc(word)}</span>" for word in words if word)
    return f"{told}{kept_badge(heading.mark)}"


ACTIONS = (
    '<div class="actions"><input type="search" id="find" placeholder="Find" aria-label="Find">'
    f'<button data-do="filter" title="Filter (f)">{icon("filter")}</button>'
    f'<button data-do="outline" title="Prompts (o)">{icon("menu")}</button>'
    f'<button data-do="rail" title="Graph (g)">{icon("fork")}</button>'
    f'<button data-do="theme" title="Light or dark (t)">{icon("moon")}</button>'
    '<button data-do="help" title="Keys (?)" aria-label="Keys">?</button></div>'
)


def _about(heading: PageHeading, more: str = "") -> str:
    where = heading.directory or heading.project
    branch = f" · {esc(heading.git_branch)}" if heading.git_branch else ""
    resume = ""
    if heading.resume:
        resume = (
            f'<button class="resume" data-copy="{esc(heading.resume)}" '
            f'title="{esc(heading.resume)}">{icon("copy")}Copy the command that resumes it</button>'
        )
    first, last = clock(heading.totals.first), clock(heading.totals.last)
    times = f"{first} – {last}" if first and last else first
    unpriced = ", ".join(heading.totals.unpriced)
    missing = f'<span class="warn">no price for {esc(unpriced)}</span>' if unpriced else ""
    return (
        f'<div class="about-line"><span>{esc(where)}{branch}</span><span>{times}</span>'
        f"{more}{missing}{resume}</div>"
    )


def _switch(told: Conversations) -> str:
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


class Glance(Struct, frozen=True):
    """What is known of a session before it is read."""

    name: str
    """In addresses."""
    title: str
    bytes: int


def page_beginning(glance: Glance) -> tuple[str, str]:
    """Returns what goes out at once, and what ends the page."""
    size = bytes_in_words(glance.bytes)
    waiting = f'<span class="waiting" role="status">Reading {size} …</span>'
    opening = f"{head_beginning(glance.title)}{waiting}"
    whole = framed(glance.title, f"{opening}{CUT}", side=glance.name)
    before, _, after = whole.partition(CUT)
    return before, after


def page_rest(reading: ReadingColumn, heading: PageHeading, rail: str, mark: str) -> str:
    """Returns all that follows: the facts of the header, the tabs, the column, the graph."""
    told, name = reading.told, heading.session
    column = reading.column()
    models = f'<span class="models">{esc(few_models(heading.models))}</span>'
    if not column or _is_silent(told):
        column += EMPTY.format(raw=esc(session_address(name, "raw")))
    return (
        f"{_head_rest(heading, told)}"
        '<div class="sheet3 served">'
        f'<nav class="outline" aria-label="Prompts">{outline(told.active)}</nav>'
        f'<main id="main" data-session="{esc(name)}" data-served="/s/{esc(quote(name))}" '
        f'data-main="{esc(told.main)}" data-mark="{esc(mark)}"'
        f"{attribute('data-again', heading.again)}"
        f"{' data-kept' if heading.mark else ''}>{_about(heading, models)}{column}</main>"
        f'<aside class="rail" aria-label="Graph">{rail}</aside></div>'
        f"{share_dialog(name)}"
    )


def _head_rest(heading: PageHeading, told: Conversations) -> str:
    under = (
        f"{_switch(told)}{_compare_link(heading.session, told)}"
        f'<div class="facts">{facts(heading)}</div>'
    )
    actions = RESTORE_ACTIONS if heading.mark else SERVED_ACTIONS
    return head_rest(under, tabs(heading.session, "read"), "Read", actions)


def _compare_link(name: str, told: Conversations) -> str:
    others = [one for one in told.by_line.values() if _is_other_way(one, told)]
    if not others:
        return ""
    address = _compare_address(name, told.main, others[-1].id)
    return (
        f'<a class="comparing" href="{esc(address)}" aria-label="Compare" '
        'title="Two branches side by side (c)">'
        f"{icon('compare')}<span>Compare</span></a>"
    )


def _is_other_way(one: Conversation, told: Conversations) -> bool:
    return one.kind in SPOKEN and one.id != told.main and bool(one.turns)


def _compare_address(name: str, one: str, other: str) -> str:
    return f"/s/{quote(name)}/compare?a={quote(one, safe='')}&b={quote(other, safe='')}"


def _is_silent(told: Conversations) -> bool:
    return not any(one.turns for one in told.by_line.values())


READING_ACTIONS = (
    f'<div class="actions">{STAR}<input type="search" id="find" placeholder="Find" '
    'aria-label="Find in this session" autocomplete="off" spellcheck="false">'
    f'<button data-do="filter" title="Filter (f)" aria-label="Filter">{icon("filter")}</button>'
    f'<button data-do="outline" title="Prompts (o)" aria-label="Prompts">{icon("menu")}</button>'
    f'<button data-do="rail" title="Graph (g)" aria-label="Graph">{icon("fork")}</button>'
    f'<button data-do="markdown" title="Copy as Markdown (Y)" aria-label="Copy as Markdown">'
    f"{icon('copy')}</button>"
    f'<button data-do="share" title="Export and share (x)" aria-label="Export and share">'
    f"{icon('share')}</button>"
)
SERVED_ACTIONS = (
    f'{READING_ACTIONS}<button class="edits" data-edit="menu" title="Edit (E)" aria-label="Edit" '
    f'aria-haspopup="dialog">{icon("pen")}</button></div>'
)
RESTORE_ACTIONS = (
    f'{READING_ACTIONS}<button class="edits" data-edit="restore" '
    'title="Put it back where Claude Code finds it">Restore</button></div>'
)
