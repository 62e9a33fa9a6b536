"""Why a session cost what it did: each request, what was sent again and why, the growing context.

The data of `plait why` and of the page's Usage tab, and the texts that both show.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar

from msgspec import Struct, field
from msgspec.structs import replace

from plait.conversation.model import Conversations, Item, ToolCall
from plait.conversation.prices import Prices, UnitPrices
from plait.conversation.usage import DECIMALS, BilledResponse, Tokens
from plait.insights.cache_misses import (
    UNNAMED,
    FileRequests,
    MainFileLoader,
    MissCause,
    PaidRequest,
    list_paid_requests,
    read_file_requests,
)
from plait.insights.losses import Loss, WasteKind
from plait.record.billing import SentLine, iter_sent_lines
from plait.sessions.model import Session
from plait.usage.responses import CountedResponses, list_billed_paths
from plait.view.formats import format_hours, format_money, format_tokens

if TYPE_CHECKING:
    from plait.archive.archive import Archive
    from plait.sessions.open_session import OpenSession
    from plait.sessions.resume import Resumption

MILLION = 1_000_000
MOST_CARRIED = 12
MOST_JUMPS = 20
JUMP_FACTOR = 2
"""A request that costs this many times the median is a jump."""
LATEST = datetime.max.replace(tzinfo=UTC)
EXPLAINED_ELSEWHERE = ("unexplained", "rewind")
"""How one file describes a cause that only another session's file shows."""

Reason = TypeVar("Reason", MissCause, WasteKind)
ReadSentLines: TypeAlias = Callable[[Path], Iterable[tuple[int, SentLine]]]
"""Reads the lines of a file, as far as they say what was sent."""

CAUSE_NAMES: dict[MissCause, str] = {
    "pause": "pause",
    "process": "another process",
    "model": "another model",
    "changed": "changed settings",
    "compaction": "compaction",
    "rewind": "rewind",
    "edited": "shortened history",
    "unexplained": "unexplained",
}
CAUSE_REASONS: dict[MissCause, str] = {
    "pause": "the cache had expired",
    "process": "resumed or forked with different instructions",
    "model": "each model has its own cache",
    "changed": "version, instructions, tools or thinking settings changed",
    "compaction": "preserved messages were moved after the summary",
    "rewind": "continued from an earlier message",
    "edited": "the history became shorter",
    "unexplained": "nothing in the log explains the cache miss",
}
WASTE_TITLES: dict[WasteKind, str] = {
    "pause": "Resent after the cache had expired",
    "process": "Resent by another process",
    "model": "Resent to another model",
    "changed": "Resent after settings changed",
    "rewind": "Resent after a rewind",
    "unexplained": "Resent for an unknown reason",
    "reread": "Files re-read while still in context",
    "giant": "Large outputs kept in context",
    "unused": "Large outputs never used again",
    "startup": "Agents whose start cost more than their answers",
    "retry": "Failed calls retried unchanged",
    "abandoned": "Answers on abandoned branches",
    "oversized": "Small questions sent to an expensive model",
}

WASTE_TIPS: dict[WasteKind, str] = {
    "pause": "resume before the cache expires, or trim the session before you resume it",
    "process": "stay in one process: resuming and forking resend most of the context",
    "model": "change the model at the start of a task, or in a fork",
    "changed": "change versions, tools and instructions between sessions, not within one",
    "rewind": "rewind within minutes: the cache drops messages that requests no longer use",
    "unexplained": "the log does not show the cause",
    "reread": "ask only for what has changed, or trim stale reads",
    "giant": "read part of a file or filter the output; `plait trim` shortens existing outputs",
    "unused": "search before reading a whole file",
    "startup": "every agent starts by reading its instructions: use agents for larger tasks",
    "retry": "tell Claude what to try instead",
    "abandoned": "fork, or rewind sooner",
    "oversized": "use a smaller model for small questions, in a separate session",
}


