"""Rescuing sessions whose logs are gone: rebuilding what other files still say about them.

    history.jsonl                           what was typed, with the directory and the session
    paste-cache/<hash>.txt                  what was pasted into it
    file-history/<session>/<hash>@v<N>      files before they were changed
    session-env/<session>/*.sh              environment scripts of hooks
    projects/<slug>/sessions-index.json     a list that some versions keep
    projects/<slug>/<session>/              side files of the log
    git log                                 commits of the time

Prompts without a session (older versions) are grouped by directory: prompts less than four hours
apart are one session, unless an existing session had them. A commit belongs to the session that it
names, else to that of the last prompt typed there within an hour. Git is only read; a directory
that is gone, not a repository or not ours yields nothing.

The rebuilt log is marked `incomplete`: a note on what it is, the prompts at their times, which
backups hold which files, commits with the reason for the match. The same traces always give the
same bytes.
"""

import os
import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any, Literal, TypeAlias
from uuid import NAMESPACE_URL, uuid5

import msgspec

from plait.line import iter_lines, list_files, make_project_slug, read_file_times, read_small
from plait.line.discovery import LOG_SUFFIX, PROJECTS, PROMPT_HISTORY
from plait.line.git import run_git
from plait.store.model import Kind, NewFile
from plait.store.store import Store
from plait.write import SessionWriter
from plait.write.lines import IdSource, MessageContext, format_time, make_file_delta_line

__all__ = [
    "INCOMPLETE",
    "KnownSession",
    "Leftovers",
    "LostSession",
    "LostSessions",
    "Rescued",
    "build_files",
    "describe_finds",
    "find_leftovers",
    "find_lost_sessions",
    "merge_rescued",
    "rescue",
]


COMMAND = re.compile(r"(/[a-z][a-z0-9:_-]*)(?:\s+(.*))?", re.DOTALL)
"""A command of the client and its arguments; a path is not one."""
Why = Literal["named", "co-authored", "at the time"]
"""Why a commit is assigned to a session: it names the session; or it names Claude, or nobody, and
was made soon after a prompt that was typed there.
"""


@dataclass(frozen=True, slots=True)
class TypedPrompt:
    """A prompt in the client's history, with pasted text put back."""

    time: datetime
    text: str
    directory: str | None
    session: str | None
    """None in the history of older versions."""
    missing_pastes: int = 0

    @property
    def is_command(self) -> bool:
        """Whether it is a command of the client, not a prompt to the model."""
        return COMMAND.fullmatch(self.text.strip()) is not None


@dataclass(frozen=True, slots=True)
class Backup:
    """A backup of a file that a session was about to change."""

    copy: Path
    key: str
    """The first digits of the SHA-256 of the file's path."""
    version: int
    time: datetime
    file: str | None = None
    """The path of the file, if a known path has this key."""


@dataclass(frozen=True, slots=True)
class Commit:
    """A Git commit, and why it is assigned to a session."""

    id: str
    time: datetime
    subject: str
    message: str
    files: tuple[str, ...]
    why: Why = "at the time"


@dataclass(frozen=True, slots=True)
class ListedSession:
    """A session in the list that some versions keep beside the logs."""

    directory: str | None = None
    title: str | None = None
    first_prompt: str | None = None
    branch: str | None = None
    messages: int | None = None
    began: datetime | None = None
    ended: datetime | None = None


@dataclass(frozen=True, slots=True)
class KnownSession:
    """A session whose log exists, at its source or in the store."""

    session: str
    directory: str | None = None
    began: datetime | None = None
    ended: datetime | None = None


