"""Exports: families of sessions as files to keep and share, in one process or several.

An exporter takes a plan and yields files, each a relative path and its bytes. Sessions are read one
family after the other, so that memory is bounded by the largest of them. With a redactor,
everything passes through it.

Each family is rendered by itself: with file names of its own, and through a copy of the redactor.
Conflicts between two families are found when it is the turn of the second, which is then rendered
again, after the first. So the bytes are the same whatever the number of processes.
"""

import json
import os
import pickle
import time
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from hashlib import blake2b
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import msgspec

from plait import __version__
from plait.conversation.costs import Pricing
from plait.conversation.prices import Prices
from plait.conversation.usage import Tokens
from plait.conversation.walk import Depth
from plait.errors import UserError
from plait.export.formats import (
    EXPORTERS,
    Branches,
    ExportForm,
    ExportSummary,
    File,
    build_family_graph,
    encode_text,
    get_file_ending,
    iter_record_files,
    iter_trajectory_files,
    iter_transcripts,
    render_listing_files,
    render_plain_text,
)
from plait.export.transcripts import Family, Names
from plait.graph.model import OtherSummary
from plait.line import FileStamp, read_file_stamp
from plait.line.workers import Workers
from plait.redact.model import Found
from plait.redact.stand_ins import CheckOutcome, Lesson
from plait.sessions.families import group_families
from plait.sessions.model import Session, SessionFamily
from plait.sessions.open_session import OpenSession, open_sessions
from plait.sessions.redaction import (
    Redaction,
    SharedRedactor,
    iter_lessons,
    learn_family,
    load_twin,
)
from plait.sessions.worker_pool import count_bytes, detach, is_picklable
from plait.view.passages import RenderOptions
from plait.view.transcript.heading import Coverage, IndexEntry, Transcript, create_index_entry
from plait.view.transcript.json_form import FORMAT, encode_json, encode_transcript
from plait.view.transcript.markdown import iter_markdown, join_blocks

if TYPE_CHECKING:
    from plait.redact import Redactor


PARALLEL_BYTES = 4_000_000
"""Size of logs from which several processes are faster."""


@dataclass
class RenderedFamily:
    """The files of one family, and what is known of them."""

    summary: ExportSummary = field(default_factory=ExportSummary)
    sizes: dict[str, int] = field(default_factory=dict)
    """Of its files."""
    names: list[str] = field(default_factory=list)
    """File names that no other family may use."""
    changed: int = 0
    """Records that were redacted."""
    outcome: CheckOutcome | None = None
    is_independent: bool = True
    """Whether its files depend on the family only."""
    is_dated: bool = False
    """Whether its files depend on the day."""

    def add_file(self, name: str, data: bytes) -> File:
        """Add a file of the family and return it."""
        self.sizes[name] = len(data)
        return name, data


@dataclass
class _Prices:
    """Prices, and whether the day mattered."""

    pricing: Pricing
    is_dated: bool = False

    def cost(self, model: str | None, tokens: Tokens, when: datetime | None) -> float | None:
        self.is_dated = self.is_dated or when is None
        return self.pricing.cost(model, tokens, when)


def render_family(
    form: ExportForm,
    members: SessionFamily,
    rendered: RenderedFamily,
    used_names: set[str],
    redactor: "Redactor | None" = None,
    held: OpenSession | None = None,
) -> Iterator[File]:
    """Yield the files of a family; `rendered` is complete once all were consumed."""
    redaction = Redaction(redactor) if redactor else None
    opened = (
        held.redact(redaction)
        if held and redaction
        else open_sessions(members, redaction, form.summaries)
    )
    prices = _Prices(form.pricing) if form.pricing else None
    names = Names(used_names)
    private = redaction.redact_name if redaction else str
    family = Family(opened, private, names, prices, form.branches == "active")
    rendered.summary.count(family)
    for name, data in EXPORTERS[form.format](
        form._replace(pricing=prices), family, rendered.summary
    ):
        yield rendered.add_file(name, data)
    rendered.names = list(names.used)
    rendered.is_dated = prices is not None and prices.is_dated
    rendered.is_independent = not (names.is_crowded or rendered.is_dated)
    if redaction and redactor:
        rendered.changed, rendered.outcome = redaction.changed, redactor.outcome
        rendered.is_independent = rendered.is_independent and not rendered.outcome.unsettled


