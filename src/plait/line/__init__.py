"""Folders and files to lines: bytes on disk and where they lie."""

from plait.line.discover import discover, logs_beside, root_at, slug_of
from plait.line.model import Discovery, FileStamp, Finding, Line, LogFile, Root
from plait.line.split import Follower, Growth, lines, read_regular, read_slice, read_small, stamp_of

__all__ = [
    "Discovery",
    "FileStamp",
    "Finding",
    "Follower",
    "Growth",
    "Line",
    "LogFile",
    "Root",
    "discover",
    "lines",
    "logs_beside",
    "read_regular",
    "read_slice",
    "read_small",
    "root_at",
    "slug_of",
    "stamp_of",
]
