"""The line of a session to the messages on it that the client does not send when it goes on.

    U1 ── A1    U2<? ── A2              U2 names a parent that is nowhere: U1 A1 are unseen
    U1 ── T1 ── R1 ──┬── A1 ── A2       a notice below R1 was answered: A1 A2 are unseen
                     └── N1 ── A3

What stands before a compaction or a cleared context is not meant: that is said where it happened.
"""

from collections.abc import Iterable, Iterator

from plait.graph.ascent import walk
from plait.graph.entries import CHAIN_TYPES
from plait.graph.index import Index
from plait.graph.leaf import entries_of
from plait.graph.model import DagLine, Node, Trait
from plait.graph.repair import Parents

SPOKEN = frozenset({"user", "assistant"})
NOT_SENT = Trait.SIDECHAIN | Trait.ERROR | Trait.MUTE
CUTS = frozenset({"restart", "logical", "boundary"})
LINKS = CHAIN_TYPES | {"progress"}


def unseen_on(known: Index, parents: Parents, line: DagLine, leaf: str | None) -> tuple[str, ...]:
    """Returns the messages of a line that are beside the client's chain, in reading order."""
    if leaf is None or leaf not in known.at:
        return ()
    numbers = list(map(known.at.__getitem__, line.nodes))
    chain = _by_parents(known, parents, known.at[leaf])
    # what a compaction preserved forgets all else before it, on other branches too
    held = known.facts[known.nodes[known.at[leaf]].file].nodes
    if chain is None or any(node.preserved for node in held):
        chain = _by_client(known, leaf)
    on_chain = bytearray(len(known.nodes))
    for number in chain:
        on_chain[number] = 1
    after = _after_cut(known, parents, numbers, chain[-1]) if chain else numbers
    return tuple(_beside(known, after, on_chain))


def _by_parents(known: Index, parents: Parents, leaf: int) -> list[int] | None:
    """Returns the records from the leaf up, None where the client looks for one by time.

    What hangs where it says has no edge of its own, and what it names is there.
    """
    nodes, up, edges = known.nodes, parents.up, parents.edges
    found: list[int] = []
    here, boundary = leaf, Trait.BOUNDARY
    for _ in nodes:  # even a circle ends
        found.append(here)
        node, edge = nodes[here], edges.get(here)
        if node.traits & boundary or (edge and edge.kind in CUTS):
            return found
        if edge or node.kind not in LINKS:
            return None
        here = up[here]
        if here < 0:
            return found
    return None


def _by_client(known: Index, leaf: str) -> list[int]:
    entries = entries_of(known.facts[known.nodes[known.at[leaf]].file])
    start = entries.index.get(leaf)
    chain = walk(entries, start) if start is not None else []
    return [known.at[entries.records[number].uuid] for number in reversed(chain)]


def _after_cut(known: Index, parents: Parents, numbers: list[int], top: int) -> list[int]:
    """Returns the records since the last compaction or clearing at or before the chain's first."""
    cut = 0
    for place, number in enumerate(numbers):
        edge = parents.edges.get(number)
        if known.nodes[number].is_boundary or (edge and edge.kind in CUTS):
            cut = place
        if number == top:
            return numbers[cut:]
    return numbers


def _beside(known: Index, numbers: list[int], on_chain: bytearray) -> Iterator[str]:
    """Yields the messages that neither are on the chain nor belong to a response on it."""
    left = [known.nodes[number] for number in numbers if not on_chain[number]]
    rest = [node for node in left if _is_message(node)]
    if not rest:
        return
    walked = [known.nodes[number] for number in numbers if on_chain[number]]
    responses = frozenset(node.message_id for node in walked if node.message_id)
    calls = frozenset(
        _calls_of([*walked, *(node for node in left if node.message_id in responses)])
    )
    for node in rest:
        if node.message_id not in responses and not calls.intersection(node.results):
            yield node.uuid


def _is_message(node: Node) -> bool:
    return node.kind in SPOKEN and not node.traits & NOT_SENT


def _calls_of(nodes: Iterable[Node]) -> Iterator[str]:
    for node in nodes:
        yield from (call.id for call in node.calls)
