"""Claude Code session logs as the graph they are: reading, following, measuring, continuing.

    import plait

    for record in plait.read("session.jsonl"):
        match record:
            case plait.User(text):
                print("asked:", text)

    archive = plait.Archive(["/home/me/.claude"])
    session = archive.session("latest")
    for turn in session.turns:
        print(turn.prompt, turn.cost, [call.name for call in turn.calls])
    session.conversations.active.markdown()
    archive.search("parser").hits
    archive.usage("weekly").rows
    archive.graph("latest").lines
    archive.context("latest").messages

Names are loaded when they are first used, so that importing plait costs nothing.
"""

TYPE_CHECKING = False  # importing typing takes as long as starting Python

if TYPE_CHECKING:
    from plait import documents, graph, redact
    from plait.archive import Archive, OpenSession, Session, context
    from plait.conversation.model import Conversation, Conversations, ToolCall, Turn
    from plait.conversation.prices import Prices
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
    from plait.sessions.blocks import Block, BlockAdded, BlockUpdated, Cleared
    from plait.store.sdk import SessionStore
    from plait.write.writer import SessionWriter

__version__ = "0.1.0"

__all__ = [
    "Archive",
    "Assistant",
    "Attachment",
    "Block",
    "BlockAdded",
    "BlockUpdated",
    "Broken",
    "Cleared",
    "Conversation",
    "Conversations",
    "Message",
    "OpenSession",
    "Other",
    "PlaitError",
    "Prices",
    "Progress",
    "Record",
    "Session",
    "SessionStore",
    "SessionWriter",
    "Summary",
    "System",
    "Text",
    "Thinking",
    "ToolCall",
    "ToolResult",
    "ToolUse",
    "Turn",
    "UnknownBlock",
    "Usage",
    "User",
    "__version__",
    "context",
    "documents",
    "entries",
    "graph",
    "read",
    "redact",
]

PACKAGES = frozenset({"documents", "graph", "redact"})
HOMES = {
    "Archive": "plait.archive",
    "Block": "plait.sessions.blocks",
    "BlockAdded": "plait.sessions.blocks",
    "BlockUpdated": "plait.sessions.blocks",
    "Cleared": "plait.sessions.blocks",
    "ToolCall": "plait.conversation.model",
    "Conversation": "plait.conversation.model",
    "Conversations": "plait.conversation.model",
    "OpenSession": "plait.archive",
    "PlaitError": "plait.errors",
    "Prices": "plait.conversation.prices",
    "Session": "plait.archive",
    "SessionStore": "plait.store.sdk",
    "SessionWriter": "plait.write.writer",
    "Turn": "plait.conversation.model",
    "context": "plait.archive",
}


def __getattr__(name: str) -> object:
    from importlib import import_module

    name = {"Called": "ToolCall"}.get(name, name)  # its name before 0.1.0
    if name in PACKAGES:
        return import_module(f"plait.{name}")
    if name in __all__:
        return getattr(import_module(HOMES.get(name, "plait.record")), name)
    raise AttributeError(f"module 'plait' has no attribute '{name}'")


def __dir__() -> list[str]:
    return __all__
