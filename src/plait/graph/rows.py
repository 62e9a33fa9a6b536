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

from plait.graph.leaving import is_shown, leavings, partings, unsent
from plait.graph.model import DagLine, Node, SessionGraph, Trait
from plait.graph.paths import SPOKEN
from plait.graph.shapes import Link, LinkShape, Mark, Row
from plait.graph.stretches import Detail, Stretch, is_opener, is_part_of_turn, stretches

StrandKind: TypeAlias = Literal["line", "branch", "agent", "folded"]
MARKED_RUNGS = frozenset({"rewind", "parallel", "restart", "retry"})
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
    items: "list[Stretch | Seed]" = field(default_factory=list)
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
class Seed:
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
) -> Iterator[Row]:
    """Yields the rows of a graph from the top, or those of some roots of its tree.

    Agents stand on one row each and service agents on none, unless everything is wanted.
    """
    return Loom(graph, detail, everything).weave(graph.tree.roots if roots is None else roots)


class Loom:
    """Draws strand after strand; what leaves a strand is drawn before it goes on."""

    def __init__(self, graph: SessionGraph, detail: Detail, everything: bool) -> None:
        self.graph = graph
        self.detail: Detail = detail
        self.everything = everything
        self.leaving = leavings(graph, everything=everything)
        self.partings = partings(self.leaving)
        self.rungs = {v.newer: v.rung for v in graph.verdicts if v.rung in MARKED_RUNGS}
        self.leaves = {session.leaf for session in graph.sessions.values()}
        self.passing: Counter[int] = Counter()

    def weave(self, roots: Iterable[str]) -> Iterator[Row]:
        """Yields the rows of some roots; agents that nobody sent out come last."""
        tops = tuple(roots)
        lines = [self.graph.lines[name] for name in (*tops, *unsent(self.graph, tops))]
        shown = [line for line in lines if is_shown(line, everything=self.everything)]
        for line in sorted(shown, key=lambda line: line.kind not in SPOKEN):
            seed = Seed(line, kind_of(line), line.nodes)
            yield from self.descend(self.strand(seed, None))

    def descend(self, top: Strand) -> Iterator[Row]:
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
            if isinstance(item, Seed):
                if strand.is_passing:
                    self.passing[strand.column] += 1
                waiting.append(self.strand(item, strand))
            else:
                yield self.row(strand, item)

    def strand(self, seed: Seed, parent: Strand | None) -> Strand:
        """Begins a strand: in its parent's column where it only goes on."""
        found = Strand(seed.line, seed.kind, column_of(seed, parent), parent)
        found.items = list(self.items(seed))
        found.length = sum(not isinstance(item, Seed) for item in found.items)
        is_long = seed.kind == "agent" and found.length > 1
        found.is_awaited = is_long and parent is not None and parent.is_passing
        return found

    def items(self, seed: Seed) -> Iterator[Stretch | Seed]:
        """Yields the rows of a strand, each with what leaves it."""
        line = seed.line
        detail = self.detail if seed.kind != "agent" or self.everything else "run"
        if seed.kind != "folded":
            yield from self.seeds(self.leaving.get((line.id, None), ()))
        for stretch in stretches(self.graph, seed.nodes, detail, self.partings.get(line.id, set())):
            for node in stretch:
                if node.uuid in line.folded:
                    yield Seed(line, "folded", line.folded[node.uuid])
            yield stretch
            if seed.kind != "folded":
                yield from self.seeds(self.leaving_from(line, stretch))

    def leaving_from(self, line: DagLine, stretch: Stretch) -> list[DagLine]:
        """Returns what leaves a row: agents first, they are part of the turn."""
        found = [one for node in stretch for one in self.leaving.get((line.id, node.uuid), ())]
        return sorted(found, key=lambda one: one.kind in SPOKEN)

    def seeds(self, lines: Iterable[DagLine]) -> Iterator[Seed]:
        """Yields lines as strands to be."""
        for line in lines:
            yield Seed(line, kind_of(line), line.nodes)

    def row(self, strand: Strand, stretch: Stretch) -> Row:
        """Returns one row of a strand."""
        strand.rows += 1
        head = head_of(stretch)
        agents = self.leaving_from(strand.line, stretch) if strand.kind != "folded" else []
        stamps = [node.timestamp for node in stretch if node.timestamp and is_part_of_turn(node)]
        is_task = strand.kind == "agent" and strand.rows == 1
        return Row(
            line=strand.line.id,
            session=strand.line.session,
            uuids=tuple(node.uuid for node in stretch),
            head=head.uuid,
            column=strand.column,
            lanes=tuple(sorted(c for c, n in self.passing.items() if n and c != strand.column)),
            links=tuple(links_of(strand)),
            marks=self.marks(strand, stretch),
            started=head.timestamp,
            ended=max(stamps, default=head.timestamp),
            words=strand.line.label if is_task else head.preview,
            calls=sum(len(node.calls) for node in stretch),
            agents=sum(line.kind == "agent" for line in agents),
        )

    def marks(self, strand: Strand, stretch: Stretch) -> tuple[Mark, ...]:
        """Returns what a reader should see at a glance."""
        found: list[Mark] = list(strand_marks(strand))
        if strand.kind == "folded":
            return (*found, self.graph.folds[stretch[0].uuid].reason)
        traits = 0
        for node in stretch:
            traits |= node.traits
            if node.uuid in self.rungs:
                found.append(self.rungs[node.uuid])  # type: ignore[arg-type]
            if node.uuid in self.leaves and strand.kind != "agent":
                found.append("leaf")
        found += [mark for trait, mark in MARKED_TRAITS.items() if traits & trait]
        if head_of(stretch).traits & Trait.QUEUED:
            found.append("queued")
        if any(line.kind in SPOKEN for line in self.leaving_from(strand.line, stretch)):
            found.append("fork")
        return tuple(dict.fromkeys(found))


