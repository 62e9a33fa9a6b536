"""Typed records over the lines of a log; a record keeps its original bytes."""

from plait.record.message import Message, Text, Thinking, ToolResult, ToolUse, UnknownBlock, Usage
from plait.record.reader import (
    Blank,
    Broken,
    Entry,
    Recovered,
    entries,
    get_client_record,
    iter_client_records,
    parse_entry,
    parse_record,
    read,
)
from plait.record.types import Assistant, Attachment, Other, Progress, Record, Summary, System, User

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
    "entries",
    "get_client_record",
    "iter_client_records",
    "parse_entry",
    "parse_record",
    "read",
]
