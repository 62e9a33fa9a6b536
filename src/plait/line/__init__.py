"""Lines of log files: bytes on disk, and where the files are."""

import os

from plait.line.discovery import discover, list_files, list_stray_logs, make_project_slug, make_root
from plait.line.files import (
    Discovery,
    FileStamp,
    FileUpdate,
    Finding,
    Follower,
    Line,
    LogFile,
    Root,
    file_contains,
    iter_bytes,
    iter_lines,
    read_file_mode,
    read_file_stamp,
    read_file_times,
    read_regular,
    read_slice,
    read_small,
)

__all__ = [
    "Discovery",
    "FileStamp",
    "FileUpdate",
    "Finding",
    "Follower",
    "Line",
    "LogFile",
    "Root",
    "default_jobs",
    "discover",
    "file_contains",
    "iter_bytes",
    "iter_lines",
    "list_files",
    "list_stray_logs",
    "make_project_slug",
    "make_root",
    "read_file_mode",
    "read_file_stamp",
    "read_file_times",
    "read_regular",
    "read_slice",
    "read_small",
]


MOST_JOBS = 8


def default_jobs() -> int:
    """Return how many processes can work at once: one per core, eight at most."""
    try:
        cores = len(os.sched_getaffinity(0))
    except AttributeError:  # not on this system
        cores = os.cpu_count() or 1
    return min(cores, MOST_JOBS)
