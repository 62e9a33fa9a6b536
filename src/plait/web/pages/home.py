"""The first page: running and recent sessions, bookmarks, usage of two weeks, backups."""

from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from functools import partial
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import replace
from starlette.requests import Request
from starlette.responses import Response

from plait.archive import StarFile
from plait.archive.live import LiveArchive
from plait.conversation.prices import Prices
from plait.conversation.usage import BilledResponse
from plait.errors import SourceError
from plait.insights.waste import Waste
from plait.insights.why import format_saving, format_saving_share
from plait.usage.spending import filter_by_time, group_spending
from plait.view.formats import (
    format_bytes,
    format_count,
    format_count_if_any,
    format_day,
    format_days_until,
    format_tokens,
)
from plait.view.page.charts import (
    render_days_table,
    render_row,
    render_scroll_area,
    render_table,
    render_year_map,
)
from plait.view.page.markup import break_path, esc, icon, quote_url, session_url
from plait.view.page.session_rows import (
    ListedSession,
    format_cost,
    format_project,
    format_session_cost,
    join_facts,
    render_age,
    render_star_button,
    render_title_link,
)
from plait.view.page.slices import Period, Slice, render_uncounted
from plait.view.text import shorten
from plait.web.pages.session_list import (
    MAX_ROW_TITLE,
    SessionFilter,
    load_star_order,
    mark_starred,
    render_no_sessions,
    render_subfolder_link,
)
from plait.web.responses import get_library, page_or_fragment

RECENT = 12
"""Sessions that the page lists as recent."""
MAX_STARRED = 12
MAX_PIN_TITLE = 160
MAX_DELETED = 8
"""Sessions about to be deleted that are listed."""
WEEK = timedelta(days=7)
SETTING = '"cleanupPeriodDays": 3650'


class PinnedRow(Struct, frozen=True, kw_only=True):
    """A pinned turn."""

    session: str
    """The session's id."""
    name: str | None
    """The session's name in URLs; None if the session is gone."""
    title: str
    """The session's title, if known."""
    uuid: str
    turn: int | None
    words: str
    at: str


class Bookmarks(Struct, frozen=True):
    """Starred sessions and pinned turns, newest first."""

    sessions: Sequence[ListedSession] = ()
    pins: Sequence[PinnedRow] = ()
    problem: str | None = None
    """Why they cannot be read."""


class UsageFigures(NamedTuple):
    """Usage of a week, or of all time."""

    monday: datetime | None
    """The first day of the week; None for all time."""
    cost: float | None
    """None if nothing of it has a price."""
    is_partly_priced: bool
    tokens: int
    sessions: int
    turns: int


class BackupFigures(NamedTuple):
    """What the backup store has, and what it lacks."""

    kept: int
    """Sessions that are completely backed up."""
    gone: int
    """Those of them that are deleted at the source."""
    unkept: int
    at_risk: Sequence[ListedSession]
    """Those that will be lost, the first to be deleted first."""
    bytes: int
    stored_bytes: int


class Home(NamedTuple):
    """Everything the page shows."""

    now: datetime
    running: Sequence[ListedSession]
    recent: Sequence[ListedSession]
    drawings: Mapping[str, str]
    days: Mapping[date, int]
    """Turns started, by day."""
    usage: Sequence[UsageFigures] | None
    """Of two weeks, newest first, and of all time; None if nothing is counted yet."""
    soon: Sequence[ListedSession]
    """Sessions that the client's cleanup will delete within days, the first first."""
    backups: BackupFigures | None
    """None if there is no store, or nothing is known yet."""
    settings: Sequence[str]
    """The settings files that say how long sessions are kept."""
    total: int
    searched: Sequence[str]
    """Folders that were searched."""
    is_counting: bool = False
    waste: Waste | None = None
    """Avoidable spending of this week; None if nothing is counted yet."""
    bookmarks: Bookmarks = Bookmarks()


