"""`plait resume` and `plait context`: continuing a session, and what Claude will see then."""

import os
import sys
from collections import Counter
from dataclasses import replace
from typing import Any, Literal

import click

from plait.archive import Resume, Resumption, RewindTarget
from plait.cli import shared
from plait.cli.options import Request, command, option
from plait.errors import UserError
from plait.graph.client.entries import Context, Reason
from plait.sessions.resume import client_command
from plait.settings import expand_user, read_claude_folder
from plait.terminal.output import Output, make_text, select_fields
from plait.terminal.text import SHORT_ID, format_number, now, safe, shell_command
from plait.view.context import NextSent, describe_next_prompt
from plait.view.formats import format_count, format_tokens
from plait.view.summaries import format_block_kinds, summarize_blocks
from plait.view.text import count_columns, shorten_to_width

ROLE_STYLES = {"user": "bold", "assistant": "cyan", "system": "dim"}
REASONS = {
    Reason.API_ERROR: "API error",
    Reason.BRIDGED: "progress message",
    Reason.OTHER_SESSION: "from another session",
    Reason.SIDECHAIN: "part of a sub-agent",
    Reason.THINKING_ONLY: "answer with only thinking",
    Reason.UNANSWERED: "tool call without a result",
}
"""Reasons in plainer words than `--json` has."""


@command(examples="plait resume latest\nplait resume 3f2a --run\nplait resume 3f2a --at 12")
def resume_command(
    request: Request,
    session: str = shared.session,
    turn: str | None = option(
        "--turn",
        "--at",
        metavar="TURN",
        help="Go back to this turn: a number, a record id or text from its prompt.",
    ),
    is_run: bool = option("--run", help="Start Claude Code instead of printing the command."),
    restore: bool = option(
        "--restore", help="Restore the session first if it is only in the backup."
    ),
    force: bool = option("--force", help="Resume even if Claude Code is running the session."),
    as_json: bool = shared.as_json,
) -> None:
    """Print the command that resumes SESSION in Claude Code, and any warnings.

    Turns are the prompts of the active branch, counted from 1. Name a turn of another branch by a
    record id or by text from its prompt.
    """
    if is_run and as_json:
        raise UserError("use either `--run` or `--json`, not both")
    source = request.session(session)
    if source.is_kept:
        if not restore and not as_json and sys.stdin.isatty() and sys.stderr.isatty():
            question = f"Session {source.id[:SHORT_ID]} is only in the backup. Restore it first?"
            restore = click.confirm(safe(question), default=True, err=True)
        if restore:
            # With its old modification time, Claude Code's cleanup would delete it again.
            restored = request.archive.keep.restore(source, is_fresh=True)
            request.output.note(f"restored to '{restored.path}'", no_wrap=True)
            request = replace(request)
            source = request.archive.session_at(restored.path)
    archive, output = request.archive, request.output
    default = expand_user(read_claude_folder({}), {})
    resume = archive.resume(source, default=default, turn=turn)
    if is_run:
        words = client_command(resume, force=force)
        for warning in resume.warnings:
            output.note(f"warning: {warning.sentence}")
        if resume.back:
            _print_rewind(output, resume.back, resume.session)
        sys.stdout.flush()
        os.chdir(resume.directory or ".")
        os.execvp(words[0], words)  # noqa: S606  the user asked for it
    can_resume, next_prompt = resume.why_not is None, None
    if can_resume and source.origin is None:
        next_prompt = describe_next_prompt(archive.resumption(source).next_prompt, request.prices)
    if as_json:
        output.json(
            {
                "session": resume.session,
                "resumes": can_resume,
                "why_not": resume.why_not,
                "kept": resume.is_kept,
                **select_fields(resume, "directory", "config"),
                "command": resume.command if can_resume else None,
                "line": resume.line if can_resume else None,
                **select_fields(resume, "warnings", "back"),
                "next_prompt": _next_prompt_to_json(next_prompt),
            }
        )
    else:
        output.print_heading(archive.facts(source))
        _print_resume(output, resume, next_prompt)


def _print_resume(output: Output, resume: Resume, next_prompt: NextSent | None) -> None:
    if next_prompt:
        _print_next_prompt(output, next_prompt, "dim")
        output.print("")
    warnings = [warning.sentence for warning in resume.warnings]
    if resume.why_not is None:
        output.print_unwrapped(resume.line, style="bold green")
        if safe(resume.line) != resume.line:
            warnings.append("the command contains characters that cannot be printed: use `--run`")
    else:
        output.print(f"cannot be resumed: {resume.why_not}", style="bold red")
        if resume.is_kept:
            words = f"`plait resume {resume.session[:SHORT_ID]} --restore`"
            output.print_message(f"{words} restores and resumes it")
    if warnings:
        output.print("")
        output.print_grid(
            [(make_text("warning:", style="bold yellow"), sentence) for sentence in warnings], gap=1
        )
    if resume.back:
        _print_rewind(output, resume.back, resume.session)


