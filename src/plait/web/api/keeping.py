"""Requests about what is kept to their answers: what there is, to keep more, to bring one back."""

from typing import Annotated

from msgspec import Meta, Struct

from plait.archive.keeping import KeepStatus
from plait.archive.live import LiveArchive
from plait.errors import UserError
from plait.web.answers import SessionRequest
from plait.web.api import model

MOST = 1000


class ToKeep(Struct, frozen=True, forbid_unknown_fields=True):
    """Which sessions are to be kept."""

    sessions: Annotated[tuple[model.Name, ...], Meta(max_length=MOST)] = ()
    """By their names in addresses; all of them where none is named."""


class NowKept(Struct, frozen=True):
    """What was kept."""

    sessions: tuple[str, ...]
    files: int
    bytes: int
    """That were read."""
    stored_bytes: int
    """That they take on the disk."""
    unread: tuple[str, ...]
    """Files that could not be read, and why."""


class ToRestore(Struct, frozen=True, forbid_unknown_fields=True):
    """How a session is to be brought back."""

    touch: bool = True
    """With the time of now, so that the cleanup leaves it alone."""


class NowRestored(Struct, frozen=True):
    """Where a session was put."""

    path: str
    sha256: str
    files: int


def status(library: LiveArchive, asked: model.Nothing) -> KeepStatus:
    """Returns what is kept, what is not, and what the cleanup will delete when."""
    found = library.keeping.whole()
    if found is None:
        raise UserError("nothing can be kept here: this server has no store")
    return found


def keep(library: LiveArchive, asked: ToKeep) -> NowKept:
    """Keeps sessions, and counts anew what will be lost."""
    chosen = [library.now.session(name) for name in asked.sessions] or None
    report = library.now.archive.keep.run(chosen)
    library.renew()
    library.keeping.whole()
    return NowKept(
        tuple(report.sessions),
        report.files,
        report.bytes,
        report.stored_bytes,
        tuple(f"{one.path}: {one.why}" for one in report.unread),
    )


def restore(look: SessionRequest, asked: ToRestore) -> NowRestored:
    """Puts a session that is only kept back where it was."""
    restored = look.library.now.archive.keep.restore(look.session, is_fresh=asked.touch)
    look.library.renew()
    return NowRestored(str(restored.path), restored.sha256, len(restored.files))
