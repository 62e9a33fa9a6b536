"""What the turns of a session work with, and the interfaces of its parts."""

import asyncio
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, runtime_checkable

from plait.chat.context import RequestBuilder
from plait.chat.events import Event
from plait.chat.streaming import Model
from plait.chat.tools.base import Outcome, Proposal, Tool, Workplace
from plait.write import SessionWriter

if TYPE_CHECKING:  # these modules import this one
    from plait.chat.agents import AgentPool
    from plait.chat.attachments import SessionAttachments
    from plait.chat.compaction import SessionCompactor
    from plait.chat.mcp import SessionServers
    from plait.chat.permissions import SessionPermissions
    from plait.chat.session_hooks import SessionHooks
    from plait.chat.skills import SessionSkills

Emit: TypeAlias = Callable[[Event], None]
Tasks: TypeAlias = "Collection[asyncio.Task[Any]]"


async def cancel_and_wait(tasks: Tasks) -> None:
    """Cancel tasks and wait for all of them; one that is already being cancelled is only awaited."""
    for task in tasks:
        if not task.done() and not task.cancelling():
            task.cancel()
    while busy := [task for task in tasks if not task.done()]:
        with suppress(asyncio.CancelledError):
            await asyncio.wait(busy)
    for task in tasks:
        if not task.cancelled():
            task.exception()  # asyncio warns about exceptions that nobody retrieved


@dataclass(frozen=True, slots=True)
class Ruling:
    """The decision about a tool call, and what is logged about it."""

    is_allowed: bool
    proposal: Proposal
    """The call as allowed: the user or a hook may have changed it."""
    message: str = ""
    """What the model gets if it is denied."""
    output: Any = None
    """What is logged if it is denied: `toolUseResult`."""
    fields: Mapping[str, Any] = field(default_factory=dict)
    """Further fields of the result's log line, by Python names."""
    ends_turn: bool = False


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of a session."""

    responses: int | None = None
    """Responses to one prompt (`--max-turns`)."""
    dollars: float | None = None
    """Cost of the session (`--max-budget-usd`)."""
    retries: int = 10
    """Retries of a failed request."""


@runtime_checkable
class SessionTool(Protocol):
    """A tool that needs the whole session, such as one that starts agents."""

    async def run_in_session(self, proposal: Proposal, call: str, runtime: "Runtime") -> Outcome:
        """Execute an approved call."""


@dataclass(slots=True)
class Runtime:
    """Everything the turns of a session need."""

    writer: SessionWriter
    model: Model
    requests: RequestBuilder
    permissions: "SessionPermissions"
    place: Workplace
    tools: Mapping[str, Tool] = field(default_factory=dict)
    compactor: "SessionCompactor | None" = None
    limits: Limits = field(default_factory=Limits)
    attachments: "SessionAttachments | None" = None
    """What is logged along with prompts and results."""
    skills: "SessionSkills | None" = None
    servers: "SessionServers | None" = None
    """MCP servers, whose tools are among those of the session."""
    restore_tool_state: Callable[[], None] = lambda: None
    """Restores what tools knew before the session was resumed."""
    agents: "AgentPool | None" = None
    hooks: "SessionHooks | None" = None
    approval_lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Held while the user is asked, so that there is one question at a time."""
