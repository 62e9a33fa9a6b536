"""`plait export`: sessions to transcripts that can be kept, read anywhere and shared."""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click
from msgspec.structs import replace

from plait.archive import Session
from plait.archive.collector import without_collector
from plait.archive.export.plan import (
    EXPORTERS,
    MANIFEST,
    REPORT,
    ExportPlan,
    File,
    export,
    manifest_of,
)
from plait.cli.export_files import prepare, write, write_file
from plait.cli.options import Request, complete_session, filter_options, global_options, json_option
from plait.cli.output import write_bytes
from plait.cli.selection import required, selected
from plait.cli.text import counted, in_words, size
from plait.cli.usage_prices import prices_with
from plait.conversation.depth import DEPTHS
from plait.errors import UserError
from plait.view.transcript.model import Manner

if TYPE_CHECKING:
    from plait.redact import Redactor

F = TypeVar("F", bound=Callable[..., Any])
STDOUT = "-"
FORMATS = tuple(EXPORTERS)


def what_options(function: F) -> F:
    """Adds what says which sessions, and how much of them."""
    for option in (
        click.option("--no-tools", is_flag=True, help="Leave out calls and their results."),
        click.option("--no-thinking", is_flag=True, help="Leave out the model's thinking."),
        click.option(
            "--branches",
            type=click.Choice(["active", "all"]),
            default="all",
            show_default=True,
            help="Every path, or only those that Claude Code would go on with.",
        ),
        click.option(
            "--depth",
            type=click.Choice(DEPTHS),
            help="How much to tell, each with all before it. Without it: up to the tools; in pages "
            "everything, what is long folded.",
        ),
        click.option("--all", "is_all", is_flag=True, help="Every session there is."),
    ):
        function = option(function)
    return function


def form_options(function: F) -> F:
    """Adds what says how it is written."""
    for option in (
        click.option("--front-matter", is_flag=True, help="Begin with YAML, as Obsidian reads it."),
        click.option("--single-file", is_flag=True, help="Pages that need no other file."),
        click.option("--combined", is_flag=True, help="One file for everything."),
        click.option(
            "--agents",
            type=click.Choice(["inline", "files"]),
            default="inline",
            show_default=True,
            help="Agents where they were sent out, or in files of their own.",
        ),
        click.option("--simple", is_flag=True, help="One line a call."),
        click.option(
            "--format",
            "-f",
            "format_",
            type=click.Choice(FORMATS),
            default="md",
            show_default=True,
            help="Markdown, pages, plain text, JSON, or the records as they are.",
        ),
    ):
        function = option(function)
    return function


@click.command("export")
@click.argument("names", metavar="[SESSION|PROJECT]...", nargs=-1, shell_complete=complete_session)
@what_options
@filter_options
@form_options
@click.option("--output", "-o", metavar="DIR", help="Where to: a folder, or `-` for stdout.")
@click.option("--turn", metavar="N[-M]", help="Only this turn of one session, or these.")
@click.option("--copy", "is_copied", is_flag=True, help="Copy the turn, or all, to the clipboard.")
@click.option("--no-redact", is_flag=True, help="Leave secrets, names and paths as they are.")
@click.option("--rules", metavar="FILE", help="Your own rules of what to replace.")
@click.option("--force", is_flag=True, help="Write into a folder that holds other files.")
@json_option
@global_options
@click.pass_obj
def command(request: Request, /, **asked: Any) -> None:
    """Write transcripts of sessions, one for each path.

    What should not be shared is replaced, and a report beside the output says what was:
    secrets, user names in paths, hosts, addresses, accounts.
    """
    check(asked)
    sessions = required(chosen(request, asked))
    if asked["no_redact"]:
        warn(request)
    plan = plan_of(sessions, asked)
    plan.pricing = prices_with(request.settings.prices)
    with without_collector():
        if asked["turn"] or asked["is_copied"] or asked["output"] == STDOUT:
            hand_over(request, plan, asked)
        else:
            write_out(request, plan, asked)


def check(asked: dict[str, Any]) -> None:
    """Refuses what does not say enough, or too much."""
    if not asked["names"] and not asked["is_all"] and not asked["project"]:
        raise UserError(
            "nothing says what to export",
            "name sessions or a project, or add `--all`",
            "`plait export latest -o transcripts` exports the newest session",
        )
    if not (asked["output"] or asked["turn"] or asked["is_copied"]):
        raise UserError("nothing says where to", "add `-o DIR`, or `-o -` for stdout")
    if asked["turn"] and asked["format_"] == "jsonl":
        raise UserError("records are exported by paths, not by turns", "leave out `--turn`")
    if asked["format_"] == "html":
        check_pages(asked)
    elif asked["single_file"]:
        raise UserError("`--single-file` is for pages", "add `--format html`")


def check_pages(asked: dict[str, Any]) -> None:
    """Refuses what pages cannot be: one text, or a part of one."""
    for name, option in (("combined", "--combined"), ("turn", "--turn"), ("is_copied", "--copy")):
        if asked[name]:
            hint = "`--single-file` gives pages that need no other file"
            raise UserError(f"pages are written to a folder, not with `{option}`", hint)
    if asked["output"] == STDOUT:
        raise UserError("pages are written to a folder, not to stdout", "add `-o DIR`")


