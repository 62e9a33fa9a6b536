"""Conversations of a session to where each record and each word of it is read.

A way leads from the outside in: the DAG-line that is read, with the place of a turn in it;
where that turn has sent out the agent that is meant, the agent's line, and so on.
"""

from collections.abc import Iterator
from functools import cached_property

from msgspec import Struct

from plait.conversation.model import (
    Answered,
    Called,
    Compacted,
    Conversation,
    Conversations,
    Folded,
    Item,
    Noted,
    Said,
    Shown,
    Thought,
    Told,
)
from plait.graph.paths import SPOKEN
from plait.record.codec import strings_in
from plait.view.page.conversation.column import name_of

MOST_HITS = 2000


class Spotted(Struct, frozen=True):
    """Where something is read."""

    line: str
    """The DAG-line that must be shown."""
    way: tuple[tuple[str, int], ...]
    """Names of lines with the places of turns in them, from the outside in."""
    at: tuple[str, ...]
    """The lines of the log whose entry it is, the likeliest first."""


class Found(Struct, frozen=True):
    """Entries that hold some words."""

    total: int
    hits: tuple[Spotted, ...]


class Places:
    """Tells where things are read in one session."""

    def __init__(self, told: Conversations) -> None:
        self.told = told

    def of_record(self, uuid: str) -> Spotted | None:
        """Returns where a record is read, None where it is not."""
        known = self._records.get(uuid)
        return self._spotted(*known) if known else None

    def of_line(self, file: int, line: int) -> Spotted | None:
        """Returns where a line of the log is read: its entry, else the one before it."""
        best: tuple[str, int, Item] | None = None
        for known in self._records.values():
            item = known[2]
            is_nearer = best is None or item.line > best[2].line
            if item.file == file and item.line <= line and is_nearer:
                best = known
        return self._spotted(*best) if best else None

    def holding(self, words: str) -> Found:
        """Returns the entries that hold some words, in reading order; no letter is a capital."""
        wanted = words.lower()
        hits: list[Spotted] = []
        total = 0
        for line, place, item in self._all():
            if wanted in _text_of(item).lower():
                total += 1
                if len(hits) < MOST_HITS:
                    hits.append(self._spotted(line, place, item))
        return Found(total, tuple(hits))

    @cached_property
    def _records(self) -> dict[str, tuple[str, int, Item]]:
        found: dict[str, tuple[str, int, Item]] = {}
        for line, place, item in self._all():
            if item.uuid:
                found.setdefault(item.uuid, (line, place, item))
        return found

    @cached_property
    def _calls(self) -> dict[tuple[str, str], Called]:
        """The calls by the lines they stand on and their names."""
        return {
            (line, item.call): item for line, _, item in self._all() if isinstance(item, Called)
        }

    @cached_property
    def _senders(self) -> dict[str, tuple[str, int]]:
        """Where each agent was sent out."""
        return {
            agent: (line, place)
            for line, place, item in self._all()
            if isinstance(item, Called)
            for agent in item.agents
        }

    def _all(self) -> Iterator[tuple[str, int, Item]]:
        lines = sorted(self.told.by_line.values(), key=lambda one: self._rank(one))
        for one in lines:
            for place, turn in enumerate(one.turns):
                yield from ((one.id, place, item) for item in _unfolded(turn.items))

    def _rank(self, one: Conversation) -> tuple[bool, bool]:
        """Returns what puts the active conversation first, then its branches, then agents."""
        return one.id != self.told.main, one.kind not in SPOKEN

    def _spotted(self, line: str, place: int, item: Item) -> Spotted:
        way = [(line, place)]
        while way[-1][0] in self._senders and len(way) <= len(self.told.by_line):
            way.append(self._senders[way[-1][0]])
        steps = tuple((name_of(name), at) for name, at in reversed(way))
        return Spotted(way[-1][0], steps, tuple(self._entries(line, item)))

    def _entries(self, line: str, item: Item) -> Iterator[str]:
        yield f"{item.file}.{item.line}"
        if isinstance(item, Answered) and (call := self._calls.get((line, item.call))):
            yield f"{call.file}.{call.line}"


def _unfolded(items: tuple[Item, ...]) -> Iterator[Item]:
    waiting = [iter(items)]
    while waiting:
        item = next(waiting[-1], None)
        if item is None:
            waiting.pop()
            continue
        yield item
        if isinstance(item, Folded):
            waiting.append(iter(item.items))


def _text_of(item: Item) -> str:
    match item:
        case Said() | Thought() | Compacted():
            return "" if getattr(item, "is_intermediate", False) else item.text
        case Told():
            parts = (item.name, item.text, item.arguments, item.output, item.errors, item.context)
            return "\n".join(part for part in parts if part)
        case Called():
            return "\n".join((item.name, *strings_in(item.input, ())))
        case Answered():
            return f"{item.result.text}\n{item.result.feedback or ''}"
        case Noted():
            return item.text or "\n".join(strings_in(item.value))
        case Shown():
            return "\n".join(strings_in(item.enclosure.value))
        case _:
            return ""
