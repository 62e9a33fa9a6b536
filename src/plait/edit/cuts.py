"""Cuts in a session: what is removed or shortened, and what follows from it.

    U ── T₁ ── T₂ ── R₁ … R₂ ── A      T₁ is removed, so R₁ goes too; their children move to
    U ── T₂ ── R₂ ── A                 the nearest remaining ancestor

A call and its result are removed together, with their progress, hooks and notices. A record is
removed when all of its blocks are; otherwise only the blocks. The thinking blocks of one response
go together, because the API accepts all of them or none. Prompts and compactions are never cut.
Lines that change keep all other bytes.

Texts that replace removed ones are recognised, so nothing is shortened twice.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cached_property
from typing import Any, Final, Literal, NamedTuple, TypeAlias, get_args

import msgspec

from plait.conversation.results import FEEDBACK, REJECTED
from plait.conversation.tools import get_tool
from plait.edit.draft import Draft, DraftLine, replace_field
from plait.graph.client import list_contributions
from plait.graph.client.entries import Block, is_boundary, is_thinking
from plait.graph.client.messages import make_text_block
from plait.graph.client.tokens import estimate_block_tokens
from plait.line import Line
from plait.record import Record, parse_entry
from plait.record.codec import BlockHead, as_count, as_mapping, encode, get_text
from plait.record.json_text import CLOSING, COMMA, OPENING, TOKEN
from plait.record.prompts import get_queued_text, is_human_prompt, is_typed_in_queue
from plait.record.text import is_machine_text, is_only_tagged_text

Preset: TypeAlias = Literal["light", "standard", "heavy", "extreme"]
Way: TypeAlias = Literal["remove", "cut", "empty"]
"""Remove the call and its result; cut the result to its first characters; keep the call as metadata
with a result of one short line.
"""

KEPT = 400
"""Characters that remain of a result by default."""


@dataclass(frozen=True, slots=True)
class Cut:
    """One piece that is removed or shortened."""

    line: int
    """The line in the original log, from 1."""
    block: int | None
    """The position in the message's content, from 0; None for the whole record."""
    to: str | None
    """None if it is removed; otherwise the replacement: for a result its content, for a call its
    input as JSON, for an image or a document a text block.
    """
    reason: str
    """The reason, also the group it is counted in: `result of Bash`."""
    inner: int | None = None
    """The position of a part within a result, from 0; None for the block itself."""


@dataclass(frozen=True, slots=True)
class CustomPreset:
    """A preset of the user's own: a share of the messages to leave, or turns that keep their tools.

    The percentage of `truncate_percent` is of turns, as in ccs-cloner; that of `older_percent` is
    of the characters of each tool result.
    """

    name: str
    leave_percent: int | None = None
    """How much of the messages to leave, in tokens."""
    except_last: int = 2
    """With `leave_percent`: turns at the end that are left alone."""
    keep_turns_with_tools: int | None = None
    """How many of the last turns with tool calls keep them."""
    truncate_percent: int = 0
    """How many percent of these turns, the oldest, keep only the beginnings of results and inputs."""
    older_percent: int = 0
    """How much of each tool result of earlier turns to leave; 0 removes calls and results."""
    thinking: bool = False
    """Also remove thinking."""


@dataclass(frozen=True, slots=True)
class TrimChoice:
    """What the user wants to remove."""

    preset: Preset | CustomPreset | None = None
    calls: tuple[str, ...] = ()
    """Ids of calls, or unique prefixes of them."""
    tools: tuple[str, ...] = ()
    """Names of tools, including patterns such as `mcp__github__*`."""
    larger_than: int | None = None
    """Characters of input and result together."""
    older_than: timedelta | None = None
    before: datetime | None = None
    except_last: int = 0
    """Turns at the end that stay unchanged."""
    way: Way = "remove"
    keep: int = KEPT
    """Characters that remain of a shortened result."""
    thinking: bool = False
    images: bool = False
    attachments: bool = False
    progress: bool = False
    snapshots: bool = False
    request_logs: bool = False
    rereads: bool = False
    reminders: bool = False


