"""Simulate a provider's prompt cache: the tokens each request reads and writes.

A request is a sequence of pieces: instructions and tools, the environment of the process, then the
messages. The cache holds the prefixes that the client marks: after each of the first two pieces, and
after the last. Reading or writing a prefix renews it for the lifetime of its tier.

    instructions · surroundings · U1                      written
    instructions · surroundings · U1 · A1 · U2            read to U1, A1 and U2 written
    instructions · other surroundings · U1 · A1 · U2 …    read: the instructions alone
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from .clock import moment
from .meter import weight
from .model import Json
from .names import digest

if TYPE_CHECKING:
    from .sheet import Sheet

Piece: TypeAlias = tuple[str, int]

INSTRUCTIONS, SURROUNDINGS = 11_820, 2_416
BEFORE_MESSAGES: Final = 2
UNCACHED: Final = 4
"""Tokens behind the last mark."""
CLEARED: Final = 12
"""Tokens of what stands for a result that the client took out."""
LASTS: Final = {"5m": timedelta(minutes=5), "1h": timedelta(hours=1)}


@dataclass(slots=True)
class Cache:
    """The cached prefixes, their expiry times, and their lifetimes."""

    held: dict[tuple[str, ...], datetime] = field(default_factory=dict)

    def answer(
        self, model: str, pieces: Sequence[Piece], time: datetime, lasts: timedelta
    ) -> tuple[int, int]:
        """Return how many tokens of a request are read and written, and cache it."""
        names = (model, *(name for name, _ in pieces))
        sizes = [size for _, size in pieces]
        length = self._held(names, time)
        read = _tokens(sizes, length)
        for kept in (1, BEFORE_MESSAGES, len(pieces)):
            self.held[names[: kept + 1]] = time + lasts
        return read, _tokens(sizes, len(sizes)) - read

    def _held(self, names: tuple[str, ...], time: datetime) -> int:
        for length in range(len(names) - 1, 0, -1):
            if self.held.get(names[: length + 1], time) > time:
                return length
        return 0

    def forget(self) -> None:
        """Lose everything, as can happen with a provider."""
        self.held.clear()


def _tokens(sizes: Sequence[int], length: int) -> int:
    """Return the tokens up to a mark; the last mark is slightly before the end."""
    return sum(sizes[:length]) - (UNCACHED if length > BEFORE_MESSAGES else 0)


def asked(sheet: Sheet, parent: str | None, model: str, line: int) -> tuple[int, int]:
    """Return the cache reads and writes of the request that ends with a record."""
    chain = _chain(sheet, parent)
    time = moment(chain[-1]["timestamp"], line) if chain else sheet.clock.now
    pieces = [*_before_messages(sheet), *_messages(sheet, chain)]
    return sheet.world.cache.answer(model, pieces, time, LASTS[sheet.settings.cache])


def saved(sheet: Sheet, calls: Sequence[str]) -> int:
    """Return the tokens saved by removing the results of calls."""
    results = [record for record in sheet.records.values() if _answered(record) & set(calls)]
    return sum(_piece(result, set())[1] - CLEARED for result in results)


def _chain(sheet: Sheet, parent: str | None) -> list[Json]:
    """Return the records of a request, oldest first."""
    by_uuid = {record.get("uuid"): record for record in sheet.records.values()}
    found = []
    while parent in by_uuid and parent:
        found.append(by_uuid[parent])
        parent = by_uuid[parent]["parentUuid"]
    return found[::-1]


def _before_messages(sheet: Sheet) -> list[Piece]:
    settings, lines = sheet.settings, [line.record or {} for line in sheet.lines]
    snapshots = [item for item in map(_attachment, lines) if item.get("type") == "prompt_snapshot"]
    left = sum(item.get("type") == "cost-state" for item in lines)
    taken_up = sum(_attachment(item).get("hookName") == "SessionStart:resume" for item in lines)
    result = digest(str(snapshots[-1:]), 8)
    return [
        (f"instructions {sheet.agent_type} {settings.version} {result}", INSTRUCTIONS),
        (f"surroundings {sheet.session} {left} {taken_up} {settings.effort}", SURROUNDINGS),
    ]


def _attachment(record: Json) -> Json:
    found = record.get("attachment")
    return found if isinstance(found, dict) else {}


def _messages(sheet: Sheet, chain: list[Json]) -> Iterator[Piece]:
    """Yield the sent records of a chain, with preserved ones after the anchor of their compaction."""
    cleared: set[str] = set()
    kept: dict[str, list[str]] = {}
    for record in chain:
        cleared |= set(record.get("microcompactMetadata", {}).get("compactedToolIds", ()))
        result = record.get("compactMetadata", {}).get("preservedMessages")
        kept |= {result["anchorUuid"]: result["uuids"]} if result else {}
    by_uuid = {record.get("uuid"): record for record in sheet.records.values()}
    met: set[str] = set()
    for record in chain:
        behind = [by_uuid[uuid] for uuid in kept.get(record["uuid"], ())]
        for item in (record, *behind):
            name, size = _piece(item, cleared)
            if name and name not in met:
                met.add(name)
                yield name, size


def _piece(record: Json, cleared: set[str]) -> Piece:
    """Return the piece of a request for a record; for a part of a response, the whole response."""
    message = record.get("message")
    if not message:
        return "", 0
    if record["type"] == "assistant":
        return message["id"], message["usage"]["output_tokens"]
    if cleared & _answered(record):
        return f"{record['uuid']} cleared", CLEARED
    return record["uuid"], weight(_words(message["content"]))


def _answered(record: Json) -> set[str]:
    content = record.get("message", {}).get("content")
    blocks = content if isinstance(content, list) else []
    return {str(block["tool_use_id"]) for block in blocks if "tool_use_id" in block}


def _words(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "".join(str(item.get("content") or item.get("text") or "") for item in content)
