"""What the lines of a log say about usage and cost, and about what each request contained.

Almost every line is decoded in one typed pass that skips all texts. A line that does not fit is
read like any record, and its figures are interpreted leniently: `"100"` and `100.0` are a hundred.
A complete record on a broken line was paid for, so it counts too.
"""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from typing import Annotated, Any, TypeAlias

import msgspec
from msgspec import Meta, Raw, Struct, field
from msgspec.structs import replace

from plait.errors import SourceError
from plait.line import Line
from plait.line.files import iter_blocks, iter_line_views
from plait.record.codec import (
    ForkedFrom,
    NotAnObject,
    convert_leniently,
    convert_or_none,
    decode_object,
)
from plait.record.reader import recover

ASSISTANT = "assistant"
COST_STATE = "cost-state"
LONG = 2000
"""Shorter lines are decoded faster than examined."""
MOST = 10**15
"""No response uses more of anything; larger figures are ignored."""
EDGE = 400
TYPE = b',"type":"'
ANSWER = b'assistant"'
STATE = b'cost-state"'
GLUED = b'"type":"assistant'


OPENING = " opening"
"""The type of a bill that corresponds to no line: when the file was started, and whether by a
copy.
"""
Count: TypeAlias = Annotated[int, Meta(ge=0, le=MOST)] | None


class CacheFigures(Struct, frozen=True, gc=False, omit_defaults=True):
    """Tokens written to the cache, by lifetime."""

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
    """What a message says about itself and its usage."""

    model: str | None = None
    id: str | None = None
    role: str | None = None
    usage: Figures | None = None
    request_id: str | None = field(default=None, name="requestId")


class Bill(Struct, frozen=True, gc=False, rename="camel", omit_defaults=True):
    """What one line says about usage and cost, with its ids."""

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
    agent_units: float | None = None
    """What another agent charged in a unit of its own."""

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
        """The usage of a response; None for every other line."""
        if self.message is None or self.message.usage is None or self.kind != ASSISTANT:
            return None
        return self.message.usage


_decode = msgspec.json.Decoder(Bill).decode
MISFITS = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)


def iter_bills(path: Path) -> Iterator[tuple[int, Bill]]:
    """Yield the lines of a file with usage or cost, with their numbers; none if it is gone.

    If notes reveal whether its records were copied, one more bill says so: at the first note among
    them.
    """
    return iter_bills_in_blocks(iter_blocks(path))


def iter_bills_in_blocks(
    read: Iterable[tuple[bytes | bytearray, int]],
) -> Iterator[tuple[int, Bill]]:
    """Yield the same for a file that is read block by block, as `blocks` does."""
    opening = Opening()
    try:
        for number, view in _iter_bill_lines(read, opening):
            try:
                bill = _decode(view)
            except MISFITS:
                for bill in parse_irregular_bills(bytes(view), number):
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


def _iter_bill_lines(
    read: Iterable[tuple[bytes | bytearray, int]], opening: "Opening"
) -> Iterator[tuple[int, memoryview]]:
    """Yield the lines that may have usage or cost, each valid until the next is requested.

    A billed line says that it is an assistant message, whatever the client and the order of fields.
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
    """The records at the beginning of a file, up to the first note among them.

    A copy is written in one go, and a fork's own notes precede it.
    """

    __slots__ = ("begun", "is_copy", "is_on", "last", "notes")

    def __init__(self) -> None:
        self.begun = ""
        """The time of the first line, if that is a note."""
        self.is_on, self.is_copy = True, False
        self.notes = self.last = 0
        """The number of notes at the beginning, and of all so far."""

    def passed(self, number: int, bill: Bill, length: int) -> Iterable[tuple[int, Bill]]:
        """Process a line that is no response; return a bill if it is a note among records."""
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
        """Return what remains to report after the last line of the file."""
        return ((self.last + 1, self._bill()),) if self.is_on and self.begun else ()

    def _bill(self) -> Bill:
        return Bill(type=OPENING, timestamp=self.begun, is_sidechain=self.is_copy)


def _is_plainly_other(buffer: bytes | bytearray, start: int, stop: int) -> bool:
    """Return whether a long line contains no response, judged by its ends: only responses are
    billed.

    A quote inside a string is escaped, so `,"type":"` is a key; with no bracket before it but the
    first, it belongs to the line itself. A response glued to it has a type of its own further
    along. Tool results, the bulk of every log, need no more than this.
    """
    at = buffer.find(TYPE, start, start + EDGE)
    if at < 0 or buffer.find(b"{", start + 1, at) > 0 or buffer.find(b"[", start + 1, at) > 0:
        return False
    is_answer = buffer.startswith(ANSWER, at + len(TYPE))
    return not is_answer and buffer.find(GLUED, at, stop) < 0


def parse_irregular_bills(data: bytes, number: int) -> Iterator[Bill]:
    """Yield the usage and cost in a line that is not in the client's form."""
    for value in _decode_irregular_line(data, number):
        bill = make_bill(value)
        if bill.figures is not None or bill.type == COST_STATE:
            yield bill


def _decode_irregular_line(data: bytes, number: int) -> list[dict[str, Any]]:
    """Return the objects on a line: itself, else those recovered from it."""
    try:
        return [decode_object(data)]
    except NotAnObject:
        recovered = recover(Line(number, 0, data, True)) if data.strip() else ()
        return [item.fields for item in recovered if item.is_whole]


