"""Session files to a store that outlives the client's cleanup, and back, byte for byte."""

from plait.keep.model import (
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
from plait.keep.sources import sources_of
from plait.keep.store import Store

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
    "sources_of",
]
