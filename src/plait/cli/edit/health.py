"""`plait check` and `plait repair`: a session to the rules that it breaks, and to a mended one."""

from collections import Counter
from functools import partial

import click

from plait.cli.edit.carry_out import (
    Manner,
    carry_out,
    carry_out_all,
    edit_options,
    in_place_option,
)
from plait.cli.options import (
    Request,
    complete_session,
    global_options,
    json_option,
    session_argument,
)
from plait.cli.output import Output
from plait.cli.text import counted, number, safe, to_type
from plait.errors import Refused, UserError

MOST_SHOWN = 20


@click.command("check")
@session_argument
@json_option
@global_options
@click.pass_context
def check_command(ctx: click.Context, session: str, as_json: bool) -> None:
    """Check SESSION by the rules for what Plait writes.

    Exits with 1 where a rule is broken. Sessions that Claude Code wrote may well break some: an
    interrupted one has calls without results.
    """
    from plait.archive import check_report
    from plait.view.edits import rule_words

    request = ctx.find_object(Request) or Request()
    found = request.session(session)
    report = check_report(found.id, found.path, request.archive.check(found))
    if as_json:
        request.output.json(report)
    else:
        request.output.heading(request.archive.facts(found))
        if report.ok:
            request.output.print("no rule is broken", style="green")
        else:
            rules = Counter(one.rule for one in report.violations)
            lines = [rule_words(one) for one in report.violations]
            _print_broken(request.output, rules, lines)
            line = f"`plait repair {to_type(found.id[:8])} --dry-run`"
            request.output.print("")
            request.output.say(f"{line} shows what can be mended", style="dim")
    if not report.ok:
        ctx.exit(Refused.exit_code)


def _print_broken(output: Output, rules: Counter[str], lines: list[str]) -> None:
    for line in lines[:MOST_SHOWN]:
        output.print(safe(line))
    if len(lines) > MOST_SHOWN:
        output.print(f"… {counted(len(lines) - MOST_SHOWN, 'more')} with `--json`", style="dim")
    output.print("")
    output.print(counted(len(lines), "violation"), style="bold")
    width = max(len(number(count)) for count in rules.values())
    for rule, count in rules.most_common():
        output.print(f"  {number(count):>{width}}  {safe(rule)}", style="dim")


@click.command("repair")
@click.argument("names", metavar="[SESSION]...", nargs=-1, shell_complete=complete_session)
@click.option("--all", "is_all", is_flag=True, help="Every session that can be mended.")
@in_place_option
@edit_options
@click.pass_obj
def repair_command(
    request: Request, names: tuple[str, ...], is_all: bool, in_place: bool, manner: Manner
) -> None:
    """Mend each SESSION so that it resumes with all of its history.

    Writes a new session and leaves the old one as it is. Nothing is written where nothing is wrong;
    what cannot be mended is said.
    """
    if bool(names) is is_all:
        raise UserError(
            "say either which sessions or `--all`", "`plait repair SESSION`, `plait repair --all`"
        )
    plans = request.archive.plan
    found = list(dict.fromkeys(request.session(name) for name in names))
    if len(found) == 1:
        carry_out(request, found[0], plans.repair(found[0], in_place=in_place), manner)
        return
    broken = found or [one for one in request.archive.sessions if plans.can_mend(one)]
    if not broken and not manner.as_json:
        looked_at = counted(len(request.archive.sessions), "session")
        request.output.print(f"nothing to mend in {looked_at}")
        return
    carry_out_all(request, broken, partial(plans.repair, in_place=in_place), manner)