@dataclass(frozen=True, slots=True)
class LostSession:
    """A session whose log is gone, as far as it can be reconstructed."""

    session: str
    directory: str | None
    prompts: tuple[TypedPrompt, ...] = ()
    backups: tuple[Backup, ...] = ()
    scripts: tuple[Path, ...] = ()
    """Environment scripts written by hooks."""
    commits: tuple[Commit, ...] = ()
    listed: ListedSession = ListedSession()
    title: str | None = None
    project: str | None = None
    """The folder that still has files of it."""
    is_guess: bool = False
    """Whether its prompts name no session: those of a directory in close succession are one."""

    @property
    def has_content(self) -> bool:
        """Whether more than its id is left."""
        has_prompt = any(not prompt.is_command for prompt in self.prompts)
        return has_prompt or bool(self.backups or self.commits or self.listed.first_prompt)

    @property
    def began(self) -> datetime | None:
        """The first known time of it."""
        return min(self._times, default=None)

    @property
    def ended(self) -> datetime | None:
        """The last known time of it."""
        return max(self._times, default=None)

    @property
    def first_prompt(self) -> str | None:
        """The first prompt that is not a command, else the one in the list of sessions."""
        prompts = (prompt.text for prompt in self.prompts if not prompt.is_command)
        return next(prompts, self.listed.first_prompt)

    @property
    def _times(self) -> list[datetime]:
        times = [time for time in (self.listed.began, self.listed.ended) if time]
        times += [prompt.time for prompt in self.prompts]
        times += [backup.time for backup in self.backups]
        return times + [commit.time for commit in self.commits]


@dataclass(frozen=True, slots=True)
class Leftovers:
    """What a configuration folder still has of sessions, whether their logs exist or not."""

    config: Path
    prompts: tuple[TypedPrompt, ...] = ()
    backups: Mapping[str, Path] = field(default_factory=dict)
    """Folders of backups, by session."""
    environments: Mapping[str, Path] = field(default_factory=dict)
    """Folders of environment scripts, by session."""
    listed: Mapping[str, ListedSession] = field(default_factory=dict)
    folders: Mapping[str, Path] = field(default_factory=dict)
    """Side folders of logs, by session."""
    unread: int = 0
    """Unreadable lines of the history."""

    @property
    def sessions(self) -> set[str]:
        """The ids of all sessions of which something is left."""
        typed = {prompt.session for prompt in self.prompts if prompt.session}
        folders = (self.backups, self.environments, self.listed, self.folders)
        return typed.union(*folders)


BETWEEN, WITHIN = "\x1e", "\x1f"
FORMAT = f"--format={BETWEEN}%H{WITHIN}%ct{WITHIN}%s{WITHIN}%B{WITHIN}"
MOST_COMMITS, MOST_FILES = 20_000, 50_000


@dataclass(frozen=True, slots=True)
class Repository:
    """The Git repository of a directory."""

    top: str

    def files(self) -> Iterator[str]:
        """Yield the paths of the files that it tracks."""
        listing = run_git(self.top, "ls-files", "-z", "--full-name", ":/") or ""
        for name in listing.split("\0")[:MOST_FILES]:
            if name:
                yield f"{self.top}/{name}"

    def commits(self, since: datetime, until: datetime) -> list[Commit]:
        """Return the commits of all branches in a period, oldest first."""
        span = (f"--since={since.isoformat()}", f"--until={until.isoformat()}")
        options = ("--all", "--no-color", f"--max-count={MOST_COMMITS}", "--name-only", *span)
        listing = run_git(self.top, "log", FORMAT, *options) or ""
        found = []
        for entry in listing.split(BETWEEN):
            parts = entry.split(WITHIN)
            if len(parts) == 5 and parts[1].isdigit():
                time = datetime.fromtimestamp(int(parts[1]), UTC)
                files = tuple(f"{self.top}/{name}" for name in parts[4].split("\n") if name)
                found.append(Commit(parts[0], time, parts[2], parts[3], files))
        return sorted(found, key=lambda commit: (commit.time, commit.id))


def find_repository(directory: str) -> Repository | None:
    """Return the repository that a directory is in."""
    if not Path(directory).is_dir():
        return None
    top = run_git(directory, "rev-parse", "--show-toplevel")
    return Repository(top.rstrip("\n")) if top and top.strip() else None


BACKUPS, ENVIRONMENTS, PASTES = "file-history", "session-env", "paste-cache"
INDEX, TITLE = "sessions-index.json", "custom-title.json"
SESSION = re.compile(r"[0-9A-Za-z][0-9A-Za-z_-]{7,127}")
"""Matches the name of a session's log."""
BACKUP = re.compile(r"([0-9a-f]{16})@v([0-9]{1,9})")
PASTE = re.compile(r"\[Pasted text #([0-9]{1,9})[^\]\n]{0,40}\]")
HASH = re.compile(r"[0-9a-f]{8,64}")
LATEST = 253402300799
"""The last possible second."""