@dataclass
class FamilyRenderer:
    """Renders families, with several processes where that is faster."""

    form: ExportForm
    families: Sequence[SessionFamily]
    redactor: "Redactor | None" = None
    jobs: int = 1
    failures: list[str] = field(default_factory=list)
    opened: OpenSession | None = None
    """The only session, if it was opened already."""
    used_names: set[str] = field(default_factory=set)
    _workers: Workers | None = None

    @cached_property
    def shared(self) -> SharedRedactor | None:
        """The redactor that all families share."""
        if self.redactor is None:
            return None

        return SharedRedactor(self.redactor)

    @property
    def learnt_digest(self) -> bytes:
        """A digest of everything that the redactor has learnt."""
        return self.shared.learnt if self.shared else b""

    @contextmanager
    def with_workers(self) -> "Iterator[FamilyRenderer]":
        """Return itself, and end its processes afterwards."""
        with ExitStack() as self._stack:
            yield self
        self._workers = None

    def _get_workers(self, numbers: Sequence[int]) -> Workers | None:
        """Return processes for some families, or None where one process is faster."""
        size = sum(count_bytes(self.families[number]) for number in numbers)
        if self.jobs == 1 or len(numbers) < 2 or size < PARALLEL_BYTES:
            return None
        if (self.redactor and self.redactor.has_own_rules) or not is_picklable(self.form):
            return None
        if self._workers is None:
            found = Workers(min(self.jobs, len(numbers)), self.failures)
            self._workers = self._stack.enter_context(found)
        return self._workers

    def learn(self) -> None:
        """Let the redactor see everything first: a secret found in one place is hidden in all."""
        if self.redactor is None or self.shared is None:
            return
        if self.redactor.has_own_rules:
            Redaction(self.redactor).learn(
                member for members in self.families for member in members
            )
            return
        self.shared.learn(self._iter_lessons())

    def _iter_lessons(self) -> Iterator[Lesson]:

        assert self.redactor
        if self.opened:
            yield learn_family(self.redactor.apprentice(), self.families[0], self.opened)
            return
        workers = self._get_workers(range(len(self.families)))
        yield from iter_lessons(self.redactor, self.families, workers)

    def render(
        self, numbers: Sequence[int]
    ) -> "Iterator[Callable[[RenderedFamily], Iterator[File]]]":
        """Yield for each family a function that yields its files."""
        workers = self._get_workers(numbers)
        if workers is None:
            for number in numbers:
                yield lambda rendered, number=number: self.render_here(number, rendered)  # type: ignore[misc]
            return
        known = self.shared.packed() if self.shared else None
        items = [self._item(number, known) for number in numbers]
        sizes = [count_bytes(self.families[number]) for number in numbers]
        results = workers.map(f"{__name__}:render_family_in_worker", items, sizes)
        for number, data in zip(numbers, results, strict=True):
            found: tuple[RenderedFamily, list[File]] = pickle.loads(data)  # noqa: S301  as above
            yield lambda rendered, number=number, found=found: self._use_result(
                number, found, rendered
            )  # type: ignore[misc]

    def _item(self, number: int, known: bytes | None) -> tuple[Any, ...]:
        members = self.families[number]
        lesson = self.shared.lesson(number) if self.shared else None
        return str(members[0].path), self.form, detach(members), known, lesson

    def render_here(self, number: int, rendered: RenderedFamily) -> Iterator[File]:
        """Yield the files of a family, rendered in this process."""
        through = self.redactor
        if self.shared and through and not through.has_own_rules:
            through = self.shared.twin(number)
        members = self.families[number]
        yield from render_family(
            self.form, members, rendered, self.used_names, through, self.opened
        )
        if through is self.redactor:
            rendered.outcome, rendered.is_independent = (
                None,
                rendered.is_independent and through is None,
            )
        self.merge_result(rendered)

    def _use_result(
        self, number: int, found: tuple[RenderedFamily, list[File]], rendered: RenderedFamily
    ) -> Iterator[File]:
        """Yield what another process rendered, or render it again if it conflicts."""
        result, files = found
        if not self.merge_result(result):
            yield from self.render_here(number, rendered)
            return
        rendered.__dict__.update(result.__dict__)
        yield from files

    def merge_result(self, result: RenderedFamily) -> bool:
        """Accept files that were rendered independently; return False if a name is taken."""
        if not self.used_names.isdisjoint(result.names):
            return False
        if self.redactor and result.outcome and not self.redactor.absorb(result.outcome):
            return False
        self.used_names.update(result.names)
        return True


