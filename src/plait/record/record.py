"""A line with meaning: its envelope at once, the rest when asked, its bytes for ever."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, ClassVar, Generic, Self, TypeVar, overload

from plait.record.codec import encode, envelope_of, fitting, fitting_field, object_of
from plait.record.message import Message, Spoken, message_of, spoken_of
from plait.record.model import BlockHead, Envelope, ForkedFrom
from plait.record.time import moment

T = TypeVar("T")
TRIMMED = "trimmedTokens"
"""The field in which an edited log notes what went: the client does not know it."""
NOTED_TRIM = f'"{TRIMMED}"'.encode()


class Record:
    """One JSON object of a log.

    `raw` is the line as it was read. `fields` is all of it, decoded on first use: what no
    attribute names is there.
    """

    __match_args__: ClassVar[tuple[str, ...]] = ()
    __slots__ = ("_fields", "_message", "_spoken", "envelope", "line", "offset", "raw")
    _fields: dict[str, Any]
    _message: Message | None
    _spoken: Spoken | None

    def __init__(self, envelope: Envelope, raw: bytes, line: int = 0, offset: int = 0) -> None:
        self.envelope = envelope
        self.raw = raw
        self.line = line
        """The number of its line, from 1; 0 for a record that came from no file."""
        self.offset = offset
        """Where its bytes begin in the file."""

    def __repr__(self) -> str:
        place = f" at line {self.line}" if self.line else ""
        return f"<{type(self).__name__} {self.uuid or self.kind}{place}>"

    @property
    def fields(self) -> dict[str, Any]:
        """All of the object by its wire names. Not to be changed: see `replace`."""
        try:
            return self._fields
        except AttributeError:  # not asked for yet
            self._fields = object_of(self.raw)
            return self._fields

    def replace(self, **changes: object) -> Self:
        """Returns a record with other values for some wire fields, newly encoded."""
        return self.with_fields({**self.fields, **changes})

    def with_fields(self, fields: Mapping[str, Any]) -> Self:
        """Returns a record of other fields at the same place, newly encoded."""
        raw = encode(fields)
        return type(self)(envelope_of(raw), raw, self.line, self.offset)

    @property
    def type(self) -> str | None:
        """The `type` of the line, None where it has none."""
        return self.envelope.type

    @property
    def kind(self) -> str:
        """The type, else the role of its message, else "untyped"."""
        envelope = self.envelope
        return envelope.type or role_of(envelope) or "untyped"

    @property
    def uuid(self) -> str | None:
        return self.envelope.uuid

    @property
    def parent_uuid(self) -> str | None:
        return self.envelope.parent_uuid

    @property
    def logical_parent_uuid(self) -> str | None:
        return self.envelope.logical_parent_uuid

    @property
    def session_id(self) -> str | None:
        return self.envelope.session_id

    @property
    def agent_id(self) -> str | None:
        return self.envelope.agent_id

    @property
    def subtype(self) -> str | None:
        return self.envelope.subtype

    @property
    def version(self) -> str | None:
        return self.envelope.version

    @property
    def cwd(self) -> str | None:
        return self.envelope.cwd

    @property
    def git_branch(self) -> str | None:
        return self.envelope.git_branch

    @property
    def request_id(self) -> str | None:
        """The id of the API request: the line's own, else its message's."""
        inner = self.envelope.message.request_id if self.envelope.message else None
        return self.envelope.request_id or inner

    @property
    def user_type(self) -> str | None:
        return fitting(self.fields.get("userType"), str)

    @property
    def slug(self) -> str | None:
        return fitting(self.fields.get("slug"), str)

    @property
    def team_name(self) -> str | None:
        return self.envelope.team_name

    @property
    def prompt_id(self) -> str | None:
        return self.envelope.prompt_id

    @property
    def source_tool_assistant_uuid(self) -> str | None:
        return self.envelope.source_tool_assistant_uuid

    @property
    def source_tool_use_id(self) -> str | None:
        return self.envelope.source_tool_use_id

    @property
    def forked_from(self) -> ForkedFrom | None:
        return self.envelope.forked_from

    @property
    def is_sidechain(self) -> bool:
        return self.envelope.is_sidechain is True

    @property
    def is_meta(self) -> bool:
        return self.envelope.is_meta is True

    @property
    def is_compact_summary(self) -> bool:
        return self.envelope.is_compact_summary is True

    @property
    def is_visible_in_transcript_only(self) -> bool:
        return self.envelope.is_visible_in_transcript_only is True

    @property
    def is_api_error_message(self) -> bool:
        return self.envelope.is_api_error_message is True

    @property
    def timestamp(self) -> str | None:
        """The time as the line gives it: its own, else its message's."""
        return timestamp_of(self.envelope)

    @property
    def time(self) -> datetime | None:
        """The moment that the timestamp names, None where it names none."""
        return moment(self.timestamp) or moment(self.envelope.timestamp)

    @property
    def trimmed_tokens(self) -> int:
        """About how many tokens a trim took here, or before here: later usage still counts them."""
        if NOTED_TRIM not in self.raw:
            return 0
        return max(fitting(self.fields.get(TRIMMED), int) or 0, 0)

    @property
    def message_id(self) -> str | None:
        """The id that all blocks of one response share."""
        return self.envelope.message.id if self.envelope.message else None

    @property
    def block_heads(self) -> tuple[BlockHead, ...]:
        """Kinds and ids of its content blocks; none where the content is a string."""
        content = content_of(self.envelope)
        return tuple(content) if isinstance(content, list) else ()

    @property
    def message(self) -> Message | None:
        """The message with typed blocks; also of the plain form that has no `message`."""
        try:
            return self._message
        except AttributeError:  # not asked for yet
            self._message = self._decoded_message()
            return self._message

    @property
    def spoken(self) -> Spoken | None:
        """The message with what stands beside it, None where its form is not as expected."""
        try:
            return self._spoken
        except AttributeError:  # not asked for yet
            self._spoken = spoken_of(self.raw)
            return self._spoken

    def _decoded_message(self) -> Message | None:
        if self.spoken:
            return self.spoken.message
        value = self.fields.get("message")
        if isinstance(value, Mapping):
            # format: some writers nest the message and leave the content outside it
            return message_of(value if "content" in value else {**self.fields, **value})
        if role_of(self.envelope) and "content" in self.fields:
            return message_of(self.fields)
        return None

    @property
    def text(self) -> str:
        """The words of its message, or of its own content."""
        content = content_of(self.envelope)
        if isinstance(content, str):  # nothing is left to decode
            return content
        message = self.message
        return message.text if message else ""


