"""The lines outside the chain, by type, each with the fields that its kind carries.

They hold the state of a session (titles, modes, queues, backups, costs), mostly without
a uuid; many are written again and again, and the last one counts.
"""

from typing import Any

from msgspec import Struct

from plait.record.codec import wire_name
from plait.record.record import Record, Wire


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
