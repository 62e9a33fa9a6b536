"""Facts of a session's file to the record that the client would go on from.

The rule of `plait.graph.client`, on facts instead of records: building a graph must not hold
the texts. A test holds the two together.
"""

from plait.graph.model import Node, Trait
from plait.graph.repair import CHAIN
from plait.graph.source import Aside, FileFacts

POINTER = "last-prompt"


def leaf_of(facts: FileFacts) -> str | None:
    """Returns the uuid of the record that the client continues, None where there is none."""
    last = last_link(facts)
    if last is None:
        return None
    nodes = {node.uuid: node for node in facts.nodes}
    pointer = pointer_of(facts)
    if pointer is None:
        return newest_below(nodes, nodes[last.uuid])
    pointed = nodes.get(pointer.leaf or "")
    if pointed is None or pointed.kind not in CHAIN:
        # format: an explicit pointer to nothing is a rewind to the start
        if pointer.leaf is None:
            is_cleared = pointer.after == len(facts.nodes)
            return None if is_cleared else newest_below(nodes, nodes[last.uuid])
        return last.uuid
    if not cuts(facts, pointer) and is_on_line(nodes, pointed, nodes[last.uuid]):
        return last.uuid  # format: with any pointer, the last line itself is the leaf
    return pointed.uuid


def last_link(facts: FileFacts) -> Node | None:
    """Returns the last record of the main chain."""
    for node in reversed(facts.nodes):
        if node.kind in CHAIN and not node.traits & Trait.SIDECHAIN:
            return node
    return None


def pointer_of(facts: FileFacts) -> Aside | None:
    """Returns the last line that points to a leaf, or explicitly to none."""
    for aside in reversed(facts.asides):
        if aside.kind == POINTER and (aside.leaf or aside.explicit):
            # format: a compaction takes the pointer away
            is_stale = any(node.is_boundary for node in facts.nodes[aside.after :])
            return None if is_stale else aside
    return None


def cuts(facts: FileFacts, pointer: Aside) -> bool:
    """Tells whether a pointer is explicit and no link of the chain follows it."""
    followers = facts.nodes[pointer.after :]
    is_last = not any(
        node.kind in CHAIN and not node.traits & Trait.SIDECHAIN for node in followers
    )
    # format: the same pointer written again plainly is still the explicit one
    same = (one for one in facts.asides if one.kind == POINTER and one.leaf == pointer.leaf)
    return is_last and any(one.explicit and one.after == pointer.after for one in same)


def newest_below(nodes: dict[str, Node], start: Node) -> str:
    """Returns the newest of a record and its descendants: a parent can follow its child."""
    if all(node.parent != start.uuid for node in nodes.values()):
        return start.uuid
    children: dict[str, list[Node]] = {}
    for node in nodes.values():
        if node.parent is not None:
            children.setdefault(node.parent, []).append(node)
    best, waiting, seen = start, [start], {start.uuid}
    for node in waiting:
        for child in children.get(node.uuid, ()):
            if child.uuid in seen:
                continue
            seen.add(child.uuid)
            waiting.append(child)
            if is_newer(child, best):
                best = child
    return best.uuid


def is_newer(node: Node, best: Node) -> bool:
    """Tells whether a record can be the leaf instead of another."""
    is_link = node.kind in CHAIN and not node.traits & Trait.SIDECHAIN
    return is_link and (node.timestamp or "") >= (best.timestamp or "")


def is_on_line(nodes: dict[str, Node], pointed: Node, last: Node) -> bool:
    """Tells whether a record is an ancestor of the last one, or a parallel sibling of one."""
    line = {node.uuid for node in line_above(nodes, last)}
    if pointed.uuid in line:
        return True
    call = owning_call(nodes, pointed)
    if call is None or not call.message_id:
        return False
    joint = next((node for node in line_above(nodes, call) if node.uuid in line), None)
    return joint is not None and joint.message_id == call.message_id and bool(joint.calls)


def owning_call(nodes: dict[str, Node], pointed: Node) -> Node | None:
    """Returns the call that a record is, answers, or accompanies the answer of."""
    if pointed.calls:
        return pointed
    for node in line_above(nodes, pointed):
        if node.results:
            parent = nodes.get(node.parent or "")
            return parent if parent and parent.calls else None
        if not node.traits & (Trait.STRUCTURAL | Trait.META):
            return None
    return None


def line_above(nodes: dict[str, Node], node: Node) -> list[Node]:
    """Returns a record and its ancestors by the parents they name."""
    found: list[Node] = []
    seen: set[str] = set()
    here: Node | None = node
    while here is not None and here.uuid not in seen:
        seen.add(here.uuid)
        found.append(here)
        here = nodes.get(here.parent or "")
    return found
