"""Lines of a log to what tells what was sent with which request: ids, times, figures, settings.

One typed pass that skips all texts, like that for bills. What does not fit it is read as any
record is.
"""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path

import msgspec
from msgspec import Raw, Struct, field
from msgspec.structs import replace

from plait.errors import SourceError
from plait.line import Line
from plait.line.split import views
from plait.record.billing import COST_STATE, MISFITS, BilledMessage, bill_of
from plait.record.codec import NotAnObject, lenient, object_of
from plait.record.model import ForkedFrom
from plait.record.read import recover

SNAPSHOT = b'"prompt_snapshot"'
STARTED = b"SessionStart:resume"
EDGE = 200
NOTHING = Raw()
TOLD_APART = frozenset({"attachment", "progress"})
UNREAD = frozenset({"message", "attachment", "data"})
BOUNDARY, CLEARING = "compact_boundary", "microcompact_boundary"


class Thinking(Struct, frozen=True, gc=False, rename="camel"):
    """How much the model was to think."""

    level: str | None = None
    disabled: bool | None = None
    max_thinking_tokens: int | None = None


class Preserved(Struct, frozen=True, gc=False, rename="camel"):
    """What a compaction left as it was."""

    head_uuid: str | None = None
    tail_uuid: str | None = None
    uuids: list[str] | None = None


class Compaction(Struct, frozen=True, gc=False, rename="camel"):
    """What a boundary says of itself."""

    preserved_segment: Preserved | None = None
    preserved_messages: Preserved | None = None


class SentMessage(BilledMessage, frozen=True, gc=False):
    """What a message says of itself, and what it holds, as long as its line is looked at."""

    content: Raw = NOTHING


class Sent(Struct, frozen=True, gc=False, rename="camel"):
    """One line, as far as it tells what a request held and what could change that."""

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
        """Whether a summary stands for what came before."""
        return self.subtype == BOUNDARY or self.is_compact_summary is True

    @property
    def ends_process(self) -> bool:
        """Whether a client writes it when it is left."""
        return self.type == COST_STATE

    @property
    def begins_process(self) -> bool:
        """Whether it is what a client leaves that takes a session up again."""
        return STARTED in bytes(self.attachment)[:EDGE] or STARTED in bytes(self.data)[:EDGE]

    @property
    def prompt(self) -> bytes | None:
        """A digest of instructions and tools, where the line keeps them."""
        told = bytes(self.attachment)
        return blake2b(told, digest_size=8).digest() if SNAPSHOT in told[:EDGE] else None


_decode = msgspec.json.Decoder(Sent).decode


def sent_lines(path: Path) -> Iterator[tuple[int, Sent]]:
    """Yields the lines of a file with their numbers; none if it has gone."""
    with suppress(SourceError):
        yield from sent_in(views(path))


def sent_in(found: Iterable[tuple[int, bytes | memoryview]]) -> Iterator[tuple[int, Sent]]:
    """Yields lines that were read, or what was recovered of them, with their numbers."""
    for number, view in found:
        try:
            told = _decode(view)
            yield number, _lasting(told) if told.type in TOLD_APART else told
        except MISFITS:
            yield from ((number, one) for one in _odd(bytes(view), number))


def _lasting(told: Sent) -> Sent:
    """Returns a line whose attachment can be asked after the next line was read."""
    return replace(told, attachment=told.attachment.copy(), data=told.data.copy())


def _odd(data: bytes, number: int) -> Iterator[Sent]:
    """Yields what stands on a line that is not written as the client writes it."""
    try:
        found = [object_of(data)]
    except NotAnObject:
        whole = recover(Line(number, 0, data, True)) if data.strip() else ()
        found = [one.fields for one in whole if one.is_whole]
    for value in found:
        plain = {key: one for key, one in value.items() if key not in UNREAD}
        told = lenient(plain, Sent)
        message = bill_of(value).message
        spoken = msgspec.convert(message, SentMessage, from_attributes=True) if message else None
        yield replace(told, message=spoken)
