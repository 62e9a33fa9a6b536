"""Building a lake: which sessions are new or have changed, and having them read by workers.

    inputs ─→ what each shares with others ─→ families ─→ rows ─→ commit, every few chunks

Sessions that share records (forks, resumed copies) are a family: they are read together, so that
what several of them hold is counted once. A family is built again when its fingerprint is not the
one in the lake. A run can be interrupted anywhere: what was committed is there, complete sessions
at a time, and the next run continues. Where nothing has changed since a run without failures, no
file is opened.

Sessions that are gone still belong to their family: they cannot be read any more, so sessions that
share records with them stay as they are rather than be counted twice.
"""

from array import array
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import blake2b
from importlib.metadata import version
from pathlib import Path
from secrets import randbits
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import pyarrow as pa
import pyarrow.compute as pc

from plait.conversation.prices import Prices
from plait.conversation.prices.table import PriceFile
from plait.errors import SourceError, UserError
from plait.lake.engine import Engine, Failure, try_task
from plait.lake.profiles import ID, Unit, mask_id
from plait.lake.rows import build_tables
from plait.lake.schema import VERSION, Labels, Profile
from plait.lake.sources import RemoteFiles, RemoteFolder, SessionInput, fetch_unit, list_inputs
from plait.lake.store import Lake, Rows, WrittenFiles
from plait.line import LogFile
from plait.line.files import SourceSetup, list_sources, make_read_error, read_status
from plait.line.worker import resolve_function
from plait.redact.rules import Rules
from plait.sessions.details import collect_references, read_facts
from plait.sessions.families import group_by_pairs, sort_by_start
from plait.sessions.model import ProgressCallback

if TYPE_CHECKING:
    from plait.archive.archive import Archive

T = TypeVar("T")

COMMIT_BYTES = 128_000_000
"""Bytes of logs between two commits: this much must be read again after a crash."""
CHUNK_BYTES = 32_000_000
MIN_CHUNK_BYTES = 8_000_000
MIN_CHUNKS = 16
"""The number of chunks that little data is divided into, so that all workers stay busy."""
CHUNK_JOBS = 500
BUILD_BITS = 63
ALL_SESSIONS = ""
"""Represents the state of everything among the links of sessions; no session has this id."""
GONE_REASON = "it shares records with deleted sessions: `--prune` builds it without those sessions"


# Options and results


@dataclass(frozen=True)
class BuildOptions:
    """What rows depend on besides the files of the sessions."""

    labels: Labels
    profile: Profile = "full"
    prices: Prices = field(default_factory=Prices)
    key: bytes = field(default=b"", repr=False)
    """The key of pseudonyms in counts, and of digests of sessions wherever names are hidden."""
    rules: Rules | None = None
    """What else to redact, if sessions are redacted."""

    def __post_init__(self) -> None:
        if hides_names(self.profile) and not self.key:
            raise UserError(
                f"a lake with the profile '{self.profile}' needs a key",
                "without a key, anyone could find out names by guessing",
            )

    @cached_property
    def fingerprint(self) -> str:
        """A digest of everything that rows depend on besides files."""
        own = (self.profile, self.labels, self.prices.list_digest, self.rules, self.digest("key"))
        return compute_fingerprint(VERSION, version("plait"), *own)

    def digest(self, text: str) -> str:
        """Return a digest of a name; without the key, nobody can try which name it is."""
        secret = blake2b(self.key, digest_size=32).digest() if self.key else b""
        data = text.encode("utf-8", "surrogatepass")
        return blake2b(data, digest_size=8, key=secret).hexdigest()

    def public_id(self, session: str) -> str:
        """Return the id of a session as rows have it."""
        return mask_id(self.key, session) if self.profile == "counts" else session

    def can_identify(self, session: str) -> bool:
        """Return whether an id in the lake tells its session: names may be redacted."""
        return self.profile != "redacted" or ID.fullmatch(session) is not None


