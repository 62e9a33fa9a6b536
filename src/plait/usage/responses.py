"""The billed responses of sessions, each counted once over all files, and which were abandoned."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime, tzinfo
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from msgspec.structs import replace

from plait.conversation.usage import BilledResponse, Ledger, Origin, ResponseKey, RunKind
from plait.line import LogFile
from plait.record import Record
from plait.record.billing import Bill, iter_bills
from plait.record.prompts import is_warmup_agent
from plait.record.reader import read_if_exists
from plait.sessions.model import Session
from plait.sessions.worker_pool import SINGLE_PROCESS, WorkerPool, map_parallel

if TYPE_CHECKING:
    from plait.archive.archive import Archive
    from plait.conversation.prices import Prices
    from plait.graph.facts import FileFacts
    from plait.graph.model import DagLine
    from plait.usage.spending import GroupBy, Spending

PARALLEL_BYTES = 24_000_000
"""Size of logs from which several processes are faster."""
PARALLEL_GRAPH_BYTES = 16_000_000
"""The same if the graphs of some sessions must be built."""
SERVICE_IDS = ("acompact", "aprompt_suggestion", "aside_question")
"""Id prefixes of background requests by the client.

As in `plait.graph`, which is not imported here: counting must start quickly.
"""
PLAIN_TOOLS = frozenset(
    """
    Bash BashOutput KillShell Read Write Edit MultiEdit NotebookEdit Glob Grep LS WebFetch
    WebSearch TodoRead TodoWrite ToolSearch
    """.split()
)
"""Tools whose results never matter to the shape of the graph."""
Watch: TypeAlias = Callable[[Sequence[LogFile]], Iterable[LogFile]]


class CountedResponses(NamedTuple):
    """The responses of some sessions, and the costs that the client reported."""

    responses: Sequence[BilledResponse]
    client_costs: Mapping[str, float]
    """By session, as reported by the client."""
    keys: Sequence[ResponseKey] = ()
    """The key of each response."""
    own_costs: Mapping[str, float] = {}
    """The client's costs without what a fork inherited from its origin."""
    shared: Collection[tuple[int, ...]] = ()
    """The groups of files that hold the same responses, by the numbers of `list_billed_paths`."""


def assign_agents(counted: CountedResponses, sessions: Iterable[Session]) -> CountedResponses:
    """Return responses with the coding agents that wrote their sessions."""
    agents = {session.id: session.agent for session in sessions if session.origin is not None}
    if not agents:
        return counted
    responses = [
        replace(response, source=agents[response.session])
        if response.session in agents
        else response
        for response in counted.responses
    ]
    return counted._replace(responses=responses)


class FileBills(NamedTuple):
    """The lines of one file that state usage."""

    bills: Iterable[tuple[int, Bill]]
    is_warmup: bool
    """Whether it belongs to an agent that only warmed up the cache."""


ReadBills: TypeAlias = Callable[[Sequence[LogFile]], Iterator[FileBills]]
ReadAbandonedRecords: TypeAlias = Callable[[Session], Iterable[str]]


def _read_bills(files: Sequence[LogFile]) -> Iterator[FileBills]:
    for file in files:
        yield FileBills(iter_bills(file.path), file.kind == "agent" and is_warmup_agent(file.path))


def make_bill_reader(jobs: int, failures: list[str]) -> ReadBills:
    """Return a reader of bills that uses several processes if that is faster.

    Messages about processes that died are added to `failures`.
    """

    def read(files: Sequence[LogFile]) -> Iterator[FileBills]:
        sizes = [file.size for file in files]
        if jobs == 1 or sum(sizes) < PARALLEL_BYTES:
            yield from _read_bills(files)
            return
        from plait.line.workers import Workers
        from plait.usage.index_rows import decode_sent_bills

        items = [(str(file.path), file.kind) for file in files]
        with Workers(jobs, failures) as workers:
            for data in workers.map("plait.usage.index_rows:read_bills_in_worker", items, sizes):
                sent = decode_sent_bills(data)
                yield FileBills(zip(sent.lines, sent.bills, strict=True), sent.is_warmup)

    return read


def count_responses(
    sessions: Iterable[Session],
    watch: Watch | None = None,
    since: float | None = None,
    read: ReadBills = _read_bills,
) -> CountedResponses:
    """Read every file of some sessions once, and count their responses.

    With `since`, files that were last written before that time are skipped.
    """
    owners = {
        file.path: (file, session)
        for session in sessions
        for file in list_billed_files(session)
        if since is None or file.modified >= since
    }
    files = [owners[path][0] for path in sorted(owners, key=str)]
    ledger = Ledger()
    for file, (bills, is_warmup) in zip(watch(files) if watch else files, read(files), strict=True):
        session = owners[file.path][1]
        kind: RunKind = "main"
        if file.kind != "session":
            is_service = is_warmup or (file.agent or "").startswith(SERVICE_IDS)
            kind = "service" if is_service else "workflow" if file.run else "agent"
        agent = None if kind == "main" else file.agent
        ledger.add(Origin(session.id, session.project, kind, agent), bills)
    responses = tuple(ledger.responses())
    return CountedResponses(
        responses, ledger.client_costs, tuple(ledger.drafts), ledger.own_costs(), ledger.shared
    )


