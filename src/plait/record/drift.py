"""Records to what the reader does not know: types, kinds, blocks and fields, counted."""

from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

from msgspec import Struct
from msgspec.structs import fields as struct_fields

from plait.record.attachments import ATTACHMENTS
from plait.record.chain import Attachment, Progress, System, User
from plait.record.kinds import KINDS
from plait.record.message import BLOCKS, Message, Usage
from plait.record.model import Envelope
from plait.record.progress import PROGRESS
from plait.record.record import Record, Wire
from plait.record.results import form_of
from plait.record.state import Other

COMMON = frozenset(known.encode_name for known in struct_fields(Envelope)) | {
    "agentName",
    "entrypoint",
    "sessionKind",
    "session_id",
    "slug",
    "userType",
    "toolUseResult",
}
SUBTYPES = frozenset(
    """
    api_error api_refusal attribution_snapshot away_summary bridge_status compact_boundary
    custom_title error informational init local_command microcompact_boundary
    model_refusal_fallback model_refusal_no_fallback rewind session_artifact_snapshot
    session_start slash_command stop_hook_summary turn_duration ui_telemetry
    """.split()
)
KNOWN = {
    kind: COMMON | {value.name for value in vars(kind).values() if isinstance(value, Wire)}
    for kind in KINDS.values()
}
# The log of requests repeats whole messages; its own fields are not looked into.
OPAQUE = frozenset({"api-request", "api-request-blob", "api-request-shape"})


class Drift:
    """Counts of what no type knows, by where it stood: `types`, `blocks`, `fields` …"""

    def __init__(self) -> None:
        self.counts: dict[str, Counter[str]] = {}

    def note(self, where: str, name: object) -> None:
        """Counts one unknown thing."""
        self.counts.setdefault(where, Counter())[str(name)] += 1

    def add(self, record: Record) -> None:
        """Counts what is unknown in one record."""
        if isinstance(record, Other):
            self.note("types", record.kind)
            return
        if record.kind in OPAQUE:
            return
        self._fields(record.kind, record.fields, KNOWN[type(record)])
        match record:
            case System(subtype=str(subtype)) if subtype not in SUBTYPES:
                self.note("subtypes", subtype)
            case Attachment():
                self._kind("attachments", record.fields.get("attachment"), ATTACHMENTS)
            case Progress():
                self._kind("progress", record.fields.get("data"), PROGRESS)
            case User():
                self._result(record.fields.get("toolUseResult"))
        self._message(record.fields.get("message"))

    def _fields(self, where: str, value: Iterable[str], known: frozenset[str]) -> None:
        for name in value:
            if name not in known:
                self.note("fields", f"{where}.{name}")

    def _kind(self, where: str, value: object, kinds: Mapping[str, type[Struct]]) -> None:
        if not isinstance(value, Mapping):
            return
        kind = value.get("type")
        if isinstance(kind, str) and kind in kinds:
            self._fields(kind, value, struct_names(kinds[kind]) | {"type"})
        else:
            self.note(where, kind)

    def _result(self, value: object) -> None:
        if not isinstance(value, Mapping):
            return
        form = form_of(value)
        if form:
            self._fields(form.__name__, value, struct_names(form))
        elif value:
            self.note("results", " ".join(sorted(value)))

    def _message(self, value: object) -> None:
        if not isinstance(value, Mapping):
            return
        self._fields("message", value, struct_names(Message) | {"timestamp"})
        if isinstance(value.get("usage"), Mapping):
            self._fields("usage", value["usage"], struct_names(Usage))
        content = value.get("content")
        for block in content if isinstance(content, list) else ():
            self._kind("blocks", block, BLOCKS)


@cache
def struct_names(kind: type[Any]) -> frozenset[str]:
    """Returns the wire names of a struct."""
    return frozenset(known.encode_name for known in struct_fields(kind))
