"""Causes of what was paid for again to words that say what happened."""

from typing import Any

from plait.conversation.account import Cause
from plait.conversation.waste import WasteKind
from plait.view.amounts import hours_in_words
from plait.view.usage import DECIMALS

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
WASTE: dict[WasteKind, str] = {
    "pause": "sent again after a pause that the cache did not survive",
    "process": "sent again by another process",
    "model": "sent again to another model",
    "changed": "sent again after settings had changed",
    "rewind": "sent again after a rewind",
    "unexplained": "sent again though nothing explains it",
    "reread": "files read again that still stood in the context",
    "giant": "large outputs carried along",
    "unused": "outputs that nothing later named",
    "startup": "agents that cost more to start than to answer",
    "retry": "calls that failed again in the same words",
    "abandoned": "answers on branches that were left",
}


def rounded(found: Any) -> Any:
    """Returns figures without dust, wherever they stand."""
    if isinstance(found, dict):
        return {key: rounded(one) for key, one in found.items()}
    if isinstance(found, list):
        return [rounded(one) for one in found]
    return round(found, DECIMALS) if isinstance(found, float) else found


def cause_in_words(cause: Cause, gap_seconds: float | None) -> str:
    """Says what had something paid for again, with how long a pause was."""
    if cause == "pause" and gap_seconds:
        return f"pause of {hours_in_words(gap_seconds * 1000)}"
    return NAMES[cause]
