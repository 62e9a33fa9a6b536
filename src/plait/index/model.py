"""What is indexed and what is found, as plain values."""

import time
from collections.abc import Iterator
from typing import Final, Literal, TypeAlias

from msgspec import Struct

PassageKind: TypeAlias = Literal[
    "prompt", "answer", "thinking", "command", "input", "output", "summary", "title", "note"
]
PassageOutcome: TypeAlias = Literal["failed", "rejected", "interrupted", "launched"]
"""As `plait.conversation` has them, which takes long to load."""
SearchSort: TypeAlias = Literal["relevance", "time"]
LineState: TypeAlias = Literal["active", "abandoned", "agent", "service", "recovered"]

KINDS: Final[tuple[PassageKind, ...]] = (
    "prompt",
    "answer",
    "thinking",
    "command",
    "input",
    "output",
    "summary",
    "title",
    "note",
)
"""In the order of their numbers in the index."""
OUTCOMES: Final[tuple[PassageOutcome, ...]] = ("failed", "rejected", "interrupted", "launched")
PassageSort: TypeAlias = tuple[PassageKind, PassageOutcome | None, bool]
"""A kind, a notable outcome, and whether it is a result that is read with its call."""
SORTS: Final[tuple[PassageSort, ...]] = (
    *((kind, None, False) for kind in KINDS),
    *((kind, outcome, False) for kind in ("input", "output") for outcome in OUTCOMES),
    *(("output", outcome, True) for outcome in (None, *OUTCOMES)),
    ("note", "interrupted", False),
)
"""In the order of their numbers in the index, as one number: each costs time."""
STATES: Final[tuple[LineState, ...]] = ("active", "abandoned", "agent", "service", "recovered")


class Passage(Struct, frozen=True, gc=False):
    """Words that are found together: one prompt, one answer, one input, one output."""

    kind: PassageKind
    text: str
    state: LineState
    dag: int
    """The DAG-line, by its number among those of the session."""
    turn: int
    file: int
    """By its number among the files of the session."""
    line: int
    offset: int
    length: int
    part: int
    """Which item of its record it is."""
    time: str | None = None
    tool: str | None = None
    model: str | None = None
    path: str | None = None
    """The file that a tool was asked to read or to change."""
    outcome: PassageOutcome | None = None
    """What became of the call, where that is notable."""
    is_with_call: bool = False
    """True for a result that is read together with its call."""


class FileMark(Struct, frozen=True, gc=False):
    """By what a file is known again, and how far it has been read."""

    path: str
    size: int
    changed: int
    inode: int
    kind: str
    """`session`, `agent` or `journal`; `side` for what lies beside the logs."""
    offset: int = 0
    """Where its whole lines end."""
    head: bytes = b""
    mark: bytes = b""


class LineRow(Struct, frozen=True, gc=False):
    """A DAG-line of a session."""

    id: str
    kind: str
    state: LineState
    turns: int
    parent: str | None = None
    label: str | None = None


class TurnRow(Struct, frozen=True, gc=False):
    """A turn, with the words of the log that opened it."""

    dag: int
    number: int
    kind: str | None
    time: str | None
    uuid: str | None


class SessionRows(Struct, frozen=True):
    """All that the catalogue keeps of one session."""

    key: str
    """The path of its first file: ids may occur twice."""
    id: str
    project: str
    title: str | None
    started: str | None
    ended: str | None
    files: tuple[FileMark, ...]
    lines: tuple[LineRow, ...]
    turns: tuple[TurnRow, ...]
    facts: bytes = b""
    """What a list shows of it."""
    tails: dict[str, bytes] = {}
    """What must be known to go on where a file ended, by file."""


class SessionKnown(Struct, frozen=True, gc=False):
    """A session as the catalogue knows it."""

    sid: int
    key: str
    id: str
    project: str
    title: str | None
    started: str | None
    ended: str | None


class PassagePlace(Struct, frozen=True, gc=False):
    """Where the words of a hit lie."""

    sid: int
    file: int
    line: int
    offset: int
    length: int
    part: int
    kind: PassageKind
    turn: int
    dag: int
    state: LineState
    time: int | None
    score: float
    outcome: PassageOutcome | None = None


class Snippet(Struct, frozen=True, gc=False):
    """A part of a text with the places of the words that were looked for."""

    text: str
    marks: tuple[tuple[int, int], ...] = ()


class Hit(Struct, frozen=True, kw_only=True):
    """One turn that answers a query, with the passage that answers it best."""

    session: str
    uuid: str | None
    turn: int | None
    kind: PassageKind
    time: str | None
    snippet: str
    score: float
    project: str
    folder: str = ""
    """The one that the log lies in; a project may have several."""
    title: str | None
    branch: str | None
    """The DAG-line."""
    state: LineState | None
    tool: str | None = None
    outcome: PassageOutcome | None = None
    """What became of the call: failed, rejected, interrupted or launched."""
    path: str
    line: int
    marks: tuple[tuple[int, int], ...] = ()
    """Where the words stand in the snippet."""
    more: int = 0
    """Other passages of the same turn that answer too, and its session's title."""
    before: tuple[str, ...] = ()
    """Lines of the text before the snippet's."""
    after: tuple[str, ...] = ()
    result: str = ""
    """The exit code and error text of a failed call."""


class PlacedHit(Hit, frozen=True, kw_only=True):
    """A hit that knows where its line begins: what stands around it is read from there."""

    offset: int


class SearchResult(Struct, frozen=True, kw_only=True):
    """The answer to a query."""

    hits: tuple[Hit, ...]
    total: int
    """Passages that answer; several may stand in one turn."""
    listed: int = 0
    """Passages that the hits stand for, each with those that it says are in its turn too."""
    is_whole: bool = True
    """False where there are more hits than were asked for."""
    sort: SearchSort = "relevance"
    looks: tuple[str, ...] = ()
    """The words and phrases that are wanted, as a query writes them."""
    is_each: bool = False
    """True where every passage is a hit of its own, not every turn."""
    took_ms: float
    facets: dict[str, dict[str, int]] = {}
    by: Literal["index", "scan"] = "index"
    note: str | None = None
    """What the reader should know of the way in which it was found, or why it was not."""
    near: tuple[str, ...] = ()
    """Queries with words that are there, where nothing answers this one."""
    sessions: int = 0
    """How many were searched."""

    def __iter__(self) -> Iterator[Hit]:
        return iter(self.hits)

    def __len__(self) -> int:
        return len(self.hits)


class IndexStatus(Struct, frozen=True, kw_only=True):
    """What an index holds, and whether it is up to date."""

    folder: str
    exists: bool
    sessions: int = 0
    files: int = 0
    bytes: int = 0
    """Of the logs that it covers."""
    size: int = 0
    """Its own, on disk."""
    passages: int = 0
    turns: int = 0
    schema: int = 0
    changed: int = 0
    """Files that are not as they were."""


class IndexReport(Struct, frozen=True, kw_only=True):
    """What was done to an index."""

    read: int = 0
    """Sessions that were read whole."""
    grown: int = 0
    """Files of which only the new lines were read."""
    forgotten: int = 0
    """Sessions that have gone."""
    bytes: int = 0
    took_ms: float = 0

    @property
    def is_unchanged(self) -> bool:
        """Return whether there was nothing to do."""
        return not (self.read or self.grown or self.forgotten)


def elapsed_ms(started: float) -> float:
    """Return the milliseconds since the clock stood so."""
    return round((time.perf_counter() - started) * 1000, 3)
