"""What hooks are, what came of one that ran, and what it says is to be done, as values."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeAlias, get_args

Event: TypeAlias = Literal[
    "SessionStart",
    "UserPromptSubmit",
    "PreToolUse",
    "PermissionRequest",
    "PostToolUse",
    "PostToolUseFailure",
    "PostToolBatch",
    "Notification",
    "Stop",
    "SubagentStart",
    "SubagentStop",
    "PreCompact",
    "PostCompact",
    "SessionEnd",
]
EVENTS: Final[tuple[Event, ...]] = get_args(Event)
Verdict: TypeAlias = Literal["allow", "ask", "deny"]
STOPPED: Final = "Execution stopped by hook"


@dataclass(frozen=True, slots=True)
class Hook:
    """A command that is run when something happens."""

    event: Event
    command: str
    matcher: str = ""
    """Which tools, or which occasions; nothing for all."""
    seconds: float = 60.0
    """How long it may take."""
    condition: str | None = None
    """A rule for calls, such as `Bash(git *)`: it is run for those alone (`if`)."""


@dataclass(frozen=True, slots=True)
class Ran:
    """A hook that ran."""

    hook: Hook
    code: int
    stdout: str = ""
    stderr: str = ""
    milliseconds: int = 0
    is_late: bool = False
    """Whether it was ended because it took too long."""


@dataclass(frozen=True, slots=True)
class Blocking:
    """Why a hook does not let something happen."""

    told: str
    """As the model is told."""
    reason: str
    """As the hook says it."""
    is_order: bool = False
    """Whether it was said in JSON, not by the exit code."""


@dataclass(frozen=True, slots=True)
class Said:
    """What a hook that ran says."""

    ran: Ran
    kind: Literal["nothing", "words", "orders", "failed", "late"] = "nothing"
    trouble: str = ""
    """What went wrong, where it failed."""
    blocking: Blocking | None = None
    stop: str | None = None
    """Why the turn is to end."""
    context: str = ""
    """What the model is told besides."""
    message: str = ""
    """What the person is told."""
    verdict: Verdict | None = None
    reason: str = ""
    arguments: Mapping[str, Any] | None = None
    """The arguments of the call as they are to be."""
    interrupts: bool = False
    """Whether a refusal ends the turn."""


@dataclass(slots=True)
class Effect:
    """What all hooks of an occasion say together."""

    said: list[Said] = field(default_factory=list)
    """In the order in which they ended."""
    ran: Sequence[Said] = ()
    """In the order in which they stand in the settings."""

    @property
    def blocking(self) -> list[Blocking]:
        """Why it is not let happen, hook by hook."""
        return [one.blocking for one in self.said if one.blocking]

    @property
    def stop(self) -> str | None:
        """Why the turn is to end, as the first says."""
        return next((one.stop for one in self.said if one.stop is not None), None)

    @property
    def contexts(self) -> list[str]:
        """What the model is told besides."""
        return [one.context for one in self.said if one.context]

    @property
    def arguments(self) -> Mapping[str, Any] | None:
        """The arguments of a call as they are to be: those of the last one that says so."""
        return next((one.arguments for one in reversed(self.said) if one.arguments), None)

    @property
    def verdict(self) -> Verdict | None:
        """Whether a call may be done: a refusal goes before a question, and that before leave."""
        given = {one.verdict for one in self.said}
        verdicts: tuple[Verdict, ...] = ("deny", "ask", "allow")
        return next((one for one in verdicts if one in given), None)

    @property
    def reason(self) -> str:
        """Why, as the last refusal says; of questions and leave, as the first says."""
        order = reversed(self.said) if self.verdict == "deny" else self.said
        return next((one.reason for one in order if one.verdict == self.verdict), "")