PRESET_NAMES: tuple[Preset, ...] = get_args(Preset)
WAYS: tuple[Way, ...] = get_args(Way)
TRIM_KINDS = {
    "thinking": "Claude's thinking.",
    "images": "Images and documents; each is replaced by a note.",
    "attachments": "What Claude Code attached: files, diagnostics, hook output.",
    "progress": "Progress reports from tools; they are never sent.",
    "snapshots": "File snapshots; they are never sent.",
    "request_logs": "Claude Code's notes about its own requests; they are never sent.",
    "rereads": "Reads of a file that was read or changed again later.",
    "reminders": "Repeated reminders, except the last of each.",
}
"""The kinds of content that a `TrimChoice` can name, with descriptions for users."""
TRIM_TARGETS = ("preset", "calls", "tools", "larger_than", "older_than", *TRIM_KINDS)
"""The fields of a `TrimChoice` that say what is removed."""
TRIM_LIMITS = ("except_last", "way", "keep")
"""The fields that say how and where."""


MORE = r"\d+ (?:images?|documents?|others?)"
MARK = re.compile(rf"\n?\[(?=\d)(?:([\d,]+) characters?)?(?:(?:, |(?<=\[)){MORE})* left out\]\Z")
STALE = re.compile(r"\[stale: .+ (?:read again|changed) later\]\Z")
INPUT_KEPT = 200
"""Characters that remain of a long text in a call's input."""


def format_removed(text: str, more: Mapping[str, int] = {}) -> str:
    """Return the line that replaces a text, also counting what was removed with it."""
    return _mark(count_original_characters(text), more)


def cut_text(text: str, keep: int) -> str:
    """Return the first characters of a text, and a line that says how many were removed."""
    words = MARK.sub("", text) if MARK.search(text) else text
    if len(words) <= keep:
        return text
    return f"{words[:keep]}\n{_mark(count_original_characters(text) - keep)}"


def format_stale(path: str, what: str) -> str:
    """Return the line that replaces a file read that is outdated or was repeated later."""
    return f"[stale: {path} was {what} later]".replace("\n", " ")


def is_mark(text: str) -> bool:
    """Return whether a text is nothing but a line that replaced another text."""
    match = MARK.search(text)
    return bool((match and match.start() == 0) or STALE.match(text))


def count_original_characters(text: str) -> int:
    """Return the length of a text before it was shortened."""
    match = MARK.search(text)
    return len(text) if match is None else match.start() + int((match[1] or "0").replace(",", ""))


def shorten_input(given: Any) -> Any:
    """Return the input of a call with its long texts shortened at any depth."""
    root = [given]
    waiting: list[Any] = [root]
    while waiting:
        holder = waiting.pop()
        for key in list(holder) if isinstance(holder, dict) else range(len(holder)):
            value = holder[key]
            if isinstance(value, str) and len(value) > 2 * INPUT_KEPT:
                holder[key] = cut_text(value, INPUT_KEPT)
            elif isinstance(value, dict | list):
                holder[key] = value.copy()
                waiting.append(holder[key])
    return root[0]


def _mark(count: int, more: Mapping[str, int] = {}) -> str:
    parts = {**({"character": count} if count or not more else {}), **more}
    named = (f"{number:,} {name}{'s' * (number != 1)}" for name, number in parts.items())
    return f"[{', '.join(named)} left out]"


# Splicing keeps all other bytes of a line. Where decoding and bytes disagree (a field occurs
# twice, invalid UTF-8), the line is encoded again.


Span = tuple[int, int]
GONE: Final = object()
"""Marks a value that is removed."""


def splice_record(
    record: Record,
    blocks: Mapping[int, object],
    fields: Mapping[str, object] = {},
    message: Mapping[str, object] = {},
) -> bytes:
    """Return the line of a record with other blocks, by position, and other fields.

    Fields are those of the line itself and of its message.
    """
    wanted = {**record.fields, **fields}
    members = _split_members(record.raw) | _encode_members(fields)
    is_spliced = True
    if blocks or message:
        changed = {**record.fields["message"], **message}
        inner = _split_members(members.get(b"message") or b"")
        is_spliced = bool(inner)
        if blocks:
            placed = (blocks.get(at, item) for at, item in enumerate(changed["content"]))
            changed["content"] = [item for item in placed if item is not GONE]
            content = inner.get(b"content") or b""
            is_spliced = content.startswith(b"[")
            if is_spliced:
                parts: list[bytes | None] = [content[slice(*span)] for span in _iter_parts(content)]
                for place, value in blocks.items():
                    parts[place] = _encode_value(value)
                inner[b"content"] = b"[%b]" % b",".join(part for part in parts if part is not None)
        wanted["message"] = changed
        members[b"message"] = _join_members(inner | _encode_members(message))
    wanted = {name: value for name, value in wanted.items() if value is not GONE}
    if is_spliced:
        # A repeated field or invalid UTF-8 decodes differently from what was spliced.
        data = _join_members(members)
        entry = parse_entry(Line(0, 0, data, True))
        if isinstance(entry, Record) and entry.fields == wanted:
            return data
    return encode(wanted)


