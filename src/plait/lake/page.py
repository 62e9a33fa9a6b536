"""The pages of a lake: sessions, one session, search, usage, saved queries."""

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime
from itertools import groupby
from typing import Any, Literal, TypeAlias

from msgspec import Struct

from plait.lake.access import HiddenMonth
from plait.lake.saved_queries import QueryParameter
from plait.search.page import PASSAGE_KINDS, render_marked_text
from plait.view.formats import (
    format_count,
    format_count_if_any,
    format_model,
    format_money,
    format_tokens,
    format_utc,
)
from plait.view.page.blocks import render_prose, render_typed_text
from plait.view.page.charts import (
    render_bar_cell,
    render_row,
    render_scroll_area,
    render_section,
    render_table,
    render_totals,
)
from plait.view.page.entries import render_time
from plait.view.page.frame import render_page, render_top_bar
from plait.view.page.markup import (
    attribute,
    encode_query,
    esc,
    icon,
    quote_url,
    render_hidden_input,
    render_options,
    render_select,
    render_switch,
    tool_icon,
)
from plait.view.page.session_rows import format_cost, format_project, join_facts, render_age
from plait.view.text import shorten

Here: TypeAlias = Literal["sessions", "search", "usage", "questions"]
PLACES: tuple[tuple[Here, str, str], ...] = (
    ("sessions", "/", "Sessions"),
    ("search", "/search", "Search"),
    ("usage", "/usage", "Usage"),
    ("questions", "/questions", "Questions"),
)
SCRIPT = "lake.js"


def render_lake_page(
    title: str, main: str, person: str, *, here: Here | None = None, query: str = ""
) -> str:
    """Render a complete page of a lake, as a person sees it."""
    person_html = (
        f'<span class="who" title="Whose key this is">{esc(person)}</span>' if person else ""
    )
    bar = render_top_bar(PLACES, here, query, "bar", actions=person_html)
    body = f'{bar}<main class="page lake" id="main">{main}</main>'
    return render_page(f"{title} · Plait", body, root="/", is_served=True, script=SCRIPT)


def render_lake_error(message: str, person: str) -> str:
    """Render the page of an error."""
    title = message[:1].upper() + message[1:]
    main = f'<h1>{esc(title)}</h1><p><a href="/">All sessions</a></p>'
    return render_lake_page(title, main, person)


def lake_url(path: str, query: Mapping[str, object], **changes: object) -> str:
    """Return the URL of a query, with some fields changed."""
    fields = {name: value for name, value in {**query, **changes}.items() if value}
    return f"{path}?{encode_query(fields)}" if fields else path


def lake_session_url(source: str, session: str) -> str:
    """Return the URL of a session."""
    return f"/s/{quote_url(source, safe='')}/{quote_url(session, safe='')}"


HEADINGS = {
    "project": "Projects",
    "person": "People",
    "team": "Teams",
    "model": "Models",
    "month": "Months",
}
MOST_SHOWN = 500


def _render_rest(months: Sequence[HiddenMonth]) -> str:
    """Render the monthly usage of the sessions hidden from a person."""
    if not months:
        return ""
    rows = (
        render_row(
            esc(month.month),
            str(month.people),
            str(month.sessions),
            format_tokens(month.tokens),
            format_money(month.cost_usd) if month.cost_usd else "$0",
        )
        for month in months
    )
    table = render_table(("Month", "People", "Sessions", "Tokens", "Cost"), rows)
    note = "monthly totals of sessions you cannot see, each over several people"
    return render_section("Other sessions", table, note)


