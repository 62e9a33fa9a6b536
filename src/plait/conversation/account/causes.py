"""A request that wrote to the cache what had been there to the one cause that explains it."""

from datetime import datetime, timedelta

from plait.conversation.account.model import Cause
from plait.conversation.account.requests import Asked
from plait.conversation.usage import Tokens

HOUR, MINUTES = timedelta(hours=1), timedelta(minutes=5)


def cause_of(asked: Asked, before: Asked, gap: timedelta | None) -> Cause:
    """Returns why tokens were written again: the first cause that would do alone."""
    if asked.model != before.model:
        return "model"
    if asked.since.is_compacted and asked.tokens.cache_read >= instructions_of(asked):
        return "compaction"
    if not asked.since.is_compacted and _has_shrunk(asked, before):
        return "edited"
    if gap is not None and gap > _lasts(asked, before):
        return "pause"
    if asked.is_errand:
        return "unexplained"  # it has tools and settings of its own, which no log tells
    if _is_changed(asked, before):
        return "changed"
    if _is_other_process(asked, before):
        return "process"
    if before.follows[0] is not asked:
        return "rewind"
    return "unexplained"


def _has_shrunk(asked: Asked, before: Asked) -> bool:
    return asked.since.is_cleared or asked.tokens.total_input < before.cached


def _is_changed(asked: Asked, before: Asked) -> bool:
    """Tells whether something differs that stands before the messages, or unsettles them."""
    one, other = asked.first, before.first
    thinking, earlier = asked.since.thinking, before.since.thinking
    return (
        one.version != other.version
        or (one.effort != other.effort)
        or (asked.prompt != before.prompt and before.prompt is not None)
        or (thinking is not None and earlier is not None and thinking != earlier)
        or asked.tokens.speed != before.tokens.speed
    )


def _is_other_process(asked: Asked, before: Asked) -> bool:
    one, other = asked.first, before.first
    return (
        asked.process != before.process
        or asked.since.is_taken_up
        or one.session_id != other.session_id
        or (one.forked_from is None) != (other.forked_from is None)
        or (one.process != other.process and None not in (one.process, other.process))
        or one.entrypoint != other.entrypoint
    )


def instructions_of(asked: Asked) -> int:
    """Returns how many tokens stand before all messages, at least: 0 where no figure tells.

    A first request, and the first after a compaction, can have read nothing else: no message of
    theirs had been sent. What they read stands there still, where nothing has changed since.
    """
    found, one = 0, asked.before
    while one is not None:
        is_first = one.before is None or one.since.is_compacted
        if is_first and not one.since.is_lost and one.tokens.cache_write and _is_alike(asked, one):
            found = max(found, one.tokens.cache_read)
        one = one.before
    return found


def _is_alike(asked: Asked, one: Asked) -> bool:
    is_changed = asked.model != one.model or _is_changed(asked, one)
    return not is_changed and not _is_other_process(asked, one)


def _lasts(asked: Asked, before: Asked) -> timedelta:
    """Returns how long the cache holds what is missing.

    The last write says it: a cache is asked for its end, and not for all that was written on the
    way there. So does the write of the first token that is missing, where that lived shorter;
    what no request wrote was written elsewhere, as the first of them wrote.
    """
    place, lasts = asked.tokens.cache_read, []
    one: Asked | None = before
    while one is not None:
        if one.tokens.cache_write and one.model == asked.model:
            lasts.append(_written_for(one.tokens, place))
            if place >= one.tokens.cache_read:
                break
        one = one.before
    return min(lasts[0], lasts[-1]) if lasts else MINUTES


def _written_for(tokens: Tokens, place: int) -> timedelta:
    """Returns how long a write lasts; of one for both, what is held for an hour stands first."""
    hour = tokens.cache_write_1h
    is_before = place < tokens.cache_read + hour or not tokens.cache_write_5m
    return HOUR if hour and is_before else MINUTES


def last_read(asked: Asked, before: Asked) -> datetime | None:
    """Returns when what a request goes on from was last read: by itself, or by what followed it."""
    times, place = [before.sent], before
    while earlier := [one for one in place.follows if _is_earlier(one, asked)]:
        place = earlier[-1]
        times.append(place.sent)
    return max((time for time in times if time), default=None)


def _is_earlier(one: Asked, asked: Asked) -> bool:
    if not asked.is_errand:
        return one.line < asked.line
    return bool(one.sent and asked.sent and one.sent < asked.sent)
