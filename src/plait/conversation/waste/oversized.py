"""The requests of a file to the small ones: short prompts that a short answer without a call met.

Whether the model was too dear for them is told by prices. What is lost in other ways is taken
off: what was written again is read, and results that were in vain are not there.
"""

from collections.abc import Iterable, Iterator, Mapping

from plait.conversation.account.requests import Asked
from plait.conversation.waste.calls import CallNotes
from plait.conversation.waste.model import Loss, loss_of

FEW = 300
"""Tokens that a small prompt and a small answer stay below."""
MOST_ADDED = 2_000
"""Tokens that may come in with a small prompt: reminders, but no file."""


def oversized(
    asked: Iterable[Asked],
    again: Mapping[str, int],
    notes: CallNotes,
    measure: float,
    lost: Mapping[str, float],
) -> Iterator[Loss]:
    """Yields what small requests took; results in vain are known by the request they came with."""
    calling = notes.by_response().keys() | notes.unread
    held: dict[str, float] = {}
    for one in asked:
        before = one.before if not one.since.is_compacted else None
        borne = held.get(before.key, 0.0) if before else 0.0
        held[one.key] = borne + lost.get(one.key, 0.0)
        is_small = one.key not in calling and one.key not in lost and _is_short(one)
        if is_small and _is_prompted(one, notes, measure):
            yield _small(one, again.get(one.key, 0), borne)


def _is_short(one: Asked) -> bool:
    """Tells whether a session's own answer is short, and little had come in before it."""
    if one.first.is_sidechain or one.first.agent_id or one.tokens.output >= FEW:
        return False
    before = one.before
    if before is None or one.since.is_compacted:
        return True
    came = one.tokens.total_input - before.tokens.total_input - before.tokens.output
    return came < MOST_ADDED


def _is_prompted(one: Asked, notes: CallNotes, measure: float) -> bool:
    """Tells whether a short prompt led up to it, and no result."""
    if any(uuid in notes.results for uuid in one.since.uuids):
        return False
    characters = sum(notes.prompts.get(uuid, 0) for uuid in one.since.uuids)
    return 0 < characters * measure < FEW


def _small(one: Asked, again: int, borne: float) -> Loss:
    tokens = one.tokens
    minutes = min(again, tokens.cache_write_5m)
    return loss_of(
        "oversized",
        one,
        input=tokens.input,
        output=tokens.output,
        write_5m=tokens.cache_write_5m - minutes,
        write_1h=tokens.cache_write_1h - (again - minutes),
        read=max(tokens.cache_read + again - borne, 0),
        certain=0.0,
    )