class WhyRequest(Struct, frozen=True, kw_only=True, gc=False):
    """One request with its tokens by how they were paid, and its cost."""

    response: str
    turn: int | None
    """The turn of the active conversation, also for its agents; None for other branches."""
    time: datetime | None
    model: str | None
    read: int
    new: int
    again: int
    uncached: int
    output: int
    cause: MissCause | None
    cost_usd: float | None
    """None if it has no price."""
    again_cost_usd: float | None
    agent: str | None = None
    uuid: str | None = None
    gap_seconds: float | None = None
    """Time since the cached prefix was last read."""
    input_cost_usd: float | None = None
    unknown: int = 0
    """The part of `new` that may have been in the cache: the previous request is not logged."""


class CauseSum(Struct, gc=False):
    """Everything that was sent again for one cause."""

    requests: int = 0
    again: int = 0
    again_cost_usd: float = 0.0


class WhyTotals(Struct):
    """Sums over requests."""

    requests: int = 0
    read: int = 0
    new: int = 0
    again: int = 0
    uncached: int = 0
    output: int = 0
    cost_usd: float = 0.0
    """Of the requests that have a price."""
    again_cost_usd: float = 0.0
    input_cost_usd: float = 0.0
    unpriced: int = 0
    unknown: int = 0
    causes: dict[MissCause, CauseSum] = field(default_factory=dict)

    def add(self, request: WhyRequest) -> None:
        """Add one request."""
        self.requests += 1
        self.read += request.read
        self.new += request.new
        self.again += request.again
        self.uncached += request.uncached
        self.output += request.output
        self.cost_usd += request.cost_usd or 0.0
        self.again_cost_usd += request.again_cost_usd or 0.0
        self.input_cost_usd += request.input_cost_usd or 0.0
        self.unpriced += request.cost_usd is None
        self.unknown += request.unknown
        if request.cause:
            cause = self.causes.setdefault(request.cause, CauseSum())
            cause.requests += 1
            cause.again += request.again
            cause.again_cost_usd += request.again_cost_usd or 0.0


class WhyNext(Struct, frozen=True):
    """What the next prompt sends, and its cost with and without the cache."""

    tokens: int | None
    warm_usd: float | None
    cold_usd: float | None
    is_warm: bool
    cold_at: datetime | None
    """When the cache expires; None if unknown."""


class CarriedItem(Struct, frozen=True, kw_only=True):
    """A part of the context that is sent with every request, and what that has cost."""

    kind: str
    words: str
    tokens: int
    """Estimated."""
    turn: int | None
    """In context since this turn."""
    uuid: str | None
    requests: int
    """How many requests have carried it."""
    cost_usd: float | None
    """None if they have no price."""


class Why(Struct, frozen=True, kw_only=True):
    """Why a session cost what it did."""

    session: str
    requests: tuple[WhyRequest, ...]
    totals: WhyTotals
    next: WhyNext | None
    carried: tuple[CarriedItem, ...] = ()
    """The largest parts of the current context, largest first."""

    def __iter__(self) -> Iterator[WhyRequest]:
        return iter(self.requests)

    def __len__(self) -> int:
        return len(self.requests)

    def for_turn(self, turn: int) -> "Why":
        """Return the requests of one turn, with their sums."""
        return self._with_requests([request for request in self.requests if request.turn == turn])

    def for_request(self, name: str) -> "Why":
        """Return the turn of a request, given its response or the start of its record's id.

        A request outside of the active turns is returned alone.
        """
        for request in self.requests:
            if name and (request.response == name or (request.uuid or "").startswith(name)):
                if request.turn is not None:
                    return self.for_turn(request.turn)
                return self._with_requests([request])
        return self._with_requests([])

    def _with_requests(self, requests: Sequence[WhyRequest]) -> "Why":
        totals = WhyTotals()
        for request in requests:
            totals.add(request)
        return replace(self, requests=tuple(requests), totals=totals)


def explain_session(
    archive: "Archive",
    session: Session,
    prices: Prices,
    now: datetime,
    turn: int | str | None = None,
    responses: "ResponsesByFile | None" = None,
) -> Why:
    """Return why a session cost what it did, request by request.

    With a turn, only its requests, and what was in context at its last answer. Given responses are
    not counted again.
    """
    opened = archive.open(session)
    turns = map_turns(opened.conversations) if opened.graph.sessions else {}
    responses = responses or ResponsesByFile(archive.responses(), archive.sessions)
    why = explain_requests(responses, session, turns, prices, opened.sent_lines)
    if turn is not None:
        why = why.for_request(turn) if isinstance(turn, str) else why.for_turn(turn)
    if session.file is None or session.origin is not None:  # what is sent next is not known
        return why
    current = opened.context()
    resumption = current if turn is None else _resume_at_turn(opened, turns, why)
    prompt = current.next_prompt
    return replace(
        why,
        next=WhyNext(
            prompt.tokens,
            prompt.warm_usd(prices),
            prompt.cold_usd(prices),
            not prompt.is_cold(now),
            prompt.cold_at,
        ),
        carried=_find_carried(opened, resumption, turns, prices) if resumption else (),
    )


