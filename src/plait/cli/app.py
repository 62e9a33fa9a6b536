"""The command line to one command, run; errors to text and an exit code.

Commands are imported when they are called: `plait --help` needs none of them.
"""

import gc
import io
import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn

import click

from plait.cli.options import global_options
from plait.errors import PlaitError, SourceError

COMMANDS = {
    "blame": ("plait.cli.files.blame", "Show which turn of which session wrote each line."),
    "cat": ("plait.cli.cat", "Print a session's lines, raw or pretty."),
    "chat": (
        "plait.cli.chat",
        "Talk with a model that reads, changes and runs things here.",
    ),
    "check": (
        "plait.cli.edit.health:check_command",
        "Check a session by the rules for what Plait writes.",
    ),
    "clone": (
        "plait.cli.edit.new_session:clone_command",
        "Copy a session to a new one with ids of its own.",
    ),
    "completion": (
        "plait.cli.config:completion_command",
        "Print the script that completes `plait` in your shell.",
    ),
    "compress": (
        "plait.cli.edit.compress:compress_command",
        "Make the older turns of a session short; prompts stay.",
    ),
    "config": (
        "plait.cli.config:config_command",
        "Show the settings in force, and where Plait keeps things.",
    ),
    "context": (
        "plait.cli.context",
        "Show what Claude will see when a session is resumed.",
    ),
    "delete": (
        "plait.cli.edit.in_place:delete_command",
        "Move sessions to where `undo` brings them back from.",
    ),
    "diff": ("plait.cli.diff", "Set two branches of a session beside each other."),
    "doctor": ("plait.cli.doctor", "Account for every line, and list what is odd."),
    "export": ("plait.cli.export", "Write transcripts of sessions, one for each path."),
    "file": ("plait.cli.files.one", "Show a file's story, or what it held at a moment."),
    "files": ("plait.cli.files.many", "List what became of a session's files, or write them."),
    "fork": (
        "plait.cli.edit.new_session:fork_command",
        "Go on from any message in a new session.",
    ),
    "hook": ("plait.cli.hook.commands", "Send traces as you work, called by Claude Code."),
    "index": ("plait.cli.index", "Make the index, or bring it up to date."),
    "insights": (
        "plait.cli.insights",
        "Tell what stands out: trends, habits, sessions far off.",
    ),
    "keep": ("plait.cli.keep", "Keep sessions in a store that outlives the cleanup."),
    "lake": ("plait.cli.lake", "Keep sessions as tables, and ask them by SQL."),
    "log": ("plait.cli.log", "Draw a session as a graph."),
    "ls": ("plait.cli.ls", "List projects and sessions."),
    "move": (
        "plait.cli.edit.travel:move_command",
        "Let the sessions of a directory be those of another.",
    ),
    "open": (
        "plait.cli.serve:open_command",
        "Open the page at a session, starting the server if need be.",
    ),
    "paths": ("plait.cli.paths", "List the ways through sessions, one for each ending."),
    "pin": ("plait.cli.stars:pin_command", "Pin a turn to find it again, or list what is pinned."),
    "port": (
        "plait.cli.edit.travel:port_command",
        "Pack sessions into one file, or bring them from one.",
    ),
    "redact": (
        "plait.cli.redact",
        "Find what should not be shared, or take it out of a text or a session.",
    ),
    "rename": (
        "plait.cli.edit.in_place:rename_command",
        "Give a session another title.",
    ),
    "repair": (
        "plait.cli.edit.health:repair_command",
        "Mend a session so that it resumes with all of its history.",
    ),
    "restore": ("plait.cli.keep.restore", "Put a kept session back where it was."),
    "resume": ("plait.cli.resume", "Print what continues a session in Claude Code, or run it."),
    "search": ("plait.cli.search", "Find anything that was said, run or printed."),
    "serve": ("plait.cli.serve:serve_command", "Serve your sessions as a page on this machine."),
    "show": ("plait.cli.show", "Show a conversation: prompts, answers, tools, agents."),
    "star": (
        "plait.cli.stars:star_command",
        "Star sessions to find them again, or list those that are.",
    ),
    "stats": ("plait.cli.stats", "Count prompts, tools, models, agents, files and hours."),
    "switch": (
        "plait.cli.edit.in_place:switch_command",
        "Make another branch the one that resume takes.",
    ),
    "tag": (
        "plait.cli.edit.in_place:tag_command",
        "Tag a session, or take its tag away.",
    ),
    "trace": ("plait.cli.trace", "Show sessions as traces, or send them to a collector."),
    "trim": (
        "plait.cli.edit.trim:trim_command",
        "Take away what fills a session's context and is no longer needed.",
    ),
    "tree": ("plait.cli.tree", "Draw sessions with their branches and agents as a tree."),
    "undo": (
        "plait.cli.edit.undo:undo_command",
        "Bring back what was there before an edit.",
    ),
    "usage": ("plait.cli.usage", "Show tokens and cost by day, session, model and more."),
    "waste": (
        "plait.cli.why.waste:waste_command",
        "Show what was paid for and need not have been.",
    ),
    "why": ("plait.cli.why", "Show why a session cost what it did."),
}
INTERRUPTED = 130


