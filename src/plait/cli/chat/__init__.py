"""`plait chat`: prompts to a session that goes on, on a screen or in a pipe."""

from typing import Any

import click

from plait.cli.options import Request, global_options, grouped

MODES = ("default", "acceptEdits", "plan", "bypassPermissions", "dontAsk")
VERSIONS = ("2.1.325", "2.1.29")
FORMS = ("text", "json", "stream-json")
CHOSEN = "\0"
"""Stands for a session that is still to be chosen: no name is like it."""

session_options = grouped(
    click.option(
        "--resume",
        "-r",
        metavar="[SESSION]",
        is_flag=False,
        flag_value=CHOSEN,
        help="Go on with this session; without a name, choose one.",
    ),
    click.option(
        "--continue", "-c", "is_continued", is_flag=True, help="Go on with the newest one here."
    ),
    click.option(
        "--fork-session", "is_fork", is_flag=True, help="Go on in a copy, with an id of its own."
    ),
    click.option(
        "--resume-session-at",
        "at",
        metavar="MESSAGE",
        help="With `-p` and `--resume`: go on from this message of it.",
    ),
    click.option("--session-id", metavar="UUID", help="The id of a new session."),
    click.option("--name", "-n", "title", metavar="TITLE", help="The title of the session."),
)
model_options = grouped(
    click.option(
        "--model", metavar="MODEL", help="Whom to ask; `replay:SESSION` and `script:FILE` too."
    ),
    click.option(
        "--engine",
        type=click.Choice(("api", "claude")),
        help="Who holds the session: the API, or Claude Code as it is installed here.",
    ),
    click.option("--base-url", metavar="URL", help="Where the API is."),
    click.option("--system-prompt", metavar="TEXT", help="What the model is told before all else."),
    click.option("--append-system-prompt", metavar="TEXT", help="What it is told besides."),
    click.option(
        "--max-turns",
        type=click.IntRange(min=1),
        metavar="N",
        help="Ask the model at most so often for one prompt.",
    ),
    click.option(
        "--max-budget-usd",
        type=click.FloatRange(min=0, min_open=True),
        metavar="N",
        help="End at so many dollars.",
    ),
)
tool_options = grouped(
    click.option(
        "--permission-mode", type=click.Choice(MODES), help="What may be done without asking."
    ),
    click.option(
        "--allowed-tools",
        "--allowedTools",
        "allowed",
        multiple=True,
        metavar="TOOLS",
        help="Tools that are not asked about, such as `Bash(git log:*),Edit`.",
    ),
    click.option(
        "--disallowed-tools",
        "--disallowedTools",
        "denied",
        multiple=True,
        metavar="TOOLS",
        help="Tools that may not be used.",
    ),
    click.option(
        "--add-dir",
        "others",
        multiple=True,
        metavar="DIR",
        type=click.Path(exists=True, file_okay=False, resolve_path=True),
        help="Another directory that tools may work in.",
    ),
)
printing_options = grouped(
    click.option("--print", "-p", "is_printed", is_flag=True, help="Answer once, and end."),
    click.option(
        "--output-format", type=click.Choice(FORMS), default="text", help="With `-p`: how."
    ),
    click.option(
        "--input-format",
        type=click.Choice(("text", "stream-json")),
        default="text",
        help="With `-p`: how prompts come in.",
    ),
    click.option(
        "--include-partial-messages",
        "is_partial",
        is_flag=True,
        help="Tell answers of a stream piece by piece, too.",
    ),
    click.option(
        "--permission-prompt-tool",
        "prompt_tool",
        type=click.Choice(("stdio",)),
        help="Ask the program at the other end of a stream before something is done.",
    ),
    click.option("--verbose", is_flag=True, help="As Claude Code takes it; all is told anyway."),
    click.option(
        "--replay-user-messages", "replays", is_flag=True, help="Tell prompts of a stream back."
    ),
)


@click.command("chat")
@click.argument("prompt", required=False)
@session_options
@model_options
@tool_options
@printing_options
@click.option(
    "--log-version", type=click.Choice(VERSIONS), help="Whose form the log has; the newest one's."
)
@click.option("--demo", is_flag=True, help="Without a key: a made-up model in a made-up project.")
@global_options
@click.pass_obj
def command(request: Request, /, prompt: str | None, **asked: Any) -> None:
    """Talk with a model that reads, changes and runs things here, logged as Claude Code does.

    Without PROMPT it waits for one. A session begun here goes on in Claude Code, and back.
    """
    from plait.cli.chat.starting import start

    if code := start(request, prompt, asked):
        raise click.exceptions.Exit(code)
