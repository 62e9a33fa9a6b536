"""`plait paths`: sessions to the ways through them, one for each ending of a conversation."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from plait.archive import marked, unlinked_in
from plait.cli.options import Request, filter_options, global_options, json_option, name_argument
from plait.cli.output import Output, as_json, write_bytes
from plait.cli.selection import required, selected
from plait.cli.text import SHORT, clipped, columns, counted, fitting, local, number, safe, short
from plait.cli.tree import unlinked
from plait.graph.model import SessionGraph
from plait.graph.paths import Path, RawGraph, paths, uuids
from plait.view.forms import day_of
from plait.view.words import one_line, plain_words

if TYPE_CHECKING:
    from rich.text import Text

NARROW = 19


@click.command("paths")
@name_argument
@filter_options
@click.option(
    "--raw", is_flag=True, help="Every way from root to leaf, as the records name parents."
)
@json_option
@global_options
@click.pass_obj
def command(request: Request, /, raw: bool, as_json: bool, **asked: str | None) -> None:
    """List the ways through sessions, one for each ending of a conversation.

    The one that Claude Code would go on with is ACTIVE; the others are ABANDONED, with the
    record at which they leave it. A session that another carries on is part of that one.
    """
    sessions = required(selected(request, **asked))
    graph = request.archive.graph(*sessions)
    plain = RawGraph.of(graph) if raw else None
    found = plain.paths() if plain else paths(graph)
    if as_json:
        way = plain.uuids if plain else partial(uuids, graph)
        _print_json(_as_object(graph, path, way(path)) for path in found)
        return
    with request.output.paged():
        marks = {one.id: one.mark for one in sessions if one.mark}
        _print_paths(request.output, graph, list(found), marks)
        for remark in unlinked(unlinked_in(graph)):
            request.output.print(remark, style="dim")


def _as_object(graph: SessionGraph, path: Path, way: tuple[str, ...]) -> dict[str, Any]:
    return {
        "session": path.session,
        "path": path.path,
        "of": path.of,
        "status": path.status,
        "fork_point": path.fork_point,
        "title": path.label,
        "summary": graph.lines[path.line].summary,
        "leaf": path.leaf,
        "line": path.line,
        "messages": path.messages,
        "compactions": path.compactions,
        "unseen": path.unseen,
        "uuids": way,
    }


def _print_json(objects: Iterable[dict[str, Any]]) -> None:
    head = b"[\n"
    for one in objects:
        write_bytes(head + as_json(one))
        head = b",\n"
    write_bytes(b"[]\n" if head == b"[\n" else b"\n]\n")


def _print_paths(
    output: Output, graph: SessionGraph, found: Sequence[Path], marks: Mapping[str, str]
) -> None:
    output.lines(_lines_of(graph, found, output.width, marks))
    output.print("")
    output.print(counted(len(found), "path"), style="dim")


def _lines_of(
    graph: SessionGraph, found: Iterable[Path], width: int, marks: Mapping[str, str]
) -> Iterator["Text"]:
    session = None
    for path in found:
        name = short(path.session) if path.session != session else ""
        words = marked(marks.get(path.session, ""), one_line(_words_of(graph, path)))
        yield _line_of(graph, path, name, words, width)
        session = path.session


def _line_of(graph: SessionGraph, path: Path, name: str, told: str, width: int) -> "Text":
    from rich.text import Text

    is_active = path.status == "ACTIVE"
    text = Text(f"{safe(name):<{SHORT}}  ", style="dim")
    text.append(f"{path.path:>2} of {path.of:<2}  ", style="not dim")
    text.append(f"{path.status:<9}", style="not dim bold green" if is_active else "")
    right = fitting(_figures(graph, path), width - text.cell_len - NARROW)
    room = width - text.cell_len - len(right) - 4
    words = clipped(safe(told), max(room, 8))
    text.append(f"  {words}{' ' * max(room - columns(words), 0)}  ", style="not dim")
    return text.append(right)


def _words_of(graph: SessionGraph, path: Path) -> str:
    words = path.label or "(no title)"
    is_title = graph.sessions[path.session].title == path.label
    return words if is_title else plain_words(words)


def _figures(graph: SessionGraph, path: Path) -> Iterator[str]:
    yield counted(path.messages, "message")
    if path.fork_point:
        yield f"leaves at {short(path.fork_point)}"
    if path.compactions:
        yield counted(path.compactions, "compaction")
    if path.unseen:
        yield f"{number(path.unseen)} not sent on resume"
    ended = local(graph.nodes[path.leaf].timestamp)
    if ended:
        yield day_of(ended)
