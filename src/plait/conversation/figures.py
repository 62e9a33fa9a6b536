"""What an archive comes to, as plain values: counts, times, tokens, hours and days."""

from msgspec import Struct

from plait.conversation.tokens import NOTHING, Tokens


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
