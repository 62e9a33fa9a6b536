"""`plait resume`: a session to the line that continues it in Claude Code, or to its run."""

import os
import shutil
import sys
from typing import Any

import click

from plait.archive import CLIENT, Back, Resume, Session
from plait.cli.ahead import ahead_value, print_ahead
from plait.cli.options import Request, global_options, json_option, session_argument
from plait.cli.output import Output
from plait.cli.settings import claude_folder, expanded
from plait.cli.text import clipped, safe, to_type
from plait.errors import UserError
from plait.view.context_window import NextSent, next_sent


@click.command("resume")
@session_argument
@click.option(
    "--at", "turn", metavar="TURN", help="Go back to this turn: its number, a record, words of it."
)
@click.option("--run", "is_run", is_flag=True, help="Start Claude Code instead of printing.")
@click.option("--restore", is_flag=True, help="Restore it first, where it is only kept.")
@click.option("--force", is_flag=True, help="Run even while another client does.")
@json_option
@global_options
@click.pass_obj
def command(
    request: Request,
    session: str,
    turn: str | None,
    is_run: bool,
    restore: bool,
    force: bool,
    as_json: bool,
) -> None:
    """Print what continues SESSION in Claude Code, and what to mind.

    Turns are the prompts of the active line, the first is 1. One of another branch is named by
    a record of it, or by words of its prompt.
    """
    if is_run and as_json:
        raise UserError("say either `--run` or `--json`, not both")
    request, found = _at_its_source(request, request.session(session), restore or None, as_json)
    resume = request.archive.resume(found, default=expanded(claude_folder({}), {}), turn=turn)
    if is_run:
        _run(request.output, resume, force=force)
        return
    following = None
    if resume.why_not is None:
        following = next_sent(request.archive.resumption(found).next_prompt, request.prices)
    if as_json:
        request.output.json(_as_object(resume, following))
    else:
        request.output.heading(request.archive.facts(found))
        _print_resume(request.output, resume, following)


def _at_its_source(
    request: Request, session: Session, is_meant: bool | None, as_json: bool
) -> tuple[Request, Session]:
    """Restores a session that is only kept, where that is meant; on a screen it is asked.

    It gets the time of now: by its old one the client's cleanup would delete it again.
    """
    if not session.is_kept:
        return request, session
    if is_meant is None and not as_json and sys.stdin.isatty() and sys.stderr.isatty():
        asked = f"session {session.id[:8]} is only kept: restore it first?"
        is_meant = click.confirm(safe(asked), default=True, err=True)
    if not is_meant:
        return request, session
    restored = request.archive.keep.restore(session, is_fresh=True)
    request.output.note(f"restored to '{restored.path}'", is_whole=True)
    renewed = Request(request.roots, request.colour, request.has_pager)
    return renewed, renewed.archive.session_at(restored.path)


def _as_object(resume: Resume, following: NextSent | None) -> dict[str, Any]:
    can = resume.why_not is None
    return {
        "session": resume.session,
        "resumes": can,
        "why_not": resume.why_not,
        "kept": resume.is_kept,
        "directory": resume.directory,
        "config": resume.config,
        "command": resume.command if can else None,
        "line": resume.line if can else None,
        "warnings": resume.warnings,
        "back": resume.back,
        "next_prompt": ahead_value(following),
    }


def _print_resume(output: Output, resume: Resume, following: NextSent | None) -> None:
    if following:
        print_ahead(output, following, "dim")
        output.print("")
    if resume.why_not is None:
        output.unbroken(resume.line, style="bold green")
    else:
        output.print(f"cannot be resumed: {resume.why_not}", style="bold red")
        if resume.is_kept:
            output.say(f"`plait resume {resume.session[:8]} --restore` restores it and goes on")
    sentences = [warning.sentence for warning in resume.warnings]
    if resume.why_not is None and safe(resume.line) != resume.line:
        sentences.append("the line holds what cannot be shown, and so copied: use `--run`")
    _print_warnings(output, sentences)
    if resume.back:
        _print_back(output, resume.back, resume.session)


def _print_warnings(output: Output, sentences: list[str]) -> None:
    from rich.table import Table
    from rich.text import Text

    if not sentences:
        return
    grid = Table.grid("", "", padding=(0, 1, 0, 0))
    for sentence in sentences:
        grid.add_row(Text("warning:", style="bold yellow"), Text(safe(sentence)))
    output.print("")
    output.print(grid)


def _print_back(output: Output, back: Back, session: str) -> None:
    words = f"“{clipped(safe(back.prompt or '(no words)'), output.width - 14)}”"
    output.print("")
    if back.is_elsewhere:
        output.print(f"Turn {back.turn} of another branch, which Claude Code does not go on with:")
        output.print(f"  {words}")
        output.print("A new session goes on from it:")
        typed = to_type("plait", "fork", session[:8], "--at", back.uuid, *output.root_options)
        output.unbroken(f"  {typed}")
        return
    if not back.is_in_reach:
        output.print(f"Turn {back.turn} of {back.turns} is in the log, but not in the context:")
        output.print(f"  {words}")
        output.print("Claude Code begins after it, at a compaction or afresh, and cannot go back.")
        return
    output.print(f"Then, to go back to turn {back.turn} of {back.turns}:")
    output.print("  1. press Esc twice, or type /rewind")
    output.print(f"  2. choose {words}")
    output.print("")
    output.print("What followed that prompt stays in the log as a branch.", style="dim")
    output.print("With --fork-session added to the line it goes on in a new session.", style="dim")


def _run(output: Output, resume: Resume, *, force: bool) -> None:
    _check(resume, force=force)
    if shutil.which(CLIENT) is None:
        raise UserError(f"'{CLIENT}' is not on the path", "without `--run` the line is printed")
    for warning in resume.warnings:
        output.note(f"warning: {warning.sentence}")
    if resume.back:
        _print_back(output, resume.back, resume.session)
    sys.stdout.flush()
    os.chdir(resume.directory or ".")
    _become(resume)


def _check(resume: Resume, *, force: bool) -> None:
    if resume.why_not:
        hint = f"`plait resume {resume.session[:8]} --restore --run`"
        raise UserError(f"refusing to run: {resume.why_not}", *[hint] * resume.is_kept)
    if gone := resume.warning("gone", "no directory"):
        hints = [f"`{to_type(*resume.command)}` may find it from anywhere"]
        if resume.directory:
            hints.insert(0, f"`{to_type('mkdir', '-p', resume.directory)}` makes it again")
        raise UserError(f"refusing to run: {gone.sentence}", *hints)
    live = resume.warning("live")
    if live and not force:
        raise UserError(f"refusing to run: {live.sentence}", "add `--force` to run it all the same")


def _become(resume: Resume) -> None:
    words = list(resume.command)
    if resume.config:
        words = ["env", f"CLAUDE_CONFIG_DIR={resume.config}", *words]
    os.execvp(words[0], words)  # noqa: S606  the user asked for it
