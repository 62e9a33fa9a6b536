"""Spans of a trace to the rows of a waterfall: who is within whom, and when, on one scale.

The scale is the turn's own: what an agent did long after it, or a hook before it, is drawn at
the edge and marked as going on.
"""

from collections.abc import Iterable

from msgspec import Struct

from plait.trace.model import Span
from plait.trace.spans.builder import times_of

MOST_RAILS = 200
"""Characters; what lies deeper is drawn by its nearest ones alone."""


class WaterfallRow(Struct, frozen=True):
    """One line of a waterfall."""

    span: Span
    rails: str
    """The lines that lead to it from above."""
    left: float
    right: float
    """Where its bar begins and ends, from 0 to 1 within the turn."""
    duration: int | None
    """In nanoseconds; None where the log does not say."""
    tokens: int
    """With all that is within it."""
    cost: float | None
    is_early: bool = False
    is_late: bool = False
    """Whether it goes on beyond the scale."""


def waterfall(spans: list[Span]) -> list[WaterfallRow]:
    """Returns the rows of a trace, the root first, what began earlier before what began later."""
    times = times_of(spans)
    sums = Sums(spans)
    scale = _scale_of(spans, times)
    return [
        _row_of(span, rails, times[span.id], scale, sums) for span, rails in _in_order(spans, times)
    ]


def without_quiet_hooks(spans: Iterable[Span]) -> list[Span]:
    """Returns the spans without hooks that took no time and complained of nothing."""
    return [span for span in spans if not _is_quiet(span)]


def _is_quiet(span: Span) -> bool:
    """Tells whether nobody would miss a span."""
    return span.kind == "hook" and span.level == "DEFAULT" and span.start == span.end


class Sums:
    """Tokens and dollars of spans with all that is within them."""

    def __init__(self, spans: list[Span]) -> None:
        self.tokens = {span.id: span.tokens.total if span.tokens else 0 for span in spans}
        self.costs = {span.id: span.cost for span in spans}
        for span in reversed(spans):  # children stand behind their parents
            if span.parent in self.tokens:
                self.tokens[span.parent] += self.tokens[span.id]
                cost = self.costs[span.id]
                if cost is not None:
                    self.costs[span.parent] = (self.costs[span.parent] or 0.0) + cost


def _scale_of(spans: list[Span], times: dict[str, tuple[int, int]]) -> tuple[int, int]:
    start, end = times[spans[0].id]
    if end > start:
        return start, end
    return start, max([start + 1, *(times[span.id][1] for span in spans)])


def _in_order(spans: list[Span], times: dict[str, tuple[int, int]]) -> list[tuple[Span, str]]:
    places = {span.id: place for place, span in enumerate(spans)}
    below: dict[str | None, list[Span]] = {}
    for span in spans:
        below.setdefault(span.parent if span.parent in places else None, []).append(span)
    for members in below.values():
        members.sort(key=lambda one: (times[one.id][0], places[one.id]))
    found: list[tuple[Span, str]] = []
    waiting = [(span, "", "") for span in reversed(below.get(None, []))]
    while waiting:
        span, rails, under = waiting.pop()
        found.append((span, rails))
        members = below.get(span.id, [])
        for place, member in reversed(list(enumerate(members))):
            is_last = place == len(members) - 1
            corner, rail = ("└ ", "  ") if is_last else ("├ ", "│ ")
            kept = under[-MOST_RAILS:]
            waiting.append((member, kept + corner, kept + rail))
    return found


def _row_of(
    span: Span, rails: str, times: tuple[int, int], scale: tuple[int, int], sums: Sums
) -> WaterfallRow:
    first, last = scale
    start, end = times
    width = last - first
    is_known = span.start is not None and span.end is not None
    return WaterfallRow(
        span=span,
        rails=rails,
        left=min(max((start - first) / width, 0.0), 1.0),
        right=min(max((end - first) / width, 0.0), 1.0),
        duration=end - start if is_known else None,
        tokens=sums.tokens[span.id],
        cost=sums.costs[span.id],
        is_early=start < first,
        is_late=end > last,
    )
