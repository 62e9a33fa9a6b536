"""What new lines say besides what happened, and where a transcript stands, as values."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

from plait.record.codec import wire_name
from plait.write.order import NEWEST, Version

Block: TypeAlias = Mapping[str, Any]
Content: TypeAlias = str | list[Block]
Fields: TypeAlias = dict[str, Any]


def wire_fields(told: Mapping[str, Any]) -> Fields:
    """Returns fields by their names in the log."""
    return {wire_name(name): value for name, value in told.items()}


@dataclass(slots=True)
class Setting:
    """What every message notes: where it was written, by whom, for which session."""

    session: str
    cwd: str
    git_branch: str
    slug: str | None = None
    version: Version = NEWEST
    entrypoint: str = "cli"
    permission_mode: str | None = "default"
    model: str = "claude-opus-4-5-20251101"
    agent: str | None = None
    first: str | None = None
    """The session that was left for this one with `/clear`, the first of several."""

    @property
    def is_older(self) -> bool:
        """Whether lines have the form of the older version."""
        return self.version != NEWEST

    @property
    def fields(self) -> Fields:
        """The fields that say so."""
        told = {
            "isSidechain": self.agent is not None,
            "agentId": self.agent,
            "userType": "external",
            "entrypoint": None if self.is_older else self.entrypoint,
            "cwd": self.cwd,
            "sessionId": self.session,
            "version": self.version,
            "gitBranch": self.git_branch,
            "slug": self.slug,
        }
        return {name: value for name, value in told.items() if value is not None}


class Position(NamedTuple):
    """How much of a conversation leads to a message, itself included."""

    messages: int
    prompts: int


@dataclass(slots=True)
class Standing:
    """Where a transcript goes on."""

    tip: str | None = None
    """The message that the next one follows."""
    positions: dict[str | None, Position] = field(default_factory=lambda: {None: Position(0, 0)})
    """Those of the messages that one can go on from."""
    calls: dict[str, str] = field(default_factory=dict)
    """The calls that wait for a result, with the messages that hold them."""
    response: str | None = None
    """The id of the last response."""
    prompt: str | None = None
    """The message of the last prompt."""
    words: str | None = None
    """What it said, in short."""

    @property
    def position(self) -> Position:
        """How much leads to the tip."""
        return self.positions[self.tip]


@dataclass(frozen=True, slots=True)
class Past:
    """What a session that goes on was."""

    standing: Standing
    cwd: str | None
    git_branch: str | None
    slug: str | None
    permission_mode: str | None
    model: str | None
    backups: Fields
    cost: Mapping[str, Any]
    """What it says that it cost in all; nothing where it does not."""
    cut_off: tuple[str, ...]
    """The calls at its end that nobody answered."""
    needs_answer: bool
    """Whether the client makes up an answer before it goes on."""
    is_led_elsewhere: bool
    """Whether a pointer in the log leads to a message that is not on the way."""
