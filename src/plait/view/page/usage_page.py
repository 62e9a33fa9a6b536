"""Tokens and money to their page: totals, over time, by what they were spent on."""

from collections.abc import Mapping

from plait.view.amounts import many, tokens_in_words
from plait.view.page.escape import esc
from plait.view.page.listing import short_place
from plait.view.page.plots import columns_chart, parts_bar, share_in_words
from plait.view.page.span import MEASURES, STEPS, Span, chooser, switch, uncounted
from plait.view.page.usage_tables import (
    Usage,
    dollars,
    largest,
    session_name,
    tallies,
    unpriced,
    windows,
)
from plait.view.page.usage_time import over_time
from plait.view.usage import told_apart

PATH = "/usage"
USUAL = "30d"


def usage_page(span: Span, figures: str, projects: Mapping[str, str]) -> str:
    """Returns the page with its figures."""
    return (
        '<main class="page" id="main" data-live="usage"><div class="heading"><h1>Usage</h1>'
        f"{chooser(PATH, span, USUAL, projects)}</div><div data-results>{figures}</div></main>"
    )


def usage_figures(usage: Usage | None, *, is_counting: bool) -> str:
    """Returns the figures; where nothing is counted yet, it says so."""
    if usage is None:
        return uncounted(is_counting=is_counting)
    return figures_of(usage) if usage.total.total.responses else nothing()


def nothing() -> str:
    """Says that nothing was spent, and what to do."""
    everything = esc(Span(range="all").address(PATH))
    return (
        '<div class="empty" role="status"><p>No model answered in this time.</p>'
        f'<p><a href="{everything}">Show all time</a></p></div>'
    )


def figures_of(usage: Usage) -> str:
    """Returns all figures."""
    return (
        f"{strip(usage)}{over(usage)}"
        f'<div class="columns2">{models(usage)}<div>{parts(usage)}{cache(usage)}</div></div>'
        f'<div class="columns2">{by_project(usage)}{windows(usage)}</div>'
        f"{by_session(usage)}{unpriced(usage)}"
    )


def strip(usage: Usage) -> str:
    """Returns the totals in one line."""
    total = usage.total.total
    read = total.input + total.cache_write + total.cache_read
    days = len([row for row in usage.periods.rows if row.key])
    saved = usage.saved.without - usage.saved.paid
    figures = (
        ("Cost", dollars(total.cost) + ("*" if total.unpriced else ""), per_step(usage, days)),
        ("Tokens", tokens_in_words(total.tokens), many(total.responses, "response")),
        ("Written by models", tokens_in_words(total.output), "output tokens"),
        ("Read from cache", share(total.cache_read, read), "of what models read"),
        ("Saved by the cache", dollars(max(saved, 0)), "against no cache at all"),
        ("Sessions", str(len(usage.sessions.rows)), many(len(usage.projects.rows), "project")),
    )
    cells = "".join(
        f"<div><dt>{name}</dt><dd>{esc(value)}<small>{esc(more)}</small></dd></div>"
        for name, value, more in figures
    )
    counting = ' data-counting="1"' if usage.is_counting else ""
    return f'<dl class="strip"{counting}>{cells}</dl>'


def per_step(usage: Usage, count: int) -> str:
    """Says what a day, a week or a month costs, of those with anything in them."""
    if not count:
        return ""
    name = STEPS[usage.step].lower()
    return f"{dollars(usage.total.total.cost / count)} per active {name}"


def share(value: int, whole: int) -> str:
    """Writes a share."""
    return f"{value / whole * 100:.1f} %" if whole else "0 %"


def over(usage: Usage) -> str:
    """Returns what was spent over time, by model."""
    steps = switch(
        "Step",
        [
            (usage.span.address(PATH, by=name), words, name == usage.step)
            for name, words in STEPS.items()
        ],
    )
    measures = switch(
        "What is measured",
        [
            (usage.span.address(PATH, of=name), words, name == usage.span.of)
            for name, words in MEASURES.items()
        ],
    )
    chart = over_time(usage.periods, usage.step, usage.amount, usage.write)
    drawn = columns_chart(chart) if chart else ""
    return f'<section><h2>Over time</h2><div class="told">{measures}{steps}</div>{drawn}</section>'


def models(usage: Usage) -> str:
    """Returns what each model took."""
    found = usage.total.models
    names = told_apart(found)
    rows = [(esc(names[name]), tally) for name, tally in found.items()]
    return f"<section><h2>Models</h2>{tallies('Model', rows, usage)}</section>"


def by_project(usage: Usage) -> str:
    """Returns what each project took."""
    rows = [
        (
            f'<a href="{esc(usage.span.address(PATH, project=row.key or ""))}">'
            f"{esc(short_place(usage.places.get(row.key or '', row.key or 'unknown')))}</a>",
            row.total,
        )
        for row in largest(usage.projects, usage)
    ]
    return f"<section><h2>Projects</h2>{tallies('Project', rows, usage)}</section>"


def by_session(usage: Usage) -> str:
    """Returns the sessions that took most."""
    rows = [
        (session_name(usage.known.get(row.key or ""), row.key), row.total)
        for row in largest(usage.sessions, usage)
    ]
    return f"<section><h2>Sessions</h2>{tallies('Session', rows, usage)}</section>"


def parts(usage: Usage) -> str:
    """Returns what went to agents, to the client's errands, to branches that were left."""
    row = usage.total
    whole = usage.amount(row.total)
    agents, service = usage.amount(row.agents), usage.amount(row.service)
    left = usage.amount(row.abandoned)
    runs = [
        ("Main conversations", max(whole - agents - service, 0.0)),
        ("Agents", agents),
        ("Service", service),
    ]
    states = [("Kept", max(whole - left, 0.0)), ("On abandoned branches", left)]
    return (
        "<section><h2>What it was for</h2>"
        f"{parts_bar(runs, usage.write, 'Main conversations, agents and service')}"
        f"{parts_bar(states, usage.write, 'Kept and abandoned')}</section>"
    )


def cache(usage: Usage) -> str:
    """Returns how well the cache served."""
    total = usage.total.total
    read = [
        ("Read from cache", float(total.cache_read)),
        ("Written to cache", float(total.cache_write)),
        ("Not cached", float(total.input)),
    ]
    saved = usage.saved.without - usage.saved.paid
    words = (
        f"The same tokens would have cost {dollars(usage.saved.without)} without a cache: "
        f"{dollars(saved)} more, {share_in_words(saved, usage.saved.without)} of it."
        if saved > 0
        else "The cache saved nothing in this time."
    )
    return (
        "<section><h2>Cache</h2>"
        f"{parts_bar(read, lambda value: tokens_in_words(round(value)), 'What models read')}"
        f'<p class="note-line">{words}</p></section>'
    )
