"""Messages that lead to where a session goes on to the first lines of a fork of it.

The client keeps their ids and hangs each on the one before, results on their calls; of the
messages before a compaction only those that it preserved go along.
"""

from collections.abc import Iterator, Sequence

from plait.graph.client import resumption
from plait.record import Record, ToolResult
from plait.record.codec import said

NAMES = ("custom-title", "agent-name")
"""Kinds of lines that name a whole session."""


def forked_chain(records: Sequence[Record], size: int) -> list[Record]:
    """Returns the messages that a fork takes over."""
    by_uuid = {record.uuid: record for record in records}
    return [by_uuid[uuid] for uuid in resumption(records, size).chain if uuid in by_uuid]


def names_in(records: Sequence[Record], session: str) -> list[bytes]:
    """Returns the lines by which a session has its names, for another one."""
    last = {record.type: record for record in records if record.type in NAMES}
    return [last[kind].replace(sessionId=session).raw for kind in NAMES if kind in last]


def forked_lines(chain: Sequence[Record], session: str, prompt_id: str | None) -> Iterator[bytes]:
    """Yields the lines of a fork, as those of its first prompt."""
    known = {record.uuid for record in chain}
    before: str | None = None
    for record in chain:
        parent = before
        source = said(record.fields, "sourceToolAssistantUUID")
        if source in known and _is_result(record):
            parent = source
        yield _forked(record, session, parent, prompt_id).raw
        before = record.uuid


def _is_result(record: Record) -> bool:
    blocks = record.message.content if record.message else ()
    return any(isinstance(block, ToolResult) for block in blocks)


def _forked(record: Record, session: str, parent: str | None, prompt_id: str | None) -> Record:
    changed: dict[str, object] = {"parentUuid": parent, "sessionId": session}
    if prompt_id and "promptId" in record.fields:
        changed["promptId"] = prompt_id
    fields = {name: value for name, value in record.fields.items() if name != "slug"}
    return record.with_fields(fields | changed)
