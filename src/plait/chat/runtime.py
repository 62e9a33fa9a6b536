"""What a turn works with, and the interfaces of its parts."""

import asyncio
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias, runtime_checkable

from plait.chat.events import Compacted, Event
from plait.chat.streaming import Model, Request
from plait.chat.tools.base import Outcome, Proposal, Tool, Workplace
from plait.write import SessionWriter
from plait.write.lines import Content

if TYPE_CHECKING:
    from plait.chat.agents import AgentPool
    from plait.chat.mcp import SessionServers
    from plait.chat.prompts import Prompt
    from plait.chat.session_hooks import SessionHooks
    from plait.chat.skills import Expansion


Tasks: TypeAlias = "Collection[asyncio.Task[Any]]"


async def cancel_and_wait(tasks: Tasks) -> None:
    """Stop tasks, each once, so that none is stopped while it cleans up; waits for all."""
    for task in tasks:
        if not task.done() and not task.cancelling():
            task.cancel()
    while busy := [task for task in tasks if not task.done()]:
        with suppress(asyncio.CancelledError):
            await asyncio.wait(busy)
    for task in tasks:
        if not task.cancelled():
            task.exception()  # seen, so that nobody complains that it was not


Emit: TypeAlias = Callable[[Event], None]


class Memory(Protocol):
    """What the model is sent: what the log says, as it stands."""

    def build(self, tools: Sequence[Mapping[str, Any]]) -> Request:
        """Return what is sent to the model now."""
        ...


class Compactor(Protocol):
    """Whoever makes room: logs a summary and puts it in the memory's place."""

    async def compact_if_needed(self) -> Compacted | None:
        """Compact where the context is nearly full; None where it is not, or not yet pressing."""
        ...

    async def compact(self, trigger: Literal["auto", "manual"], focus: str = "") -> Compacted:
        """Sum up what was said; raises ModelFault where the model does not answer."""
        ...


@dataclass(frozen=True, slots=True)
class Ruling:
    """Whether a call is done, and what the log says of that."""

    is_allowed: bool
    proposal: Proposal
    """As it is allowed: a person may have changed it."""
    message: str = ""
    """What the model is told of a refusal."""
    output: Any = None
    """What the log keeps of it: `toolUseResult`."""
    fields: Mapping[str, Any] = field(default_factory=dict)
    """What the line of the result says beside, by its names in Python."""
    ends_turn: bool = False
    """Whether the turn ends with the refusal."""


@dataclass(frozen=True, slots=True)
class HookAdvice:
    """What hooks think of a call."""

    verdict: Literal["allow", "ask"]
    reason: str = ""


class Permissions(Protocol):
    """Whoever says what may be done: rules, a mode, a person."""

    async def check(
        self, proposal: Proposal, call: str, advice: HookAdvice | None = None
    ) -> Ruling:
        """Decide on a call; it may take as long as a person takes."""
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

    async def expand(self, content: Content, runtime: "Runtime") -> "Expansion | None":
        """Return what a command makes of a prompt, None where it is none; raises Unexpanded."""
        ...


class NoCommands:
    """Knows none."""

    async def expand(self, content: Content, runtime: "Runtime") -> "Expansion | None":
        """Take every prompt as it is."""
        return None


class Attachments(Protocol):
    """Whoever says what goes along with the words of a person and with results."""

    def write_for_prompts(self, prompts: "Sequence[Prompt]") -> Sequence[str]:
        """Log what goes along with prompts that were just logged; returns what people are told."""
        ...

    def write_for_skill(self, content: str) -> None:
        """Log what goes along with what a skill says that was just logged."""
        ...

    def note_file(self, path: Path) -> None:
        """Take note of a file that was read or written."""
        ...

    def write_for_results(self) -> None:
        """Log what goes along with the results of a response."""
        ...


class NoAttachments:
    """Says nothing besides."""

    def write_for_prompts(self, prompts: "Sequence[Prompt]") -> Sequence[str]:
        """Log nothing."""
        return ()

    def write_for_skill(self, content: str) -> None:
        """Log nothing."""

    def note_file(self, path: Path) -> None:
        """Note nothing."""

    def write_for_results(self) -> None:
        """Log nothing."""


@runtime_checkable
class SessionTool(Protocol):
    """A tool that has others work: it needs all that a turn needs."""

    async def run_in_session(self, proposal: Proposal, call: str, runtime: "Runtime") -> Outcome:
        """Have an agent do what a call asks for, and returns what comes of it."""
        ...


@dataclass(slots=True)
class Runtime:
    """All that a turn needs."""

    writer: SessionWriter
    model: Model
    requests: Memory
    permissions: Permissions
    place: Workplace
    tools: Mapping[str, Tool] = field(default_factory=dict)
    compactor: Compactor | None = None
    limits: Limits = field(default_factory=Limits)
    attachments: Attachments = field(default_factory=NoAttachments)
    skills: Commands = field(default_factory=NoCommands)
    servers: "SessionServers | None" = None
    """The servers whose tools are among those of the session."""
    restore_tool_state: Callable[[], None] = lambda: None
    """Has the tools know again what they knew when the session was left."""
    agents: "AgentPool | None" = None
    """The agents that can be sent out."""
    hooks: "SessionHooks | None" = None
    """Commands that are told of what happens, and may have a say."""
    approval_lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Held while somebody is asked: one question at a time, whoever has it."""
