"""Sessions to files to keep and share: transcripts in any format, an index, a manifest, a report.

An exporter takes a plan and yields files, a relative path and the bytes of each. Sessions are
read one family after the other, so memory is bounded by the largest of them. Everything goes
through the redactor before a word of it is looked at, unless the plan has none.
"""

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import msgspec
from msgspec.structs import replace

from plait.archive.export.transcripts import Family, Names
from plait.archive.families import families
from plait.archive.model import Session
from plait.archive.open_session import OpenSession, opened_together
from plait.conversation.totals import Pricing
from plait.conversation.walk import Depth
from plait.errors import UserError
from plait.graph.model import Place
from plait.graph.paths import Path as GraphPath
from plait.graph.paths import uuids
from plait.view.passages.stream import Manner
from plait.view.transcript.coverage import Coverage
from plait.view.transcript.heading import Entry, Transcript, entry_of, index_of
from plait.view.transcript.json_form import FORMAT, json_of
from plait.view.transcript.markdown import KeptTurns, markdown_of, text_of
from plait.view.transcript.plain import plain_of

if TYPE_CHECKING:
    from plait.archive.redaction import Redaction
    from plait.redact import Redactor


Branches: TypeAlias = Literal["active", "all"]
File: TypeAlias = tuple[str, bytes]
"""A path within the export, and what the file holds."""

MANIFEST, REPORT, INDEX, COMBINED = (
    "manifest.json",
    "redaction-report.json",
    "index.md",
    "transcripts",
)
EXPORT_FORMAT = "plait-export/1"


@dataclass
class ExportPlan:
    """What is exported, and how; tells afterwards what was."""

    sessions: tuple[Session, ...]
    manner: Manner = field(default_factory=Manner)
    branches: Branches = "all"
    is_combined: bool = False
    redactor: "Redactor | None" = None
    pricing: Pricing | None = None
    written: list[Entry] = field(default_factory=list)
    """The transcripts that were made so far."""
    copies: list[str] = field(default_factory=list)
    """Sessions without a transcript: another holds all that they do."""
    unspoken: list[str] = field(default_factory=list)
    """Sessions without a conversation, in words."""
    coverage: Coverage = field(default_factory=Coverage)
    """How the sessions that were read so far are told."""
    names: Names = field(default_factory=Names)
    page_depth: Depth | None = None
    """How much pages show; None shows everything, what is long folded and cut."""
    is_single: bool = False
    """Whether each page holds all that it needs."""
    _held: OpenSession | None = None

    @cached_property
    def redaction(self) -> "Redaction | None":
        """What everything goes through before a word of it is looked at."""
        from plait.archive.redaction import Redaction

        return Redaction(self.redactor) if self.redactor else None

    def learn(self) -> None:
        """Lets the redactor see everything first: what one place tells is hidden in all."""
        if self.redaction is None:
            return
        if len(self.sessions) == 1:  # one is held, so that it is read once
            self._held = opened_together(self.sessions)
            for source in self._held.sources:
                self.redaction.learn_source(source)
            return
        self.redaction.learn(self.sessions)

    def families(self) -> Iterator[Family]:
        """Yields sessions that share records together, read and redacted."""
        for members in families(self.sessions):
            found = self._opened(members)
            is_active = self.branches == "active"
            family = Family(found, self.private, self.names, self.pricing, is_active)
            self.copies += family.copies
            self.unspoken += family.unspoken
            self.coverage = self.coverage.plus(family.coverage)
            yield family

    def _opened(self, members: Iterable[Session]) -> OpenSession:
        if self._held and self.redaction:
            return self._held.passed_through(self.redaction)
        return opened_together(members, self.redaction)

    def transcripts(self) -> Iterator[Transcript]:
        """Yields all transcripts, one by one, and remembers what each was about."""
        for family in self.families():
            found = family.transcripts()
            if self.manner.agents == "files" and self.manner.has_tools:
                found = chain(found, family.agent_transcripts())
            for transcript in found:
                self.written.append(entry_of(transcript))
                yield transcript

    def private(self, text: str) -> str:
        """Returns the name of a file without what should not be shared."""
        return self.redaction.name(text) if self.redaction else text


