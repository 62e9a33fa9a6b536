"""A session behind its pages, read once and kept until its files change.

A session that is being written to is followed: new lines that continue the last turn, or add turns,
are read alone (`SessionFollower`). Otherwise the session is read again.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from shlex import quote
from threading import Lock
from time import perf_counter

import msgspec
from msgspec.structs import replace

from plait.archive.archive import Archive
from plait.conversation.build import BOUNDARY, BranchDetector
from plait.conversation.costs import SessionCost
from plait.conversation.model import (
    BranchPoint,
    ClientNote,
    Conversation,
    Conversations,
    Item,
    LateResult,
    ToolCall,
)
from plait.conversation.prices import Prices
from plait.edit.report import PresetEffect, list_preset_effects, weigh_context
from plait.errors import NoSuchSession, SourceError
from plait.export.site import Site, find_session_conversations
from plait.export.transcripts import Family, Names
from plait.files.events import NetChange
from plait.files.history import find_start_directory, read_session_events
from plait.files.touched import ChangedFiles, list_changed_files
from plait.files.versions import compute_net_changes
from plait.graph.client import Context
from plait.graph.facts import make_source
from plait.graph.paths import SPOKEN
from plait.insights.why import ResponsesByFile, Why, explain_requests, map_turns
from plait.insights.xray import XrayColumn, build_xray
from plait.line.files import Follower
from plait.record import Record
from plait.record.reader import Blank, parse_entry
from plait.sessions.checkpoint import replay, stays_linear
from plait.sessions.model import Session
from plait.sessions.open_session import OpenSession, is_record_unchanged, open_session
from plait.sessions.page_cache import fingerprint_session
from plait.sessions.resume import Resumption, format_resume_at_turn, format_resume_command
from plait.sessions.worker_pool import gc_paused
from plait.view.agents import AgentCosts
from plait.view.context import Weighed, measure_context
from plait.view.page.column import ReadingColumn, RecordLocator
from plait.view.page.session import PageHeading
from plait.view.text import shorten
from plait.view.timeline import Timeline, build_timeline

MAX_FOLLOWED_BYTES = 4 << 20
"""Size of a last turn and what follows beyond which reading again is as good."""


class SessionFollower:
    """Follows the own file of a session from where it was read to."""

    def __init__(self, opened: OpenSession, conversations: Conversations | None) -> None:
        self.session = opened.session
        self.opened = opened
        self.conversations = conversations
        self.is_linear = True
        self._lock = Lock()
        self._records: list[Record] = []
        self._foreign_notes: tuple[Item, ...] = ()
        """Notes of the last turn that are elsewhere in the log."""
        self._follower: Follower | None = None
        self._judge: BranchDetector | None = None
        self._conversation: Conversation | None = None
        self._begin()

    def conversation(self) -> Conversation | None:
        """Return the last turn and everything after it; None if the log is no longer linear.

        Its turns start with the one that was last.
        """
        with self._lock:
            if self.is_linear and self._read_new():
                self._conversation = self._build_conversation()
            self.is_linear = self.is_linear and self._conversation is not None
            return self._conversation if self.is_linear else None

    @property
    def first_turn(self) -> int:
        """The index of the turn that it begins with."""
        return len(self.conversations.active.turns) - 1 if self.conversations else 0

    def _begin(self) -> None:
        """Take the records of the last turn, if nothing else is at the end."""
        conversations, file, graph = self.conversations, self.session.file, self.opened.graph
        self.is_linear = bool(conversations and file and conversations.active.turns)
        if conversations is None or file is None or not self.is_linear:
            return
        last = conversations.active.turns[-1]
        held = self.opened.records
        start = last.opener.line if last.opener else 0
        self._records = [record for record in held if record.line >= start]
        self._foreign_notes = tuple(item for item in last.items if item.file or item.line < start)
        self.is_linear = (
            graph.files[0].path == str(file.path)
            and bool(self._records)
            and all(isinstance(item, ClientNote) for item in self._foreign_notes)
            and not any(isinstance(item, BranchPoint) for item in last.items)
            and all(self._is_of_line(record) for record in self._records)
            and is_record_unchanged(file.path, held[-1])
        )
        if held:
            end = held[-1].offset + len(held[-1].raw) + 1
            self._follower = Follower(file.path, offset=end, number=held[-1].line + 1)
            self._conversation = replace(
                conversations.active, turns=conversations.active.turns[-1:]
            )

    def _is_of_line(self, record: Record) -> bool:
        graph, uuid = self.opened.graph, record.uuid
        if uuid is None or self.conversations is None:
            return uuid is None
        return graph.line_of.get(uuid) == self.conversations.main and uuid not in graph.folds

    def _read_new(self) -> bool:
        """Read new lines; return whether there are any."""
        if self._follower is None:
            return False
        try:
            grown = self._follower.poll()
        except SourceError:
            self.is_linear = False
            return False
        entries = [parse_entry(line) for line in grown.lines]
        found = [entry for entry in entries if isinstance(entry, Record)]
        odd = sum(not isinstance(entry, Record | Blank) for entry in entries)
        is_other = grown.is_restarted or grown.is_gone or bool(odd)
        self.is_linear = not is_other and self._stays_linear(found)
        self._records += found
        return bool(found) and self.is_linear

    def _stays_linear(self, new: list[Record]) -> bool:
        if self._judge is None:
            self._judge = replay(BranchDetector(), self.opened.records)
        # A compaction decides which of the earlier turns are sent, and so how they are drawn.
        return stays_linear(self._judge, new) and not any(
            record.subtype == BOUNDARY for record in new
        )

    def _build_conversation(self) -> Conversation | None:
        """Return the last turn and what follows as a conversation of its own."""
        file = self.session.file
        size = sum(len(record.raw) for record in self._records)
        if file is None or self.conversations is None or size > MAX_FOLLOWED_BYTES:
            return None
        last = OpenSession([make_source(file, self._records)])
        return (
            self._iter_continued_turns(last.conversations.active)
            if len(last.graph.lines) == 1
            else None
        )

    def _iter_continued_turns(self, found: Conversation) -> Conversation | None:
        """Return the turns with their numbers in the conversation."""
        assert self.conversations is not None
        last = self.conversations.active.turns[-1]
        step = last.number - found.turns[0].number if found.turns else -1
        is_late = any(
            isinstance(item, LateResult) and item.origin != "own" for item in found.items()
        )
        if step < 0 or is_late or (last.number and not found.turns[0].number):
            return None
        agents = {item.call: item.agents for item in last.items if isinstance(item, ToolCall)}
        turns = [
            replace(
                turn,
                number=turn.number + step,
                items=tuple(_with_agents(item, agents) for item in turn.items),
            )
            for turn in found.turns
        ]
        turns[0] = replace(turns[0], items=(*turns[0].items, *self._foreign_notes))
        return replace(found, id=self.conversations.main, turns=tuple(turns))


def _with_agents(item: Item, agents: dict[str, tuple[str, ...]]) -> Item:
    if isinstance(item, ToolCall) and agents.get(item.call):
        return replace(item, agents=agents[item.call])
    return item


# ---------------------------------------------------------------------- a session behind its pages


NO_FILE = "its log no longer exists; only its agents' logs are left"
NO_CONTEXT = Context(False, NO_FILE, None, (), [], [], ())


@dataclass
class LiveSession:
    """A session with the state of its files when opened, under its name in URLs."""

    name: str
    opened: OpenSession
    prices: Prices = field(default_factory=Prices)
    read_seconds: float = 0.0
    """Seconds it took to read it."""
    roots: tuple[Path, ...] = ()
    """The roots it was found under."""
    client_folder: Path | None = None
    """The client's own folder, if known."""
    program: str = "plait"
    """The command that starts this program in any folder."""
    _timelines: dict[str, Timeline] = field(default_factory=dict)
    _presets: tuple[PresetEffect, ...] | None = None

    def is_current(self, session: Session) -> bool:
        """Return whether the files of a session are unchanged."""
        return self.opened.session.files == session.files

    @property
    def bytes(self) -> int:
        """The size of its logs."""
        return sum(file.size for file in self.opened.session.files)

    @cached_property
    def fingerprint(self) -> str:
        """A fingerprint of its files."""
        return fingerprint_session(self.opened.session)

    @cached_property
    def _family(self) -> Family:
        return Family(self.opened, str, Names())

    @cached_property
    def conversations_if_any(self) -> Conversations | None:
        """All its conversations; None if it has none."""
        known = self.opened.graph.sessions.get(self.opened.id)
        return (
            find_session_conversations(self._family, known, is_active_only=False) if known else None
        )

    @cached_property
    def column(self) -> ReadingColumn | None:
        """Its reading column; None if it has no messages."""
        if self.conversations_if_any is None:
            return None
        graph = self.opened.graph.sessions[self.opened.id]
        return ReadingColumn(
            self.conversations_if_any,
            Site(self.prices).setting(self._family, graph, self.conversations_if_any),
        )

    @cached_property
    def heading(self) -> PageHeading | None:
        """The content of its page header."""
        if self.conversations_if_any is None:
            return None
        graph = self.opened.graph.sessions[self.opened.id]
        found = Site(self.prices).heading(self._family, graph, self.conversations_if_any)
        kept = self.opened.session
        if kept.is_kept:
            resume = f"{self.program} resume {quote(kept.id)} --restore"
            found = msgspec.structs.replace(found, mark=kept.mark, resume=resume)
        elif found.resume or kept.origin:
            resume = format_resume_command(kept, found.directory, self.client_folder)
            found = msgspec.structs.replace(found, mark=kept.mark, resume=resume)
        again = None
        if found.resume and not kept.origin:
            again = format_resume_at_turn(kept, self.roots, self.client_folder, self.program)
        return msgspec.structs.replace(found, session=self.name, again=again)

    @property
    def directory(self) -> str | None:
        """Its working directory."""
        place = self._family.places.get(self.opened.id)
        return place.directory if place else None

    @cached_property
    def places(self) -> RecordLocator | None:
        """The locations of its records in the page."""
        return RecordLocator(self.conversations_if_any) if self.conversations_if_any else None

    @property
    def shape(self) -> str:
        """A value that changes when a page must be rendered again."""
        return f"{self.opened.epoch}.{self.column.shape if self.column else ''}"

    @cached_property
    def resumption(self) -> Resumption:
        """What Claude will see of it."""
        return self.opened.context()

    @cached_property
    def context_window(self) -> Weighed:
        """What Claude will see of it, measured."""
        if self.opened.session.file is None:
            return measure_context(self.name, NO_CONTEXT, None)
        return weigh_context(self.opened, self.name, self.prices, self.resumption)

    @cached_property
    def xray(self) -> tuple[XrayColumn, ...]:
        """The content of each request that led to its present state."""
        file = self.opened.session.file
        if file is None:
            return ()
        return build_xray(self.opened.sent_lines(file.path), self.resumption.context.chain)

    def presets(self, archive: Archive) -> tuple[PresetEffect, ...]:
        """Return what each preset of a trim would leave, computed once."""
        if self._presets is None:
            self._presets = tuple(list_preset_effects(archive, self.opened.session))
        return self._presets

    @property
    def conversations(self) -> Conversations:
        """All its conversations; having none is an error."""
        if self.conversations_if_any is None:
            raise NoSuchSession("this session is empty")
        return self.conversations_if_any

    def line(self, name: str | None) -> Conversation:
        """Return one of its conversations, by default the active one."""
        if name is None:
            return self.conversations.active
        found = self.conversations.by_line.get(name)
        if found is None:
            raise NoSuchSession("no such conversation in this session")
        return found

    @property
    def branch_names(self) -> dict[str, str]:
        """The main conversations, the active one first, with their names."""
        conversations = self.conversations
        names = {conversations.main: "active"}
        for line in conversations.by_line.values():
            if line.kind in SPOKEN and line.id != conversations.main:
                names[line.id] = shorten(line.label or line.title or line.id, 60)
        return names

    def timeline(self, line: str) -> Timeline:
        """Return one of its conversations as a timeline."""
        if line not in self._timelines:
            self._timelines[line] = build_timeline(self.conversations, line)
        return self._timelines[line]

    @cached_property
    def files(self) -> ChangedFiles:
        """What it did to files."""
        return list_changed_files(self.conversations, self.net, find_start_directory(self.opened))

    @cached_property
    def net(self) -> Mapping[str, NetChange]:
        """The net change of each file that it changed."""
        return compute_net_changes(read_session_events(self.opened))

    @cached_property
    def cost(self) -> SessionCost:
        """Its usage and cost."""
        return self.agents.session_cost

    @cached_property
    def agents(self) -> AgentCosts:
        """The usage of its agents, one by one."""
        return AgentCosts(self.conversations, Site(self.prices).cost_of)

    def why(self, owned: ResponsesByFile) -> Why:
        """Return what its requests cost and why, given the responses by file."""
        turns = map_turns(self.conversations_if_any) if self.conversations_if_any else {}
        read = self.opened.sent_lines
        return explain_requests(owned, self.opened.session, turns, self.prices, read)

    @cached_property
    def follower(self) -> SessionFollower:
        """Follows what is added to its own file from here on."""
        return SessionFollower(self.opened, self.conversations_if_any)

    def render_turns(self, key: str) -> list[str] | None:
        """Return turns of the active line, including new ones.

        None if the session must be read again.
        """
        asked = self.column.parse_stretch(key) if self.column else None
        grown = self.follower.conversation()
        if self.column is None or asked is None or grown is None or asked.line != grown.id:
            return None
        start = self.follower.first_turn
        found = self.column.render_stretch(asked._replace(last=min(asked.last, start)))
        first, last = max(asked.first - start, 0), max(asked.last - start, 0)
        return [*found, *self.column.iter_turns(grown, first, last)]


def open_live_session(
    name: str,
    session: Session,
    prices: Prices,
    before: LiveSession | None = None,
    roots: tuple[Path, ...] = (),
    default: Path | None = None,
    program: str = "plait",
) -> LiveSession:
    """Read a session; if it was read before, only what is new."""
    start = perf_counter()
    with gc_paused():
        found = before.opened.reopen(session) if before else open_session(session)
        live_session = LiveSession(
            name, found, prices, roots=roots, client_folder=default, program=program
        )
        _ = live_session.conversations_if_any, live_session.heading
    live_session.read_seconds = perf_counter() - start
    return live_session