def render_family_in_worker(
    item: tuple[str, ExportForm, SessionFamily, bytes | None, Lesson | None],
) -> bytes:
    """Render a family in a worker process."""
    _, form, members, known, lesson = item
    twin = None
    if known:
        twin = load_twin(known, lesson)
    rendered = RenderedFamily()
    files = list(render_family(form, members, rendered, set(), twin))
    return pickle.dumps((rendered, files), pickle.HIGHEST_PROTOCOL)


STATE_FILE = ".plait-drawn"
"""The file in an export's folder that says what it was rendered from."""
SETTLED_NS = 2_000_000_000
"""Age from which a source's times show whether it changes again."""
StampOf: TypeAlias = Callable[[str], FileStamp | None]
"""Returns the stamp of a file of the export."""
STATE_VERSION = 2


class _Family(msgspec.Struct, array_like=True):
    """What was rendered from one family."""

    mark: str
    files: dict[str, FileStamp]
    entries: list[IndexEntry]
    pages: msgspec.Raw
    copies: list[str]
    unspoken: list[str]
    coverage: Coverage
    names: list[str]
    changed: int
    found: msgspec.Raw
    left_out: dict[str, int]


class _State(msgspec.Struct):
    """What an export was rendered from, and its files."""

    form: int
    whole: str
    families: list[_Family]
    rest: dict[str, FileStamp]
    """The files that belong to no family."""


class _MarkedFamily(NamedTuple):
    """A family of this export with its mark."""

    mark: str
    rendered: RenderedFamily


