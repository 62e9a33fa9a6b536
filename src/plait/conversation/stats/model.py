"""What an archive comes to, and what each session adds to it, as plain values that can be kept."""

from array import array
from hashlib import blake2b
from typing import Literal, TypeAlias

from msgspec import Struct, field

from plait.conversation.usage import NOTHING, Tokens


class ToolFigures(Struct, frozen=True):
    """How often a tool was called, how that went, how long it took."""

    name: str
    calls: int
    failed: int
    rejected: int
    interrupted: int
    missing: int
    """Calls without a result in the log."""
    total_ms: float
    """From the call to its result, a person's permission among it; parallel calls each count."""
    median_ms: float | None


class ModelFigures(Struct, frozen=True):
    """What a model answered."""

    model: str
    responses: int
    tokens: Tokens


class AgentFigures(Struct, frozen=True):
    """What the agents of one kind did."""

    type: str
    agents: int
    calls: int
    responses: int
    tokens: Tokens


class FileFigures(Struct, frozen=True):
    """How often a file was touched."""

    path: str
    changes: int
    reads: int
    added: int
    removed: int


class DayFigures(Struct, frozen=True):
    """What happened on one day."""

    day: str
    prompts: int
    responses: int
    calls: int
    failed: int = 0


class LongTurn(Struct, frozen=True):
    """One of the turns that took longest."""

    session: str
    conversation: str
    turn: int
    started: str | None
    working_ms: int | float
    words: str
    """How its prompt begins."""


class LongSession(Struct, frozen=True):
    """One of the sessions that were worked in longest."""

    session: str
    project: str
    title: str | None
    turns: int
    working_ms: int | float


class Figures(Struct, frozen=True, kw_only=True):
    """All that an archive, or a part of it, comes to; every record counts once."""

    sessions: int = 0
    """Those that hold something of their own."""
    all_sessions: int = 0
    """Those that were looked at."""
    copied_sessions: int = 0
    """Those of which others hold all, or that have nothing in this time."""
    projects: int = 0
    first: str | None = None
    last: str | None = None
    turns: int = 0
    prompts: int = 0
    """Typed by a person, those in the queue and those taken back among them."""
    queued: int = 0
    retracted: int = 0
    commands: int = 0
    shell_lines: int = 0
    interruptions: int = 0
    responses: int = 0
    """Of models, in all conversations."""
    calls: int = 0
    failed: int = 0
    rejected: int = 0
    api_errors: int = 0
    """Errors in the place of an answer."""
    api_retries: int = 0
    rewinds: int = 0
    compactions: int = 0
    agents: int = 0
    service_agents: int = 0
    words_typed: int = 0
    words_said: int = 0
    working_ms: float = 0
    asking_ms: float = 0
    waiting_ms: float = 0
    tokens: Tokens = NOTHING
    tools: tuple[ToolFigures, ...] = ()
    models: tuple[ModelFigures, ...] = ()
    agent_types: tuple[AgentFigures, ...] = ()
    """Those that were sent out; the client's own service agents come last, as one."""
    files: tuple[FileFigures, ...] = ()
    hours: tuple[int, ...] = (0,) * 24
    """Prompts by the hour of the day."""
    weekdays: tuple[int, ...] = (0,) * 7
    """Prompts by the day of the week, Monday first."""
    days: tuple[DayFigures, ...] = ()
    """The days on which something happened."""
    longest_turns: tuple[LongTurn, ...] = ()
    longest_sessions: tuple[LongSession, ...] = ()


Happening: TypeAlias = Literal["prompt", "response", "call", "failed"]
QUARTER = 15 * 60
"""Clocks go by quarters of an hour everywhere: so do hours and days."""
UNNAMED = "unnamed"


class ToolCounts(Struct, array_like=True):
    """The calls of one tool."""

    outcomes: dict[str, int] = field(default_factory=dict)
    times: bytes = b""
    """How long each took in milliseconds, as an array of floats."""

    def took(self) -> "array[float]":
        """Returns how long each call took."""
        return array("f", self.times)


class AgentCounts(Struct, gc=False, array_like=True):
    """The agents of one kind."""

    agents: int = 0
    calls: int = 0

    def add(self, other: "AgentCounts") -> None:
        """Takes in the agents of another session."""
        self.agents += other.agents
        self.calls += other.calls


class FileCounts(Struct, gc=False, array_like=True):
    """What happened to one file."""

    changes: int = 0
    reads: int = 0
    added: int = 0
    removed: int = 0

    def add(self, other: "FileCounts") -> None:
        """Takes in what another session did to it."""
        self.changes += other.changes
        self.reads += other.reads
        self.added += other.added
        self.removed += other.removed


class ResponseCount(Struct, frozen=True, gc=False, array_like=True):
    """A response, or several that need not be told apart."""

    key: int | None
    """What it is known by; None for one that nothing names, and for several."""
    model: str = UNNAMED
    agents: str | None = None
    """The kind of agent that it belongs to."""
    tokens: Tokens = NOTHING
    quarter: int | None = None
    """When it began; None where that is not known, or counted already."""
    responses: int = 1

    @property
    def output_tokens(self) -> int:
        """What decides which of its copies counts."""
        return self.tokens.output


class SessionCounts(Struct, array_like=True):
    """What a session adds; nothing of it counts where it owns no record."""

    counts: dict[str, int] = field(default_factory=dict)
    spent: dict[str, int | float] = field(default_factory=dict)
    tools: dict[str, ToolCounts] = field(default_factory=dict)
    agents: dict[str, AgentCounts] = field(default_factory=dict)
    files: dict[str, FileCounts] = field(default_factory=dict)
    answers: list[ResponseCount] = field(default_factory=list)
    moments: dict[int, dict[Happening, int]] = field(default_factory=dict)
    """What happened in each quarter of an hour since 1970."""
    turns: list[LongTurn] = field(default_factory=list)
    """Those that took longest."""
    session: LongSession | None = None
    """None where it owns nothing."""
    first: str | None = None
    last: str | None = None
    earliest: str | None = None
    """Of all that stands in it, its own or not."""
    latest: str | None = None
    has_records: bool = False
    """True where there is any record of a conversation in it, its own or not."""

    def note(self, what: Happening, quarter: int | None) -> None:
        """Takes in something that happened; one without a time belongs to no day."""
        if quarter is not None:
            counts = self.moments.setdefault(quarter, {})
            counts[what] = counts.get(what, 0) + 1


class SessionPart(Struct, frozen=True, kw_only=True, gc=False):
    """The part that one session has in the figures of many: all parts add up to them."""

    session: LongSession | None
    """None where it owns nothing."""
    counts: dict[str, int]
    spent: dict[str, int | float]
    tools: dict[str, dict[str, int]]
    """Calls by tool and outcome."""
    agents: dict[str, AgentCounts]
    files: dict[str, FileCounts]
    prompts: dict[int, int]
    """By the quarter of an hour in which they were typed."""
    models: dict[str, tuple[int, Tokens]] = {}
    """Responses and what they took, by model."""
    agent_tokens: dict[str, Tokens] = {}
    """By the kind of agent."""


class SessionShare(Struct, frozen=True, array_like=True):
    """What a session adds if it shares nothing with others, and what tells whether it does."""

    counts: SessionCounts
    marks: bytes
    """Of its records, as an array of numbers that are the same in every run."""
    is_copy: bool
    """Some of its records were copied under other ids."""


def digest(text: str) -> int:
    """Returns a number that stands for a text, the same in every run."""
    data = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(data, "little", signed=True)
