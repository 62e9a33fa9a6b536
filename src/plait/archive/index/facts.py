"""What a list shows of sessions to what the catalogue keeps of it, and back."""

import sqlite3
from contextlib import suppress
from pathlib import Path

from msgspec import MsgspecError, Struct

from plait.archive.archive import Archive
from plait.archive.facts import Survey, deletion
from plait.archive.model import Facts, Session
from plait.errors import SourceError
from plait.index.catalogue import Catalogue, from_bytes, to_bytes
from plait.index.freshness import is_fresh_for
from plait.record.prompt import TitleKind, TitleSearch


class CataloguedFacts(Struct, frozen=True, gc=False, array_like=True):
    """The facts of a session as the catalogue keeps them."""

    title: str | None
    title_from: TitleKind | None
    first_prompt: str | None
    started: str | None
    ended: str | None
    entries: int
    versions: tuple[str, ...]
    cwd: str | None
    git_branch: str | None
    custom: str | None = None
    ai: str | None = None
    last_prompt: str | None = None
    version: str | None = None
    has_summaries: bool = False

    def encoded(self) -> bytes:
        """Returns its bytes."""
        return to_bytes(self)

    def survey(self) -> Survey:
        """Returns a survey that goes on from here; it knows no summaries."""
        titles = TitleSearch(self.custom, self.ai, self.last_prompt, self.first_prompt)
        return Survey(
            titles,
            self.entries,
            self.started,
            self.ended,
            self.version,
            dict.fromkeys(self.versions),
            self.cwd,
            self.git_branch,
        )


def catalogued_facts(survey: Survey, title: tuple[str | None, TitleKind | None]) -> CataloguedFacts:
    """Returns what is kept of a survey."""
    titles = survey.titles
    return CataloguedFacts(
        title[0],
        title[1],
        titles.first_prompt,
        survey.started,
        survey.ended,
        survey.entries,
        tuple(survey.versions),
        survey.cwd,
        survey.git_branch,
        titles.custom,
        titles.ai,
        titles.last_prompt,
        survey.version,
        bool(titles.summaries),
    )


def decoded_facts(data: bytes) -> CataloguedFacts:
    """Returns what the catalogue has kept."""
    return from_bytes(data, CataloguedFacts)


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
            return _facts_in(archive, folder)
    return None


def _facts_in(archive: Archive, folder: Path) -> dict[Path, Facts]:
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
    kept = decoded_facts(data)
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
