"""`plait files`, `history` and `blame`: what sessions did to files."""

import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import asdict

from plait.archive import Blame, BlamedLine, FileHistory, NotePlan, write_notes
from plait.cli import shared
from plait.cli.options import Request, argument, command, option
from plait.cli.selection import format_show_command, parse_range
from plait.conversation.patches import Hunk, diff_texts, format_unified_diff
from plait.errors import UserError
from plait.files.blame import (
    UNCERTAIN,
    Writer,
    iter_with_author_changes,
    list_writers,
)
from plait.files.events import FileEvent, NetChange, event_to_json
from plait.record.time import format_timestamp
from plait.record.time_words import parse_time_option
from plait.terminal.output import make_text, write_bytes
from plait.terminal.text import (
    GAP,
    SHORT_ID,
    align_cells,
    format_stamp,
    now,
    safe_line,
    shell_command,
    short_id,
)
from plait.view.formats import format_count
from plait.view.summaries import format_prompt, to_single_line
from plait.view.text import shorten_path, shorten_to_width

if TYPE_CHECKING:
    from rich.text import Text

WIDE = 110
"""Width from which commits are shown beside lines."""
WRITER_WIDTH, TIME_WIDTH, COMMIT_WIDTH = SHORT_ID + 6, 16, 8
MOST_WRITERS = 12
LEAST_PATH = 16
MOST_TURNS = 5
NO_CHANGES = "this session changed no files"
file_argument = argument()
known_as_option = option("--as", metavar="PATH", help="The file's path in the sessions.")


@command(examples="plait blame src/app.py\nplait blame src/app.py --lines 40-60")
def blame_command(
    request: Request,
    file: str = file_argument,
    span: str | None = option(
        "--lines", metavar="A-B", help="Show only these lines: 12, 12-20, 12-."
    ),
    known_as: tuple[str, ...] = known_as_option,
    notes: bool = option("--notes", help="Show the git-ai notes that would be written."),
    is_sure: bool = option("--yes", help="With --notes: write the notes."),
    as_json: bool = shared.as_json,
) -> None:
    """Show which session and turn wrote each line of FILE, next to the Git commit.

    Derived from the patches, writes, reads and backups of all sessions. `~` marks a line that is
    unchanged although the file was later changed by something else; `?` marks an unknown writer.
    """
    directory = request.settings.directory
    if notes:
        plan = request.archive.plan_notes(file, directory=directory)
        _print_notes(request, plan, is_sure=is_sure, as_json=as_json)
        return
    if is_sure:
        raise UserError("`--yes` needs `--notes`", "`plait blame FILE --notes` shows the plan")
    blame = request.archive.blame(file, directory=directory, known_as=known_as)
    lines = blame.lines
    if span is not None:
        numbers = parse_range(span, len(lines), "--lines", "range of lines")
        lines = tuple(line for line in lines if line.line in numbers)
        if not lines:
            count = format_count(len(blame.lines), "line")
            raise UserError(f"no lines {span}", f"the file has {count}")
    if as_json:
        request.output.json([asdict(line) for line in lines])
        return
    with request.output.paged():
        _print_blame(request, blame, lines)


def _print_blame(request: Request, blame: Blame, lines: "tuple[BlamedLine, ...]") -> None:
    output = request.output
    counts = ", ".join(f"{count} {name}" for name, count in blame.counts.items() if count)
    output.print(safe_line(blame.path), style="bold")
    output.print(f"{format_count(len(blame.lines), 'line')}{f': {counts}' if counts else ''}")
    if blame.as_of:
        output.print(f"not on disk; shown as of {format_stamp(blame.as_of)}", style="yellow")
    for name in blame.known_as:
        if name != blame.path:
            output.print(f"in sessions: {safe_line(name)}", style="dim")
    output.print("")
    digits = len(str(lines[-1].line)) if lines else 1

    def format_line(line: BlamedLine, is_first: bool) -> "Text":
        text = make_text(no_wrap=True)
        writer, time = (_writer_name(line), format_stamp(line.time)) if is_first else ("", "")
        text.append(f"{writer:<{WRITER_WIDTH}} ", style="cyan" if line.session else "dim")
        text.append(f"{time:<{TIME_WIDTH}} ", style="dim")
        if blame.has_git and output.width >= WIDE:
            commit = (line.commit or "")[: COMMIT_WIDTH - 1] if is_first else ""
            text.append(f"{commit:<{COMMIT_WIDTH}} ", style="yellow")
        text.append(UNCERTAIN[line.certainty], style="yellow")
        text.append(f"{line.line:>{digits}} ", style="dim")
        room = max(output.width - text.cell_len, 10)
        return text.append(shorten_to_width(safe_line(line.text.expandtabs(4)), room))

    output.print_lines(
        format_line(line, is_first) for line, is_first in iter_with_author_changes(lines)
    )
    writers = list_writers(lines)
    if not writers:
        return
    output.print("")
    table = output.table("lines", "turn", "time", "prompt", right=("lines",), wide="prompt")
    for writer in writers[:MOST_WRITERS]:
        prompt = to_single_line(format_prompt(writer.prompt or "")) or writer.why
        if writer.session is None:
            prompt = writer.why
        elif writer.agent:
            prompt = f"{prompt} (agent: {to_single_line(writer.agent)})"
        time = format_stamp(writer.time)
        table.add_row(str(writer.lines), _writer_name(writer), time, safe_line(prompt))
    output.print(table)
    if len(writers) > MOST_WRITERS:
        output.print(format_count(len(writers) - MOST_WRITERS, "more turn"), style="dim")
    first = next((writer for writer in writers if writer.session and writer.turn is not None), None)
    if first:
        line = format_show_command(request, first.session or "", first.branch, first.turn)
        output.print_unwrapped(f"show a turn: {line}", style="dim")


