"""What Claude will see when a session is resumed: the messages, and what is left out and why."""

import re
from collections.abc import Iterable
from dataclasses import replace
from heapq import merge
from operator import attrgetter
from typing import Literal

from plait.graph.client.chain import (
    add_parallel_entries,
    build_sdk_chain,
    regroup_responses,
)
from plait.graph.client.entries import (
    Block,
    Context,
    LeftOut,
    LoadedEntries,
    Message,
    OutgoingEntry,
    Reason,
    ResumePoint,
    get_block_heads,
    load_session,
)
from plait.graph.client.messages import (
    Turn,
    add_closing,
    build_outgoing,
    cut_before_boundary,
    iter_left_out,
    join_system_texts,
    make_text_block,
    merge_turns,
    needs_closing,
    prune,
    repair_turns,
)
from plait.graph.leaf import ROOT, choose_leaf, find_message, list_trailing_notes, walk_up
from plait.graph.model import SessionGraph
from plait.record import Record
from plait.record.time import NO_TIME, parse_javascript_time
from plait.record.types import get_content_blocks

NO_CONVERSATION = "no conversation in the file"
NEXT_PROMPT = "\0next prompt\0"
MAX_IMAGE_LENGTH = 5 * 1024 * 1024
UNREADABLE = frozenset({Reason.NO_MESSAGE, Reason.SIDECHAIN})
INTRODUCTION = "remote_session_change"
"""The attachment whose text the client sends once, before a prompt."""


def build_context(
    records: Iterable[Record], *, size: int, as_: Literal["client", "sdk"] = "client"
) -> Context:
    """Return what the client sends for a file of this size, or what the SDK returns."""
    if as_ == "sdk":
        spoken = build_sdk_chain(records)
        uuids = tuple(record.uuid for record in spoken if record.uuid)
        request: list[Message] = [(record.kind, get_content_blocks(record)) for record in spoken]
        return Context(
            resumes=bool(spoken),
            why_not=None if spoken else NO_CONVERSATION,
            leaf=uuids[-1] if uuids else None,
            chain=uuids,
            messages=_comparable(request),
            request=request,
            left_out=(),
        )
    loaded, not_loaded = load_session(records, size)
    unreadable = [item for item in not_loaded if item.reason in UNREADABLE]
    left_out = [item for item in not_loaded if item.reason not in UNREADABLE]
    if loaded.is_cleared:
        return Context(True, None, None, (), [], [], tuple(left_out))
    chain = _find_chain(loaded)
    if isinstance(chain, str):
        return Context(False, chain, None, (), [], [], tuple(left_out))
    pruned = prune(loaded, chain)
    kept = pruned.kept
    entries = add_closing(loaded.records, pruned, build_outgoing(loaded, kept))
    recent = (loaded.records[number] for number in cut_before_boundary(loaded.records, kept))
    attachments = (record.envelope.attachment for record in recent)
    is_introduced = any(known and known.type == INTRODUCTION for known in attachments)
    request = _render_before_next_prompt(entries, is_introduced=is_introduced)
    if (length := find_oversized_image(request)) is not None:
        megabytes = length / (1 << 20)
        why_not = f"an image of {megabytes:.1f} MB as base64 exceeds the API's limit (5 MB)"
        return Context(False, why_not, None, (), [], [], tuple(left_out))
    uuids = _list_written_uuids(loaded, kept)
    silent = iter_left_out(loaded, chain, pruned.dropped, entries)
    return Context(
        resumes=True,
        why_not=None,
        leaf=uuids[-1] if uuids else None,
        chain=uuids,
        messages=_comparable(request),
        request=request,
        left_out=(*left_out, *merge(unreadable, silent, key=attrgetter("line"))),
    )


def find_resumed_leaf(records: Iterable[Record], size: int) -> str | None:
    """Return the record that the client resumes from, without building what it would send."""
    uuids = find_resume_point(records, size).chain
    return uuids[-1] if uuids else None


