"""Sessions to their graph, to the records behind it, and to what Claude will see of them."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from plait.archive.model import Session
from plait.errors import UserError
from plait.graph.build import build
from plait.graph.client import Context, context, resumed_leaf
from plait.graph.leaf import leaf_of
from plait.graph.model import Node, Place, SessionGraph
from plait.graph.source import FileFacts
from plait.line import lines
from plait.record import Record, Usage, entry_of, read
from plait.record.read import read_if_there

MANY = 50
"""From so many records on, a file is read from its beginning."""


@dataclass(frozen=True, slots=True)
class Resumption:
    """What Claude will see of a session, and what its last answer says of the size."""

    context: Context
    usage: Usage | None
    """Of the last answer on the chain; None where none says what it cost."""
    answer: str | None
    """The record that says so."""

    @property
    def tokens(self) -> int | None:
        """The tokens that the last answer left in the context, its own among them."""
        usage = self.usage
        if usage is None:
            return None
        cached = usage.cache_creation_input_tokens + usage.cache_read_input_tokens
        return usage.input_tokens + cached + usage.output_tokens


def graph_of(sessions: Iterable[Session]) -> SessionGraph:
    """Returns the graph of some sessions, their agents and workflows included.

    Where one session is asked for, the client's own rule says where it goes on; over many,
    the same rule on facts does, which does not hold their texts.
    """
    chosen = tuple(sessions)
    files = (file for session in chosen for file in session.files)
    return build(files, leaf_of=_exact_leaf) if len(chosen) == 1 else build(files)


def _exact_leaf(facts: FileFacts) -> str | None:
    """Returns the record that the client goes on from, else the one that it would without it."""
    path, size = Path(facts.file.path), facts.file.size
    return resumed_leaf(read_if_there(path), size) or leaf_of(facts)


def context_of(session: Session, as_: Literal["client", "sdk"] = "client") -> Context:
    """Returns what the client sends when it resumes a session, or what the SDK returns."""
    return resumption_of(session, as_).context


def resumption_of(session: Session, as_: Literal["client", "sdk"] = "client") -> Resumption:
    """Returns what Claude will see of a session, with the size that its last answer tells."""
    if session.file is None:
        raise UserError(
            f"session '{session.id}' has no file of its own, only its agents are left",
            f"`plait ls --long` shows where '{session.id[:8]}' lies",
        )
    records = list(read(session.file.path))
    found = context(records, size=session.file.size, as_=as_)
    answer = _last_answer(records, found.chain)
    usage = answer.message.usage if answer and answer.message else None
    return Resumption(found, usage, answer.uuid if answer else None)


def _last_answer(records: Iterable[Record], chain: Iterable[str]) -> Record | None:
    by_uuid = {record.uuid: record for record in records if record.kind == "assistant"}
    for uuid in reversed(tuple(chain)):
        record = by_uuid.get(uuid)
        usage = record.message.usage if record and record.message else None
        if usage and (usage.input_tokens or usage.output_tokens or usage.cache_read_input_tokens):
            return record
    return None


def records_of(graph: SessionGraph, uuids: Iterable[str]) -> Iterator[tuple[str, Record]]:
    """Yields the records of some nodes, read from where they lie; in the order of the files."""
    by_file: dict[int, list[Node]] = {}
    for uuid in uuids:
        by_file.setdefault(graph.nodes[uuid].file, []).append(graph.nodes[uuid])
    for file, nodes in sorted(by_file.items()):
        yield from _records_in(Path(graph.files[file].path), nodes)


def _records_in(path: Path, nodes: list[Node]) -> Iterator[tuple[str, Record]]:
    if len(nodes) > MANY:
        wanted = {node.offset: node.uuid for node in nodes}
        for record in read(path):
            if record.offset in wanted:
                yield wanted[record.offset], record
        return
    for node in sorted(nodes, key=lambda node: node.line):
        found = _record_at(path, node.place)
        if found is not None:
            yield node.uuid, found


def _record_at(path: Path, place: Place) -> Record | None:
    """Returns the record at a place of a file, None where another stands there by now."""
    end = place.offset + place.length
    for line in lines(path, offset=place.offset, number=place.line, end=end):
        entry = entry_of(line)
        return entry if isinstance(entry, Record) else None
    return None
