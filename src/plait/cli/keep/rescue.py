"""`plait keep rescue`: what is left of sessions that are gone to sessions in the store."""

from datetime import datetime
from typing import TYPE_CHECKING, Any

import click

from plait.cli.options import Request, global_options, json_option
from plait.cli.text import clipped, counted, safe_line
from plait.view.forms import day_of

if TYPE_CHECKING:
    from plait.keep.rescue import LostSession, Rescued

MOST_SHOWN = 20


@click.command("rescue")
@click.option("--dry-run", "is_dry", is_flag=True, help="Show what is left; keep nothing.")
@json_option
@global_options
@click.pass_obj
def command(request: Request, is_dry: bool, as_json: bool) -> None:
    """Put together what is left of sessions that are gone, as sessions marked incomplete.

    Prompts and pastes in `history.jsonl`, backups in `file-history`, scripts in `session-env`,
    lists of sessions, and commits in Git. The answers are lost.
    """
    with request.output.watched("looking for what is left"):
        found = request.archive.keep.rescue(is_dry=is_dry)
    if as_json:
        request.output.json(_as_object(found, is_dry))
    else:
        _print(request, found, is_dry)


def _as_object(found: "Rescued", is_dry: bool) -> dict[str, Any]:
    return {
        "dry_run": is_dry,
        "sessions": [_session_object(one) for one in found.sessions],
        "unchanged": found.unchanged,
        "bare": found.bare,
        "unread_lines": found.unread,
    }


def _session_object(one: "LostSession") -> dict[str, Any]:
    return {
        "session": one.session,
        "directory": one.directory,
        "title": one.title or one.listed.title,
        "first_prompt": _first_words(one),
        "began": one.began,
        "ended": one.ended,
        "prompts": len(one.prompts),
        "backups": len(one.backups),
        "commits": [{"id": made.id, "why": made.why} for made in one.commits],
        "scripts": len(one.scripts),
        "is_guess": one.is_guess,
    }


def _first_words(one: "LostSession") -> str | None:
    spoken = (prompt.text for prompt in one.prompts if not prompt.is_command)
    return next(spoken, one.listed.first_prompt)


def _print(request: Request, found: "Rescued", is_dry: bool) -> None:
    output = request.output
    for one in found.sessions[-MOST_SHOWN:]:
        output.unbroken(clipped(_line(one), output.width))
        output.print(f"            {_found(one)}", style="dim")
    if len(found.sessions) > MOST_SHOWN:
        output.print(f"  and {len(found.sessions) - MOST_SHOWN} older ones")
    if found.unchanged:
        output.print(f"{counted(found.unchanged, 'session')} put together before")
    if found.bare:
        output.print(f"{counted(found.bare, 'session')} left nothing but an id or commands")
    if found.unread:
        output.note(f"{counted(found.unread, 'line')} of `history.jsonl` cannot be read")
    sessions = counted(len(found.sessions), "session")
    if not found.sessions:
        output.print("nothing more is left of sessions that are gone")
    elif is_dry:
        output.print(f"{sessions} can be put together", style="bold")
        output.print("nothing was written: without `--dry-run` it is done", style="dim")
    else:
        output.print(f"{sessions} put together, marked incomplete", style="bold green")


def _line(one: "LostSession") -> str:
    day = _day(one.ended)
    words = safe_line(one.title or one.listed.title or _first_words(one) or "(no prompt)")
    return f"{day}  {safe_line(one.session[:8])}  {words}"


def _day(moment: datetime | None) -> str:
    return day_of(moment.astimezone()) if moment else "(no time)"


def _found(one: "LostSession") -> str:
    kinds = {
        "prompt": one.prompts,
        "backup": one.backups,
        "commit": one.commits,
        "script": one.scripts,
    }
    told = [counted(len(found), name) for name, found in kinds.items() if found]
    where = f" in {safe_line(one.directory)}" if one.directory else ""
    doubt = ", taken for one session" if one.is_guess else ""
    return f"{', '.join(told) or 'a line in a list'}{where}{doubt}"
