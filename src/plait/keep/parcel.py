"""Sessions of a store to one file for another machine, and such a file into a store."""

from pathlib import Path
from typing import TYPE_CHECKING

from plait.errors import UserError
from plait.keep.model import KeptSession, Merged

if TYPE_CHECKING:
    from plait.keep.store import Store


def pack(store: "Store", path: Path, sessions: tuple[KeptSession, ...]) -> Merged:
    """Writes sessions to a file."""
    raise UserError("cannot pack yet")


def unpack(store: "Store", path: Path, wait: float) -> Merged:
    """Takes a file in."""
    raise UserError("cannot unpack yet")
