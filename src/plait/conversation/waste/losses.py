"""The lines of a file to what was paid for in vain, request by request.

What a result takes is told by usage: between a request and the one that it goes on from stand so
many characters, and the input has grown by so many tokens. The median is the file's measure.
"""

from collections.abc import Collection, Iterable, Iterator
from statistics import median
from typing import NamedTuple, TypeAlias

from plait.conversation.account.account import paid_request
from plait.conversation.account.causes import instructions_of
from plait.conversation.account.model import PaidRequest
from plait.conversation.account.requests import Asked, Held, Main, requests_in
from plait.conversation.tools import tool_named
from plait.conversation.waste.calls import CallNotes, Noted
from plait.conversation.waste.model import Loss, WasteKind, loss_of
from plait.conversation.waste.oversized import oversized
from plait.record.lineage import Sent

Span: TypeAlias = tuple[float | None, float | None]
GIANT = 10_000
"""Tokens from which on an output is large."""
LARGE = 2_000
LEAST, FEWEST = 400, 3
LOWEST, HIGHEST = 0.15, 0.6
USUAL = 0.29
"""Tokens to a character, where a file does not tell."""


class PaidFile(NamedTuple):
    """What the requests of one file took, and what of it was paid for in vain."""

    requests: Collection[PaidRequest]
    losses: list[Loss]


def losses_in(
    lines: Iterable[tuple[int, Sent]], *, is_agent: bool = False, main: Main = Held
) -> list[Loss]:
    """Returns what was paid for in vain in one file."""
    return paid_in(lines, is_agent=is_agent, main=main).losses


def paid_in(
    lines: Iterable[tuple[int, Sent]], *, is_agent: bool = False, main: Main = Held
) -> PaidFile:
    """Returns what the requests of one file took, and what of it was paid for in vain.

    What an errand goes on from stands in the file of the session.
    """
    notes = CallNotes()
    asked = requests_in(notes.over(lines), main)
    paid = {one.key: paid_request(one) for one in asked}
    carried = _Carried(asked, notes)
    again, results = list(_again(asked, paid)), list(carried.results())
    counted = {one.response: round(-one.read) for one in again}
    losses = [
        *again,
        *results,
        *oversized(asked, counted, notes, carried.measure, carried.lost),
        *carried.retries(),
        *(_startup(asked) if is_agent and asked else ()),
    ]
    return PaidFile(paid.values(), losses)


def _again(asked: Iterable[Asked], paid: dict[str, PaidRequest]) -> Iterator[Loss]:
    """Yields what was written to the cache again, where it could have been read."""
    for one in asked:
        told = paid[one.key]
        cause = told.cause
        if cause is None or cause == "compaction" or cause == "edited":
            continue  # less is sent from then on
        again = told.again
        if one.since.is_compacted:  # what was preserved would have been written anyway
            again = min(again, max(instructions_of(one) - one.tokens.cache_read, 0))
        minutes = min(again, one.tokens.cache_write_5m)
        yield loss_of(
            cause,
            one,
            write_5m=minutes,
            write_1h=again - minutes,
            read=-again,
            certain=0.0 if cause == "unexplained" else 1.0,  # who knows what would have saved it
        )


def _startup(asked: list[Asked]) -> Iterator[Loss]:
    """Yields what an agent's first request took, where all its answers took less."""
    first = asked[0].tokens
    answered = sum(one.tokens.output for one in asked)
    if first.total_input > OUTPUT_IS_DEARER * answered:
        yield loss_of(
            "startup",
            asked[0],
            input=first.input,
            write_5m=first.cache_write_5m,
            write_1h=first.cache_write_1h,
            read=first.cache_read,
            certain=0.0,
        )


OUTPUT_IS_DEARER = 5
"""What a token of an answer costs, in tokens of a request."""


