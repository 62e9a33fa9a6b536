"""A question and what answers it to a page: hits with their words marked, ways to narrow it."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from urllib.parse import quote, urlencode

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
    with_code,
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
MOST_MARKS = 16
LONGEST = 1000
OUTCOMES = {
    "failed": "Failed",
    "rejected": "Rejected by you",
    "interrupted": "Interrupted",
    "launched": "In the background",
}
BAD = ("failed", "rejected", "interrupted")
LISTS = (
    ({"tool": "Bash", "outcome": "failed"}, "Failing commands"),
    ({"tool": "ExitPlanMode", "outcome": "rejected"}, "Plans that you rejected"),
    ({"outcome": "failed"}, "All that failed"),
    ({"outcome": "rejected"}, "All that you rejected"),
    ({"outcome": "interrupted"}, "All that was interrupted"),
    ({"outcome": "launched"}, "All in the background"),
)
"""What is asked for without any word."""
SORTS = {"relevance": "Relevance", "time": "Time"}
WAYS = {"words": "Words", "exact": "Exact text", "regex": "Expression"}
STATES = {
    "active": "Active line",
    "abandoned": "Abandoned branches",
    "agent": "Agents",
    "service": "Service agents",
}
FACETS = {
    "kind": "Kind",
    "outcome": "Outcome",
    "project": "Project",
    "tool": "Tool",
    "month": "Month",
}
EXAMPLES = (
    ("parser error", "both words, anywhere in one passage"),
    ('"parse error"', "these words in this order"),
    ("pars*", "words that begin so; *arse* holds this, parcer~ is much like it"),
    ("lexer OR parser, NOT test", "either, without"),
    ("tool:Bash in:output", "what a tool was given or answered"),
    ("tool:Bash outcome:failed", "what became of it: rejected, interrupted, launched, too"),
    ("branch:abandoned", "what was left behind"),
    ("after:7d file:app.py model:opus", "when, on which file, by whom"),
)


class SearchQuery(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What is asked, as an address says it."""

    q: str = ""
    way: str = "words"
    kind: str = ""
    outcome: str = ""
    project: str = ""
    tool: str = ""
    month: str = ""
    branch: str = ""
    starred: str = ""
    sort: str = ""
    each: str = ""
    n: int = STEP

    def address(self, **changes: object) -> str:
        """Returns the address that asks for this, with some things changed."""
        return address("/search", self, **changes)

    @property
    def is_narrowed(self) -> bool:
        """Tells whether anything but words is asked for."""
        asked = (self.kind, self.outcome, self.project, self.tool, self.month, self.branch)
        return any((*asked, self.starred))

    @property
    def is_asking(self) -> bool:
        """Tells whether anything is asked for."""
        return bool(self.q.strip()) or (self.is_narrowed and self.way == "words")


class SearchHit(Struct, frozen=True, kw_only=True):
    """One turn that answers."""

    name: str
    """Of its session, in addresses."""
    session: str = ""
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
    outcome: str | None = None
    looks: Sequence[str] = ()
    """What is marked where it opens, as a query writes it; without it, what the snippet marks."""


def _hit_row(one: SearchHit, asked: SearchQuery, now: datetime, places: Mapping[str, str]) -> str:
    words, drawing = KINDS.get(one.kind, (one.kind, "note"))
    sign = tool_icon(one.tool) if one.tool else icon(drawing)
    told = [
        f'<span class="kind">{sign}{esc(one.tool or words)}</span>',
        f'<span class="where">{esc(short_place(places.get(one.project, one.project)))}</span>',
        f"turn {one.turn}" if one.turn else "",
        _outcome_told(one.outcome) if one.outcome else "",
        '<span class="left">abandoned</span>' if one.state == "abandoned" else "",
        "agent" if one.state in ("agent", "service") else "",
        ago(one.time, now),
        _more_places(one, asked) if one.more else "",
    ]
    return (
        f'<li><a class="hit" href="{esc(place_of(one, asked))}">'
        f'<b class="title">{esc(shortened(one.title or "No title"))}</b>'
        f'<span class="snippet">{marked(one.snippet, one.marks)}</span></a>'
        f'<div class="sub">{joined(told)}</div></li>'
    )


def _outcome_told(outcome: str) -> str:
    kind = "warn" if outcome in BAD else "kind"
    return f'<span class="{kind}">{esc(OUTCOMES.get(outcome, outcome).lower())}</span>'


def _more_places(one: SearchHit, asked: SearchQuery) -> str:
    """Returns a link to every passage of a session that answers."""
    within = f"session:{one.session[:8]}" if one.session else ""
    href = asked.address(q=f"{asked.q} {within}".strip(), each="1", n=STEP)
    return f'<a href="{esc(href)}">{many(one.more, "more place")}</a>'