def _writer_name(line: Writer | BlamedLine) -> str:
    if line.session is None:
        return "unknown"
    return short_id(line.session) + (f":{line.turn}" if line.turn is not None else "")


def _print_notes(request: Request, plan: NotePlan, *, is_sure: bool, as_json: bool) -> None:
    output = request.output
    written = write_notes(plan) if is_sure else 0
    if as_json:
        output.json({"written": written, "notes": plan.notes})
        return
    if not plan.notes:
        output.print("no committed line of this file is known to come from a session")
        return
    table = output.table("commit", "lines", "sessions", "", right=("lines",), wide="")
    for note in plan.notes:
        sessions = ", ".join(short_id(name) for name in note.sessions)
        change = note.why or ("added to the existing note" if note.before else "a new note")
        row = note.commit[:10], str(note.lines), sessions, f"{change}: {safe_line(note.path)}"
        table.add_row(*row)
    output.print(table)
    if is_sure:
        output.print(f"{format_count(written, 'note')} written to refs/notes/ai")
    elif plan.to_do:
        output.print("nothing written yet; `--notes --yes` writes them to refs/notes/ai")


@command(
    examples="plait files latest\nplait files 3f2a --patch\nplait files 3f2a --at 12 -o restored"
)
def files_command(
    request: Request,
    session: str = shared.session,
    patch: bool = option("-p", "--patch", help="Print the net change of each file."),
    turn: int | None = option(
        "--turn",
        "--at",
        least=1,
        metavar="TURN",
        help="Show the files as they were after this turn.",
    ),
    folder: str | None = option(
        "-o", "--output", metavar="DIR", help="Write the files into this folder."
    ),
    force: bool = option("--force", help="Overwrite existing files."),
    as_json: bool = shared.as_json,
) -> None:
    """List the files that SESSION changed, with the net change of each.

    With `--at`, list the files as they were after that turn; with `-o`, also write those with
    known content to a folder.
    """
    output, archive, source = request.output, request.archive, request.session(session)
    if turn is None:
        if folder is not None or force:
            raise UserError("`-o` writes the files as of a turn", "add `--at TURN`")
        changes = archive.session_files(source)
        if as_json:
            output.json(changes)
        elif not changes:
            output.print(NO_CHANGES)
        elif patch:
            for change in changes:
                _print_patch(request, change.path, change.hunks, is_new=change.is_new)
        else:
            for line in net_lines(changes, output.width if sys.stdout.isatty() else None):
                output.print_unwrapped(line, style="" if line[:1].strip() else "dim")
            added = sum(change.added for change in changes)
            removed = sum(change.removed for change in changes)
            output.print(f"{format_count(len(changes), 'file')}: +{added} −{removed} in total")
    elif folder is None:
        files = archive.session_files_at(source, turn)
        if as_json:
            names = ("path", "is_there", "certainty", "since", "why")
            output.json([{name: getattr(file, name) for name in names} for file in files])
            return
        for file in files:
            certainty = "certain" if file.certainty == "sure" else file.certainty
            state = certainty if file.is_there else f"did not exist ({certainty})"
            reason = f"  {file.why}" if file.why else ""
            output.print_unwrapped(f"{state:<18} {safe_line(file.path)}{reason}")
        if files:
            output.print("`-o DIR` writes all files with known content to a folder", style="dim")
        else:
            output.print(NO_CHANGES)
    else:
        place = request.settings.directory / folder
        written = archive.write_session_files(source, turn, place, is_forced=force)
        if as_json:
            output.json(written)
            return
        for each in written:
            name = Path(folder) / each.name if each.name else f"not written: {each.path}"
            output.print_unwrapped(safe_line(str(name)) + (f"  {each.why}" if each.why else ""))
        count = sum(each.name is not None for each in written)
        words = f"{format_count(count, 'file')} written" if written else NO_CHANGES
        output.print(words, style="dim")


