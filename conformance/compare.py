"""Normalise messages so that two requests can be compared."""

import json
import re
from collections.abc import Iterable

from conformance.model import Json, Mark, Message

REMINDER = re.compile(r"<system-reminder>.*?</system-reminder>", re.DOTALL)
VARYING = ("cache_control", "signature")
LACKS_TOOLS = "the resuming client lacks tools that the session had loaded"
TOO_LONG = "too long to go on: the client first asks for a summary of all but the last answer"
OWN_WORDS = "attachments of older clients keep no text: the client has words of its own for them"
STOPPED = "a task in the background had not ended: the resuming client tells that it was stopped"
NOT_ENDED = "didn't finish before the previous session ended"
REFERENCES_REMOVED = "[Tool references removed - tools no longer available]"


def comparable(messages: Iterable[Json]) -> list[Message]:
    """Return what can be compared: no system messages, reminders, signatures, blank texts."""
    shown = [(one["role"], blocks_of(one["content"])) for one in messages]
    return [(role, blocks) for role, blocks in shown if role != "system" and blocks]


def blocks_of(content: object) -> list[Json]:
    """Return the comparable blocks of a content; what is no block is left out."""
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
    listed = blocks if isinstance(blocks, list) else []
    found = [bare(block) for block in listed if is_block(block)]
    return [block for block in found if block.get("type") != "text" or block["text"].strip()]


def is_block(block: object) -> bool:
    """Whether a value is a block: an object, and with its text where it is one."""
    if not isinstance(block, dict):
        return False
    return block.get("type") != "text" or isinstance(block.get("text"), str)


def bare(block: Json) -> Json:
    """Return a block without what varies from run to run."""
    kept = {key: block[key] for key in block if key not in VARYING}
    if kept.get("type") == "text":
        kept["text"] = REMINDER.sub("", kept["text"])
    if kept.get("type") == "tool_result":
        kept["content"] = bare_result(kept.get("content"))
    return kept


def bare_result(content: object) -> object:
    """Return the content of a result, the reminders that were joined to it among the rest."""
    if not isinstance(content, list):
        return content
    return [
        {key: one[key] for key in one if key not in VARYING} for one in content if is_block(one)
    ]


def mark(ours: object, theirs: object) -> Mark:
    """Return whether two values are the same, as JSON says them."""
    is_same = json.dumps(ours, sort_keys=True) == json.dumps(theirs, sort_keys=True)
    return Mark.EQUAL if is_same else Mark.DIFFERENT


def explanation(ours: list[Message], theirs: list[Message], *, is_summarized: bool = False) -> str:
    """Return why two requests differ, where it is not for a different reading of the file."""
    if mark(without_references(ours), without_references(theirs)) is Mark.EQUAL:
        return LACKS_TOOLS
    shorter = without_references(ours[:-1])
    if is_summarized and mark(shorter, without_references(theirs)) is Mark.EQUAL:
        return TOO_LONG
    return ""


def without_joined(messages: list[Message]) -> list[Message]:
    """Return messages without the reminders that were joined to results."""
    return [(role, [without_reminders(block) for block in blocks]) for role, blocks in messages]


def without_reminders(block: Json) -> Json:
    """Return a result without reminders, and without the white space before them."""
    content = block.get("content")
    if block.get("type") != "tool_result":
        return block
    if isinstance(content, str):
        return {**block, "content": REMINDER.sub("", content).strip()}
    parts = [bare(part) for part in content] if isinstance(content, list) else []
    said = [{**part, "text": part["text"].rstrip()} if "text" in part else part for part in parts]
    kept = [part for part in said if part.get("text") != ""]
    return {**block, "content": kept} if isinstance(content, list) else block


def without_stopped(messages: list[Message]) -> list[Message]:
    """Return messages without what the resuming client says of tasks that had not ended."""
    kept = [(role, [one for one in blocks if not is_stopped(one)]) for role, blocks in messages]
    return [(role, blocks) for role, blocks in kept if blocks]


def is_stopped(block: Json) -> bool:
    """Whether a block says that a task ended with the process that ran it."""
    text = str(block.get("text", ""))
    return "<task-notification>" in text and NOT_ENDED in text


def without_references(messages: list[Message]) -> list[Message]:
    """Return messages without the tools that a search had loaded."""
    return [
        (role, [unloaded(one) for one in blocks if not is_loaded(one)]) for role, blocks in messages
    ]


def is_loaded(block: Json) -> bool:
    """Whether a block says that a tool was loaded."""
    return block.get("type") == "text" and str(block["text"]).strip() == "Tool loaded."


def unloaded(block: Json) -> Json:
    """Return a result without references to tools, and without the word that there were some."""
    content = block.get("content")
    if block.get("type") != "tool_result" or not isinstance(content, list):
        return block
    rest = [one for one in content if one.get("type") != "tool_reference"]
    words = [one for one in rest if str(one.get("text")).strip() != REFERENCES_REMOVED]
    return {**block, "content": words}
