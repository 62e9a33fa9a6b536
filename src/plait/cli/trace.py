"""`plait trace`: conversations as spans, shown here or sent to those who collect them.

Each subcommand is a module of its own, imported when it is called.
"""

from importlib import import_module

import click

SUBCOMMANDS = {
    "flush": ("plait.cli.trace_flush", "Send what waits, now."),
    "send": ("plait.cli.trace_send", "Send traces of sessions, or write them to a file."),
    "show": ("plait.cli.trace_show", "Show the spans of a session as a waterfall."),
    "status": ("plait.cli.trace_status", "Show what was sent, and what waits."),
}


class Subcommands(click.Group):
    """A group whose commands are loaded one by one."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(SUBCOMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in SUBCOMMANDS:
            return None
        command: click.Command = import_module(SUBCOMMANDS[cmd_name][0]).command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, help_) for name, (_, help_) in SUBCOMMANDS.items()])


@click.group("trace", cls=Subcommands)
def command() -> None:
    """Show sessions as traces, or send them to Langfuse or any OTLP collector.

    A trace is a turn: the prompt, the responses of the model, their calls of tools, the agents
    that those sent out, with times, tokens and cost.
    """
