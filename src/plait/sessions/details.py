"""One full reading of a session for the index and the lake.

It gives the session's share of statistics, the references that relate it to other sessions, and the
rows of its responses, calls, touched files and findings. All of it needs a full reading of the
logs, so it is computed together. This module is loaded only where something has to be read.
"""

from array import array
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from plait.conversation.changes import iter_touches
from plait.conversation.items import Responses, build_items
from plait.conversation.model import Conversation, UserMessage
from plait.conversation.session_counts import SessionCounts, hash_text
from plait.conversation.statistics import SessionCounter
from plait.conversation.walk import iter_calls, iter_items
from plait.errors import SourceError
from plait.graph.build import Builder
from plait.graph.facts import FileFacts, iter_sources
from plait.index.model import LineRow
from plait.line import iter_lines
from plait.record import Record
from plait.record.codec import encode
from plait.record.reader import Broken, entries, parse_record
from plait.sessions.model import Session
from plait.sessions.open_session import open_session

Rows: TypeAlias = list[tuple[Any, ...]]
EMPTY_REFERENCES = frozenset(("", "loose ", "session ", "session None", "agent None", "run None"))
"""References without a value: they would relate unrelated sessions."""
PROMPT_KINDS = frozenset(("user", "attachment", "queue-operation"))
"""Lines that may hold the user's words."""
CONVERSATION_TABLES = ("responses", "calls", "touches")
"""Tables whose rows begin with the number of a DAG-line."""


class SessionDetails(NamedTuple):
    """Everything that one reading of a session gives."""

    references: list[int]
    """Digests of everything that it contains or refers to."""
    counts: SessionCounts
    """As if there were no other session."""
    lines: list[str]
    """The DAG-lines of its conversations."""
    tables: dict[str, Rows]
    """Rows by table; those of a conversation begin with its number among the lines."""


def read_details(session: Session) -> SessionDetails:
    """Read a session with all its agents."""
    opened = open_session(session)
    conversations = list(opened.conversations.by_line.values())
    loose = chain(
        (record for source in opened.sources for record in source.records if not record.uuid),
        (record for _, record in opened.recovered()),
    )
    references = collect_references(
        opened.file_facts, chain.from_iterable(map(_iter_loose_references, loose))
    )
    tables: dict[str, Rows] = {table: [] for table in CONVERSATION_TABLES}
    for number, conversation in enumerate(conversations):
        turns = {
            response: turn
            for turn, item in iter_items(conversation)
            if (response := getattr(item, "response", None)) is not None
        }
        for place, response in enumerate(conversation.responses):
            tokens = response.tokens
            first_record = next(iter(response.uuids), None)
            tables["responses"].append(
                (
                    *(number, place, turns.get(place), response.key, first_record, response.model),
                    *(response.started, tokens.input, tokens.output, tokens.cache_write_5m),
                    *(
                        tokens.cache_write_1h,
                        tokens.cache_read,
                        tokens.web_searches,
                        tokens.web_fetches,
                    ),
                    *(response.is_error, response.is_synthetic),
                )
            )
        for place, (turn, call) in enumerate(iter_calls(conversation)):
            tables["calls"].append(
                (
                    *(number, place, turn, call.call, call.name, call.time),
                    *(call.outcome, call.duration_ms, call.uuid),
                )
            )
        tables["touches"] += _iter_touch_rows(conversation, number)
    graph = opened.graph
    tables["findings"] = [
        (
            number,
            finding.code,
            finding.sentence,
            graph.files[finding.file].path if finding.file is not None else None,
            finding.line,
            finding.uuid,
        )
        for number, finding in enumerate(graph.findings)
    ]
    return SessionDetails(
        list(references),
        SessionCounter().count_session(opened.conversations, opened.copied),
        [conversation.id for conversation in conversations],
        tables,
    )


def number_rows(details: SessionDetails, lines: Sequence[LineRow]) -> dict[str, Rows]:
    """Return the rows of a session with the catalogue's numbers of its DAG-lines."""
    numbers = {line.id: dag for dag, line in enumerate(lines)}
    own = [numbers.setdefault(line, len(numbers)) for line in details.lines]
    return {
        table: [(own[row[0]], *row[1:]) for row in rows] if table in CONVERSATION_TABLES else rows
        for table, rows in details.tables.items()
    }


def _iter_touch_rows(conversation: Conversation, dag: int) -> Iterator[tuple[Any, ...]]:
    for number, touch in enumerate(iter_touches(conversation)):
        added, removed = (touch.patch.added, touch.patch.removed) if touch.patch else (None, None)
        yield (
            *(dag, number, touch.turn, touch.path, touch.action, touch.time, touch.outcome),
            *(added, removed, touch.uuid),
        )


# ---------------------------------------------------------------------- references


def read_facts(session: Session) -> tuple[list[FileFacts], set[str]]:
    """Read what the graph needs of a session's files, and the references of its loose lines."""
    builder, loose = Builder(), set[str]()
    for file, source in zip(session.files, iter_sources(session.files), strict=True):
        builder.add(replace(source, records=_iter_records(file.path, loose)))
    return list(builder.facts.values()), loose


def _iter_records(path: Path, loose: set[str]) -> Iterator[Record]:
    """Yield the records of a file, and add the references of its loose lines on the way."""
    with suppress(SourceError):
        for entry in entries(iter_lines(path)):
            if isinstance(entry, Record):
                if entry.uuid is None:
                    loose.update(_iter_loose_references(entry))
                yield entry
            elif isinstance(entry, Broken):
                for recovered in entry.recovered:
                    loose.update(_iter_loose_references(parse_record(encode(recovered.fields))))


def _iter_loose_references(record: Record) -> Iterator[str]:
    """Yield the references of a record outside the graph: without a uuid, or of a broken line.

    Two such records without id and time are equal if their texts are.
    """
    yield from filter(None, (record.uuid, record.message_id, record.request_id))
    if record.timestamp:
        yield f"loose {record.timestamp}"
    elif record.kind in PROMPT_KINDS:
        items = build_items(record, Responses(), 0)
        yield from (f"loose {item.text}" for item in items if isinstance(item, UserMessage))


def collect_references(facts: Iterable[FileFacts], loose: Iterable[str]) -> "array[int]":
    """Return digests of everything that a session contains or refers to, in its graph and outside it.

    Sessions with a digest in common belong to one family and must be read together.
    """
    references = set(loose)
    for file_facts in facts:
        references.add(f"session {file_facts.session}")
        references.add(f"agent {file_facts.file.agent}")
        references.add(f"run {file_facts.file.run}")
        if file_facts.meta:
            references.add(file_facts.meta.call_id or "")
            references.add(f"agent {file_facts.meta.parent_agent_id}")
        for side_line in file_facts.asides:
            references.add(side_line.leaf or "")
            references.add(f"agent {side_line.agent}")
            references.add(f"session {side_line.session}")
        for node in file_facts.nodes:
            names = [
                *(node.uuid, node.parent, node.logical, node.source),
                *(node.message_id, node.request_id),
                *(node.preserved.uuids if node.preserved else ()),
                *node.results,
                *(call.id for call in node.calls),
                f"session {node.session}",
            ]
            if node.forked_from:
                names.append(f"session {node.forked_from}")
            if node.agent:
                names.append(f"agent {node.agent}")
            if node.spawned:
                names.append(f"agent {node.spawned.agent}")
                names.append(f"run {node.spawned.run}")
            references.update(filter(None, names))
    return array("q", map(hash_text, references - EMPTY_REFERENCES))