def serve_home(request: Request) -> Response:
    """Serve the first page."""
    library = get_library(request)
    now = datetime.now(UTC)
    snapshot = library.snapshot
    listed, billing, is_pending, unread = library.rows()
    rows = mark_starred(library, listed)
    bookmarks = load_bookmarks(library, rows)
    newest = sorted(rows, key=lambda session: session.ended or "", reverse=True)
    running = [session for session in newest if session.is_live]
    recent = [session for session in newest if not session.is_live][:RECENT]
    soon = [session for session in rows if session.deleted_at and session.deleted_at - now < WEEK]
    days = library.count_turns_by_day()
    waste, is_weighing = library.waste(since=find_monday(now)).get(timeout=0)
    usage = library.cache.get_or_make(
        ("weeks", now.date(), now.hour),
        (billing, listed),
        partial(
            compute_home_usage,
            billing.responses if billing else None,
            [session.name for session in listed],
            days,
            library.prices,
            now,
        ),
    )
    status = library.backup_status.get().value
    backups = None
    if status is not None:
        names = {snapshot.name_of.get(session.path) for session in status.at_risk}
        at_risk = [session for session in rows if session.name in names and session.deleted_at]
        backups = BackupFigures(
            status.kept,
            status.gone,
            status.unkept,
            sorted(at_risk, key=lambda session: str(session.deleted_at)),
            status.bytes,
            status.stored_bytes,
        )
    page = partial(
        render_home_page,
        Home(
            now=now,
            running=running,
            recent=recent,
            drawings=snapshot.draw_graphs([*running, *recent, *bookmarks.sessions[:MAX_STARRED]]),
            days=days,
            usage=usage,
            soon=sorted(soon, key=lambda session: session.deleted_at or now),
            backups=backups,
            settings=[
                str(config / "settings.json") for config in snapshot.archive.inventory.configs
            ],
            total=len(rows) + unread,
            searched=[str(root) for root in library.roots],
            is_counting=is_pending or is_weighing,
            waste=waste.waste if waste else None,
            bookmarks=bookmarks,
        ),
    )
    return page_or_fragment(request, "Plait", page, page, here="home", is_asking=True)


def load_bookmarks(library: LiveArchive, rows: Sequence[ListedSession]) -> Bookmarks:
    """Return what is starred and pinned, without reading sessions."""
    if library.star_file is None:
        return Bookmarks()
    try:
        order, pins = load_star_order(library.snapshot), StarFile(library.star_file).pins()
    except SourceError as error:
        return Bookmarks(problem=error.message)
    starred = [session for session in rows if session.is_starred]
    titles = {session.name: session.display_title for session in rows}
    names = library.snapshot.names
    return Bookmarks(
        sorted(starred, key=lambda item: order.get(item.name.partition("~")[0], len(order))),
        [
            PinnedRow(
                session=pin.session,
                name=pin.session if pin.session in names else None,
                title=titles.get(pin.session, ""),
                uuid=pin.uuid,
                turn=pin.turn,
                words=pin.words,
                at=pin.at,
            )
            for pin in pins
        ],
    )


def find_monday(now: datetime) -> datetime:
    """Return the local start of a week."""
    local = now.astimezone()
    midnight = local.replace(hour=0, minute=0, second=0, microsecond=0)
    return midnight - timedelta(days=local.weekday())


