"""Repairing sessions so that the client, the SDK and the API accept them.

Each kind of damage has a function, registered in `REPAIR_RULES` and tried in the order of this
module; a rule sees what the rules before it left. A rule changes as little as possible and gives a reason, never drops
the user's words, and finds nothing to do in a healthy session: repairing twice is repairing once. A
change after which the client would send less is reverted.

Lines that are not records:

    {"type":"user",…}{"type":"assistant",…}      glued: two lines
    ␀␀␀␀{"type":"user",…}                        padded by a crash: the record alone
    {"type":"user","mess{"type":"assistant",…}   torn, then continued: the second is a line again
    {"type":"user","message":{"content":"fix th  torn: what is left becomes a record again

A torn line without anybody's words is removed; one that cannot be understood stays.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Hashable
from dataclasses import replace
from itertools import pairwise
from typing import Any, NamedTuple

from plait.edit.check import (
    RULES,
    CheckedLog,
    FindKnown,
    LogCheck,
    LogFacts,
    describe_image_fault,
    find_passed_over_calls,
    is_from_claude,
    is_unsigned,
    iter_images,
    parse_image,
)
from plait.edit.draft import (
    Draft,
    DraftLine,
    derive_uuid,
    nearest_time,
    open_draft,
    plan_draft,
    plan_nothing,
    replace_field,
    replace_pointers,
)
from plait.edit.log import measure_log, read_stamp, split_lines
from plait.edit.plan import Plan, Subject
from plait.graph.client import build_context, find_refusal
from plait.graph.client.context import get_last_message
from plait.graph.client.entries import (
    NO_CONTENT,
    get_call_ids,
    get_result_ids,
    is_boundary,
    is_thinking,
    load_session,
)
from plait.graph.client.messages import (
    INTERRUPTED,
    INTERRUPTED_CALL,
    MISSING_RESULT,
    REMOVED_RESULT,
)
from plait.graph.leaf import CHAIN_TYPES, choose_leaf, find_message, walk_up
from plait.graph.parents import NO_NODE, find_cycles
from plait.line import FileStamp, Finding, iter_lines
from plait.record import Broken, Record
from plait.record.codec import BYTE_ORDER_MARK, NotAnObject, as_mapping, decode_object, encode
from plait.record.message import NO_RESPONSE
from plait.record.types import get_content_blocks
from plait.write.lines import make_last_prompt_line

__all__ = ["REPAIR_RULES", "RepairRule", "needs_repair", "plan_repair"]


class RepairRule(NamedTuple):
    """One kind of damage and how it is repaired."""

    name: str
    description: str
    mend: Callable[[Draft], None]
    is_lossless: bool = True
    """Whether the client must still send all it sent before; otherwise the rule is reverted."""


REPAIR_RULES: list[RepairRule] = []
"""All rules, in the order of the functions below, which is the order in which they are tried."""


def repair_rule(
    name: str, description: str, *, is_lossless: bool = True
) -> Callable[[Callable[[Draft], None]], Callable[[Draft], None]]:
    """Register a function as the repair of one kind of damage."""

    def register(mend: Callable[[Draft], None]) -> Callable[[Draft], None]:
        REPAIR_RULES.append(RepairRule(name, description, mend, is_lossless))
        return mend

    return register


BEGINNING = re.compile(r'\s*\{\s*"')
HALF_ESCAPE = re.compile(r"\\(?:u[0-9a-fA-F]{0,3})?$")
MARKS = re.compile(r'[\\"{}\[\],]')


def close_torn_object(data: bytes) -> dict[str, Any] | None:
    """Return the fields of a truncated object; None if it does not begin like one.

    A truncated string ends where it was cut; a field with only a name is dropped.
    """
    text = data.decode("utf-8", "ignore")
    if not BEGINNING.match(text):
        return None
    open_brackets: list[str] = []
    commas: list[tuple[int, str]] = []
    is_in_string, place = False, 0
    while match := MARKS.search(text, place):
        mark, place = match[0], match.end()
        if is_in_string:
            place += mark == "\\"
            is_in_string = mark != '"'
        elif mark == '"':
            is_in_string = True
        elif mark in "{[":
            open_brackets.append("}" if mark == "{" else "]")
        elif mark == ",":
            commas.append((match.start(), "".join(reversed(open_brackets))))
        elif open_brackets and mark in "}]":
            open_brackets.pop()
    complete = HALF_ESCAPE.sub("", text) + '"' if is_in_string else text
    # As much as possible first, then without the last fields.
    candidates = [complete + "".join(reversed(open_brackets))]
    candidates += [text[:comma] + closing for comma, closing in reversed(commas[-4:])]
    for candidate in candidates:
        try:
            return decode_object(candidate.encode("utf-8", "surrogatepass"))
        except NotAnObject:
            continue
    return None


GLUED = "each record gets a line of its own"
FREED = "a record is separated from broken text on its line"
TORN = "a record is recovered from a truncated line"
WORDLESS = "a truncated line without messages is removed"
NULS = "a line of NUL bytes is removed"
ENDED = "a truncated line is terminated, so that added lines stay separate"
MARKED = "a byte order mark is removed: the SDK cannot read a line that has one"

PADDING = b"\0 \t\r" + BYTE_ORDER_MARK
WORDED = frozenset({"message", "content", "attachment", "lastPrompt", "summary", "prompt"})
"""Fields that may hold the user's words."""
MACHINES = frozenset({"assistant", "progress", "system", "file-history-snapshot"})
FRAME_DEFAULTS = {
    "isSidechain": False,
    "userType": "external",
    "cwd": "",
    "sessionId": "",
    "version": "",
    "timestamp": "1970-01-01T00:00:00.000Z",
}
"""What a torn record takes from its neighbour, and the default if there is none."""


