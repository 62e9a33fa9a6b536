"""Causes of what was paid for again to words that say what happened."""

from plait.conversation.account import Cause
from plait.view.amounts import hours_in_words

NAMES: dict[Cause, str] = {
    "pause": "pause",
    "process": "another process",
    "model": "another model",
    "changed": "changed settings",
    "compaction": "compaction",
    "rewind": "rewind",
    "edited": "shortened history",
    "unexplained": "unexplained",
}
REASONS: dict[Cause, str] = {
    "pause": "longer than the cache lives",
    "process": "resumed or forked: other instructions stand before it",
    "model": "each model has a cache of its own",
    "changed": "version, instructions, tools or thinking are others",
    "compaction": "what was preserved stands behind a summary",
    "rewind": "it goes on from an earlier place",
    "edited": "what was said has become less",
    "unexplained": "it fell out, and nothing in the log says why",
}


def cause_in_words(cause: Cause, gap_seconds: float | None) -> str:
    """Says what had something paid for again, with how long a pause was."""
    if cause == "pause" and gap_seconds:
        return f"pause of {hours_in_words(gap_seconds * 1000)}"
    return NAMES[cause]
