"""The page behind one figure: session by session, with sums equal to the figure."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime
from functools import partial
from typing import NamedTuple

from starlette.requests import Request
from starlette.responses import Response

from plait.archive.live import Billing, ListedSessions, LiveArchive
from plait.conversation.prices import Prices, format_unpriced_model
from plait.conversation.session_counts import SessionPart
from plait.conversation.usage import NO_TOKENS, BilledResponse
from plait.insights.page import find_local_hour
from plait.insights.report import NIGHT_HOURS, SATURDAY
from plait.insights.waste import SessionWaste
from plait.record.time import parse_time
from plait.usage.page import compute_cache_savings
from plait.usage.spending import (
    NO_MODEL,
    SpendingRow,
    SpendingSum,
    filter_by_time,
    group_spending,
)
from plait.view.formats import (
    CACHE_READ,
    TOKEN_KINDS,
    format_count,
    format_day,
    format_hours,
    format_minute,
    format_model,
    format_models_distinctly,
    format_tokens,
    join_dotted,
)
from plait.view.page.charts import (
    STACKED,
    StartedTurn,
    render_bar_cell,
    render_row,
    render_scroll_area,
    render_table,
    render_totals,
)
from plait.view.page.markup import esc, quote_url, session_url
from plait.view.page.session_rows import ListedSession, format_cost, format_project
from plait.view.page.slices import STEP, UNTIMED, Slice, read_slice, render_uncounted
from plait.view.text import shorten
from plait.web.responses import get_library, page_or_fragment

MAX_TITLE = 100
NAMES = {
    "responses": "Responses",
    "begun": "Turns started",
    "beyond": "Counted by Claude Code, but missing from the logs",
    "sessions": "Sessions",
    "turns": "Turns",
    "prompts": "Prompts",
    "calls": "Tool calls",
    "failed": "Failed calls",
    "rejected": "Rejected calls",
    "interruptions": "Interruptions",
    "rewinds": "Rewinds",
    "retracted": "Retracted prompts",
    "compactions": "Compactions",
    "queued": "Queued prompts",
    "commands": "Commands",
    "api_errors": "API errors",
    "api_retries": "API retries",
    "agents": "Agents",
    "service_agents": "Background requests",
    "tokens": "Tokens",
    "working_ms": "Work time",
    "asking_ms": "Time waiting for you",
    "tools": "Calls",
    "files": "Changes",
    "models": "Responses",
    "waste": "Avoidable spending",
}
"""Headings by what a slice counts."""
PARTS = {
    "ok": "Successful calls",
    "failed": "Failed calls",
    "rejected": "Rejected calls",
    "interrupted": "Interrupted calls",
    "missing": "Calls without a result",
    "calls": "Calls",
    "tokens": "Tokens",
    "output": "Output tokens",
    "reads": "Reads",
    "added": "Lines added",
    "removed": "Lines removed",
    "cost": "Potential savings",
    "least": "Definitely wasted",
    "sent": "Input cost",
    "night": "Prompts at night",
    "weekend": "Prompts on weekends",
}
"""Headings by the part of it that is counted."""
WHO = {"main": "main conversations", "agents": "agents", "service": "background requests"}
BRANCHES = {"kept": "kept", "abandoned": "on abandoned branches"}
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
FILE_PARTS = ("changes", "reads", "added", "removed")
AGENT_PARTS = ("agents", "calls")
TABS = {
    "beyond": "usage",
    "waste": "usage",
    "models": "usage",
    "tokens": "usage",
    "files": "files",
}
"""The tab of a session that shows what is counted; by default its conversation."""
HEADS = ("Responses", *(kind.capitalize() for kind in TOKEN_KINDS), "Tokens", "Cost")


class CountedPage(NamedTuple):
    """A slice, and its content by session."""

    slice: Slice
    sessions: Mapping[str, ListedSession]
    project_directories: Mapping[str, str]
    is_counting: bool
    spending: Sequence[SpendingRow] | None = None
    """By session, if responses are counted."""
    saved: float = 0.0
    """Dollars that the cache saved on these responses."""
    amounts: Mapping[str, float] | None = None
    """By session, if anything else is counted."""
    first_turns: Mapping[str, StartedTurn] = {}
    """The first counted turn of each session."""
    model_names: Mapping[str, str] = {}


def serve_counted(request: Request) -> Response:
    """Serve the page behind one figure: the sessions that it counts."""
    library, slice_ = get_library(request), read_slice(request.query_params)
    page = _count_slice(library, slice_, library.rows())
    place = "insights" if page.amounts is not None and slice_.of != "begun" else "usage"
    return page_or_fragment(
        request,
        "Counted",
        partial(render_counted_list, page),
        partial(render_counted_page, page),
        here=place,
    )


def _count_slice(library: LiveArchive, slice_: Slice, rows: ListedSessions) -> CountedPage:
    sessions = {session.name: session for session in rows.sessions}
    page = CountedPage(slice_, sessions, rows.directories, rows.is_pending)
    if slice_.of in ("responses", "beyond"):
        return page if rows.billing is None else _count_billing(page, rows.billing, library.prices)
    if slice_.of == "begun":
        turns = filter_started_turns(slice_, library.snapshot.prompted_turns, sessions)
        return page._replace(
            is_counting=False,
            amounts=Counter(turn.name for turn in turns),
            first_turns={turn.name: turn for turn in reversed(turns)},
        )
    chosen = slice_.project or None, *slice_.bounds
    name_session = library.snapshot.name_session
    if slice_.of == "waste":
        waste, is_counting = library.waste(*chosen).get()
        amounts = waste and measure_session_waste(
            slice_, ((name_session(session), part) for session, part in waste.parts)
        )
        return page._replace(is_counting=is_counting, amounts=amounts)
    statistics, is_counting = library.figures(*chosen).get()
    if statistics is None:
        return page._replace(is_counting=is_counting)
    parts = ((name_session(session), part) for session, part in statistics.parts)
    amounts = {
        name: measure_slice(slice_, part) for name, part in parts if slice_.session in ("", name)
    }
    return page._replace(
        is_counting=is_counting,
        amounts={name: amount for name, amount in amounts.items() if amount},
        model_names=format_models_distinctly(model.model for model in statistics.figures.models),
    )


def _count_billing(page: CountedPage, billing: Billing, prices: Prices) -> CountedPage:
    slice_ = page.slice
    if slice_.of == "beyond":
        unlogged = filter_by_time(billing.unlogged, *slice_.bounds)
        costs = {
            cost.session: cost.cost for cost in unlogged if slice_.project in ("", cost.project)
        }
        return page._replace(amounts=costs)
    models = set(slice_.model.split(",")) if slice_.model else None
    after, before = parse_time(slice_.after), parse_time(slice_.before)

    def is_unpriced_model(response: BilledResponse) -> bool:
        label = format_unpriced_model(response.model, response.tokens)
        cost = prices.cost(response.model, response.tokens, response.time)
        return label == slice_.name and cost is None

    def get_requester(response: BilledResponse) -> str:
        return response.kind if response.kind in ("main", "service") else "agents"

    responses = [
        response
        for response in filter_by_time(billing.responses, *slice_.bounds)
        if (not slice_.project or response.project == slice_.project)
        and (not slice_.session or response.session == slice_.session)
        and (not slice_.name or is_unpriced_model(response))
        and (models is None or (response.model or NO_MODEL) in models)
        and (not slice_.who or get_requester(response) == slice_.who)
        and (
            not slice_.branch
            or (response.uuid in billing.abandoned) == (slice_.branch == "abandoned")
        )
        and (slice_.part != UNTIMED or response.time is None)
        and (after is None or (response.time is not None and response.time >= after))
        and (before is None or (response.time is not None and response.time <= before))
    ]
    savings = compute_cache_savings(responses, prices)
    rows = group_spending(responses, "session", prices).rows
    return page._replace(
        spending=sorted(
            rows, key=lambda row: (-row.total.cost, -row.total.tokens.total, row.key or "")
        ),
        saved=savings.without - savings.paid,
        model_names=format_models_distinctly(
            {response.model or NO_MODEL for response in billing.responses}
        ),
    )


def filter_started_turns(
    slice_: Slice, turns: Iterable[StartedTurn], sessions: Mapping[str, ListedSession]
) -> list[StartedTurn]:
    """Return the turns of a slice that users started, by time."""

    def is_in_project(turn: StartedTurn) -> bool:
        session = sessions.get(turn.name)
        return session is not None and session.project == slice_.project

    chosen = [
        turn
        for turn in turns
        if (not slice_.since or format_day(turn.time) >= slice_.since)
        and (not slice_.until or format_day(turn.time) <= slice_.until)
        and (not slice_.project or is_in_project(turn))
        and (not slice_.weekday or str(turn.time.weekday()) == slice_.weekday)
        and (not slice_.hour or str(turn.time.hour) == slice_.hour)
    ]
    return sorted(chosen, key=lambda turn: turn.time)


def measure_slice(slice_: Slice, part: SessionPart) -> float:
    """Return how much of a slice one session has."""
    match slice_.of:
        case "sessions":
            return part.session is not None
        case "tools":
            outcomes = part.tools.get(slice_.name, {})
            return outcomes.get(slice_.part, 0) if slice_.part else sum(outcomes.values())
        case "agents" if slice_.name and slice_.part == "tokens":
            return part.agent_tokens.get(slice_.name, NO_TOKENS).total
        case "agents" if slice_.name:
            agents = part.agents.get(slice_.name)
            figure = slice_.part if slice_.part in AGENT_PARTS else AGENT_PARTS[0]
            return getattr(agents, figure) if agents else 0
        case "files":
            file = part.files.get(slice_.name)
            figure = slice_.part if slice_.part in FILE_PARTS else FILE_PARTS[0]
            return getattr(file, figure) if file else 0
        case "models":
            chosen = [used for name, used in part.models.items() if slice_.name in ("", name)]
            if slice_.part == "output":
                return sum(tokens.output for _, tokens in chosen)
            return sum(responses for responses, _ in chosen)
        case "prompts" if slice_.weekday or slice_.hour or slice_.part:
            return sum(count for quarter, count in part.prompts.items() if _is_at(slice_, quarter))
        case "tokens":
            return sum(tokens.total for _, tokens in part.models.values())
        case name if name in ("working_ms", "asking_ms"):
            return part.spent.get(name, 0)
        case name:
            return part.counts.get(name, 0)


def _is_at(slice_: Slice, quarter: int) -> bool:
    """Return whether a quarter of an hour is in the hours of a slice."""
    local = find_local_hour(quarter)
    if local is None:
        return False
    weekday, hour = local
    if slice_.part == "night" and hour not in NIGHT_HOURS:
        return False
    if slice_.part == "weekend" and weekday < SATURDAY:
        return False
    is_day = not slice_.weekday or str(weekday) == slice_.weekday
    return is_day and (not slice_.hour or str(hour) == slice_.hour)


def measure_session_waste(
    slice_: Slice, parts: Iterable[tuple[str, SessionWaste]]
) -> dict[str, float]:
    """Return each session's waste of one kind or of all: how often, or dollars."""
    amounts: dict[str, float] = {}
    for name, waste in parts:
        if slice_.session not in ("", name):
            continue
        findings = [finding for finding in waste.findings if slice_.name in ("", finding.kind)]
        match slice_.part:
            case "sent":
                amounts[name] = waste.input_usd
            case "least":
                amounts[name] = sum(finding.least_usd for finding in findings)
            case "cost":
                amounts[name] = sum(finding.cost_usd for finding in findings)
            case _:
                amounts[name] = sum(finding.count for finding in findings)
    return {name: amount for name, amount in amounts.items() if amount}


