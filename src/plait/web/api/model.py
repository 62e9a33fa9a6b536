"""Requests and responses of the API, where no type of the library serves as such."""

from datetime import datetime, timedelta
from typing import Annotated, Any, Literal, TypeAlias

from msgspec import Meta, Struct

from plait.archive import PresetEffect
from plait.conversation.costs import CostSum, ResponseCost, Totals
from plait.conversation.model import Response, Turn
from plait.conversation.walk import Depth
from plait.edit.cuts import TRIM_LIMITS, TRIM_TARGETS, Preset, Way
from plait.edit.report import EditEntry, EditReport
from plait.graph.layout import RowShape
from plait.graph.model import LineKind
from plait.graph.paths import Path
from plait.index.model import Hit
from plait.usage.spending import GroupBy
from plait.view.context import Weighed
from plait.view.summaries import RawLine
from plait.view.timeline import Bar, Timeline


class Trouble(Struct, frozen=True):
    """An error, and hints."""

    error: str
    hints: tuple[str, ...] = ()


class SessionItem(Struct, frozen=True, kw_only=True):
    """A session in a list."""

    name: str
    """Its name in URLs; the id unless another session has the same."""
    id: str
    project: str
    """That of its repository, if it began in a worktree or a sub-directory."""
    folder: str
    """The folder of its log."""
    title: str | None
    first_prompt: str | None
    started: str | None
    ended: str | None
    entries: int
    bytes: int
    versions: tuple[str, ...]
    agents: int
    directory: str | None
    git_branch: str | None
    is_live: bool
    deleted_at: datetime | None
    is_kept: bool = False
    """No longer at its source, only in the backup."""
    is_incomplete: bool = False
    """Reconstructed from what was left of it."""


class SessionList(Struct, frozen=True):
    """The requested sessions."""

    total: int
    offset: int
    sessions: tuple[SessionItem, ...]


class ProjectItem(Struct, frozen=True):
    """The sessions of a repository, or of a folder outside any."""

    name: str
    sessions: int
    bytes: int
    modified: datetime
    directory: str | None = None
    folded: tuple[str, ...] = ()
    """Folders whose sessions are included."""


class ProjectList(Struct, frozen=True):
    """All projects."""

    projects: tuple[ProjectItem, ...]


class LineItem(Struct, frozen=True, kw_only=True):
    """One conversation of a session."""

    id: str
    kind: LineKind
    title: str | None
    label: str | None
    is_active: bool
    is_main: bool
    """Whether it is the one that Claude Code would resume."""
    parent: str | None
    attachment: str | None
    agent: str | None
    call: str | None
    started: str | None
    ended: str | None
    turns: int
    responses: int


class FileItem(Struct, frozen=True):
    """A log file of a session."""

    number: int
    kind: str
    path: str
    size: int
    agent: str | None


class SessionFacts(Struct, frozen=True):
    """A session: its facts, its conversations, its files, its totals."""

    session: SessionItem
    main: str | None
    lines: tuple[LineItem, ...]
    files: tuple[FileItem, ...]
    totals: Totals


class Talk(Struct, frozen=True):
    """Turns of a conversation, and the responses that begin in them, by number."""

    line: LineItem
    total: int
    offset: int
    turns: tuple[Turn, ...]
    responses: dict[str, Response]


class Tree(Struct, frozen=True):
    """A session as a drawn graph."""

    rows: tuple[RowShape, ...]


class Ways(Struct, frozen=True):
    """The paths through a session."""

    paths: tuple[Path, ...]


class Message(Struct, frozen=True):
    """A message in the form of the model's API."""

    number: int
    role: str
    content: tuple[dict[str, Any], ...]


class Sight(Struct, frozen=True):
    """What Claude will see of a session."""

    context: Weighed
    messages: tuple[Message, ...] = ()


class InTime(Struct, frozen=True):
    """A conversation as a timeline; for one turn its waterfall."""

    timeline: Timeline
    bars: tuple[Bar, ...] = ()


class SessionUsage(Struct, frozen=True, kw_only=True):
    """The usage of a session."""

    total: CostSum
    by_who: tuple[CostSum, ...]
    by_model: tuple[CostSum, ...]
    offset: int
    responses: tuple[ResponseCost, ...]
    """By time."""


