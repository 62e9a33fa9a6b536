"""What a tool is, what it proposes to do, where it works, and what came of it, as values."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol, TypeAlias

Arguments: TypeAlias = Mapping[str, Any]
Effect: TypeAlias = Literal["none", "read", "write", "execute", "network"]
Report: TypeAlias = Callable[[Mapping[str, Any]], None]
"""Takes the data of a progress line, such as `{"type": "bash_progress", …}`."""


class ToolError(Exception):
    """A call that cannot be done; the model is told why, and goes on."""


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


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a call."""

    content: str | Sequence[Mapping[str, Any]]
    """What the model is told."""
    output: Any = None
    """What the log keeps beside it: `toolUseResult`."""
    is_error: bool | None = None


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
    results: Path | None = None
    """Where output goes that is too long for the log (`<session>/tool-results`)."""
    seen: dict[Path, int] = field(default_factory=dict)
    """The files that were read, with the time of their last change in ns."""
    todos: list[dict[str, Any]] = field(default_factory=list)
    tasks: dict[str, Any] = field(default_factory=dict)
    """What runs in the background, by its id."""
    before_change: Callable[[Path], None] = lambda path: None
    """Called before a file is changed, so that a snapshot is kept."""
    has_network: bool = False


class Tool(Protocol):
    """Something that the model can have done."""

    name: str
    effect: Effect

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