def _encode_members(fields: Mapping[str, object]) -> dict[bytes, bytes | None]:
    return {name.encode(): _encode_value(value) for name, value in fields.items()}


def _encode_value(value: object) -> bytes | None:
    return None if value is GONE else encode({"": value})[4:-1]


def _join_members(members: Mapping[bytes, bytes | None]) -> bytes:
    kept = (b'"%b":%b' % (name, value) for name, value in members.items() if value is not None)
    return b"{%b}" % b",".join(kept)


def _split_members(data: bytes) -> dict[bytes, bytes | None]:
    """Return the fields of an object with their raw values."""
    found: dict[bytes, bytes | None] = {}
    for begin, end in _iter_parts(data):
        if name := TOKEN.match(data, begin, end):
            colon = data.index(b":", name.end())
            found[name[0][1:-1]] = data[slice(*_trimmed(data, colon + 1, end))]
    return found


def _iter_parts(data: bytes) -> Iterator[Span]:
    """Yield the spans of an object's fields or a list's items."""
    depth, begin = 0, 0
    for match in TOKEN.finditer(data):
        token = match[0]
        if token in OPENING:
            depth += 1
            begin = match.end() if depth == 1 else begin
        elif token in CLOSING:
            depth -= 1
        is_end = depth == 0
        if is_end or (token == COMMA and depth == 1):
            span = _trimmed(data, begin, match.start())
            if span[0] < span[1]:
                yield span
            begin = match.end()
        if is_end:
            return


def _trimmed(data: bytes, begin: int, end: int) -> Span:
    while begin < end and data[begin] in b" \t\r\n":
        begin += 1
    while begin < end and data[end - 1] in b" \t\r\n":
        end -= 1
    return begin, end


CALL, RESULT = "tool_use", "tool_result"
"""Endings of the names of block types that call a tool and that answer a call."""
NAMED = re.compile(rb'"(?:parentToolUseID|toolUseID|sourceToolUseID)":"([^"\\]+)"')
NOTIFIED = re.compile(rb"<tool-use-id>([^<\\]+)</tool-use-id>")
NOTIFICATION = "<task-notification>"
COMPANIONS = frozenset({"progress", "attachment", "system"})

RecordLines = Iterable[tuple[DraftLine, Record]]
RawBlock = dict[str, Any]


class Place(NamedTuple):
    """The position of a block."""

    line: int
    block: int


def list_blocks(record: Record) -> list[Any]:
    """Return the raw content of a message; empty if it is no list."""
    content = as_mapping(record.fields.get("message")).get("content")
    return content if isinstance(content, list) else []


def list_block_heads(record: Record) -> Sequence[BlockHead]:
    """Return the heads of a message's blocks by position."""
    message = record.envelope.message
    if message and isinstance(message.content, list):
        return message.content
    blocks = [as_mapping(block) for block in list_blocks(record)] if message else []
    names = ("tool_use_id", "type", "id", "name")
    return [BlockHead(**{name: get_text(block, name) for name in names}) for block in blocks]


def get_call_id(head: BlockHead) -> str | None:
    """Return the id of the call in a block; None if it is no call."""
    return head.id if (head.type or "").endswith(CALL) else None


def get_answered_id(head: BlockHead) -> str | None:
    """Return the id of the call that a block answers; None if it is no result."""
    return head.tool_use_id if (head.type or "").endswith(RESULT) else None


