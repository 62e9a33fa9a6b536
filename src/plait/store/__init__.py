"""The backup store: session files that outlive the client's cleanup, byte for byte."""

from plait.store.model import (
    Damage,
    Freed,
    KeepPlan,
    KeepReport,
    KeptFile,
    KeptSession,
    Limits,
    Merged,
    NewFile,
    Progress,
    Restored,
    Source,
    SourceFile,
    StoreSize,
)
from plait.store.sources import find_sources
from plait.store.store import Store

__all__ = [
    "Damage",
    "Freed",
    "KeepPlan",
    "KeepReport",
    "KeptFile",
    "KeptSession",
    "Limits",
    "Merged",
    "NewFile",
    "Progress",
    "Restored",
    "Source",
    "SourceFile",
    "Store",
    "StoreSize",
    "find_sources",
]
