"""Broken sessions to such as the client, the SDK and the API take, one named mend at a time."""

from plait.edit.repair.plan import needs_repair, repair
from plait.edit.repair.rungs import RUNGS, Rung

__all__ = ["RUNGS", "Rung", "needs_repair", "repair"]
