"""Reading records from lines: what is not a record is blank or broken, never lost.

A broken line yields what can still be read of it:

    {"type":"user",…}{"type":"assistant",…}      glued: both are read
    {"type":"user","mess{"type":"assistant",…}   torn, then continued: the second is read
    ␀␀␀␀{"type":"user",…}                        padded by a crash: the record is read
    …he text"}]},"uuid":"…","timestamp":"…"}     the tail of a line: its last fields are read
    {"uuid":"…","timestamp":"…","mess            the head of a line: its first fields are read

What is recovered keeps its place, is counted separately and is never part of a conversation. The
client reads the object at the beginning of a line and skips the rest: only that object is part of
what it sends.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from json import JSONDecodeError, JSONDecoder
from pathlib import Path
from typing import Any, TypeAlias

import msgspec
from msgspec import UNSET, Raw, Struct, field

from plait.errors import SourceError
from plait.line import Line
from plait.line.files import iter_lines
from plait.record.codec import (
    TOO_DEEP,
    BlockHead,
    Envelope,
    MessageHead,
    NotAnObject,
    decode_envelope,
    decode_object,
)
from plait.record.types import RECORD_CLASSES, Record, get_record_class

BLANK = b" \t\r\xef\xbb\xbf"
NAMES = (b'"type"', b'"uuid"', b'"sessionId"', b'"message"')
"""Fields that every record has, even a torn one."""
FAR = 16_000_000


def is_log(path: Path) -> bool:
    """Return whether a file may be a log: a line of it begins like a record, or all are blank.

    In a large file only the beginning is examined.
    """
    is_blank = True
    for line in iter_lines(path, end=FAR):
        start = line.data.lstrip(BLANK)
        if start.startswith(b"{") and any(name in start for name in NAMES):
            return True
        is_blank = is_blank and not start
    return is_blank


BEGINNING = re.compile(r'\{"[A-Za-z_]+":')
FIELD = re.compile(r',"[A-Za-z_]+":')
TYPICAL_FIELDS = frozenset({"uuid", "message", "content", "timestamp"})
MOST_CHARACTERS = 1 << 26

_decoder = JSONDecoder()


@dataclass(frozen=True, slots=True)
class Recovered:
    """An object read from a broken line, with its place in the file."""

    line: int
    offset: int
    data: bytes
    fields: dict[str, Any]
    is_whole: bool
    """False if only some of its fields were left."""
    is_first: bool = False
    """Whether its line begins with it, so that the client reads it."""


def recover(line: Line) -> tuple[Recovered, ...]:
    """Return the complete objects on a line, else the remaining fields of a truncated one."""
    text = line.data.decode("utf-8", "surrogateescape")
    objects: list[Recovered] = []
    end = len(text) - len(text.lstrip("\0 \t\ufeff"))
    for start, stop in _objects_on(text):
        recovered = _recovered(line, text, start, stop)
        # An object inside a torn record is not itself a record.
        stands_alone = (
            start == end
            or not text[stop:].strip()
            or (recovered is not None and {"type", "sessionId"} <= recovered.fields.keys())
        )
        if recovered and stands_alone:
            mark = "\ufeff" if line.offset == 0 else ""
            objects.append(
                replace(recovered, is_first=(not text[:start].removeprefix(mark).strip()))
            )
            end = stop
    found = tuple(objects)
    if found or not line.is_ended:  # a live file's last line may be half written
        return found
    partial = _last_fields(line, text) or _first_fields(line, text)
    return (partial,) if partial else ()


def _objects_on(text: str) -> Iterator[tuple[int, int]]:
    position, tries = 0, _tries_for(text)
    while tries and (match := BEGINNING.search(text, position)):
        start = match.start()
        stop = _value_end(text, start)
        if stop is None:
            tries -= 1
            position = start + 1
        else:
            yield start, stop
            position = stop


def _last_fields(line: Line, text: str) -> Recovered | None:
    """Return the fields after the cut, if the line is the tail of an object.

    A nested object ends before the line does; only the outermost reaches its end.
    """
    position, tries = 0, _tries_for(text)
    length = len(text.rstrip("\0 \t\r"))
    while tries and (match := FIELD.search(text, position)):
        start = match.start() + 1
        stop = _value_end("{" + text[start:], 0)
        if stop is None:
            tries -= 1
            position = start
        elif start + stop - 1 == length:
            return _recovered(line, text, start, length, opening="{")
        else:
            position = start + stop - 1
    return None


def _first_fields(line: Line, text: str) -> Recovered | None:
    start = BEGINNING.match(text)
    stop = 0
    position = 1
    while start and (key := _value_end(text, position)) and text[key : key + 1] == ":":
        value = _value_end(text, key + 1)
        if value is None or text[value : value + 1] != ",":
            break
        stop, position = value, value + 1
    found = _recovered(line, text, 0, stop, closing="}") if stop else None
    return found if found and TYPICAL_FIELDS & found.fields.keys() else None


def _tries_for(text: str) -> int:
    return 4 + MOST_CHARACTERS // max(len(text), 1 << 16)


def _value_end(text: str, start: int) -> int | None:
    """Return the end of the JSON value at a position; None if none is complete there."""
    try:
        return _decoder.raw_decode(text, start)[1]
    except (JSONDecodeError, RecursionError):
        return None


def _recovered(
    line: Line, text: str, start: int, stop: int, opening: str = "", closing: str = ""
) -> Recovered | None:
    data = _in_bytes(text[start:stop])
    try:
        fields = decode_object(opening.encode() + data + closing.encode())
    except NotAnObject:
        return None
    offset = line.offset + len(_in_bytes(text[:start]))
    return Recovered(line.number, offset, data, fields, is_whole=not opening + closing)


def _in_bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


@dataclass(frozen=True, slots=True)
class Blank:
    """An empty line."""

    line: Line


@dataclass(frozen=True, slots=True)
class Broken:
    """A line that is not one JSON object, with what can be read of it."""

    line: Line
    reason: str
    recovered: tuple[Recovered, ...]


Entry: TypeAlias = Record | Blank | Broken


def read(path: Path | str) -> Iterator[Record]:
    """Yield the records of a file in order; blank and broken lines are skipped."""
    for line in iter_lines(Path(path)):
        entry = parse_entry(line)
        if isinstance(entry, Record):
            yield entry


def get_client_record(entry: Entry) -> Record | None:
    """Return what the client reads on a line: its record, or the object that a broken line begins
    with.
    """
    if isinstance(entry, Record):
        return entry
    found = entry.recovered if isinstance(entry, Broken) else ()
    first = next((item for item in found if item.is_first), None)
    return parse_record(first.data, first.line, first.offset) if first else None


def iter_client_records(source: Iterable[Line]) -> Iterator[Record]:
    """Yield what the client reads on some lines."""
    for line in source:
        if record := get_client_record(parse_entry(line)):
            yield record


def read_if_exists(path: Path) -> Iterator[Record]:
    """Yield the records of a file that existed a moment ago; none if it is gone."""
    try:
        yield from read(path)
    except SourceError:
        return


def entries(source: Iterable[Line]) -> Iterator[Entry]:
    """Yield one entry for every line."""
    for line in source:
        yield parse_entry(line)


def parse_entry(line: Line) -> Entry:
    """Return the content of a line."""
    try:
        return parse_record(line.data, line.number, line.offset)
    except NotAnObject as error:
        if not line.data.strip():
            return Blank(line)
        found = recover(line)
        return Broken(line, _describe_fault(line, str(error), found), found)


def parse_record(data: bytes, line: int = 0, offset: int = 0) -> Record:
    """Return the record in the bytes of one line; raise NotAnObject."""
    envelope = decode_envelope(data)
    kind = RECORD_CLASSES.get(envelope.type or "") or get_record_class(envelope)
    return kind(envelope, data, line, offset)


def _describe_fault(line: Line, error: str, found: tuple[Recovered, ...]) -> str:
    count = sum(item.is_whole for item in found)
    if not line.data.strip(b"\0 \t\r"):
        return "NUL bytes only"
    if error == TOO_DEEP:
        return error
    if count > 1:
        return f"{count} records glued together"
    if count:
        return "a record next to parts of another"
    if not line.is_ended:
        return "truncated: the line does not end"
    if found:
        return (
            "the start of a truncated line"
            if line.data.startswith(b"{")
            else "the end of a truncated line"
        )
    return f"not an object: {error}"


# An envelope skips texts, so a line is decoded twice for them. Here both come from one typed pass,
# at half the cost; of the client's own view of a result only the few necessary facts are read. A
# line of any other form is read like every record.


UNUSUAL = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)


class InnerBlock(Struct, frozen=True, gc=False):
    """One block of a result."""

    type: str | None = None
    text: str | None = None
    citations: list[Raw] | None = None


class BlockWithText(BlockHead, frozen=True, gc=False):
    """A block with its text; the fields are as strict as those of the typed blocks."""

    text: str | None = None
    thinking: str | None = None
    input: Any = None
    content: str | list[InnerBlock] | None = None
    is_error: bool | None = None
    signature: str | None = None
    data: str | None = None
    citations: list[Raw] | None = None


class MessageWithText(MessageHead, frozen=True, gc=False):
    """A message with its text."""

    content: str | list[BlockWithText] | None = None  # type: ignore[assignment]


class ResultFacts(Struct, frozen=True, gc=False):
    """The necessary facts of the client's own view of a result."""

    agent: Any = field(default=None, name="agentId")
    agent_too: Any = field(default=None, name="agent_id")
    run: Any = field(default=None, name="runId")
    teammate: Any = field(default=UNSET, name="teammate_id")
    name: Any = None
    output: Any = field(default=None, name="persistedOutputPath")


