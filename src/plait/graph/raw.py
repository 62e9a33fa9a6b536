"""A graph to every way from a root to a leaf, as the records themselves name their parents.

Nothing is folded and nothing repaired, so parallel calls make dead ends: this is what is in
the files, not what was said. A compaction goes on from the record that it names.
"""

from collections.abc import Iterable, Iterator, Mapping

from plait.graph.model import Node, SessionGraph
from plait.graph.paths import MESSAGES, Path

PLAIN = frozenset({"parent", "logical"})


def raw_paths(graph: SessionGraph) -> Iterator[tuple[Path, tuple[str, ...]]]:
    """Yields every path of the plain graph with its records, root to leaf, session by session."""
    parents = plain_parents(graph)
    leaves: dict[str, list[str]] = {}
    for leaf in leaves_in_order(graph, parents):
        leaves.setdefault(graph.nodes[leaf].session, []).append(leaf)
    for session, found in leaves.items():
        active = active_leaf(graph, session, found, parents)
        kept = frozenset(upwards(active, parents)) if active else frozenset()
        for number, leaf in enumerate(found, 1):
            way = tuple(upwards(leaf, parents))
            fork = None if leaf == active else next((one for one in way if one in kept), None)
            yield (
                Path(
                    session=session,
                    path=number,
                    of=len(found),
                    status="ACTIVE" if leaf == active else "ABANDONED",
                    fork_point=fork,
                    leaf=leaf,
                    line=graph.line_of[leaf],
                    label=last_prompt(graph, way),
                    messages=sum(graph.nodes[one].kind in MESSAGES for one in way),
                    compactions=sum(graph.nodes[one].is_boundary for one in way),
                ),
                way[::-1],
            )


def plain_parents(graph: SessionGraph) -> dict[str, str | None]:
    """Returns the parent that each record of a session's own file names, None for a root.

    A parent that is in no session's file, or that would close a circle, is none.
    """
    own = [uuid for uuid, node in graph.nodes.items() if is_of_session(graph, node)]
    edges = {uuid: graph.edge_of(uuid) for uuid in own}
    return {
        uuid: edge.parent if edge.kind in PLAIN and edge.parent in edges else None
        for uuid, edge in edges.items()
    }


def is_of_session(graph: SessionGraph, node: Node) -> bool:
    """Tells whether a record stands in a session's own file."""
    return graph.files[node.file].kind == "session"


def leaves_in_order(graph: SessionGraph, parents: Mapping[str, str | None]) -> Iterator[str]:
    """Yields the records that nothing hangs on, depth first, children in file order."""
    children: dict[str | None, list[str]] = {}
    for uuid, parent in parents.items():
        children.setdefault(parent, []).append(uuid)
    waiting = sorted(children.get(None, ()), key=lambda uuid: order(graph.nodes[uuid]))[::-1]
    while waiting:
        uuid = waiting.pop()
        below = children.get(uuid)
        if below:
            waiting.extend(sorted(below, key=lambda one: order(graph.nodes[one]), reverse=True))
        else:
            yield uuid


def order(node: Node) -> tuple[int, int]:
    """Returns where a record stands, so that earlier ones are less."""
    return node.file, node.line


def active_leaf(
    graph: SessionGraph, session: str, leaves: list[str], parents: Mapping[str, str | None]
) -> str | None:
    """Returns the leaf that is, or is the last below, the record the client goes on from."""
    known = graph.sessions.get(session)
    goal = known.leaf if known else None
    if goal is None or goal in leaves:
        return goal
    below = (leaf for leaf in reversed(leaves) if goal in upwards(leaf, parents))
    return next(below, None)


def last_prompt(graph: SessionGraph, way: Iterable[str]) -> str | None:
    """Returns the first words of the last prompt on a way that is told from its end."""
    nodes = (graph.nodes[uuid] for uuid in way)
    return next((node.preview for node in nodes if node.is_human_prompt), None)


def upwards(leaf: str, parents: Mapping[str, str | None]) -> Iterator[str]:
    """Yields a record and its ancestors."""
    here: str | None = leaf
    while here is not None:
        yield here
        here = parents.get(here)
