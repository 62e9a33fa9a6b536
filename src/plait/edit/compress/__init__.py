"""Older turns of a session to prompts and summaries behind a compaction."""

from plait.edit.compress.command import summariser_of
from plait.edit.compress.model import CALLS, Calls, Summariser, ToldTurn
from plait.edit.compress.plan import compress

__all__ = ["CALLS", "Calls", "Summariser", "ToldTurn", "compress", "summariser_of"]
