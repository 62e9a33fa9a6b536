"""What was done lately to the first page: where was I, what runs, what it took, what will go."""

from collections.abc import Mapping, Sequence
from datetime import date, datetime, timedelta
from typing import NamedTuple

from msgspec.structs import replace

from plait.conversation.prices import Prices
from plait.conversation.spending import spending, within
from plait.conversation.usage import BilledResponse
from plait.conversation.waste.findings import Waste
from plait.view.amounts import bytes_in_words, many, some, tokens_in_words, until
from plait.view.causes import saving_in_words
from plait.view.forms import day_of
from plait.view.page.figures.charts import row, scrolled, share_in_words, table
from plait.view.page.figures.heat import days_table, heat_map
from plait.view.page.figures.period import Period, uncounted
from plait.view.page.figures.slices import Slice
from plait.view.page.lists.choice import Choice, part_link
from plait.view.page.lists.rows import (
    ListedSession,
    ago,
    cost_cell,
    joined,
    priced,
    short_place,
    star_button,
    title_link,
)
from plait.view.page.lists.sessions import no_sessions
from plait.view.page.lists.starred import MOST, Marked, pinned_part, starred_part
from plait.view.page.markup import esc, icon, session_address, with_breaks

WEEK = timedelta(days=7)
SETTING = '"cleanupPeriodDays": 3650'


class WeekFigures(NamedTuple):
    """What a week took."""

    cost: float | None
    """None where nothing of it has a price."""
    is_partly_priced: bool
    tokens: int
    sessions: int
    turns: int


class KeptFigures(NamedTuple):
    """What a store holds, and what it lacks."""

    kept: int
    """Sessions that are kept as they are."""
    gone: int
    """Those of them that are no longer at their source."""
    unkept: int
    lost: Sequence[ListedSession]
    """Those that will be lost, the first to go first."""
    bytes: int
    stored_bytes: int


class Home(NamedTuple):
    """What the page is made of."""

    now: datetime
    running: Sequence[ListedSession]
    recent: Sequence[ListedSession]
    drawings: Mapping[str, str]
    days: Mapping[date, int]
    """Turns that were begun, by day."""
    week: WeekFigures | None
    """None where nobody has counted yet."""
    last_week: WeekFigures | None
    soon: Sequence[ListedSession]
    """What the client's cleanup will delete within days, the first to go first."""
    keeping: KeptFigures | None
    """What is kept and what will be lost; None where nothing can be kept, or nobody knows yet."""
    settings: Sequence[str]
    """The files that say for how long sessions are kept."""
    total: int
    looked: Sequence[str]
    is_counting: bool = False
    wasted: Waste | None = None
    """What this week could have cost less; None where nobody has counted yet."""
    marked: Marked = Marked()
    """What is starred and pinned."""


def monday_of(now: datetime) -> datetime:
    """Returns when this week began here."""
    here = now.astimezone()
    midnight = here.replace(hour=0, minute=0, second=0, microsecond=0)
    return midnight - timedelta(days=here.weekday())


def two_weeks(
    responses: Sequence[BilledResponse] | None,
    days: Mapping[date, int],
    prices: Prices,
    now: datetime,
) -> tuple[WeekFigures | None, WeekFigures | None]:
    """Returns what this week took and what the last one did; None where nobody has counted."""
    if responses is None:
        return None, None
    monday = monday_of(now)
    this = _week_from(responses, days, prices, monday)
    return this, _week_from(responses, days, prices, monday - WEEK)


def _week_from(
    responses: Sequence[BilledResponse], days: Mapping[date, int], prices: Prices, start: datetime
) -> WeekFigures:
    end = start + WEEK
    chosen = within(responses, start, end)
    total = spending(chosen, "model", prices).totals.total
    first, last = start.astimezone().date(), end.astimezone().date()
    return WeekFigures(
        cost=total.known_cost,
        is_partly_priced=bool(total.unpriced),
        tokens=total.tokens.total,
        sessions=len({one.session for one in chosen}),
        turns=sum(count for day, count in days.items() if first <= day < last),
    )


