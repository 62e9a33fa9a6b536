"""Compressing older turns: prompts stay, answers become summaries after a compaction.

    ┆ U₁ A₁ │ U₂ T₂ R₂ A₂ │ U₃ A₃        the newest turn, U₃ A₃, is not changed
    ───── band ────────   tail

    U₁ A₁ U₂ T₂ R₂ A₂ U₃ A₃      ▸      I ┆ C U₁ S₁ U₂ S₂ U₃ A₃

`I` records in the log what was done and is never sent; the compaction follows it. `C` tells Claude.
The lines have the form that the client itself writes. A band that was compressed before already
follows such a compaction: it stays unchanged, and newly compressed turns are added to it.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from hashlib import blake2b
from typing import Any, Literal, TypeAlias

from plait.conversation.items import Responses, build_items
from plait.conversation.model import (
    AssistantText,
    Conversation,
    FoldedItems,
    Item,
    ToolCall,
    Turn,
    UserMessage,
)
from plait.conversation.prices import Prices
from plait.conversation.results import pair_results
from plait.conversation.usage import SYNTHETIC
from plait.edit.branches import build_pointer
from plait.edit.cuts import CallPairs, find_inline_agents
from plait.edit.draft import (
    Draft,
    SideFileChanges,
    derive_uuid,
    note_removed_tokens,
    open_draft,
    plan_draft,
    plan_nothing,
    replace_field,
    replace_pointers,
    weigh_chain,
)
from plait.edit.log import add_break_even, find_active_conversation, measure_log, read_stamp
from plait.edit.plan import Plan, Subject
from plait.edit.summaries import (
    CALLS,
    Band,
    Calls,
    Segment,
    Summariser,
    digest_turn,
    extract_summary,
    is_answer_item,
    is_prompt_item,
)
from plait.errors import UserError
from plait.graph.client import build_chain, build_context, resumes_at
from plait.graph.client.entries import (
    get_call_ids,
    get_result_ids,
    is_boundary,
    is_result,
    load_session,
)
from plait.graph.client.tokens import estimate_request_tokens
from plait.graph.leaf import CHAIN_TYPES, choose_leaf
from plait.line import iter_lines
from plait.record import Record, parse_record
from plait.record.codec import as_mapping, encode
from plait.record.json_text import with_parent
from plait.record.types import get_content_blocks
from plait.view.formats import format_count
from plait.write.lines import NEWEST, make_last_prompt_line, make_summary_line, order_fields
from plait.write.transcript import NO_USAGE, build_event_fields

FRAME = "userType entrypoint cwd sessionId version gitBranch slug".split()
"""Fields that a new line shares with its neighbour."""
FRAMED = {"userType": "external", "cwd": "", "version": ""}
MADE = "msg_compressed_"
"""Prefix of the ids of summaries, by which a compressed turn is recognised."""
REQUEST = "req_compressed_"
MARK = "compressedTurns"
"""The mark of compactions made here."""
CONTENT = "Conversation compressed"
OPENING = (
    "The earlier turns of this conversation were compressed. The user's prompts below are "
    "unchanged; your answers are summarised after each. Thinking and tool results are gone: "
    "look things up again if you need them."
)
NO_FORM = " Your earlier tool calls are listed as text, for the record only; call tools as usual."

BEFORE = "Before the first prompt, you said:"


def build_compaction(
    near: Record, after: str | None, text: "CompactionText", words: str
) -> tuple[dict[str, Any], ...]:
    """Build the lines `I ┆ C`: a note in the log that is never sent, the compaction, its message."""

    def build_event(
        subtype: str, parent: str | None, role: str, details: dict[str, Any]
    ) -> dict[str, Any]:
        fields = build_event_fields(subtype, details, is_older=False)
        own = {"type": "system", "subtype": subtype, **fields}
        return _build_line("system", near, parent, role, own)

    note = build_event("informational", after, "note", {"content": text.note})
    details = {
        "compactMetadata": dict(text.metadata),
        "logicalParentUuid": note["uuid"],
        "content": CONTENT,
        "isMeta": False,
    }
    boundary = build_event("compact_boundary", None, "boundary", details)
    message = {
        "type": "user",
        "message": {"role": "user", "content": words},
        "isVisibleInTranscriptOnly": True,
        "isCompactSummary": True,
    }
    return note, boundary, _build_line("user", near, boundary["uuid"], "opening", message)


def build_answer(near: Record, parent: str, time: str | None, words: str) -> dict[str, Any]:
    """Build the message that replaces the answers of a turn, in the form of a client's message."""
    digest = blake2b((near.uuid or "").encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()
    message = {
        "id": MADE + digest,
        "model": SYNTHETIC,
        "role": "assistant",
        "stop_reason": "stop_sequence",
        "stop_sequence": "",
        "type": "message",
        "usage": NO_USAGE,
        "content": [{"type": "text", "text": words}],
    }
    own = {
        "type": "assistant",
        "message": message,
        "requestId": REQUEST + digest,
        "isApiErrorMessage": False,
        "madeBy": "other",
        "timestamp": time,
    }
    return _build_line("api error", near, parent, "answer", own)


def _build_line(
    kind: str, near: Record, parent: str | None, role: str, own: Mapping[str, Any]
) -> dict[str, Any]:
    """Build a line with the fields that it shares with a record nearby.

    Its uuid follows from that record's, so that the same plan is made twice.
    """
    seed = f"compress {role} {near.uuid}".encode("utf-8", "surrogatepass")
    shared = {**FRAMED, **{key: near.fields[key] for key in FRAME if key in near.fields}}
    first = {"parentUuid": parent, "isSidechain": False, "uuid": derive_uuid(seed)}
    time = {"timestamp": near.timestamp}
    return order_fields(kind, {**first, **shared, **time, **own}, NEWEST)


def is_compressed_answer(record: Record) -> bool:
    """Return whether a record replaces the answers of a compressed turn."""
    return (record.message_id or "").startswith(MADE)


def is_compressed_boundary(record: Record | None) -> bool:
    """Return whether a compaction was written by Plait."""
    return record is not None and MARK in as_mapping(record.fields.get("compactMetadata"))


Fate: TypeAlias = Literal["stays", "goes", "words"]
"""`words`: the user's text stays, the result beside it goes."""
STATE_ATTACHMENTS = frozenset(
    """
    agent_listing_delta auto_mode auto_mode_exit companion_intro date date_change
    deferred_tools_delta deferred_tools_record environment goal_status instructions
    mcp_instructions_delta model nested_memory output_style plan_mode plan_mode_exit
    plan_mode_reentry remote_session_change session_context skill_listing
    """.split()
)
"""Attachments that describe a lasting state: instructions, tools, modes."""


def decide_fates(segment: Segment) -> list[Fate]:
    """Return what happens to each record of a turn."""
    asked = {item.uuid for item in segment.items if is_prompt_item(item)}
    asked |= {record.uuid for record in segment.records[:1] if segment.number}

    def decide(record: Record) -> Fate:
        is_asked = record.uuid in asked
        if is_result(record):
            return "words" if is_asked else "goes"
        if is_asked or is_compressed_answer(record):
            return "stays"
        if record.type == "assistant" or record.is_sidechain:
            return "goes"
        attachment = record.envelope.attachment
        is_state = attachment is not None and attachment.type in STATE_ATTACHMENTS
        return "stays" if segment.is_head or is_state else "goes"

    return [decide(record) for record in segment.records]


def find_companions(records: Sequence[Record], chain: set[str], gone: set[str]) -> set[str]:
    """Return unsent records that go with removed ones: progress, inline agents, notices.

    An abandoned branch stays if it contains messages; results of removed calls do not.
    """
    off = {record.uuid: record for record in records if record.uuid and record.uuid not in chain}
    children: dict[str, list[str]] = {}
    for record in off.values():
        if record.parent_uuid and record.uuid:
            children.setdefault(record.parent_uuid, []).append(record.uuid)

    def is_spoken(record: Record) -> bool:
        is_main = not record.is_sidechain and record.type in CHAIN_TYPES
        is_prompt = record.type == "user" and not is_result(record)
        return is_main and (record.type == "assistant" or is_prompt)

    found: set[str] = set()
    for removed in gone:
        for child in children.get(removed, ()):
            family = [child]
            for uuid in family:
                family += children.get(uuid, ())
            if not any(is_spoken(off[uuid]) for uuid in family):
                found.update(family)
    lost = {call for record in records if record.uuid in gone for call in get_call_ids(record)}
    lost -= {call for record in off.values() for call in get_call_ids(record)}
    for uuid, record in off.items():
        answered = get_result_ids(record)
        if answered and lost.issuperset(answered):
            found.add(uuid)
    return found


def select_band(
    records: Sequence[Record],
    size: int,
    active: Conversation,
    *,
    until: str | None,
    keep_last: int | None,
) -> Band:
    """Return the turns before the one that holds a record, or all but the newest `keep_last`."""
    boundary, chain, relinked = _load_sent_chain(records, size)
    places = {record.uuid: place for place, record in enumerate(chain)}
    turns = [turn for turn in active.turns if turn.number and _get_opener_uuid(turn) in places]
    if until:
        holders = (
            turn
            for turn in active.turns
            if until in {item.uuid for item in _unfold(iter(turn.items)) if item.uuid}
        )
        holder = next(holders, None)
        if holder is None:
            raise UserError(f"'{until}' is not on the active branch")
        kept = [turn for turn in turns if turn.number >= holder.number]
    else:
        kept = turns[-keep_last:] if keep_last else []
    edge = places[_get_opener_uuid(kept[0])] if kept else len(chain) if turns else 0
    # A finished background task continues the turn before it: only prompts of the user count.
    older = {
        _get_opener_uuid(turn): turn.number
        for turn in turns
        if places[_get_opener_uuid(turn)] < edge and turn.opener and turn.opener.kind != "notice"
    }
    # Return the conversation's items by record, including records that only the client sees.
    items: dict[str, list[Item]] = {}
    for item in _unfold(active.items()):
        if item.uuid and not getattr(item, "is_intermediate", False):
            items.setdefault(item.uuid, []).append(item)
    responses = Responses()
    unseen = [record for record in chain if record.uuid not in items]
    converted = [item for record in unseen for item in build_items(record, responses)]
    for item in pair_results(converted, lambda _: None, lambda _: True):
        items.setdefault(item.uuid or "", []).append(item)
    segments: list[Segment] = []
    number, members = 0, list[Record]()

    def end_segment() -> None:
        found = (item for record in members for item in items.get(record.uuid or "", ()))
        segments.append(Segment(number, tuple(members), tuple(found)))

    for record in chain[:edge]:
        if record.uuid in older:
            end_segment()
            number, members = older[record.uuid], []
        members.append(record)
    end_segment()
    is_head = boundary is None or is_compressed_boundary(boundary)
    segments[0] = replace(segments[0], is_head=is_head)
    # Whether the active conversation begins before what the client sends of it.
    sent = {record.uuid for record in chain}
    spoken = (
        item
        for item in active.items()
        if item.uuid in sent or isinstance(item, UserMessage | AssistantText | ToolCall)
    )
    first = next((item for item in spoken if item.uuid), None)
    has_past = first is not None and first.uuid not in sent
    tail = tuple(chain[edge:])
    return Band(boundary, tuple(segments), tail, len(kept), relinked, has_past)


def _load_sent_chain(
    records: Sequence[Record], size: int
) -> tuple[Record | None, list[Record], dict[str, str]]:
    """Return the last compaction on the client's chain, the records after it, and new parents.

    The client attaches some records to another parent than they name: those are the new parents.
    """
    loaded, _ = load_session(records, size)
    end = None if loaded.is_cleared else choose_leaf(loaded)
    if end is None:
        return None, [], {}
    numbers = build_chain(loaded, end)
    chain = [loaded.records[number] for number in numbers]
    place = max((n for n, record in enumerate(chain) if is_boundary(record)), default=-1)
    relinked: dict[str, str] = {}
    for number in numbers[place + 1 :]:
        record, above = loaded.records[number], loaded.parents[number]
        parent = loaded.records[above].uuid if above >= 0 else None
        named = record.parent_uuid
        if record.uuid and parent and named in loaded.index and named != parent:
            relinked[record.uuid] = parent
    return (chain[place] if place >= 0 else None), chain[place + 1 :], relinked


def _get_opener_uuid(turn: Turn) -> str | None:
    return turn.opener.uuid if turn.opener else None


def _unfold(items: Iterator[Item]) -> Iterator[Item]:
    waiting = list(items)[::-1]
    while waiting:
        item = waiting.pop()
        if isinstance(item, FoldedItems):
            waiting += item.items[::-1]
        else:
            yield item


GONE = "answers, calls and results of older turns: replaced by a summary"
WITH_ANSWER = "progress, notices and agents that belong to a removed answer"
SUMMED = "the summary of a turn's answers"
OPENED = "the compaction and its message"
LINKED = "now follows the summary of the removed messages"
MOVED = "moved after the new compaction"
WORDS = "a user message without its removed tool result"
RELEASED = "messages that an earlier compaction preserved now follow the new one"
SUMMARY = "a note that says what was compressed"
TITLE_WINDOW = 65_536
"""Bytes at the end of a log in which Claude Code looks for the title when it lists sessions."""
STRAY = "summaries of other sessions, which Claude Code would show as this session's title"
POINTED = "where the session continues"
RESULT_FIELDS = ("toolUseResult", "sourceToolAssistantUUID")

Words = Callable[[Segment], str | None]
"""Returns the summary of a turn's answers; None if there were none."""


@dataclass(frozen=True, slots=True)
class CompactionText:
    """The text in the log about a new compaction."""

    note: str
    metadata: Mapping[str, Any]
    has_calls: bool


@dataclass(slots=True)
class CompressedOrder:
    """The new order of a band, record by record."""

    tip: str | None
    """The record that the next one follows."""
    place: int
    """The line after which the next one is inserted."""
    start: int
    """The line after which everything is inserted."""
    parents: dict[str, str] = field(default_factory=dict)
    """New parents of records that stay."""
    instead: dict[str, str] = field(default_factory=dict)
    """The replacement of each removed record."""
    only_words: set[str] = field(default_factory=set)
    moved: dict[str, bytes] = field(default_factory=dict)
    """Records that come too early in the file, with their new lines."""
    added: list[tuple[int, str, str]] = field(default_factory=list)
    """New or moved lines: the line that each follows, its uuid, and why."""
    made: dict[str, bytes] = field(default_factory=dict)
    """The new lines by uuid."""

    def add(self, fields: Mapping[str, Any], reason: str) -> None:
        """Add a new record."""
        self.tip = str(fields["uuid"])
        self.made[self.tip] = encode(fields)
        self.added.append((self.place, self.tip, reason))

    def keep(self, record: Record, parent: str | None) -> None:
        """Keep a record, with a new parent if one is given."""
        uuid = record.uuid or ""
        if parent:
            self.parents[uuid] = self.instead.get(parent, parent)
        self.skip(record)
        if record.line < self.start:
            self.moved[uuid] = b""
            self.added.append((self.place, uuid, MOVED))
        self.tip = uuid

    def skip(self, record: Record) -> None:
        """Continue after the line of a record."""
        self.place = max(self.place, record.line)


def compress_draft(
    draft: Draft, band: Band, words: Words, text: CompactionText
) -> CompressedOrder | None:
    """Compress the band of a draft; return None if nothing would be removed."""
    fates = [fate for part in band.segments for fate in decide_fates(part)]
    if not band.turns or all(fate == "stays" for fate in fates):
        return None
    chain = list(band.records)
    first = chain[0]
    own = [record for record in draft.records if record.session_id == first.session_id]
    if band.boundary:
        start = band.boundary.line
    else:
        start = (first.line if band.has_past else min(record.line for record in own)) - 1
    order = CompressedOrder(band.boundary.uuid if band.boundary else None, start, start)
    if not is_compressed_boundary(band.boundary):
        before = next((words(segment) for segment in band.segments if segment.is_head), None)
        opening = OPENING + (NO_FORM if text.has_calls else "")
        opening = f"{opening}\n\n{BEFORE}\n\n{before}" if before else opening
        for fields in build_compaction(first, order.tip, text, opening):
            order.add(fields, OPENED)
        if not band.boundary and not band.has_past:
            # Other prompts that began the session now branch off where the active one does.
            on_chain = {record.uuid for record in chain}
            for record in own:
                is_root = record.parent_uuid is None and not record.is_sidechain
                is_prompt = record.type == "user" and not record.is_meta
                is_elsewhere = record.uuid and record.uuid not in on_chain
                if is_root and is_prompt and is_elsewhere and not get_result_ids(record):
                    order.parents[record.uuid or ""] = order.tip or ""
    for segment in band.segments:
        _compress_turn(order, segment, None if segment.is_head else words(segment))
    # Keep the newer turns, except late results of removed calls.
    removed_calls = {
        call for part in band.segments for record in part.records for call in get_call_ids(record)
    }
    parent = order.tip
    for record in band.tail:
        answered = get_result_ids(record)
        if answered and removed_calls.issuperset(answered):
            order.instead[record.uuid or ""] = order.tip or ""
            continue
        order.keep(record, parent or band.linked.get(record.uuid or ""))
        parent = None
    _drop_replaced(draft, order, {record.uuid or "" for record in chain})
    _rewrite_kept(draft, order)
    if order.moved and band.boundary:
        # What the older compaction preserved comes after the new one now.
        facts = as_mapping(band.boundary.fields.get("compactMetadata"))
        rest = {key: value for key, value in facts.items() if not key.startswith("preserved")}
        for line, record in list(draft.record_lines):
            if record.uuid == band.boundary.uuid:
                draft.rewrite(line, replace_field(record, "compactMetadata", rest), RELEASED)
    _add_summary_line(draft, order, text)
    by_number = {line.number: line for line in draft.lines if line.number}
    lines = order.made | order.moved
    for place, uuid, reason in reversed(order.added):  # each is inserted after the line it follows
        draft.insert(by_number.get(place), [lines[uuid]], reason)
    leaf, size = order.tip or "", draft.size
    if not resumes_at(draft.records, size, leaf):
        session = draft.log.session or ""
        pointer = build_pointer(session, draft.records, size, leaf)
        draft.append(pointer or make_last_prompt_line(session, leaf, is_explicit=True), POINTED)
    return order


def _compress_turn(order: CompressedOrder, segment: Segment, words: str | None) -> None:
    """Keep the prompts; the summary takes the place of the last removed answer."""
    fates = decide_fates(segment)
    answers = {item.uuid for item in segment.items if is_answer_item(item)}
    removed = [
        place
        for place, (record, fate) in enumerate(zip(segment.records, fates, strict=True))
        if fate != "stays" and record.uuid in answers
    ]
    last = max(removed, default=-1) if words else -1
    gone: list[Record] = []
    for place, (record, fate) in enumerate(zip(segment.records, fates, strict=True)):
        if fate == "goes":
            gone.append(record)
            order.skip(record)
        else:
            order.only_words.update([record.uuid or ""] if fate == "words" else [])
            order.keep(record, order.tip)
        if words and place == last and order.tip:
            times = [answer.timestamp for answer in gone if answer.time]
            time = times[-1] if times else record.timestamp
            order.add(build_answer(record, order.tip, time, words), SUMMED)
    order.instead |= {record.uuid or "": order.tip or "" for record in gone}


def _drop_replaced(draft: Draft, order: CompressedOrder, chain: set[str]) -> None:
    """Remove the records that were replaced, and those that go with them."""
    gone = set(order.instead)
    records = {line.number or 0: record for line, record in draft.record_lines}
    removed = [record for record in records.values() if record.uuid in gone]
    calls = {call for record in removed for call in get_call_ids(record)}
    agents = find_inline_agents(draft, records, CallPairs(draft.record_lines), calls)
    companions = find_companions(draft.records, chain, gone)
    companions |= {records[number].uuid or "" for number in agents} - {""}
    for line, record in list(draft.record_lines):
        uuid = record.uuid or ""
        if uuid in companions:
            above = record.parent_uuid or ""
            order.instead[uuid] = order.instead.get(above, above) or order.tip or ""
            draft.drop(line, WITH_ANSWER)
        elif uuid in gone:
            draft.drop(line, GONE)


def _rewrite_kept(draft: Draft, order: CompressedOrder) -> None:
    """Write the new parents of records that stay, and move those that come too early."""
    for line, record in list(draft.record_lines):
        uuid = record.uuid or ""
        data, parent = replace_pointers(record, order.instead), order.parents.get(uuid)
        if parent and parent != record.parent_uuid:
            data = with_parent(data, parent)
        if uuid in order.only_words:
            typed = parse_record(data)
            blocks = [
                block for block in get_content_blocks(typed) if block["type"] != "tool_result"
            ]
            fields = {key: value for key, value in typed.fields.items() if key not in RESULT_FIELDS}
            fields["message"] = {**as_mapping(fields.get("message")), "content": blocks}
            data = encode(fields)
        if uuid in order.moved:
            order.moved[uuid] = data
            draft.drop(line, MOVED)
        elif data != record.raw:
            draft.rewrite(line, data, WORDS if uuid in order.only_words else LINKED)


def _add_summary_line(draft: Draft, order: CompressedOrder, text: CompactionText) -> None:
    """Add a summary line, if a later line gives the session its title.

    Lists of sessions read only the end of a log and take the last summary there for the title
    unless there is a better one. Summaries of other sessions must not become visible because the
    log became short.
    """
    made = [uuid for _, uuid, why in order.added if why == SUMMED]
    titles = [
        record.line
        for record in draft.records
        if record.envelope.custom_title or record.envelope.ai_title or record.envelope.last_prompt
    ]
    if made and titles and titles[-1] > order.start:
        order.made[SUMMARY] = make_summary_line(text.note, made[-1])
        order.added.insert(0, (order.start, SUMMARY, SUMMARY))
    if titles:
        return
    # The original log may have had a summary within its last lines, too.
    room = TITLE_WINDOW
    for line in reversed(draft.lines):
        if line.original is not None:
            room -= len(line.original) + 1
            if room < 0:
                break
            if isinstance(line.entry, Record) and line.entry.type == "summary":
                return
    known = {record.uuid for record in draft.records}
    for line, record in reversed(list(draft.record_lines)):
        if record.type == "summary":
            if record.envelope.leaf_uuid in known:
                break  # it is the title: earlier ones are not
            draft.drop(line, STRAY)


UNTOUCHED = "newer turns and records that are never sent"
NOTHING = "nothing to compress"
NOT_RESUMED = f"{NOTHING}: nothing in this session can be resumed"
ATTACHED = (
    "file, skill or note attached to a prompt",
    "files, skills and notes attached to prompts",
)
ONLY_CALLS = "(Only tool calls, no text.)"
CALLED = "Tool calls of this turn, without their results:"
SPENT = "the prompt cache is lost: the next prompt writes the remaining context to it again"
UNCOUNTED = "the cost of the removed answers is no longer counted"
NO_HELP = "no savings: the summaries would be about as long as these turns"


def plan_compress(
    subject: Subject,
    *,
    until: str | None = None,
    keep_last: int | None = None,
    summariser: Summariser = extract_summary,
    calls: Calls = "metadata",
    is_in_place: bool = False,
    prices: Prices | None = None,
) -> Plan:
    """Return the plan that compresses the turns before one, or all but the newest `keep_last`.

    It has no steps if nothing would be removed. The turn is named by a record in it.
    """
    if (until is None) == (keep_last is None):
        raise UserError("give either `until` or `keep_last`")
    if keep_last is not None and keep_last < 0:
        raise UserError(f"cannot keep {keep_last} turns")
    if calls not in CALLS:
        raise UserError(f"calls cannot be kept as '{calls}'", f"use one of {', '.join(CALLS)}")
    stamp = read_stamp(subject.log.path)
    before = measure_log(subject.log, stamp.size, prices)
    draft = open_draft(subject.log, iter_lines(subject.log.path, end=stamp.size))
    records = draft.records
    active = find_active_conversation(subject.log, records, stamp.size)
    now = build_context(records, size=stamp.size)
    if active is None or not now.chain:
        return plan_nothing("compress", subject, stamp, before, untouched=NOTHING, why=NOT_RESUMED)
    band = select_band(records, stamp.size, active, until=until, keep_last=keep_last)
    sent, weights = estimate_request_tokens(now.request), weigh_chain(records, stamp.size)
    metadata = {"trigger": "manual", "preTokens": before.tokens or sent, MARK: band.turns}
    going = [part for part in band.segments if any(fate != "stays" for fate in decide_fates(part))]
    numbers = [part.number for part in going if part.number]
    turns = f"turns {numbers[0]} to {numbers[-1]}" if len(numbers) > 1 else "one turn"
    items = [item for part in going for item in part.items]
    answers = len(
        {
            record.message_id or record.uuid
            for part in going
            for record in part.records
            if record.type == "assistant" and not is_compressed_answer(record)
        }
    )
    made = sum(isinstance(item, ToolCall) for item in items)
    counts = f"{format_count(answers, 'answer')}, {format_count(made, 'tool call')}"
    text = CompactionText(
        f"Plait compressed {turns}: {counts} with {'its result' if made == 1 else 'their results'}.",
        metadata,
        calls == "metadata",
    )
    order = compress_draft(
        draft, band, lambda segment: _format_replacement(segment, summariser, calls), text
    )
    if order is None:
        if not band.turns:
            why = f"{NOTHING}: there are no older turns"
        else:
            why = f"{NOTHING}: the older turns are already compressed, or contain only prompts"
        return plan_nothing("compress", subject, stamp, before, untouched=NOTHING, why=why)
    note_removed_tokens(draft, weights)
    plan = plan_draft(
        "compress",
        subject,
        stamp,
        draft,
        before,
        is_in_place=is_in_place,
        untouched=UNTOUCHED,
        side_files=SideFileChanges(subject, draft),
        instead=order.instead,
        prices=prices,
    )
    after = estimate_request_tokens(build_context(draft.records, size=draft.size).request)
    known, size = plan.before.tokens, plan.after
    if size.tokens is None and known is not None:  # no response with usage is left
        left = known - sent + after if known >= sent else round(known * after / max(sent, 1))
        size = replace(size, tokens=left)
    is_smaller = after < sent and (size.tokens or 0) <= (known or size.tokens or 0)
    notes = [
        f"Claude will know {format_count(answers, 'answer')} of older turns only from a summary"
    ]
    if made:
        notes.append(f"Claude will no longer know the results of {format_count(made, 'tool call')}")
    messages = [item for item in items if isinstance(item, UserMessage)]
    if files := sum(message.kind in ("document", "skill", "ide") for message in messages):
        words = format_count(files, *ATTACHED)
        notes.append(f"Claude will no longer see {words}")
    notes += [] if is_smaller else [NO_HELP]
    notes.append(SPENT)
    if plan.is_in_place:
        notes.append(UNCOUNTED)
    return add_break_even(replace(plan, after=size, notes=tuple(notes)), records, datetime.now(UTC))


def _format_replacement(segment: Segment, summariser: Summariser, calls: Calls) -> str | None:
    """Return the summary of a turn's answers; None if there were none."""
    is_answered = any(
        record.type == "assistant" and not is_compressed_answer(record)
        for record in segment.records
    )
    turn = digest_turn(segment)
    if not is_answered and not turn.calls:
        return None
    summary = summariser(turn).strip() if turn.answers else ""
    call_lines = turn.calls if calls == "metadata" else ()
    call_list = "\n".join((CALLED, *(f"- {line}" for line in call_lines))) if call_lines else ""
    return "\n\n".join(part for part in (summary, call_list) if part) or ONLY_CALLS
