"""The rules that a written session must follow, and checks of logs and plans against them.

Each rule is a function, registered in `RULES`. `find_violations` checks a log as it is; `check_plan` reports only what a
plan would newly break, so that damage that was there before does not block an edit. Logs are read
line by line: `LogFacts` keeps ids and pointers but none of the texts.
"""

import re
from base64 import b64decode
from binascii import Error as NotBase64
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from plait.edit.log import LARGE_LOG_BYTES, split_lines
from plait.edit.plan import Append, Move, Plan, Remove, Step, Violation, Write
from plait.graph.client import find_refusal
from plait.graph.parents import NO_NODE, find_cycles
from plait.line import Line, LogFile, iter_lines
from plait.line.discovery import LOG_SUFFIX, PROMPT_HISTORY
from plait.record import (
    Blank,
    Broken,
    Entry,
    Record,
    System,
    get_client_record,
    iter_client_records,
    parse_entry,
)
from plait.record.types import FileHistoryDelta, FileHistorySnapshot, get_content_blocks

__all__ = ["RULES", "Rule", "check_plan", "find_records", "find_violations"]


NOBODY = "00000000-0000-0000-0000-000000000000"
"""What the client writes in place of a missing pointer."""
POINTERS = frozenset({"last-prompt", "summary"})
BACKUPS = (FileHistorySnapshot, FileHistoryDelta)


class Place(NamedTuple):
    """A location: a line and the record on it."""

    line: int
    uuid: str | None


class Pointer(NamedTuple):
    """A field of a record that names another record."""

    field: str
    target: str
    place: Place


@dataclass(slots=True)
class LogFacts:
    """The ids of a log and the references to them."""

    first_places: dict[str, int] = field(default_factory=dict)
    """The first line of each uuid."""
    parents: dict[str, str | None] = field(default_factory=dict)
    speakers: dict[str, str] = field(default_factory=dict)
    """Prompts and answers: the response that a record is part of, else the record itself."""
    begun: set[str] = field(default_factory=set)
    """Records at the beginning of broken lines, which the client reads."""
    repeats: list[Place] = field(default_factory=list)
    pointers: list[Pointer] = field(default_factory=list)
    calls: dict[str, Place] = field(default_factory=dict)
    results: dict[str, Place] = field(default_factory=dict)
    thoughts: dict[bytes, Place] = field(default_factory=dict)
    """Digests of signed thinking."""

    def add(self, record: Record, line: int | None = None) -> None:
        """Add the ids and references of a record, whose line may have moved."""
        place = Place(line or record.line, record.uuid)
        if record.uuid:
            uuid = record.uuid
            if uuid in self.first_places:
                self.repeats.append(place)
            self.first_places.setdefault(uuid, place.line)
            self.parents[uuid] = record.parent_uuid or None
            if record.type == "assistant":
                self.speakers[uuid] = record.message_id or uuid
            elif (
                record.type == "user"
                and not record.is_meta
                and not any(head.type == "tool_result" for head in record.block_heads)
            ):
                self.speakers[uuid] = uuid
        self.pointers.extend(Pointer(name, target, place) for name, target in iter_pointers(record))
        heads = record.block_heads
        for head in heads:
            if head.type == "tool_use" and head.id:
                self.calls.setdefault(head.id, place)
            elif head.type == "tool_result" and head.tool_use_id:
                self.results.setdefault(head.tool_use_id, place)
        if any(head.type in ("thinking", "redacted_thinking") for head in heads):
            for block in get_content_blocks(record):
                if block["type"] in ("thinking", "redacted_thinking"):
                    words = repr((block.get("thinking"), block.get("signature"), block.get("data")))
                    digest = blake2b(words.encode("utf-8", "surrogatepass"), digest_size=12)
                    self.thoughts[digest.digest()] = place


def iter_pointers(record: Record) -> Iterator[tuple[str, str]]:
    """Yield the records that a record refers to, each with the kind of reference."""
    if record.parent_uuid:
        yield "parent", record.parent_uuid
    if record.logical_parent_uuid:
        yield "logical parent", record.logical_parent_uuid
    if record.source_tool_assistant_uuid:
        yield "answer with its call", record.source_tool_assistant_uuid
    leaf = record.envelope.leaf_uuid if record.type in POINTERS else None
    if leaf and leaf != NOBODY:
        yield "leaf", leaf
    if isinstance(record, System):
        preserved = record.preserved
        kept = (*preserved.uuids, preserved.anchor) if preserved else ()
        yield from (("preserved record", uuid) for uuid in dict.fromkeys(kept) if uuid)
    elif isinstance(record, BACKUPS):
        if isinstance(record, FileHistoryDelta):
            inner = record.snapshot_message_id
        else:
            inner = record.snapshot.message_id if record.snapshot else None
        named = dict.fromkeys((record.message_id, inner))
        yield from (("record of a file backup", uuid) for uuid in named if uuid)


