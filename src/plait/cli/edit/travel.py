"""`plait move` and `plait port`: sessions to another directory, into a file, onto this machine."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from plait.cli.edit.carry_out import (
    Manner,
    carry_out_all,
    carry_out_as,
    edit_options,
    removal_options,
)
from plait.cli.options import Request, complete_session, rules_option, strict_option
from plait.cli.text import counted, safe, safe_line, size, to_type
from plait.errors import Refused, UserError

if TYPE_CHECKING:
    from plait.edit.packing import Packing
    from plait.redact import Redactor

HERE = "."


@click.command("move")
@click.argument("project")
@click.argument("directory", metavar="NEWPATH")
@click.option("--texts", is_flag=True, help="Change the path in what was said, too.")
@removal_options
@click.pass_obj
def move_command(
    request: Request, project: str, directory: str, texts: bool, manner: Manner
) -> None:
    """Let the sessions of PROJECT, a directory, be those of NEWPATH.

    Their folder, the directory on every line, agents and what lies beside, the list of prompts and
    what Claude Code knows of the project follow, and so do directories within it. What is on the
    disk you move yourself; what was said stays as it was said.
    """
    name = _directory(request, project) if project.startswith(HERE) else project
    plans = request.archive.plan.move(name, directory, texts=texts)
    if len(plans) == 1:
        carry_out_as(request, plans[0].source.id, plans[0], manner)
        return
    by_session = {request.archive.session_at(one.source.log.path): one for one in plans}
    carry_out_all(request, list(by_session), by_session.__getitem__, manner)


def _directory(request: Request, name: str) -> str:
    """Returns a directory that is named from where one stands."""
    return str((request.settings.directory / name).resolve())


@click.command("port")
@click.argument("name", metavar="SESSION|PROJECT|FILE", shell_complete=complete_session)
@click.option("-o", "--output", "output", metavar="FILE", help="Pack it into this file.")
@click.option("--into", metavar="DIR", help="Bring the sessions of FILE to this directory.")
@click.option("--redacted", is_flag=True, help="Take out what should not be shared.")
@strict_option
@rules_option
@edit_options
@click.pass_obj
def port_command(
    request: Request,
    name: str,
    output: str | None,
    into: str | None,
    redacted: bool,
    strict: bool,
    rules: str | None,
    manner: Manner,
) -> None:
    """Pack SESSION or PROJECT into one file, or bring the sessions of such a FILE to DIR.

    All that belongs to them comes along: agents, results, backups of files, lists, prompts. On the
    other machine paths are those of DIR and of its home; what is there already stays as it is.
    """
    if (output is None) is (into is None):
        raise UserError(
            "say either where to pack it or where to bring it",
            "`plait port SESSION -o FILE`, `plait port FILE --into DIR`",
        )
    if output is not None:
        redactor = _redactor(rules, strict) if redacted or strict or rules else None
        _pack(request, name, Path(output), redactor, manner)
    elif redacted or strict or rules:
        raise UserError("a file is redacted when it is packed", "`plait port SESSION -o FILE`")
    else:
        _bring(request, name, into or "", manner)


def _redactor(rules: str | None, strict: bool) -> "Redactor":
    from plait.cli.redact import redactor_with

    return redactor_with(rules, strict=strict)


def _pack(
    request: Request, name: str, file: Path, redactor: "Redactor | None", manner: Manner
) -> None:
    from plait.archive import packing_report

    if manner.is_proved:
        raise UserError("`--prove` resumes what is brought, not what is packed")
    packing = request.archive.plan.pack(_named(request, name), file, redactor=redactor)
    packed = None if manner.is_dry else packing.write()
    if manner.as_json:
        request.output.json(packing_report(packing, is_done=packed is not None))
        return
    _print_packing(request, packing)
    if packed is None:
        request.output.print("nothing was written: without `--dry-run` it is done", style="bold")
        return
    said = f"packed, {counted(len(packed.files), 'file')}, {size(file.stat().st_size)}"
    request.output.print(said, style="bold green")
    request.output.unbroken(f"  file    {safe_line(str(file))}")
    line = to_type("plait", "port", str(file), "--into", "DIR")
    request.output.unbroken(f"  bring   {line}")


def _named(request: Request, name: str) -> str:
    return request.session(name).id if name == HERE else name


def _print_packing(request: Request, packing: "Packing") -> None:
    output, load = request.output, packing.load
    is_project = load.is_project
    name = load.directory if is_project else load.subjects[0].id
    output.print(safe_line(name or load.folder.name), style="bold")
    lines = counted(packing.size.lines, "line")
    if packing.redacted:
        lines += f", {packing.redacted} of them redacted"
    sessions = counted(len(load.subjects), "session")
    output.print(f"{sessions}, {lines}, {size(packing.size.bytes)} of logs", style="dim")
    output.print("")
    for note in packing.notes:
        output.print(safe(f"note: {note}"))
    output.print("")


def _bring(request: Request, name: str, into: str, manner: Manner) -> None:
    plan = request.archive.plan.port(name, into)
    if manner.is_proved and plan.session != plan.path.stem:
        raise UserError("`--prove` resumes one session", "`plait resume SESSION` goes on with any")
    carry_out_as(request, name, plan, manner)
    if plan.unmended and not plan.steps:
        raise Refused(f"nothing was brought: {plan.unmended[0].sentence}")
