"""A graph to every way from a root to a leaf, as the records themselves name their parents.

Nothing is folded and nothing repaired, so parallel calls make dead ends: this is what is in
the files, not what was said. A compaction goes on from the record that it names.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from plait.graph.model import Node, SessionGraph
from plait.graph.paths import MESSAGES, Path

PLAIN = frozenset({"parent", "logical"})


class Standing(NamedTuple):
    """What a record has above it, itself included."""

    number: int
    """In the order depth first: those below a record follow it without a gap."""
    messages: int = 0
    compactions: int = 0
    prompt: str | None = None
    """The first words of the last prompt."""


@dataclass(frozen=True, slots=True)
class RawGraph:
    """The plain graph: a parent for each record, and how far down it stands."""

    graph: SessionGraph
    parents: Mapping[str, str | None]
    standings: Mapping[str, Standing]
    ends: Mapping[str, int]
    """The number behind the last record below each."""
    leaves: Mapping[str, list[str]]
    """By session, depth first, children in file order."""

    @classmethod
    def of(cls, graph: SessionGraph) -> "RawGraph":
        """Returns the plain graph of a graph."""
        parents = _plain_parents(graph)
        order = _depth_first(graph, parents)
        ends = _ends_of(order, parents)
        leaves: dict[str, list[str]] = {}
        for number, uuid in enumerate(order, 1):
            if ends[uuid] == number:
                leaves.setdefault(graph.nodes[uuid].session, []).append(uuid)
        return cls(graph, parents, _standings_of(graph, order, parents), ends, leaves)

    def paths(self) -> Iterator[Path]:
        """Yields every path, session by session; their records are made on demand."""
        for session, leaves in self.leaves.items():
            active = self.active_leaf(session)
            forks: dict[str, str | None] = {}
            for number, leaf in enumerate(leaves, 1):
                is_active = leaf == active
                standing = self.standings[leaf]
                yield Path(
                    session=session,
                    path=number,
                    of=len(leaves),
                    status="ACTIVE" if is_active else "ABANDONED",
                    fork_point=self.fork_point(leaf, active, forks) if not is_active else None,
                    leaf=leaf,
                    line=self.graph.line_of[leaf],
                    label=standing.prompt,
                    messages=standing.messages,
                    compactions=standing.compactions,
                )

    def uuids(self, path: Path) -> tuple[str, ...]:
        """Returns the records of a path, root to leaf."""
        return tuple(self.upwards(path.leaf))[::-1]

    def upwards(self, leaf: str) -> Iterator[str]:
        """Yields a record and its ancestors."""
        here: str | None = leaf
        while here is not None:
            yield here
            here = self.parents[here]

    def active_leaf(self, session: str) -> str | None:
        """Returns the leaf that is, or is the last below, the record the client goes on from."""
        known = self.graph.sessions.get(session)
        goal = known.leaf if known else None
        if goal is None or goal not in self.parents:
            return None
        below = (leaf for leaf in reversed(self.leaves[session]) if self.is_above(goal, leaf))
        return next(below, None)

    def is_above(self, one: str, other: str) -> bool:
        """Tells whether a record is another or an ancestor of it."""
        return self.standings[one].number <= self.standings[other].number < self.ends[one]

    def fork_point(self, leaf: str, active: str | None, forks: dict[str, str | None]) -> str | None:
        """Returns the last record that a path shares with the active one; keeps what it met."""
        passed: list[str] = []
        found: str | None = None
        for uuid in self.upwards(leaf) if active else ():
            if uuid in forks:
                found = forks[uuid]
                break
            if active and self.is_above(uuid, active):
                found = uuid
                break
            passed.append(uuid)
        forks.update(dict.fromkeys(passed, found))
        return found


def _plain_parents(graph: SessionGraph) -> dict[str, str | None]:
    """Returns the parent that each record of a session's own file names, None for a root.

    A parent that is in no session's file, or that would close a circle, is none.
    """
    own = [uuid for uuid, node in graph.nodes.items() if _is_of_session(graph, node)]
    edges = {uuid: graph.edge_of(uuid) for uuid in own}
    return {
        uuid: edge.parent if edge.kind in PLAIN and edge.parent in edges else None
        for uuid, edge in edges.items()
    }


def _is_of_session(graph: SessionGraph, node: Node) -> bool:
    return graph.files[node.file].kind == "session"


def _depth_first(graph: SessionGraph, parents: Mapping[str, str | None]) -> list[str]:
    children: dict[str | None, list[str]] = {}
    for uuid, parent in parents.items():
        children.setdefault(parent, []).append(uuid)
    for below in children.values():
        below.sort(key=lambda uuid: _order(graph.nodes[uuid]), reverse=True)
    found: list[str] = []
    waiting = children.get(None, [])
    while waiting:
        uuid = waiting.pop()
        found.append(uuid)
        waiting.extend(children.get(uuid, ()))
    return found


def _order(node: Node) -> tuple[int, int]:
    """Returns where a record stands, so that earlier ones are less."""
    return node.file, node.line


def _ends_of(order: Iterable[str], parents: Mapping[str, str | None]) -> dict[str, int]:
    ends = {uuid: number for number, uuid in enumerate(order, 1)}
    for uuid in reversed(list(ends)):
        parent = parents[uuid]
        if parent is not None:
            ends[parent] = max(ends[parent], ends[uuid])
    return ends


def _standings_of(
    graph: SessionGraph, order: Iterable[str], parents: Mapping[str, str | None]
) -> dict[str, Standing]:
    found: dict[str, Standing] = {}
    for number, uuid in enumerate(order):
        above = found.get(parents[uuid] or "", Standing(0))
        node = graph.nodes[uuid]
        found[uuid] = Standing(
            number,
            above.messages + (node.kind in MESSAGES),
            above.compactions + node.is_boundary,
            node.preview if node.is_human_prompt else above.prompt,
        )
    return found
