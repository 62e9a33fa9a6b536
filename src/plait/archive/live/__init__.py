"""An archive that is looked at for hours: sessions, rows and sums, kept until something changes."""

from plait.archive.kept_pages import LARGE
from plait.archive.live.live_archive import ListedSessions, LiveArchive
from plait.archive.live.session import LiveSession
from plait.archive.live.snapshot import Snapshot

__all__ = [
    "LARGE",
    "ListedSessions",
    "LiveArchive",
    "LiveSession",
    "Snapshot",
]