def _print_rewind(output: Output, target: RewindTarget, session: str) -> None:
    prompt = shorten_to_width(safe(target.prompt or "(no text)"), output.width - 14)
    output.print("")
    if target.is_elsewhere:
        output.print(f"Turn {target.turn} of another branch, which Claude Code does not resume:")
        output.print(f"  “{prompt}”")
        output.print("Start a new session from it:")
        words = ("plait", "fork", session[:SHORT_ID], "--at", target.uuid, *output.root_options)
        output.print_unwrapped(f"  {shell_command(*words)}")
    elif not target.is_in_reach:
        output.print(f"Turn {target.turn} of {target.turns} is in the log, but not in the context:")
        output.print(f"  “{prompt}”")
        output.print("The context starts after it, so Claude Code cannot go back there.")
    else:
        output.print(f"Then, to go back to turn {target.turn} of {target.turns}:")
        output.print("  1. Press Esc twice, or type /rewind")
        output.print(f"  2. Choose “{prompt}”")
        output.print("")
        output.print("What followed that prompt stays in the log as a branch.", style="dim")
        output.print("Add --fork-session to continue in a new session instead.", style="dim")


@command(examples="plait context latest\nplait context 3f2a --full")
def context_command(
    request: Request,
    session: str = shared.session,
    as_: Literal["client", "sdk"] = option(
        "--as",
        default="client",
        help="Show the context as Claude Code sends it, or as the Python SDK returns it.",
    ),
    full: bool = option("--full", help="Show every block: reminders, system text, signatures."),
    as_json: bool = shared.as_json,
) -> None:
    """Show what Claude will see when SESSION is resumed, and what is left out.

    Messages are shown as they are sent, after compactions, repairs and branch selection.
    """
    output, source = request.output, request.session(session)
    resumption = request.archive.resumption(source, as_)
    context, next_prompt = resumption.context, None
    if as_ == "client" and source.origin is None:
        next_prompt = describe_next_prompt(resumption.next_prompt, request.prices)
    if as_json:
        not_in_log = {"not_in_log": _list_not_in_log(context)} if full else {}
        output.json(
            {
                "session": source.id,
                **select_fields(context, "resumes", "why_not", "leaf", "chain"),
                **select_fields(resumption, "tokens", "usage"),
                "next_prompt": _next_prompt_to_json(next_prompt),
                "messages": context.request if full else context.messages,
                "left_out": context.left_out,
                **not_in_log,
            }
        )
        return
    with output.paged():
        output.print_heading(request.archive.facts(source))
        _print_context(output, resumption, next_prompt, full=full)


def _list_not_in_log(context: Context) -> list[str]:
    """List what Claude Code would add that no log contains; the texts are part of the JSON."""
    additions = []
    if context.resumes:
        additions.append("additions to the next prompt: environment, date, tools, instructions")
    reworded = sum(left_out.reason is Reason.OWN_WORDS for left_out in context.left_out)
    if reworded:
        count = format_count(reworded, "attachment")
        additions.append(f"the text that Claude Code sends for {count}")
    return additions


def _print_context(
    output: Output, resumption: Resumption, next_prompt: NextSent | None, *, full: bool
) -> None:
    context = resumption.context
    if not context.resumes:
        output.print(f"cannot be resumed: {context.why_not}", style="bold red")
    messages = context.request if full else context.messages
    width = len(str(len(messages)))
    for place, (role, blocks) in enumerate(messages, 1):
        text = make_text(f"{place:>{width}}  ", style="dim")
        text.append(f"{role:<9}  ", style=f"not dim {ROLE_STYLES.get(role, '')}")
        kinds = shorten_to_width(safe(format_block_kinds(blocks)), output.width // 3)
        room = output.width - text.cell_len - count_columns(kinds) - 2
        summary = shorten_to_width(safe(summarize_blocks(blocks)), max(room, 8))
        text.append(summary + " " * max(room - count_columns(summary), 0), style="not dim")
        output.print(text.append(f"  {kinds}", style="dim"))
    totals = [
        format_count(len(messages), "message"),
        f"from {format_count(len(context.chain), 'record')}",
    ]
    if resumption.tokens is not None:
        totals.append(f"{format_tokens(resumption.tokens)} tokens after the last answer")
    output.print("" if messages else "no messages")
    output.print(", ".join(totals), style="bold")
    if next_prompt:
        _print_next_prompt(output, next_prompt, "bold")
    for addition in _list_not_in_log(context) if full else ():
        output.print(f"not in the log: {addition}", style="dim")
    reasons = Counter(
        REASONS.get(left_out.reason, left_out.reason) for left_out in context.left_out
    )
    if reasons:
        output.print("")
        output.print(f"left out: {format_count(len(context.left_out), 'record')}", style="bold")
        width = max(len(format_number(count)) for count in reasons.values())
        for reason, count in reasons.most_common():
            output.print(f"  {format_number(count):>{width}}  {reason}", style="dim")


def _print_next_prompt(output: Output, sent: NextSent, style: str) -> None:
    output.print(sent.sentence, style=style)
    if state := sent.describe_cache(now()):
        output.print(state, style=style)


def _next_prompt_to_json(sent: NextSent | None) -> dict[str, Any] | None:
    if sent is None:
        return None
    figures = select_fields(sent, "tokens", "cost_usd")
    return {**figures, "is_warm": sent.is_warm(now()), "cold_at": sent.cold_at}
