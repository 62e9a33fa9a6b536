"""Avoidable spending of sessions, in dollars: findings by kind, the most expensive first.

Each loss counts where its response is billed, so that copies of a session do not count twice. A
finding is a range: from what was definitely wasted to all that could have been saved.
"""

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from msgspec import Struct, field
from msgspec.structs import replace

from plait.conversation.prices import Prices, UnitPrices, find_smaller_model
from plait.conversation.usage import BilledResponse
from plait.index.catalogue import (
    from_bytes,
    insert_tables,
    load_by_session,
    save_meta,
    to_bytes,
)
from plait.insights.losses import Loss, SessionLogPaths, WasteKind, pack_losses, unpack_losses
from plait.insights.why import WASTE_TIPS, ResponsesByFile, compute_input_cost
from plait.line import LogFile
from plait.sessions.model import Session
from plait.usage.responses import PARALLEL_BYTES, SERVICE_IDS, list_billed_files
from plait.usage.spending import is_in_period

if TYPE_CHECKING:
    from plait.archive.archive import Archive
    from plait.sessions.fresh_index import FreshIndex

MILLION = 1_000_000
MOST_EVIDENCE = 10
EXPENSIVE_FACTOR = 3
"""A model is expensive if its output costs this many times that of the small model."""


class Evidence(Struct, frozen=True, kw_only=True):
    """One loss, and where it happened."""

    session: str
    uuid: str | None
    time: datetime | None
    cost_usd: float
    about: str = ""
    """A file, a command or an agent."""
    response: str = ""
    """The response that paid for it."""


class WasteFinding(Struct, kw_only=True):
    """All losses of one kind."""

    kind: WasteKind
    cost_usd: float = 0.0
    least_usd: float = 0.0
    """The part that was definitely wasted."""
    count: int = 0
    evidence: list[Evidence] = field(default_factory=list)
    """The most expensive losses."""
    advice: str = ""
    entrypoints: dict[str, float] = field(default_factory=dict)
    """Dollars by entry point: CLI, SDK, editor."""

    def add(self, evidence: Evidence, loss: Loss) -> None:
        """Add one loss."""
        self.count += 1
        self.cost_usd += evidence.cost_usd
        self.least_usd += evidence.cost_usd * loss.certain
        entrypoint = loss.entrypoint or "unknown"
        self.entrypoints[entrypoint] = self.entrypoints.get(entrypoint, 0.0) + evidence.cost_usd
        self.evidence.append(evidence)

    def merge(self, other: "WasteFinding") -> None:
        """Add the losses of another session."""
        self.count += other.count
        self.cost_usd += other.cost_usd
        self.least_usd += other.least_usd
        for entrypoint, cost in other.entrypoints.items():
            self.entrypoints[entrypoint] = self.entrypoints.get(entrypoint, 0.0) + cost
        self.evidence += other.evidence

    def keep_most_expensive(self) -> None:
        """Drop all evidence but the most expensive."""
        self.evidence = sorted(self.evidence, key=lambda each: -each.cost_usd)[:MOST_EVIDENCE]


class SessionWaste(Struct, kw_only=True):
    """The avoidable spending of one session."""

    input_usd: float = 0.0
    """The cost of all input."""
    findings: list[WasteFinding] = field(default_factory=list)


class Waste(Struct, frozen=True, kw_only=True):
    """The avoidable spending of several sessions."""

    findings: list[WasteFinding]
    total_usd: float
    """Of all findings; no loss counts twice."""
    least_usd: float
    input_usd: float
    """The cost of all input."""
    share_of_input: float | None
    sessions: int

    def __iter__(self) -> Iterator[WasteFinding]:
        return iter(self.findings)

    def __len__(self) -> int:
        return len(self.findings)


class CountedWaste(NamedTuple):
    """The avoidable spending of several sessions, and of each."""

    waste: Waste
    parts: Sequence[tuple[Session, SessionWaste]]


class FileLosses(NamedTuple):
    """The losses of one file."""

    file: LogFile
    losses: Sequence[Loss]


ReadLosses: TypeAlias = Callable[[Sequence[Session]], Iterator[bytes]]
"""Yields the packed losses of each session."""