def hides_names(profile: Profile) -> bool:
    """Return whether names are replaced in a lake with this profile."""
    return profile != "full"


def compute_fingerprint(*values: object) -> str:
    """Return a digest of some values."""
    text = repr(values).encode("utf-8", "surrogatepass")
    return blake2b(text, digest_size=16).hexdigest()


class FailedSession(NamedTuple):
    """A session that could not be built, and why; its earlier rows stay in the lake."""

    session: str
    path: str
    why: str


@dataclass
class BuildResult:
    """What a build did."""

    seen: int = 0
    """Sessions found."""
    unchanged: int = 0
    built: int = 0
    bytes: int = 0
    """Size of the logs of the sessions that were built."""
    written: int = 0
    """Bytes written for them."""
    gone: int = 0
    """Sessions in the lake that no longer exist."""
    pruned: int = 0
    """Those of them that were removed."""
    failed: list[FailedSession] = field(default_factory=list)


# What sessions share: the links that make families


def build_link_rows(source: str, links: "Iterable[tuple[str, str, array[int]]]") -> Rows:
    """Return rows of what sessions share: a name, a state and digests of all records each."""
    links = list(links)
    ends = array("i", [0])
    values = array("q")
    for _, _, digests in links:
        values.extend(digests)
        ends.append(len(values))
    flat = pa.Array.from_buffers(pa.int64(), len(values), [None, pa.py_buffer(values)])
    return pa.table(
        {
            "source": pa.array([source] * len(links), pa.string()),
            "session": pa.array([name for name, _, _ in links], pa.string()),
            "fingerprint": pa.array([state for _, state, _ in links], pa.string()),
            "ties": pa.ListArray.from_arrays(pa.array(ends, pa.int32()), flat),
        }
    )


def find_families(links: Rows) -> list[tuple[int, ...]]:
    """Return the positions of rows that share something, directly or through others.

    The same as `find_sharing_pairs` and `group_by_pairs`, for millions of digests at once.
    """
    ties = links["ties"].combine_chunks()
    owners = pc.list_parent_indices(ties).cast(pa.int64())
    rows = pa.table({"tie": pc.list_flatten(ties), "of": owners})
    bounds = rows.group_by("tie").aggregate([("of", "min"), ("of", "max")])
    shared = bounds.filter(pc.not_equal(bounds["of_min"], bounds["of_max"]))
    joined = rows.join(shared.select(["tie", "of_min"]), "tie", join_type="inner")
    pairs = joined.group_by(["of", "of_min"]).aggregate([])
    return group_by_pairs(
        range(links.num_rows),
        zip(pairs["of"].to_pylist(), pairs["of_min"].to_pylist(), strict=True),
    )


# Workers: a function each, whose result is small because rows are written where they are made


@dataclass(frozen=True, slots=True)
class Job:
    """Sessions that are read together, by their numbers, with all their files."""

    numbers: tuple[int, ...]
    unit: Unit
    files: tuple[Path, ...]

    @property
    def size(self) -> int:
        """The size of all log files in bytes."""
        return self.unit.size