@dataclass
class PreviousExport:
    """The export in a folder, of which unchanged families need not be rendered again.

    Each family has a mark, a keyed digest of everything that decides how it is rendered: the state
    of its sources, the form of the export, the redaction rules and what was learnt, and Plait
    itself. The key stays private, so that nobody can guess from a mark what is hidden. A source
    that was written a moment ago has no mark: it may be written again within the same tick of the
    clock.
    """

    key: bytes
    data: bytes | None
    """The state file of the last export."""
    stamp_of: StampOf
    is_fresh: bool = False
    """Whether to render everything again."""
    rest: list[str] = field(default_factory=list)
    """The files of this export that belong to no family."""
    whole: str = ""
    _form: bytes = b""
    _sources: dict[Path, bytes | None] = field(default_factory=dict)
    _state: _State | None = None
    _drawn: list[_MarkedFamily] = field(default_factory=list)
    _by_mark: dict[str, _Family] = field(default_factory=dict)

    def start(
        self, form: ExportForm, redactor: "Redactor | None", sessions: Sequence[Session]
    ) -> None:
        """Look at the sources before anything of them is read."""
        now = time.time_ns()
        prices = form.pricing
        rates = ("listed", prices.own) if isinstance(prices, Prices) else repr(prices)
        self._form = repr(
            (
                (form._replace(pricing=None), rates, time.tzname, time.timezone, _describe_plait()),
                redactor.rules if redactor else None,
            )
        ).encode()
        self._sources = {session.path: _fingerprint_session(session, now) for session in sessions}
        self.whole = self.mark(sessions, b"") if sessions else ""
        self._state = None if self.is_fresh or not self.data else _decode_state(self.data)
        families = self._state.families if self._state else []
        self._by_mark = {family.mark: family for family in families if family.mark}

    def unchanged(self) -> list[RenderedFamily] | None:
        """Return everything that was rendered, if nothing has changed at all; else None."""
        state = self._state
        if state is None or not self.whole or state.whole != self.whole:
            return None
        if not all(map(self._is_there, (state.rest, *(family.files for family in state.families)))):
            return None
        self.rest = list(state.rest)
        self._drawn = [
            _MarkedFamily(family.mark, _decode_family(family)) for family in state.families
        ]
        return [family.rendered for family in self._drawn]

    def size(self, name: str) -> int:
        """Return the size of a file that belongs to no family."""
        return self._state.rest[name].size if self._state else 0

    def find_unchanged(self, mark: str) -> RenderedFamily | None:
        """Return the files of a family, if they still exist unchanged."""
        found = self._by_mark.get(mark) if mark else None
        return _decode_family(found) if found and self._is_there(found.files) else None

    def add_family(self, mark: str, rendered: RenderedFamily) -> None:
        """Add the files of a family."""
        if rendered.is_dated:
            self.whole = ""
        self._drawn.append(_MarkedFamily(mark if rendered.is_independent else "", rendered))

    def encode_state(self) -> bytes | None:
        """Return the state of this export; None if it cannot be written."""
        stamps = {name: self.stamp_of(name) for name in self.rest}
        families: list[dict[str, Any] | list[Any] | None] = []
        for family in self._drawn:
            stamp = self.stamp_of
            rendered, summary = family.rendered, family.rendered.summary
            stamped = {name: stamp(name) for name in rendered.sizes}
            if None in stamped.values():
                families.append(None)
            else:
                found = rendered.outcome.found if rendered.outcome else ()
                families.append(
                    [
                        family.mark,
                        stamped,
                        summary.entries,
                        summary.pages,
                        summary.copies,
                        summary.unspoken,
                        summary.coverage,
                        rendered.names,
                        rendered.changed,
                        found,
                        summary.left_out,
                    ]
                )
        if None in stamps.values() or None in families:
            return None
        state = {"form": STATE_VERSION, "whole": self.whole, "families": families, "rest": stamps}
        try:
            return zlib.compress(msgspec.json.encode(state), 1)
        except (UnicodeEncodeError, ValueError):  # a lone surrogate
            return None

    def _is_there(self, files: dict[str, FileStamp]) -> bool:
        return all(self.stamp_of(name) == stamp for name, stamp in files.items())

    def mark(self, sessions: Iterable[Session], learnt: bytes) -> str:
        """Return the mark of some sessions, "" if they have none."""
        digest = blake2b(self._form, key=self.key, digest_size=16)
        digest.update(learnt)
        for session in sessions:
            source = self._sources.get(session.path)
            if source is None:
                return ""
            digest.update(source)
        return digest.hexdigest()


def _fingerprint_session(session: Session, now: int) -> bytes | None:
    """Return the state of a session's files; None if that is not reliable."""
    state: list[Any] = [session.id, session.project, session.is_kept, session.is_incomplete]
    for file in session.files:
        stamp = read_file_stamp(file.path)
        side_file = file.path.with_suffix(".meta.json")
        if file.kind == "session":
            side_file = file.folder / "custom-title.json"
        stamps = stamp, read_file_stamp(side_file)
        if any(entry and entry.changed > now - SETTLED_NS for entry in stamps):
            return None
        state.append((str(file.path), file.kind, file.project, file.session, file.agent, file.run))
        state.append([entry and tuple(entry) for entry in stamps])
    return repr(state).encode()


def _describe_plait() -> tuple[Any, ...]:
    """Return the version of Plait and the state of its files, which change during development."""
    kinds = (".py", ".js", ".css", ".json")
    files = [
        f"{folder}/{name}"
        for folder, _, names in os.walk(Path(__file__).parents[1])
        for name in names
        if name.endswith(kinds)
    ]
    comrak = find_spec("comrak")
    files += [comrak.origin] if comrak and comrak.origin else []
    return __version__, [(file, read_file_stamp(Path(file))) for file in sorted(files)]


def _decode_state(data: bytes) -> _State | None:
    try:
        state = msgspec.json.decode(zlib.decompress(data), type=_State)
    except (zlib.error, msgspec.DecodeError, ValueError, RecursionError):
        return None
    return state if state.form == STATE_VERSION else None


