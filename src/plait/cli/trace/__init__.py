"""`plait trace`: conversations as spans, shown here or sent to those who collect them.

Subcommands are imported when they are called.
"""

import click

from plait.cli.app import LazyGroup

SUBCOMMANDS = {
    "flush": ("plait.cli.trace.waiting:flush_command", "Send what waits, now."),
    "send": ("plait.cli.trace.send", "Send traces of sessions, or write them to a file."),
    "show": ("plait.cli.trace.show", "Show the spans of a session as a waterfall."),
    "status": ("plait.cli.trace.waiting:status_command", "Show what was sent, and what waits."),
}


@click.group("trace", cls=LazyGroup, table=SUBCOMMANDS)
def command() -> None:
    """Show sessions as traces, or send them to Langfuse or any OTLP collector.

    A trace is a turn: the prompt, the responses of the model, their calls of tools, the agents
    that those sent out, with times, tokens and cost.
    """
