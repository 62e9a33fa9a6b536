"""A text in the user's place to the machine that wrote it, as far as its form tells.

Newer clients say who wrote something (`origin`, `commandMode`, `isMeta`), and are believed.
Where they do not, machines are known by how they wrap their words: in tags named by several
words (`<task-notification>`), or, in the queue of prompts, as an object on one line.
"""

import json
import re
from typing import Any, NamedTuple

MESSAGES = (
    "<cross-session-message",
    "<agent-message",
    "<observed_from_primary",
    '<channel source="',
    "Another Claude session sent a message",
    "A peer session sent a message",
    "The coordinator sent a message while you were working:",
)
"""What the words of other sessions begin with."""
BEGINNINGS = (
    "<command-name>",
    "<command-message>",
    "<local-command-",
    "<bash-",
    "<task-notification",
    "<teammate-message",
    "<system-reminder>",
    "<user-prompt-submit-hook>",
    "<session-start-hook>",
    "[Request interrupted",
    *MESSAGES,
)
"""What machines are known to begin with, whatever follows."""
STOPPED = re.compile(r"Operation stopped by hook(?::|\s*\Z)")
NAME = r"[a-z][a-z0-9]*(?:[-_][a-z0-9]+)+"
OPENING = re.compile(rf"\s*<({NAME}|channel)(\s[^<>]*)?>")
EDITOR = "ide_"
"""What the tags begin with that an editor sets before a prompt."""
IDS = ("_id", "Id", "ID")
MOST_LOOKED_AT = 1 << 20


class Wrapped(NamedTuple):
    """Words in a tag."""

    tag: str
    head: str
    """The attributes as they stand."""
    text: str
    rest: str
    """What follows behind it."""


def is_machine_text(text: str) -> bool:
    """Tells words in the user's place that begin as only a machine's do."""
    return text.startswith(BEGINNINGS) or STOPPED.match(text) is not None


def is_machine_notice(text: str) -> bool:
    """Tells words in the queue that no person typed: wholly in tags, or an object of ids."""
    text = text.strip()
    return is_machine_text(text) or is_wholly_wrapped(text) or notice_in(text) is not None


def is_wholly_wrapped(text: str) -> bool:
    """Tells a text that is nothing but words in tags of several words, one after another."""
    found = wrapped_in(text)
    while found and not found.tag.startswith(EDITOR):
        if not found.rest.strip():
            return True
        found = wrapped_in(found.rest)
    return False


def wrapped_in(text: str) -> Wrapped | None:
    """Returns the words in the tag that a text begins with, None where it begins otherwise."""
    start = OPENING.match(text) if "<" in text[:80] else None
    if start is None:
        return None
    closing = f"</{start[1]}>"
    end = text.find(closing, start.end())
    if end < 0:
        return None
    rest = text[end + len(closing) :]
    return Wrapped(start[1], start[2] or "", text[start.end() : end].strip(), rest)


def notice_in(text: str) -> dict[str, Any] | None:
    """Returns an object on one line that names an id, as a machine writes it; else None."""
    if not text.startswith('{"') or not text.endswith("}") or len(text) > MOST_LOOKED_AT:
        return None
    if "\n" in text:
        return None
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    is_notice = isinstance(found, dict) and any(str(name).endswith(IDS) for name in found)
    return found if is_notice else None