def render_usage(
    total: Mapping[str, Any],
    rows: Sequence[Mapping[str, Any]],
    query: Mapping[str, Any],
    form: str,
    rest: Sequence[HiddenMonth],
) -> str:
    """Render the usage of the visible sessions, by a dimension, and the rest."""
    by = str(query["by"])
    switch = render_switch(
        "By",
        (
            (lake_url("/usage", query, by=dimension), label, dimension == by)
            for dimension, label in HEADINGS.items()
        ),
    )
    star = "*" if total["unpriced"] else ""
    figures = (
        ("Cost", f"{format_money(total['cost_usd']) if total['cost_usd'] else '$0'}{star}", ""),
        ("Tokens", format_tokens(total["tokens"]), format_count(total["responses"], "response")),
        ("Output", format_tokens(total["output"]), "by models"),
        ("Sessions", str(total["sessions"]), "with a response"),
    )
    maximum = max((row["cost_usd"] for row in rows), default=0.0)
    listed = []
    for row in rows:
        name = str(row["heading"] or "unknown")
        if by in ("project", "model"):
            name = format_project(name) if by == "project" else format_model(name)
        bar = render_bar_cell(row["cost_usd"], maximum)
        tokens = sum(row[part] for part in ("input", "output", "cache_write", "cache_read"))
        cost = format_cost(row["cost_usd"], is_partly=bool(row["unpriced"]))
        listed.append(render_row(esc(name), bar, format_tokens(tokens), cost))
    table = render_table((HEADINGS[by][:-1], "", "Tokens", "Cost"), listed)
    return (
        f'<div class="heading"><h1>Usage</h1></div>{form}{render_totals(figures)}'
        f"{render_section(HEADINGS[by], f'<div class=status-text>{switch}</div>{table}')}{_render_rest(rest)}"
    )


def render_questions(queries: Iterable[tuple[str, str]]) -> str:
    """Render the saved queries by name."""
    rows = "".join(
        f'<li><div class="naming"><a href="/questions/{esc(name)}">{esc(_capitalize(asks))}</a>'
        f'<div class="sub">{esc(name)}</div></div></li>'
        for name, asks in queries
    )
    note = '<p class="note-line">Results cover the sessions visible to you.</p>'
    head = '<div class="heading"><h1>Questions</h1></div>'
    return f'{head}{note}<ol class="recent lake-rows">{rows}</ol>'


def render_question(
    name: str,
    asks: str,
    parameters: Mapping[str, QueryParameter],
    values: Mapping[str, str],
    columns: Sequence[str],
    rows: Sequence[Sequence[object]],
) -> str:
    """Render a saved query, its parameters and its result."""
    fields = "".join(
        _render_field(row, parameter, values.get(row)) for row, parameter in parameters.items()
    )
    form = f'<form class="filters">{fields}<button class="quiet">Ask</button></form>'
    row_html = []
    for first, *others in (row or ("",) for row in rows[:MOST_SHOWN]):
        cells = (
            ("words", _render_cell(value)) if isinstance(value, str) else _render_cell(value)
            for value in others
        )
        row_html.append(render_row(_render_cell(first), *cells))
    body = render_table([row.replace("_", " ") for row in columns], row_html) if rows else _NO_ROWS
    count = (
        f"First {MOST_SHOWN} rows." if len(rows) > MOST_SHOWN else format_count(len(rows), "row")
    )
    status = f'<div class="status-text"><span role="status">{count}</span></div>'
    head = f'<div class="heading"><h1>{esc(_capitalize(asks))}</h1></div>'
    return f"{head}{form}{status}{render_scroll_area(body, 'The answer')}"


_NO_ROWS = '<div class="empty"><p>No results.</p></div>'


def _capitalize(asks: str) -> str:
    return asks[:1].upper() + asks[1:]


def _render_field(name: str, parameter: QueryParameter, value: str | None) -> str:
    title = f'title="{esc(parameter.says)}" aria-label="{esc(parameter.says or name)}"'
    if parameter.one_of:
        chosen = value or str(parameter.default or "")
        listed = render_options(((choice, choice) for choice in parameter.one_of), chosen)
        return f'<select name="{esc(name)}" {title}>{listed}</select>'
    default = "" if parameter.default is None else str(parameter.default)
    hint = f"{name} {default}".strip()
    return (
        f'<input type="search" name="{esc(name)}" {title} placeholder="{esc(hint)}" '
        f'value="{esc(value or "")}">'
    )


def _render_cell(value: object) -> str:
    match value:
        case None:
            return ""
        case bool():
            return "yes" if value else "no"
        case int():
            return f"{value:,}"
        case float():
            return f"{value:,.4f}".rstrip("0").rstrip(".")
        case datetime():
            return format_utc(value)
        case date():
            return value.isoformat()
        case _:
            return esc(str(value)[:400])


SESSIONS_STEP = 50
MOST_FOUND = 100


