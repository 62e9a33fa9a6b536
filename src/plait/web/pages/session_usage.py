"""The Usage tab of a session: totals, agents, what was paid again, and every response."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from starlette.requests import Request
from starlette.responses import Response

from plait.conversation.costs import CostSum, ResponseCost, SessionCost
from plait.conversation.prices import format_unpriced_model
from plait.conversation.usage import Tokens
from plait.insights.why import (
    CAUSE_NAMES,
    CAUSE_REASONS,
    WhyRequest,
    WhyTotals,
    find_jumps,
    format_cause,
    format_reason,
    format_unknown,
)
from plait.view.agents import AgentCost, format_agent_cost, sum_agent_costs
from plait.view.formats import (
    CACHE_READ,
    OUTPUT,
    TOKEN_KINDS,
    format_count,
    format_duration,
    format_first_models,
    format_model,
    format_money,
    format_tokens,
    format_utc,
)
from plait.view.page.charts import (
    format_share,
    render_bar,
    render_cells,
    render_drawing,
    render_row,
    render_scroll_area,
    render_table,
    render_totals,
)
from plait.view.page.entries import render_time
from plait.view.page.frame import SessionHeader, paginate, render_choice
from plait.view.page.markup import esc, quote_url
from plait.view.page.slices import render_uncounted
from plait.view.summaries import LABEL_LENGTH
from plait.view.text import shorten, strip_markdown_marks
from plait.web.responses import SessionRequest, read_number, tab_response

AGENT_HEADS = ("Task", "Cost", "Time", "Responses", "Input", "Output", "Model", "Type", "View")


def render_agents(head: SessionHeader, agents: Iterable[AgentCost]) -> str:
    """Render the agents, the most expensive first, Claude Code's background requests folded."""
    by_cost = sorted(agents, key=lambda agent: (-(agent.cost or 0), -agent.tokens.total))
    launched = [agent for agent in by_cost if agent.type != "service"]
    background = [agent for agent in by_cost if agent.type == "service"]
    html = ""
    if launched:
        html += '<div class="lead-line of-agents"><h3>Agents</h3></div>'
        html += _render_agents_table(head, launched)
    if background:
        words = f"{format_count(len(background), 'background request')} by Claude Code"
        table = _render_agents_table(head, background)
        html += f'<details class="background-requests"><summary>{words}</summary>{table}</details>'
    return html


def _render_agents_table(head: SessionHeader, agents: Sequence[AgentCost]) -> str:
    heads = "".join(f'<th scope="col">{name}</th>' for name in AGENT_HEADS)
    rows = []
    for agent in agents:
        note = "<small>abandoned</small>" if agent.who == "abandoned" else ""
        url = esc(f"{head.tab_url()}#line-{quote_url(agent.line)}")
        timeline_url = esc(f"{head.tab_url('timeline')}?line={quote_url(agent.line, safe='')}")
        figures = _render_agent_figures(agent, format_duration(agent.duration_ms) or "–")
        details = render_cells(
            esc(format_first_models(agent.models)),
            f"{esc(agent.type)}{note}",
            f'<a href="{timeline_url}">timeline</a>',
        )
        task = strip_markdown_marks(shorten(agent.prompt, LABEL_LENGTH))
        title = f'<th scope="row"><a href="{url}">{esc(task)}</a></th>'
        rows.append(f"<tr>{title}{figures}{details}</tr>")
    foot = ""
    if len(agents) > 1:
        figures = _render_agent_figures(sum_agent_costs(agents), "")
        empty = render_cells("", "", "")
        foot = f'<tfoot><tr><th scope="row">Total</th>{figures}{empty}</tr></tfoot>'
    return (
        '<div class="scroll" tabindex="0"><table class="figures-table agents-table">'
        f"<thead><tr>{heads}</tr></thead><tbody>{''.join(rows)}</tbody>{foot}</table></div>"
    )


def _render_agent_figures(agent: AgentCost, duration: str) -> str:
    tooltip = (
        f' title="{format_count(agent.unpriced, "response")} without a price"'
        if agent.unpriced
        else ""
    )
    return render_cells(
        ("money", f"<span{tooltip}>{format_agent_cost(agent) or '–'}</span>"),
        duration,
        str(agent.responses),
        format_tokens(agent.tokens.total_input),
        format_tokens(agent.tokens.output),
    )


