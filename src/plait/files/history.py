"""The history of one file over all sessions: its names, its Git repository, its content.

Only sessions whose logs mention the file are read. Git is run without anything that a repository
could configure; if Git is missing, the history is built without it.
"""

import json
import os
import posixpath
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from plait.conversation.model import Conversations
from plait.errors import SourceError, UserError
from plait.files.events import (
    BackupCopy,
    Certainty,
    FileEvent,
    FileText,
    LoadBackup,
    Version,
    decode_text,
    list_file_events,
    parse_text,
)
from plait.files.versions import FileStories, FileStory, is_distinctive
from plait.line import file_contains, read_small
from plait.line.discovery import WINDOWS, find_history_folder, is_foreign_path
from plait.line.git import run_git
from plait.line.output import OutputFolder, is_plain_name
from plait.record.codec import as_mapping
from plait.record.time import format_sortable, format_timestamp
from plait.sessions.model import Session
from plait.sessions.open_session import OpenSession, open_session
from plait.view.formats import format_count

if TYPE_CHECKING:
    from plait.archive.archive import Archive


IsNamed: TypeAlias = Callable[[str], bool]
"""Returns whether a path is a name of the file."""


def read_session_events(read: OpenSession) -> tuple[FileEvent, ...]:
    """Return what happened to files in a session, by time."""
    if not read.graph.sessions:
        return ()
    return list_file_events(
        read.conversations, find_start_directory(read), make_backup_loader(read.session)
    )


def find_start_directory(read: OpenSession) -> str | None:
    """Return the directory that a session began in, to which names of backups are relative."""
    records = (record for source in read.sources for record in source.records)
    return next((record.cwd for record in records if record.cwd), None)


def make_backup_loader(session: Session) -> LoadBackup:
    """Return a function that reads the backups of a session, each once."""
    folder = find_history_folder(session.file.path) if session.file else None
    read: dict[str, BackupCopy | None] = {}

    def load(backup: Any) -> BackupCopy | None:
        if isinstance(backup, str):  # format: 2.1.29 stores the text itself
            return BackupCopy(parse_text(backup))
        fields = as_mapping(backup)
        copy = fields.get("backupFileName")
        if copy is None:
            return BackupCopy(None, is_there=False) if "backupFileName" in fields else None
        if not isinstance(copy, str) or folder is None:
            return None
        if "/" in copy or "\\" in copy or not is_plain_name(copy):  # it may lead elsewhere
            return None
        if copy not in read:
            data = read_small(folder / copy)
            text = decode_text(data) if data is not None else None
            read[copy] = BackupCopy(text) if text is not None else None
        return read[copy]

    return load


def read_file_events(
    sessions: Iterable[Session], endings: Iterable[str], is_named: IsNamed
) -> list[FileEvent]:
    """Return what happened to a file in some sessions, once if a session was copied."""
    found: dict[tuple[object, ...], FileEvent] = {}
    needles = tuple(  # the forms that the end of a path can have in a log
        json.dumps(name, ensure_ascii=is_ascii)[1:-1].encode("utf-8", "surrogatepass")
        for name in endings
        for is_ascii in (True, False)
    )
    for session in sorted(sessions, key=lambda session: (session.modified, session.id)):
        if any(file_contains(file.path, needles) for file in session.files):
            for event in read_session_events(open_session(session)):
                if is_named(event.path):
                    # Keep an event; of copies the one in the oldest session, preferring active
                    # branches.
                    key = (event.path, event.kind, event.time, event.origin.call or event.after)
                    known = found.get(key)
                    if known is None or (event.origin.is_active and not known.origin.is_active):
                        found[key] = event
    return sorted(found.values(), key=lambda event: event.time)


NOBODY = re.compile(r"0+")
HEADER = re.compile(r"([0-9a-f]{40,64}) (\d+) (\d+)(?: \d+)?")
MOST_NAMES = 20


@dataclass(frozen=True, slots=True)
class Commit:
    """A commit, as far as blame reports it."""

    id: str
    author: str = ""
    time: datetime | None = None
    summary: str = ""


@dataclass(frozen=True, slots=True)
class CommittedLine:
    """Git's origin of a line."""

    commit: Commit | None
    """None if it is not committed yet."""
    number: int
    """Of the line in the committed file."""
    path: str
    """The file's name then, relative to the repository."""


