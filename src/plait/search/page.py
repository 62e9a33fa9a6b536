"""The Search page: hits with marked words, filters and examples."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from msgspec import Struct

from plait.view.formats import format_count
from plait.view.page.markup import (
    CURRENT,
    build_url,
    encode_query,
    esc,
    icon,
    quote_url,
    read_count,
    read_query,
    render_code_spans,
    render_switch,
    session_url,
    tool_icon,
)
from plait.view.page.session_rows import format_project, join_facts, render_age
from plait.view.text import shorten, strip_markdown_marks

STEP = 20
PASSAGE_KINDS = {
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
VERBATIM = ("command", "input", "output")
"""Kinds of passages that are not prose."""
MOST = 400
MOST_MARKS = 16
LONGEST = 1000
OUTCOMES = {
    "failed": "Failed",
    "rejected": "Rejected",
    "interrupted": "Interrupted",
    "launched": "In the background",
}
BAD = ("failed", "rejected", "interrupted")
LISTS = (
    ({"tool": "Bash", "outcome": "failed"}, "Failing commands"),
    ({"tool": "ExitPlanMode", "outcome": "rejected"}, "Rejected plans"),
    ({"outcome": "failed"}, "All failed calls"),
    ({"outcome": "rejected"}, "All rejected calls"),
    ({"outcome": "interrupted"}, "All interrupted calls"),
    ({"outcome": "launched"}, "All background calls"),
)
"""Filters that need no words."""
SORTS = {"relevance": "Relevance", "time": "Time"}
SEARCH_MODES = {"words": "Words", "exact": "Exact text", "regex": "Regular expression"}
STATES = {
    "active": "Active branch",
    "abandoned": "Abandoned branches",
    "agent": "Agents",
    "service": "Background requests",
}
FACETS = {
    "kind": "Kind",
    "outcome": "Outcome",
    "project": "Project",
    "tool": "Tool",
    "month": "Month",
}
EXAMPLES = (
    ("parser error", "both words in one passage"),
    ('"parse error"', "exact phrase"),
    ("pars*", "words starting with pars; *arse* contains it, parcer~ is similar"),
    ("lexer OR parser, NOT test", "either word, but not the third"),
    ("tool:Bash in:output", "input or output of a tool"),
    ("tool:Bash outcome:failed", "by outcome: also rejected, interrupted, launched"),
    ("branch:abandoned", "abandoned branches only"),
    ("after:7d file:app.py model:opus", "by time, file and model"),
)


class SearchQuery(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A search, as a URL says it."""

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

    def url(self, **changes: object) -> str:
        """Return the URL of this search, with some fields changed."""
        return build_url("/search", self, **changes)

    @property
    def is_narrowed(self) -> bool:
        """Whether anything but words is given."""
        filters = (self.kind, self.outcome, self.project, self.tool, self.month, self.branch)
        return any((*filters, self.starred))

    @property
    def is_asking(self) -> bool:
        """Whether anything is given."""
        return bool(self.q.strip()) or (self.is_narrowed and self.way == "words")


class SearchHit(Struct, frozen=True, kw_only=True):
    """A turn that matches."""

    name: str
    """The name of its session in URLs."""
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
    result: str = ""
    """The exit code and error text of a failed call."""
    looks: Sequence[str] = ()
    """What is highlighted when it is opened, as a query; by default what the snippet highlights."""


def _render_hit(
    hit: SearchHit, query: SearchQuery, now: datetime, project_directories: Mapping[str, str]
) -> str:
    label, drawing = PASSAGE_KINDS.get(hit.kind, (hit.kind, "note"))
    sign = tool_icon(hit.tool) if hit.tool else icon(drawing)
    outcome = more = ""
    if hit.outcome:
        css_class = "warn" if hit.outcome in BAD else "kind"
        name = OUTCOMES.get(hit.outcome, hit.outcome).lower()
        outcome = f'<span class="{css_class}">{esc(name)}</span>'
    if hit.more:  # a link to every match in the session
        within = f"session:{hit.session[:8]}" if hit.session else ""
        href = query.url(q=f"{query.q} {within}".strip(), each="1", n=STEP)
        more = f'<a href="{esc(href)}">{format_count(hit.more, "more place")}</a>'
    facts = [
        f'<span class="kind">{sign}{esc(hit.tool or label)}</span>',
        f'<span class="where">{esc(format_project(project_directories.get(hit.project, hit.project)))}</span>',
        f"turn {hit.turn}" if hit.turn else "",
        outcome,
        '<span class="left">abandoned</span>' if hit.state == "abandoned" else "",
        "agent" if hit.state in ("agent", "service") else "",
        render_age(hit.time, now),
        more,
    ]
    failure = f'<span class="failure">{esc(hit.result)}</span>' if hit.result else ""
    return (
        f'<li><a class="hit" href="{esc(hit_url(hit, query))}">'
        f'<b class="title">{esc(strip_markdown_marks(shorten(hit.title or "No title")))}</b>'
        f'<span class="snippet">{render_marked_text(hit.snippet, hit.marks, hit.kind)}</span>{failure}</a>'
        f'<div class="sub">{join_facts(facts)}</div></li>'
    )