def find_leftovers(config: Path) -> Leftovers:
    """Return what is left in a configuration folder, ignoring what cannot be read."""
    path = config / PROMPT_HISTORY
    if not path.is_file():
        prompts, unread = [], 0
    else:
        fields = [
            _read_typed_prompts(line.data, config) for line in iter_lines(path) if line.data.strip()
        ]
        found = [prompt for prompt in fields if prompt]
        prompts, unread = sorted(found, key=lambda item: item.time), len(fields) - len(found)
    projects = config / PROJECTS
    listed: dict[str, ListedSession] = {}
    folders: dict[str, Path] = {}
    for project in _list_folders(projects).values():
        index = _decode_object(read_small(project / INDEX) or b"")
        entries, original = index.get("entries"), _get_text(index.get("originalPath"))
        for item in entries if isinstance(entries, list) else ():
            session = _get_text(item.get("sessionId")) if isinstance(item, dict) else None
            if session and SESSION.fullmatch(session) and item.get("isSidechain") is not True:
                messages = item.get("messageCount")
                listed[session] = ListedSession(
                    _get_text(item.get("projectPath")) or _get_text(item.get("cwd")) or original,
                    _get_text(item.get("customTitle")) or _get_text(item.get("summary")),
                    _get_text(item.get("firstPrompt")),
                    _get_text(item.get("gitBranch")),
                    messages if isinstance(messages, int) and messages > 0 else None,
                    _parse_moment(item.get("created")),
                    _parse_moment(item.get("modified")),
                )
        folders |= _filter_session_names(_list_folders(project))
    return Leftovers(
        config,
        tuple(prompts),
        _filter_session_names(_list_folders(config / BACKUPS)),
        _filter_session_names(_list_folders(config / ENVIRONMENTS)),
        listed,
        folders,
        unread,
    )


def _read_typed_prompts(line: bytes, config: Path) -> TypedPrompt | None:
    entry = _decode_object(line)
    text, time = entry.get("display"), _parse_moment(entry.get("timestamp"), 1000)
    if not isinstance(text, str) or not text.strip() or time is None:
        return None
    session = _get_text(entry.get("sessionId"))
    if session is not None and not SESSION.fullmatch(session):
        return None
    pasted = entry.get("pastedContents")
    fields = pasted if isinstance(pasted, dict) else {}
    found: dict[str, str | None] = {}
    for key, item in fields.items():
        if isinstance(item, dict) and item.get("type") == "text":
            found[key] = _get_text(item.get("content"))
            name = _get_text(item.get("contentHash")) or ""
            if found[key] is None and HASH.fullmatch(name):
                data = read_small(config / PASTES / f"{name}.txt")
                found[key] = None if data is None else data.decode(errors="replace")

    def put_back(place: re.Match[str]) -> str:
        return found.get(place[1]) or place[0]

    words, missing = PASTE.sub(put_back, text), sum(item is None for item in found.values())
    return TypedPrompt(time, words, _get_text(entry.get("project")), session, missing)


def _list_folders(place: Path) -> dict[str, Path]:
    try:
        with os.scandir(place) as entries:
            named = {
                dir_entry.name: Path(dir_entry.path) for dir_entry in entries if dir_entry.is_dir()
            }
    except OSError:
        return {}
    return dict(sorted(named.items()))


def _filter_session_names(folders: dict[str, Path]) -> dict[str, Path]:
    return {name: path for name, path in folders.items() if SESSION.fullmatch(name)}


def _decode_object(data: bytes) -> dict[str, Any]:
    try:
        found = msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _get_text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


def _parse_moment(value: object, scale: int = 1000) -> datetime | None:
    """Return a time given in milliseconds or as text."""
    if isinstance(value, str):
        try:
            time = datetime.fromisoformat(value)
        except ValueError:
            return None
        return time if time.tzinfo else time.replace(tzinfo=UTC)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    seconds = value / scale
    return datetime.fromtimestamp(seconds, UTC) if 0 <= seconds <= LATEST else None