class LakeSession(Struct, frozen=True, kw_only=True):
    """A session of a lake, as lists show it."""

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
    def display_title(self) -> str:
        """Its title, or its id where the title is hidden."""
        return shorten(self.title or "", 160) or f"Session {self.session[:8]}"

    @property
    def project_name(self) -> str:
        """The name of its project."""
        return format_project(self.directory or self.project or "")

    @property
    def branch_html(self) -> str:
        """Its Git branch; empty if it has none."""
        name = self.git_branch
        return f'<span class="git">{icon("fork")}{esc(name)}</span>' if name else ""


class LakeHit(Struct, frozen=True, kw_only=True):
    """A passage that matches."""

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


class FilterChoices(Struct, frozen=True):
    """The people and projects whose sessions are visible."""

    people: Sequence[str]
    projects: Sequence[str]


def format_optional_utc(time: datetime | None) -> str | None:
    """Format a time for programs, None for none."""
    return format_utc(time) if time else None


def render_sessions(
    rows: Sequence[LakeSession],
    total: int,
    query: Mapping[str, Any],
    choices: FilterChoices,
    hidden_months: Sequence[HiddenMonth],
    now: datetime,
) -> str:
    """Render the list of sessions with its filters, and counts of the rest below."""
    if rows:
        listed = "".join(_render_session_row(session, now) for session in rows)
        body = f'<ol class="recent lake-rows">{listed}</ol>'
    else:
        reason = "No matching sessions." if choices.projects else "No sessions are visible to you."
        body = f'<div class="empty" role="status"><p>{reason}</p></div>'
    count = f'<span class="sub" role="status">{format_count(total, "session")}</span>'
    head = f'<div class="heading"><h1>Sessions</h1>{count}</div>'
    start = int(query.get("start") or 0)
    links = _render_step_links(
        "/", query, start, SESSIONS_STEP, ("Newer", "Older"), has_more=start + SESSIONS_STEP < total
    )
    return f"{head}{render_filters('/', query, choices)}{body}{links}{_render_rest(hidden_months)}"


def _render_step_links(
    path: str,
    query: Mapping[str, object],
    start: int,
    step: int,
    labels: tuple[str, str],
    *,
    has_more: bool,
) -> str:
    """Render links to the rows before and after those shown."""
    links = []
    if start:
        previous_url = lake_url(path, query, start=max(start - step, 0))
        links.append(f'<a href="{esc(previous_url)}" rel="prev">{labels[0]}</a>')
    if has_more:
        next_url = lake_url(path, query, start=start + step)
        links.append(f'<a href="{esc(next_url)}" rel="next">{labels[1]}</a>')
    return f'<p class="more-rows">{join_facts(links)}</p>' if links else ""


def render_filters(
    path: str, query: Mapping[str, Any], choices: FilterChoices, content: str = ""
) -> str:
    """Render the filters for person and project."""
    hidden = "".join(
        render_hidden_input(name, str(query[name])) for name in ("q", "by") if query.get(name)
    )
    people = {name: name for name in choices.people}
    projects = {name: format_project(name) for name in choices.projects}
    return (
        f'<form class="filters" action="{path}">{hidden}{content}'
        f"{render_select('person', 'Person', 'All people', people, query.get('person') or '')}"
        f"{render_select('project', 'Project', 'All projects', projects, query.get('project') or '')}"
        '<button class="quiet">Show</button></form>'
    )


def _render_session_row(session: LakeSession, now: datetime) -> str:
    css = "" if session.title else ' class="untitled"'
    facts = join_facts(
        (
            esc(session.person or ""),
            esc(session.project_name),
            session.branch_html,
            format_count_if_any(session.turns, "turn"),
            format_count_if_any(session.branches, "branch", "branches"),
            format_count_if_any(session.agents, "agent"),
        )
    )
    cost = format_cost(session.cost_usd, is_partly=bool(session.unpriced))
    return (
        f'<li><div class="naming"><a href="{lake_session_url(session.source, session.session)}"{css}>'
        f'{esc(session.display_title)}</a><div class="sub">{facts}</div></div>'
        f'<span class="num">{format_tokens(session.tokens) if session.tokens else ""}</span>'
        f'<span class="num">{cost}</span><span class="num">{render_age(format_optional_utc(session.ended), now)}</span></li>'
    )


