"""A record to the facts that the graph keeps of it; its texts stay in the file."""

import re
from collections.abc import Callable
from hashlib import blake2b
from sys import intern
from typing import Any

from plait.graph.model import PREVIEW, Call, Node, Spawned, Trait
from plait.record import Attachment, Record, System, ToolUse
from plait.record.codec import encode
from plait.record.model import BlockHead, ForkedFrom
from plait.record.prompt import EDITORS, is_human_prompt, is_typed_in_queue, without_notes
from plait.record.record import content_blocks, content_of, has_message, timestamp_of
from plait.record.spawn import named_by

ANSWERS = frozenset({"text", "tool_use", "server_tool_use"})
CALLS = frozenset({"tool_use", "server_tool_use"})
SPAWNERS = frozenset({"Task", "Agent", "Workflow"})
INTERRUPTED = "[Request interrupted"
CLEARS = "<command-name>/clear"
OUTPUTS = ("<local-command-stdout>", "<local-command-stderr>", "<bash-stdout>", "<bash-stderr>")
TEAMMATE = re.compile(r"\s*<teammate-message[^>]*>(.*)</teammate-message>\s*", re.DOTALL)
SYNTHETIC = "<synthetic>"


def node_of(record: Record, file: int, line: int, before: str = "") -> Node | None:
    """Returns the node for a record at a line of a file, None where it has no uuid.

    The uuid before it is mostly its parent: one string for both saves a tenth of the memory.
    """
    envelope = record.envelope
    uuid = envelope.uuid
    if uuid is None:
        return None
    kind = envelope.type or record.kind
    parent = envelope.parent_uuid
    facts = FACTS.get(kind, _other_facts)(record)
    if envelope.forked_from:
        facts.update(_origin(envelope.forked_from, uuid))
    return Node(
        uuid,
        before if parent == before else parent,
        file,
        line,
        record.offset,
        len(record.raw),
        intern(envelope.session_id or ""),
        intern(kind),
        timestamp=timestamp_of(envelope),
        agent=envelope.agent_id,
        **facts,
    )


def _origin(origin: ForkedFrom, uuid: str) -> dict[str, Any]:
    copied = origin.message_uuid
    return {"forked_from": origin.session_id, "copy_of": copied if copied != uuid else None}


def _other_facts(record: Record) -> dict[str, Any]:
    data = record.envelope.data
    return {"subtype": data.type if data else None, "traits": _shared(record, STRUCTURAL)}


STRUCTURAL = Trait.STRUCTURAL


def _shared(record: Record, traits: int) -> int:
    envelope = record.envelope
    if envelope.is_sidechain:
        traits |= Trait.SIDECHAIN
    if envelope.is_meta:
        traits |= Trait.META
    if envelope.team_name:
        traits |= Trait.TEAM
    return traits


def _user_facts(record: Record) -> dict[str, Any]:
    results = _results_of(_heads_of(record))
    if results:
        return {
            "traits": _shared(record, 0),
            "results": results,
            "source": record.source_tool_assistant_uuid,
            "spawned": _spawned_of(record),
        }
    text = _text_of(record).strip()
    return {
        "traits": _shared(record, _prompt_traits(record, text) | _mute(record)),
        "source": record.source_tool_assistant_uuid,
        "digest": _digest_of(record, text),
        "preview": _preview_of(text),
    }


def _mute(record: Record) -> int:
    return 0 if has_message(record) else Trait.MUTE


def _results_of(content: str | list[BlockHead] | None) -> tuple[str, ...]:
    if not isinstance(content, list):
        return ()
    found = [head.tool_use_id for head in content if head.type == "tool_result"]
    return tuple([call for call in found if call]) if found else ()


def _heads_of(record: Record) -> str | list[BlockHead] | None:
    content = content_of(record.envelope)
    if content is not None:
        return content
    # something among the blocks is none: the others still say what they are
    return [_head_of(block) for block in content_blocks(record)]


def _head_of(block: dict[str, Any]) -> BlockHead:
    said = {key: block[key] for key in HEAD if isinstance(block.get(key), str)}
    return BlockHead(**said)


HEAD = BlockHead.__struct_fields__


def _text_of(record: Record) -> str:
    content = content_of(record.envelope)
    return content if isinstance(content, str) else record.text


def _prompt_traits(record: Record, text: str) -> int:
    envelope = record.envelope
    if envelope.is_compact_summary:
        return Trait.SUMMARY
    if text.startswith(INTERRUPTED):
        return Trait.INTERRUPTION
    if text.startswith(CLEARS):
        return Trait.CLEAR | Trait.ASKS
    if is_human_prompt(record):
        return Trait.HUMAN
    if envelope.is_visible_in_transcript_only or text.startswith(OUTPUTS):
        return 0
    return Trait.ASKS


