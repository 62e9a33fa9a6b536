"""The `plait` program: finds the command that was typed, runs it, and turns errors into text.

Commands are imported when they are called: `plait --help` needs none of them.
"""

import gc
import io
import os
import re
import sys
from collections.abc import Collection, Mapping
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from typing import Any

import click

from plait.cli.options import GroupedHelp, global_options
from plait.cli.registry import COMMANDS, EVERYDAY, GROUPS, Command
from plait.errors import PlaitError, SourceError, UserError

INTERRUPTED = 130
SYNONYMS = {
    "branch": "fork",
    "cost": "usage",
    "find": "search",
    "graph": "log",
    "grep": "search",
    "list": "ls",
    "read": "show",
    "remove": "delete",
    "rm": "delete",
    "view": "show",
    "web": "serve",
}
"""Names of commands in other programs."""
SIMILARITY = 0.7
"""Similarity from which one word is suggested for another."""
REWORDED = (
    (r"is not a valid (integer|float)( range)?", "is not a number"),
    (r"is not in the range ([\d.]+)<=x<=([\d.]+)", r"must be from \1 to \2"),
    (r"is not in the range x>=([\d.]+)", r"must be at least \1"),
    (r"is not in the range x>([\d.]+)", r"must be greater than \1"),
)
"""What click says of a number, and how people say it."""


def load_command(entry: Command) -> click.Command:
    """Import the function behind a row of the registry."""
    module, _, name = entry.target.partition(":")
    command: click.Command = getattr(import_module(module), name)
    return command


class LazyGroup(GroupedHelp, click.Group):
    """A group whose commands are imported when they are called."""

    def __init__(self, *args: Any, table: Mapping[str, Command], **more: Any) -> None:
        super().__init__(*args, **more)
        self.table = table

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [name for name, entry in self.table.items() if not entry.is_hidden]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        entry = self.table.get(cmd_name)
        return load_command(entry) if entry else None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        is_word = not (name.startswith("-") or ctx.resilient_parsing)
        if is_word and self.get_command(ctx, name) is None:
            similar = find_similar(name, self.table) or [SYNONYMS.get(name, "")]
            names = [f"`{ctx.command_path} {other}`" for other in similar if other in self.table]
            hints = [f"did you mean {' or '.join(names)}?"] if names else []
            hints.append(f"`{ctx.command_path} --help` lists the options")
            raise UserError(f"no such command '{name}'", *hints)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            rows = [(name, self.table[name].summary) for name in self.list_commands(ctx)]
            formatter.write_dl(rows)


class MainGroup(LazyGroup):
    """All commands: the everyday ones first, the others by group."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        shown = [entry for entry in self.table.values() if not entry.is_hidden]
        width = max(len(entry.name) for entry in shown)
        sections = {"Everyday": [self.table[name] for name in EVERYDAY]} | {
            group: [row for row in shown if row.group == group and row.name not in EVERYDAY]
            for group in GROUPS
        }
        for heading, rows in sections.items():
            with formatter.section(heading):
                # Padded names align the summaries of all sections.
                formatter.write_dl([(row.name.ljust(width), row.summary) for row in rows])


@click.group(
    cls=MainGroup,
    table=COMMANDS,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(None, "-V", "--version", package_name="plait", message="plait %(version)s")
@global_options
@click.pass_context
def app(ctx: click.Context) -> None:
    """Read, search, export and edit your Claude Code sessions.

    Without a command, list your newest sessions and commands to try. SESSION is an id or its
    beginning, a title, a file, `latest`, `latest:PROJECT`, or `.` for the newest session of this
    directory.
    """
    if not gc.isenabled():
        # What is loaded by now lives as long as the process: exclude it from garbage collection.
        gc.freeze()
        gc.enable()
    if ctx.invoked_subcommand is None:
        from plait.cli.ls import print_overview

        print_overview(ctx)


def run(arguments: list[str]) -> int:
    """Run a command and return its exit code; errors become text here and nowhere else."""
    if sys.stdout is None:
        sys.stdout = Path(os.devnull).open("w")  # noqa: SIM115  for the whole run
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    try:
        code = int(app.main(arguments, prog_name="plait", standalone_mode=False) or 0)
        sys.stdout.flush()  # a closed pipe is noticed here, not at interpreter exit
        return code
    except click.exceptions.Exit as stop:
        return stop.exit_code
    except click.exceptions.NoArgsIsHelpError as usage:  # a group without a subcommand
        click.echo(usage.format_message(), err=True)
        return usage.exit_code
    except (KeyboardInterrupt, click.Abort):
        return INTERRUPTED
    except BrokenPipeError:
        _silence_stdout()
        return 0
    except (PlaitError, click.ClickException, OSError) as error:
        from plait.terminal.output import print_error

        if isinstance(error, click.ClickException):
            error = convert_usage_error(error)
        elif isinstance(error, OSError):
            _silence_stdout()
            error = SourceError(f"cannot continue: {(error.strerror or str(error)).lower()}")
        root_options = ["--demo"] if "--demo" in arguments else []
        for word, following in pairwise([*arguments, ""]):
            root = following if word == "--root" else word.partition("--root=")[2]
            root_options += ["--root", root] if root else []
        print_error(error, root_options, as_json="--json" in arguments)
        return error.exit_code


def _silence_stdout() -> None:
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def convert_usage_error(error: click.ClickException) -> UserError:
    """Return click's error in Plait's form: what is wrong, and a suggestion."""
    context = error.ctx if isinstance(error, click.UsageError) else None
    path = context.command_path if context else "plait"
    message, suggestions = error.format_message().rstrip("."), []
    for pattern, words in REWORDED:
        message = re.sub(pattern, words, message)
    hints = [f"`{path} --help` lists the options"]
    if isinstance(error, click.NoSuchOption):
        message = f"no such option '{error.option_name}'"
        if not error.option_name.startswith("--"):
            hints.append("put `--` before a name that starts with a dash")
        elif context:
            names = [name for param in context.command.get_params(context) for name in param.opts]
            options = [name for name in names if name.startswith("--")]
            suggestions = find_similar(error.option_name, options)
    elif isinstance(error, click.BadParameter) and isinstance(
        getattr(error.param, "type", None), click.Choice
    ):
        assert error.param is not None
        message = error.message.rstrip(".")
        choices = [str(choice) for choice in error.param.type.choices]  # type: ignore[attr-defined]
        suggestions = find_similar(message.split("'")[1], choices)
        if isinstance(error.param, click.Option):
            message = f"{error.param.opts[0]}: {message}"
    if suggestions:
        hints.insert(0, f"did you mean {' or '.join(f'`{name}`' for name in suggestions)}?")
    return UserError(message[:1].lower() + message[1:], *hints)


def find_similar(word: str, names: Collection[str]) -> list[str]:
    """Return up to two names that start with a word, else two similar ones."""
    bare, by_bare_name = word.strip("-"), {name.strip("-"): name for name in names}
    longer = sorted(name for name in by_bare_name if bare[1:] and name.startswith(bare))
    if not longer:
        from difflib import get_close_matches

        longer = get_close_matches(bare, by_bare_name, n=2, cutoff=SIMILARITY)
    return [by_bare_name[name] for name in longer[:2]]
