"""What a turn is made with, as protocols: the loop knows these, and whoever fits may stand in."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias, runtime_checkable

from plait.agent.events import Compacted, Event
from plait.agent.streaming import Model, Request
from plait.agent.tools.model import Outcome, Proposal, Tool, Workplace
from plait.write import SessionWriter
from plait.write.model import Content

if TYPE_CHECKING:
    from plait.agent.agents import Crew
    from plait.agent.hooks import SessionHooks
    from plait.agent.mcp import SessionServers
    from plait.agent.queue import Asked
    from plait.agent.skills.model import Expansion

Emit: TypeAlias = Callable[[Event], None]


class Memory(Protocol):
    """What the model is sent: what the log says, as it stands."""

    def request(self, tools: Sequence[Mapping[str, Any]]) -> Request:
        """Returns what is sent to the model now."""
        ...


class Compactor(Protocol):
    """Whoever makes room: logs a summary and puts it in the memory's place."""

    async def make_room(self) -> Compacted | None:
        """Compacts where the context is nearly full; None where it is not, or not yet pressing."""
        ...

    async def compact(self, trigger: Literal["auto", "manual"], focus: str = "") -> Compacted:
        """Sums up what was said; raises ModelFault where the model does not answer."""
        ...


@dataclass(frozen=True, slots=True)
class Ruling:
    """Whether a call is done, and what the log says of that."""

    is_allowed: bool
    proposal: Proposal
    """As it is allowed: a person may have changed it."""
    told: str = ""
    """What the model is told of a refusal."""
    output: Any = None
    """What the log keeps of it: `toolUseResult`."""
    fields: Mapping[str, Any] = field(default_factory=dict)
    """What the line of the result says beside, by its names in Python."""
    stops: bool = False
    """Whether the turn ends with the refusal."""


@dataclass(frozen=True, slots=True)
class Advice:
    """What hooks think of a call."""

    verdict: Literal["allow", "ask"]
    reason: str = ""


class Permissions(Protocol):
    """Whoever says what may be done: rules, a mode, a person."""

    async def rule(self, proposal: Proposal, call: str, advice: Advice | None = None) -> Ruling:
        """Decides on a call; it may take as long as a person takes."""
        ...


@dataclass(frozen=True, slots=True)
class Limits:
    """How far a turn may go."""

    responses: int | None = None
    """How often the model is asked for one prompt (`--max-turns`)."""
    dollars: float | None = None
    """What the session may cost (`--max-budget-usd`)."""
    retries: int = 10
    """How often a request that failed is sent again."""


class Commands(Protocol):
    """Whoever knows what people wrote down to be asked for by a name."""

    async def expanded(self, content: Content, parts: "Parts") -> "Expansion | None":
        """Returns what a command makes of a prompt, None where it is none; raises Unexpanded."""
        ...


class NoCommands:
    """Knows none."""

    async def expanded(self, content: Content, parts: "Parts") -> "Expansion | None":
        """Takes every prompt as it is."""
        return None


class Along(Protocol):
    """Whoever says what goes along with the words of a person and with results."""

    def behind_prompt(self, prompts: "Sequence[Asked]") -> Sequence[str]:
        """Logs what goes along with prompts that were just logged; returns what people are told."""
        ...

    def behind_skill(self, content: str) -> None:
        """Logs what goes along with what a skill says that was just logged."""
        ...

    def touch(self, path: Path) -> None:
        """Takes note of a file that was read or written."""
        ...

    def behind_results(self) -> None:
        """Logs what goes along with the results of a response."""
        ...


class Alone:
    """Says nothing besides."""

    def behind_prompt(self, prompts: "Sequence[Asked]") -> Sequence[str]:
        """Logs nothing."""
        return ()

    def behind_skill(self, content: str) -> None:
        """Logs nothing."""

    def touch(self, path: Path) -> None:
        """Notes nothing."""

    def behind_results(self) -> None:
        """Logs nothing."""


@runtime_checkable
class Sender(Protocol):
    """A tool that has others work: it needs all that a turn needs."""

    async def send_out(self, proposal: Proposal, call: str, parts: "Parts") -> Outcome:
        """Has an agent do what a call asks for, and returns what comes of it."""
        ...


@dataclass(slots=True)
class Parts:
    """All that a turn needs."""

    writer: SessionWriter
    model: Model
    memory: Memory
    permissions: Permissions
    place: Workplace
    tools: Mapping[str, Tool] = field(default_factory=dict)
    compactor: Compactor | None = None
    limits: Limits = field(default_factory=Limits)
    along: Along = field(default_factory=Alone)
    commands: Commands = field(default_factory=NoCommands)
    servers: "SessionServers | None" = None
    """The servers whose tools are among those of the session."""
    recall: Callable[[], None] = lambda: None
    """Has the tools know again what they knew when the session was left."""
    crew: "Crew | None" = None
    """The agents that can be sent out."""
    hooks: "SessionHooks | None" = None
    """Commands that are told of what happens, and may have a say."""
    asking: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Held while somebody is asked: one question at a time, whoever has it."""
