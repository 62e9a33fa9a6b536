"""Sessions to traces: read by families, redacted before anything is made of them."""

import pickle
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from plait.archive.families import families
from plait.archive.model import Members, Session
from plait.archive.open_session import opened_together
from plait.archive.redaction import Redaction
from plait.archive.shares import ALONE, Hands, are_worth_it, bare, can_be_sent, size_of
from plait.conversation.totals import Pricing
from plait.record.read import read_if_there
from plait.trace.model import Content, Span
from plait.trace.send.attributes import outgoing
from plait.trace.spans.traces import traces_of

if TYPE_CHECKING:
    from plait.archive.shared_redactor import SharedRedactor
    from plait.line.workers import Workers
    from plait.redact import Redactor
    from plait.redact.lessons import Lesson

WORTH = 4_000_000
"""Bytes of logs from which on several processes are sooner done with them."""

BATCH = 500
"""Spans that go out together."""


@dataclass
class TracePlan:
    """Which sessions are traced, and what of them may be told."""

    sessions: tuple[Session, ...]
    content: Content = field(default_factory=Content)
    redactor: "Redactor | None" = None
    pricing: Pricing | None = None
    among: Sequence[Session] = ()
    """What those may have been forked from: read along, so that a copied turn is its owner's."""
    hands: Hands = ALONE

    def traces(self) -> Iterator[list[Span]]:
        """Yields the spans of each answered turn, ready to go out; one family after the other."""
        origins = _origins_of(self.sessions, self.among)
        found = [tuple(one) for one in families((*self.sessions, *origins.values()))]
        telling = Telling(self.content, self.pricing, frozenset(origins))
        if self.redactor is None:
            shared = None
        elif self.redactor.has_own_rules:
            yield from self._in_turn(found, telling)
            return
        else:
            from plait.archive.shared_redactor import SharedRedactor, lessons_of

            shared = SharedRedactor(self.redactor)
        with ExitStack() as stack:
            workers = self._workers(found, stack)
            if shared:
                shared.learn(lessons_of(shared.redactor, found, workers))
            yield from _told(found, telling, shared, workers)

    def _in_turn(self, found: Sequence[Members], telling: "Telling") -> Iterator[list[Span]]:
        """Yields them by one redactor: rules of the user look across families."""
        assert self.redactor
        redaction = Redaction(self.redactor)
        redaction.learn(self.sessions)
        for members in found:
            yield from telling.spans(members, redaction)

    def _workers(self, found: Sequence[Members], stack: ExitStack) -> "Workers | None":
        sessions = [one for members in found for one in members]
        if not are_worth_it(self.hands, sessions, WORTH) or len(found) < 2:
            return None
        if not can_be_sent(self.pricing):
            return None
        from plait.line.workers import Workers

        return stack.enter_context(Workers(min(self.hands.jobs, len(found)), self.hands.losses))


class Telling(NamedTuple):
    """What of families is told."""

    content: Content
    pricing: Pricing | None
    origins: frozenset[str]
    """Sessions that are read along alone, by their ids."""

    def spans(self, members: Members, redaction: Redaction | None) -> Iterator[list[Span]]:
        """Yields the spans of each answered turn of a family."""
        name = redaction.name if redaction else str
        others = {name(one) for one in self.origins}
        written = {name(one.id): _written(one) for one in members}
        told = opened_together(members, redaction).by_line
        for spans in traces_of(told, self.pricing, written):
            if spans[0].session not in others:
                yield list(outgoing(spans, self.content))


def _told(
    found: Sequence[Members],
    telling: Telling,
    shared: "SharedRedactor | None",
    workers: "Workers | None",
) -> Iterator[list[Span]]:
    if workers is None:
        for number in range(len(found)):
            yield from _here(found, number, telling, shared)
        return
    known = shared.packed() if shared else None
    items = [
        (str(one[0].path), bare(one), telling, known, shared.lesson(number) if shared else None)
        for number, one in enumerate(found)
    ]
    made = workers.each(f"{__name__}:packed_traces", items, [*map(size_of, found)])
    for number, data in enumerate(made):
        traces, outcome = pickle.loads(data)  # noqa: S301  as above
        is_good = shared is None or shared.redactor.absorb(outcome)
        yield from traces if is_good else _here(found, number, telling, shared)


def _here(
    found: Sequence[Members], number: int, telling: Telling, shared: "SharedRedactor | None"
) -> Iterator[list[Span]]:
    twin = shared.twin(number) if shared else None
    yield from telling.spans(found[number], Redaction(twin) if twin else None)
    if shared and twin:
        shared.redactor.absorb(twin.outcome)


def packed_traces(
    item: "tuple[str, Members, Telling, bytes | None, Lesson | None]",
) -> bytes:
    """Returns the spans of a family, for the process that asks."""
    _, members, telling, known, lesson = item
    twin = None
    if known:
        from plait.archive.shared_redactor import twin_of

        twin = twin_of(known, lesson)
    spans = list(telling.spans(members, Redaction(twin) if twin else None))
    return pickle.dumps((spans, twin.outcome if twin else None), pickle.HIGHEST_PROTOCOL)


def _written(session: Session) -> int:
    """Returns when a session's log was last written, in nanoseconds."""
    return int(max((file.modified for file in session.files), default=0) * 1e9)


def _origins_of(sessions: Iterable[Session], among: Iterable[Session]) -> dict[str, Session]:
    asked = list(sessions)
    known = {one.id: one for one in among}
    for one in asked:
        known.pop(one.id, None)
    found: dict[str, Session] = {}
    while asked:
        origin = known.pop(_forked_from(asked.pop()) or "", None)
        if origin:
            found[origin.id] = origin
            asked.append(origin)
    return found


def _forked_from(session: Session) -> str | None:
    records = read_if_there(session.file.path) if session.file else ()
    first = next((record for record in records if record.uuid), None)
    return first.forked_from.session_id if first and first.forked_from else None


def traces(
    sessions: Iterable[Session],
    *,
    content: Content | None = None,
    redactor: "Redactor | None" = None,
    pricing: Pricing | None = None,
    among: Sequence[Session] = (),
    hands: Hands = ALONE,
) -> Iterator[list[Span]]:
    """Yields the spans of each answered turn of some sessions, the root of each first."""
    plan = TracePlan(tuple(sessions), content or Content(), redactor, pricing, among, hands)
    return plan.traces()


def batched(found: Iterable[list[Span]], most: int = BATCH) -> Iterator[list[Span]]:
    """Yields traces together, as many as make a request of a good size."""
    waiting: list[Span] = []
    for spans in found:
        if waiting and len(waiting) + len(spans) > most:
            yield waiting
            waiting = []
        waiting += spans
    if waiting:
        yield waiting