def render_search(
    hits: Sequence[LakeHit],
    total: int,
    query: Mapping[str, Any],
    choices: FilterChoices,
    now: datetime,
    *,
    has_text: bool,
) -> str:
    """Render the passages that match, the newest first."""
    words = str(query.get("q") or "")
    head = '<h1 class="state">Search</h1>'
    if not has_text:
        return f'{head}<div class="empty"><p>This lake stores counts only, no text.</p></div>'
    kinds = {name: labels for name, (labels, _) in PASSAGE_KINDS.items()}
    content = render_select("kind", "Kind", "Everything", kinds, query.get("kind") or "")
    form = render_filters("/search", query, choices, content)
    if not words.strip():
        note = "A passage must contain all words. Newest passages come first."
        return f'{head}{form}<div class="empty"><p>{note}</p></div>'
    if not hits:
        nothing = f"No passage visible to you contains “{esc(words)}”."
        return f'{head}{form}<div class="empty" role="status"><p>{nothing}</p></div>'
    first = f"First {len(hits)} of " if total > len(hits) else ""
    labels = f'<div class="status-text"><span role="status">{first}{format_count(total, "passage")}</span></div>'
    rows = "".join(_render_hit(hit, words, now) for hit in hits)
    return f'{head}{form}{labels}<ol class="hits">{rows}</ol>'


def _render_hit(hit: LakeHit, text: str, now: datetime) -> str:
    name, drawing = PASSAGE_KINDS.get(hit.kind, (hit.kind, "note"))
    hit_icon = tool_icon(hit.tool) if hit.tool else icon(drawing)
    facts = join_facts(
        (
            f'<span class="kind">{hit_icon}{esc(hit.tool or name)}</span>',
            esc(hit.person or ""),
            f'<span class="where">{esc(format_project(hit.directory or hit.project or ""))}</span>',
            f"turn {hit.turn}" if hit.turn else "",
            '<span class="left">abandoned</span>' if hit.state == "abandoned" else "",
            render_age(format_optional_utc(hit.time), now),
        )
    )
    title = shorten(hit.title or "", 160) or f"Session {hit.session[:8]}"
    snippet = " ".join(hit.snippet.split())
    fields = {"state": hit.state or "", "turn": hit.turn}
    url = lake_url(lake_session_url(hit.source, hit.session), fields)
    words = text.split()
    pattern = "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True))
    marks = [match.span() for match in re.finditer(pattern, snippet, re.IGNORECASE)]
    return (
        f'<li><a class="hit" href="{esc(url)}"><b class="title">{esc(title)}</b>'
        f'<span class="snippet">{render_marked_text(snippet, marks, hit.kind)}</span></a>'
        f'<div class="sub">{facts}</div></li>'
    )


PASSAGES_STEP = 200
STATES = {
    "active": "Active branch",
    "abandoned": "Abandoned branches",
    "agent": "Agents",
    "service": "Background requests",
    "recovered": "Recovered",
}
CONVERSED = {"prompt": "prompt", "answer": "say"}


class LakePassage(Struct, frozen=True, kw_only=True):
    """Something that was said, called or returned."""

    turn: int | None
    uuid: str | None
    kind: str
    state: str | None
    tool: str | None
    time: datetime | None
    length: int | None
    text: str | None


class LakeSessionPage(Struct, frozen=True, kw_only=True):
    """A session with everything its page shows."""

    session: LakeSession
    version: str | None
    tools: Sequence[Mapping[str, Any]]
    models: Sequence[Mapping[str, Any]]
    states: Mapping[str, int]
    """The number of passages by state of their line; none if the text is hidden."""
    state: str
    turn: int | None
    """The turn from which they are shown; all without one."""
    start: int
    passages: Sequence[LakePassage]