class UsageFigures(Struct, frozen=True, kw_only=True):
    """Tokens and cost."""

    responses: int
    input_tokens: int
    output_tokens: int
    cache_creation_tokens: int
    cache_creation_1h_tokens: int
    cache_read_tokens: int
    total_tokens: int
    web_searches: int
    web_fetches: int
    cost_usd: float
    unpriced: tuple[str, ...]
    """Models without a price."""
    unpriced_responses: int
    logged_cost_usd: float | None


class UsageRow(UsageFigures, frozen=True, kw_only=True):
    """Tokens and cost of a day, a session, a model …, with the parts of agents and branches."""

    key: str | None
    models: tuple[str, ...]
    agents: UsageFigures
    service: UsageFigures
    abandoned: UsageFigures
    breakdown: dict[str, UsageFigures]


class Usage(Struct, frozen=True):
    """Rows and their total."""

    by: str
    rows: tuple[UsageRow, ...]
    totals: UsageRow
    beyond_log_usd: float = 0.0
    """What Claude Code counted beyond the responses in its logs; not in the rows."""
    sessions: int = 0
    """How many sessions have responses."""
    all_sessions: int = 0
    """How many there are."""


class SearchHit(Struct, frozen=True):
    """A matching turn, and the name of its session."""

    name: str | None
    """None if the session is gone."""
    hit: Hit


class SearchAnswer(Struct, frozen=True, kw_only=True):
    """Search results."""

    total: int
    took_ms: float
    by: str
    note: str | None
    facets: dict[str, dict[str, int]]
    hits: tuple[SearchHit, ...]


class RawLines(Struct, frozen=True, kw_only=True):
    """Lines of a file."""

    file: FileItem
    total: int
    """Lines in the file."""
    types: dict[str, int]
    lines: tuple[RawLine, ...]


class FindingItem(Struct, frozen=True, kw_only=True):
    """Something odd in the data."""

    code: str
    sentence: str
    file: str | None
    line: int | None
    uuid: str | None


class Health(Struct, frozen=True, kw_only=True):
    """The account of lines and nodes: nothing may be lost."""

    files: int
    bytes: int
    lines: int
    records: int
    blank: int
    broken: int
    recovered: int
    is_balanced: bool
    types: dict[str, int]
    versions: dict[str, int]
    nodes: int
    inline: int
    folded: int
    tool_results: int
    tool_results_orphaned: int
    is_graph_balanced: bool
    findings: tuple[FindingItem, ...]
    """The first thousand."""
    finding_count: int


Count: TypeAlias = Annotated[int, Meta(ge=1, le=500, description="Maximum number of results.")]
Offset: TypeAlias = Annotated[
    int, Meta(ge=0, le=1_000_000_000, description="Number of results to skip.")
]
Words: TypeAlias = Annotated[str, Meta(max_length=500)]
Name: TypeAlias = Annotated[str, Meta(max_length=200)]
Number: TypeAlias = Annotated[int, Meta(ge=0, le=1_000_000_000)]
Day: TypeAlias = Annotated[
    str,
    Meta(
        max_length=40,
        pattern=r"^\d{4}-\d\d-\d\d",
        description="A date or a time in ISO 8601 format.",
    ),
]


class Nothing(Struct, frozen=True, forbid_unknown_fields=True):
    """No parameters."""


class Sessions(Struct, frozen=True, forbid_unknown_fields=True):
    """Which sessions."""

    project: Name | None = None
    """Part of the project's name."""
    q: Words | None = None
    """Words in the title, the first prompt or the directory."""
    since: Day | None = None
    until: Day | None = None
    is_live: bool | None = None
    sort: Literal["ended", "started", "title", "bytes"] = "ended"
    limit: Count = 100
    offset: Offset = 0


class WhichTurns(Struct, frozen=True, forbid_unknown_fields=True):
    """Which turns of which conversation, and at what depth."""

    line: Name | None = None
    """The conversation; the active one by default."""
    depth: Depth = "all"
    thinking: bool = True
    data: bool = False
    """Include the data of images."""
    limit: Annotated[int, Meta(ge=1, le=200)] = 20
    offset: Offset = 0


class WhichMessages(Struct, frozen=True, forbid_unknown_fields=True):
    """Which messages, and whether in full; all without a limit."""

    limit: Annotated[int, Meta(ge=0, le=200)] = 0
    offset: Offset = 0


class WhichTime(Struct, frozen=True, forbid_unknown_fields=True):
    """Which conversation; with a turn also its waterfall."""

    line: Name | None = None
    turn: Number | None = None