def compute_home_usage(
    responses: Sequence[BilledResponse] | None,
    names: Sequence[str],
    days: Mapping[date, int],
    prices: Prices,
    now: datetime,
) -> Sequence[UsageFigures] | None:
    """Return the usage of two weeks and of all time; None if nothing is counted yet.

    The weeks are this one and the last; if both are empty, the last two with usage.
    """
    if responses is None:
        return None

    def compute(monday: datetime | None) -> UsageFigures:
        end = monday + WEEK if monday else None
        chosen = filter_by_time(responses, monday, end)
        total = group_spending(chosen, "model", prices).totals.total
        ids = {response.session for response in chosen}
        # several sessions may share an id
        sessions = [name for name in names if name.partition("~")[0] in ids] or ids
        return UsageFigures(
            monday=monday,
            cost=total.known_cost,
            is_partly_priced=bool(total.unpriced),
            tokens=total.tokens.total,
            sessions=len(sessions),
            turns=sum(
                count
                for day, count in days.items()
                if monday is None or monday.date() <= day < (monday + WEEK).date()
            ),
        )

    monday = find_monday(now)
    weeks = [monday, monday - WEEK]
    mondays = (find_monday(response.time) for response in responses if response.time)
    active = {start.date(): start for start in mondays}
    if active and not any(week.date() in active for week in weeks):
        weeks = [active[day] for day in sorted(active, reverse=True)[:2]]
    return [compute(week) for week in (*weeks, None)]


def render_home_page(home: Home) -> str:
    """Render the page."""
    if not home.total:
        content = render_no_sessions(home.searched)
    else:
        content = (
            f'<div class="front"><div class="lately">{_render_sessions(home)}</div>'
            f'<div class="figures-side">{_render_usage(home)}{_render_backups(home)}</div></div>'
        )
    return (
        f'<main class="page" id="main" data-live="home"><h1 class="state">Home</h1>{content}</main>'
    )


def _render_sessions(home: Home) -> str:
    """Render activity, running sessions, bookmarks and recent sessions."""

    def slice_of_day(day: date) -> Slice:
        return Slice(of="begun", since=day.isoformat(), until=day.isoformat())

    year = render_year_map(home.days, home.now.astimezone().date(), "turn", slice_of_day)
    html = (
        "<section><h2>Activity <small>turns started per day</small></h2>"
        f"{render_scroll_area(year, 'Activity', 'scroll end')}"
        f"{render_days_table(home.days, 'turn', slice_of_day)}</section>"
    )
    if home.running:
        html += (
            f"<section><h2>Running now <small>{len(home.running)}</small></h2>"
            f'<ol class="recent">{_render_items(home.running, home)}</ol></section>'
        )
    html += _render_bookmarks(home)
    link = ""
    if home.total > len(home.recent) + len(home.running):
        count = format_count(home.total, "session")
        link = f'<p class="onward"><a href="/sessions">All {count}</a></p>'
    return (
        f'{html}<section><h2>Recent</h2><ol class="recent">{_render_items(home.recent, home)}'
        f"</ol>{link}</section>"
    )


def _render_items(sessions: Sequence[ListedSession], home: Home) -> str:
    items = []
    for session in sessions:
        project_url = SessionFilter(project=session.project).url()
        branch = f'<span class="git">{icon("fork")}{esc(session.branch or "")}</span>'
        facts = [
            f'<a class="where" href="{esc(project_url)}">{esc(format_project(session.root))}</a>',
            branch if session.branch else "",
            "" if session.branch else render_subfolder_link(session),
            format_count_if_any(session.turns, "turn"),
            format_count_if_any(session.branches, "branch", "branches"),
            format_count_if_any(session.agents, "agent"),
        ]
        cost, usage_url = format_session_cost(session), session_url(session.name, "usage")
        cost_link = f'<a class="fig" href="{esc(usage_url)}">{cost}</a>' if cost else ""
        items.append(
            f'<li data-name="{esc(session.name)}"><div class="naming">{render_title_link(session, MAX_ROW_TITLE)}'
            f'<div class="sub">{join_facts(facts)}</div></div>'
            f'<span class="draw">{home.drawings.get(session.name, "")}</span>'
            f'<span class="num">{cost_link}</span>'
            f'<span class="num when">{render_age(session.ended, home.now)}</span>'
            f"{render_star_button(session)}</li>"
        )
    return "".join(items)


