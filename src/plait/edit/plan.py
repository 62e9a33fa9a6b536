"""Plans: edits that have not been applied yet, as values."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

from plait.line import Finding, LogFile, iter_bytes
from plait.line.files import FileStamp
from plait.view.context import NextCost

if TYPE_CHECKING:
    from plait.edit.journal import Edit


Operation: TypeAlias = Literal[
    "clone",
    "fork",
    "graft",
    "switch",
    "repair",
    "rename",
    "tag",
    "delete",
    "trim",
    "compress",
    "redact",
    "move",
    "port",
]


@dataclass(frozen=True, slots=True)
class Subject:
    """A session that is to be edited: where all of it lies."""

    id: str
    log: LogFile
    others: tuple[LogFile, ...] = ()
    """The logs of its agents and the journals of its workflows."""
    config: Path | None = None
    """The client's configuration folder, where it is in one."""


@dataclass(frozen=True, slots=True)
class Measures:
    """How large a session is."""

    lines: int
    turns: int
    bytes: int
    tokens: int | None
    """That the next resume sends; None where nothing says."""
    cost_usd: NextCost | None = None
    """Of the next prompt; None where nobody asked or no price is known."""


NO_MEASURES = Measures(0, 0, 0, None)


Fate: TypeAlias = Literal["kept", "dropped", "rewritten", "added"]


@dataclass(frozen=True, slots=True)
class Change:
    """Why some lines fare alike."""

    fate: Fate
    lines: int
    reason: str


@dataclass(frozen=True, slots=True)
class Difference:
    """One line before and after: a few are shown with a plan."""

    line: int | None
    """In the file as it was; None for a line that is added."""
    uuid: str | None
    before: bytes | None
    after: bytes | None
    reason: str


@dataclass(frozen=True, slots=True)
class Violation:
    """A rule for written sessions that a line breaks."""

    rule: str
    sentence: str
    uuid: str | None = None
    line: int | None = None
    path: Path | None = None


Content: TypeAlias = Callable[[], Iterable[bytes]]
"""Gives the bytes of a file piece by piece, the same each time it is asked."""


@dataclass(frozen=True, slots=True)
class CopyOf:
    """The bytes of another file, which the system may copy by a shorter way than through ours."""

    path: Path

    def __call__(self) -> Iterator[bytes]:
        """Yield them piece by piece."""
        return iter_bytes(self.path)


@dataclass(frozen=True, slots=True)
class Write:
    """A file that will hold other bytes, or be there at all."""

    path: Path
    content: Content
    was: FileStamp | None = None
    """The file that it replaces, as it was when the plan was made; None for a new one."""
    mode: int | None = None
    """None for that of the file it replaces, of a new one 0600."""
    times: tuple[int, int] | None = None
    """When it was read and written last, in nanoseconds, where a copy keeps that."""
    is_shared: bool = False
    """It is of all sessions: that others go on with it is no sign of life, nor in undo's way."""


@dataclass(frozen=True, slots=True)
class Append:
    """Lines that are added to a file, which is otherwise left alone."""

    path: Path
    data: bytes
    was: FileStamp
    is_shared: bool = False
    """It is of all sessions, as above."""


@dataclass(frozen=True, slots=True)
class Remove:
    """A file that is removed, to where it can be brought back from."""

    path: Path
    was: FileStamp


@dataclass(frozen=True, slots=True)
class Move:
    """A file that will are elsewhere, the same bytes under another name."""

    path: Path
    target: Path
    was: FileStamp


Step: TypeAlias = Write | Append | Remove | Move


@dataclass(frozen=True, slots=True)
class Plan:
    """An edit that has not been done yet: every byte that would move, and why."""

    operation: Operation
    source: Subject
    session: str
    """The session that results."""
    path: Path
    """The file of the session that results."""
    steps: tuple[Step, ...]
    before: Measures
    after: Measures
    changes: tuple[Change, ...] = ()
    differences: tuple[Difference, ...] = ()
    read: tuple[tuple[Path, FileStamp], ...] = ()
    """What the plan was made of: where that has changed, the plan is no longer true."""
    originals: tuple[tuple[Path, Content], ...] = ()
    """Logs that it was made of and that are in no folder of their own, by where they will."""
    keeps_line_order: bool = False
    """Each line stands where the one stood that it was made of: a broken one stays a broken one."""
    unmended: tuple[Finding, ...] = ()
    """What stays wrong."""
    notes: tuple[str, ...] = field(default=())
    """What to know besides."""
    break_even_turns: float | None = None
    """After how many turns a cut has paid for the cache that it spends; None where it never does,
    or nobody asked."""

    @property
    def is_in_place(self) -> bool:
        """Whether anything that is there now changes or goes."""
        return any(step.was is not None for step in self.steps)

    def count_lines(self, fate: Fate) -> int:
        """Count the lines that fare so."""
        return sum(change.lines for change in self.changes if change.fate == fate)

    def check(self) -> "tuple[Violation, ...]":
        """Return the rules for written sessions that the result breaks and the source did not."""
        from plait.edit.check import check_plan

        return check_plan(self)

    def apply(self, *, force: bool = False) -> "Edit":
        """Do what is planned, all of it or nothing, and return the entry that can undo it.

        Refused where a file has changed since it was planned, and where what is there would
        change in a session that is live, unless forced. Where there is nothing to do nothing is
        written, and the entry that is returned has no name.
        """
        from plait.edit.journal import Journal, find_home

        return Journal(find_home(self.path, self.source.config)).apply(self, force=force)
