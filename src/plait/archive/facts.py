"""A session's file to the facts that a list shows of it."""

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from plait.archive.model import Facts, Session
from plait.record.prompt import TitleKind, TitleSearch, one_line
from plait.record.read import read_if_there
from plait.record.record import Record
from plait.record.sidecar import title_file
from plait.record.time import moment

if TYPE_CHECKING:
    from plait.archive.open_session import OpenSession

STAMP_LENGTH = len("2026-11-15T10:00:00.000Z")


@dataclass(slots=True)
class Survey:
    """Takes the records of a session one by one."""

    titles: TitleSearch = field(default_factory=TitleSearch)
    entries: int = 0
    started: str | None = None
    ended: str | None = None
    version: str | None = None
    versions: dict[str, None] = field(default_factory=dict)
    cwd: str | None = None
    git_branch: str | None = None

    def add(self, record: Record) -> None:
        """Takes one record into account."""
        envelope = record.envelope
        self.entries += 1
        self.titles.add(record)
        if envelope.cwd is not None:
            self.cwd = self.cwd or envelope.cwd
        if envelope.git_branch:
            self.git_branch = envelope.git_branch
        if envelope.version and envelope.version != self.version:
            self.version = envelope.version
            self.versions[envelope.version] = None
        stamp = standard_stamp(record.timestamp)
        if stamp is not None:
            self._add_time(stamp)

    def _add_time(self, stamp: str) -> None:
        if self.started is None or stamp < self.started:
            self.started = stamp
        if self.ended is None or stamp > self.ended:
            self.ended = stamp


def facts_of(
    session: Session, held: "OpenSession | None", *, is_live: bool, kept_days: float | None
) -> Facts:
    """Returns what a list shows of a session, which is read where nobody holds it.

    The client keeps a session for so many days; None where no client looks after it.
    """
    survey = Survey()
    for file in (session.file,) if session.file else session.agents:
        for record in held.records_of(file.path) if held else read_if_there(file.path):
            survey.add(record)
    title, title_from = title_of(session, survey.titles)
    return Facts(
        session=session.id,
        project=session.project,
        path=session.path,
        title=title,
        title_from=title_from,
        first_prompt=survey.titles.first_prompt,
        started=survey.started,
        ended=survey.ended,
        entries=survey.entries,
        bytes=session.bytes,
        versions=tuple(survey.versions),
        subagents=len(session.agents),
        cwd=survey.cwd,
        git_branch=survey.git_branch,
        is_live=is_live,
        deleted_at=deletion(session, kept_days),
    )


def title_of(session: Session, titles: TitleSearch) -> tuple[str | None, TitleKind | None]:
    """Returns the session's title by the client's own order, and where it came from."""
    beside = title_file(session.file.folder) if session.file else None
    if beside and not titles.custom:
        return one_line(beside), "custom"
    return titles.title() or (None, None)


def deletion(session: Session, kept_days: float | None) -> datetime | None:
    """Returns when the client's cleanup will delete a session that is not touched again."""
    if kept_days is None:
        return None
    try:
        return datetime.fromtimestamp(session.modified, UTC) + timedelta(days=kept_days)
    except OverflowError:  # set so high that it never comes
        return None


def standard_stamp(stamp: str | None) -> str | None:
    """Returns a timestamp in the one form that sorts as text."""
    if stamp is None or (len(stamp) == STAMP_LENGTH and stamp[-1] == "Z" and stamp[10] == "T"):
        return stamp
    time = moment(stamp)
    return f"{time:%Y-%m-%dT%H:%M:%S}.{time.microsecond // 1000:03}Z" if time else None
