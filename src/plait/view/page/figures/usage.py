"""Tokens and money to their page: totals, over time, by what they were spent on."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime, timedelta
from typing import NamedTuple

from msgspec.structs import replace

from plait.conversation.prices import Prices
from plait.conversation.spending import (
    BeyondLog,
    BillingBlock,
    By,
    Spending,
    SpendingRow,
    SpendingSum,
    billing_blocks,
    spending,
    within,
)
from plait.conversation.usage import BilledResponse
from plait.view.amounts import many, time_in_words, tokens_in_words
from plait.view.page.figures.charts import (
    MOST_ROWS,
    Cell,
    Chart,
    Series,
    bar_cell,
    columns_chart,
    folded_table,
    largest_series,
    parts_bar,
    row,
    section,
    share_in_words,
    strip,
    table,
)
from plait.view.page.figures.period import MEASURES, STEPS, USUAL, Period, nothing_in, uncounted
from plait.view.page.lists.rows import ListedSession, priced, short_place
from plait.view.page.markup import esc, session_address, switch
from plait.view.text import shortened
from plait.view.usage import BEYOND, told_apart

MOST_STEPS = 400
BY: dict[str, By] = {"day": "daily", "week": "weekly", "month": "monthly"}
MANY_DAYS = 120
CENT = 0.01
BEYOND_THE_LOGS = "Not in the cost"
HEADINGS = {"day": "Day", "week": "Week of", "month": "Month"}


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
    beyond: float = 0.0
    """Dollars that Claude Code counted beyond the responses in its logs."""

    @property
    def answered(self) -> int:
        """How many of the sessions that there are have responses in this span."""
        keys = {row.key for row in self.sessions.rows}
        return sum(name.partition("~")[0] in keys for name in self.looked_at)

    @property
    def looked_at(self) -> list[str]:
        """The names of all sessions, or of those of the project that is asked for."""
        wanted = self.span.project
        return [name for name, one in self.known.items() if not wanted or one.project == wanted]

    @property
    def total(self) -> SpendingRow:
        """Everything in this span."""
        return self.periods.totals

    def amount(self, tally: SpendingSum) -> float:
        """Returns what is measured: money or tokens."""
        return tally.cost if self.span.of == "cost" else float(tally.tokens.total)

    def write(self, value: float) -> str:
        """Writes what is measured."""
        return priced(value) if self.span.of == "cost" else tokens_in_words(round(value))


def usage_in(
    responses: Sequence[BilledResponse],
    left: frozenset[str],
    span: Period,
    now: datetime,
    prices: Prices,
    known: Mapping[str, ListedSession],
    places: Mapping[str, str],
    *,
    is_counting: bool,
    beyond: Sequence[BeyondLog] = (),
) -> Usage:
    """Returns what was spent in a span of time; some of it on branches that were left."""
    bounds = span.bounds(now, USUAL["usage"])
    chosen, more = within(responses, *bounds), within(beyond, *bounds)
    if span.project:
        chosen = [one for one in chosen if one.project == span.project]
        more = [one for one in more if one.project == span.project]
    step = span.by or _usual_step(chosen)
    return Usage(
        span=span,
        now=now,
        step=step,
        periods=spending(chosen, BY[step], prices, None, left),
        projects=spending(chosen, "project", prices),
        sessions=spending(chosen, "session", prices),
        blocks=billing_blocks(chosen, prices, now),
        saved=_saved_by_cache(chosen, prices),
        known=known,
        places=places,
        is_counting=is_counting,
        beyond=sum(one.cost for one in more),
    )


def _usual_step(responses: Sequence[BilledResponse]) -> str:
    times = [one.time for one in responses if one.time]
    is_long = times and (max(times) - min(times)).days > MANY_DAYS
    return "week" if is_long else "day"


def _saved_by_cache(responses: Sequence[BilledResponse], prices: Prices) -> CacheSavings:
    paid = without = 0.0
    for one in responses:
        tokens = one.tokens
        cost = prices.cost(one.model, tokens, one.time)
        plain = replace(
            tokens, input=tokens.total_input, cache_write_5m=0, cache_write_1h=0, cache_read=0
        )
        full = prices.cost(one.model, plain, one.time)
        if cost is not None and full is not None:
            paid += cost
            without += full
    return CacheSavings(paid, without)


def usage_figures(usage: Usage | None, *, is_counting: bool) -> str:
    """Returns the figures; where nothing is counted yet, it says so."""
    if usage is None:
        return uncounted(is_counting=is_counting)
    if not usage.total.total.responses:
        return nothing_in("usage", "No model answered in this time.")
    return (
        f"{_totals(usage)}{_over_time(usage)}"
        f'<div class="columns2">{_models(usage)}<div>{_parts(usage)}{_cache(usage)}</div></div>'
        f'<div class="columns2">{_projects(usage)}{_blocks(usage)}</div>'
        f"{_sessions(usage)}{_unpriced(usage)}"
    )


def _totals(usage: Usage) -> str:
    total = usage.total.total
    tokens = total.tokens
    saved = usage.saved.without - usage.saved.paid
    figures = (
        ("Cost", priced(total.cost) + ("*" if total.unpriced else ""), _per_step(usage)),
        ("Tokens", tokens_in_words(tokens.total), many(total.responses, "response")),
        ("Written by models", tokens_in_words(tokens.output), "output tokens"),
        ("Read from cache", _share(tokens.cache_read, tokens.total_input), "of what models read"),
        ("Saved by the cache", priced(max(saved, 0)), "against no cache at all"),
        ("Sessions", str(usage.answered), _where(usage)),
    )
    more = ((BEYOND_THE_LOGS, priced(usage.beyond), BEYOND),) if usage.beyond >= CENT / 2 else ()
    return strip((*figures, *more), is_counting=usage.is_counting)


def _where(usage: Usage) -> str:
    total = len(usage.looked_at)
    rest = total - usage.answered
    of = f"of {total}, {rest} without a response; " if rest else ""
    return of + many(len(usage.projects.rows), "project")


def _per_step(usage: Usage) -> str:
    """Says what a day, a week or a month costs, of those with anything in them."""
    count = sum(1 for one in usage.periods.rows if one.key)
    if not count:
        return ""
    return f"{priced(usage.total.total.cost / count)} per active {STEPS[usage.step].lower()}"


def _share(value: int, whole: int) -> str:
    return f"{value / whole * 100:.1f} %" if whole else "0 %"


def _over_time(usage: Usage) -> str:
    steps = switch("Step", _ways(usage, "by", STEPS, usage.step))
    measures = switch("What is measured", _ways(usage, "of", MEASURES, usage.span.of))
    chart = _chart(usage)
    drawn = columns_chart(chart) if chart else ""
    return section("Over time", f'<div class="told">{measures}{steps}</div>{drawn}')


def _ways(
    usage: Usage, name: str, ways: Mapping[str, str], chosen: str
) -> Iterator[tuple[str, str, bool]]:
    for way, words in ways.items():
        yield usage.span.address("usage", **{name: way}), words, way == chosen


def _chart(usage: Usage) -> Chart | None:
    """Returns what was spent over time, model upon model; None where no day is known."""
    spent, step = usage.periods, usage.step
    rows = {one.key: one.models for one in spent.rows if one.key}
    if not rows:
        return None
    steps = list(between(min(rows), max(rows), step))[-MOST_STEPS:]
    names = told_apart(spent.totals.models)
    series = [
        Series(names[model], tuple(_amount_in(usage, rows.get(key, {}), model) for key in steps))
        for model in spent.totals.models
    ]
    return Chart(
        title="Spent over time, by model",
        labels=tuple(_label(key, step) for key in steps),
        series=largest_series(series),
        write=usage.write,
        heading=HEADINGS[step],
    )


def _amount_in(usage: Usage, models: Mapping[str, SpendingSum], model: str) -> float:
    return usage.amount(models[model]) if model in models else 0.0


def between(first: str, last: str, step: str) -> Iterator[str]:
    """Yields the names of all steps from the first to the last: no step is left out."""
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


def _models(usage: Usage) -> str:
    names = told_apart(usage.total.models)
    rows = [(esc(names[name]), spent) for name, spent in usage.total.models.items()]
    return _sums("Model", rows, usage)


def _projects(usage: Usage) -> str:
    rows = [
        (
            f'<a href="{esc(usage.span.address("usage", project=one.key or ""))}">'
            f"{esc(short_place(usage.places.get(one.key or '', one.key or 'unknown')))}</a>",
            one.total,
        )
        for one in _largest(usage.projects, usage)
    ]
    return _sums("Project", rows, usage)


def _sessions(usage: Usage) -> str:
    rows = [
        (_session_name(usage.known.get(one.key or ""), one.key), one.total)
        for one in _largest(usage.sessions, usage)
    ]
    return _sums("Session", rows, usage)


def _session_name(one: ListedSession | None, key: str | None) -> str:
    if one is None:
        return esc(key or "unknown")
    href, words = f"{session_address(one.name)}/usage", esc(shortened(one.words, 100))
    return f'<a href="{href}">{words}</a><small> {esc(short_place(one.place))}</small>'


def _largest(spent: Spending, usage: Usage) -> list[SpendingRow]:
    return sorted(spent.rows, key=lambda one: (-usage.amount(one.total), one.key or ""))


def _sums(name: str, rows: Sequence[tuple[str, SpendingSum]], usage: Usage) -> str:
    """Returns what each of something took; their names are markup already."""
    most = max((usage.amount(spent) for _, spent in rows), default=0)
    cells = [row(words, *_spent_cells(spent, most, usage)) for words, spent in rows]
    return section(f"{name}s", folded_table((name, "Tokens", "Cost"), cells, name))


def _spent_cells(spent: SpendingSum, most: float, usage: Usage) -> tuple[Cell, ...]:
    cost = priced(spent.known_cost, is_partly=bool(spent.unpriced))
    return bar_cell(usage.amount(spent), most), tokens_in_words(spent.tokens.total), cost


def _blocks(usage: Usage) -> str:
    found = [block for block in usage.blocks if not block.is_gap][::-1]
    most = max((usage.amount(block.total) for block in found[:MOST_ROWS]), default=0)
    rows = [_block_row(block, most, usage) for block in found]
    heads = ("Begun", "Tokens", "Cost", "Per hour")
    return section(
        "Five-hour blocks", folded_table(heads, rows, "Five-hour block"), "as plans count them"
    )


def _block_row(block: BillingBlock, most: float, usage: Usage) -> str:
    here, rate = block.start.astimezone(), block.rate
    pace = priced(rate.cost_per_hour) if rate and rate.cost_per_hour else ""
    begun = f"{here.day} {here:%b %H:%M}{_going_on(block, usage.now)}"
    return row(begun, *_spent_cells(block.total, most, usage), pace)


def _going_on(block: BillingBlock, now: datetime) -> str:
    if not block.is_active:
        return ""
    left = time_in_words(block.left(now).total_seconds() * 1000)
    projected = block.projected(now)
    come = f", comes to {priced(projected[1])}" if projected else ""
    return f' <small><span class="live"></span>{left} left{come}</small>'


def _parts(usage: Usage) -> str:
    spent = usage.total
    whole = usage.amount(spent.total)
    agents, service = usage.amount(spent.agents), usage.amount(spent.service)
    left = usage.amount(spent.abandoned)
    runs = [
        ("Main conversations", max(whole - agents - service, 0.0)),
        ("Agents", agents),
        ("Service", service),
    ]
    states = [("Kept", max(whole - left, 0.0)), ("On abandoned branches", left)]
    return section(
        "What it was for",
        parts_bar(runs, usage.write, "Main conversations, agents and service")
        + parts_bar(states, usage.write, "Kept and abandoned"),
    )


def _cache(usage: Usage) -> str:
    tokens = usage.total.total.tokens
    read = [
        ("Read from cache", float(tokens.cache_read)),
        ("Written to cache", float(tokens.cache_write)),
        ("Not cached", float(tokens.input)),
    ]
    saved = usage.saved.without - usage.saved.paid
    words = (
        f"The same tokens would have cost {priced(usage.saved.without)} without a cache: "
        f"{priced(saved)} more, {share_in_words(saved, usage.saved.without)} of it."
        if saved > 0
        else "The cache saved nothing in this time."
    )
    drawn = parts_bar(read, lambda value: tokens_in_words(round(value)), "What models read")
    return section("Cache", f'{drawn}<p class="note-line">{words}</p>')


def _unpriced(usage: Usage) -> str:
    found = usage.total.total.unpriced
    if not found:
        return ""
    ordered = sorted(found.items(), key=lambda one: -one[1])
    rows = (row(esc(name), many(count, "response")) for name, count in ordered)
    note = (
        '<p class="note-line">A file of your own prices helps: <code>prices = "prices.toml"</code> '
        "in the configuration.</p>"
    )
    return section("Without a price", table((), rows) + note, "left out of all sums of money")