class EnvelopeWithText(Envelope, frozen=True, gc=False, rename="camel"):
    """An envelope with the text of its message."""

    message: MessageWithText | None = None
    tool_use_result: Raw = Raw()

    @property
    def has_view(self) -> bool:
        """Whether the client has its own view of a result."""
        view = memoryview(self.tool_use_result)
        return len(view) > 0 and bytes(view[:4]) != b"null"

    @property
    def view_facts(self) -> ResultFacts | None:
        """Its necessary facts; None if it is no object."""
        if bytes(memoryview(self.tool_use_result)[:1]) != b"{":
            return None
        try:
            return _facts(self.tool_use_result)
        except UNUSUAL:
            return None

    @property
    def view(self) -> Any:
        """All of it; UNSET if it is unusual, None if there is none."""
        try:
            return msgspec.json.decode(self.tool_use_result) if self.has_view else None
        except UNUSUAL:
            return UNSET


_worded = msgspec.json.Decoder(EnvelopeWithText).decode
_facts = msgspec.json.Decoder(ResultFacts).decode


def decode_with_text(data: bytes) -> EnvelopeWithText | None:
    """Return the envelope of a line with its text; None if it has another form."""
    try:
        return _worded(data)
    except UNUSUAL:
        return None


def read_with_text(path: Path) -> tuple[list[Record], int]:
    """Return the records of a file and its number of lines; none if it is gone."""
    try:
        return _with_words(iter_lines(path))
    except SourceError:
        return [], 0


