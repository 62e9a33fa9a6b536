"""A DAG-line to the segments that stand on one row each, and to the lines that leave it.

U A T R A │ U A │ ◆ C │ A T R │ U A        turns; ◆ a compaction, C its summary
"""

from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from typing import Literal, TypeAlias

from plait.graph.model import DagLine, Node, SessionGraph, Trait
from plait.graph.paths import SPOKEN
from plait.graph.tree import unfolded

Detail: TypeAlias = Literal["run", "turn", "record"]
Segment: TypeAlias = tuple[Node, ...]

PROMPTS = Trait.HUMAN | Trait.QUEUED


def segments(
    graph: SessionGraph,
    nodes: Iterable[str],
    detail: Detail,
    forks: Set[str],
    cleared: Set[str] = frozenset(),
) -> Iterator[Segment]:
    """Yields the records of a line, cut where a row begins and behind every fork.

    Turns are also cut where the context was cleared: a hook can stand before the first prompt.
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


def _begins_record(held: Sequence[Node], node: Node) -> bool:
    return True


def _begins_turn(held: Sequence[Node], node: Node) -> bool:
    if node.is_boundary or is_opener(node):
        return any(is_part_of_turn(one) for one in held)
    return held[0].is_boundary and node.kind == "assistant"


def _begins_run(held: Sequence[Node], node: Node) -> bool:
    return node.is_boundary


def is_opener(node: Node) -> bool:
    """Tells whether a record begins a turn by itself."""
    if node.traits & PROMPTS:
        return True
    return bool(node.traits & Trait.ASKS) and not node.traits & Trait.META


def is_part_of_turn(node: Node) -> bool:
    """Tells what a person reads from what only leads up to it."""
    return not node.is_structural and not node.traits & Trait.META


BEGINNINGS: dict[Detail, Callable[[Sequence[Node], Node], bool]] = {
    "run": _begins_run,
    "turn": _begins_turn,
    "record": _begins_record,
}


LinesLeaving: TypeAlias = dict[tuple[str, str | None], list[DagLine]]


def lines_leaving(graph: SessionGraph, *, everything: bool) -> LinesLeaving:
    """Returns the lines that leave each node of a line; None is before its start."""
    found: LinesLeaving = {}
    for names in graph.tree.children.values():
        for name in names:
            line = graph.lines[name]
            if line.parent and not _is_unsent(line) and is_shown(line, everything=everything):
                node = unfolded(graph, line.attachment)
                found.setdefault((line.parent, node), []).append(line)
    return found


def unsent_agents(graph: SessionGraph, roots: Iterable[str]) -> list[str]:
    """Returns the agents below some roots of which nothing says where they leave."""
    found: list[str] = []
    waiting = list(roots)
    for name in waiting:
        below = graph.tree.children.get(name, ())
        found += [one for one in below if _is_unsent(graph.lines[one])]
        waiting += below
    return found


def _is_unsent(line: DagLine) -> bool:
    return line.kind not in SPOKEN and line.attachment is None


def is_shown(line: DagLine, *, everything: bool) -> bool:
    """Tells whether a line is drawn at all."""
    return bool(line.nodes or line.folded) and (everything or line.kind != "service")


def forks_on_lines(leaving: LinesLeaving) -> dict[str, set[str]]:
    """Returns the nodes of each line that other conversations leave from."""
    found: dict[str, set[str]] = {}
    for (name, node), lines in leaving.items():
        if node and any(line.kind in SPOKEN for line in lines):
            found.setdefault(name, set()).add(node)
    return found