@repair_rule(
    "broken lines",
    "separate records on one line, recover padded and truncated ones, remove NUL bytes",
)
def mend_broken_lines(draft: Draft) -> None:
    """Repair glued, padded and torn lines."""
    uuids = {record.uuid for record in draft.records}
    lines = list(draft.lines)
    following: list[Record | None] = [None]
    for line in reversed(lines):
        following.append(line.record or following[-1])
    before: Record | None = None
    for line, after in zip(lines, following[-2::-1], strict=True):
        if isinstance(line.entry, Broken) and not line.is_dropped:
            # What follows may refer to the torn record, whose uuid is then known from there.
            phantom = after.parent_uuid if after and after.parent_uuid not in uuids else None
            _mend_line(draft, line, line.entry, before or after, phantom)
        before = line.record or before


def _mend_line(
    draft: Draft, line: DraftLine, broken: Broken, near: Record | None, phantom: str | None
) -> None:
    """Replace a broken line by the complete records on it and what can be recovered around them."""
    kept: list[bytes] = []
    reasons: list[str] = []

    def mend_remains(data: bytes) -> None:
        stripped = data.strip(PADDING)
        if not stripped:
            return
        fields = close_torn_object(stripped)
        if fields is None:
            kept.append(data)
        elif record := _rebuild_record(fields, near, phantom):
            kept.append(encode(record))
            reasons.append(TORN)
        elif _guess_type(fields) in MACHINES or (
            not _get_content(fields) and set(fields) & WORDED <= {"message"}
            if fields.get("type") == "user" or "message" in fields
            else not set(fields) & WORDED
        ):
            reasons.append(WORDLESS)
        else:
            kept.append(data)

    end = 0
    for recovered in broken.recovered:
        if recovered.is_whole:
            start = recovered.offset - broken.line.offset
            mend_remains(broken.line.data[end:start])
            kept.append(recovered.data)
            end = start + len(recovered.data)
    mend_remains(broken.line.data[end:])
    if not kept:
        draft.drop(line, reasons[0] if reasons else NULS)
    elif kept == [line.data]:
        if not line.is_ended:
            draft.end_line(line, ENDED)
    else:
        reason = reasons[0] if reasons else GLUED if len(kept) > 1 else FREED
        draft.rewrite(line, kept[0], reason)
        if not line.is_ended:
            draft.end_line(line, reason)
        draft.insert(line, kept[1:], reason)


def _rebuild_record(
    fields: dict[str, Any], near: Record | None, phantom: str | None
) -> dict[str, Any] | None:
    """Return the record that a torn line began; None if none of its words are left."""
    kind, blocks = _guess_type(fields), _get_content(fields)
    if kind not in ("user", "assistant") or not blocks:
        return None
    if (last := next(reversed(fields))) != "message":
        fields = {key: value for key, value in fields.items() if key != last}  # it may be cut
    shared = near.fields if near else {}
    frame = {key: shared.get(key, default) for key, default in FRAME_DEFAULTS.items()}
    identity = fields.get("uuid") or phantom or derive_uuid(encode(fields))
    parent = fields.get("parentUuid", near.uuid if near else None)
    message = {**fields["message"], "role": kind, "content": blocks}
    if kind == "assistant":
        message = {"model": "", "id": identity, "stop_reason": None, "usage": {}, **message}
        frame["requestId"] = message["id"]
    own = {"parentUuid": parent, "type": kind, "message": message, "uuid": identity}
    return {**fields, **own, **{key: frame[key] for key in frame if key not in fields}}


