"""`plait completion`: a shell's name to the script that completes commands and sessions."""

import click
from click.shell_completion import get_completion_class

from plait.cli.output import write_bytes

WHERE = {
    "bash": "~/.bashrc",
    "zsh": "~/.zshrc",
    "fish": "~/.config/fish/completions/plait.fish",
}


@click.command("completion")
@click.argument("shell", type=click.Choice(list(WHERE)))
def command(shell: str) -> None:
    """Print the script that completes `plait` in your shell.

    For example: plait completion bash >> ~/.bashrc
    """
    from plait.cli.app import app

    kind = get_completion_class(shell)
    assert kind is not None  # the choices are the shells that click knows
    script = kind(app, {}, "plait", "_PLAIT_COMPLETE").source()
    write_bytes(script.encode() + b"\n")
