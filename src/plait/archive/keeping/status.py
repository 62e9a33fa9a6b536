"""An archive and its store to what is kept, what is not, and what the cleanup will delete when."""

import os
from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from plait.archive.archive import Archive
    from plait.archive.model import Session
    from plait.keep.store import Store


class AtRisk(Struct, frozen=True):
    """A session that is lost when the cleanup deletes it."""

    session: str
    deleted_on: date
    """The day, here, from which on a client that is started deletes it."""
    title: str | None
    project: str
    path: str
    bytes: int
    is_older_kept: bool
    """Whether the store has it as it was before it was last written to."""


class KeepStatus(Struct, frozen=True, kw_only=True):
    """What a store holds of an archive."""

    folder: str
    kept: int
    """Sessions that the store has as they are, those that are only kept among them."""
    unkept: int
    """Sessions of which it lacks something."""
    gone: int
    """Sessions that are no longer at their source, only kept."""
    incomplete: int
    """Those of them that were put together from what was left."""
    elsewhere: int
    """Sessions in the store that come from other folders than those of the archive."""
    at_risk: tuple[AtRisk, ...]
    """Sessions that will be lost, the first to go first."""
    bytes: int
    """Of everything in the store."""
    stored_bytes: int
    """On the disk."""

    @property
    def ratio(self) -> float | None:
        """How many bytes are kept in each one on the disk."""
        return self.bytes / self.stored_bytes if self.stored_bytes else None


def status_of(
    archive: "Archive", store: "Store", unkept: Sequence["Session"], older: set[str]
) -> KeepStatus:
    """Returns what a store holds of an archive, where some sessions are not kept as they are."""
    gone, size = archive.inventory.gone.sessions, store.size()
    return KeepStatus(
        folder=str(store.folder),
        kept=len(archive.sessions) - len(unkept),
        unkept=len(unkept),
        gone=len(gone),
        incomplete=sum(one.is_incomplete for one in gone),
        elsewhere=_elsewhere(archive, store),
        at_risk=tuple(sorted(_at_risk(archive, unkept, older), key=lambda one: one.deleted_on)),
        bytes=size.bytes,
        stored_bytes=size.stored_bytes,
    )


def _elsewhere(archive: "Archive", store: "Store") -> int:
    shown = {os.path.realpath(root.config or root.path) for root in archive.roots}
    shown |= {os.path.realpath(one.root) for one in archive.inventory.gone.kept.values()}
    return sum(os.path.realpath(one.root) not in shown for one in store.sessions())


def _at_risk(archive: "Archive", unkept: Sequence["Session"], older: set[str]) -> Iterator[AtRisk]:
    for session in unkept:
        facts = archive.facts(session)
        if facts.deleted_at is not None:
            yield AtRisk(
                session=session.id,
                deleted_on=day_of(facts.deleted_at),
                title=facts.title,
                project=facts.cwd or facts.project,
                path=str(session.path.absolute()),
                bytes=sum(file.size for file in session.files),
                is_older_kept=str(session.path.absolute()) in older,
            )


def day_of(time: datetime) -> date:
    """Returns the day of a moment, here."""
    try:
        return time.astimezone().date()
    except (OverflowError, ValueError):  # a year that the system's clock does not know
        return time.astimezone(UTC).date()
