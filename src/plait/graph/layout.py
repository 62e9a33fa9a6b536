"""Layouts of a graph: the rows and columns of a drawing, and the tree as an outline.

The records of a line are cut into segments, one per row:

    U A T R A │ U A │ ◆ C │ A T R │ U A        turns; ◆ a compaction, C its summary

and rows are placed in columns and linked:

    column 0  column 1
    ●                    a turn of the active line
    ├─────────╮          a link of the row below: "fork", 0 to 1
    │         ○          a turn of a branch; 0 is a lane that passes
    ├───────◇            an agent: "agent-out" and "agent-in" on one row
    ●                    "straight", 0 to 0

The active line is column 0, the oldest first; what leaves a line follows the row that it leaves,
one column to the right. Terminal and page draw from these values.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, field
from itertools import chain
from typing import Literal, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from plait.graph.model import DagLine, LineKind, Node, SessionGraph, Trait
from plait.graph.paths import SPOKEN, get_label
from plait.graph.tree import resolve_fold

Detail: TypeAlias = Literal["run", "turn", "record"]
Segment: TypeAlias = tuple[Node, ...]

PROMPTS = Trait.HUMAN | Trait.QUEUED


def iter_segments(
    graph: SessionGraph,
    nodes: Iterable[str],
    detail: Detail,
    forks: Set[str],
    cleared: Set[str] = frozenset(),
) -> Iterator[Segment]:
    """Yield the records of a line, split where a row begins and after every fork.

    Turns are also split where the context was cleared: a hook can come before the first prompt.
    """
    begins = BEGINNINGS[detail]
    held: list[Node] = []
    is_forked = False
    for uuid in nodes:
        node = graph.nodes[uuid]
        is_cleared = uuid in cleared and any(map(is_part_of_turn, held))
        is_new = is_cleared or (is_forked and not node.is_structural)
        if held and (is_new or begins(held, node)):
            yield tuple(held)
            held, is_forked = [], False
        held.append(node)
        is_forked = is_forked or uuid in forks
    if held:
        yield tuple(held)


def _begins_turn(held: Sequence[Node], node: Node) -> bool:
    if node.is_boundary or is_opener(node):
        return any(is_part_of_turn(node) for node in held)
    return held[0].is_boundary and node.kind == "assistant"


def is_opener(node: Node) -> bool:
    """Return whether a record begins a turn by itself."""
    if node.traits & PROMPTS:
        return True
    return bool(node.traits & Trait.ASKS) and not node.traits & Trait.META


def is_part_of_turn(node: Node) -> bool:
    """Return whether a node is part of a turn that people read, as opposed to what precedes it."""
    return not node.is_structural and not node.traits & Trait.META


BEGINNINGS: dict[Detail, Callable[[Sequence[Node], Node], bool]] = {
    "run": lambda held, node: node.is_boundary,
    "turn": _begins_turn,
    "record": lambda held, node: True,
}


LinesLeaving: TypeAlias = dict[tuple[str, str | None], list[DagLine]]


def _is_unsent(line: DagLine) -> bool:
    return line.kind not in SPOKEN and line.attachment is None


def is_drawn(line: DagLine, *, everything: bool) -> bool:
    """Return whether a line is drawn at all."""
    return bool(line.nodes or line.folded) and (everything or line.kind != "service")


LinkShape: TypeAlias = Literal["straight", "fork", "agent-out", "agent-in", "end"]
Mark: TypeAlias = Literal[
    "active",  # on the line that the client would resume
    "abandoned",
    "leaf",  # the client would resume here
    "fork",  # other conversations leave here
    "rewind",  # the conversation was rewound to here
    "parallel",  # two clients wrote at the same time
    "restart",  # the context was cleared before this
    "retry",  # the model answered again
    "unseen",  # not on the client's chain: not sent on resume
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
    """How a row is connected: `agent-in` and `end` after it, the rest before it."""

    start: int
    end: int
    shape: LinkShape


class RowShape(Struct, frozen=True, gc=False):
    """One row of the drawing and its position."""

    line: str
    session: str
    uuids: tuple[str, ...]
    head: str
    """The record that identifies it: a prompt, a compaction, else its first."""
    column: int
    lanes: tuple[int, ...]
    """Other columns that pass this row and continue below it."""
    links: tuple[Link, ...]
    marks: tuple[Mark, ...]
    started: str | None = None
    """The time of its head."""
    ended: str | None = None
    """The time of its last response or result; notes can be hours later."""
    words: str | None = None
    """The prompt, or the task of an agent."""
    calls: int = 0
    agents: int = 0
    """How many agents were started on this row."""
    duration_ms: float | None = None
    """Of the turn that begins here, if requested: the graph does not know turns."""
    asking_ms: float = 0
    """The part of the duration spent waiting for the user."""


StrandKind: TypeAlias = Literal["line", "branch", "agent", "folded"]
MARKED_TRAITS: dict[int, Mark] = {
    Trait.BOUNDARY: "compaction",
    Trait.INTERRUPTION: "interrupted",
    Trait.ERROR: "error",
}
MOST_COLUMNS = 24
"""What is nested deeper is drawn in the last column."""


@dataclass(slots=True)
class Strand:
    """A line being drawn, with the rest of its items."""

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
    """Whether it is an agent that returns below all that leaves it."""

    @property
    def is_passing(self) -> bool:
        """Whether it continues below what leaves it."""
        above = self.parent
        return (self.rows > 0 or bool(above and above.column == self.column and above.rows)) and (
            self.next < len(self.items) or self.is_awaited
        )


@dataclass(frozen=True, slots=True)
class StrandStart:
    """A strand that leaves another: a line, or what is folded under a node."""

    line: DagLine
    kind: StrandKind
    nodes: tuple[str, ...]


def iter_rows(
    graph: SessionGraph,
    detail: Detail = "turn",
    *,
    everything: bool = False,
    roots: Iterable[str] | None = None,
) -> Iterator[RowShape]:
    """Yield the rows of a graph from the top, or those of some roots of its tree.

    Agents take one row each and background agents none, unless everything is requested.
    """
    return RowDrawing(graph, detail, everything).below(graph.tree.roots if roots is None else roots)


class RowDrawing:
    """Draws strand after strand; what leaves a strand is drawn before it continues."""

    def __init__(self, graph: SessionGraph, detail: Detail, everything: bool) -> None:
        self.graph = graph
        self.detail: Detail = detail
        self.everything = everything
        self.leaving: LinesLeaving = {}
        self.forks: dict[str, set[str]] = {}
        """The nodes of each line where other conversations leave."""
        for name in chain.from_iterable(graph.tree.children.values()):
            line = graph.lines[name]
            if line.parent and not _is_unsent(line) and is_drawn(line, everything=everything):
                node = resolve_fold(graph, line.attachment)
                self.leaving.setdefault((line.parent, node), []).append(line)
                if node and line.kind in SPOKEN:
                    self.forks.setdefault(line.parent, set()).add(node)
        self.rungs: dict[str, Mark] = {}
        for verdict in graph.verdicts:
            if verdict.rung in ("rewind", "parallel", "restart"):
                self.rungs[verdict.newer] = verdict.rung
            elif verdict.rung == "retry" and graph.nodes[verdict.newer].kind == "assistant":
                self.rungs[verdict.newer] = "retry"
        self.cleared = {uuid for uuid, rung in self.rungs.items() if rung == "restart"}
        self.unseen = {uuid for session in graph.sessions.values() for uuid in session.unseen}
        self.leaves = {session.leaf for session in graph.sessions.values()}
        self.passing: Counter[int] = Counter()

    def below(self, roots: Iterable[str]) -> Iterator[RowShape]:
        """Yield the rows of some roots; agents without a call come last."""
        tops = tuple(roots)
        found: list[str] = []
        waiting = list(tops)
        for name in waiting:
            below = self.graph.tree.children.get(name, ())
            found += [line for line in below if _is_unsent(self.graph.lines[line])]
            waiting += below
        lines = [self.graph.lines[name] for name in (*tops, *found)]
        shown = [line for line in lines if is_drawn(line, everything=self.everything)]
        for line in sorted(shown, key=lambda line: line.kind not in SPOKEN):
            start = StrandStart(line, _get_strand_kind(line), line.nodes)
            yield from self.descend(self.strand(start, None))

    def descend(self, top: Strand) -> Iterator[RowShape]:
        """Yield the rows of a strand and of everything that leaves it."""
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
        """Begin a strand: in its parent's column if it only continues it."""
        if parent is None:
            column = int(start.kind == "agent")
        elif start.kind == "line" and parent.next == len(parent.items):
            column = parent.column
        else:
            column = min(parent.column + 1, MOST_COLUMNS - 1)
        found = Strand(start.line, start.kind, column, parent)
        found.items = list(self.items(start))
        found.length = sum(not isinstance(item, StrandStart) for item in found.items)
        is_long = start.kind == "agent" and found.length > 1
        found.is_awaited = is_long and parent is not None and parent.is_passing
        return found

    def items(self, start: StrandStart) -> Iterator[Segment | StrandStart]:
        """Yield the rows of a strand, each with what leaves it."""
        line = start.line
        detail = self.detail if start.kind != "agent" or self.everything else "run"
        if start.kind != "folded":
            yield from self.starts(self.leaving.get((line.id, None), ()))
        forks, cleared = self.forks.get(line.id, set()), self.cleared if detail == "turn" else set()
        for segment in iter_segments(self.graph, start.nodes, detail, forks, cleared):
            for node in segment:
                if node.uuid in line.folded:
                    yield StrandStart(line, "folded", line.folded[node.uuid])
            yield segment
            if start.kind != "folded":
                yield from self.starts(self.leaving_from(line, segment))

    def leaving_from(self, line: DagLine, segment: Segment) -> list[DagLine]:
        """Return what leaves a row: agents first, they are part of the turn."""
        found = [line_ for node in segment for line_ in self.leaving.get((line.id, node.uuid), ())]
        return sorted(found, key=lambda line_: line_.kind in SPOKEN)

    def starts(self, lines: Iterable[DagLine]) -> Iterator[StrandStart]:
        """Yield lines as strands to draw."""
        for line in lines:
            yield StrandStart(line, _get_strand_kind(line), line.nodes)

    def row(self, strand: Strand, segment: Segment) -> RowShape:
        """Return one row of a strand."""
        strand.rows += 1
        head = _get_head(segment)
        agents = self.leaving_from(strand.line, segment) if strand.kind != "folded" else []
        answers = (node for node in segment if node.kind == "assistant" or node.results)
        stamps = [node.timestamp for node in answers if node.timestamp and is_part_of_turn(node)]
        is_task = strand.kind == "agent" and strand.rows == 1
        return RowShape(
            line=strand.line.id,
            session=strand.line.session,
            uuids=tuple(node.uuid for node in segment),
            head=head.uuid,
            column=strand.column,
            lanes=tuple(sorted(c for c, n in self.passing.items() if n and c != strand.column)),
            links=tuple(_iter_links(strand)),
            marks=self.marks(strand, segment),
            started=head.timestamp,
            ended=max(filter(None, (head.timestamp, *stamps)), default=None),
            words=strand.line.label if is_task else head.preview,
            calls=sum(len(node.calls) for node in segment),
            agents=sum(line.kind == "agent" for line in agents),
        )

    def marks(self, strand: Strand, segment: Segment) -> tuple[Mark, ...]:
        """Return the marks of a row."""
        line = strand.line
        if strand.kind == "folded":
            return ("abandoned", "folded", self.graph.folds[segment[0].uuid].reason)
        found: list[Mark] = ["active" if line.is_active else "abandoned"]
        if strand.kind == "agent":
            found.append("service" if line.kind == "service" else "agent")
        elif strand.kind == "line" and strand.parent and strand.rows == 1:
            found.append("session")
        traits = 0
        for node in segment:
            traits |= node.traits
            if node.uuid in self.rungs:
                found.append(self.rungs[node.uuid])
            if node.uuid in self.unseen:
                found.append("unseen")
            if node.uuid in self.leaves and strand.kind != "agent":
                found.append("leaf")
        found += [mark for trait, mark in MARKED_TRAITS.items() if traits & trait]
        if _get_head(segment).traits & Trait.QUEUED:
            found.append("queued")
        if any(line.kind in SPOKEN for line in self.leaving_from(strand.line, segment)):
            found.append("fork")
        return tuple(dict.fromkeys(found))


