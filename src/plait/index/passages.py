"""Items of a conversation to the words that are indexed, each text once.

The same words stand in many places of a log (format: the same text in many places): in the
queue of prompts, in the last prompt, in the log of requests, in the client's own view of a
result. Only the one that a conversation shows is indexed.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from plait.conversation.item import Item, Result
from plait.conversation.leaves import leaves
from plait.conversation.model import (
    Answered,
    Called,
    Compacted,
    Noted,
    Said,
    Shown,
    Thought,
    Told,
    ToldKind,
)
from plait.index.model import Kind

TOLD: dict[ToldKind, Kind] = {
    "prompt": "prompt",
    "queued": "prompt",
    "command": "command",
    "bash": "command",
    "command-output": "output",
    "bash-output": "output",
    "summary": "summary",
    "teammate": "prompt",
    "peer": "prompt",
}
COPIES = frozenset(
    """
    api-request api-request-blob api-request-shape last-prompt queue-operation progress
    file-history-snapshot file-history-delta custom-title ai-title agent-name summary
    attribution-snapshot content-replacement cost-state bridge-session
    """.split()
)
"""Notes whose words stand elsewhere, or that hold none."""
PATHS = ("file_path", "path", "notebook_path", "filePath")
MOST_NOTED = 200_000


class Words(NamedTuple):
    """What one item is found by."""

    kind: Kind
    text: str
    path: str | None = None


def words_in(item: Item) -> Words | None:
    """Returns what an item is found by, None where it has no words of its own."""
    match item:
        case Said(text=text):
            return Words("answer", text) if text else None
        case Thought(text=text):
            return Words("thinking", text) if text else None
        case Called():
            return Words("input", "\n".join(leaves(item.input, ())), path_in(item.input))
        case Answered(result=result):
            return Words("output", output_of(result))
        case Told():
            return told(item)
        case Compacted(text=text):
            return Words("note", text)
        case Noted():
            return noted(item)
        case Shown():
            text = "\n".join(leaves(item.enclosure.value))
            return Words("note", text[:MOST_NOTED]) if text else None
        case _:
            return None


def told(item: Told) -> Words | None:
    """Returns the words in the user's place, what a command was given and printed too."""
    name = item.name if item.kind in ("command", "skill", "hook", "teammate") else None
    parts = (name, item.text, item.arguments, item.output, item.errors, item.context)
    text = "\n".join(dict.fromkeys(part for part in parts if part))
    return Words(TOLD.get(item.kind, "note"), text) if text else None


def noted(item: Noted) -> Words | None:
    """Returns the words of a note that stand nowhere else."""
    if item.kind in COPIES:
        return None
    value = item.value if item.text == "" else item.text
    text = "\n".join(leaves(value))
    return Words("note", text[:MOST_NOTED]) if text else None


def output_of(result: Result) -> str:
    """Returns the words of a result, with those of a person who rejected the call."""
    if result.feedback and result.feedback not in result.text:
        return f"{result.text}\n{result.feedback}"
    return result.text


def path_in(given: Any) -> str | None:
    """Returns the file that a tool is asked about."""
    if not isinstance(given, Mapping):
        return None
    return next((given[name] for name in PATHS if isinstance(given.get(name), str)), None)
