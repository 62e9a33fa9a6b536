"""The commands that change sessions, except `trim`: each plans, checks, shows and applies.

`run_plan` and `run_plans` lead from a plan to its outcome, shared with trim and redact.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from plait.cli import shared
from plait.cli.options import OWN, OptionGroup, Request, argument, command, option
from plait.edit.plan import Plan
from plait.edit.report import (
    EditReport,
    Outcome,
    build_check_report,
    build_edit_row,
    build_pack_report,
    build_plan_report,
    cut_to_difference,
    format_done,
    format_entry,
    format_problem,
    format_proof,
    format_saving,
    list_fate_rows,
    list_size_rows,
)
from plait.errors import PlaitError, Refused, UserError
from plait.line.discovery import find_config_folder
from plait.record.time import parse_time
from plait.settings import expand_user, load_redactor, read_claude_folder
from plait.terminal.output import Output, make_text
from plait.terminal.text import format_number, now, safe, safe_line, shell_command, short_id
from plait.view.formats import format_age, format_bytes, format_count
from plait.view.text import shorten_to_width

if TYPE_CHECKING:
    from plait.archive import Session
    from plait.edit.transfer import PackPlan

MOST_REFUSED = 5
MOST_DIFFERENCES = 4
MOST_REMARKS = 10
MOST_VIOLATIONS = 20
LARGE = 50_000_000
"""Size of a new session above which it is not read again for its resume command."""
FATES = {"dropped": "red", "rewritten": "yellow", "added": "green", "kept": "dim"}
IDLE = {
    "repair": "nothing to repair",
    "trim": "nothing to trim",
    "compress": "nothing to compress",
}
OPERATION_WIDTH = 24


class EditOptions(OptionGroup):
    """How to carry out a plan."""

    is_dry: bool = shared.is_dry
    is_sure: bool = option("--yes", hidden=True)
    is_forced: bool = option("--force", help="Edit even while Claude Code is running the session.")
    as_json: bool = shared.as_json
    is_proved = False
    in_place = False

    @property
    def applies(self) -> bool:
        """Whether to apply the plan; one that replaces something needs `--yes`."""
        return not self.is_dry and (self.is_sure or not self.in_place)


class CopyOptions(EditOptions):
    """How to carry out a plan whose result can be resumed."""

    is_proved: bool = option(
        "--prove", help="Check the result by resuming it offline with the installed `claude`."
    )

    def __init__(self, **values: Any) -> None:
        super().__init__(**values)
        if self.is_proved and self.is_dry:
            raise UserError("`--prove` resumes the written session; leave out `--dry-run`")


class InPlaceOptions(CopyOptions):
    """How to carry out a plan that makes a copy, or changes the session itself."""

    in_place: bool = option(
        "--in-place", help="Change the session itself, not a copy; needs `--yes`."
    )
    is_sure: bool = option(
        "--yes", help="With --in-place: apply the plan; without it, the plan is only shown."
    )


title_option = option("--title", metavar="T", help="The title of the new session.")


def run_plan(request: Request, subject: "Session | str", plan: Plan, how: EditOptions) -> None:
    """Check, apply and present one plan of a session or project."""
    output, facts = request.output, None
    if not isinstance(subject, str) and not how.as_json:
        # The title of a session to be deleted must be read before.
        facts = None if plan.after.lines else request.archive.facts(subject)
    outcome = _apply_plan(request, plan, how)
    if how.as_json:
        output.json(outcome.to_json())
    else:
        if isinstance(subject, str):
            output.print(safe_line(subject), style="bold")
            output.print("")
        else:
            output.print_heading(facts or request.archive.facts(subject))
        report = outcome.report
        assert report is not None  # there is no error
        print_plan(output, report)
        if not report.is_idle:
            output.print("")
            if report.applied:
                output.print_unwrapped(format_done(report), style="bold green")
                for name, line in _list_next_steps(request, report):
                    output.print_unwrapped(f"  {name:<8}{safe_line(line)}")
            elif not report.violations:
                output.print(_format_not_applied(how), style="bold")
            if outcome.proof:
                style = "" if outcome.proof.is_good else "bold red"
                proof = safe_line(format_proof(outcome.proof))
                output.print_unwrapped(f"  {'proof':<8}{proof}", style)
    if outcome.refusal:
        raise outcome.refusal


def run_plans(
    request: Request,
    sessions: "Sequence[Session]",
    make_plan: "Callable[[Session], Plan]",
    how: EditOptions,
) -> None:
    """Check, apply and present a plan for each session; one refusal does not stop the others."""
    output, outcomes = request.output, []
    for session in output.progress(sessions, "planning"):
        try:
            outcomes.append(_apply_plan(request, make_plan(session), how))
        except PlaitError as error:
            outcomes.append(Outcome(session.id, error=error))
    parts = [format_count(len(outcomes), "session")]
    if how.applies:
        changed = sum(bool(each.report and each.report.applied) for each in outcomes)
        parts.append(f"{changed} changed")
    idle = 0
    for outcome in outcomes if not how.as_json else ():
        name, report = short_id(outcome.session), outcome.report
        if outcome.refusal:
            output.print(f"{name}  refused: {safe_line(outcome.refusal.message)}", style="red")
        elif report and report.is_idle:
            idle += 1
        elif report:
            state = format_done(report) if report.applied else f"would be {format_done(report)}"
            fates = ", ".join(f"{n} {fate}: {reason}" for n, fate, reason in list_fate_rows(report))
            output.print(f"{name}  {state} ({fates})" if fates else f"{name}  {state}")
            if report.undo:
                output.print_unwrapped(f"{'':8}  {_undo_command(request, report)}", "dim")
    if how.as_json:
        output.json([outcome.to_json() for outcome in outcomes])
    else:
        parts += [f"{idle} with nothing to do"] if idle else []
        parts += [_format_not_applied(how)] if not how.applies else []
        output.print("")
        output.print(", ".join(parts), style="dim")
    refused = [outcome.session[:8] for outcome in outcomes if outcome.refusal]
    if refused:
        names = ", ".join(refused[:MOST_REFUSED])
        raise Refused(f"{len(refused)} of {len(outcomes)} sessions were refused: {names}")


def run_for_each(
    request: Request,
    sessions: "Sequence[Session]",
    make_plan: "Callable[[Session], Plan]",
    how: EditOptions,
) -> None:
    """Present a single session in full, several of them in a line or two each."""
    if len(sessions) == 1:
        run_plan(request, sessions[0], make_plan(sessions[0]), how)
    else:
        run_plans(request, sessions, make_plan, how)


def _apply_plan(request: Request, plan: Plan, how: EditOptions) -> Outcome:
    violations = plan.check()
    is_applied = how.applies and bool(plan.steps) and not violations
    edit = plan.apply(force=how.is_forced) if is_applied else None
    report = build_plan_report(plan, violations, edit)
    proof = None
    if edit and how.is_proved:
        from plait.edit.proof import prove_session

        session = request.archive.reopen().session_at(plan.path)
        proof = prove_session(session, request.settings.claude)
    return Outcome(plan.source.id, report, proof)


def print_plan(output: Output, report: EditReport) -> None:
    """Print what a plan would change, or what it changed."""
    if report.is_idle:
        words = IDLE.get(report.operation, "nothing to do")
        if report.operation == "port" and not report.unmended:
            words = "nothing to do: everything is already here"
        reasons = (note for note in report.notes if note.startswith(f"{words}:"))
        output.print(next(reasons, words))
        _print_remarks(output, report)
        return
    output.print_grid(
        [("", make_text("before", style="dim"), make_text("after", style="dim"))]
        + [
            (
                make_text(name, style="dim"),
                before,
                make_text(after, "bold" if before != after else ""),
            )
            for name, before, after in list_size_rows(report)
        ],
        right=(1, 2),
        gap=3,
    )
    if saving := format_saving(report):
        output.print("")
        output.print(saving, style="bold")
    output.print("")
    fates = list_fate_rows(report)
    output.print_grid(
        [
            (count, make_text(fate, style=FATES.get(fate, "")), reason)
            for count, fate, reason in fates
        ],
        right=(0,),
    )
    if report.differences:
        output.print("")
    for line in report.differences[:MOST_DIFFERENCES]:
        place = f"line {line.line}" if line.line else "new line"
        heading = shorten_to_width(f"{place}: {safe_line(line.reason)}", output.width)
        texts = [make_text(heading, style="dim")]
        before, after = cut_to_difference(line.before, line.after, output.width - 4)
        if before is not None:
            texts.append(make_text(f"  - {safe_line(before)}", style="red"))
        if after is not None:
            texts.append(make_text(f"  + {safe_line(after)}", style="green"))
        output.print_lines(texts)
    more = len(report.differences) - MOST_DIFFERENCES
    if more > 0:
        output.print(f"… {format_count(more, 'more line')}: `--json` lists all", style="dim")
    _print_remarks(output, report)


def _print_remarks(output: Output, report: EditReport) -> None:
    notes = () if report.is_idle else report.notes
    rows = [
        *((make_text("note:", style="bold"), note) for note in notes),
        *(
            (make_text("unchanged:", style="bold yellow"), format_problem(x))
            for x in report.unmended
        ),
        *((make_text("broken:", style="bold red"), format_problem(x)) for x in report.violations),
    ]
    if not rows:
        return
    output.print("")
    output.print_grid(rows[:MOST_REMARKS], gap=1)
    if len(rows) > MOST_REMARKS:
        more = len(rows) - MOST_REMARKS
        output.print(f"… and {more:,} more: `--json` lists all", style="dim")


def _list_next_steps(request: Request, report: EditReport) -> Iterator[tuple[str, str]]:
    path = Path(report.path)
    if path.is_dir():
        yield "folder", report.path
    elif report.operation != "delete":
        yield "file", report.path
        if report.after.bytes > LARGE:
            roots = _root_options(request, report)
            yield "resume", shell_command("plait", "resume", report.session, *roots)
        elif report.operation != "clone" or find_config_folder(path):
            archive = request.archive.reopen()
            default = expand_user(read_claude_folder({}), {})
            resume = archive.resume(archive.session_at(path), default=default)
            if resume.why_not is None:
                yield "resume", resume.line
    if report.undo:
        line = _undo_command(request, report)
        yield "undo", line
        if report.operation == "redact" and not report.is_new:
            yield "forget", f"{line} --forget"


def _undo_command(request: Request, report: EditReport) -> str:
    return shell_command("plait", "undo", report.undo or "", *_root_options(request, report))


def _root_options(request: Request, report: EditReport) -> list[str]:
    """Return the `--root` options to repeat; an edit outside the roots needs its own."""
    root = request.archive.journals.find_root_of(report.undo or "", Path(report.path))
    return ["--root", str(root)] if root else request.root_options


def _format_not_applied(how: EditOptions) -> str:
    return f"nothing was changed; {'leave out `--dry-run`' if how.is_dry else 'add `--yes`'} to apply the plan"


@command(examples="plait clone latest\nplait clone 3f2a --active-only --title experiment")
def clone_command(
    request: Request,
    how: CopyOptions,
    session: str = shared.session,
    active_only: bool = option("--active-only", help="Leave out abandoned branches."),
    clean: bool = option("--clean", help="Leave out broken and blank lines."),
    title: str | None = title_option,
    output: str | None = option(
        "-o",
        "--output",
        metavar="PATH",
        help="Write the new log to this .jsonl file, or into this folder.",
    ),
) -> None:
    """Copy SESSION to a new session with a new id.

    Its agents, tool results and checkpoints are copied too. SESSION itself is not changed.
    """
    source = request.session(session)
    plan = request.archive.plan.clone(
        source,
        active_only=active_only,
        clean=clean,
        title=title,
        output=Path(output).absolute() if output else None,
    )
    run_plan(request, source, plan, how)


@command(examples="plait fork latest --at 12\nplait fork 3f2a --at 'add tests' --before")
def fork_command(
    request: Request,
    how: InPlaceOptions,
    session: str = shared.session,
    at: str = option(
        "--turn",
        "--at",
        required=True,
        metavar="TURN|UUID|PROMPT",
        help="Where to continue: a turn number, a message uuid, or text from a prompt.",
    ),
    before: bool = option("--before", help="Leave out that turn, so that you can rephrase it."),
    title: str | None = title_option,
    onto: str | None = option(
        "--onto",
        metavar="SESSION",
        shell_complete=shared.complete_session,
        help="Append the branch to a copy of this session.",
    ),
) -> None:
    """Start a new session from any message of SESSION, even on an abandoned branch.

    With `--onto`, the branch of that message is appended to another session instead. SESSION
    itself is not changed.
    """
    source, plans = request.session(session), request.archive.plan
    if onto is None:
        if how.in_place:
            raise UserError("`--in-place` needs a session to append to", "`--onto SESSION`")
        run_plan(request, source, plans.fork(source, at, before=before, title=title), how)
        return
    if before:
        raise UserError("use either `--before` or `--onto`, not both")
    target = request.session(onto)
    plan = plans.graft(source, target, at, in_place=how.in_place, title=title)
    run_plan(request, target, plan, how)


@command(examples="plait switch 3f2a --branch 2")
def switch_command(
    request: Request,
    how: CopyOptions,
    session: str = shared.session,
    branch: str = option(
        "--branch",
        required=True,
        metavar="B",
        help="A branch's name or number, as in `plait log` and `plait paths`, or its last record.",
    ),
) -> None:
    """Make another branch of SESSION the one that Claude Code resumes.

    Appends one line that points to that branch; nothing else changes.
    """
    source = request.session(session)
    run_plan(request, source, request.archive.plan.switch(source, branch), how)


@command(examples="plait rename latest 'Payment refactoring'")
def rename_command(
    request: Request, how: CopyOptions, session: str = shared.session, title: str = argument()
) -> None:
    """Give SESSION a new title, as `/rename` does."""
    source = request.session(session)
    run_plan(request, source, request.archive.plan.rename(source, title), how)


@command(examples="plait tag latest release\nplait tag latest --remove")
def tag_command(
    request: Request,
    how: CopyOptions,
    session: str = shared.session,
    word: str | None = argument(),
    remove: bool = option("--remove", help="Remove the tag."),
) -> None:
    """Tag SESSION with a WORD, or remove its tag."""
    if (word is None) is not remove:
        raise UserError(
            "give either a tag or `--remove`",
            "`plait tag SESSION WORD`, `plait tag SESSION --remove`",
        )
    source = request.session(session)
    run_plan(request, source, request.archive.plan.tag(source, word), how)


@command(examples="plait delete 3f2a --dry-run\nplait delete 3f2a")
def delete_command(
    request: Request,
    how: EditOptions,
    names: tuple[str, ...] = argument(
        metavar="SESSION...", required=True, shell_complete=shared.complete_session
    ),
) -> None:
    """Delete each SESSION with everything that belongs to it; `plait undo` restores it."""
    sessions = list(dict.fromkeys(request.session(name) for name in names))
    run_for_each(request, sessions, request.archive.plan.delete, how)


def _check_session(request: Request, name: str, *, as_json: bool) -> int:
    """Print which rules a session breaks, and return the exit code."""
    session, output = request.session(name), request.output
    report = build_check_report(session.id, session.path, request.archive.check(session))
    if as_json:
        output.json(report)
    else:
        output.print_heading(request.archive.facts(session))
        if report.ok:
            output.print("no rule violations", style="green")
    if report.ok:
        return 0
    if not as_json:
        for violation in report.violations[:MOST_VIOLATIONS]:
            output.print(safe(format_problem(violation)))
        more = len(report.violations) - MOST_VIOLATIONS
        if more > 0:
            output.print(f"… and {more:,} more: `--json` lists all", style="dim")
        output.print("")
        output.print(format_count(len(report.violations), "violation"), style="bold")
        rules = Counter(violation.rule for violation in report.violations)
        width = max(len(format_number(count)) for count in rules.values())
        for rule, count in rules.most_common():
            output.print(f"  {format_number(count):>{width}}  {safe(rule)}", style="dim")
        output.print("")
        words = f"`plait repair {shell_command(session.id[:8])} --dry-run`"
        output.print_message(f"{words} shows what can be repaired", style="dim")
    return Refused.exit_code


@command(examples="plait repair latest --check\nplait repair 3f2a --dry-run\nplait repair --all")
def repair_command(
    request: Request,
    how: InPlaceOptions,
    names: tuple[str, ...] = shared.sessions,
    is_all: bool = option("--all", help="Repair every session that can be repaired."),
    check: bool = option("--check", help="Check one session against the rules; change nothing."),
) -> int:
    """Repair each SESSION so that it resumes with its full history.

    Writes a new session and does not change the old one. Problems that cannot be repaired are
    listed. `--check` exits with 1 if a rule is broken; that is common for interrupted sessions,
    which have tool calls without results.
    """
    if check:
        if len(names) != 1:
            raise UserError("`--check` takes one session", "`plait repair SESSION --check`")
        return _check_session(request, names[0], as_json=how.as_json)
    if bool(names) is is_all:
        raise UserError(
            "name sessions or use `--all`", "`plait repair SESSION`, `plait repair --all`"
        )
    plans = request.archive.plan
    sessions = list(dict.fromkeys(request.session(name) for name in names)) or [
        session for session in request.archive.sessions if plans.can_mend(session)
    ]
    if not sessions and not how.as_json:
        count = format_count(len(request.archive.sessions), "session")
        request.output.print(f"nothing to repair in {count}")
        return 0
    run = run_plans if is_all else run_for_each
    run(request, sessions, partial(plans.repair, in_place=how.in_place), how)
    return 0


@command(examples="plait compress latest --keep-last 3 --dry-run")
def compress_command(
    request: Request,
    how: InPlaceOptions,
    session: str = shared.session,
    until: str | None = option(
        "--until",
        section=OWN,
        metavar="TURN|UUID|PROMPT",
        help="The first turn to leave unchanged: a turn number, a message uuid, or text from a prompt.",
    ),
    keep_last: int | None = option(
        "--keep-last", least=1, metavar="N", help="Leave this many turns at the end unchanged."
    ),
    summariser: str | None = option(
        "--summariser",
        metavar="CMD",
        help="A command that reads a turn's answers and prints a summary; default: built-in.",
    ),
    calls: Literal["metadata", "none"] = option(
        "--calls", default="metadata", help="For each tool call, keep one line or nothing."
    ),
) -> None:
    """Summarise the older turns of SESSION to make room for new ones.

    Prompts stay unchanged; answers are summarised; each tool call becomes one line. Writes a
    new session and does not change the old one.
    """
    if (until is None) is (keep_last is None):
        raise UserError(
            "use either `--until` or `--keep-last`",
            "`plait compress SESSION --keep-last 3` leaves the last three turns unchanged",
        )
    source = request.session(session)
    plan = request.priced_archive.plan.compress(
        source,
        until=until,
        keep_last=keep_last,
        command=summariser,
        calls=calls,
        in_place=how.in_place,
    )
    run_plan(request, source, plan, how)


@command(examples="plait move ~/old/shop ~/new/shop --dry-run")
def move_command(
    request: Request,
    how: EditOptions,
    project: str = argument(),
    directory: str = argument(metavar="NEWPATH"),
    texts: bool = option("--texts", help="Also change the path in prompts and answers."),
) -> None:
    """Move the sessions of the directory PROJECT to the directory NEWPATH.

    Updates the log folder, the directory on every line, agents and other files, the prompt
    history and Claude Code's settings for the project, sub-directories included. Message texts
    stay unchanged. Move the project's own files yourself.
    """
    if project.startswith("."):
        project = str((request.settings.directory / project).resolve())
    plans = request.archive.plan.move(project, directory, texts=texts)
    if len(plans) == 1:
        run_plan(request, plans[0].source.id, plans[0], how)
        return
    by_session = {request.archive.session_at(plan.source.log.path): plan for plan in plans}
    run_plans(request, list(by_session), by_session.__getitem__, how)


@command(
    examples="plait port latest -o session.plait\nplait port session.plait --into ~/projects/shop"
)
def port_command(
    request: Request,
    how: CopyOptions,
    name: str = argument(metavar="SESSION|PROJECT|FILE", shell_complete=shared.complete_session),
    output: str | None = option("-o", "--output", metavar="FILE", help="Pack into this file."),
    into: str | None = option(
        "--into", metavar="DIR", help="Unpack FILE as sessions of this directory."
    ),
    redacted: bool = option("--redacted", help="Remove secrets and personal data."),
    strict: bool = shared.strict,
    rules: str | None = shared.rules,
) -> None:
    """Pack SESSION or PROJECT into one file, or unpack such a FILE on another machine.

    Everything that belongs to the sessions is included: agents, tool results, file backups,
    to-do lists, prompts. Unpacking adapts paths to DIR and your home folder, and overwrites
    nothing.
    """
    is_redacted = redacted or strict or bool(rules)
    if (output is None) is (into is None):
        raise UserError(
            "use either `-o` to pack or `--into` to unpack",
            "`plait port SESSION -o FILE`, `plait port FILE --into DIR`",
        )
    if output is not None:
        if how.is_proved:
            raise UserError("`--prove` works only when unpacking")
        name = request.session(name).id if name == "." else name
        redactor = load_redactor(rules, strict=strict) if is_redacted else None
        _pack(request, request.archive.plan.pack(name, Path(output), redactor=redactor), how)
        return
    if is_redacted:
        raise UserError(
            "sessions are redacted when they are packed", "`plait port SESSION -o FILE --redacted`"
        )
    plan = request.archive.plan.port(name, into or "")
    if how.is_proved and plan.session != plan.path.stem:
        raise UserError("`--prove` works only for a single session")
    run_plan(request, name, plan, how)
    if plan.unmended and not plan.steps:
        raise Refused(f"nothing was unpacked: {plan.unmended[0].sentence}")


def _pack(request: Request, plan: "PackPlan", how: EditOptions) -> None:
    packed = None if how.is_dry else plan.write()
    output, contents = request.output, plan.load
    if how.as_json:
        output.json(build_pack_report(plan, is_done=packed is not None))
        return
    label = contents.directory if contents.is_project else contents.subjects[0].id
    output.print(safe_line(label or contents.folder.name), style="bold")
    lines = format_count(plan.size.lines, "line")
    if plan.redacted:
        lines += f", {plan.redacted} of them redacted"
    sessions = format_count(len(contents.subjects), "session")
    output.print(f"{sessions}, {lines}, {format_bytes(plan.size.bytes)} of logs", style="dim")
    output.print("")
    for note in plan.notes:
        output.print(safe(f"note: {note}"))
    output.print("")
    if packed is None:
        output.print("nothing was written; leave out `--dry-run` to pack", style="bold")
        return
    size = format_bytes(plan.path.stat().st_size)
    output.print(f"packed {format_count(len(packed.files), 'file')}, {size}", style="bold green")
    output.print_unwrapped(f"  file    {safe_line(str(plan.path))}")
    line = shell_command("plait", "port", str(plan.path), "--into", "DIR")
    output.print_unwrapped(f"  unpack  {line}")


@command(examples="plait undo\nplait undo --list")
def undo_command(
    request: Request,
    id_: str | None = argument(metavar="[ID]"),
    is_listed: bool = option("--list", help="List the edits, newest first."),
    is_finished: bool = option("--finish", help="Complete an interrupted edit."),
    is_forgotten: bool = option(
        "--forget", help="Permanently delete the backup of edit ID, or of `all` edits."
    ),
    is_forced: bool = option("--force", help="Undo even if a file has changed since the edit."),
    as_json: bool = shared.as_json,
) -> None:
    """Undo the last edit, or the edit with this ID: restore the previous bytes, times and modes.

    Only what the edit changed is restored. If a file has changed since, `--force` is needed.
    """
    output, archive = request.output, request.archive
    if is_listed + is_finished + is_forgotten > 1:
        raise UserError("use only one of `--list`, `--finish` and `--forget`")
    if is_listed:
        _list_edits(request, as_json=as_json)
        return
    if is_forgotten:
        if id_ is None:
            raise UserError(
                "say which edit's backup to delete", "`plait undo ID --forget`, or `all`"
            )
        journals = archive.journals
        ids = [edit.id for edit in journals.edits()] if id_ == "all" else [id_]
        forgotten = [journals.forget(name).id for name in ids]
        if as_json:
            output.json({"forgotten": forgotten})
        else:
            count = format_count(len(forgotten), "edit")
            output.print(f"{count} forgotten; undo is no longer possible")
        return
    edit = archive.journals.finish(id_) if is_finished else archive.undo(id_, force=is_forced)
    entry = build_edit_row(edit)
    if as_json:
        output.json(entry)
        return
    done = "finished" if is_finished else "undone"
    name = f"{entry.operation} of {safe_line(short_id(entry.session))}"
    output.print(f"{done}: {name}", style="bold green")
    output.print_unwrapped(safe_line(entry.path), style="dim")
    earlier = 0 if is_finished else sum(other.state == "done" for other in archive.edits())
    if earlier:
        more = format_count(earlier, "earlier edit")
        output.print_unwrapped(f"{more}: {shell_command('plait', 'undo', '--list')}", style="dim")


def _list_edits(request: Request, *, as_json: bool) -> None:
    output = request.output
    entries = [build_edit_row(edit) for edit in request.archive.edits()]
    if as_json:
        output.json(entries)
        return
    if not entries:
        output.print("no edits")
        return
    width, time = max(len(entry.id) for entry in entries), now()
    with output.paged():
        for entry in entries:
            when = parse_time(entry.when)
            text = make_text(f"{entry.id:<{width}}  ", style="bold" if entry.can_undo else "dim")
            text.append(f"{format_entry(entry):<{OPERATION_WIDTH}}", style="not bold")
            text.append(f"  {short_id(entry.session)}  ", style="not bold dim")
            text.append(format_age(when, time) if when else "", style="not bold dim")
            if text.cell_len > output.width:
                text = make_text(shorten_to_width(text.plain, output.width))
            output.print_lines([text])
        output.print("")
        output.print(format_count(len(entries), "edit"), style="dim")
