"""An archive that is looked at for hours: sessions, rows and sums, kept until something changes."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from plait.archive.live.cache import LARGE, Cache, PageFolder
    from plait.archive.live.library import LiveArchive, Snapshot, catalogue_of, marks_of
    from plait.archive.live.rows import ListedSessions, SessionRows, cost_of, drawings
    from plait.archive.live.session import Opened, mark_of
    from plait.archive.live.sums import Money, Sums

__all__ = [
    "LARGE",
    "Cache",
    "ListedSessions",
    "LiveArchive",
    "Money",
    "Opened",
    "PageFolder",
    "SessionRows",
    "Snapshot",
    "Sums",
    "catalogue_of",
    "cost_of",
    "drawings",
    "mark_of",
    "marks_of",
]

_HOMES = {
    "Cache": "cache",
    "LARGE": "cache",
    "PageFolder": "cache",
    "LiveArchive": "library",
    "Snapshot": "library",
    "catalogue_of": "library",
    "marks_of": "library",
    "ListedSessions": "rows",
    "SessionRows": "rows",
    "cost_of": "rows",
    "drawings": "rows",
    "Opened": "session",
    "mark_of": "session",
    "Money": "sums",
    "Sums": "sums",
}


def __getattr__(name: str) -> object:
    if name in _HOMES:
        return getattr(import_module(f"plait.archive.live.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'plait.archive.live' has no attribute '{name}'")
