"""The export as a site of plain HTML files: a page for each session, and a first page."""

import gzip
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib.resources import files
from typing import TypeAlias

from plait.conversation.costs import CostFunction, Pricing, make_cost_function, sum_conversations
from plait.conversation.model import Conversations, UserMessage
from plait.conversation.walk import Depth
from plait.export.transcripts import Family
from plait.graph.model import Session as GraphSession
from plait.graph.paths import SPOKEN
from plait.sessions.open_session import list_graph_rows
from plait.view.agents import AgentCosts
from plait.view.page.blocks import PageOptions
from plait.view.page.column import iter_main_conversations
from plait.view.page.frame import Assets, bundle_script, render_page
from plait.view.page.graph import SmallTurn, get_side, render_small_graph
from plait.view.page.markup import icon_rules
from plait.view.page.raw_lines import PackedLines, make_lines_script, make_part_script, pack_lines
from plait.view.page.session import PageHeading, SessionPage, render_session_page
from plait.view.page.session_rows import SiteEntry, encode_search_table, render_site_page
from plait.view.text import shorten

Output: TypeAlias = tuple[str, bytes]
"""A file of the site: its name and its bytes."""
FOLDER = "sessions"


@dataclass
class Site:
    """Builds a site; of each session it keeps only what the first page needs."""

    pricing: Pricing | None = None
    depth: Depth | None = None
    has_thinking: bool = True
    is_active_only: bool = False
    is_single: bool = False
    """Whether a page contains everything it needs."""
    title: str = "Sessions"
    entries: list[SiteEntry] = field(default_factory=list)

    def outputs(self, families: Iterable[Family]) -> Iterator[Output]:
        """Yield the files of a site, session by session, the first page last."""
        for family in families:
            yield from self.family_files(family)
        yield from self.first_page()

    def family_files(self, family: Family) -> Iterator[Output]:
        """Yield the pages of a family of sessions."""
        for session in family.graph.sessions.values():
            yield from self.session_files(family, session)

    def session_files(self, family: Family, session: GraphSession) -> Iterator[Output]:
        """Yield the page of a session and what it fetches; the first page will list it."""
        conversations = find_session_conversations(
            family, session, is_active_only=self.is_active_only
        )
        if conversations is None:
            return
        shapes = list_graph_rows(family.graph, session.id)
        lines: list[PackedLines] = []
        for file in session.files:
            records = family.opened.records_of(family.graph.files[file].path)
            lines += pack_lines(file, ((record.line, record.raw) for record in records))
        setting = self.setting(family, session, conversations)
        heading = self.heading(family, session, conversations)
        home = None if self.is_single else "../index.html"
        drawn = render_session_page(conversations, shapes, heading, setting, lines, home=home)
        name = f"{FOLDER}/{family.pages[session.id]}"
        self.entries.append(_make_entry(conversations, heading, family, f"{name}.html"))
        yield from self.page_files(name, heading.title, drawn, lines)

    def setting(
        self, family: Family, session: GraphSession, conversations: Conversations
    ) -> PageOptions:
        """Return the options shared by all items of a page."""
        pages = {session_id: f"{name}.html" for session_id, name in family.pages.items()}
        return PageOptions(
            conversations.by_line,
            family.places[session.id].directory,
            self.depth,
            self.has_thinking,
            self.cost_of,
            pages.get,
            AgentCosts(conversations, self.cost_of),
        )

    @cached_property
    def cost_of(self) -> CostFunction:
        """A function for the cost of a response."""
        return make_cost_function(self.pricing)

    def heading(
        self, family: Family, session: GraphSession, conversations: Conversations
    ) -> PageHeading:
        """Return the content of a page header."""
        place = family.places[session.id]
        answers = (
            response for line in conversations.by_line.values() for response in line.responses
        )
        models = dict.fromkeys(
            answer.model for answer in answers if answer.model and not answer.is_synthetic
        )
        title = (
            conversations.active.title or conversations.active.label or session.title or session.id
        )
        return PageHeading(
            session=session.id,
            title=shorten(title),
            project=session.project,
            directory=place.directory,
            git_branch=place.branch,
            models=tuple(models),
            turns=sum(
                turn.number > 0
                for line in iter_main_conversations(conversations)
                for turn in line.turns
            ),
            totals=sum_conversations(conversations.by_line.values(), self.pricing),
            resume=family.resume_line(session.id),
            again=f"plait resume {session.id} --at" if family.resume_line(session.id) else None,
        )

    def page_files(
        self, name: str, title: str, drawn: SessionPage, lines: Iterable[PackedLines]
    ) -> Iterator[Output]:
        """Yield the files of one session."""
        if self.is_single:
            # What a page would fetch, as inert parts of itself.
            body = drawn.body
            for number, piece in enumerate(lines):
                body += f'<script type="text/plain" class="lines" data-n="{number}">{piece.letters}</script>'
            for part in drawn.parts:
                turns = "".join(part.turns)
                body += f'<template class="parts" data-n="{part.number}">{turns}</template>'
            yield f"{name}.html", _render_document(title, body, root="../", inlined=_load_assets())
            return
        yield f"{name}.html", _render_document(title, drawn.body, root="../")
        for number, piece in enumerate(lines):
            yield f"{name}.lines/{number}.js", make_lines_script(piece)
        for part in drawn.parts:
            yield f"{name}.lines/part-{part.number}.js", make_part_script(part.number, part.turns)

    def first_page(self, sessions: Sequence[str] = ()) -> Iterator[Output]:
        """Yield the first page, its search table, and the assets of all pages."""
        body = render_site_page(self.entries, self.title, sessions)
        table = encode_search_table(self.entries)
        if self.is_single:
            inert = table.replace("<", "\\u003c")
            body += f'<script type="application/json" class="index">{inert}</script>'
            yield "index.html", _render_document(self.title, body, root="", inlined=_load_assets())
            return
        yield "index.html", _render_document(self.title, body, root="")
        yield "assets/index.js", f"plait.index({table})".encode()
        yield "assets/plait.css", read_style().encode()
        yield "assets/plait.js", bundle_script("plait.js").encode()
        for name in ("highlight.js", "highlight.LICENSE"):
            yield f"assets/{name}", read_asset(name).encode()


