"""What filled the context of each request of a session, by kind, in tokens.

The size of a request is exact: usage says it. Its content follows from the lines that led to it:
the growth since the previous request is divided among what came between, by characters. What no log
contains (instructions and tools) is the remainder of the first request.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from msgspec import Struct

from plait.conversation.tools import get_tool
from plait.insights.cache_misses import (
    MissCause,
    Request,
    TokenParts,
    build_paid_request,
    get_response_key,
    list_requests,
)
from plait.insights.losses import IMAGE, IMAGE_CHARACTERS, SizedBlock, iter_sized_blocks
from plait.record.billing import SentLine

FillKind: TypeAlias = Literal[
    "system",
    "summary",
    "prompts",
    "reminders",
    "answers",
    "thinking",
    "calls",
    "results",
    "reports",
    "pictures",
]
Fills: TypeAlias = dict[FillKind, int]
TOKENS_PER_CHARACTER = 0.29


class XrayColumn(Struct, frozen=True, gc=False):
    """One request: its content, and how it was paid for."""

    response: str
    uuid: str | None
    fills: Fills
    """Tokens by kind; their sum is the input of the request."""
    parts: TokenParts
    cause: MissCause | None
    is_compacted: bool
    """Whether a compaction is between it and the previous request."""


@dataclass(slots=True)
class _Characters:
    """Characters by kind: of lines, and of responses with the results of their calls."""

    lines: dict[str, Counter[FillKind]] = field(default_factory=dict)
    responses: dict[str, Counter[FillKind]] = field(default_factory=dict)
    calls: dict[str, tuple[str, FillKind]] = field(default_factory=dict)
    """By call: its response, and the kind of its result."""

    def watch(self, lines: Iterable[tuple[int, SentLine]]) -> Iterator[tuple[int, SentLine]]:
        """Yield the lines unchanged, and count their content."""
        for number, line in lines:
            self._add_line(line, number)
            yield number, line

    def _add_line(self, line: SentLine, number: int) -> None:
        if line.type == "attachment" and line.uuid:
            self.lines[line.uuid] = Counter({"reminders": len(bytes(line.attachment))})
        if line.message is None:
            return
        content = bytes(line.message.content)
        own = self.lines.setdefault(line.uuid, Counter()) if line.uuid else Counter()
        text_kind: FillKind = "summary" if line.is_compact_summary else "prompts"
        if not content.startswith(b"["):
            own[text_kind] += len(content)
            return
        key = get_response_key(line, number)
        for size, block in iter_sized_blocks(content):
            if key is not None:
                response = self.responses.setdefault(key, Counter())
                if block.type == "tool_use":
                    response["calls"] += size
                    is_report = get_tool(block.name or "").sends_agents
                    self.calls[block.id or ""] = key, "reports" if is_report else "results"
                elif block.type in ("thinking", "redacted_thinking"):
                    response["thinking"] += size
                else:
                    response["answers"] += size
            elif block.type == "tool_result":
                self._add_result(block)
            elif block.type == "image":
                own["pictures"] += IMAGE_CHARACTERS
            else:
                own[text_kind] += size

    def _add_result(self, block: SizedBlock) -> None:
        if (call := self.calls.get(block.tool_use_id or "")) is None:
            return
        key, kind = call
        content = bytes(block.content)
        response = self.responses.setdefault(key, Counter())
        if IMAGE in content[:400].replace(b" ", b""):
            response["pictures"] += IMAGE_CHARACTERS
        else:
            response[kind] += len(content)

    def count_before(self, request: Request) -> "Counter[FillKind]":
        """Return what came in between a request and the previous one."""
        gap, previous = request.gap, request.previous
        counted: Counter[FillKind] = Counter()
        for uuid in gap.uuids:
            counted += self.lines.get(uuid, Counter())
        if previous is not None and not gap.is_compacted:
            counted += self.responses.get(previous.key, Counter())
        # a compaction preserves everything after the answer of one request
        preserved: Counter[FillKind] = Counter()
        earlier = previous if gap.preserved_after else None
        while earlier is not None and earlier is not gap.preserved_after:
            preserved += self.responses.get(earlier.key, Counter())
            for uuid in earlier.gap.uuids:
                preserved += self.lines.get(uuid, Counter())
            earlier = earlier.previous
        return counted + preserved


def build_xray(
    lines: Iterable[tuple[int, SentLine]], chain: Iterable[str]
) -> tuple[XrayColumn, ...]:
    """Return the requests that led to the end of a chain of records, each with what filled it.

    Requests before the compactions of the chain are among them.
    """
    characters, uuids = _Characters(), frozenset(chain)
    requests = list_requests(characters.watch(lines))
    last = next(
        (request for request in reversed(requests) if request.first_line.uuid in uuids), None
    )
    leading: list[Request] = []
    while last is not None:
        leading.append(last)
        last = last.previous
    fills: dict[str, Fills] = {}
    columns = []
    for request in reversed(leading):
        before = fills.get(request.previous.key) if request.previous else None
        is_compacted = request.gap.is_compacted
        fills[request.key] = _divide(
            request.tokens.total_input,
            characters.count_before(request),
            None if is_compacted else before,
        )
        paid = build_paid_request(request)
        columns.append(
            XrayColumn(
                request.key,
                request.first_line.uuid,
                fills[request.key],
                paid.parts,
                paid.cause,
                is_compacted,
            )
        )
    return tuple(columns)


def _divide(total: int, characters: "Counter[FillKind]", before: Fills | None) -> Fills:
    """Return the tokens of a request by kind, given those of the previous one if there is one."""
    if before is None:
        known: Fills = {
            kind: round(size * TOKENS_PER_CHARACTER) for kind, size in characters.items()
        }
        if sum(known.values()) <= total:
            return {"system": total - sum(known.values()), **known}
        before = {}
    held = sum(before.values())
    fills: Fills
    if total < held:  # each kind shrank in proportion
        fills = {kind: total * size // held for kind, size in before.items()}
        largest = max(fills, key=fills.__getitem__)
        fills[largest] += total - sum(fills.values())
        return fills
    fills, growth, all_characters = dict(before), total - held, characters.total()
    rest = growth
    for kind, size in characters.items():
        share = growth * size // all_characters if all_characters else 0
        fills[kind] = fills.get(kind, 0) + share
        rest -= share
    # growth that no line explains is counted as reminders
    largest = max(characters, key=characters.__getitem__) if all_characters else "reminders"
    fills[largest] = fills.get(largest, 0) + rest
    return fills
