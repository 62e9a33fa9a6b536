"""Projects, sessions and the facts that a list shows, as plain values."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TypeAlias, TypeVar

from plait.line import LogFile
from plait.record.prompt import TitleKind

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Session:
    """One session: its file, and the files of its agents."""

    id: str
    project: str
    file: LogFile | None
    """None where only its agents' files are left."""
    agents: tuple[LogFile, ...] = ()
    journals: tuple[LogFile, ...] = ()
    config: Path | None = None
    """The configuration folder of the client that wrote it."""

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


@dataclass(frozen=True, slots=True)
class Project:
    """A folder of sessions."""

    name: str
    """The folder's name, which stands for a directory but cannot be turned back into it."""
    sessions: tuple[Session, ...]


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


Named: TypeAlias = Session | Path | str
"""A session, or what a user calls one: an id, the beginning of one, a title, a file, `latest`."""
Watch: TypeAlias = Callable[[Sequence[T]], Iterable[T]]
"""Is given what will be read, and gives it back one by one: it sees how far that has come."""
