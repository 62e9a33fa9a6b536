"""Sessions and passages of a lake to lists: filters, rows, words that are marked."""

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from msgspec import Struct

from plait.view.amounts import many, some, tokens_in_words
from plait.view.forms import stamp_of
from plait.view.page.figures.charts import section
from plait.view.page.lake.figures import RestMonth, rest_table
from plait.view.page.lake.frame import kept_fields, lake_address, session_place
from plait.view.page.lists.rows import ago, joined, priced, short_place
from plait.view.page.lists.search import KINDS, marked
from plait.view.page.markup import esc, icon, select, tool_icon
from plait.view.text import shortened

STEP = 50
MOST_FOUND = 100


class LakeSession(Struct, frozen=True, kw_only=True):
    """What a list says of a session of a lake."""

    source: str
    session: str
    person: str | None = ""
    team: str | None = ""
    project: str | None = ""
    directory: str | None = ""
    git_branch: str | None = ""
    title: str | None = None
    started: datetime | None = None
    ended: datetime | None = None
    branches: int | None = 0
    agents: int | None = 0
    turns: int = 0
    responses: int = 0
    tokens: int = 0
    cost_usd: float | None = None
    unpriced: int = 0

    @property
    def words(self) -> str:
        """What it is called; by its id where its title is not seen."""
        return shortened(self.title or "", 160) or f"Session {self.session[:8]}"

    @property
    def place(self) -> str:
        """What people call its project."""
        return short_place(self.directory or self.project or "")


class LakeHit(Struct, frozen=True, kw_only=True):
    """A passage that holds what was looked for."""

    source: str
    session: str
    person: str | None
    project: str | None
    directory: str | None
    title: str | None
    turn: int | None
    uuid: str | None
    kind: str
    state: str | None
    tool: str | None
    time: datetime | None
    snippet: str


class Among(Struct, frozen=True):
    """The people and projects of which sessions are seen."""

    people: Sequence[str]
    projects: Sequence[str]


def stamp(time: datetime | None) -> str | None:
    """Returns a moment as programs write it."""
    return stamp_of(time) if time else None


def sessions_main(
    rows: Sequence[LakeSession],
    total: int,
    asked: Mapping[str, Any],
    among: Among,
    rest: Sequence[RestMonth],
    now: datetime,
) -> str:
    """Returns the list of sessions, what narrows it, and counts of the rest below it."""
    listed = "".join(_row(one, now) for one in rows)
    body = f'<ol class="recent lake-rows">{listed}</ol>' if rows else _nothing(bool(among.projects))
    told = f'<span class="sub" role="status">{many(total, "session")}</span>'
    head = f'<div class="heading"><h1>Sessions</h1>{told}</div>'
    return f"{head}{chooser('/', asked, among)}{body}{_pages(asked, total)}{_rest(rest)}"


def chooser(path: str, asked: Mapping[str, Any], among: Among, inner: str = "") -> str:
    """Returns what narrows down to a person and a project."""
    people = {one: one for one in among.people}
    projects = {one: short_place(one) for one in among.projects}
    return (
        f'<form class="filters" action="{path}">{kept_fields(asked, "q", "by")}{inner}'
        f"{select('person', 'Person', 'All people', people, asked.get('person') or '')}"
        f"{select('project', 'Project', 'All projects', projects, asked.get('project') or '')}"
        '<button class="quiet">Show</button></form>'
    )


def _row(one: LakeSession, now: datetime) -> str:
    plain = "" if one.title else ' class="untitled"'
    git = f'<span class="git">{icon("fork")}{esc(one.git_branch)}</span>' if one.git_branch else ""
    told = joined(
        (
            esc(one.person or ""),
            esc(one.place),
            git,
            some(one.turns, "turn"),
            some(one.branches, "branch", "branches"),
            some(one.agents, "agent"),
        )
    )
    cost = priced(one.cost_usd, is_partly=bool(one.unpriced))
    return (
        f'<li><div class="naming"><a href="{session_place(one.source, one.session)}"{plain}>'
        f'{esc(one.words)}</a><div class="sub">{told}</div></div>'
        f'<span class="num">{tokens_in_words(one.tokens) if one.tokens else ""}</span>'
        f'<span class="num">{cost}</span><span class="num">{ago(stamp(one.ended), now)}</span></li>'
    )


