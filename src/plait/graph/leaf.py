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
    last = _last_link(facts)
    if last is None:
        return None
    nodes = {node.uuid: node for node in facts.nodes}
    pointer = _pointer_of(facts)
    if pointer is None:
        return _newest_below(nodes, nodes[last.uuid])
    pointed = nodes.get(pointer.leaf or "")
    if pointed is None or pointed.kind not in CHAIN:
        # format: an explicit pointer to nothing is a rewind to the start
        if pointer.leaf is None:
            is_cleared = pointer.after == len(facts.nodes)
            return None if is_cleared else _newest_below(nodes, nodes[last.uuid])
        return last.uuid
    if not _cuts(facts, pointer) and _is_on_line(nodes, pointed, nodes[last.uuid]):
        return last.uuid  # format: with any pointer, the last line itself is the leaf
    return pointed.uuid


def _last_link(facts: FileFacts) -> Node | None:
    for node in reversed(facts.nodes):
        if node.kind in CHAIN and not node.traits & Trait.SIDECHAIN:
            return node
    return None


def _pointer_of(facts: FileFacts) -> Aside | None:
    for aside in reversed(facts.asides):
        if aside.kind == POINTER and (aside.leaf or aside.explicit):
            # format: a compaction takes the pointer away
            is_stale = any(node.is_boundary for node in facts.nodes[aside.after :])
            return None if is_stale else aside
    return None


def _cuts(facts: FileFacts, pointer: Aside) -> bool:
    followers = facts.nodes[pointer.after :]
    is_last = not any(
        node.kind in CHAIN and not node.traits & Trait.SIDECHAIN for node in followers
    )
    # format: the same pointer written again plainly is still the explicit one
    same = (one for one in facts.asides if one.kind == POINTER and one.leaf == pointer.leaf)
    return is_last and any(one.explicit and one.after == pointer.after for one in same)


def _newest_below(nodes: dict[str, Node], start: Node) -> str:
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
            if _is_newer(child, best):
                best = child
    return best.uuid


def _is_newer(node: Node, best: Node) -> bool:
    is_link = node.kind in CHAIN and not node.traits & Trait.SIDECHAIN
    return is_link and (node.timestamp or "") >= (best.timestamp or "")


def _is_on_line(nodes: dict[str, Node], pointed: Node, last: Node) -> bool:
    line = {node.uuid for node in _line_above(nodes, last)}
    if pointed.uuid in line:
        return True
    call = _owning_call(nodes, pointed)
    if call is None or not call.message_id:
        return False
    joint = next((node for node in _line_above(nodes, call) if node.uuid in line), None)
    return joint is not None and joint.message_id == call.message_id and bool(joint.calls)


def _owning_call(nodes: dict[str, Node], pointed: Node) -> Node | None:
    if pointed.calls:
        return pointed
    for node in _line_above(nodes, pointed):
        if node.results:
            parent = nodes.get(node.parent or "")
            return parent if parent and parent.calls else None
        if not node.traits & (Trait.STRUCTURAL | Trait.META):
            return None
    return None


def _line_above(nodes: dict[str, Node], node: Node) -> list[Node]:
    found: list[Node] = []
    seen: set[str] = set()
    here: Node | None = node
    while here is not None and here.uuid not in seen:
        seen.add(here.uuid)
        found.append(here)
        here = nodes.get(here.parent or "")
    return found
