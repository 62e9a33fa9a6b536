"""What Claude will see of a session to what fills it: block by block, the largest of each kind.

Every block that is sent counts to one kind, so that the kinds add up to all messages; files that
were read more than once are told besides.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, Literal, TypeAlias

from msgspec import Struct

from plait.conversation.tools import tool_named
from plait.graph.client.model import Block, Context
from plait.graph.client.weigh import tokens_in
from plait.record import Record
from plait.view.passages.call_view import first_text, path_from
from plait.view.passages.tools import first_line, tool_name
from plait.view.text import shortened
from plait.view.words import first_words

FillKind: TypeAlias = Literal[
    "results", "reports", "thinking", "pictures", "reminders", "calls", "answers", "prompts"
]
Written: TypeAlias = tuple[Record, list[Block]]
"""A record, and what it has sent."""
REREADS: Literal["rereads"] = "rereads"
MOST = 25
"""Things of one kind that are listed, the largest first."""
WORDS = 160
REMINDER = "<system-reminder>"


class FillItem(Struct, frozen=True, kw_only=True):
    """Something that is sent, and about how many tokens it takes."""

    words: str
    tokens: int
    message: int
    """The number of the message that it stands in."""
    turn: int | None = None
    """Since when it is there; None for what stands before the first turn."""
    uuid: str | None = None
    line: int | None = None
    calls: tuple[str, ...] = ()
    """The calls that it is the result of."""
    times: int = 1
    """How often it is sent."""


class Fill(Struct, frozen=True):
    """All of one kind."""

    kind: Literal[FillKind, "rereads"]
    count: int
    tokens: int
    """Of repeated reads those of all but the last."""
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
    """Of the file that it reads, where it reads one."""


@dataclass(frozen=True, slots=True)
class _Sent:
    kind: FillKind
    item: FillItem
    call: _Call | None = None


def fills_of(
    found: Context, written: Iterable[Written] = (), turns: Mapping[str, int] | None = None
) -> tuple[Fill, ...]:
    """Returns what fills a context, the largest kind first, then what was read repeatedly.

    What each record has sent says where a thing is written, the turns by record since when it is
    there.
    """
    sent = list(_sent(found, _places(written), turns or {}))
    kinds: dict[FillKind, list[FillItem]] = {}
    for one in sent:
        kinds.setdefault(one.kind, []).append(one.item)
    fills = [_fill(kind, items) for kind, items in kinds.items()]
    fills.sort(key=lambda one: -one.tokens)
    repeated = _rereads(sent)
    return (*fills, repeated) if repeated.count else tuple(fills)


def _fill(kind: FillKind, items: list[FillItem]) -> Fill:
    told = _told_once(items) if kind == "reminders" else items
    largest = sorted(told, key=lambda one: -one.tokens)[:MOST]
    return Fill(kind, len(items), sum(one.tokens for one in items), tuple(largest))


def _told_once(items: Iterable[FillItem]) -> Iterator[FillItem]:
    """Yields what is told in the same words as one thing."""
    same: dict[tuple[str, int], list[FillItem]] = {}
    for one in items:
        same.setdefault((one.words, one.tokens), []).append(one)
    for found in same.values():
        yield _together(found[0], found, found[0].words)


def _together(shown: FillItem, items: list[FillItem], words: str) -> FillItem:
    return FillItem(
        words=words,
        tokens=sum(one.tokens for one in items),
        message=shown.message,
        turn=shown.turn,
        uuid=shown.uuid,
        line=shown.line,
        calls=tuple(call for one in items for call in one.calls),
        times=len(items),
    )


def _rereads(sent: Iterable[_Sent]) -> Fill:
    """Returns the files that were read more than once: what all readings but the last take."""
    read: dict[str, list[FillItem]] = {}
    for one in sent:
        if one.kind == "results" and one.call and one.call.path:
            read.setdefault(one.call.path, []).append(one.item)
    again = {path: items for path, items in read.items() if len(items) > 1}
    told = [_together(items[0], items[:-1], path) for path, items in again.items()]
    told.sort(key=lambda one: -one.tokens)
    count, tokens = sum(one.times for one in told), sum(one.tokens for one in told)
    return Fill(REREADS, count, tokens, tuple(told[:MOST]))


def _sent(
    found: Context, places: Mapping[str, _Place], turns: Mapping[str, int]
) -> Iterator[_Sent]:
    calls: dict[str, _Call] = {}
    turn: int | None = None
    for number, (role, blocks) in enumerate(found.request, 1):
        for block in blocks:
            written = places.get(_key(block)) or NOWHERE
            turn = turns.get(written.uuid, turn)
            if block.get("type") in CALLS:
                calls[str(block.get("id"))] = _call_of(block, written.directory)
            place = {
                "message": number,
                "turn": turn or None,
                "uuid": written.uuid or None,
                "line": written.line or None,
            }
            yield from _block_items(role, block, calls, place)


NOWHERE = _Place("", 0, None)
CALLS = ("tool_use", "server_tool_use", "mcp_tool_use")


def _call_of(block: Block, directory: str | None) -> _Call:
    name, given = str(block.get("name")), block.get("input")
    about = first_line(path_from(first_text(given), directory))
    words = shortened(f"{tool_name(name)} {about}", WORDS)
    path = given.get("file_path") if isinstance(given, Mapping) else None
    is_read = tool_named(name).action == "read" and isinstance(path, str)
    return _Call(name, words, path_from(str(path), directory) if is_read else None)


def _block_items(
    role: str, block: Block, calls: Mapping[str, _Call], place: Mapping[str, Any]
) -> Iterator[_Sent]:
    if str(block.get("type")).endswith("tool_result"):
        yield from _result_items(block, calls, place)
        return
    kind = _kind_of(role, block)
    name, tokens = str(block.get("id")), tokens_in(block)
    if kind == "calls":
        words = calls[name].words
        yield _Sent(kind, FillItem(words=words, tokens=tokens, calls=(name,), **place))
        return
    words = "in a prompt" if kind == "pictures" else shortened(first_words([block]), WORDS)
    yield _Sent(kind, FillItem(words=words, tokens=tokens, **place))


def _result_items(
    block: Block, calls: Mapping[str, _Call], place: Mapping[str, Any]
) -> Iterator[_Sent]:
    name = str(block.get("tool_use_id"))
    call = calls.get(name) or _Call("", shortened(first_words([block]), WORDS), None)
    kind: FillKind = "reports" if tool_named(call.name).sends_agents else "results"
    inner = block.get("content")
    parts = inner if isinstance(inner, list) else []
    pictures = [tokens_in(one) for one in parts if _is_picture(one)]
    rest = tokens_in(block) - sum(pictures)
    if pictures and len(pictures) == len(parts):
        pictures[0] += rest  # what is around them
    else:
        item = FillItem(words=call.words, tokens=rest, calls=(name,), **place)
        yield _Sent(kind, item, call)
    for tokens in pictures:
        item = FillItem(words=call.words, tokens=tokens, calls=(name,), **place)
        yield _Sent("pictures", item, call)


def _is_picture(part: object) -> bool:
    return isinstance(part, dict) and part.get("type") in ("image", "document")


def _kind_of(role: str, block: Block) -> FillKind:
    match block.get("type"):
        case kind if kind in CALLS:
            return "calls"
        case "thinking" | "redacted_thinking":
            return "thinking"
        case "image" | "document":
            return "pictures"
        case _ if role == "assistant":
            return "answers"
        case "text" if not str(block.get("text", "")).lstrip().startswith(REMINDER):
            return "reminders" if role == "system" else "prompts"
        case _:
            return "reminders"


def _places(written: Iterable[Written]) -> dict[str, _Place]:
    """Returns where blocks are written, by what tells them apart."""
    found: dict[str, _Place] = {}
    for record, blocks in written:
        place = _Place(record.uuid or "", record.line, record.cwd)
        for block in blocks:
            found.setdefault(_key(block), place)
    return found


def _key(block: Block) -> str:
    """Returns what tells a block from others, however the client joins them to messages."""
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
