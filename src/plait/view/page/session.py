"""The page of a session, exported or served: header, outline, reading column, graph.

A served page is sent in two pieces. The first has what the list of sessions knows already; the
browser draws it while the log is read.
"""

from collections.abc import Sequence

from msgspec import Struct

from plait.conversation.costs import Totals
from plait.conversation.model import Conversation, Conversations
from plait.graph.layout import RowShape
from plait.graph.paths import SPOKEN
from plait.view.formats import (
    format_bytes,
    format_count,
    format_duration,
    format_first_models,
    format_money,
    format_tokens,
)
from plait.view.page.blocks import PageOptions
from plait.view.page.column import (
    OUTLINED,
    ExportedColumn,
    ReadingColumn,
    TurnsPart,
    iter_main_conversations,
    json_attribute,
)
from plait.view.page.entries import render_time
from plait.view.page.frame import (
    STAR_BUTTON,
    render_framed_page,
    render_header_end,
    render_header_start,
    render_tabs,
)
from plait.view.page.graph import render_rail
from plait.view.page.markup import (
    MARK_TITLES,
    attribute,
    esc,
    icon,
    quote_url,
    render_mark,
    session_url,
)
from plait.view.page.raw_lines import PackedLines
from plait.view.text import shorten

CUT = "\x00"
"""Marks a truncated text: it cannot occur in a page, since it is removed from log texts."""
EMPTY = (
    '<div class="nothing"><p>This session is empty.</p>'
    '<p>Its log has lines, but no prompt and no answer: <a href="{raw}">show the lines</a>'
    ".</p></div>"
)


class PageHeading(Struct, frozen=True, kw_only=True):
    """What the header of a page says about its session."""

    session: str
    title: str
    project: str
    directory: str | None = None
    git_branch: str | None = None
    models: tuple[str, ...] = ()
    turns: int = 0
    """Of the main conversations, without agents."""
    totals: Totals
    resume: str | None = None
    """The command that resumes it in Claude Code."""
    again: str | None = None
    """The command that resumes it at a turn, without the turn."""
    mark: str = ""
    """`kept` or `incomplete` if it no longer exists at its source."""


class SessionPage(Struct, frozen=True):
    """The body of a page, and what it fetches later."""

    body: str
    parts: tuple[TurnsPart, ...]


def render_session_page(
    conversations: Conversations,
    rows: Sequence[RowShape],
    heading: PageHeading,
    options: PageOptions,
    lines: Sequence[PackedLines] = (),
    *,
    home: str | None = "../index.html",
) -> SessionPage:
    """Render the page of a session."""
    column = ExportedColumn(conversations, options)
    ranges = [[piece.file, piece.first, piece.last] for piece in lines]
    home_link = ""
    if home:
        home_link = (
            f'<a class="home" href="{home}" title="All sessions" aria-label="All sessions">'
            f"{icon('back')}</a>"
        )
    details = (
        f'{_render_branch_switch(conversations)}<div class="facts">{render_facts(heading)}</div>'
    )
    content = render_header_start(heading.title, home_link)
    content += render_header_end(details, "", actions=ACTIONS)
    header = f'<header class="banner">{content}</header>'
    body = (
        f"{header}"
        '<div class="sheet3">'
        f'<nav class="outline" aria-label="Prompts">{render_outline(conversations.active)}</nav>'
        f'<main data-session="{esc(heading.session)}" data-lines="{json_attribute(ranges)}" '
        f'data-main="{esc(conversations.main)}"{attribute("data-again", heading.again)}>'
        f"{_render_about(heading)}{column.render()}</main>"
        f'<aside class="rail" aria-label="Graph">{render_rail(rows)}</aside></div>'
    )
    return SessionPage(body, tuple(column.parts))


def render_facts(heading: PageHeading) -> str:
    """Render the facts of a session on one line; what does not fit is cut off."""
    totals = heading.totals
    duration = format_duration(totals.working_ms)
    facts_list = [
        format_first_models(heading.models),
        format_count(heading.turns, "turn") if heading.turns else "",
        format_money(totals.cost_usd) if totals.cost_usd else "",
        f"{duration} of work" if duration else "",
        f"{format_tokens(totals.tokens.total)} tokens" if totals.tokens.total else "",
    ]
    items = "".join(f"<span>{esc(fact)}</span>" for fact in facts_list if fact)
    return f"{items}{render_mark(heading.mark)}"


ACTIONS = (
    '<div class="actions"><input type="search" id="find" placeholder="Find" aria-label="Find">'
    f'<button data-do="filter" title="Filter (f)">{icon("filter")}</button>'
    f'<button data-do="outline" title="Prompts (o)">{icon("menu")}</button>'
    f'<button data-do="rail" title="Graph (g)">{icon("fork")}</button>'
    f'<button data-do="theme" title="Light or dark (t)">{icon("moon")}</button>'
    '<button data-do="help" title="Keys (?)" aria-label="Keys">?</button></div>'
)


def _render_about(heading: PageHeading, more: str = "") -> str:
    directory = heading.directory or heading.project
    branch = ""
    if heading.git_branch:
        branch = f'<span class="git">{icon("fork")}{esc(heading.git_branch)}</span>'
    resume = ""
    if heading.resume:
        resume = (
            f'<button class="resume" data-copy="{esc(heading.resume)}" '
            f'title="{esc(heading.resume)}">{icon("copy")}Copy resume command</button>'
        )
    first, last = render_time(heading.totals.first), render_time(heading.totals.last)
    times = f"{first} – {last}" if first and last else first
    unpriced = ", ".join(heading.totals.unpriced)
    unpriced_note = f'<span class="warn">no price for {esc(unpriced)}</span>' if unpriced else ""
    return (
        f'<div class="about-line"><span>{esc(directory)}</span>{branch}<span>{times}</span>'
        f"{more}{unpriced_note}{resume}</div>"
    )


