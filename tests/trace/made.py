"""Made-up spans for tests of storing and sending."""

from typing import Any

from plait.trace.model import Span


def made(number: int, session: str = "s1", **facts: Any) -> Span:
    """Return a span that is told from others by its number."""
    return Span(
        trace=f"{number:032x}",
        id=f"{number:016x}",
        kind="turn",
        name=f"Turn {number}",
        start=number * 1_000_000_000,
        end=number * 1_000_000_000 + 1,
        session=session,
        conversation=session,
        turn=number,
        **facts,
    )


def many(count: int, **facts: Any) -> list[Span]:
    """Return spans 1 to count."""
    return [made(number, **facts) for number in range(1, count + 1)]


def ids(spans: list[Span]) -> list[str]:
    """Return the ids of spans."""
    return [span.id for span in spans]
