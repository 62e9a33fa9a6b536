"""A DAG-line to the stretches that stand on one row each: records, turns, or straight runs.

U A T R A │ U A │ ◆ C │ A T R │ U A        turns; ◆ a compaction, C its summary
"""

from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from typing import Literal, TypeAlias

from plait.graph.model import Node, SessionGraph, Trait

Detail: TypeAlias = Literal["run", "turn", "record"]
Stretch: TypeAlias = tuple[Node, ...]

PROMPTS = Trait.HUMAN | Trait.QUEUED


def stretches(
    graph: SessionGraph, nodes: Iterable[str], detail: Detail, partings: Set[str]
) -> Iterator[Stretch]:
    """Yields the records of a line, cut where a row begins and behind every parting."""
    begins = BEGINNINGS[detail]
    held: list[Node] = []
    is_parted = False
    for uuid in nodes:
        node = graph.nodes[uuid]
        if held and (begins(held, node) or (is_parted and not node.is_structural)):
            yield tuple(held)
            held, is_parted = [], False
        held.append(node)
        is_parted = is_parted or uuid in partings
    if held:
        yield tuple(held)


def begins_record(held: Sequence[Node], node: Node) -> bool:
    """Tells that every record stands on a row of its own."""
    return True


def begins_turn(held: Sequence[Node], node: Node) -> bool:
    """Tells whether a record begins a turn: a prompt, a command, a compaction, what follows it."""
    if node.is_boundary or is_opener(node):
        return any(is_part_of_turn(one) for one in held)
    return held[0].is_boundary and node.kind == "assistant"


def begins_run(held: Sequence[Node], node: Node) -> bool:
    """Tells whether a record begins a straight run: only compactions part it."""
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
    "run": begins_run,
    "turn": begins_turn,
    "record": begins_record,
}
