"""A session's reading column to its served page: what is known at once, then all the rest.

The page goes out in two pieces. Its beginning says what the list of sessions knows already;
the browser draws it while the log is read.
"""

from urllib.parse import quote

from msgspec import Struct

from plait.conversation.model import Conversation, Conversations
from plait.graph.paths import SPOKEN
from plait.view.amounts import bytes_in_words
from plait.view.page.conversation.column import ReadingColumn
from plait.view.page.conversation.page import PageHeading, about, facts, outline, switch
from plait.view.page.forms import session_address
from plait.view.page.frame import framed
from plait.view.page.markup import esc, icon
from plait.view.page.tabs.head import share_dialog, tabs
from plait.view.text import model_names

CUT = "\x00"
"""Stands in no page: texts of the log have lost it."""
EMPTY = (
    '<div class="nothing"><p>Nothing was said in this session.</p>'
    '<p>Its log holds lines, but no prompt and no answer: <a href="{raw}">read them as they are</a>'
    ".</p></div>"
)


class Glance(Struct, frozen=True):
    """What is known of a session before it is read."""

    name: str
    """In addresses."""
    title: str
    bytes: int


def page_beginning(glance: Glance) -> tuple[str, str]:
    """Returns what goes out at once, and what ends the page."""
    size = bytes_in_words(glance.bytes)
    title = esc(glance.title)
    opening = (
        f'<section class="top" aria-label="This session"><h1 title="{title}">{title}</h1>'
        f'<span class="waiting" role="status">Reading {size} …</span>'
    )
    whole = framed(glance.title, f"{opening}{CUT}", side=glance.name)
    before, _, after = whole.partition(CUT)
    return before, after


def page_rest(reading: ReadingColumn, heading: PageHeading, rail: str, mark: str) -> str:
    """Returns all that follows: the facts of the header, the tabs, the column, the graph."""
    told, name = reading.told, heading.session
    column = reading.column()
    models = f'<span class="models">{esc(model_names(heading.models))}</span>'
    if not column or _is_silent(told):
        column += EMPTY.format(raw=esc(session_address(name, "raw")))
    return (
        f"{_head_rest(heading, told)}</section>{tabs(name, 'read')}"
        f'<section aria-label="Where and when">{about(heading, models)}</section>'
        '<div class="sheet3 served">'
        f'<main id="main" data-session="{esc(name)}" data-served="/s/{esc(quote(name))}" '
        f'data-main="{esc(told.main)}" data-mark="{esc(mark)}">{column}</main>'
        f'<aside class="rail" aria-label="Graph">{rail}</aside>'
        f'<nav class="outline" aria-label="Prompts">{outline(told.active)}</nav></div>'
        f"{share_dialog(name)}"
    )


def _head_rest(heading: PageHeading, told: Conversations) -> str:
    return (
        f'{switch(told)}{_compare_link(heading.session, told)}<div class="facts">{facts(heading)}'
        f"</div>{ACTIONS}"
    )


def _compare_link(name: str, told: Conversations) -> str:
    others = [one for one in told.by_line.values() if _is_other_way(one, told)]
    if not others:
        return ""
    address = _compare_address(name, told.main, others[-1].id)
    return (
        f'<a class="comparing" href="{esc(address)}" title="Two branches side by side (c)">'
        f"{icon('compare')}<span>Compare</span></a>"
    )


def _is_other_way(one: Conversation, told: Conversations) -> bool:
    return one.kind in SPOKEN and one.id != told.main and bool(one.turns)


def _compare_address(name: str, one: str, other: str) -> str:
    return f"/s/{quote(name)}/compare?a={quote(one, safe='')}&b={quote(other, safe='')}"


def _is_silent(told: Conversations) -> bool:
    return not any(one.turns for one in told.by_line.values())


ACTIONS = (
    '<div class="actions"><input type="search" id="find" placeholder="Find" '
    'aria-label="Find in this session" autocomplete="off" spellcheck="false">'
    f'<button data-do="filter" title="Filter (f)" aria-label="Filter">{icon("filter")}</button>'
    f'<button data-do="outline" title="Prompts (o)" aria-label="Prompts">{icon("menu")}</button>'
    f'<button data-do="rail" title="Graph (g)" aria-label="Graph">{icon("fork")}</button>'
    f'<button data-do="share" title="Export and share (x)" aria-label="Export and share">'
    f"{icon('share')}</button></div>"
)
