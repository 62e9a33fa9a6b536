"""Lines of a file to its requests, each with the one that it goes on from.

What was said before a request leads up to it by its parents; the nearest response on the way is
the one whose request held all that, so what that one had in the cache could be read again.

    prompt ── response A ── result ── response B      B goes on from A
                        └── prompt ── response C      C too: what B read of A keeps it warm

An errand of the client (a summary, a suggestion) has a file of its own, and goes on from a line
of the session's.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from itertools import takewhile
from typing import TypeAlias

from plait.conversation.usage import (
    NOTHING,
    SYNTHETIC,
    Tokens,
    response_key,
    supersedes,
    tokens_of,
)
from plait.graph.repair import NOWHERE, cycles
from plait.record.billing import ASSISTANT, Figures
from plait.record.lineage import CLEARING, Sent, Thinking
from plait.record.time import moment

UNNAMED = "line "


@dataclass(slots=True)
class Asked:
    """A request while its lines are met, with what stood in the log when it was answered."""

    key: str
    line: int
    first: Sent
    figures: Figures
    process: int
    """How many clients had been left by then."""
    prompt: bytes | None
    """A digest of instructions and tools, the last that was kept by then."""
    before: "Asked | None" = None
    follows: "list[Asked]" = field(default_factory=list)
    """Requests that go on from it, in the order of the file."""
    is_errand: bool = False
    """What it goes on from stands in the file of the session."""
    since: "Between" = field(default_factory=lambda: Between())
    tokens: Tokens = NOTHING
    sent: datetime | None = None

    @property
    def model(self) -> str | None:
        """Who answered."""
        return self.first.message.model if self.first.message else None

    @property
    def cached(self) -> int:
        """Tokens in the cache once it was answered."""
        return self.tokens.cache_read + self.tokens.cache_write


@dataclass(slots=True)
class Between:
    """What stands between a request and the one that it goes on from."""

    is_compacted: bool = False
    is_cleared: bool = False
    """The client took old results out."""
    is_taken_up: bool = False
    """A hook tells that the session was taken up again."""
    is_lost: bool = False
    """What leads up to it is not in the file."""
    preserved_behind: "Asked | None" = None
    """The request behind whose answer a compaction left all as it was."""
    thinking: Thinking | None = None
    """What the prompt says of thinking."""
    uuids: list[str] = field(default_factory=list)
    """Of the lines, the nearest first."""


@dataclass(frozen=True, slots=True)
class Held:
    """The lines of a file and the requests in them, in the order of their first lines."""

    lines: dict[str, Sent] = field(default_factory=dict)
    requests: dict[str, Asked] = field(default_factory=dict)


Main: TypeAlias = Callable[[], Held]
"""What gives the file of the session, where a line leads there."""


def requests_in(lines: Iterable[tuple[int, Sent]], main: Main = Held) -> list[Asked]:
    """Returns the requests of a file in the order of their first lines."""
    return [*held_in(lines, main).requests.values()]


def held_in(lines: Iterable[tuple[int, Sent]], main: Main = Held) -> Held:
    """Returns the lines of a file, and its requests with what each goes on from."""
    entries: dict[str, Sent] = {}
    found: dict[str, Asked] = {}
    process, prompt = 0, None
    for number, line in lines:
        process += line.ends_process
        prompt = line.prompt or prompt
        if line.uuid:
            entries.setdefault(line.uuid, line)
        if key := key_of(line, number):
            _note(found, key, number, line, process, prompt)
    for asked in found.values():
        asked.tokens = tokens_of(asked.figures)
        _connect(asked, Held(entries, found), main)
    _cut_circles([*found.values()])
    return Held(entries, found)


def key_of(line: Sent, number: int = 0) -> str | None:
    """Returns what a line's response is known by, None where it is none of a model.

    One that nothing names is known by its line alone.
    """
    message = line.message
    if message is None or message.usage is None or message.model == SYNTHETIC:
        return None
    if (line.type or message.role) != ASSISTANT:
        return None
    named = response_key(message.id, line.request_id or message.request_id, line.uuid)
    return named or f"{UNNAMED}{number}"


def _note(
    found: dict[str, Asked], key: str, number: int, line: Sent, process: int, prompt: bytes | None
) -> None:
    figures = line.message.usage if line.message else None
    if figures is None:
        return
    known = found.get(key)
    if known is None:
        found[key] = Asked(key, number, line, figures, process, prompt)
    elif supersedes(figures, known.figures):
        known.figures = figures


def _connect(asked: Asked, own: Held, main: Main) -> None:
    """Finds what a request goes on from, and what stands between."""
    since = asked.since
    for line, held in _upwards(asked.first, own, main, since):
        asked.sent = asked.sent or moment(line.timestamp)
        key = key_of(line)
        if key and key != asked.key:
            asked.before = held.requests[key]
            asked.is_errand = held is not own
            if not asked.is_errand:
                asked.before.follows.append(asked)
            break
        if line.is_boundary and not since.preserved_behind:
            since.is_compacted = True
            since.preserved_behind = _preserved_behind(line, held)
        since.uuids.append(line.uuid or "")
        since.is_cleared |= line.subtype == CLEARING
        since.is_taken_up |= line.begins_process
        since.thinking = since.thinking or line.thinking_metadata
    asked.sent = asked.sent or moment(asked.first.timestamp)


def _cut_circles(asked: list[Asked]) -> None:
    """Lets no request go on from itself: the first of a circle in the file begins it."""
    numbers = {one.key: number for number, one in enumerate(asked)}
    up = [numbers[one.before.key] if one.before and not one.is_errand else NOWHERE for one in asked]
    for circle in cycles(up):
        first = asked[min(circle)]
        if first.before:
            first.before.follows.remove(first)
        first.before = None


def _preserved_behind(boundary: Sent, held: Held) -> Asked | None:
    """Returns the last request before what a compaction left as it was."""
    told = boundary.compact_metadata
    kept = (told.preserved_messages or told.preserved_segment) if told else None
    uuid = (kept.head_uuid or next(iter(kept.uuids or ()), None)) if kept else None
    head = held.lines.get(uuid or "")
    above = (line for line, _ in _upwards(head, held, Held, Between())) if head else ()
    lines = takewhile(lambda line: not line.is_boundary, above)
    return next((held.requests[key] for line in lines if (key := key_of(line))), None)


def _upwards(line: Sent, held: Held, main: Main, since: Between) -> Iterator[tuple[Sent, Held]]:
    """Yields what leads up to a line, the nearest first, and the file that it stands in."""
    met: set[str] = set()
    while parent := line.parent_uuid or line.logical_parent_uuid:
        if parent in met:
            return
        met.add(parent)
        if parent not in held.lines:
            held = main()
        above = held.lines.get(parent)
        if above is None:
            since.is_lost = True
            return
        line = above
        yield line, held