def kind_of(line: DagLine) -> StrandKind:
    """Returns how a line is drawn."""
    if line.kind not in SPOKEN:
        return "agent"
    return "branch" if line.kind == "branch" else "line"


def column_of(seed: Seed, parent: Strand | None) -> int:
    """Returns the column of a strand; a session that carries another on stays in its column."""
    if parent is None:
        return int(seed.kind == "agent")
    goes_on = seed.kind == "line" and parent.next == len(parent.items)
    return parent.column if goes_on else min(parent.column + 1, MOST_COLUMNS - 1)


def head_of(stretch: Sequence[Node]) -> Node:
    """Returns the record that a row is known by."""
    return next((node for node in stretch if node.is_boundary or is_opener(node)), stretch[0])


def strand_marks(strand: Strand) -> Iterator[Mark]:
    """Yields the marks that every row of a strand has, and those of its first."""
    line = strand.line
    yield "active" if line.is_active and strand.kind != "folded" else "abandoned"
    if strand.kind == "agent":
        yield "service" if line.kind == "service" else "agent"
    elif strand.kind == "folded":
        yield "folded"
    elif strand.kind == "line" and strand.parent and strand.rows == 1:
        yield "session"


def links_of(strand: Strand) -> Iterator[Link]:
    """Yields how a row joins the one above it and, at the end of a strand, what comes below."""
    column, parent = strand.column, strand.parent
    is_agent = strand.kind == "agent"
    if strand.rows > 1:
        yield Link(column, column, "straight")
    elif parent and parent.rows:
        shape: LinkShape = "agent-out" if is_agent else "fork"
        yield Link(parent.column, column, "straight" if parent.column == column else shape)
    if strand.rows == strand.length:
        yield from links_behind(strand)


def links_behind(strand: Strand) -> Iterator[Link]:
    """Yields how the last row of a strand ends it, and the agents that end with it."""
    parent = strand.parent
    if strand.kind != "agent" or not parent or not parent.rows:
        if not goes_on_below(strand):
            yield Link(strand.column, strand.column, "end")
    elif strand.length == 1:
        yield Link(strand.column, parent.column, "agent-in")
    here: Strand | None = strand
    while here and here.parent and here.next == len(here.items):
        if here.is_awaited:
            yield Link(here.column, here.parent.column, "agent-in")
        here = here.parent


def goes_on_below(strand: Strand) -> bool:
    """Tells whether another session carries a strand on in its column."""
    last = strand.items[-1]
    return isinstance(last, Seed) and last.kind == "line"
