"""Readers for the logs of other coding agents.

A `Source` finds the logs of one agent and translates each into the lines of a session as Claude
Code writes them. Everything above reads these lines and knows no other agent's wire names.

    bytes of another agent ── Source.find ──► SourceLog ── Source.translate ──► lines of a session
"""

from plait.sources.base import Source, SourceLog, load_source, load_sources
from plait.sources.translation import Translation

__all__ = ["Source", "SourceLog", "Translation", "load_source", "load_sources"]