class RuleBreach(NamedTuple):
    """A violation before it is put into words.

    Its keys are the same before and after an edit, whatever new ids were given, so that violations
    caused by the edit can be told from earlier ones. One known key is enough.
    """

    keys: tuple[Hashable, ...]
    sentence: str
    place: Place


@dataclass(frozen=True, slots=True)
class CheckedLog:
    """A log to check."""

    facts: LogFacts
    external_uuids: frozenset[str] = frozenset()
    """Records of other logs that may be referred to."""
    original: LogFacts | None = None
    """The log it was made from, when an edit is checked."""
    why_not: str | None = None
    """Why the client would not resume it, if that was determined."""


LineCheck = Callable[[Line, Entry], str | None]
"""Returns what is wrong with a line; None if nothing is."""
LogCheckFunction = Callable[[CheckedLog], Iterator[RuleBreach]]
"""Yields what is wrong with a log as a whole."""


class Rule(NamedTuple):
    """A rule for written sessions; it checks a whole log or single lines."""

    name: str
    description: str
    check_log: LogCheckFunction | None = None
    check_line: LineCheck | None = None
    binds_all: bool = True
    """Whether it applies to every session; the others apply to the results of edits only."""


RULES: list[Rule] = []
"""All rules, in the order of the functions below that check them."""


def line_rule(
    name: str, description: str, *, binds_all: bool = True
) -> Callable[[LineCheck], LineCheck]:
    """Register a function as the rule that checks single lines."""

    def register(check: LineCheck) -> LineCheck:
        RULES.append(Rule(name, description, check_line=check, binds_all=binds_all))
        return check

    return register


def log_rule(
    name: str, description: str, *, binds_all: bool = True
) -> Callable[[LogCheckFunction], LogCheckFunction]:
    """Register a function as the rule that checks a log as a whole."""

    def register(check: LogCheckFunction) -> LogCheckFunction:
        RULES.append(Rule(name, description, check_log=check, binds_all=binds_all))
        return check

    return register


# Limits of the API. An image above them fails every later request of its session: at 5,242,880
# characters of base64 the client itself stops the resume with "exceeds API limit" (docs/format.md).
MOST_BYTES = 5_242_880
"""Size of the base64 text above which the API rejects an image."""
MOST_PIXELS = 8000
"""Longest side of an image."""
HEAD = 1 << 18
"""How much base64 is decoded to find the size: a JPEG can have a long preface."""
FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
"""JPEG markers that are followed by the image size."""


class ImageInfo(NamedTuple):
    """The media type and size that the bytes of an image declare; no size if it was not found."""

    media_type: str
    width: int = 0
    height: int = 0