def _guess_type(fields: dict[str, Any]) -> object:
    """Return the type of a torn record; in a response it is written after the message."""
    message = fields.get("message")
    return fields.get("type") or (message.get("role") if isinstance(message, dict) else None)


def _get_content(fields: dict[str, Any]) -> str | list[dict[str, Any]]:
    """Return what is left of a torn record's content: text, and results as far as they go."""
    message = fields.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return []
    blocks = [block for block in content if isinstance(block, dict)]
    is_cut = next(reversed(fields)) == "message"
    if is_cut and blocks:
        last = blocks[-1]
        is_result = last.get("type") == "tool_result" and isinstance(last.get("tool_use_id"), str)
        has_text = last.get("type") == "text" and bool(str(last.get("text", "")).strip())
        if not has_text and not (is_result and last.get("content")):
            blocks.pop()
    return blocks


@repair_rule("byte order mark", "remove byte order marks, because the SDK cannot read such lines")
def remove_byte_order_marks(draft: Draft) -> None:
    """Remove byte order marks, which some editors write."""
    for line, record in draft.record_lines:
        if record.raw.startswith(BYTE_ORDER_MARK):
            draft.rewrite(line, record.raw.removeprefix(BYTE_ORDER_MARK), MARKED)


AGAIN = "a duplicate record is removed"
RENAMED = (
    "a record gets a new uuid: a later record has the same one, and Claude Code reads only that"
)
VARYING = ("cwd", "gitBranch", "version", "entrypoint", "slug", "userType", "session_id")
"""Fields that differ when the client appends an old record again."""


@repair_rule("repeated records", "remove lines that repeat a record with the same uuid")
def remove_repeated_records(draft: Draft) -> None:
    """Remove lines that repeat an earlier record with the same uuid.

    U1 A1 U2 A2 U1 A1 U3<A2      the second U1 and A1 are removed
    """
    latest: dict[str, tuple[DraftLine, Record]] = {}
    for line, record in list(draft.record_lines):
        if record.uuid is None:
            continue
        known = latest.get(record.uuid)
        if known and _get_spoken_fields(known[1]) == _get_spoken_fields(record):
            draft.drop(line, AGAIN)
            continue
        if known:
            earlier, replaced = known
            data = replace_field(replaced, "uuid", derive_uuid(replaced.raw))
            draft.rewrite(earlier, data, RENAMED)
        latest[record.uuid] = line, record


def _get_spoken_fields(record: Record) -> bytes:
    return encode({key: value for key, value in record.fields.items() if key not in VARYING})


DOUBLE = "a duplicate compaction is removed: the conversation continued from the first"
KEPT = "the list of preserved messages is removed: all of them are missing"
FACTLESS = "missing compaction metadata is added: Claude Code needs it to compact again"


@repair_rule(
    "double compaction",
    "remove a second compaction of the same history if the first was continued",
    is_lossless=False,
)
def remove_double_compactions(draft: Draft) -> None:
    """Remove a compaction that repeats an earlier one.

    U1 A1 ┆ B1 C1 U2 A2 ┆ B2 C2      B1 and B2 continue from A1: B2 and C2 are removed
    """
    first: dict[str, str] = {}
    for line, record in list(draft.record_lines):
        target = record.logical_parent_uuid
        if not is_boundary(record) or not record.uuid or not target:
            continue
        if target not in first:
            first[target] = record.uuid
            continue
        below = _list_descendants(draft, record.uuid)
        is_idle = all(_is_machine(record) for _, record in below)
        if is_idle and any(
            not _is_machine(record) for _, record in _list_descendants(draft, first[target])
        ):
            for draft_line, _ in ((line, record), *below):
                draft.drop(draft_line, DOUBLE)


def _list_descendants(draft: Draft, root: str) -> list[tuple[DraftLine, Record]]:
    """Return the descendants of a record, in the order of the file."""
    family = {root}
    found: list[tuple[DraftLine, Record]] = []
    for line, record in draft.record_lines:
        if record.parent_uuid in family and record.uuid:
            family.add(record.uuid)
            found.append((line, record))
    return found


def _is_machine(record: Record) -> bool:
    if record.type in ("system", "attachment"):
        return record.subtype != "compact_boundary"
    return record.type == "user" and (record.is_compact_summary or record.is_meta)


