"""`plait files`: what became of each file of a session, and the files as they stood."""

import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from plait.cli.options import Request, global_options, json_option, session_argument
from plait.cli.text import counted, path_tail, safe_line
from plait.errors import UserError

if TYPE_CHECKING:
    from plait.archive import FileAt, WrittenFile
    from plait.conversation.patches import Hunk
    from plait.conversation.versions.model import NetChange

NOTHING = "this session changed no files"
HEADS = ("", "net", "changes", "turns", "file")
LEAST = 16
"""Columns that a path has at least."""
MOST_TURNS = 5


@click.command("files")
@session_argument
@click.option("-p", "--patch", is_flag=True, help="Print the net change of each file as a patch.")
@click.option(
    "--at", "turn", type=click.IntRange(1), metavar="TURN", help="As they stood after it."
)
@click.option("-o", "--output", "folder", metavar="DIR", help="Write them into this folder.")
@click.option("--force", is_flag=True, help="Write over files that are there.")
@json_option
@global_options
@click.pass_obj
def command(
    request: Request,
    session: str,
    patch: bool,
    turn: int | None,
    folder: str | None,
    force: bool,
    as_json: bool,
) -> None:
    """List the files that SESSION changed, with what became of each in all.

    With `--at` the files as they stood when that turn had ended: which are known, and with `-o`
    the files themselves in a folder. Nothing is written outside of it.
    """
    meant = request.session(session)
    if turn is None:
        if folder is not None or force:
            raise UserError("-o writes files as they stood after a turn", "say which: --at TURN")
        _tell_net(request, request.archive.session_files(meant), patch, as_json)
        return
    if folder is None:
        _tell_standing(request, request.archive.session_files_at(meant, turn), as_json=as_json)
        return
    place = request.settings.directory / folder
    written = request.archive.write_session_files(meant, turn, place, is_forced=force)
    _tell_written(request, written, folder, as_json=as_json)


def _tell_net(request: Request, found: "list[NetChange]", has_patches: bool, as_json: bool) -> None:
    output = request.output
    if as_json:
        output.json(found)
        return
    if not found:
        output.print(NOTHING)
        return
    if has_patches:
        for one in found:
            print_patch(request, one.path, one.hunks, is_new=one.is_new)
        return
    for line in net_lines(found, output.width if sys.stdout.isatty() else None):
        output.unbroken(line, style="" if line[:1].strip() else "dim")
    added, removed = (
        sum(column) for column in zip(*((o.added, o.removed) for o in found), strict=True)
    )
    output.print(f"{counted(len(found), 'file')}: +{added} −{removed} in all")


def net_lines(found: "Sequence[NetChange]", width: int | None) -> Iterator[str]:
    """Yields a row for each file below a head; paths are whole where nobody says how wide."""
    rows = [HEADS, *map(_net_cells, found)]
    state, net, changes, turns = (
        max(map(len, column)) for column in list(zip(*rows, strict=True))[:4]
    )
    others = [" (others changed it, too)" if one.has_others else "" for one in found]
    for row, rest in zip(rows, ["", *others], strict=True):
        cells = (row[0].ljust(state), row[1].rjust(net), row[2].rjust(changes), row[3].ljust(turns))
        begun = "  ".join(cells)
        room = None if width is None else max(width - len(begun) - len(rest) - 2, LEAST)
        yield f"{begun}  {row[4] if room is None else path_tail(row[4], room)}{rest}"


def _net_cells(one: "NetChange") -> tuple[str, ...]:
    net = f"+{one.added} −{one.removed}" if one.is_known else "unknown"
    state = "new" if one.is_new else "changed"
    return state, net, str(one.changes), _few_turns(one.turns), safe_line(one.path)


def _few_turns(turns: Sequence[int]) -> str:
    if len(turns) <= MOST_TURNS:
        return ", ".join(map(str, turns))
    return f"{', '.join(map(str, turns[: MOST_TURNS - 2]))} … {turns[-1]}"


def print_patch(request: Request, path: str, hunks: "Iterable[Hunk]", *, is_new: bool) -> None:
    """Writes a patch as programs read it, in colours where there are some."""
    from rich.text import Text

    from plait.view.blamed import unified

    styles = {"+": "green", "-": "red", "@": "cyan"}
    lines = unified(safe_line(path), hunks, is_new=is_new)
    request.output.lines(
        Text(safe_line(line) if "\t" not in line else line, style=styles.get(line[:1], ""))
        for line in lines
    )


def _tell_standing(request: Request, found: "list[FileAt]", *, as_json: bool) -> None:
    output = request.output
    if as_json:
        told = ("path", "is_there", "certainty", "since", "why")
        output.json([{name: getattr(one, name) for name in told} for one in found])
        return
    if not found:
        output.print(NOTHING)
    for one in found:
        state = one.certainty if one.is_there else f"not there ({one.certainty})"
        output.unbroken(f"{state:<18} {safe_line(one.path)}{f'  {one.why}' if one.why else ''}")
    if found:
        output.print("`-o DIR` writes those that are known into a folder", style="dim")


def _tell_written(
    request: Request, found: "list[WrittenFile]", folder: str, *, as_json: bool
) -> None:
    output = request.output
    if as_json:
        output.json(found)
        return
    for one in found:
        name = f"not written: {one.path}" if one.name is None else str(Path(folder) / one.name)
        output.unbroken(f"{safe_line(name)}{f'  {one.why}' if one.why else ''}")
    done = sum(one.name is not None for one in found)
    words = f"{counted(done, 'file')} written" if found else NOTHING
    output.print(words, style="dim")
