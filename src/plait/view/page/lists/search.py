"""A question and what answers it to a page: hits with their words marked, ways to narrow it."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from urllib.parse import quote

from msgspec import Struct

from plait.view.amounts import many
from plait.view.page.lists.rows import ago, joined, short_place
from plait.view.page.markup import (
    CHOSEN,
    address,
    asked_in,
    count_in,
    esc,
    icon,
    session_address,
    switch,
    tool_icon,
)
from plait.view.text import shortened

STEP = 20
KINDS = {
    "prompt": ("Prompt", "note"),
    "answer": ("Answer", "plait"),
    "thinking": ("Thinking", "think"),
    "command": ("Command", "shell"),
    "input": ("Tool call", "tool"),
    "output": ("Tool output", "raw"),
    "summary": ("Summary", "knot"),
    "title": ("Title", "file"),
    "note": ("Note", "note"),
}
MOST = 400
LONGEST = 1000
WAYS = {"words": "Words", "exact": "Exact text", "regex": "Expression"}
STATES = {
    "active": "Active line",
    "abandoned": "Abandoned branches",
    "agent": "Agents",
    "service": "Service agents",
}
FACETS = {"kind": "Kind", "project": "Project", "tool": "Tool", "month": "Month"}
EXAMPLES = (
    ("parser error", "both words, anywhere in one passage"),
    ('"parse error"', "these words in this order"),
    ("pars*", "words that begin so; *arse* holds this, parcer~ is much like it"),
    ("lexer OR parser, NOT test", "either, without"),
    ("tool:Bash in:output", "what a tool was given or answered"),
    ("branch:abandoned", "what was left behind"),
    ("after:7d file:app.py model:opus", "when, on which file, by whom"),
)


class SearchQuery(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What is asked, as an address says it."""

    q: str = ""
    way: str = "words"
    kind: str = ""
    project: str = ""
    tool: str = ""
    month: str = ""
    branch: str = ""
    n: int = STEP

    def address(self, **changes: object) -> str:
        """Returns the address that asks for this, with some things changed."""
        return address("/search", self, **changes)

    @property
    def is_narrowed(self) -> bool:
        """Tells whether anything but words is asked for."""
        return any((self.kind, self.project, self.tool, self.month, self.branch))


class SearchHit(Struct, frozen=True, kw_only=True):
    """One turn that answers."""

    name: str
    """Of its session, in addresses."""
    title: str | None
    project: str
    kind: str
    tool: str | None
    state: str | None
    turn: int | None
    uuid: str | None
    time: str | None
    snippet: str
    marks: Sequence[tuple[int, int]]
    more: int


def _hit_row(one: SearchHit, asked: SearchQuery, now: datetime, places: Mapping[str, str]) -> str:
    words, drawing = KINDS.get(one.kind, (one.kind, "note"))
    sign = tool_icon(one.tool) if one.tool else icon(drawing)
    told = [
        f'<span class="kind">{sign}{esc(one.tool or words)}</span>',
        f'<span class="where">{esc(short_place(places.get(one.project, one.project)))}</span>',
        f"turn {one.turn}" if one.turn else "",
        '<span class="left">abandoned</span>' if one.state == "abandoned" else "",
        "agent" if one.state in ("agent", "service") else "",
        ago(one.time, now),
        many(one.more, "more place") if one.more else "",
    ]
    return (
        f'<li><a class="hit" href="{esc(place_of(one, asked))}">'
        f'<b class="title">{esc(shortened(one.title or "No title"))}</b>'
        f'<span class="snippet">{marked(one.snippet, one.marks)}</span></a>'
        f'<div class="sub">{joined(told)}</div></li>'
    )


def place_of(one: SearchHit, asked: SearchQuery) -> str:
    """Returns where a hit opens: at its turn, with its words marked."""
    turn = f"turn={one.turn}&" if one.turn else ""
    words = [one.snippet[start:end] for start, end in one.marks]
    mark = max(words, key=len, default=asked.q)
    anchor = f"#{quote(one.uuid)}" if one.uuid else ""
    return f"{session_address(one.name)}?{turn}mark={quote(mark)}{anchor}"


def marked(text: str, marks: Sequence[tuple[int, int]]) -> str:
    """Returns a text with some of its words marked."""
    parts, place = [], 0
    for start, end in marks:
        if start < place:
            continue
        parts.append(f"{esc(text[place:start])}<mark>{esc(text[start:end])}</mark>")
        place = end
    return "".join(parts) + esc(text[place:])


class SearchResults(Struct, frozen=True, kw_only=True):
    """What answers a question."""

    hits: Sequence[SearchHit] = ()
    total: int = 0
    took_ms: float = 0
    facets: Mapping[str, Mapping[str, int]] = {}
    note: str | None = None
    error: str | None = None
    hints: Sequence[str] = ()


def search_query_in(query: Mapping[str, str]) -> SearchQuery:
    """Returns what an address asks for; what makes no sense is as if it were not said."""
    names = set(SearchQuery.__struct_fields__) - {"n", "way"}
    told, way = asked_in(query, names, LONGEST), query.get("way", "words")
    count = count_in(query, STEP, MOST)
    return SearchQuery(**told, way=way if way in WAYS else "words", n=count)


def search_page(
    asked: SearchQuery, answers: SearchResults | None, now: datetime, places: Mapping[str, str]
) -> str:
    """Returns the page; projects are called by the places that they are in."""
    return (
        '<main class="page" id="main" data-typed="/search"><h1 class="state">Search</h1>'
        f'<div id="results" data-results>{results(asked, answers, now, places)}</div></main>'
    )


