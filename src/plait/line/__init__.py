"""Folders and files to lines: bytes on disk and where they lie."""

from plait.line.cores import cores
from plait.line.discover import discover, files_under, logs_beside, root_at, slug_of
from plait.line.model import Discovery, FileStamp, Finding, Line, LogFile, Root
from plait.line.split import (
    Follower,
    Growth,
    lines,
    mode_of,
    pieces,
    read_regular,
    read_slice,
    read_small,
    stamp_of,
    times_of,
)

__all__ = [
    "Discovery",
    "FileStamp",
    "Finding",
    "Follower",
    "Growth",
    "Line",
    "LogFile",
    "Root",
    "cores",
    "discover",
    "files_under",
    "lines",
    "logs_beside",
    "mode_of",
    "pieces",
    "read_regular",
    "read_slice",
    "read_small",
    "root_at",
    "slug_of",
    "stamp_of",
    "times_of",
]
