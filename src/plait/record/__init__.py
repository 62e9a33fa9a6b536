"""Lines to records: decoded, typed, still the bytes they were."""

from plait.record.message import Message, Text, Thinking, ToolResult, ToolUse, UnknownBlock, Usage
from plait.record.read import (
    Blank,
    Broken,
    Entry,
    Recovered,
    client_record,
    client_records,
    entries,
    entry_of,
    read,
    record_of,
)
from plait.record.record import Record
from plait.record.types.kinds import Assistant, Attachment, Other, Progress, Summary, System, User

__all__ = [
    "Assistant",
    "Attachment",
    "Blank",
    "Broken",
    "Entry",
    "Message",
    "Other",
    "Progress",
    "Record",
    "Recovered",
    "Summary",
    "System",
    "Text",
    "Thinking",
    "ToolResult",
    "ToolUse",
    "UnknownBlock",
    "Usage",
    "User",
    "client_record",
    "client_records",
    "entries",
    "entry_of",
    "read",
    "record_of",
]
