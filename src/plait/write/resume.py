"""Records of a session to where it goes on: the message, the calls, the names it was given."""

from collections.abc import Container, Iterable, Sequence
from typing import Any

from plait.graph.client import Resumption, resumption
from plait.record import Record, ToolResult, ToolUse
from plait.record.codec import mapping, said
from plait.record.prompt import is_human_prompt
from plait.write.model import Past, Position, Standing
from plait.write.prompts import in_short


def past_of(records: Sequence[Record], size: int) -> Past:
    """Returns where the client would go on, and what the lines that lead there say."""
    resumed = resumption(records, size)
    chain = resumed.chain
    by_uuid = {record.uuid: record for record in records}
    path = [by_uuid[uuid] for uuid in chain if uuid in by_uuid]
    prompts = [record for record in path if is_human_prompt(record)]
    answers = [record for record in path if record.type == "assistant" and record.message]
    standing = Standing(
        tip=chain[-1] if chain else None,
        positions=_positions(chain, path),
        calls=_waiting_calls(path),
        response=answers[-1].message_id if answers else None,
        prompt=prompts[-1].uuid if prompts else None,
        words=_words(prompts) or _last(records, "lastPrompt"),
    )
    return Past(
        standing=standing,
        cwd=_last(path, "cwd"),
        git_branch=_last(path, "gitBranch"),
        slug=_last(records, "slug"),
        permission_mode=_last(records, "permissionMode"),
        model=_last_model(answers),
        backups=_backups(records),
        cost=next((one.fields for one in reversed(records) if one.type == "cost-state"), {}),
        cut_off=resumed.open_calls,
        needs_answer=resumed.needs_answer,
        is_led_elsewhere=_is_led_elsewhere(_pointer(records), by_uuid, resumed),
    )


def _positions(chain: Sequence[str], path: Sequence[Record]) -> dict[str | None, Position]:
    """Returns how much leads to each message; where one says how many prompts do, it is right.

    What stands before a compaction is not on the way any more, and counts all the same.
    """
    by_uuid = {record.uuid: record for record in path}
    position = Position(0, 0)
    positions: dict[str | None, Position] = {None: position}
    for uuid in chain:
        record = by_uuid.get(uuid)
        count = position.prompts + (record is not None and is_human_prompt(record))
        told = _told_position(record) if record else None
        position = Position(position.messages + 1, count if told is None else told)
        positions[uuid] = position
    return positions


def _told_position(record: Record) -> int | None:
    if b'"turnPosition"' not in record.raw:
        return None
    told = mapping(record.fields.get("turnPosition")).get("turnIndex")
    return told if isinstance(told, int) else None


def _words(prompts: Sequence[Record]) -> str | None:
    """Returns what was typed last, in short; None where all that was asked were commands."""
    last = prompts[-1].message if prompts else None
    return in_short(last.text) if last else None


def _blocks(record: Record) -> Iterable[object]:
    return record.message.content if record.message else ()


def _is_led_elsewhere(
    pointer: str | None, known: Container[str | None], resumed: Resumption
) -> bool:
    """Tells whether a pointer in the log may not be above what is written next.

    Results of calls that were cut off hang on their calls, which may stand beside it.
    """
    if pointer is None or pointer not in known:
        return False
    return pointer not in resumed.chain or bool(resumed.open_calls)


def _pointer(records: Sequence[Record]) -> str | None:
    for record in reversed(records):
        if record.type == "last-prompt":
            return said(record.fields, "leafUuid")
    return None


def _waiting_calls(path: Sequence[Record]) -> dict[str, str]:
    waiting: dict[str, str] = {}
    for record in path:
        for block in _blocks(record):
            if isinstance(block, ToolUse) and block.id and record.uuid:
                waiting[block.id] = record.uuid
            elif isinstance(block, ToolResult) and block.tool_use_id:
                waiting.pop(block.tool_use_id, None)
    return waiting


def _last(records: Sequence[Record], name: str) -> str | None:
    for record in reversed(records):
        if value := said(record.fields, name):
            return value
    return None


def _last_model(answers: Sequence[Record]) -> str | None:
    for record in reversed(answers):
        model = record.message.model if record.message else None
        if model and not model.startswith("<"):
            return model
    return None


def _backups(records: Sequence[Record]) -> dict[str, Any]:
    """Returns the last backup of each file, as snapshots and deltas tell it."""
    found: dict[str, Any] = {}
    for record in records:
        if record.type == "file-history-snapshot":
            tracked = mapping(mapping(record.fields.get("snapshot")).get("trackedFileBackups"))
            found |= {name: dict(one) for name, one in tracked.items() if isinstance(one, dict)}
        elif record.type == "file-history-delta":
            name, backup = said(record.fields, "trackingPath"), record.fields.get("backup")
            if name and isinstance(backup, dict):
                found[name] = dict(backup)
    return found