def _render_bookmarks(home: Home) -> str:
    bookmarks = home.bookmarks
    if bookmarks.problem:
        return f'<p class="note-line" role="status">Stars and pins: {esc(bookmarks.problem)}</p>'
    html = ""
    if count := len(bookmarks.sessions):
        link = ""
        if count > MAX_STARRED:
            url = esc(SessionFilter(starred="1").url())
            label = f"All {format_count(count, 'starred session')}"
            link = f'<p class="onward"><a href="{url}">{label}</a></p>'
        items = _render_items(bookmarks.sessions[:MAX_STARRED], home)
        html += (
            f'<section class="starred"><h2>Starred <small>{count}</small></h2>'
            f'<ol class="recent">{items}</ol>{link}</section>'
        )
    if bookmarks.pins:
        pins = []
        for pin in bookmarks.pins:
            title = esc(shorten(pin.words, MAX_PIN_TITLE) or "No text")
            link = f'<span class="gone">{title}</span>'
            if pin.name is not None:
                link = f'<a href="{session_url(pin.name)}#{quote_url(pin.uuid)}">{title}</a>'
            facts = [
                f"turn {pin.turn}" if pin.turn is not None else "",
                f'<span class="of">{esc(shorten(pin.title, 90))}</span>' if pin.title else "",
                render_age(pin.at, home.now),
                ""
                if pin.name
                else '<span class="why-gone">Session not in the served folders</span>',
            ]
            pins.append(
                f'<li data-pinned="{esc(pin.uuid)}"><div class="naming">{link}'
                f'<div class="sub">{join_facts(facts)}</div></div>'
                f'<button class="marking rowbtn" data-unpin="{esc(pin.uuid)}" '
                f'data-session="{esc(pin.session)}" aria-label="Unpin: {title}" title="Unpin">'
                f"{icon('pin')}</button></li>"
            )
        html += (
            f'<section class="pinned"><h2>Pinned turns <small>{len(bookmarks.pins)}</small></h2>'
            f'<ol class="pins">{"".join(pins)}</ol></section>'
        )
    return html


def _render_usage(home: Home) -> str:
    if home.usage is None:
        content = render_uncounted(is_counting=home.is_counting)
        return f'<section class="weeks"><h2>Usage</h2>{content}</section>'

    def render_figures(usage: UsageFigures) -> tuple[str, str, str, str]:
        spent = Slice()
        if usage.monday is not None:
            sunday = usage.monday + timedelta(days=6)
            spent = Slice(since=format_day(usage.monday), until=format_day(sunday))
        cost = format_cost(usage.cost, is_partly=usage.is_partly_priced)
        return (
            spent.render_link(cost, cost=usage.cost or 0.0) if cost else "",
            spent.render_link(format_tokens(usage.tokens), tokens=usage.tokens),
            spent.render_link(str(usage.sessions), sessions=usage.sessions),
            replace(spent, of="begun").render_link(str(usage.turns), count=usage.turns),
        )

    monday = find_monday(home.now)
    *weeks, everything = home.usage
    labels = {monday: "This week", monday - WEEK: "Last week"}
    heads = [
        labels.get(usage.monday or monday) or f"Week of\n{format_day(usage.monday or monday)}"
        for usage in weeks
    ]
    names = ("Cost", "Tokens", "Sessions", "Turns started")
    cells = map(render_figures, weeks)
    rows = (render_row(name, *values) for name, *values in zip(names, *cells, strict=True))
    cost, tokens, sessions, turns = render_figures(everything)
    sessions_text = f"{sessions} {'session' if everything.sessions == 1 else 'sessions'} with usage"
    turns_text = f"{turns} {'turn' if everything.turns == 1 else 'turns'} started"
    all_time = ", ".join(
        part for part in (cost, f"{tokens} tokens", sessions_text, turns_text) if part
    )
    saving = f'<p class="saving">All time: {all_time}</p>'
    if home.waste is not None and home.waste.findings:
        url = Period(since=format_day(monday)).url("waste")
        amount = format_saving(home.waste.least_usd, home.waste.total_usd)
        least, most = home.waste.least_usd, home.waste.total_usd
        share = format_saving_share(least, most, home.waste.input_usd)
        note = f" <small>{share} of input cost</small>" if share else ""
        saving += (
            f'<p class="saving">Potential savings this week: <a href="{esc(url)}">{esc(amount)}'
            f"</a>{note}</p>"
        )
    counting = ' data-counting="1"' if home.is_counting else ""
    table = render_table((None, *heads), rows, "figures two")
    return (
        f'<section class="weeks"{counting}><h2>Usage '
        f'<small><a href="/usage">All usage</a></small></h2>{table}{saving}</section>'
    )


