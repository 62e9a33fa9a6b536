"""Where a session continues when it is resumed, and the first lines of a fork of it."""

from collections.abc import Container, Iterator, Sequence
from typing import Any

from plait.graph.client import ResumePoint, find_resume_point
from plait.record import Record, ToolResult, ToolUse
from plait.record.codec import as_mapping, get_text
from plait.record.prompts import is_human_prompt
from plait.write.lines import Position, ResumedSession, TranscriptState, shorten_prompt


def read_resumed_session(records: Sequence[Record], size: int) -> ResumedSession:
    """Return where the client would resume, and what the chain says."""
    resumed = find_resume_point(records, size)
    chain = resumed.chain
    by_uuid = {record.uuid: record for record in records}
    path = [by_uuid[uuid] for uuid in chain if uuid in by_uuid]
    prompts = [record for record in path if is_human_prompt(record)]
    answers = [record for record in path if record.type == "assistant" and record.message]
    last = prompts[-1].message if prompts else None
    waiting: dict[str, str] = {}
    for record in path:
        for block in record.message.content if record.message else ():
            if isinstance(block, ToolUse) and block.id and record.uuid:
                waiting[block.id] = record.uuid
            elif isinstance(block, ToolResult) and block.tool_use_id:
                waiting.pop(block.tool_use_id, None)
    pointers = (record for record in reversed(records) if record.type == "last-prompt")
    pointer = next((get_text(record.fields, "leafUuid") for record in pointers), None)
    models = (record.message.model for record in reversed(answers) if record.message)
    # A count of prompts in the log takes precedence: what precedes a compaction is no longer on the
    # chain, but counts.
    position = Position(0, 0)
    positions: dict[str | None, Position] = {None: position}
    for uuid in chain:
        sent = by_uuid.get(uuid)
        count = position.prompts + (sent is not None and is_human_prompt(sent))
        if sent is not None and b'"turnPosition"' in sent.raw:
            stated = as_mapping(sent.fields.get("turnPosition")).get("turnIndex")
            count = stated if isinstance(stated, int) else count
        position = positions[uuid] = Position(position.messages + 1, count)
    state = TranscriptState(
        tip=chain[-1] if chain else None,
        positions=positions,
        calls=waiting,
        response=answers[-1].message_id if answers else None,
        prompt=prompts[-1].uuid if prompts else None,
        words=(shorten_prompt(last.text) if last else None) or _last(records, "lastPrompt"),
    )
    return ResumedSession(
        state=state,
        cwd=_last(path, "cwd"),
        git_branch=_last(path, "gitBranch"),
        slug=_last(records, "slug"),
        permission_mode=_last(records, "permissionMode"),
        # The client's own messages have a model such as `<synthetic>`.
        model=next((model for model in models if model and not model.startswith("<")), None),
        backups=_backups(records),
        cost=next(
            (record.fields for record in reversed(records) if record.type == "cost-state"), {}
        ),
        cut_off=resumed.open_calls,
        needs_answer=resumed.needs_answer,
        is_led_elsewhere=_is_led_elsewhere(pointer, by_uuid, resumed),
    )


def _is_led_elsewhere(
    pointer: str | None, known: Container[str | None], resumed: ResumePoint
) -> bool:
    """Return whether a pointer in the log may not be an ancestor of what is written next.

    Results of interrupted calls follow their calls, which may be off the chain.
    """
    if pointer is None or pointer not in known:
        return False
    return pointer not in resumed.chain or bool(resumed.open_calls)


def _last(records: Sequence[Record], name: str) -> str | None:
    for record in reversed(records):
        if value := get_text(record.fields, name):
            return value
    return None


def _backups(records: Sequence[Record]) -> dict[str, Any]:
    """Return the last backup of each file, by snapshots and deltas."""
    found: dict[str, Any] = {}
    for record in records:
        if record.type == "file-history-snapshot":
            tracked = as_mapping(
                as_mapping(record.fields.get("snapshot")).get("trackedFileBackups")
            )
            found |= {
                name: dict(backup) for name, backup in tracked.items() if isinstance(backup, dict)
            }
        elif record.type == "file-history-delta":
            name, backup = get_text(record.fields, "trackingPath"), record.fields.get("backup")
            if name and isinstance(backup, dict):
                found[name] = dict(backup)
    return found


# The first lines of a fork: the client keeps the ids of the messages and chains each to the one
# before, results to their calls; of the messages before a compaction only preserved ones are
# copied.


NAMES = ("custom-title", "agent-name")
"""Kinds of lines that name a whole session."""


def select_forked_chain(records: Sequence[Record], size: int) -> list[Record]:
    """Return the messages that a fork copies."""
    by_uuid = {record.uuid: record for record in records}
    return [by_uuid[uuid] for uuid in find_resume_point(records, size).chain if uuid in by_uuid]


def list_name_lines(records: Sequence[Record], session: str) -> list[bytes]:
    """Return the lines with a session's names, for another session."""
    last = {record.type: record for record in records if record.type in NAMES}
    return [last[kind].replace(sessionId=session).raw for kind in NAMES if kind in last]


def iter_forked_lines(
    chain: Sequence[Record], session: str, prompt_id: str | None
) -> Iterator[bytes]:
    """Yield the lines of a fork, dated like its first prompt."""
    known = {record.uuid for record in chain}
    before: str | None = None
    for record in chain:
        parent = before
        source = get_text(record.fields, "sourceToolAssistantUUID")
        blocks = record.message.content if record.message else ()
        if source in known and any(isinstance(block, ToolResult) for block in blocks):
            parent = source
        changed: dict[str, object] = {"parentUuid": parent, "sessionId": session}
        if prompt_id and "promptId" in record.fields:
            changed["promptId"] = prompt_id
        fields = {name: value for name, value in record.fields.items() if name != "slug"}
        yield record.with_fields(fields | changed).raw
        before = record.uuid
