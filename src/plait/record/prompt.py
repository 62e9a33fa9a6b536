"""A record to whether a person typed it, and what."""

import re

from plait.record.chain import User
from plait.record.model import Envelope
from plait.record.record import Record

MACHINE_TAGS = (
    "<command-name>",
    "<command-message>",
    "<local-command-",
    "<bash-",
    "<task-notification>",
    "<teammate-message",
    "<system-reminder>",
    "<user-prompt-submit-hook>",
    "<session-start-hook>",
    "[Request interrupted",
)

EDITOR_NOTES = re.compile(r"\A(?:\s*<(ide_\w+)>.*?</\1>)+", re.DOTALL)


def is_human_prompt(record: Record) -> bool:
    """Tells whether a user record is a prompt that a person typed.

    Tool results, meta records, compaction summaries, commands, notices and whatever a
    machine wrote in the user's place are not.
    """
    if not isinstance(record, User) or is_marked(record.envelope):
        return False
    if any(head.type == "tool_result" for head in record.block_heads):
        return False
    if b'"toolUseResult"' in record.raw and "toolUseResult" in record.fields:
        return False
    if record.block_heads and all(head.type != "text" for head in record.block_heads):
        return True  # a picture or a document alone
    text = prompt_text(record)
    return bool(text) and not text.startswith(MACHINE_TAGS)


def prompt_text(record: Record) -> str:
    """Returns what was typed, without what the editor added before it."""
    return without_notes(record.text)


def without_notes(text: str) -> str:
    """Returns a text without the notes of the editor that it begins with."""
    return EDITOR_NOTES.sub("", text).strip()


def is_marked(envelope: Envelope) -> bool:
    """Tells whether the client says that no person typed this."""
    kind = envelope.origin.kind if envelope.origin else None
    return bool(
        envelope.is_meta
        or envelope.is_compact_summary
        or envelope.is_visible_in_transcript_only
        or envelope.source_tool_use_id
        or kind not in (None, "human")
    )