def _with_words(found: Iterable[Line]) -> tuple[list[Record], int]:
    records: list[Record] = []
    count = 0
    for line in found:
        count += 1
        envelope = decode_with_text(line.data)
        if envelope is not None:
            kind = RECORD_CLASSES.get(envelope.type or "") or get_record_class(envelope)
            records.append(kind(envelope, line.data, line.number, line.offset))
        elif isinstance(entry := parse_entry(line), Record):
            records.append(entry)
    return records, count


def parse_with_text(data: bytes) -> tuple[list[Record], int]:
    """Return the same for given bytes."""
    raw_lines = data.split(b"\n")
    rest = raw_lines.pop()
    records: list[Record] = []
    offset = 0
    for number, raw in enumerate(raw_lines, 1):
        envelope = decode_with_text(raw)
        if envelope is not None:
            kind = RECORD_CLASSES.get(envelope.type or "") or get_record_class(envelope)
            records.append(kind(envelope, raw, number, offset))
        elif isinstance(entry := parse_entry(Line(number, offset, raw, True)), Record):
            records.append(entry)
        offset += len(raw) + 1
    if not rest:
        return records, len(raw_lines)
    last, _ = _with_words([Line(len(raw_lines) + 1, offset, rest, False)])
    return records + last, len(raw_lines) + 1
