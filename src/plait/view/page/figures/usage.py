"""Tokens and money to their page: totals, over time, by what they were spent on."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime, timedelta

from msgspec.structs import replace

from plait.conversation.spending import (
    NO_MODEL,
    BillingBlock,
    Spending,
    SpendingRow,
    SpendingSum,
)
from plait.view.amounts import many, time_in_words, tokens_in_words
from plait.view.forms import CACHE_READ, CACHE_WRITE, INPUT, OUTPUT, minute_of
from plait.view.page.figures.charts import (
    MOST_ROWS,
    STACKED,
    BarPart,
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
from plait.view.page.figures.cross import cross_section, csv_link
from plait.view.page.figures.period import INSIDE, MEASURES, STEPS, nothing_in, uncounted
from plait.view.page.figures.slices import Slice, moment_in_words, narrowed
from plait.view.page.figures.spent import Usage
from plait.view.page.figures.treemap import Area, Group, treemap
from plait.view.page.lists.rows import ListedSession, priced, short_place
from plait.view.page.markup import esc, session_address, switch
from plait.view.text import shortened
from plait.view.usage import BEYOND

MOST_STEPS = 400
CENT = 0.01
MOST_AREAS = 20
BEYOND_THE_LOGS = "Not in the cost"
HEADINGS = {"day": "Day", "week": "Week of", "month": "Month"}


def usage_figures(usage: Usage | None, *, is_counting: bool) -> str:
    """Returns the figures; where nothing is counted yet, it says so."""
    if usage is None:
        return uncounted(is_counting=is_counting)
    if not usage.total.total.responses:
        is_all = usage.base.is_everything
        return nothing_in("usage", "No model answered in this time.", is_all=is_all)
    return (
        f"{_totals(usage)}{_over_time(usage)}{_areas(usage)}{cross_section(usage)}"
        f'<div class="columns2">{_models(usage)}<div>{_parts(usage)}{_cache(usage)}</div></div>'
        f'<div class="columns2">{_projects(usage)}{_blocks(usage)}</div>'
        f"{_sessions(usage)}{_unpriced(usage)}"
    )


def _totals(usage: Usage) -> str:
    total = usage.total.total
    tokens = total.tokens
    saved = usage.saved.without - usage.saved.paid
    cost = priced(total.cost) + ("*" if total.unpriced else "")
    written = tokens_in_words(tokens.output)
    read = _share(tokens.cache_read, tokens.total_input)
    link = usage.base.link
    responses = link(many(total.responses, "response"), responses=total.responses)
    saving = link(priced(max(saved, 0)), saved=saved)
    figures = (
        ("Cost", link(cost, cost=total.cost), _per_step(usage)),
        ("Tokens", link(tokens_in_words(tokens.total), tokens=tokens.total), responses),
        (OUTPUT.capitalize(), link(written, output=tokens.output), "by models"),
        (CACHE_READ.capitalize(), link(read, cache_read=tokens.cache_read), "of what was sent"),
        ("Saved by the cache", saving, "against no cache at all"),
        ("Sessions", link(str(usage.answered), sessions=usage.answered), _where(usage)),
    )
    return strip((*figures, *_beyond(usage)), is_counting=usage.is_counting)


def _beyond(usage: Usage) -> tuple[tuple[str, str, str], ...]:
    if usage.beyond < CENT / 2:
        return ()
    told = usage.to(of="beyond").link(priced(usage.beyond), count=usage.beyond)
    return ((BEYOND_THE_LOGS, told, esc(BEYOND)),)


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
    names = usage.models
    series = [
        Series(
            names[model],
            tuple(_amount_in(usage, rows.get(key, {}), model) for key in steps),
            model,
        )
        for model in spent.totals.models
    ]
    return Chart(
        title="Spent over time, by model",
        labels=tuple(steps),
        series=largest_series(series),
        write=usage.write,
        heading=HEADINGS[step],
        to=lambda place, model: _column(usage, steps, place, model),
        unit=usage.span.of,
    )


def _column(usage: Usage, steps: Sequence[str], place: int | None, model: str) -> Slice:
    """Returns what a column counts, or all that are drawn: what has no time is in none."""
    if place is not None:
        return usage.to(model=model, **narrowed(usage.base, steps[place], usage.step))
    first = narrowed(usage.base, steps[0], usage.step)["since"]
    last = narrowed(usage.base, steps[-1], usage.step)["until"]
    return usage.to(model=model, since=first, until=last)


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


def _areas(usage: Usage) -> str:
    """Returns the projects as areas, made up of models or of sessions."""
    groups = [_group(usage, key) for key in usage.areas.names("project")]
    groups.sort(key=lambda one: -one.area.value)
    inside = switch("Inside of projects", _ways(usage, "inside", INSIDE, usage.span.inside))
    title = f"Projects, and the {INSIDE[usage.span.inside].lower()} in them"
    drawn = treemap(_fewer(usage, groups), usage.write, usage.span.of, title)
    return section("Where it went", f'<div class="told">{inside}</div>{drawn}')


def _group(usage: Usage, key: str | None) -> Group:
    dimension = usage.areas.dimensions[1]
    found = [(keys[1], one) for keys, one in usage.areas.cells.items() if keys[0] == key]
    found.sort(key=lambda one: -usage.amount(one[1]))
    to = usage.to(project=key or "")
    parts = [
        Area(
            _inner_name(usage, name),
            usage.amount(tally),
            replace(to, **{dimension: name or NO_MODEL}),
        )
        for name, tally in found
    ]
    place = short_place(usage.places.get(key or "", key or "unknown"))
    return Group(Area(place, sum(one.value for one in parts), to), parts)


def _inner_name(usage: Usage, name: str | None) -> str:
    if usage.span.inside == "model":
        return usage.models[name or NO_MODEL]
    one = usage.known.get(name or "")
    return shortened(one.words, 60) if one else name or "unknown"


def _fewer(usage: Usage, groups: Sequence[Group]) -> Sequence[Group]:
    """Returns the largest projects; the small ones that are too many are one area."""
    kept, rest = groups[:MOST_AREAS], groups[MOST_AREAS:]
    if not rest:
        return kept
    whole = sum(one.area.value for one in rest)
    return [*kept, Group(Area(f"{len(rest)} more projects", whole, usage.base), ())]


def _models(usage: Usage) -> str:
    names = usage.models
    rows = [
        (esc(names[name]), spent, usage.to(model=name))
        for name, spent in usage.total.models.items()
    ]
    return _sums("Model", rows, usage)


def _projects(usage: Usage) -> str:
    rows = [
        (
            f'<a href="{esc(usage.span.address("usage", project=one.key or ""))}">'
            f"{esc(short_place(usage.places.get(one.key or '', one.key or 'unknown')))}</a>",
            one.total,
            usage.to(project=one.key or ""),
        )
        for one in _largest(usage.projects, usage)
    ]
    return _sums("Project", rows, usage)


def _sessions(usage: Usage) -> str:
    rows = [
        (
            _session_name(usage.known.get(one.key or ""), one.key),
            one.total,
            usage.to(session=one.key or ""),
        )
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


def _sums(name: str, rows: Sequence[tuple[str, SpendingSum, Slice]], usage: Usage) -> str:
    """Returns what each of something took; their names are markup already."""
    csv = csv_link(usage.span, name.lower())
    most = max((usage.amount(spent) for _, spent, _ in rows), default=0)
    cells = [row(words, *_spent_cells(spent, most, usage, to)) for words, spent, to in rows]
    kind = STACKED if name == "Session" else "figures"
    inner = folded_table((name, "Tokens", "Cost"), cells, name, usage.base, kind)
    return section(f"{name}s", inner, csv)


def _spent_cells(spent: SpendingSum, most: float, usage: Usage, to: Slice) -> tuple[Cell, ...]:
    cost = priced(spent.known_cost, is_partly=bool(spent.unpriced))
    total = spent.tokens.total
    return (
        bar_cell(usage.amount(spent), most, to),
        to.link(tokens_in_words(total), tokens=total),
        to.link(cost, cost=spent.cost) if cost else "",
    )


def _blocks(usage: Usage) -> str:
    found = [block for block in usage.blocks if not block.is_gap][::-1]
    most = max((usage.amount(block.total) for block in found[:MOST_ROWS]), default=0)
    rows = [_block_row(block, most, usage) for block in found]
    heads = ("Begun", "Tokens", "Cost", "Per hour")
    drawn = folded_table(heads, rows, "Five-hour block", kind=STACKED)
    return section("Five-hour blocks", drawn, "as plans count them")


def _block_row(block: BillingBlock, most: float, usage: Usage) -> str:
    here, rate = block.start.astimezone(), block.rate
    first, last = block.total.first or block.start, block.total.last or block.end
    to = usage.to(after=moment_in_words(first), before=moment_in_words(last))
    pace = to.link(priced(rate.cost_per_hour)) if rate and rate.cost_per_hour else ""
    begun = f"{minute_of(here)}{_going_on(block, usage.now)}"
    return row(begun, *_spent_cells(block.total, most, usage, to), pace)


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
    unit = usage.span.of
    runs = [
        BarPart(
            "Main conversations", max(whole - agents - service, 0.0), _who(usage, "main"), unit
        ),
        BarPart("Agents", agents, _who(usage, "agents"), unit),
        BarPart("Service", service, _who(usage, "service"), unit),
    ]
    states = [
        BarPart("Kept", max(whole - left, 0.0), usage.to(branch="kept"), unit),
        BarPart("On abandoned branches", left, usage.to(branch="abandoned"), unit),
    ]
    return section(
        "What it was for",
        parts_bar(runs, usage.write, "Main conversations, agents and service")
        + parts_bar(states, usage.write, "Kept and abandoned"),
    )


def _who(usage: Usage, who: str) -> Slice:
    return usage.to(who=who)


def _cache(usage: Usage) -> str:
    tokens = usage.total.total.tokens
    read = [
        BarPart(CACHE_READ.capitalize(), float(tokens.cache_read), usage.base, "cache_read"),
        BarPart(CACHE_WRITE.capitalize(), float(tokens.cache_write), usage.base, "cache_write"),
        BarPart(INPUT.capitalize(), float(tokens.input), usage.base, "input"),
    ]
    saved = usage.saved.without - usage.saved.paid
    words = (
        f"The same tokens would have cost {priced(usage.saved.without)} without a cache: "
        f"{priced(saved)} more, {share_in_words(saved, usage.saved.without)} of it."
        if saved > 0
        else "The cache saved nothing in this time."
    )
    drawn = parts_bar(read, lambda value: tokens_in_words(round(value)), "What was sent")
    return section("Cache", f'{drawn}<p class="note-line">{words}</p>')


def _unpriced(usage: Usage) -> str:
    found = usage.total.total.unpriced
    if not found:
        return ""
    ordered = sorted(found.items(), key=lambda one: -one[1])
    rows = (
        row(esc(name), usage.to(name=name).link(many(count, "response"), responses=count))
        for name, count in ordered
    )
    note = (
        '<p class="note-line">A file of your own prices helps: <code>prices = "prices.toml"</code> '
        "in the configuration.</p>"
    )
    return section("Without a price", table((), rows) + note, "left out of all sums of money")
