"""The kept chain to what each entry says, and to what the client adds at its end."""

import re
from collections.abc import Iterable
from typing import Any

from plait.graph.client.load import (
    is_blank,
    is_boundary,
    is_result,
    is_thinking,
    model_of,
)
from plait.graph.client.model import NO_CONTENT, Block, Loaded, Said
from plait.graph.client.models import current_model, notes_for
from plait.graph.client.notes import Listener, described_tools, note
from plait.graph.client.prune import Pruned
from plait.graph.client.wording import NOTIFIED, as_reminder
from plait.graph.entries import ROOT
from plait.record import Record
from plait.record.message import NO_RESPONSE
from plait.record.record import content_blocks

ESCAPED_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")
TOOL_LOADED = "Tool loaded."
RENAMED = {"Task": "Agent"}
"""Tools that go by another name now."""
LOGGED_ONLY = frozenset({"type", "recipient", "recipient_kind", "content"})
"""What the log adds to the words of a SendMessage call."""


def speech(loaded: Loaded, chain: list[int], model: str | None = None) -> list[Said]:
    """Returns what the entries after the last compaction say, in the order of the chain.

    The model that is spoken to is that of the last answer, unless it is told.
    """
    recent = since_boundary(loaded.records, chain)
    records = [loaded.records[number] for number in recent]
    model = model or spoken_to(records)
    listener = Listener(notes_for(model), described_tools(records))
    found: list[Said] = []
    for number, record in zip(recent, records, strict=True):
        if record.type == "attachment":
            found.extend(note(number, record, listener))
        else:
            found.extend(_said_by(number, record, model))
    return found


def spoken_to(records: Iterable[Record]) -> str | None:
    """Returns the model that a session goes on with, by its answers."""
    return current_model(model_of(record) for record in records if record.type == "assistant")


def since_boundary(records: list[Record], chain: list[int]) -> list[int]:
    """Returns the chain from its last compaction boundary on."""
    places = [place for place, number in enumerate(chain) if is_boundary(records[number])]
    return chain[places[-1] :] if places else chain


def _said_by(number: int, record: Record, model: str | None) -> list[Said]:
    """Returns what one entry says; nothing where it is silent."""
    if record.type == "assistant":
        return [_answer(number, record, model)]
    one = prompt(number, record) if record.type == "user" else notice(number, record)
    return [one] if one else []


def prompt(number: int, record: Record) -> Said | None:
    """Returns what a prompt or a tool result says."""
    blocks = _blocks_of(record)
    origin = record.envelope.origin
    if origin and origin.kind == "task-notification":
        blocks = _as_notification(blocks)
    if any(_loads_tools(block) for block in blocks):
        blocks.append({"type": "text", "text": TOOL_LOADED})
    message = record.envelope.message
    is_plain = message is not None and isinstance(message.content, str)
    return Said(number, "user", blocks, is_plain=is_plain) if blocks else None


def _as_notification(blocks: list[Block]) -> list[Block]:
    texts = [str(block["text"]) for block in blocks if block["type"] == "text"]
    if not texts:
        return blocks
    notified: Block = {"type": "text", "text": as_reminder(NOTIFIED.format("\n".join(texts)))}
    return [notified, *(block for block in blocks if block["type"] != "text")]


def _loads_tools(block: Block) -> bool:
    content = block.get("content") if block["type"] == "tool_result" else None
    parts = content if isinstance(content, list) else []
    return any(isinstance(one, dict) and one.get("type") == "tool_reference" for one in parts)


def _answer(number: int, record: Record, model: str | None) -> Said:
    if record.is_api_error_message:
        return Said(number, "assistant", [], is_error=True)
    blocks = [as_sent(block) for block in _blocks_of(record) if not is_blank(block)]
    if model_of(record) != model or model is None:
        blocks = [block for block in blocks if not is_thinking(block)]
    return Said(number, "assistant", blocks, message_id=record.message_id)


def as_sent(block: Block) -> Block:
    """Returns a call under the name that its tool has now, without what the log adds to it."""
    if block["type"] != "tool_use":
        return block
    name, given = str(block.get("name")), block.get("input")
    if name == "SendMessage" and isinstance(given, dict) and {"to", "message"} <= given.keys():
        kept = {key: given[key] for key in given if key not in LOGGED_ONLY}
        return {**block, "input": kept}
    return {**block, "name": RENAMED[name]} if name in RENAMED else block


def notice(number: int, record: Record) -> Said | None:
    """Returns the output of a local command; what is for the screen alone says nothing."""
    if record.subtype != "local_command" or record.fields.get("isDisplayOnly") is True:
        return None
    content = record.fields.get("content")
    text = content if isinstance(content, str) and content.strip() else NO_CONTENT
    return Said(number, "user", [{"type": "text", "text": text}])


