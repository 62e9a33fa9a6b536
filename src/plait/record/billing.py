"""Lines of a log to what they say of money: who answered, when, and what it took.

Almost every line takes one typed pass that skips all texts. What does not fit that pass is
read as any record is, and its figures are taken as a person would read them: `"100"` and
`100.0` are a hundred. A whole record on a broken line was paid for, so it counts too.
"""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, TypeAlias

import msgspec
from msgspec import Meta, Struct, field

from plait.errors import SourceError
from plait.line import Line
from plait.line.split import blocks
from plait.record.codec import NotAnObject, fitting, lenient, object_of
from plait.record.model import ForkedFrom
from plait.record.read import recover

ASSISTANT = "assistant"
COST_STATE = "cost-state"
LONG = 2000
"""Shorter lines are decoded sooner than looked at."""
MOST = 10**15
"""No response takes more of anything; what says so is not believed."""
EDGE = 400
TYPE = b',"type":"'
ANSWER = b'assistant"'
STATE = b'cost-state"'
GLUED = b'"type":"assistant'


OPENING = " opening"
"""The type of the bill that no line says: when the file was begun, and whether by a copy."""
Count: TypeAlias = Annotated[int, Meta(ge=0, le=MOST)] | None


class CacheFigures(Struct, frozen=True, gc=False, omit_defaults=True):
    """Tokens written to the cache, by how long it keeps them."""

    ephemeral_5m_input_tokens: Count = None
    ephemeral_1h_input_tokens: Count = None


class ToolFigures(Struct, frozen=True, gc=False, omit_defaults=True):
    """Uses of the provider's own tools."""

    web_search_requests: Count = None
    web_fetch_requests: Count = None


class Figures(Struct, frozen=True, gc=False, omit_defaults=True):
    """The part of a response's usage that is paid for."""

    input_tokens: Count = None
    cache_creation_input_tokens: Count = None
    cache_read_input_tokens: Count = None
    output_tokens: Count = None
    server_tool_use: ToolFigures | None = None
    service_tier: str | None = None
    cache_creation: CacheFigures | None = None
    inference_geo: str | None = None
    speed: str | None = None


class BilledMessage(Struct, frozen=True, gc=False, omit_defaults=True):
    """What a message says of itself and of what it took."""

    model: str | None = None
    id: str | None = None
    role: str | None = None
    usage: Figures | None = None
    request_id: str | None = field(default=None, name="requestId")


class Bill(Struct, frozen=True, gc=False, rename="camel", omit_defaults=True):
    """What one line says of money, and by which ids it is known."""

    agent_id: str | None = None
    is_sidechain: bool | None = None
    message: BilledMessage | None = None
    request_id: str | None = None
    type: str | None = None
    uuid: str | None = None
    timestamp: str | int | float | None = None
    cost_usd: float | None = field(default=None, name="costUSD")
    session_id: str | None = None
    forked_from: ForkedFrom | None = None
    role: str | None = None
    total_cost_usd: float | None = field(default=None, name="totalCostUSD")

    @property
    def kind(self) -> str | None:
        """The type, else the role of its message, else its own."""
        return self.type or (self.message and self.message.role) or self.role

    @property
    def request(self) -> str | None:
        """The id of the API request: its own, else its message's."""
        return self.request_id or (self.message.request_id if self.message else None)

    @property
    def figures(self) -> Figures | None:
        """What a response took; None for every other line."""
        if self.message is None or self.message.usage is None or self.kind != ASSISTANT:
            return None
        return self.message.usage


_decode = msgspec.json.Decoder(Bill).decode
MISFITS = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)


def bills(path: Path) -> Iterator[tuple[int, Bill]]:
    """Yields the lines of a file that tell of money, with their numbers; none if it has gone.

    Where notes tell whether its records were copied, one more bill says so: it stands at the
    first note among them.
    """
    return bills_in(blocks(path))


def bills_in(read: Iterable[tuple[bytes | bytearray, int]]) -> Iterator[tuple[int, Bill]]:
    """Yields the same of a file that is read block by block, as `blocks` does."""
    opening = Opening()
    try:
        for number, view in _telling(read, opening):
            try:
                bill = _decode(view)
            except MISFITS:
                for bill in odd_bills(bytes(view), number):
                    yield number, bill
                continue
            message = bill.message
            if message is None or message.usage is None:
                if opening.is_on and (bill.uuid is None or opening.begun):
                    yield from opening.passed(number, bill, len(view))
                if bill.type == COST_STATE:
                    yield number, bill
            elif bill.type == ASSISTANT or bill.kind == ASSISTANT:
                yield number, bill
    except SourceError:
        return
    yield from opening.ended()


