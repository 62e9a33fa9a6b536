"""A session to what each of its requests cost and why, what it carries, what comes next."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from plait.archive.carried import Carried, carried
from plait.archive.model import Session
from plait.archive.usage import Counted, counted_paths
from plait.conversation.account import Cause, PaidRequest, account_of
from plait.conversation.account.requests import UNNAMED, Held, Main, held_in
from plait.conversation.account.told import WhyRequest, WhyTotals
from plait.conversation.model import Called
from plait.conversation.prices import Prices, Unit
from plait.conversation.usage import BilledResponse, Tokens
from plait.conversation.waste import Loss, WasteKind
from plait.record.lineage import Sent, sent_lines

if TYPE_CHECKING:
    from plait.archive.archive import Archive
    from plait.archive.open_session import OpenSession
    from plait.archive.resume import Resumption
    from plait.conversation.model import Conversations, Item
    from plait.conversation.next_prompt import NextPrompt

MILLION = 1_000_000
UNTOLD = ("unexplained", "rewind")
"""What a file says of a cause that only another one tells."""
Reason = TypeVar("Reason", Cause, WasteKind)
ReadSent: TypeAlias = Callable[[Path], Iterable[tuple[int, Sent]]]
"""What gives the lines of a file, as far as they tell what was sent."""
LATEST = datetime.max.replace(tzinfo=UTC)


class WhyNext(Struct, frozen=True):
    """What the next prompt sends, and what that costs."""

    tokens: int | None
    warm_usd: float | None
    cold_usd: float | None
    is_warm: bool
    cold_at: datetime | None
    """When the cache will have forgotten it; None where nothing says."""


class Why(Struct, frozen=True, kw_only=True):
    """Why a session cost what it did."""

    session: str
    requests: tuple[WhyRequest, ...]
    totals: WhyTotals
    next: WhyNext | None
    carried: tuple[Carried, ...] = ()
    """The largest things in the context now, the largest first."""

    def of_turn(self, turn: int) -> "Why":
        """Returns the requests of one turn alone, with their sums."""
        return self._alone(tuple(one for one in self.requests if one.turn == turn))

    def beside(self, name: str) -> "Why":
        """Returns the turn of a request, by its response or the first letters of its record.

        What stands beside the turns is alone.
        """
        told = (
            one
            for one in self.requests
            if name and (one.response == name or (one.uuid or "").startswith(name))
        )
        found = next(told, None)
        if found is None or found.turn is None:
            return self._alone((found,) if found else ())
        return self.of_turn(found.turn)

    def _alone(self, requests: tuple[WhyRequest, ...]) -> "Why":
        totals = WhyTotals()
        for one in requests:
            totals.add(one)
        return replace(self, requests=requests, totals=totals)


def why_of(
    archive: "Archive",
    session: Session,
    prices: Prices,
    now: datetime,
    turn: int | str | None = None,
) -> Why:
    """Returns why a session cost what it did, request for request.

    Of a turn alone: its requests, and what stood in the context with its last answer.
    """
    opened = archive.open(session)
    turns = turns_in(opened.conversations) if opened.graph.sessions else {}
    owned = Owned(archive.responses(), archive.sessions)
    told = paid_requests(owned, session, turns, prices, opened.sent_lines)
    if turn is not None:
        told = told.beside(turn) if isinstance(turn, str) else told.of_turn(turn)
    if session.file is None:
        return told
    resumption = opened.context()
    then = resumption if turn is None else _context_after(opened, turns, told)
    return replace(
        told,
        next=_next(resumption.next_prompt, prices, now),
        carried=_carried(opened, then, turns, prices) if then else (),
    )


def _context_after(
    opened: "OpenSession", turns: Mapping[str, int], told: Why
) -> "Resumption | None":
    """Returns what stood in the context with the last answer of a turn, by its file as of then."""
    from plait.archive.resume import resumption_in

    records = opened.client_records
    turn = told.requests[0].turn if told.requests else None
    answers = (one for one in records if one.type == "assistant")
    last = max((one.line for one in answers if turns.get(one.uuid or "", 0) == turn), default=0)
    held = [one for one in records if one.line <= last]
    return resumption_in(held, held[-1].offset + len(held[-1].raw)) if held else None


def paid_requests(
    owned: "Owned",
    session: Session,
    turns: Mapping[str, int],
    prices: Prices,
    read: ReadSent = sent_lines,
) -> Why:
    """Returns the requests of a session with what each cost and why, in the order of time."""
    found: list[WhyRequest] = []
    totals = WhyTotals()
    for paid, billed in owned.requests(session, read):
        unit = prices.unit(billed.model, billed.tokens, billed.time)
        one = _told(paid, billed, unit, turns.get(paid.uuid or ""))
        found.append(one)
        totals.add(one)
    found.sort(key=lambda one: one.time or LATEST)
    return Why(session=session.id, requests=tuple(found), totals=totals, next=None)


def _carried(
    opened: "OpenSession", resumption: "Resumption", turns: Mapping[str, int], prices: Prices
) -> tuple[Carried, ...]:
    """Returns the largest things that are sent now, by the requests that led to here."""
    from plait.view.context_fill import fills_of

    context, file = resumption.context, opened.session.file
    if file is None:
        return ()
    chain = frozenset(context.chain)
    requests = [
        one for one in account_of(opened.sent_lines(file.path)).requests if one.uuid in chain
    ]
    fills = fills_of(context, resumption.written, turns)
    return carried(fills, requests, resumption.next_prompt.measure, prices)


class Owned:
    """The responses of an archive by the file that each is counted to."""

    def __init__(self, counted: Counted, sessions: Sequence[Session]) -> None:
        self.responses = counted.responses
        self._files: dict[Path, dict[str, BilledResponse]] = {}
        self._sessions: dict[str, str] = {}
        paths = counted_paths(sessions)
        for key, one in zip(counted.keys, counted.responses, strict=True):
            name = key if isinstance(key, str) else f"{UNNAMED}{key[1]}"
            self._files.setdefault(paths[one.file], {})[name] = one
            self._sessions[name] = one.session

    def of(self, path: Path) -> Mapping[str, BilledResponse]:
        """Returns the responses that are counted to a file, by what they are known by."""
        return self._files.get(path, {})

    def requests(
        self, session: Session, read: ReadSent = sent_lines
    ) -> Iterator[tuple[PaidRequest, BilledResponse]]:
        """Yields the requests that are counted to a session, with the figures that count.

        A response that several files hold is counted to one, and another may say more of it.
        """
        main = main_of(session, read)
        for file in session.files:
            if self.of(file.path):
                beside = Held if file is session.file else main
                found = account_of(read(file.path), beside)
                yield from self.counted(file.path, found.requests)

    def counted(
        self, path: Path, requests: Iterable[PaidRequest]
    ) -> Iterator[tuple[PaidRequest, BilledResponse]]:
        """Yields those of a file's requests that are counted to it, with the figures that count."""
        billed = self.of(path)
        for paid in requests:
            if found := billed.get(paid.response):
                cause = paid.cause and self._cause(paid.cause, paid.before, found.session)
                yield _as_billed(replace(paid, cause=cause), found), found

    def explained(self, lost: Iterable[Loss], session: str) -> Iterator[Loss]:
        """Yields what was lost in a session's file, by what other sessions tell of it."""
        for loss in lost:
            kind = self._cause(loss.kind, loss.before, session)
            yield replace(loss, kind=kind) if kind != loss.kind else loss

    def _cause(
        self, cause: Reason, before: str | None, session: str
    ) -> Reason | Literal["process"]:
        """Returns why something was lost that no file explains.

        What goes on from a response of another session was forked from it, or resumed, and the
        client copied what led up to it.
        """
        is_copied = self._sessions.get(before or "", session) != session
        return "process" if is_copied and cause in UNTOLD else cause


