"""A question and what answers it to a page: hits with their words marked, ways to narrow it."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from plait.view.amounts import many
from plait.view.page.escape import esc
from plait.view.page.hits import KINDS, STEP, Answer, Asked, hit
from plait.view.page.icons import icon
from plait.view.page.listing import short_place

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


class Answers(NamedTuple):
    """What answers a question."""

    hits: Sequence[Answer] = ()
    total: int = 0
    took_ms: float = 0
    facets: Mapping[str, Mapping[str, int]] = {}
    note: str | None = None
    error: str | None = None
    hints: Sequence[str] = ()


def asked_in(query: Mapping[str, str]) -> Asked:
    """Returns what an address asks for; what makes no sense is as if it were not said."""
    names = set(Asked.__struct_fields__) - {"n", "way"}
    told = {name: query[name][:LONGEST] for name in names if query.get(name)}
    way, given = query.get("way", "words"), query.get("n", "")
    count = int(given) if given.isdecimal() and len(given) < 6 else STEP
    return Asked(**told, way=way if way in WAYS else "words", n=min(max(count, STEP), MOST))


def search_page(
    asked: Asked, answers: Answers | None, now: datetime, places: Mapping[str, str]
) -> str:
    """Returns the page; projects are called by the places that they are in."""
    return (
        '<main class="page" id="main" data-typed="/search"><h1 class="state">Search</h1>'
        f'<div id="results" data-results>{results(asked, answers, now, places)}</div></main>'
    )


def results(asked: Asked, answers: Answers | None, now: datetime, places: Mapping[str, str]) -> str:
    """Returns what answers, and the ways to ask for less or more."""
    if answers is None:
        return f"{ways(asked)}{examples()}"
    if answers.error is not None:
        return f"{ways(asked)}{trouble(answers)}"
    return (
        f'{ways(asked, answers)}<div class="found-in">'
        f'<nav class="facets" aria-label="Narrow down">{facets(asked, answers, places)}</nav>'
        f"<div>{hits(asked, answers, now, places)}</div></div>"
    )


def ways(asked: Asked, answers: Answers | None = None) -> str:
    """Returns how the words are meant, and how much was found."""
    links = "".join(
        f'<a href="{esc(asked.address(way=way, n=STEP))}"{current(way == asked.way)}>{words}</a>'
        for way, words in WAYS.items()
    )
    told = shower = ""
    if answers:
        told = f"{many(answers.total, 'passage')} · {answers.took_ms:.0f} ms"
        shower = (
            '<button class="quiet shower" data-show="facets" aria-expanded="false">'
            f"{icon('filter')}Narrow down</button>"
        )
    return (
        f'<div class="told"><div class="switch" role="group" aria-label="What is looked for">'
        f'{links}</div>{shower}<span role="status">{told}</span></div>'
    )


def current(is_it: bool) -> str:
    """Returns the mark of what is chosen among others."""
    return ' aria-current="true"' if is_it else ""


def examples() -> str:
    """Returns what can be asked."""
    rows = "".join(
        f'<dt><a href="{esc(Asked(q=text).address())}"><code>{esc(text)}</code></a></dt>'
        f"<dd>{words}</dd>"
        for text, words in EXAMPLES
    )
    return (
        '<section class="empty"><h2>What can be asked</h2>'
        f'<dl class="examples">{rows}</dl></section>'
    )


def trouble(answers: Answers) -> str:
    """Says what is wrong with a question, and what to do."""
    told = (answers.error or "")[:1].upper() + (answers.error or "")[1:]
    hints = "".join(f"<li>{with_code(hint)}</li>" for hint in answers.hints)
    return f'<div class="empty" role="alert"><p>{esc(told)}.</p><ul>{hints}</ul></div>'


def with_code(hint: str) -> str:
    """Returns a hint, what is to be typed in the letters of a terminal."""
    parts = hint.replace("`--exact`", "“Exact text”").split("`")
    return "".join(
        f"<code>{esc(part)}</code>" if place % 2 else esc(part) for place, part in enumerate(parts)
    )


def facets(asked: Asked, answers: Answers, places: Mapping[str, str]) -> str:
    """Returns what narrows the answers down, with how many there would be."""
    found = "".join(
        facet(asked, name, words, counts, places)
        for name, words in FACETS.items()
        if (counts := answers.facets.get(name, {})) or getattr(asked, name)
    )
    states = "".join(
        facet_link(asked, "branch", state, words, None) for state, words in STATES.items()
    )
    clear = ""
    if asked.is_narrowed:
        plain = Asked(q=asked.q, way=asked.way).address()
        clear = f'<p><a href="{esc(plain)}">Clear all</a></p>'
    return f"{clear}{found}<h2>Where</h2><ul>{states}</ul>"


def facet(
    asked: Asked, name: str, words: str, counts: Mapping[str, int], places: Mapping[str, str]
) -> str:
    """Returns one way to narrow them down."""
    chosen = getattr(asked, name)
    known = dict(counts) if not chosen or chosen in counts else {chosen: 0, **counts}
    ordered = sorted(known.items(), reverse=name == "month", key=lambda one: order(name, one))
    links = "".join(
        facet_link(asked, name, value, named(name, value, places), count)
        for value, count in ordered[:12]
    )
    return f"<h2>{words}</h2><ul>{links}</ul>"


def order(name: str, one: tuple[str, int]) -> tuple[int, str]:
    """Returns what decides the order of a facet: how many, or when."""
    return (0, one[0]) if name == "month" else (-one[1], one[0])


def named(name: str, value: str, places: Mapping[str, str]) -> str:
    """Returns what one value of a facet is called."""
    if name == "kind":
        return KINDS.get(value, (value, ""))[0]
    return short_place(places.get(value, value)) if name == "project" else value


def facet_link(asked: Asked, name: str, value: str, words: str, count: int | None) -> str:
    """Returns the way to answers of one value, or back where it was chosen."""
    is_chosen = getattr(asked, name) == value
    href = asked.address(**{name: "" if is_chosen else value}, n=STEP)
    number = "" if count is None else f"<small>{count:,}</small>".replace(",", " ")
    return (
        f'<li><a href="{esc(href)}"{current(is_chosen)}><span>{esc(words)}</span>{number}</a></li>'
    )


def hits(asked: Asked, answers: Answers, now: datetime, places: Mapping[str, str]) -> str:
    """Returns the turns that answer."""
    note = f'<p class="note-line">{esc(answers.note)}</p>' if answers.note else ""
    if not answers.hits:
        return f"{note}{nothing(asked)}"
    rows = "".join(hit(one, asked, now, places) for one in answers.hits)
    more = ""
    if len(answers.hits) >= asked.n and asked.n < MOST:
        href = asked.address(n=asked.n + STEP)
        more = f'<p class="more-rows"><a href="{esc(href)}" data-more>Show more</a></p>'
    return f'{note}<ol class="hits">{rows}</ol>{more}'


def nothing(asked: Asked) -> str:
    """Says that nothing answers, and what to try."""
    wider = ""
    if asked.is_narrowed:
        plain = Asked(q=asked.q, way=asked.way).address()
        wider = f'<li><a href="{esc(plain)}">Look everywhere</a></li>'
    return (
        f'<div class="empty"><p>Nothing matches “{esc(asked.q)}”.</p><ul>{wider}'
        "<li>Fewer words find more; <code>word*</code> finds what begins so.</li>"
        f'<li><a href="{esc(asked.address(way="exact", n=STEP))}">Look for this very text in the '
        "logs</a></li></ul></div>"
    )