def _pages(asked: Mapping[str, Any], total: int) -> str:
    start = int(asked.get("start") or 0)
    links = []
    if start:
        back = lake_address("/", asked, start=max(start - STEP, 0))
        links.append(f'<a href="{esc(back)}" rel="prev">Newer</a>')
    if start + STEP < total:
        on = lake_address("/", asked, start=start + STEP)
        links.append(f'<a href="{esc(on)}" rel="next">Older</a>')
    return f'<p class="more-rows">{joined(links)}</p>' if links else ""


def _rest(rest: Sequence[RestMonth]) -> str:
    if not rest:
        return ""
    note = "sessions that you do not see, whole months of several people together"
    return section("The rest", rest_table(rest), note)


def _nothing(has_any: bool) -> str:
    words = "No session is like that." if has_any else "There is no session that you may see."
    return f'<div class="empty" role="status"><p>{words}</p></div>'


def search_main(
    hits: Sequence[LakeHit],
    total: int,
    asked: Mapping[str, Any],
    among: Among,
    now: datetime,
    *,
    has_text: bool,
) -> str:
    """Returns what holds the words that are looked for, the newest first."""
    words = str(asked.get("q") or "")
    head = '<h1 class="state">Search</h1>'
    if not has_text:
        return f'{head}<div class="empty"><p>This lake keeps counts alone: no words.</p></div>'
    kinds = {name: told for name, (told, _) in KINDS.items()}
    inner = select("kind", "Kind", "Everything", kinds, asked.get("kind") or "")
    form = chooser("/search", asked, among, inner)
    if not words.strip():
        note = "All words must stand in a passage; the newest passages come first."
        return f'{head}{form}<div class="empty"><p>{note}</p></div>'
    if not hits:
        nothing = f"Nothing that you may read holds “{esc(words)}”."
        return f'{head}{form}<div class="empty" role="status"><p>{nothing}</p></div>'
    first = f"First {len(hits)} of " if total > len(hits) else ""
    told = f'<div class="told"><span role="status">{first}{many(total, "passage")}</span></div>'
    rows = "".join(_hit(one, words, now) for one in hits)
    return f'{head}{form}{told}<ol class="hits">{rows}</ol>'


def _hit(one: LakeHit, words: str, now: datetime) -> str:
    name, drawing = KINDS.get(one.kind, (one.kind, "note"))
    sign = tool_icon(one.tool) if one.tool else icon(drawing)
    told = joined(
        (
            f'<span class="kind">{sign}{esc(one.tool or name)}</span>',
            esc(one.person or ""),
            f'<span class="where">{esc(short_place(one.directory or one.project or ""))}</span>',
            f"turn {one.turn}" if one.turn else "",
            '<span class="left">abandoned</span>' if one.state == "abandoned" else "",
            ago(stamp(one.time), now),
        )
    )
    title = shortened(one.title or "", 160) or f"Session {one.session[:8]}"
    text = " ".join(one.snippet.split())
    at = {"state": one.state or "", "turn": one.turn}
    anchor = lake_address(session_place(one.source, one.session), at)
    return (
        f'<li><a class="hit" href="{esc(anchor)}"><b class="title">{esc(title)}</b>'
        f'<span class="snippet">{marked(text, _marks(text, words.split()))}</span></a>'
        f'<div class="sub">{told}</div></li>'
    )


def _marks(text: str, words: Iterable[str]) -> list[tuple[int, int]]:
    looked = "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True))
    return [found.span() for found in re.finditer(looked, text, re.IGNORECASE)]