DELETES = "Claude Code deletes sessions that have not been used for a while."


def _render_backups(home: Home) -> str:
    """Render what will be deleted and when, with a button that backs it up; else the state of the
    backup.
    """
    backups = home.backups
    if backups is None:
        return _render_deleted("Deleted soon", home.soon, home) if home.soon else ""
    if not backups.unkept:
        if not backups.kept:
            return ""
        gone = ""
        if backups.gone:
            gone = f" Plait has the only copy of {backups.gone} of them."
        size = f"{format_bytes(backups.bytes)}, {format_bytes(backups.stored_bytes)} on disk"
        return (
            f'<section class="going"><h2>Backed up <small>{backups.kept}</small></h2>'
            f"<p>All sessions are backed up: {size}.{gone}</p></section>"
        )
    count = format_count(backups.unkept, "session")
    verb = "is" if backups.unkept == 1 else "are"
    explanation = f"{count} {verb} not backed up."
    if backups.at_risk:  # other agents delete none
        explanation = f"{DELETES} {explanation}"
    label = f"Back up {count}" if backups.unkept == 1 else f"Back up all {count}"
    button = (
        f'<p class="keep-all"><button class="edits main" data-edit="keep">{label}</button>'
        '<span role="status"></span></p>'
    )
    soon = [
        session
        for session in backups.at_risk
        if session.deleted_at is not None and session.deleted_at - home.now < WEEK
    ]
    if soon:
        return _render_deleted("Deleted soon", soon, home, f"{button}<p>{explanation}</p>")
    first = backups.at_risk[0].deleted_at if backups.at_risk else None
    when = ""
    if first:
        when = f" The first will be deleted {esc(format_days_until(first, home.now))}."
    return (
        f'<section class="going"><h2>Not backed up <small>{backups.unkept}</small></h2>'
        f"<p>{explanation}{when}</p>{button}</section>"
    )


def _render_deleted(
    heading: str, sessions: Sequence[ListedSession], home: Home, backup: str = ""
) -> str:
    """Render sessions that will be deleted, and the setting that keeps them longer."""
    rows = "".join(
        f'<li data-name="{esc(session.name)}">{render_title_link(session, 70)}<span class="num">'
        f"{esc(format_days_until(session.deleted_at, home.now)) if session.deleted_at else ''}"
        "</span></li>"
        for session in sessions[:MAX_DELETED]
    )
    rest = len(sessions) - MAX_DELETED
    more = f'<p class="onward">and {format_count(rest, "more session")}</p>' if rest > 0 else ""
    files = ", ".join(f"<code>{break_path(path)}</code>" for path in home.settings)
    intro = "" if backup else f"{DELETES} "
    return (
        f'<section class="going"><h2>{heading} <small>{len(sessions)}</small></h2>'
        f'<ol class="short">{rows}</ol>{more}{backup}'
        f"<p>{intro}To make Claude Code keep sessions longer, "
        f"raise <code>cleanupPeriodDays</code> in {files}:</p>"
        f'<p><button class="resume" data-copy="{esc(SETTING)}" title="Copy">{icon("copy")}'
        f"<code>{esc(SETTING)}</code></button></p></section>"
    )
