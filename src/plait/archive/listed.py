"""A fresh index to what a list shows of every session, without reading a log."""

import sqlite3
from contextlib import suppress
from pathlib import Path

from msgspec import MsgspecError

from plait.archive.archive import Archive
from plait.archive.facts import deletion
from plait.archive.kept import kept_in
from plait.archive.model import Facts, Session
from plait.errors import SourceError
from plait.index.catalogue import Catalogue
from plait.index.fresh import is_fresh_for

TROUBLE = (
    OSError,
    SourceError,
    sqlite3.Error,
    MsgspecError,
    ArithmeticError,
    LookupError,
    TypeError,
    ValueError,
)
"""What goes wrong with an index that is broken: the logs answer then."""


def listed_facts(archive: Archive, folder: Path) -> dict[Path, Facts] | None:
    """Returns the facts of all sessions by path; None where the index is behind, or broken.

    They are the ones that `Archive.facts` reads from the logs.
    """
    with suppress(*TROUBLE):
        if is_fresh_for(folder, [root.path for root in archive.roots]):
            return facts_in(archive, folder)
    return None


def facts_in(archive: Archive, folder: Path) -> dict[Path, Facts]:
    """Returns the facts of those sessions that an index knows."""
    catalogue = Catalogue(folder)
    try:
        known = catalogue.facts()
    finally:
        catalogue.close()
    keys = {session.path: str(session.path.absolute()) for session in archive.sessions}
    return {
        session.path: facts_from(known[keys[session.path]], session, archive)
        for session in archive.sessions
        if keys[session.path] in known
    }


def facts_from(data: bytes, session: Session, archive: Archive) -> Facts:
    """Returns the facts that the index has kept, with what only the moment knows."""
    kept = kept_in(data)
    days = archive.kept_days.get(session.config) if session.config else None
    return Facts(
        session=session.id,
        project=session.project,
        path=session.path,
        title=kept.title,
        title_from=kept.title_from,
        first_prompt=kept.first_prompt,
        started=kept.started,
        ended=kept.ended,
        entries=kept.entries,
        bytes=session.bytes,
        versions=kept.versions,
        subagents=len(session.agents),
        cwd=kept.cwd,
        git_branch=kept.git_branch,
        is_live=session.id in archive.live,
        deleted_at=deletion(session, days),
    )
