"""Families of sessions to a site of plain files: a page for each session, and a first page."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from typing import TypeAlias

from plait.archive.export.transcripts import Family
from plait.archive.open_session import rows_of
from plait.conversation.model import Conversations, Response, Told
from plait.conversation.totals import Pricing, totals_over
from plait.conversation.walk import Depth
from plait.graph.model import Session as GraphSession
from plait.graph.paths import SPOKEN
from plait.view.agents import AgentCosts
from plait.view.costs import cost_by
from plait.view.page.conversation.blocks import Setting
from plait.view.page.conversation.column import spoken
from plait.view.page.conversation.page import PageHeading, SessionPage, session_page
from plait.view.page.frame import Assets, page, script
from plait.view.page.lists.rows import SiteEntry, search_table, site_page
from plait.view.page.markup import icon_rules
from plait.view.page.small_graph import SmallTurn, side_of, small_graph
from plait.view.page.tabs.raw import PackedLines, packed_lines, part_script, script_of
from plait.view.text import shortened

Output: TypeAlias = tuple[str, bytes]
"""A file of the site: its name within it, and its bytes."""
FOLDER = "sessions"


@dataclass
class Site:
    """Makes a site; keeps of each session only what its first page says."""

    pricing: Pricing | None = None
    depth: Depth | None = None
    has_thinking: bool = True
    is_active_only: bool = False
    is_single: bool = False
    """Everything that a page needs stands in the page."""
    title: str = "Sessions"
    entries: list[SiteEntry] = field(default_factory=list)

    def outputs(self, families: Iterable[Family]) -> Iterator[Output]:
        """Yields the files of a site, session by session, the first page last."""
        for family in families:
            yield from self.family_files(family)
        yield from self.first_page()

    def family_files(self, family: Family) -> Iterator[Output]:
        """Yields the pages of sessions that belong together."""
        for session in family.graph.sessions.values():
            yield from self.session_files(family, session)

    def session_files(self, family: Family, session: GraphSession) -> Iterator[Output]:
        """Yields the page of a session and what it fetches; the first page will list it."""
        told = conversations_in(family, session, is_active_only=self.is_active_only)
        if told is None:
            return
        shapes = rows_of(family.graph, session.id)
        lines = [piece for file in session.files for piece in _packed(family, file)]
        setting = self.setting(family, session, told)
        heading = self.heading(family, session, told)
        home = None if self.is_single else "../index.html"
        drawn = session_page(told, shapes, heading, setting, lines, home=home)
        name = f"{FOLDER}/{family.pages[session.id]}"
        self.entries.append(_entry_of(told, heading, family, f"{name}.html"))
        yield from self.written(name, heading.title, drawn, lines)

    def setting(self, family: Family, session: GraphSession, told: Conversations) -> Setting:
        """Returns what all items of a page share."""
        pages = {one: f"{name}.html" for one, name in family.pages.items()}
        return Setting(
            told.by_line,
            family.places[session.id].directory,
            self.depth,
            self.has_thinking,
            self.cost_of,
            pages.get,
            AgentCosts(told, self.cost_of),
        )

    def cost_of(self, response: Response) -> float | None:
        """Returns what a response costs."""
        return cost_by(self.pricing)(response)

    def heading(self, family: Family, session: GraphSession, told: Conversations) -> PageHeading:
        """Returns what the head of a page says."""
        place = family.places[session.id]
        answers = (one for line in told.by_line.values() for one in line.responses)
        models = dict.fromkeys(one.model for one in answers if one.model and not one.is_synthetic)
        title = told.active.title or told.active.label or session.title or session.id
        return PageHeading(
            session=session.id,
            title=shortened(title),
            project=session.project,
            directory=place.directory,
            git_branch=place.branch,
            models=tuple(models),
            turns=sum(turn.number > 0 for line in spoken(told) for turn in line.turns),
            totals=totals_over(told.by_line.values(), self.pricing),
            resume=family.resume_line(session.id),
            again=f"plait resume {session.id} --at" if family.resume_line(session.id) else None,
        )

    def written(
        self, name: str, title: str, drawn: SessionPage, lines: Iterable[PackedLines]
    ) -> Iterator[Output]:
        """Yields the files of one session."""
        if self.is_single:
            body = drawn.body + "".join(_embedded_parts(drawn, lines))
            yield f"{name}.html", _document(title, body, root="../", inlined=_assets())
            return
        yield f"{name}.html", _document(title, drawn.body, root="../")
        for number, piece in enumerate(lines):
            yield f"{name}.lines/{number}.js", script_of(piece)
        for part in drawn.parts:
            yield f"{name}.lines/part-{part.number}.js", part_script(part.number, part.turns)

    def first_page(self, sessions: Sequence[str] = ()) -> Iterator[Output]:
        """Yields the first page, what it searches, and what all pages are drawn with."""
        body = site_page(self.entries, self.title, sessions)
        table = search_table(self.entries)
        if self.is_single:
            body += f'<script type="application/json" class="index">{_inert(table)}</script>'
            yield "index.html", _document(self.title, body, root="", inlined=_assets())
            return
        yield "index.html", _document(self.title, body, root="")
        yield "assets/index.js", f"plait.index({table})".encode()
        yield "assets/plait.css", style().encode()
        yield "assets/plait.js", script("plait.js").encode()
        for name in ("highlight.js", "highlight.LICENSE"):
            yield f"assets/{name}", asset(name).encode()


def conversations_in(
    family: Family, session: GraphSession, *, is_active_only: bool
) -> Conversations | None:
    """Returns the conversations of one session of a family, None where it has none."""
    found = {
        name: one
        for name, one in family.by_line.items()
        if one.session == session.id and (one.is_active or not is_active_only)
    }
    main = session.trunk if session.trunk in found else next(iter(found), None)
    return Conversations(session.id, main, found) if main else None


def _packed(family: Family, file: int) -> Iterator[PackedLines]:
    records = family.opened.records_of(family.graph.files[file].path)
    return packed_lines(file, ((record.line, record.raw) for record in records))


def _entry_of(
    told: Conversations,
    heading: PageHeading,
    family: Family,
    href: str,
) -> SiteEntry:
    lines = told.by_line.values()
    openers = [turn.opener for one in lines if one.kind in SPOKEN for turn in one.turns]
    prompts = [opener for opener in openers if isinstance(opener, Told) and opener.text]
    above = family.by_line.get(told.active.parent or "")
    return SiteEntry(
        heading=heading,
        href=href,
        branches=sum(one.kind == "branch" for one in lines),
        agents=sum(one.kind == "agent" for one in lines),
        drawing=small_graph(_turns_of(told)),
        prompts=tuple(opener.text for opener in prompts),
        prompt_times=tuple(opener.time for opener in prompts if opener.time),
        parent=above.session if above and above.session != told.session else None,
    )


def _turns_of(told: Conversations) -> Iterator[SmallTurn]:
    """Yields the turns of a session as time went, as the index has them."""
    begun = [
        (turn.opener.time or "", number, turn.number, side)
        for number, one in enumerate(told.by_line.values())
        for side in (side_of(one.kind, is_abandoned=one.kind in SPOKEN and not one.is_active),)
        for turn in one.turns
        if side and turn.opener
    ]
    for _, number, _, side in sorted(begun):
        yield SmallTurn(number, side)


def _embedded_parts(drawn: SessionPage, lines: Iterable[PackedLines]) -> Iterator[str]:
    """Yields what a page would fetch, as parts of itself that no browser runs."""
    for number, piece in enumerate(lines):
        yield f'<script type="text/plain" class="lines" data-n="{number}">{piece.letters}</script>'
    for part in drawn.parts:
        turns = "".join(part.turns)
        yield f'<template class="parts" data-n="{part.number}">{turns}</template>'


def _inert(text: str) -> str:
    return text.replace("<", "\\u003c")


def _document(title: str, body: str, *, root: str, inlined: Assets | None = None) -> bytes:
    return page(title, body, root=root, inlined=inlined).encode("utf-8", "replace")


def _assets() -> Assets:
    return Assets(style(), script("plait.js"), asset("highlight.js"))


def style() -> str:
    """Returns the style sheet of all pages, their drawings in it."""
    return asset("plait.css") + icon_rules()


def asset(name: str) -> str:
    """Returns a file that belongs to the pages."""
    folder = files("plait.view.page").joinpath("assets")
    return folder.joinpath(name).read_text(encoding="utf-8")
