"""`plait config` and `plait completion`: the settings in effect, and the script for a shell."""

import click

from plait.cli.options import Request, command, json_option
from plait.cli.output import select_fields, write_bytes

WHERE = {
    "bash": "~/.bashrc",
    "zsh": "~/.zshrc",
    "fish": "~/.config/fish/completions/plait.fish",
}


@command(
    "config",
    json_option,
    examples=("plait config\nplait config --json"),
)
def config_command(request: Request, as_json: bool) -> None:
    """Show the settings in effect and where Plait stores its data.

    Only commands that edit or continue sessions write below a root.
    """
    from plait.cli.settings import config_file
    from plait.line import default_jobs

    settings = request.settings
    shown = {
        "config": config_file(),
        "roots": settings.roots,
        **select_fields(settings, "index", "cache", "data", "state", "pager", "colour"),
        **select_fields(settings, "prices", "claude"),
        "jobs": settings.jobs or default_jobs(),
    }
    if as_json:
        request.output.json(shown)
        return
    table = request.output.table("setting", "value", wide="value")
    for name, value in shown.items():
        lines = value if isinstance(value, tuple) else (value or "none",)
        table.add_row(name, "\n".join(map(str, lines)))
    request.output.print(table)


@click.command("completion")
@click.argument("shell", type=click.Choice(list(WHERE)))
def completion_command(shell: str) -> None:
    """Print the completion script for your shell.

    For example: plait completion bash >> ~/.bashrc
    """
    from click.shell_completion import get_completion_class

    from plait.cli.app import app

    kind = get_completion_class(shell)
    assert kind is not None  # the choices are the shells that click knows
    script = kind(app, {}, "plait", "_PLAIT_COMPLETE").source()
    write_bytes(script.encode() + b"\n")