@dataclass
class FileInGit:
    """A file of a repository."""

    top: str
    """The top of its worktree."""
    name: str
    """Relative to it."""
    _known: dict[str, Commit] = field(default_factory=dict)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Its present and former names, relative to the repository."""
        question = ("log", "--follow", "--format=", "--name-status", "-z", "-M", "--no-ext-diff")
        log = run_git(self.top, *question, "--no-textconv", "--", self.name) or ""
        names = [self.name]
        words = log.split("\0")
        for place, word in enumerate(words):
            if re.fullmatch(r"\n?[RC]\d+", word) and place + 1 < len(words):
                names.append(words[place + 1])
        # Its name in the last commit, if it was renamed since.
        question = ("diff", "HEAD", "--name-status", "-z", "-M", "--no-ext-diff", "--no-textconv")
        words = (run_git(self.top, *question) or "").split("\0")
        for place, word in enumerate(words):
            if re.fullmatch(r"R\d+", word) and words[place + 2 : place + 3] == [self.name]:
                names.append(words[place + 1])
        return tuple(dict.fromkeys(names))[:MOST_NAMES]

    @cached_property
    def worktrees(self) -> tuple[str, ...]:
        """The worktrees of the repository, its own first."""
        listing = run_git(self.top, "worktree", "list", "--porcelain") or ""
        found = (line[9:] for line in listing.split("\n") if line.startswith("worktree "))
        return tuple(dict.fromkeys((self.top, *found)))

    @cached_property
    def roots(self) -> frozenset[str]:
        """The first commits of the repository, which its clones share."""
        listing = run_git(self.top, "rev-list", "--max-parents=0", "HEAD") or ""
        return frozenset(listing.split())

    def blame(self) -> list[CommittedLine]:
        """Return the origin of each line of the file on disk; none for uncommitted lines."""
        question = ("-c", "blame.ignoreRevsFile=", "blame", "--porcelain", "--no-textconv")
        porcelain = run_git(self.top, *question, "--", self.name)
        return list(self._parse_blame(porcelain)) if porcelain else []

    def _parse_blame(self, porcelain: str) -> Iterator[CommittedLine]:
        """Yield the entries of Git's porcelain blame: facts of a commit come once, first."""
        names: dict[str, str] = {}
        facts: dict[str, dict[str, str]] = {}
        here, number = "", 0
        for line in porcelain.split("\n"):
            if line.startswith("\t"):
                yield CommittedLine(self._commit(here, facts[here]), number, names[here])
            elif head := HEADER.fullmatch(line):
                here, number = head[1], int(head[2])
                facts.setdefault(here, {})
                names.setdefault(here, self.name)
            elif here:
                word, _, value = line.partition(" ")
                facts[here][word] = value
                if word == "filename":
                    names[here] = value

    def _commit(self, id_: str, facts: dict[str, str]) -> Commit | None:
        if NOBODY.fullmatch(id_):
            return None
        if id_ not in self._known:
            seconds = facts.get("author-time", "")
            time = datetime.fromtimestamp(int(seconds), UTC) if seconds.isdigit() else None
            mail = facts.get("author-mail", "")
            author = f"{facts.get('author', '')} {mail}".strip()
            self._known[id_] = Commit(id_, author, time, facts.get("summary", ""))
        return self._known[id_]


def find_file_in_git(path: Path) -> FileInGit | None:
    """Return a file in its repository; None if it is in none."""
    folder = next((parent for parent in path.parents if parent.is_dir()), None)
    top = (
        (run_git(str(folder), "rev-parse", "--show-toplevel") or "").rstrip("\n") if folder else ""
    )
    real = os.path.realpath(path.parent)
    location = Path(real) / path.name
    if not top or not location.is_relative_to(top):
        return None
    return FileInGit(top, location.relative_to(top).as_posix())


GONE = r"/\.(?:claude/)?worktrees/[^/]+/"
"""Where deleted worktrees may have been."""


@dataclass(frozen=True)
class FileNames:
    """The names of a file."""

    path: Path | str
    """Its path, or as given if it does not exist here."""
    exact: frozenset[str]
    gone: re.Pattern[str] | None = None
    """Matches it in deleted worktrees."""
    git: FileInGit | None = None

    def is_named(self, path: str) -> bool:
        """Return whether a path is a name of the file."""
        return path in self.exact or bool(self.gone and self.gone.fullmatch(path))

    @property
    def endings(self) -> frozenset[str]:
        """The last parts of its names: a log without any of them does not mention it."""
        return frozenset(get_file_name(path) for path in self.exact)


