"""Counts of what a document does not hold to words, and to what the document says of it."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

from plait.view.amounts import many
from plait.view.interchange.steps import AGAIN, FOLDED, Steps

WORDS: dict[str, tuple[str, str | None]] = {
    "told": ("line of the client in the user's place", "lines of the client in the user's place"),
    "said": ("passage of the model", "passages of the model"),
    "thought": ("thought", None),
    "called": ("call", None),
    "answered": ("result", None),
    "shown": ("block of another kind", "blocks of another kind"),
    "compacted": ("compaction", None),
    "noted": ("note of the client", "notes of the client"),
    AGAIN: ("block that was written twice", "blocks that were written twice"),
    FOLDED: ("item out of the reading order", "items out of the reading order"),
    "wordless": ("thought without its words", "thoughts without their words"),
    "pictures": ("picture", None),
    "documents": ("document", None),
    "branches": ("other branch", "other branches"),
    "agents": ("agent", None),
    "times": ("time that the log does not say", "times that the log does not say"),
}
"""What is left out, one of it and several; items first, what is no item after them."""


def account_of(steps: Steps) -> dict[str, Any]:
    """Returns how many items a conversation has: those that are held, and the others by kind."""
    held, left = steps.held, steps.left_out.total()
    return {"items": held + left, "held": held, "left_out": dict(sorted(steps.left_out.items()))}


def in_words(counts: Mapping[str, int]) -> str:
    """Returns what is left out in a line, "" where that is nothing."""
    return ", ".join(many(counts[one], *words) for one, words in WORDS.items() if counts.get(one))


def note_of(format_: str, counts: Counter[str]) -> str | None:
    """Returns what a document says of what it does not hold, None where that is nothing."""
    found = in_words(counts)
    return f"Not held by this {format_} document, and counted in it: {found}." if found else None