@repair_rule("compaction without facts", "add the fields that Claude Code needs to compact again")
def add_compaction_metadata(draft: Draft) -> None:
    """Add the metadata that the client expects of every compaction when it makes a new one."""
    for line, record in list(draft.record_lines):
        if is_boundary(record) and not isinstance(record.fields.get("compactMetadata"), dict):
            facts = {"trigger": "auto", "preTokens": 0}
            draft.rewrite(line, replace_field(record, "compactMetadata", facts), FACTLESS)


@repair_rule(
    "gone from compaction",
    "remove missing records from the list of preserved messages, so that the others are sent",
)
def unlist_missing_records(draft: Draft) -> None:
    """Remove missing records from a compaction's list of preserved ones: with one missing it
    preserves none.
    """
    known = {record.uuid for record in draft.records}
    for line, record in list(draft.record_lines):
        facts = as_mapping(record.fields.get("compactMetadata")) if is_boundary(record) else {}
        listed = as_mapping(facts.get("preservedMessages")).get("uuids")
        if not isinstance(listed, list) or known.issuperset(map(str, listed)):
            continue
        kept = [uuid for uuid in listed if uuid in known]
        messages = {**facts["preservedMessages"], "uuids": kept}
        if isinstance(all_ := messages.get("allUuids"), list):
            messages["allUuids"] = [uuid for uuid in all_ if uuid in known]
        changed = {**facts, "preservedMessages": messages}
        draft.rewrite(line, replace_field(record, "compactMetadata", changed), KEPT)


MISSING = "a missing parent is replaced by the preceding record"
ROOTED = "a missing parent is removed: there is no preceding record"
CIRCULAR = "a cycle of parents is cut where it closes"


@repair_rule(
    "missing parents",
    "attach records with a missing parent to their call or to the preceding record",
)
def replace_missing_parents(draft: Draft) -> None:
    """Attach records whose parent does not exist to the record before them."""
    links = ParentLinks(draft)
    lost = [pair for pair in links.lines if links.is_lost(pair[1])]
    if not lost:
        return
    chosen = find_client_choice(draft)
    for line, record in lost:
        parent = links.parent_for(record, chosen)
        # the client's resume point may descend from the record: that circle is cut next
        parent = parent or chosen.get(record.uuid or "")
        links.set_parent(line, record, parent, MISSING if parent else ROOTED)


@repair_rule("circles", "cut cycles of parents where Claude Code cuts them")
def cut_circles(draft: Draft) -> None:
    """Cut circles where the client does, else at their first record."""
    links = ParentLinks(draft)
    found = links.circles()
    if not found:
        return
    chosen = find_client_choice(draft)
    for circle in found:
        uuid = next((item for item in circle if item in chosen), circle[0])
        line, record = next(pair for pair in reversed(links.lines) if pair[1].uuid == uuid)
        links.set_parent(line, record, links.parent_for(record, chosen), CIRCULAR)


class ParentLinks:
    """The records of a draft and the parents they name."""

    def __init__(self, draft: Draft) -> None:
        self.draft = draft
        self.lines = [(line, record) for line, record in draft.record_lines if record.uuid]
        self.parents = {str(record.uuid): record.parent_uuid for _, record in self.lines}
        self.calls = {
            call: str(record.uuid) for _, record in self.lines for call in get_call_ids(record)
        }
        self.before: dict[str, str | None] = {}
        """The record before each one, in the main conversation or among the sidechains."""
        last: dict[bool, Record] = {}
        for _, record in self.lines:
            previous = last.get(record.is_sidechain)
            is_later = previous and (previous.timestamp or "") > (record.timestamp or "~")
            self.before[str(record.uuid)] = previous.uuid if previous and not is_later else None
            if record.type in CHAIN_TYPES:
                last[record.is_sidechain] = record
        self.first = next(
            (record.uuid for _, record in self.lines if record.type in CHAIN_TYPES), None
        )

    def is_lost(self, record: Record) -> bool:
        """Return whether a record names a parent that does not exist."""
        named = record.parent_uuid
        if not named or named in self.parents:
            return False
        return not (record.uuid == self.first and named in self.draft.external_uuids)

    def circles(self) -> list[list[str]]:
        """Return the circles of parents, each in the order of the file."""
        numbers = {uuid: number for number, uuid in enumerate(self.parents)}
        uuids = list(numbers)
        up = [numbers.get(parent or "", NO_NODE) for parent in self.parents.values()]
        return [[uuids[number] for number in sorted(circle)] for circle in find_cycles(up)]

    def parent_for(self, record: Record, chosen: dict[str, str]) -> str | None:
        """Return the parent for a record: its call, the client's choice, or the record before it."""
        candidates = [self.calls.get(call) for call in get_result_ids(record)]
        candidates += [chosen.get(record.uuid or ""), self.before.get(record.uuid or "")]
        for candidate in candidates:
            if candidate and not self.is_descendant(candidate, record.uuid):
                return candidate
        return None

    def is_descendant(self, candidate: str, uuid: str | None) -> bool:
        """Return whether a record is another one or descends from it."""
        seen: set[str] = set()
        current: str | None = candidate
        while current is not None and current not in seen:
            if current == uuid:
                return True
            seen.add(current)
            current = self.parents.get(current)
        return False

    def set_parent(self, line: DraftLine, record: Record, parent: str | None, reason: str) -> None:
        """Give a record another parent."""
        self.parents[str(record.uuid)] = parent
        self.draft.rewrite(line, replace_field(record, "parentUuid", parent), reason)


