"""Values of a store: what is to be backed up, what is stored, and the results of a run."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias

from msgspec import Struct

Kind = Literal["session", "agent", "journal", "beside", "backup", "list"]
"""A session's own log, an agent's, a workflow's, what else is next to them, a backup of a file
that was edited, a list of tasks."""


class Stamp(NamedTuple):
    """What the system says of a file at its source: as long as it is the same, nothing is new."""

    size: int
    modified: int
    """In nanoseconds since 1970."""
    changed: int
    inode: int
    mode: int


class SourceFile(Struct, frozen=True):
    """A file that can be kept."""

    place: str
    """Where it lies."""
    path: str
    """Where it is below the root, with `/` between the parts."""
    kind: Kind
    stamp: Stamp


class Source(Struct, frozen=True):
    """A session as it lies at its source, with all its files."""

    root: str
    """The client's configuration folder, else the folder of logs."""
    project: str
    """The name of the project's folder."""
    session: str
    files: tuple[SourceFile, ...]


class KeptFile(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """One state of a file, as a line of the journal has it."""

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
    """When it was kept: ISO 8601, UTC."""
    changed: int = 0
    inode: int = 0
    grew_from: str = ""
    """The SHA-256 of an earlier state that it begins with."""
    mark: str = ""
    """What is to be known of it, such as `incomplete`."""
    is_foreign: bool = False
    """Another machine kept it: its root means nothing here."""
    blocks: tuple[str, ...] = ()
    """The SHA-256 of each block, in order."""

    @property
    def key(self) -> tuple[str, str]:
        """Which file it is a state of."""
        return self.root, self.path

    @property
    def stamp(self) -> Stamp:
        """What the system said about it when it was read."""
        return Stamp(self.size, self.modified, self.changed, self.inode, self.mode)


@dataclass(frozen=True, slots=True)
class NewFile:
    """A file that lies nowhere, to be kept."""

    root: str
    path: str
    project: str
    session: str
    data: bytes
    kind: Kind = "session"
    modified: int | None = None
    """In nanoseconds since 1970; now, where nothing is said."""
    mode: int = 0o600
    mark: str = ""


@dataclass(frozen=True, slots=True)
class KeptSession:
    """A session in the store: the newest state of each of its files."""

    root: str
    project: str
    session: str
    files: tuple[KeptFile, ...]
    """In the order of their paths."""
    earlier: tuple[KeptFile, ...] = ()
    """States that a newer one does not begin with: a file was written again or cut."""

    @property
    def log(self) -> KeptFile | None:
        """The session's own log."""
        return next((file for file in self.files if file.kind == "session"), None)

    @property
    def size(self) -> int:
        """Bytes of all its files."""
        return sum(file.size for file in self.files)

    @property
    def modified(self) -> int:
        """When it was last written to, in nanoseconds since 1970."""
        logs = [file.modified for file in self.files if file.kind in ("session", "agent")]
        return max(logs or [file.modified for file in self.files], default=0)

    @property
    def kept(self) -> str:
        """When the last of it was kept."""
        return max(file.kept for file in self.files)

    @property
    def mark(self) -> str:
        """What is to be known of it, such as `incomplete`."""
        return self.log.mark if self.log else ""

    @property
    def is_foreign(self) -> bool:
        """Whether some of it came from another machine."""
        return any(file.is_foreign for file in self.files)


class Progress(NamedTuple):
    """How far a run has come."""

    files: int
    of_files: int
    bytes: int
    of_bytes: int
    name: str
    """The file that is being read."""


Report: TypeAlias = Callable[[Progress], None]


@dataclass(frozen=True, slots=True)
class Unread:
    """A file that could not be kept."""

    path: str
    why: str


@dataclass(frozen=True, slots=True)
class KeepPlan:
    """What a run would keep; nothing has been read or written for it."""

    new: tuple[SourceFile, ...]
    grown: tuple[SourceFile, ...]
    """Larger than they were, as far as the system says."""
    changed: tuple[SourceFile, ...]
    unchanged: int
    sessions: tuple[Source, ...]
    """Those that hold something new."""

    @property
    def files(self) -> tuple[SourceFile, ...]:
        """All that a run would read."""
        return (*self.new, *self.grown, *self.changed)

    @property
    def bytes(self) -> int:
        """How much a run would read."""
        return sum(file.stamp.size for file in self.files)


@dataclass(slots=True)
class KeepReport:
    """What a run has done."""

    files: int = 0
    """Files of which a new state was kept."""
    unchanged: int = 0
    bytes: int = 0
    """Bytes that were read."""
    new_bytes: int = 0
    """Bytes of blocks that the store did not have."""
    stored_bytes: int = 0
    """Bytes that they take, compressed."""
    sessions: list[str] = field(default_factory=list)
    """Sessions of which something was kept."""
    places: list[str] = field(default_factory=list)
    """Where the files lie that were read for it."""
    unread: list[Unread] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Damage:
    """A block that cannot be read any longer, or something that tells where blocks are."""

    block: str
    """The SHA-256 that it should have; empty where it is none."""
    where: str
    why: str
    files: tuple[KeptFile, ...] = ()
    """States that need it."""

    @property
    def sessions(self) -> tuple[str, ...]:
        """The sessions it is in."""
        return tuple(dict.fromkeys(file.session for file in self.files))


@dataclass(frozen=True, slots=True)
class Restored:
    """What was put back."""

    path: Path
    """The session's own log, else its first file."""
    sha256: str
    """Of that file."""
    files: tuple[Path, ...]
    """All that were written; those that were there already, the same, are not among them."""
    same: tuple[Path, ...] = ()
    damaged: tuple[Damage, ...] = ()
    """Why a file is missing, or lacks lines."""


@dataclass(frozen=True, slots=True)
class Freed:
    """What was forgotten."""

    sessions: tuple[str, ...]
    files: int
    bytes: int
    """Bytes of the files that are no longer kept."""
    stored_bytes: int
    """Bytes that the store is smaller by."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What a store may hold."""

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
    """Files that cannot travel: not every system has such names."""


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
