"""A session to what it adds to figures, what it shares with others, and rows of what it did.

All three take a whole reading of its logs, so they are worked out together.
"""

from array import array
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from plait.archive.model import Session
from plait.archive.open_session import OpenSession, opened
from plait.conversation.changes import touches_of
from plait.conversation.items import Responses, items_of
from plait.conversation.model import Conversation, Told
from plait.conversation.stats.model import SessionCounts, digest
from plait.conversation.stats.session import SessionCounter
from plait.conversation.walk import calls_of, walk
from plait.errors import SourceError
from plait.graph.build import Builder
from plait.graph.model import Node, SessionGraph
from plait.graph.source import FileFacts, sources
from plait.index.model import LineRow
from plait.line import lines
from plait.record import Record
from plait.record.codec import encode
from plait.record.read import Broken, entries, record_of

NONE = frozenset(("", "loose ", "session ", "session None", "agent None", "run None"))
"""What stands for nothing."""
TELLING = frozenset(("user", "attachment", "queue-operation"))
"""Lines that may hold what a person typed."""


def read_facts(session: Session) -> tuple[list[FileFacts], set[str]]:
    """Reads what the graph knows of a session's files, and what its loose lines are known by."""
    builder, loose = Builder(), set[str]()
    for file, source in zip(session.files, sources(session.files), strict=True):
        builder.add(replace(source, records=_noticing(file.path, loose)))
    return list(builder.facts.values()), loose


def _noticing(path: Path, loose: set[str]) -> Iterator[Record]:
    with suppress(SourceError):
        for entry in entries(lines(path)):
            if isinstance(entry, Record):
                if entry.uuid is None:
                    loose.update(_references_of_loose(entry))
                yield entry
            elif isinstance(entry, Broken):
                for one in entry.recovered:
                    loose.update(_references_of_loose(record_of(encode(one.fields))))


def _references_of_loose(record: Record) -> Iterator[str]:
    """Yields what a record outside the graph is known by: one that has no uuid, or a broken line.

    Two that neither an id nor a time tells apart are the same where they say the same.
    """
    yield from filter(None, (record.uuid, record.message_id, record.request_id))
    if record.timestamp:
        yield f"loose {record.timestamp}"
    elif record.kind in TELLING:
        told = items_of(record, Responses(), 0)
        yield from (f"loose {item.text}" for item in told if isinstance(item, Told))


def references_of(facts: Iterable[FileFacts], loose: Iterable[str]) -> "array[int]":
    """Returns digests of all that a session holds or names, in its graph and outside it."""
    found = set(loose)
    for one in facts:
        found.update(_references_of_file(one))
        for node in one.nodes:
            found.update(filter(None, _references_of_node(node)))
    return array("q", map(digest, found - NONE))


def _references_of_file(facts: FileFacts) -> Iterator[str]:
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


def _references_of_node(node: Node) -> Iterator[str | None]:
    yield node.uuid
    yield node.parent
    yield node.logical
    yield node.source
    yield node.message_id
    yield node.request_id
    yield from node.preserved.uuids if node.preserved else ()
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


class Details(NamedTuple):
    """All that one reading of a session gives."""

    ties: list[int]
    """Digests of all that it holds or names."""
    share: SessionCounts
    """As if there were no other session."""
    lines: list[str]
    """The DAG-lines of its conversations."""
    tables: dict[str, list[tuple[Any, ...]]]
    """Rows by their table; those of a conversation begin with its number among the lines."""


def details_of(session: Session) -> Details:
    """Reads a session."""
    read = opened(session)
    held = (record for source in read.sources for record in source.records if not record.uuid)
    outside = chain(held, (record for _, record in read.recovered()))
    ties = references_of(read.file_facts, chain.from_iterable(map(_references_of_loose, outside)))
    return Details(
        list(ties),
        SessionCounter().counts_of(read.conversations, read.copied),
        [one.id for one in read.conversations.by_line.values()],
        _rows_of(read),
    )


def numbered(found: Details, lines: Sequence[LineRow]) -> dict[str, list[tuple[Any, ...]]]:
    """Returns the rows of a session by the numbers that a catalogue gives its DAG-lines."""
    numbers = {line.id: dag for dag, line in enumerate(lines)}
    given = [numbers.setdefault(line, len(numbers)) for line in found.lines]
    return {
        table: [(given[row[0]], *row[1:]) for row in rows] if table in TOLD else rows
        for table, rows in found.tables.items()
    }


TOLD = ("responses", "calls", "touches")
"""Tables of what conversations tell."""


def shares_of(sessions: Iterable[Session]) -> Iterator[SessionCounts]:
    """Yields what sessions add, in their order: what an earlier one had is left out."""
    counter = SessionCounter()
    for session in sessions:
        read = opened(session)
        yield counter.counts_of(read.conversations, read.copied)


def _rows_of(read: OpenSession) -> dict[str, list[tuple[Any, ...]]]:
    found: dict[str, list[tuple[Any, ...]]] = {table: [] for table in TOLD}
    for place, conversation in enumerate(read.conversations.by_line.values()):
        found["responses"] += _responses_in(conversation, place)
        found["calls"] += _calls_in(conversation, place)
        found["touches"] += _touches_in(conversation, place)
    found["findings"] = list(_findings_in(read.graph))
    return found


def _responses_in(conversation: Conversation, dag: int) -> Iterator[tuple[Any, ...]]:
    turns = {
        response: turn
        for turn, item in walk(conversation)
        if (response := getattr(item, "response", None)) is not None
    }
    for number, one in enumerate(conversation.responses):
        tokens = one.tokens
        yield (
            *(dag, number, turns.get(number), one.key, next(iter(one.uuids), None)),
            *(one.model, one.started, tokens.input, tokens.output, tokens.cache_write_5m),
            *(tokens.cache_write_1h, tokens.cache_read, tokens.web_searches, tokens.web_fetches),
            *(one.is_error, one.is_synthetic),
        )


def _calls_in(conversation: Conversation, dag: int) -> Iterator[tuple[Any, ...]]:
    for number, (turn, one) in enumerate(calls_of(conversation)):
        yield dag, number, turn, one.call, one.name, one.time, one.outcome, one.took_ms, one.uuid


def _touches_in(conversation: Conversation, dag: int) -> Iterator[tuple[Any, ...]]:
    for number, one in enumerate(touches_of(conversation)):
        added, removed = (one.patch.added, one.patch.removed) if one.patch else (None, None)
        yield (
            *(dag, number, one.turn, one.path, one.action, one.time, one.outcome),
            *(added, removed, one.uuid),
        )


def _findings_in(graph: SessionGraph) -> Iterator[tuple[Any, ...]]:
    for number, one in enumerate(graph.findings):
        path = graph.files[one.file].path if one.file is not None else None
        yield number, one.code, one.sentence, path, one.line, one.uuid
