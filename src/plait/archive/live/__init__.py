"""An archive that is looked at for hours: sessions, rows and sums, kept until something changes."""

from plait.archive.live.cache import LARGE
from plait.archive.live.library import ListedSessions, LiveArchive
from plait.archive.live.session import LiveSession, mark_of, marks_of
from plait.archive.live.snapshot import Money, Snapshot, cost_of

__all__ = [
    "LARGE",
    "ListedSessions",
    "LiveArchive",
    "LiveSession",
    "Money",
    "Snapshot",
    "cost_of",
    "mark_of",
    "marks_of",
]
