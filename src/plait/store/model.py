"""Values of a store: what is to be backed up, what is stored, and the results of a run."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias

from msgspec import Struct

Kind = Literal["session", "agent", "journal", "beside", "backup", "list"]
"""A session's own log, an agent's, a workflow's, other side files, a backup of an edited file, a
task list.
"""


class Stamp(NamedTuple):
    """The metadata of a file at its source: while it is unchanged, nothing is new."""

    size: int
    modified: int
    """In nanoseconds since 1970."""
    changed: int
    inode: int
    mode: int


class SourceFile(Struct, frozen=True):
    """A file that can be backed up."""

    place: str
    """Its path."""
    path: str
    """Its path below the root, with `/` between the parts."""
    kind: Kind
    stamp: Stamp


class Source(Struct, frozen=True):
    """A session at its source, with all its files."""

    root: str
    """The client's configuration folder, else the folder of logs."""
    project: str
    """The name of the project's folder."""
    session: str
    files: tuple[SourceFile, ...]


class KeptFile(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """One state of a file, as in a line of the journal."""

    root: str
    path: str
    project: str = ""
    session: str
    kind: Kind
    size: int
    sha256: str
    modified: int
    """In nanoseconds since 1970."""
    mode: int = 0o600
    kept: str
    """When it was backed up: ISO 8601, UTC."""
    changed: int = 0
    inode: int = 0
    grew_from: str = ""
    """The SHA-256 of an earlier state that it begins with."""
    mark: str = ""
    """A mark such as `incomplete`."""
    is_foreign: bool = False
    """Whether another machine backed it up: its root means nothing here."""
    blocks: tuple[str, ...] = ()
    """The SHA-256 of each block, in order."""

    @property
    def key(self) -> tuple[str, str]:
        """Which file it is a state of."""
        return self.root, self.path

    @property
    def stamp(self) -> Stamp:
        """The file's metadata when it was read."""
        return Stamp(self.size, self.modified, self.changed, self.inode, self.mode)


@dataclass(frozen=True, slots=True)
class NewFile:
    """New content to store that exists nowhere as a file."""

    root: str
    path: str
    project: str
    session: str
    data: bytes
    kind: Kind = "session"
    modified: int | None = None
    """In nanoseconds since 1970; now by default."""
    mode: int = 0o600
    mark: str = ""


@dataclass(frozen=True, slots=True)
class KeptSession:
    """A session in the store: the newest state of each of its files."""

    root: str
    project: str
    session: str
    files: tuple[KeptFile, ...]
    """By path."""
    earlier: tuple[KeptFile, ...] = ()
    """States that are not the beginning of a newer one: a file was rewritten or truncated."""

    @property
    def log(self) -> KeptFile | None:
        """The session's own log."""
        return next((file for file in self.files if file.kind == "session"), None)

    @property
    def size(self) -> int:
        """The size of all its files."""
        return sum(file.size for file in self.files)

    @property
    def modified(self) -> int:
        """When it was last written to, in nanoseconds since 1970."""
        logs = [file.modified for file in self.files if file.kind in ("session", "agent")]
        return max(logs or [file.modified for file in self.files], default=0)

    @property
    def kept(self) -> str:
        """When the last of it was backed up."""
        return max(file.kept for file in self.files)

    @property
    def mark(self) -> str:
        """A mark such as `incomplete`."""
        return self.log.mark if self.log else ""

    @property
    def is_foreign(self) -> bool:
        """Whether part of it came from another machine."""
        return any(file.is_foreign for file in self.files)


class Progress(NamedTuple):
    """The progress of a run."""

    files: int
    of_files: int
    bytes: int
    of_bytes: int
    name: str
    """The file that is being read."""


Report: TypeAlias = Callable[[Progress], None]


@dataclass(frozen=True, slots=True)
class Unread:
    """A file that could not be backed up, or a folder that could not be read."""

    path: str
    why: str


@dataclass(frozen=True, slots=True)
class KeepPlan:
    """What a run would back up; computed without reading or writing files."""

    new: tuple[SourceFile, ...]
    grown: tuple[SourceFile, ...]
    """Files that are larger than before, by their metadata."""
    changed: tuple[SourceFile, ...]
    unchanged: int
    sessions: tuple[Source, ...]
    """Those with something new."""
    unread: tuple[Unread, ...] = ()
    """Folders that could not be read."""

    @property
    def files(self) -> tuple[SourceFile, ...]:
        """All files that a run would read."""
        return (*self.new, *self.grown, *self.changed)

    @property
    def bytes(self) -> int:
        """How many bytes a run would read."""
        return sum(file.stamp.size for file in self.files)


@dataclass(slots=True)
class KeepReport:
    """What a run did."""

    files: int = 0
    """Files with a new state."""
    unchanged: int = 0
    bytes: int = 0
    """Bytes that were read."""
    new_bytes: int = 0
    """Bytes of new blocks."""
    stored_bytes: int = 0
    """Their compressed size."""
    sessions: list[str] = field(default_factory=list)
    """Sessions with a new state."""
    places: list[str] = field(default_factory=list)
    """The paths of the files that were read."""
    unread: list[Unread] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Damage:
    """An unreadable block, or damage to an index of blocks."""

    block: str
    """The SHA-256 that it should have; empty if it is no block."""
    where: str
    why: str
    files: tuple[KeptFile, ...] = ()
    """States that need it."""

    @property
    def sessions(self) -> tuple[str, ...]:
        """The sessions that contain it."""
        return tuple(dict.fromkeys(file.session for file in self.files))


@dataclass(frozen=True, slots=True)
class Restored:
    """What was restored."""

    path: Path
    """The session's own log, else its first file."""
    sha256: str
    """Of that file."""
    files: tuple[Path, ...]
    """All files that were written; identical existing ones are not included."""
    same: tuple[Path, ...] = ()
    damaged: tuple[Damage, ...] = ()
    """Why a file is missing, or lacks lines."""


@dataclass(frozen=True, slots=True)
class Freed:
    """What was deleted."""

    sessions: tuple[str, ...]
    files: int
    bytes: int
    """Bytes of the deleted files."""
    stored_bytes: int
    """Bytes by which the store shrank."""


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of a store."""

    max_age: float | None = None
    """Days since a session was last written to."""
    max_bytes: int | None = None
    """Bytes on the disk."""


@dataclass(frozen=True, slots=True)
class Merged:
    """What was packed, or came in from another store."""

    sessions: tuple[str, ...]
    files: int
    bytes: int
    stored_bytes: int
    left_out: tuple[str, ...] = ()
    """Files that cannot be transferred: not every system allows their names."""


@dataclass(frozen=True, slots=True)
class StoreSize:
    """How large a store is."""

    sessions: int
    files: int
    bytes: int
    """Bytes of the newest state of every file."""
    stored_bytes: int
    """Bytes on the disk."""


Sources: TypeAlias = Iterable[Source]
