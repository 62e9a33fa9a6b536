"""Roots to everything in them: the front door of the library."""

from plait.archive.archive import Archive, context
from plait.archive.model import Facts, Project, Session

__all__ = ["Archive", "Facts", "Project", "Session", "context"]
