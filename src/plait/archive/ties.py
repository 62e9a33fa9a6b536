"""A session to digests of all that it holds or names, by which its family is found."""

from array import array
from collections.abc import Iterable, Iterator
from dataclasses import replace

from plait.archive.model import Session
from plait.conversation.share import digest
from plait.graph.build import Builder
from plait.graph.node import Node
from plait.graph.source import FileFacts, sources
from plait.record import Record

NONE = frozenset(("", "session ", "session None", "agent None", "run None"))
"""What stands for nothing."""


def read_facts(session: Session) -> tuple[list[FileFacts], set[str]]:
    """Reads what the graph knows of a session's files, and the times of its loose lines."""
    builder, loose = Builder(), set[str]()
    for source in sources(session.files):
        builder.add(replace(source, records=noticing(source.records, loose)))
    return list(builder.facts.values()), loose


def noticing(records: Iterable[Record], loose: set[str]) -> Iterator[Record]:
    """Yields records, and notices when those without a uuid were written."""
    for record in records:
        if record.uuid is None and record.timestamp:
            loose.add(record.timestamp)
        yield record


def ties_of(facts: Iterable[FileFacts], loose: Iterable[str]) -> "array[int]":
    """Returns digests of all that a session holds or names."""
    found = {f"loose {time}" for time in loose}
    for one in facts:
        found.update(ties_of_file(one))
        for node in one.nodes:
            found.update(filter(None, ties_of_node(node)))
    return array("q", map(digest, found - NONE))


def ties_of_file(facts: FileFacts) -> Iterator[str]:
    """Yields what a file names besides its records."""
    yield f"session {facts.session}"
    file, meta = facts.file, facts.meta
    yield f"agent {file.agent}"
    yield f"run {file.run}"
    if meta:
        yield meta.call_id or ""
        yield f"agent {meta.parent_agent_id}"
    for aside in facts.asides:
        yield aside.leaf or ""
        yield f"agent {aside.agent}"
        yield f"session {aside.session}"


def ties_of_node(node: Node) -> Iterator[str | None]:
    """Yields what a record is known by, and what it names."""
    yield node.uuid
    yield node.parent
    yield node.logical
    yield node.source
    yield node.message_id
    yield node.request_id
    yield from node.kept
    yield from node.results
    yield from (call.id for call in node.calls)
    yield f"session {node.session}"
    if node.forked_from:
        yield f"session {node.forked_from}"
    if node.agent:
        yield f"agent {node.agent}"
    if node.spawned:
        yield f"agent {node.spawned.agent}"
        yield f"run {node.spawned.run}"
