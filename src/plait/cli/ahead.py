"""What the next prompt of a session sends, to words and to JSON as things are now."""

from typing import Any

from plait.cli.output import Output
from plait.cli.text import now
from plait.view.context_window import NextSent


def print_ahead(output: Output, sent: NextSent, style: str) -> None:
    """Says what it sends, what that costs, and which of both prices it is now."""
    output.print(sent.sentence, style=style)
    if standing := sent.standing(now()):
        output.print(standing, style=style)


def ahead_value(sent: NextSent | None) -> dict[str, Any] | None:
    """Returns the same for programs, None where nothing says how many tokens it sends."""
    if sent is None:
        return None
    return {
        "tokens": sent.tokens,
        "cost_usd": sent.cost_usd,
        "is_warm": sent.is_warm(now()),
        "cold_at": sent.cold_at,
    }
