"""Properties of all spans."""

from collections.abc import Iterable, Sequence

from plait.trace.model import Span

WITHIN = {"generation": ("turn", "agent"), "tool": ("generation",)}
"""What never begins before what it is a part of. Hooks and agents may, as clients note them."""


def check_traces(found: Sequence[Sequence[Span]]) -> None:
    """Check all that holds for any traces that are read together."""
    spans = [span for trace in found for span in trace]
    assert len({trace[0].trace for trace in found}) == len(found), "a turn is one trace"
    assert len({(span.trace, span.id) for span in spans}) == len(spans), "no span is there twice"
    for trace in found:
        check_trace(trace)


def check_trace(trace: Iterable[Span]) -> None:
    """Check one trace."""
    known: dict[str, Span] = {}
    for span in trace:
        root = next(iter(known.values()), span)
        assert (span.trace, span.session, span.turn) == (root.trace, root.session, root.turn)
        assert is_id(span.trace, 32)
        assert is_id(span.id, 16)
        assert (span.parent is None) == (span is root)
        above = known.get(span.parent or "")
        assert span is root or above, "parents stand before their children"
        assert span.start is None or span.end is None or span.start <= span.end
        assert span.tokens is None or span.kind == "generation"
        known[span.id] = span


def check_times(found: Iterable[Sequence[Span]]) -> None:
    """Check what holds where a clock went forward."""
    for trace in found:
        known = {span.id: span for span in trace}
        for span in trace:
            above = known.get(span.parent or "")
            if above and above.kind in WITHIN.get(span.kind, ()):
                assert is_in_order(above.start, span.start), (above, span)


def is_id(text: str, length: int) -> bool:
    """Return whether a text is an id as OpenTelemetry has them."""
    return len(text) == length and set(text) <= set("0123456789abcdef") and set(text) != {"0"}


def is_in_order(first: int | None, second: int | None) -> bool:
    """Return whether two times are in order, as far as they are known."""
    return first is None or second is None or first <= second
