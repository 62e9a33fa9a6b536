"""The `plait chat` command and its options."""

from pathlib import Path
from typing import Literal

import click

from plait.cli.options import OptionGroup, Request, argument, command, option

MODES = ("default", "acceptEdits", "plan", "bypassPermissions", "dontAsk")
PICK_SESSION = "\0"
"""Stands for a session still to be picked; no real name looks like it."""


class ChatArguments(OptionGroup):
    """The options of `plait chat` as given on the command line."""

    # the session
    resume: str | None = option(
        *("--resume", "-r"),
        metavar="[SESSION]",
        is_flag=False,
        flag_value=PICK_SESSION,
        help="Resume this session; without a name, pick one.",
    )
    is_continued: bool = option(
        "--continue", "-c", help="Resume the newest session of this directory."
    )
    is_fork: bool = option("--fork-session", help="Continue in a copy with its own session ID.")
    at: str | None = option(
        "--resume-session-at",
        metavar="MESSAGE",
        help="With `-p` and `--resume`: continue from this message.",
    )
    session_id: str | None = option("--session-id", metavar="UUID", help="ID of the new session.")
    title: str | None = option("--name", "-n", metavar="TITLE", help="Title of the session.")

    # the model
    model: str | None = option(
        "--model", metavar="MODEL", help="Model name, `replay:SESSION` or `script:FILE`."
    )
    engine: Literal["api", "claude"] | None = option(
        "--engine", help="Run the session through the API or the installed Claude Code."
    )
    base_url: str | None = option("--base-url", metavar="URL", help="Base URL of the API.")
    system_prompt: str | None = option(
        "--system-prompt", metavar="TEXT", help="System prompt, replacing the default."
    )
    append_system_prompt: str | None = option(
        "--append-system-prompt", metavar="TEXT", help="Text to add to the system prompt."
    )
    max_turns: int | None = option(
        "--max-turns", least=1, help="Maximum number of responses per prompt."
    )
    max_budget_usd: float | None = option(
        "--max-budget-usd",
        type=click.FloatRange(min=0, min_open=True),
        help="Stop when the cost of the session reaches this amount.",
    )

    # permissions
    permission_mode: str | None = option(
        "--permission-mode", choices=MODES, help="Permission mode to start in."
    )
    allowed: tuple[str, ...] = option(
        *("--allowed-tools", "--allowedTools"),
        metavar="TOOLS",
        help="Tools allowed without asking, such as `Bash(git log:*),Edit`.",
    )
    denied: tuple[str, ...] = option(
        *("--disallowed-tools", "--disallowedTools"),
        metavar="TOOLS",
        help="Tools to disable.",
    )
    others: tuple[Path, ...] = option(
        "--add-dir",
        metavar="DIR",
        type=click.Path(exists=True, file_okay=False, resolve_path=True, path_type=Path),
        help="Additional directory that tools may work in.",
    )

    # for programs
    is_printed: bool = option("--print", "-p", help="Print the response and exit.")
    output_format: Literal["text", "json", "stream-json"] = option(
        "--output-format", default="text", help="Output format, with `-p`."
    )
    input_format: Literal["text", "stream-json"] = option(
        "--input-format", default="text", help="Input format, with `-p`."
    )
    is_partial: bool = option(
        "--include-partial-messages", help="Include partial messages as they stream in."
    )
    prompt_tool: Literal["stdio"] | None = option(
        "--permission-prompt-tool", help="Ask the calling program for permission."
    )
    verbose: bool = option("--verbose", help="Accepted for compatibility; has no effect.")
    replays: bool = option(
        "--replay-user-messages", help="Echo prompts from the input stream on the output."
    )
    log_version: Literal["2.1.325", "2.1.29"] | None = option(
        "--log-version", help="Log format version to write; default: the newest."
    )
    demo: bool = option(
        "--demo", help="Try the chat without an API key, with a scripted model and sample project."
    )


@command()
def chat_command(request: Request, options: ChatArguments, prompt: str | None = argument()) -> None:
    """Chat with a model that can read and edit files and run commands here.

    Sessions are logged in Claude Code's format and can be resumed in either program. Without PROMPT, start an interactive session.
    """
    from plait.chat.console.start import start_chat

    if code := start_chat(request, prompt, options):
        raise click.exceptions.Exit(code)
