"""`plait lake tidy`: small files to few, and what does not hold any more to nothing."""

from datetime import timedelta

import click

from plait.cli.lake.options import lake_option, opened_lake
from plait.cli.options import Request, global_options, json_option
from plait.cli.text import counted

HOURS = 24


@click.command("tidy")
@lake_option
@click.option(
    "--older",
    "hours",
    metavar="HOURS",
    type=click.IntRange(min=0),
    default=HOURS,
    show_default=True,
    help="Only what was written so long ago; below 12 nobody else may build meanwhile.",
)
@json_option
@global_options
@click.pass_obj
def command(request: Request, url: str | None, hours: int, as_json: bool) -> None:
    """Join the small files of a lake, and delete what holds no more.

    Every building leaves files of its own, and the rows of sessions that were built again. What
    is asked of a lake has the same answers before and after, and sooner.
    """
    import msgspec

    tidied = opened_lake(request, url).tidy(timedelta(hours=hours))
    if as_json:
        request.output.json(msgspec.to_builtins(tidied))
        return
    said = [
        f"{counted(tidied.joined, 'file')} joined to {tidied.made}" if tidied.joined else "",
        f"{counted(tidied.rows, 'row')} left out" if tidied.rows else "",
        f"{counted(tidied.deleted, 'file')} deleted" if tidied.deleted else "",
    ]
    told = ", ".join(one for one in said if one)
    request.output.print(told or f"nothing to tidy that is older than {counted(hours, 'hour')}")
