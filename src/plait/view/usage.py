"""Rows of figures to JSON, and figures to the words of a table."""

from datetime import datetime
from typing import Any

from plait.conversation.spending import BillingBlock, SpendingRow, SpendingSum
from plait.conversation.usage import Tokens

DECIMALS = 9
"""So that dollars add up and carry no dust."""
BEYOND = "compactions and other requests that no log holds"
"""What the client counts, and nothing that it writes tells of."""


def tokens_object(tokens: Tokens) -> dict[str, int]:
    """Returns tokens under the names they have in all JSON."""
    return {
        "input_tokens": tokens.input,
        "output_tokens": tokens.output,
        "cache_creation_tokens": tokens.cache_write,
        "cache_creation_1h_tokens": tokens.cache_write_1h,
        "cache_read_tokens": tokens.cache_read,
        "total_tokens": tokens.total,
        "web_searches": tokens.web_searches,
        "web_fetches": tokens.web_fetches,
    }


def figures_value(tally: SpendingSum) -> dict[str, Any]:
    """Returns figures under the names they have in all JSON."""
    return {
        "responses": tally.responses,
        **tokens_object(tally.tokens),
        "cost_usd": round(tally.cost, DECIMALS),
        "unpriced": sorted(tally.unpriced),
        "unpriced_responses": sum(tally.unpriced.values()),
        "logged_cost_usd": None if tally.logged is None else round(tally.logged, DECIMALS),
    }


def row_value(row: SpendingRow, *, is_full: bool) -> dict[str, Any]:
    """Returns a row with its parts; in full, model by model."""
    value = {
        **figures_value(row.total),
        "models": list(row.models),
        "agents": figures_value(row.agents),
        "service": figures_value(row.service),
        "abandoned": figures_value(row.abandoned),
    }
    if is_full:
        value["breakdown"] = {name: figures_value(tally) for name, tally in row.models.items()}
    return value


def block_value(block: BillingBlock, now: datetime, *, is_full: bool) -> dict[str, Any]:
    """Returns a block or a gap as JSON has it."""
    rate, projected = block.rate, block.projected(now)
    return {
        "start": block.start,
        "end": block.end,
        "active": block.is_active,
        "gap": block.is_gap,
        "first": block.total.first,
        "last": block.total.last,
        "minutes_left": round(block.left(now).total_seconds() / 60) if block.is_active else None,
        "tokens_per_minute": round(rate.tokens_per_minute, 1) if rate else None,
        "cost_usd_per_hour": round(rate.cost_per_hour, DECIMALS) if rate else None,
        "projected_tokens": projected[0] if projected else None,
        "projected_cost_usd": round(projected[1], DECIMALS) if projected else None,
        **row_value(block.row, is_full=is_full),
    }


def money(amount: float) -> str:
    """Writes dollars with two decimals."""
    return f"${amount:,.2f}".replace(",", " ")


def cost_of(tally: SpendingSum) -> str:
    """Writes the cost of a row; a star says that something in it has no price."""
    if not tally.unpriced:
        return f"{money(tally.cost)} "
    return "?*" if tally.known_cost is None else f"{money(tally.cost)}*"