Exporter: TypeAlias = Callable[[ExportPlan], Iterator[File]]


def redacted(sessions: tuple[Session, ...], pricing: Pricing) -> ExportPlan:
    """Returns a plan by which nothing leaves that is secret."""
    from plait.redact import Redactor

    return ExportPlan(sessions, redactor=Redactor(), pricing=pricing)


def export(plan: ExportPlan, format_: str) -> Iterator[File]:
    """Yields all files of an export, the manifest last: without it an export is not whole."""
    if format_ not in EXPORTERS:
        raise UserError(f"there is no format '{format_}'", f"there are {', '.join(EXPORTERS)}")
    return _files(plan, format_)


def _files(plan: ExportPlan, format_: str) -> Iterator[File]:
    plan.learn()
    sizes: dict[str, int] = {}
    for path, data in EXPORTERS[format_](plan):
        sizes[path] = len(data)
        yield path, data
    if plan.redactor:
        report = _as_json(_report_of(plan))
        sizes[REPORT] = len(report)
        yield REPORT, report
    yield MANIFEST, _as_json(manifest_of(plan, format_, sizes))


def _markdown_files(plan: ExportPlan) -> Iterator[File]:
    if plan.is_combined:
        used: set[str] = set()
        parts = [text_of(markdown_of(one, plan.manner, used)) for one in plan.transcripts()]
        yield f"{COMBINED}.md", in_bytes("\n---\n\n".join(parts))
        return
    family, kept = None, KeptTurns()
    for one in plan.transcripts():
        if one.by_line is not family:
            family, kept = one.by_line, KeptTurns()
        blocks = markdown_of(one, plan.manner, kept=kept if one.heading.of > 1 else None)
        yield f"{one.name}.md", in_bytes(text_of(blocks))
    is_redacted = plan.redactor is not None
    index = index_of(plan.written, plan.unspoken, plan.coverage, is_redacted=is_redacted)
    yield INDEX, in_bytes(index)


def _plain_files(plan: ExportPlan) -> Iterator[File]:
    texts = ((one.name, "\n".join(plain_of(one, plan.manner)) + "\n") for one in plan.transcripts())
    if plan.is_combined:
        yield f"{COMBINED}.txt", in_bytes("\n\n".join(text for _, text in texts))
        return
    for name, text in texts:
        yield f"{name}.txt", in_bytes(text)


def _json_files(plan: ExportPlan) -> Iterator[File]:
    found = ((one.name, json_of(one, plan.manner)) for one in plan.transcripts())
    if plan.is_combined:
        yield f"{COMBINED}.json", b"[" + b",\n".join(data for _, data in found) + b"]\n"
        return
    for name, data in found:
        yield f"{name}.json", data + b"\n"


def _record_files(plan: ExportPlan) -> Iterator[File]:
    found = (file for family in plan.families() for file in _of_records(plan, family))
    if plan.is_combined:
        yield f"{COMBINED}.jsonl", b"".join(data for _, data in found)
        return
    for name, data in found:
        yield f"{name}.jsonl", data


def _of_records(plan: ExportPlan, family: Family) -> Iterator[File]:
    for number, path in family.chosen:
        transcript = family.transcript(number, path)
        plan.written.append(entry_of(transcript))
        yield transcript.name, b"".join(_path_lines(family, path))
    for transcript in family.agent_transcripts() if plan.manner.agents == "files" else ():
        plan.written.append(entry_of(transcript))
        nodes = family.graph.lines[transcript.agent or ""].nodes
        places = (family.graph.nodes[uuid].place for uuid in nodes)
        yield transcript.name, b"".join(_lines_at(family, places))


