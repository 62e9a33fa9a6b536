"""What Claude will see of a session to how much of the window each message fills.

No tokenizer is at hand, so the tokens of a message are estimated from its characters. What the
last answer says of its input is exact; the difference is what no log holds: the system prompt
and the descriptions of the tools.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any, Literal, TypeAlias

from msgspec import Struct

from plait.conversation.next_prompt import NextPrompt
from plait.conversation.prices import Prices
from plait.graph.client.model import Context, LeftOut
from plait.graph.client.weigh import tokens_in
from plait.view.amounts import money_in_words, time_in_words, tokens_in_words
from plait.view.context_fill import Fill, Written, fills_of
from plait.view.edits import NextCost
from plait.view.forms import minute_of
from plait.view.words import block_names, first_words

WindowPart: TypeAlias = Literal[
    "system", "prompts", "answers", "thinking", "calls", "results", "media"
]
PARTS: tuple[WindowPart, ...] = (
    "system",
    "prompts",
    "answers",
    "thinking",
    "calls",
    "results",
    "media",
)
WINDOW, LARGE_WINDOW = 200_000, 1_000_000
MOST_LISTED = 200
WORDS = 160


class Weight(Struct, frozen=True, gc=False):
    """One message, and about how many tokens it takes."""

    number: int
    role: str
    words: str
    blocks: str
    tokens: int


class Omitted(Struct, frozen=True):
    """Records that no message shows, for one reason."""

    reason: str
    count: int
    records: tuple[tuple[str, int], ...]
    """The first of them: uuid and line."""


class NextSent(Struct, frozen=True):
    """What is sent before the words of the next prompt, and what that costs."""

    tokens: int
    cost_usd: NextCost
    cold_at: datetime | None = None
    """When the cache will have forgotten it; None where nothing says."""

    @property
    def sentence(self) -> str:
        """Says so."""
        sent = f"the next prompt sends {tokens_in_words(self.tokens)} tokens"
        warm, cold = self.cost_usd.warm, self.cost_usd.cold
        if warm is None or cold is None:
            return sent
        return f"{sent}: {money_in_words(warm)} from a warm cache, {money_in_words(cold)} cold"

    def is_warm(self, now: datetime) -> bool:
        """Tells whether the cache still holds it."""
        return self.cold_at is not None and now <= self.cold_at

    def standing(self, now: datetime) -> str:
        """Says which of both it is now, "" where nothing says."""
        if self.cold_at is None or self.cost_usd.warm is None:
            return ""
        if not self.is_warm(now):
            return f"it is cold since {minute_of(self.cold_at.astimezone())}"
        left = time_in_words((self.cold_at - now).total_seconds() * 1000) or "a moment"
        return f"it is warm for {left} more"


class Weighed(Struct, frozen=True, kw_only=True):
    """What Claude will see when a session is resumed, message by message."""

    session: str
    resumes: bool
    why_not: str | None
    leaf: str | None
    records: int
    """That the messages are made from."""
    tokens: int | None
    """What the last answer left in the window, exactly; None where none says."""
    estimated: int
    """Of all messages."""
    window: int
    """The ordinary one, or the large one where more is in it; the log does not say."""
    parts: dict[WindowPart, int]
    """Estimates by what fills them; `system` is what the log does not hold."""
    messages: tuple[Weight, ...]
    left_out: tuple[Omitted, ...]
    fills: tuple[Fill, ...] = ()
    """The same by what it is, the largest of each kind named."""
    turns: int = 0
    """Of the conversation that goes on."""
    next_prompt: NextSent | None = None
    """None where nothing says how many tokens it sends."""


def next_sent(given: NextPrompt, prices: Prices) -> NextSent | None:
    """Returns what is told of the next prompt, None where nothing says how many tokens it sends."""
    if given.tokens is None:
        return None
    cost = NextCost(given.warm_usd(prices), given.cold_usd(prices))
    return NextSent(given.tokens, cost, given.cold_at)


def context_window(
    session: str,
    found: Context,
    measured: int | None,
    written: Iterable[Written] = (),
    turns: Mapping[str, int] | None = None,
) -> Weighed:
    """Returns what Claude will see of a session, weighed; measured is what the log says.

    With what each record has sent, and the turns of records, it is also told where things stand.
    """
    messages = tuple(_weights(found))
    parts = Counter[WindowPart]()
    for role, blocks in found.request:
        for block in blocks:
            parts[_part_of(role, block)] += tokens_in(block)
    estimated = sum(one.tokens for one in messages)
    parts["system"] += max((measured or 0) - estimated, 0)
    return Weighed(
        session=session,
        resumes=found.resumes,
        why_not=found.why_not,
        leaf=found.leaf,
        records=len(found.chain),
        tokens=measured,
        estimated=estimated,
        window=LARGE_WINDOW if max(measured or 0, estimated) > WINDOW else WINDOW,
        parts={name: parts[name] for name in PARTS if parts[name]},
        messages=messages,
        left_out=tuple(_omitted(found.left_out)),
        fills=fills_of(found, written, turns),
        turns=max((turns or {}).values(), default=0),
    )


def _weights(context: Context) -> Iterator[Weight]:
    for number, (role, blocks) in enumerate(context.request, 1):
        tokens = sum(tokens_in(block) for block in blocks)
        words = first_words(blocks)[:WORDS]
        yield Weight(number, role, words, block_names(blocks), tokens)


def _part_of(role: str, block: Mapping[str, Any]) -> WindowPart:
    match block.get("type"):
        case "tool_use" | "server_tool_use":
            return "calls"
        case "tool_result":
            return "results"
        case "thinking" | "redacted_thinking":
            return "thinking"
        case "image" | "document":
            return "media"
        case _:
            return "answers" if role == "assistant" else "prompts"


def _omitted(left_out: Iterable[LeftOut]) -> Iterator[Omitted]:
    by_reason: dict[str, list[LeftOut]] = {}
    for one in left_out:
        by_reason.setdefault(str(one.reason), []).append(one)
    for reason, found in sorted(by_reason.items(), key=lambda pair: -len(pair[1])):
        records = tuple((one.uuid, one.line) for one in found[:MOST_LISTED])
        yield Omitted(reason, len(found), records)