def resolve_file_names(given: str, directory: Path, known_as: tuple[str, ...] = ()) -> FileNames:
    """Return the names of a file given by a user, from the current directory."""
    if is_foreign_path(given):
        return FileNames(given, frozenset((given, *known_as)))
    path = Path(os.path.normpath((directory / given).absolute()))
    real = Path(os.path.realpath(path.parent)) / path.name
    git = find_file_in_git(path)
    exact = {str(path), str(real), *known_as}
    gone = None
    if git:
        exact |= {f"{top}/{name}" for top in git.worktrees for name in git.names}
        tops, rest = ("|".join(map(re.escape, several)) for several in (git.worktrees, git.names))
        gone = re.compile(f"(?:{tops}){GONE}(?:{rest})")
    return FileNames(path, frozenset(exact), gone, git)


def get_file_name(path: str) -> str:
    """Return the name of a file without its folders."""
    return re.split(r"[/\\]", path)[-1]


MOST_LISTED = 4


@dataclass
class FileHistory:
    """A file with everything that sessions did to it, under any name."""

    names: FileNames
    events: list[FileEvent]
    """By time."""
    stories: FileStories
    known_as: tuple[str, ...] = ()
    """The names under which sessions know it, newest last."""

    def __iter__(self) -> Iterator[FileEvent]:
        return iter(self.events)

    def __len__(self) -> int:
        return len(self.events)

    @property
    def path(self) -> str:
        """Its path, or its last name."""
        return str(self.names.path)

    @property
    def story(self) -> FileStory:
        """Its versions at its path; if no session knows that, those of its last name."""
        own = self.stories.by_path.get(self.path)
        if own or self.is_here or not self.known_as:
            return self.stories.at(self.path)
        return self.stories.at(self.known_as[-1])

    def story_at(self, moment: str) -> FileStory:
        """Return the versions under the name that it had at a time, up to the file on disk."""
        own = self.story
        self._look_at_disk(own)
        if _is_known(own, moment) or self.names.git is None:
            return own
        top = self.names.git.top
        earlier = (self.stories.by_path.get(f"{top}/{name}") for name in self.names.git.names)
        found = [story for story in earlier if story and _is_known(story, moment)]
        return max(found, key=lambda story: story.versions[-1].time, default=own)

    def _look_at_disk(self, story: FileStory) -> None:
        """Add the present content of the file, dated when it was written, if after the logs."""
        last, path = story.current, self.names.path
        if not (last and last.text and last.text.is_whole and isinstance(path, Path)):
            return
        data = read_small(path) if path.is_file() else None
        text = decode_text(data) if data is not None else None
        if text is not None:
            written = format_timestamp(datetime.fromtimestamp(path.stat().st_mtime, UTC))
            story.observe(
                text, written if written > last.time else format_timestamp(datetime.now(UTC))
            )

    @property
    def is_here(self) -> bool:
        """Return whether the file is on this disk."""
        return isinstance(self.names.path, Path) and self.names.path.is_file()

    def on_disk(self) -> FileText | None:
        """Return the present content of the file; None if it is not here."""
        path = self.names.path
        if isinstance(path, Path) and path.exists() and not path.is_file():
            what = "a folder" if path.is_dir() else "no file given"
            raise UserError(f"'{path}' is {what}", "give the path of a text file")
        data = read_small(path) if isinstance(path, Path) and path.is_file() else None
        if data is None:
            return None
        text = decode_text(data)
        if text is None:
            raise UserError(f"'{path}' is not a text file", "only text files have lines to blame")
        return text


def _is_known(story: FileStory, moment: str) -> bool:
    version = story.at(moment)
    return version is not None and version.is_there


def read_history(
    archive: "Archive",
    given: str,
    directory: Path,
    known_as: tuple[str, ...] = (),
    sessions: Iterable[Session] | None = None,
) -> FileHistory:
    """Return the history of a file over some sessions, or all."""
    names = resolve_file_names(given, directory, known_as)
    endings = names.endings
    chosen = archive.sessions if sessions is None else sessions
    every = read_file_events(chosen, endings, lambda path: get_file_name(path) in endings)
    events = [event for event in every if names.is_named(event.path)]
    if names.git:  # the user's own path, if links give it another one
        home = f"{names.git.top}/{names.git.name}"
        events = [
            replace(event, path=str(names.path)) if event.path == home else event
            for event in events
        ]
    if not events and not known_as:
        end = names.git.name if names.git else re.sub(r"^(?:\.?\.?[/\\])+", "", given)
        alike = [event for event in every if _ends_with(event.path, end)]
        found = {event.path for event in _find_events_of_file(names, alike)}
        if len(found) > 1:
            shown = ", ".join(f"'{path}'" for path in sorted(found)[:MOST_LISTED])
            raise UserError(
                f"sessions have {len(found)} files whose paths end in '{end}'",
                f"choose one with `--as`: {shown}",
            )
        meant = next(iter(found), None)
        events = [replace(event, path=str(names.path)) for event in every if event.path == meant]
        known_as = (meant,) if meant else ()
    stories = FileStories().add_events(events)
    paths = dict.fromkeys([*known_as, *(event.path for event in events)])
    return FileHistory(names, events, stories, tuple(paths))


