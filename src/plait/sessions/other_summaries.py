"""`summary` lines that describe a session but are in other files of its folder.

Clients until 2.1 wrote them to files of their own, and to the beginning of newer sessions.
"""

from collections.abc import Container, Iterable
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

from plait.errors import SourceError
from plait.graph.model import OtherSummary
from plait.line import file_contains, iter_lines
from plait.line.discovery import LOG_SUFFIX
from plait.record.reader import parse_entry
from plait.record.types import Summary
from plait.sessions.model import Session

SIGN = b'"summary"'


def find_other_summaries(sessions: Iterable[Session]) -> tuple[OtherSummary, ...]:
    """Return the summaries in the folders of some sessions, except those in their own files."""
    own = {file.path for session in sessions for file in session.files}
    return find_folder_summaries(own, own)


def find_folder_summaries(
    files: Iterable[Path], excluded: Container[Path] = ()
) -> tuple[OtherSummary, ...]:
    """Return the summaries in the folders of some files."""
    found: list[OtherSummary] = []
    for folder in sorted({path.parent for path in files}):
        try:
            paths = [path for path in folder.iterdir() if path.name.endswith(LOG_SUFFIX)]
        except OSError:
            continue
        for path in paths:
            # Opening a pipe would block; a link may lead nowhere.
            if path not in excluded and path.is_file():
                with suppress(OSError):
                    status = path.stat()
                    found += _read_summaries(path, status.st_size, status.st_mtime_ns)
    return tuple(found)


@lru_cache(maxsize=4096)
def _read_summaries(path: Path, _size: int, _modified: int) -> tuple[OtherSummary, ...]:
    """Return the summaries in a file; size and time are only there to key the cache."""
    try:
        if not file_contains(path, (SIGN,)):
            return ()
        records = (parse_entry(line) for line in iter_lines(path) if SIGN in line.data)
        return tuple(
            OtherSummary(str(path), record.line, record.leaf_uuid, record.summary)
            for record in records
            if isinstance(record, Summary) and record.leaf_uuid and record.summary
        )
    except SourceError:
        return ()