CAUSE_HEADS = ("why", "paid again", "of input", "requests", "tokens")
JUMP_HEADS = ("turn", "when", "cost", "why", "sent", "paid again")


class PaidRequests(NamedTuple):
    """The requests counted for a session, as far as they are known."""

    requests: tuple[WhyRequest, ...] = ()
    totals: WhyTotals | None = None
    """None if not counted yet."""
    is_counting: bool = False

    @property
    def causes(self) -> Mapping[str, str]:
        """The cause of what was paid again, by the first record of a response."""
        return {
            request.uuid: format_cause(request.cause, request.gap_seconds)
            for request in self.requests
            if request.uuid and request.cause
        }


def render_paid_again(head: SessionHeader, paid: PaidRequests, responses: int) -> str:
    """Render the causes and the jumps; mention responses that count for other sessions."""
    totals = paid.totals
    if totals is None:
        content = render_uncounted(is_counting=paid.is_counting)
        return f'<section class="paid-again"><h3>Cache misses</h3>{content}</section>'
    counting = ' data-counting="1"' if paid.is_counting else ""
    elsewhere, count = "", responses - totals.requests
    if count > 0 and not paid.is_counting:
        clause = (
            "also occurs in another session and is"
            if count == 1
            else "also occur in other sessions and are"
        )
        elsewhere = f"<p>{format_count(count, 'response')} {clause} counted there.</p>"
    return (
        f'<section class="paid-again"{counting}><h3>Cache misses</h3>'
        f"{_render_causes(totals)}{elsewhere}</section>{_render_jumps(head, paid)}"
    )


def _render_causes(totals: WhyTotals) -> str:
    unknown = f"<p>{format_unknown(totals.unknown)}.</p>" if totals.unknown else ""
    if not totals.again:
        suffix = " found" if unknown else ""
        return f"<p>No cache misses{suffix}.</p>{unknown}"
    input_cost = totals.input_cost_usd
    share = (
        f", {format_share(totals.again_cost_usd, input_cost)} of input cost" if input_cost else ""
    )
    causes = sorted(totals.causes.items(), key=lambda pair: -pair[1].again_cost_usd)
    rows = (
        render_row(
            f"{esc(CAUSE_NAMES[name])} <small>{esc(CAUSE_REASONS[name])}</small>",
            format_money(cause.again_cost_usd),
            format_share(cause.again_cost_usd, input_cost),
            str(cause.requests),
            format_tokens(cause.again),
        )
        for name, cause in causes
    )
    table = render_table(CAUSE_HEADS, rows, "figures-table causes")
    cost = format_money(totals.again_cost_usd)
    summary = f"{cost} paid again for input that had already been cached{share}."
    return f"<p>{summary}</p>{unknown}{render_scroll_area(table, 'Causes of cache misses')}"


def _render_jumps(head: SessionHeader, paid: PaidRequests) -> str:
    jumps = find_jumps(paid.requests)
    if not jumps:
        return ""
    rows = []
    for request in jumps:
        sent = request.read + request.new + request.again + request.uncached
        when = format_utc(request.time) if request.time else None
        cells = render_cells(
            "–" if request.turn is None else str(request.turn),
            f'<a href="{esc(head.record_url(request.uuid))}">{render_time(when) or "there"}</a>',
            "–" if request.cost_usd is None else format_money(request.cost_usd),
            ("why", esc(format_reason(request))),
            format_tokens(sent),
            format_tokens(request.again) if request.again else "",
        )
        rows.append(f"<tr>{cells}</tr>")
    table = render_table(JUMP_HEADS, rows, "figures-table jumps")
    rest, note = len(paid.requests) - len(jumps), ""
    if rest:
        note = f"<p>{format_count(rest, 'other request')} listed under Responses below.</p>"
    return (
        f"<section><h3>Cost spikes</h3>{render_scroll_area(table, 'Cost spikes')}{note}</section>"
    )


STEP = 200
MOST_COLUMNS = 240
REQUESTER_NAMES = {
    "main": "Main conversation",
    "agents": "Agents",
    "service": "Background requests by Claude Code",
    "abandoned": "Abandoned branches",
}
HEADS = tuple(name.capitalize() for name in ("cost", "responses", *TOKEN_KINDS, "cached"))
RESPONSE_HEADS = tuple(
    name.capitalize()
    for name in ("number", "turn", "when", "model", *TOKEN_KINDS, "cost", "paid again")
)


