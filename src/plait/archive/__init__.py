"""Roots to everything in them: the front door of the library.

What a face needs has a verb of `Archive`; what those take and return has its name here. Names
are loaded when they are first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from plait.archive.archive import Archive, context
from plait.archive.model import Facts, Meter, Named, Project, Session, Several, Watch

if TYPE_CHECKING:
    from plait.archive.collector import without_collector
    from plait.archive.export.plan import (
        EXPORT_FORMAT,
        EXPORTERS,
        MANIFEST,
        REPORT,
        Branches,
        ExportPlan,
        File,
        in_bytes,
        manifest_of,
    )
    from plait.archive.export.site import asset, style
    from plait.archive.export.transcripts import with_own_responses
    from plait.archive.hook.worker import HookLimits, HookManner, HookWorker
    from plait.archive.open_session import OpenSession
    from plait.archive.raw_lines import (
        LineSurvey,
        line_survey,
    )
    from plait.archive.resume import CLIENT, Back, Resume
    from plait.archive.resumption import Resumption, resumption_of
    from plait.archive.search import SearchWay as SearchWay
    from plait.archive.sessions import check_file, is_of_project
    from plait.archive.traces import TracePlan, batched
    from plait.archive.tree import SessionTree, TreeWay, Unlinked, unlinked_in
    from plait.archive.usage import Counted
    from plait.archive.watch import changes

__all__ = [
    "CLIENT",
    "EXPORTERS",
    "EXPORT_FORMAT",
    "MANIFEST",
    "REPORT",
    "Archive",
    "Back",
    "Branches",
    "Counted",
    "ExportPlan",
    "Facts",
    "File",
    "HookLimits",
    "HookManner",
    "HookWorker",
    "LineSurvey",
    "Meter",
    "Named",
    "OpenSession",
    "Project",
    "Resume",
    "Resumption",
    "SearchWay",
    "Session",
    "SessionTree",
    "Several",
    "TracePlan",
    "TreeWay",
    "Unlinked",
    "Watch",
    "asset",
    "batched",
    "changes",
    "check_file",
    "context",
    "in_bytes",
    "is_of_project",
    "line_survey",
    "manifest_of",
    "resumption_of",
    "style",
    "unlinked_in",
    "with_own_responses",
    "without_collector",
]

_HOMES = {
    "without_collector": "collector",
    "Branches": "export.plan",
    "EXPORTERS": "export.plan",
    "EXPORT_FORMAT": "export.plan",
    "ExportPlan": "export.plan",
    "File": "export.plan",
    "MANIFEST": "export.plan",
    "REPORT": "export.plan",
    "in_bytes": "export.plan",
    "manifest_of": "export.plan",
    "asset": "export.site",
    "style": "export.site",
    "with_own_responses": "export.transcripts",
    "HookLimits": "hook.worker",
    "HookManner": "hook.worker",
    "HookWorker": "hook.worker",
    "OpenSession": "open_session",
    "LineSurvey": "raw_lines",
    "line_survey": "raw_lines",
    "Back": "resume",
    "CLIENT": "resume",
    "Resume": "resume",
    "Resumption": "resumption",
    "resumption_of": "resumption",
    "check_file": "sessions",
    "is_of_project": "sessions",
    "TracePlan": "traces",
    "batched": "traces",
    "SearchWay": "search",
    "SessionTree": "tree",
    "TreeWay": "tree",
    "Unlinked": "tree",
    "unlinked_in": "tree",
    "Counted": "usage",
    "changes": "watch",
}


def __getattr__(name: str) -> object:
    if name in _HOMES:
        return getattr(import_module(f"plait.archive.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'plait.archive' has no attribute '{name}'")
