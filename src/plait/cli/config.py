"""`plait config`: the settings in force to a list."""

import click

from plait.cli.options import Request, global_options, json_option


@click.command("config")
@json_option
@global_options
@click.pass_obj
def command(request: Request, as_json: bool) -> None:
    """Show the settings in force, and where Plait keeps things.

    Nothing is ever written under a root except by commands that edit or continue sessions.
    """
    from plait.cli.settings import config_file

    settings = request.settings
    shown = {
        "config": str(config_file()),
        "roots": [str(root) for root in settings.roots],
        "index": str(settings.index),
        "cache": str(settings.cache),
        "data": str(settings.data),
        "state": str(settings.state),
        "pager": settings.pager,
        "colour": settings.colour,
        "prices": str(settings.prices) if settings.prices else None,
    }
    if as_json:
        request.output.json(shown)
        return
    table = request.output.table("setting", "value", wide="value")
    for name, value in shown.items():
        table.add_row(name, "\n".join(value) if isinstance(value, list) else value or "none")
    request.output.print(table)
