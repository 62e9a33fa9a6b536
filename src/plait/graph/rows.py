"""A graph to row shapes: what stands on each row, in which column, and how columns join.

    column 0  column 1
       ●                    a turn of the active line
       ├─────────╮          a link of the row below: "fork", 0 to 1
       │         ○          a turn of a branch; 0 is a lane that passes
       ├───────◇            an agent: "agent-out" and "agent-in" on one row
       ●                    "straight", 0 to 0

The active line is column 0, the oldest first; what leaves a line follows the row that it
leaves, one column to the right. Terminal and page draw from these values.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from msgspec import Struct

from plait.graph.model import DagLine, Node, SessionGraph, Trait, Verdict
from plait.graph.paths import SPOKEN
from plait.graph.segments import (
    Detail,
    Segment,
    forks_on_lines,
    is_opener,
    is_part_of_turn,
    is_shown,
    lines_leaving,
    segments,
    unsent_agents,
)

LinkShape: TypeAlias = Literal["straight", "fork", "agent-out", "agent-in", "end"]
Mark: TypeAlias = Literal[
    "active",  # on the line that the client would go on from
    "abandoned",
    "leaf",  # the client would go on from here
    "fork",  # other conversations leave here
    "rewind",  # the conversation was taken back and goes another way here
    "parallel",  # two clients wrote at the same time
    "restart",  # the context was cleared before this
    "retry",  # the model answered again
    "unseen",  # beside the client's chain: not sent on resume
    "compaction",
    "session",  # another session begins here
    "agent",
    "service",
    "folded",
    "replay",
    "retracted",
    "resent",
    "interrupted",
    "queued",
    "error",
]


class Link(Struct, frozen=True, gc=False, rename={"start": "from", "end": "to", "shape": "kind"}):
    """How a row joins others: `agent-in` and `end` behind it, the rest before it."""

    start: int
    end: int
    shape: LinkShape


class RowShape(Struct, frozen=True, gc=False):
    """What stands on one row, and where."""

    line: str
    session: str
    uuids: tuple[str, ...]
    head: str
    """The record that it is known by: a prompt, a compaction, else its first."""
    column: int
    lanes: tuple[int, ...]
    """Other columns that pass this row and go on below it."""
    links: tuple[Link, ...]
    marks: tuple[Mark, ...]
    started: str | None = None
    """When its head was written."""
    ended: str | None = None
    """When the last answer or result of it was written; notes can be hours later."""
    words: str | None = None
    """The prompt, or the task of an agent."""
    calls: int = 0
    agents: int = 0
    """How many agents were sent out on this row."""
    duration_ms: float | None = None
    """Of the turn that begins here, where it was asked for: the graph does not know turns."""
    asking_ms: float = 0
    """The part of the duration in which a person was asked something."""


StrandKind: TypeAlias = Literal["line", "branch", "agent", "folded"]
MARKED_RUNGS = frozenset({"rewind", "parallel", "restart"})
MARKED_TRAITS: dict[int, Mark] = {
    Trait.BOUNDARY: "compaction",
    Trait.INTERRUPTION: "interrupted",
    Trait.ERROR: "error",
}
MOST_COLUMNS = 24
"""What is nested deeper is drawn in the last column."""


@dataclass(slots=True)
class Strand:
    """A line on its way down, with what is still to come of it."""

    line: DagLine
    kind: StrandKind
    column: int
    parent: "Strand | None"
    items: "list[Segment | StrandStart]" = field(default_factory=list)
    next: int = 0
    rows: int = 0
    """How many of its rows are drawn."""
    length: int = 0
    """How many rows it has in all."""
    is_awaited: bool = False
    """An agent that comes back below all that leaves it."""

    @property
    def is_passing(self) -> bool:
        """Tells whether it goes on below what leaves it."""
        return self.is_begun and (self.next < len(self.items) or self.is_awaited)

    @property
    def is_begun(self) -> bool:
        """Tells whether its column is drawn: by itself, or by the line that it carries on."""
        above = self.parent
        return self.rows > 0 or bool(above and above.column == self.column and above.rows)


@dataclass(frozen=True, slots=True)
class StrandStart:
    """A strand that leaves another: a line, or what is folded under a node."""

    line: DagLine
    kind: StrandKind
    nodes: tuple[str, ...]


def rows(
    graph: SessionGraph,
    detail: Detail = "turn",
    *,
    everything: bool = False,
    roots: Iterable[str] | None = None,
) -> Iterator[RowShape]:
    """Yields the rows of a graph from the top, or those of some roots of its tree.

    Agents stand on one row each and service agents on none, unless everything is wanted.
    """
    return RowDrawing(graph, detail, everything).below(graph.tree.roots if roots is None else roots)


class RowDrawing:
    """Draws strand after strand; what leaves a strand is drawn before it goes on."""

    def __init__(self, graph: SessionGraph, detail: Detail, everything: bool) -> None:
        self.graph = graph
        self.detail: Detail = detail
        self.everything = everything
        self.leaving = lines_leaving(graph, everything=everything)
        self.forks = forks_on_lines(self.leaving)
        self.rungs = {v.newer: v.rung for v in graph.verdicts if _is_marked(graph, v)}
        self.cleared = {uuid for uuid, rung in self.rungs.items() if rung == "restart"}
        self.unseen = {uuid for one in graph.sessions.values() for uuid in one.unseen}
        self.leaves = {session.leaf for session in graph.sessions.values()}
        self.passing: Counter[int] = Counter()

    def below(self, roots: Iterable[str]) -> Iterator[RowShape]:
        """Yields the rows of some roots; agents that nobody sent out come last."""
        tops = tuple(roots)
        lines = [self.graph.lines[name] for name in (*tops, *unsent_agents(self.graph, tops))]
        shown = [line for line in lines if is_shown(line, everything=self.everything)]
        for line in sorted(shown, key=lambda line: line.kind not in SPOKEN):
            start = StrandStart(line, _kind_of(line), line.nodes)
            yield from self.descend(self.strand(start, None))

    def descend(self, top: Strand) -> Iterator[RowShape]:
        """Yields the rows of a strand and of all that leaves it."""
        waiting = [top]
        while waiting:
            strand = waiting[-1]
            if strand.next == len(strand.items):
                waiting.pop()
                if waiting and waiting[-1].is_passing:
                    self.passing[waiting[-1].column] -= 1
                continue
            item = strand.items[strand.next]
            strand.next += 1
            if isinstance(item, StrandStart):
                if strand.is_passing:
                    self.passing[strand.column] += 1
                waiting.append(self.strand(item, strand))
            else:
                yield self.row(strand, item)

    def strand(self, start: StrandStart, parent: Strand | None) -> Strand:
        """Begins a strand: in its parent's column where it only goes on."""
        found = Strand(start.line, start.kind, _column_of(start, parent), parent)
        found.items = list(self.items(start))
        found.length = sum(not isinstance(item, StrandStart) for item in found.items)
        is_long = start.kind == "agent" and found.length > 1
        found.is_awaited = is_long and parent is not None and parent.is_passing
        return found

    def items(self, start: StrandStart) -> Iterator[Segment | StrandStart]:
        """Yields the rows of a strand, each with what leaves it."""
        line = start.line
        detail = self.detail if start.kind != "agent" or self.everything else "run"
        if start.kind != "folded":
            yield from self.starts(self.leaving.get((line.id, None), ()))
        forks, cleared = self.forks.get(line.id, set()), self.cleared if detail == "turn" else set()
        for segment in segments(self.graph, start.nodes, detail, forks, cleared):
            for node in segment:
                if node.uuid in line.folded:
                    yield StrandStart(line, "folded", line.folded[node.uuid])
            yield segment
            if start.kind != "folded":
                yield from self.starts(self.leaving_from(line, segment))

    def leaving_from(self, line: DagLine, segment: Segment) -> list[DagLine]:
        """Returns what leaves a row: agents first, they are part of the turn."""
        found = [one for node in segment for one in self.leaving.get((line.id, node.uuid), ())]
        return sorted(found, key=lambda one: one.kind in SPOKEN)

    def starts(self, lines: Iterable[DagLine]) -> Iterator[StrandStart]:
        """Yields lines as strands to be."""
        for line in lines:
            yield StrandStart(line, _kind_of(line), line.nodes)

    def row(self, strand: Strand, segment: Segment) -> RowShape:
        """Returns one row of a strand."""
        strand.rows += 1
        head = _head_of(segment)
        agents = self.leaving_from(strand.line, segment) if strand.kind != "folded" else []
        stamps = [node.timestamp for node in segment if node.timestamp and _is_answer(node)]
        is_task = strand.kind == "agent" and strand.rows == 1
        return RowShape(
            line=strand.line.id,
            session=strand.line.session,
            uuids=tuple(node.uuid for node in segment),
            head=head.uuid,
            column=strand.column,
            lanes=tuple(sorted(c for c, n in self.passing.items() if n and c != strand.column)),
            links=tuple(_links_of(strand)),
            marks=self.marks(strand, segment),
            started=head.timestamp,
            ended=max(filter(None, (head.timestamp, *stamps)), default=None),
            words=strand.line.label if is_task else head.preview,
            calls=sum(len(node.calls) for node in segment),
            agents=sum(line.kind == "agent" for line in agents),
        )

    def marks(self, strand: Strand, segment: Segment) -> tuple[Mark, ...]:
        """Returns what a reader should see at a glance."""
        found: list[Mark] = list(_strand_marks(strand))
        if strand.kind == "folded":
            return (*found, self.graph.folds[segment[0].uuid].reason)
        traits = 0
        for node in segment:
            traits |= node.traits
            if node.uuid in self.rungs:
                found.append(self.rungs[node.uuid])  # type: ignore[arg-type]
            if node.uuid in self.unseen:
                found.append("unseen")
            if node.uuid in self.leaves and strand.kind != "agent":
                found.append("leaf")
        found += [mark for trait, mark in MARKED_TRAITS.items() if traits & trait]
        if _head_of(segment).traits & Trait.QUEUED:
            found.append("queued")
        if any(line.kind in SPOKEN for line in self.leaving_from(strand.line, segment)):
            found.append("fork")
        return tuple(dict.fromkeys(found))


