"""Sessions to files to keep and share: transcripts in any format, an index, a manifest, a report.

An exporter takes a plan and yields files, a relative path and the bytes of each. Sessions are
read one family after the other, so memory is bounded by the largest of them. Everything goes
through the redactor before a word of it is looked at, unless the plan has none.
"""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import msgspec

from plait import __version__
from plait.archive.export.drawing import Drawer, Drawing
from plait.archive.export.formats import (
    EXPORTERS,
    Branches,
    File,
    Form,
    Told,
    ending_of,
    graph_of,
    in_bytes,
    last_files,
    plain_text,
    records_of,
    trajectory_of,
    transcripts_of,
)
from plait.archive.export.transcripts import Family, Names
from plait.archive.families import families
from plait.archive.model import Members, Session
from plait.archive.open_session import OpenSession, opened_together
from plait.conversation.totals import Pricing
from plait.conversation.walk import Depth
from plait.errors import UserError
from plait.view.passages.stream import Manner
from plait.view.transcript.coverage import Coverage
from plait.view.transcript.heading import Entry, Transcript, entry_of
from plait.view.transcript.json_form import FORMAT, encoded, json_of
from plait.view.transcript.markdown import markdown_of, text_of

if TYPE_CHECKING:
    from plait.archive.export.earlier import Earlier
    from plait.archive.redaction import Redaction
    from plait.redact import Redactor

MANIFEST, REPORT, COMBINED = "manifest.json", "redaction-report.json", "transcripts"
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
    page_depth: Depth | None = None
    """How much pages show; None shows everything, what is long folded and cut."""
    is_single: bool = False
    """Whether each page holds all that it needs."""
    told: Told = field(default_factory=Told)
    """What was told so far."""
    sizes: dict[str, int] = field(default_factory=dict)
    """The files that were made so far, or are as they were made before."""
    earlier: "Earlier | None" = None
    """What lies there already, and can stay where it has not changed."""
    names: Names = field(default_factory=Names)
    changed: int = 0
    """Records that were redacted so far."""
    _held: OpenSession | None = None

    @property
    def written(self) -> list[Entry]:
        """The transcripts that were made so far."""
        return self.told.entries

    @property
    def coverage(self) -> Coverage:
        """How the sessions that were read so far are told."""
        return self.told.coverage

    def form(self, format_: str) -> Form:
        """Returns how all families are told."""
        depth, is_single = self.page_depth, self.is_single
        return Form(format_, self.manner, self.branches, depth, is_single, self.pricing)

    @cached_property
    def redaction(self) -> "Redaction | None":
        """What everything goes through before a word of it is looked at."""
        from plait.archive.redaction import Redaction

        return Redaction(self.redactor) if self.redactor else None

    def learn(self) -> None:
        """Lets the redactor see everything first: what one place tells is hidden in all."""
        if self.redactor:
            self.drawer("md", [self.sessions]).learn()

    def drawer(self, format_: str, families: list[Members]) -> Drawer:
        """Returns what draws families; one session is held, so that it is read once."""
        if self.redactor and len(self.sessions) == 1:
            self._held = opened_together(self.sessions)
        return Drawer(self.form(format_), families, self.redactor, held=self._held)

    def families(self) -> Iterator[Family]:
        """Yields sessions that share records together, read and redacted."""
        for members in families(self.sessions):
            found = self._opened(members)
            is_active = self.branches == "active"
            family = Family(found, self.private, self.names, self.pricing, is_active)
            self.told.count(family)
            yield family

    def _opened(self, members: Members) -> OpenSession:
        if self._held and self.redaction:
            return self._held.passed_through(self.redaction)
        return opened_together(members, self.redaction)

    def transcripts(self) -> Iterator[Transcript]:
        """Yields all transcripts, one by one, and remembers what each was about."""
        for family in self.families():
            yield from transcripts_of(family, self.manner, self.told)

    def is_as_it_was(self, earlier: "Earlier") -> bool:
        """Tells whether nothing has changed, and takes what was made then for what is there."""
        drawings = earlier.unchanged()
        for drawing in drawings or ():
            self.take(drawing)
            if self.redactor and drawing.outcome:
                self.redactor.absorb(drawing.outcome)
        if drawings is not None:
            self.sizes |= {name: earlier.size(name) for name in earlier.rest if name != MANIFEST}
        return drawings is not None

    def take(self, drawing: Drawing) -> None:
        """Adds what was made of a family."""
        self.told.add(drawing.told)
        self.sizes.update(drawing.sizes)
        self.changed += drawing.changed

    def private(self, text: str) -> str:
        """Returns the name of a file without what should not be shared."""
        return self.redaction.name(text) if self.redaction else text


def redacted(sessions: tuple[Session, ...], pricing: Pricing) -> ExportPlan:
    """Returns a plan by which nothing leaves that is secret."""
    from plait.redact import Redactor

    return ExportPlan(sessions, redactor=Redactor(), pricing=pricing)


def export(
    plan: ExportPlan, format_: str, jobs: int = 1, losses: list[str] | None = None
) -> Iterator[File]:
    """Yields all files of an export, the manifest last: without it an export is not whole.

    Several processes draw where there is much to draw; what is said of those that died is added
    to the losses.
    """
    if format_ not in EXPORTERS:
        raise UserError(f"there is no format '{format_}'", f"there are {', '.join(EXPORTERS)}")
    return _files(plan, format_, jobs, [] if losses is None else losses)


