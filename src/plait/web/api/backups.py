"""API requests about backups: status, back up now, restore."""

from typing import Annotated

from msgspec import Meta, Struct

from plait.archive.live import LiveArchive
from plait.errors import UserError
from plait.keep.backups import KeepStatus
from plait.web.api import model
from plait.web.responses import SessionRequest

MAX_SESSIONS = 1000


class ToKeep(Struct, frozen=True, forbid_unknown_fields=True):
    """Which sessions to back up."""

    sessions: Annotated[tuple[model.Name, ...], Meta(max_length=MAX_SESSIONS)] = ()
    """By their names in URLs; all if none is named."""


class NowKept(Struct, frozen=True):
    """What was backed up."""

    sessions: tuple[str, ...]
    files: int
    bytes: int
    """Bytes read."""
    stored_bytes: int
    """Their size on disk."""
    unread: tuple[str, ...]
    """Files that could not be read, and why."""


class ToRestore(Struct, frozen=True, forbid_unknown_fields=True):
    """How to restore a session."""

    touch: bool = True
    """With the present time, so that the cleanup leaves it alone."""


class NowRestored(Struct, frozen=True):
    """Where a session was restored."""

    path: str
    sha256: str
    files: int


def status(library: LiveArchive, asked: model.Nothing) -> KeepStatus:
    """Return what is backed up, what is not, and what will be deleted when."""
    backup_status = library.backup_status.wait()
    if backup_status is None:
        raise UserError("backups are not available: this server has no backup store")
    return backup_status


def keep(library: LiveArchive, asked: ToKeep) -> NowKept:
    """Back up sessions, and count again what is at risk."""
    sessions = [library.snapshot.session(name) for name in asked.sessions] or None
    report = library.snapshot.archive.keep.run(sessions)
    library.refresh()
    library.backup_status.wait()
    return NowKept(
        tuple(report.sessions),
        report.files,
        report.bytes,
        report.stored_bytes,
        tuple(f"{file.path}: {file.why}" for file in report.unread),
    )


def restore(session: SessionRequest, asked: ToRestore) -> NowRestored:
    """Restore a session that only the backup has."""
    restored = session.library.snapshot.archive.keep.restore(session.session, is_fresh=asked.touch)
    session.library.refresh()
    return NowRestored(str(restored.path), restored.sha256, len(restored.files))