def hit_url(hit: SearchHit, query: SearchQuery) -> str:
    """Return where a hit opens: at its turn, with all matching words highlighted."""
    texts = dict.fromkeys(hit.snippet[start:end] for start, end in hit.marks)
    marks = [("mark", text_) for text_ in hit.looks] or [("text", text) for text in texts]
    fields = encode_query([*([("turn", hit.turn)] if hit.turn else ()), *marks[:MOST_MARKS]])
    anchor = f"#{quote_url(hit.uuid)}" if hit.uuid else ""
    return f"{session_url(hit.name)}{'?' if fields else ''}{fields}{anchor}"


def render_marked_text(text: str, marks: Sequence[tuple[int, int]], kind: str) -> str:
    """Render a text with some of its words marked; prose loses the marks of Markdown."""

    def render_part(part: str) -> str:
        return esc(part if kind in VERBATIM else strip_markdown_marks(part))

    parts, position = [], 0
    for start, end in marks:
        if start < position:
            continue
        parts.append(f"{render_part(text[position:start])}<mark>{esc(text[start:end])}</mark>")
        position = end
    return "".join(parts) + render_part(text[position:])


class SearchResults(Struct, frozen=True, kw_only=True):
    """What a search found."""

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


def read_search_query(query: Mapping[str, str]) -> SearchQuery:
    """Read a search from a URL's query, ignoring invalid fields."""
    names = set(SearchQuery.__struct_fields__) - {"n", "way"}
    fields, mode = read_query(query, names, LONGEST), query.get("way", "words")
    count = read_count(query, STEP, MOST)
    return SearchQuery(**fields, way=mode if mode in SEARCH_MODES else "words", n=count)


def render_search_page(
    search: SearchQuery,
    found: SearchResults | None,
    now: datetime,
    project_directories: Mapping[str, str],
) -> str:
    """Render the page."""
    return (
        '<main class="page" id="main" data-typed="/search"><h1 class="state">Search</h1>'
        f'<div id="results" data-results>{render_results(search, found, now, project_directories)}</div></main>'
    )


def render_results(
    search: SearchQuery,
    found: SearchResults | None,
    now: datetime,
    project_directories: Mapping[str, str],
) -> str:
    """Render the results with their filters."""
    if found is None:
        rows = "".join(
            f'<li><a href="{esc(SearchQuery().url(**fields))}">{esc(label)}</a></li>'
            for fields, label in LISTS
        )
        lists = (
            f'<section class="empty"><h2>By outcome</h2><ul class="choices">{rows}</ul></section>'
        )
        return f"{_render_modes(search)}{lists}{_render_examples()}"
    if found.error is not None:
        message = found.error[:1].upper() + found.error[1:]
        hints_ = (hint.replace("`--exact`", "“Exact text”") for hint in found.hints)
        hints = "".join(f"<li>{render_code_spans(hint)}</li>" for hint in hints_)
        error = f'<div class="empty" role="alert"><p>{esc(message)}.</p><ul>{hints}</ul></div>'
        return f"{_render_modes(search)}{error}"
    facets = "".join(
        _render_facet(search, name, label, counts, project_directories)
        for name, label in FACETS.items()
        if (counts := found.facets.get(name, {})) or getattr(search, name)
    )
    states = "".join(
        _render_facet_link(search, "branch", state, label, None) for state, label in STATES.items()
    )
    states += _render_facet_link(search, "starred", "1", "Starred sessions", None)
    clear = ""
    if search.is_narrowed:
        plain = SearchQuery(q=search.q, way=search.way).url()
        clear = f'<p><a href="{esc(plain)}">Clear all</a></p>'
    facets = f"{clear}{facets}<h2>Where</h2><ul>{states}</ul>"
    return (
        f'{_render_modes(search, found)}<div class="found-in">'
        f'<nav class="facets" aria-label="Narrow down">{facets}</nav>'
        f"<div>{_render_hits(search, found, now, project_directories)}</div></div>"
    )


