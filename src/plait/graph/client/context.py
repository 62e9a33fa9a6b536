"""Records of a session file, in order, to what Claude will see when it is resumed."""

import re
from collections.abc import Iterable
from typing import Literal

from plait.graph.ascent import walk
from plait.graph.client.chain import with_parallel
from plait.graph.client.load import block_heads, load
from plait.graph.client.model import Block, Context, LeftOut, Loaded, Message, Resumption, Said
from plait.graph.client.prune import prune, reasons
from plait.graph.client.sdk import sdk_chain
from plait.graph.client.speech import needs_closing, since_boundary, speech, with_closing
from plait.graph.client.turns import Turn, repaired, system_text, turns
from plait.graph.entries import ROOT
from plait.graph.leaf import leaf as leaf_of
from plait.graph.leaf import path_to_message, trailing_notes
from plait.record import Record
from plait.record.record import content_blocks
from plait.record.time import NO_TIME, milliseconds

NO_CONVERSATION = "no conversation in the file"
NEXT_PROMPT = "\0next prompt\0"
INTRODUCTION = "remote_session_change"
"""The attachment whose text the client sends once, before a prompt."""


def context(
    records: Iterable[Record], *, size: int, as_: Literal["client", "sdk"] = "client"
) -> Context:
    """Returns what the client sends for a file of that many bytes, or what the SDK returns."""
    return _as_sdk(records) if as_ == "sdk" else _as_client(records, size)


def _as_client(records: Iterable[Record], size: int) -> Context:
    loaded, left_out = load(records, size)
    if loaded.is_cleared:
        return Context(True, None, None, (), [], [], tuple(left_out))
    chain = _chain_of(loaded)
    return (
        _refused(chain, left_out) if isinstance(chain, str) else _resumed(loaded, chain, left_out)
    )


def resumed_leaf(records: Iterable[Record], size: int) -> str | None:
    """Returns the record that the client goes on from, without what it would send."""
    uuids = resumption(records, size).chain
    return uuids[-1] if uuids else None


def resumption(records: Iterable[Record], size: int) -> Resumption:
    """Returns what leads to where the client goes on, and what it has to make up there."""
    loaded, _ = load(records, size)
    chain = "cleared" if loaded.is_cleared else _chain_of(loaded)
    if isinstance(chain, str):
        return Resumption()
    pruned = prune(loaded, chain)
    needs_answer = needs_closing(loaded.records, pruned)
    return Resumption(_written(loaded, pruned.kept), tuple(pruned.open_calls), needs_answer)


def contributions(records: Iterable[Record], size: int) -> list[tuple[Record, list[Block]]]:
    """Returns the records of the chain since its last compaction, with what each has sent.

    A record that is silent has no blocks; where the client would not resume, there are none.
    """
    loaded, _ = load(records, size)
    chain = "cleared" if loaded.is_cleared else _chain_of(loaded)
    if isinstance(chain, str):
        return []
    kept = prune(loaded, chain).kept
    added: dict[int, list[Block]] = {number: [] for number in since_boundary(loaded.records, kept)}
    for one in speech(loaded, kept):
        added[one.number].extend(one.blocks)
    return [(loaded.records[number], blocks) for number, blocks in added.items()]


def stands_at(records: Iterable[Record], size: int, uuid: str) -> bool:
    """Tells whether the client goes on from a record, whatever it then leaves out."""
    loaded, _ = load(records, size)
    end = None if loaded.is_cleared else leaf_of(loaded)
    meant = loaded.readable(uuid)
    if end is None or meant is None:
        return False
    return chain_at(loaded, end) == chain_at(loaded, meant)


def refusal(records: Iterable[Record], size: int) -> str | None:
    """Says why the client would not resume a file, None where it would; without what it sends."""
    loaded, _ = load(records, size)
    if loaded.is_cleared:
        return None
    message = last_message(loaded)
    return NO_CONVERSATION if message is None else _refusal(message)


def last_message(loaded: Loaded) -> Record | None:
    """Returns the prompt or answer that the client goes on from."""
    found = leaf_of(loaded)
    return None if found is None else loaded.records[path_to_message(loaded, found)[0]]


def last_answer(records: Iterable[Record], chain: Iterable[str]) -> Record | None:
    """Returns the last answer of a chain that says what it cost."""
    by_uuid = {record.uuid: record for record in records if record.kind == "assistant"}
    for uuid in reversed(tuple(chain)):
        record = by_uuid.get(uuid)
        usage = record.message.usage if record and record.message else None
        if usage and (usage.input_tokens or usage.output_tokens or usage.cache_read_input_tokens):
            return record
    return None


def _chain_of(loaded: Loaded) -> list[int] | str:
    """Returns the entries that the client goes on from, or why it would not."""
    leaf = leaf_of(loaded)
    if leaf is None:
        return NO_CONVERSATION
    if why_not := _refusal(loaded.records[path_to_message(loaded, leaf)[0]]):
        return why_not
    return chain_at(loaded, leaf)


