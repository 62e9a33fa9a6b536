"""What a session took to HTML: sums, the window over time, and every response."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple
from urllib.parse import quote

from plait.conversation.prices import name_of
from plait.conversation.usage import Tokens
from plait.view.agents import AgentCost
from plait.view.amounts import many, money_in_words, tokens_in_words
from plait.view.costs import CostSum, ResponseCost, SessionCost
from plait.view.forms import CACHE_READ, KINDS, OUTPUT, model_name
from plait.view.page.conversation.entries import clock
from plait.view.page.figures.charts import bar, cells, drawing, strip, table
from plait.view.page.markup import esc
from plait.view.page.tabs.agents import agents_html
from plait.view.page.tabs.head import Head, choice, paged
from plait.view.page.tabs.paid_again import PaidRequests, paid_again_html
from plait.view.text import shortened

STEP = 200
MOST_COLUMNS = 240
NAMES = {
    "main": "The conversation",
    "agents": "Agents",
    "service": "The client's own errands",
    "abandoned": "Abandoned branches",
}
HEADS = tuple(one.capitalize() for one in ("cost", "responses", *KINDS, "cached"))
RESPONSE_HEADS = tuple(
    one.capitalize() for one in ("number", "turn", "when", "model", *KINDS, "cost", "paid again")
)


class OnlyThose(NamedTuple):
    """Which of the responses are listed."""

    model: str = ""
    who: str = ""

    def has(self, one: ResponseCost) -> bool:
        """Tells whether a response is one of them."""
        return self.model in ("", name_of(one.model, one.tokens)) and self.who in ("", one.who)


ALL_OF_THEM = OnlyThose()


def usage_body(
    head: Head,
    found: SessionCost,
    why: PaidRequests,
    agents: Mapping[str, AgentCost],
    *,
    by: str,
    start: int = 1,
    only: OnlyThose = ALL_OF_THEM,
) -> str:
    """Returns the sums, the agents, what was paid for again, the window, and the responses."""
    if not found.responses:
        return '<p class="empty">No model answered in this session.</p>'
    place = head.place("usage")
    who = _sums_table("Who asked", found.by_who, found.total, NAMES, f"{place}?who=")
    models = _sums_table("Models", found.by_model, found.total, {}, f"{place}?model=")
    return (
        f'{_cards(found.total)}<div class="sum-tables">{models}{who}</div>'
        f"{agents_html(head, agents.values())}"
        f"{paid_again_html(head, why, _counted(found))}{_window_chart(head, found.responses)}"
        f"{_responses_html(head, found, why, by, start, only)}"
    )


def _counted(found: SessionCost) -> int:
    return sum(one.tokens.total > 0 for one in found.responses)


def _cards(total: CostSum) -> str:
    tokens = total.tokens
    missing = f"{total.unpriced} without a price" if total.unpriced else "at list prices"
    responses = many(total.responses, "response")
    figures = (
        ("Cost", _listed(_cost_words(total)), missing),
        ("Tokens", _listed(tokens_in_words(tokens.total)), _listed(responses)),
        (OUTPUT.capitalize(), _listed(tokens_in_words(tokens.output)), "by the model"),
        ("In", _listed(tokens_in_words(tokens.total_input)), f"{_cached(tokens)} {CACHE_READ}"),
    )
    return strip(figures, "sums-cards")


def _listed(words: str, place: str = "") -> str:
    return f'<a class="fig" href="{esc(place)}#responses">{words}</a>'


def _cached(tokens: Tokens) -> str:
    return f"{100 * tokens.cache_read / tokens.total_input:.0f} %" if tokens.total_input else "0 %"


def _cost_words(one: CostSum) -> str:
    return "–" if one.unpriced == one.responses and one.responses else money_in_words(one.cost)


def _sums_table(
    title: str, sums: Sequence[CostSum], total: CostSum, names: dict[str, str], place: str
) -> str:
    heads = "".join(f'<th scope="col">{name}</th>' for name in HEADS)
    rows = "".join(_sum_row(one, names.get(one.name, one.name), total, place) for one in sums)
    last = _sum_row(total, "Total", total) if len(sums) > 1 else ""
    foot = f"<tfoot>{last}</tfoot>" if last else ""
    return (
        f'<div class="scroll" tabindex="0"><table class="figures-table"><caption>{title}</caption>'
        f'<thead><tr><th scope="col"><span class="hidden">{title}</span></th>{heads}</tr></thead>'
        f"<tbody>{rows}</tbody>{foot}</table></div>"
    )


def _sum_row(one: CostSum, name: str, total: CostSum, place: str = "") -> str:
    tokens = one.tokens
    to = f"{place}{quote(one.name)}" if place else ""
    figures = (
        f"{one.responses}",
        tokens_in_words(tokens.input),
        tokens_in_words(tokens.cache_write),
        tokens_in_words(tokens.cache_read),
        tokens_in_words(tokens.output),
        _cached(tokens),
    )
    share = bar(one.cost / total.cost, "weight") if total.cost else ""
    shown, cost = model_name(name), _listed(_cost_words(one), to)
    return (
        f'<tr><th scope="row" title="{esc(name)}">{esc(shown)}</th>'
        f"{cells(('money', f'{cost}{share}'), *(_listed(words, to) for words in figures))}</tr>"
    )


def _window_chart(head: Head, responses: Iterable[ResponseCost]) -> str:
    found = [one for one in responses if one.who == "main"]
    if len(found) < 3:
        return ""
    step = -(-len(found) // MOST_COLUMNS)
    columns = [max(found[at : at + step], key=_window) for at in range(0, len(found), step)]
    most = max(map(_window, columns)) or 1
    drawn = "".join(
        f'<a href="{esc(head.at(one.uuid))}" tabindex="-1"><rect class="weight" x="{place * 10}" '
        f'y="{100 - 100 * size / most:.1f}" width="8" height="{100 * size / most:.1f}"/></a>'
        for place, one in enumerate(columns)
        for size in (_window(one),)
    )
    label = f"The window over {many(len(found), 'response')}, {tokens_in_words(most)} at most"
    return (
        f'<figure class="over-time"><figcaption>{label}</figcaption>'
        f"{drawing(drawn, 100, 10 * len(columns))}</figure>"
    )


def _window(one: ResponseCost) -> int:
    return one.tokens.total_input + one.tokens.output


def _responses_html(
    head: Head, found: SessionCost, why: PaidRequests, by: str, start: int, only: OnlyThose
) -> str:
    rows = [one for one in found.responses if only.has(one)]
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
        f'<div class="lead-line" id="responses"><h3>Responses</h3>'
        f"{_narrowed(rows, place, only)}{choice('Order', orders)}</div>{pages}"
        f'<div class="scroll" tabindex="0">{body}</div>{pages}'
    )


def _narrowed(rows: Sequence[ResponseCost], place: str, only: OnlyThose) -> str:
    """Says which responses are listed where not all of them are, with what they come to."""
    if only == ALL_OF_THEM:
        return ""
    cost = money_in_words(sum(one.cost or 0.0 for one in rows))
    words = model_name(only.model) or NAMES.get(only.who, only.who)
    told = f"{words}: {many(len(rows), 'response')}, {cost}"
    return f'<p><span role="status">{esc(told)}</span> <a href="{esc(place)}">Show all</a></p>'


def _paid_row(head: Head, one: ResponseCost, cause: str) -> str:
    tokens = one.tokens
    cost = "–" if one.cost is None else money_in_words(one.cost)
    by = f"<small>{esc(shortened(one.by, 60))}</small>" if one.by else ""
    left = "<small>abandoned</small>" if one.who == "abandoned" else ""
    failed = '<small class="warn">error</small>' if one.is_error else ""
    model = model_name(one.model or "")
    kinds = (tokens.input, tokens.cache_write, tokens.cache_read, tokens.output)
    told = cells(
        f'<a href="{esc(head.at(one.uuid))}">{one.number}</a>',
        str(one.turn),
        clock(one.time),
        f"{esc(model)}{by}{left}{failed}",
        *(f"{count:,}".replace(",", " ") for count in kinds),
        cost,
        ("why", esc(cause)),
    )
    return f"<tr>{told}</tr>"