def main_of(session: Session, read: ReadSent = sent_lines) -> Main:
    """Returns what gives the lines and requests of a session's own file, read when asked for."""
    path = session.file.path if session.file else None
    return cache(lambda: held_in(read(path)) if path else Held())


def _as_billed(paid: PaidRequest, billed: BilledResponse) -> PaidRequest:
    """Returns a request with the figures that count: another file may say more of it."""
    if paid.tokens == billed.tokens:
        return paid
    again = min(paid.again, billed.tokens.cache_write)
    return replace(paid, tokens=billed.tokens, again=again, cause=paid.cause if again else None)


def _told(
    paid: PaidRequest, billed: BilledResponse, unit: Unit | None, turn: int | None
) -> WhyRequest:
    parts = paid.parts
    return WhyRequest(
        response=paid.response,
        turn=turn,
        time=billed.time,
        model=billed.model,
        read=parts.read,
        new=parts.new,
        again=parts.again,
        uncached=parts.uncached,
        output=parts.output,
        cause=paid.cause,
        cost_usd=unit.cost(billed.tokens) if unit else None,
        again_cost_usd=again_cost(paid, unit) if unit else None,
        agent=billed.agent,
        uuid=paid.uuid,
        gap_seconds=paid.gap.total_seconds() if paid.gap else None,
        input_cost_usd=unit.cost(sent_tokens(billed)) if unit else None,
        unknown=paid.unknown,
    )


def again_cost(paid: PaidRequest, unit: Unit) -> float:
    """Returns what it cost to write again; of a request that wrote for both, the later part."""
    tokens = paid.tokens
    minutes = min(paid.again, tokens.cache_write_5m)
    hour = paid.again - minutes
    return (minutes * unit.cache_write_5m + hour * unit.cache_write_1h) / MILLION


def sent_tokens(billed: BilledResponse) -> Tokens:
    """Returns what a model read for a response."""
    return replace(billed.tokens, output=0, web_searches=0)


def input_cost(billed: BilledResponse, prices: Prices) -> float | None:
    """Returns what it cost to have a model read that, None where it has no price."""
    unit = prices.unit(billed.model, billed.tokens, billed.time)
    if unit is None or unit.unknown:
        return unit.cost(sent_tokens(billed)) if unit else None
    tokens = billed.tokens
    return (
        unit.input * tokens.input
        + unit.cache_write_5m * tokens.cache_write_5m
        + unit.cache_write_1h * tokens.cache_write_1h
        + unit.cache_read * tokens.cache_read
    ) / MILLION


def turns_in(told: "Conversations") -> Mapping[str, int]:
    """Returns the turns of the conversation that goes on, by record and by call.

    What an agent did belongs to the turn that it was sent out in.
    """
    found: dict[str, int] = {}
    for turn in told.active.turns:
        _place(found, turn.items, turn.number)
    waiting = [one for one in told.by_line.values() if one.agent]
    while placed := [one for one in waiting if (one.call or one.attachment or "") in found]:
        for one in placed:
            _place(found, one.items(), found[one.call or one.attachment or ""])
        waiting = [one for one in waiting if one not in placed]
    return found


def _place(found: dict[str, int], items: "Iterable[Item]", turn: int) -> None:
    for item in items:
        if item.uuid:
            found.setdefault(item.uuid, turn)
        if isinstance(item, Called):
            found.setdefault(item.call, turn)


def _next(given: "NextPrompt", prices: Prices, now: datetime) -> WhyNext:
    warm, cold = given.warm_usd(prices), given.cold_usd(prices)
    return WhyNext(given.tokens, warm, cold, not given.is_cold(now), given.cold_at)
