"""Records that several files hold to what differs between them.

A.jsonl  a b c              the session itself
B.jsonl  a b' d             b' has the uuid of b and other words: a finding
"""

from collections.abc import Mapping, Sequence
from typing import Any

from plait.graph.model import Finding, Node
from plait.graph.source import FileFacts


def differing(
    files: Sequence[FileFacts], shared: Mapping[str, list[Node]], owners: Mapping[str, int]
) -> list[Finding]:
    """Returns a finding for each file with copies that are not what their owner has."""
    found: dict[tuple[int, int], list[Node]] = {}
    for uuid, nodes in shared.items():
        own = next(node for node in nodes if node.file == owners[uuid])
        content = content_of(own)
        for node in nodes:
            if node is not own and content_of(node) != content:
                found.setdefault((node.file, own.file), []).append(node)
    return [differs(files[owner].file.path, nodes) for (_, owner), nodes in sorted(found.items())]


def content_of(node: Node) -> tuple[Any, ...]:
    """Returns what a copy has in common with its original, as far as the graph knows it."""
    calls = tuple(call.id for call in node.calls)
    return node.kind, node.subtype, node.message_id, calls, node.results, node.digest


def differs(owner: str, nodes: Sequence[Node]) -> Finding:
    """Says that some records of a file only pretend to be copies."""
    count = len(nodes)
    records = "1 record has" if count == 1 else f"{count} records have"
    sentence = f"{records} the same uuid as in '{owner}', but other content"
    return Finding("other-content", sentence, nodes[0].file, nodes[0].line)