PAUSE = timedelta(hours=4)
"""The pause that separates two unnamed sessions of a directory."""
AROUND = timedelta(minutes=5)
"""An existing session contains what was typed this close to it."""
REACH = timedelta(hours=1)
"""How long after a prompt a commit may belong to it."""
RENAME = "/rename "
UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
CLAUDE = ("co-authored-by: claude", "noreply@anthropic.com")
Ask = Callable[[str], Repository | None]


@dataclass(frozen=True, slots=True)
class LostSessions:
    """The sessions that are lost."""

    sessions: tuple[LostSession, ...]
    """Those with any content, newest last."""
    bare: tuple[str, ...] = ()
    """Those of which only an id, commands, or an environment is left."""


def find_lost_sessions(
    left: Leftovers, known: Iterable[KnownSession], ask: Ask = find_repository
) -> LostSessions:
    """Return the sessions of which something is left, and whose logs do not exist."""
    there = tuple(known)
    typed = _group_by_session(left.prompts, there)
    ids = (left.sessions | set(typed)) - {session.session for session in there}
    named = {prompt.directory for prompt in left.prompts}
    named |= {session.directory for session in there}
    named |= {session.directory for session in left.listed.values()}
    directories = {directory for directory in named if directory}
    by_slug = {make_project_slug(directory): directory for directory in sorted(directories)}
    found = [_assemble(id_, left, typed.get(id_, ()), by_slug) for id_ in sorted(ids)]
    directories |= {session.directory for session in found if session.directory}
    everyone = left.sessions | set(typed) | {session.session for session in there}
    git = _Git(ask, directories, everyone)
    found = [replace(session, backups=git.name_files(session.backups)) for session in found]
    for number, session in enumerate(found):
        # If nothing else names its directory, that of its files does.
        files = [Path(backup.file) for backup in session.backups if backup.file]
        if not session.directory and files:
            inside = [place for place in git.directories if Path(place) in files[0].parents]
            found[number] = replace(session, directory=max(inside, key=len, default=None))
    commits = git.commits_by_session(found, typed)
    found = [replace(session, commits=commits.get(session.session, ())) for session in found]
    worth = sorted(
        (session for session in found if session.has_content),
        key=lambda session: (session.ended.timestamp() if session.ended else 0.0, session.session),
    )
    bare = (session.session for session in found if not session.has_content)
    return LostSessions(tuple(worth), tuple(bare))


def _group_by_session(
    prompts: Iterable[TypedPrompt], there: Iterable[KnownSession]
) -> Mapping[str, tuple[TypedPrompt, ...]]:
    """Return prompts by session; those without one are grouped by directory and time."""
    spans: defaultdict[str, list[tuple[datetime, datetime]]] = defaultdict(list)
    for session in there:
        if session.directory and session.began and session.ended:
            spans[session.directory].append((session.began - AROUND, session.ended + AROUND))
    found: defaultdict[str, list[TypedPrompt]] = defaultdict(list)
    nameless: defaultdict[str, list[TypedPrompt]] = defaultdict(list)
    for prompt in prompts:
        if prompt.session:
            found[prompt.session].append(prompt)
        elif prompt.directory and not any(
            began <= prompt.time <= ended for began, ended in spans[prompt.directory]
        ):
            nameless[prompt.directory].append(prompt)
    for directory, typed in nameless.items():
        groups: list[list[TypedPrompt]] = []
        for prompt in sorted(typed, key=lambda prompt: prompt.time):
            if groups and prompt.time - groups[-1][-1].time < PAUSE:
                groups[-1].append(prompt)
            else:
                groups.append([prompt])
        for group in groups:
            name = f"plait:rescue:{directory}:{group[0].time.timestamp():.3f}"
            found[str(uuid5(NAMESPACE_URL, name))] += group
    return {session: tuple(typed) for session, typed in found.items()}


