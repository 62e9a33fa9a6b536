"""Tokens and money to their page: totals, over time, by what they were spent on."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date, datetime, timedelta
from typing import NamedTuple

from plait.conversation.spending import BillingBlock, Spending, SpendingRow, SpendingSum
from plait.view.amounts import many, money_in_words, time_in_words, tokens_in_words
from plait.view.page.figures.charts import (
    MOST_ROWS,
    Chart,
    Series,
    Writer,
    bar_of,
    columns_chart,
    folded_table,
    largest_series,
    parts_bar,
    share_in_words,
)
from plait.view.page.figures.period import MEASURES, STEPS, Period, chooser, switch, uncounted
from plait.view.page.lists.rows import ListedSession, session_address, short_place
from plait.view.page.markup import esc
from plait.view.text import shortened
from plait.view.usage import told_apart


class CacheSavings(NamedTuple):
    """What the cache was good for."""

    paid: float
    """Of what could be priced both ways."""
    without: float
    """What the same tokens would have cost without a cache."""


class Usage(NamedTuple):
    """What the page is made of."""

    span: Period
    now: datetime
    step: str
    periods: Spending
    projects: Spending
    sessions: Spending
    blocks: Sequence[BillingBlock]
    saved: CacheSavings
    known: Mapping[str, ListedSession]
    """The sessions that there are, by id."""
    places: Mapping[str, str]
    is_counting: bool = False

    @property
    def total(self) -> SpendingRow:
        """Everything in this span."""
        return self.periods.totals

    def amount(self, tally: SpendingSum) -> float:
        """Returns what is measured: money or tokens."""
        return tally.cost if self.span.of == "cost" else float(tally.tokens)

    def write(self, value: float) -> str:
        """Writes what is measured."""
        return _dollars(value) if self.span.of == "cost" else tokens_in_words(round(value))


def _dollars(value: float) -> str:
    return money_in_words(value) if value else "$0"


def _session_name(one: ListedSession | None, key: str | None) -> str:
    if one is None:
        return esc(key or "unknown")
    place = f"<small> {esc(short_place(one.place))}</small>"
    return (
        f'<a href="{session_address(one.name)}/usage">{esc(shortened(one.words, 100))}</a>{place}'
    )


def _largest(spent: Spending, usage: Usage) -> list[SpendingRow]:
    return sorted(spent.rows, key=lambda row: (-usage.amount(row.total), row.key or ""))


def _tallies(name: str, rows: Sequence[tuple[str, SpendingSum]], usage: Usage) -> str:
    most = max((usage.amount(tally) for _, tally in rows), default=0)
    cells = [
        f'<tr><th scope="row">{words}</th><td class="bar-cell">'
        f"{bar_of(usage.amount(tally), most)}</td><td>{tokens_in_words(tally.tokens)}</td>"
        f"<td>{_cost_of(tally)}</td></tr>"
        for words, tally in rows
    ]
    return folded_table((name, "Tokens", "Cost"), cells, name)


def _cost_of(tally: SpendingSum) -> str:
    if not tally.unpriced:
        return _dollars(tally.cost)
    star = '<abbr title="some of it has no price">*</abbr>'
    has_none = sum(tally.unpriced.values()) == tally.responses
    return '<abbr title="has no price">*</abbr>' if has_none else _dollars(tally.cost) + star


def _windows(usage: Usage) -> str:
    found = [block for block in usage.blocks if not block.is_gap][::-1]
    most = max((usage.amount(block.total) for block in found[:MOST_ROWS]), default=0)
    rows = [_block_row(block, most, usage) for block in found]
    table = folded_table(("Begun", "Tokens", "Cost", "Per hour"), rows, "Five-hour block")
    return f"<section><h2>Five-hour blocks <small>as plans count them</small></h2>{table}</section>"


def _block_row(block: BillingBlock, most: float, usage: Usage) -> str:
    here, rate = block.start.astimezone(), block.rate
    pace = _dollars(rate.cost_per_hour) if rate and rate.cost_per_hour else ""
    return (
        f'<tr><th scope="row">{here.day} {here:%b %H:%M}{_going_on(block, usage.now)}</th>'
        f'<td class="bar-cell">{bar_of(usage.amount(block.total), most)}</td>'
        f"<td>{tokens_in_words(block.total.tokens)}</td><td>{_cost_of(block.total)}</td>"
        f"<td>{pace}</td></tr>"
    )


def _going_on(block: BillingBlock, now: datetime) -> str:
    if not block.is_active:
        return ""
    left = time_in_words(block.left(now).total_seconds() * 1000)
    projected = block.projected(now)
    come = f", comes to {_dollars(projected[1])}" if projected else ""
    return f' <small><span class="live"></span>{left} left{come}</small>'


def _unpriced(usage: Usage) -> str:
    found = usage.total.total.unpriced
    if not found:
        return ""
    rows = "".join(
        f'<tr><th scope="row">{esc(name)}</th><td>{many(count, "response")}</td></tr>'
        for name, count in sorted(found.items(), key=lambda one: -one[1])
    )
    return (
        "<section><h2>Without a price <small>left out of all sums of money</small></h2>"
        f'<table class="figures"><tbody>{rows}</tbody></table>'
        '<p class="note-line">A file of your own prices helps: <code>prices = "prices.toml"</code> '
        "in the configuration.</p></section>"
    )


MOST_STEPS = 400
NOTHING = SpendingSum()


def _over_time(
    spent: Spending, step: str, amount: Callable[[SpendingSum], float], write: Writer
) -> Chart | None:
    """Returns what was spent over time, model upon model; None where no day is known."""
    rows = {row.key: row for row in spent.rows if row.key}
    if not rows:
        return None
    steps = list(between(min(rows), max(rows), step))[-MOST_STEPS:]
    names = told_apart(spent.totals.models)
    series = [
        Series(
            names[model],
            tuple(
                amount(rows[key].models[model])
                if key in rows and model in rows[key].models
                else 0.0
                for key in steps
            ),
        )
        for model in spent.totals.models
    ]
    return Chart(
        title="Spent over time, by model",
        labels=tuple(_label(key, step) for key in steps),
        ticks=tuple(_label(key, step) for key in steps),
        series=largest_series(series),
        write=write,
        heading={"day": "Day", "week": "Week of", "month": "Month"}[step],
    )


def between(first: str, last: str, step: str) -> Iterator[str]:
    """Yields the names of all steps from the first to the last."""
    if step == "month":
        year, month = int(first[:4]), int(first[5:7])
        while f"{year:04}-{month:02}" <= last:
            yield f"{year:04}-{month:02}"
            year, month = year + month // 12, month % 12 + 1
        return
    day, end = date.fromisoformat(first), date.fromisoformat(last)
    while day <= end:
        yield day.isoformat()
        day += timedelta(days=7 if step == "week" else 1)


def _label(key: str, step: str) -> str:
    if step == "month":
        return f"{date.fromisoformat(f'{key}-01'):%b %Y}"
    day = date.fromisoformat(key)
    return f"{day.day} {day:%b %Y}"


PATH = "/usage"
USUAL = "30d"


def usage_page(span: Period, figures: str, projects: Mapping[str, str]) -> str:
    """Returns the page with its figures."""
    return (
        '<main class="page" id="main" data-live="usage"><div class="heading"><h1>Usage</h1>'
        f"{chooser(PATH, span, USUAL, projects)}</div><div data-results>{figures}</div></main>"
    )


def usage_figures(usage: Usage | None, *, is_counting: bool) -> str:
    """Returns the figures; where nothing is counted yet, it says so."""
    if usage is None:
        return uncounted(is_counting=is_counting)
    return _figures_of(usage) if usage.total.total.responses else _nothing()


def _nothing() -> str:
    everything = esc(Period(range="all").address(PATH))
    return (
        '<div class="empty" role="status"><p>No model answered in this time.</p>'
        f'<p><a href="{everything}">Show all time</a></p></div>'
    )


def _figures_of(usage: Usage) -> str:
    return (
        f"{_strip(usage)}{_over(usage)}"
        f'<div class="columns2">{_models(usage)}<div>{_parts(usage)}{cache(usage)}</div></div>'
        f'<div class="columns2">{_by_project(usage)}{_windows(usage)}</div>'
        f"{_by_session(usage)}{_unpriced(usage)}"
    )


def _strip(usage: Usage) -> str:
    total = usage.total.total
    read = total.input + total.cache_write + total.cache_read
    days = len([row for row in usage.periods.rows if row.key])
    saved = usage.saved.without - usage.saved.paid
    figures = (
        ("Cost", _dollars(total.cost) + ("*" if total.unpriced else ""), _per_step(usage, days)),
        ("Tokens", tokens_in_words(total.tokens), many(total.responses, "response")),
        ("Written by models", tokens_in_words(total.output), "output tokens"),
        ("Read from cache", _share(total.cache_read, read), "of what models read"),
        ("Saved by the cache", _dollars(max(saved, 0)), "against no cache at all"),
        ("Sessions", str(len(usage.sessions.rows)), many(len(usage.projects.rows), "project")),
    )
    cells = "".join(
        f"<div><dt>{name}</dt><dd>{esc(value)}<small>{esc(more)}</small></dd></div>"
        for name, value, more in figures
    )
    counting = ' data-counting="1"' if usage.is_counting else ""
    return f'<dl class="strip"{counting}>{cells}</dl>'


def _per_step(usage: Usage, count: int) -> str:
    if not count:
        return ""
    name = STEPS[usage.step].lower()
    return f"{_dollars(usage.total.total.cost / count)} per active {name}"


def _share(value: int, whole: int) -> str:
    return f"{value / whole * 100:.1f} %" if whole else "0 %"


def _over(usage: Usage) -> str:
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
    chart = _over_time(usage.periods, usage.step, usage.amount, usage.write)
    drawn = columns_chart(chart) if chart else ""
    return f'<section><h2>Over time</h2><div class="told">{measures}{steps}</div>{drawn}</section>'


def _models(usage: Usage) -> str:
    found = usage.total.models
    names = told_apart(found)
    rows = [(esc(names[name]), tally) for name, tally in found.items()]
    return f"<section><h2>Models</h2>{_tallies('Model', rows, usage)}</section>"


def _by_project(usage: Usage) -> str:
    rows = [
        (
            f'<a href="{esc(usage.span.address(PATH, project=row.key or ""))}">'
            f"{esc(short_place(usage.places.get(row.key or '', row.key or 'unknown')))}</a>",
            row.total,
        )
        for row in _largest(usage.projects, usage)
    ]
    return f"<section><h2>Projects</h2>{_tallies('Project', rows, usage)}</section>"


def _by_session(usage: Usage) -> str:
    rows = [
        (_session_name(usage.known.get(row.key or ""), row.key), row.total)
        for row in _largest(usage.sessions, usage)
    ]
    return f"<section><h2>Sessions</h2>{_tallies('Session', rows, usage)}</section>"


def _parts(usage: Usage) -> str:
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
        f"The same tokens would have cost {_dollars(usage.saved.without)} without a cache: "
        f"{_dollars(saved)} more, {share_in_words(saved, usage.saved.without)} of it."
        if saved > 0
        else "The cache saved nothing in this time."
    )
    return (
        "<section><h2>Cache</h2>"
        f"{parts_bar(read, lambda value: tokens_in_words(round(value)), 'What models read')}"
        f'<p class="note-line">{words}</p></section>'
    )