class ResponseFilter(NamedTuple):
    """Which responses are listed."""

    model: str = ""
    who: str = ""

    def matches(self, response: ResponseCost) -> bool:
        """Return whether a response is listed."""
        model = format_unpriced_model(response.model, response.tokens)
        return self.model in ("", model) and self.who in ("", response.who)


ALL_RESPONSES = ResponseFilter()


def render_usage_body(
    head: SessionHeader,
    cost: SessionCost,
    paid: PaidRequests,
    agents: Mapping[str, AgentCost],
    *,
    by: str,
    start: int = 1,
    only: ResponseFilter = ALL_RESPONSES,
) -> str:
    """Render the tab."""
    if not cost.responses:
        return '<p class="empty">No usage in this session.</p>'
    place = head.tab_url("usage")
    by_requester = _render_sums(
        "Requested by", cost.by_who, cost.total, REQUESTER_NAMES, f"{place}?who="
    )
    models = _render_sums("Models", cost.by_model, cost.total, {}, f"{place}?model=")
    response_count = sum(response.tokens.total > 0 for response in cost.responses)
    rows = [response for response in cost.responses if only.matches(response)]
    if by == "cost":
        rows.sort(key=lambda response: -(response.cost or 0))
    url = head.tab_url("usage")
    base = f"{url}?by=cost&" if by == "cost" else f"{url}?"
    note = ""
    if only != ALL_RESPONSES:
        subject = format_model(only.model) or REQUESTER_NAMES.get(only.who, only.who)
        spent = format_money(sum(response.cost or 0.0 for response in rows))
        summary = f"{subject}: {format_count(len(rows), 'response')}, {spent}"
        note = f'<p><span role="status">{esc(summary)}</span> <a href="{esc(url)}">Show all</a></p>'
    shown, pages = paginate("responses", rows, start, base, STEP)
    orders = [("By time", url, by != "cost"), ("By cost", f"{url}?by=cost", by == "cost")]
    causes = paid.causes
    rows_html = (
        _render_response(head, response, causes.get(response.uuid or "", "")) for response in shown
    )
    body = render_table(RESPONSE_HEADS, rows_html, "figures-table responses")
    responses = (
        f'<div class="lead-line" id="responses"><h3>Responses</h3>'
        f"{note}{render_choice('Order', orders)}</div>{pages}"
        f'<div class="scroll" tabindex="0">{body}</div>{pages}'
    )
    return (
        f'{_render_totals(cost)}<div class="sum-tables">{models}{by_requester}</div>'
        f"{render_agents(head, agents.values())}"
        f"{render_paid_again(head, paid, response_count)}{_render_window_chart(head, cost.responses)}"
        f"{responses}"
    )


def _render_totals(cost: SessionCost) -> str:
    total, tokens = cost.total, cost.total.tokens
    # Such a line has the figures at the time when it was written, not the final ones.
    partial = sum(
        response.stop_reason is None and response.tokens.total > 0 and not response.is_error
        for response in cost.responses
    )
    output_note = "by the model"
    if partial:
        output_note = f"minimum: {format_count(partial, 'response')} logged before completion"
    unpriced = format_count(total.unpriced, "response")
    price_note = f"{unpriced} without a price" if total.unpriced else "at list prices"
    responses = format_count(total.responses, "response")
    figures = (
        ("Cost", _render_responses_link(_format_cost_sum(total)), price_note),
        (
            "Tokens",
            _render_responses_link(format_tokens(tokens.total)),
            _render_responses_link(responses),
        ),
        (OUTPUT.capitalize(), _render_responses_link(format_tokens(tokens.output)), output_note),
        (
            "Input",
            _render_responses_link(format_tokens(tokens.total_input)),
            f"{_format_cached_share(tokens)} {CACHE_READ}",
        ),
    )
    return render_totals(figures, "sums-cards")


def _render_responses_link(label: str, url: str = "") -> str:
    return f'<a class="fig" href="{esc(url)}#responses">{label}</a>'


def _format_cached_share(tokens: Tokens) -> str:
    return f"{100 * tokens.cache_read / tokens.total_input:.0f}%" if tokens.total_input else "0%"


def _format_cost_sum(total: CostSum) -> str:
    return (
        "–" if total.unpriced == total.responses and total.responses else format_money(total.cost)
    )


