"""`plait keep verify`: the store to what is damaged in it, each with the sessions it is in."""

from typing import TYPE_CHECKING, Any

import click

from plait.cli.options import Request, global_options, json_option
from plait.cli.text import counted, safe_line

if TYPE_CHECKING:
    from plait.keep import Damage

SHORT = 16


@click.command("verify")
@json_option
@global_options
@click.pass_context
def command(ctx: click.Context, as_json: bool) -> None:
    """Read all that is kept once, and name what is damaged.

    The exit code is 1 where something is. What is not damaged can be restored all the same.
    """
    request: Request = ctx.obj
    with request.output.watched("reading the store") as watch:
        report = (lambda now: watch(now.bytes, now.of_bytes)) if watch else None
        damages = request.archive.keep.verify(report=report)
    if as_json:
        request.output.json({"damaged": [_as_object(one) for one in damages]})
    elif damages:
        _print_damages(request, damages)
    else:
        size = request.archive.keep.store.size()
        request.output.print(
            f"all is well: {counted(size.sessions, 'session')}, {counted(size.files, 'file')}",
            style="green",
        )
    if damages:
        ctx.exit(1)


def _as_object(one: "Damage") -> dict[str, Any]:
    return {
        "block": one.block,
        "where": one.where,
        "why": one.why,
        "sessions": list(one.sessions),
        "files": [file.path for file in one.files],
    }


def _print_damages(request: Request, damages: "tuple[Damage, ...]") -> None:
    output = request.output
    for one in damages:
        name = f"block {one.block[:SHORT]} in " if one.block else ""
        output.print(f"{name}{safe_line(one.where)}: {safe_line(one.why)}", style="bold red")
        for file in one.files:
            output.unbroken(f"  {safe_line(file.session)}  {safe_line(file.path)}")
    sessions = {name for one in damages for name in one.sessions}
    output.print(
        f"{counted(len(damages), 'damage')} in {counted(len(sessions), 'session')}: "
        "`plait keep` mends those that are still at their source",
        style="bold",
    )
