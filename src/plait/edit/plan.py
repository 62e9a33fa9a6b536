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
    """A session to edit, with all its files."""

    id: str
    log: LogFile
    others: tuple[LogFile, ...] = ()
    """The logs of its agents and the journals of its workflows."""
    config: Path | None = None
    """The client's configuration folder, if it is in one."""


@dataclass(frozen=True, slots=True)
class Measures:
    """The size of a session."""

    lines: int
    turns: int
    bytes: int
    tokens: int | None
    """Tokens of the next resume; None if unknown."""
    cost_usd: NextCost | None = None
    """Of the next prompt; None where nobody asked or no price is known."""


NO_MEASURES = Measures(0, 0, 0, None)


Fate: TypeAlias = Literal["kept", "dropped", "rewritten", "added"]


@dataclass(frozen=True, slots=True)
class Change:
    """A group of lines that change for the same reason."""

    fate: Fate
    lines: int
    reason: str


@dataclass(frozen=True, slots=True)
class Difference:
    """One line before and after: a few are shown with a plan."""

    line: int | None
    """Its line in the original file; None for an added line."""
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
"""Returns the bytes of a file in pieces, the same on each call."""


@dataclass(frozen=True, slots=True)
class CopyOf:
    """The bytes of another file, which the system may be able to copy directly."""

    path: Path

    def __call__(self) -> Iterator[bytes]:
        """Yield them in pieces."""
        return iter_bytes(self.path)


@dataclass(frozen=True, slots=True)
class Write:
    """A file to write or create."""

    path: Path
    content: Content
    was: FileStamp | None = None
    """The state of the file it replaces when the plan was made; None for a new one."""
    mode: int | None = None
    """None for the mode of the replaced file, or 0600 for a new one."""
    times: tuple[int, int] | None = None
    """Access and modification times in nanoseconds, if a copy keeps them."""
    is_shared: bool = False
    """Whether the file is shared by all sessions: then later writes by others neither mean that the
    session is live nor prevent undo.
    """


@dataclass(frozen=True, slots=True)
class Append:
    """Lines to append to a file that is otherwise unchanged."""

    path: Path
    data: bytes
    was: FileStamp
    is_shared: bool = False
    """Whether the file is shared by all sessions, as above."""


@dataclass(frozen=True, slots=True)
class Remove:
    """A file to remove; its backup stays in the journal."""

    path: Path
    was: FileStamp


@dataclass(frozen=True, slots=True)
class Move:
    """A file to rename, with the same bytes."""

    path: Path
    target: Path
    was: FileStamp


Step: TypeAlias = Write | Append | Remove | Move


@dataclass(frozen=True, slots=True)
class Plan:
    """An edit that has not been applied: every byte that would change, and why."""

    operation: Operation
    source: Subject
    session: str
    """The resulting session."""
    path: Path
    """The log of the resulting session."""
    steps: tuple[Step, ...]
    before: Measures
    after: Measures
    changes: tuple[Change, ...] = ()
    differences: tuple[Difference, ...] = ()
    read: tuple[tuple[Path, FileStamp], ...] = ()
    """The files the plan was made from: if they have changed, the plan is invalid."""
    originals: tuple[tuple[Path, Content], ...] = ()
    """Source logs that are in no folder of their own, by their new path."""
    keeps_line_order: bool = False
    """Whether each line keeps its position, so that a broken line stays a broken line."""
    unmended: tuple[Finding, ...] = ()
    """Problems that remain."""
    notes: tuple[str, ...] = field(default=())
    """Further remarks."""
    break_even_turns: float | None = None
    """Turns after which a cut has paid for rewriting the cache; None if never, or not computed."""

    @property
    def is_in_place(self) -> bool:
        """Whether existing files change or are removed."""
        return any(step.was is not None for step in self.steps)

    def count_lines(self, fate: Fate) -> int:
        """Count the lines with this outcome."""
        return sum(change.lines for change in self.changes if change.fate == fate)

    def check(self) -> "tuple[Violation, ...]":
        """Return the rules for written sessions that the result breaks and the source did not."""
        from plait.edit.check import check_plan

        return check_plan(self)

    def apply(self, *, force: bool = False) -> "Edit":
        """Apply the plan, completely or not at all, and return the journal entry that can undo it.

        Refused if a file has changed since it was planned, and if it would change a live session,
        unless forced. A plan without steps writes nothing and returns an entry without a name.
        """
        from plait.edit.journal import Journal, find_home

        return Journal(find_home(self.path, self.source.config)).apply(self, force=force)
