"""The public entry point: `Archive`, and the types that its methods take and return.

Names are imported when they are first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from plait.archive.archive import Archive
from plait.sessions.model import (
    Facts,
    ProgressCallback,
    Project,
    Session,
    SessionRef,
    SessionRefs,
    StorePlace,
    Tracker,
    format_marked_title,
)

if TYPE_CHECKING:
    from plait.edit.report import (
        PresetEffect,
        build_check_report,
        build_edit_row,
        build_pack_report,
        build_plan_report,
        list_preset_effects,
        weigh_context,
    )
    from plait.export.formats import (
        EXPORTERS,
        Branches,
        File,
        encode_text,
        get_file_ending,
        iter_trajectory_files,
    )
    from plait.export.plan import (
        EXPORT_FORMAT,
        MANIFEST,
        REPORT,
        STATE_FILE,
        ExportPlan,
        PreviousExport,
        build_manifest,
    )
    from plait.export.site import read_asset, read_style
    from plait.export.transcripts import (
        read_full_output,
        render_session_markdown,
        render_turn_markdown,
    )
    from plait.files.blame import Blame, BlamedLine, NotePlan, PlannedNote, write_notes
    from plait.files.history import FileAt, FileHistory, WrittenFile
    from plait.insights.waste import Evidence, Waste, WasteFinding
    from plait.insights.why import Why, WhyRequest, WhyTotals
    from plait.search.search import SearchWay as SearchWay
    from plait.sessions.disclosures import CheckedFile
    from plait.sessions.discovery import check_file, check_log
    from plait.sessions.names import (
        describe_conversation,
        matches_project,
        resolve_conversation,
        shorten_name,
    )
    from plait.sessions.open_session import OpenSession
    from plait.sessions.project_folders import ProjectFolders, assign_projects
    from plait.sessions.raw_lines import LineSurvey, survey_lines
    from plait.sessions.resume import (
        CLIENT,
        Resume,
        Resumption,
        RewindTarget,
        build_resumption,
        context,
    )
    from plait.sessions.stars import Pin, PinnedTurn, Star, StarFile, Stars
    from plait.sessions.statistics import SessionStatistics
    from plait.sessions.tree import SessionTree, TreeDetail, Unlinked, count_unlinked
    from plait.sessions.watch import watch_changes
    from plait.sessions.worker_pool import gc_paused
    from plait.trace.traces import TracePlan, batch_traces
    from plait.trace.worker import HookLimits, HookOptions, HookWorker
    from plait.usage.responses import CountedResponses

__all__ = [
    "CLIENT",
    "EXPORTERS",
    "EXPORT_FORMAT",
    "MANIFEST",
    "REPORT",
    "STATE_FILE",
    "Archive",
    "Blame",
    "BlamedLine",
    "Branches",
    "CheckedFile",
    "CountedResponses",
    "Evidence",
    "ExportPlan",
    "Facts",
    "File",
    "FileAt",
    "FileHistory",
    "HookLimits",
    "HookOptions",
    "HookWorker",
    "LineSurvey",
    "NotePlan",
    "OpenSession",
    "Pin",
    "PinnedTurn",
    "PlannedNote",
    "PresetEffect",
    "PreviousExport",
    "ProgressCallback",
    "Project",
    "ProjectFolders",
    "Resume",
    "Resumption",
    "RewindTarget",
    "SearchWay",
    "Session",
    "SessionRef",
    "SessionRefs",
    "SessionStatistics",
    "SessionTree",
    "Star",
    "StarFile",
    "Stars",
    "StorePlace",
    "TracePlan",
    "Tracker",
    "TreeDetail",
    "Unlinked",
    "Waste",
    "WasteFinding",
    "Why",
    "WhyRequest",
    "WhyTotals",
    "WrittenFile",
    "assign_projects",
    "batch_traces",
    "build_check_report",
    "build_edit_row",
    "build_manifest",
    "build_pack_report",
    "build_plan_report",
    "build_resumption",
    "check_file",
    "check_log",
    "context",
    "count_unlinked",
    "describe_conversation",
    "encode_text",
    "format_marked_title",
    "gc_paused",
    "get_file_ending",
    "iter_trajectory_files",
    "list_preset_effects",
    "matches_project",
    "read_asset",
    "read_full_output",
    "read_style",
    "render_session_markdown",
    "render_turn_markdown",
    "resolve_conversation",
    "shorten_name",
    "survey_lines",
    "watch_changes",
    "weigh_context",
    "write_notes",
]

_HOMES = {
    "RewindTarget": "plait.sessions.resume",
    "Blame": "plait.files.blame",
    "BlamedLine": "plait.files.blame",
    "Branches": "plait.export.formats",
    "CLIENT": "plait.sessions.resume",
    "CheckedFile": "plait.sessions.disclosures",
    "CountedResponses": "plait.usage.responses",
    "SessionStatistics": "plait.sessions.statistics",
    "STATE_FILE": "plait.export.plan",
    "EXPORTERS": "plait.export.formats",
    "EXPORT_FORMAT": "plait.export.plan",
    "PreviousExport": "plait.export.plan",
    "Evidence": "plait.insights.waste",
    "ExportPlan": "plait.export.plan",
    "File": "plait.export.formats",
    "FileAt": "plait.files.history",
    "FileHistory": "plait.files.history",
    "ProjectFolders": "plait.sessions.project_folders",
    "HookLimits": "plait.trace.worker",
    "HookOptions": "plait.trace.worker",
    "HookWorker": "plait.trace.worker",
    "LineSurvey": "plait.sessions.raw_lines",
    "MANIFEST": "plait.export.plan",
    "NotePlan": "plait.files.blame",
    "OpenSession": "plait.sessions.open_session",
    "Pin": "plait.sessions.stars",
    "PinnedTurn": "plait.sessions.stars",
    "PlannedNote": "plait.files.blame",
    "PresetEffect": "plait.edit.report",
    "REPORT": "plait.export.plan",
    "Resume": "plait.sessions.resume",
    "Resumption": "plait.sessions.resume",
    "SearchWay": "plait.search.search",
    "SessionTree": "plait.sessions.tree",
    "Star": "plait.sessions.stars",
    "StarFile": "plait.sessions.stars",
    "Stars": "plait.sessions.stars",
    "TracePlan": "plait.trace.traces",
    "TreeDetail": "plait.sessions.tree",
    "Unlinked": "plait.sessions.tree",
    "Waste": "plait.insights.waste",
    "WasteFinding": "plait.insights.waste",
    "Why": "plait.insights.why",
    "WhyRequest": "plait.insights.why",
    "WhyTotals": "plait.insights.why",
    "WrittenFile": "plait.files.history",
    "read_asset": "plait.export.site",
    "batch_traces": "plait.trace.traces",
    "watch_changes": "plait.sessions.watch",
    "check_file": "plait.sessions.discovery",
    "check_log": "plait.sessions.discovery",
    "build_check_report": "plait.edit.report",
    "resolve_conversation": "plait.sessions.names",
    "context": "plait.sessions.resume",
    "describe_conversation": "plait.sessions.names",
    "get_file_ending": "plait.export.formats",
    "build_edit_row": "plait.edit.report",
    "encode_text": "plait.export.formats",
    "matches_project": "plait.sessions.names",
    "survey_lines": "plait.sessions.raw_lines",
    "build_manifest": "plait.export.plan",
    "build_pack_report": "plait.edit.report",
    "list_preset_effects": "plait.edit.report",
    "assign_projects": "plait.sessions.project_folders",
    "build_plan_report": "plait.edit.report",
    "build_resumption": "plait.sessions.resume",
    "render_session_markdown": "plait.export.transcripts",
    "shorten_name": "plait.sessions.names",
    "read_style": "plait.export.site",
    "iter_trajectory_files": "plait.export.formats",
    "render_turn_markdown": "plait.export.transcripts",
    "count_unlinked": "plait.sessions.tree",
    "weigh_context": "plait.edit.report",
    "read_full_output": "plait.export.transcripts",
    "gc_paused": "plait.sessions.worker_pool",
    "write_notes": "plait.files.blame",
}


def __getattr__(name: str) -> object:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'plait.archive' has no attribute '{name}'")
