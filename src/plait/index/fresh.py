"""An index and the files under some places to whether it still tells what they hold.

Nothing else is imported here: most runs find nothing to do.
"""

import sqlite3
from collections.abc import Iterable, Mapping
from pathlib import Path

from plait.errors import SourceError
from plait.index.catalogue import Catalogue
from plait.index.scan import Stamp, stamps
from plait.index.schema import NAME
from plait.line.discover import root_at


def is_fresh(folder: Path, now: Mapping[str, Stamp]) -> bool:
    """Tells whether an index is whole and every file as it was."""
    return stamps_in(folder, only_whole=True) == now


def is_fresh_for(folder: Path, roots: Iterable[Path]) -> bool:
    """Tells whether an index tells what the files under some roots hold."""
    try:
        places = [root_at(path.absolute()).logs for path in roots]
    except SourceError:
        return False
    return is_fresh(folder, stamps(places))


def known_stamps(folder: Path) -> dict[str, tuple[int, int, int]]:
    """Returns the stamps of an index, none where there is none."""
    return stamps_in(folder, only_whole=False) or {}


def stamps_in(folder: Path, *, only_whole: bool) -> dict[str, tuple[int, int, int]] | None:
    """Returns the stamps of an index, None where it is not there, broken, or not whole."""
    try:
        if not (folder / NAME).exists():
            return None
        catalogue = Catalogue(folder)
    except (OSError, SourceError):  # not there, not for us, or broken
        return None
    try:
        if only_whole and not (catalogue.is_current() and not catalogue.pending()):
            return None
        return catalogue.stamps()
    except sqlite3.Error:  # a catalogue that is there by half
        return None
    finally:
        catalogue.close()