def _assemble(
    session: str, left: Leftovers, typed: tuple[TypedPrompt, ...], by_slug: Mapping[str, str]
) -> LostSession:
    """Return what is left of one session; `by_slug` has directories by project folder."""
    folder, listed = left.folders.get(session), left.listed.get(session, ListedSession())
    project = folder.parent.name if folder else None
    directory = next((prompt.directory for prompt in typed if prompt.directory), None)
    backups, scripts = left.backups.get(session), left.environments.get(session)
    renames = [prompt.text for prompt in typed if prompt.text.startswith(RENAME)]
    title = renames[-1].removeprefix(RENAME).strip() if renames else ""
    if not title and folder:
        title = (
            _get_text(_decode_object(read_small(folder / TITLE) or b"").get("customTitle")) or ""
        )
    copies: list[Backup] = []
    for path in list_files(backups) if backups else ():
        name, times = BACKUP.fullmatch(path.name), read_file_times(path)
        if name and times:
            time = datetime.fromtimestamp(times[1] / 1e9, UTC)
            copies.append(Backup(path, name[1], int(name[2]), time))
    return LostSession(
        session,
        directory or listed.directory or by_slug.get(project or ""),
        typed,
        tuple(sorted(copies, key=lambda item: (item.time, item.key, item.version))),
        list_files(scripts) if scripts else (),
        listed=listed,
        title=title or None,
        project=project,
        is_guess=bool(typed) and typed[0].session is None,
    )


@dataclass(slots=True)
class _Git:
    """The repositories of directories, each queried once when needed."""

    ask: Ask
    directories: set[str]
    everyone: set[str]
    """All sessions, lost or not."""
    repositories: dict[str, Repository | None] = field(default_factory=dict)
    keys: dict[str, str] | None = None

    def name_files(self, backups: tuple[Backup, ...]) -> tuple[Backup, ...]:
        """Return backups with the paths of their files, as far as a known path matches."""
        if not backups:
            return ()
        if self.keys is None:
            found: dict[str, str] = {}
            for directory in sorted(self.directories):
                repository = self._repository(directory)
                names: Iterable[str] = ()
                if repository:
                    names = repository.files()
                else:  # only the directory itself: it may be a home folder
                    with suppress(OSError):
                        names = [str(path) for path in Path(directory).iterdir() if path.is_file()]
                found |= {sha256(name.encode()).hexdigest()[:16]: name for name in names}
            self.keys = found
        return tuple(replace(backup, file=self.keys.get(backup.key)) for backup in backups)

    def _repository(self, directory: str) -> Repository | None:
        if directory not in self.repositories:
            self.repositories[directory] = self.ask(directory)
        return self.repositories[directory]

    def commits_by_session(
        self, found: Iterable[LostSession], typed: Mapping[str, tuple[TypedPrompt, ...]]
    ) -> Mapping[str, tuple[Commit, ...]]:
        """Return the commits assigned to sessions."""
        by_place: defaultdict[str, list[LostSession]] = defaultdict(list)
        for lost_session in found:
            if lost_session.directory:
                by_place[lost_session.directory].append(lost_session)
        assigned: defaultdict[str, list[Commit]] = defaultdict(list)
        for directory, sessions in by_place.items():
            names = {session.session for session in sessions}
            there = sorted(
                (prompt.time, session)
                for session, prompts in typed.items()
                for prompt in prompts
                if prompt.directory == directory
            )
            began = [session.began for session in sessions if session.began]
            ended = [session.ended for session in sessions if session.ended]
            repository = self._repository(directory) if began and ended else None
            for commit in (
                repository.commits(min(began) - AROUND, max(ended) + REACH) if repository else []
            ):
                session, why = _owner(commit, self.everyone, there)
                if session in names:
                    assigned[session].append(replace(commit, why=why))
        return {session: tuple(commits) for session, commits in assigned.items()}


def _owner(
    commit: Commit, everyone: set[str], there: list[tuple[datetime, str]]
) -> tuple[str, Why]:
    """Return the session a commit is assigned to, "" for none, and why."""
    named = [item for item in UUID.findall(commit.message) if item in everyone]
    if named:
        return named[0], "named"
    place = bisect_right(there, (commit.time, "\uffff"))
    time, session = there[place - 1] if place else (commit.time, "")
    if commit.time - time > REACH:
        return "", "at the time"
    words = commit.message.lower()
    return session, "co-authored" if any(item in words for item in CLAUDE) else "at the time"