def _blocks_of(record: Record) -> list[Block]:
    blocks = [dict(block) for block in content_blocks(record)]
    if ESCAPED_SURROGATE.search(record.raw):
        for block in blocks:
            _mend(block)
    return blocks


def _mend(value: dict[str, Any]) -> None:
    todo: list[Any] = [value]
    while todo:
        current = todo.pop()
        pairs = current.items() if isinstance(current, dict) else enumerate(current)
        for key, inner in list(pairs):
            if isinstance(inner, str):
                current[key] = _whole_characters(inner)
            elif isinstance(inner, dict | list):
                current[key] = inner.copy()
                todo.append(current[key])


def _whole_characters(text: str) -> str:
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


INTERRUPTED = (
    "[Tool call interrupted: the session ended before this call's result was recorded, so its "
    "outcome is unknown. Check whether it took effect before relying on it or running it again.]"
)
CAVEAT = "<local-command-caveat>"
COMMAND_TAGS = (
    "<command-name>",
    "<command-message>",
    "<local-command-stdout>",
    "<local-command-stderr>",
)


def with_closing(records: list[Record], pruned: Pruned, said: list[Said]) -> list[Said]:
    """Returns what is said with the results and the answer that the client makes up."""
    if not needs_closing(records, pruned):
        return said
    if pruned.open_calls:
        results: list[Block] = [_interrupted(call) for call in pruned.open_calls]
        return [*said, Said(ROOT, "user", results), _no_response()]
    last = _notices_at_end(records, pruned.kept)
    place = next((p for p, one in enumerate(said) if one.number in last), len(said))
    return [*said[:place], _no_response(), *said[place:]]


def needs_closing(records: list[Record], pruned: Pruned) -> bool:
    """Tells whether the client makes up an answer before it goes on."""
    chain = pruned.kept
    if pruned.open_calls:
        return True
    if not _awaits_answer(records, chain) or _is_stopped(records, chain):
        return False
    return not any(is_boundary(records[number]) for number in _notices_at_end(records, chain))


def _interrupted(call: str) -> Block:
    return {"type": "tool_result", "tool_use_id": call, "content": INTERRUPTED, "is_error": True}


def _no_response() -> Said:
    """Returns the answer to a prompt that never got one."""
    return Said(ROOT, "assistant", [{"type": "text", "text": NO_RESPONSE}])


def _awaits_answer(records: list[Record], chain: list[int]) -> bool:
    newest_first = (records[number] for number in reversed(chain))
    heard = (record for record in newest_first if not _is_for_the_record(record))
    words = [record for record in heard if record.type != "system"]
    spoken = [record for record in words if record.type != "attachment"]
    if not spoken or spoken[0].type != "user":
        return bool(words) and not spoken
    # format: a summary with its attachments is a finished compaction
    is_compacted = spoken[0].is_compact_summary and words[0].type == "attachment"
    return not is_compacted and not _ends_with_command(spoken)


def _is_for_the_record(record: Record) -> bool:
    """Tells a notification that nobody was to answer."""
    origin = record.envelope.origin
    is_notice = record.type == "user" and origin is not None and origin.kind == "task-notification"
    is_only_kept = is_notice and record.fields.get("queueTranscriptOnly") is True
    return is_only_kept and _opening(record).startswith("<task-notification>")


def _is_stopped(records: list[Record], chain: list[int]) -> bool:
    """Tells whether a limit or a hook ended the last turn: its silence is meant."""
    for number in reversed(chain):
        record = records[number]
        if record.type in ("user", "assistant"):
            return False
        attachment = record.fields.get("attachment") if record.type == "attachment" else None
        fields = attachment if isinstance(attachment, dict) else {}
        if fields.get("type") == "max_turns_reached" and fields.get("exitCommitted") is False:
            return True
        if fields.get("type") == "hook_stopped_continuation":
            return _ends_with_result(records, chain)
    return False


def _ends_with_result(records: list[Record], chain: list[int]) -> bool:
    spoken = (records[n] for n in reversed(chain) if records[n].type in ("user", "assistant"))
    last = next(spoken, None)
    return last is not None and is_result(last)


def _ends_with_command(newest_first: list[Record]) -> bool:
    for record in newest_first:
        text = _opening(record)
        if record.is_meta and text.startswith(CAVEAT):
            return True
        if record.type != "user" or not text.startswith(COMMAND_TAGS):
            return False
    return False


def _opening(record: Record) -> str:
    blocks = content_blocks(record)
    return blocks[0]["text"] if blocks and blocks[0]["type"] == "text" else ""


def _notices_at_end(records: list[Record], chain: list[int]) -> frozenset[int]:
    notices: list[int] = []
    for number in reversed(chain):
        if records[number].type != "system":
            break
        notices.append(number)
    return frozenset(notices)
