"""An archive to what was paid for and need not have been: findings, the dearest first.

Each thing that was lost is counted where the response is that paid for it. What a finding comes
to is a range: from what was surely in vain to all of it.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from msgspec.structs import replace

from plait.archive.accounting import Owned, input_cost
from plait.archive.model import Session
from plait.conversation.prices import Prices, Unit
from plait.conversation.usage import BilledResponse
from plait.conversation.waste import Loss, WasteKind
from plait.conversation.waste.findings import Evidence, Waste, WasteFinding

if TYPE_CHECKING:
    from plait.archive.archive import Archive

MILLION = 1_000_000
MUCH_DEARER = 3
"""Times what an answer of the small model costs, from which on a model is dear."""

ADVICE: dict[WasteKind, str] = {
    "pause": "go on before the cache is cold, or trim what is sent before you go on after a pause",
    "process": "stay in one process; a session that is resumed sends all of it anew",
    "model": "change the model at the start of a task, or in a fork of its own",
    "changed": "change versions, tools and instructions between sessions, not within one",
    "rewind": "nothing: it costs what was sent since the place it goes back to",
    "unexplained": "nothing that the log tells of explains it",
    "reread": "the file still stood in the context: ask for what changed, or trim stale reads",
    "giant": "read a part, or filter in the command; `plait trim` cuts what is there",
    "unused": "nothing later named it: look for it with a search before reading all of it",
    "startup": "an agent costs its instructions first: send one out for larger tasks",
    "retry": "it had failed in the same words: say what to try instead",
    "abandoned": "answers that nobody went on from: fork or rewind earlier",
    "oversized": "ask small things of a small model, in a session of its own",
}


def waste_of(
    archive: "Archive",
    prices: Prices,
    since: datetime | None = None,
    until: datetime | None = None,
    sessions: Sequence[Session] | None = None,
    owned: Owned | None = None,
) -> Waste:
    """Returns what was paid for in vain in some sessions or all, by kind, the dearest first."""
    sessions = archive.sessions if sessions is None else sessions
    owned = owned or Owned(archive.responses(), archive.sessions)
    found = _Found(prices, since, until)
    found.abandon(archive, sessions, owned)
    names = {file.path: one.id for one in sessions for file in one.files}
    for file, lost in archive.answers.losses(sessions):
        found.take(names[file.path], owned.of(file.path), lost)
    return found.told(len(sessions))


class _Found:
    """Findings while they are put together."""

    def __init__(self, prices: Prices, since: datetime | None, until: datetime | None) -> None:
        self._prices = prices
        self._since, self._until = since, until
        self._kinds: dict[WasteKind, WasteFinding] = {}
        self._input = 0.0
        self._left: frozenset[str] = frozenset()
        """The answers that nobody went on from: they are lost as a whole."""

    def take(
        self, session: str, billed: Mapping[str, BilledResponse], lost: Iterable[Loss]
    ) -> None:
        """Takes in what was lost in one file, as far as its responses are counted there."""
        for one in billed.values():
            if self._is_within(one.time):
                self._input += input_cost(one, self._prices) or 0.0
        for loss in lost:
            response = billed.get(loss.response)
            if response and response.uuid not in self._left and self._is_within(response.time):
                self._add(session, loss, response)

    def _is_within(self, time: datetime | None) -> bool:
        if time is None:
            return self._since is None and self._until is None
        is_late = self._since is None or time >= self._since
        return is_late and (self._until is None or time < self._until)

    def _add(self, session: str, loss: Loss, response: BilledResponse) -> None:
        unit = self._prices.unit(response.model, response.tokens, response.time)
        if unit is None:
            return
        cost = _cost(loss, unit)
        if loss.kind == "oversized":
            cost -= self._cost_of_smaller(loss, response, unit, cost)
        if cost > 0:
            time = response.time
            one = Evidence(
                session=session, uuid=loss.uuid, time=time, cost_usd=cost, about=loss.subject
            )
            self._kinds.setdefault(loss.kind, WasteFinding(kind=loss.kind)).add(one, loss)

    def _cost_of_smaller(
        self, loss: Loss, response: BilledResponse, unit: Unit, cost: float
    ) -> float:
        """Returns what the small model of the day would have taken; the same where none is far."""
        from plait.conversation.prices.smaller import smaller_model

        tokens = replace(response.tokens, speed=None)
        name = smaller_model(response.model or "")
        small = self._prices.unit(name, tokens, response.time) if name else None
        if small is None or unit.output < MUCH_DEARER * small.output:
            return cost
        return _cost(loss, small)

    def abandon(self, archive: "Archive", sessions: Sequence[Session], owned: Owned) -> None:
        """Takes in the answers on branches that were left."""
        names = {one.id for one in sessions}
        answers = [
            one
            for one in owned.responses
            if one.session in names and self._is_within(one.time) and one.uuid
        ]
        self._left = archive.abandoned(answers, sessions)
        for one in answers:
            cost = (
                self._prices.cost(one.model, one.tokens, one.time)
                if one.uuid in self._left
                else None
            )
            if cost:
                told = Evidence(session=one.session, uuid=one.uuid, time=one.time, cost_usd=cost)
                loss = Loss("abandoned", "", 0, one.model, None, None, certain=0.0)
                self._kinds.setdefault("abandoned", WasteFinding(kind="abandoned")).add(told, loss)

    def told(self, sessions: int) -> Waste:
        """Returns all of it, the dearest first."""
        found = [one.finish(ADVICE[one.kind]) for one in self._kinds.values()]
        found.sort(key=lambda one: -one.cost_usd)
        total = sum(one.cost_usd for one in found)
        return Waste(
            findings=found,
            total_usd=total,
            least_usd=sum(one.least_usd for one in found),
            input_usd=self._input,
            share_of_input=total / self._input if self._input else None,
            sessions=sessions,
        )


def _cost(loss: Loss, unit: Unit) -> float:
    return (
        loss.input * unit.input
        + loss.output * unit.output
        + loss.write_5m * unit.cache_write_5m
        + loss.write_1h * unit.cache_write_1h
        + loss.read * unit.cache_read
    ) / MILLION
