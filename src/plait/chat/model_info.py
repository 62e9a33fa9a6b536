"""Context windows of models, and their short names."""

import re
from typing import NamedTuple

LONG_CONTEXT_SUFFIX = "[1m]"
"""The client's mark for a model with its long context."""
SUMMARY_RESERVE = 20_000
"""Tokens reserved for a summary."""
COMPACTION_MARGIN = 13_000
"""Tokens before that at which the context is compacted, so that a turn can still finish."""


class Capacity(NamedTuple):
    """Limits of a model."""

    window: int
    """Tokens of a request and its answer together."""
    max_output: int
    """Tokens of an answer."""

    @property
    def compaction_threshold(self) -> int:
        """The number of tokens at which a conversation is compacted."""
        return self.window - min(self.max_output, SUMMARY_RESERVE) - COMPACTION_MARGIN


class ContextFill(NamedTuple):
    """How full the context of a session is."""

    tokens: int
    window: int
    """The most tokens the model accepts."""
    compaction_threshold: int
    """The number of tokens at which the conversation is compacted."""


SMALL_WINDOW, LARGE_WINDOW = 200_000, 1_000_000
CAPACITIES = (
    (re.compile(r"claude-(?:opus|sonnet|haiku)-5-5"), Capacity(LARGE_WINDOW, 128_000)),
    (
        re.compile(r"claude-(?:(?:opus|sonnet|fable)-5|opus-4-[78])(?!\d)"),
        Capacity(LARGE_WINDOW, 64_000),
    ),
    (re.compile(r"claude-opus-4-6(?!\d)"), Capacity(SMALL_WINDOW, 64_000)),
    (re.compile(r"claude-3-5-haiku"), Capacity(SMALL_WINDOW, 8_192)),
    (re.compile(r"claude-3-(?:haiku|opus|sonnet)"), Capacity(SMALL_WINDOW, 4_096)),
)
DEFAULT_CAPACITY = Capacity(SMALL_WINDOW, 32_000)


def get_capacity(model: str) -> Capacity:
    """Return the limits of a model; an unknown one is assumed to be small."""
    found = next(
        (capacity for name, capacity in CAPACITIES if name.search(model)), DEFAULT_CAPACITY
    )
    return found._replace(window=LARGE_WINDOW) if model.endswith(LONG_CONTEXT_SUFFIX) else found


ALIASES = {
    "opus": "claude-opus-5-5",
    "sonnet": "claude-sonnet-5-5",
    "haiku": "claude-haiku-5-5",
}


def resolve_alias(name: str) -> str:
    """Return the full name of a model; names that are not aliases are returned unchanged."""
    return ALIASES.get(name.strip().casefold(), name.strip())


FAMILIES = ("sonnet", "opus", "haiku", "fable")
INHERIT = "inherit"
VERSION = re.compile(r"claude-(?:sonnet|opus|haiku|fable)-(\d+(?:-\d{1,2})?)(?!\d)")
NEWEST_VERSION = "5-5"


def resolve_agent_model(name: str, session_model: str) -> str:
    """Return the model for an agent: a family, a full name, or the session's own.

    A family means the version that matches the session's model.
    """
    if name == INHERIT:
        return session_model
    if name not in FAMILIES:
        return name
    if f"-{name}-" in session_model:
        return session_model
    found = VERSION.search(session_model)
    return f"claude-{name}-{found[1] if found else NEWEST_VERSION}"