def find_resume_point(records: Iterable[Record], size: int) -> ResumePoint:
    """Return the chain that the client resumes, and what it must add there."""
    loaded, _ = load_session(records, size)
    chain = "cleared" if loaded.is_cleared else _find_chain(loaded)
    if isinstance(chain, str):
        return ResumePoint()
    pruned = prune(loaded, chain)
    needs_answer = needs_closing(loaded.records, pruned)
    return ResumePoint(
        _list_written_uuids(loaded, pruned.kept), tuple(pruned.open_calls), needs_answer
    )


def list_contributions(records: Iterable[Record], size: int) -> list[tuple[Record, list[Block]]]:
    """Return the records of the chain since its last compaction, each with what is sent of it.

    A record that is not sent has no blocks; empty if the client would not resume.
    """
    loaded, _ = load_session(records, size)
    chain = "cleared" if loaded.is_cleared else _find_chain(loaded)
    if isinstance(chain, str):
        return []
    kept = prune(loaded, chain).kept
    added: dict[int, list[Block]] = {
        number: [] for number in cut_before_boundary(loaded.records, kept)
    }
    for entry in build_outgoing(loaded, kept):
        added[entry.number].extend(entry.blocks)
    return [(loaded.records[number], blocks) for number, blocks in added.items()]


def resumes_at(records: Iterable[Record], size: int, uuid: str) -> bool:
    """Return whether the client resumes from a record, whatever it then leaves out."""
    loaded, _ = load_session(records, size)
    end = None if loaded.is_cleared else choose_leaf(loaded)
    meant = loaded.readable(uuid)
    if end is None or meant is None:
        return False
    return build_chain(loaded, end) == build_chain(loaded, meant)


def find_refusal(records: Iterable[Record], size: int) -> str | None:
    """Return why the client would not resume a file; None if it would."""
    loaded, _ = load_session(records, size)
    if loaded.is_cleared:
        return None
    message = get_last_message(loaded)
    return NO_CONVERSATION if message is None else _refusal(message)


def get_last_message(loaded: LoadedEntries) -> Record | None:
    """Return the prompt or response that the client resumes from."""
    found = choose_leaf(loaded)
    return None if found is None else loaded.records[find_message(loaded, found)]


def find_last_answer(records: Iterable[Record], chain: Iterable[str]) -> Record | None:
    """Return the last response of a chain that has usage."""
    by_uuid = {record.uuid: record for record in records if record.kind == "assistant"}
    for uuid in reversed(tuple(chain)):
        record = by_uuid.get(uuid)
        usage = record.message.usage if record and record.message else None
        if usage and (usage.input_tokens or usage.output_tokens or usage.cache_read_input_tokens):
            return record
    return None


def _find_chain(loaded: LoadedEntries) -> list[int] | str:
    """Return the entries that the client resumes, or why it would not."""
    leaf = choose_leaf(loaded)
    if leaf is None:
        return NO_CONVERSATION
    if why_not := _refusal(loaded.records[find_message(loaded, leaf)]):
        return why_not
    return build_chain(loaded, leaf)


def build_chain(loaded: LoadedEntries, leaf: int) -> list[int]:
    """Return the entries that the client resumes from a leaf."""
    message = find_message(loaded, leaf)
    chain = add_parallel_entries(loaded, walk_up(loaded, message))
    notes = list_trailing_notes(loaded, message, {*chain})
    return regroup_responses(loaded.records, [*chain, *notes])


def _refusal(message: Record) -> str | None:
    """Return why the client would not resume from a message; None if it would."""
    if message.is_sidechain:
        return "the last message belongs to a sidechain"
    time = parse_javascript_time(message.envelope.timestamp)
    if time == NO_TIME:
        return "the last message has no timestamp"
    return "the timestamp of the last message is invalid" if time != time else None


def find_oversized_image(request: Iterable[Message]) -> int | None:
    """Return the base64 length of the first image that is too large for the API, if any.

    The client then sends nothing at all: each resume ends with an error until the image is gone.
    """
    for role, blocks in request:
        todo = list(blocks) if role == "user" else []
        for block in todo:
            content = block.get("content")
            if block.get("type") == "tool_result" and isinstance(content, list):
                todo.extend(part for part in content if isinstance(part, dict))
            source = block.get("source") if block.get("type") == "image" else None
            data = source.get("data") if isinstance(source, dict) else None
            if isinstance(data, str) and len(data) > MAX_IMAGE_LENGTH:
                return len(data)
    return None