def list_billed_files(session: Session) -> list[LogFile]:
    """Return the files of a session whose responses count."""
    return [file for file in session.files if file.kind != "journal"]


def list_billed_paths(sessions: Iterable[Session]) -> list[Path]:
    """Return the files whose responses count, in the order of their numbers."""
    return sorted(
        {file.path for session in sessions for file in list_billed_files(session)}, key=str
    )


def find_abandoned(
    sessions: Iterable[Session],
    responses: Iterable[BilledResponse],
    watch: Watch | None = None,
    read: ReadAbandonedRecords | None = None,
    pool: WorkerPool = SINGLE_PROCESS,
) -> frozenset[str]:
    """Return the uuids of responses on abandoned branches, and of sub-agents launched there.

    Graphs are built only for sessions that have responses and may branch.
    """
    uuids: dict[str, set[str]] = {}
    for response in responses:
        if response.uuid is not None:
            uuids.setdefault(response.session, set()).add(response.uuid)
    by_file = {
        session.file.path: session for session in sessions if session.file and session.id in uuids
    }
    files = [session.file for session in by_file.values() if session.file]
    relevant = list(by_file.values())
    records_of_each: Iterator[Iterable[str]] = (
        map(read, relevant)
        if read
        else map_parallel(pool, list_abandoned_records, list[str], relevant, PARALLEL_GRAPH_BYTES)
    )
    abandoned: set[str] = set()
    for file, records in zip(watch(files) if watch else files, records_of_each, strict=True):
        abandoned |= uuids[by_file[file.path].id].intersection(records)
    return frozenset(abandoned)


def list_abandoned_records(session: Session) -> list[str]:
    """Return the records of a session on abandoned branches."""
    from plait.conversation.build import may_branch

    if session.file is None or not may_branch(read_if_exists(session.file.path)):
        return []
    from plait.graph.build import run_stages
    from plait.graph.index import build_index
    from plait.graph.leaf import find_leaf
    from plait.graph.tree import mark_abandoned

    graph = run_stages(build_index(_read_light_facts(session.files)), find_leaf).built
    return list(iter_inactive_records(mark_abandoned([*graph.lines, *graph.copied]).values()))


def iter_inactive_records(lines: "Iterable[DagLine]") -> Iterator[str]:
    """Yield the records on those lines of a graph that are not active."""
    for line in lines:
        if not line.is_active:
            yield from line.nodes
            for folded in line.folded.values():
                yield from folded


def _read_light_facts(files: Iterable[LogFile]) -> "Iterator[FileFacts]":
    """Yield what the graph of some files is built from, without parsing tool outputs."""
    from plait.graph.facts import FileFacts, make_source_file
    from plait.record.side_files import read_agent_meta

    for number, file in enumerate(sorted(files, key=lambda file: str(file.path))):
        meta = read_agent_meta(file.path) if file.kind == "agent" else None
        facts = FileFacts(make_source_file(file), meta)
        facts.add(_empty_plain_results(read_if_exists(file.path)), number)
        yield facts


def _empty_plain_results(records: Iterator[Record]) -> Iterator[Record]:
    """Yield records, those that hold nothing but results of plain tools without their content."""
    plain_calls: set[str | None] = set()
    for record in records:
        heads = record.block_heads
        plain_calls.update(head.id for head in heads if head.name in PLAIN_TOOLS)
        if (
            heads
            and record.kind == "user"
            and all(head.tool_use_id in plain_calls for head in heads)
        ):
            yield type(record)(record.envelope, b"{}", record.line, record.offset)
        else:
            yield record


def report_usage(
    archive: "Archive",
    by: "GroupBy",
    prices: "Prices",
    zone: tzinfo | None,
    since: datetime | None,
    until: datetime | None,
) -> "Spending":
    """Return tokens and cost of an archive in a period, grouped."""
    from plait.usage.spending import filter_by_time, group_spending

    responses = filter_by_time(archive.responses().responses, since, until)
    if by == "project":
        from plait.sessions.project_folders import assign_projects

        responses = assign_projects(responses, archive.folding)
    return group_spending(responses, by, prices, zone, archive.abandoned(responses))