def render_counted_page(page: CountedPage) -> str:
    """Render the page."""
    slice_ = page.slice
    models = slice_.model.split(",") if slice_.model else ()
    directory = page.project_directories.get(slice_.project, slice_.project)
    first, last = (
        format_day(date.fromisoformat(day)) if day else "" for day in (slice_.since, slice_.until)
    )
    if slice_.after and slice_.before:
        time = " to ".join(
            format_minute(datetime.fromisoformat(stamp).astimezone())
            for stamp in (slice_.after, slice_.before)
        )
    elif first == last:
        time = first or "All time"
    elif first and last:
        time = f"{first} to {last}"
    else:
        time = f"Since {first}" if first else f"To {last}"
    description = join_dotted(
        format_project(directory) if slice_.project else "",
        ", ".join(_format_model_name(page, model) for model in models),
        WHO.get(slice_.who, ""),
        BRANCHES.get(slice_.branch, ""),
        time,
        WEEKDAYS[int(slice_.weekday)] if slice_.weekday in tuple("0123456") else "",
        f"{int(slice_.hour):02}:00 to {int(slice_.hour):02}:59" if slice_.hour.isdecimal() else "",
    )
    return (
        '<main class="page" id="main" data-live="counted"><div class="heading">'
        f"<h1>{esc(_format_heading(page))}</h1></div>"
        f'<p class="status-text"><span>{esc(description)}</span></p>'
        f"<div data-results>{render_counted_list(page)}</div></main>"
    )


