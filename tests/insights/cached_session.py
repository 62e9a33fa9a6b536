"""A session whose requests are answered by a cache that behaves like the provider's."""

import json
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec

from plait.record.billing import SentLine

START = datetime(2026, 11, 2, 9, tzinfo=UTC)
HOUR, MINUTES = timedelta(hours=1), timedelta(minutes=5)
SYSTEM, WORDS, ANSWER = 1000, 40, 25
OTHERS = ("claude-opus-5-5", "claude-haiku-4-5")


@dataclass
class Cache:
    """What a provider keeps of requests: the beginning of each, as long as it is asked for."""

    entries: dict[tuple[str, ...], tuple[datetime, timedelta]] = field(default_factory=dict)

    def read(self, model: str, names: list[str], time: datetime) -> int:
        """Return how many pieces of a request are at hand."""
        for length in range(len(names), 0, -1):
            key = (model, *names[:length])
            until, lasts = self.entries.get(key, (time, MINUTES))
            if until > time:
                self.entries[key] = time + lasts, lasts
                return length
        return 0

    def write(self, model: str, names: list[str], time: datetime, lasts: timedelta) -> None:
        """Keep a request for later ones, and what stands before its messages."""
        for kept in (names[:1], names):
            self.entries[model, *kept] = time + lasts, lasts


@dataclass
class CachedSession:
    """A session that is written line by line; what its requests took is told by the cache."""

    model: str = OTHERS[0]
    lasts: timedelta = MINUTES
    version: str = "2.1.325"
    cache: Cache = field(default_factory=Cache)
    lines: list[dict[str, Any]] = field(default_factory=list)
    time: datetime = START
    system: int = 1
    """Changes with whatever stands before the messages."""
    pieces: list[tuple[str, int]] = field(default_factory=list)
    """What was said so far."""
    tips: list[tuple[str, list[tuple[str, int]]]] = field(default_factory=list)
    """What every answer ended with, to go back to."""
    made: dict[str, int] = field(default_factory=dict)
    """Tokens that each answer wrote though they had been there."""
    before: list[str] = field(default_factory=list)

    @property
    def last(self) -> str | None:
        """What the next line hangs on."""
        return self.tips[-1][0] if self.tips else None

    def add(self, **fields: Any) -> str:
        """Write a line."""
        uuid = f"u{len(self.lines) + 1}"
        stamp = f"{self.time:%Y-%m-%dT%H:%M:%S}.{self.time.microsecond // 1000:03}Z"
        head = {"uuid": uuid, "timestamp": stamp, "version": self.version}
        self.lines.append({**head, "sessionId": "s", **fields})
        return uuid

    def ask(self, pause: timedelta = timedelta(seconds=20), words: int = WORDS) -> str:
        """Write a prompt and its answer; returns the answer's id."""
        self.time += pause
        return self.answer(self.add(type="user", parentUuid=self.last), words)

    def answer(self, parent: str, words: int = WORDS) -> str:
        """Has the model answer what leads up to a line."""
        self.pieces = [*self.pieces, (parent, words)]
        name = f"m{len(self.lines)}"
        system = (f"system {self.system} {self.version}", SYSTEM)
        names, sizes = zip(system, *self.pieces, strict=True)
        usage = self._usage(name, list(names), list(sizes))
        self.time += timedelta(seconds=3)
        message = {"role": "assistant", "id": name, "model": self.model, "usage": usage}
        uuid = self.add(type="assistant", parentUuid=parent, message=message)
        self.pieces = [*self.pieces, (uuid, ANSWER)]
        self.tips.append((uuid, self.pieces))
        return name

    def _usage(self, name: str, names: list[str], sizes: list[int]) -> dict[str, Any]:
        length = self.cache.read(self.model, names, self.time)
        missed = zip(names[length:], sizes[length:], strict=True)
        is_first = not self.before
        known = {*self.before, *([] if is_first else names[:1])}
        self.made[name] = sum(size for piece, size in missed if piece in known)
        written, read = sum(sizes[length:]), sum(sizes[:length])
        self.cache.write(self.model, names, self.time, self.lasts)
        self.before = names
        share = "1h" if self.lasts == HOUR else "5m"
        return {
            "input_tokens": 0,
            "output_tokens": ANSWER,
            "cache_read_input_tokens": read,
            "cache_creation_input_tokens": written,
            "cache_creation": {f"ephemeral_{share}_input_tokens": written},
        }

    def go_back(self, answers: int) -> None:
        """Go on from where the session was some answers ago."""
        uuid, pieces = [tip for tip in self.tips if tip[0] == tip[1][-1][0]][-1 - answers]
        self.tips.append((uuid, pieces))
        self.pieces = pieces
        self.before = [f"system {self.system} {self.version}", *(name for name, _ in pieces[:-1])]

    def leave(self) -> None:
        """End the process; the next one sends other instructions."""
        self.lines.append({"type": "cost-state", "totalCostUSD": 1.0})
        self.system += 1

    def compact(self, preserved: int = 0) -> None:
        """Has a summary stand for what was said, but for the last so many pieces."""
        kept = self.pieces[len(self.pieces) - preserved :]
        segment = {"headUuid": kept[0][0], "tailUuid": kept[-1][0]} if kept else None
        result = {"preservedSegment": segment} if segment else {}
        boundary = self.add(
            type="system",
            subtype="compact_boundary",
            logicalParentUuid=self.last,
            compactMetadata=result,
        )
        summary = self.add(type="user", isCompactSummary=True, parentUuid=boundary)
        self.pieces = [(summary, 90), *kept]
        self.tips.append((summary, self.pieces))

    def write(self, path: Path) -> Path:
        """Write it to a file; what was said is its lines' own ids."""
        with path.open("w", encoding="utf-8") as file:
            for line in self.lines:
                result = {**line, "cwd": "/home/dev/shop"} if line.get("uuid") else line
                if result["type"] in ("user", "assistant"):
                    words = [{"type": "text", "text": f"the words of {result['uuid']}"}]
                    spoken = {"role": result["type"], "content": words}
                    result["message"] = {**spoken, **result.get("message", {})}
                file.write(json.dumps({**result, "sessionId": path.stem}) + "\n")
        return path

    @property
    def told(self) -> list[tuple[int, SentLine]]:
        """Its lines, as they are read."""
        return [(number, _decoded(line)) for number, line in enumerate(self.lines, 1)]


def _decoded(line: dict[str, Any]) -> SentLine:
    return msgspec.json.decode(json.dumps(line), type=SentLine)
