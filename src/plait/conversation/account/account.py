"""The files of a session to the account of all its requests."""

from collections.abc import Iterable
from datetime import timedelta

from msgspec import Struct

from plait.conversation.account.causes import cause_of, instructions_of, last_read
from plait.conversation.account.model import PaidRequest
from plait.conversation.account.requests import Asked, Held, Main, requests_in
from plait.conversation.usage import known_time
from plait.record.lineage import Sent


class Account(Struct, frozen=True):
    """The requests of one file, in the order of their first lines."""

    requests: tuple[PaidRequest, ...]


def account_of(lines: Iterable[tuple[int, Sent]], main: Main = Held) -> Account:
    """Returns what the requests of a file took, and why of that what was sent again.

    What an errand goes on from stands in the file of the session.
    """
    return Account(tuple(paid_request(one) for one in requests_in(lines, main)))


def paid_request(asked: Asked) -> PaidRequest:
    """Returns what a request took, with what of it had been there before."""
    before = asked.before
    known = _known(asked) if before else 0
    again = max(min(known - asked.tokens.cache_read, asked.tokens.cache_write), 0)
    gap = _gap(asked, before) if before else None
    return PaidRequest(
        response=asked.key,
        line=asked.line,
        uuid=asked.first.uuid,
        model=asked.model,
        time=known_time(asked.first.timestamp),
        sent=asked.sent,
        tokens=asked.tokens,
        before=before.key if before else None,
        known=known,
        again=again,
        cause=cause_of(asked, before, gap) if before and again else None,
        gap=gap,
        is_cut=before is None and asked.since.is_lost,
    )


def _gap(asked: Asked, before: Asked) -> timedelta | None:
    earlier = last_read(asked, before)
    return asked.sent - earlier if asked.sent and earlier else None


def _known(asked: Asked) -> int:
    """Returns how many tokens of a request had been in the cache before."""
    before = asked.before
    if before is None:
        return 0
    if asked.since.is_compacted:
        read = max(asked.tokens.cache_read, instructions_of(asked))
        return read + _preserved(asked, before)
    while not before.cached and before.before and not before.since.is_compacted:
        before = before.before
    return before.cached


def _preserved(asked: Asked, last: Asked) -> int:
    """Returns the tokens of what a compaction left as it was, as far as usage tells them."""
    behind = asked.since.preserved_behind
    if behind is None:
        return 0
    return max(last.cached - behind.tokens.total_input - behind.tokens.output, 0)