class CallPairs:
    """The calls of a log with their results, and the thinking of each response."""

    def __init__(self, spoken: RecordLines) -> None:
        self.calls: dict[str, list[Place]] = {}
        self.results: dict[str, list[Place]] = {}
        self.names: dict[str, str] = {}
        self.thoughts: dict[str, list[Place]] = {}
        self.of_people: set[str] = set()
        """Calls whose result contains the user's words."""
        for line, record in spoken:
            for at, head in enumerate(list_block_heads(record)):
                place = Place(line.number or 0, at)
                if call := get_call_id(head):
                    self.calls.setdefault(call, []).append(place)
                    self.names.setdefault(call, head.name or "")
                elif call := get_answered_id(head):
                    self.results.setdefault(call, []).append(place)
                    if self._is_of_person(record, place.block, call):
                        self.of_people.add(call)
                elif record.message_id and is_thinking({"type": head.type}):
                    self.thoughts.setdefault(record.message_id, []).append(place)

    def _is_of_person(self, record: Record, place: int, call: str) -> bool:
        if get_tool(self.names.get(call, "")).is_answered_by_person:
            return True
        if b'"userFeedback"' in record.raw and record.fields.get("userFeedback"):
            return True
        if not any(words.encode() in record.raw for words in REJECTED):
            return False
        words = get_result_text(list_blocks(record)[place])
        return words.startswith(REJECTED) and FEEDBACK.search(words) is not None

    def list_places(self, call: str) -> Iterator[Place]:
        """Yield the positions of a call and its results."""
        yield from self.calls.get(call, ())
        yield from self.results.get(call, ())


def get_result_text(result: RawBlock) -> str:
    """Return the text of a result, its parts joined by lines."""
    content = result.get("content")
    parts = content if isinstance(content, list) else [{"text": content}]
    texts = (as_mapping(part).get("text") for part in parts)
    return "\n".join(text for text in texts if isinstance(text, str))


def is_companion(record: Record, calls: Set[str]) -> bool:
    """Return whether a record only accompanies some calls: progress, hooks, notices."""
    if record.type == "user" and record.source_tool_use_id:
        return record.source_tool_use_id in calls
    if record.type in COMPANIONS and any(
        _decode_id(item) in calls for item in NAMED.findall(record.raw)
    ):
        return True
    notified = NOTIFIED.search(record.raw)
    if notified is None or _decode_id(notified[1]) not in calls:
        return False
    # The client's notice about background work, not a prompt that quotes one.
    words = (record.text if record.type == "user" else get_queued_text(record)) or ""
    return words.strip().startswith(NOTIFICATION) and is_only_tagged_text(words)


def find_mentioned_calls(records: Iterable[Record]) -> set[str]:
    """Return the calls that some records are about: progress, hooks, notices."""
    found: set[str] = set()
    for record in records:
        if record.source_tool_use_id:
            found.add(record.source_tool_use_id)
        found.update(map(_decode_id, (*NAMED.findall(record.raw), *NOTIFIED.findall(record.raw))))
    return found


def _decode_id(name: bytes) -> str:
    return name.decode("utf-8", "replace")


THINKING = frozenset({"thinking", "redacted_thinking"})


@dataclass(frozen=True, slots=True)
class SentRecord:
    """A record of the chain that the client sends."""

    record: Record
    blocks: list[Block]
    """Its blocks as sent."""
    turn: int
    """The number of the prompt it follows or is; 0 before the first."""
    answer: int
    """The number of responses begun up to it, including its own."""

    @property
    def weight(self) -> int:
        """Its estimated tokens."""
        return sum(map(estimate_block_tokens, self.blocks))

    @property
    def sends_thoughts(self) -> bool:
        """Return whether its thinking is sent: that of another model is not."""
        return any(is_thinking(block) for block in self.blocks)


@dataclass(frozen=True, slots=True)
class SentBlock:
    """A raw block of a record of the chain."""

    owner: SentRecord
    place: int
    block: dict[str, Any]

    @property
    def line(self) -> int:
        """The line of its record."""
        return self.owner.record.line