def find_client_choice(draft: Draft) -> dict[str, str]:
    """Return the parent the client uses if one is missing or was visited already."""
    loaded, _ = load_session(draft.records, draft.size)
    end = choose_leaf(loaded)
    if end is None:
        return {}
    chain = walk_up(loaded, find_message(loaded, end))
    records = loaded.records
    return {
        str(records[below].uuid): str(records[above].uuid)
        for above, below in pairwise(chain)
        if loaded.parents[below] != above
    }


COPIED = "history that was appended again with new ids is removed"
RELINKED = "messages that followed a copy now follow the original"


@repair_rule(
    "copied history",
    "remove a copy of the conversation with new ids and attach what follows to the original",
)
def remove_copied_records(draft: Draft) -> None:
    """Remove a copy of the conversation that begins with a root and has other uuids.

    U1 ── A1 ── U2 ── A2
    U1'── A1'── U2'── A2'── U3      U3 is attached to A2, the copies are removed
    """
    original: dict[str, str] = {}
    known: dict[Hashable, list[str]] = defaultdict(list)
    seen: set[tuple[str | None, str]] = set()
    copies: list[DraftLine] = []
    for line, record in draft.record_lines:
        if record.uuid is None or not record.timestamp:
            continue
        above = record.parent_uuid
        twins = known[
            original.get(above or "", above),
            record.timestamp,
            encode({key: record.fields[key] for key in SPOKEN_FIELDS if key in record.fields}),
        ]
        free = [twin for twin in twins if above is None or (above, twin) not in seen]
        if free and (above is None or above in original):
            original[record.uuid] = free[0]
            seen.add((above, free[0]))
            copies.append(line)
        else:
            twins.append(record.uuid)
    if not copies:
        return
    for line in copies:
        draft.drop(line, COPIED)
    for line, record in list(draft.record_lines):
        data = replace_pointers(record, original)
        if data != record.raw:
            draft.rewrite(line, data, RELINKED)


SPOKEN_FIELDS = ("type", "subtype", "message", "attachment", "content", "data")
"""Fields that a copy shares with its original, besides its time."""


ANSWERED = "an unanswered call gets a result that says its outcome is unknown"
ALONE = "a result without its call becomes text: Claude Code would drop it"
LOST_CALL = "[Result of a tool call that is no longer in this session]"
FRAME_FIELDS = ("isSidechain", "userType", "entrypoint", "cwd", "sessionId", "version", "gitBranch")
"""Fields that a result shares with its call."""
FRAMED = {"isSidechain": False, "userType": "external", "cwd": "", "version": ""}
AGENT = ("agentId", "slug")


@repair_rule(
    "passed-over calls",
    "give interrupted calls a result that says so, if the conversation continued after them",
)
def answer_passed_over_calls(draft: Draft) -> None:
    """Add results to calls without one after which the conversation continues; the client drops
    them otherwise.

    U1 ── T1 ── U2      U1 ── T1 ── U2
                               └─── R1
    A call at the end stays as it is: the client itself says there that it was interrupted.
    """
    facts = LogFacts()
    for number, record in enumerate(draft.records, 1):
        facts.add(record, number)
    lost = {str(found.keys[0]) for found in find_passed_over_calls(CheckedLog(facts))}
    for line, record in list(draft.record_lines) if lost else ():
        calls = [call for call in get_call_ids(record) if call in lost]
        if record.type == "assistant" and calls:
            time = record.timestamp if record.time else nearest_time(draft, record)
            made = [encode(_result(record, call, time)) for call in calls]
            draft.insert(_end_of_response(draft, line, record), made, ANSWERED)
            lost.difference_update(calls)


