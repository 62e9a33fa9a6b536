"""The interface between a console and whoever runs its session.

There are two engines: `plait.chat.Client`, which asks the API itself, and the installed Claude Code
client. A console knows nothing else of them.
"""

from collections.abc import AsyncGenerator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, Protocol

from plait.chat.approval import Mode
from plait.chat.events import Event
from plait.chat.rewind import FileRewindPlan, RewindPoint
from plait.chat.usage import Meter
from plait.write.lines import Content


class ContextFill(NamedTuple):
    """How full the context of a session is."""

    tokens: int
    window: int
    """Tokens that the model takes at most."""
    compaction_threshold: int
    """From how many on a summary stands for what was said."""


class Engine(Protocol):
    """A session that goes on."""

    @property
    def session(self) -> str:
        """The id of the session."""

    @property
    def path(self) -> Path:
        """The file of its log; there is none before its first line."""

    @property
    def model(self) -> str:
        """The name of whoever answers."""

    @property
    def mode(self) -> Mode:
        """What may be done without asking."""

    @property
    def tools(self) -> Sequence[str]:
        """The names of what the model can have done."""

    @property
    def commands(self) -> Mapping[str, str]:
        """The commands that people wrote down, by name, with what each is for."""

    @property
    def meter(self) -> Meter:
        """What the session took since it is open."""

    @property
    def total_dollars(self) -> float | None:
        """What it cost with all that came before, None where nothing did."""

    @property
    def context_fill(self) -> ContextFill | None:
        """How full its context is, None where nobody knows."""

    @property
    def is_busy(self) -> bool:
        """Whether a turn goes on."""

    @property
    def has_events(self) -> bool:
        """Whether something has happened that whoever follows has not taken yet."""

    async def wait_for_background(self) -> None:
        """Wait until something has come that has a turn of its own: the end of an agent."""

    def continue_turns(self) -> AsyncGenerator[Event, None]:
        """Do the turns of what has come, and yields what happens, as `send` does."""

    def send(self, content: Content) -> AsyncGenerator[Event, None]:
        """Asks, and yields what happens until nothing waits; left early, the turn is stopped."""

    def compact(self, focus: str = "") -> AsyncGenerator[Event, None]:
        """Have a summary stand for what was said."""

    def queue(self, content: Content) -> None:
        """Have a prompt wait while a turn goes on."""

    def take_back(self) -> list[Content]:
        """Take the prompts back that wait."""

    def interrupt(self) -> bool:
        """Stop the turn that goes on; tells whether there was one."""

    def rewind_points(self) -> list[RewindPoint]:
        """Return the prompts that one can go back to, the oldest first."""

    def plan_file_rewind(self, point: RewindPoint) -> FileRewindPlan | None:
        """Return what going back to a prompt means for files, None where none were kept then."""

    async def rewind(self, point: RewindPoint) -> None:
        """Go on from before a prompt; files stay as they are."""

    async def switch(self, *, model: str | None = None, mode: Mode | None = None) -> None:
        """Go on with another model, or in another mode."""

    @property
    def rules(self) -> Sequence[str]:
        """What may be done without asking, what is asked about and what may not, a line each."""

    async def servers(self, approve: str = "") -> list[str]:
        """Return how each server stands; one that waits for leave is started first."""

    async def rename(self, title: str) -> str:
        """Give the session a name; returns what the person is told."""

    def log_command(self, name: str, rest: str, lines: list[str]) -> list[str]:
        """Have the log say that a command was given, as far as it says so; returns what is told."""

    def log_unknown_command(self, name: str, rest: str) -> None:
        """Have the log say that somebody asked for a command that there is not."""

    async def close(self) -> None:
        """Stop what goes on, and leaves the session so that it can go on."""


class SessionFactory(Protocol):
    """Whoever begins sessions in the place of another, all in the same way."""

    def clear(self, old: Engine) -> Engine:
        """Begin a session with nothing in its context."""

    def resume(self, path: Path) -> Engine:
        """Go on with the session of a file."""

    async def branch(self, old: Engine, point: RewindPoint | None, title: str) -> Engine:
        """Begin a session with what was said, up to now or to before a prompt."""
