"""An archive to what was paid for and need not have been: findings, the dearest first.

Each thing that was lost is counted where the response is that paid for it. What a finding comes
to is a range: from what was surely in vain to all of it.
"""

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from plait.archive.accounting import Owned, input_cost
from plait.archive.model import Session
from plait.archive.usage import counted_files
from plait.conversation.prices import Prices, Unit
from plait.conversation.spending import is_within
from plait.conversation.usage import BilledResponse
from plait.conversation.waste import Loss, WasteKind
from plait.conversation.waste.findings import Evidence, SessionWaste, Waste, WasteFinding

if TYPE_CHECKING:
    from plait.archive.archive import Archive

MILLION = 1_000_000
MUCH_DEARER = 3
"""Times what an answer of the small model costs, from which on a model is dear."""

ADVICE: dict[WasteKind, str] = {
    "pause": "go on before the cache is cold, or trim what is sent before you go on after a pause",
    "process": "stay in one process: one that resumes or forks sends most of it anew",
    "model": "change the model at the start of a task, or in a fork of its own",
    "changed": "change versions, tools and instructions between sessions, not within one",
    "rewind": "go back within minutes: the cache forgets a place that nobody goes on from",
    "unexplained": "nothing in the log says what to change; where it is much, report the requests",
    "reread": "the file still stood in the context: ask for what changed, or trim stale reads",
    "giant": "read a part, or filter in the command; `plait trim` cuts what is there",
    "unused": "nothing later named it: look for it with a search before reading all of it",
    "startup": "an agent costs its instructions first: send one out for larger tasks",
    "retry": "it had failed in the same words: say what to try instead",
    "abandoned": "answers that nobody went on from: fork or rewind earlier",
    "oversized": "ask small things of a small model, in a session of its own",
}


class CountedWaste(NamedTuple):
    """What was paid for in vain, and the part of each session in it."""

    waste: Waste
    parts: Sequence[tuple[Session, SessionWaste]]


def waste_of(
    archive: "Archive",
    sessions: Sequence[Session],
    prices: Prices,
    since: datetime | None,
    until: datetime | None,
) -> Waste:
    """Returns what was paid for in vain in some sessions, by kind, the dearest first."""
    if since is None and until is None:
        return summed(archive.answers.wasted(sessions, prices))
    return summed(wasted_in(archive, sessions, prices, since, until))


def wasted_in(
    archive: "Archive",
    sessions: Sequence[Session],
    prices: Prices,
    since: datetime | None = None,
    until: datetime | None = None,
    owned: Owned | None = None,
) -> list[SessionWaste]:
    """Returns what was paid for in vain in each of some sessions."""
    owned = owned or Owned(archive.responses(), archive.sessions)
    billed = {
        file.path: _within(owned.of(file.path), since, until)
        for one in sessions
        for file in counted_files(one)
    }
    answers = [one for several in billed.values() for one in several.values() if one.uuid]
    left = archive.abandoned(answers, sessions)
    lost = {found.file.path: found.losses for found in archive.answers.losses(sessions)}
    told = []
    for session in sessions:
        found = _Found(session.id, prices, left)
        for file in counted_files(session):
            found.take(billed[file.path], owned.explained(lost[file.path], session.id))
        told.append(found.told())
    return told


def _within(
    billed: Mapping[str, BilledResponse], since: datetime | None, until: datetime | None
) -> Mapping[str, BilledResponse]:
    if since is None and until is None:
        return billed
    return {name: one for name, one in billed.items() if is_within(one.time, since, until)}


class _Found:
    """What was paid for in vain in one session, while it is put together."""

    def __init__(self, session: str, prices: Prices, left: Container[str]) -> None:
        self._session = session
        self._prices = prices
        self._left = left
        self._kinds: dict[WasteKind, WasteFinding] = {}
        self._input = 0.0

    def take(self, billed: Mapping[str, BilledResponse], lost: Iterable[Loss]) -> None:
        """Takes in what was lost in one file, as far as its responses are counted there."""
        for one in billed.values():
            self._input += input_cost(one, self._prices) or 0.0
        for wasted in wasted_of(billed, lost, self._prices, self._left):
            self._tell(*wasted)

    def _tell(self, loss: Loss, response: BilledResponse, cost: float) -> None:
        one = Evidence(
            session=self._session,
            response=loss.response,
            uuid=loss.uuid,
            time=response.time,
            cost_usd=cost,
            about=loss.subject,
        )
        self._kinds.setdefault(loss.kind, WasteFinding(kind=loss.kind)).add(one, loss)

    def told(self) -> SessionWaste:
        """Returns all of it."""
        found = list(self._kinds.values())
        for one in found:
            one.shorten()
        return SessionWaste(input_usd=self._input, findings=found)


class Wasted(NamedTuple):
    """Something that was paid for in vain, the response that paid, and what that cost."""

    loss: Loss
    response: BilledResponse
    cost: float


def wasted_of(
    billed: Mapping[str, BilledResponse],
    lost: Iterable[Loss],
    prices: Prices,
    left: Container[str | None],
) -> Iterator[Wasted]:
    """Yields what was paid for in vain in one file, as far as its responses are counted there.

    The answers that nobody went on from are lost as a whole.
    """
    for name, one in billed.items():
        cost = prices.cost(one.model, one.tokens, one.time) if one.uuid in left else None
        if cost:
            loss = Loss("abandoned", name, 0, one.model, None, None, certain=0.0, uuid=one.uuid)
            yield Wasted(loss, one, cost)
    for loss in lost:
        response = billed.get(loss.response)
        if response and response.uuid not in left:
            cost = _cost_of(loss, response, prices)
            if cost > 0:
                yield Wasted(loss, response, cost)


def _cost_of(loss: Loss, response: BilledResponse, prices: Prices) -> float:
    unit = prices.unit(response.model, response.tokens, response.time)
    if unit is None:
        return 0.0
    cost = _cost(loss, unit)
    if loss.kind == "oversized":
        cost -= _cost_of_smaller(loss, response, prices, unit, cost)
    return cost


def _cost_of_smaller(
    loss: Loss, response: BilledResponse, prices: Prices, unit: Unit, cost: float
) -> float:
    """Returns what the small model of the day would have taken; the same where none is far."""
    from plait.conversation.prices.smaller import smaller_model

    tokens = replace(response.tokens, speed=None)
    name = smaller_model(response.model or "")
    small = prices.unit(name, tokens, response.time) if name else None
    if small is None or unit.output < MUCH_DEARER * small.output:
        return cost
    return _cost(loss, small)


def summed(each: Sequence[SessionWaste]) -> Waste:
    """Returns what was lost in all sessions, the dearest first."""
    kinds: dict[WasteKind, WasteFinding] = {}
    for session in each:
        for one in session.findings:
            kinds.setdefault(one.kind, WasteFinding(kind=one.kind)).join(one)
    found = sorted(kinds.values(), key=lambda one: -one.cost_usd)
    for one in found:
        one.shorten()
        one.advice = ADVICE[one.kind]
    total, sent = sum(one.cost_usd for one in found), sum(one.input_usd for one in each)
    return Waste(
        findings=found,
        total_usd=total,
        least_usd=sum(one.least_usd for one in found),
        input_usd=sent,
        share_of_input=total / sent if sent else None,
        sessions=len(each),
    )


def _cost(loss: Loss, unit: Unit) -> float:
    return (
        loss.input * unit.input
        + loss.output * unit.output
        + loss.write_5m * unit.cache_write_5m
        + loss.write_1h * unit.cache_write_1h
        + loss.read * unit.cache_read
    ) / MILLION