def place_of(one: SearchHit, asked: SearchQuery) -> str:
    """Returns where a hit opens: at its turn, with all words marked that were asked for."""
    texts = dict.fromkeys(one.snippet[start:end] for start, end in one.marks)
    marks = [("mark", look) for look in one.looks] or [("text", text) for text in texts]
    told = urlencode([*([("turn", one.turn)] if one.turn else ()), *marks[:MOST_MARKS]])
    anchor = f"#{quote(one.uuid)}" if one.uuid else ""
    return f"{session_address(one.name)}{'?' if told else ''}{told}{anchor}"


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
    listed: int = 0
    is_whole: bool = True
    is_each: bool = False
    sort: str = "relevance"
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
        return f"{_ways(asked)}{_lists()}{_examples()}"
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
        told = f"{_counted(asked, answers)} · {answers.took_ms:.0f} ms"
        shower = (
            '<button class="quiet shower" data-show="facets" aria-expanded="false">'
            f"{icon('filter')}Narrow down</button>"
        )
    return (
        f'<div class="told">{switch("What is looked for", links)}{_sorts(asked, answers)}{shower}'
        f'<span role="status">{told}</span></div>'
    )


def _sorts(asked: SearchQuery, answers: SearchResults | None) -> str:
    if answers is None or answers.error is not None or asked.way != "words":
        return ""
    links = (
        (asked.address(sort=sort, n=STEP), words, sort == answers.sort)
        for sort, words in SORTS.items()
    )
    return switch("Order", links)


def _counted(asked: SearchQuery, answers: SearchResults) -> str:
    """Returns how much is listed of how much there is, with a way to every passage."""
    shown = len(answers.hits)
    if answers.is_each:
        are_calls = all(one.kind == "input" for one in answers.hits)
        noun = "call" if are_calls and answers.hits else "passage"
        first = many(shown, noun)
        return first if answers.is_whole else f"First {shown} of {many(answers.total, noun)}"
    count = answers.listed if answers.is_whole else answers.total
    every = many(count, "passage")
    if not shown:
        return every
    if count > shown:
        every = f'<a href="{esc(asked.address(each="1", n=STEP))}">{every}</a>'
    turns = many(shown, "turn")
    return f"{every} in {turns}" if answers.is_whole else f"First {turns} of {every}"


def _lists() -> str:
    rows = "".join(
        f'<li><a href="{esc(SearchQuery().address(**asked))}">{esc(words)}</a></li>'
        for asked, words in LISTS
    )
    return (
        '<section class="empty"><h2>What became of it</h2>'
        f'<ul class="choices">{rows}</ul></section>'
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
    named = (hint.replace("`--exact`", "“Exact text”") for hint in answers.hints)
    hints = "".join(f"<li>{with_code(hint)}</li>" for hint in named)
    return f'<div class="empty" role="alert"><p>{esc(told)}.</p><ul>{hints}</ul></div>'


def _facets(asked: SearchQuery, answers: SearchResults, places: Mapping[str, str]) -> str:
    found = "".join(
        _facet(asked, name, words, counts, places)
        for name, words in FACETS.items()
        if (counts := answers.facets.get(name, {})) or getattr(asked, name)
    )
    states = "".join(
        _facet_link(asked, "branch", state, words, None) for state, words in STATES.items()
    )
    states += _facet_link(asked, "starred", "1", "Starred sessions", None)
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
    if name == "outcome":
        return OUTCOMES.get(value, value)
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
    if not answers.is_whole and asked.n < MOST:
        href = asked.address(n=asked.n + STEP)
        more = f'<p class="more-rows"><a href="{esc(href)}" data-more>Show more</a></p>'
    return f'{note}<ol class="hits">{rows}</ol>{more}'


def _nothing(asked: SearchQuery) -> str:
    wider = ""
    if asked.is_narrowed:
        plain = SearchQuery(q=asked.q, way=asked.way).address()
        wider = f'<li><a href="{esc(plain)}">Look everywhere</a></li>'
    if not asked.q.strip():
        return f'<div class="empty"><p>Nothing is like that.</p><ul>{wider}</ul></div>'
    return (
        f'<div class="empty"><p>Nothing matches “{esc(asked.q)}”.</p><ul>{wider}'
        "<li>Fewer words find more; <code>word*</code> finds what begins so.</li>"
        f'<li><a href="{esc(asked.address(way="exact", n=STEP))}">Look for this very text in the '
        "logs</a></li></ul></div>"
    )
