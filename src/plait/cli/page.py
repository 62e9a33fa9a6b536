"""Row shapes to lines on the screen: strands, times, words and figures, aligned."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from plait.archive import Session
from plait.archive.graphs import records_of
from plait.cli.figures import fitting, lasting, local
from plait.cli.options import Request
from plait.cli.output import Output
from plait.cli.printing import print_lines
from plait.cli.text import clipped, columns, counted, safe
from plait.graph.model import SessionGraph
from plait.graph.rows import RowShape
from plait.view.graph_text import GraphLine, graph_lines
from plait.view.words import notes_of, one_line, record_words, words_of

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


@dataclass(frozen=True, slots=True)
class Words:
    """What is said of the rows: read from the files where the graph knows too little."""

    graph: SessionGraph
    kinds: dict[str, str]
    texts: dict[str, str]

    @classmethod
    def of(cls, graph: SessionGraph, shapes: Sequence[RowShape], *, is_by_record: bool) -> "Words":
        """Reads the words of every record, or only of compactions and notices."""
        wanted = {row.head: row for row in shapes if is_by_record or is_terse(row)}
        kinds: dict[str, str] = {}
        texts: dict[str, str] = {}
        for uuid, record in records_of(graph, wanted):
            row, found = wanted[uuid], record_words(record)
            is_one = len(row.uuids) == 1 or not is_by_record
            texts[uuid] = found.words if is_one else words_of(row)
            if is_by_record:
                kinds[uuid] = found.kind if is_one else AGENT
        return cls(graph, kinds, texts)

    def say(self, row: RowShape) -> str:
        """Returns the words of a row."""
        return self.texts[row.head] if row.head in self.texts else words_of(row)


def is_terse(row: RowShape) -> bool:
    """Tells whether a row's own words are a tag or none at all."""
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
        print_lines(self.output, (self.line(line, width) for line in lines))

    def line(self, line: GraphLine, width: int) -> "Text":
        """Returns one line: the strands, the time, the words, the figures."""
        from rich.text import Text

        text = strands(line, width)
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
            return " " * 12
        day = f"{time:%b %d}"
        shown = day if day != self.day else ""
        self.day = day
        return f"{shown:<6} {time:%H:%M}"

    def body(self, row: RowShape, room: int) -> "Text":
        """Returns the words of a row with its marks, in the room there is."""
        from rich.text import Text

        notes = "  ".join(f"({note})" for note in notes_of(row))
        words = safe(" ".join(self.words.say(row).split()))
        left = room - columns(notes) - 2 if notes else room
        text = Text(self.spelled(clipped(words, max(left, 8))), style=words_style(row))
        if notes:
            text.append(f"  {notes}", style=node_style(row))
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
        if held.kind != "branch" or "folded" in row.marks:
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
            lasting(row.started, row.ended),
        )
        return fitting(parts, self.width // 3)


def strands(line: GraphLine, width: int) -> "Text":
    """Returns the drawing before a row, its node in the style of what it is."""
    from rich.text import Text

    shown = line.text if len(line.text) <= width else "…" + line.text[1 - width :]
    text = Text().append(shown.ljust(width), style="dim")
    if line.node is not None:
        at = line.node - (len(line.text) - len(shown))
        text.stylize(f"not dim {node_style(line.row)}", at, at + 1)
    return text


def node_style(row: RowShape) -> str:
    """Returns the style of a row's place."""
    return next((style for mark, style in STYLES if mark in row.marks), "bold green")


def words_style(row: RowShape) -> str:
    """Returns the style of a row's words: what is not on the active line stands back."""
    is_aside = "abandoned" in row.marks or "compaction" in row.marks
    return "dim" if is_aside else ""


def print_heading(request: Request, session: Session) -> None:
    """Prints which session it is."""
    facts = request.archive.facts(session)
    title = clipped(one_line(facts.title or "(no title)"), request.output.width)
    request.output.print(title, style="bold")
    request.output.print(f"{session.id}  {facts.cwd or session.project}", style="dim")
    request.output.print("")
