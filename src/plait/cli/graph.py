"""`plait log`, `tree` and `paths`: sessions drawn as a graph, as a tree, and as a list of paths."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Literal

from msgspec.structs import replace

from plait.archive import (
    Archive,
    Session,
    TreeDetail,
    Unlinked,
    count_unlinked,
    format_marked_title,
)
from plait.cli import shared
from plait.cli.options import Request, command, option
from plait.cli.selection import Filters, require_sessions
from plait.graph.layout import OutlineItem, RowShape, iter_rows
from plait.graph.model import SessionGraph
from plait.graph.paths import (
    SPOKEN,
    Path,
    RawGraph,
    list_path_uuids,
    list_paths,
    path_to_json,
)
from plait.graph.tree import find_roots
from plait.record.time import compute_elapsed_ms
from plait.terminal.output import Output, format_json, make_text, write_bytes
from plait.terminal.text import (
    SHORT_ID,
    format_lapse,
    format_number,
    format_stamp,
    join_fitting,
    local_time,
    safe,
    safe_line,
    shell_command,
    short_id,
)
from plait.view.formats import (
    format_bytes,
    format_clock,
    format_count,
    format_count_if_any,
    format_count_of,
    format_day,
    format_duration,
)
from plait.view.graph_text import GraphLine, draw_graph, draw_tree
from plait.view.summaries import (
    format_prompt,
    format_row_title,
    list_row_notes,
    summarize_record,
    to_single_line,
)
from plait.view.text import count_columns, shorten_to_width

if TYPE_CHECKING:
    from rich.text import Text
WIDEST_GRAPH = 24
AGENT = "agent"
"""The kind of a row that represents all records of an agent."""
ASCII_SIGNS = str.maketrans({"…": "~", "·": "/"})
MARK_STYLES = (
    ("compaction", "magenta"),
    ("folded", "dim"),
    ("agent", "cyan"),
    ("service", "cyan"),
    ("abandoned", "dim"),
)
NODES = {
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
LEAST_TITLE, LEAST_PATH_TITLE = 32, 19


@command(examples="plait log latest\nplait log 3f2a --all")
def log_command(
    request: Request,
    session: str = shared.session,
    everything: bool = option(
        "--all",
        help="Also show the turns of agents, background requests, and sessions with shared history.",
    ),
    records: bool = option("--records", help="Draw one row per record instead of per turn."),
    ascii_only: bool = shared.ascii_only,
    as_json: bool = shared.as_json,
) -> None:
    """Draw SESSION as a graph of its turns, oldest first, with forks and abandoned branches.

    The active branch is on the left; abandoned branches and agents fork off to the right. A
    prompt that was retracted before any answer is folded into the one that replaced it.
    """
    output, archive, source = request.output, request.archive, request.session(session)
    graph = archive.graph(source)
    roots = graph.tree.roots
    if everything:
        project = [each for each in archive.sessions if each.project == source.project]
        graph = archive.graph(*(project if source in project else [source]))
        roots = find_roots(graph, str(source.path), source.id)
    unit: Literal["record", "turn"] = "record" if records else "turn"
    rows = list(iter_rows(graph, unit, everything=everything, roots=roots))
    if not records:
        rows = list(_add_times(archive, graph, rows))
    if as_json:
        output.json(rows)
        return
    with output.paged():
        output.print_heading(archive.facts(source))
        _print_log(archive, output, graph, rows, by_record=records, ascii_only=ascii_only)
        _print_unlinked(output, count_unlinked(graph))
        opened = archive.open(source)
        for file in source.files:
            if count := len(opened.recovered_of(file.path)):
                are, them = ("is", "it") if count == 1 else ("are", "them")
                lost = f"{format_count(count, 'record')} recovered from broken lines"
                words = shell_command("plait", "doctor", str(file.path))
                output.print(f"{lost} {are} not drawn: `{words}` lists {them}", style="dim")


def print_graph(archive: Archive, output: Output, session: Session) -> None:
    """Print the graph of a session turn by turn, with its totals."""
    graph = archive.graph(session)
    rows = list(_add_times(archive, graph, list(iter_rows(graph, "turn", roots=graph.tree.roots))))
    _print_log(archive, output, graph, rows, by_record=False, ascii_only=False)


def _add_times(
    archive: Archive, graph: SessionGraph, rows: Sequence[RowShape]
) -> Iterator[RowShape]:
    """Yield rows with the durations of the turns that start on them; agents have their own."""
    lines = dict.fromkeys(row.line for row in rows if graph.lines[row.line].kind in SPOKEN)
    turns = archive.find_turns_on_lines(graph, lines)
    for row in rows:
        turn = turns.get(row.head)
        if turn is None or turn.duration_ms is None or "folded" in row.marks:
            yield row
        else:
            times = {"duration_ms": turn.duration_ms, "asking_ms": turn.asking_ms}
            yield replace(row, ended=turn.ended, **times)


def _print_log(
    archive: Archive,
    output: Output,
    graph: SessionGraph,
    rows: Sequence[RowShape],
    *,
    by_record: bool,
    ascii_only: bool,
) -> None:
    # The graph has the texts of most turns; those of records, compactions and notices are read.
    wanted = {
        row.head: row
        for row in rows
        if by_record or "compaction" in row.marks or (row.words or "").startswith("<")
    }
    kinds: dict[str, str] = {}
    texts: dict[str, str] = {}
    for uuid, record in archive.records(graph, wanted):
        row, summary = wanted[uuid], summarize_record(record)
        is_single = len(row.uuids) == 1 or not by_record
        texts[uuid] = summary.text if is_single else format_row_title(row)
        if by_record:
            kinds[uuid] = summary.kind if is_single else AGENT
    LogPrinter(output, graph, kinds, texts, ascii_only).print(rows)
    lines = [graph.lines[name] for name in dict.fromkeys(row.line for row in rows)]
    nodes = [graph.nodes[uuid] for line in lines if line.kind in SPOKEN for uuid in line.nodes]
    counts = Counter(line.kind for line in lines)
    folded = sum("folded" in row.marks for row in rows)
    totals = (
        format_count(sum(node.is_human_prompt for node in nodes), "prompt"),
        format_count_if_any(counts["branch"], "branch", "branches"),
        format_count_if_any(counts["agent"], "agent"),
        format_count_if_any(counts["service"], "background request"),
        format_count_if_any(sum(node.is_boundary for node in nodes), "compaction"),
        f"{format_number(folded)} folded" if folded else "",
    )
    output.print("")
    output.print(", ".join(filter(None, totals)), style="dim")


def _fill_line(
    text: "Text",
    width: int,
    title: str,
    figures: str,
    style: str,
    notes: tuple[str, str] = ("", ""),
) -> None:
    """Append a title, truncated where its notes and the figures at the right edge need the space."""
    room = width - text.cell_len - count_columns(figures) - 2
    room -= count_columns(notes[0]) + 2 if notes[0] else 0
    text.append(shorten_to_width(safe(title), max(room, 8)), style=style)
    if notes[0]:
        text.append("  ").append(*notes)
    gap = width - text.cell_len - count_columns(figures)
    text.append(" " * max(gap, 2) + figures, style="dim")
    text.rstrip()


@dataclass(slots=True)
class LogPrinter:
    """Print the rows of a graph, their times and figures aligned."""

    output: Output
    graph: SessionGraph
    kinds: Mapping[str, str]
    texts: Mapping[str, str]
    ascii_only: bool
    day: str = ""

    def print(self, rows: Sequence[RowShape]) -> None:
        """Print all rows."""
        lines = list(draw_graph(rows, ascii_only=self.ascii_only))
        width = min(max((len(line.text) for line in lines), default=0), WIDEST_GRAPH)
        self.output.print_lines(self.format_line(line, width) for line in lines)

    def format_line(self, line: GraphLine, width: int) -> "Text":
        """Return one line: the graph, the time, the title, the figures."""
        row, room = line.row, self.output.width
        style = next((style for mark, style in MARK_STYLES if mark in row.marks), "bold green")
        drawn = line.text if len(line.text) <= width else "…" + line.text[1 - width :]
        text = make_text().append(drawn.ljust(width), style="dim")
        if line.node is not None:
            at = line.node - (len(line.text) - len(drawn))
            text.stylize(f"not dim {style}", at, at + 1)
        if line.part != "row":
            label = shorten_to_width(safe(self.format_label(line)), room - text.cell_len - 2)
            text.append("  " + label, style="dim")
            text.rstrip()
        else:
            text.append(f"  {self.format_time(row)}  ", style="dim")
            kind = self.kinds.get(row.head)
            if kind:
                text.append(f"{kind:<10}  ", style="dim")
            figures = row.head[:8] if kind not in (None, AGENT) else self.format_figures(row)
            title = self.texts[row.head] if row.head in self.texts else format_row_title(row)
            notes = "  ".join(f"({note})" for note in list_row_notes(row))
            is_dim = "abandoned" in row.marks or "compaction" in row.marks
            title = " ".join(title.split())
            _fill_line(text, room, title, figures, "dim" if is_dim else "", (notes, style))
        if self.ascii_only:
            text.plain = text.plain.translate(ASCII_SIGNS)
        return text

    def format_time(self, row: RowShape) -> str:
        """Return the time of a row, with the day if it differs from the row before."""
        time = local_time(row.started)
        if time is None:
            return " " * 16
        before, self.day = self.day, format_day(time)
        return f"{self.day if self.day != before else '':<10} {format_clock(time)}"

    def format_label(self, line: GraphLine) -> str:
        """Return the label of a line of the graph that starts or returns."""
        row, part = line.row, self.graph.lines[line.row.line]
        if line.part == "rejoin":
            return ""
        if "agent" in row.marks or "service" in row.marks:
            return f"agent: {part.label}" if part.label else "agent"
        if "session" in row.marks or line.part == "gap":
            return f"session {row.session[:SHORT_ID]}"
        if part.kind != "branch":
            return ""
        prompts = sum(self.graph.nodes[uuid].is_human_prompt for uuid in part.nodes)
        name = part.id.rpartition("@")[2]
        return f"branch {name}: {format_count(prompts, 'prompt')}, abandoned"

    def format_figures(self, row: RowShape) -> str:
        """Return the calls, agents and durations of a row."""
        elapsed = row.duration_ms
        if not elapsed and ("agent" in row.marks or "service" in row.marks):
            elapsed = compute_elapsed_ms(row.started, row.ended)
        waiting = format_duration(row.asking_ms)
        parts = (
            format_count_if_any(row.calls, "call"),
            format_count_if_any(row.agents, "agent"),
            format_duration(elapsed),
            f"{waiting} waiting for you" if waiting else "",
        )
        return join_fitting(parts, self.output.width // 3)


@command(examples="plait tree\nplait tree latest --all")
def tree_command(
    request: Request,
    filters: Filters,
    name: str | None = shared.name,
    everything: bool = option(
        "--all", help="List every agent, including those that Claude Code starts for itself."
    ),
    no_index: bool = shared.no_index,
    as_json: bool = shared.as_json,
) -> None:
    """Draw sessions with their branches, agents and compactions as a tree.

    A session that continues another is drawn below it. If several sessions are drawn, agents are
    only counted; `--all` lists them.
    """
    output = request.output
    with request.open_archive(no_index=no_index) as archive:
        sessions = require_sessions(filters.select(request, name))
        detail: TreeDetail = "all" if everything or as_json else "few" if sessions[1:] else "agents"
        watch = output.progress_for("reading sessions")
        tree = archive.tree(sessions, way=detail, watch=watch)
    if as_json:
        output.json(tree.items)
        return
    newest = {session.project: session for session in sessions}.values()
    directories = {session.project: archive.facts(session).cwd or "" for session in newest}
    marks = {session.id: session.mark for session in sessions if session.mark}
    with output.paged():
        output.print_lines(
            _iter_tree_lines(tree.items, output.width, directories, tree.compactions, marks)
        )
        output.print("")
        _print_tree_totals(output, tree.items, sessions)
        _print_unlinked(output, tree.unlinked)


def _iter_tree_lines(
    items: Sequence[OutlineItem],
    width: int,
    directories: Mapping[str, str],
    compactions: Mapping[str, str],
    marks: Mapping[str, str],
) -> Iterator["Text"]:
    """Yield the lines of a tree, each project below its directory.

    Compactions are described by id; marks stand before sessions that only the backup has.
    """
    project = None
    for prefix, item in draw_tree(items):
        if item.depth == 0 and item.project != project:
            if project is not None:
                yield make_text()
            heading = directories.get(item.project) or item.project or "(no project)"
            yield make_text(safe_line(heading), style="bold")
            project = item.project
        sign, style = NODES[item.kind]
        text = make_text(prefix, style="dim")
        text.append(f"{sign} ", style=f"not dim {style}")
        name, title = item.agent or "", item.title or "(no title)"
        if item.kind in SESSIONS:
            name = short_id(item.session)
        elif item.kind in ("agents", "compaction") or (item.title and item.attachment):
            name = ""
        elif item.kind == "branch":
            name = "" if item.title else item.id.rpartition("@")[2]
        if item.kind == "agents":
            title = format_count(item.count, "agent")
        elif item.kind == "compaction":
            title = compactions.get(item.id, "compacted")
        else:
            title = to_single_line(title if item.kind == "trunk" else format_prompt(title))
        if item.kind in SESSIONS:
            title = format_marked_title(marks.get(item.session, ""), title)
        if name:
            text.append(f"{safe_line(name)}  ")
        figures = join_fitting(_iter_tree_figures(item), width - text.cell_len - LEAST_TITLE)
        is_bright = item.is_active and item.kind not in ("compaction", "service")
        _fill_line(text, width, title, figures, "not dim" if is_bright else "")
        yield text


def _iter_tree_figures(item: OutlineItem) -> Iterator[str]:
    if item.kind == "agents":
        return
    if item.kind == "summary":
        yield f"summary of {short_id(item.parent)}" if item.parent else "summary of unknown records"
        return
    if item.kind == "branch":
        yield "abandoned"
    if item.prompts and item.kind != "agent":
        yield format_count(item.prompts, "prompt")
    elif item.records or item.kind == "trunk":
        yield format_count(item.records, "record")
    if item.attachment and item.kind in ("branch", "trunk", "foreign"):
        yield f"forks at {short_id(item.attachment)}"
    if item.bytes:
        yield format_bytes(item.bytes)
    yield format_lapse(item.started, item.ended)
    yield format_stamp(item.started)


def _print_tree_totals(
    output: Output, items: Sequence[OutlineItem], sessions: Sequence[Session]
) -> None:
    def of_kinds(*kinds: str) -> set[str]:
        return {item.session for item in items if item.kind in kinds}

    own = of_kinds("trunk")
    inside = of_kinds("foreign") - own
    agents_only = of_kinds("agent", "agents", "service") - own - inside
    agents_only |= {session.id for session in sessions if session.file is None}
    summaries = of_kinds("summary") - own - agents_only
    counts: Counter[str] = Counter()
    for item in items:
        counts[item.kind] += item.count
    totals = (
        format_count_of(len(own), len(sessions), "session"),
        format_count_if_any(counts["branch"], "branch", "branches"),
        format_count_if_any(counts["agent"] + counts["agents"], "agent"),
        format_count_if_any(counts["service"], "background request"),
        format_count_if_any(counts["compaction"], "compaction"),
        format_count_if_any(counts["summary"], "separate summary", "separate summaries"),
    )
    output.print(", ".join(filter(None, totals)), style="dim")
    rest = len(sessions) - len(own) - len(agents_only) - len(summaries)
    for count, words in (
        (len(agents_only), "{} with only agent logs left"),
        (len(summaries), "{} with only summaries"),
        (rest, "{} not drawn: part of another session, or without a conversation"),
    ):
        if count > 0:
            output.print(words.format(format_count(count, "session")), style="dim")
    if inside:
        words = f"{format_count(len(inside), 'more session')} inside other sessions' logs"
        output.print(words, style="dim")


def _print_unlinked(output: Output, unlinked: Unlinked) -> None:
    """Note the records that are in no graph."""
    if unlinked.records:
        where = f" in {unlinked.files} files" if unlinked.files > 1 else ""
        them = "it" if unlinked.records == 1 else "them"
        words = f"{format_count(unlinked.records, 'record')} without uuid{where} not drawn"
        output.print(f"{words}; `plait cat` shows {them}", style="dim")


@command(examples="plait paths latest\nplait paths shop --since 7d")
def paths_command(
    request: Request,
    filters: Filters,
    name: str | None = shared.name,
    raw: bool = option(
        "--raw", help="List every path from root to leaf, following only parent links."
    ),
    as_json: bool = shared.as_json,
) -> None:
    """List every conversation path through sessions, from the first prompt to a leaf.

    The path that Claude Code would continue is ACTIVE; the others are ABANDONED, with the record
    where they fork. A session that was continued in another one is listed as part of it.
    """
    output = request.output
    sessions = require_sessions(filters.select(request, name))
    graph = request.archive.graph(*sessions)
    raw_graph = RawGraph.of(graph) if raw else None
    paths = raw_graph.paths() if raw_graph else list_paths(graph)
    if as_json:
        list_uuids = raw_graph.uuids if raw_graph else partial(list_path_uuids, graph)
        separator = b"[\n"
        for path in paths:  # one by one: an archive has thousands
            value = path_to_json(path, graph, list_uuids(path))
            write_bytes(separator + format_json(value))
            separator = b",\n"
        write_bytes(b"[]\n" if separator == b"[\n" else b"\n]\n")
        return
    found = list(paths)
    marks = {session.id: session.mark for session in sessions if session.mark}
    with output.paged():
        output.print_lines(_iter_path_lines(graph, found, output.width, marks))
        output.print("")
        output.print(format_count(len(found), "path"), style="dim")
        _print_unlinked(output, count_unlinked(graph))


def _iter_path_lines(
    graph: SessionGraph, paths: Sequence[Path], width: int, marks: Mapping[str, str]
) -> Iterator["Text"]:
    session = None
    for path in paths:
        title = path.label or "(no title)"
        if graph.sessions[path.session].title != path.label:
            title = format_prompt(title)
        title = format_marked_title(marks.get(path.session, ""), to_single_line(title))
        name = short_id(path.session) if path.session != session else ""
        session = path.session
        text = make_text(f"{safe(name):<{SHORT_ID}}  ", style="dim")
        text.append(f"{path.path:>2} of {path.of:<2}  ", style="not dim")
        is_active = path.status == "ACTIVE"
        text.append(f"{path.status:<9}", style="not dim bold green" if is_active else "")
        ended = local_time(graph.nodes[path.leaf].timestamp)
        parts = (
            format_count(path.messages, "message"),
            f"forks at {short_id(path.fork_point)}" if path.fork_point else "",
            format_count_if_any(path.compactions, "compaction"),
            f"{format_number(path.unseen)} not sent on resume" if path.unseen else "",
            format_day(ended) if ended else "",
        )
        figures = join_fitting(parts, width - text.cell_len - LEAST_PATH_TITLE)
        _fill_line(text.append("  "), width, title, figures, "not dim")
        yield text