def home_page(home: Home) -> str:
    """Returns the page."""
    if not home.total:
        inner = no_sessions(home.looked)
    else:
        inner = (
            f'<div class="front"><div class="lately">{_activity(home)}{_running(home)}'
            f"{_marked(home)}{_recent(home)}</div>"
            f'<div class="figures-side">{_weeks(home)}{_keeping(home)}</div></div>'
        )
    return (
        f'<main class="page" id="main" data-live="home"><h1 class="state">Home</h1>{inner}</main>'
    )


def _activity(home: Home) -> str:
    drawn = heat_map(home.days, home.now.astimezone().date(), "turn", _begun_on)
    return (
        "<section><h2>Activity <small>turns begun, day by day</small></h2>"
        f"{scrolled(drawn, 'Activity', 'scroll end')}"
        f"{days_table(home.days, 'turn', _begun_on)}</section>"
    )


def _begun_on(day: date) -> Slice:
    return Slice(of="begun", since=day.isoformat(), until=day.isoformat())


def _running(home: Home) -> str:
    if not home.running:
        return ""
    return (
        f"<section><h2>Running now <small>{len(home.running)}</small></h2>"
        f'<ol class="recent">{_items(home.running, home)}</ol></section>'
    )


def _marked(home: Home) -> str:
    drawn = _items(home.marked.sessions[:MOST], home)
    return starred_part(home.marked, drawn) + pinned_part(home.marked, home.now)


def _recent(home: Home) -> str:
    rest = home.total - len(home.recent) - len(home.running)
    link = (
        f'<p class="onward"><a href="/sessions">All {many(home.total, "session")}</a></p>'
        if rest > 0
        else ""
    )
    rows = _items(home.recent, home)
    return f'<section><h2>Recent</h2><ol class="recent">{rows}</ol>{link}</section>'


def _items(rows: Sequence[ListedSession], home: Home) -> str:
    return "".join(_item(one, home) for one in rows)


def _item(one: ListedSession, home: Home) -> str:
    told = [
        f'<a class="where" href="{esc(Choice(project=one.project).address())}">'
        f"{esc(short_place(one.root))}</a>",
        part_link(one),
        f'<span class="git">{icon("fork")}{esc(one.branch)}</span>' if one.branch else "",
        some(one.turns, "turn"),
        some(one.branches, "branch", "branches"),
        some(one.agents, "agent"),
    ]
    return (
        f'<li data-name="{esc(one.name)}"><div class="naming">{title_link(one)}'
        f'<div class="sub">{joined(told)}</div></div>'
        f'<span class="draw">{home.drawings.get(one.name, "")}</span>'
        f'<span class="num">{_cost_link(one)}</span>'
        f'<span class="num when">{ago(one.ended, home.now)}</span>{star_button(one)}</li>'
    )


def _cost_link(one: ListedSession) -> str:
    cost = cost_cell(one)
    place = session_address(one.name, "usage")
    return f'<a class="fig" href="{esc(place)}">{cost}</a>' if cost else ""


def _weeks(home: Home) -> str:
    if home.week is None or home.last_week is None:
        told = uncounted(is_counting=home.is_counting)
        return f'<section class="weeks"><h2>Usage</h2>{told}</section>'
    monday = monday_of(home.now)
    cells = [_week(home.week, monday), _week(home.last_week, monday - WEEK)]
    names = ("Cost", "Tokens", "Sessions", "Turns")
    rows = (row(name, *found) for name, *found in zip(names, *cells, strict=True))
    counting = ' data-counting="1"' if home.is_counting else ""
    return (
        f'<section class="weeks"{counting}><h2>Usage '
        '<small><a href="/usage">All figures</a></small></h2>'
        f"{table((None, 'This week', 'Last week'), rows, 'figures two')}{_saving(home)}</section>"
    )


def _week(found: WeekFigures, monday: datetime) -> tuple[str, str, str, str]:
    sunday = monday + timedelta(days=6)
    spent = Slice(since=day_of(monday), until=day_of(sunday))
    begun = replace(spent, of="begun")
    return (
        spent.link(_spent(found), cost=found.cost or 0.0) if _spent(found) else "",
        spent.link(tokens_in_words(found.tokens), tokens=found.tokens),
        spent.link(str(found.sessions), sessions=found.sessions),
        begun.link(str(found.turns), count=found.turns),
    )


