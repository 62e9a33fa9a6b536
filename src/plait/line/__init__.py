"""Folders and files to lines: bytes on disk and where they lie."""

from plait.line.discover import discover, root_at, slug_of
from plait.line.model import Discovery, Finding, Line, LogFile, Root
from plait.line.split import Follower, Growth, lines, read_regular, read_slice, read_small

__all__ = [
    "Discovery",
    "Finding",
    "Follower",
    "Growth",
    "Line",
    "LogFile",
    "Root",
    "discover",
    "lines",
    "read_regular",
    "read_slice",
    "read_small",
    "root_at",
    "slug_of",
]