def shares_in(asked: Iterable[Asked], notes: CallNotes) -> Iterator[tuple[Asked, float]]:
    """Yields the requests that results came in with, and how many tokens a character took."""
    calls = notes.by_response()
    for one in asked:
        before = one.before
        if before is None or before.key not in calls or one.model != before.model:
            continue
        held = notes.spoken.get(before.key, 0)
        held += sum(call.characters for call in calls[before.key])
        grown = one.tokens.total_input - before.tokens.total_input
        if grown > 0 and held >= LEAST:
            yield one, grown / held


def measured(shares: Iterable[float]) -> float:
    """Returns how many tokens a character takes, by how requests have grown."""
    found = list(shares)
    if len(found) < FEWEST:
        return USUAL
    return min(max(median(found), LOWEST), HIGHEST)


class _Carried:
    """What results took: when they came in, and with every request since.

    Each reads them, as if the cache had held them: where it had not, that is a loss of its own.
    """

    def __init__(self, asked: list[Asked], notes: CallNotes) -> None:
        self._by_key = {one.key: one for one in asked}
        self._notes = notes
        self._carriers = dict.fromkeys(self._by_key, 0)
        """How many requests since held what one held; branches that were left count elsewhere."""
        for one in reversed(asked):
            if one.before and one.before.follows[-1:] == [one] and not one.since.is_compacted:
                self._carriers[one.before.key] += self._carriers[one.key] + 1
        self.measure = measured(share for _, share in shares_in(asked, notes))
        self.lost: dict[str, float] = {}
        """Tokens of results in vain, by the request that they came with."""

    def results(self) -> Iterator[Loss]:
        """Yields results that were large, not used, or there already."""
        seen: dict[tuple[str, Span], Noted] = {}
        for call in self._notes.answered():
            tokens = call.characters * self.measure
            sender = self._sender(call)
            if sender is None:
                continue
            if self._is_reread(call, seen):
                yield self._lost("reread", call, sender, tokens)
            elif tokens >= GIANT:
                yield self._lost("giant", call, sender, tokens, is_needed_once=True, certain=0.0)
            elif tokens >= LARGE and not self._notes.is_named_later(call):
                yield self._lost("unused", call, sender, tokens, certain=0.5)

    def _is_reread(self, call: Noted, seen: dict[tuple[str, Span], Noted]) -> bool:
        """Tells whether the same lines of a file were read before, and nobody has changed it."""
        if call.path is None or call.is_error:
            return False
        action = tool_named(call.name).action
        if action == "read":
            key = call.path, call.part
            return seen.setdefault(key, call) is not call
        for known in [known for known in seen if known[0] == call.path]:
            del seen[known]
        return False

    def _sender(self, call: Noted) -> Asked | None:
        """Returns the request that sent the result of a call first."""
        maker = self._by_key.get(call.response)
        behind = maker.follows if maker else ()
        return next((one for one in behind if one.line > call.answered), None)

    def _lost(
        self,
        kind: WasteKind,
        call: Noted,
        sender: Asked,
        tokens: float,
        *,
        is_needed_once: bool = False,
        certain: float = 1.0,
    ) -> Loss:
        self.lost[sender.key] = self.lost.get(sender.key, 0.0) + tokens
        written = 0.0 if is_needed_once else tokens
        is_hour = sender.tokens.cache_write_1h > sender.tokens.cache_write_5m
        return loss_of(
            kind,
            sender,
            write_1h=written if is_hour else 0.0,
            write_5m=0.0 if is_hour else written,
            read=tokens * self._carriers[sender.key],
            certain=certain,
            subject=call.subject,
        )

    def retries(self) -> Iterator[Loss]:
        """Yields calls that were made again in the same words, though they had failed."""
        failed: set[tuple[str, bytes]] = set()
        for call in self._notes.answered():
            key = call.name, call.given
            maker = self._by_key.get(call.response)
            if key in failed and maker and call.is_error:
                share = len(call.given) / (self._notes.spoken.get(call.response) or 1)
                output = maker.tokens.output * min(share, 1.0)
                yield loss_of("retry", maker, output=output, subject=call.subject)
            if call.is_error:
                failed.add(key)
