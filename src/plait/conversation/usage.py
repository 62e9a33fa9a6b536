"""Token usage, and the responses of all files with each counted once.

A response is identified by its message id, else by its request id, else by its record. All its
figures come from one of its lines: the one with the most output, the last among equals. Older
clients write growing numbers, and only the last line has the final ones.

A copy in another file after a resume has the same id, so it is the same response, whatever its
request id there; a request that was retried has an id of its own, and was paid for. Messages that
the client added (`<synthetic>`) are not responses.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from datetime import MAXYEAR, MINYEAR, datetime
from itertools import permutations
from math import inf
from os.path import commonprefix
from typing import Literal, Protocol, TypeAlias

from msgspec import Struct, to_builtins

from plait.record.billing import COST_STATE, OPENING, Bill, Figures
from plait.record.codec import convert_leniently
from plait.record.message import Usage
from plait.record.time import parse_time

SYNTHETIC = "<synthetic>"
"""The model name of messages that the client added: they are not responses."""
PLAIN_TIERS = frozenset({None, "", "standard", "default"})
PLAIN_SPEEDS = frozenset({None, "", "standard", "normal"})
PLAIN_PLACES = frozenset({None, "", "global", "not_available"})

UsageFigures: TypeAlias = Usage | Figures
"""Usage as in a record or a bill."""
DECIMALS = 9
"""Decimals of dollars in JSON, so that sums agree and floating-point noise is cut off."""


class Tokens(Struct, frozen=True, gc=False):
    """The usage of one response; no token counts in two fields."""

    input: int = 0
    """Neither written to the cache nor read from it."""
    output: int = 0
    cache_write_5m: int = 0
    cache_write_1h: int = 0
    cache_read: int = 0
    web_searches: int = 0
    web_fetches: int = 0
    tier: str | None = None
    """None for the standard tier."""
    speed: str | None = None
    """None for the standard speed."""
    geo: str | None = None
    """None if it may run in any region."""

    @property
    def cache_write(self) -> int:
        """All that was written to the cache."""
        return self.cache_write_5m + self.cache_write_1h

    @property
    def total_input(self) -> int:
        """Everything the model read, cached or not."""
        return self.input + self.cache_write_5m + self.cache_write_1h + self.cache_read

    @property
    def total(self) -> int:
        """All tokens."""
        return self.total_input + self.output

    def __add__(self, other: "Tokens") -> "Tokens":
        """Return the sum; tier, speed and region are dropped where they differ."""
        return Tokens(
            self.input + other.input,
            self.output + other.output,
            self.cache_write_5m + other.cache_write_5m,
            self.cache_write_1h + other.cache_write_1h,
            self.cache_read + other.cache_read,
            self.web_searches + other.web_searches,
            self.web_fetches + other.web_fetches,
            self.tier if self.tier == other.tier else None,
            self.speed if self.speed == other.speed else None,
            self.geo if self.geo == other.geo else None,
        )


NO_TOKENS = Tokens()


def tokens_to_json(tokens: Tokens) -> dict[str, int]:
    """Return tokens under their names in JSON."""
    return {
        "input_tokens": tokens.input,
        "output_tokens": tokens.output,
        "cache_creation_tokens": tokens.cache_write,
        "cache_creation_1h_tokens": tokens.cache_write_1h,
        "cache_read_tokens": tokens.cache_read,
        "total_tokens": tokens.total,
        "web_searches": tokens.web_searches,
        "web_fetches": tokens.web_fetches,
    }


def parse_tokens(figures: UsageFigures) -> Tokens:
    """Return the usage that a line reports for a response.

    The one-hour part of cache writes is included in their total; if a line gives only the parts,
    their sum is the total. Negative numbers count as 0.
    """
    if isinstance(figures, Usage):
        figures = convert_leniently(to_builtins(figures), Figures)
    written, hour = figures.cache_creation_input_tokens or 0, 0
    minutes = written
    shares, tools = figures.cache_creation, figures.server_tool_use
    if shares is not None:
        hour = shares.ephemeral_1h_input_tokens or 0
        minutes = max(written - hour, 0) if written else shares.ephemeral_5m_input_tokens or 0
    tier, speed, geo = figures.service_tier, figures.speed, figures.inference_geo
    return Tokens(
        figures.input_tokens or 0,
        figures.output_tokens or 0,
        minutes,
        hour,
        figures.cache_read_input_tokens or 0,
        (tools.web_search_requests or 0) if tools else 0,
        (tools.web_fetch_requests or 0) if tools else 0,
        None if tier in PLAIN_TIERS else tier,
        None if speed in PLAIN_SPEEDS else speed,
        None if geo in PLAIN_PLACES else geo,
    )


def make_response_key(message_id: str | None, request: str | None, uuid: str | None) -> str | None:
    """Return the key of a response; None if it has no id."""
    return message_id or request or uuid


class HasOutput(Protocol):
    """A line of a response, or a copy of it."""

    @property
    def output_tokens(self) -> int | None:
        """The output tokens it reports."""


def supersedes(newer: HasOutput, older: HasOutput) -> bool:
    """Return whether a later line or copy of a response replaces the figures of an earlier one."""
    return (newer.output_tokens or 0) >= (older.output_tokens or 0)


RunKind: TypeAlias = Literal["main", "agent", "service", "workflow"]
ResponseKey: TypeAlias = str | tuple[int, int]
Stamp: TypeAlias = str | int | float | None
Rank: TypeAlias = tuple[bool, bool, bool, str, bool, int, str, int]
UNKNOWN = "\uffff"
"""Sorts after every time."""


class Origin(Struct, frozen=True, gc=False):
    """The file that responses are from, and its session."""

    session: str
    project: str
    kind: RunKind = "main"
    agent: str | None = None


class BilledResponse(Struct, frozen=True, gc=False):
    """One response of a model, and its usage."""

    model: str | None
    time: datetime | None
    """When its first line was written; None if no line says."""
    tokens: Tokens
    session: str
    project: str
    kind: RunKind
    agent: str | None
    file: int
    """The file of its owner, by its number among all."""
    uuid: str | None
    """The uuid of its line in that file."""
    logged: float | None = None
    """The cost in dollars that the log itself reports."""
    source: str = "claude"
    """The coding agent whose log it is in."""
    units: float | None = None
    """What that agent charged for it in a unit of its own."""


class BilledDraft:
    """A response while its lines are being collected."""

    __slots__ = ("bill", "figures", "file", "line", "owner", "stamp")

    def __init__(self, bill: Bill, figures: Figures, file: int, line: int) -> None:
        self.bill = self.owner = bill
        """The line with its figures, and the one that decides its owner."""
        self.figures, self.file, self.line = figures, file, line
        self.stamp = bill.timestamp

    def add(self, bill: Bill, figures: Figures) -> None:
        """Add another line of the same response."""
        if supersedes(figures, self.figures):
            self.bill, self.figures = bill, figures
        known, stamp = self.stamp, bill.timestamp
        if known == stamp:
            return
        if isinstance(known, str) and isinstance(stamp, str) and len(known) == len(stamp):
            self.stamp = min(stamp, known)  # the usual form sorts as text
        else:
            first, second = parse_time(known), parse_time(stamp)
            if first is None or (second is not None and first > second):
                self.stamp = stamp


class Ledger:
    """Collects the usage of one file after the other, and counts each response once."""

    def __init__(self) -> None:
        self.origins: list[Origin] = []
        self.drafts: dict[ResponseKey, BilledDraft] = {}
        self.client_costs: dict[str, float] = {}
        """The cost of sessions according to the client itself."""
        self._totals: dict[int, list[Bill]] = {}
        """What it reported in each file, in order."""
        self._starts: list[str] = []
        """The time of the first response in each file."""
        self._openings: dict[int, tuple[int, Bill]] = {}
        """By file: the first note among its records, and when it was started."""
        self._holders: dict[ResponseKey, dict[int, tuple[int, Bill]]] = {}
        """The files that contain a response, if several, with its last line in each."""

    def add(self, origin: Origin, bills: Iterable[tuple[int, Bill]]) -> None:
        """Add the usage of a file, with line numbers."""
        file, drafts = len(self.origins), self.drafts
        self.origins.append(origin)
        self._starts.append("")
        for line, bill in bills:
            message = bill.message
            if message is None or message.usage is None:
                if bill.type == OPENING:
                    self._openings[file] = line, bill
                if bill.type == COST_STATE and bill.total_cost_usd is not None:
                    self.client_costs[origin.session] = bill.total_cost_usd
                    self._totals.setdefault(file, []).append(bill)
            elif message.model != SYNTHETIC:
                if not self._starts[file]:
                    self._starts[file] = f"{bill.timestamp}"
                key = make_response_key(message.id, bill.request, bill.uuid) or (file, line)
                known = drafts.get(key)
                if known is None:
                    drafts[key] = BilledDraft(bill, message.usage, file, line)
                else:
                    known.add(bill, message.usage)
                    if known.file == file and key not in self._holders:
                        known.owner, known.line = bill, line
                    else:
                        first = {known.file: (known.line, known.owner)}
                        self._holders.setdefault(key, first)[file] = line, bill

    @property
    def shared(self) -> set[tuple[int, ...]]:
        """The groups of files that hold the same responses."""
        return {tuple(sorted(holders)) for holders in self._holders.values()}

    def responses(self) -> Iterator[BilledResponse]:
        """Yield the counted responses, in the order they were found."""
        if self._holders:
            self._choose_owners()
        for draft in self.drafts.values():
            origin, bill, owner = self.origins[draft.file], draft.bill, draft.owner
            # format: older versions wrote agents into the session's own file
            is_side = origin.kind == "main" and owner.is_sidechain
            yield BilledResponse(
                bill.message.model if bill.message else None,
                parse_known_time(draft.stamp),
                parse_tokens(draft.figures),
                origin.session,
                origin.project,
                "agent" if is_side else origin.kind,
                origin.agent or owner.agent_id,
                draft.file,
                owner.uuid,
                bill.cost_usd,
                units=bill.agent_units,
            )

    def _choose_owners(self) -> None:
        """Assign each response that several files contain to one of them, as the graph does."""
        copies, went_on = self._copies(), self._find_first_own_responses()
        for key, holders in self._holders.items():
            ranks = {
                file: self._rank(bill, file, holders, copies, went_on)
                for file, (_, bill) in holders.items()
            }
            draft, owner = self.drafts[key], min(ranks, key=ranks.__getitem__)
            draft.file, (draft.line, draft.owner) = owner, holders[owner]

    def _copies(self) -> set[tuple[int, int]]:
        """Return the pairs of a file and the one it was copied from: everything they share is
        consecutive in one and not in the other.
        """
        is_copy: dict[tuple[int, int], bool] = {}
        for holders in self._holders.values():
            for file, other in permutations(holders, 2):
                end = self._openings[file][0] if file in self._openings else inf
                is_copy[file, other] = is_copy.get((file, other), True) and holders[file][0] < end
        return {
            (file, other)
            for (file, other), is_all in is_copy.items()
            if is_all and not is_copy[other, file]
        }

    def _find_first_own_responses(self) -> dict[int, str]:
        """Return the time of each file's first response that no other has."""
        found: dict[int, str] = {}
        for key, draft in self.drafts.items():
            if key not in self._holders:
                found.setdefault(draft.file, f"{draft.stamp}")
        ids = Counter(origin.session for origin in self.origins if origin.kind == "main")
        for file, origin in enumerate(self.origins):
            found.setdefault(file, "" if ids[origin.session] == 1 else UNKNOWN)
        return found

    def _rank(
        self,
        bill: Bill,
        file: int,
        rivals: Iterable[int],
        copies: set[tuple[int, int]],
        went_on: Mapping[int, str],
    ) -> Rank:
        """Return the rank that decides who owns a shared response; the least owns it."""
        origin = self.origins[file]
        return (
            origin.kind != "main",
            bill.forked_from is not None,
            bill.session_id not in (None, origin.session),
            self._starts[file],
            file in self._openings and _is_later(self._openings[file][1], bill),
            sum((file, rival) in copies for rival in rivals),
            went_on[file],
            file,
        )

    def own_costs(self) -> dict[str, float]:
        """Return what each session itself cost according to the client.

        The client adds up over all runs of a session. A fork continues its origin's total, unless
        it was made by `/branch`: what it inherited is the last total that another file with the
        same responses had reported by then, or, if none is known, all that it first reported. A
        copy under other ids begins with its origin's totals, word by word.
        """
        found: dict[str, float] = {}
        for file, totals in self._totals.items():
            stated = [bill.total_cost_usd or 0.0 for bill in totals]
            copied = any(
                self.drafts[key].file != file and holders[file][1].forked_from is None
                for key, holders in self._holders.items()
                if file in holders
            )
            is_fork = copied or (
                file in self._openings and bool(self._openings[file][1].is_sidechain)
            )
            copied_cost = (
                self._find_copied_cost(file, stated[0])
                if is_fork
                else self._find_repeated_cost(file, stated)
            )
            session = self.origins[file].session
            found[session] = max(found.get(session, 0.0), stated[-1] - copied_cost)
        return found

    def _find_copied_cost(self, file: int, first: float) -> float:
        costs = (total for totals in self._iter_related_totals(file) for total in totals)
        return max((cost for cost in costs if cost <= first), default=first)

    def _iter_related_totals(self, file: int) -> Iterator[list[float]]:
        """Yield the totals of other sessions that contain the same responses."""
        related = {other for held in self._holders.values() if file in held for other in held}
        for other in related - {file}:
            if self.origins[other].session != self.origins[file].session:
                yield [bill.total_cost_usd or 0.0 for bill in self._totals.get(other, ())]

    def _find_repeated_cost(self, file: int, stated: list[float]) -> float:
        """Return the last total that a copy only repeats."""
        held = (holders[file][1] for holders in self._holders.values() if file in holders)
        if not any(bill.forked_from for bill in held):
            return 0.0
        related = self._iter_related_totals(file)
        shared = [len(commonprefix([stated, totals])) for totals in related]  # noqa: RUF071  lists
        most = max(shared, default=0)
        return stated[most - 1] if most else 0.0


def _is_later(opening: Bill, bill: Bill) -> bool:
    """Return whether a file was started after one of its lines was written: it is a copy."""
    begun, stamp = opening.timestamp, bill.timestamp
    return isinstance(begun, str) and isinstance(stamp, str) and begun > stamp


def parse_known_time(stamp: Stamp) -> datetime | None:
    """Return the moment of a timestamp; None at the ends of the calendar, beyond any time zone."""
    time = parse_time(stamp)
    return time if time and MINYEAR < time.year < MAXYEAR else None
