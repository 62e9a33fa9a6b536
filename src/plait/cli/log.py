"""`plait log`: a session as a graph, one row a turn or a record."""

from collections.abc import Iterator, Sequence
from itertools import chain

import click

from plait.archive import Session
from plait.archive.graphs import graph_of
from plait.archive.tree import unlinked_in
from plait.cli.options import Request, global_options, json_option, session_argument
from plait.cli.output import Output
from plait.cli.page import Page, Words, print_heading
from plait.cli.remarks import recovered, unlinked
from plait.cli.text import counted, number
from plait.graph.model import SessionGraph
from plait.graph.paths import SPOKEN
from plait.graph.rows import RowShape, rows
from plait.graph.tree import depth_first


@click.command("log")
@session_argument
@click.option(
    "--all",
    "everything",
    is_flag=True,
    help="Agents turn by turn, service agents, and the sessions that share its history.",
)
@click.option("--records", is_flag=True, help="One row a record instead of one a turn.")
@click.option("--ascii", "ascii_only", is_flag=True, help="Draw with plain characters.")
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
    found = request.archive.session(session, request.settings.directory)
    graph, roots = woven(request, found, everything=everything)
    shapes = list(rows(graph, "record" if records else "turn", everything=everything, roots=roots))
    if as_json:
        request.output.json(shapes)
        return
    words = Words.of(graph, shapes, is_by_record=records)
    with request.output.paged():
        print_heading(request, found)
        Page(request.output, words, ascii_only).print(shapes)
        print_totals(request.output, graph, shapes)
        for remark in chain(unlinked(unlinked_in(graph)), recovered(graph, found)):
            request.output.print(remark, style="dim")


def woven(
    request: Request, session: Session, *, everything: bool
) -> tuple[SessionGraph, tuple[str, ...]]:
    """Returns the graph that a session is drawn from, and the roots to draw."""
    if not everything:
        graph = graph_of([session])
        return graph, graph.tree.roots
    beside = [one for one in request.archive.sessions if one.project == session.project]
    graph = graph_of(beside if session in beside else [session])
    return graph, roots_of(graph, name_in(graph, session))


def name_in(graph: SessionGraph, session: Session) -> str:
    """Returns what a session is called beside others that carry the same id."""
    number = next((n for n, file in enumerate(graph.files) if file.path == str(session.path)), -1)
    return next((one.id for one in graph.sessions.values() if number in one.files), session.id)


def roots_of(graph: SessionGraph, session: str) -> tuple[str, ...]:
    """Returns the roots of the trees that hold a session."""
    root_of: dict[str, str] = {}
    for name in depth_first(graph.tree):
        parent = graph.lines[name].parent
        root_of[name] = root_of.get(parent or "", name)
    held = {root for name, root in root_of.items() if graph.lines[name].session == session}
    return tuple(root for root in graph.tree.roots if root in held)


def print_totals(output: Output, graph: SessionGraph, shapes: Sequence[RowShape]) -> None:
    """Prints what the drawing holds."""
    output.print("")
    output.print(", ".join(totals(graph, shapes)), style="dim")


def totals(graph: SessionGraph, shapes: Sequence[RowShape]) -> Iterator[str]:
    """Yields the counts of what was drawn."""
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
    knots = sum(graph.nodes[one].is_boundary for one in spoken)
    if knots:
        yield counted(knots, "compaction")
    folded = sum("folded" in row.marks for row in shapes)
    if folded:
        yield f"{number(folded)} folded"
