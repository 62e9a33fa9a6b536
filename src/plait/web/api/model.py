"""What is answered, where no value of the library is the answer itself."""

from datetime import datetime
from typing import Annotated, Any, Literal, TypeAlias

from msgspec import Meta, Struct

from plait.conversation.model import Response, Turn
from plait.conversation.spending import By
from plait.conversation.totals import Totals
from plait.conversation.walk import Depth
from plait.graph.model import LineKind
from plait.graph.paths import Path
from plait.graph.rows import RowShape
from plait.index.model import Hit
from plait.view.context_window import Weighed
from plait.view.costs import CostSum, ResponseCost
from plait.view.timeline import Bar, Timeline
from plait.view.words import RawLine


class Trouble(Struct, frozen=True):
    """What went wrong, and what may help."""

    error: str
    hints: tuple[str, ...] = ()


class SessionItem(Struct, frozen=True, kw_only=True):
    """What a list says of a session."""

    name: str
    """By which it is asked for; the id where no other session has the same."""
    id: str
    project: str
    """That of its repository, where it was begun in a worktree or a sub-directory."""
    folder: str
    """The one that its log lies in."""
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
    """No longer at its source, only kept."""
    is_incomplete: bool = False
    """Put together from what was left of it."""


class SessionList(Struct, frozen=True):
    """Sessions that were asked for."""

    total: int
    offset: int
    sessions: tuple[SessionItem, ...]


class ProjectItem(Struct, frozen=True):
    """The sessions of a repository, or of a folder that belongs to none."""

    name: str
    sessions: int
    bytes: int
    modified: datetime
    directory: str | None = None
    folded: tuple[str, ...] = ()
    """The other folders whose sessions it has."""


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
    """The one that Claude Code would go on with."""
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
    """A session: what a list says, its conversations, its files, its totals."""

    session: SessionItem
    main: str | None
    lines: tuple[LineItem, ...]
    files: tuple[FileItem, ...]
    totals: Totals


class Talk(Struct, frozen=True):
    """Turns of a conversation, and the responses that begin in them, by their numbers."""

    line: LineItem
    total: int
    offset: int
    turns: tuple[Turn, ...]
    responses: dict[str, Response]


class Tree(Struct, frozen=True):
    """A session as it is drawn."""

    rows: tuple[RowShape, ...]


class Ways(Struct, frozen=True):
    """The ways through a session."""

    paths: tuple[Path, ...]


class Message(Struct, frozen=True):
    """A message as the API of the model takes it."""

    number: int
    role: str
    content: tuple[dict[str, Any], ...]


class Sight(Struct, frozen=True):
    """What Claude will see of a session."""

    context: Weighed
    messages: tuple[Message, ...] = ()


class InTime(Struct, frozen=True):
    """A conversation in time; of one turn what took time in it."""

    timeline: Timeline
    bars: tuple[Bar, ...] = ()


class Taken(Struct, frozen=True, kw_only=True):
    """What a session took."""

    total: CostSum
    by_who: tuple[CostSum, ...]
    by_model: tuple[CostSum, ...]
    offset: int
    responses: tuple[ResponseCost, ...]
    """In the order of time."""


class UsageFigures(Struct, frozen=True, kw_only=True):
    """Tokens and money."""

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
    """Tokens and money of a day, a session, a model; what agents and branches took of it."""

    key: str | None
    models: tuple[str, ...]
    agents: UsageFigures
    service: UsageFigures
    abandoned: UsageFigures
    breakdown: dict[str, UsageFigures]


class Usage(Struct, frozen=True):
    """Rows, and all of them together."""

    by: str
    rows: tuple[UsageRow, ...]
    totals: UsageRow
    beyond_log_usd: float = 0.0
    """What Claude Code counted beyond the responses in its logs; in none of the rows."""
    sessions: int = 0
    """How many sessions have responses."""
    all_sessions: int = 0
    """How many there are."""


class SearchHit(Struct, frozen=True):
    """A turn that answers, and the name of its session."""

    name: str | None
    """None where the session has gone since."""
    hit: Hit


class SearchAnswer(Struct, frozen=True, kw_only=True):
    """What was found."""

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


Count: TypeAlias = Annotated[int, Meta(ge=1, le=500, description="How many at most.")]
Offset: TypeAlias = Annotated[int, Meta(ge=0, le=1_000_000_000, description="How many to pass.")]
Words: TypeAlias = Annotated[str, Meta(max_length=500)]
Name: TypeAlias = Annotated[str, Meta(max_length=200)]
Number: TypeAlias = Annotated[int, Meta(ge=0, le=1_000_000_000)]
Day: TypeAlias = Annotated[
    str, Meta(max_length=40, pattern=r"^\d{4}-\d\d-\d\d", description="A day or a time, ISO 8601.")
]


class Nothing(Struct, frozen=True, forbid_unknown_fields=True):
    """No question."""


class Sessions(Struct, frozen=True, forbid_unknown_fields=True):
    """Which sessions."""

    project: Name | None = None
    """Part of the project's name."""
    q: Words | None = None
    """Words of the title, the first prompt or the directory."""
    since: Day | None = None
    until: Day | None = None
    is_live: bool | None = None
    sort: Literal["ended", "started", "title", "bytes"] = "ended"
    limit: Count = 100
    offset: Offset = 0


class WhichTurns(Struct, frozen=True, forbid_unknown_fields=True):
    """Which turns of which conversation, and how much of them."""

    line: Name | None = None
    """The conversation; the active one where none is named."""
    depth: Depth = "all"
    thinking: bool = True
    data: bool = False
    """With the data of pictures."""
    limit: Annotated[int, Meta(ge=1, le=200)] = 20
    offset: Offset = 0


class WhichMessages(Struct, frozen=True, forbid_unknown_fields=True):
    """Which messages, in full; none where no limit is given."""

    limit: Annotated[int, Meta(ge=0, le=200)] = 0
    offset: Offset = 0


class WhichTime(Struct, frozen=True, forbid_unknown_fields=True):
    """Which conversation; with a turn also what took time in it."""

    line: Name | None = None
    turn: Number | None = None


class Touched(Struct, frozen=True, forbid_unknown_fields=True):
    """Which files, and whether with their patches."""

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
    """The first line, by its number in the file."""
    limit: Count = 100


class Spending(Struct, frozen=True, forbid_unknown_fields=True):
    """By what tokens and money are put together."""

    by: By = "daily"


class Search(Struct, frozen=True, forbid_unknown_fields=True):
    """What is looked for."""

    q: Words = ""
    way: Literal["words", "exact", "regex"] = "words"
    tool: Words = ""
    outcome: Words = ""
    project: Words = ""
    sort: Literal["relevance", "time"] | None = None
    each: bool = False
    limit: Annotated[int, Meta(ge=1, le=200)] = 20
    facets: bool = False
