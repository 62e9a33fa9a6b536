"""Claude Code's session logs as the graph they are: read, follow, measure, go on.

    import plait

    for record in plait.read("session.jsonl"):
        match record:
            case plait.User(text):
                print("asked:", text)

    archive = plait.Archive(["/home/me/.claude"])
    latest = archive.session("latest")
    archive.graph(latest).lines
    archive.conversations(latest).active.turns
    plait.context(latest).messages

Names are loaded when they are first used, so that importing plait costs nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from plait import graph, redact
    from plait.archive import Archive, context
    from plait.conversation.model import Conversation, Conversations, Turn
    from plait.errors import PlaitError
    from plait.record import (
        Assistant,
        Attachment,
        Broken,
        Message,
        Other,
        Progress,
        Record,
        Summary,
        System,
        Text,
        Thinking,
        ToolResult,
        ToolUse,
        UnknownBlock,
        Usage,
        User,
        entries,
        read,
    )

__all__ = [
    "Archive",
    "Assistant",
    "Attachment",
    "Broken",
    "Conversation",
    "Conversations",
    "Message",
    "Other",
    "PlaitError",
    "Progress",
    "Record",
    "Summary",
    "System",
    "Text",
    "Thinking",
    "ToolResult",
    "ToolUse",
    "Turn",
    "UnknownBlock",
    "Usage",
    "User",
    "context",
    "entries",
    "graph",
    "read",
    "redact",
]

PACKAGES = frozenset({"graph", "redact"})
HOMES = {
    "Archive": "plait.archive",
    "Conversation": "plait.conversation.model",
    "Conversations": "plait.conversation.model",
    "PlaitError": "plait.errors",
    "Turn": "plait.conversation.model",
    "context": "plait.archive",
}


def __getattr__(name: str) -> object:
    if name in PACKAGES:
        return import_module(f"plait.{name}")
    if name in __all__:
        return getattr(import_module(HOMES.get(name, "plait.record")), name)
    raise AttributeError(f"module 'plait' has no attribute '{name}'")


def __dir__() -> list[str]:
    return __all__