def render_counted_list(page: CountedPage) -> str:
    """Render the totals and the sessions."""
    if page.spending is not None:
        return _render_spending(page, page.spending)
    if page.amounts is not None:
        return _render_amounts(page, page.amounts)
    return render_uncounted(is_counting=page.is_counting)


def _format_heading(page: CountedPage) -> str:
    slice_ = page.slice
    heading = PARTS.get(slice_.part, "") or NAMES.get(slice_.of, "Counted")
    if not slice_.name:
        return heading
    name = _format_model_name(page, slice_.name) if slice_.of == "models" else slice_.name
    return f"{heading}: {name}"


def _format_model_name(page: CountedPage, name: str) -> str:
    return page.model_names.get(name) or format_model(name)


def _render_spending(page: CountedPage, rows: Sequence[SpendingRow]) -> str:
    total = SpendingSum()
    for row in rows:
        total.merge(row.total)
    tokens = total.tokens
    ids = {row.key or "" for row in rows}
    # several sessions may share an id
    names = [name for name in page.sessions if name.partition("~")[0] in ids] or ids
    share = tokens.cache_read / tokens.total_input * 100 if tokens.total_input else 0.0
    sums = {
        "cost": total.cost,
        "tokens": tokens.total,
        "responses": total.responses,
        "sessions": len(names),
        "input": tokens.input,
        "cache_write": tokens.cache_write,
        "cache_read": tokens.cache_read,
        "output": tokens.output,
        "saved": page.saved,
    }
    figures = (
        ("Cost", format_cost(total.known_cost, is_partly=bool(total.unpriced)), ""),
        ("Tokens", format_tokens(tokens.total), format_count(total.responses, "response")),
        (
            CACHE_READ.capitalize(),
            format_tokens(tokens.cache_read),
            f"{share:.1f}% of input" if tokens.total_input else "",
        ),
        ("Saved by the cache", format_cost(max(page.saved, 0)), "compared with no cache"),
        ("Sessions", str(len(names)), ""),
    )
    cells = []
    for row in rows[: page.slice.n]:
        used = row.total.tokens
        url = session_url(row.key or "", "usage")
        counts = (used.input, used.cache_write, used.cache_read, used.output, used.total)
        cost = format_cost(row.total.known_cost, is_partly=bool(row.total.unpriced))
        values = (str(row.total.responses), *map(format_tokens, counts), cost)
        links = (f'<a class="fig" href="{esc(url)}">{value}</a>' for value in values)
        cells.append(render_row(_render_title(page, row.key or "", url), *links))
    table = render_table(("Session", *HEADS), cells, f"{STACKED} counted")
    return _render_list(page, figures, sums, table, len(rows))


