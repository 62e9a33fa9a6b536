"""The kept chain to what each entry says, and to what the client adds at its end."""

import re
from collections.abc import Iterable
from typing import Any

from plait.graph.client.load import call_ids, is_blank, is_boundary, is_thinking, model_of
from plait.graph.client.model import NO_CONTENT, Block, Loaded, Said
from plait.graph.client.turns import answered_calls, last_response, last_turn
from plait.graph.entries import ROOT
from plait.record import Record
from plait.record.message import NO_RESPONSE
from plait.record.record import content_blocks

SYNTHETIC = "<synthetic>"
ESCAPED_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")
NOTIFICATION = "<system-reminder>\n{}\n</system-reminder>"
TOOL_LOADED = "Tool loaded."
RENAMED = {"Task": "Agent"}
"""Tools that go by another name now."""
OFFERED = re.compile(r"claude-(?:opus|sonnet|haiku|fable)-(?:4[-.][5-9]|[5-9])(?!\d)")
DEFAULT_MODEL = "claude-opus-5-5"


def speech(loaded: Loaded, chain: list[int]) -> list[Said]:
    """Returns what the entries after the last compaction say, in the order of the chain."""
    recent = since_boundary(loaded.records, chain)
    model = _current_model(loaded.records[number] for number in recent)
    said = (_said_by(number, loaded.records[number], model) for number in recent)
    return [one for one in said if one is not None]


def since_boundary(records: list[Record], chain: list[int]) -> list[int]:
    """Returns the chain from its last compaction boundary on."""
    places = [place for place, number in enumerate(chain) if is_boundary(records[number])]
    return chain[places[-1] :] if places else chain


def _current_model(records: Iterable[Record]) -> str | None:
    """Returns the model that the session goes on with: that of its last answer.

    One that is no longer offered, or somebody else's, is replaced by the client's own choice.
    """
    models = [model_of(record) for record in records if record.type == "assistant"]
    last = next((one for one in reversed(models) if one and one != SYNTHETIC), None)
    return last if last is None or OFFERED.search(last) else DEFAULT_MODEL


def _said_by(number: int, record: Record, model: str | None) -> Said | None:
    """Returns what one entry says, None where it says nothing."""
    if record.type == "user":
        return prompt(number, record)
    if record.type == "assistant":
        return _answer(number, record, model)
    if record.type == "attachment":
        return _note(number, record)
    return notice(number, record)


def prompt(number: int, record: Record) -> Said | None:
    """Returns what a prompt or a tool result says."""
    blocks = _blocks_of(record)
    origin = record.envelope.origin
    if origin and origin.kind == "task-notification":
        blocks = [_as_reminder(block) for block in blocks]
    if any(_loads_tools(block) for block in blocks):
        blocks.append({"type": "text", "text": TOOL_LOADED})
    message = record.envelope.message
    is_plain = message is not None and isinstance(message.content, str)
    return Said(number, "user", blocks, is_plain=is_plain) if blocks else None


def _loads_tools(block: Block) -> bool:
    content = block.get("content") if block["type"] == "tool_result" else None
    parts = content if isinstance(content, list) else []
    return any(isinstance(one, dict) and one.get("type") == "tool_reference" for one in parts)


def _answer(number: int, record: Record, model: str | None) -> Said:
    if record.is_api_error_message:
        return Said(number, "assistant", [], is_error=True)
    blocks = [_under_its_name(block) for block in _blocks_of(record) if not is_blank(block)]
    if model_of(record) != model or model is None:
        blocks = [block for block in blocks if not is_thinking(block)]
    return Said(number, "assistant", blocks, message_id=record.message_id)


def _under_its_name(block: Block) -> Block:
    name = str(block.get("name"))
    is_renamed = block["type"] == "tool_use" and name in RENAMED
    return {**block, "name": RENAMED[name]} if is_renamed else block


def _note(number: int, record: Record) -> Said | None:
    texts = _rendered_texts(record.fields.get("rendered"))
    if not texts:
        return None
    role = "user" if record.fields.get("renderedRole") == "user" else "system"
    blocks: list[Block] = [{"type": "text", "text": text} for text in texts]
    return Said(number, role, blocks, is_note=True)


def notice(number: int, record: Record) -> Said | None:
    """Returns the output of a local command; other notices say nothing."""
    if record.subtype != "local_command":
        return None
    content = record.fields.get("content")
    text = content if isinstance(content, str) and content.strip() else NO_CONTENT
    return Said(number, "user", [{"type": "text", "text": text}])


def _rendered_texts(rendered: object) -> list[str]:
    pieces = rendered if isinstance(rendered, list) else []
    contents = [piece.get("content") for piece in pieces if isinstance(piece, dict)]
    texts: list[object] = []
    for content in contents:
        if isinstance(content, list):
            texts.extend(block.get("text") for block in content if isinstance(block, dict))
        else:
            texts.append(content)
    return [text for text in texts if isinstance(text, str) and text.strip()]


def _as_reminder(block: Block) -> Block:
    if block["type"] != "text":
        return block
    return {**block, "text": NOTIFICATION.format(block["text"])}


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


def with_closing(records: list[Record], chain: list[int], said: list[Said]) -> list[Said]:
    """Returns what is said with the results and the answer that the client makes up."""
    unknown = _open_calls(records, chain)
    if unknown:
        results: list[Block] = [_interrupted(call) for call in unknown]
        return [*said, Said(ROOT, "user", results), _no_response()]
    if not _awaits_answer(records, chain):
        return said
    last = _notices_at_end(records, chain)
    if any(is_boundary(records[number]) for number in last):
        return said
    place = next((p for p, one in enumerate(said) if one.number in last), len(said))
    return [*said[:place], _no_response(), *said[place:]]


def _open_calls(records: list[Record], chain: list[int]) -> list[str]:
    turn = last_turn(records, chain)
    answered = answered_calls(records, chain)
    last = [records[number] for number in last_response(records, turn)]
    return [call for record in last for call in call_ids(record) if call not in answered]


def _interrupted(call: str) -> Block:
    return {"type": "tool_result", "tool_use_id": call, "content": INTERRUPTED, "is_error": True}


def _no_response() -> Said:
    """Returns the answer to a prompt that never got one."""
    return Said(ROOT, "assistant", [{"type": "text", "text": NO_RESPONSE}])


def _awaits_answer(records: list[Record], chain: list[int]) -> bool:
    newest_first = (records[number] for number in reversed(chain))
    words = [record for record in newest_first if record.type != "system"]
    spoken = [record for record in words if record.type != "attachment"]
    if not spoken or spoken[0].type != "user":
        return bool(words) and not spoken
    # format: a summary with its attachments is a finished compaction
    is_compacted = spoken[0].is_compact_summary and words[0].type == "attachment"
    return not is_compacted and not _ends_with_command(spoken)


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
