"""Traces of sessions: read family by family, and redacted before any span is made of them."""

import pickle
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from typing import TYPE_CHECKING, NamedTuple

from plait.conversation.costs import Pricing
from plait.line.workers import Workers
from plait.record.reader import read_if_exists
from plait.redact.stand_ins import Lesson
from plait.sessions.families import group_families
from plait.sessions.model import Session, SessionFamily
from plait.sessions.open_session import open_sessions
from plait.sessions.redaction import Redaction, SharedRedactor, iter_lessons, load_twin
from plait.sessions.worker_pool import (
    SINGLE_PROCESS,
    WorkerPool,
    count_bytes,
    detach,
    is_picklable,
    is_worth_workers,
)
from plait.trace.model import Content, Span
from plait.trace.otlp import prepare_spans
from plait.trace.spans import build_traces

if TYPE_CHECKING:
    from plait.redact import Redactor

MIN_PARALLEL_BYTES = 4_000_000
"""How much there must be to read before several processes are faster than one."""
BATCH_SPANS = 500
"""Spans that are sent together."""


class TraceOptions(NamedTuple):
    """What of a family is sent."""

    content: Content
    pricing: Pricing | None
    origins: frozenset[str]
    """The ids of sessions that are read but not sent."""

    def spans(self, family: SessionFamily, redaction: Redaction | None) -> Iterator[list[Span]]:
        """Yield the spans of each answered turn of a family."""
        mask = redaction.redact_name if redaction else str
        origins = {mask(session_id) for session_id in self.origins}
        written = {
            mask(session.id): int(max((file.modified for file in session.files), default=0) * 1e9)
            for session in family
        }
        by_line = open_sessions(family, redaction).by_line
        for spans in build_traces(by_line, self.pricing, written):
            if spans[0].session not in origins:
                yield list(prepare_spans(spans, self.content))


def packed_traces(
    item: "tuple[str, SessionFamily, TraceOptions, bytes | None, Lesson | None]",
) -> bytes:
    """Return the spans of a family as bytes; called in a worker."""
    _, family, options, known, lesson = item
    twin = None
    if known:
        twin = load_twin(known, lesson)
    spans = list(options.spans(family, Redaction(twin) if twin else None))
    return pickle.dumps((spans, twin.outcome if twin else None), pickle.HIGHEST_PROTOCOL)


def _find_origins(sessions: Iterable[Session], among: Iterable[Session]) -> dict[str, Session]:
    """Return the sessions that others were forked from, and what those were forked from."""
    waiting = list(sessions)
    asked_ids = {session.id for session in waiting}
    candidates = {session.id: session for session in among if session.id not in asked_ids}
    origins: dict[str, Session] = {}
    while waiting:
        session = waiting.pop()
        records = read_if_exists(session.file.path) if session.file else ()
        first = next((record for record in records if record.uuid), None)
        if first and first.forked_from:
            origin = candidates.pop(first.forked_from.session_id or "", None)
            if origin:
                origins[origin.id] = origin
                waiting.append(origin)
    return origins


def traces(
    sessions: Iterable[Session],
    *,
    content: Content | None = None,
    redactor: "Redactor | None" = None,
    pricing: Pricing | None = None,
    among: Iterable[Session] = (),
    hands: WorkerPool = SINGLE_PROCESS,
) -> Iterator[list[Span]]:
    """Yield the spans of each answered turn of some sessions, the root of each first.

    They are redacted, and ready to be sent. The sessions may have been forked from others (`among`):
    those are read as well, so that a copied turn belongs to the session that had it first.
    """
    asked = tuple(sessions)
    origins = _find_origins(asked, among)
    families = [tuple(family) for family in group_families((*asked, *origins.values()))]
    options = TraceOptions(content or Content(), pricing, frozenset(origins))
    shared: SharedRedactor | None = None
    if redactor and redactor.has_own_rules:
        # Rules of the user may apply across families, so one redactor sees them all.
        redaction = Redaction(redactor)
        redaction.learn(asked)
        for family in families:
            yield from options.spans(family, redaction)
        return
    if redactor:
        shared = SharedRedactor(redactor)

    def trace_here(number: int) -> Iterator[list[Span]]:
        twin = shared.twin(number) if shared else None
        yield from options.spans(families[number], Redaction(twin) if twin else None)
        if shared and twin:
            shared.redactor.absorb(twin.outcome)

    with ExitStack() as stack:
        workers: Workers | None = None
        all_sessions = [session for family in families for session in family]
        is_parallel = is_worth_workers(hands, all_sessions, MIN_PARALLEL_BYTES)
        if is_parallel and len(families) > 1 and is_picklable(pricing):
            workers = stack.enter_context(Workers(min(hands.jobs, len(families)), hands.failures))
        if shared:
            shared.learn(iter_lessons(shared.redactor, families, workers))
        if workers is None:
            for number in range(len(families)):
                yield from trace_here(number)
            return
        known = shared.packed() if shared else None
        items = [
            (
                str(family[0].path),
                detach(family),
                options,
                known,
                shared.lesson(number) if shared else None,
            )
            for number, family in enumerate(families)
        ]
        results = workers.map(f"{__name__}:packed_traces", items, [*map(count_bytes, families)])
        for number, data in enumerate(results):
            found, outcome = pickle.loads(data)  # noqa: S301  from a worker of our own
            # A placeholder chosen by the worker may have been used elsewhere meanwhile.
            is_valid = shared is None or shared.redactor.absorb(outcome)
            yield from found if is_valid else trace_here(number)


def batch_traces(
    traces: Iterable[list[Span]],
) -> Iterator[list[Span]]:
    """Yield traces in batches of a good size for a request."""
    waiting: list[Span] = []
    for spans in traces:
        if waiting and len(waiting) + len(spans) > BATCH_SPANS:
            yield waiting
            waiting = []
        waiting += spans
    if waiting:
        yield waiting