class LazyGroup(click.Group):
    """A group whose commands are imported when they are called; a table says where they are."""

    def __init__(self, *args: Any, table: Mapping[str, tuple[str, str]], **more: Any) -> None:
        super().__init__(*args, **more)
        self.table = table

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.table)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.table:
            return None
        module, _, name = self.table[cmd_name][0].partition(":")
        command: click.Command = getattr(import_module(module), name or "command")
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        is_word = not (name.startswith("-") or ctx.resilient_parsing)
        if is_word and self.get_command(ctx, name) is None:
            from plait.cli.mistyped import no_such_command

            raise no_such_command(name, ctx.command_path, self.table)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, help_) for name, (_, help_) in self.table.items()])


@click.group(
    cls=LazyGroup,
    table=COMMANDS,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(None, "-V", "--version", package_name="plait", message="plait %(version)s")
@global_options
@click.option(
    "--gallery",
    metavar="DIR",
    help="Show this folder where there are no sessions yet.",
)
@click.pass_context
def app(ctx: click.Context, gallery: str | None) -> None:
    """Every Claude Code conversation you ever had, as the graph it really is.

    Without a command: what is there, and what to try next.
    """
    if not gc.isenabled():
        gc.freeze()  # what is loaded stays: cycles are looked for in what comes from here on
        gc.enable()
    if ctx.invoked_subcommand is None:
        from plait.cli.ls import show_overview

        show_overview(ctx, gallery)


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Runs the command and exits with its code."""
    sys.exit(run(list(sys.argv[1:] if arguments is None else arguments)))


def run(arguments: list[str]) -> int:
    """Runs the command and returns its exit code; errors become text here and nowhere else."""
    _prepare_streams()
    try:
        code = int(app.main(arguments, prog_name="plait", standalone_mode=False) or 0)
        sys.stdout.flush()  # so that a reader who has gone is met here, not at the very end
        return code
    except click.exceptions.Exit as stop:
        return stop.exit_code
    except (KeyboardInterrupt, click.Abort):
        return INTERRUPTED
    except BrokenPipeError:
        _silence_stdout()
        return 0
    except (PlaitError, click.ClickException, OSError) as error:
        from plait.cli.output import print_error

        told = _in_our_words(error)
        print_error(told, _roots_in(arguments), as_json="--json" in arguments)
        return told.exit_code


def _roots_in(arguments: Sequence[str]) -> list[str]:
    """Returns the roots that were named, wherever they stand."""
    following = [*arguments[1:], ""]
    found = [root for word, root in zip(arguments, following, strict=True) if word == "--root"]
    given = [word.removeprefix("--root=") for word in arguments if word.startswith("--root=")]
    return [root for root in [*found, *given] if root]


def _in_our_words(error: PlaitError | click.ClickException | OSError) -> PlaitError:
    match error:
        case PlaitError():
            return error
        case click.ClickException():
            from plait.cli.mistyped import usage_error

            return usage_error(error)
        case _:
            _silence_stdout()
            return SourceError(f"cannot go on: {(error.strerror or str(error)).lower()}")


def _prepare_streams() -> None:
    import os

    if sys.stdout is None:
        sys.stdout = Path(os.devnull).open("w")  # noqa: SIM115  for the whole run
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def _silence_stdout() -> None:
    import os

    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
