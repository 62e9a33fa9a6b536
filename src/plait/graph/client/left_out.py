"""What a context left out to why, in the words of the graph that draws the same session.

By itself the client knows what is on its chain and what is not. The graph knows what left it: a
branch, a compaction, a cleared context, another session's records, or nothing that anyone did.
"""

from collections.abc import Mapping
from dataclasses import replace

from plait.graph.client.model import Context, LeftOut, Reason
from plait.graph.model import SessionGraph

OFF_CHAIN = frozenset({Reason.ABANDONED, Reason.BEFORE_COMPACTION})


def told_by(graph: SessionGraph, session: str, found: Context) -> Context:
    """Returns the context with reasons that agree with how the session is drawn."""
    known = graph.sessions.get(session)
    line = graph.lines.get(known.trunk or "") if known else None
    if line is None or not any(one.reason in OFF_CHAIN for one in found.left_out):
        return found
    inline = _reasons_inline(graph, line.nodes)
    inline.update(dict.fromkeys(known.unseen if known else (), Reason.UNSEEN))
    left_out = tuple(_told(graph, session, inline, one) for one in found.left_out)
    return replace(found, left_out=left_out)


def _reasons_inline(graph: SessionGraph, nodes: tuple[str, ...]) -> dict[str, Reason]:
    """Returns why each record of the line that goes on can be missing."""
    reason = Reason.UNSEEN
    found: dict[str, Reason] = {}
    for uuid in reversed(nodes):
        edge = graph.edges.get(uuid)
        found[uuid] = reason
        if graph.nodes[uuid].is_boundary:
            reason = Reason.BEFORE_COMPACTION
        elif edge and edge.kind == "restart" and reason is Reason.UNSEEN:
            reason = Reason.CLEARED
    return found


def _told(graph: SessionGraph, session: str, inline: Mapping[str, Reason], one: LeftOut) -> LeftOut:
    node = graph.nodes.get(one.uuid)
    if one.reason not in OFF_CHAIN or node is None:
        return one
    if one.uuid in inline:
        return replace(one, reason=inline[one.uuid])
    is_own = node.session == session
    return replace(one, reason=Reason.ABANDONED if is_own else Reason.OTHER_SESSION)