@dataclass(frozen=True, slots=True)
class WorkerResources:
    """What workers need besides a job."""

    lake: Lake
    own_prices: PriceFile | None = None
    remotes: tuple[RemoteFiles, ...] = field(default=(), repr=False)
    """Where files are fetched from that are not on this machine."""
    kept_sources: tuple[SourceSetup, ...] = ()
    """Where files of kept sessions are restored from."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """Jobs for one worker in one go."""

    jobs: tuple[Job, ...]
    resources: WorkerResources

    @property
    def size(self) -> int:
        """The size of all log files in bytes."""
        return sum(job.size for job in self.jobs)

    def __str__(self) -> str:
        return str(self.jobs[0].unit.sessions[0].path)


class FailedSessions(NamedTuple):
    """Sessions that could not be read, by their numbers."""

    numbers: tuple[int, ...]
    reason: str


class LinksRead(NamedTuple):
    """What sessions share with others, by their numbers."""

    links: "tuple[tuple[int, array[int]], ...]"
    failed: tuple[FailedSessions, ...]
    size: int


class RowsWritten(NamedTuple):
    """The files that were written, and for which sessions."""

    written: WrittenFiles | None
    numbers: tuple[int, ...]
    failed: tuple[FailedSessions, ...]
    size: int


def read_links(chunk: Chunk) -> LinksRead:
    """Read what each session of a chunk refers to, as digests."""

    def read(job: Job) -> "array[int]":
        with fetch_unit(job.unit, job.files, chunk.resources.remotes) as unit:
            unit = _check_files(unit)
            digests = collect_references(*read_facts(unit.sessions[0]))
        if not unit.key:
            return digests
        # Plain digests of ids could be guessed by trying ids.
        secret = blake2b(unit.key, digest_size=32).digest()
        return array(
            "q",
            (
                int.from_bytes(
                    blake2b(
                        digest.to_bytes(8, "little", signed=True), digest_size=8, key=secret
                    ).digest(),
                    "little",
                    signed=True,
                )
                for digest in digests
            ),
        )

    links: list[tuple[int, array[int]]] = []
    failed: list[FailedSessions] = []
    _register_kept_sources(chunk)
    for job in chunk.jobs:
        digests = try_task(read, job)
        if isinstance(digests, Failure):
            failed.append(FailedSessions(job.numbers, digests.reason))
        else:
            links.append((job.numbers[0], digests))
    return LinksRead(tuple(links), tuple(failed), chunk.size)


def write_rows_of_sessions(chunk: Chunk) -> RowsWritten:
    """Write the rows of a chunk's sessions to the lake, where nobody sees them yet."""
    prices = Prices(chunk.resources.own_prices)

    def read(job: Job) -> dict[str, pa.Table]:
        with fetch_unit(job.unit, job.files, chunk.resources.remotes) as unit:
            unit = _check_files(unit)
            unit = replace(unit, sessions=tuple(sort_by_start(unit.sessions)))
            tables = build_tables(unit, prices)
            _check_files(unit)
        return tables

    parts: dict[str, list[pa.Table]] = {}
    numbers: list[int] = []
    failed: list[FailedSessions] = []
    _register_kept_sources(chunk)
    for job in chunk.jobs:
        tables = try_task(read, job)
        if isinstance(tables, Failure):
            failed.append(FailedSessions(job.numbers, tables.reason))
            continue
        numbers += job.numbers
        for name, table in tables.items():
            parts.setdefault(name, []).append(table)
    written = None
    if numbers:
        written = chunk.resources.lake.write(
            {name: pa.concat_tables(tables) for name, tables in parts.items()}
        )
    return RowsWritten(written, tuple(numbers), tuple(failed), chunk.size)


def _register_kept_sources(chunk: Chunk) -> None:
    """Make kept sessions readable in this process."""
    for setup in chunk.resources.kept_sources:
        if setup not in list_sources():
            resolve_function(setup[0])(setup[1])


def _check_files(unit: Unit) -> Unit:
    """Refuse sessions whose files are gone or shorter than when they were found.

    What was added since is left for the next build. Translations of other agents' logs are as long
    as they are: until then the sizes of their sources stand for theirs.
    """

    def check(file: LogFile) -> LogFile:
        try:
            size = read_status(file.path).st_size
        except OSError as error:
            raise make_read_error(file.path, error) from error
        if session.origin is not None:
            return replace(file, size=size)
        if size < file.size:
            raise SourceError(f"'{file.path}' was truncated while it was read")
        return file

    sessions = []
    for session in unit.sessions:
        own = session.file and check(session.file)
        agents = tuple(map(check, session.agents))
        for journal in session.journals:
            check(journal)
        sessions.append(replace(session, file=own, agents=agents) if session.origin else session)
    return replace(unit, sessions=tuple(sessions))


