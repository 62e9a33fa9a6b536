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
"""What says what a store holds."""


@dataclass(frozen=True, slots=True)
class Session:
    """One session: its file, and the files of its agents.

    What it says is read when it is asked for; it goes through its turns like a list.
    """

    id: str
    project: str
    file: LogFile | None
    """None where only its agents' files are left."""
    agents: tuple[LogFile, ...] = ()
    journals: tuple[LogFile, ...] = ()
    config: Path | None = None
    """The configuration folder of the client that wrote it."""
    archive: "Archive | None" = field(default=None, compare=False, repr=False)
    """The archive that it was found in."""
    is_kept: bool = False
    """It is no longer at its source: only the store has it."""
    is_incomplete: bool = False
    """It was put together from what was left of it."""
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
        """What lists say of it before its title: `codex`, `kept`, `incomplete`, nothing."""
        return format_mark(self.is_kept, self.is_incomplete, self.agent)

    @property
    def title(self) -> str | None:
        """What it is called: by its person, by the client, else its first prompt."""
        return self._home.facts(self).title

    @property
    def conversations(self) -> "SessionConversations":
        """Its trunk, its branches and its agents, with what each turn cost."""
        return self._home.conversations(self)

    @property
    def turns(self) -> "tuple[SessionTurn, ...]":
        """The turns of the conversation that goes on."""
        return self.conversations.active.turns

    @property
    def cost(self) -> float:
        """In US dollars, of what has a price: of the conversation that goes on."""
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
    """The sessions of a repository, or of a folder that belongs to none."""

    name: str
    """A folder's name, which stands for a directory but cannot be turned back into it."""
    sessions: tuple[Session, ...]
    directory: str | None = None
    """Where the repository lies, else where its newest session was begun."""
    folded: tuple[str, ...] = ()
    """The other folders whose sessions are here: worktrees and sub-directories have their own."""


@dataclass(frozen=True, slots=True)
class Facts:
    """What a list shows of a session, after one pass over its file."""

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
    """When the client's cleanup will delete it, None where no client looks after it."""
    is_kept: bool = False
    """It is no longer at its source, only kept."""
    is_incomplete: bool = False
    """It was put together from what was left of it."""
    first_branch: str | None = None
    """The branch that its directory was on."""
    worktree_of: str | None = None
    """The directory that its own was made a worktree of, where its log says so."""
    agent: str = CLAUDE
    """The coding agent that wrote it."""
    source_path: Path | None = None
    """The file that another agent wrote; `path` is its translation."""

    @property
    def mark(self) -> str:
        """What lists say of it before its title: `codex`, `kept`, `incomplete`, nothing."""
        return format_mark(self.is_kept, self.is_incomplete, self.agent)


def format_mark(is_kept: bool, is_incomplete: bool, agent: str = CLAUDE) -> str:
    """Return the word that marks a session of another agent, or one no longer at its source."""
    if agent != CLAUDE:
        return agent
    return "incomplete" if is_incomplete else "kept" if is_kept else ""


def format_marked_title(mark: str, title: str) -> str:
    """Return a title with the mark before it, where there is one."""
    return f"{mark} · {title}" if mark else title


@dataclass(frozen=True, slots=True)
class StorePlace:
    """Where sessions are kept, and where those that are only kept can be read."""

    folder: Path
    cache: Path
    """Files are put there when they are opened; it can be thrown away."""
    includes_foreign: bool = False
    """Whether sessions from folders that are not on this machine are shown too."""
    includes_all: bool = False
    """Whether all that it holds is shown, wherever it came from."""

    @property
    def exists(self) -> bool:
        """Return whether anything was ever kept there."""
        try:
            return (self.folder / JOURNAL).exists()
        except OSError:
            return False


SessionRef: TypeAlias = Session | Path | str
"""A session, or what a user calls one: an id, the beginning of one, a title, a file, `latest`."""
SessionRefs: TypeAlias = SessionRef | Iterable[SessionRef] | None
"""One session, or several; None for all that there are."""
SessionFamily: TypeAlias = tuple[Session, ...]
"""The sessions of a family: those that share records or responses, nearly always one alone."""
Tracker: TypeAlias = Callable[[Sequence[T]], Iterable[T]]
"""Is given what will be read, and gives it back one by one: it sees how far that has come."""
ProgressCallback: TypeAlias = Callable[[int, int], None]
"""Is told how many bytes have been read, and how many there are to read."""
