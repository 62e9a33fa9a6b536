"""`plait log`: a session as a graph, one row a turn or a record."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING

import click
from msgspec.structs import replace

from plait.archive import Archive, Session, unlinked_in
from plait.cli.options import Request, ascii_option, global_options, json_option, session_argument
from plait.cli.output import Output
from plait.cli.text import clipped, columns, counted, fitting, local, number, safe
from plait.cli.tree import recovered, unlinked
from plait.graph.model import SessionGraph
from plait.graph.paths import SPOKEN
from plait.graph.rows import RowShape, rows
from plait.graph.tree import depth_first
from plait.record.time import between
from plait.view.amounts import time_in_words
from plait.view.forms import clock_of, day_of
from plait.view.graph_text import GraphLine, graph_lines
from plait.view.words import notes_of, record_words, words_of

if TYPE_CHECKING:
    from rich.text import Text

WIDEST = 24
AGENT = "agent"
"""The kind of a row that stands for all records of an agent."""
PLAIN = str.maketrans({"…": "~", "·": "/"})
STYLES = (
    ("compaction", "magenta"),
    ("folded", "dim"),
    ("agent", "cyan"),
    ("service", "cyan"),
    ("abandoned", "dim"),
)


@click.command("log")
@session_argument
@click.option(
    "--all",
    "everything",
    is_flag=True,
    help="Agents turn by turn, service agents, and the sessions that share its history.",
)
@click.option("--records", is_flag=True, help="One row a record instead of one a turn.")
@ascii_option
@json_option
@global_options
@click.pass_obj
def command(
    request: Request,
    session: str,
    everything: bool,
    records: bool,
    ascii_only: bool,
    as_json: bool,
) -> None:
    """Draw SESSION as a graph: its turns from the oldest, where it forks, what was left.

    The active line stands on the left; abandoned branches and agents leave it to the right.
    A prompt that was taken back before any answer is folded at the one that replaced it.
    """
    found = request.session(session)
    graph, roots = _woven(request, found, everything=everything)
    shapes = list(rows(graph, "record" if records else "turn", everything=everything, roots=roots))
    if not records:
        shapes = list(_timed(request.archive, graph, shapes))
    if as_json:
        request.output.json(shapes)
        return
    words = Words.of(request.archive, graph, shapes, is_by_record=records)
    with request.output.paged():
        request.output.heading(request.archive.facts(found))
        Page(request.output, words, ascii_only).print(shapes)
        _print_totals(request.output, graph, shapes)
        for remark in chain(unlinked(unlinked_in(graph)), recovered(request.archive, found)):
            request.output.print(remark, style="dim")


def draw(archive: Archive, output: Output, session: Session) -> None:
    """Prints the graph of a session turn by turn, and what it comes to."""
    graph = archive.graph(session)
    shapes = list(_timed(archive, graph, list(rows(graph, "turn", roots=graph.tree.roots))))
    words = Words.of(archive, graph, shapes, is_by_record=False)
    Page(output, words, ascii_only=False).print(shapes)
    _print_totals(output, graph, shapes)


@dataclass(frozen=True, slots=True)
class Words:
    """What is said of the rows: read from the files where the graph knows too little."""

    graph: SessionGraph
    kinds: dict[str, str]
    texts: dict[str, str]

    @classmethod
    def of(
        cls,
        archive: Archive,
        graph: SessionGraph,
        shapes: Sequence[RowShape],
        *,
        is_by_record: bool,
    ) -> "Words":
        """Reads the words of every record, or only of compactions and notices."""
        wanted = {row.head: row for row in shapes if is_by_record or _is_terse(row)}
        kinds: dict[str, str] = {}
        texts: dict[str, str] = {}
        for uuid, record in archive.records(graph, wanted):
            row, found = wanted[uuid], record_words(record)
            is_one = len(row.uuids) == 1 or not is_by_record
            texts[uuid] = found.words if is_one else words_of(row)
            if is_by_record:
                kinds[uuid] = found.kind if is_one else AGENT
        return cls(graph, kinds, texts)

    def say(self, row: RowShape) -> str:
        """Returns the words of a row."""
        return self.texts[row.head] if row.head in self.texts else words_of(row)


def _is_terse(row: RowShape) -> bool:
    return "compaction" in row.marks or (row.words or "").startswith("<")


@dataclass(slots=True)
class Page:
    """Prints rows one below the other, the times and the figures aligned."""

    output: Output
    words: Words
    ascii_only: bool
    day: str = ""
    width: int = 0

    def print(self, shapes: Sequence[RowShape]) -> None:
        """Prints all rows."""
        self.width = self.output.width
        lines = list(graph_lines(shapes, ascii_only=self.ascii_only))
        width = min(max((len(line.text) for line in lines), default=0), WIDEST)
        self.output.lines(self.line(line, width) for line in lines)

    def line(self, line: GraphLine, width: int) -> "Text":
        """Returns one line: the strands, the time, the words, the figures."""
        from rich.text import Text

        text = _strands(line, width)
        if line.part != "row":
            room = self.width - text.cell_len - 2
            text.append("  " + self.spelled(clipped(safe(self.label(line)), room)), style="dim")
            text.rstrip()
            return text
        row = line.row
        text.append(f"  {self.time(row)}  ", style="dim")
        kind = self.words.kinds.get(row.head)
        if kind:
            text.append(f"{kind:<10}  ", style="dim")
        figures = self.spelled(self.figures(row, is_record=kind not in (None, AGENT)))
        room = self.width - text.cell_len - columns(figures) - 2
        body = self.body(row, room)
        text.append_text(body)
        text.append(" " * max(room - body.cell_len, 0) + "  ")
        text.append_text(Text(figures, style="dim"))
        text.rstrip()
        return text

    def time(self, row: RowShape) -> str:
        """Returns the time of a row, with the day where it is another than before."""
        time = local(row.started)
        if time is None:
            return " " * 16
        day = day_of(time)
        shown = day if day != self.day else ""
        self.day = day
        return f"{shown:<10} {clock_of(time)}"

    def body(self, row: RowShape, room: int) -> "Text":
        """Returns the words of a row with its marks, in the room there is."""
        from rich.text import Text

        notes = "  ".join(f"({note})" for note in notes_of(row))
        words = safe(" ".join(self.words.say(row).split()))
        left = room - columns(notes) - 2 if notes else room
        text = Text(self.spelled(clipped(words, max(left, 8))), style=_words_style(row))
        if notes:
            text.append(f"  {notes}", style=_node_style(row))
        return text

    def label(self, line: GraphLine) -> str:
        """Returns what stands beside a strand that begins or comes back."""
        row = line.row
        if line.part == "rejoin":
            return ""
        held = self.words.graph.lines[row.line]
        if "agent" in row.marks or "service" in row.marks:
            return f"agent: {held.label}" if held.label else "agent"
        if "session" in row.marks or line.part == "gap":
            return f"session {row.session[:8]}"
        if held.kind != "branch":
            return ""
        prompts = sum(self.words.graph.nodes[uuid].is_human_prompt for uuid in held.nodes)
        name = held.id.rpartition("@")[2]
        return f"branch {name}: {counted(prompts, 'prompt')}, abandoned"

    def spelled(self, text: str) -> str:
        """Returns a text without the signs of our own that plain characters cannot write."""
        return text.translate(PLAIN) if self.ascii_only else text

    def figures(self, row: RowShape, *, is_record: bool) -> str:
        """Returns the calls, the agents and the duration of a row, or where a record stands."""
        if is_record:
            return row.head[:8]
        parts = (
            counted(row.calls, "call") if row.calls else "",
            counted(row.agents, "agent") if row.agents else "",
            time_in_words(row.duration_ms or _agent_ms(row)),
            f"{waiting} waiting for you" if (waiting := time_in_words(row.asking_ms)) else "",
        )
        return fitting(parts, self.width // 3)


def _agent_ms(row: RowShape) -> float | None:
    is_agent = "agent" in row.marks or "service" in row.marks
    return between(row.started, row.ended) if is_agent else None


def _timed(archive: Archive, graph: SessionGraph, shapes: Sequence[RowShape]) -> Iterator[RowShape]:
    """Yields rows with the times of the turns that begin on them; agents have their own."""
    spoken = dict.fromkeys(row.line for row in shapes if graph.lines[row.line].kind in SPOKEN)
    turns = archive.turns_on(graph, spoken)
    for row in shapes:
        turn = turns.get(row.head)
        if turn is None or turn.duration_ms is None or "folded" in row.marks:
            yield row
        else:
            times = {"duration_ms": turn.duration_ms, "asking_ms": turn.asking_ms}
            yield replace(row, ended=turn.ended, **times)


def _strands(line: GraphLine, width: int) -> "Text":
    from rich.text import Text

    shown = line.text if len(line.text) <= width else "…" + line.text[1 - width :]
    text = Text().append(shown.ljust(width), style="dim")
    if line.node is not None:
        at = line.node - (len(line.text) - len(shown))
        text.stylize(f"not dim {_node_style(line.row)}", at, at + 1)
    return text


def _node_style(row: RowShape) -> str:
    return next((style for mark, style in STYLES if mark in row.marks), "bold green")


def _words_style(row: RowShape) -> str:
    is_aside = "abandoned" in row.marks or "compaction" in row.marks
    return "dim" if is_aside else ""


def _woven(
    request: Request, session: Session, *, everything: bool
) -> tuple[SessionGraph, tuple[str, ...]]:
    if not everything:
        graph = request.archive.graph(session)
        return graph, graph.tree.roots
    beside = [one for one in request.archive.sessions if one.project == session.project]
    graph = request.archive.graph(*(beside if session in beside else [session]))
    return graph, _roots_of(graph, _name_in(graph, session))


def _name_in(graph: SessionGraph, session: Session) -> str:
    number = next((n for n, file in enumerate(graph.files) if file.path == str(session.path)), -1)
    return next((one.id for one in graph.sessions.values() if number in one.files), session.id)


def _roots_of(graph: SessionGraph, session: str) -> tuple[str, ...]:
    root_of: dict[str, str] = {}
    for name in depth_first(graph.tree):
        parent = graph.lines[name].parent
        root_of[name] = root_of.get(parent or "", name)
    held = {root for name, root in root_of.items() if graph.lines[name].session == session}
    return tuple(root for root in graph.tree.roots if root in held)


def _print_totals(output: Output, graph: SessionGraph, shapes: Sequence[RowShape]) -> None:
    output.print("")
    output.print(", ".join(_totals(graph, shapes)), style="dim")


def _totals(graph: SessionGraph, shapes: Sequence[RowShape]) -> Iterator[str]:
    lines = [graph.lines[name] for name in dict.fromkeys(row.line for row in shapes)]
    spoken = [one for line in lines if line.kind in SPOKEN for one in line.nodes]
    yield counted(sum(graph.nodes[one].is_human_prompt for one in spoken), "prompt")
    for kind, noun, plural in (
        ("branch", "branch", "branches"),
        ("agent", "agent", "agents"),
        ("service", "service agent", "service agents"),
    ):
        count = sum(line.kind == kind for line in lines)
        if count:
            yield counted(count, noun, plural)
    compactions = sum(graph.nodes[one].is_boundary for one in spoken)
    if compactions:
        yield counted(compactions, "compaction")
    folded = sum("folded" in row.marks for row in shapes)
    if folded:
        yield f"{number(folded)} folded"