INCOMPLETE = "incomplete"
"""The mark of an incomplete session."""
NOWHERE = "/"
"""The directory of a session if it is unknown."""
REASONS = {
    "named": "it names this session",
    "co-authored": "co-authored by Claude, after a prompt in this session",
    "at the time": "made after a prompt in this session",
}
INCOMPLETE_NOTE = (
    "This session is incomplete: its log and all answers are gone. `plait keep rescue` "
    "reconstructed it from:"
)
MOST_NAMED = 20
"""Files of a commit that are listed."""
Event: TypeAlias = TypedPrompt | Backup | Commit


def build_files(session: LostSession, config: Path) -> tuple[NewFile, ...]:
    """Return the reconstructed log of a lost session, first, and its remaining files."""
    with TemporaryDirectory(prefix="plait-rescue-") as folder:
        log = _write_session(session, Path(folder))
        project, data = log.parent.name, log.read_bytes()
    home = str(config.absolute())

    def file(path: str, data: bytes, kind: Kind, moment: datetime | None) -> NewFile:
        modified = round(moment.timestamp() * 1000) * 10**6 if moment else None
        return NewFile(home, path, project, session.session, data, kind, modified, mark=INCOMPLETE)

    path = f"{PROJECTS}/{project}/{session.session}{LOG_SUFFIX}"
    return (
        file(path, data, "session", session.ended),
        *(
            file(f"{BACKUPS}/{session.session}/{found.copy.name}", held, "backup", found.time)
            for found in session.backups
            if (held := read_small(found.copy)) is not None
        ),
        *(
            file(f"{ENVIRONMENTS}/{session.session}/{script.name}", held, "beside", session.began)
            for script in session.scripts
            if (held := read_small(script)) is not None
        ),
    )


def _write_session(session: LostSession, folder: Path) -> Path:
    cwd = session.directory or NOWHERE
    project = session.project or make_project_slug(cwd)
    path = folder / PROJECTS / project / f"{session.session}{LOG_SUFFIX}"
    branch = session.listed.branch or "HEAD"
    setting = MessageContext(session.session, cwd, branch, permission_mode=None)
    now = session.began or datetime.fromtimestamp(0, UTC)
    ids = IdSource(Random(session.session), lambda: now)
    with SessionWriter(path, setting, ids, has_snapshots=False) as writer:
        finds = "\n".join(f"- {find}" for find in describe_finds(session))
        _write_note(writer, f"{INCOMPLETE_NOTE}\n{finds}".rstrip("\n"))
        prompts, first = session.prompts, session.listed.first_prompt
        if not prompts and first:  # what only the list of sessions says
            prompts = (TypedPrompt(now, first, session.directory, session.session),)
        events: list[Event] = [*prompts, *session.backups, *session.commits]
        events.sort(key=lambda event: (event.time, not isinstance(event, TypedPrompt)))
        for event in events:
            now = event.time
            match event:
                case TypedPrompt():
                    writer.prompt(_format_logged_prompt(event.text))
                case Backup():
                    message = writer.tip or ""
                    name = _make_relative(event.file, cwd) if event.file else event.key
                    time = format_time(event.time)
                    parent = {"realParentDir": str(Path(event.file).parent)} if event.file else {}
                    backup = {
                        "backupFileName": event.copy.name,
                        "version": event.version,
                        "backupTime": time,
                        **parent,
                    }
                    writer.append(make_file_delta_line(message, message, name, backup, time))
                case Commit():
                    names = [_make_relative(name, cwd) for name in event.files[:MOST_NAMED]]
                    more = len(event.files) - len(names)
                    if more:
                        names.append(f"and {more} more")
                    head = f"commit {event.id[:12]} {event.subject} ({REASONS[event.why]})"
                    _write_note(writer, "\n  ".join([head, *names]).rstrip())
        if session.title:
            writer.title(session.title)
        elif session.listed.title:
            writer.ai_title(session.listed.title)
        writer.tag(INCOMPLETE)
    return path


def _write_note(writer: SessionWriter, words: str) -> None:
    """Write a note for readers, and for the model if the session is resumed."""
    content = f"<local-command-stdout>{words}</local-command-stdout>"
    writer.system("local_command", content=content)