class SentLog:
    """A log, the chain of it that is sent, and its calls."""

    def __init__(self, records: Sequence[Record], size: int) -> None:
        self.records = records
        chain: list[SentRecord] = []
        turn = answer = 0
        last: str | None = None
        for record, blocks in list_contributions(records, size):
            if is_human_prompt(record):
                turn += 1
            elif record.type == "assistant" and (record.message_id or record.uuid) != last:
                answer, last = answer + 1, record.message_id or record.uuid
            chain.append(SentRecord(record, blocks, turn, answer))
        self.chain = chain
        lines = (DraftLine(record, record.raw, number=record.line) for record in records)
        self.pairs = CallPairs(zip(lines, records, strict=True))
        self.turns = self.chain[-1].turn if self.chain else 0
        self.answers = self.chain[-1].answer if self.chain else 0

    @cached_property
    def by_line(self) -> dict[int, SentRecord]:
        """Records of the chain by line."""
        return {sent.record.line: sent for sent in self.chain}

    @cached_property
    def records_by_line(self) -> dict[int, Record]:
        """All records by line."""
        return {record.line: record for record in self.records}

    @cached_property
    def uuids(self) -> frozenset[str | None]:
        """The ids of its records, and None, the parent of a first record."""
        return frozenset((None, *(record.uuid for record in self.records)))

    @property
    def weight(self) -> int:
        """The estimated tokens of the messages."""
        return sum(sent.weight for sent in self.chain)

    @property
    def trimmed(self) -> int:
        """The estimated tokens that earlier trims removed."""
        return sum(sent.record.trimmed_tokens for sent in self.chain)

    def blocks(self) -> Iterator[SentBlock]:
        """Yield the blocks of the chain's messages in order."""
        for sent in self.chain:
            for place, block in enumerate(list_blocks(sent.record)):
                if isinstance(block, dict):
                    yield SentBlock(sent, place, block)

    def results(self) -> Iterator[tuple[SentBlock, str]]:
        """Yield the results on the chain, each with the id of its call."""
        for sent_block in self.blocks():
            if call := get_answered_id(list_block_heads(sent_block.owner.record)[sent_block.place]):
                yield sent_block, call

    def calls(self) -> Iterator[tuple[SentBlock, str]]:
        """Yield the calls on the chain, each with its id."""
        for sent_block in self.blocks():
            if call := get_call_id(list_block_heads(sent_block.owner.record)[sent_block.place]):
                yield sent_block, call

    def block_at(self, place: Place) -> dict[str, Any]:
        """Return the block at a position; empty if there is none."""
        blocks = list_blocks(self.records_by_line[place.line])
        block = blocks[place.block] if place.block < len(blocks) else None
        return block if isinstance(block, dict) else {}

    def input_of(self, call: str) -> dict[str, Any]:
        """Return the input of a call."""
        for place in self.pairs.calls.get(call, ()):
            given = self.block_at(place).get("input")
            return given if isinstance(given, dict) else {}
        return {}

    def name_of(self, call: str) -> str:
        """Return the name of the tool that a call is of."""
        return self.pairs.names.get(call) or "tool"

    def is_recent(self, line: int, turns: int, answers: int | None = None) -> bool:
        """Return whether a line is in the last turns; of a long turn only the last answers count."""
        sent = self.by_line.get(line)
        if sent is None or turns <= 0:
            return False
        is_late = answers is None or sent.answer > self.answers - answers
        return is_late and sent.turn > self.turns - turns


def find_inline_agents(
    draft: Draft, records: Mapping[int, Record], pairs: CallPairs, calls: Set[str]
) -> Iterator[int]:
    """Yield the lines of agents that some calls started inside the same log.

    They are recognised by their first prompt, which is that of the call; if a remaining call has
    the same prompt, they stay.
    """
    side = [record for record in draft.records if record.is_sidechain and record.uuid]
    if not side:
        return
    gone = {_prompt(records, pairs, call) for call in calls} - {None}
    kept = {_prompt(records, pairs, call) for call in pairs.calls.keys() - calls}
    parents = {str(record.uuid): record.parent_uuid for record in side}
    roots = {
        record.uuid
        for record in side
        if record.parent_uuid not in parents and record.text.strip() in gone - kept
    }
    for record in side:
        uuid = str(record.uuid)
        seen = {uuid}
        while (above := parents.get(uuid)) in parents and above not in seen:
            uuid = str(above)
            seen.add(uuid)
        if uuid in roots:
            yield record.line


def _prompt(records: Mapping[int, Record], pairs: CallPairs, call: str) -> str | None:
    for place in pairs.calls.get(call, ()):
        block = as_mapping(list_blocks(records[place.line])[place.block])
        words = get_text(as_mapping(block.get("input")), "prompt")
        return words.strip() if words else None
    return None


REPLACEMENT = "content-replacement"
SMALL = "microcompact_boundary"