def _telling(
    read: Iterable[tuple[bytes | bytearray, int]], opening: "Opening"
) -> Iterator[tuple[int, memoryview]]:
    """Yields the lines that may tell of money, each good until the next is asked for.

    What is billed says that it is an answer, whoever wrote it and in whatever order.
    """
    number = 0
    for buffer, filled in read:
        view, find, stop = memoryview(buffer), buffer.find, -1
        while (start := stop + 1) < filled:
            stop = find(b"\n", start, filled)
            if stop < 0:
                stop = filled
            number += 1
            if stop - start > LONG:
                if _is_plainly_other(buffer, start, stop):
                    continue
            elif not (
                opening.is_on or find(ANSWER, start, stop) >= 0 or find(STATE, start, stop) >= 0
            ):
                continue
            yield number, view[start:stop]
    opening.last = number


class Opening:
    """The records that a file begins with, up to the first note among them.

    A copy is written in one go, and a fork's own notes precede it.
    """

    __slots__ = ("begun", "is_copy", "is_on", "last", "notes")

    def __init__(self) -> None:
        self.begun = ""
        """The time of the first line, where that is a note."""
        self.is_on, self.is_copy = True, False
        self.notes = self.last = 0
        """How many lines are notes from the first on, and how many there are."""

    def passed(self, number: int, bill: Bill, length: int) -> Iterable[tuple[int, Bill]]:
        """Takes in a line that is no answer; where it is a note among records, that is a bill."""
        if bill.uuid is not None:
            if not self.is_copy:
                self.is_copy = isinstance(bill.timestamp, str) and self.begun > bill.timestamp
            return ()
        if number == self.notes + 1:  # nothing but notes so far
            self.notes = number
            if not self.begun and isinstance(bill.timestamp, str):
                self.begun = bill.timestamp
            return ()
        self.is_on = length >= LONG
        return () if self.is_on else ((number, self._bill()),)

    def ended(self) -> Iterable[tuple[int, Bill]]:
        """Returns what is left to say behind the last line of the file."""
        return ((self.last + 1, self._bill()),) if self.is_on and self.begun else ()

    def _bill(self) -> Bill:
        return Bill(type=OPENING, timestamp=self.begun, is_sidechain=self.is_copy)


def _is_plainly_other(buffer: bytes | bytearray, start: int, stop: int) -> bool:
    """Tells by the ends of a long line that it holds no answer, which alone is ever billed.

    A quote inside a string is escaped, so what reads `,"type":"` is a key; with no bracket
    before it but the first, it is the line's own. An answer that was glued on has a type of
    its own further along. Tool results, the most of every log, need no more than this look.
    """
    at = buffer.find(TYPE, start, start + EDGE)
    if at < 0 or buffer.find(b"{", start + 1, at) > 0 or buffer.find(b"[", start + 1, at) > 0:
        return False
    is_answer = buffer.startswith(ANSWER, at + len(TYPE))
    return not is_answer and buffer.find(GLUED, at, stop) < 0


def odd_bills(data: bytes, number: int) -> Iterator[Bill]:
    """Yields what a line tells of money that is not written as the client writes it."""
    try:
        found = [object_of(data)]
    except NotAnObject:
        whole = recover(Line(number, 0, data, True)) if data.strip() else ()
        found = [one.fields for one in whole if one.is_whole]
    for value in found:
        bill = bill_of(value)
        if bill.figures is not None or bill.type == COST_STATE:
            yield bill


def bill_of(value: Mapping[str, Any]) -> Bill:
    """Returns what an object tells of money, as far as it can be understood."""
    message = value.get("message")
    usage = message.get("usage") if isinstance(message, Mapping) else None
    plain = {key: one for key, one in value.items() if key != "message"}
    for key in ("costUSD", "totalCostUSD"):
        plain[key] = _amount(value.get(key))
    if isinstance(message, Mapping):
        plain["message"] = {
            "model": fitting(message.get("model"), str),
            "id": fitting(message.get("id"), str),
            "requestId": fitting(message.get("requestId"), str),
            "role": fitting(message.get("role"), str),
            "usage": _figures_of(usage) if isinstance(usage, Mapping) else None,
        }
    return lenient(plain, Bill)


def _figures_of(usage: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for known in msgspec.structs.fields(Figures):
        value = usage.get(known.name)
        if known.name.endswith("_tokens"):
            found[known.name] = whole(value)
        elif known.name in ("server_tool_use", "cache_creation"):
            inner = value.items() if isinstance(value, Mapping) else None
            found[known.name] = None if inner is None else {key: whole(one) for key, one in inner}
        else:
            found[known.name] = fitting(value, str)
    return found


def whole(value: object) -> int | None:
    """Returns the whole number that a value means; None where it means none."""
    number = _amount(value)
    return int(number) if number is not None and number >= 0 else None


def _amount(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = value if isinstance(value, int) else float(value)
    except ValueError:
        return None
    return number if -MOST <= number <= MOST else None