def _get_strand_kind(line: DagLine) -> StrandKind:
    if line.kind not in SPOKEN:
        return "agent"
    return "branch" if line.kind == "branch" else "line"


def _get_head(segment: Sequence[Node]) -> Node:
    return next((node for node in segment if node.is_boundary or is_opener(node)), segment[0])


def _iter_links(strand: Strand) -> Iterator[Link]:
    column, parent = strand.column, strand.parent
    is_agent = strand.kind == "agent"
    if strand.rows > 1:
        yield Link(column, column, "straight")
    elif parent and parent.rows:
        shape: LinkShape = "agent-out" if is_agent else "fork"
        yield Link(parent.column, column, "straight" if parent.column == column else shape)
    if strand.rows < strand.length:
        return
    if not is_agent or not parent or not parent.rows:
        last = strand.items[-1]
        if not (isinstance(last, StrandStart) and last.kind == "line"):
            yield Link(column, column, "end")
    elif strand.length == 1:
        yield Link(column, parent.column, "agent-in")
    here: Strand | None = strand
    while here and here.parent and here.next == len(here.items):
        if here.is_awaited:
            yield Link(here.column, here.parent.column, "agent-in")
        here = here.parent


# The outline: what leaves a line is listed in the order in which it leaves (compactions, agents,
# branches); the sessions that continue it follow by time.