def make_bill(value: Mapping[str, Any]) -> Bill:
    """Return ids, usage and stated costs of a log line; values of the wrong type become None."""
    message = value.get("message")
    usage = message.get("usage") if isinstance(message, Mapping) else None
    plain = {key: item for key, item in value.items() if key != "message"}
    for key in ("costUSD", "totalCostUSD", "agentUnits"):
        plain[key] = _amount(value.get(key))
    if isinstance(message, Mapping):
        plain["message"] = {
            "model": convert_or_none(message.get("model"), str),
            "id": convert_or_none(message.get("id"), str),
            "requestId": convert_or_none(message.get("requestId"), str),
            "role": convert_or_none(message.get("role"), str),
            "usage": _make_figures(usage) if isinstance(usage, Mapping) else None,
        }
    return convert_leniently(plain, Bill)


def _make_figures(usage: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for known in msgspec.structs.fields(Figures):
        value = usage.get(known.name)
        if known.name.endswith("_tokens"):
            found[known.name] = parse_count(value)
        elif known.name in ("server_tool_use", "cache_creation"):
            inner = value.items() if isinstance(value, Mapping) else None
            found[known.name] = (
                None if inner is None else {key: parse_count(item) for key, item in inner}
            )
        else:
            found[known.name] = convert_or_none(value, str)
    return found


def parse_count(value: object) -> int | None:
    """Return a value as an integer; None if it is not one."""
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


# What tells which context a request was sent with: ids, times, figures and settings. Again one
# typed pass that skips all texts; a line that does not fit is read like any record.


SNAPSHOT = b'"prompt_snapshot"'
STARTED = b"SessionStart:resume"
LINEAGE_EDGE = 200
NOTHING = Raw()
SEPARATE_TYPES = frozenset({"attachment", "progress"})
UNREAD = frozenset({"message", "attachment", "data"})
BOUNDARY, CLEARING = "compact_boundary", "microcompact_boundary"


class Thinking(Struct, frozen=True, gc=False, rename="camel"):
    """The thinking settings."""

    level: str | None = None
    disabled: bool | None = None
    max_thinking_tokens: int | None = None


class Preserved(Struct, frozen=True, gc=False, rename="camel"):
    """What a compaction preserved."""

    head_uuid: str | None = None
    tail_uuid: str | None = None
    uuids: list[str] | None = None


class Compaction(Struct, frozen=True, gc=False, rename="camel"):
    """The metadata of a compaction boundary."""

    preserved_segment: Preserved | None = None
    preserved_messages: Preserved | None = None


class SentMessage(BilledMessage, frozen=True, gc=False):
    """What a message says about itself, and its content as long as its line is in use."""

    content: Raw = NOTHING


class SentLine(Struct, frozen=True, gc=False, rename="camel"):
    """One line, as far as it says what a request contained and what could change that."""

    parent_uuid: str | None = None
    logical_parent_uuid: str | None = None
    is_sidechain: bool | None = None
    attachment: Raw = NOTHING
    agent_id: str | None = None
    message: SentMessage | None = None
    request_id: str | None = None
    effort: str | None = None
    type: str | None = None
    subtype: str | None = None
    data: Raw = NOTHING
    compact_metadata: Compaction | None = None
    uuid: str | None = None
    timestamp: str | int | float | None = None
    is_compact_summary: bool | None = None
    thinking_metadata: Thinking | None = None
    entrypoint: str | None = None
    session_id: str | None = None
    version: str | None = None
    process: str | None = field(default=None, name="session_id")
    forked_from: ForkedFrom | None = None

    @property
    def is_boundary(self) -> bool:
        """Whether a summary replaces what came before."""
        return self.subtype == BOUNDARY or self.is_compact_summary is True

    @property
    def ends_process(self) -> bool:
        """Whether a client writes it on exit."""
        return self.type == COST_STATE

    @property
    def begins_process(self) -> bool:
        """Whether a client writes it when it resumes a session."""
        return (
            STARTED in bytes(self.attachment)[:LINEAGE_EDGE]
            or STARTED in bytes(self.data)[:LINEAGE_EDGE]
        )

    @property
    def prompt(self) -> bytes | None:
        """A digest of instructions and tools, if the line has them."""
        text = bytes(self.attachment)
        return blake2b(text, digest_size=8).digest() if SNAPSHOT in text[:LINEAGE_EDGE] else None


_decode_sent = msgspec.json.Decoder(SentLine).decode


def iter_sent_lines(path: Path) -> Iterator[tuple[int, SentLine]]:
    """Yield the lines of a file with their numbers; none if it is gone."""
    with suppress(SourceError):
        yield from decode_sent_lines(iter_line_views(path))


def decode_sent_lines(
    found: Iterable[tuple[int, bytes | memoryview]],
) -> Iterator[tuple[int, SentLine]]:
    """Yield decoded or recovered lines, with their numbers."""
    for number, view in found:
        try:
            sent = _decode_sent(view)
            yield (
                number,
                replace(sent, attachment=sent.attachment.copy(), data=sent.data.copy())
                if sent.type in SEPARATE_TYPES
                else sent,
            )
        except MISFITS:
            for value in _decode_irregular_line(bytes(view), number):
                plain = {key: item for key, item in value.items() if key not in UNREAD}
                sent = convert_leniently(plain, SentLine)
                figures = make_bill(value).message
                message = (
                    msgspec.convert(figures, SentMessage, from_attributes=True) if figures else None
                )
                yield number, replace(sent, message=message)