def render_session(page: LakeSessionPage, *, has_text: bool) -> str:
    """Render a session: totals, models, tools, and its text where it is visible."""
    session = page.session
    facts = join_facts(
        (
            esc(session.person or ""),
            esc(session.team or ""),
            esc(session.project_name),
            session.branch_html,
            f"<code>{esc(session.session)}</code>",
            esc(f"from {session.source}"),
            render_time(format_optional_utc(session.started)),
        )
    )
    if not page.states:
        reason = "Its text is not visible to you." if has_text else "This lake stores counts only."
        text = render_section("Conversation", f'<p class="note-line">{reason}</p>')
    else:
        url = lake_session_url(session.source, session.session)
        fields = {"state": page.state, "turn": page.turn}
        has_more = len(page.passages) == PASSAGES_STEP
        links = _render_step_links(
            url, fields, page.start, PASSAGES_STEP, ("Previous", "Next"), has_more=has_more
        )
        turns = "".join(
            _render_turn(turn, passages)
            for turn, passages in groupby(page.passages, lambda passage: passage.turn)
        )
        text = render_section("Conversation", f"{_render_branch_switch(page, url)}{turns}{links}")
    cost = format_cost(session.cost_usd, is_partly=bool(session.unpriced)) or "$0"
    parts = (
        format_count_if_any(session.branches, "branch", "branches"),
        format_count_if_any(session.agents, "agent"),
    )
    figures = (
        ("Cost", cost, ""),
        ("Tokens", format_tokens(session.tokens), format_count(session.responses, "response")),
        ("Turns", str(session.turns), ", ".join(filter(None, parts))),
        ("Client", esc(page.version or "unknown"), "last version used"),
    )
    model_rows = (
        render_row(
            esc(str(model["model"] or "unnamed")),
            format_tokens(model["tokens"] or 0),
            "*" if model["cost_usd"] is None else format_money(model["cost_usd"]),
        )
        for model in page.models
    )
    tool_rows = (
        render_row(esc(str(tool["tool"])), str(tool["calls"]), str(tool["failed"] or ""))
        for tool in page.tools
    )
    models = render_section("Models", render_table(("Model", "Tokens", "Cost"), model_rows))
    tools = render_section("Tools", render_table(("Tool", "Calls", "Failed"), tool_rows))
    return (
        f'<div class="heading"><h1>{esc(session.display_title)}</h1></div><p class="sub">{facts}</p>'
        f'{render_totals(figures)}<div class="columns2">{models}{tools}</div>'
        f"{text}"
    )


def _render_branch_switch(page: LakeSessionPage, url: str) -> str:
    """Render links to other lines of the session, and to its beginning."""
    choices = [
        (
            lake_url(url, {"state": name}),
            f"{STATES.get(name, name)} {count}",
            name == page.state,
        )
        for name, count in page.states.items()
    ]
    parts = [render_switch("Where", choices)] if len(choices) > 1 else []
    if page.turn:
        all_turns_url = lake_url(url, {"state": page.state})
        parts.append(
            f'<span>From turn {page.turn} on</span> <a href="{esc(all_turns_url)}">All turns</a>'
        )
    return f'<div class="status-text">{"".join(parts)}</div>' if parts else ""


def _render_turn(number: int | None, passages: Iterable[LakePassage]) -> str:
    turn_passages = list(passages)
    name = f'<span class="n">{number}</span>' if number else ""
    head = f'<header class="head">{name}{render_time(format_optional_utc(turn_passages[0].time))}</header>'
    return f'<section class="turn">{head}{"".join(map(_render_passage, turn_passages))}</section>'


def _render_passage(passage: LakePassage) -> str:
    text = passage.text or ""
    hidden = max((passage.length or 0) - len(text), 0)
    more = f'<p class="note-line">{format_count(hidden, "more character")}</p>' if hidden else ""
    if passage.kind in CONVERSED:
        html = render_typed_text(text) if passage.kind == "prompt" else render_prose(text)
        content = f'<div class="prose">{html}</div>{more}'
        return (
            f'<div class="{CONVERSED[passage.kind]}"{attribute("id", passage.uuid)}>{content}</div>'
        )
    label, drawing = PASSAGE_KINDS.get(passage.kind, (passage.kind, "note"))
    kind_icon = tool_icon(passage.tool) if passage.tool else icon(drawing)
    name = f"{passage.tool}, {label.lower()}" if passage.tool else label
    return (
        f'<details class="behind"><summary>{kind_icon}{esc(name)}</summary>'
        f'<pre class="out">{esc(text)}</pre>{more}</details>'
    )
