"""The model of a session's last answer to the one it goes on with, and how that takes notes."""

import re
from collections.abc import Iterable
from enum import Enum, auto

DEFAULT = "claude-opus-5-5"
SYNTHETIC = "<synthetic>"
OFFERED = re.compile(
    r"claude-(?:3-5-sonnet|(?:opus|sonnet|haiku)-4-5|(?:opus|sonnet)-4-6|opus-4-[78]"
    r"|(?:opus|sonnet|fable)-5|(?:opus|sonnet|haiku)-5-5)(?!-?\d\b|-5)"
)
"""Those that the client goes on with, whatever date or provider their names carry."""
WITHOUT_SYSTEM = re.compile(r"claude-(?:3-|[a-z]+-4-[567])")
WITH_TAGS = re.compile(r"claude-sonnet-5(?!-\d\b)")


class Notes(Enum):
    """How a model takes what the client tells it beside the prompts."""

    AS_USER = auto()
    """In reminders among the words of the user."""
    AS_SYSTEM = auto()
    """In messages of the system, plainly."""
    TAGGED = auto()
    """In messages of the system, as reminders."""


def current_model(models: Iterable[str | None]) -> str | None:
    """Returns the model that a session goes on with: that of its last answer, None without one.

    One that is no longer offered, or somebody else's, is replaced by the client's own choice.
    """
    last = None
    for one in models:
        last = one if one and one != SYNTHETIC else last
    return last if last is None or OFFERED.search(last) else DEFAULT


def notes_for(model: str | None) -> Notes:
    """Returns how a model takes notes."""
    name = model or DEFAULT
    if WITHOUT_SYSTEM.search(name):
        return Notes.AS_USER
    return Notes.TAGGED if WITH_TAGS.search(name) else Notes.AS_SYSTEM