def _render_modes(search: SearchQuery, found: SearchResults | None = None) -> str:
    links = (
        (search.url(way=mode, n=STEP), label, mode == search.way)
        for mode, label in SEARCH_MODES.items()
    )
    summary = filters_button = ""
    if found:
        summary = f"{_format_result_count(search, found)} · {found.took_ms:.0f} ms"
        filters_button = (
            '<button class="quiet shower" data-show="facets" aria-expanded="false">'
            f"{icon('filter')}Narrow down</button>"
        )
    return (
        f'<div class="status-text">{render_switch("Search mode", links)}{_render_sorts(search, found)}{filters_button}'
        f'<span role="status">{summary}</span></div>'
    )


def _render_sorts(search: SearchQuery, found: SearchResults | None) -> str:
    if found is None or found.error is not None or search.way != "words":
        return ""
    links = (
        (search.url(sort=sort, n=STEP), label, sort == found.sort) for sort, label in SORTS.items()
    )
    return render_switch("Order", links)


def _format_result_count(search: SearchQuery, found: SearchResults) -> str:
    """Format how many results are listed, with a link to every match."""
    hit_count = len(found.hits)
    if found.is_each:
        are_calls = all(hit.kind == "input" for hit in found.hits)
        noun = "call" if are_calls and found.hits else "passage"
        first = format_count(hit_count, noun)
        return (
            first if found.is_whole else f"First {hit_count} of {format_count(found.total, noun)}"
        )
    count = found.listed if found.is_whole else found.total
    passages = format_count(count, "passage")
    if not hit_count:
        return passages
    if count > hit_count:
        passages = f'<a href="{esc(search.url(each="1", n=STEP))}">{passages}</a>'
    turns = format_count(hit_count, "turn")
    return f"{passages} in {turns}" if found.is_whole else f"First {turns} of {passages}"


def _render_examples() -> str:
    rows = "".join(
        f'<dt><a href="{esc(SearchQuery(q=text).url())}"><code>{esc(text)}</code></a></dt>'
        f"<dd>{explanation}</dd>"
        for text, explanation in EXAMPLES
    )
    return (
        f'<section class="empty"><h2>Search syntax</h2><dl class="examples">{rows}</dl></section>'
    )


def _render_facet(
    search: SearchQuery,
    name: str,
    label: str,
    counts: Mapping[str, int],
    project_directories: Mapping[str, str],
) -> str:
    chosen = getattr(search, name)
    values = dict(counts) if not chosen or chosen in counts else {chosen: 0, **counts}
    ordered = sorted(
        values.items(),
        reverse=name == "month",
        key=lambda item: (0, item[0]) if name == "month" else (-item[1], item[0]),
    )
    links = "".join(
        _render_facet_link(
            search, name, value, _format_facet_value(name, value, project_directories), count
        )
        for value, count in ordered[:12]
    )
    return f"<h2>{label}</h2><ul>{links}</ul>"


def _format_facet_value(name: str, value: str, project_directories: Mapping[str, str]) -> str:
    if name == "kind":
        return PASSAGE_KINDS.get(value, (value, ""))[0]
    if name == "outcome":
        return OUTCOMES.get(value, value)
    return format_project(project_directories.get(value, value)) if name == "project" else value


def _render_facet_link(
    search: SearchQuery, name: str, value: str, label: str, count: int | None
) -> str:
    is_chosen = getattr(search, name) == value
    href = search.url(**{name: "" if is_chosen else value}, n=STEP)
    number = "" if count is None else f"<small>{count:,}</small>"
    current = CURRENT if is_chosen else ""
    return f'<li><a href="{esc(href)}"{current}><span>{esc(label)}</span>{number}</a></li>'


def _render_hits(
    search: SearchQuery, found: SearchResults, now: datetime, project_directories: Mapping[str, str]
) -> str:
    note = f'<p class="note-line">{esc(found.note)}</p>' if found.note else ""
    if not found.hits:
        links = ""
        if search.is_narrowed:
            url = SearchQuery(q=search.q, way=search.way).url()
            links = f'<li><a href="{esc(url)}">Search everywhere</a></li>'
        message = "No results."
        if search.q.strip():
            message = f"No results for “{esc(search.q)}”."
            links += (
                "<li>Try fewer words, or <code>word*</code> for words that start with it.</li>"
                f'<li><a href="{esc(search.url(way="exact", n=STEP))}">Search for this exact text in the '
                "logs</a></li>"
            )
        return f'{note}<div class="empty"><p>{message}</p><ul>{links}</ul></div>'
    rows = "".join(_render_hit(hit, search, now, project_directories) for hit in found.hits)
    more = ""
    if not found.is_whole and search.n < MOST:
        href = search.url(n=search.n + STEP)
        more = f'<p class="more-rows"><a href="{esc(href)}" data-more>Show more</a></p>'
    return f'{note}<ol class="hits">{rows}</ol>{more}'