def _ends_with(path: str, end: str) -> bool:
    path, end = path.replace("\\", "/"), end.replace("\\", "/")
    return path == end or path.endswith(f"/{end}")


def _find_events_of_file(names: FileNames, events: Iterable[FileEvent]) -> list[FileEvent]:
    """Return the events of a file on this disk under a path of another machine.

    A different existing file of the same name does not count, unless its repository is a clone of
    this one; a missing one counts if both have much the same content.
    """
    if not (isinstance(names.path, Path) and names.path.is_file()):
        return list(events)
    by_path: dict[str, list[FileEvent]] = {}
    for event in events:
        by_path.setdefault(event.path, []).append(event)
    here = _find_distinctive_lines(decode_text(read_small(names.path) or b""))

    def is_this_file(path: Path, found: Iterable[FileEvent]) -> bool:
        exists = path.is_absolute() and path.exists()
        git = None
        if path.is_absolute() and (names.git or not exists):
            git = find_file_in_git(path)
        if names.git and git and names.git.roots & git.roots:
            return True
        if exists or git:
            return False
        texts = (text for event in found for text in (event.before, event.after))
        known = _find_distinctive_lines(*texts)
        # half of one file's lines are in what sessions know of the other
        return 2 * len(here & known) >= min(len(here), len(known)) > 0

    return [
        event
        for path, found in by_path.items()
        if is_this_file(Path(path), found)
        for event in found
    ]


def _find_distinctive_lines(*texts: FileText | None) -> frozenset[str]:
    return frozenset(line for text in texts if text for line in text.lines if is_distinctive(line))


TURN = re.compile(r"(?:(?P<session>[^:]+):)?(?P<turn>\d{1,6})")
END = "9999"
"""Sorts after every time."""


def find_end_of_turn(
    conversations: Conversations, number: int, events: Sequence[FileEvent] = ()
) -> str:
    """Return the last moment of a turn: before the next one begins, after its agents have finished.

    Turns are those of the active conversation.
    """
    turns = [turn for turn in conversations.active.turns if turn.number]
    turn = next((turn for turn in turns if turn.number == number), None)
    if turn is None:
        last = turns[-1].number if turns else 0
        raise UserError(
            f"no turn {number} in this session",
            f"`plait show {conversations.session[:8]} --depth prompts` lists turns 1 to {last}",
        )
    following = next((turn for turn in turns if turn.number == number + 1), None)
    if following:
        begun = format_sortable(following.opener.time if following.opener else following.started)
        if begun:
            return f"{begun[:-1]}!"  # sorts right before this time, after all earlier ones
    own = [event.time for event in events if event.origin.turn == number]
    return max([format_sortable(turn.ended) or "", *own], default="") or END


def parse_moment(
    archive: "Archive",
    text: str,
    events: Sequence[FileEvent],
    time_of: Callable[[str], str] | None = None,
) -> str:
    """Return the time that a user means, in a form that sorts as text."""
    named = TURN.fullmatch(text)
    is_year = text.isdigit() and len(text) == 4
    if named is None or is_year:
        found = format_sortable(text) if time_of is None else time_of(text)
        if not found:
            raise UserError(
                f"'{text}' is neither a turn nor a time",
                "give a turn (4), a session and its turn (3f2a:4) or a time (2026-11-15T10:00)",
            )
        return found
    name, number = named["session"], int(named["turn"])
    if name:
        session = archive.session(name)
    else:
        changed = [event for event in events if event.is_change]
        if not changed:
            raise UserError("no session changed this file", "add the session: `--at SESSION:TURN`")
        session = archive.session(changed[-1].origin.session)
    own = [event for event in events if event.origin.session == session.id]
    return find_end_of_turn(archive.open(session).conversations, number, own)


