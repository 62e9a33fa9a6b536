"""Roots to everything in them: the front door of the library."""

from plait.archive.archive import Archive
from plait.archive.model import Facts, Project, Session

__all__ = ["Archive", "Facts", "Project", "Session"]