def _format_logged_prompt(text: str) -> str:
    """Return what was typed as the client logs it: commands have a form of their own."""
    if text.startswith("!"):
        return f"<bash-input>{text[1:].strip()}</bash-input>"
    found = COMMAND.fullmatch(text.strip())
    if not found:
        return text
    name, rest = found[1], found[2] or ""
    message = f"<command-message>{name[1:]}</command-message>"
    return f"<command-name>{name}</command-name>\n{message}\n<command-args>{rest}</command-args>"


def _make_relative(file: str, cwd: str) -> str:
    place = Path(file)
    return str(place.relative_to(cwd)) if place.is_relative_to(cwd) else file


def describe_finds(session: LostSession) -> Iterator[str]:
    """Yield what was found of a session, and where."""
    if session.prompts:
        yield f"{_format_count(len(session.prompts), 'prompt')} in history.jsonl"
    missing = sum(prompt.missing_pastes for prompt in session.prompts)
    if missing:
        yield f"{_format_count(missing, 'pasted text')} missing"
    if session.is_guess:
        yield (
            "no session id: prompts in this directory less than four hours apart are assumed "
            "to be one session"
        )
    if session.backups:
        nameless = len({backup.key for backup in session.backups if not backup.file})
        unknown = (
            f", including {_format_count(nameless, 'file')} without a known name"
            if nameless
            else ""
        )
        yield f"{_format_count(len(session.backups), 'backup')} in file-history{unknown}"
    if session.commits:
        yield f"{_format_count(len(session.commits), 'commit')} in Git"
    if session.scripts:
        yield f"{_format_count(len(session.scripts), 'script')} in session-env"
    if session.listed.messages:
        yield f"{_format_count(session.listed.messages, 'message')} according to a session list"
    if not session.directory:
        yield "the directory is unknown"


def _format_count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


@dataclass(frozen=True, slots=True)
class Rescued:
    """The result of a rescue."""

    sessions: tuple[LostSession, ...]
    """Sessions that the store did not have, or had less of."""
    unchanged: int = 0
    """Sessions that it already had in this form."""
    bare: int = 0
    """Sessions of which only an id is left."""
    unread: int = 0
    """Unreadable lines of the history."""

    def to_json(self) -> dict[str, Any]:
        """Return the result as JSON has it."""
        sessions = [
            {
                "session": session.session,
                "directory": session.directory,
                "title": session.title or session.listed.title,
                "first_prompt": session.first_prompt,
                "began": session.began,
                "ended": session.ended,
                "prompts": len(session.prompts),
                "backups": len(session.backups),
                "commits": [{"id": made.id, "why": made.why} for made in session.commits],
                "scripts": len(session.scripts),
                "is_guess": session.is_guess,
            }
            for session in self.sessions
        ]
        return {
            "sessions": sessions,
            "unchanged": self.unchanged,
            "bare": self.bare,
            "unread_lines": self.unread,
        }


def rescue(
    store: Store, left: Leftovers, known: Iterable[KnownSession], *, is_dry: bool = False
) -> Rescued:
    """Reconstruct the sessions of a configuration folder whose logs neither exist nor are backed
    up.

    An earlier reconstruction is replaced only if more is left now.
    """
    logs = ((session.session, session.log) for session in store.sessions())
    lost = find_lost_sessions(
        left,
        (
            *known,
            *[KnownSession(session) for session, log in logs if log and log.mark != INCOMPLETE],
        ),
    )
    made = [(session, build_files(session, left.config)) for session in lost.sessions]
    held = {file.key: file for session in store.sessions() for file in session.files}

    def is_new(files: tuple[NewFile, ...]) -> bool:
        log = files[0]
        had = held.get((log.root, log.path))
        return had is None or len(log.data) > had.size

    new = [(session, files) for session, files in made if is_new(files)]
    if new and not is_dry:
        store.put(file for _, files in new for file in files)
    unchanged = len(made) - len(new)
    return Rescued(tuple(session for session, _ in new), unchanged, len(lost.bare), left.unread)


def merge_rescued(found: Iterable[Rescued]) -> Rescued:
    """Return the combined results of several folders."""
    all_ = list(found)
    return Rescued(
        tuple(session for item in all_ for session in item.sessions),
        sum(rescued.unchanged for rescued in all_),
        sum(rescued.bare for rescued in all_),
        sum(rescued.unread for rescued in all_),
    )
