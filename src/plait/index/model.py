"""What is indexed and what is found, as plain values."""

import time
from collections.abc import Iterator
from typing import Final, Literal, TypeAlias

from msgspec import Struct

PassageKind: TypeAlias = Literal[
    "prompt", "answer", "thinking", "command", "input", "output", "summary", "title", "note"
]
PassageOutcome: TypeAlias = Literal["failed", "rejected", "interrupted", "launched"]
"""As in `plait.conversation`, which takes long to load."""
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
"""A kind, a notable outcome, and whether it is a result shown with its call."""
SORTS: Final[tuple[PassageSort, ...]] = (
    *((kind, None, False) for kind in KINDS),
    *((kind, outcome, False) for kind in ("input", "output") for outcome in OUTCOMES),
    *(("output", outcome, True) for outcome in (None, *OUTCOMES)),
    ("note", "interrupted", False),
)
"""In the order of their numbers in the index, as one number: each number costs time."""
STATES: Final[tuple[LineState, ...]] = ("active", "abandoned", "agent", "service", "recovered")


class Passage(Struct, frozen=True, gc=False):
    """A text that is found as a unit: one prompt, one answer, one input, one output."""

    kind: PassageKind
    text: str
    state: LineState
    dag: int
    """The number of the DAG-line in the session."""
    turn: int
    file: int
    """The number of the file in the session."""
    line: int
    offset: int
    length: int
    part: int
    """The index of the item in its record."""
    time: str | None = None
    tool: str | None = None
    model: str | None = None
    path: str | None = None
    """The file that a tool reads or changes."""
    outcome: PassageOutcome | None = None
    """The outcome of the call, if notable."""
    is_with_call: bool = False
    """Whether it is a result shown together with its call."""


class FileMark(Struct, frozen=True, gc=False):
    """How a file is recognised, and how far it was read."""

    path: str
    size: int
    changed: int
    inode: int
    kind: str
    """`session`, `agent` or `journal`; `side` for side files."""
    offset: int = 0
    """The end of its last complete line."""
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
    """A turn, with the record and kind of its prompt."""

    dag: int
    number: int
    kind: str | None
    time: str | None
    uuid: str | None


class SessionRows(Struct, frozen=True):
    """Everything the catalogue stores about one session."""

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
    """Its facts for lists."""
    tails: dict[str, bytes] = {}
    """The state for continuing at the end of a file, by file."""


class SessionKnown(Struct, frozen=True, gc=False):
    """A session in the catalogue."""

    sid: int
    key: str
    id: str
    project: str
    title: str | None
    started: str | None
    ended: str | None


class PassagePlace(Struct, frozen=True, gc=False):
    """The place of a hit's text."""

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
    """A part of a text with the positions of the matches."""

    text: str
    marks: tuple[tuple[int, int], ...] = ()


class Hit(Struct, frozen=True, kw_only=True):
    """One turn that matches a query, with its best passage."""

    session: str
    uuid: str | None
    turn: int | None
    kind: PassageKind
    time: str | None
    snippet: str
    score: float
    project: str
    folder: str = ""
    """The folder of the log; a project may have several."""
    title: str | None
    branch: str | None
    """The DAG-line."""
    state: LineState | None
    tool: str | None = None
    outcome: PassageOutcome | None = None
    """The outcome of the call: failed, rejected, interrupted or launched."""
    path: str
    line: int
    marks: tuple[tuple[int, int], ...] = ()
    """The positions of the matches in the snippet."""
    more: int = 0
    """The number of further matching passages of the same turn, and of its session's title."""
    before: tuple[str, ...] = ()
    """The lines before the snippet."""
    after: tuple[str, ...] = ()
    result: str = ""
    """The exit code and error text of a failed call."""


class PlacedHit(Hit, frozen=True, kw_only=True):
    """A hit that knows where its line begins: the text around it is read from there."""

    offset: int


class SearchResult(Struct, frozen=True, kw_only=True):
    """The result of a query."""

    hits: tuple[Hit, ...]
    total: int
    """Matching passages; several may be in one turn."""
    listed: int = 0
    """Passages represented by the hits, including further ones of the same turns."""
    is_whole: bool = True
    """False if there are more hits than requested."""
    sort: SearchSort = "relevance"
    looks: tuple[str, ...] = ()
    """The words and phrases searched for, as a query writes them."""
    is_each: bool = False
    """Whether every passage is a hit of its own, not every turn."""
    took_ms: float
    facets: dict[str, dict[str, int]] = {}
    by: Literal["index", "scan"] = "index"
    note: str | None = None
    """A note about how it was found, or why it was not."""
    near: tuple[str, ...] = ()
    """Queries with similar existing words, if nothing matches."""
    sessions: int = 0
    """How many sessions were searched."""

    def __iter__(self) -> Iterator[Hit]:
        return iter(self.hits)

    def __len__(self) -> int:
        return len(self.hits)


class IndexStatus(Struct, frozen=True, kw_only=True):
    """The contents of an index, and whether it is up to date."""

    folder: str
    exists: bool
    sessions: int = 0
    files: int = 0
    bytes: int = 0
    """The size of the logs that it covers."""
    size: int = 0
    """Its own size on disk."""
    passages: int = 0
    turns: int = 0
    schema: int = 0
    changed: int = 0
    """Files that have changed."""


class IndexReport(Struct, frozen=True, kw_only=True):
    """What was done to an index."""

    read: int = 0
    """Sessions that were read completely."""
    grown: int = 0
    """Files of which only the new lines were read."""
    forgotten: int = 0
    """Sessions that no longer exist."""
    bytes: int = 0
    took_ms: float = 0

    @property
    def is_unchanged(self) -> bool:
        """Return whether there was nothing to do."""
        return not (self.read or self.grown or self.forgotten)


def elapsed_ms(started: float) -> float:
    """Return the milliseconds since a reading of `time.perf_counter`."""
    return round((time.perf_counter() - started) * 1000, 3)
