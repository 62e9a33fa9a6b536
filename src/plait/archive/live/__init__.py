"""An archive that is looked at for hours: sessions, rows and sums, kept until something changes."""

from plait.archive.kept_pages import LARGE
from plait.archive.live.live_archive import PATIENCE, ListedSessions, LiveArchive
from plait.archive.live.reading import Progress, Reading, unread_facts
from plait.archive.live.session import LiveSession
from plait.archive.live.snapshot import Money, Snapshot

__all__ = [
    "LARGE",
    "PATIENCE",
    "ListedSessions",
    "LiveArchive",
    "LiveSession",
    "Money",
    "Progress",
    "Reading",
    "Snapshot",
    "unread_facts",
]
