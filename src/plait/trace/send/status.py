"""What is kept on disk to what a person wants to know: what was sent, waits, was refused."""

from collections import Counter
from pathlib import Path

from msgspec import Struct

from plait.trace.send.delivery import tries_of
from plait.trace.send.spool import Spool
from plait.trace.sent import SessionState, states


class SessionStatus(Struct, frozen=True):
    """How one session stands."""

    session: str
    turns: int
    last_line: int
    updated: str
    path: str
    waiting: int
    refused: int
    is_open: bool
    error: str


class SendingStatus(Struct, frozen=True):
    """How all that was or will be sent stands."""

    sessions: list[SessionStatus]
    """The one that was looked at last comes last."""
    waiting: int
    refused: int
    bytes: int
    """On disk, of what waits or was refused."""
    reasons: dict[str, int]
    """Why spans were refused, with how many each."""
    tries: int
    """How often the target has failed in a row."""
    next_try: float | None
    """Seconds since 1970."""
    last_error: str


def sending_status(folder: Path) -> SendingStatus:
    """Returns how everything stands."""
    spool = Spool(folder)
    waiting, refused, reasons = Counter[str](), Counter[str](), Counter[str]()
    for _, batch in spool.batches():
        waiting.update(span.session for span in batch.spans)
    for _, batch in spool.refusals():
        refused.update(span.session for span in batch.spans)
        reasons[batch.reason] += len(batch.spans)
    known = {session: SessionState() for session in (*waiting, *refused)} | states(folder)
    found = [
        SessionStatus(
            session=session,
            turns=state.turn_count,
            last_line=state.last_line,
            updated=state.updated,
            path=state.path,
            waiting=waiting[session],
            refused=refused[session],
            is_open=state.is_open,
            error=state.error,
        )
        for session, state in known.items()
    ]
    tries = tries_of(spool)
    return SendingStatus(
        sessions=sorted(found, key=lambda one: (one.updated, one.session)),
        waiting=waiting.total(),
        refused=refused.total(),
        bytes=spool.size(),
        reasons=dict(reasons),
        tries=tries.count,
        next_try=tries.next or None,
        last_error=tries.reason,
    )