def _decode_family(family: _Family) -> RenderedFamily:
    pages: list[Any] = []
    if bytes(family.pages) != b"[]":
        from plait.view.page.session_rows import SiteEntry

        pages = msgspec.json.decode(family.pages, type=list[SiteEntry])
    summary = ExportSummary(
        family.entries,
        pages,
        family.copies,
        family.unspoken,
        family.coverage,
        Counter(family.left_out),
    )
    sizes = {name: stamp.size for name, stamp in family.files.items()}
    outcome = None
    if bytes(family.found) != b"[]":
        outcome = CheckOutcome(msgspec.json.decode(family.found, type=tuple[Found, ...]), ())
    return RenderedFamily(summary, sizes, family.names, family.changed, outcome, bool(family.mark))


MANIFEST, REPORT, COMBINED = "manifest.json", "redaction-report.json", "transcripts"
EXPORT_FORMAT = "plait-export/1"


@dataclass
class ExportPlan:
    """What is exported, and how; afterwards with its results."""

    sessions: tuple[Session, ...]
    manner: RenderOptions = field(default_factory=RenderOptions)
    branches: Branches = "all"
    is_combined: bool = False
    redactor: "Redactor | None" = None
    pricing: Pricing | None = None
    page_depth: Depth | None = None
    """How much pages show; None shows everything, with long texts folded and truncated."""
    is_single: bool = False
    """Whether each page contains everything that it needs."""
    summary: ExportSummary = field(default_factory=ExportSummary)
    """The results so far."""
    sizes: dict[str, int] = field(default_factory=dict)
    """The sizes of the files rendered or reused so far."""
    previous: "PreviousExport | None" = None
    """An earlier export, of which unchanged files can stay."""
    names: Names = field(default_factory=Names)
    changed: int = 0
    """Records that were redacted so far."""
    _held: OpenSession | None = None

    @property
    def entries(self) -> list[IndexEntry]:
        """The transcripts so far."""
        return self.summary.entries

    @property
    def coverage(self) -> Coverage:
        """How the sessions read so far are covered."""
        return self.summary.coverage

    def form(self, format_: str) -> ExportForm:
        """Return the form of all families."""
        depth, is_single = self.page_depth, self.is_single
        return ExportForm(
            format_, self.manner, self.branches, depth, is_single, self.pricing, self.summaries
        )

    @cached_property
    def redaction(self) -> Redaction | None:
        """The redaction that everything passes first."""

        return Redaction(self.redactor) if self.redactor else None

    @cached_property
    def summaries(self) -> tuple[OtherSummary, ...]:
        """The summaries in the folders of its sessions."""
        from plait.sessions.other_summaries import find_folder_summaries, find_other_summaries

        if len(self.sessions) == 1:  # its own are read with it
            return find_other_summaries(self.sessions)
        return find_folder_summaries(file.path for each in self.sessions for file in each.files)

    def learn(self) -> None:
        """Let the redactor see everything first: a secret found in one place is hidden in all."""
        if self.redactor:
            self.drawer("md", [self.sessions]).learn()

    def drawer(self, format_: str, families: list[SessionFamily]) -> FamilyRenderer:
        """Return a renderer of families; a single session is kept open so that it is read once."""
        if self.redactor and len(self.sessions) == 1:
            self._held = open_sessions(self.sessions, summaries=self.summaries)
        return FamilyRenderer(self.form(format_), families, self.redactor, opened=self._held)

    def families(self) -> Iterator[Family]:
        """Yield the families of sessions, read and redacted."""
        for members in group_families(self.sessions):
            found = self._open_members(members)
            is_active = self.branches == "active"
            family = Family(found, self.private, self.names, self.pricing, is_active)
            self.summary.count(family)
            yield family

    def _open_members(self, members: SessionFamily) -> OpenSession:
        if self._held and self.redaction:
            return self._held.redact(self.redaction)
        return open_sessions(members, self.redaction, self.summaries)

    def transcripts(self) -> Iterator[Transcript]:
        """Yield all transcripts, and note what each is about."""
        for family in self.families():
            yield from iter_transcripts(family, self.manner, self.summary)

    def reuse_unchanged(self, earlier: "PreviousExport") -> bool:
        """Return whether nothing has changed, in which case the earlier files are reused."""
        drawings = earlier.unchanged()
        for rendered in drawings or ():
            self.take(rendered)
            if self.redactor and rendered.outcome:
                self.redactor.absorb(rendered.outcome)
        if drawings is not None:
            self.sizes |= {name: earlier.size(name) for name in earlier.rest if name != MANIFEST}
        return drawings is not None

    def take(self, rendered: RenderedFamily) -> None:
        """Add the files of a family."""
        self.summary.add(rendered.summary)
        self.sizes.update(rendered.sizes)
        self.changed += rendered.changed

    def private(self, text: str) -> str:
        """Return the name of a file, redacted."""
        return self.redaction.redact_name(text) if self.redaction else text