def make_loss_reader(jobs: int, failures: list[str]) -> ReadLosses:
    """Return a reader of losses that uses several processes where that is faster.

    Messages about processes that died are added to `failures`.
    """

    def read(sessions: Sequence[Session]) -> Iterator[bytes]:
        paths: list[SessionLogPaths] = []
        for session in sessions:
            files = list_billed_files(session)
            main_path = str(session.file.path) if session.file else ""
            paths.append((main_path, [(str(file.path), is_launched_agent(file)) for file in files]))
        sizes = [sum(file.size for file in list_billed_files(session)) for session in sessions]
        if jobs == 1 or sum(sizes) < PARALLEL_BYTES:
            yield from map(pack_losses, paths)
            return
        from plait.line.workers import Workers

        with Workers(jobs, failures) as workers:
            yield from workers.map("plait.insights.losses:pack_losses", paths, sizes)

    return read


def is_launched_agent(file: LogFile) -> bool:
    """Return whether a file is an agent's, not a background request of the client."""
    return file.kind == "agent" and not (file.agent or "").startswith(SERVICE_IDS)


def read_losses(sessions: Iterable[Session], read: ReadLosses) -> Iterator[FileLosses]:
    """Yield the losses of each file of some sessions, in order."""
    sessions = list(sessions)
    for session, data in zip(sessions, read(sessions), strict=True):
        yield from decode_file_losses(session, data)


def decode_file_losses(session: Session, data: bytes) -> Iterator[FileLosses]:
    """Yield the losses of each file of a session from their packed form."""
    for file, losses in zip(list_billed_files(session), unpack_losses(data), strict=True):
        yield FileLosses(file, losses)


def report_waste(
    archive: "Archive",
    sessions: Sequence[Session],
    prices: Prices,
    since: datetime | None,
    until: datetime | None,
) -> Waste:
    """Return the avoidable spending of some sessions, the most expensive kind first."""
    if since is None and until is None:
        return sum_waste(archive.waste_by_session(sessions, prices))
    return sum_waste(find_session_waste(archive, sessions, prices, since, until))


def find_session_waste(
    archive: "Archive",
    sessions: Sequence[Session],
    prices: Prices,
    since: datetime | None = None,
    until: datetime | None = None,
    responses: ResponsesByFile | None = None,
) -> list[SessionWaste]:
    """Return the avoidable spending of each session."""
    responses = responses or ResponsesByFile(archive.responses(), archive.sessions)
    billed: dict[object, Mapping[str, BilledResponse]] = {}
    for session in sessions:
        for file in list_billed_files(session):
            in_file = responses.in_file(file.path)
            if since is not None or until is not None:
                in_file = {
                    key: response
                    for key, response in in_file.items()
                    if is_in_period(response.time, since, until)
                }
            billed[file.path] = in_file
    named = [response for file in billed.values() for response in file.values() if response.uuid]
    abandoned = archive.abandoned(named, sessions)
    losses = {file.path: found for file, found in archive.losses_by_file(sessions)}
    wastes = []
    for session in sessions:
        input_usd = 0.0
        findings: dict[WasteKind, WasteFinding] = {}
        for file in list_billed_files(session):
            for response in billed[file.path].values():
                input_usd += compute_input_cost(response, prices) or 0.0
            explained = responses.explain_losses(losses[file.path], session.id)
            for priced in price_losses(billed[file.path], explained, prices, abandoned):
                loss = priced.loss
                evidence = Evidence(
                    session=session.id,
                    response=loss.response,
                    uuid=loss.uuid,
                    time=priced.response.time,
                    cost_usd=priced.cost,
                    about=loss.subject,
                )
                findings.setdefault(loss.kind, WasteFinding(kind=loss.kind)).add(evidence, loss)
        for finding in findings.values():
            finding.keep_most_expensive()
        wastes.append(SessionWaste(input_usd=input_usd, findings=list(findings.values())))
    return wastes


class PricedLoss(NamedTuple):
    """A loss, the response that paid for it, and its cost in dollars."""

    loss: Loss
    response: BilledResponse
    cost: float


