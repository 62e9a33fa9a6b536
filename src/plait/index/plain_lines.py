"""The indexed text of log lines in one of the common forms, extracted quickly.

Lines of any other form are left to `plait.index.passages`. This module imports little, as most hits
of a search need no more.
"""

from typing import Any

from msgspec import UNSET

from plait.index.model import PassageKind
from plait.record.codec import iter_strings
from plait.record.prompts import is_marked_as_client_text
from plait.record.reader import BlockWithText, EnvelopeWithText
from plait.record.text import extract_extra_text, is_machine_text

REWRITTEN_PREFIXES = ("<", "Caveat: ", "[Request interrupted")
"""Beginnings of texts that nobody typed, or that are shown only in part."""
SAVED_OUTPUT = "<persisted-output>"
"""The beginning of a result whose output is in a file next to the log."""
KINDS: dict[str | None, PassageKind] = {
    "text": "answer",
    "thinking": "thinking",
    "tool_use": "input",
    "tool_result": "output",
}


def read_plain_texts(line: EnvelopeWithText) -> list[str] | None:
    """Return the text of each item of a line; None if it needs a closer look."""
    content = line.message.content if line.message else None
    if not content or not isinstance(line.timestamp, str):
        return None
    if line.type == "user":
        if isinstance(content, str):
            return _read_prompt_texts(content, line)
        if all(block.type == "text" and block.text is not None for block in content):
            return _read_prompt_texts("\n".join(block.text or "" for block in content), line)
        if has_saved_output(line) or any(block.is_error for block in content):
            return None
        found = [text for block in content if (text := result_words(block)) is not None]
        view = line.view
        if len(found) < len(content) or view is UNSET:
            return None
        return [add_view_words(found[0], view), *found[1:]]
    if line.type != "assistant":
        return None
    if isinstance(content, str):
        return [content]
    if not all(map(is_plain_block, content)):
        return None
    return [
        "\n".join(iter_strings(block.input, ()))
        if block.type == "tool_use"
        else (block.thinking if block.type == "thinking" else block.text) or ""
        for block in content
    ]


def passage_kind(line: EnvelopeWithText, part: int) -> PassageKind:
    """Return the kind of passage of an item on a line."""
    block = block_at(line, part)
    if block is None or block.type == "text":
        return "prompt" if line.type == "user" else "answer"
    return KINDS[block.type]


def block_at(line: EnvelopeWithText, part: int) -> BlockWithText | None:
    """Return a block of a line; None if its content is one text."""
    content = line.message.content if line.message else None
    return content[part] if isinstance(content, list) else None


def _read_prompt_texts(text: str, line: EnvelopeWithText) -> list[str] | None:
    """Return the texts of a prompt; None if the client may have written it."""
    text = text.strip()
    if (
        not text
        or text.startswith(REWRITTEN_PREFIXES)
        or is_marked_as_client_text(line)
        or is_machine_text(text)
    ):
        return None
    return None if line.has_view else [text]


def is_plain_block(block: BlockWithText) -> bool:
    """Return whether a block is text, thinking or a call in the usual form."""
    match block.type:
        case "text":
            return block.text is not None
        case "thinking":
            return block.thinking is not None
        case "tool_use":
            return block.id is not None and block.name is not None
        case _:
            return False


def add_view_words(text: str, view: Any, feedback: str | None = None) -> str:
    """Return the text of a result with what only the client's view says."""
    if view is None and not feedback:
        return text
    texts = (text, feedback) if feedback and feedback not in text else (text,)
    return "\n".join((*texts, *extract_extra_text(view, *texts).values()))


def has_saved_output(line: EnvelopeWithText) -> bool:
    """Return whether the client says that a result's output is in a file of its own."""
    view = line.view_facts
    return view is not None and view.output is not None


def result_words(block: BlockWithText) -> str | None:
    """Return the text of a result; None if it has another form or is elsewhere."""
    if block.type != "tool_result" or block.tool_use_id is None:
        return None
    content = block.content
    if not isinstance(content, str):
        words = (inner_block.text for inner_block in content or () if inner_block.type == "text")
        content = "\n".join(text for text in words if text is not None)
    return None if content.startswith(SAVED_OUTPUT) else content
