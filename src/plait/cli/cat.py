"""`plait cat`: the lines of a session's log, raw or pretty.

Of another agent's session these are the lines of that agent's own file, or the rows of its database;
`--translation` prints the lines that Plait reads instead.
"""

import sys
from collections.abc import Iterator
from pathlib import Path

from plait.archive import check_file, check_log
from plait.cli import shared
from plait.cli.options import OWN, Request, command, option
from plait.cli.selection import parse_range
from plait.errors import UserError
from plait.line import Line, iter_lines
from plait.line.discovery import LOG_SUFFIX
from plait.record import Record, parse_entry
from plait.sources.base import SourceLog
from plait.sources.originals import find_original, iter_originals
from plait.terminal.output import format_json, write_bytes
from plait.terminal.text import safe


@command(examples="plait cat latest --line 12-20 --pretty\nplait cat 3f2a --uuid 9b1c")
def cat_command(
    request: Request,
    session: str = shared.session,
    span: str | None = option("--line", metavar="N[-M]", help="Only line N, or lines N to M."),
    uuid: str | None = option(
        "--uuid", metavar="U", help="Only records whose uuid starts with this."
    ),
    pretty: bool = option("--pretty", help="Print indented JSON, in colour on a terminal."),
    agent: str | None = option(
        "--agent", section=OWN, metavar="ID", help="Print this sub-agent's log instead."
    ),
    translation: bool = option(
        "--translation",
        help="For sessions of another agent: print the translated lines instead of the original ones.",
    ),
) -> None:
    """Print the lines of SESSION, or of one of its sub-agents, as they are in its file."""
    path, origin = _path_of(request, session, agent)
    numbers = parse_range(span, sys.maxsize - 1, "--line", "line number") if span else None
    found = False
    with request.output.paged():
        lines = iter_lines(path)
        if origin and not translation:
            lines = _iter_origin(path, origin, uuid)
            path, uuid = Path(origin.path), None if uuid is None else ""
        for line in lines:
            is_wanted = numbers is None or line.number in numbers
            if is_wanted and (uuid is None or _has_uuid(line, uuid)):
                found = True
                print_line(request, line, pretty=pretty)
            if numbers and line.number >= numbers[-1]:
                break
    if not found and (span or uuid):
        what = f"line {span}" if span else f"record '{uuid}'"
        raise UserError(f"no {what} in '{path}'")


def _iter_origin(path: Path, origin: "SourceLog", uuid: str | None) -> Iterator[Line]:
    """Yield the lines that an agent wrote; those that a record was made from, if one is named."""
    if uuid is None:
        yield from iter_originals(origin)
        return
    for line in iter_lines(path):
        if _has_uuid(line, uuid) and isinstance(entry := parse_entry(line), Record):
            found = find_original(origin, entry.fields)
            yield from [found] if found else []


def _path_of(request: Request, session: str, agent: str | None) -> "tuple[Path, SourceLog | None]":
    if Path(session).suffix == LOG_SUFFIX and agent is None:
        check_file(Path(session))
        check_log(Path(session))
        return Path(session), None
    found = request.session(session)
    if agent is None:
        return found.path, found.origin
    files = [file for file in found.agents if file.agent and file.agent.startswith(agent)]
    if len(files) == 1:
        return files[0].path, request.archive.inventory.find_origin(files[0].path)
    known = ", ".join(file.agent or "" for file in found.agents[:5]) or "none"
    problem = f"this session has no agent '{agent}'"
    raise UserError(
        problem if not files else f"'{agent}' matches {len(files)} agents", f"choose from {known}"
    )


def _has_uuid(line: Line, uuid: str) -> bool:
    if not uuid:
        return True
    if uuid.encode() not in line.data:
        return False
    entry = parse_entry(line)
    return isinstance(entry, Record) and (entry.uuid or "").startswith(uuid)


def print_line(request: Request, line: Line, *, pretty: bool) -> None:
    """Print one line: byte for byte into a pipe, harmless on a screen."""
    if pretty and isinstance(entry := parse_entry(line), Record):
        text = format_json(entry.fields).decode()
        if request.output.console.is_terminal:
            from rich.syntax import Syntax

            request.output.print(Syntax(safe(text), "json", word_wrap=True, theme="ansi_dark"))
        else:
            write_bytes(text.encode() + b"\n")
    elif sys.stdout.isatty():
        request.output.write_plain(line.data.decode("utf-8", "replace") + "\n")
    else:
        write_bytes(line.data + (b"\n" if line.is_ended else b""))
