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
    from plait.archive.disclosures import CheckedFile
    from plait.archive.edit_report import check_report, entry_of, packing_report, report_of
    from plait.archive.export.copying import session_markdown, turn_markdown, whole_output
    from plait.archive.export.earlier import DRAWN, Earlier
    from plait.archive.export.formats import (
        EXPORTERS,
        Branches,
        File,
        ending_of,
        in_bytes,
        trajectory_of,
    )
    from plait.archive.export.plan import (
        EXPORT_FORMAT,
        MANIFEST,
        REPORT,
        ExportPlan,
        manifest_of,
    )
    from plait.archive.export.site import asset, style
    from plait.archive.families import CountedSessions
    from plait.archive.files.blame import Blame, BlamedLine
    from plait.archive.files.history import FileHistory
    from plait.archive.files.noting import NotePlan, PlannedNote, write_notes
    from plait.archive.files.standing import FileAt, WrittenFile
    from plait.archive.folding import Folding, refolded
    from plait.archive.hook.worker import HookLimits, HookManner, HookWorker
    from plait.archive.index_or_logs import without_collector
    from plait.archive.open_session import OpenSession
    from plait.archive.raw_lines import (
        LineSurvey,
        line_survey,
    )
    from plait.archive.resume import CLIENT, Back, Resume, Resumption, context, resumption_of
    from plait.archive.search import SearchWay as SearchWay
    from plait.archive.sessions import check_file, check_log, is_of_project
    from plait.archive.stars import Pin, PinnedTurn, Star, StarFile, Stars
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
    "Blame",
    "BlamedLine",
    "Branches",
    "CheckedFile",
    "Counted",
    "CountedSessions",
    "Earlier",
    "Evidence",
    "ExportPlan",
    "Facts",
    "File",
    "FileAt",
    "FileHistory",
    "Folding",
    "HookLimits",
    "HookManner",
    "HookWorker",
    "LineSurvey",
    "Meter",
    "Named",
    "NotePlan",
    "OpenSession",
    "Pin",
    "PinnedTurn",
    "PlannedNote",
    "PresetEffect",
    "Project",
    "Resume",
    "Resumption",
    "SearchWay",
    "Session",
    "SessionTree",
    "Several",
    "Star",
    "StarFile",
    "Stars",
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
    "WrittenFile",
    "asset",
    "batched",
    "changes",
    "check_file",
    "check_log",
    "check_report",
    "chosen_conversation",
    "context",
    "described",
    "ending_of",
    "entry_of",
    "in_bytes",
    "is_of_project",
    "line_survey",
    "manifest_of",
    "marked",
    "packing_report",
    "preset_effects",
    "refolded",
    "report_of",
    "resumption_of",
    "session_markdown",
    "short_name",
    "style",
    "trajectory_of",
    "turn_markdown",
    "unlinked_in",
    "weighed",
    "whole_output",
    "without_collector",
    "write_notes",
]

_HOMES = {
    "accounting": "Why WhyRequest WhyTotals",
    "edit_report": "check_report entry_of packing_report report_of",
    "disclosures": "CheckedFile",
    "choosing": "chosen_conversation described short_name",
    "index_or_logs": "without_collector",
    "export.copying": "session_markdown turn_markdown whole_output",
    "export.earlier": "Earlier DRAWN",
    "export.formats": "Branches EXPORTERS File ending_of in_bytes trajectory_of",
    "families": "CountedSessions",
    "export.plan": "EXPORT_FORMAT ExportPlan MANIFEST REPORT manifest_of",
    "export.site": "asset style",
    "files.blame": "Blame BlamedLine",
    "files.history": "FileHistory",
    "files.noting": "NotePlan PlannedNote write_notes",
    "files.standing": "FileAt WrittenFile",
    "folding": "Folding refolded",
    "hook.worker": "HookLimits HookManner HookWorker",
    "open_session": "OpenSession",
    "raw_lines": "LineSurvey line_survey",
    "resume": "Back CLIENT Resume Resumption context resumption_of",
    "context_fill": "PresetEffect preset_effects weighed",
    "search": "SearchWay",
    "sessions": "check_file check_log is_of_project",
    "stars": "Pin PinnedTurn Star StarFile Stars",
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
