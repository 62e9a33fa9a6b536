"""An envelope to the class of its record, by the type that its line names."""

from plait.record.model import Envelope
from plait.record.record import Record, role_of
from plait.record.types.fields import STATE
from plait.record.types.kinds import (
    Assistant,
    Attachment,
    FileHistoryDelta,
    FileHistorySnapshot,
    ForkContextRef,
    LastPrompt,
    Other,
    PrLink,
    Progress,
    QueueOperation,
    State,
    Summary,
    System,
    User,
    WorktreeState,
)

KINDS: dict[str, type[Record]] = {
    "user": User,
    "assistant": Assistant,
    "system": System,
    "attachment": Attachment,
    "progress": Progress,
    "summary": Summary,
    "last-prompt": LastPrompt,
    "queue-operation": QueueOperation,
    "file-history-snapshot": FileHistorySnapshot,
    "file-history-delta": FileHistoryDelta,
    "worktree-state": WorktreeState,
    "pr-link": PrLink,
    "fork-context-ref": ForkContextRef,
    **dict.fromkeys(STATE, State),
}


def kind_of(envelope: Envelope) -> type[Record]:
    """Returns the class for a record: by its type, else by the role of its message."""
    return KINDS.get(envelope.type or role_of(envelope) or "", Other)
