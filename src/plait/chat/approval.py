"""Permission modes, and what a user answers when asked about a tool call."""

from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias

from plait.chat.tools.base import Arguments, Proposal

Mode: TypeAlias = Literal["default", "acceptEdits", "plan", "bypassPermissions", "dontAsk"]
Verdict: TypeAlias = Literal["allow", "ask", "deny"]


@dataclass(frozen=True, slots=True)
class Approval:
    """What a person said to a proposal."""

    is_allowed: bool
    feedback: str = ""
    """What is told to the model with a refusal."""
    arguments: Arguments | None = None
    """The arguments as the person changed them (`userModified`)."""
    is_for_session: bool = False
    """Whether the like is allowed until the session ends."""
    is_permanent: bool = False
    """Whether the like is allowed from now on: a rule is written into the project's settings."""
    ends_turn: bool = False
    """Whether the turn ends with the refusal."""
    is_verbatim: bool = False
    """Whether the model is told those words and no others: a program said them."""


class Approver(Protocol):
    """Whoever is asked: a person at the terminal, a program, nobody."""

    async def ask(self, proposal: Proposal, call: str) -> Approval:
        """Return what is said to a proposal."""