def chosen(request: Request, asked: dict[str, Any]) -> list[Session]:
    """Returns the sessions that are meant, each once, the oldest first."""
    filters = {name: asked[name] for name in ("project", "since", "until")}
    found: dict[Path, Session] = {}
    for name in asked["names"] or (None,):
        found |= {one.path: one for one in selected(request, name, **filters)}
    return sorted(found.values(), key=lambda one: (one.modified, str(one.path)))


def warn(request: Request) -> None:
    """Says loudly that nothing is hidden."""
    words = "warning: nothing is redacted: secrets, names and paths are written as they are"
    request.output.stderr.print(words, style="bold red")


def plan_of(sessions: list[Session], asked: dict[str, Any]) -> ExportPlan:
    """Returns what is to be done."""
    is_one_file = asked["combined"] or asked["output"] == STDOUT or asked["is_copied"]
    return ExportPlan(
        tuple(sessions),
        Manner(
            depth=asked["depth"] or "tools",
            has_thinking=not asked["no_thinking"],
            has_tools=not asked["no_tools"],
            is_simple=asked["simple"],
            agents=asked["agents"],
            has_front_matter=asked["front_matter"],
        ),
        asked["branches"],
        is_one_file,
        None if asked["no_redact"] else redactor_of(asked["rules"]),
        page_depth=asked["depth"] or ("answers" if asked["no_tools"] else None),
        is_single=asked["single_file"],
    )


def redactor_of(rules: str | None) -> "Redactor":
    """Returns what replaces that which should not be shared."""
    from plait.cli.redact import rules_in
    from plait.redact import Redactor

    return Redactor(rules_in(rules))


def write_out(request: Request, plan: ExportPlan, asked: dict[str, Any]) -> None:
    """Writes an export into a folder and says what was written."""
    folder = Path(asked["output"])
    prepare(folder, is_forced=asked["force"])
    sizes = write(folder, shown(request, export(plan, asked["format_"])))
    if asked["as_json"]:
        request.output.json(manifest_of(plan, asked["format_"], sizes))
        return
    sessions = len({(entry.project, entry.session) for entry in plan.written})
    told = f"{counted(len(plan.written), 'transcript')} of {counted(sessions, 'session')}"
    if asked["format_"] == "html":
        told = f"pages of {counted(sessions, 'session')}"
    request.output.print(f"{told} in {folder} ({size(sum(sizes.values()))})")
    if asked["format_"] == "html":
        request.output.print(f"open {folder / 'index.html'}", style="dim")
    if plan.redactor:
        say_redacted(request, plan, f"{folder / REPORT}")


def say_redacted(request: Request, plan: ExportPlan, where: str) -> None:
    """Says what was replaced, and where the report of it is."""
    report = plan.redactor.report if plan.redactor else None
    kinds = in_words(report.kinds) if report else ""
    request.output.note(f"redacted: {kinds}; see {where}" if kinds else "nothing was redacted")


def shown(request: Request, files: Iterable[File]) -> Iterator[File]:
    """Yields files, and tells on a screen how far it is."""
    console = request.output.stderr
    if not console.is_terminal:
        yield from files
        return
    with console.status("exporting") as status:
        for count, file in enumerate(files, 1):
            status.update(f"exporting: {counted(count, 'file')}")
            yield file


def hand_over(request: Request, plan: ExportPlan, asked: dict[str, Any]) -> None:
    """Writes everything, or some turns, to stdout, to the clipboard or to a folder."""
    data = turns(plan, asked) if asked["turn"] else everything(plan, asked)
    if asked["is_copied"]:
        from plait.cli.clipboard import copied

        by = copied(data)
        if by:
            request.output.note(f"copied {size(len(data))} by {by}")
            return
        request.output.note("there is no clipboard here: this is what would be in it")
    if asked["output"] in (None, STDOUT):
        write_bytes(data)
    else:
        folder = Path(asked["output"])
        prepare(folder, is_forced=asked["force"])
        name = f"{plan.written[0].name}_turn{asked['turn']}.{asked['format_']}"
        write_file(folder / name, data)
    if plan.redactor and plan.redactor.report:
        request.output.note(f"redacted: {in_words(plan.redactor.report.kinds)}")


def everything(plan: ExportPlan, asked: dict[str, Any]) -> bytes:
    """Returns all transcripts as one file."""
    beside = (REPORT, MANIFEST)
    return b"".join(d for name, d in export(plan, asked["format_"]) if name not in beside)


def turns(plan: ExportPlan, asked: dict[str, Any]) -> bytes:
    """Returns some turns of one session's active path."""
    from plait.archive.export.plan import in_bytes
    from plait.cli.show_choice import chosen_turns
    from plait.view.transcript.json_form import json_of
    from plait.view.transcript.markdown import text_of, turns_of
    from plait.view.transcript.plain import plain_turns

    if len(plan.sessions) > 1:
        raise UserError("`--turn` is of one session", f"{len(plan.sessions)} were named")
    plan.learn()
    plan.branches = "active"
    transcript = next(iter(plan.transcripts()))
    told = transcript.conversation
    kept = replace(told, turns=chosen_turns(told, asked["turn"]))
    part = replace(transcript, conversation=kept, unnamed=())
    match asked["format_"]:
        case "txt":
            return in_bytes("\n".join(plain_turns(part, plan.manner)).lstrip("\n") + "\n")
        case "json":
            return json_of(part, plan.manner) + b"\n"
        case _:
            return in_bytes(text_of(turns_of(part, plan.manner)))
