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


class FileBackup(Struct, frozen=True, rename=wire_name):
    """A copy of a file as it was before an edit."""

    backup_file_name: str | None = None
    version: int | None = None
    backup_time: str | None = None
    real_parent_dir: str | None = None


class Snapshot(Struct, frozen=True, rename=wire_name):
    """The backups that belong to one message, by path."""

    message_id: str | None = None
    timestamp: str | None = None
    tracked_file_backups: dict[str, Any] | None = None


class WorktreeSession(Struct, frozen=True, rename=wire_name):
    """A git worktree and where it came from."""

    original_cwd: str | None = None
    worktree_path: str | None = None
    worktree_name: str | None = None
    worktree_branch: str | None = None
    original_branch: str | None = None
    original_head_commit: str | None = None
    session_id: str | None = None


class Summary(Record):
    """A title for a conversation that ends at a leaf, often of another session."""

    __slots__ = ()
    __match_args__ = ("summary",)
    summary = Wire("summary", str)

    @property
    def leaf_uuid(self) -> str | None:
        """The record that the summary describes."""
        return self.envelope.leaf_uuid


class LastPrompt(Record):
    """The newest prompt and the leaf the client stood on."""

    __slots__ = ()
    __match_args__ = ("last_prompt",)
    last_prompt = Wire("lastPrompt", str)
    explicit = Wire("explicit", bool)

    @property
    def leaf_uuid(self) -> str | None:
        """The leaf that the client stood on."""
        return self.envelope.leaf_uuid


class QueueOperation(Record):
    """A prompt that began or ended waiting."""

    __slots__ = ()
    __match_args__ = ("operation",)
    operation = Wire("operation", str)
    task_id = Wire("taskId", str)
    content = Wire("content", object)


class FileHistorySnapshot(Record):
    """The backups of edited files as they were at a message."""

    __slots__ = ()
    __match_args__ = ("message_id",)
    message_id = Wire("messageId", str)
    snapshot = Wire("snapshot", Snapshot)
    is_snapshot_update = Wire("isSnapshotUpdate", bool)
    files = Wire("files", list[str])


class FileHistoryDelta(Record):
    """One more backup for an earlier snapshot."""

    __slots__ = ()
    __match_args__ = ("tracking_path",)
    message_id = Wire("messageId", str)
    snapshot_message_id = Wire("snapshotMessageId", str)
    tracking_path = Wire("trackingPath", str)
    backup = Wire("backup", FileBackup)


class WorktreeState(Record):
    """The git worktree that the session works in."""

    __slots__ = ()
    __match_args__ = ("worktree_session",)
    worktree_session = Wire("worktreeSession", WorktreeSession)


class PrLink(Record):
    """A pull request that came of the session."""

    __slots__ = ()
    __match_args__ = ("pr_url",)
    pr_number = Wire("prNumber", int)
    pr_url = Wire("prUrl", str)
    pr_repository = Wire("prRepository", str)


class ForkContextRef(Record):
    """The context of a forked sub-agent: its parent session up to a record."""

    __slots__ = ()
    __match_args__ = ("parent_last_uuid",)
    parent_session_id = Wire("parentSessionId", str)
    parent_last_uuid = Wire("parentLastUuid", str)
    context_length = Wire("contextLength", int)


class State(Record):
    """Any other line of state: its fields are known, and none is read as an attribute."""

    __slots__ = ()


class Other(Record):
    """A record of a type not met before, or of none: kept, shown and counted like any other."""

    __slots__ = ()