def role_of(envelope: Envelope) -> str | None:
    """Returns who speaks: the message's role, or the line's own in the plain form."""
    role = envelope.message.role if envelope.message else None
    return role or envelope.role


def content_of(envelope: Envelope) -> str | list[BlockHead] | None:
    """Returns the content of the message, else that of the line."""
    inner = envelope.message.content if envelope.message else None
    return envelope.content if inner is None else inner


def timestamp_of(envelope: Envelope) -> str | None:
    """Returns the line's own timestamp where it is text, else its message's."""
    stamp = envelope.timestamp
    if not isinstance(stamp, str):
        stamp = envelope.message.timestamp if envelope.message else None
    return stamp if isinstance(stamp, str) else None


def has_message(record: Record) -> bool:
    """Whether a prompt or an answer holds something that can be read as a message."""
    content = record.envelope.message.content if record.envelope.message else None
    if content is not None:
        return not content or isinstance(content, str) or any(head.type for head in content)
    return any(isinstance(block, dict) for block in content_blocks(record))


def content_blocks(record: Record) -> list[dict[str, Any]]:
    """Returns the usable content blocks; a string is one text block."""
    message = record.fields.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [block for block in content if _is_block(block)] if isinstance(content, list) else []


def _is_block(block: object) -> bool:
    if not isinstance(block, dict) or not isinstance(block.get("type"), str):
        return False
    return block["type"] != "text" or isinstance(block.get("text"), str)


class Wire(Generic[T]):
    """A typed attribute that reads one wire field, None where it is absent or misfits."""

    __slots__ = ("kind", "name")

    def __init__(self, name: str, kind: type[T]) -> None:
        self.name = name
        self.kind = kind

    @overload
    def __get__(self, record: None, owner: type) -> Self: ...
    @overload
    def __get__(self, record: Record, owner: type) -> T | None: ...
    def __get__(self, record: Record | None, owner: type) -> Self | T | None:
        if record is None:
            return self
        value: T | None = fitting_field(record.fields.get(self.name), self.kind)
        return value