def _resume_at_turn(
    opened: "OpenSession", turns: Mapping[str, int], why: Why
) -> "Resumption | None":
    """Return what was in context at the last answer of a turn, by the file up to there."""
    from plait.sessions.resume import resume_records

    turn = why.requests[0].turn if why.requests else None
    records = opened.client_records
    answers = (record for record in records if record.type == "assistant")
    last = max(
        (record.line for record in answers if turns.get(record.uuid or "", 0) == turn), default=0
    )
    earlier = [record for record in records if record.line <= last]
    if not earlier:
        return None
    return resume_records(earlier, earlier[-1].offset + len(earlier[-1].raw))


def explain_requests(
    responses: "ResponsesByFile",
    session: Session,
    turns: Mapping[str, int],
    prices: Prices,
    read: ReadSentLines = iter_sent_lines,
) -> Why:
    """Return the requests of a session with their cost and cause, in the order of time."""
    requests = []
    totals = WhyTotals()
    for paid, billed in responses.iter_requests(session, read):
        unit = prices.unit(billed.model, billed.tokens, billed.time)
        parts = paid.parts
        request = WhyRequest(
            response=paid.response,
            turn=turns.get(paid.uuid or ""),
            time=billed.time,
            model=billed.model,
            read=parts.read,
            new=parts.new,
            again=parts.again,
            uncached=parts.uncached,
            output=parts.output,
            cause=paid.cause,
            cost_usd=unit.cost(billed.tokens) if unit else None,
            again_cost_usd=compute_resend_cost(paid, unit) if unit else None,
            agent=billed.agent,
            uuid=paid.uuid,
            gap_seconds=paid.gap.total_seconds() if paid.gap else None,
            input_cost_usd=unit.cost(drop_output(billed.tokens)) if unit else None,
            unknown=paid.unknown,
        )
        requests.append(request)
        totals.add(request)
    requests.sort(key=lambda request: request.time or LATEST)
    return Why(session=session.id, requests=tuple(requests), totals=totals, next=None)


class ResponsesByFile:
    """The responses of an archive by the file that each is billed to.

    A response that several files hold is billed to one of them; another file may say more of it.
    """

    def __init__(self, counted: CountedResponses, sessions: Sequence[Session]) -> None:
        self.responses = counted.responses
        self._files: dict[Path, dict[str, BilledResponse]] = {}
        self._sessions: dict[str, str] = {}
        paths = list_billed_paths(sessions)
        for key, response in zip(counted.keys, counted.responses, strict=True):
            name = key if isinstance(key, str) else f"{UNNAMED}{key[1]}"
            self._files.setdefault(paths[response.file], {})[name] = response
            self._sessions[name] = response.session

    def in_file(self, path: Path) -> Mapping[str, BilledResponse]:
        """Return the responses billed to a file, by key."""
        return self._files.get(path, {})

    def iter_requests(
        self, session: Session, read: ReadSentLines = iter_sent_lines
    ) -> Iterator[tuple[PaidRequest, BilledResponse]]:
        """Yield the requests billed to a session, with their billed figures."""
        load_main = make_main_loader(session, read)
        for file in session.files:
            if self.in_file(file.path):
                load = FileRequests if file is session.file else load_main
                yield from self.keep_billed(file.path, list_paid_requests(read(file.path), load))

    def keep_billed(
        self, path: Path, requests: Iterable[PaidRequest]
    ) -> Iterator[tuple[PaidRequest, BilledResponse]]:
        """Yield those of a file's requests that are billed to it, with their billed figures."""
        billed = self.in_file(path)
        for request in requests:
            response = billed.get(request.response)
            if response is None:
                continue
            cause = request.cause
            cause = cause and self._explain(cause, request.previous, response.session)
            again, tokens = request.again, response.tokens
            if request.tokens != tokens:
                again = min(again, tokens.cache_write)
                cause = cause if again else None
            yield replace(request, tokens=tokens, again=again, cause=cause), response

    def explain_losses(self, losses: Iterable[Loss], session: str) -> Iterator[Loss]:
        """Yield the losses of a session's file, with causes that other sessions explain."""
        for loss in losses:
            kind = self._explain(loss.kind, loss.previous, session)
            yield replace(loss, kind=kind) if kind != loss.kind else loss

    def _explain(
        self, cause: Reason, previous: str | None, session: str
    ) -> Reason | Literal["process"]:
        """Return the cause of something that one file does not explain.

        A request that continues a response of another session was forked from it, or resumed with
        a copy of what led up to it.
        """
        is_copied = self._sessions.get(previous or "", session) != session
        return "process" if is_copied and cause in EXPLAINED_ELSEWHERE else cause


