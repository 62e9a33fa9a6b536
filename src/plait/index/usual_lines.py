"""A line of a log in one of the usual forms to the words of its items, as they are indexed.

What has any other form is for `plait.index.passages`. Nothing else is imported here: most
hits of a search need no more.
"""

from collections.abc import Iterable

from plait.conversation.values import strings_in
from plait.index.model import PassageKind
from plait.record.message import (
    PlainBlock,
    PlainLine,
    Text,
    Thinking,
    ToolResult,
    ToolUse,
    may_be_typed,
    names_output,
)

TAKEN_APART = ("<", "Caveat: ", "[Request interrupted")
"""What texts begin with that nobody typed, or of which people read only a part."""
KINDS: dict[type, PassageKind] = {
    Text: "answer",
    Thinking: "thinking",
    ToolUse: "input",
    ToolResult: "output",
}


def usual_texts(line: PlainLine, data: bytes) -> list[str] | None:
    """Returns the words of each item of a line, None where that needs a closer look."""
    content = line.message.content
    if line.type == "user":
        if isinstance(content, str):
            return _typed_texts(content, data)
        if content and all(isinstance(block, Text) for block in content):
            return _typed_texts("\n".join(block.text for block in content), data)  # type: ignore[union-attr]
        return _answered_texts(content) if content and not names_output(data) else None
    return _said_texts(content) if line.type == "assistant" and content else None


def kind_of(line: PlainLine, part: int) -> PassageKind:
    """Returns what kind of passage an item of a line is."""
    content = line.message.content
    is_told = isinstance(content, str) or isinstance(content[part], Text)
    if is_told:
        return "prompt" if line.type == "user" else "answer"
    return KINDS[type(content[part])]


def _typed_texts(text: str, data: bytes) -> list[str] | None:
    """Returns the words of a prompt, None where the client may have written them."""
    text = text.strip()
    if not text or text.startswith(TAKEN_APART) or not may_be_typed(data):
        return None
    return [text]


def _said_texts(blocks: str | Iterable[PlainBlock]) -> list[str] | None:
    """Returns the words of a response's blocks, None where one is of another kind."""
    if isinstance(blocks, str):
        return [blocks]
    found = []
    for block in blocks:
        match block:
            case Text(text) | Thinking(text):
                found.append(text)
            case ToolUse(input=given):
                found.append("\n".join(strings_in(given, ())))
            case _:
                return None
    return found


def _answered_texts(blocks: Iterable[PlainBlock]) -> list[str] | None:
    """Returns the words of results that went well, None where there is anything else."""
    found = []
    for block in blocks:
        if not isinstance(block, ToolResult) or block.is_error:
            return None
        content = block.content
        if isinstance(content, list):
            if not all(map(_is_worded, content)):
                return None
            content = "\n".join(one["text"] for one in content)
        if not isinstance(content, str):
            return None
        found.append(content)
    return found


def _is_worded(block: object) -> bool:
    if not isinstance(block, dict) or block.keys() != {"type", "text"}:
        return False
    return block["type"] == "text" and isinstance(block["text"], str)