def make_redacted_plan(sessions: tuple[Session, ...], pricing: Pricing) -> ExportPlan:
    """Return a plan that redacts everything."""
    from plait.redact import Redactor

    return ExportPlan(sessions, redactor=Redactor(), pricing=pricing)


def export(
    plan: ExportPlan, format_: str, jobs: int = 1, losses: list[str] | None = None
) -> Iterator[File]:
    """Yield all files of an export, the manifest last: without it an export is incomplete.

    Several processes render if there is much; messages about those that died are added to `losses`.
    """
    if format_ not in EXPORTERS:  # checked at once, not with the first file
        raise UserError(f"unknown format '{format_}'", f"the formats are {', '.join(EXPORTERS)}")
    return _files(plan, format_, jobs, [] if losses is None else losses)


def _files(plan: ExportPlan, format_: str, jobs: int, losses: list[str]) -> Iterator[File]:
    form = plan.form(format_)
    if plan.is_combined or (plan.redactor and plan.redactor.has_own_rules):
        plan.previous = None  # everything is one family
    if plan.previous:
        plan.previous.start(form, plan.redactor, plan.sessions)
        if plan.reuse_unchanged(plan.previous):
            return
    if plan.is_combined and format_ != "html":
        plan.learn()
        join = COMBINERS.get(form.format, _join_text)
        name = f"{COMBINED}.{get_file_ending(form.format)}"
        yield from _count(plan, [(name, join(plan, form.manner))])
    else:
        drawer = plan.drawer(form.format, [*group_families(plan.sessions)])
        drawer.jobs, drawer.failures = jobs, losses
        with drawer.with_workers():
            drawer.learn()
            # "" if nothing can be reused
            marks = [
                plan.previous.mark(members, drawer.learnt_digest) if plan.previous else ""
                for members in drawer.families
            ]
            stay = [plan.previous.find_unchanged(mark) if plan.previous else None for mark in marks]
            to_draw = drawer.render(
                [number for number, rendered in enumerate(stay) if rendered is None]
            )
            for number, mark in enumerate(marks):
                rendered, is_there = stay[number] or RenderedFamily(), stay[number] is not None
                if not is_there:
                    yield from next(to_draw)(rendered)
                elif not drawer.merge_result(rendered):
                    rendered = RenderedFamily()
                    yield from drawer.render_here(number, rendered)
                plan.take(rendered)
                if plan.previous:
                    plan.previous.add_family(mark, rendered)
        lists = render_listing_files(form, plan.summary, is_redacted=plan.redactor is not None)
        yield from _count(plan, lists)
    if plan.redactor:
        yield from _count(plan, [(REPORT, _as_json(_format_report(plan)))])
    yield MANIFEST, _as_json(build_manifest(plan, format_, plan.sizes))
    if plan.previous:
        plan.previous.rest.append(MANIFEST)


def _count(plan: ExportPlan, files: Iterable[File]) -> Iterator[File]:
    for name, data in files:
        plan.sizes[name] = len(data)
        if plan.previous:
            plan.previous.rest.append(name)
        yield name, data


def _join_markdown(plan: ExportPlan, manner: RenderOptions) -> bytes:
    used: set[str] = set()
    parts = [
        join_blocks(iter_markdown(transcript, manner, used)) for transcript in plan.transcripts()
    ]
    return encode_text("\n---\n\n".join(parts))


