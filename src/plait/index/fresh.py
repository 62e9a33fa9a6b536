"""An index and the files under some places to whether it still tells what they hold.

Nothing else is imported here: most runs find nothing to do.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path

from plait.errors import SourceError
from plait.index.catalogue import Catalogue
from plait.index.scan import Stamp, stamps
from plait.index.schema import NAME
from plait.line.discover import root_at


def is_fresh(folder: Path, now: Mapping[str, Stamp]) -> bool:
    """Tells whether an index is whole and every file as it was."""
    if not (folder / NAME).exists():
        return False
    try:
        catalogue = Catalogue(folder)
    except SourceError:
        return False
    try:
        is_whole = catalogue.is_current() and not catalogue.pending()
        return is_whole and catalogue.stamps() == now
    finally:
        catalogue.close()


def is_fresh_for(folder: Path, roots: Iterable[Path]) -> bool:
    """Tells whether an index tells what the files under some roots hold."""
    try:
        places = [root_at(path.absolute()).logs for path in roots]
    except SourceError:
        return False
    return is_fresh(folder, stamps(places))


def known_stamps(folder: Path) -> dict[str, tuple[int, int, int]]:
    """Returns the stamps of an index, none where there is none."""
    if not (folder / NAME).exists():
        return {}
    try:
        catalogue = Catalogue(folder)
    except SourceError:
        return {}
    try:
        return catalogue.stamps()
    finally:
        catalogue.close()