def _list_written_uuids(loaded: LoadedEntries, chain: list[int]) -> tuple[str, ...]:
    """Return the records of a chain that the client writes: none whose content is an empty list."""
    found: list[str] = []
    for record in map(loaded.records.__getitem__, chain):
        message = record.envelope.message if record.type in ("user", "assistant") else None
        has_content = not message or isinstance(message.content, str) or get_block_heads(record)
        if has_content and record.uuid:
            found.append(record.uuid)
    return tuple(found)


def _render_before_next_prompt(
    entries: list[OutgoingEntry], *, is_introduced: bool
) -> list[Message]:
    """Return the messages as they are when a prompt follows, without that prompt.

    The line break between two texts of a user exists only then. The client's own reminder, which it
    sends once, is at the beginning of the new prompt's turn.
    """
    reminder = OutgoingEntry(ROOT, "user", [{"type": NEXT_PROMPT}], is_note=True)
    prompt = OutgoingEntry(ROOT, "user", [make_text_block(NEXT_PROMPT)])
    following = [prompt] if is_introduced else [reminder, prompt]
    request = build_messages(repair_turns(merge_turns([*entries, *following])))
    shown = [
        (role, [block for block in blocks if NEXT_PROMPT not in (block["type"], block.get("text"))])
        for role, blocks in request
    ]
    return [(role, blocks) for role, blocks in shown if blocks]


def build_messages(spoken: list[Turn]) -> list[Message]:
    """Return the turns in the form of the API, with system texts as messages of their own."""
    found: list[Message] = []
    for turn in spoken:
        found.append((turn.role, turn.blocks))
        if turn.system:
            added = [block for blocks in turn.system for block in blocks[1:]]
            found.append(("system", [make_text_block(join_system_texts(turn.system)), *added]))
    return found


REMINDER = re.compile(r"<system-reminder>.*?</system-reminder>", re.DOTALL)
VARYING = ("cache_control", "signature")


def _comparable(request: list[Message]) -> list[Message]:
    """Return messages without what differs between requests: reminders, signatures."""
    found: list[Message] = []
    for role, blocks in request:
        plain: list[Block] = []
        for block in blocks if role != "system" else ():
            bare = {key: block[key] for key in block if key not in VARYING}
            if bare.get("type") == "text":
                bare["text"] = REMINDER.sub("", bare["text"])
                if not bare["text"].strip():
                    continue
            plain.append(bare)
        if plain:
            found.append((role, plain))
    return found


# The client only knows what is on its chain and what is not. The graph knows why: a branch, a
# compaction, a cleared context, another session's records, or no visible cause.


OFF_CHAIN = frozenset({Reason.ABANDONED, Reason.BEFORE_COMPACTION})


def align_reasons(graph: SessionGraph, session: str, found: Context) -> Context:
    """Return the context with reasons that agree with how the session is drawn."""
    known = graph.sessions.get(session)
    line = graph.lines.get(known.trunk or "") if known else None
    if line is None or not any(record.reason in OFF_CHAIN for record in found.left_out):
        return found
    # why each record of the active line can be missing
    reason = Reason.UNSEEN
    inline: dict[str, Reason] = {}
    for uuid in reversed(line.nodes):
        edge = graph.edges.get(uuid)
        inline[uuid] = reason
        if graph.nodes[uuid].is_boundary:
            reason = Reason.BEFORE_COMPACTION
        elif edge and edge.kind == "restart" and reason is Reason.UNSEEN:
            reason = Reason.CLEARED
    inline.update(dict.fromkeys(known.unseen if known else (), Reason.UNSEEN))
    aligned: list[LeftOut] = []
    for left_out in found.left_out:
        node = graph.nodes.get(left_out.uuid)
        if left_out.reason in OFF_CHAIN and node is not None:
            is_own = node.session == session
            elsewhere = Reason.ABANDONED if is_own else Reason.OTHER_SESSION
            left_out = replace(left_out, reason=inline.get(left_out.uuid, elsewhere))
        aligned.append(left_out)
    return replace(found, left_out=tuple(aligned))
