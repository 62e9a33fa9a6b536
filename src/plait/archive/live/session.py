"""A session to everything that its pages are drawn from, read once."""

from dataclasses import dataclass, field
from functools import cached_property
from hashlib import blake2b
from time import perf_counter
from typing import TypeAlias

import msgspec

from plait.archive.collector import without_collector
from plait.archive.export.site import Site, conversations_in
from plait.archive.export.transcripts import Family, Names
from plait.archive.live.growth import Growing
from plait.archive.model import Session
from plait.archive.open_session import OpenSession, opened
from plait.conversation.model import Conversations, Response
from plait.conversation.prices import Prices
from plait.graph.rows import RowShape
from plait.view.page.conversation.column import ReadingColumn
from plait.view.page.conversation.page import PageHeading
from plait.view.page.conversation.places import Places

Marks: TypeAlias = tuple[tuple[str, int, float], ...]
"""The files of a session, their sizes, when they were written."""


@dataclass
class Opened:
    """A session as its files were when it was opened."""

    opened: OpenSession
    marks: Marks
    family: Family
    prices: Prices = field(default_factory=Prices)
    took: float = 0.0
    """Seconds that it took to read it."""

    @property
    def bytes(self) -> int:
        """How large its logs are."""
        return sum(size for _, size, _ in self.marks)

    @property
    def mark(self) -> str:
        """What stands for its files as they were."""
        return mark_of(self.marks)

    @property
    def id(self) -> str:
        """The name that the graph knows the session by."""
        return self.opened.id

    @cached_property
    def told(self) -> Conversations | None:
        """All its conversations, None where it has none."""
        known = self.family.graph.sessions.get(self.id)
        return conversations_in(self.family, known, is_active_only=False) if known else None

    @property
    def rows(self) -> list[RowShape]:
        """Its graph as it is drawn."""
        return self.opened.rows

    @cached_property
    def reading(self) -> ReadingColumn | None:
        """Its reading column, None where nothing was said."""
        if self.told is None:
            return None
        graph = self.family.graph.sessions[self.id]
        return ReadingColumn(self.told, Site(self.prices).setting(self.family, graph, self.told))

    @cached_property
    def heading(self) -> PageHeading | None:
        """What the head of its pages says; it goes by its id there."""
        if self.told is None:
            return None
        graph = self.family.graph.sessions[self.id]
        return Site(self.prices).heading(self.family, graph, self.told)

    @cached_property
    def places(self) -> Places | None:
        """Where everything in it is read."""
        return Places(self.told) if self.told else None

    @cached_property
    def growing(self) -> Growing:
        """What is added to its own file from here on."""
        return Growing(self.opened, self.told)

    def cost_of(self, response: Response) -> float | None:
        """Returns what a response costs."""
        return Site(self.prices).cost_of(response)

    def headed(self, name: str) -> PageHeading | None:
        """Returns the head of its pages, under the name that it has in addresses."""
        return msgspec.structs.replace(self.heading, session=name) if self.heading else None

    def piece(self, key: str) -> list[str] | None:
        """Returns turns of the active line, what was written since among them.

        None where that cannot be told without reading the session anew.
        """
        asked = self.reading.stretch(key) if self.reading else None
        grown = self.growing.conversation()
        if self.reading is None or asked is None or grown is None or asked.line != grown.id:
            return None
        start = self.growing.first
        found = self.reading.piece(asked._replace(last=min(asked.last, start)))
        first, last = max(asked.first - start, 0), max(asked.last - start, 0)
        return [*found, *self.reading.drawn(grown, first, last)]


def open_for_page(
    session: Session, marks: Marks, prices: Prices | None = None, before: Opened | None = None
) -> Opened:
    """Reads a session; where it was read before, only what is new."""
    start = perf_counter()
    with without_collector():
        found = before.opened.grown(session) if before else opened(session)
        one = Opened(found, marks, Family(found, str, Names()), prices or Prices())
        _ = one.told, one.heading
    one.took = perf_counter() - start
    return one


def mark_of(marks: Marks) -> str:
    """Returns a short text that changes when the files of a session do."""
    return blake2b(repr(marks).encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
