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
    from plait.trace.traces import batch_traces
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

_NAMES_BY_MODULE = {
    "plait.edit.report": """PresetEffect build_check_report build_edit_row build_pack_report build_plan_report
        list_preset_effects weigh_context""",
    "plait.export.formats": """Branches EXPORTERS File encode_text get_file_ending iter_trajectory_files
""",
    "plait.export.plan": """EXPORT_FORMAT ExportPlan MANIFEST PreviousExport REPORT STATE_FILE build_manifest
""",
    "plait.export.site": "read_asset read_style",
    "plait.export.transcripts": "read_full_output render_session_markdown render_turn_markdown",
    "plait.files.blame": "Blame BlamedLine NotePlan PlannedNote write_notes",
    "plait.files.history": "FileAt FileHistory WrittenFile",
    "plait.insights.waste": "Evidence Waste WasteFinding",
    "plait.insights.why": "Why WhyRequest WhyTotals",
    "plait.search.search": "SearchWay",
    "plait.sessions.disclosures": "CheckedFile",
    "plait.sessions.discovery": "check_file check_log",
    "plait.sessions.names": """describe_conversation matches_project resolve_conversation shorten_name
""",
    "plait.sessions.open_session": "OpenSession",
    "plait.sessions.project_folders": "ProjectFolders assign_projects",
    "plait.sessions.raw_lines": "LineSurvey survey_lines",
    "plait.sessions.resume": "CLIENT Resume Resumption RewindTarget build_resumption context",
    "plait.sessions.stars": "Pin PinnedTurn Star StarFile Stars",
    "plait.sessions.statistics": "SessionStatistics",
    "plait.sessions.tree": "SessionTree TreeDetail Unlinked count_unlinked",
    "plait.sessions.watch": "watch_changes",
    "plait.sessions.worker_pool": "gc_paused",
    "plait.trace.traces": "batch_traces",
    "plait.trace.worker": "HookLimits HookOptions HookWorker",
    "plait.usage.responses": "CountedResponses",
}
_HOMES = {name: module for module, names in _NAMES_BY_MODULE.items() for name in names.split()}


def __getattr__(name: str) -> object:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'plait.archive' has no attribute '{name}'")
