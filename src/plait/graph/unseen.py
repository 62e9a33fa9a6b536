"""The line of a session to the messages on it that the client does not send when it goes on.

    U1 ── A1    U2<? ── A2              U2 names a parent that is nowhere: U1 A1 are unseen
    U1 ── T1 ── R1 ──┬── A1 ── A2       a notice below R1 was answered: A1 A2 are unseen
                     └── N1 ── A3

What stands before a compaction or a cleared context is not meant: that is said where it happened.
"""

from collections.abc import Iterable, Iterator, Sequence

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
    nodes = [known.nodes[known.at[uuid]] for uuid in line.nodes]
    chain = _by_parents(known, parents, leaf)
    # what a compaction preserved forgets all else before it, on other branches too
    held = known.facts[known.nodes[known.at[leaf]].file].nodes
    if chain is None or any(node.preserved for node in held):
        chain = _by_client(known, leaf)
    after = _after_cut(known, parents, nodes, chain[-1]) if chain else nodes
    return tuple(_beside(after, frozenset(chain)))


def _by_parents(known: Index, parents: Parents, leaf: str) -> list[str] | None:
    """Returns the records from the leaf up, None where the client looks for one by time."""
    found: dict[str, None] = {}
    here: str | None = leaf
    while here is not None:
        number = known.at.get(here)
        if number is None or here in found:
            return None
        found[here] = None
        node, edge = known.nodes[number], parents.edges.get(number)
        if node.is_boundary or (edge and edge.kind in CUTS):
            break
        if edge or node.kind not in LINKS:
            return None
        here = node.parent
    return list(found)


def _by_client(known: Index, leaf: str) -> list[str]:
    entries = entries_of(known.facts[known.nodes[known.at[leaf]].file])
    start = entries.index.get(leaf)
    chain = walk(entries, start) if start is not None else []
    return [entries.records[number].uuid for number in reversed(chain)]


def _after_cut(known: Index, parents: Parents, nodes: Sequence[Node], top: str) -> Sequence[Node]:
    """Returns the records since the last compaction or clearing at or before the chain's first."""
    cut = 0
    for place, node in enumerate(nodes):
        edge = parents.edges.get(known.at[node.uuid])
        if node.is_boundary or (edge and edge.kind in CUTS):
            cut = place
        if node.uuid == top:
            return nodes[cut:]
    return nodes


def _beside(nodes: Sequence[Node], chain: frozenset[str]) -> Iterator[str]:
    """Yields the messages that neither are on the chain nor belong to a response on it."""
    rest = [node for node in nodes if node.uuid not in chain and _is_message(node)]
    if not rest:
        return
    walked = [node for node in nodes if node.uuid in chain]
    responses = frozenset(node.message_id for node in walked if node.message_id)
    members = [node for node in nodes if node.uuid in chain or node.message_id in responses]
    calls = frozenset(_calls_of(members))
    for node in rest:
        if node.message_id not in responses and not calls.intersection(node.results):
            yield node.uuid


def _is_message(node: Node) -> bool:
    return node.kind in SPOKEN and not node.traits & NOT_SENT


def _calls_of(nodes: Iterable[Node]) -> Iterator[str]:
    for node in nodes:
        yield from (call.id for call in node.calls)
