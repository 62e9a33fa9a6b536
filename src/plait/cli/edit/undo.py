"""`plait undo`: an edit to the bytes that were there before it, and the list of edits."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import click

from plait.cli.options import Request, global_options, json_option
from plait.cli.output import Output
from plait.cli.text import ago, clipped, counted, now, safe_line, short, to_type
from plait.errors import UserError

if TYPE_CHECKING:
    from rich.text import Text

    from plait.view.edits import EditEntry

ALL = "all"
WIDEST = 24


@click.command("undo")
@click.argument("id_", metavar="[ID]", required=False)
@click.option("--list", "is_listed", is_flag=True, help="List the edits, the newest first.")
@click.option("--finish", "is_finished", is_flag=True, help="Complete one that was cut off.")
@click.option(
    "--forget", "is_forgotten", is_flag=True, help="Delete for ever what it kept; `all` means all."
)
@click.option("--force", "is_forced", is_flag=True, help="Even where a file has changed since.")
@json_option
@global_options
@click.pass_obj
def undo_command(
    request: Request,
    id_: str | None,
    is_listed: bool,
    is_finished: bool,
    is_forgotten: bool,
    is_forced: bool,
    as_json: bool,
) -> None:
    """Bring back the bytes, times and modes of before an edit: the last one, or the one named.

    What is brought back is what the edit changed; where a file has changed since, it is refused.
    """
    if is_listed + is_finished + is_forgotten > 1:
        raise UserError("say one of `--list`, `--finish` and `--forget`")
    if is_listed:
        _list(request, as_json=as_json)
    elif is_forgotten:
        _forget(request, id_, as_json=as_json)
    else:
        _bring_back(request, id_, is_finished=is_finished, force=is_forced, as_json=as_json)


def _list(request: Request, *, as_json: bool) -> None:
    from plait.archive import entry_of

    found = [entry_of(edit) for edit in request.archive.edits()]
    if as_json:
        request.output.json(found)
        return
    if not found:
        request.output.print("nothing was changed")
        return
    with request.output.paged():
        request.output.lines(_rows(found, request.output))
        request.output.print("")
        request.output.print(counted(len(found), "edit"), style="dim")


def _rows(found: Sequence["EditEntry"], output: Output) -> Iterator["Text"]:
    from rich.text import Text

    from plait.record.time import moment
    from plait.view.edits import entry_words

    width = max(len(one.id) for one in found)
    time = now()
    for one in found:
        when = moment(one.when)
        text = Text(f"{one.id:<{width}}  ", style="bold" if one.can_undo else "dim")
        text.append(f"{entry_words(one):<{WIDEST}}", style="not bold")
        text.append(f"  {short(one.session)}  ", style="not bold dim")
        text.append(ago(when, time) if when else "", style="not bold dim")
        yield Text(clipped(text.plain, output.width)) if text.cell_len > output.width else text


def _forget(request: Request, id_: str | None, *, as_json: bool) -> None:
    if id_ is None:
        raise UserError("say which edit is forgotten", "`plait undo ID --forget`, or `all`")
    journals = request.archive.journals
    names = [one.id for one in journals.edits()] if id_ == ALL else [id_]
    gone = [journals.forget(name) for name in names]
    if as_json:
        request.output.json({"forgotten": [one.id for one in gone]})
    else:
        words = "can no longer be undone"
        request.output.print(f"{counted(len(gone), 'edit')} forgotten: {words}")


def _bring_back(
    request: Request, id_: str | None, *, is_finished: bool, force: bool, as_json: bool
) -> None:
    from plait.archive import entry_of

    archive = request.archive
    edit = archive.journals.finish(id_) if is_finished else archive.undo(id_, force=force)
    entry = entry_of(edit)
    if as_json:
        request.output.json(entry)
        return
    done = "finished" if is_finished else "undone"
    name = f"{entry.operation} of {safe_line(short(entry.session))}"
    request.output.print(f"{done}: {name}", style="bold green")
    request.output.unbroken(safe_line(entry.path), style="dim")
    if not is_finished:
        rest = sum(one.state == "done" for one in archive.edits())
        if rest:
            more = counted(rest, "earlier edit")
            request.output.unbroken(f"{more}: {to_type('plait', 'undo', '--list')}", style="dim")
