"""What is left of sessions, and those whose logs are there, to sessions that are lost.

What was typed without a session's name (older versions) is taken together by directory: prompts
less than four hours apart are one session, unless a session that is there held them. A commit is
the session's that it names; else that of the last prompt typed there, for an hour.
"""

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from hashlib import sha256
from pathlib import Path
from uuid import NAMESPACE_URL, uuid5

from plait.keep.rescue.leftovers import backups_in, title_in
from plait.keep.rescue.model import (
    Backup,
    Commit,
    Known,
    Leftovers,
    Listed,
    LostSession,
    Typed,
    Why,
)
from plait.keep.rescue.repository import Repository, repository_at
from plait.line import files_under, slug_of

PAUSE = timedelta(hours=4)
"""Between two sessions of a directory that nobody named."""
AROUND = timedelta(minutes=5)
"""A session that is there holds what was typed so shortly before or behind it."""
REACH = timedelta(hours=1)
"""How long after a prompt a commit may be of its making."""
RENAME = "/rename "
UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
CLAUDE = ("co-authored-by: claude", "noreply@anthropic.com")
Ask = Callable[[str], Repository | None]


@dataclass(frozen=True, slots=True)
class Lost:
    """The sessions that are lost."""

    sessions: tuple[LostSession, ...]
    """Those of which something can be told, the latest last."""
    bare: tuple[str, ...] = ()
    """Those of which no more than an id, commands, or an environment is left."""


def lost_sessions(left: Leftovers, known: Iterable[Known], ask: Ask = repository_at) -> Lost:
    """Returns the sessions that something is left of, and whose logs are not there."""
    there = tuple(known)
    typed = _by_session(left.prompts, there)
    ids = (left.sessions | set(typed)) - {one.session for one in there}
    places = _Places(left, there)
    found = [_put_together(one, left, typed.get(one, ()), places) for one in sorted(ids)]
    everyone = left.sessions | set(typed) | {one.session for one in there}
    git = _Git(ask, {one.directory for one in found if one.directory} | places.all, everyone)
    named = [replace(one, backups=git.named(one.backups)) for one in found]
    told = [_placed(one, git) for one in named]
    commits = git.commits_by_session(told, typed)
    whole = [replace(one, commits=commits.get(one.session, ())) for one in told]
    worth = sorted((one for one in whole if one.is_worth_it), key=_order)
    return Lost(tuple(worth), tuple(one.session for one in whole if not one.is_worth_it))


def _order(one: LostSession) -> tuple[float, str]:
    return one.ended.timestamp() if one.ended else 0.0, one.session


def _by_session(
    prompts: Iterable[Typed], there: Iterable[Known]
) -> Mapping[str, tuple[Typed, ...]]:
    found: defaultdict[str, list[Typed]] = defaultdict(list)
    nameless: defaultdict[str, list[Typed]] = defaultdict(list)
    spans = _spans(there)
    for one in prompts:
        if one.session:
            found[one.session].append(one)
        elif one.directory and not _is_held(one.time, spans[one.directory]):
            nameless[one.directory].append(one)
    for directory, typed in nameless.items():
        for group in _groups(typed):
            name = f"plait:rescue:{directory}:{group[0].time.timestamp():.3f}"
            found[str(uuid5(NAMESPACE_URL, name))] += group
    return {session: tuple(typed) for session, typed in found.items()}


def _spans(there: Iterable[Known]) -> defaultdict[str, list[tuple[datetime, datetime]]]:
    spans: defaultdict[str, list[tuple[datetime, datetime]]] = defaultdict(list)
    for one in there:
        if one.directory and one.began and one.ended:
            spans[one.directory].append((one.began - AROUND, one.ended + AROUND))
    return spans


def _is_held(time: datetime, spans: Iterable[tuple[datetime, datetime]]) -> bool:
    return any(began <= time <= ended for began, ended in spans)


def _groups(typed: Iterable[Typed]) -> list[list[Typed]]:
    groups: list[list[Typed]] = []
    for one in sorted(typed, key=lambda one: one.time):
        if groups and one.time - groups[-1][-1].time < PAUSE:
            groups[-1].append(one)
        else:
            groups.append([one])
    return groups


@dataclass(slots=True)
class _Places:
    """The directories that sessions were held in, by the names of their projects' folders."""

    left: Leftovers
    there: tuple[Known, ...]
    all: set[str] = field(init=False)
    by_slug: dict[str, str] = field(init=False)

    def __post_init__(self) -> None:
        told = {one.directory for one in self.left.prompts}
        told |= {one.directory for one in self.there}
        told |= {one.directory for one in self.left.listed.values()}
        self.all = {one for one in told if one}
        self.by_slug = {slug_of(one): one for one in sorted(self.all)}


