"""Records to the items of a conversation, one or several for each, and to its responses.

A response is all blocks of one `message.id`. Older clients write partial figures and no stop
reason on all its lines but the last, newer ones the final ones on each.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from msgspec.structs import replace

from plait.conversation.classify import blocked_prompt, local_command, queued_of, told_of, waiting
from plait.conversation.model import (
    Answered,
    Called,
    Compacted,
    Enclosure,
    Item,
    Noted,
    Response,
    Said,
    Shown,
    Thought,
    Told,
)
from plait.conversation.results import enclosure_of, result_of
from plait.conversation.usage import SYNTHETIC, supersedes
from plait.graph.facts import kept_by
from plait.record import Assistant, Attachment, Record, System, Usage
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
from plait.record.types.kinds import QueueOperation


@dataclass(slots=True)
class ResponseDraft:
    """A response while its blocks come in, other records between them notwithstanding."""

    first: Record
    uuids: list[str] = field(default_factory=list)
    usage: Usage | None = None
    stop_reason: str | None = None
    model: str | None = None
    ended: str | None = None
    cost: float | None = None
    is_error: bool = False

    def add(self, record: Record) -> None:
        """Takes in one more record of the response."""
        message, stamp = record.message, record.timestamp
        if record.uuid:
            self.uuids.append(record.uuid)
        if stamp and (self.ended is None or stamp > self.ended):
            self.ended = stamp
        self.is_error = self.is_error or record.is_api_error_message
        said = record.spoken or (record if isinstance(record, Assistant) else None)
        if said and said.cost_usd is not None:
            self.cost = said.cost_usd
        if message is None:
            return
        self.model = self.model or message.model
        self.stop_reason = message.stop_reason or self.stop_reason
        self.usage = _fuller(self.usage, message.usage)

    def response(self) -> Response:
        """Returns the response as it stands."""
        first = self.first
        said = first.spoken or (first if isinstance(first, Assistant) else None)
        return Response(
            first.message_id,
            first.request_id,
            self.model,
            tuple(self.uuids),
            first.timestamp,
            self.ended,
            self.stop_reason,
            self.usage,
            is_synthetic=self.model == SYNTHETIC,
            is_error=self.is_error,
            is_meta=first.is_meta,
            logged_cost=self.cost,
            effort=said.effort if said else None,
        )


class Responses:
    """The responses of one conversation, in the order in which they begin."""

    def __init__(self) -> None:
        self._drafts: list[ResponseDraft] = []
        self._numbers: dict[str, int] = {}

    def __len__(self) -> int:
        return len(self._drafts)

    def number_of(self, record: Record) -> int:
        """Returns the number of the response that a record belongs to, and takes it in."""
        name = record.message_id or record.request_id
        number = self._numbers.get(name) if name else None
        if number is None:
            number = len(self._drafts)
            self._drafts.append(ResponseDraft(record))
            if name:
                self._numbers[name] = number
        self._drafts[number].add(record)
        return number

    def finished(self) -> tuple[Response, ...]:
        """Returns all of them."""
        return tuple(draft.response() for draft in self._drafts)


def _fuller(known: Usage | None, other: Usage | None) -> Usage | None:
    if known is None or other is None:
        return other or known
    return other if supersedes(other, known) else known


ENVELOPE = frozenset(
    "parentUuid logicalParentUuid isSidechain type subtype uuid timestamp userType cwd sessionId "
    "session_id version gitBranch slug entrypoint agentId teamName isMeta".split()
)
TELLERS: dict[str, Callable[..., Told | None]] = {
    "local_command": local_command,
    "informational": blocked_prompt,
}
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
            return _of_model(record, responses, place)
        case "user":
            return list(_of_user(record, place))
        case "system" if isinstance(record, System):
            return [_of_system(record, place)]
        case "attachment" if isinstance(record, Attachment):
            return [_of_attachment(record, place)]
        case _:
            return [_noted(record, place)]


def _of_model(record: Record, responses: Responses, place: dict[str, Any]) -> list[Item]:
    number = responses.number_of(record)
    blocks = record.message.content if record.message else ()
    if not blocks:
        return [Shown(**place, response=number, enclosure=Enclosure("empty", None))]
    return [_of_block(record, block, number, place) for block in blocks]


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
    if "tool_result" not in [head.type for head in record.block_heads]:
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
            if len(blocks) == 1:
                return
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
    told = TELLERS.get(record.subtype or "")
    return (told(record, **place) if told else None) or _noted(record, place)


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
    if not told.text or told.text.startswith("/") or words_key(told) in known:
        return _noted(record, place)  # format: commands are queued too, and written as what they do
    return replace(told, is_only_queued=True)


def words_key(told: Told) -> str:
    """Returns what the same words share wherever they stand; a notice is of one task."""
    task = told.name if told.kind == "notice" else None
    return squeezed(f"{task} {told.text}" if task else told.text)


def joined_parts(prompt: str, queued: Sequence[str]) -> list[str]:
    """Returns the prompts of the queue that the client has sent as one, [] for other words.

    All that waits when a turn ends is sent together, a line break between one and the next.
    """
    rest, found = prompt.strip(), list[str]()
    for one in queued:
        if one and rest.startswith(one) and (len(rest) == len(one) or rest[len(one)].isspace()):
            after = rest[len(one) :]
            gap = after[: len(after) - len(after.lstrip())]
            if after and "\n" not in gap:
                continue
            found.append(one)
            rest = after.lstrip()
        if found and not rest:
            return found if len(found) > 1 else []
    return []


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
