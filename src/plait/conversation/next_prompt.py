"""What the next prompt of a session sends: its tokens, and its cost with and without a cache.

The usage of the last response says exactly how many tokens preceded it and how many it added. What
came after it, and what a trim removed before it, is estimated from characters. The estimate is
calibrated by the session itself: each response says by how many tokens the request had grown since
the one before, and the median ratio of growth to estimate is the session's own factor.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from dataclasses import replace as replace_fields
from datetime import datetime, timedelta
from itertools import pairwise
from statistics import median

from msgspec.structs import replace

from plait.conversation.prices import Prices
from plait.conversation.usage import SYNTHETIC, Tokens, parse_tokens
from plait.graph.client import list_contributions
from plait.graph.client.entries import Block, is_boundary
from plait.graph.client.tokens import estimate_block_tokens
from plait.record import Record
from plait.record.prompts import is_human_prompt

LEAST_WEIGHED = 100
"""Smaller estimates do not count for the factor."""
FEWEST = 3
"""With fewer responses to learn from, the factor is 1."""
LOWEST, HIGHEST = 0.5, 2.0
"""Limits of the factor: no tokenizer is further from the estimates, so larger deviations have
another cause.
"""
HOUR, MINUTES = timedelta(hours=1), timedelta(minutes=5)


@dataclass(frozen=True, slots=True)
class NextPrompt:
    """What is sent before the text of the next prompt, and its cost."""

    tokens: int | None
    """None if no response has usage."""
    weight: int
    """The estimated tokens of the messages, without correction and without what no log contains."""
    trimmed: int
    """What a trim removed from them, estimated the same way."""
    measure: float
    """Tokens by usage per estimated token."""
    requests_per_turn: float
    """The median of its turns."""
    model: str | None = None
    used: Tokens | None = None
    """Tokens used by the last response."""
    time: datetime | None = None
    """The time of the last response."""
    lasts: timedelta = MINUTES
    """How long the cache keeps what is written."""

    def warm_usd(self, prices: Prices) -> float | None:
        """Return its cost while the cache holds all of it; None if unknown."""
        return self._cost(prices, Tokens(cache_read=self.tokens or 0))

    def cold_usd(self, prices: Prices) -> float | None:
        """Return its cost when all of it is written to the cache again."""
        is_hour = self.lasts == HOUR
        written = self.tokens or 0
        tokens = Tokens(cache_write_1h=written) if is_hour else Tokens(cache_write_5m=written)
        return self._cost(prices, tokens)

    def _cost(self, prices: Prices, tokens: Tokens) -> float | None:
        if self.tokens is None or self.used is None:
            return None
        used = self.used
        asked = replace(tokens, tier=used.tier, speed=used.speed, geo=used.geo)
        return prices.cost(self.model, asked, self.time)

    @property
    def cold_at(self) -> datetime | None:
        """When the cache expires for what the last response read; None if unknown."""
        return self.time + self.lasts if self.time else None

    def is_cold(self, now: datetime) -> bool:
        """Return whether the cache of the last response has expired."""
        return self.cold_at is None or now > self.cold_at


def estimate_next_prompt(
    records: Iterable[Record],
    size: int,
    written: Iterable[tuple[Record, list[Block]]] | None = None,
) -> NextPrompt:
    """Return what the next prompt of a session sends, for a file of this size.

    What each record sends may be given.
    """
    held = list(records)
    sent = list_contributions(held, size) if written is None else written
    chain = [_Link.of(*item) for item in sent]
    answers = _answers(chain)
    weight = sum(link.weight for link in chain)
    trimmed = sum(link.trimmed for link in chain)
    turns: list[set[str | None]] = [set()]
    for link in chain:
        record = link.record
        if record.type == "assistant":
            turns[-1].add(record.message_id or record.uuid)
        elif is_human_prompt(record):
            turns.append(set())
    counts = [len(turn) for turn in turns if turn]
    requests = float(median(counts)) if counts else 1.0
    measure = _measure(chain, answers)
    if not answers:
        found = NextPrompt(None, weight, trimmed, measure, requests)
        return _after_compaction(found, held) if chain else found
    last = answers[-1]
    read = chain[: last.end]
    counted = sum(link.weight + link.trimmed for link in read)
    measure = min(measure, last.in_context / counted) if counted else measure
    gone = sum(link.trimmed for link in read)
    since = sum(link.weight for link in chain[last.end :])
    tokens = last.in_context + round(measure * (since - gone))
    if _begins_after_gap(chain, held):
        # the last response read what the client no longer sends
        tokens = min(tokens, _least_input(held) + round(measure * weight))
    return NextPrompt(
        tokens=max(tokens, 0),
        weight=weight,
        trimmed=trimmed,
        measure=measure,
        requests_per_turn=requests,
        model=last.model,
        used=last.used,
        time=last.time,
        lasts=_lasts(answers),
    )


def _after_compaction(found: NextPrompt, records: Iterable[Record]) -> NextPrompt:
    """Return what is sent if only requests before the compaction were answered.

    The smallest of them contained little more than what every request of the session contains.
    """
    held = list(records)
    answers = _all_answers(held)
    if not answers:
        return found
    last = answers[-1]
    return replace_fields(
        found,
        tokens=_least_input(held) + found.weight,
        model=last.model,
        used=last.used,
        time=last.time,
        lasts=_lasts(answers),
    )


def _all_answers(records: Iterable[Record]) -> list["_Answer"]:
    links = [_Link(record, 0, 0) for record in records]
    return [answer for answer in _answers(links, since=0) if answer.used.total_input]


def _least_input(records: Iterable[Record]) -> int:
    """Return the tokens of the smallest request: little more than what all requests contain."""
    return min((answer.used.total_input for answer in _all_answers(records)), default=0)


def _begins_after_gap(chain: Sequence["_Link"], records: Sequence[Record]) -> bool:
    """Return whether the client cannot reach earlier responses because a parent is missing.

    U1 ── A1 ── (lost)      U2 ── A2      U2 names the lost record: U1 A1 are not sent again
    """
    first = chain[0].record
    uuid = first.parent_uuid
    if not uuid:
        return False
    parents = {record.uuid: record.parent_uuid for record in records if record.uuid}
    seen: set[str] = set()
    while uuid in parents and uuid not in seen:
        seen.add(uuid)
        uuid = parents[uuid]
    is_missing = uuid is not None and uuid not in parents
    return is_missing and any(
        record.type == "assistant" and not record.is_sidechain and record.line < first.line
        for record in records
    )


def compute_break_even_turns(
    sent: NextPrompt,
    *,
    warm: float | None,
    warm_after: float | None,
    cold_after: float | None,
    now: datetime,
) -> float | None:
    """Return after how many turns a cut has paid for rewriting the cache.

    It costs one cache write of what remains; each later request then saves reading what was
    removed. If the cache has expired anyway, nothing is spent; None if the cut never pays, or costs
    are unknown.
    """
    if warm is None or warm_after is None or cold_after is None or warm_after >= warm:
        return None
    if sent.is_cold(now):
        return 0.0
    return cold_after / ((warm - warm_after) * sent.requests_per_turn)


@dataclass(frozen=True, slots=True)
class _Link:
    """A record of the chain with its estimated tokens."""

    record: Record
    weight: int
    trimmed: int

    @classmethod
    def of(cls, record: Record, blocks: list[Block]) -> "_Link":
        return cls(record, sum(map(estimate_block_tokens, blocks)), record.trimmed_tokens)


@dataclass(slots=True)
class _Answer:
    """A response of the chain with usage."""

    key: str | None
    model: str | None
    used: Tokens
    time: datetime | None
    start: int
    """The position of its first record."""
    end: int
    """The position after its last."""

    @property
    def in_context(self) -> int:
        return self.used.total_input + self.used.output


def _answers(chain: Sequence[_Link], since: int | None = None) -> list[_Answer]:
    """Return the responses that read what is sent now: those since the last compaction.

    A response that a compaction preserved came before it, and says how much was sent then.
    """
    boundaries = (link.record.line for link in chain if is_boundary(link.record))
    first = max(boundaries, default=0) if since is None else since
    found: list[_Answer] = []
    for place, link in enumerate(chain):
        record = link.record
        if record.type != "assistant" or record.line < first or record.is_sidechain:
            continue
        message = record.message
        if message is None or message.usage is None or message.model == SYNTHETIC:
            continue
        used = parse_tokens(message.usage)
        if not used.total:
            continue
        key = message.id or record.request_id
        if found and key and found[-1].key == key:
            found[-1].end = place + 1
            if used.output >= found[-1].used.output:
                found[-1].used = used
        else:
            found.append(_Answer(key, message.model, used, record.time, place, place + 1))
    return found


def _measure(chain: Sequence[_Link], answers: Sequence[_Answer]) -> float:
    """Return the session's factor: tokens by usage per estimated token."""
    shares: list[float] = []
    for answer, following in pairwise(answers):
        grown = following.used.total_input - answer.used.total_input
        between = chain[answer.start : following.start]
        weight = sum(link.weight + link.trimmed for link in between)
        if answer.model == following.model and grown > 0 and weight >= LEAST_WEIGHED:
            shares.append(grown / weight)
    if len(shares) < FEWEST:
        return 1.0
    return min(max(median(shares), LOWEST), HIGHEST)


def _lasts(answers: Sequence[_Answer]) -> timedelta:
    """Return how long the cache keeps what was last written to it, if all of it was."""
    for answer in reversed(answers):
        if answer.used.cache_write:
            return MINUTES if answer.used.cache_write_5m else HOUR
    return MINUTES
