"""`plait lake forget`: all that came from a source, out of a lake."""

import click

from plait.cli.lake.options import lake_option, opened_lake
from plait.cli.options import Request, global_options, json_option
from plait.cli.text import counted, safe_line
from plait.errors import UserError


@click.command("forget")
@click.argument("source", metavar="SOURCE")
@lake_option
@click.option("--yes", "is_sure", is_flag=True, help="Do it; without this it is only shown.")
@json_option
@global_options
@click.pass_obj
def command(request: Request, source: str, url: str | None, is_sure: bool, as_json: bool) -> None:
    """Take all sessions of a source out of a lake.

    Nobody finds them from then on. Their rows are deleted when the lake is tidied.
    """
    lake = opened_lake(request, url)
    sources = sorted(set(lake.known()["source"].to_pylist()))
    if source not in sources:
        names = ", ".join(map(safe_line, sources)) or "nothing"
        raise UserError(f"the lake has nothing from '{safe_line(source)}'", f"it has {names}")
    count = lake.known(source).num_rows
    if is_sure:
        lake.forget_source(source)
    output = request.output
    if as_json:
        output.json({"source": source, "sessions": count, "forgotten": is_sure})
        return
    told = f"{counted(count, 'session')} from '{safe_line(source)}'"
    if is_sure:
        output.print(f"forgotten: {told}", style="bold")
        output.print("`plait lake tidy --older 0` deletes their rows now", style="dim")
    else:
        output.print(f"{told} to forget", style="bold")
        output.print("nothing was changed: add `--yes` to do it", style="dim")