def _end_of_response(draft: Draft, line: DraftLine, call: Record) -> DraftLine:
    """Return the last of the consecutive lines of a response."""
    place = next(place for place, draft_line in enumerate(draft.lines) if draft_line is line)
    end = line
    for draft_line in draft.lines[place + 1 :]:
        if (
            not draft_line.record
            or not call.message_id
            or draft_line.record.message_id != call.message_id
        ):
            break
        end = draft_line
    return end


def _result(call: Record, identity: str, time: str | None) -> dict[str, Any]:
    fields = call.fields
    frame = {**FRAMED, **{key: fields[key] for key in (*FRAME_FIELDS, *AGENT) if key in fields}}
    block = {
        "tool_use_id": identity,
        "type": "tool_result",
        "content": INTERRUPTED,
        "is_error": True,
    }
    return {
        "parentUuid": call.uuid,
        "type": "user",
        "message": {"role": "user", "content": [block]},
        "uuid": derive_uuid(f"{call.uuid} {identity}".encode("utf-8", "surrogatepass")),
        "timestamp": time,
        "toolUseResult": f"Error: {INTERRUPTED}",
        "sourceToolAssistantUUID": call.uuid,
        **frame,
    }


@repair_rule(
    "results without calls",
    "turn such results into text, because Claude Code drops them",
)
def turn_orphan_results_into_text(draft: Draft) -> None:
    """Turn results whose call does not exist into text."""
    calls = {call for record in draft.records for call in get_call_ids(record)}
    for line, record in list(draft.record_lines):
        lost = [call for call in get_result_ids(record) if call not in calls]
        if record.type == "user" and lost:
            blocks: list[dict[str, Any]] = []
            for block in get_content_blocks(record):
                is_lost = block["type"] == "tool_result" and block.get("tool_use_id") in lost
                if not is_lost:
                    blocks.append(block)
                    continue
                content = block.get("content")
                if isinstance(content, str):
                    blocks.append({"type": "text", "text": f"{LOST_CALL}\n{content}".strip()})
                    continue
                blocks.append({"type": "text", "text": LOST_CALL})
                for item in content if isinstance(content, list) else ():
                    kind = item.get("type") if isinstance(item, dict) else None
                    has_text = kind == "text" and str(item.get("text", "")).strip()
                    if kind == "image" or has_text:
                        blocks.append(item)
            message = {**as_mapping(record.fields.get("message")), "content": blocks}
            draft.rewrite(
                line, encode({**record.fields, "message": message, "isMeta": True}), ALONE
            )


UNSIGNED = "a thinking block without a signature is removed: the API rejects it"
TWICE = "a repeated thinking block is removed: the API would treat it as changed"
RETYPED = "an image gets the media type of its data"
REFUSED = "an image that the API rejects is replaced by a note that says why"
BLANK = "a blank prompt gets a placeholder: the API rejects blank text"
MANY = 20
"""The number of images in one request up to which their size is not limited further."""
MANY_PIXELS = 2000
"""Longest side of an image if there are more."""

RawBlock = dict[str, Any]


@repair_rule(
    "refused thoughts",
    "remove thinking blocks that are unsigned or occur twice in an answer",
    is_lossless=False,
)
def remove_refused_thoughts(draft: Draft) -> None:
    """Remove thinking that the API rejects, if the response has other content."""
    spoken = {
        record.message_id
        for record in draft.records
        if any(not is_thinking(block) for block in get_content_blocks(record))
    }
    seen: set[tuple[str, str]] = set()
    for line, record in list(draft.record_lines):
        heads = {head.type for head in record.block_heads}
        if record.type != "assistant" or "thinking" not in heads or not is_from_claude(record):
            continue
        blocks = get_content_blocks(record)
        kept = [block for block in blocks if not is_unsigned(block)]
        fresh: list[RawBlock] = []
        for block in kept:
            thought = (record.message_id or "", str(block.get("signature")))
            if block["type"] != "thinking" or not record.message_id or thought not in seen:
                fresh.append(block)
            if block["type"] == "thinking" and record.message_id:
                seen.add(thought)
        if len(fresh) < len(blocks) and record.message_id in spoken:
            reason = UNSIGNED if len(kept) < len(blocks) else TWICE
            draft.rewrite(line, _with_blocks(record, fresh), reason)


def _with_blocks(record: Record, blocks: list[RawBlock]) -> bytes:
    message = {**as_mapping(record.fields.get("message")), "content": blocks}
    return replace_field(record, "message", message)