OutlineKind: TypeAlias = LineKind | Literal["compaction", "agents", "summary"]


class OutlineItem(Struct, frozen=True, gc=False):
    """An item of the tree: a line, a compaction on it, its agents together, a lone summary."""

    kind: OutlineKind
    id: str
    """The DAG-line, the record of a compaction, or the target of a summary."""
    session: str
    project: str
    depth: int
    parent: str | None
    """The DAG-line that it leaves."""
    attachment: str | None
    """The node where it leaves that line."""
    title: str | None = None
    started: str | None = None
    ended: str | None = None
    records: int = 0
    folded: int = 0
    prompts: int = 0
    bytes: int = 0
    """The size of its records."""
    is_active: bool = True
    count: int = 1
    """The number of agents, if they are counted together."""
    agent: str | None = None
    junctions: tuple[str, ...] = ()
    """The nodes where other lines leave it."""


def iter_outline(
    graph: SessionGraph, *, each_agent: bool = True, services: bool = True
) -> Iterator[OutlineItem]:
    """Yield the tree from the top; agents one by one, or only their number."""
    roots: list[tuple[str, DagLine | OutlineItem]] = [
        (_get_project(graph, graph.lines[name]), graph.lines[name]) for name in graph.tree.roots
    ]
    files_with_nodes = {node.file for node in graph.nodes.values()}
    for link in graph.summaries:
        file = graph.files[link.place.file]
        if link.place.file not in files_with_nodes:
            summary = OutlineItem(
                kind="summary",
                id=link.leaf,
                session=file.session or "",
                project=file.project,
                depth=0,
                parent=link.line,
                attachment=link.leaf if link.line else None,
                title=link.text,
                bytes=link.place.length + 1,
            )
            roots.append((file.project, summary))
    roots.sort(key=lambda root: root[0])
    waiting = [root for _, root in reversed(roots)]
    depths: dict[str, int] = {}
    while waiting:
        item = waiting.pop()
        if isinstance(item, OutlineItem):
            yield item
            continue
        if item.kind == "service" and not services:
            continue
        depth = depths[item.id] = depths.get(item.parent or "", -1) + 1
        yield _make_line_item(graph, item, depth)
        below = list(_iter_below(graph, item, depth + 1))
        if not each_agent:
            below = _count_agents(graph, below, item, depth + 1)
        waiting.extend(reversed(below))