def _put_together(
    session: str, left: Leftovers, typed: tuple[Typed, ...], places: _Places
) -> LostSession:
    folder, listed = left.folders.get(session), left.listed.get(session, Listed())
    project = folder.parent.name if folder else None
    directory = next((one.directory for one in typed if one.directory), None)
    kept, scripts = left.backups.get(session), left.environments.get(session)
    return LostSession(
        session,
        directory or listed.directory or places.by_slug.get(project or ""),
        typed,
        tuple(backups_in(kept)) if kept else (),
        files_under(scripts) if scripts else (),
        listed=listed,
        title=_title(typed) or (title_in(folder) if folder else None),
        project=project,
        is_guess=bool(typed) and typed[0].session is None,
    )


def _title(typed: Iterable[Typed]) -> str | None:
    told = [one.text.removeprefix(RENAME) for one in typed if one.text.startswith(RENAME)]
    return told[-1].strip() or None if told else None


def _placed(one: LostSession, git: "_Git") -> LostSession:
    """Returns a session with the directory that its files lie in, where nothing else tells it."""
    if one.directory:
        return one
    files = [Path(backup.file) for backup in one.backups if backup.file]
    inside = [place for place in git.directories if files and _holds(place, files[0])]
    return replace(one, directory=max(inside, key=len, default=None))


def _holds(directory: str, file: Path) -> bool:
    return Path(directory) in file.parents


@dataclass(slots=True)
class _Git:
    """The repositories of directories, asked when they are needed and once."""

    ask: Ask
    directories: set[str]
    everyone: set[str]
    """All sessions, lost or not."""
    repositories: dict[str, Repository | None] = field(default_factory=dict)
    keys: dict[str, str] | None = None

    def named(self, backups: tuple[Backup, ...]) -> tuple[Backup, ...]:
        """Returns backups with the files they are of, as far as something has such a name."""
        if not backups:
            return ()
        if self.keys is None:
            self.keys = self._keys()
        return tuple(replace(one, file=self.keys.get(one.key)) for one in backups)

    def _keys(self) -> dict[str, str]:
        found: dict[str, str] = {}
        for directory in sorted(self.directories):
            repository = self._repository(directory)
            names = repository.files() if repository else map(str, _near(directory))
            found |= {sha256(name.encode()).hexdigest()[:16]: name for name in names}
        return found

    def _repository(self, directory: str) -> Repository | None:
        if directory not in self.repositories:
            self.repositories[directory] = self.ask(directory)
        return self.repositories[directory]

    def commits_by_session(
        self, found: Iterable[LostSession], typed: Mapping[str, tuple[Typed, ...]]
    ) -> Mapping[str, tuple[Commit, ...]]:
        """Returns the commits that are taken for those of sessions."""
        by_place: defaultdict[str, list[LostSession]] = defaultdict(list)
        for one in found:
            if one.directory:
                by_place[one.directory].append(one)
        taken: defaultdict[str, list[Commit]] = defaultdict(list)
        for directory, sessions in by_place.items():
            names = {one.session for one in sessions}
            there = _typed_in(directory, typed)
            for commit in self._made(directory, sessions):
                session, why = _owner(commit, self.everyone, there)
                if session in names:
                    taken[session].append(replace(commit, why=why))
        return {session: tuple(commits) for session, commits in taken.items()}

    def _made(self, directory: str, sessions: Iterable[LostSession]) -> list[Commit]:
        """Returns the commits of the time of some sessions of a directory."""
        began = [one.began for one in sessions if one.began]
        ended = [one.ended for one in sessions if one.ended]
        repository = self._repository(directory) if began and ended else None
        return repository.commits(min(began) - AROUND, max(ended) + REACH) if repository else []


def _near(directory: str) -> tuple[Path, ...]:
    """Returns the files in a directory itself: what is no repository may be somebody's home."""
    try:
        return tuple(path for path in Path(directory).iterdir() if path.is_file())
    except OSError:
        return ()


def _typed_in(directory: str, typed: Mapping[str, tuple[Typed, ...]]) -> list[tuple[datetime, str]]:
    """Returns when something was typed in a directory, and in which session."""
    return sorted(
        (prompt.time, session)
        for session, prompts in typed.items()
        for prompt in prompts
        if prompt.directory == directory
    )


def _owner(
    commit: Commit, everyone: set[str], there: list[tuple[datetime, str]]
) -> tuple[str, Why]:
    """Returns the session that a commit is taken for, "" for none, and why."""
    named = [one for one in UUID.findall(commit.message) if one in everyone]
    if named:
        return named[0], "named"
    place = bisect_right(there, (commit.time, "\uffff"))
    time, session = there[place - 1] if place else (commit.time, "")
    if commit.time - time > REACH:
        return "", "at the time"
    words = commit.message.lower()
    return session, "co-authored" if any(one in words for one in CLAUDE) else "at the time"
