"""A graph to the tree of its sessions as a list: parents before children, each with its depth.

What hangs on a line stands in the order in which it leaves it: compactions, agents, branches.
The sessions that go on from it follow in the order of time.
"""

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Literal, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from plait.graph.model import DagLine, LineKind, SessionGraph
from plait.graph.paths import SPOKEN, label_of
from plait.graph.tree import unfolded

OutlineKind: TypeAlias = LineKind | Literal["compaction", "agents", "summary"]


class OutlineItem(Struct, frozen=True, gc=False):
    """A part of the tree: a line, a compaction on it, its agents together, a lone summary."""

    kind: OutlineKind
    id: str
    """The DAG-line, the record of a compaction, or the one that a summary describes."""
    session: str
    project: str
    depth: int
    parent: str | None
    """The DAG-line that it hangs on."""
    attachment: str | None
    """The node where it leaves that line."""
    title: str | None = None
    started: str | None = None
    ended: str | None = None
    records: int = 0
    folded: int = 0
    prompts: int = 0
    bytes: int = 0
    """Of the records that stand on it."""
    is_active: bool = True
    count: int = 1
    """How many agents, where they are counted together."""
    agent: str | None = None
    junctions: tuple[str, ...] = ()
    """The nodes that other lines leave it at."""


def outline(
    graph: SessionGraph, *, each_agent: bool = True, services: bool = True
) -> Iterator[OutlineItem]:
    """Yields the tree from the top; agents one by one, or only how many there are."""
    waiting: list[DagLine | OutlineItem] = [*reversed(_roots_by_project(graph))]
    depths: dict[str, int] = {}
    while waiting:
        one = waiting.pop()
        if isinstance(one, OutlineItem):
            yield one
            continue
        if one.kind == "service" and not services:
            continue
        depth = depths[one.id] = depths.get(one.parent or "", -1) + 1
        yield _item_of(graph, one, depth)
        below = list(_hanging_on(graph, one, depth + 1))
        if not each_agent:
            below = _together(graph, below, one, depth + 1)
        waiting.extend(reversed(below))


def _item_of(graph: SessionGraph, line: DagLine, depth: int) -> OutlineItem:
    nodes = [graph.nodes[uuid] for uuid in line.nodes]
    folded = [graph.nodes[uuid] for held in line.folded.values() for uuid in held]
    return OutlineItem(
        kind=line.kind,
        id=line.id,
        session=line.session,
        project=_project_of(graph, line),
        depth=depth,
        parent=line.parent,
        attachment=line.attachment,
        title=_title_of(graph, line),
        started=line.started,
        ended=line.ended,
        records=len(nodes),
        folded=len(folded),
        prompts=sum(node.is_human_prompt for node in nodes),
        bytes=sum(node.length + 1 for node in (*nodes, *folded)),
        is_active=line.is_active,
        agent=line.agent,
        junctions=tuple(_junctions_of(graph, line)),
    )


def _title_of(graph: SessionGraph, line: DagLine) -> str | None:
    """Returns what a line is called; an agent that nobody is left to have sent by its session."""
    if line.kind in SPOKEN:
        return label_of(graph, line)
    session = graph.sessions.get(line.session) if line.parent is None else None
    return line.label or (session.title if session else None)


def _junctions_of(graph: SessionGraph, line: DagLine) -> Iterator[str]:
    children = [graph.lines[name] for name in graph.tree.children.get(line.id, ())]
    left_at = {child.attachment for child in children}
    if left_at:
        held = chain(line.nodes, *line.folded.values())
        yield from (uuid for uuid in held if uuid in left_at)


def _hanging_on(graph: SessionGraph, line: DagLine, depth: int) -> Iterator[DagLine | OutlineItem]:
    leaving: dict[str | None, list[DagLine]] = {}
    sessions: list[DagLine] = []
    for name in graph.tree.children.get(line.id, ()):  # in time order
        child = graph.lines[name]
        if child.kind in SPOKEN and child.session != line.session:
            sessions.append(child)
        else:
            leaving.setdefault(unfolded(graph, child.attachment), []).append(child)
    for uuid in line.nodes:
        if graph.nodes[uuid].is_boundary:
            yield _compaction(graph, line, uuid, depth)
        yield from leaving.pop(uuid, ())
    for rest in leaving.values():
        yield from rest
    yield from sessions


def _compaction(graph: SessionGraph, line: DagLine, uuid: str, depth: int) -> OutlineItem:
    time = graph.nodes[uuid].timestamp
    return OutlineItem(
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


def _together(
    graph: SessionGraph, below: Iterable[DagLine | OutlineItem], line: DagLine, depth: int
) -> list[DagLine | OutlineItem]:
    rest: list[DagLine | OutlineItem] = []
    agents: list[str] = []
    for one in below:
        if isinstance(one, DagLine) and one.kind == "agent":
            agents.append(one.id)
        else:
            rest.append(one)
    if not agents:
        return rest
    for name in agents:
        agents.extend(graph.tree.children.get(name, ()))
    count = sum(graph.lines[name].kind == "agent" for name in agents)
    found = OutlineItem("agents", f"{line.id}#agents", line.session, "", depth, line.id, None)
    return [replace(found, count=count), *rest]


def _roots_by_project(graph: SessionGraph) -> list[DagLine | OutlineItem]:
    roots: list[tuple[str, DagLine | OutlineItem]] = [
        (_project_of(graph, graph.lines[name]), graph.lines[name]) for name in graph.tree.roots
    ]
    roots += [(item.project, item) for item in _lone_summaries(graph)]
    return [root for _, root in sorted(roots, key=lambda one: one[0])]


def _lone_summaries(graph: SessionGraph) -> Iterator[OutlineItem]:
    told = {node.file for node in graph.nodes.values()}
    for link in graph.summaries:
        file = graph.files[link.place.file]
        if link.place.file not in told:
            yield OutlineItem(
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


def _project_of(graph: SessionGraph, line: DagLine) -> str:
    session = graph.sessions.get(line.session)
    return session.project if session else ""