def price_losses(
    billed: Mapping[str, BilledResponse],
    losses: Iterable[Loss],
    prices: Prices,
    abandoned: Container[str | None],
) -> Iterator[PricedLoss]:
    """Yield the losses of one file with a cost, as far as their responses are billed there.

    Answers on abandoned branches are lost completely, so nothing else of them counts.
    """
    for key, response in billed.items():
        if response.uuid in abandoned:
            model, uuid = response.model, response.uuid
            cost = prices.cost(model, response.tokens, response.time)
            if cost:
                loss = Loss("abandoned", key, 0, model, None, None, certain=0.0, uuid=uuid)
                yield PricedLoss(loss, response, cost)
    for loss in losses:
        paying = billed.get(loss.response)
        if paying and paying.uuid not in abandoned:
            cost = _price_loss(loss, paying, prices)
            if cost > 0:
                yield PricedLoss(loss, paying, cost)


def _price_loss(loss: Loss, response: BilledResponse, prices: Prices) -> float:
    unit = prices.unit(response.model, response.tokens, response.time)
    if unit is None:
        return 0.0
    cost = _multiply(loss, unit)
    if loss.kind != "oversized":
        return cost

    # only the difference to the small model of the day was avoidable
    small_name = find_smaller_model(response.model or "")
    tokens = replace(response.tokens, speed=None)
    small = prices.unit(small_name, tokens, response.time) if small_name else None
    if small is None or unit.output < EXPENSIVE_FACTOR * small.output:
        return 0.0
    return cost - _multiply(loss, small)


def _multiply(loss: Loss, unit: UnitPrices) -> float:
    return (
        loss.input * unit.input
        + loss.output * unit.output
        + loss.write_5m * unit.cache_write_5m
        + loss.write_1h * unit.cache_write_1h
        + loss.read * unit.cache_read
    ) / MILLION


def sum_waste(parts: Sequence[SessionWaste]) -> Waste:
    """Return the avoidable spending of all sessions together, the most expensive kind first."""
    kinds: dict[WasteKind, WasteFinding] = {}
    for part in parts:
        for finding in part.findings:
            kinds.setdefault(finding.kind, WasteFinding(kind=finding.kind)).merge(finding)
    findings = sorted(kinds.values(), key=lambda finding: -finding.cost_usd)
    for finding in findings:
        finding.keep_most_expensive()
        finding.advice = WASTE_TIPS[finding.kind]
    total_usd = sum(finding.cost_usd for finding in findings)
    input_usd = sum(part.input_usd for part in parts)
    return Waste(
        findings=findings,
        total_usd=total_usd,
        least_usd=sum(finding.least_usd for finding in findings),
        input_usd=input_usd,
        share_of_input=total_usd / input_usd if input_usd else None,
        sessions=len(parts),
    )


# From the index: what it lacks is read and saved.


def read_indexed_losses(
    index: "FreshIndex", sessions: Sequence[Session], read: ReadLosses
) -> Iterator[FileLosses]:
    """Yield the losses of each file of some sessions, in their order."""
    known = load_by_session(index.catalogue, "losses")
    missing = [session for session in sessions if index.session_number(session) not in known]
    new = {
        index.session_number(session): data
        for session, data in zip(missing, read(missing), strict=True)
    }
    if new:
        index.save([insert_tables({"losses": new.items()})])
    for session in sessions:
        number = index.session_number(session)
        yield from decode_file_losses(session, new.get(number) or known[number])


WASTE_STATE = "waste"
"""The name of the note on the state that the rows are valid for.

The waste of a session depends on others, as a response that several contain counts for one of them.
So all rows are valid for one state of the index, one list of prices and one day, or none is.
"""


def read_indexed_waste(
    index: "FreshIndex", archive: "Archive", sessions: Sequence[Session], prices: Prices
) -> list[SessionWaste]:
    """Return the avoidable spending of each session, computed once for a state of the index."""
    state = f"{index.generation} {prices.fingerprint}"
    numbers = [index.session_number(session) for session in sessions]
    if index.catalogue.meta(WASTE_STATE) == state:
        known = load_by_session(index.catalogue, "wasted")
        return [from_bytes(known[number], SessionWaste) for number in numbers]
    found = find_session_waste(archive, sessions, prices)
    if len(sessions) == len(archive.sessions):
        rows = {number: to_bytes(waste) for number, waste in zip(numbers, found, strict=True)}
        index.save([insert_tables({"wasted": rows.items()}), save_meta(WASTE_STATE, state)])
    return found
