"""Sessions, projects, and the facts that lists show, as plain values."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from plait.line import LogFile
from plait.record.prompts import TitleKind

if TYPE_CHECKING:
    from plait.archive.archive import Archive
    from plait.sessions.conversations import SessionConversations, SessionTurn
    from plait.sessions.library import SessionLibrary
    from plait.sources.base import SourceLog

T = TypeVar("T")
CLAUDE = "claude"
"""The name of Claude Code among the agents."""
JOURNAL = "journal.jsonl"
"""The file that describes a store's contents."""


@dataclass(frozen=True, slots=True)
class Session:
    """One session: its file, and the files of its agents.

    Its content is read on demand; as a sequence it consists of its turns.
    """

    id: str
    project: str
    file: LogFile | None
    """None if only its agents' files are left."""
    agents: tuple[LogFile, ...] = ()
    journals: tuple[LogFile, ...] = ()
    config: Path | None = None
    """The configuration folder of the client that wrote it."""
    archive: "Archive | None" = field(default=None, compare=False, repr=False)
    """The archive that it was found in."""
    is_kept: bool = False
    """Whether it no longer exists at its source, only in the store."""
    is_incomplete: bool = False
    """Whether it was reconstructed from what was left of it."""
    origin: "SourceLog | None" = None
    """The log of another agent that its files are translated from."""

    @property
    def agent(self) -> str:
        """The name of the coding agent that wrote it, such as `claude` or `codex`."""
        return self.origin.source if self.origin else CLAUDE

    @property
    def source_path(self) -> Path:
        """The file that the agent itself wrote."""
        return Path(self.origin.path) if self.origin else self.path

    @property
    def files(self) -> tuple[LogFile, ...]:
        """All its log files, its own first."""
        own = (self.file,) if self.file else ()
        return own + self.agents + self.journals

    @property
    def path(self) -> Path:
        """Its file, or the first of its agents'."""
        return self.files[0].path

    @property
    def bytes(self) -> int:
        """The size of its own file."""
        return self.file.size if self.file else 0

    @property
    def modified(self) -> float:
        """When any of its files was last written, in seconds since 1970."""
        return max(file.modified for file in self.files)

    @property
    def mark(self) -> str:
        """The word before its title in lists: `codex`, `kept`, `incomplete` or nothing."""
        return format_mark(self.is_kept, self.is_incomplete, self.agent)

    @property
    def title(self) -> str | None:
        """Its title: by the user, by the client, else its first prompt."""
        return self._home.facts(self).title

    @property
    def conversations(self) -> "SessionConversations":
        """Its main line, branches and agents, with the cost of each turn."""
        return self._home.conversations(self)

    @property
    def turns(self) -> "tuple[SessionTurn, ...]":
        """The turns of the active conversation."""
        return self.conversations.active.turns

    @property
    def cost(self) -> float:
        """In US dollars, as far as prices are known, for the active conversation."""
        return self.conversations.active.cost

    def __iter__(self) -> "Iterator[SessionTurn]":
        return iter(self.turns)

    def __len__(self) -> int:
        return len(self.turns)

    def __bool__(self) -> bool:
        return True

    @property
    def _home(self) -> "SessionLibrary":
        from plait.sessions.library import SessionLibrary

        return self.archive or SessionLibrary([])


@dataclass(frozen=True, slots=True)
class Project:
    """The sessions of a repository, or of a folder outside any."""

    name: str
    """A folder name, which stands for a directory but cannot be turned back into it."""
    sessions: tuple[Session, ...]
    directory: str | None = None
    """The directory of the repository, or the one where its newest session began."""
    folded: tuple[str, ...] = ()
    """Folders of worktrees and sub-directories whose sessions are included."""


@dataclass(frozen=True, slots=True)
class Facts:
    """The facts that lists show of a session, from one pass over its file."""

    session: str
    project: str
    path: Path
    title: str | None
    title_from: TitleKind | None
    first_prompt: str | None
    started: str | None
    ended: str | None
    entries: int
    bytes: int
    versions: tuple[str, ...]
    subagents: int
    cwd: str | None
    git_branch: str | None
    is_live: bool
    deleted_at: datetime | None
    """When the client's cleanup will delete it; None if no client looks after it."""
    is_kept: bool = False
    """Whether it no longer exists at its source, only in the store."""
    is_incomplete: bool = False
    """Whether it was reconstructed from what was left of it."""
    first_branch: str | None = None
    """The Git branch of its directory at the beginning."""
    worktree_of: str | None = None
    """The directory that its own is a worktree of, if its log says so."""
    agent: str = CLAUDE
    """The coding agent that wrote it."""
    source_path: Path | None = None
    """The file that another agent wrote; `path` is its translation."""

    @property
    def mark(self) -> str:
        """The word before its title in lists: `codex`, `kept`, `incomplete` or nothing."""
        return format_mark(self.is_kept, self.is_incomplete, self.agent)


def format_mark(is_kept: bool, is_incomplete: bool, agent: str = CLAUDE) -> str:
    """Return the word that marks a session of another agent, or one that is only in the backup."""
    if agent != CLAUDE:
        return agent
    return "incomplete" if is_incomplete else "kept" if is_kept else ""


def format_marked_title(mark: str, title: str) -> str:
    """Return a title with its mark, if there is one."""
    return f"{mark} · {title}" if mark else title


@dataclass(frozen=True, slots=True)
class StorePlace:
    """The backup store of an archive, and the cache for reading from it."""

    folder: Path
    cache: Path
    """Files are extracted there when they are opened; it can be deleted."""
    includes_foreign: bool = False
    """Whether sessions from folders that are not on this machine are shown too."""
    includes_all: bool = False
    """Whether all that it holds is shown, whatever its source."""

    @property
    def exists(self) -> bool:
        """Return whether anything was ever backed up there."""
        try:
            return (self.folder / JOURNAL).exists()
        except OSError:
            return False


SessionRef: TypeAlias = Session | Path | str
"""A session or a name for one: an id, its beginning, a title, a file, `latest`."""
SessionRefs: TypeAlias = SessionRef | Iterable[SessionRef] | None
"""One session or several; None for all."""
SessionFamily: TypeAlias = tuple[Session, ...]
"""The sessions of a family: those that share records or responses; usually just one."""
Tracker: TypeAlias = Callable[[Sequence[T]], Iterable[T]]
"""Wraps a sequence and yields its items, to show progress."""
ProgressCallback: TypeAlias = Callable[[int, int], None]
"""Called with the number of bytes read and of all bytes to read."""
