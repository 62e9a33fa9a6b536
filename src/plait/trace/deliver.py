"""Batches of spans to a target: at least once, and what cannot be sent now waits on disk."""

from collections.abc import Iterable, Sequence

from msgspec import Struct

from plait.trace.model import Span
from plait.trace.send import Reply, Sender
from plait.trace.spool import Spool, parted
from plait.trace.target import Target


class Delivered(Struct, frozen=True):
    """How many spans went where."""

    sent: int = 0
    waiting: int = 0
    refused: int = 0
    dropped: int = 0
    """Neither sent nor kept: there was no spool, or no room in it."""
    reason: str = ""
    """What the target said last, where it did not take all."""

    def __add__(self, other: "Delivered") -> "Delivered":
        return Delivered(
            self.sent + other.sent,
            self.waiting + other.waiting,
            self.refused + other.refused,
            self.dropped + other.dropped,
            other.reason or self.reason,
        )


def deliver(batches: Iterable[list[Span]], target: Target, spool: Spool | None = None) -> Delivered:
    """Sends batches one after the other; once the target fails, what is left waits on disk."""
    done = Delivered()
    sender = Sender(target)
    try:
        for batch in batches:
            for part, _ in parted(batch):
                is_down = done.waiting or done.dropped
                sent = Delivered(waiting=len(part)) if is_down else send_whole(sender, part)
                done += kept(sent, part, spool)
    finally:
        sender.close()
    return done


def send_whole(sender: Sender, spans: Sequence[Span]) -> Delivered:
    """Sends spans, in halves where they are too many for the target."""
    done = Delivered()
    parts = [spans]
    while parts:
        part = parts.pop()
        reply = sender.send(part)
        if reply.meaning == "too large" and len(part) > 1:
            middle = len(part) // 2
            parts += [part[middle:], part[:middle]]
        elif reply.meaning == "again":  # all of them wait: a span that goes twice keeps its id
            return Delivered(waiting=len(spans), reason=reply.reason)
        else:
            done += counted(reply, len(part))
    return done


def counted(reply: Reply, count: int) -> Delivered:
    """Returns the figures of one request that is done with."""
    if reply.meaning != "sent":
        return Delivered(refused=count, reason=reply.reason)
    reason = f"{reply.rejected} spans rejected" if reply.rejected else ""
    return Delivered(sent=count - reply.rejected, refused=reply.rejected, reason=reason)


def kept(sent: Delivered, spans: Sequence[Span], spool: Spool | None) -> Delivered:
    """Lets spans wait that could not be sent; tells where there is no place for them."""
    if not sent.waiting or (spool and spool.put(spans)):
        return sent
    return Delivered(dropped=len(spans), reason=sent.reason)