def _path_lines(family: Family, path: GraphPath) -> Iterator[bytes]:
    graph = family.graph
    way = set(family.way(path))
    beside: dict[str | None, list[Place]] = {}
    for loose in graph.loose:
        if loose.line in way or (loose.line is None and loose.after is None):
            beside.setdefault(loose.after, []).append(loose.place)
    nodes = uuids(graph, path) if path.leaf else ()
    yield from _lines_at(family, beside.get(None, ()))
    for uuid in nodes:
        yield from _lines_at(family, (graph.nodes[uuid].place, *beside.get(uuid, ())))


def _lines_at(family: Family, places: Iterable[Place]) -> Iterator[bytes]:
    for place in places:
        record = family.opened.record_at(place)
        if record is not None:
            yield record.raw.rstrip(b"\r\n") + b"\n"


def _page_files(plan: ExportPlan) -> Iterator[File]:
    from plait.archive.export.site import FOLDER, Site

    is_active = plan.branches == "active"
    site = Site(plan.pricing, plan.page_depth, plan.manner.has_thinking, is_active, plan.is_single)
    for family in plan.families():
        yield from site.family_files(family)
        for number, path in family.chosen:
            entry = entry_of(family.transcript(number, path))
            plan.written.append(replace(entry, name=f"{FOLDER}/{family.pages[path.session]}"))
    yield from site.first_page(plan.coverage.in_words())


EXPORTERS: dict[str, Exporter] = {
    "md": _markdown_files,
    "html": _page_files,
    "txt": _plain_files,
    "json": _json_files,
    "jsonl": _record_files,
}


def manifest_of(plan: ExportPlan, format_: str, sizes: dict[str, int]) -> dict[str, Any]:
    """Returns what an export holds."""
    from importlib.metadata import version

    sessions: dict[tuple[str | None, str], dict[str, Any]] = {}
    for entry in plan.written:
        facts = {"session": entry.session, "project": entry.project, "title": entry.title}
        known = sessions.setdefault((entry.project, entry.session), {**facts, "transcripts": []})
        file = f"{COMBINED if plan.is_combined else entry.name}.{format_}"
        told = {name: getattr(entry, name) for name in TOLD}
        known["transcripts"].append({"file": file, "bytes": sizes.get(file), **told})
    return {
        "format": EXPORT_FORMAT,
        "plait": version("plait"),
        "transcript_format": FORMAT if format_ == "json" else format_,
        "is_redacted": plan.redactor is not None,
        "options": {
            "format": format_,
            "branches": plan.branches,
            "is_combined": plan.is_combined,
            **msgspec.to_builtins(plan.manner),
        },
        "counts": {
            "sessions": plan.coverage.sessions,
            **{f"sessions_{name}": count for name, count in plan.coverage._asdict().items()},
            "transcripts": len(plan.written),
            "messages": sum(entry.messages for entry in plan.written),
            "files": len(sizes),
            "bytes": sum(sizes.values()),
        },
        "files": sizes,
        "copies": plan.copies,
        "sessions": list(sessions.values()),
    }


TOLD = (
    "path of status fork_point agent started ended messages compactions turns calls agents "
    "tokens cost_usd".split()
)


def _report_of(plan: ExportPlan) -> dict[str, Any]:
    """Returns what was redacted and where, never the values themselves."""
    report = plan.redactor.report if plan.redactor else None
    found = list(report.found.values()) if report else []
    return {
        "count": sum(one.count for one in found),
        "kinds": report.kinds if report else {},
        "records_changed": plan.redaction.changed if plan.redaction else 0,
        "looked_for": {} if report is None else report.looked_for,
        "not_recognised": () if report is None else report.not_recognised,
        "found": [msgspec.to_builtins(one) for one in found],
    }


def _as_json(value: object) -> bytes:
    try:
        return msgspec.json.format(msgspec.json.encode(value), indent=2) + b"\n"
    except UnicodeEncodeError:
        return json.dumps(value, indent=2).encode() + b"\n"


def in_bytes(text: str) -> bytes:
    """Returns a text as it is written to a file."""
    return text.encode("utf-8", "replace")