# Planning


class SessionInputs:
    """The sessions found, by number, and how each is identified in the lake."""

    def __init__(self, inputs: Sequence[SessionInput], options: BuildOptions) -> None:
        self.inputs = inputs
        self.options = options
        ids = [options.digest(options.public_id(entry.session.id)) for entry in inputs]
        self.ids = set(ids)
        self.names: list[str] = []
        seen = Counter[str]()
        for session_id, entry in zip(ids, inputs, strict=True):
            name = f"{session_id}-{options.digest(entry.name)}"
            self.names.append(f"{name}-{seen[name]}" if seen[name] else name)
            seen[name] += 1
        self.states = [options.digest(entry.fingerprint) for entry in inputs]
        """The states of their files; without the key nobody can try where these were."""
        self.numbers = {name: number for number, name in enumerate(self.names)}

    @cached_property
    def fingerprint(self) -> str:
        """A digest of all states, and of the options."""
        return compute_fingerprint(self.options.fingerprint, sorted(self.states))

    def is_gone(self, name: str) -> bool:
        """Return whether the session of a name no longer exists anywhere."""
        return name.partition("-")[0] not in self.ids

    def find_stale(self, names: Iterable[str], builds: Rows) -> set[str]:
        """Return names nobody needs any more: of other places, and of what was never built."""
        built_ids = {self.options.digest(session) for session in builds["session"].to_pylist()}
        return {
            name
            for name in names
            if name
            and name not in self.numbers
            and name.partition("-")[0] not in built_ids - self.ids
        }

    def find_gone(self, builds: Rows) -> list[str]:
        """Return the sessions in the lake that no longer exist."""
        present = {self.options.public_id(entry.session.id) for entry in self.inputs}
        return [
            session
            for session in builds["session"].to_pylist()
            if session not in present and self.options.can_identify(session)
        ]

    def find_unlinked(self, links: Rows) -> list[int]:
        """Return the sessions whose links are not known for the present state of their files."""
        known = dict(
            zip(links["session"].to_pylist(), links["fingerprint"].to_pylist(), strict=True)
        )
        states = zip(self.names, self.states, strict=True)
        return [number for number, (name, state) in enumerate(states) if known.get(name) != state]

    def size(self, numbers: Collection[int]) -> int:
        """Return the size of some sessions in bytes."""
        return sum(self.inputs[number].size for number in numbers)

    def make_job(self, numbers: Sequence[int], fingerprint: str = "") -> Job:
        """Return the job that reads some sessions together."""
        chosen = [self.inputs[number] for number in numbers]
        unit = Unit(
            sessions=tuple(entry.session for entry in chosen),
            builds=tuple(randbits(BUILD_BITS) for _ in chosen),
            fingerprint=fingerprint,
            labels=self.options.labels,
            profile=self.options.profile,
            roots=tuple(dict.fromkeys(root for entry in chosen for root in entry.roots)),
            key=self.options.key,
            rules=self.options.rules,
        )
        return Job(tuple(numbers), unit, tuple(path for entry in chosen for path in entry.files))


@dataclass
class BuildPlan:
    """What must be read, what need not, and what cannot."""

    jobs: list[Job] = field(default_factory=list)
    unchanged: int = 0
    refused: list[FailedSessions] = field(default_factory=list)


def plan_build(sessions: SessionInputs, links: Rows, built_states: Collection[str]) -> BuildPlan:
    """Return what to build, from the links of all sessions and the states in the lake."""
    plan = BuildPlan()
    names, states = links["session"].to_pylist(), links["fingerprint"].to_pylist()
    for family in find_families(links):
        members = [(names[position], states[position]) for position in family]
        numbers = [sessions.numbers[name] for name, _ in members if name in sessions.numbers]
        state = compute_fingerprint(sessions.options.fingerprint, sorted(members))
        if state in built_states:
            plan.unchanged += len(numbers)
        elif len(numbers) == len(family):
            plan.jobs.append(sessions.make_job(numbers, state))
        elif numbers:
            plan.refused.append(FailedSessions(tuple(numbers), GONE_REASON))
    plan.jobs.sort(key=lambda job: max(session.modified for session in job.unit.sessions))
    return plan


