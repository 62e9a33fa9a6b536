"""A log to what it says of money in few bytes, and back to bills that a ledger takes.

Most responses stand on several lines that say the same: they are kept as one.
"""

from collections.abc import Iterable
from operator import attrgetter
from pathlib import Path

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
    bills_in,
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


def charges_in(path: Path, kind: str, data: bytes | None = None) -> bytes:
    """Returns what a file says of money; nothing where it has gone.

    It is not read once more where its bytes are given.
    """
    found = _short(bills(path) if data is None else bills_in([(data, len(data))]))
    lines = [line for line, _ in found]
    is_errand = kind == "agent" and is_warmup(path)
    return to_bytes((lines, [_row_of(bill) for _, bill in found], is_errand))


class Billed(Struct, frozen=True, array_like=True):
    """What one file says of money, as it is sent: sooner made and read, and not to be kept."""

    lines: list[int]
    bills: list[Bill]
    is_warmup: bool


def packed_bills(file: tuple[str, str]) -> bytes:
    """Returns what a file says of money, for a path and its kind: what a worker is given."""
    path, kind = Path(file[0]), file[1]
    found = _short(bills(path))
    lines, told = [line for line, _ in found], [bill for _, bill in found]
    return to_bytes(Billed(lines, told, kind == "agent" and is_warmup(path)))


def sent_bills(data: bytes) -> Billed:
    """Returns what a worker sent."""
    return from_bytes(data, Billed)


def charges(data: bytes) -> Charges:
    """Returns what was kept of a file."""
    return from_bytes(data, Charges)


_bill_parts = attrgetter(*Charge.__struct_fields__)
_message_parts = attrgetter(*Message.__struct_fields__)
_figures_parts = attrgetter(*Paid.__struct_fields__)
_cached_parts = attrgetter(*Cached.__struct_fields__)
_tools_parts = attrgetter(*Tools.__struct_fields__)
MESSAGE = Charge.__struct_fields__.index("message")
USAGE = Message.__struct_fields__.index("usage")
TOOLS = Paid.__struct_fields__.index("server_tool_use")
CACHED = Paid.__struct_fields__.index("cache_creation")


def _row_of(bill: Bill) -> list[object]:
    """Returns a bill as a charge is written: at a third of what converting it takes."""
    row = [*_bill_parts(bill)]
    message = bill.message
    if message is not None:
        row[MESSAGE] = said = [*_message_parts(message)]
        usage = message.usage
        if usage is not None:
            said[USAGE] = paid = [*_figures_parts(usage)]
            if usage.server_tool_use is not None:
                paid[TOOLS] = _tools_parts(usage.server_tool_use)
            if usage.cache_creation is not None:
                paid[CACHED] = _cached_parts(usage.cache_creation)
    return row


def _short(found: Iterable[tuple[int, Bill]]) -> list[tuple[int, Bill]]:
    given = list(found)
    first: dict[str, int] = {}
    several: dict[str, list[int]] = {}
    for place, (_, bill) in enumerate(given):
        message = bill.message
        key = message and (message.id or response_key(None, bill.request, bill.uuid))
        if not key:
            continue
        known = first.setdefault(key, place)
        if known != place:
            several.setdefault(key, [known]).append(place)
    left_out: set[int] = set()
    for places in several.values():
        merged = _as_one([given[place][1] for place in places])
        if merged:
            given[places[0]] = given[places[0]][0], merged
            left_out.update(places[1:])
    if not left_out:
        return given
    return [one for place, one in enumerate(given) if place not in left_out]


def _as_one(lines: list[Bill]) -> Bill | None:
    """Returns the last line of a response with the time of the first, None where they differ."""
    first, last = lines[0], lines[-1]
    begun, figures = first.timestamp, last.figures or NONE
    if not isinstance(begun, str):
        return None
    for one in lines:
        stamp = one.timestamp
        if not isinstance(stamp, str) or stamp < begun or len(stamp) != len(begun):
            return None
        if one is not first and not _stands_as(one, first):
            return None
        if one is not last and not supersedes(figures, one.figures or NONE):
            return None
    return replace(last, timestamp=begun)


def _stands_as(one: Bill, other: Bill) -> bool:
    """Tells whether two lines say the same of where a response belongs."""
    said, before = one.message, other.message
    return (
        one.session_id == other.session_id
        and one.type == other.type
        and (one.forked_from is None) == (other.forked_from is None)
        and (said and said.model) == (before and before.model)
        and (said is not None and said.usage is not None)
        == (before is not None and before.usage is not None)
    )