def _assistant_facts(record: Record) -> dict[str, Any]:
    envelope = record.envelope
    message, content = envelope.message, content_of(envelope)
    heads = _heads_of(record) if content is None else content
    is_error = bool(envelope.is_api_error_message)
    traits = Trait.ERROR if is_error else 0
    if not is_error and (not message or message.model != SYNTHETIC) and _says_something(content):
        traits |= Trait.ANSWER
    else:
        traits |= _mute(record)
    name, request = message.id if message else None, record.request_id
    return {
        "traits": _shared(record, traits),
        "message_id": name,
        "request_id": request,
        "calls": _calls_of(record, heads),
        "results": _results_of(heads),  # other providers answer within the response
        "digest": None if name or request else _digest_of(record, _text_of(record).strip()),
    }


def _says_something(content: str | list[BlockHead] | None) -> bool:
    if isinstance(content, str):
        return bool(content.strip())
    return bool(content) and not ANSWERS.isdisjoint([head.type for head in content or ()])


def _calls_of(record: Record, content: str | list[BlockHead] | None) -> tuple[Call, ...]:
    if not isinstance(content, list):
        return ()
    heads = [head for head in content if head.type in CALLS and head.id]
    if not heads:
        return ()
    inputs = _spawn_inputs(record) if any(head.name in SPAWNERS for head in heads) else {}
    return tuple(_call_of(head.id or "", intern(head.name or ""), inputs) for head in heads)


def _spawn_inputs(record: Record) -> dict[str, dict[str, Any]]:
    """Returns what the calls that can send out agents were given; others say nothing of agents."""
    blocks = record.message.content if record.message else []
    uses = [block for block in blocks if isinstance(block, ToolUse)]
    return {use.id: use.input for use in uses if isinstance(use.input, dict)}


def _call_of(call: str, name: str, inputs: dict[str, dict[str, Any]]) -> Call:
    given = inputs.get(call)
    if given is None:
        return Call(call, name)
    prompt = given.get("prompt")
    label = given.get("name") or given.get("description")
    return Call(
        call,
        name,
        _text_digest(prompt) if isinstance(prompt, str) and name in SPAWNERS else None,
        label if isinstance(label, str) else None,
    )


def _spawned_of(record: Record) -> Spawned | None:
    named = named_by(record)
    return Spawned(named.agent, named.run, named.name, named.is_in_words) if named else None


def _system_facts(record: Record) -> dict[str, Any]:
    facts: dict[str, Any] = {
        "subtype": intern(record.subtype) if record.subtype else None,
        "logical": record.logical_parent_uuid,
    }
    traits = STRUCTURAL
    content = record.envelope.content
    if record.subtype == "compact_boundary":
        traits = Trait.BOUNDARY
        facts["preserved"] = record.preserved if isinstance(record, System) else None
    elif isinstance(content, str) and content.lstrip().startswith(CLEARS):
        traits |= Trait.CLEAR
    return {**facts, "traits": _shared(record, traits)}


def kept_by(record: Record) -> tuple[str, ...]:
    """Returns the records that a compaction keeps in the context, the last first."""
    found = record.preserved if isinstance(record, System) else None
    return found.uuids if found else ()


def _attachment_facts(record: Record) -> dict[str, Any]:
    head = record.envelope.attachment
    kind = head.type if head else None
    facts: dict[str, Any] = {"subtype": intern(kind) if kind else None}
    if kind != "queued_command" or not head:
        return {**facts, "traits": _shared(record, STRUCTURAL)}
    text = _queued_text(record)
    if head.command_mode not in (None, "prompt") or not is_typed_in_queue(record.envelope, text):
        return {**facts, "traits": _shared(record, STRUCTURAL)}
    return {
        **facts,
        "traits": _shared(record, Trait.QUEUED),
        "digest": _text_digest(text),
        "preview": _preview_of(text),
    }


def _queued_text(record: Record) -> str:
    attachment = record.attachment if isinstance(record, Attachment) else None
    prompt = getattr(attachment, "prompt", None)
    if isinstance(prompt, str):
        return prompt
    parts = prompt if isinstance(prompt, list) else []
    return "\n".join(str(one["text"]) for one in parts if isinstance(one, dict) and "text" in one)


def _preview_of(text: str) -> str | None:
    typed = without_notes(text) if text.startswith(EDITORS) else text
    return " ".join((typed or text)[: PREVIEW * 4].split())[:PREVIEW] or None


def _digest_of(record: Record, text: str) -> int | None:
    """Returns a number that equal contents share; None where there is nothing to compare."""
    if all(head.type == "text" for head in record.block_heads):
        return _text_digest(text)
    message = record.fields.get("message")
    return _number_of(encode({"": message.get("content")})) if isinstance(message, dict) else None


def _text_digest(text: str) -> int:
    inner = TEAMMATE.fullmatch(text)
    return _number_of(" ".join((inner[1] if inner else text).split()).encode("utf-8", "replace"))


def _number_of(data: bytes) -> int:
    return int.from_bytes(blake2b(data, digest_size=8).digest()) >> 1


FACTS: dict[str, Callable[[Record], dict[str, Any]]] = {
    "user": _user_facts,
    "assistant": _assistant_facts,
    "system": _system_facts,
    "attachment": _attachment_facts,
}