def remove_mentions(record: Record, calls: Set[str]) -> bytes | None:
    """Return a line without the mentions of some calls; None if it mentions no others."""
    if record.type == REPLACEMENT:
        listed = record.fields.get("replacements")
        if not isinstance(listed, list):
            return record.raw
        left = [item for item in listed if as_mapping(item).get("toolUseId") not in calls]
        if len(left) == len(listed):
            return record.raw
        return replace_field(record, "replacements", left) if left else None
    if record.subtype == SMALL:
        facts = as_mapping(record.fields.get("microcompactMetadata"))
        listed = facts.get("compactedToolIds")
        if isinstance(listed, list) and not calls.isdisjoint(map(str, listed)):
            left = [item for item in listed if item not in calls]
            return replace_field(
                record, "microcompactMetadata", {**facts, "compactedToolIds": left}
            )
    return record.raw


USAGE_MOVED = "now has the usage figures of a removed line of the same response"
END_MOVED = "now has the stop reason of a removed line of the same response"


def keep_response_ends(draft: Draft) -> None:
    """Move the usage and stop reason of a response to one of its remaining lines.

    Older clients write both on the last line only: without it the response would look unfinished.
    """
    touched = {
        line.entry.message_id
        for line in draft.lines
        if line.is_dropped and isinstance(line.entry, Record) and line.entry.type == "assistant"
    } - {None}
    if not touched:
        return
    parts: dict[str, list[DraftLine]] = {}
    for line in draft.lines:
        if isinstance(line.entry, Record) and line.entry.message_id in touched:
            parts.setdefault(line.entry.message_id or "", []).append(line)
    for lines in parts.values():
        staying = [(line, record) for line in lines if (record := line.record)]
        if not staying:
            continue
        records = [line.entry for line in lines if isinstance(line.entry, Record)]
        # Of several lines with the same usage the last one counts.
        fullest = max(reversed(records), key=_count_output)
        line, record = max(reversed(staying), key=lambda pair: _count_output(pair[1]))
        if _get_usage(fullest) and _get_usage(fullest) != _get_usage(record):
            fields = {"usage": _get_usage(fullest)}
            draft.rewrite(line, splice_record(record, {}, message=fields), USAGE_MOVED)
        if not any(map(_get_end, (record for _, record in staying))):
            has_calls = any(
                get_call_id(head) for _, record in staying for head in list_block_heads(record)
            )
            end = next(filter(None, map(_get_end, reversed(records))), None)
            last, record = staying[-1][0], staying[-1][0].record
            if end and record:
                reason = "end_turn" if end == "tool_use" and not has_calls else end
                data = splice_record(record, {}, message={"stop_reason": reason})
                draft.rewrite(last, data, END_MOVED)


def _get_usage(record: Record) -> Mapping[str, Any]:
    return as_mapping(as_mapping(record.fields.get("message")).get("usage"))


def _count_output(record: Record) -> int:
    usage = _get_usage(record)
    return as_count(usage.get("output_tokens")) if usage else -1


def _get_end(record: Record) -> str | None:
    return get_text(as_mapping(record.fields.get("message")), "stop_reason")


# The client's own view of a result keeps its form:
#
# {"stdout": 9,000 characters, "stderr": "", "interrupted": false}
# {"stdout": the replacement, "stderr": "", "interrupted": false}


SHORT = 80
"""Length up to which a text always stays: names, ids, paths."""
ALIKE = 64
"""Characters by which a text of the view is recognised as that of the result."""
SAVED = ("persistedOutputPath", "persistedOutputSize")
KEPT_FIELDS = frozenset({"prompt", "description", "agentId", "agentType", "filePath"})
"""Fields of a view that repeat its call or identify it."""


def apply_block_cuts(block: Any, cuts: Iterable[Cut]) -> object:
    """Return what cuts leave of a block."""
    full = [cut for cut in cuts if cut.inner is None]
    if any(cut.to is None for cut in full):
        return GONE
    if full:
        return _replace_text(block, full[-1].to or "")
    parts: list[Any] = list(block["content"])
    for cut in cuts:
        if cut.inner is not None:
            parts[cut.inner] = GONE if cut.to is None else _replace_text(parts[cut.inner], cut.to)
    return {**block, "content": [part for part in parts if part is not GONE]}


def _replace_text(block: dict[str, Any], words: str) -> dict[str, Any]:
    kind = str(block.get("type"))
    if kind.endswith("tool_result"):
        return block if block.get("content") == words else {**block, "content": words}
    if kind.endswith("tool_use"):
        return {**block, "input": msgspec.json.decode(words)}
    return {**block, "text": words} if kind == "text" else make_text_block(words)