def _join_text(plan: ExportPlan, manner: RenderOptions) -> bytes:
    return encode_text(
        "\n\n".join(render_plain_text(transcript, manner) for transcript in plan.transcripts())
    )


def _join_json(plan: ExportPlan, manner: RenderOptions) -> bytes:
    return (
        b"["
        + b",\n".join(encode_transcript(transcript, manner) for transcript in plan.transcripts())
        + b"]\n"
    )


def _join_trajectories(plan: ExportPlan, manner: RenderOptions) -> bytes:
    """Return all trajectories as a list; a single one as it is, for readers of one trajectory."""
    found = [
        data.rstrip()
        for transcript in plan.transcripts()
        for _, data in iter_trajectory_files(transcript, manner, plan.pricing, plan.summary)
    ]
    return found[0] + b"\n" if len(found) == 1 else b"[" + b",\n".join(found) + b"]\n"


def _join_graphs(plan: ExportPlan, manner: RenderOptions) -> bytes:
    from plait.export.toolpath import Graph, join_graphs

    used_names: set[str] = set()
    found: list[Graph] = []
    for family in plan.families():
        plan.summary.entries += [
            create_index_entry(transcript) for transcript in family.transcripts()
        ]
        found.append(build_family_graph(family, manner, plan.pricing, plan.summary, "", used_names))
    return encode_json(join_graphs(found, COMBINED)) + b"\n"


def _join_records(plan: ExportPlan, manner: RenderOptions) -> bytes:
    found = (iter_record_files(family, manner, plan.summary) for family in plan.families())
    return b"".join(data for files in found for _, data in files)


COMBINERS: dict[str, Callable[[ExportPlan, RenderOptions], bytes]] = {
    "md": _join_markdown,
    "json": _join_json,
    "jsonl": _join_records,
    "atif": _join_trajectories,
    "toolpath": _join_graphs,
}
"""How each format combines everything in one file; plain text is the default."""


def build_manifest(plan: ExportPlan, format_: str, sizes: dict[str, int]) -> dict[str, Any]:
    """Return the contents of an export."""
    sessions: dict[tuple[str | None, str], dict[str, Any]] = {}
    for entry in plan.entries:
        facts = {"session": entry.session, "project": entry.project, "title": entry.title}
        known = sessions.setdefault((entry.project, entry.session), {**facts, "transcripts": []})
        if entry.status == "ACTIVE":  # an abandoned branch may have a summary of its own
            known["title"] = entry.title
        file = f"{COMBINED if plan.is_combined else entry.name}.{get_file_ending(format_)}"
        facts = {name: getattr(entry, name) for name in REPORT_TITLE}
        known["transcripts"].append({"file": file, "bytes": sizes.get(file), **facts})
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
            "transcripts": len(plan.entries),
            "messages": sum(entry.messages for entry in plan.entries),
            "files": len(sizes),
            "bytes": sum(sizes.values()),
        },
        "files": sizes,
        "copies": plan.summary.copies,
        "left_out": dict(plan.summary.left_out),
        "sessions": list(sessions.values()),
    }


REPORT_TITLE = (
    "path of status fork_point agent started ended messages compactions turns calls agents "
    "tokens cost_usd".split()
)


def _format_report(plan: ExportPlan) -> dict[str, Any]:
    """Return what was redacted and where, without the values."""
    report = plan.redactor.report if plan.redactor else None
    found = list(report.found.values()) if report else []
    return {
        "count": sum(secret.count for secret in found),
        "kinds": report.kinds if report else {},
        "records_changed": plan.changed + (plan.redaction.changed if plan.redaction else 0),
        "looked_for": {} if report is None else report.looked_for,
        "not_recognised": () if report is None else report.not_recognised,
        "found": [msgspec.to_builtins(secret) for secret in found],
    }


def _as_json(value: object) -> bytes:
    try:
        return msgspec.json.format(msgspec.json.encode(value), indent=2) + b"\n"
    except UnicodeEncodeError:
        return json.dumps(value, indent=2).encode() + b"\n"