def find_session_conversations(
    family: Family, session: GraphSession, *, is_active_only: bool
) -> Conversations | None:
    """Return the conversations of one session of a family; None if it has none."""
    found = {
        name: conversation
        for name, conversation in family.by_line.items()
        if conversation.session == session.id and (conversation.is_active or not is_active_only)
    }
    main = session.trunk if session.trunk in found else next(iter(found), None)
    return Conversations(session.id, main, found) if main else None


def _make_entry(
    conversations: Conversations,
    heading: PageHeading,
    family: Family,
    href: str,
) -> SiteEntry:
    lines = conversations.by_line.values()
    openers = [turn.opener for line in lines if line.kind in SPOKEN for turn in line.turns]
    prompts = [opener for opener in openers if isinstance(opener, UserMessage) and opener.text]
    above = family.by_line.get(conversations.active.parent or "")
    return SiteEntry(
        heading=heading,
        href=href,
        branches=sum(line.kind == "branch" for line in lines),
        agents=sum(line.kind == "agent" for line in lines),
        drawing=render_small_graph(_iter_turns(conversations)),
        prompts=tuple(opener.text for opener in prompts),
        prompt_times=tuple(opener.time for opener in prompts if opener.time),
        parent=above.session if above and above.session != conversations.session else None,
    )


def _iter_turns(conversations: Conversations) -> Iterator[SmallTurn]:
    """Yield the turns of a session by time, like the index."""
    begun = [
        (turn.opener.time or "", number, turn.number, side)
        for number, conversation in enumerate(conversations.by_line.values())
        for side in (
            get_side(
                conversation.kind,
                is_abandoned=conversation.kind in SPOKEN and not conversation.is_active,
            ),
        )
        for turn in conversation.turns
        if side and turn.opener
    ]
    for _, number, _, side in sorted(begun):
        yield SmallTurn(number, side)


def _render_document(title: str, body: str, *, root: str, inlined: Assets | None = None) -> bytes:
    return render_page(title, body, root=root, inlined=inlined).encode("utf-8", "replace")


def _load_assets() -> Assets:
    return Assets(read_style(), bundle_script("plait.js"), read_asset("highlight.js"))


def read_style() -> str:
    """Return the style sheet of all pages, with its icons."""
    return read_asset("plait.css") + icon_rules()


def read_asset(name: str) -> str:
    """Return an asset file of the pages; large ones are compressed in an installed package."""
    folder = files("plait.view.page").joinpath("assets")
    packed = folder.joinpath(f"{name}.gz")
    if packed.is_file():
        return gzip.decompress(packed.read_bytes()).decode()
    return folder.joinpath(name).read_text(encoding="utf-8")
