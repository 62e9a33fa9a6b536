"""What a tool is, what it proposes to do, where it works, and what came of it, as values."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias

if TYPE_CHECKING:
    from plait.agent.skills.model import Expansion

Arguments: TypeAlias = Mapping[str, Any]
Effect: TypeAlias = Literal["none", "read", "write", "execute", "network"]
Report: TypeAlias = Callable[[Mapping[str, Any]], None]
"""Takes the data of a progress line, such as `{"type": "bash_progress", …}`."""

HIDDEN = "[secret of the environment]"
"""What stands where a secret of the environment would."""
Ask: TypeAlias = Callable[
    [str, Sequence[Mapping[str, Any]]], Awaitable[Sequence[Mapping[str, Any]]]
]
"""Asks the model something beside the conversation, with tools; returns the blocks it answers."""


class ToolError(Exception):
    """A call that cannot be done; the model is told why, and goes on.

    A call that is wrong in itself (`is_misuse`) is told apart from one that was tried and failed.
    """

    def __init__(self, text: str, *, is_misuse: bool = False, logged: str | None = None) -> None:
        super().__init__(text)
        self.text = text
        self.is_misuse = is_misuse
        self.logged = f"Error: {text}" if logged is None else logged

    @property
    def outcome(self) -> "Outcome":
        """The result that says so."""
        told = f"<tool_use_error>{self.text}</tool_use_error>" if self.is_misuse else self.text
        return Outcome(told, self.logged, is_error=True)


@dataclass(frozen=True, slots=True)
class Proposal:
    """What a call would do, once its arguments are checked: what a person is asked about."""

    tool: str
    arguments: Arguments
    """As they will be used: checked, paths absolute."""
    effect: Effect
    title: str
    """One line for a person: the command, the path, the address."""
    paths: tuple[Path, ...] = ()
    """The files that it reads or writes, links followed."""
    before: str | None = None
    """What the file holds that it changes; None where there is none."""
    after: str | None = None
    """What it will hold."""
    is_changed: bool = False
    """Whether a person changed the arguments (`userModified`)."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a call."""

    content: str | Sequence[Mapping[str, Any]]
    """What the model is told."""
    output: Any = None
    """What the log keeps beside it: `toolUseResult`."""
    is_error: bool | None = None
    expansion: "Expansion | None" = None
    """What a skill says that was asked for: it goes along with the result."""
    fields: Mapping[str, Any] = field(default_factory=dict)
    """What the line of the result says besides, by names in Python; not in the older form."""


@dataclass(frozen=True, slots=True)
class Sight:
    """What the model has seen of a file."""

    digest: bytes
    """Of the whole file as it was then."""
    is_whole: bool
    """Whether it has seen all of it."""


@dataclass(slots=True)
class Workplace:
    """Where the tools of a session work, and what they remember between calls."""

    root: Path
    """The workspace: nothing outside of it and of `others` is written."""
    cwd: Path
    """Where commands run; `cd` moves it."""
    others: tuple[Path, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    """What commands inherit, secrets already left out."""
    secrets: tuple[str, ...] = ()
    """What was left out: hidden wherever a tool comes upon it."""
    results: Path | None = None
    """Where output goes that is too long for the log (`<session>/tool-results`)."""
    seen: dict[Path, Sight] = field(default_factory=dict)
    """The files that were read or written, links followed."""
    todos: list[dict[str, Any]] = field(default_factory=list)
    planned: dict[str, dict[str, Any]] = field(default_factory=dict)
    """The list of tasks, by their numbers."""
    background: dict[str, Any] = field(default_factory=dict)
    """What runs in the background, by its id."""
    keeps_cwd: bool = True
    """Whether `cd` moves what follows."""
    scratch: Path | None = None
    """Where what runs writes to; a temporary folder where nobody says."""
    is_scratch_own: bool = False
    """Whether that folder was made here, and goes when the session is over."""
    before_change: Callable[[Path], None] = lambda path: None
    """Called before a file is changed, so that a snapshot is kept."""
    when_done: Callable[[Any], None] = lambda task: None
    """Called with what has ended in the background (a `Task`), so that the model is told."""
    hides: Callable[[Path], bool] | None = None
    """Tells whether a file may not be read: searches pass it over."""
    has_network: bool = False
    lent: tuple[str, ...] = ()
    """Rules of the command that is followed: what it may do without asking."""
    ask: Ask | None = None
    """Asks the model beside the conversation, for tools that have it read or search."""

    def __post_init__(self) -> None:
        # Paths are compared with links followed, so these have to be, too.
        self.root, self.cwd = self.root.resolve(), self.cwd.resolve()
        self.others = tuple(folder.resolve() for folder in self.others)
        self.results = self.results.resolve() if self.results else None
        self.scratch = self.scratch.resolve() if self.scratch else None

    def holds(self, path: Path) -> bool:
        """Tells whether a path, links followed, lies in the workspace."""
        return any(path.is_relative_to(folder) for folder in (self.root, *self.others))

    def may_read(self, path: Path) -> bool:
        """Tells whether a path, links followed, is read without asking."""
        own = [folder for folder in (self.results, self.scratch) if folder]
        return self.holds(path) or any(path.is_relative_to(folder) for folder in own)


class Tool(Protocol):
    """Something that the model can have done."""

    @property
    def name(self) -> str:
        """What the model calls it."""
        ...

    @property
    def effect(self) -> Effect:
        """What it does at most."""
        ...

    @property
    def definition(self) -> Mapping[str, Any]:
        """Its name, description and `input_schema`, as the API wants them."""
        ...

    def propose(self, arguments: Arguments, place: Workplace) -> Proposal:
        """Checks arguments and says what would be done; raises ToolError."""
        ...

    async def run(self, proposal: Proposal, place: Workplace, report: Report) -> Outcome:
        """Does it. Cancelled, it leaves nothing running."""
        ...