def iter_images(blocks: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield the images among content blocks, including those in tool results."""
    for block in blocks:
        if block.get("type") == "image":
            yield block
        content = block.get("content") if block.get("type") == "tool_result" else None
        for inner in content if isinstance(content, list) else ():
            if isinstance(inner, dict) and inner.get("type") == "image":
                yield inner


def describe_image_fault(picture: Mapping[str, Any]) -> str | None:
    """Return why the API rejects an image; None if it accepts it or the image is elsewhere."""
    source = picture.get("source")
    if not isinstance(source, Mapping):
        return "has no source"
    if source.get("type") != "base64":
        return None
    data = source.get("data")
    if not isinstance(data, str) or not data.strip():
        return "is empty"
    if len(data) > MOST_BYTES:
        return f"is larger than 5 MB: {len(data):,} bytes of base64"
    shape = parse_image(data)
    if shape is None:
        return "is not a base64 image in PNG, JPEG, GIF or WebP format"
    if max(shape.width, shape.height) > MOST_PIXELS:
        return f"is larger than {MOST_PIXELS} pixels: {shape.width} × {shape.height}"
    named = source.get("media_type")
    return None if named == shape.media_type else f"is {shape.media_type}, not {named}"


def parse_image(data: str) -> ImageInfo | None:
    """Return the type and size of a base64 image; None if it is none that the API supports."""
    try:
        data.encode("ascii")
        head = b64decode(data[:HEAD], validate=True)
        b64decode(data[len(data) // HEAD * HEAD :], validate=True)
    except (NotBase64, ValueError):
        return None
    if head.startswith(b"\x89PNG\r\n\x1a\n"):
        return ImageInfo("image/png", int.from_bytes(head[16:20]), int.from_bytes(head[20:24]))
    if head.startswith(b"GIF8"):
        width, height = int.from_bytes(head[6:8], "little"), int.from_bytes(head[8:10], "little")
        return ImageInfo("image/gif", width, height)
    if head.startswith(b"\xff\xd8\xff"):
        # The size is in the frame header, which metadata segments of any length may precede.
        place = 2
        while place + 9 < len(head) and head[place] == 0xFF:
            if head[place + 1] in FRAMES:
                height, width = (int.from_bytes(head[place + at : place + at + 2]) for at in (5, 7))
                return ImageInfo("image/jpeg", width, height)
            place += 2 + int.from_bytes(head[place + 2 : place + 4])
        return ImageInfo("image/jpeg")
    if not head.startswith(b"RIFF") or head[8:12] != b"WEBP":
        return None
    # WebP has three forms: extended, lossless and lossy, each with the size elsewhere.
    if head[12:16] == b"VP8X":
        width = int.from_bytes(head[24:27], "little") + 1
        return ImageInfo("image/webp", width, int.from_bytes(head[27:30], "little") + 1)
    if head[12:16] == b"VP8L":
        bits = int.from_bytes(head[21:25], "little")
        return ImageInfo("image/webp", (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1)
    width, height = int.from_bytes(head[26:28], "little"), int.from_bytes(head[28:30], "little")
    return ImageInfo("image/webp", width & 0x3FFF, height & 0x3FFF)


CLAUDE = re.compile(r"(?:^|[./])claude-")
BASE64 = re.compile(r"[A-Za-z0-9+/_-]+={0,2}")


@line_rule("whole line", "each line is exactly one JSON object")
def check_json(line: Line, entry: Entry) -> str | None:
    """Return why a line is not one JSON object."""
    return entry.reason if isinstance(entry, Broken) else None


@line_rule("signed thought", "each thinking block has a signature; the API rejects it otherwise")
def check_signatures(line: Line, entry: Entry) -> str | None:
    """Return why the API rejects a thinking block: it has no signature."""
    if not isinstance(entry, Record) or entry.type != "assistant":
        return None
    if not any(head.type == "thinking" for head in entry.block_heads):
        return None
    if not is_from_claude(entry):
        return None
    unsigned = any(is_unsigned(block) for block in get_content_blocks(entry))
    return "a thinking block has no valid signature" if unsigned else None


def is_from_claude(record: Record) -> bool:
    """Return whether a response is by a Claude model, whose thinking the API verifies by
    signature.
    """
    message = record.envelope.message
    return bool(message and CLAUDE.search(message.model or ""))


def is_unsigned(block: dict[str, Any]) -> bool:
    """Return whether a block is thinking that the API rejects for its signature."""
    if block["type"] != "thinking":
        return False
    signature = block.get("signature")
    return not isinstance(signature, str) or not BASE64.fullmatch(signature)


@line_rule("accepted picture", "each image is accepted by the API: format, data, size")
def check_images(line: Line, entry: Entry) -> str | None:
    """Return why the API rejects an image in a prompt or a result."""
    if not isinstance(entry, Record) or b'"image"' not in line.data:
        return None
    for picture in iter_images(get_content_blocks(entry)):
        if refusal := describe_image_fault(picture):
            return f"a picture {refusal}"
    return None


@line_rule(
    "compact line",
    "each line is valid UTF-8 without spaces between fields",
    binds_all=False,
)
def check_form(line: Line, entry: Entry) -> str | None:
    """Return why a line is not in the client's form: UTF-8, without spaces between fields."""
    if isinstance(entry, Blank):
        return "the line is blank"
    try:
        line.data.decode("utf-8")
        is_compact = msgspec.json.format(line.data, indent=-1) == line.data
    except UnicodeDecodeError:
        return "the line is not valid UTF-8"
    except msgspec.MsgspecError:
        return "the line is not JSON"
    except RecursionError:
        return None  # nested too deeply to check
    return None if is_compact else "there are spaces between the fields of the line"


class MessageColumns(Struct):
    """The raw fields of a message."""

    role: Raw | UnsetType = UNSET
    content: Raw | UnsetType = UNSET
    model: Raw | UnsetType = UNSET
    id: Raw | UnsetType = UNSET
    stop_reason: Raw | UnsetType = UNSET
    usage: Raw | UnsetType = UNSET


class Columns(Struct, rename={"parent": "parentUuid", "session": "sessionId"}):
    """The raw fields of a prompt or a response."""

    type: str = ""
    uuid: Raw | UnsetType = UNSET
    parent: Raw | UnsetType = UNSET
    session: Raw | UnsetType = UNSET
    timestamp: Raw | UnsetType = UNSET
    is_sidechain: Raw | UnsetType = msgspec.field(default=UNSET, name="isSidechain")
    user_type: Raw | UnsetType = msgspec.field(default=UNSET, name="userType")
    cwd: Raw | UnsetType = UNSET
    version: Raw | UnsetType = UNSET
    request: Raw | UnsetType = msgspec.field(default=UNSET, name="requestId")
    message: MessageColumns = msgspec.field(default_factory=MessageColumns)


_columns = msgspec.json.Decoder(Columns).decode

TEXT, OBJECT, LIST, FLAG = b'"', b"{", b"[", b"tf"
RECORD_COLUMNS: dict[str, bytes] = {
    "uuid": TEXT,
    "parent": TEXT + b"n",
    "session": TEXT,
    "timestamp": TEXT,
}
MESSAGE_COLUMNS: dict[str, tuple[dict[str, bytes], dict[str, bytes]]] = {
    "user": (
        {**RECORD_COLUMNS, "is_sidechain": FLAG, "user_type": TEXT, "cwd": TEXT, "version": TEXT},
        {"role": TEXT, "content": TEXT + LIST},
    ),
    "assistant": (
        {**RECORD_COLUMNS, "request": TEXT},
        {
            "role": TEXT,
            "content": LIST,
            "model": TEXT,
            "id": TEXT,
            "stop_reason": TEXT + b"n",
            "usage": OBJECT,
        },
    ),
}
"""The required fields, each with the possible beginnings of its value."""


@line_rule(
    "required columns",
    "prompts and answers have the fields that the published schema requires",
    binds_all=False,
)
def check_columns(line: Line, entry: Entry) -> str | None:
    """Return the required field that a prompt or a response lacks."""
    if not isinstance(entry, Record) or entry.type not in MESSAGE_COLUMNS:
        return None
    try:
        written = _columns(line.data)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return "its fields have unexpected types"
    outer, inner = MESSAGE_COLUMNS[entry.type]
    lacking = [name for name, form in outer.items() if not _has_form(written, name, form)]
    lacking += [name for name, form in inner.items() if not _has_form(written.message, name, form)]
    return f"missing fields: {', '.join(lacking)}" if lacking else None


def _has_form(columns: Struct, name: str, form: bytes) -> bool:
    value = getattr(columns, name)
    return value is not UNSET and bytes(memoryview(value)[:1]) in form


@log_rule("unique uuid", "each uuid occurs on one line only")
def find_repeated_uuids(log: CheckedLog) -> Iterator[RuleBreach]:
    """Find lines with the uuid of an earlier one."""
    for count, place in enumerate(log.facts.repeats):
        first = log.facts.first_places[place.uuid or ""]
        yield RuleBreach((count,), f"line {first} has the same uuid", place)


def _iter_dangling_pointers(log: CheckedLog) -> Iterator[Pointer]:
    facts, elsewhere = log.facts, log.external_uuids
    for pointer in facts.pointers:
        is_here = pointer.target in facts.first_places or pointer.target in facts.begun
        if not is_here and pointer.target not in elsewhere:
            yield pointer


@log_rule(
    "known parent", "each parent is in the session, or still in the other file where it was before"
)
def find_unknown_parents(log: CheckedLog) -> Iterator[RuleBreach]:
    """Find records whose parent does not exist."""
    for pointer in _iter_dangling_pointers(log):
        if pointer.field == "parent":
            yield RuleBreach(
                (pointer.target,), f"parent {pointer.target} is not in this session", pointer.place
            )


@log_rule("no circle", "each chain of parents ends at a root")
def find_circular_parents(log: CheckedLog) -> Iterator[RuleBreach]:
    """Find parents that form a circle."""
    facts = log.facts
    numbers = {uuid: number for number, uuid in enumerate(facts.parents)}
    uuids = list(numbers)
    up = [numbers.get(parent or "", NO_NODE) for parent in facts.parents.values()]
    for count, circle in enumerate(find_cycles(up)):
        first = uuids[min(circle)]
        sentence = "a record is its own parent"
        if len(circle) > 1:
            sentence = f"the parents of {len(circle)} records form a cycle"
        yield RuleBreach((count,), sentence, Place(facts.first_places[first], first))


@log_rule("kept by compaction", "messages preserved by a compaction exist")
def find_lost_preserved(log: CheckedLog) -> Iterator[RuleBreach]:
    """Find compactions that would preserve a missing record: they preserve nothing at all."""
    for pointer in _iter_dangling_pointers(log):
        if pointer.field == "preserved record":
            sentence = f"the compaction keeps {pointer.target}, which is not in this session"
            yield RuleBreach((pointer.target,), sentence, pointer.place)


@log_rule("answered call", "each call has a result if the conversation continues after it")
def find_passed_over_calls(log: CheckedLog) -> Iterator[RuleBreach]:
    """Find calls without a result after which the conversation continues.

    U1 ── T1 ── U2 ── A2      T1 is skipped
     └─── T2                  T2 is where a branch was stopped, which is no fault
    """
    unanswered = list(find_unanswered_calls(log))
    if not unanswered:
        return
    facts = log.facts
    # The prompts and responses that another one follows, and the last line where one does.
    followed: dict[str, int] = {}
    for uuid, speaker in facts.speakers.items():
        seen = {uuid}
        above = facts.parents.get(uuid)
        while above is not None and above not in facts.speakers and above not in seen:
            seen.add(above)
            above = facts.parents.get(above)
        before = facts.speakers.get(above or "")
        if before is not None and before != speaker:
            followed[before] = max(followed.get(before, 0), facts.first_places[uuid])
    for found in unanswered:
        if followed.get(facts.speakers.get(found.place.uuid or "", ""), 0) > found.place.line:
            yield found


@log_rule("called result", "each result has a call")
def find_uncalled_results(log: CheckedLog) -> Iterator[RuleBreach]:
    """Find results whose call does not exist."""
    for call, place in log.facts.results.items():
        if call not in log.facts.calls:
            yield RuleBreach(
                (call,), f"a result belongs to call {call}, which does not exist", place
            )


@log_rule("resumable", "Claude Code can resume the conversation")
def find_unresumable(log: CheckedLog) -> Iterator[RuleBreach]:
    """Find logs with a conversation that the client would not resume."""
    if log.why_not and log.facts.speakers:
        sentence = f"Claude Code would not resume it: {log.why_not}"
        yield RuleBreach(
            (log.why_not,), sentence, Place(max(log.facts.first_places.values()), None)
        )


@log_rule("answer kept", "each call that had a result still has one", binds_all=False)
def find_unanswered_calls(log: CheckedLog) -> Iterator[RuleBreach]:
    """Find calls without a result."""
    for call, place in log.facts.calls.items():
        if call not in log.facts.results:
            yield RuleBreach((call,), f"call {call} has no result", place)


@log_rule("call first", "each result comes after its call", binds_all=False)
def find_early_results(log: CheckedLog) -> Iterator[RuleBreach]:
    """Find results that come before their call."""
    for call, place in log.facts.results.items():
        called = log.facts.calls.get(call)
        if called and place.line < called.line:
            sentence = f"the result of {call} comes before its call in line {called.line}"
            yield RuleBreach((call,), sentence, place)


@log_rule(
    "known pointer",
    "nothing points to a removed record: logical parents, leaves, preserved records, "
    "backups, calls",
    binds_all=False,
)
def find_unknown_pointers(log: CheckedLog) -> Iterator[RuleBreach]:
    """Find records that refer, other than as their parent, to one that does not exist."""
    for pointer in _iter_dangling_pointers(log):
        if pointer.field != "parent":
            sentence = f"{pointer.field} {pointer.target} is not in this session"
            yield RuleBreach(((pointer.field, pointer.target),), sentence, pointer.place)


@log_rule("thought unchanged", "each thinking block is unchanged or removed", binds_all=False)
def find_changed_thinking(log: CheckedLog) -> Iterator[RuleBreach]:
    """Find thinking that differs from what the model signed."""
    known = log.original.thoughts if log.original else log.facts.thoughts
    for digest, place in log.facts.thoughts.items():
        if digest not in known:
            yield RuleBreach((digest,), "a thinking block was changed after it was signed", place)


FindKnown = Callable[[frozenset[str]], frozenset[str]]
"""Returns which of some uuids are records of other logs."""
UUID = re.compile(rb"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


LINK_RULES = frozenset({"known parent", "called result", "answered call", "kept by compaction"})
"""Rules that an agent's log may break: it begins in the middle of its session and ends with a
call.
"""


def find_violations(log: LogFile, known_of: FindKnown | None = None) -> tuple[Violation, ...]:
    """Return the violations of the rules for every session, in the order of the log.

    `known_of` is asked whether missing parents are in other logs.
    """
    is_agent = log.kind == "agent"
    rules = (
        rule for rule in RULES if rule.binds_all and not (is_agent and rule.name in LINK_RULES)
    )
    judged = LogCheck(rules)
    judged.read(iter_lines(log.path))
    lost = frozenset(
        str(rule_breach.keys[0]) for rule_breach in find_unknown_parents(CheckedLog(judged.facts))
    )
    known = known_of(lost) if lost and known_of and not is_agent else frozenset()
    why_not = (
        None
        if is_agent or log.size >= LARGE_LOG_BYTES
        else find_refusal(iter_client_records(iter_lines(log.path)), log.size)
    )
    return tuple(
        build_violation(rule, rule_breach, log.path)
        for rule, rule_breach in judged.list_breaches(known, None, why_not)
    )


def find_records(paths: Iterable[Path], uuids: frozenset[str]) -> frozenset[str]:
    """Return which of some uuids occur in some logs; stop when all are found."""
    found: set[str] = set()
    wanted = [uuid.encode("utf-8", "surrogatepass") for uuid in uuids]
    for path in paths:
        if len(found) == len(uuids):
            break
        for line in iter_lines(path):
            if any(uuid in line.data for uuid in wanted):
                entry = parse_entry(line)
                found |= {entry.uuid or ""} & uuids if isinstance(entry, Record) else set()
    return frozenset(found)


class LogCheck:
    """Reads a log line by line and collects violations."""

    def __init__(self, rules: Iterable[Rule] = RULES) -> None:
        self.rules = tuple(rules)
        self.facts = LogFacts()
        self._of_lines: list[tuple[Rule, RuleBreach]] = []
        self._forms = [(rule, rule.check_line) for rule in self.rules if rule.check_line]

    def read(self, source: Iterable[Line]) -> None:
        """Read the next lines of the log."""
        for line in source:
            entry = parse_entry(line)
            self._judge(line, entry)
            if isinstance(entry, Record):
                self.facts.add(entry)
            elif begun := get_client_record(entry):
                self._judge(line._replace(data=begun.raw), begun)
                self.facts.begun.update([begun.uuid] if begun.uuid else ())

    def _judge(self, line: Line, entry: Entry) -> None:
        uuid = entry.uuid if isinstance(entry, Record) else None
        for rule, of_line in self._forms:
            if sentence := of_line(line, entry):
                found = RuleBreach(list_line_keys(line, entry), sentence, Place(line.number, uuid))
                self._of_lines.append((rule, found))

    def list_breaches(
        self,
        elsewhere: frozenset[str] = frozenset(),
        original: LogFacts | None = None,
        why_not: str | None = None,
    ) -> list[tuple[Rule, RuleBreach]]:
        """Return all violations, in the order of the lines."""
        log = CheckedLog(self.facts, elsewhere, original, why_not)
        links = [
            (rule, rule_breach)
            for rule in self.rules
            if rule.check_log
            for rule_breach in rule.check_log(log)
        ]
        return sorted((*self._of_lines, *links), key=lambda pair: pair[1].place.line)


def build_violation(rule: Rule, found: RuleBreach, path: Path) -> Violation:
    """Return a violation in words."""
    return Violation(rule.name, found.sentence, found.place.uuid, found.place.line, path)


def list_line_keys(line: Line, entry: Entry) -> tuple[Hashable, ...]:
    """Return the keys that a line shares with its copy under other ids or with other words."""
    if not isinstance(entry, Record):
        return (_digest(line.data),)
    origin = entry.forked_from.message_uuid if entry.forked_from else None
    words = repr(get_content_blocks(entry)).encode("utf-8", "surrogatepass")
    named = [item for item in (entry.uuid, origin) if item]
    at = [(entry.kind, entry.timestamp)] if entry.timestamp else []
    return (entry.kind, _digest(words)), *named, *at


def _digest(data: bytes) -> bytes:
    return blake2b(UUID.sub(b"", data), digest_size=12).digest()


CUTTING_OPERATIONS = frozenset({"fork", "graft", "switch", "repair", "trim", "compress"})
"""Operations whose result continues from elsewhere, or lacks some of the session."""


def check_plan(plan: Plan) -> tuple[Violation, ...]:
    """Return the rules that a plan's result breaks and its source does not, log by log."""
    steps = [
        step for step in plan.steps if (not isinstance(step, Remove) and _is_log_name(step.path))
    ]
    if not steps:
        return ()
    own = {plan.source.log.path: None} | {log.path: None for log in plan.source.others}
    read = {path: None for path, _ in plan.read if _is_log_name(path)}
    before = {path: _check_lines(iter_lines(path)) for path in own | read if path.exists()}
    before |= {path: _check_lines(split_lines(content())) for path, content in plan.originals}
    after = {step.path: _check_lines(_iter_lines_after(step)) for step in steps}
    original = _merge_facts(judged.facts for judged in before.values())
    old_uuids = frozenset(original.first_places)
    known = {
        (rule, key)
        for judged in before.values()
        for rule, breach in judged.list_breaches(old_uuids)
        for key in breach.keys
    }
    # A line without a record has nothing but its position to be recognised by.
    broken_lines = {
        (rule, breach.place.line)
        for judged in (before.values() if plan.keeps_line_order else ())
        for rule, breach in judged.list_breaches()
        if not breach.place.uuid
    }
    # What the result may refer to: its own records, and those of the session's logs that stay. Of
    # another session only its agents count: a parent in another file stays a pointer to that file.
    if plan.session != plan.source.id:
        del own[plan.source.log.path]
    stays = [
        before[path] for path in own.keys() & before.keys() - {step.path for step in plan.steps}
    ]
    new = _merge_facts(judged.facts for judged in (*stays, *after.values()))
    new_uuids = frozenset(new.first_places)
    found = [
        build_violation(rule, breach, path)
        for path, judged in after.items()
        for rule, breach in judged.list_breaches(new_uuids, original)
        if not any((rule, key) in known for key in breach.keys)
        and (breach.place.uuid or (rule, breach.place.line) not in broken_lines)
    ]
    return (*found, *_check_still_resumes(plan, steps))


def _check_still_resumes(plan: Plan, steps: Sequence[Step]) -> Iterator[Violation]:
    """Yield a violation if the client would not resume the result although it resumes the source."""
    own = next((step for step in steps if step.path == plan.path), None)
    is_large = max(plan.before.bytes, plan.after.bytes) >= LARGE_LOG_BYTES
    if own is None or is_large or plan.operation not in CUTTING_OPERATIONS:
        return
    why_not = find_refusal(iter_client_records(_iter_lines_after(own)), plan.after.bytes)
    source = plan.source.log.path
    if why_not and not find_refusal(iter_client_records(iter_lines(source)), plan.before.bytes):
        sentence = f"Claude Code would not resume it: {why_not}"
        yield Violation("resumable", sentence, path=plan.path)


def _is_log_name(path: Path) -> bool:
    return path.suffix == LOG_SUFFIX and path.name != PROMPT_HISTORY


def _check_lines(source: Iterable[Line]) -> LogCheck:
    judged = LogCheck()
    judged.read(source)
    return judged


def _iter_lines_after(step: Step) -> Iterator[Line]:
    """Yield the lines of a log after a step."""
    match step:
        case Write():
            yield from split_lines(step.content())
        case Move():
            yield from iter_lines(step.path)
        case Append():
            number, end, rest = 0, 0, b""
            for line in iter_lines(step.path, end=step.was.size):
                if not line.is_ended:
                    rest = line.data
                    break
                number, end = line.number, line.offset + len(line.data) + 1
                yield line
            for line in split_lines([rest, step.data]):
                yield line._replace(number=line.number + number, offset=line.offset + end)


def _merge_facts(logs: Iterable[LogFacts]) -> LogFacts:
    """Return the combined ids and thinking of some logs."""
    found = LogFacts()
    for facts in logs:
        found.first_places.update(facts.first_places)
        found.thoughts.update(facts.thoughts)
    return found