def net_lines(changes: Sequence[NetChange], width: int | None) -> Iterator[str]:
    """Yield a heading and a row for each file; without a width, paths are not shortened."""
    rows = [("", "net", "changes", "turns", "file", "")]
    for change in changes:
        turns = ", ".join(map(str, change.turns))
        if len(change.turns) > MOST_TURNS:
            first = ", ".join(map(str, change.turns[: MOST_TURNS - 2]))
            turns = f"{first} … {change.turns[-1]}"
        state = "new" if change.is_new else "changed"
        net = f"+{change.added} −{change.removed}" if change.is_known else "unknown"
        others = " (also changed outside this session)" if change.has_others else ""
        path = safe_line(change.path)
        rows.append((state, net, str(change.changes), turns, path, others))
    figures = align_cells([row[:4] for row in rows], right=(1, 2))
    for cells, (*_, path, others) in zip(figures, rows, strict=True):
        line = GAP.join(cells)
        if width is not None:
            room = width - len(line) - len(others) - len(GAP)
            path = shorten_path(path, max(room, LEAST_PATH))
        yield f"{line}{GAP}{path}{others}"


def _print_patch(request: Request, path: str, hunks: Iterable[Hunk], *, is_new: bool) -> None:
    styles = {"+": "green", "-": "red", "@": "cyan"}
    request.output.print_lines(
        make_text(safe_line(line) if "\t" not in line else line, style=styles.get(line[:1], ""))
        for line in format_unified_diff(safe_line(path), hunks, is_new=is_new)
    )


@command(examples="plait history src/app.py\nplait history src/app.py --at 3f2a:12")
def history_command(
    request: Request,
    file: str = file_argument,
    at: str | None = option(
        "--turn",
        "--at",
        metavar="TURN|TIME",
        help="Print FILE as it was after a turn (SESSION:TURN or TURN) or at a time.",
    ),
    known_as: tuple[str, ...] = known_as_option,
    patch: bool = option("-p", "--patch", help="Show the patch of each change."),
    as_json: bool = shared.as_json,
) -> None:
    """Show every change of FILE across all sessions, or print its content at one point in time.

    If the logs do not show what the file contained, the command says why and prints nothing.
    """
    directory, output = request.settings.directory, request.output
    if at is not None:
        found = request.archive.file_at(
            file,
            at,
            directory=directory,
            known_as=known_as,
            time_of=lambda text: format_timestamp(parse_time_option(text, now())),
        )
        if as_json:
            text = None if found.text is None else str(found.text)
            facts = {"certainty": found.certainty, "since": found.since, "why": found.why}
            output.json({"path": found.path, "is_there": found.is_there, "text": text, **facts})
            return
        if not found.is_there:
            raise UserError(
                f"'{found.path}' did not exist then",
                "`plait history FILE` shows when it was created",
            )
        if found.text is None:
            raise UserError(
                f"the content of '{found.path}' at that point is unknown: {found.why}",
                f"`plait history {shell_command(found.path)} --patch` shows the recorded changes",
            )
        write_bytes(found.data)
        if found.why:
            output.note(f"likely, but not certain: {found.why}")
        return
    history = request.archive.file_history(file, directory=directory, known_as=known_as)
    if not history.events:
        raise UserError(
            f"no session touched '{file}'", "`--as PATH` names the path used in the sessions"
        )
    # A backup made for every prompt repeats what the change before it says.
    events = [event for event in history.events if event.kind != "backed up"]
    if as_json:
        output.json([event_to_json(event) for event in events])
        return
    with output.paged():
        _print_history(request, history, events, has_patches=patch)


def _print_history(
    request: Request, history: FileHistory, events: list[FileEvent], *, has_patches: bool
) -> None:
    output = request.output
    changes = sum(event.is_change for event in events)
    sessions = len({event.origin.session for event in events})
    output.print(safe_line(history.path), style="bold")
    output.print(f"{format_count(changes, 'change')} in {format_count(sessions, 'session')}")
    output.print("")
    table = output.table("time", "turn", "", "lines", "prompt", right=("lines",), wide="prompt")
    for event in events:
        origin = event.origin
        abandoned = "" if origin.is_active else " (abandoned)"
        turn = f"{short_id(origin.session)}:{origin.turn}{abandoned}"
        prompt = safe_line(to_single_line(format_prompt(origin.prompt or "")))
        if origin.agent:
            prompt += f" (agent: {safe_line(to_single_line(origin.agent))})"
        time, hunks = format_stamp(event.time), event.hunks
        is_created = event.kind == "created" and event.after is not None
        if has_patches:
            heading = f"{time}  {turn}  {event.kind}  {shorten_to_width(prompt, 60)}"
            output.print(heading, style="bold")
            if is_created:
                hunks = diff_texts("", str(event.after))
            if hunks:
                _print_patch(request, event.path, hunks, is_new=event.kind == "created")
            output.print("")
            continue
        signs = [line[:1] for hunk in hunks for line in hunk.lines]
        lines = f"+{signs.count('+')} −{signs.count('-')}" if signs else ""
        if is_created and event.after is not None:
            lines = f"+{len(event.after.lines)}"
        table.add_row(time, turn, event.kind, lines, prompt)
    if not has_patches:
        output.print(table)