def chain_at(loaded: Loaded, leaf: int) -> list[int]:
    """Returns the entries that the client goes on from where it stands at a leaf."""
    path = path_to_message(loaded, leaf)
    chain = with_parallel(loaded, walk(loaded, path[0]))
    known = frozenset(chain)
    notes = [number for number in trailing_notes(loaded, path) if number not in known]
    return [*chain, *notes]


def _refused(why_not: str, left_out: list[LeftOut]) -> Context:
    """Returns the context of a file that the client would not resume."""
    return Context(False, why_not, None, (), [], [], tuple(left_out))


def _refusal(message: Record) -> str | None:
    """Says why the client would not go on from a message, None where it would."""
    if message.is_sidechain:
        return "the last message is of a sidechain"
    time = milliseconds(message.envelope.timestamp)
    if time == NO_TIME:
        return "the last message has no timestamp"
    return "the timestamp of the last message is no time" if time != time else None


def _resumed(loaded: Loaded, chain: list[int], left_out: list[LeftOut]) -> Context:
    pruned = prune(loaded, chain)
    kept = pruned.kept
    said = with_closing(loaded.records, pruned, speech(loaded, kept))
    request = _before_next_prompt(said, _reminders(loaded, kept))
    uuids = _written(loaded, kept)
    return Context(
        resumes=True,
        why_not=None,
        leaf=uuids[-1] if uuids else None,
        chain=uuids,
        messages=_comparable(request),
        request=request,
        left_out=(*left_out, *reasons(loaded, chain, pruned.dropped, said)),
    )


def _written(loaded: Loaded, chain: list[int]) -> tuple[str, ...]:
    return tuple(uuid for number in chain if (uuid := _written_uuid(loaded.records[number])))


def _written_uuid(record: Record) -> str | None:
    message = record.envelope.message
    is_spoken = record.type in ("user", "assistant")
    if is_spoken and message and not isinstance(message.content, str) and not block_heads(record):
        return None
    return record.uuid


def _reminders(loaded: Loaded, chain: list[int]) -> list[Said]:
    """Returns the reminder that the client puts before a new prompt, unless it stands already."""
    for number in since_boundary(loaded.records, chain):
        attachment = loaded.records[number].envelope.attachment
        if attachment and attachment.type == INTRODUCTION:
            return []
    return [Said(ROOT, "user", [{"type": NEXT_PROMPT}], is_note=True)]


def _before_next_prompt(said: list[Said], reminders: list[Said]) -> list[Message]:
    """Returns the messages as they are when a prompt follows, without that prompt.

    The line break between two texts of a user is there only then. The client's own
    reminders stand at the head of the new prompt's turn.
    """
    prompt = Said(ROOT, "user", [_text(NEXT_PROMPT)])
    request = messages(repaired(turns([*said, *reminders, prompt])))
    shown = [
        (role, [block for block in blocks if NEXT_PROMPT not in (block["type"], block.get("text"))])
        for role, blocks in request
    ]
    return [(role, blocks) for role, blocks in shown if blocks]


def _text(words: str) -> dict[str, str]:
    return {"type": "text", "text": words}


def messages(spoken: list[Turn]) -> list[Message]:
    """Returns the turns as the API takes them, system texts as messages of their own."""
    found: list[Message] = []
    for turn in spoken:
        found.append((turn.role, turn.blocks))
        if turn.system:
            added = [block for blocks in turn.system for block in blocks[1:]]
            found.append(("system", [_text(system_text(turn.system)), *added]))
    return found


def _as_sdk(records: Iterable[Record]) -> Context:
    chain = sdk_chain(records)
    uuids = tuple(record.uuid for record in chain if record.uuid)
    request: list[Message] = [(record.kind, content_blocks(record)) for record in chain]
    return Context(
        resumes=bool(chain),
        why_not=None if chain else NO_CONVERSATION,
        leaf=uuids[-1] if uuids else None,
        chain=uuids,
        messages=_comparable(request),
        request=request,
        left_out=(),
    )


REMINDER = re.compile(r"<system-reminder>.*?</system-reminder>", re.DOTALL)
VARYING = ("cache_control", "signature")


def _comparable(request: list[Message]) -> list[Message]:
    plain = [(role, _comparable_blocks(blocks)) for role, blocks in request if role != "system"]
    return [(role, blocks) for role, blocks in plain if blocks]


def _comparable_blocks(blocks: list[Block]) -> list[Block]:
    bare = [{key: block[key] for key in block if key not in VARYING} for block in blocks]
    shown = [_without_reminders(block) for block in bare]
    return [block for block in shown if block.get("type") != "text" or block["text"].strip()]


def _without_reminders(block: Block) -> Block:
    if block.get("type") != "text" or "<system-reminder>" not in block["text"]:
        return block
    return {**block, "text": REMINDER.sub("", block["text"])}