class Touched(Struct, frozen=True, forbid_unknown_fields=True):
    """Which files, and whether with patches."""

    patches: bool = False
    limit: Count = 100
    offset: Offset = 0


class WhichPart(Struct, frozen=True, forbid_unknown_fields=True):
    """Which part of a list."""

    limit: Count = 100
    offset: Offset = 0


class Lines(Struct, frozen=True, forbid_unknown_fields=True):
    """Which lines of which file."""

    file: Annotated[int, Meta(ge=0, le=100_000)] = 0
    type: Name | None = None
    start: Annotated[int, Meta(ge=1, le=1_000_000_000)] = 1
    """The number of the first line."""
    limit: Count = 100


class Spending(Struct, frozen=True, forbid_unknown_fields=True):
    """How tokens and cost are grouped."""

    by: GroupBy = "daily"


class Search(Struct, frozen=True, forbid_unknown_fields=True):
    """What to search for."""

    q: Words = ""
    way: Literal["words", "exact", "regex"] = "words"
    tool: Words = ""
    outcome: Words = ""
    project: Words = ""
    sort: Literal["relevance", "time"] | None = None
    each: bool = False
    limit: Annotated[int, Meta(ge=1, le=200)] = 20
    facets: bool = False


class Wanted(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What to do to a session."""

    operation: Literal[
        "clone", "fork", "switch", "repair", "rename", "tag", "delete", "trim", "compress"
    ]
    at: Words | None = None
    """Where a fork continues: a message, a turn, the words of a prompt."""
    before: bool = False
    """Without that turn."""
    branch: Name | None = None
    title: Words | None = None
    word: Words | None = None
    """A tag; none removes it."""
    active_only: bool = False
    clean: bool = False
    in_place: bool = False
    """Repair, trim or compress the session itself, not a copy."""
    preset: Preset | None = None
    """The preset of a trim; the following fields choose more, or choose without it."""
    calls: Annotated[tuple[Name, ...], Meta(max_length=200)] = ()
    """By id."""
    tools: Annotated[tuple[Name, ...], Meta(max_length=50)] = ()
    """By name, including patterns."""
    larger_than: Number | None = None
    """Characters of a call and its result."""
    older_than: timedelta | None = None
    except_last: Number = 0
    """Turns at the end that a trim leaves unchanged."""
    way: Way | None = None
    """Remove calls with their results, shorten results, or replace them by a line."""
    keep: Number | None = None
    """Characters of a shortened result."""
    thinking: bool = False
    images: bool = False
    attachments: bool = False
    progress: bool = False
    snapshots: bool = False
    request_logs: bool = False
    rereads: bool = False
    reminders: bool = False
    until: Words | None = None
    """The first turn that is not compressed."""
    keep_last: Annotated[int, Meta(ge=1, le=1_000_000)] | None = None
    """Turns at the end that are not compressed."""
    calls_as: Literal["metadata", "none"] = "metadata"
    """What happens to calls in compressed turns: a line each, or nothing."""

    @property
    def trimmed(self) -> dict[str, Any]:
        """The options of a trim in the library's form; {} if nothing is to be cut."""
        options = {name: getattr(self, name) for name in (*TRIM_TARGETS, *TRIM_LIMITS)}
        chosen = {name: value for name, value in options.items() if value not in (None, (), False)}
        return chosen if any(name in chosen for name in TRIM_TARGETS) else {}


class PresetEffects(Struct, frozen=True):
    """What each preset of a trim would leave of a session."""

    presets: tuple[PresetEffect, ...]


class Sure(Struct, frozen=True, forbid_unknown_fields=True):
    """A confirmation."""

    force: bool = False
    """Even while a client runs it, or if a file has changed since."""


class Planned(Struct, frozen=True):
    """What would be done, the name of the plan, and its figures as text."""

    plan: str | None
    """None if nothing can be done: a rule would be broken, or there is nothing to do."""
    report: EditReport
    sizes: tuple[tuple[str, str, str], ...]
    fates: tuple[tuple[str, str, str], ...]
    refused: str | None = None
    saving: str | None = None
    """What a cut saves in every request, and when it has paid for itself."""


class Applied(Struct, frozen=True):
    """What was done, and the name of the resulting session; none if it is deleted."""

    report: EditReport
    name: str | None


class Edits(Struct, frozen=True):
    """What was changed, newest first."""

    edits: tuple[EditEntry, ...]
    is_read_only: bool
