"""An index to what it holds, and whether the logs are still as it knows them."""

from pathlib import Path

from plait.archive.archive import Archive
from plait.archive.warm import stamps_of
from plait.errors import SourceError
from plait.index.model import Status
from plait.index.schema import VERSION
from plait.index.search import Reader


def status_of(archive: Archive, folder: Path) -> Status:
    """Returns what an index holds; changes nothing."""
    try:
        reader = Reader(folder)
    except SourceError:
        return Status(folder=str(folder), exists=False)
    try:
        catalogue = reader.catalogue
        known, now = catalogue.stamps(), stamps_of(archive)
        changed = sum(known.get(path) != stamp for path, stamp in now.items())
        return Status(
            folder=str(folder),
            exists=True,
            sessions=catalogue.count("sessions"),
            files=catalogue.count("files"),
            turns=catalogue.count("turns"),
            bytes=catalogue.bytes(),
            size=sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()),
            passages=reader.searcher.num_docs,
            schema=VERSION,
            changed=changed + len(known.keys() - now.keys()),
        )
    finally:
        reader.close()