def _files(plan: ExportPlan, format_: str, jobs: int, losses: list[str]) -> Iterator[File]:
    form = plan.form(format_)
    if plan.is_combined or (plan.redactor and plan.redactor.has_own_rules):
        plan.earlier = None  # all hangs together
    if plan.earlier:
        plan.earlier.begin(form, plan.redactor, plan.sessions)
        if plan.is_as_it_was(plan.earlier):
            return
    if plan.is_combined and format_ != "html":
        plan.learn()
        yield from _counted(plan, _combined_file(plan, form))
    else:
        yield from _drawn(plan, form, jobs, losses)
        lists = last_files(form, plan.told, is_redacted=plan.redactor is not None)
        yield from _counted(plan, lists)
    if plan.redactor:
        yield from _counted(plan, [(REPORT, _as_json(_report_of(plan)))])
    yield MANIFEST, _as_json(manifest_of(plan, format_, plan.sizes))
    if plan.earlier:
        plan.earlier.rest.append(MANIFEST)


def _counted(plan: ExportPlan, files: Iterable[File]) -> Iterator[File]:
    for name, data in files:
        plan.sizes[name] = len(data)
        if plan.earlier:
            plan.earlier.rest.append(name)
        yield name, data


def _drawn(plan: ExportPlan, form: Form, jobs: int, losses: list[str]) -> Iterator[File]:
    """Yields the files of all families, in their order."""
    drawer = plan.drawer(form.format, [*families(plan.sessions)])
    drawer.jobs, drawer.losses = jobs, losses
    with drawer.working():
        drawer.learn()
        marks = [_mark(plan, drawer, members) for members in drawer.families]
        stay = [plan.earlier.stays(mark) if plan.earlier else None for mark in marks]
        to_draw = drawer.draw([number for number, one in enumerate(stay) if one is None])
        for number, mark in enumerate(marks):
            drawing, is_there = stay[number] or Drawing(), stay[number] is not None
            if not is_there:
                yield from next(to_draw)(drawing)
            elif not drawer.accept(drawing):
                drawing = Drawing()
                yield from drawer.here(number, drawing)
            plan.take(drawing)
            if plan.earlier:
                plan.earlier.note(mark, drawing)


def _mark(plan: ExportPlan, drawer: Drawer, members: Members) -> str:
    """Returns what a family is known by, "" where nothing can stay."""
    return plan.earlier.mark(members, drawer.learnt) if plan.earlier else ""


def _combined_file(plan: ExportPlan, form: Form) -> Iterator[File]:
    """Yields the one file that holds everything."""
    data = {
        "md": _joined_markdown,
        "json": _joined_json,
        "jsonl": _joined_records,
        "atif": _joined_trajectories,
        "toolpath": _joined_graphs,
    }
    text = data.get(form.format, _joined_text)(plan, form.manner)
    yield f"{COMBINED}.{ending_of(form.format)}", text


def _joined_markdown(plan: ExportPlan, manner: Manner) -> bytes:
    used: set[str] = set()
    parts = [text_of(markdown_of(one, manner, used)) for one in plan.transcripts()]
    return in_bytes("\n---\n\n".join(parts))


def _joined_text(plan: ExportPlan, manner: Manner) -> bytes:
    return in_bytes("\n\n".join(plain_text(one, manner) for one in plan.transcripts()))


def _joined_json(plan: ExportPlan, manner: Manner) -> bytes:
    return b"[" + b",\n".join(json_of(one, manner) for one in plan.transcripts()) + b"]\n"


def _joined_trajectories(plan: ExportPlan, manner: Manner) -> bytes:
    """Returns all trajectories as a list; one alone as it is, for who reads a trajectory."""
    found = [
        data.rstrip()
        for one in plan.transcripts()
        for _, data in trajectory_of(one, manner, plan.pricing, plan.told)
    ]
    return found[0] + b"\n" if len(found) == 1 else b"[" + b",\n".join(found) + b"]\n"


def _joined_graphs(plan: ExportPlan, manner: Manner) -> bytes:
    from plait.view.interchange.toolpath import Graph, joined

    taken: set[str] = set()
    found: list[Graph] = []
    for family in plan.families():
        plan.told.entries += [entry_of(one) for one in family.transcripts()]
        found.append(graph_of(family, manner, plan.pricing, plan.told, "", taken))
    return encoded(joined(found, COMBINED)) + b"\n"


def _joined_records(plan: ExportPlan, manner: Manner) -> bytes:
    found = (records_of(family, manner, plan.told) for family in plan.families())
    return b"".join(data for files in found for _, data in files)


def manifest_of(plan: ExportPlan, format_: str, sizes: dict[str, int]) -> dict[str, Any]:
    """Returns what an export holds."""
    sessions: dict[tuple[str | None, str], dict[str, Any]] = {}
    for entry in plan.written:
        facts = {"session": entry.session, "project": entry.project, "title": entry.title}
        known = sessions.setdefault((entry.project, entry.session), {**facts, "transcripts": []})
        file = f"{COMBINED if plan.is_combined else entry.name}.{ending_of(format_)}"
        told = {name: getattr(entry, name) for name in TOLD}
        known["transcripts"].append({"file": file, "bytes": sizes.get(file), **told})
    return {
        "format": EXPORT_FORMAT,
        "plait": __version__,
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
        "copies": plan.told.copies,
        "left_out": dict(plan.told.left_out),
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
        "records_changed": plan.changed + (plan.redaction.changed if plan.redaction else 0),
        "looked_for": {} if report is None else report.looked_for,
        "not_recognised": () if report is None else report.not_recognised,
        "found": [msgspec.to_builtins(one) for one in found],
    }


def _as_json(value: object) -> bytes:
    try:
        return msgspec.json.format(msgspec.json.encode(value), indent=2) + b"\n"
    except UnicodeEncodeError:
        return json.dumps(value, indent=2).encode() + b"\n"
