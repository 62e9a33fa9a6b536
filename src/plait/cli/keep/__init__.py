"""`plait keep`: sessions into the store, and the words behind it that do something else there.

What follows a word of the table is another command, imported when it is called; all else are
sessions to keep.
"""

import sys
from collections.abc import Iterator, Sequence
from importlib import import_module
from typing import Any

import click

from plait.cli.options import (
    Request,
    complete_session,
    global_options,
    json_option,
)
from plait.errors import UserError

WAYS = ("hook", "systemd", "cron")
SUBCOMMANDS = {
    "status": ("plait.cli.keep.status", "Show what is kept, what is not, and what will be lost."),
    "verify": ("plait.cli.keep.verify", "Read all that is kept, and name what is damaged."),
    "forget": ("plait.cli.keep.forget", "Delete sessions from the store."),
    "rescue": (
        "plait.cli.keep.rescue",
        "Put together what is left of sessions that are gone.",
    ),
    "pack": ("plait.cli.keep.parcel:pack_command", "Write what is kept to one file."),
    "unpack": ("plait.cli.keep.parcel:unpack_command", "Take in such a file."),
}


class KeepCommand(click.Command):
    """Keeps sessions, or gives way to a command of the table."""

    def make_context(
        self,
        info_name: str | None,
        args: list[str],
        parent: click.Context | None = None,
        **extra: Any,
    ) -> click.Context:
        """Returns the context of what is meant."""
        place = next(self._words(args), None)
        if place is None or args[place] not in SUBCOMMANDS:
            return super().make_context(info_name, args, parent, **extra)
        name = args.pop(place)
        return _subcommand(name).make_context(f"{info_name} {name}", args, parent, **extra)

    def _words(self, args: Sequence[str]) -> Iterator[int]:
        """Yields where words stand that are neither options nor their values."""
        flags = {
            name
            for one in self.params
            if isinstance(one, click.Option) and not one.is_flag
            for name in one.opts
        }
        is_value = False
        for place, word in enumerate(args):
            if word == "--":
                return
            if not is_value and not word.startswith("-"):
                yield place
            is_value = word in flags and not is_value

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Writes the commands of the table."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, help_) for name, (_, help_) in SUBCOMMANDS.items()])


def _subcommand(name: str) -> click.Command:
    module, _, attribute = SUBCOMMANDS[name][0].partition(":")
    found: click.Command = getattr(import_module(module), attribute or "command")
    return found


@click.command("keep", cls=KeepCommand)
@click.argument("names", metavar="[SESSION]...", nargs=-1, shell_complete=complete_session)
@click.option("--all", "is_all", is_flag=True, help="All sessions, as without a name.")
@click.option("--project", metavar="NAME", help="Only projects with this in their name.")
@click.option("--file-history", "backups", is_flag=True, help="Backups of edited files, too.")
@click.option("--dry-run", "is_dry", is_flag=True, help="Show what would be kept; keep nothing.")
@click.option(
    "--install",
    metavar="[hook|systemd|cron]",
    type=click.Choice(WAYS),
    is_flag=False,
    flag_value=WAYS[0],
    help="Keep them by itself from now on: at the end of each session, or every hour.",
)
@click.option(
    "--uninstall",
    metavar="[hook|systemd|cron]",
    type=click.Choice([*WAYS, "all"]),
    is_flag=False,
    flag_value="all",
    help="Do so no more; what is kept stays.",
)
@click.option("-y", "--yes", "is_sure", is_flag=True, help="Do not ask before it is installed.")
@click.option("--background", is_flag=True, help="In a process of its own, silently: for hooks.")
@json_option
@global_options
@click.pass_obj
def command(
    request: Request,
    /,
    install: str | None,
    uninstall: str | None,
    is_sure: bool,
    background: bool,
    **asked: Any,
) -> None:
    """Keep sessions in a store that outlives the cleanup of Claude Code.

    With all that lies beside them, compressed, and only what has changed since the last time.
    Kept sessions are listed, read and searched when they are gone, and `plait restore` brings
    them back.
    """
    if install or uninstall:
        _change(request, install, uninstall, is_sure, asked)
    elif background:
        from plait.cli.hook.keeping import keep_in_background

        keep_in_background(sys.argv[2:])
    else:
        from plait.cli.keep.sessions import keep

        keep(request, **asked)


def _change(
    request: Request,
    install: str | None,
    uninstall: str | None,
    is_sure: bool,
    asked: dict[str, Any],
) -> None:
    """Has sessions kept by themselves, or no more."""
    from plait.cli.keep import install as ways

    others = [asked[name] for name in ("names", "is_all", "project", "backups")]
    if any(others) or (install and uninstall):
        raise UserError("`--install` and `--uninstall` are about all sessions, one at a time")
    how = {"is_sure": is_sure, "is_dry": asked["is_dry"], "as_json": asked["as_json"]}
    if install:
        ways.install(request, install, **how)
    else:
        ways.uninstall(request, str(uninstall), **how)