def split_into_chunks(jobs: Sequence[Job], resources: WorkerResources) -> Iterator[Chunk]:
    """Yield jobs in chunks of some megabytes, in order."""
    total = sum(job.size for job in jobs)
    max_size = min(max(total // MIN_CHUNKS, MIN_CHUNK_BYTES), CHUNK_BYTES)
    waiting: list[Job] = []
    size = 0
    for job in jobs:
        if waiting and (size + job.size > max_size or len(waiting) == CHUNK_JOBS):
            yield Chunk(tuple(waiting), resources)
            waiting, size = [], 0
        waiting.append(job)
        size += job.size
    if waiting:
        yield Chunk(tuple(waiting), resources)


# A run


def build(
    archive: "Archive",
    lake: Lake,
    build_options: BuildOptions,
    *,
    engine: Engine,
    folders: Sequence[RemoteFolder] = (),
    prune: bool = False,
    watch: ProgressCallback | None = None,
) -> BuildResult:
    """Bring a lake up to date with the sessions of an archive and of object stores."""
    sessions = SessionInputs(list_inputs(archive, folders), build_options)
    resources = WorkerResources(
        lake, build_options.prices.own, tuple(folder.files for folder in folders), list_sources()
    )
    run = _BuildRun(sessions, resources, engine, watch, prune)
    if prune:  # unreachable sessions must not be taken for deleted
        if unread := archive.discovery.unread:
            raise UserError(
                f"'{unread[0]}' cannot be read, so its sessions may still exist: nothing "
                "was pruned",
                "run without `--prune` to build the rest",
            )
        if run.builds.num_rows and not sessions.inputs:
            raise UserError(
                f"no sessions were found: pruning would remove everything from '{run.source}', "
                "so nothing was pruned",
                "check that the folder is right and that its disk is mounted",
            )
    return run.run()


class _BuildRun:
    """One run of a build."""

    def __init__(
        self,
        sessions: SessionInputs,
        resources: WorkerResources,
        engine: Engine,
        watch: ProgressCallback | None,
        prune: bool,
    ) -> None:
        self.sessions, self.resources, self.engine = sessions, resources, engine
        self.watch, self.prune = watch, prune
        self.lake = resources.lake
        self.source = sessions.options.labels.source
        self.result = BuildResult(seen=len(sessions.inputs))
        self.builds = self.lake.read_builds(self.source)
        self.done = self.total = 0
        """Bytes read so far, and bytes to read."""

    def run(self) -> BuildResult:
        """Do what is needed."""
        gone = self.sessions.find_gone(self.builds)
        self.result.gone = len(gone)
        states = self.lake.read_links(self.source, ("session", "fingerprint"))
        last = states.filter(pc.equal(states["session"], ALL_SESSIONS))["fingerprint"].to_pylist()
        is_up_to_date = last == [self._compute_state()]
        if is_up_to_date and not (self.prune and gone):
            self.result.unchanged = self.result.seen
            return self.result
        links, gone_names = self._update_links()
        plan = plan_build(self.sessions, links, set(self.builds["fingerprint"].to_pylist()))
        self.result.unchanged = plan.unchanged
        self._note_progress(plan.refused, 0)
        jobs = plan.jobs
        self.total = self.done + sum(job.size for job in jobs)
        waiting: list[RowsWritten] = []
        for chunk in self._run_jobs(write_rows_of_sessions, jobs):
            self._note_progress(chunk.failed, chunk.size)
            waiting.append(chunk)
            if sum(written.size for written in waiting) >= COMMIT_BYTES:
                self._commit(waiting)
                waiting = []
        self._commit(waiting)
        if self.prune:
            self._forget([*gone, *gone_names])
            self.result.pruned = len(gone)
        if not self.result.failed:
            # Inputs and lake agree: the next run need not look further than this.
            self.builds = self.lake.read_builds(self.source)
            state = (ALL_SESSIONS, self._compute_state(), array("q"))
            self.lake.save_links(build_link_rows(self.source, [state]))
        return self.result

    def _compute_state(self) -> str:
        """Return a digest of all inputs and of all that is current in the lake."""
        builds = zip(
            self.builds["session"].to_pylist(), self.builds["build"].to_pylist(), strict=True
        )
        return compute_fingerprint(self.sessions.fingerprint, sorted(builds))

    def _update_links(self) -> tuple[pa.Table, set[str]]:
        """Read the links of new sessions. Return all links, and the names of pruned sessions."""
        known = self.lake.read_links(self.source)
        names = known["session"].to_pylist()
        new = self.sessions.find_unlinked(known)
        stale = self.sessions.find_stale(names, self.builds)
        pruned = set()
        if self.prune:
            pruned = {name for name in names if name and self.sessions.is_gone(name)}
        dropped = {self.sessions.names[number] for number in new} | stale | pruned | {ALL_SESSIONS}
        self.total = 2 * self.sessions.size(new)
        tables = [known.filter(pa.array([name not in dropped for name in names], pa.bool_()))]
        waiting: list[tuple[str, str, array[int]]] = []
        waiting_size = 0

        def save() -> None:
            rows = build_link_rows(self.source, waiting)
            if waiting:
                self.lake.save_links(rows)
            tables.append(rows)

        jobs = [self.sessions.make_job([number]) for number in new]
        for chunk in self._run_jobs(read_links, jobs):
            self._note_progress(chunk.failed, chunk.size)
            waiting += [
                (self.sessions.names[number], self.sessions.states[number], digests)
                for number, digests in chunk.links
            ]
            waiting_size += chunk.size
            if waiting_size >= COMMIT_BYTES:
                save()
                waiting, waiting_size = [], 0
        save()
        self._forget(stale)
        return pa.concat_tables(tables), pruned

    def _commit(self, chunks: Sequence[RowsWritten]) -> None:
        written = [chunk.written for chunk in chunks if chunk.written]
        self.lake.commit(written)
        self.result.written += sum(files.size for files in written)
        for chunk in chunks:
            self.result.built += len(chunk.numbers)
            self.result.bytes += self.sessions.size(chunk.numbers)

    def _run_jobs(self, task: Callable[[Chunk], T], jobs: Sequence[Job]) -> Iterator[T]:
        """Yield the results of jobs. The jobs of a chunk that killed its worker are tried one by
        one, so that only the deadly ones fail.
        """
        single_jobs: list[Chunk] = []
        for chunks in (list(split_into_chunks(jobs, self.resources)), single_jobs):
            for result in self.engine.each(task, chunks) if chunks else ():
                if not isinstance(result, Failure):
                    yield result
                elif not result.killed_worker:  # the lake cannot be written to
                    raise SourceError(result.reason)
                elif len(result.item.jobs) > 1:
                    single_jobs += [Chunk((job,), self.resources) for job in result.item.jobs]
                else:
                    job = result.item.jobs[0]
                    self._note_progress([FailedSessions(job.numbers, result.reason)], job.size)

    def _note_progress(self, failed: Sequence[FailedSessions], size: int) -> None:
        for failure in failed:
            for number in failure.numbers:
                session = self.sessions.inputs[number].session
                self.result.failed.append(
                    FailedSession(session.id, str(session.path), failure.reason)
                )
        self.done += size
        if self.watch and size:
            self.watch(self.done, self.total)

    def _forget(self, names: Iterable[str]) -> None:
        keys = [(self.source, name) for name in names]
        if keys:
            self.lake.forget(keys)