@repair_rule(
    "refused pictures",
    "correct the media type of images; replace images that the API rejects with a note",
    is_lossless=False,
)
def mend_images(draft: Draft) -> None:
    """Repair images, or replace those that cannot be repaired by a note."""
    for line, record in list(draft.record_lines):
        if b'"image"' not in record.raw or record.type not in ("user", "assistant"):
            continue
        blocks = get_content_blocks(record)
        if not any(map(describe_image_fault, iter_images(blocks))):
            continue
        mended = _mend_blocks(blocks, _make_picture_note)
        is_less = len(list(iter_images(mended))) < len(list(iter_images(blocks)))
        reason = REFUSED if is_less else RETYPED
        draft.rewrite(line, _with_blocks(record, mended), reason)


def _make_picture_note(picture: RawBlock) -> RawBlock:
    refusal = describe_image_fault(picture)
    if refusal is None:
        return picture
    source = as_mapping(picture.get("source"))
    shape = parse_image(str(source.get("data")))
    retyped = {**picture, "source": {**source, "media_type": shape.media_type}} if shape else {}
    return retyped if retyped and describe_image_fault(retyped) is None else _note(refusal)


def _note(refusal: str) -> RawBlock:
    return {"type": "text", "text": f"[Image removed: it {refusal}]"}


def _mend_blocks(blocks: list[RawBlock], mend: Callable[[RawBlock], RawBlock]) -> list[RawBlock]:
    """Return blocks with images replaced, including those in results."""
    found: list[RawBlock] = []
    for block in blocks:
        content = block.get("content")
        if block.get("type") == "image":
            found.append(mend(block))
        elif block.get("type") == "tool_result" and isinstance(content, list):
            inner = [
                mend(item) if (isinstance(item, dict) and item.get("type") == "image") else item
                for item in content
            ]
            found.append({**block, "content": inner})
        else:
            found.append(block)
    return found


@repair_rule(
    "many pictures",
    "if there are more than 20 images, replace those larger than 2000 pixels with a note",
    is_lossless=False,
)
def remove_oversized_images(draft: Draft) -> None:
    """Replace the images that are too large for a request with many of them by notes."""
    if sum(b'"image"' in record.raw for record in draft.records) == 0:
        return
    request = build_context(draft.records, size=draft.size)
    sent = [image for _, blocks in request.request for image in iter_images(blocks)]
    if len(sent) <= MANY:
        return
    note = _note(f"is larger than {MANY_PIXELS} pixels, and there are more than {MANY} images")

    def replace_wide(picture: RawBlock) -> RawBlock:
        shape = parse_image(str(as_mapping(picture.get("source")).get("data")))
        is_wide = shape is not None and max(shape.width, shape.height) > MANY_PIXELS
        return note if is_wide else picture

    chain = frozenset(request.chain)
    for line, record in list(draft.record_lines):
        if record.uuid in chain:
            blocks = get_content_blocks(record)
            mended = _mend_blocks(blocks, replace_wide)
            if mended != blocks:
                draft.rewrite(line, _with_blocks(record, mended), REFUSED)


@repair_rule(
    "blank prompts",
    "give blank prompts a placeholder text",
    is_lossless=False,
)
def fill_blank_prompts(draft: Draft) -> None:
    """Fill empty prompts with a note."""
    for line, record in list(draft.record_lines):
        message = record.envelope.message
        content = message.content if message else None
        if record.type == "user" and isinstance(content, str) and not content.strip():
            worded = {**as_mapping(record.fields.get("message")), "content": NO_CONTENT}
            draft.rewrite(line, replace_field(record, "message", worded), BLANK)


TIMED = "the last message gets a timestamp: without it, Claude Code cannot resume"
POINTED = "a pointer to the conversation is added: Claude Code does not resume a sidechain"


@repair_rule("timeless leaf", "give the last message a timestamp, so that Claude Code can resume")
def add_leaf_time(draft: Draft) -> None:
    """Add a time to the message that a session resumes from."""
    loaded, _ = load_session(draft.records, draft.size)
    record = get_last_message(loaded)
    if record is None or "time" not in (find_refusal(draft.records, draft.size) or ""):
        return
    for line, record_line in list(draft.record_lines):
        if record_line.uuid == record.uuid:
            draft.rewrite(
                line,
                replace_field(record_line, "timestamp", nearest_time(draft, record_line)),
                TIMED,
            )


