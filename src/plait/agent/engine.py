"""What a console needs of whoever holds a session: prompts in, events out, and where it stands.

Two fit it: `plait.agent.Client`, which asks the API itself, and the client of Claude Code that is
installed here, which is driven from outside. A console knows no more of them than this.
"""

from collections.abc import AsyncGenerator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, Protocol

from plait.agent.events import Event
from plait.agent.meter import Meter
from plait.agent.permission import Mode
from plait.agent.rewinding import Point, Restoration
from plait.write.model import Content


class Fill(NamedTuple):
    """How full the context of a session is."""

    tokens: int
    window: int
    """Tokens that the model takes at most."""
    full: int
    """From how many on a summary stands for what was said."""


class Engine(Protocol):
    """A session that goes on."""

    @property
    def session(self) -> str:
        """The id of the session."""
        ...

    @property
    def path(self) -> Path:
        """The file of its log; there is none before its first line."""
        ...

    @property
    def model(self) -> str:
        """The name of whoever answers."""
        ...

    @property
    def mode(self) -> Mode:
        """What may be done without asking."""
        ...

    @property
    def tools(self) -> Sequence[str]:
        """The names of what the model can have done."""
        ...

    @property
    def commands(self) -> Mapping[str, str]:
        """The commands that people wrote down, by name, with what each is for."""
        ...

    @property
    def meter(self) -> Meter:
        """What the session took since it is open."""
        ...

    @property
    def dollars_in_all(self) -> float | None:
        """What it cost with all that came before, None where nothing did."""
        ...

    @property
    def fill(self) -> Fill | None:
        """How full its context is, None where nobody knows."""
        ...

    @property
    def is_busy(self) -> bool:
        """Whether a turn goes on."""
        ...

    @property
    def has_news(self) -> bool:
        """Whether something has happened that whoever follows has not taken yet."""
        ...

    async def news(self) -> None:
        """Waits until something has come that has a turn of its own: the end of an agent."""
        ...

    def go_on(self) -> AsyncGenerator[Event, None]:
        """Does the turns of what has come, and yields what happens, as `send` does."""
        ...

    def send(self, content: Content) -> AsyncGenerator[Event, None]:
        """Asks, and yields what happens until nothing waits; left early, the turn is stopped."""
        ...

    def compact(self, focus: str = "") -> AsyncGenerator[Event, None]:
        """Has a summary stand for what was said."""
        ...

    def queue(self, content: Content) -> None:
        """Has a prompt wait while a turn goes on."""
        ...

    def take_back(self) -> list[Content]:
        """Takes the prompts back that wait."""
        ...

    def interrupt(self) -> bool:
        """Stops the turn that goes on; tells whether there was one."""
        ...

    def points(self) -> list[Point]:
        """Returns the prompts that one can go back to, the oldest first."""
        ...

    def files_at(self, point: Point) -> Restoration | None:
        """Returns what going back to a prompt means for files, None where none were kept then."""
        ...

    async def rewind(self, point: Point) -> None:
        """Goes on from before a prompt; files stay as they are."""
        ...

    async def switch(self, *, model: str | None = None, mode: Mode | None = None) -> None:
        """Goes on with another model, or in another mode."""
        ...

    @property
    def rules(self) -> Sequence[str]:
        """What may be done without asking, what is asked about and what may not, a line each."""
        ...

    async def servers(self, approve: str = "") -> list[str]:
        """Returns how each server stands; one that waits for leave is started first."""
        ...

    async def rename(self, title: str) -> str:
        """Gives the session a name; returns what the person is told."""
        ...

    def noted(self, name: str, rest: str, said: list[str]) -> list[str]:
        """Has the log say that a command was given, as far as it says so; returns what is told."""
        ...

    def note_unknown(self, name: str, rest: str) -> None:
        """Has the log say that somebody asked for a command that there is not."""
        ...

    async def close(self) -> None:
        """Stops what goes on, and leaves the session so that it can go on."""
        ...


class Sessions(Protocol):
    """Whoever begins sessions in the place of another, all in the same way."""

    def cleared(self, old: Engine) -> Engine:
        """Begins a session with nothing in its context."""
        ...

    def resumed(self, path: Path) -> Engine:
        """Goes on with the session of a file."""
        ...

    async def branched(self, old: Engine, point: Point | None, title: str) -> Engine:
        """Begins a session with what was said, up to now or to before a prompt."""
        ...
