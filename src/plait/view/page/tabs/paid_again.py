"""Requests of a session to what of it was paid for again and why, and to its jumps in cost."""

from collections.abc import Mapping
from typing import NamedTuple

from plait.conversation.account.told import CauseSum, WhyRequest, WhyTotals
from plait.view.amounts import many, money_in_words, tokens_in_words
from plait.view.causes import (
    NAMES,
    REASONS,
    cause_in_words,
    jumps_in,
    reason_in_words,
    unknown_in_words,
)
from plait.view.forms import stamp_of
from plait.view.page.conversation.entries import clock
from plait.view.page.figures.charts import cells, row, scrolled, share_in_words, table
from plait.view.page.figures.period import uncounted
from plait.view.page.markup import esc
from plait.view.page.tabs.head import Head

CAUSE_HEADS = ("why", "paid again", "of what was sent", "requests", "tokens")
JUMP_HEADS = ("turn", "when", "cost", "why", "sent", "again")


class PaidRequests(NamedTuple):
    """The requests that are counted to a session, as far as anybody has counted."""

    requests: tuple[WhyRequest, ...] = ()
    totals: WhyTotals | None = None
    """None where nobody has counted yet."""
    is_counting: bool = False

    @property
    def causes(self) -> Mapping[str, str]:
        """Why something was paid for again, in words, by the record a response begins with."""
        return {
            one.uuid: cause_in_words(one.cause, one.gap_seconds)
            for one in self.requests
            if one.uuid and one.cause
        }


def paid_again_html(head: Head, found: PaidRequests, responses: int) -> str:
    """Returns the causes and the jumps; responses beyond those counted here are told."""
    totals = found.totals
    if totals is None:
        inner = uncounted(is_counting=found.is_counting)
        return f'<section class="paid-again"><h3>Paid again</h3>{inner}</section>'
    counting = ' data-counting="1"' if found.is_counting else ""
    rest = "" if found.is_counting else _elsewhere(responses - totals.requests)
    return (
        f'<section class="paid-again"{counting}><h3>Paid again</h3>'
        f"{_causes(totals)}{rest}</section>{_jumps(head, found)}"
    )


def _causes(totals: WhyTotals) -> str:
    unknown = f"<p>{unknown_in_words(totals.unknown)}.</p>" if totals.unknown else ""
    if not totals.again:
        known = ", as far as is known" if unknown else ""
        return f"<p>Nothing was paid for again{known}.</p>{unknown}"
    whole = totals.input_cost_usd
    share = f", {share_in_words(totals.again_cost_usd, whole)} of what was sent" if whole else ""
    causes = sorted(totals.causes.items(), key=lambda pair: -pair[1].again_cost_usd)
    rows = (_cause_row(NAMES[name], REASONS[name], one, whole) for name, one in causes)
    drawn = table(CAUSE_HEADS, rows, "figures-table causes")
    told = f"{money_in_words(totals.again_cost_usd)} for what the cache had held before{share}."
    return f"<p>{told}</p>{unknown}{scrolled(drawn, 'Why something was paid for again')}"


def _cause_row(name: str, reason: str, one: CauseSum, whole: float) -> str:
    return row(
        f"{esc(name)} <small>{esc(reason)}</small>",
        money_in_words(one.again_cost_usd),
        share_in_words(one.again_cost_usd, whole),
        str(one.requests),
        tokens_in_words(one.again),
    )


def _elsewhere(count: int) -> str:
    if count <= 0:
        return ""
    stand = (
        "stands in another session too, and is" if count == 1 else "stand in others too, and are"
    )
    return f"<p>{many(count, 'response')} {stand} counted there.</p>"


def _jumps(head: Head, found: PaidRequests) -> str:
    shown = jumps_in(found.requests)
    if not shown:
        return ""
    drawn = table(JUMP_HEADS, (_jump(head, one) for one in shown), "figures-table jumps")
    return (
        f"<section><h3>Jumps in cost</h3>{scrolled(drawn, 'Jumps in cost')}"
        f"{_usual(len(found.requests) - len(shown))}</section>"
    )


def _usual(count: int) -> str:
    if not count:
        return ""
    stand = "stands" if count == 1 else "stand"
    return f"<p>{many(count, 'other request')} {stand} among the responses below.</p>"


def _jump(head: Head, one: WhyRequest) -> str:
    sent = one.read + one.new + one.again + one.uncached
    when = stamp_of(one.time) if one.time else None
    words = "–" if one.turn is None else str(one.turn)
    told = cells(
        words,
        f'<a href="{esc(head.at(one.uuid))}">{clock(when) or "there"}</a>',
        "–" if one.cost_usd is None else money_in_words(one.cost_usd),
        ("why", esc(reason_in_words(one))),
        tokens_in_words(sent),
        tokens_in_words(one.again) if one.again else "",
    )
    return f"<tr>{told}</tr>"
