"""What a session took to HTML: sums, the window over time, and every response."""

from collections.abc import Iterable, Sequence

from plait.conversation.usage import Tokens
from plait.view.amounts import many, money_in_words, tokens_in_words
from plait.view.costs import CostSum, ResponseCost, SessionCost
from plait.view.page.conversation.entries import clock
from plait.view.page.figures.charts import bar, cells, drawing, strip, table
from plait.view.page.markup import esc
from plait.view.page.tabs.head import Head, choice, paged
from plait.view.page.tabs.paid_again import PaidRequests, paid_again_html
from plait.view.text import DATED, shortened

STEP = 200
MOST_COLUMNS = 240
NAMES = {
    "main": "the conversation",
    "agents": "agents",
    "service": "the client's own errands",
    "abandoned": "abandoned branches",
}
HEADS = ("responses", "input", "cache write", "cache read", "output", "cached", "cost")
RESPONSE_HEADS = (
    "number",
    "turn",
    "when",
    "model",
    "input",
    "cache write",
    "cache read",
    "output",
    "cost",
    "paid again",
)


def usage_body(
    head: Head, found: SessionCost, why: PaidRequests, *, by: str, start: int = 1
) -> str:
    """Returns the sums, what was paid for again, the window over time, and the responses."""
    if not found.responses:
        return '<p class="empty">No model answered in this session.</p>'
    who = _sums_table("Who asked", found.by_who, found.total, NAMES)
    models = _sums_table("Models", found.by_model, found.total, {})
    return (
        f'{_cards(found.total)}<div class="sum-tables">{models}{who}</div>'
        f"{paid_again_html(head, why, _counted(found))}{_window_chart(found.responses)}"
        f"{_responses_html(head, found, why, by, start)}"
    )


def _counted(found: SessionCost) -> int:
    return sum(one.tokens.total > 0 for one in found.responses)


def _cards(total: CostSum) -> str:
    tokens = total.tokens
    missing = f"{total.unpriced} without a price" if total.unpriced else "at list prices"
    figures = (
        ("cost", _cost_words(total), missing),
        ("tokens", tokens_in_words(tokens.total), many(total.responses, "response")),
        ("written", tokens_in_words(tokens.output), "by the model"),
        ("read", tokens_in_words(tokens.total_input), f"{_cached(tokens)} from the cache"),
    )
    return strip(figures, "sums-cards")


def _cached(tokens: Tokens) -> str:
    return f"{100 * tokens.cache_read / tokens.total_input:.0f} %" if tokens.total_input else "0 %"


def _cost_words(one: CostSum) -> str:
    return "–" if one.unpriced == one.responses and one.responses else money_in_words(one.cost)


def _sums_table(title: str, sums: Sequence[CostSum], total: CostSum, names: dict[str, str]) -> str:
    heads = "".join(f'<th scope="col">{name}</th>' for name in HEADS)
    rows = "".join(_sum_row(one, names.get(one.name, one.name), total) for one in sums)
    last = _sum_row(total, "together", total) if len(sums) > 1 else ""
    foot = f"<tfoot>{last}</tfoot>" if last else ""
    return (
        f'<div class="scroll" tabindex="0"><table class="figures-table"><caption>{title}</caption>'
        f'<thead><tr><th scope="col"><span class="hidden">{title}</span></th>{heads}</tr></thead>'
        f"<tbody>{rows}</tbody>{foot}</table></div>"
    )


def _sum_row(one: CostSum, name: str, total: CostSum) -> str:
    tokens = one.tokens
    figures = (
        f"{one.responses}",
        tokens_in_words(tokens.input),
        tokens_in_words(tokens.cache_write),
        tokens_in_words(tokens.cache_read),
        tokens_in_words(tokens.output),
        _cached(tokens),
    )
    share = bar(one.cost / total.cost, "weight") if total.cost else ""
    shown = DATED.sub("", name)
    return (
        f'<tr><th scope="row" title="{esc(name)}">{esc(shown)}</th>'
        f"{cells(*figures, ('money', f'{_cost_words(one)}{share}'))}</tr>"
    )


def _window_chart(responses: Iterable[ResponseCost]) -> str:
    sizes = [one.tokens.total_input + one.tokens.output for one in responses if one.who == "main"]
    if len(sizes) < 3:
        return ""
    step = -(-len(sizes) // MOST_COLUMNS)
    columns = [max(sizes[at : at + step]) for at in range(0, len(sizes), step)]
    most = max(columns) or 1
    drawn = "".join(
        f'<rect class="weight" x="{place * 10}" y="{100 - 100 * size / most:.1f}" width="8" '
        f'height="{100 * size / most:.1f}"/>'
        for place, size in enumerate(columns)
    )
    label = f"The window over {many(len(sizes), 'response')}, {tokens_in_words(most)} at most"
    return (
        f'<figure class="over-time"><figcaption>{label}</figcaption>'
        f"{drawing(drawn, 100, 10 * len(columns))}</figure>"
    )


def _responses_html(head: Head, found: SessionCost, why: PaidRequests, by: str, start: int) -> str:
    rows = list(found.responses)
    if by == "cost":
        rows.sort(key=lambda one: -(one.cost or 0))
    place = head.place("usage")
    base = f"{place}?by=cost&" if by == "cost" else f"{place}?"
    shown, pages = paged("responses", rows, start, base, STEP)
    orders = [("By time", place, by != "cost"), ("By cost", f"{place}?by=cost", by == "cost")]
    causes = why.causes
    rows_html = (_paid_row(head, one, causes.get(one.uuid or "", "")) for one in shown)
    body = table(RESPONSE_HEADS, rows_html, "figures-table responses")
    return (
        f'<div class="lead-line"><h3>Responses</h3>{choice("Order", orders)}</div>{pages}'
        f'<div class="scroll" tabindex="0">{body}</div>{pages}'
    )


def _paid_row(head: Head, one: ResponseCost, cause: str) -> str:
    tokens = one.tokens
    cost = "–" if one.cost is None else money_in_words(one.cost)
    by = f"<small>{esc(shortened(one.by, 60))}</small>" if one.by else ""
    left = "<small>abandoned</small>" if one.who == "abandoned" else ""
    failed = '<small class="warn">error</small>' if one.is_error else ""
    model = DATED.sub("", one.model or "")
    kinds = (tokens.input, tokens.cache_write, tokens.cache_read, tokens.output)
    told = cells(
        f'<a href="{esc(head.at(one.uuid))}">{one.number}</a>',
        str(one.turn),
        clock(one.time),
        f"{esc(model)}{by}{left}{failed}",
        *map(str, kinds),
        cost,
        ("why", esc(cause)),
    )
    return f"<tr>{told}</tr>"