def find_first_start(archive: "Archive", events: Sequence[FileEvent]) -> str:
    """Return when the first session that mentions a file began."""
    if not events:
        return ""
    conversations = archive.open(archive.session(events[0].origin.session)).conversations
    return min(
        (
            format_sortable(conversation.started) or ""
            for conversation in conversations.by_line.values()
        ),
        default="",
    )


OUTSIDE = "outside"
"""The folder for files outside the session's directory."""


class FileAt(Struct, frozen=True, kw_only=True):
    """The content of a file at a time."""

    path: str
    text: FileText | None = None
    """None if it is unknown, or there was no file."""
    certainty: Certainty = "unknown"
    is_there: bool = True
    since: str | None = None
    """The time since which it is known to have had this content."""
    why: str = ""
    """Why that is uncertain, or unknown."""

    @property
    def data(self) -> bytes:
        """The content as bytes."""
        return str(self.text or "").encode("utf-8", "surrogateescape")


def find_file_at(story: FileStory, moment: str, begun: str = "") -> FileAt:
    """Return the content of a file at a time, as far as known.

    The first observed content counts from the start of the session that saw it.
    """
    version = story.at(moment)
    if version is None:
        first: Version | None = story.versions[0] if story.versions else None
        text = story.text_of(first) if first and first.is_foreign else None
        is_known = text is not None and text.is_whole
        if first is None or not is_known or (first.is_there and begun > moment):
            return FileAt(path=story.path, why="no session read or changed the file that early")
        return FileAt(
            path=story.path,
            text=text if first.is_there else None,
            certainty="likely",
            is_there=first.is_there,
            since=first.time,
            why=f"the file was first seen at {first.time}",
        )
    text = story.text_of(version)
    if text is None or not text.is_whole:
        why = "the log has only patches for the file"
        if text is None:
            why = "a change is logged, but not the file's content"
        return FileAt(path=story.path, since=version.time, why=why)
    after, why = story.after(version), ""
    if after is not None and after.is_foreign and version.time < moment:
        why = f"the file was changed by others before {after.time}"
    elif version.completed or not (version.text and version.text.is_whole):
        why = "lines outside the patches are taken from a later version"
    return FileAt(
        path=story.path,
        text=text if version.is_there else None,
        certainty="likely" if why else "sure",
        is_there=version.is_there,
        since=version.time,
        why=why,
    )


def find_files_at(events: Iterable[FileEvent], moment: str) -> list[FileAt]:
    """Return the content at a time of the files that were changed, by path."""
    by_path: dict[str, list[FileEvent]] = {}
    for event in events:
        by_path.setdefault(event.path, []).append(event)
    return [
        find_file_at(FileStories().add_events(found).at(path), moment)
        for path, found in sorted(by_path.items())
        if any(event.is_change for event in found)
    ]


class WrittenFile(Struct, frozen=True, kw_only=True):
    """A file at a time, and where it was written."""

    path: str
    name: str | None
    """Its name in the folder; None if it was not written."""
    why: str = ""


def write_files(
    found: Sequence[FileAt], folder: Path, directory: str | None, *, is_forced: bool = False
) -> list[WrittenFile]:
    """Write files at a time into a folder, all of them or none."""
    out = OutputFolder(folder)
    names = {}
    for file in found:
        if file.text is not None:
            path = file.path
            clean = path.replace("\\", "/") if WINDOWS.match(path) else path
            home = (directory or "").replace("\\", "/").rstrip("/") + "/"
            if directory and clean.startswith(home):
                names[file.path] = clean.removeprefix(home)
            else:
                names[file.path] = posixpath.join(OUTSIDE, clean.replace(":", "").lstrip("/"))
    places: dict[str, Path] = {}
    for path, name in names.items():
        with suppress(SourceError):  # a name that leads out of the folder is refused
            places[path] = out.place(name)
    there = [place for place in places.values() if place.exists()]
    if there and not is_forced:
        shown = ", ".join(f"'{path}'" for path in there[:MOST_LISTED])
        raise UserError(
            f"refusing to overwrite {format_count(len(there), 'file')}: {shown}",
            "choose an empty folder, or add `--force`",
        )
    out.make()
    written = []
    for file in found:
        named, why = None, file.why
        if file.text is None:
            why = why if file.is_there else "the file did not exist then"
        elif file.path not in places:
            why = "its path is outside the folder"
        else:
            named = names[file.path]
            out.write(named, file.data)
        written.append(WrittenFile(path=file.path, name=named, why=why))
    return written
