"""What Claude will see of a session: the window's parts, its messages and what fills it.

Without a tokenizer, the tokens of a message are estimated from its characters. The input of the
last response is known exactly; the difference is what logs do not contain: the system prompt and
the descriptions of tools. Every block counts to one kind of `Fill`, so kinds add up to all
messages; files that were read more than once are listed as well.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from hashlib import blake2b
from typing import Any, Literal, TypeAlias

from msgspec import Struct

from plait.conversation.next_prompt import NextPrompt
from plait.conversation.prices import Prices
from plait.conversation.tools import get_tool
from plait.graph.client.entries import Block, Context, LeftOut
from plait.graph.client.tokens import estimate_block_tokens
from plait.record import Record
from plait.view.calls import find_first_text, format_tool_name, relative_path, take_first_line
from plait.view.formats import format_duration, format_minute, format_money, format_tokens
from plait.view.summaries import format_block_kinds, summarize_blocks
from plait.view.text import shorten

FillKind: TypeAlias = Literal[
    "results", "reports", "thinking", "pictures", "reminders", "calls", "answers", "prompts"
]
SentRecord: TypeAlias = tuple[Record, list[Block]]
"""A record and the blocks sent of it."""
REREADS: Literal["rereads"] = "rereads"
MOST = 25
"""Items of one kind that are listed, largest first."""
WORDS = 160
REMINDER = "<system-reminder>"


class NextCost(Struct, frozen=True):
    """What the next prompt of a session costs, in dollars."""

    warm: float | None
    """While the cache still holds what is sent."""
    cold: float | None
    """When all of it is written to the cache again."""


NO_COST = NextCost(None, None)


class FillItem(Struct, frozen=True, kw_only=True):
    """Something that is sent, with its estimated tokens."""

    words: str
    tokens: int
    message: int
    """The number of the message that contains it."""
    turn: int | None = None
    """The turn it was added in; None if before the first turn."""
    uuid: str | None = None
    line: int | None = None
    calls: tuple[str, ...] = ()
    """The calls it is the result of."""
    times: int = 1
    """How often it is sent."""


class Fill(Struct, frozen=True):
    """All items of one kind."""

    kind: Literal[FillKind, "rereads"]
    count: int
    tokens: int
    """Of repeated reads, those of all but the last."""
    largest: tuple[FillItem, ...]


@dataclass(frozen=True, slots=True)
class _Place:
    uuid: str
    line: int
    directory: str | None


@dataclass(frozen=True, slots=True)
class _Call:
    name: str
    words: str
    path: str | None
    """The file that it reads, if it reads one."""


@dataclass(frozen=True, slots=True)
class _SentItem:
    kind: FillKind
    item: FillItem
    call: _Call | None = None


def measure_fills(
    context: Context,
    sent_records: Iterable[SentRecord] = (),
    turns: Mapping[str, int] | None = None,
) -> tuple[Fill, ...]:
    """Return what fills a context, the largest kind first, then repeated reads.

    `sent_records` say where each block was written, `turns` in which turn a record was added.
    """
    places: dict[str, _Place] = {}
    for record, blocks in sent_records:
        place = _Place(record.uuid or "", record.line, record.cwd)
        for block in blocks:
            places.setdefault(_make_block_key(block), place)
    kinds: dict[FillKind, list[FillItem]] = {}
    reminders: dict[tuple[str, int], list[FillItem]] = {}
    reads: dict[str, list[FillItem]] = {}
    for sent in _iter_sent(context, places, turns or {}):
        kinds.setdefault(sent.kind, []).append(sent.item)
        if sent.kind == "reminders":
            reminders.setdefault((sent.item.words, sent.item.tokens), []).append(sent.item)
        if sent.kind == "results" and sent.call and sent.call.path:
            reads.setdefault(sent.call.path, []).append(sent.item)
    fills = []
    for kind, items in kinds.items():
        shown = items
        if kind == "reminders":
            shown = [_merge_items(group[0], group, group[0].words) for group in reminders.values()]
        largest = sorted(shown, key=lambda item: -item.tokens)[:MOST]
        fills.append(Fill(kind, len(items), sum(item.tokens for item in items), tuple(largest)))
    fills.sort(key=lambda fill: -fill.tokens)
    # Of a file that was read more than once, all reads but the last count.
    rereads = [
        _merge_items(items[0], items[:-1], path) for path, items in reads.items() if len(items) > 1
    ]
    if rereads:
        rereads.sort(key=lambda item: -item.tokens)
        count, tokens = sum(item.times for item in rereads), sum(item.tokens for item in rereads)
        fills.append(Fill(REREADS, count, tokens, tuple(rereads[:MOST])))
    return tuple(fills)


def _merge_items(first: FillItem, items: list[FillItem], words: str) -> FillItem:
    return FillItem(
        words=words,
        tokens=sum(item.tokens for item in items),
        message=first.message,
        turn=first.turn,
        uuid=first.uuid,
        line=first.line,
        calls=tuple(call for item in items for call in item.calls),
        times=len(items),
    )


def _iter_sent(
    context: Context, places: Mapping[str, _Place], turns: Mapping[str, int]
) -> Iterator[_SentItem]:
    calls: dict[str, _Call] = {}
    turn: int | None = None
    for number, (role, blocks) in enumerate(context.request, 1):
        for block in blocks:
            place = places.get(_make_block_key(block)) or NOWHERE
            turn = turns.get(place.uuid, turn)
            if block.get("type") in CALLS:
                name, arguments = str(block.get("name")), block.get("input")
                subject = take_first_line(
                    relative_path(find_first_text(arguments), place.directory)
                )
                words = shorten(f"{format_tool_name(name)} {subject}", WORDS)
                path = arguments.get("file_path") if isinstance(arguments, Mapping) else None
                is_read = get_tool(name).action == "read" and isinstance(path, str)
                calls[str(block.get("id"))] = _Call(
                    name, words, relative_path(str(path), place.directory) if is_read else None
                )
            fields = {
                "message": number,
                "turn": turn or None,
                "uuid": place.uuid or None,
                "line": place.line or None,
            }
            yield from _iter_block_items(role, block, calls, fields)


NOWHERE = _Place("", 0, None)
CALLS = ("tool_use", "server_tool_use", "mcp_tool_use")


def _iter_block_items(
    role: str, block: Block, calls: Mapping[str, _Call], fields: Mapping[str, Any]
) -> Iterator[_SentItem]:
    if str(block.get("type")).endswith("tool_result"):
        name = str(block.get("tool_use_id"))
        call = calls.get(name) or _Call("", shorten(summarize_blocks([block]), WORDS), None)
        kind: FillKind = "reports" if get_tool(call.name).sends_agents else "results"
        inner = block.get("content")
        parts = inner if isinstance(inner, list) else []
        pictures = [estimate_block_tokens(part) for part in parts if is_picture(part)]
        remaining = estimate_block_tokens(block) - sum(pictures)
        if pictures and len(pictures) == len(parts):
            pictures[0] += remaining  # their surroundings
        else:
            item = FillItem(words=call.words, tokens=remaining, calls=(name,), **fields)
            yield _SentItem(kind, item, call)
        for tokens in pictures:
            item = FillItem(words=call.words, tokens=tokens, calls=(name,), **fields)
            yield _SentItem("pictures", item, call)
        return
    match block.get("type"):
        case type_ if type_ in CALLS:
            kind = "calls"
        case "thinking" | "redacted_thinking":
            kind = "thinking"
        case "image" | "document":
            kind = "pictures"
        case _ if role == "assistant":
            kind = "answers"
        case "text" if not str(block.get("text", "")).lstrip().startswith(REMINDER):
            kind = "reminders" if role == "system" else "prompts"
        case _:
            kind = "reminders"
    name, tokens = str(block.get("id")), estimate_block_tokens(block)
    if kind == "calls":
        words = calls[name].words
        yield _SentItem(kind, FillItem(words=words, tokens=tokens, calls=(name,), **fields))
        return
    words = "in a prompt" if kind == "pictures" else shorten(summarize_blocks([block]), WORDS)
    yield _SentItem(kind, FillItem(words=words, tokens=tokens, **fields))


def is_picture(part: object) -> bool:
    """Return whether a block is an image or a document."""
    return isinstance(part, dict) and part.get("type") in ("image", "document")


def _make_block_key(block: Block) -> str:
    """Return a key for a block that is equal however the client joins blocks to messages."""
    match block.get("type"):
        case kind if kind in CALLS:
            return f"{kind} {block.get('id')}"
        case str(kind) if kind.endswith("tool_result"):
            return f"result {block.get('tool_use_id')}"
        case "text":
            return _digest(str(block.get("text", "")).strip())
        case "thinking":
            return _digest(str(block.get("signature") or block.get("thinking")))
        case "image" | "document":
            source = block.get("source")
            data = source.get("data") if isinstance(source, Mapping) else None
            return _digest(str(data))
        case _:
            return _digest(str(block))


def _digest(text: str) -> str:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


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
WINDOW_PARTS: dict[str, WindowPart] = {
    "tool_use": "calls",
    "server_tool_use": "calls",
    "tool_result": "results",
    "thinking": "thinking",
    "redacted_thinking": "thinking",
    "image": "media",
    "document": "media",
}
"""The parts of other blocks than text, which is of prompts or answers."""
WINDOW, LARGE_WINDOW = 200_000, 1_000_000
MOST_LISTED = 200


class Weight(Struct, frozen=True, gc=False):
    """One message and its estimated tokens."""

    number: int
    role: str
    words: str
    blocks: str
    tokens: int


class Omitted(Struct, frozen=True):
    """Records left out of all messages for one reason."""

    reason: str
    count: int
    records: tuple[tuple[str, int], ...]
    """The first of them: uuid and line."""


class NextSent(Struct, frozen=True):
    """What is sent before the text of the next prompt, and its cost."""

    tokens: int
    cost_usd: NextCost
    cold_at: datetime | None = None
    """When the cache expires; None if unknown."""

    @property
    def sentence(self) -> str:
        """Return this as a sentence."""
        sent = f"the next prompt sends {format_tokens(self.tokens)} tokens"
        warm, cold = self.cost_usd.warm, self.cost_usd.cold
        if warm is None or cold is None:
            return sent
        return f"{sent}: {format_money(warm)} if still cached, {format_money(cold)} if not"

    def is_warm(self, now: datetime) -> bool:
        """Return whether the cache still holds it."""
        return self.cold_at is not None and now <= self.cold_at

    def describe_cache(self, now: datetime) -> str:
        """Describe whether the cache is warm; empty if unknown."""
        if self.cold_at is None or self.cost_usd.warm is None:
            return ""
        if not self.is_warm(now):
            return f"cache expired at {format_minute(self.cold_at.astimezone())}"
        remaining = format_duration((self.cold_at - now).total_seconds() * 1000) or "a moment"
        return f"cache expires in {remaining}"


class Weighed(Struct, frozen=True, kw_only=True):
    """The context that Claude will see when a session is resumed, message by message."""

    session: str
    resumes: bool
    why_not: str | None
    leaf: str | None
    records: int
    """The records that the messages are made from."""
    tokens: int | None
    """The exact number of tokens after the last response; None if unknown."""
    estimated: int
    """Of all messages."""
    window: int
    """The standard one, or the large one if more is in it; the log does not say."""
    parts: dict[WindowPart, int]
    """Estimates by part; `system` is what the log does not contain."""
    messages: tuple[Weight, ...]
    left_out: tuple[Omitted, ...]
    fills: tuple[Fill, ...] = ()
    """The same by kind, with the largest items named."""
    turns: int = 0
    """Of the active conversation."""
    next_prompt: NextSent | None = None
    """None if the number of tokens is unknown."""


def describe_next_prompt(next_prompt: NextPrompt, prices: Prices) -> NextSent | None:
    """Return tokens and cost of the next prompt, None where its size is unknown."""
    if next_prompt.tokens is None:
        return None
    cost = NextCost(next_prompt.warm_usd(prices), next_prompt.cold_usd(prices))
    return NextSent(next_prompt.tokens, cost, next_prompt.cold_at)


def measure_context(
    session: str,
    context: Context,
    measured: int | None,
    sent_records: Iterable[SentRecord] = (),
    turns: Mapping[str, int] | None = None,
) -> Weighed:
    """Measure what Claude will see of a session; `measured` is the exact size from the log."""
    messages: list[Weight] = []
    parts = Counter[WindowPart]()
    for number, (role, blocks) in enumerate(context.request, 1):
        tokens = 0
        for block in blocks:
            of_block = estimate_block_tokens(block)
            part: WindowPart = "answers" if role == "assistant" else "prompts"
            parts[WINDOW_PARTS.get(str(block.get("type")), part)] += of_block
            tokens += of_block
        words = summarize_blocks(blocks)[:WORDS]
        messages.append(Weight(number, role, words, format_block_kinds(blocks), tokens))
    estimated = sum(message.tokens for message in messages)
    by_reason: dict[str, list[LeftOut]] = {}
    for record in context.left_out:
        by_reason.setdefault(str(record.reason), []).append(record)
    left_out = [
        Omitted(
            reason,
            len(group),
            tuple((record.uuid, record.line) for record in group[:MOST_LISTED]),
        )
        for reason, group in sorted(by_reason.items(), key=lambda pair: -len(pair[1]))
    ]
    parts["system"] += max((measured or 0) - estimated, 0)
    return Weighed(
        session=session,
        resumes=context.resumes,
        why_not=context.why_not,
        leaf=context.leaf,
        records=len(context.chain),
        tokens=measured,
        estimated=estimated,
        window=LARGE_WINDOW if max(measured or 0, estimated) > WINDOW else WINDOW,
        parts={name: parts[name] for name in PARTS if parts[name]},
        messages=tuple(messages),
        left_out=tuple(left_out),
        fills=measure_fills(context, sent_records, turns),
        turns=max((turns or {}).values(), default=0),
    )