def _render_amounts(page: CountedPage, amounts: Mapping[str, float]) -> str:
    rows = sorted(amounts.items(), key=lambda item: (-item[1], item[0]))
    total, maximum = sum(amounts.values()), max(amounts.values(), default=0)
    label = _format_heading(page).partition(":")[0]
    figures = ((label, _format_amount(page, total), ""), ("Sessions", str(len(rows)), ""))
    cells = []
    for name, amount in rows[: page.slice.n]:
        turn = page.first_turns.get(name)
        url = session_url(name, TABS.get(page.slice.of, "read"))
        if turn:
            url = f"{session_url(name)}?turn={turn.turn}#{quote_url(turn.uuid)}"
        cells.append(
            render_row(
                _render_title(page, name, url),
                render_bar_cell(amount, maximum),
                f'<a class="fig" href="{esc(url)}">{_format_amount(page, amount)}</a>',
            )
        )
    sums = {"count": total, "sessions": len(rows)}
    table = render_table(("Session", None, label), cells, STACKED)
    return _render_list(page, figures, sums, table, len(rows))


def _render_list(
    page: CountedPage,
    figures: Iterable[tuple[str, str, str]],
    sums: Mapping[str, float],
    table: str,
    count: int,
) -> str:
    # tests compare these sums with the figures that link here
    data = " ".join(f"{name}={value!r}" for name, value in sums.items())
    totals = render_totals(figures, is_counting=page.is_counting)
    more = ""
    if count > page.slice.n:
        label = format_count(min(STEP, count - page.slice.n), "more session")
        href = esc(page.slice.url(n=page.slice.n + STEP))
        more = f'<p class="more-rows"><a href="{href}">Show {label}</a></p>'
    return f'<div data-sums="{data}">{totals}</div>{render_scroll_area(table, "Sessions")}{more}'


def _render_title(page: CountedPage, name: str, url: str) -> str:
    session = page.sessions.get(name)
    if session is None:
        return esc(name)
    title = esc(shorten(session.display_title, MAX_TITLE))
    return f'<a href="{esc(url)}">{title}</a><small> {esc(format_project(session.place))}</small>'


def _format_amount(page: CountedPage, amount: float) -> str:
    slice_ = page.slice
    if slice_.of == "beyond" or slice_.part in ("cost", "least", "sent"):
        return format_cost(amount)
    if slice_.of in ("working_ms", "asking_ms"):
        return format_hours(amount) or "0 s"
    if slice_.of == "tokens" or slice_.part in ("tokens", "output"):
        return format_tokens(round(amount))
    return f"{amount:,.0f}"
