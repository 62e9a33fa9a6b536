"""What waits in a spool to its target, with a longer pause after each failure."""

import time
from pathlib import Path

import msgspec
from msgspec import Struct

from plait.line.lock import held
from plait.line.replace import replace_file
from plait.trace.deliver import Delivered, counted
from plait.trace.send import Reply, Sender
from plait.trace.spool import Batch, Spool
from plait.trace.target import Target

FIRST_PAUSE, LONGEST_PAUSE = 1.0, 300.0
LOCK = "sending.lock"
TRIES = "tries.json"
BUSY = "another process is sending"


class Tries(Struct, frozen=True):
    """How often the target has failed in a row, and when it is asked again."""

    count: int = 0
    next: float = 0.0
    """Seconds since 1970."""
    reason: str = ""


def flush(spool: Spool, target: Target, *, wait: float = 0.0) -> Delivered:
    """Sends all that waits, until the target fails; one process at a time does so."""
    with held(spool.folder / LOCK, wait) as is_ours:
        if not is_ours:
            return Delivered(waiting=spool.count(), reason=BUSY)
        sender = Sender(target)
        try:
            return sent_from(spool, sender)
        finally:
            sender.close()


def sent_from(spool: Spool, sender: Sender) -> Delivered:
    """Sends one batch after the other, and does with each as the target says."""
    done = Delivered()
    while found := next(spool.batches(), None):
        reply = sender.send(found[1].spans)
        if reply.meaning == "again":
            note_failure(spool, reply)
            return done + Delivered(waiting=spool.count(), reason=reply.reason)
        done += settled(spool, *found, reply)
        note_tries(spool, Tries())
    return done


def settled(spool: Spool, path: Path, batch: Batch, reply: Reply) -> Delivered:
    """Takes a batch out of what waits: it was sent, is split, or was refused."""
    count = len(batch.spans)
    if reply.meaning == "too large" and count > 1:
        spool.split(path, batch)
        return Delivered()
    if reply.meaning == "sent":
        spool.drop(path)
    else:
        spool.refuse(path, batch, reply.reason)
    return counted(reply, count)


def tries_of(spool: Spool) -> Tries:
    """Returns how often the target has failed in a row."""
    try:
        return msgspec.json.decode((spool.folder / TRIES).read_bytes(), type=Tries)
    except (OSError, msgspec.MsgspecError):
        return Tries()


def note_failure(spool: Spool, reply: Reply) -> None:
    """Keeps when to try again: as the server says, else after twice the last pause."""
    count = tries_of(spool).count + 1
    pause = min(FIRST_PAUSE * 2 ** min(count - 1, 16), LONGEST_PAUSE)
    if reply.after is not None:
        pause = min(max(reply.after, pause), LONGEST_PAUSE)
    note_tries(spool, Tries(count, time.time() + pause, reply.reason))


def note_tries(spool: Spool, tries: Tries) -> None:
    """Keeps how often the target has failed in a row."""
    if tries != tries_of(spool):
        replace_file(spool.folder / TRIES, msgspec.json.encode(tries))
