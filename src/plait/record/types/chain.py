"""The entries of the chain, by type, each with the fields that its kind carries.

Every attribute is None where the line does not have it, or has something else there.
Versions up to 2.1.81 wrote progress as links of the chain.
"""

from typing import Any

from msgspec import Struct

from plait.record.codec import by_type, wire_name
from plait.record.record import Record, Wire
from plait.record.types.fields import ATTACHMENTS, PROGRESS
from plait.record.types.results import ToolUseResult, tool_use_result_of


class PreservedSegment(Struct, frozen=True, rename=wire_name):
    """A stretch of the old chain that stays in the context, by its ends."""

    head_uuid: str | None = None
    tail_uuid: str | None = None


class PreservedMessages(Struct, frozen=True, rename=wire_name):
    """Messages that stay in the context, one by one."""

    uuids: list[str] | None = None


class Preserved(Struct, frozen=True, gc=False):
    """What a compaction keeps in the context: listed messages, else a segment by its ends."""

    anchor: str | None = None
    """The record that it hangs on from now on."""
    listed: tuple[str, ...] | None = None
    head: str | None = None
    tail: str | None = None

    @property
    def uuids(self) -> tuple[str, ...]:
        """All that it names, the last first."""
        return tuple(one for one in (*reversed(self.listed or ()), self.tail, self.head) if one)


NOTHING = Preserved()


class CompactMetadata(Struct, frozen=True, rename=wire_name):
    """How and why a conversation was compacted."""

    trigger: str | None = None
    pre_tokens: int | None = None
    post_tokens: int | None = None
    duration_ms: float | None = None
    preserved_segment: PreservedSegment | None = None
    preserved_messages: PreservedMessages | None = None


class User(Record):
    """A prompt, a tool's result, or anything else that speaks in the user's place."""

    __slots__ = ()
    __match_args__ = ("text",)
    image_paste_ids = Wire("imagePasteIds", list[Any])
    permission_mode = Wire("permissionMode", str)
    prompt_source = Wire("promptSource", str)
    todos = Wire("todos", list[Any])
    tool_denial_kind = Wire("toolDenialKind", str)
    user_feedback = Wire("userFeedback", str)

    @property
    def tool_use_result(self) -> ToolUseResult | None:
        """The client's own view of a tool's result."""
        return tool_use_result_of(self.fields.get("toolUseResult"))


class Assistant(Record):
    """One block, seldom several, of a response of the model."""

    __slots__ = ()
    __match_args__ = ("text",)
    cost_usd = Wire("costUSD", float)
    duration_ms = Wire("durationMs", float)
    effort = Wire("effort", str)
    error = Wire("error", object)
    model = Wire("model", str)


class System(Record):
    """A note of the client: a compaction, a command, an error, the length of a turn."""

    __slots__ = ()
    __match_args__ = ("subtype",)
    agent = Wire("agent", str)
    compact_metadata = Wire("compactMetadata", CompactMetadata)
    content = Wire("content", str)
    duration_ms = Wire("durationMs", float)
    error = Wire("error", dict[str, Any])
    id = Wire("id", str)
    level = Wire("level", str)
    message_count = Wire("messageCount", int)
    model = Wire("model", str)
    retry_attempt = Wire("retryAttempt", int)
    retry_in_ms = Wire("retryInMs", float)
    scope = Wire("scope", str)
    source = Wire("source", str)
    stop_reason = Wire("stopReason", str)
    summary = Wire("summary", str)
    tool_use_id = Wire("toolUseID", str)
    tools = Wire("tools", list[str])
    trigger = Wire("trigger", str)
    url = Wire("url", str)

    @property
    def preserved(self) -> Preserved | None:
        """What a compaction keeps in the context, None where it names nothing."""
        metadata = self.fields.get("compactMetadata")
        messages = _object_in(metadata, "preservedMessages")
        segment = _object_in(metadata, "preservedSegment")
        uuids = messages.get("uuids")
        listed = tuple(filter(_is_text, uuids)) if isinstance(uuids, list) else None
        # format: the list wins over the segment
        anchor = (segment if listed is None else messages).get("anchorUuid")
        ends = (anchor, segment.get("headUuid"), segment.get("tailUuid"))
        anchor, head, tail = (one if _is_text(one) else None for one in ends)
        found = Preserved(anchor, listed, head, tail)
        return found if found != NOTHING else None


def _object_in(value: object, key: str) -> dict[str, Any]:
    inner = value.get(key) if isinstance(value, dict) else None
    return inner if isinstance(inner, dict) else {}


def _is_text(value: object) -> bool:
    return isinstance(value, str)


class Attachment(Record):
    """What the client told the model besides the prompts; a link of the chain."""

    __slots__ = ()
    __match_args__ = ("attachment_type",)

    @property
    def attachment_type(self) -> str | None:
        """The kind of attachment."""
        return self.envelope.attachment.type if self.envelope.attachment else None

    @property
    def attachment(self) -> Struct | dict[str, Any] | None:
        """The attachment in its typed form, or as it is where its kind is unknown."""
        return by_type(self.fields.get("attachment"), ATTACHMENTS)


class Progress(Record):
    """News of running work; a link of the chain up to 2.1.81."""

    __slots__ = ()
    __match_args__ = ("progress_type",)
    parent_tool_use_id = Wire("parentToolUseID", str)
    tool_use_id = Wire("toolUseID", str)

    @property
    def progress_type(self) -> str | None:
        """The kind of progress."""
        return self.envelope.data.type if self.envelope.data else None

    @property
    def data(self) -> Struct | dict[str, Any] | None:
        """The news in their typed form, or as they are where their kind is unknown."""
        return by_type(self.fields.get("data"), PROGRESS)