def shorten_view(view: Any, before: dict[str, Any], now: dict[str, Any]) -> Any:
    """Return the client's view of a result without what the result no longer contains.

    Long texts are shortened to the length of the result's replacement, long lists in fields are
    emptied.
    """
    text, words = get_result_text(before), get_result_text(now)
    most = max(len(words), SHORT)
    root = [view]
    waiting: list[Any] = [root]
    lists: list[tuple[dict[str, Any], str]] = []
    while waiting:
        holder = waiting.pop()
        for key in list(holder) if isinstance(holder, dict) else range(len(holder)):
            value = holder[key]
            if isinstance(value, str) and key not in KEPT_FIELDS and len(value) > most:
                is_result = value.strip()[:ALIKE] in text
                holder[key] = words if is_result else f"{value[: most - 1]}…"
            elif isinstance(value, dict | list):
                holder[key] = value.copy()
                waiting.append(holder[key])
            if isinstance(value, list) and isinstance(holder, dict):
                lists.append((holder, str(key)))
    for holder, key in lists:
        if len(encode({"": holder[key]})) > 2 * most:
            holder[key] = []
    shrunk = root[0]
    if isinstance(shrunk, dict):
        path = shrunk.get(SAVED[0])
        if not (isinstance(path, str) and path.replace("\\", "/").rpartition("/")[2] in words):
            shrunk = {key: value for key, value in shrunk.items() if key not in SAVED}
    return shrunk


PICTURES = frozenset({"image", "document"})
PLAIN_RESULTS = frozenset({"tool_result", "mcp_tool_result"})
"""Results whose content may be any text; others hold what only the provider can write."""


def filter_allowed(
    cuts: Iterable[Cut], records: Mapping[int, Record], pairs: CallPairs
) -> Iterator[Cut]:
    """Yield the cuts that remove neither the user's words nor a compaction."""
    for cut in cuts:
        record = records.get(cut.line)
        if record is None:
            continue
        if cut.block is None:
            if _may_go(record, pairs):
                yield cut
        elif _may_change(record, cut, cut.block, pairs):
            yield cut


def _may_go(record: Record, pairs: CallPairs) -> bool:
    """Return whether a record is neither the user's words nor a compaction."""
    if record.type in ("attachment", "queue-operation"):
        words = get_queued_text(record)
        return not words or not is_typed_in_queue(record.envelope, words)
    if is_boundary(record) or record.is_compact_summary or record.subtype == "local_command":
        return False
    calls = {get_call_id(head) or get_answered_id(head) for head in list_block_heads(record)} - {
        None
    }
    if calls & pairs.of_people:
        return False
    return record.type != "user" or bool(calls) or (record.is_meta and not is_human_prompt(record))


def _may_change(record: Record, cut: Cut, place: int, pairs: CallPairs) -> bool:
    heads = list_block_heads(record)
    if not 0 <= place < len(heads):
        return False
    head = heads[place]
    kind, call = head.type or "", get_call_id(head) or get_answered_id(head)
    if call in pairs.of_people:
        return False
    if call is not None and kind in PLAIN_RESULTS:
        content = list_blocks(record)[place].get("content")
        return cut.inner is None or (isinstance(content, list) and 0 <= cut.inner < len(content))
    if call is not None:
        # What only the provider can write cannot be shortened, and an input stays an object.
        if cut.inner is not None or cut.to is None:
            return cut.inner is None
        try:
            return kind.endswith("tool_use") and isinstance(msgspec.json.decode(cut.to), dict)
        except msgspec.MsgspecError:
            return False
    if is_thinking({"type": kind}):
        return cut.to is None
    if record.type != "user" or kind in PICTURES:
        return True
    text = str(list_blocks(record)[place].get("text", "")).strip()
    return record.is_meta or is_machine_text(text)


WITH_CALL = "removed with its call"
UNLISTED = "no longer lists the removed calls"
REMOVED = "[{kind} removed]"
"""Replacement for a prompt that was only an image."""
VIEW = "toolUseResult"
OF_RESULT = (VIEW, "sourceToolAssistantUUID", "mcpMeta", "toolDenialKind", "permissionDecision")
"""What a line says about the result in it."""


@dataclass(slots=True)
class Removed:
    """What was removed, and what followed from it."""

    calls: dict[str, str] = field(default_factory=dict)
    """Removed calls, each with the reason."""
    cuts: list[Cut] = field(default_factory=list)
    """Cuts that were made."""
    spared: list[Cut] = field(default_factory=list)
    """Cuts that were not made, since they would remove the user's words."""
    pairs: CallPairs = field(default_factory=lambda: CallPairs(()))
    """The calls of the original log."""