def _render_sums(
    title: str, sums: Sequence[CostSum], total: CostSum, names: dict[str, str], url: str
) -> str:
    heads = "".join(f'<th scope="col">{name}</th>' for name in HEADS)
    rows = "".join(_render_sum(sum_, names.get(sum_.name, sum_.name), total, url) for sum_ in sums)
    total_row = _render_sum(total, "Total", total) if len(sums) > 1 else ""
    foot = f"<tfoot>{total_row}</tfoot>" if total_row else ""
    return (
        f'<div class="scroll" tabindex="0"><table class="figures-table"><caption>{title}</caption>'
        f'<thead><tr><th scope="col"><span class="hidden">{title}</span></th>{heads}</tr></thead>'
        f"<tbody>{rows}</tbody>{foot}</table></div>"
    )


def _render_sum(sum_: CostSum, name: str, total: CostSum, url: str = "") -> str:
    tokens = sum_.tokens
    target = f"{url}{quote_url(sum_.name)}" if url else ""
    figures = (
        f"{sum_.responses}",
        format_tokens(tokens.input),
        format_tokens(tokens.cache_write),
        format_tokens(tokens.cache_read),
        format_tokens(tokens.output),
        _format_cached_share(tokens),
    )
    share = render_bar(sum_.cost / total.cost, "weight") if total.cost else ""
    cost = _render_responses_link(_format_cost_sum(sum_), target)
    links = (_render_responses_link(figure, target) for figure in figures)
    cells = render_cells(("money", f"{cost}{share}"), *links)
    label = esc(format_model(name))
    return f'<tr><th scope="row" title="{esc(name)}">{label}</th>{cells}</tr>'


def _render_window_chart(head: SessionHeader, responses: Iterable[ResponseCost]) -> str:
    main = [response for response in responses if response.who == "main"]
    if len(main) < 3:
        return ""
    step = -(-len(main) // MOST_COLUMNS)
    columns = [
        max(main[start : start + step], key=_get_window_size) for start in range(0, len(main), step)
    ]
    maximum = max(map(_get_window_size, columns)) or 1
    bars = "".join(
        f'<a href="{esc(head.record_url(response.uuid))}" tabindex="-1"><rect class="weight" x="{index * 10}" '
        f'y="{100 - 100 * size / maximum:.1f}" width="8" height="{100 * size / maximum:.1f}"/></a>'
        for index, response in enumerate(columns)
        for size in (_get_window_size(response),)
    )
    label = f"Context window over {format_count(len(main), 'response')}, up to {format_tokens(maximum)} tokens"
    return (
        f'<figure class="over-time"><figcaption>{label}</figcaption>'
        f"{render_drawing(bars, 100, 10 * len(columns))}</figure>"
    )


def _get_window_size(response: ResponseCost) -> int:
    return response.tokens.total_input + response.tokens.output


def _render_response(head: SessionHeader, response: ResponseCost, cause: str) -> str:
    tokens = response.tokens
    cost = "–" if response.cost is None else format_money(response.cost)
    by = f"<small>{esc(shorten(response.by, 60))}</small>" if response.by else ""
    abandoned = "<small>abandoned</small>" if response.who == "abandoned" else ""
    failed = '<small class="warn">error</small>' if response.is_error else ""
    model = format_model(response.model or "")
    kinds = (tokens.input, tokens.cache_write, tokens.cache_read, tokens.output)
    row_cells = render_cells(
        f'<a href="{esc(head.record_url(response.uuid))}">{response.number}</a>',
        str(response.turn),
        render_time(response.time),
        f"{esc(model)}{by}{abandoned}{failed}",
        *(f"{count:,}" for count in kinds),
        cost,
        ("why", esc(cause)),
    )
    return f"<tr>{row_cells}</tr>"


MAX_QUERY = 300


def serve_usage(request: Request) -> Response:
    """Serve the tab."""
    session, query = SessionRequest(request), request.query_params
    why, is_counting = session.library.why(session.name)
    paid = PaidRequests(is_counting=is_counting)
    if why is not None:
        paid = PaidRequests(why.requests, why.totals, is_counting)
    body = render_usage_body(
        session.header,
        session.live.cost,
        paid,
        session.live.agents,
        by=query.get("by", "time"),
        start=read_number(request, "from") or 1,
        only=ResponseFilter(query.get("model", "")[:MAX_QUERY], query.get("who", "")[:MAX_QUERY]),
    )
    return tab_response(request, session, "usage", body)
