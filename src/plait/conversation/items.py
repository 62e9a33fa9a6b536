"""Records to the items of a conversation: one or several for each, none lost."""

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec.structs import replace

from plait.conversation.classify import local_command, queued_of, told_of, waiting
from plait.conversation.model import (
    Answered,
    Called,
    Compacted,
    Enclosure,
    Item,
    Noted,
    Said,
    Shown,
    Thought,
)
from plait.conversation.responses import Responses
from plait.conversation.results import enclosure_of, result_of
from plait.graph.facts import kept_by
from plait.record import Attachment, Record, System
from plait.record.message import (
    AdvisorToolResult,
    Block,
    RedactedThinking,
    ServerToolUse,
    Text,
    Thinking,
    ToolResult,
    ToolUse,
    blocks_of,
)
from plait.record.types.state import QueueOperation

ENVELOPE = frozenset(
    "parentUuid logicalParentUuid isSidechain type subtype uuid timestamp userType cwd sessionId "
    "session_id version gitBranch slug entrypoint agentId teamName isMeta".split()
)
WAITING = frozenset({None, "prompt", "bash", "task-notification"})


def items_of(record: Record, responses: Responses, file: int = 0) -> list[Item]:
    """Returns what a record is in a conversation."""
    place = {
        "uuid": record.uuid,
        "file": file,
        "line": record.line,
        "time": record.timestamp,
    }
    match record.kind:
        case "assistant":
            return list(_of_model(record, responses, place))
        case "user":
            return list(_of_user(record, place))
        case "system" if isinstance(record, System):
            return [_of_system(record, place)]
        case "attachment" if isinstance(record, Attachment):
            return [_of_attachment(record, place)]
        case _:
            return [_noted(record, place)]


def _of_model(record: Record, responses: Responses, place: dict[str, Any]) -> Iterator[Item]:
    number = responses.number_of(record)
    blocks = record.message.content if record.message else ()
    for block in blocks:
        yield _of_block(record, block, number, place)
    if not blocks:
        yield Shown(**place, response=number, enclosure=Enclosure("empty", None))


def _of_block(record: Record, block: Block, number: int, place: dict[str, Any]) -> Item:
    match block:
        case Text(text):
            return Said(**place, response=number, text=text)
        case Thinking(text):
            return Thought(**place, response=number, text=text)
        case RedactedThinking():
            return Thought(**place, response=number, text="", is_encrypted=True)
        case ToolUse(id=id_, name=name, input=given):
            return Called(**place, response=number, call=id_, name=name, input=given)
        case ServerToolUse(id=id_, name=name, input=given):
            return Called(
                **place, response=number, call=id_, name=name, input=given, is_server_side=True
            )
        case ToolResult() | AdvisorToolResult():
            result = result_of(record, block)
            return Answered(**place, call=block.tool_use_id, name=None, result=result)
        case _:
            return Shown(**place, response=number, enclosure=enclosure_of(block))


def _of_user(record: Record, place: dict[str, Any]) -> Iterator[Item]:
    if all(head.type != "tool_result" for head in record.block_heads):
        yield told_of(record, **place)
        return
    blocks = record.message.content if record.message else blocks_in(record)
    spoken = record.spoken
    detail = spoken.tool_use_result if spoken else record.fields.get("toolUseResult")
    for block in blocks:
        if isinstance(block, ToolResult):
            result = result_of(record, block, detail)
            yield Answered(**place, call=block.tool_use_id, name=None, result=result)
            detail = None  # the client's view is of one result
    beside = "\n".join(block.text for block in blocks if isinstance(block, Text)).strip()
    if beside:
        yield told_of(record, beside, **place)
    for block in blocks:
        if not isinstance(block, ToolResult | Text):
            yield _noted_block(block, place)


def _noted_block(block: Block, place: dict[str, Any]) -> Noted:
    enclosure = enclosure_of(block)
    return Noted(**place, kind="block", subtype=enclosure.kind, value=enclosure.value)


def _of_system(record: System, place: dict[str, Any]) -> Item:
    if record.subtype == "compact_boundary":
        return _compacted(record, place)
    command = local_command(record, **place) if record.subtype == "local_command" else None
    return command or _noted(record, place)


def _compacted(record: System, place: dict[str, Any]) -> Compacted:
    metadata = record.compact_metadata
    return Compacted(
        **place,
        text=record.content or "Conversation compacted",
        trigger=metadata.trigger if metadata else record.trigger,
        pre_tokens=metadata.pre_tokens if metadata else None,
        post_tokens=metadata.post_tokens if metadata else None,
        duration_ms=metadata.duration_ms if metadata else None,
        preserved=tuple(dict.fromkeys(reversed(kept_by(record)))),
    )


def _of_attachment(record: Attachment, place: dict[str, Any]) -> Item:
    head = record.envelope.attachment
    if head and head.type == "queued_command" and head.command_mode in WAITING:
        return queued_of(record, **place)
    return _noted(record, place)


def queue_item(record: QueueOperation, place: dict[str, Any], known: set[str]) -> Item:
    """Returns a prompt that stands in the queue alone; a note where it stands elsewhere too."""
    content = record.content
    if record.operation != "enqueue" or not content:
        return _noted(record, place)
    told = waiting(record, content, **place)
    if not told.text or told.text.startswith("/") or squeezed(told.text) in known:
        return _noted(record, place)  # format: commands are queued too, and written as what they do
    return replace(told, is_only_queued=True)


def squeezed(text: str) -> str:
    """Returns words for comparing, whatever the spaces between them."""
    return " ".join(text.split())


def _noted(record: Record, place: dict[str, Any]) -> Noted:
    fields = record.fields
    value = {name: fields[name] for name in fields if name not in ENVELOPE}
    subtype, text = record.subtype, fields.get("content")
    inner = value.get("attachment" if record.kind == "attachment" else "data")
    if isinstance(inner, Mapping) and record.kind in ("attachment", "progress"):
        subtype = str(inner.get("type") or "") or None
        text = inner.get("content")
    return Noted(
        **place,
        kind=record.kind,
        subtype=subtype,
        text=text if isinstance(text, str) else "",
        value=value,
    )


def content_of_message(record: Record) -> str | tuple[Block, ...] | None:
    """Returns the content of the message, or of the line where it has no message."""
    message = record.fields.get("message")
    holder = message if isinstance(message, dict) else record.fields
    content = holder.get("content") if not isinstance(message, list) else None
    match content:
        case str():
            return content
        case list():
            return blocks_of(content)
        case _:
            return None


def blocks_in(record: Record) -> tuple[Block, ...]:
    """Returns the blocks of a message; a string is one text block."""
    content = content_of_message(record)
    return (Text(content),) if isinstance(content, str) else content or ()
