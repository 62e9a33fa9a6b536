"""What of an archive is new to a lake elsewhere, shipped there, or only told.

It is built there as any lake is, so what was ended goes on where it was. What may leave is said
by a profile; a lake that has more is not written to unless that was said.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from plait.archive.lake.building import Built, build
from plait.archive.lake.engine import Engine
from plait.archive.lake.manner import Manner
from plait.errors import UserError
from plait.lake.model import Profile
from plait.lake.places import NoLake
from plait.lake.rehearsing import Rehearsal, TableLeaving
from plait.lake.store import Lake

if TYPE_CHECKING:
    from plait.archive.archive import Archive
    from plait.archive.model import Meter

WHAT_LEAVES: dict[Profile, str] = {
    "counts": "figures alone, no text, no path, no name",
    "redacted": "all that was said, without secrets and names",
    "full": "everything as it is: prompts, answers, files, secrets",
}


@dataclass(frozen=True)
class Leaving:
    """What would leave."""

    built: Built
    tables: Mapping[str, TableLeaving]
    sessions: tuple[Mapping[str, Any], ...]
    """As the lake would have them."""
    is_new: bool
    """Whether the lake would be made."""

    @property
    def bytes(self) -> int:
        """The bytes of all files."""
        return sum(one.bytes for one in self.tables.values())


def ship(
    archive: "Archive",
    url: str,
    manner: Manner,
    *,
    options: Mapping[str, str],
    engine: Engine,
    watch: "Meter | None" = None,
) -> Built:
    """Brings a lake elsewhere up to date; makes it where there is none."""
    _check(url, manner, options)
    lake = Lake.create(url, manner.profile, options)
    return build(archive, lake, manner, engine=engine, watch=watch)


def rehearsed(
    archive: "Archive",
    url: str,
    manner: Manner,
    *,
    options: Mapping[str, str],
    engine: Engine,
    watch: "Meter | None" = None,
) -> Leaving:
    """Returns what would leave; nothing does."""
    _check(url, manner, options)
    lake = Rehearsal(url, manner.profile, options)
    built = build(archive, lake, manner, engine=engine, watch=watch)
    sessions = tuple(row for one in lake.sessions for row in one.to_pylist())
    return Leaving(built, lake.leaving, sessions, not lake.is_there)


def _check(url: str, manner: Manner, options: Mapping[str, str]) -> None:
    """Refuses to ship to a lake that has more of sessions, or less, than was said."""
    try:
        there = Lake(url, options).profile
    except NoLake:
        return
    if there != manner.profile:
        raise UserError(
            f"'{url}' is a lake of {there}, and {manner.profile} was to be shipped: nothing was",
            f"`--profile {there}` ships {WHAT_LEAVES[there]}",
        )
