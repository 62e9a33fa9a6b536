"""Permission modes, and what a user answers when asked about a tool call."""

from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias, get_args

from plait.chat.tools.base import Arguments, Proposal

Mode: TypeAlias = Literal["default", "acceptEdits", "plan", "bypassPermissions", "dontAsk"]
MODES: tuple[Mode, ...] = get_args(Mode)
Verdict: TypeAlias = Literal["allow", "ask", "deny"]


@dataclass(frozen=True, slots=True)
class Approval:
    """The user's answer to a proposal."""

    is_allowed: bool
    feedback: str = ""
    """Text for the model when the call is rejected."""
    arguments: Arguments | None = None
    """The arguments as the user changed them (`userModified`)."""
    is_for_session: bool = False
    """Whether similar calls are allowed for the rest of the session."""
    is_permanent: bool = False
    """Whether similar calls are always allowed: a rule is written to the project's settings."""
    ends_turn: bool = False
    """Whether a rejection also ends the turn."""
    is_verbatim: bool = False
    """Whether the model gets exactly this text, because a program wrote it."""


class Approver(Protocol):
    """Whoever approves calls: a user at the terminal, a program, or nobody."""

    async def ask(self, proposal: Proposal, call: str) -> Approval:
        """Return the answer to a proposal."""
