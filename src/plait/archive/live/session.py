"""A session to everything that its pages are drawn from, read once.

What is drawn is kept as long as the session is: until its files change.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from shlex import quote
from time import perf_counter
from typing import TYPE_CHECKING

import msgspec

from plait.archive.accounting import Owned, Why, paid_requests, turns_in
from plait.archive.archive import Archive
from plait.archive.context_fill import PresetEffect, preset_effects, weighed
from plait.archive.export.site import Site, conversations_in
from plait.archive.export.transcripts import Family, Names
from plait.archive.index_or_logs import without_collector
from plait.archive.kept_pages import mark_of
from plait.archive.live.growth import Growing
from plait.archive.model import Session
from plait.archive.open_session import OpenSession, opened
from plait.archive.resume import Resumption, client_line, line_to_turn
from plait.conversation.model import Conversation, Conversations
from plait.conversation.prices import Prices
from plait.conversation.xray import XrayColumn, xray
from plait.errors import NoSuchSession
from plait.graph.client import Context
from plait.graph.paths import SPOKEN
from plait.view.agents import AgentCosts
from plait.view.changed_files import ChangedFiles, changed_files
from plait.view.context_window import Weighed, context_window
from plait.view.costs import SessionCost
from plait.view.page.conversation.column import ReadingColumn
from plait.view.page.conversation.page import PageHeading
from plait.view.page.conversation.places import Places
from plait.view.text import shortened
from plait.view.timeline import Timeline, timeline_of

if TYPE_CHECKING:
    from plait.conversation.versions.model import NetChange

NO_FILE = "it has no file of its own, only its agents are left"
NO_CONTEXT = Context(False, NO_FILE, None, (), [], [], ())


@dataclass
class LiveSession:
    """A session as its files were when it was opened, under its name in addresses."""

    name: str
    opened: OpenSession
    prices: Prices = field(default_factory=Prices)
    took: float = 0.0
    """Seconds that it took to read it."""
    roots: tuple[Path, ...] = ()
    """Those that it was found under."""
    default: Path | None = None
    """The client's own folder, where it is known."""
    program: str = "plait"
    """What starts this program in any folder."""
    _timelines: dict[str, Timeline] = field(default_factory=dict)
    _presets: tuple[PresetEffect, ...] | None = None

    def is_of(self, session: Session) -> bool:
        """Tells whether the files of a session are still as they were."""
        return self.opened.session.files == session.files

    @property
    def bytes(self) -> int:
        """How large its logs are."""
        return sum(file.size for file in self.opened.session.files)

    @cached_property
    def mark(self) -> str:
        """What stands for its files as they were."""
        return mark_of(self.opened.session)

    @cached_property
    def _family(self) -> Family:
        return Family(self.opened, str, Names())

    @cached_property
    def told(self) -> Conversations | None:
        """All its conversations, None where it has none."""
        known = self.opened.graph.sessions.get(self.opened.id)
        return conversations_in(self._family, known, is_active_only=False) if known else None

    @cached_property
    def reading(self) -> ReadingColumn | None:
        """Its reading column, None where nothing was said."""
        if self.told is None:
            return None
        graph = self.opened.graph.sessions[self.opened.id]
        return ReadingColumn(self.told, Site(self.prices).setting(self._family, graph, self.told))

    @cached_property
    def heading(self) -> PageHeading | None:
        """What the head of its pages says."""
        if self.told is None:
            return None
        graph = self.opened.graph.sessions[self.opened.id]
        found = Site(self.prices).heading(self._family, graph, self.told)
        kept = self.opened.session
        if kept.is_kept:
            resume = f"{self.program} resume {quote(kept.id)} --restore"
            found = msgspec.structs.replace(found, mark=kept.mark, resume=resume)
        elif found.resume:
            resume = client_line(kept, found.directory, self.default)
            found = msgspec.structs.replace(found, resume=resume)
        again = None
        if found.resume:
            again = line_to_turn(kept, self.roots, self.default, self.program)
        return msgspec.structs.replace(found, session=self.name, again=again)

    @property
    def directory(self) -> str | None:
        """Where it ran."""
        place = self._family.places.get(self.opened.id)
        return place.directory if place else None

    @cached_property
    def places(self) -> Places | None:
        """Where everything in it is read."""
        return Places(self.told) if self.told else None

    @property
    def shape(self) -> str:
        """What changes when a page must be drawn anew."""
        return f"{self.opened.epoch}.{self.reading.shape if self.reading else ''}"

    @cached_property
    def resumption(self) -> Resumption:
        """What Claude will see of it."""
        return self.opened.context()

    @cached_property
    def weighed(self) -> Weighed:
        """What Claude will see of it, weighed."""
        if self.opened.session.file is None:
            return context_window(self.name, NO_CONTEXT, None)
        return weighed(self.opened, self.name, self.prices, self.resumption)

    @cached_property
    def xray(self) -> tuple[XrayColumn, ...]:
        """What filled each request that led to where it stands."""
        file = self.opened.session.file
        if file is None:
            return ()
        return xray(self.opened.sent_lines(file.path), self.resumption.context.chain)

    def presets(self, archive: Archive) -> tuple[PresetEffect, ...]:
        """Returns what each preset of a trim would leave, worked out once."""
        if self._presets is None:
            self._presets = tuple(preset_effects(archive, self.opened.session))
        return self._presets

    @property
    def conversations(self) -> Conversations:
        """All its conversations; that it has none is an error."""
        if self.told is None:
            raise NoSuchSession("there is nothing in this session")
        return self.told

    def line(self, name: str | None) -> Conversation:
        """Returns one of its conversations, the active one where none is named."""
        if name is None:
            return self.conversations.active
        found = self.conversations.by_line.get(name)
        if found is None:
            raise NoSuchSession("this session has no such conversation")
        return found

    @property
    def ways(self) -> dict[str, str]:
        """The conversations that people had, the active one first, and what each is called."""
        told = self.conversations
        spoken = [one for one in told.by_line.values() if one.kind in SPOKEN]
        ordered = sorted(spoken, key=lambda one: one.id != told.main)
        return {one.id: _way_name(one, told) for one in ordered}

    def timeline(self, line: str) -> Timeline:
        """Returns one of its conversations in time."""
        if line not in self._timelines:
            self._timelines[line] = timeline_of(self.conversations, line)
        return self._timelines[line]

    @cached_property
    def files(self) -> ChangedFiles:
        """What it did to files."""
        return changed_files(self.conversations, self.net)

    @cached_property
    def net(self) -> "Mapping[str, NetChange]":
        """What became of each file that it changed, in all."""
        from plait.archive.files.reading import session_events
        from plait.conversation.versions.net import net_changes

        return net_changes(session_events(self.opened))

    @cached_property
    def spent(self) -> SessionCost:
        """What it took."""
        return self.agents.spent

    @cached_property
    def agents(self) -> AgentCosts:
        """What its agents took, each by itself."""
        return AgentCosts(self.conversations, Site(self.prices).cost_of)

    def why(self, owned: Owned) -> Why:
        """Returns what its requests cost and why, where responses are counted to files so."""
        turns = turns_in(self.told) if self.told else {}
        read = self.opened.sent_lines
        return paid_requests(owned, self.opened.session, turns, self.prices, read)

    @cached_property
    def growing(self) -> Growing:
        """What is added to its own file from here on."""
        return Growing(self.opened, self.told)

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


def live_session(
    name: str,
    session: Session,
    prices: Prices,
    before: LiveSession | None = None,
    roots: tuple[Path, ...] = (),
    default: Path | None = None,
    program: str = "plait",
) -> LiveSession:
    """Reads a session; where it was read before, only what is new."""
    start = perf_counter()
    with without_collector():
        found = before.opened.grown(session) if before else opened(session)
        one = LiveSession(name, found, prices, roots=roots, default=default, program=program)
        _ = one.told, one.heading
    one.took = perf_counter() - start
    return one


def _way_name(one: Conversation, told: Conversations) -> str:
    if one.id == told.main:
        return "active"
    return shortened(one.label or one.title or one.id, 60)