def results(
    asked: SearchQuery, answers: SearchResults | None, now: datetime, places: Mapping[str, str]
) -> str:
    """Returns what answers, and the ways to ask for less or more."""
    if answers is None:
        return f"{_ways(asked)}{_examples()}"
    if answers.error is not None:
        return f"{_ways(asked)}{_query_error(answers)}"
    return (
        f'{_ways(asked, answers)}<div class="found-in">'
        f'<nav class="facets" aria-label="Narrow down">{_facets(asked, answers, places)}</nav>'
        f"<div>{_hits(asked, answers, now, places)}</div></div>"
    )


def _ways(asked: SearchQuery, answers: SearchResults | None = None) -> str:
    links = (
        (asked.address(way=way, n=STEP), words, way == asked.way) for way, words in WAYS.items()
    )
    told = shower = ""
    if answers:
        told = f"{many(answers.total, 'passage')} · {answers.took_ms:.0f} ms"
        shower = (
            '<button class="quiet shower" data-show="facets" aria-expanded="false">'
            f"{icon('filter')}Narrow down</button>"
        )
    return (
        f'<div class="told">{switch("What is looked for", links)}{shower}'
        f'<span role="status">{told}</span></div>'
    )


def _examples() -> str:
    rows = "".join(
        f'<dt><a href="{esc(SearchQuery(q=text).address())}"><code>{esc(text)}</code></a></dt>'
        f"<dd>{words}</dd>"
        for text, words in EXAMPLES
    )
    return (
        '<section class="empty"><h2>What can be asked</h2>'
        f'<dl class="examples">{rows}</dl></section>'
    )


def _query_error(answers: SearchResults) -> str:
    told = (answers.error or "")[:1].upper() + (answers.error or "")[1:]
    hints = "".join(f"<li>{_with_code(hint)}</li>" for hint in answers.hints)
    return f'<div class="empty" role="alert"><p>{esc(told)}.</p><ul>{hints}</ul></div>'


def _with_code(hint: str) -> str:
    parts = hint.replace("`--exact`", "“Exact text”").split("`")
    return "".join(
        f"<code>{esc(part)}</code>" if place % 2 else esc(part) for place, part in enumerate(parts)
    )


def _facets(asked: SearchQuery, answers: SearchResults, places: Mapping[str, str]) -> str:
    found = "".join(
        _facet(asked, name, words, counts, places)
        for name, words in FACETS.items()
        if (counts := answers.facets.get(name, {})) or getattr(asked, name)
    )
    states = "".join(
        _facet_link(asked, "branch", state, words, None) for state, words in STATES.items()
    )
    clear = ""
    if asked.is_narrowed:
        plain = SearchQuery(q=asked.q, way=asked.way).address()
        clear = f'<p><a href="{esc(plain)}">Clear all</a></p>'
    return f"{clear}{found}<h2>Where</h2><ul>{states}</ul>"


def _facet(
    asked: SearchQuery, name: str, words: str, counts: Mapping[str, int], places: Mapping[str, str]
) -> str:
    chosen = getattr(asked, name)
    known = dict(counts) if not chosen or chosen in counts else {chosen: 0, **counts}
    ordered = sorted(known.items(), reverse=name == "month", key=lambda one: _order(name, one))
    links = "".join(
        _facet_link(asked, name, value, _named(name, value, places), count)
        for value, count in ordered[:12]
    )
    return f"<h2>{words}</h2><ul>{links}</ul>"


def _order(name: str, one: tuple[str, int]) -> tuple[int, str]:
    return (0, one[0]) if name == "month" else (-one[1], one[0])


def _named(name: str, value: str, places: Mapping[str, str]) -> str:
    if name == "kind":
        return KINDS.get(value, (value, ""))[0]
    return short_place(places.get(value, value)) if name == "project" else value


def _facet_link(asked: SearchQuery, name: str, value: str, words: str, count: int | None) -> str:
    is_chosen = getattr(asked, name) == value
    href = asked.address(**{name: "" if is_chosen else value}, n=STEP)
    number = "" if count is None else f"<small>{count:,}</small>".replace(",", " ")
    current = CHOSEN if is_chosen else ""
    return f'<li><a href="{esc(href)}"{current}><span>{esc(words)}</span>{number}</a></li>'


def _hits(
    asked: SearchQuery, answers: SearchResults, now: datetime, places: Mapping[str, str]
) -> str:
    note = f'<p class="note-line">{esc(answers.note)}</p>' if answers.note else ""
    if not answers.hits:
        return f"{note}{_nothing(asked)}"
    rows = "".join(_hit_row(one, asked, now, places) for one in answers.hits)
    more = ""
    if len(answers.hits) >= asked.n and asked.n < MOST:
        href = asked.address(n=asked.n + STEP)
        more = f'<p class="more-rows"><a href="{esc(href)}" data-more>Show more</a></p>'
    return f'{note}<ol class="hits">{rows}</ol>{more}'


def _nothing(asked: SearchQuery) -> str:
    wider = ""
    if asked.is_narrowed:
        plain = SearchQuery(q=asked.q, way=asked.way).address()
        wider = f'<li><a href="{esc(plain)}">Look everywhere</a></li>'
    return (
        f'<div class="empty"><p>Nothing matches “{esc(asked.q)}”.</p><ul>{wider}'
        "<li>Fewer words find more; <code>word*</code> finds what begins so.</li>"
        f'<li><a href="{esc(asked.address(way="exact", n=STEP))}">Look for this very text in the '
        "logs</a></li></ul></div>"
    )