def _make_line_item(graph: SessionGraph, line: DagLine, depth: int) -> OutlineItem:
    nodes = [graph.nodes[uuid] for uuid in line.nodes]
    folded = [graph.nodes[uuid] for uuids in line.folded.values() for uuid in uuids]
    if line.kind in SPOKEN:
        title = get_label(graph, line)
    else:  # an agent whose parent is gone is named after its session
        session = graph.sessions.get(line.session) if line.parent is None else None
        title = line.label or (session.title if session else None)
    left_at = {graph.lines[name].attachment for name in graph.tree.children.get(line.id, ())}
    all_uuids = chain(line.nodes, *line.folded.values()) if left_at else ()
    return OutlineItem(
        kind=line.kind,
        id=line.id,
        session=line.session,
        project=_get_project(graph, line),
        depth=depth,
        parent=line.parent,
        attachment=line.attachment,
        title=title,
        started=line.started,
        ended=line.ended,
        records=len(nodes),
        folded=len(folded),
        prompts=sum(node.is_human_prompt for node in nodes),
        bytes=sum(node.length + 1 for node in (*nodes, *folded)),
        is_active=line.is_active,
        agent=line.agent,
        junctions=tuple(uuid for uuid in all_uuids if uuid in left_at),
    )


def _iter_below(graph: SessionGraph, line: DagLine, depth: int) -> Iterator[DagLine | OutlineItem]:
    leaving: dict[str | None, list[DagLine]] = {}
    sessions: list[DagLine] = []
    for name in graph.tree.children.get(line.id, ()):  # in time order
        child = graph.lines[name]
        if child.kind in SPOKEN and child.session != line.session:
            sessions.append(child)
        else:
            leaving.setdefault(resolve_fold(graph, child.attachment), []).append(child)
    for uuid in line.nodes:
        if graph.nodes[uuid].is_boundary:
            time = graph.nodes[uuid].timestamp
            yield OutlineItem(
                kind="compaction",
                id=uuid,
                session=line.session,
                project="",
                depth=depth,
                parent=line.id,
                attachment=graph.edge_of(uuid).parent,
                started=time,
                ended=time,
                is_active=line.is_active,
            )
        yield from leaving.pop(uuid, ())
    for rest in leaving.values():
        yield from rest
    yield from sessions


def _count_agents(
    graph: SessionGraph, below: Iterable[DagLine | OutlineItem], line: DagLine, depth: int
) -> list[DagLine | OutlineItem]:
    rest: list[DagLine | OutlineItem] = []
    agents: list[str] = []
    for item in below:
        if isinstance(item, DagLine) and item.kind == "agent":
            agents.append(item.id)
        else:
            rest.append(item)
    if not agents:
        return rest
    for name in agents:
        agents.extend(graph.tree.children.get(name, ()))
    count = sum(graph.lines[name].kind == "agent" for name in agents)
    found = OutlineItem("agents", f"{line.id}#agents", line.session, "", depth, line.id, None)
    return [replace(found, count=count), *rest]


def _get_project(graph: SessionGraph, line: DagLine) -> str:
    session = graph.sessions.get(line.session)
    return session.project if session else ""
