"""Counts over log files: every line accounted for, and what no known type covers."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import fields as struct_fields

from plait.errors import SourceError
from plait.line import Finding, LogFile, iter_lines
from plait.line.files import count_lines
from plait.record.codec import Envelope
from plait.record.fields import ATTACHMENT_FIELDS, EXTRA_FIELDS, PROGRESS_FIELDS, STATE_FIELDS
from plait.record.message import BLOCKS, Message, Usage
from plait.record.prompts import is_human_prompt
from plait.record.reader import Blank, Broken, Entry, entries
from plait.record.types import (
    RECORD_CLASSES,
    TRIMMED,
    Assistant,
    Attachment,
    Other,
    Progress,
    Record,
    System,
    User,
    WireField,
    find_result_form,
    get_content,
)

COMMON = frozenset(known.encode_name for known in struct_fields(Envelope)) | {
    "agentName",
    "entrypoint",
    "sessionKind",
    "session_id",
    "slug",
    "userType",
    "toolUseResult",
    "sourceFile",
    "sourceLine",
    "sourceOffset",
    "sourcePart",
    TRIMMED,
}
SUBTYPES = frozenset(
    """
    api_error api_refusal attribution_snapshot away_summary bridge_status compact_boundary
    custom_title error informational init local_command microcompact_boundary
    model_refusal_fallback model_refusal_no_fallback rewind session_artifact_snapshot
    session_start slash_command stop_hook_summary turn_duration ui_telemetry
    """.split()
)
KNOWN_FIELDS = {
    name: COMMON
    | {value.name for value in vars(kind).values() if isinstance(value, WireField)}
    | EXTRA_FIELDS.names(name)
    | STATE_FIELDS.names(name)
    for name, kind in RECORD_CLASSES.items()
}
# The log of requests repeats whole messages; its own fields are not examined.
OPAQUE = frozenset({"api-request", "api-request-blob", "api-request-shape"})


class Drift:
    """Counts of unknown things, by place: `types`, `blocks`, `fields` …"""

    def __init__(self) -> None:
        self.counts: dict[str, Counter[str]] = {}

    def note(self, where: str, name: object) -> None:
        """Count one unknown thing."""
        self.counts.setdefault(where, Counter())[str(name)] += 1

    def add(self, record: Record) -> None:
        """Count what is unknown in one record."""
        if isinstance(record, Other):
            self.note("types", record.kind)
            return
        if record.kind in OPAQUE:
            return
        self._count_fields(record.kind, record.fields, KNOWN_FIELDS[record.kind])
        match record:
            case System(subtype=str(subtype)) if subtype not in SUBTYPES:
                self.note("subtypes", subtype)
            case Attachment():
                self._kind("attachments", record.fields.get("attachment"), ATTACHMENT_FIELDS)
            case Progress():
                self._kind("progress", record.fields.get("data"), PROGRESS_FIELDS)
            case User():
                value = record.fields.get("toolUseResult")
                if isinstance(value, Mapping):
                    form = find_result_form(value)
                    if form:
                        self._count_fields(form.__name__, value, _struct_names(form))
                    elif value:
                        self.note("results", " ".join(sorted(value)))
        self._message(record.fields.get("message"))

    def _count_fields(self, where: str, value: Iterable[str], known: frozenset[str]) -> None:
        for name in value:
            if name not in known:
                self.note("fields", f"{where}.{name}")

    def _kind(self, where: str, value: object, kinds: Mapping[str, type[Struct]]) -> None:
        if not isinstance(value, Mapping):
            return
        kind = value.get("type")
        if isinstance(kind, str) and kind in kinds:
            self._count_fields(kind, value, _struct_names(kinds[kind]) | {"type"})
        else:
            self.note(where, kind)

    def _message(self, value: object) -> None:
        if not isinstance(value, Mapping):
            return
        self._count_fields("message", value, _struct_names(Message) | {"requestId", "timestamp"})
        if isinstance(value.get("usage"), Mapping):
            self._count_fields("usage", value["usage"], _struct_names(Usage))
        content = value.get("content")
        for block in content if isinstance(content, list) else ():
            self._kind("blocks", block, BLOCKS)


@cache
def _struct_names(kind: type[Any]) -> frozenset[str]:
    return frozenset(known.encode_name for known in struct_fields(kind))


class LogFileCounts(Struct, frozen=True, array_like=True):
    """The counts of one file, as plain values that can be sent."""

    counts: tuple[int, ...]
    types: dict[str, int]
    versions: dict[str, int]
    drift: dict[str, dict[str, int]]
    broken: list[tuple[str, int]]
    """The message about each broken line, and its number."""
    unread: str | None = None
    """Why it could not be read to its end."""


COUNTED = ("files", "bytes", "lines", "records", "blank", "broken", "recovered")
BROKEN = "broken line"


@dataclass(slots=True)
class LogCounts:
    """The counts of some files."""

    files: int = 0
    bytes: int = 0
    lines: int = 0
    """Counted by newlines, independently of all decoding."""
    records: int = 0
    blank: int = 0
    broken: int = 0
    recovered: int = 0
    types: Counter[str] = field(default_factory=Counter)
    versions: Counter[str] = field(default_factory=Counter)
    drift: Drift = field(default_factory=Drift)
    findings: list[Finding] = field(default_factory=list)

    @property
    def is_balanced(self) -> bool:
        """Whether every line is accounted for."""
        return self.lines == self.records + self.blank + self.broken

    def add_file(self, path: Path) -> None:
        """Count a whole file."""
        self.files += 1
        counted, size = count_lines(path)
        self.lines += counted
        self.bytes += size
        for entry in entries(iter_lines(path, end=size)):  # a live file may have grown since
            self.add(entry, path)

    def take(self, found: LogFileCounts, path: Path) -> None:
        """Add the counts of a file."""
        for name, count in zip(COUNTED, found.counts, strict=True):
            setattr(self, name, getattr(self, name) + count)
        self.types.update(found.types)
        self.versions.update(found.versions)
        for where, names in found.drift.items():
            self.drift.counts.setdefault(where, Counter()).update(names)
        for sentence, line in found.broken:
            self.findings.append(Finding(BROKEN, sentence, path, line))
        if found.unread is not None:
            self.findings.append(Finding("unreadable", found.unread))

    def add(self, entry: Entry, path: Path) -> None:
        """Count one line."""
        match entry:
            case Record():
                self.records += 1
                self.types[entry.kind] += 1
                if entry.version is not None:
                    self.versions[entry.version] += 1
                self.drift.add(entry)
            case Blank():
                self.blank += 1
            case Broken():
                self.broken += 1
                self.recovered += len(entry.recovered)
                self.findings.append(make_broken_line_finding(entry, path))


def make_broken_line_finding(entry: Broken, path: Path) -> Finding:
    """Return the finding about a broken line."""
    saved = f"; {len(entry.recovered)} recovered" if entry.recovered else ""
    return Finding(BROKEN, f"{entry.reason}{saved}", path, entry.line.number)


def count_file(file: LogFile) -> LogFileCounts:
    """Return the counts of one file; if it is gone meanwhile, they say so."""
    account, unread = LogCounts(), None
    try:
        account.add_file(file.path)
    except SourceError as error:
        unread = error.message
    return LogFileCounts(
        tuple(getattr(account, name) for name in COUNTED),
        account.types,
        account.versions,
        dict(account.drift.counts),
        [(finding.sentence, finding.line or 0) for finding in account.findings],
        unread,
    )


@dataclass(slots=True)
class ContentCounts:
    """Counts over the lines of one file."""

    lines: int = 0
    human_turns: int = 0
    tool_calls: int = 0
    versions: Counter[str] = field(default_factory=Counter)
    types: Counter[str] = field(default_factory=Counter)
    stop_reasons: Counter[str] = field(default_factory=Counter)
    blocks: Counter[str] = field(default_factory=Counter)

    def add(self, record: Record) -> None:
        """Count one record."""
        self.types[record.kind] += 1
        if record.version is not None:
            self.versions[record.version] += 1
        self.human_turns += is_human_prompt(record)
        if isinstance(record, Assistant):
            message = record.envelope.message
            self.stop_reasons[(message.stop_reason if message else None) or "null"] += 1
        if record.envelope.message is None:
            return
        content = get_content(record.envelope)
        if isinstance(content, list):
            self.blocks.update(head.type or "untyped" for head in content)
            self.tool_calls += sum(head.type == "tool_use" for head in content)


def count_content(path: Path) -> ContentCounts:
    """Return the inventory of one file."""
    result = ContentCounts()
    for entry in entries(iter_lines(path)):
        result.lines += 1
        if isinstance(entry, Record):
            result.add(entry)
    return result
