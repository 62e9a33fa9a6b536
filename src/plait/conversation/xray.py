"""The lines of a file to what filled each of its requests, by kind.

How much a request held is exact: usage says it. What that was is told by the lines that led up
to it: by how much it has grown since the one that it goes on from is dealt to what came between,
by characters. What no log holds, instructions and tools, is what is left at the beginning.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from msgspec import Struct

from plait.conversation.account.account import paid_request
from plait.conversation.account.model import Cause, Parts
from plait.conversation.account.requests import Asked, key_of, requests_in
from plait.conversation.tools import tool_named
from plait.conversation.waste.calls import IMAGE, PICTURE_CHARACTERS, Piece, sized_pieces
from plait.record.lineage import Sent

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
TOKENS_TO_CHARACTER = 0.29


class XrayColumn(Struct, frozen=True, gc=False):
    """A request: what filled it, and how that was paid for."""

    response: str
    uuid: str | None
    fills: dict[FillKind, int]
    """Tokens by kind; together all that the model read."""
    parts: Parts
    cause: Cause | None
    is_compacted: bool
    """Whether a summary stands between it and the one before."""


@dataclass(slots=True)
class _Notes:
    """Characters by kind, of lines, of responses and of what their calls brought."""

    lines: dict[str, Counter[FillKind]] = field(default_factory=dict)
    responses: dict[str, Counter[FillKind]] = field(default_factory=dict)
    calls: dict[str, tuple[str, FillKind]] = field(default_factory=dict)
    """By call: who made it, and what its result is."""

    def over(self, lines: Iterable[tuple[int, Sent]]) -> Iterator[tuple[int, Sent]]:
        """Yields lines as they come, and notes what they hold."""
        for number, line in lines:
            self._note(line, number)
            yield number, line

    def _note(self, line: Sent, number: int) -> None:
        if line.type == "attachment" and line.uuid:
            self.lines[line.uuid] = Counter({"reminders": len(bytes(line.attachment))})
        if line.message is None:
            return
        content = bytes(line.message.content)
        key = key_of(line, number)
        if not content.startswith(b"["):
            self._add_words(line, len(content))
            return
        for size, piece in sized_pieces(content):
            if key is not None:
                self._add_said(key, piece, size)
            elif piece.type == "tool_result":
                self._add_result(piece.tool_use_id, bytes(piece.content))
            elif piece.type == "image" and line.uuid:
                self.lines.setdefault(line.uuid, Counter())["pictures"] += PICTURE_CHARACTERS
            else:
                self._add_words(line, size)

    def _add_words(self, line: Sent, size: int) -> None:
        kind: FillKind = "summary" if line.is_compact_summary else "prompts"
        if line.uuid:
            self.lines.setdefault(line.uuid, Counter())[kind] += size

    def _add_said(self, key: str, piece: Piece, size: int) -> None:
        held = self.responses.setdefault(key, Counter())
        if piece.type == "tool_use":
            held["calls"] += size
            is_report = tool_named(piece.name or "").sends_agents
            self.calls[piece.id or ""] = key, "reports" if is_report else "results"
        elif piece.type in ("thinking", "redacted_thinking"):
            held["thinking"] += size
        else:
            held["answers"] += size

    def _add_result(self, call: str | None, content: bytes) -> None:
        known = self.calls.get(call or "")
        if known is None:
            return
        maker, kind = known
        held = self.responses.setdefault(maker, Counter())
        if IMAGE in content[:400].replace(b" ", b""):
            held["pictures"] += PICTURE_CHARACTERS
        else:
            held[kind] += len(content)

    def since(self, asked: Asked) -> "Counter[FillKind]":
        """Returns what came between a request and the one that it goes on from."""
        found: Counter[FillKind] = Counter()
        for uuid in asked.since.uuids:
            found += self.lines.get(uuid, Counter())
        before = asked.before
        if before is not None and not asked.since.is_compacted:
            found += self.responses.get(before.key, Counter())
        return found + self._preserved(asked)

    def _preserved(self, asked: Asked) -> "Counter[FillKind]":
        """Returns what a compaction left as it was: all that came behind a request's answer."""
        found: Counter[FillKind] = Counter()
        behind, one = asked.since.preserved_behind, asked.before
        while behind is not None and one is not None and one is not behind:
            found += self.responses.get(one.key, Counter())
            for uuid in one.since.uuids:
                found += self.lines.get(uuid, Counter())
            one = one.before
        return found


def xray(lines: Iterable[tuple[int, Sent]], chain: Iterable[str]) -> tuple[XrayColumn, ...]:
    """Returns what filled the requests that led to where a session stands, in their order."""
    notes, wanted = _Notes(), frozenset(chain)
    asked = requests_in(notes.over(lines))
    shown = _leading(asked, wanted)
    fills: dict[str, dict[FillKind, int]] = {}
    found = []
    for one in shown:
        fills[one.key] = _filled(one, notes.since(one), fills)
        paid = paid_request(one)
        found.append(
            XrayColumn(
                one.key,
                one.first.uuid,
                fills[one.key],
                paid.parts,
                paid.cause,
                one.since.is_compacted,
            )
        )
    return tuple(found)


def _leading(asked: list[Asked], wanted: frozenset[str]) -> list[Asked]:
    """Returns the requests of a chain, and those before its compactions."""
    last = next((one for one in reversed(asked) if one.first.uuid in wanted), None)
    found: list[Asked] = []
    while last is not None:
        found.append(last)
        last = last.before
    return found[::-1]


def _filled(
    asked: Asked, came: "Counter[FillKind]", fills: dict[str, dict[FillKind, int]]
) -> dict[FillKind, int]:
    total, before = asked.tokens.total_input, asked.before
    held = fills.get(before.key) if before else None
    if held is None or asked.since.is_compacted:
        return _begun(total, came)
    grown = total - sum(held.values())
    if grown < 0:
        return _shrunk(held, total)
    return _dealt(held, came, grown)


def _begun(total: int, came: "Counter[FillKind]") -> dict[FillKind, int]:
    """Returns what a first request held: what was said, and what no log holds."""
    said = {kind: round(size * TOKENS_TO_CHARACTER) for kind, size in came.items()}
    if sum(said.values()) > total:
        return _dealt({}, came, total)
    return {"system": total - sum(said.values()), **said}


def _dealt(held: dict[FillKind, int], came: "Counter[FillKind]", grown: int) -> dict[FillKind, int]:
    """Returns what was there with what has come, by characters; what nobody knows is a reminder."""
    found, whole, left = dict(held), came.total(), grown
    for kind, size in came.items():
        share = grown * size // whole if whole else 0
        found[kind] = found.get(kind, 0) + share
        left -= share
    largest: FillKind = max(came, key=came.__getitem__) if whole else "reminders"
    found[largest] = found.get(largest, 0) + left
    return found


def _shrunk(held: dict[FillKind, int], total: int) -> dict[FillKind, int]:
    """Returns what was there, each kind as much less as all of it."""
    whole = sum(held.values())
    found: dict[FillKind, int] = {kind: total * size // whole for kind, size in held.items()}
    largest = max(found, key=found.__getitem__)
    found[largest] += total - sum(found.values())
    return found