def _saving(home: Home) -> str:
    """Returns what this week could have cost less, nothing where that is nothing."""
    found = home.wasted
    if found is None or not found.findings:
        return ""
    place = Period(since=day_of(monday_of(home.now))).address("waste")
    words = saving_in_words(found.least_usd, found.total_usd)
    share = share_in_words(found.total_usd, found.input_usd)
    of = f" <small>{share} of what was sent</small>" if share else ""
    return (
        f'<p class="saving">Could have been saved this week: <a href="{esc(place)}">'
        f"{esc(words)}</a>{of}</p>"
    )


def _spent(spell: WeekFigures) -> str:
    return priced(spell.cost, is_partly=spell.is_partly_priced)


def _keeping(home: Home) -> str:
    """Returns what will be lost and when, with what keeps it; else how much is kept."""
    if home.keeping is None:
        return _going("Deleted soon", home.soon, home) if home.soon else ""
    found = home.keeping
    if not found.unkept:
        return _kept(found)
    soon = [one for one in found.lost if _is_soon(one, home)]
    words = many(found.unkept, "session")
    asked = f"Keep {words}" if found.unkept == 1 else f"Keep all {words}"
    button = (
        f'<p class="keep-all"><button class="edits main" data-edit="keep">{asked}</button>'
        '<span role="status"></span></p>'
    )
    if soon:
        return _going("Lost soon", soon, home, f"{button}<p>{_unkept(found)}</p>")
    first = found.lost[0].deleted_at if found.lost else None
    when = f" The first goes {esc(until(first, home.now))}." if first else ""
    return (
        f'<section class="going"><h2>Not kept <small>{found.unkept}</small></h2>'
        f"<p>{_unkept(found)}{when}</p>{button}</section>"
    )


def _unkept(found: KeptFigures) -> str:
    are = "is" if found.unkept == 1 else "are"
    kept = f"; {many(found.kept, 'other')} are" if found.kept > 1 else ""
    return (
        "Claude Code deletes sessions that were not used for a while. "
        f"{many(found.unkept, 'session')} {are} not kept as they are now{kept}."
    )


def _kept(found: KeptFigures) -> str:
    if not found.kept:
        return ""
    are = "is" if found.gone == 1 else "are"
    gone = f" {found.gone} of them {are} no longer at their source." if found.gone else ""
    room = f"{bytes_in_words(found.bytes)} in {bytes_in_words(found.stored_bytes)} on disk"
    return (
        f'<section class="going"><h2>Kept <small>{found.kept}</small></h2>'
        f"<p>All sessions are kept: {room}.{gone}</p></section>"
    )


def _is_soon(one: ListedSession, home: Home) -> bool:
    return one.deleted_at is not None and one.deleted_at - home.now < WEEK


def _going(heading: str, going: Sequence[ListedSession], home: Home, more: str = "") -> str:
    rows = "".join(
        f'<li data-name="{esc(one.name)}">{title_link(one, 70)}<span class="num">'
        f"{esc(until(one.deleted_at, home.now)) if one.deleted_at else ''}</span></li>"
        for one in going[:8]
    )
    rest = len(going) - 8
    onward = f'<p class="onward">and {many(rest, "more session")}</p>' if rest > 0 else ""
    files = ", ".join(f"<code>{with_breaks(path)}</code>" for path in home.settings)
    told = "" if more else "Claude Code deletes sessions that were not used for a while. "
    return (
        f'<section class="going"><h2>{heading} <small>{len(going)}</small></h2>'
        f'<ol class="short">{rows}</ol>{onward}{more}'
        f"<p>{told}To let Claude Code keep them longer, "
        f"raise <code>cleanupPeriodDays</code> in {files}:</p>"
        f'<p><button class="resume" data-copy="{esc(SETTING)}" title="Copy">{icon("copy")}'
        f"<code>{esc(SETTING)}</code></button></p></section>"
    )
