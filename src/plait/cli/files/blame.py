"""`plait blame`: for each line of a file the session, turn, prompt and time that wrote it."""

import re
from typing import TYPE_CHECKING, Any

import click
from msgspec.structs import asdict

from plait.cli.options import Request, global_options, json_option
from plait.cli.text import SHORT, clipped, counted, local, safe_line, short, to_type
from plait.errors import UserError
from plait.view.blamed import UNCERTAIN, Writer, labelled, writers
from plait.view.forms import minute_of

if TYPE_CHECKING:
    from rich.text import Text

    from plait.archive import Blame, BlamedLine, NotePlan

WIDE = 110
"""Columns from which on commits and prompts stand beside lines."""
WHO, WHEN, COMMIT = SHORT + 6, 16, 8
SPAN = re.compile(r"(\d+)(?:(-)(\d*))?")
MOST_WRITERS = 12


@click.command("blame")
@click.argument("file")
@click.option("--lines", "span", metavar="A-B", help="Only these lines: 12, 12-20, 12-.")
@click.option(
    "--as", "known_as", metavar="PATH", multiple=True, help="The path that sessions know it by."
)
@click.option("--notes", is_flag=True, help="Show which notes of git-ai would be written.")
@click.option("--yes", "is_sure", is_flag=True, help="With --notes: write them.")
@json_option
@global_options
@click.pass_obj
def command(
    request: Request,
    file: str,
    span: str | None,
    known_as: tuple[str, ...],
    notes: bool,
    is_sure: bool,
    as_json: bool,
) -> None:
    """Show for each line of FILE the session and turn that wrote it, and Git's commit.

    Told by the patches, writes, reads and backups of all sessions. `~` marks a line that stands
    as it was written though somebody else changed the file since, `?` one that nobody knows.
    """
    directory = request.settings.directory
    if notes:
        plan = request.archive.plan_notes(file, directory=directory)
        _tell_notes(request, plan, is_sure=is_sure, as_json=as_json)
        return
    if is_sure:
        raise UserError("--yes goes with --notes", "`plait blame FILE --notes` shows the plan")
    found = request.archive.blame(file, directory=directory, known_as=known_as)
    lines = _chosen(found.lines, span)
    if as_json:
        request.output.json([_as_object(one) for one in lines])
        return
    with request.output.paged():
        _tell(request, found, lines)


def _chosen(lines: "tuple[BlamedLine, ...]", span: str | None) -> "tuple[BlamedLine, ...]":
    if span is None:
        return lines
    match = SPAN.fullmatch(span)
    if not match:
        raise UserError(f"'{span}' are no lines", "say `--lines 12`, `--lines 12-20` or 12-")
    first = int(match[1])
    last = int(match[3]) if match[3] else len(lines) if match[2] else first
    found = lines[max(first - 1, 0) : last]
    if not found:
        raise UserError(f"there are no lines {span}", f"the file has {counted(len(lines), 'line')}")
    return found


def _as_object(line: "BlamedLine") -> dict[str, Any]:
    return asdict(line)


def _tell(request: Request, found: "Blame", lines: "tuple[BlamedLine, ...]") -> None:
    output = request.output
    counts = ", ".join(f"{count} {name}" for name, count in found.counts.items() if count)
    output.print(safe_line(found.path), style="bold")
    output.print(f"{counted(len(found.lines), 'line')}{f': {counts}' if counts else ''}")
    if found.as_of:
        output.print(f"not on this disk: as it was known at {_time(found.as_of)}", style="yellow")
    for name in found.known_as:
        if name != found.path:
            output.print(f"sessions know it as {safe_line(name)}", style="dim")
    output.print("")
    width, digits = output.width, len(str(lines[-1].line)) if lines else 1
    output.lines(
        _line(one, is_first, width, digits, has_git=found.has_git)
        for one, is_first in labelled(lines)
    )
    _tell_writers(request, writers(lines))


def _line(line: "BlamedLine", is_first: bool, width: int, digits: int, *, has_git: bool) -> "Text":
    from rich.text import Text

    found = Text(no_wrap=True)
    shown = (_name(line), _time(line.time)) if is_first else ("", "")
    found.append(f"{shown[0]:<{WHO}} ", style="cyan" if line.session else "dim")
    found.append(f"{shown[1]:<{WHEN}} ", style="dim")
    if has_git and width >= WIDE:
        commit = (line.commit or "")[: COMMIT - 1] if is_first else ""
        found.append(f"{commit:<{COMMIT}} ", style="yellow")
    found.append(UNCERTAIN[line.certainty], style="yellow")
    found.append(f"{line.line:>{digits}} ", style="dim")
    text = safe_line(line.text.expandtabs(4))
    found.append(clipped(text, max(width - found.cell_len, 10)))
    return found


def _time(stamp: str | None) -> str:
    time = local(stamp)
    return minute_of(time) if time else ""


def _tell_writers(request: Request, found: list[Writer]) -> None:
    output = request.output
    if not found:
        return
    output.print("")
    table = output.table("lines", "turn", "time", "prompt", right=("lines",), wide="prompt")
    for one in found[:MOST_WRITERS]:
        table.add_row(str(one.lines), _name(one), _time(one.time), _words(one))
    output.print(table)
    if len(found) > MOST_WRITERS:
        output.print(f"{counted(len(found) - MOST_WRITERS, 'more turn')}", style="dim")
    first = next((one for one in found if one.session and one.turn is not None), None)
    if first:
        roots = [word for root in request.roots for word in ("--root", root)]
        branch = ["--branch", first.branch] if first.branch else []
        turn = ["--turn", str(first.turn)]
        words = to_type("plait", "show", short(first.session or ""), *branch, *turn, *roots)
        output.unbroken(f"show a turn: {words}", style="dim")


def _name(one: "Writer | BlamedLine") -> str:
    if one.session is None:
        return "unknown"
    return f"{short(one.session)}:{one.turn}" if one.turn is not None else short(one.session)


def _words(one: Writer) -> str:
    from plait.view.words import one_line, plain_words

    if one.session is None:
        return one.why
    words = one_line(plain_words(one.prompt or "")) or one.why
    return safe_line(f"{words} (agent: {one_line(one.agent)})" if one.agent else words)


def _tell_notes(request: Request, plan: "NotePlan", *, is_sure: bool, as_json: bool) -> None:
    from plait.archive import write_notes

    output = request.output
    done = write_notes(plan) if is_sure else 0
    if as_json:
        output.json({"written": done, "notes": plan.notes})
        return
    if not plan.notes:
        output.print("no committed line of it is known to be a session's")
        return
    table = output.table("commit", "lines", "sessions", "", right=("lines",), wide="")
    for one in plan.notes:
        sessions = ", ".join(short(name) for name in one.sessions)
        why = one.why or ("added to the note that is there" if one.before else "a new note")
        table.add_row(one.commit[:10], str(one.lines), sessions, f"{why}: {safe_line(one.path)}")
    output.print(table)
    if is_sure:
        output.print(f"{counted(done, 'note')} written to refs/notes/ai")
    elif plan.to_do:
        output.print("nothing is written yet: `--notes --yes` writes them to refs/notes/ai")
