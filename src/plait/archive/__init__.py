"""Roots to everything in them: the front door of the library.

What a face needs has a verb of `Archive`; what those return has its name here. Names are
loaded when they are first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from plait.archive.archive import Archive, context
from plait.archive.model import Facts, Named, Project, Session, Watch

if TYPE_CHECKING:
    from plait.archive.export.plan import ExportPlan, File
    from plait.archive.open_session import OpenSession
    from plait.archive.resume import Resume
    from plait.archive.resumption import Resumption
    from plait.archive.tree import SessionTree, Unlinked
    from plait.archive.usage import Counted

__all__ = [
    "Archive",
    "Counted",
    "ExportPlan",
    "Facts",
    "File",
    "Named",
    "OpenSession",
    "Project",
    "Resume",
    "Resumption",
    "Session",
    "SessionTree",
    "Unlinked",
    "Watch",
    "context",
]

HOMES = {
    "Counted": "usage",
    "ExportPlan": "export.plan",
    "File": "export.plan",
    "OpenSession": "open_session",
    "Resume": "resume",
    "Resumption": "resumption",
    "SessionTree": "tree",
    "Unlinked": "tree",
}


def __getattr__(name: str) -> object:
    if name in HOMES:
        return getattr(import_module(f"plait.archive.{HOMES[name]}"), name)
    raise AttributeError(f"module 'plait.archive' has no attribute '{name}'")
