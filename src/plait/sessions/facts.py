"""The facts that lists show of a session: title, times, versions, directory, cleanup."""

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TypeAlias

from msgspec import Struct

from plait.record.prompts import (
    TitleKind,
    TitleSearch,
    collapse_whitespace,
    format_agents_only_title,
)
from plait.record.reader import read_if_exists
from plait.record.side_files import read_cleanup_days, read_title_file
from plait.record.time import parse_time
from plait.record.types import Record, WorktreeState
from plait.sessions.model import Facts, Session

RecordReader: TypeAlias = Callable[[Path], Iterable[Record]]
TitleReader: TypeAlias = Callable[[Path], str | None]
"""Reads the title file in the folder of a session."""
STAMP_LENGTH = len("2026-11-15T10:00:00.000Z")


class LogFacts(Struct, frozen=True, gc=False, array_like=True):
    """What a log says about its session: for lists, and to continue from when it grows."""

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
    first_branch: str | None = None
    worktree_of: str | None = None

    def to_survey(self) -> "Survey":
        """Return a survey that continues from here; it knows no summaries."""
        titles = TitleSearch(self.custom, self.ai, self.last_prompt, self.first_prompt)
        return Survey(
            titles,
            self.entries,
            self.started,
            self.ended,
            self.version,
            dict.fromkeys(self.versions),
            Beginning(self.cwd, self.first_branch, self.worktree_of),
            self.git_branch,
        )


@dataclass(slots=True)
class Beginning:
    """Where a session began: read until a record names a directory."""

    cwd: str | None = None
    first_branch: str | None = None
    """The Git branch of the directory."""
    worktree_of: str | None = None
    """The directory that it is a worktree of."""

    def add(self, record: Record) -> None:
        """Add a record."""
        if record.envelope.cwd:
            self.cwd, self.first_branch = record.envelope.cwd, record.envelope.git_branch
        elif isinstance(record, WorktreeState) and record.worktree_session:
            self.worktree_of = record.worktree_session.original_cwd


@dataclass(slots=True)
class Survey:
    """Collects facts from the records of a session one by one."""

    titles: TitleSearch = field(default_factory=TitleSearch)
    entries: int = 0
    started: str | None = None
    ended: str | None = None
    version: str | None = None
    versions: dict[str, None] = field(default_factory=dict)
    began: Beginning = field(default_factory=Beginning)
    git_branch: str | None = None

    def add(self, record: Record) -> None:
        """Add a record."""
        envelope = record.envelope
        self.entries += 1
        self.titles.add(record)
        if not self.began.cwd:
            self.began.add(record)
        if envelope.git_branch:
            self.git_branch = envelope.git_branch
        if envelope.version and envelope.version != self.version:
            self.version = envelope.version
            self.versions[envelope.version] = None
        stamp = normalize_timestamp(record.timestamp)
        if stamp is not None:
            if self.started is None or stamp < self.started:
                self.started = stamp
            if self.ended is None or stamp > self.ended:
                self.ended = stamp

    def to_facts(self, title: tuple[str | None, TitleKind | None]) -> LogFacts:
        """Return the facts of the records, with the session's title."""
        titles = self.titles
        return LogFacts(
            title[0],
            title[1],
            titles.first_prompt,
            self.started,
            self.ended,
            self.entries,
            tuple(self.versions),
            self.began.cwd,
            self.git_branch,
            titles.custom,
            titles.ai,
            titles.last_prompt,
            self.version,
            bool(titles.summaries),
            self.began.first_branch,
            self.began.worktree_of,
        )


def collect_log_facts(
    session: Session, records_of: RecordReader, read_title: TitleReader = read_title_file
) -> LogFacts:
    """Return the facts of a session's log, or of its agents' if it has none."""
    survey = Survey()
    for file in (session.file,) if session.file else session.agents:
        for record in records_of(file.path):
            survey.add(record)
    file_title = read_title(session.file.folder) if session.file else None
    # the order in which the client looks for a title
    if file_title and not survey.titles.custom:
        return survey.to_facts((collapse_whitespace(file_title), "custom"))
    found = survey.titles.title()
    if session.file is None and session.agents:
        title = format_agents_only_title(found[0] if found else None)
        return survey.to_facts((title, "contents"))
    return survey.to_facts(found or (None, None))


def read_beginning(session: Session) -> Beginning:
    """Return where a session began, reading no more of its log than necessary."""
    found = Beginning()
    for file in (session.file,) if session.file else session.agents:
        for record in read_if_exists(file.path):
            found.add(record)
            if found.cwd:
                return found
    return found


def read_log_facts(session: Session) -> LogFacts:
    """Return the facts of a session's log, read from its file."""
    return collect_log_facts(session, read_if_exists)


def build_facts(
    session: Session, found: LogFacts, *, is_live: bool, cleanup_days: float | None
) -> Facts:
    """Return the facts for lists, with those that depend on the present moment.

    `days` is how long the client keeps sessions; None if no client looks after it.
    """
    return Facts(
        session=session.id,
        project=session.project,
        path=session.path,
        title=found.title,
        title_from=found.title_from,
        first_prompt=found.first_prompt,
        started=found.started,
        ended=found.ended,
        entries=found.entries,
        bytes=session.bytes,
        versions=found.versions,
        subagents=len(session.agents),
        cwd=found.cwd,
        git_branch=found.git_branch,
        is_live=is_live,
        deleted_at=None if session.is_kept else compute_deletion_time(session, cleanup_days),
        is_kept=session.is_kept,
        agent=session.agent,
        source_path=session.source_path if session.origin else None,
        is_incomplete=session.is_incomplete,
        first_branch=found.first_branch,
        worktree_of=found.worktree_of,
    )


class CleanupRule:
    """Determines after how many days sessions are deleted; settings are read once."""

    def __init__(self) -> None:
        self._known: dict[tuple[Path, str | None], float] = {}

    def days(self, config: Path, directory: str | None) -> float:
        """Return the days for a session, by the client's settings or a shorter period of its
        project.

        A client deletes sessions of all projects, whichever project it is started in.
        """
        found = self._parse_days(config, None)
        if directory is not None and os.path.isabs(directory):  # noqa: PTH117  the path is not resolved
            found = min(found, self._parse_days(config, directory))
        return found

    def _parse_days(self, config: Path, directory: str | None) -> float:
        key = config, directory
        if key not in self._known:
            self._known[key] = read_cleanup_days(config, Path(directory) if directory else None)
        return self._known[key]


def compute_deletion_time(session: Session, kept_days: float | None) -> datetime | None:
    """Return when the client's cleanup will delete a session that is not written to again.

    The modification time of its own log decides; everything else is deleted with it.
    """
    if kept_days is None:
        return None
    written = session.file.modified if session.file else session.modified
    try:
        return datetime.fromtimestamp(written, UTC) + timedelta(days=kept_days)
    except OverflowError:  # set so high that it never comes
        return None


def normalize_timestamp(stamp: str | None) -> str | None:
    """Return a timestamp in a form that sorts as text."""
    if stamp is None or (len(stamp) == STAMP_LENGTH and stamp[-1] == "Z" and stamp[10] == "T"):
        return stamp
    time = parse_time(stamp)
    return f"{time:%Y-%m-%dT%H:%M:%S}.{time.microsecond // 1000:03}Z" if time else None
