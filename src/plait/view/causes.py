"""Causes of what was paid for again to words that say what happened."""

from collections.abc import Sequence
from typing import Any

from plait.conversation.account import Cause
from plait.conversation.account.told import WhyRequest
from plait.conversation.waste import WasteKind
from plait.view.amounts import hours_in_words, money_in_words, tokens_in_words
from plait.view.usage import DECIMALS

MOST_JUMPS = 20
DEAR = 2
"""A request that costs so many times the usual one is a jump."""
NAMES: dict[Cause, str] = {
    "pause": "pause",
    "process": "another process",
    "model": "another model",
    "changed": "changed settings",
    "compaction": "compaction",
    "rewind": "rewind",
    "edited": "shortened history",
    "unexplained": "unexplained",
}
REASONS: dict[Cause, str] = {
    "pause": "longer than the cache lives",
    "process": "resumed or forked: other instructions stand before it",
    "model": "each model has a cache of its own",
    "changed": "version, instructions, tools or thinking are others",
    "compaction": "what was preserved stands behind a summary",
    "rewind": "it goes on from an earlier place",
    "edited": "what was said has become less",
    "unexplained": "it fell out, and nothing in the log says why",
}
WASTE: dict[WasteKind, str] = {
    "pause": "sent again after a pause that the cache did not survive",
    "process": "sent again by another process",
    "model": "sent again to another model",
    "changed": "sent again after settings had changed",
    "rewind": "sent again after a rewind",
    "unexplained": "sent again though nothing explains it",
    "reread": "files read again that still stood in the context",
    "giant": "large outputs carried along",
    "unused": "outputs that nothing later named",
    "startup": "agents that cost more to start than to answer",
    "retry": "calls that failed again in the same words",
    "abandoned": "answers on branches that were left",
    "oversized": "small questions to a dear model",
}


def rounded(found: Any) -> Any:
    """Returns figures without dust, wherever they stand."""
    if isinstance(found, dict):
        return {key: rounded(one) for key, one in found.items()}
    if isinstance(found, list):
        return [rounded(one) for one in found]
    return round(found, DECIMALS) if isinstance(found, float) else found


def cause_in_words(cause: Cause, gap_seconds: float | None) -> str:
    """Says what had something paid for again, with how long a pause was."""
    if cause == "pause" and gap_seconds:
        return f"pause of {hours_in_words(gap_seconds * 1000)}"
    return NAMES[cause]


def unknown_in_words(tokens: int) -> str:
    """Says of how much nobody can tell whether it was paid for again."""
    told = f"{tokens_in_words(tokens)} of what is new may have been there before"
    return f"{told}: what it goes on from is not in the log"


def jumps_in(requests: Sequence[WhyRequest]) -> tuple[WhyRequest, ...]:
    """Returns the requests that cost far more than most, or mostly what was paid before."""
    costs = sorted(one.cost_usd or 0.0 for one in requests)
    usual = costs[len(costs) // 2] if costs else 0.0
    dear = [one for one in requests if _is_dear(one, usual)]
    kept = sorted(dear, key=lambda one: -(one.cost_usd or 0.0))[:MOST_JUMPS]
    return tuple(one for one in requests if one in kept)


def _is_dear(one: WhyRequest, usual: float) -> bool:
    cost, again = one.cost_usd or 0.0, one.again_cost_usd or 0.0
    return cost > DEAR * usual or again * 2 > cost


def reason_in_words(one: WhyRequest) -> str:
    """Says why a request cost what it did: its cause, else what was new, else what was answered."""
    told = cause_in_words(one.cause, one.gap_seconds) if one.cause else ""
    if not told and one.new > one.read:
        told = f"{tokens_in_words(one.new)} new"
    if not told and one.output:
        told = f"{tokens_in_words(one.output)} answered"
    return f"{told} (agent)" if one.agent else told


def saving_in_words(least: float, most: float) -> str:
    """Says what is between, as one sum where that is all the same."""
    if most - least < 0.005:
        return money_in_words(most)
    if not least:
        return f"up to {money_in_words(most)}"
    return f"{money_in_words(least)} to {money_in_words(most)}"
