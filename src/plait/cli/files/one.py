"""`plait file`: the story of a file over all sessions, and what it held at a moment."""

from typing import TYPE_CHECKING, Any

import click

from plait.cli.options import Request, global_options, json_option
from plait.cli.text import clipped, counted, local, now, safe_line, short, to_type
from plait.errors import UserError
from plait.view.forms import minute_of

if TYPE_CHECKING:
    from plait.archive import FileAt, FileHistory
    from plait.conversation.versions.model import FileEvent


@click.command("file")
@click.argument("file")
@click.option(
    "--at",
    metavar="TURN|TIME",
    help="Print what it held: after a turn (SESSION:TURN, TURN), at a time.",
)
@click.option(
    "--as", "known_as", metavar="PATH", multiple=True, help="The path that sessions know it by."
)
@click.option("-p", "--patch", is_flag=True, help="With the patch of each change.")
@json_option
@global_options
@click.pass_obj
def command(
    request: Request,
    file: str,
    at: str | None,
    known_as: tuple[str, ...],
    patch: bool,
    as_json: bool,
) -> None:
    """Show the story of FILE over all sessions, or print what it held at a moment.

    What no log tells is said to be unknown, with the reason: nothing is printed then.
    """
    directory = request.settings.directory
    if at is not None:
        found = request.archive.file_at(
            file, at, directory=directory, known_as=known_as, time_of=_moment
        )
        _print_content(request, found, as_json=as_json)
        return
    history = request.archive.file_history(file, directory=directory, known_as=known_as)
    if not history.events:
        raise UserError(f"no session knows '{file}'", "--as gives the path that sessions know")
    if as_json:
        request.output.json([_as_object(event) for event in _told(history)])
        return
    with request.output.paged():
        _tell(request, history, has_patches=patch)


def _moment(text: str) -> str:
    from plait.cli.selection import point_in_time
    from plait.record.time import stamp_of

    return stamp_of(point_in_time(text, now()))


def _print_content(request: Request, found: "FileAt", *, as_json: bool) -> None:
    from plait.cli.output import write_bytes

    if as_json:
        text = None if found.text is None else str(found.text)
        facts = {"certainty": found.certainty, "since": found.since, "why": found.why}
        request.output.json({"path": found.path, "is_there": found.is_there, "text": text, **facts})
        return
    if not found.is_there:
        raise UserError(f"there was no '{found.path}' then", "`plait file` tells when it came")
    if found.text is None:
        raise UserError(
            f"what '{found.path}' held then is not known: {found.why}",
            f"`plait file {to_type(found.path)} --patch` shows what the logs have of it",
        )
    write_bytes(found.data)
    if found.why:
        request.output.note(f"likely, not sure: {found.why}")


def _told(history: "FileHistory") -> "list[FileEvent]":
    """Returns what is worth telling: one line for each time that a backup says the same."""
    return [event for event in history.events if event.kind != "backed up"]


def _tell(request: Request, history: "FileHistory", *, has_patches: bool) -> None:
    output = request.output
    events = _told(history)
    changed = sum(event.is_change for event in events)
    sessions = len({event.origin.session for event in events})
    output.print(safe_line(history.path), style="bold")
    output.print(f"{counted(changed, 'change')} in {counted(sessions, 'session')}")
    output.print("")
    if has_patches:
        for event in events:
            output.print(_heading(event), style="bold")
            _print_patch(request, event)
        return
    names = ("time", "turn", "", "lines", "prompt")
    table = output.table(*names, right=("lines",), wide="prompt")
    for event in events:
        table.add_row(_time(event), _turn(event), event.kind, _lines(event), _words(event))
    output.print(table)


def _heading(event: "FileEvent") -> str:
    return f"{_time(event)}  {_turn(event)}  {event.kind}  {clipped(_words(event), 60)}"


def _print_patch(request: Request, event: "FileEvent") -> None:
    from plait.cli.files.many import print_patch
    from plait.conversation.patches import hunks_between

    hunks = event.hunks
    if event.kind == "created" and event.after is not None:
        hunks = hunks_between("", str(event.after))
    if hunks:
        print_patch(request, event.path, hunks, is_new=event.kind == "created")
    request.output.print("")


def _time(event: "FileEvent") -> str:
    time = local(event.time)
    return minute_of(time) if time else ""


def _turn(event: "FileEvent") -> str:
    left = "" if event.origin.is_active else " (left)"
    return f"{short(event.origin.session)}:{event.origin.turn}{left}"


def _lines(event: "FileEvent") -> str:
    signs = [line[:1] for hunk in event.hunks for line in hunk.lines]
    if event.kind == "created" and event.after is not None:
        return f"+{len(event.after.lines)}"
    return f"+{signs.count('+')} −{signs.count('-')}" if signs else ""


def _words(event: "FileEvent") -> str:
    from plait.view.words import one_line, plain_words

    words = safe_line(one_line(plain_words(event.origin.prompt or "")))
    agent = event.origin.agent
    return f"{words} (agent: {safe_line(one_line(agent))})" if agent else words


def _as_object(event: "FileEvent") -> dict[str, Any]:
    origin = event.origin
    return {
        "path": event.path,
        "action": event.kind,
        "session": origin.session,
        "turn": origin.turn,
        "uuid": origin.uuid,
        "time": event.time,
        "prompt": origin.prompt,
        "agent": origin.agent,
        "is_abandoned": not origin.is_active,
        "hunks": event.hunks,
    }
