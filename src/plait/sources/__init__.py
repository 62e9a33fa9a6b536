"""Readers for the logs of other coding agents.

A `Source` finds the logs of one agent and translates each into the lines of a session as Claude
Code writes them. Everything above reads these lines and knows no other agent's wire names.

    bytes of another agent ── Source.find ──► SourceLog ── Source.translate ──► lines of a session
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from plait.sources.base import SentMessage, Source, SourceLog
    from plait.sources.translation import SourceLine, Translation

__all__ = ["SentMessage", "Source", "SourceLine", "SourceLog", "Translation"]
HOMES = {"SentMessage": "base", "Source": "base", "SourceLog": "base"}


def __getattr__(name: str) -> object:
    # Most users have no other agent, and nothing of this package is loaded then.
    from importlib import import_module

    if name in __all__:
        return getattr(import_module(f"{__name__}.{HOMES.get(name, 'translation')}"), name)
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
