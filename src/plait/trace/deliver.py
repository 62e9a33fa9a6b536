"""Batches of spans to a target, one after the other, until it fails."""

from collections.abc import Iterable, Sequence

from msgspec import Struct

from plait.trace.model import Span
from plait.trace.send import Reply, Sender
from plait.trace.spool import parted
from plait.trace.target import Target


class Delivered(Struct, frozen=True):
    """How many spans went where."""

    sent: int = 0
    waiting: int = 0
    """Neither sent nor refused: the target did not answer well."""
    refused: int = 0
    reason: str = ""
    """What the target said last, where it did not take all."""

    def __add__(self, other: "Delivered") -> "Delivered":
        return Delivered(
            self.sent + other.sent,
            self.waiting + other.waiting,
            self.refused + other.refused,
            other.reason or self.reason,
        )


def deliver(batches: Iterable[list[Span]], target: Target) -> Delivered:
    """Sends batches one after the other; once the target fails, what is left is only counted."""
    done = Delivered()
    sender = Sender(target)
    try:
        for batch in batches:
            for part, _ in parted(batch):
                is_down = done.waiting > 0
                done += Delivered(waiting=len(part)) if is_down else send_whole(sender, part)
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