def apply_cuts(draft: Draft, cuts: Iterable[Cut]) -> Removed:
    """Make cuts in a draft with everything that follows except pointers; return what was removed."""
    wanted = list(cuts)
    pairs = CallPairs(draft.record_lines)
    records = {line.number or 0: record for line, record in draft.record_lines}
    made = list(filter_allowed(wanted, records, pairs))
    are_made = set(made)
    spared = [cut for cut in wanted if cut not in are_made]
    gone = Removed(cuts=made, spared=spared, pairs=pairs)
    change = _Change(draft, records, gone)
    change.decide()
    change.make()
    keep_response_ends(draft)
    return gone


class _Change:
    """The decision for each block and line, before anything is done."""

    def __init__(self, draft: Draft, records: Mapping[int, Record], gone: Removed) -> None:
        self.draft = draft
        self.records = records
        self.pairs = gone.pairs
        self.gone = gone
        self.blocks: dict[int, dict[int, list[Cut]]] = {}
        """Cuts by line, and by block within it."""
        self.lines: dict[int, str] = {}
        """Lines to remove, each with the reason."""

    def decide(self) -> None:
        """Decide what is removed together with what."""
        for cut in self.gone.cuts:
            record = self.records[cut.line]
            heads = list_block_heads(record)
            count = len(heads)
            for at in range(count) if cut.block is None else (cut.block,):
                place = Place(cut.line, at)
                call = get_call_id(heads[at]) or get_answered_id(heads[at])
                if call and cut.to is None and cut.inner is None:
                    self.gone.calls.setdefault(call, cut.reason)
                elif is_thinking({"type": heads[at].type}):
                    for item in self.pairs.thoughts.get(record.message_id or "", [place]):
                        self._cut(item, Cut(*item, None, cut.reason))
                else:
                    self._cut(place, cut)
            if cut.block is None and not count:
                self.lines[cut.line] = cut.reason
        for call, reason in self.gone.calls.items():
            for place in self.pairs.list_places(call):
                self._cut(place, Cut(*place, None, reason))
        if self.gone.calls:
            found = find_inline_agents(self.draft, self.records, self.pairs, self.gone.calls.keys())
            self.lines.update(dict.fromkeys(found, WITH_CALL))

    def _cut(self, place: Place, cut: Cut) -> None:
        self.blocks.setdefault(place.line, {}).setdefault(place.block, []).append(cut)

    def make(self) -> None:
        """Change the draft."""
        calls = self.gone.calls.keys()
        for line, record in list(self.draft.record_lines):
            number = line.number or 0
            if number in self.lines:
                self.draft.drop(line, self.lines[number])
            elif number in self.blocks:
                cuts = self.blocks[number]
                blocks = list_blocks(record)
                left = [
                    apply_block_cuts(block, cuts[at]) if at in cuts else block
                    for at, block in enumerate(blocks)
                ]
                reason = next(iter(cuts.values()))[0].reason
                if all(item is GONE for item in left) and is_human_prompt(record):
                    left[-1] = make_text_block(
                        REMOVED.format(kind=list_block_heads(record)[-1].type)
                    )
                changed = {at: now for at, now in enumerate(left) if now != blocks[at]}
                if all(item is GONE for item in left):
                    self.draft.drop(line, reason)
                elif changed:
                    heads = list_block_heads(record)
                    results = [at for at, head in enumerate(heads) if get_answered_id(head)]
                    if not results:
                        fields = {}
                    elif all(changed.get(at) is GONE for at in results):
                        removed = {name: GONE for name in OF_RESULT if name in record.fields}
                        fields = {**removed, "isMeta": True} if record.type == "user" else removed
                    else:
                        view = record.fields.get(VIEW)
                        for at in results:
                            now = changed.get(at)
                            if view is not None and isinstance(now, dict):
                                view = shorten_view(view, blocks[at], now)
                        fields = {VIEW: view} if view != record.fields.get(VIEW) else {}
                    self.draft.rewrite(line, splice_record(record, changed, fields), reason)
            elif calls:
                data = None if is_companion(record, calls) else remove_mentions(record, calls)
                if data is None:
                    self.draft.drop(line, WITH_CALL)
                elif data != record.raw:
                    self.draft.rewrite(line, data, UNLISTED)