def _is_marked(graph: SessionGraph, verdict: Verdict) -> bool:
    """Tells whether a reader should see a verdict; a prompt behind an error answers nothing."""
    if verdict.rung == "retry":
        return graph.nodes[verdict.newer].kind == "assistant"
    return verdict.rung in MARKED_RUNGS


def _is_answer(node: Node) -> bool:
    return (node.kind == "assistant" or bool(node.results)) and is_part_of_turn(node)


def _kind_of(line: DagLine) -> StrandKind:
    if line.kind not in SPOKEN:
        return "agent"
    return "branch" if line.kind == "branch" else "line"


def _column_of(start: StrandStart, parent: Strand | None) -> int:
    if parent is None:
        return int(start.kind == "agent")
    goes_on = start.kind == "line" and parent.next == len(parent.items)
    return parent.column if goes_on else min(parent.column + 1, MOST_COLUMNS - 1)


def _head_of(segment: Sequence[Node]) -> Node:
    return next((node for node in segment if node.is_boundary or is_opener(node)), segment[0])


def _strand_marks(strand: Strand) -> Iterator[Mark]:
    line = strand.line
    yield "active" if line.is_active and strand.kind != "folded" else "abandoned"
    if strand.kind == "agent":
        yield "service" if line.kind == "service" else "agent"
    elif strand.kind == "folded":
        yield "folded"
    elif strand.kind == "line" and strand.parent and strand.rows == 1:
        yield "session"


def _links_of(strand: Strand) -> Iterator[Link]:
    column, parent = strand.column, strand.parent
    is_agent = strand.kind == "agent"
    if strand.rows > 1:
        yield Link(column, column, "straight")
    elif parent and parent.rows:
        shape: LinkShape = "agent-out" if is_agent else "fork"
        yield Link(parent.column, column, "straight" if parent.column == column else shape)
    if strand.rows == strand.length:
        yield from _links_behind(strand)


def _links_behind(strand: Strand) -> Iterator[Link]:
    parent = strand.parent
    if strand.kind != "agent" or not parent or not parent.rows:
        if not _goes_on_below(strand):
            yield Link(strand.column, strand.column, "end")
    elif strand.length == 1:
        yield Link(strand.column, parent.column, "agent-in")
    here: Strand | None = strand
    while here and here.parent and here.next == len(here.items):
        if here.is_awaited:
            yield Link(here.column, here.parent.column, "agent-in")
        here = here.parent


def _goes_on_below(strand: Strand) -> bool:
    last = strand.items[-1]
    return isinstance(last, StrandStart) and last.kind == "line"
