"""Lines of a file and the files of an archive, as plain values."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple


class Line(NamedTuple):
    """The bytes between two newlines, with their place in the file."""

    number: int
    """Counts from 1, as editors do."""
    offset: int
    data: bytes
    """Without the newline; a carriage return or a byte order mark stays."""
    is_ended: bool
    """False for a last line that no newline has ended yet."""


class FileStamp(NamedTuple):
    """What the system said of a file at some moment: it tells whether it has changed since."""

    inode: int
    size: int
    changed: int


FileKind = Literal["session", "agent", "journal"]


@dataclass(frozen=True, slots=True)
class LogFile:
    """One file of log lines, named by where it lies; nothing in it has been read."""

    path: Path
    kind: FileKind
    project: str
    """The name of the project's folder."""
    session: str | None
    """The session it belongs to; None for an agent file that lies beside its session."""
    agent: str | None
    run: str | None
    """The workflow run an agent or a journal belongs to."""
    size: int
    modified: float

    @property
    def folder(self) -> Path:
        """Where the session's side files lie."""
        return self.path.with_suffix("")


@dataclass(frozen=True, slots=True)
class Root:
    """A place to look for logs."""

    path: Path
    config: Path | None
    """The client's configuration folder, where the root is one."""
    logs: Path
    """Where the log files lie."""


@dataclass(frozen=True, slots=True)
class Discovery:
    """What was found under the roots, and what could not be looked into."""

    files: tuple[LogFile, ...]
    unread: tuple[Path, ...]


@dataclass(frozen=True, slots=True)
class Finding:
    """Something odd in the data: counted, shown, and never in the way."""

    code: str
    """One word or two that name the kind, such as `glued lines`."""
    sentence: str
    path: Path | None = None
    line: int | None = None
    uuid: str | None = None

    def __str__(self) -> str:
        place = f"{self.path}" if self.path else ""
        if self.line:
            place += f":{self.line}" if place else f"line {self.line}"
        return f"{place}: {self.sentence}" if place else self.sentence
