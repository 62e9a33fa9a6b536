"""`plait tree`: sessions with their branches, agents and compactions, drawn as a tree."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import click

from plait.archive import Archive, Session, TreeWay, Unlinked, marked
from plait.cli.options import (
    Request,
    filter_options,
    global_options,
    json_option,
    name_argument,
    no_index_option,
)
from plait.cli.output import Output
from plait.cli.selection import required, selected
from plait.cli.text import (
    clipped,
    columns,
    counted,
    fitting,
    lasting,
    local,
    safe,
    safe_line,
    short,
    size,
    to_type,
)
from plait.graph.outline import OutlineItem
from plait.view.amounts import some_of
from plait.view.forms import minute_of
from plait.view.graph_text import branching
from plait.view.words import one_line, plain_words

if TYPE_CHECKING:
    from rich.text import Text

SIGNS = {
    "trunk": ("●", "bold green"),
    "foreign": ("●", ""),
    "branch": ("○", ""),
    "agent": ("◇", "cyan"),
    "service": ("◇", "dim"),
    "agents": ("◇", "cyan"),
    "compaction": ("◆", "magenta"),
    "summary": ("≡", "dim"),
}
SESSIONS = ("trunk", "foreign", "summary")
NARROW = 32


@click.command("tree")
@name_argument
@filter_options
@click.option("--all", "everything", is_flag=True, help="Each agent, also those of the client.")
@no_index_option
@json_option
@global_options
@click.pass_obj
def command(
    request: Request, /, everything: bool, no_index: bool, as_json: bool, **asked: str | None
) -> None:
    """Draw sessions with their branches, agents and compactions as a tree.

    A session that goes on from another hangs on it. Where more than one session is drawn,
    agents are counted; `--all` lists them.
    """
    with request.answering(no_index=no_index) as archive:
        sessions = required(selected(request, **asked))
        way: TreeWay = "all" if everything or as_json else "few" if sessions[1:] else "agents"
        watch = request.output.watch("reading sessions")
        found = archive.tree(sessions, way=way, watch=watch)
    if as_json:
        request.output.json(found.items)
        return
    newest = {session.project: session for session in sessions}.values()
    directories = {one.project: archive.facts(one).cwd or "" for one in newest}
    with request.output.paged():
        marks = {one.id: one.mark for one in sessions if one.mark}
        drawing = Drawing(request.output, directories, found.compactions, sessions, marks)
        drawing.print(found.items)
        for remark in unlinked(found.unlinked):
            request.output.print(remark, style="dim")


@dataclass(frozen=True, slots=True)
class Drawing:
    """Prints the tree project by project."""

    output: Output
    projects: dict[str, str]
    """The directory of each project."""
    compactions: dict[str, str]
    """What each compaction did, in words."""
    sessions: Sequence[Session]
    """Those that are to be drawn."""
    marks: dict[str, str] = field(default_factory=dict)
    """What is said before the title of those that are only kept, by id."""

    def print(self, found: list[OutlineItem]) -> None:
        """Prints all parts and their sum."""
        self.output.lines(self.lines(found, self.output.width))
        self.output.print("")
        drawn, sessions = _drawn(found, self.sessions), len(self.sessions)
        self.output.print(", ".join(_totals(found, drawn, sessions)), style="dim")
        for remark in _not_as_such(drawn, sessions):
            self.output.print(remark, style="dim")

    def lines(self, found: list[OutlineItem], width: int) -> Iterator["Text"]:
        """Yields all parts, each project with its heading."""
        from rich.text import Text

        project = None
        for prefix, item in branching(found):
            if item.depth == 0 and item.project != project:
                if project is not None:
                    yield Text()
                heading = self.projects.get(item.project) or item.project
                yield Text(safe_line(heading or "(no project)"), style="bold")
                project = item.project
            yield self.line(prefix, item, width)

    def line(self, prefix: str, item: OutlineItem, width: int) -> "Text":
        """Returns one line of the tree: the sign, the name, the title, the figures."""
        from rich.text import Text

        sign, style = SIGNS[item.kind]
        text = Text(prefix, style="dim")
        text.append(f"{sign} ", style=f"not dim {style}")
        name = _name_of(item)
        if name:
            text.append(f"{safe_line(name)}  ")
        left = width - text.cell_len
        right = fitting(_figures(item), left - NARROW)
        room = left - columns(right) - 2
        words = clipped(safe(self.title(item)), max(room, 8))
        is_bright = item.is_active and item.kind not in ("compaction", "service")
        text.append(words, style="not dim" if is_bright else "")
        text.append(f"{' ' * max(room - columns(words), 0)}  {right}")
        text.rstrip()
        return text

    def title(self, item: OutlineItem) -> str:
        """Returns what a part of the tree is called."""
        if item.kind == "agents":
            return counted(item.count, "agent")
        if item.kind == "compaction":
            return self.compactions.get(item.id, "compacted")
        words = item.title or "(no title)"
        if item.kind not in SESSIONS:
            return one_line(plain_words(words))
        mark = self.marks.get(item.session, "")
        return marked(mark, one_line(words if item.kind == "trunk" else plain_words(words)))


def _name_of(item: OutlineItem) -> str:
    if item.kind in SESSIONS:
        return short(item.session)
    if item.kind in ("agents", "compaction") or (item.title and item.attachment):
        return ""
    if item.kind == "branch":
        return "" if item.title else item.id.rpartition("@")[2]
    return item.agent or ""


def _figures(item: OutlineItem) -> Iterator[str]:
    if item.kind == "agents":
        return
    if item.kind == "summary":
        yield f"a summary of {short(item.parent)}" if item.parent else "a summary of nothing here"
        return
    if item.kind == "branch":
        yield "abandoned"
    if item.prompts and item.kind != "agent":
        yield counted(item.prompts, "prompt")
    elif item.records or item.kind == "trunk":
        yield counted(item.records, "record")
    if item.attachment and item.kind in ("branch", "trunk", "foreign"):
        yield f"leaves at {short(item.attachment)}"
    if item.bytes:
        yield size(item.bytes)
    yield lasting(item.started, item.ended)
    yield _day(item)


def _day(item: OutlineItem) -> str:
    time = local(item.started)
    if time is None:
        return ""
    return minute_of(time)


PARTS = "part of another, or without a conversation"


class Drawn(NamedTuple):
    """How many sessions a tree shows, by what is left of them."""

    told: int
    """With a line of their own."""
    alone: int
    """Of which only agents are left."""
    summaries: int
    """That hold only summaries."""
    inside: int
    """Of others, inside the files of those."""


def _drawn(found: list[OutlineItem], sessions: Sequence[Session]) -> Drawn:
    told = {item.session for item in found if item.kind == "trunk"}
    inside = {item.session for item in found if item.kind == "foreign"} - told
    sent = {item.session for item in found if item.kind in ("agent", "agents", "service")}
    alone = (sent - told - inside) | {one.id for one in sessions if one.file is None}
    lone = {item.session for item in found if item.kind == "summary"} - told - alone
    return Drawn(len(told), len(alone), len(lone), len(inside))


def _not_as_such(drawn: Drawn, sessions: int) -> Iterator[str]:
    """Says which sessions have no line of their own, and why."""
    rest = sessions - drawn.told - drawn.alone - drawn.summaries
    if drawn.alone:
        yield f"of {counted(drawn.alone, 'session')} only agents are left"
    if drawn.summaries:
        yield f"{counted(drawn.summaries, 'session')} with nothing but summaries"
    if rest > 0:
        yield f"{counted(rest, 'session')} not drawn apart: {PARTS}"
    if drawn.inside:
        yield f"{counted(drawn.inside, 'session')} more inside the files of others"


def _totals(found: list[OutlineItem], drawn: Drawn, sessions: int) -> Iterator[str]:
    yield some_of(drawn.told, sessions, "session")
    for kinds, noun, plural in (
        (("branch",), "branch", "branches"),
        (("agent", "agents"), "agent", "agents"),
        (("service",), "service agent", "service agents"),
        (("compaction",), "compaction", "compactions"),
        (("summary",), "lone summary", "lone summaries"),
    ):
        count = sum(item.count for item in found if item.kind in kinds)
        if count:
            yield counted(count, noun, plural)


def unlinked(found: Unlinked) -> Iterator[str]:
    """Yields a sentence about the records that no graph can hold."""
    if found.records:
        where = f" in {found.files} files" if found.files > 1 else ""
        form = "it forms" if found.records == 1 else "they form"
        shows = "shows it" if found.records == 1 else "shows them"
        records = counted(found.records, "record")
        yield f"{records} without uuid{where}: {form} no graph; `plait cat` {shows}"


def recovered(archive: Archive, session: Session) -> Iterator[str]:
    """Yields a sentence for each file of a session that has records on broken lines."""
    found = archive.open(session)
    for file in session.files:
        count = len(found.recovered_of(file.path))
        if count:
            are, them = ("is", "it") if count == 1 else ("are", "them")
            records = f"{counted(count, 'record')} recovered from broken lines {are} not drawn"
            yield f"{records}: `{to_type('plait', 'doctor', str(file.path))}` lists {them}"