def make_main_loader(session: Session, read: ReadSentLines = iter_sent_lines) -> MainFileLoader:
    """Return a function that reads the requests of a session's main file once, when needed."""
    path = session.file.path if session.file else None
    return cache(lambda: read_file_requests(read(path)) if path else FileRequests())


def map_turns(conversations: Conversations) -> Mapping[str, int]:
    """Return the turn of the active conversation that each record and each call belongs to.

    Everything that an agent did belongs to the turn that launched it.
    """
    turns: dict[str, int] = {}

    def add(items: Iterable[Item], number: int) -> None:
        for item in items:
            if item.uuid:
                turns.setdefault(item.uuid, number)
            if isinstance(item, ToolCall):
                turns.setdefault(item.call, number)

    for turn in conversations.active.turns:
        add(turn.items, turn.number)
    waiting = [
        conversation for conversation in conversations.by_line.values() if conversation.agent
    ]
    while ready := [
        conversation
        for conversation in waiting
        if (conversation.call or conversation.attachment or "") in turns
    ]:
        for agent in ready:
            add(agent.items(), turns[agent.call or agent.attachment or ""])
        waiting = [conversation for conversation in waiting if conversation not in ready]
    return turns


def compute_resend_cost(request: PaidRequest, unit: UnitPrices) -> float:
    """Return what it cost to write tokens again: of a write for both lifetimes, the later part."""
    write_5m = min(request.again, request.tokens.cache_write_5m)
    write_1h = request.again - write_5m
    return (write_5m * unit.cache_write_5m + write_1h * unit.cache_write_1h) / MILLION


def drop_output(tokens: Tokens) -> Tokens:
    """Return the input tokens of a response alone."""
    return replace(tokens, output=0, web_searches=0)


def compute_input_cost(response: BilledResponse, prices: Prices) -> float | None:
    """Return the cost of a response's input, or None where it has no price."""
    tokens = response.tokens
    unit = prices.unit(response.model, tokens, response.time)
    if unit is None:
        return None
    if unit.unknown:
        return unit.cost(drop_output(tokens))
    # the common case without a copy of the tokens: all responses of an archive are counted like
    # this
    return (
        unit.input * tokens.input
        + unit.cache_write_5m * tokens.cache_write_5m
        + unit.cache_write_1h * tokens.cache_write_1h
        + unit.cache_read * tokens.cache_read
    ) / MILLION


def _find_carried(
    opened: "OpenSession", resumption: "Resumption", turns: Mapping[str, int], prices: Prices
) -> tuple[CarriedItem, ...]:
    """Return the largest parts of a context, paid for by the requests that led to it."""
    from plait.view.context import measure_fills

    context, file = resumption.context, opened.session.file
    if file is None:
        return ()
    chain = frozenset(context.chain)
    requests = list_paid_requests(opened.sent_lines(file.path))
    in_context = [request for request in requests if request.uuid in chain]
    fills = measure_fills(context, resumption.contributions, turns)
    measure = resumption.next_prompt.measure
    rates = [_find_rates(request, prices) for request in in_context]
    lines = [request.line for request in in_context]
    carried_until = [0.0, *accumulate(rate.carrying if rate else 0.0 for rate in rates)]
    items = []
    for fill in fills:
        for item in fill.largest if fill.kind != "rereads" else ():
            first = bisect_right(lines, item.line or 0)
            carriers = rates[first:]
            tokens = round(item.tokens * measure)
            cost: float | None = 0.0
            if carriers:
                entering = carriers[0].entering if carriers[0] else 0.0
                per_token = entering + carried_until[-1] - carried_until[first + 1]
                cost = tokens * per_token / MILLION if any(carriers) else None
            items.append(
                CarriedItem(
                    kind=fill.kind,
                    words=item.words,
                    tokens=tokens,
                    turn=item.turn,
                    uuid=item.uuid,
                    requests=len(carriers),
                    cost_usd=cost,
                )
            )
    items.sort(key=lambda item: -item.tokens)
    return tuple(items[:MOST_CARRIED])


