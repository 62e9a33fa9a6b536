"""Sessions to traces: read by families, redacted before anything is made of them."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from plait.archive.families import families
from plait.archive.model import Session
from plait.archive.open_session import opened_together
from plait.archive.redaction import Redaction
from plait.conversation.totals import Pricing
from plait.record.read import read_if_there
from plait.trace.model import Content, Span
from plait.trace.send.attributes import outgoing
from plait.trace.spans.traces import traces_of

if TYPE_CHECKING:
    from plait.redact import Redactor


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

    def traces(self) -> Iterator[list[Span]]:
        """Yields the spans of each answered turn, ready to go out; one family after the other."""
        redaction = Redaction(self.redactor) if self.redactor else None
        if redaction:
            redaction.learn(self.sessions)
        origins = _origins_of(self.sessions, self.among)
        others = {redaction.name(one) for one in origins} if redaction else {*origins}
        for members in families((*self.sessions, *origins.values())):
            chosen = list(members)
            name = redaction.name if redaction else str
            written = {name(one.id): _written(one) for one in chosen}
            told = opened_together(chosen, redaction).by_line
            for spans in traces_of(told, self.pricing, written):
                if spans[0].session not in others:
                    yield list(outgoing(spans, self.content))


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
) -> Iterator[list[Span]]:
    """Yields the spans of each answered turn of some sessions, the root of each first."""
    return TracePlan(tuple(sessions), content or Content(), redactor, pricing, among).traces()


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
