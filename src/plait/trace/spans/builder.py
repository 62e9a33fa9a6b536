"""Records to the spans of a trace while it is built: ids, times, what later spans hang on."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from hashlib import blake2b
from typing import Any, NamedTuple

from plait.conversation.model import Conversation, Item
from plait.record.time import Interval, moment
from plait.trace.model import Span, SpanKind

TRACE_BYTES, SPAN_BYTES = 16, 8
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)
MILLISECOND_NS = 1_000_000
LATEST = (1 << 63) - 1


def trace_id(key: str) -> str:
    """Returns the id of the trace that a record begins: 32 hexadecimal digits."""
    return _digits(f"trace {key}", TRACE_BYTES)


def _span_id(trace: str, key: str) -> str:
    return _digits(f"{trace} {key}", SPAN_BYTES)


def _digits(text: str, size: int) -> str:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=size).hexdigest()


class Where(NamedTuple):
    """The conversation that a span stands in."""

    conversation: str
    is_abandoned: bool = False


@dataclass(slots=True)
class TraceBuilder:
    """The spans of one trace so far, parents before their children."""

    trace: str
    session: str
    project: str
    turn: int
    spans: list[Span] = field(default_factory=list)
    calls: dict[str, str] = field(default_factory=dict)
    """The span of each call, for the hooks that ran beside it."""
    compactions: list[Span] = field(default_factory=list)
    used: dict[str, int] = field(default_factory=dict)

    def add(self, where: Where, kind: SpanKind, key: str, **facts: Any) -> Span:
        """Takes in a span; where a key comes twice, the later ones are numbered."""
        name = f"{kind} {key}"
        count = self.used[name] = self.used.get(name, 0) + 1
        span = Span(
            trace=self.trace,
            id=_span_id(self.trace, name if count == 1 else f"{name} {count}"),
            kind=kind,
            session=self.session,
            conversation=where.conversation,
            project=self.project,
            turn=self.turn,
            is_abandoned=facts.pop("is_abandoned", False) or where.is_abandoned,
            **facts,
        )
        self.spans.append(span)
        return span


def record_key(item: Item) -> str:
    """Returns what a record is known by: its uuid, else its place."""
    return item.uuid or f"line {item.file}:{item.line}"


def first_key(conversation: Conversation, items: tuple[Item, ...]) -> str:
    """Returns what a stretch of a conversation is known by: the first record with a uuid."""
    named = next((item.uuid for item in items if item.uuid), None)
    if named:
        return named
    return f"{conversation.id} {record_key(items[0])}" if items else conversation.id


def span_times(when: Interval, above: int | None = None) -> dict[str, int | None]:
    """Returns the times of a span; without a beginning it begins with the span above it."""
    start = nanoseconds(when.start)
    start = above if start is None else start
    return {"start": start, "end": not_before(nanoseconds(when.end), start)}


def nanoseconds(stamp: str | datetime | None) -> int | None:
    """Returns a time in nanoseconds; None where there is none, or none that a span can have."""
    time = stamp if isinstance(stamp, datetime) else moment(stamp or None)
    if time is None:
        return None
    found = (time - EPOCH) // MICROSECOND * 1000
    return found if 0 <= found <= LATEST else None


def latest(stamps: Iterable[str | None], limit: int | None = None) -> int | None:
    """Returns the latest of some times that is not after the limit; None where none is known."""
    known = (nanoseconds(stamp) for stamp in stamps)
    return max((one for one in known if one is not None and _within(one, limit)), default=None)


def _within(time: int, limit: int | None) -> bool:
    return limit is None or time <= limit


def not_before(end: int | None, start: int | None) -> int | None:
    """Returns an end that does not come before its start: clocks step back at times."""
    if end is None or start is None:
        return end
    return max(end, start)


def before(end: int | None, milliseconds: float | None) -> int | None:
    """Returns when something began that ended then and took so long."""
    if end is None or not milliseconds or milliseconds < 0:
        return end
    return max(end - int(milliseconds * MILLISECOND_NS), 0)


def times_of(spans: Sequence[Span], otherwise: int = 0) -> dict[str, tuple[int, int]]:
    """Returns the times of spans; one that has none begins with the span that it is within.

    A root begins with the first span of its trace; where none has a time, it is near where it
    says, else as given.
    """
    firsts: dict[str, int] = {}
    for span in spans:
        if span.start is not None:
            firsts[span.trace] = min(span.start, firsts.get(span.trace, span.start))
    found: dict[str, tuple[int, int]] = {}
    for span in spans:
        start = span.start
        if start is None and span.parent is None:
            start = firsts.get(span.trace, span.end)
        start = span.end if start is None else start
        if start is None:
            above = found.get(span.parent or "")
            first = firsts.get(span.trace, otherwise if span.near is None else span.near)
            start = above[0] if above else first
        found[span.id] = (start, max(start, span.end if span.end is not None else start))
    return found


def known(facts: dict[str, Any]) -> dict[str, Any]:
    """Returns the facts that are known."""
    return {name: value for name, value in facts.items() if value is not None}