@repair_rule(
    "pointer to a sidechain",
    "add a pointer to the conversation, so that Claude Code can resume",
)
def point_to_conversation(draft: Draft) -> None:
    """Point to the end of the conversation if the last pointer led to an agent's record."""
    if "sidechain" not in (find_refusal(draft.records, draft.size) or ""):
        return
    unpointed = [record for record in draft.records if record.type != "last-prompt"]
    found = build_context(unpointed, size=draft.size)
    session = next(
        (record.session_id for record in unpointed if record.session_id), draft.log.path.stem
    )
    if found.resumes and found.leaf:
        draft.append(make_last_prompt_line(session, found.leaf), POINTED)


MOST_ROUNDS = 8


def mend_draft(draft: Draft) -> None:
    """Apply all repair rules until none changes anything: one may enable another.

    A lossless rule after which the client would send less is reverted.
    """
    sent: frozenset[bytes] | None = None  # what the client sends of the draft, once computed
    for _ in range(MOST_ROUNDS):
        start = len(draft.undo_stack)
        for rule in REPAIR_RULES:
            count = len(draft.undo_stack)
            rule.mend(draft)
            if len(draft.undo_stack) == count:
                continue
            if not rule.is_lossless:
                sent = None
                continue
            after = list_sent_blocks(draft)
            if sent is None:
                # Computed only for a rule that changed something: it takes longer than the rule.
                draft.revert_to(count)
                sent = list_sent_blocks(draft)
                rule.mend(draft)
            if sent <= after:
                sent = after
            else:
                draft.revert_to(count)
        if len(draft.undo_stack) == start:
            break


CLIENT_FILLERS = frozenset(
    {NO_CONTENT, NO_RESPONSE, MISSING_RESULT, REMOVED_RESULT, INTERRUPTED_CALL, INTERRUPTED}
)
"""Texts the client makes up for missing content."""


def list_sent_blocks(draft: Draft) -> frozenset[bytes]:
    """Return the blocks the client would send, without those it makes up."""
    found = build_context(draft.records, size=draft.size).messages
    sent: set[bytes] = set()
    for block in (block for _, blocks in found for block in blocks):
        text = block.get("text")
        words = text if "text" in block else block.get("content")
        if isinstance(words, str) and words.strip() in CLIENT_FILLERS:
            continue
        sent.add(encode({**block, "text": text.strip()} if isinstance(text, str) else block))
    return frozenset(sent)


FINE = "nothing to repair"
UNTOUCHED = "the session is valid"


def needs_repair(subject: Subject, known_of: FindKnown | None = None) -> bool:
    """Return whether anything in a session can be repaired."""
    return _open_and_mend(subject, read_stamp(subject.log.path), known_of).is_changed


def plan_repair(
    subject: Subject, *, is_in_place: bool = False, known_of: FindKnown | None = None
) -> Plan:
    """Return the plan that repairs a session; without steps if there is nothing to repair."""
    stamp = read_stamp(subject.log.path)
    draft = _open_and_mend(subject, stamp, known_of)
    before = measure_log(subject.log, stamp.size)
    judged = LogCheck(rule for rule in RULES if rule.binds_all)
    lines = (line for line in draft.lines if not line.is_dropped)
    judged.read(split_lines(line.data + b"\n" * line.is_ended for line in lines))
    path, why_not = draft.log.path, find_refusal(draft.records, draft.size)
    found = judged.list_breaches(draft.external_uuids, None, why_not)
    numbers = [line.number for line in draft.lines if not line.is_dropped]
    left = tuple(
        Finding(
            rule.name,
            rule_breach.sentence,
            path,
            numbers[rule_breach.place.line - 1],
            rule_breach.place.uuid,
        )
        for rule, rule_breach in found
    )
    if not draft.is_changed:
        idle = plan_nothing("repair", subject, stamp, before, untouched=UNTOUCHED, why=FINE)
        return replace(idle, unmended=left)
    plan = plan_draft(
        "repair", subject, stamp, draft, before, is_in_place=is_in_place, untouched=UNTOUCHED
    )
    return replace(plan, unmended=left)


def _open_and_mend(subject: Subject, stamp: FileStamp, known_of: FindKnown | None) -> Draft:
    found = open_draft(subject.log, iter_lines(subject.log.path, end=stamp.size))
    first = next(
        (record for record in found.records if record.uuid and record.type in CHAIN_TYPES), None
    )
    parent = first.parent_uuid if first else None
    if not parent or not known_of or any(record.uuid == parent for record in found.records):
        found.external_uuids = frozenset()
    else:
        found.external_uuids = known_of(frozenset({parent}))
    mend_draft(found)
    return found
