"""What stands before a turn to bytes and back, so that the graph of the rest can be trusted."""

from collections.abc import Iterable
from pathlib import Path

import msgspec
from msgspec import Struct

from plait.archive.tail import Known, packed_digests
from plait.conversation.bends import Bends
from plait.line import read_slice
from plait.record import Record
from plait.record.read import record_of


class Kept(Struct, array_like=True):
    """The judge of whether a log goes on straight, as it is kept."""

    before: tuple[int, int, int] | None
    """The last record: its line, its offset, its length."""
    after: str
    session: str | None
    turn: list[str]
    seen: bytes
    response: list[str]
    responses: bytes


def packed(bends: Bends) -> bytes:
    """Returns the bytes of a judge."""
    last = bends.before
    kept = Kept(
        (last.line, last.offset, len(last.raw)) if last else None,
        bends.after,
        bends.session,
        sorted(bends.turn),
        digests(bends.seen),
        sorted(bends.response),
        digests(bends.responses),
    )
    return msgspec.msgpack.encode(kept)


def digests(known: set[str]) -> bytes:
    """Returns what stands for the names that a judge has seen."""
    return known.packed() if isinstance(known, Known) else packed_digests(known)


def unpacked(data: bytes, path: Path) -> Bends:
    """Returns a judge from its bytes and the log that it is of."""
    kept = msgspec.msgpack.decode(data, type=Kept)
    before = None
    if kept.before:
        line, offset, length = kept.before
        before = record_of(read_slice(path, offset, length), line, offset)
    return Bends(
        False,
        before,
        kept.after,
        kept.session,
        set(kept.turn),
        Known(kept.seen),
        set(kept.response),
        Known(kept.responses),
    )


def judged(bends: Bends, records: Iterable[Record]) -> Bends:
    """Takes in records that a graph has judged already: however they bend, the log goes on."""
    for record in records:
        bends.session = record.session_id or bends.session
        bends.add(record)
        bends.is_bent = False
    return bends


def is_straight(bends: Bends, records: Iterable[Record]) -> bool:
    """Tells whether records that follow can only add to the last turn, or add turns."""
    for record in records:
        if record.envelope.leaf_uuid is not None and record.envelope.explicit is True:
            return False
        bends.add(record)
        if bends.is_bent:
            return False
    return True
