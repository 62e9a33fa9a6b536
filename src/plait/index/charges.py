"""A log to what it says of money in few bytes, and back to bills that a ledger takes.

Most responses stand on several lines that say the same: they are kept as one.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from plait.conversation.usage import response_key, supersedes
from plait.index.catalogue import from_bytes, to_bytes
from plait.record.billing import (
    Bill,
    BilledMessage,
    CacheFigures,
    Figures,
    ToolFigures,
    bills,
)
from plait.record.prompt import is_warmup

NONE = Figures()


class Tools(ToolFigures, frozen=True, gc=False, array_like=True):
    """Uses of the provider's own tools, as they are kept."""


class Cached(CacheFigures, frozen=True, gc=False, array_like=True):
    """Tokens written to the cache, as they are kept."""


class Paid(Figures, frozen=True, gc=False, array_like=True):
    """What a response took, as it is kept."""

    server_tool_use: Tools | None = None
    cache_creation: Cached | None = None


class Message(BilledMessage, frozen=True, gc=False, array_like=True):
    """A message, as it is kept."""

    usage: Paid | None = None


class Charge(Bill, frozen=True, gc=False, array_like=True):
    """A bill, as it is kept."""

    message: Message | None = None


class Charges(Struct, frozen=True, array_like=True):
    """What one file says of money."""

    lines: list[int]
    """The numbers of the lines that say so."""
    bills: list[Charge]
    is_warmup: bool


def charges_in(path: Path, kind: str) -> bytes:
    """Returns what a file says of money; nothing where it has gone."""
    found = list(_short(bills(path)))
    lines = [line for line, _ in found]
    is_errand = kind == "agent" and is_warmup(path)
    return to_bytes(Charges(lines, [_kept(bill) for _, bill in found], is_errand))


def packed_charges(file: tuple[str, str]) -> bytes:
    """Returns the same for a path and its kind as text, which a worker is given."""
    return charges_in(Path(file[0]), file[1])


def charges(data: bytes) -> Charges:
    """Returns what was kept of a file."""
    return from_bytes(data, Charges)


def _kept(bill: Bill) -> Charge:
    return msgspec.convert(bill, Charge, from_attributes=True)


def _short(found: Iterable[tuple[int, Bill]]) -> Iterator[tuple[int, Bill]]:
    given = list(found)
    places: dict[str | int, list[int]] = {}
    for place, (line, bill) in enumerate(given):
        message = bill.message
        key = response_key(message.id, bill.request, bill.uuid) if message else None
        places.setdefault(key or line, []).append(place)
    left_out: set[int] = set()
    for several in places.values():
        merged = _as_one([given[place][1] for place in several]) if several[1:] else None
        if merged:
            given[several[0]] = given[several[0]][0], merged
            left_out.update(several[1:])
    yield from (one for place, one in enumerate(given) if place not in left_out)


def _as_one(lines: list[Bill]) -> Bill | None:
    """Returns the last line of a response with the time of the first, None where they differ."""
    first, last = lines[0], lines[-1]
    stamps = [bill.timestamp for bill in lines if isinstance(bill.timestamp, str)]
    is_timely = len(stamps) == len(lines) and min(stamps) == first.timestamp
    if not is_timely or len(set(map(len, stamps))) > 1 or len(set(map(_standing, lines))) > 1:
        return None
    if not all(supersedes(last.figures or NONE, one.figures or NONE) for one in lines):
        return None
    return replace(last, timestamp=first.timestamp)


def _standing(bill: Bill) -> tuple[object, ...]:
    message = bill.message
    model = message.model if message else None
    is_billed = message is not None and message.usage is not None
    return bill.forked_from is None, bill.session_id, bill.type, model, is_billed
