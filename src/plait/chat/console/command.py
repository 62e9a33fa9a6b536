"""The `plait chat` command and its options."""

from typing import Any

import click

from plait.cli.options import GroupedHelp, Request, combine_options, global_options

MODES = ("default", "acceptEdits", "plan", "bypassPermissions", "dontAsk")
VERSIONS = ("2.1.325", "2.1.29")
FORMS = ("text", "json", "stream-json")
CHOSEN = "\0"
"""Stands for a session still to be picked; no real name looks like it."""

session_options = combine_options(
    click.option(
        "--resume",
        "-r",
        metavar="[SESSION]",
        is_flag=False,
        flag_value=CHOSEN,
        help="Resume this session; without a name, pick one.",
    ),
    click.option(
        "--continue",
        "-c",
        "is_continued",
        is_flag=True,
        help="Resume the newest session of this directory.",
    ),
    click.option(
        "--fork-session",
        "is_fork",
        is_flag=True,
        help="Continue in a copy with its own session ID.",
    ),
    click.option(
        "--resume-session-at",
        "at",
        metavar="MESSAGE",
        help="With `-p` and `--resume`: continue from this message.",
    ),
    click.option("--session-id", metavar="UUID", help="ID of the new session."),
    click.option("--name", "-n", "title", metavar="TITLE", help="Title of the session."),
)
model_options = combine_options(
    click.option(
        "--model", metavar="MODEL", help="Model to use; also `replay:SESSION` or `script:FILE`."
    ),
    click.option(
        "--engine",
        type=click.Choice(("api", "claude")),
        help="Run the session through the API or the installed Claude Code.",
    ),
    click.option("--base-url", metavar="URL", help="Base URL of the API."),
    click.option(
        "--system-prompt", metavar="TEXT", help="System prompt to use in place of the default."
    ),
    click.option(
        "--append-system-prompt", metavar="TEXT", help="Text to add to the system prompt."
    ),
    click.option(
        "--max-turns",
        type=click.IntRange(min=1),
        metavar="N",
        help="Maximum number of responses per prompt.",
    ),
    click.option(
        "--max-budget-usd",
        type=click.FloatRange(min=0, min_open=True),
        metavar="N",
        help="Stop when the session has cost this much.",
    ),
)
tool_options = combine_options(
    click.option(
        "--permission-mode", type=click.Choice(MODES), help="Permission mode to start in."
    ),
    click.option(
        "--allowed-tools",
        "--allowedTools",
        "allowed",
        multiple=True,
        metavar="TOOLS",
        help="Tools allowed without asking, such as `Bash(git log:*),Edit`.",
    ),
    click.option(
        "--disallowed-tools",
        "--disallowedTools",
        "denied",
        multiple=True,
        metavar="TOOLS",
        help="Tools that are not available.",
    ),
    click.option(
        "--add-dir",
        "others",
        multiple=True,
        metavar="DIR",
        type=click.Path(exists=True, file_okay=False, resolve_path=True),
        help="Additional directory that tools may work in.",
    ),
)
printing_options = combine_options(
    click.option("--print", "-p", "is_printed", is_flag=True, help="Print the response and exit."),
    click.option(
        "--output-format",
        type=click.Choice(FORMS),
        default="text",
        help="Output format, with `-p`.",
    ),
    click.option(
        "--input-format",
        type=click.Choice(("text", "stream-json")),
        default="text",
        help="Input format, with `-p`.",
    ),
    click.option(
        "--include-partial-messages",
        "is_partial",
        is_flag=True,
        help="Include partial messages as they stream in.",
    ),
    click.option(
        "--permission-prompt-tool",
        "prompt_tool",
        type=click.Choice(("stdio",)),
        help="Ask the calling program for permission.",
    ),
    click.option("--verbose", is_flag=True, help="Accepted for compatibility; has no effect."),
    click.option(
        "--replay-user-messages",
        "replays",
        is_flag=True,
        help="Repeat the prompts of the input stream on the output.",
    ),
)


@click.command("chat", cls=GroupedHelp)
@click.argument("prompt", required=False)
@session_options
@model_options
@tool_options
@printing_options
@click.option(
    "--log-version", type=click.Choice(VERSIONS), help="Log format to write; the newest by default."
)
@click.option(
    "--demo", is_flag=True, help="Try it without a key: a scripted model in a sample project."
)
@global_options
@click.pass_obj
def chat_command(request: Request, /, prompt: str | None, **asked: Any) -> None:
    """Chat with a model that can read, edit and run things here.

    Sessions are logged as Claude Code logs them and can be resumed in either. Without PROMPT, start an interactive session.
    """
    from plait.chat.console.start import start_chat

    if code := start_chat(request, prompt, asked):
        raise click.exceptions.Exit(code)
