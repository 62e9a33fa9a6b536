"""A session of a lake to its page: what it came to, and what was said, where that is seen."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from itertools import groupby
from typing import Any

from msgspec import Struct

from plait.view.amounts import many, money_in_words, some, tokens_in_words
from plait.view.page.conversation.blocks import prose, typed
from plait.view.page.conversation.entries import clock
from plait.view.page.figures.charts import row, section, strip, table
from plait.view.page.lake.frame import lake_address, session_place
from plait.view.page.lake.lists import LakeSession, stamp
from plait.view.page.lists.rows import joined, priced
from plait.view.page.lists.search import KINDS
from plait.view.page.markup import attribute, esc, icon, switch, tool_icon

STEP = 200
STATES = {
    "active": "Active line",
    "abandoned": "Abandoned branches",
    "agent": "Agents",
    "service": "Service agents",
    "recovered": "Recovered",
}
CONVERSED = {"prompt": "prompt", "answer": "say"}


class LakePassage(Struct, frozen=True, kw_only=True):
    """Something that was said, called or given back."""

    turn: int | None
    uuid: str | None
    kind: str
    state: str | None
    tool: str | None
    time: datetime | None
    length: int | None
    text: str | None


class LakeStory(Struct, frozen=True, kw_only=True):
    """A session with all that its page shows."""

    session: LakeSession
    version: str | None
    tools: Sequence[Mapping[str, Any]]
    models: Sequence[Mapping[str, Any]]
    states: Mapping[str, int]
    """How many passages stand where; none where its words are not seen."""
    state: str
    turn: int | None
    """The turn from which on they are shown; all without one."""
    start: int
    passages: Sequence[LakePassage]


def session_main(story: LakeStory, *, has_text: bool) -> str:
    """Returns what a session came to, and what was said in it."""
    one = story.session
    git = f'<span class="git">{icon("fork")}{esc(one.git_branch)}</span>' if one.git_branch else ""
    about = joined(
        (
            esc(one.person or ""),
            esc(one.team or ""),
            esc(one.place),
            git,
            f"<code>{esc(one.session)}</code>",
            esc(f"from {one.source}"),
            clock(stamp(one.started)),
        )
    )
    return (
        f'<div class="heading"><h1>{esc(one.words)}</h1></div><p class="sub">{about}</p>'
        f'{_totals(story)}<div class="columns2">{_models(story)}{_tools(story)}</div>'
        f"{_words(story, has_text=has_text)}"
    )


def _totals(story: LakeStory) -> str:
    one = story.session
    cost = priced(one.cost_usd, is_partly=bool(one.unpriced)) or "$0"
    parts = (some(one.branches, "branch", "branches"), some(one.agents, "agent"))
    figures = (
        ("Cost", cost, ""),
        ("Tokens", tokens_in_words(one.tokens), many(one.responses, "response")),
        ("Turns", str(one.turns), ", ".join(filter(None, parts))),
        ("Client", esc(story.version or "unknown"), "that wrote it last"),
    )
    return strip(figures)


def _models(story: LakeStory) -> str:
    rows = (
        row(
            esc(str(one["model"] or "unnamed")),
            tokens_in_words(one["tokens"] or 0),
            "*" if one["cost_usd"] is None else money_in_words(one["cost_usd"]),
        )
        for one in story.models
    )
    return section("Models", table(("Model", "Tokens", "Cost"), rows))


def _tools(story: LakeStory) -> str:
    rows = (
        row(esc(str(one["tool"])), str(one["calls"]), str(one["failed"] or ""))
        for one in story.tools
    )
    return section("Tools", table(("Tool", "Calls", "Failed"), rows))


def _words(story: LakeStory, *, has_text: bool) -> str:
    if not story.states:
        why = "Its words are not shown to you." if has_text else "This lake keeps counts alone."
        return section("What was said", f'<p class="note-line">{why}</p>')
    place = session_place(story.session.source, story.session.session)
    told = "".join(_turn(turn, held) for turn, held in groupby(story.passages, lambda p: p.turn))
    return section("What was said", f"{_where(story, place)}{told}{_onward(story, place)}")


def _where(story: LakeStory, place: str) -> str:
    """Returns the ways to other lines of the session, and to its beginning."""
    ways = [
        (
            lake_address(place, {"state": name}),
            f"{STATES.get(name, name)} {count}",
            name == story.state,
        )
        for name, count in story.states.items()
    ]
    parts = [switch("Where", ways)] if len(ways) > 1 else []
    if story.turn:
        whole = lake_address(place, {"state": story.state})
        parts.append(f'<span>From turn {story.turn} on</span> <a href="{esc(whole)}">All turns</a>')
    return f'<div class="told">{"".join(parts)}</div>' if parts else ""


def _onward(story: LakeStory, place: str) -> str:
    asked, links = {"state": story.state, "turn": story.turn}, []
    if story.start:
        back = lake_address(place, asked, start=max(story.start - STEP, 0))
        links.append(f'<a href="{esc(back)}" rel="prev">Before</a>')
    if len(story.passages) == STEP:
        on = lake_address(place, asked, start=story.start + STEP)
        links.append(f'<a href="{esc(on)}" rel="next">Go on</a>')
    return f'<p class="more-rows">{joined(links)}</p>' if links else ""


def _turn(number: int | None, passages: Iterable[LakePassage]) -> str:
    held = list(passages)
    name = f'<span class="n">{number}</span>' if number else ""
    head = f'<header class="head">{name}{clock(stamp(held[0].time))}</header>'
    return f'<section class="turn">{head}{"".join(map(_passage, held))}</section>'


def _passage(one: LakePassage) -> str:
    text = one.text or ""
    hidden = max((one.length or 0) - len(text), 0)
    more = f'<p class="note-line">{many(hidden, "more character")}</p>' if hidden else ""
    if one.kind in CONVERSED:
        told = typed(text) if one.kind == "prompt" else prose(text)
        inner = f'<div class="prose">{told}</div>{more}'
        return f'<div class="{CONVERSED[one.kind]}"{attribute("id", one.uuid)}>{inner}</div>'
    words, drawing = KINDS.get(one.kind, (one.kind, "note"))
    sign = tool_icon(one.tool) if one.tool else icon(drawing)
    name = f"{one.tool}, {words.lower()}" if one.tool else words
    return (
        f'<details class="behind"><summary>{sign}{esc(name)}</summary>'
        f'<pre class="out">{esc(text)}</pre>{more}</details>'
    )
