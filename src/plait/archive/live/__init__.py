"""An archive kept open for hours by the page server: cached until files change."""

from plait.archive.live.live_archive import (
    LIST_SECONDS,
    ListedSessions,
    LiveArchive,
    ReadingProgress,
    ReadingState,
    read_unread_facts,
)
from plait.archive.live.session import LiveSession
from plait.archive.live.snapshot import Billing, Snapshot
from plait.sessions.page_cache import MIN_BYTES

__all__ = [
    "LIST_SECONDS",
    "MIN_BYTES",
    "Billing",
    "ListedSessions",
    "LiveArchive",
    "LiveSession",
    "ReadingProgress",
    "ReadingState",
    "Snapshot",
    "read_unread_facts",
]