class _Rates(Struct, frozen=True):
    """What one request paid per million tokens."""

    entering: float
    """For tokens that came in with it."""
    carrying: float
    """For tokens that were in context before."""


def _find_rates(request: PaidRequest, prices: Prices) -> _Rates | None:
    tokens = request.tokens
    unit = prices.unit(request.model, tokens, request.time)
    if unit is None:
        return None
    entering = unit.input
    if tokens.cache_write:
        written = tokens.cache_write_5m * unit.cache_write_5m
        written += tokens.cache_write_1h * unit.cache_write_1h
        entering = written / tokens.cache_write
    parts = request.parts
    known = parts.read + parts.again
    spent = parts.read * unit.cache_read + parts.again * entering
    return _Rates(entering, spent / known if known else 0.0)


def round_floats(value: Any) -> Any:
    """Return a JSON value with all floats rounded to the decimals of dollars."""
    if isinstance(value, dict):
        return {key: round_floats(each) for key, each in value.items()}
    if isinstance(value, list):
        return [round_floats(each) for each in value]
    return round(value, DECIMALS) if isinstance(value, float) else value


def find_jumps(requests: Sequence[WhyRequest]) -> tuple[WhyRequest, ...]:
    """Return the requests that cost far more than the median, or mostly for resent tokens."""
    costs = sorted(request.cost_usd or 0.0 for request in requests)
    median = costs[len(costs) // 2] if costs else 0.0

    def is_jump(request: WhyRequest) -> bool:
        cost, again = request.cost_usd or 0.0, request.again_cost_usd or 0.0
        return cost > JUMP_FACTOR * median or again * 2 > cost

    by_cost = sorted(filter(is_jump, requests), key=lambda request: -(request.cost_usd or 0.0))
    shown = by_cost[:MOST_JUMPS]
    return tuple(request for request in requests if request in shown)


def format_cause(cause: MissCause, gap_seconds: float | None) -> str:
    """Return the name of a cause; of a pause with its length."""
    if cause == "pause" and gap_seconds:
        return f"pause of {format_hours(gap_seconds * 1000)}"
    return CAUSE_NAMES[cause]


def format_unknown(tokens: int) -> str:
    """Return how many new tokens may have been cached before."""
    return (
        f"{format_tokens(tokens)} of the new tokens may already have been cached: "
        "the request before them is not in the log"
    )


def format_reason(request: WhyRequest) -> str:
    """Return why a request cost what it did: its cause, else its new tokens, else its answer."""
    words = ""
    if request.cause:
        words = format_cause(request.cause, request.gap_seconds)
    elif request.new > request.read:
        words = f"{format_tokens(request.new)} new"
    elif request.output:
        words = f"{format_tokens(request.output)} of output"
    return f"{words} (agent)" if request.agent else words


def format_saving(least: float, most: float) -> str:
    """Return a range of dollars, as one amount if both ends are equal."""
    if most - least < 0.005:
        return format_money(most)
    if not least:
        return f"up to {format_money(most)}"
    return f"{format_money(least)} to {format_money(most)}"


def format_saving_share(least: float, most: float, total: float) -> str:
    """Return what part of a sum of dollars a range is, at both of its ends."""
    if total <= 0 or not most:
        return ""
    low, high = (f"{100 * value / total:.0f}" for value in (least, most))
    if low == high:
        return f"{high}%"
    return f"{low} to {high}%" if least else f"up to {high}%"
