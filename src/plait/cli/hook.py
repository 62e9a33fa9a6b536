"""`plait hook`: Claude Code's hooks to traces that are sent as you work.

Each subcommand is a module of its own, imported when it is called.
"""

from importlib import import_module

import click

from plait.trace.hook.event import EVENTS

SUBCOMMANDS = {
    "install": ("plait.cli.hook_install", "Add the hooks to Claude Code's settings."),
    "uninstall": ("plait.cli.hook_uninstall", "Remove them again."),
    "status": ("plait.cli.hook_status", "Show where they are installed, and what they do."),
}
HIDDEN = {"work": "plait.cli.hook_work"}
MEANINGS = {
    "stop": "The model has come to rest.",
    "session-end": "The session has ended.",
    "subagent-stop": "An agent is done.",
    "pre-compact": "The conversation is about to be compacted.",
}


class Subcommands(click.Group):
    """A group whose commands are loaded one by one."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*SUBCOMMANDS, *EVENTS]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name in EVENTS:
            return event_command(cmd_name)
        home = SUBCOMMANDS.get(cmd_name, (HIDDEN.get(cmd_name),))[0]
        if home is None:
            return None
        command: click.Command = import_module(home).command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, help_) for name, (_, help_) in SUBCOMMANDS.items()])
        with formatter.section("Called by Claude Code"):
            formatter.write_dl([(name, MEANINGS[name]) for name in EVENTS])


@click.group("hook", cls=Subcommands)
def command() -> None:
    """Send traces as you work: Claude Code calls Plait whenever a turn ends.

    Sent is what is new and complete, to the target that `config.toml` names. Claude Code is
    never held up: the hook leaves a job and ends, and a process in the background does it.
    """


def event_command(name: str) -> click.Command:
    """Returns the command that Claude Code calls for an event."""

    def run(verbose: bool, wait: bool) -> None:
        from plait.cli.hook_event import run_event

        flags = ["--verbose"] * verbose + ["--wait"] * wait
        run_event([name, *flags])

    options = [
        click.Option(["-v", "--verbose"], is_flag=True, help="Say on stderr what was done."),
        click.Option(["--wait"], is_flag=True, help="Do the work here, and wait for it."),
    ]
    help_ = f"Take in what Claude Code says on stdin at {EVENTS[name]}. The exit code is always 0."
    return click.Command(name, callback=run, params=list(options), help=help_)