def _render_branch_switch(conversations: Conversations) -> str:
    branches = list(iter_main_conversations(conversations))
    if len(branches) < 2:
        return ""
    options = "".join(
        f'<option value="{esc(branch.id)}">{esc(get_branch_name(branch, conversations))}</option>'
        for branch in branches
    )
    return f'<select class="ways" aria-label="Branch">{options}</select>'


def get_branch_name(conversation: Conversation, conversations: Conversations) -> str:
    """Return the name of a branch of a session."""
    if conversation.id == conversations.main:
        return "active"
    label = shorten(conversation.label or conversation.title or conversation.id, 60)
    return f"{'abandoned' if not conversation.is_active else 'also'}: {label}"


def render_outline(conversation: Conversation) -> str:
    """Render the prompts of a conversation as a list of links."""
    items = "".join(
        f'<li><a href="#{esc(turn.opener.uuid or "")}"><b>{turn.number}</b> '
        f"{esc(shorten(turn.opener.text, OUTLINED)) or '…'}</a></li>"
        for turn in conversation.turns
        if turn.opener
    )
    return f"<ol>{items}</ol>"


def render_page_start(name: str, title: str, bytes_: int) -> tuple[str, str]:
    """Return what is sent before a session is read, and the end of the page."""
    waiting = f'<span class="waiting" role="status">Reading {format_bytes(bytes_)} …</span>'
    opening = f"{render_header_start(title)}{waiting}"
    page = render_framed_page(title, f"{opening}{CUT}", session=name)
    before, _, after = page.partition(CUT)
    return before, after


def render_page_rest(column: ReadingColumn, heading: PageHeading, rail: str, mark: str) -> str:
    """Render everything else: the facts of the header, the tabs, the column, the graph."""
    conversations, name = column.conversations, heading.session
    column_html = column.render()
    models = f'<span class="models">{esc(format_first_models(heading.models))}</span>'
    has_turns = any(conversation.turns for conversation in conversations.by_line.values())
    if not column_html or not has_turns:
        column_html += EMPTY.format(raw=esc(session_url(name, "raw")))
    details = (
        f"{_render_branch_switch(conversations)}{_render_compare_link(heading.session, conversations)}"
        f'<div class="facts">{render_facts(heading)}</div>'
    )
    actions = SERVED_ACTIONS
    if heading.mark:
        is_backup = heading.mark in MARK_TITLES
        actions = RESTORE_ACTIONS if is_backup else f"{READING_ACTIONS}{FIND}"
    served_header_end = render_header_end(
        details, render_tabs(heading.session, "read"), "Read", actions
    )
    return (
        f"{served_header_end}"
        '<div class="sheet3 served">'
        f'<nav class="outline" aria-label="Prompts">{render_outline(conversations.active)}</nav>'
        f'<main id="main" data-session="{esc(name)}" data-served="/s/{esc(quote_url(name))}" '
        f'data-main="{esc(conversations.main)}" data-mark="{esc(mark)}"'
        f"{attribute('data-again', heading.again)}"
        f"{' data-kept' if heading.mark else ''}>{_render_about(heading, models)}{column_html}</main>"
        f'<aside class="rail" aria-label="Graph">{rail}</aside></div>'
    )


def _render_compare_link(name: str, conversations: Conversations) -> str:
    others = [
        conversation
        for conversation in conversations.by_line.values()
        if (
            conversation.kind in SPOKEN
            and conversation.id != conversations.main
            and bool(conversation.turns)
        )
    ]
    if not others:
        return ""
    first, second = (quote_url(line, safe="") for line in (conversations.main, others[-1].id))
    address = f"/s/{quote_url(name)}/compare?a={first}&b={second}"
    return (
        f'<a class="comparing" href="{esc(address)}" aria-label="Compare" '
        'title="Two branches side by side (c)">'
        f"{icon('compare')}<span>Compare</span></a>"
    )


def _render_action(name: str, label: str, title: str, drawing: str) -> str:
    return (
        f'<button data-do="{name}" title="{title}" aria-label="{title.rpartition(" (")[0]}">'
        f"{icon(drawing)}<span>{label}</span></button>"
    )


READING_ACTIONS = (
    f'<div class="actions labelled">{STAR_BUTTON}'
    f"{_render_action('filter', 'Filter', 'Filter (f)', 'filter')}"
    f"{_render_action('outline', 'Prompts', 'Prompts (o)', 'menu')}"
    f"{_render_action('rail', 'Graph', 'Graph (g)', 'fork')}"
    f"{_render_action('markdown', 'Copy', 'Copy as Markdown (Y)', 'copy')}"
    f"{_render_action('share', 'Export', 'Export and share (x)', 'share')}"
)
FIND = (
    '<input type="search" id="find" placeholder="Find" '
    'aria-label="Find in this session" autocomplete="off" spellcheck="false"></div>'
)
SERVED_ACTIONS = (
    f'{READING_ACTIONS}<button class="edits" data-edit="menu" title="Edit (E)" '
    f'aria-haspopup="dialog">{icon("pen")}<span>Edit</span></button>{FIND}'
)
RESTORE_ACTIONS = (
    f'{READING_ACTIONS}<button class="edits" data-edit="restore" '
    f'title="Put it back where Claude Code finds it">{icon("resume")}<span>Restore</span></button>{FIND}'
)
