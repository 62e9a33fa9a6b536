"""Roots to everything in them: the front door of the library.

What a face needs has a verb of `Archive`; what those take and return has its name here. Names
are loaded when they are first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from plait.archive.archive import Archive
from plait.archive.model import (
    Facts,
    Meter,
    Named,
    Project,
    Session,
    Several,
    StorePlace,
    Watch,
    marked,
)

if TYPE_CHECKING:
    from plait.archive.accounting import Why
    from plait.archive.choosing import chosen_conversation, described, short_name
    from plait.archive.context_fill import PresetEffect, preset_effects, weighed
    from plait.archive.edit_report import check_report, entry_of, packing_report, report_of
    from plait.archive.export.earlier import DRAWN, Earlier
    from plait.archive.export.formats import EXPORTERS, Branches, File, in_bytes
    from plait.archive.export.plan import (
        EXPORT_FORMAT,
        MANIFEST,
        REPORT,
        ExportPlan,
        manifest_of,
    )
    from plait.archive.export.site import asset, style
    from plait.archive.hook.worker import HookLimits, HookManner, HookWorker
    from plait.archive.index_or_logs import without_collector
    from plait.archive.open_session import OpenSession
    from plait.archive.raw_lines import (
        LineSurvey,
        line_survey,
    )
    from plait.archive.resume import CLIENT, Back, Resume, Resumption, context, resumption_of
    from plait.archive.search import SearchWay as SearchWay
    from plait.archive.sessions import check_file, is_of_project
    from plait.archive.traces import TracePlan, batched
    from plait.archive.tree import SessionTree, TreeWay, Unlinked, unlinked_in
    from plait.archive.usage import Counted
    from plait.archive.watch import changes
    from plait.conversation.account.told import WhyRequest, WhyTotals
    from plait.conversation.waste.findings import Evidence, Waste, WasteFinding

__all__ = [
    "CLIENT",
    "DRAWN",
    "EXPORTERS",
    "EXPORT_FORMAT",
    "MANIFEST",
    "REPORT",
    "Archive",
    "Back",
    "Branches",
    "Counted",
    "Earlier",
    "Evidence",
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
    "PresetEffect",
    "Project",
    "Resume",
    "Resumption",
    "SearchWay",
    "Session",
    "SessionTree",
    "Several",
    "StorePlace",
    "TracePlan",
    "TreeWay",
    "Unlinked",
    "Waste",
    "WasteFinding",
    "Watch",
    "Why",
    "WhyRequest",
    "WhyTotals",
    "asset",
    "batched",
    "changes",
    "check_file",
    "check_report",
    "chosen_conversation",
    "context",
    "described",
    "entry_of",
    "in_bytes",
    "is_of_project",
    "line_survey",
    "manifest_of",
    "marked",
    "packing_report",
    "preset_effects",
    "report_of",
    "resumption_of",
    "short_name",
    "style",
    "unlinked_in",
    "weighed",
    "without_collector",
]

_HOMES = {
    "accounting": "Why WhyRequest WhyTotals",
    "edit_report": "check_report entry_of packing_report report_of",
    "choosing": "chosen_conversation described short_name",
    "index_or_logs": "without_collector",
    "export.earlier": "Earlier DRAWN",
    "export.formats": "Branches EXPORTERS File in_bytes",
    "export.plan": "EXPORT_FORMAT ExportPlan MANIFEST REPORT manifest_of",
    "export.site": "asset style",
    "hook.worker": "HookLimits HookManner HookWorker",
    "open_session": "OpenSession",
    "raw_lines": "LineSurvey line_survey",
    "resume": "Back CLIENT Resume Resumption context resumption_of",
    "context_fill": "PresetEffect preset_effects weighed",
    "search": "SearchWay",
    "sessions": "check_file is_of_project",
    "traces": "TracePlan batched",
    "tree": "SessionTree TreeWay Unlinked unlinked_in",
    "usage": "Counted",
    "wasting": "Evidence Waste WasteFinding",
    "watch": "changes",
}


def __getattr__(name: str) -> object:
    for home, names in _HOMES.items():
        if name in names.split():
            return getattr(import_module(f"plait.archive.{home}"), name)
    raise AttributeError(f"module 'plait.archive' has no attribute '{name}'")
