"""A session's file to the facts that a list shows of it."""

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from plait.archive.model import Facts, Session
from plait.record.read import read
from plait.record.record import Record
from plait.record.sidecar import cleanup_days, title_file
from plait.record.time import moment
from plait.record.title import TitleKind, TitleSearch, one_line

STAMP_LENGTH = len("2026-11-15T10:00:00.000Z")


@dataclass(slots=True)
class Survey:
    """Takes the records of a session one by one."""

    titles: TitleSearch = field(default_factory=TitleSearch)
    entries: int = 0
    started: str | None = None
    ended: str | None = None
    versions: dict[str, None] = field(default_factory=dict)
    session_id: str | None = None
    cwd: str | None = None
    git_branch: str | None = None

    def add(self, record: Record) -> None:
        """Takes one record into account."""
        envelope = record.envelope
        self.entries += 1
        self.titles.add(record)
        self.session_id = self.session_id or envelope.session_id
        self.cwd = self.cwd or envelope.cwd
        self.git_branch = envelope.git_branch or self.git_branch
        if envelope.version:
            self.versions[envelope.version] = None
        stamp = standard_stamp(record.timestamp)
        if stamp:
            self.started = min(self.started or stamp, stamp)
            self.ended = max(self.ended or stamp, stamp)


def facts_of(session: Session, *, is_live: bool) -> Facts:
    """Reads a session once and returns what a list shows of it."""
    survey = Survey()
    for file in (session.file,) if session.file else session.agents:
        for record in read(file.path):
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
        deleted_at=deletion(session),
    )


def title_of(session: Session, titles: TitleSearch) -> tuple[str | None, TitleKind | None]:
    """Returns the session's title by the client's own order, and where it came from."""
    beside = title_file(session.file.folder) if session.file else None
    if beside and not titles.custom:
        return one_line(beside), "custom"
    return titles.title() or (None, None)


def deletion(session: Session) -> datetime | None:
    """Returns when the client's cleanup will delete a session that is not touched again."""
    if session.config is None:
        return None
    written = datetime.fromtimestamp(session.modified, UTC)
    try:
        return written + timedelta(days=cleanup_days(session.config))
    except OverflowError:  # set so high that it never comes
        return None


def standard_stamp(stamp: str | None) -> str | None:
    """Returns a timestamp in the one form that sorts as text."""
    if stamp is None or (len(stamp) == STAMP_LENGTH and stamp[-1] == "Z" and stamp[10] == "T"):
        return stamp
    time = moment(stamp)
    return f"{time:%Y-%m-%dT%H:%M:%S}.{time.microsecond // 1000:03}Z" if time else None
