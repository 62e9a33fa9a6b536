"""Backups of sessions beyond the client's cleanup: what `archive.keep` does with the store."""

from plait.keep.backups import AtRisk, Backups, KeepStatus
from plait.sessions.kept import list_kept_only

__all__ = ["AtRisk", "Backups", "KeepStatus", "list_kept_only"]
