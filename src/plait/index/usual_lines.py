"""A line of a log in one of the usual forms to the words of its items, as they are indexed.

What has any other form is for `plait.index.passages`. Nothing else is imported here: most
hits of a search need no more.
"""

from typing import Any

from msgspec import UNSET

from plait.index.model import PassageKind
from plait.record.beside import words_beside
from plait.record.codec import strings_in
from plait.record.machine_text import is_machine_text
from plait.record.prompt import is_marked
from plait.record.read import Worded, WordedBlock

TAKEN_APART = ("<", "Caveat: ", "[Request interrupted")
"""What texts begin with that nobody typed, or of which people read only a part."""
SAVED = "<persisted-output>"
"""What a result begins with whose output lies beside the log."""
KINDS: dict[str | None, PassageKind] = {
    "text": "answer",
    "thinking": "thinking",
    "tool_use": "input",
    "tool_result": "output",
}


def usual_texts(line: Worded) -> list[str] | None:
    """Returns the words of each item of a line, None where that needs a closer look."""
    content = line.message.content if line.message else None
    if not content or not isinstance(line.timestamp, str):
        return None
    if line.type == "user":
        if isinstance(content, str):
            return _typed_texts(content, line)
        if all(block.type == "text" and block.text is not None for block in content):
            return _typed_texts("\n".join(block.text or "" for block in content), line)
        return _answered_texts(content, line)
    return _said_texts(content) if line.type == "assistant" else None


def kind_of(line: Worded, part: int) -> PassageKind:
    """Returns what kind of passage an item of a line is."""
    block = block_at(line, part)
    if block is None or block.type == "text":
        return "prompt" if line.type == "user" else "answer"
    return KINDS[block.type]


def block_at(line: Worded, part: int) -> WordedBlock | None:
    """Returns a block of a line, None where its content is one text."""
    content = line.message.content if line.message else None
    return content[part] if isinstance(content, list) else None


def _typed_texts(text: str, line: Worded) -> list[str] | None:
    """Returns the words of a prompt, None where the client may have written them."""
    text = text.strip()
    if not text or text.startswith(TAKEN_APART) or is_marked(line) or is_machine_text(text):
        return None
    return None if line.has_view else [text]


def _said_texts(blocks: str | list[WordedBlock]) -> list[str] | None:
    """Returns the words of a response's blocks, None where one is of another kind."""
    if isinstance(blocks, str):
        return [blocks]
    if not all(map(is_said, blocks)):
        return None
    return [
        "\n".join(strings_in(block.input, ()))
        if block.type == "tool_use"
        else (block.thinking if block.type == "thinking" else block.text) or ""
        for block in blocks
    ]


def is_said(block: WordedBlock) -> bool:
    """Tells words, thoughts and calls of the model from blocks of any other form."""
    match block.type:
        case "text":
            return block.text is not None
        case "thinking":
            return block.thinking is not None
        case "tool_use":
            return block.id is not None and block.name is not None
        case _:
            return False


def _answered_texts(blocks: list[WordedBlock], line: Worded) -> list[str] | None:
    """Returns the words of results that went well, None where there is anything else."""
    if has_output_beside(line) or any(block.is_error for block in blocks):
        return None
    found = [text for block in blocks if (text := result_words(block)) is not None]
    view = line.view
    if len(found) < len(blocks) or view is UNSET:
        return None
    return [with_beside(found[0], view), *found[1:]]  # the client's view is of one result


def with_beside(text: str, view: Any, feedback: str | None = None) -> str:
    """Returns the words of a result with what only the client's view of it says."""
    if view is None and not feedback:
        return text
    told = (text, feedback) if feedback and feedback not in text else (text,)
    return "\n".join((*told, *words_beside(view, *told).values()))


def has_output_beside(line: Worded) -> bool:
    """Tells a result of which the client says that its output lies in a file of its own."""
    view = line.view_facts
    return view is not None and view.output is not None


def result_words(block: WordedBlock) -> str | None:
    """Returns the words of a result, None where it has another form or they lie elsewhere."""
    if block.type != "tool_result" or block.tool_use_id is None:
        return None
    content = block.content
    if not isinstance(content, str):
        words = (one.text for one in content or () if one.type == "text")
        content = "\n".join(text for text in words if text is not None)
    return None if content.startswith(SAVED) else content
