"""Hooks of Claude Code that send traces: installing them, their state, and their worker.

`plait trace install`, `uninstall` and `hooks`; `plait hook` is what Claude Code calls.
"""

import shlex
from pathlib import Path
from typing import Any

import click
from msgspec import to_builtins

from plait.automation import InstallPlan, list_program_arguments
from plait.cli import shared
from plait.cli.app import LazyGroup
from plait.cli.automation import SCOPES, InstallOptions
from plait.cli.options import Request, command, option
from plait.cli.registry import subcommands
from plait.errors import PlaitError
from plait.hook.event import FOLDER
from plait.hook.worker import CC_LANGFUSE_STATE, run_worker
from plait.line import read_small
from plait.settings import (
    find_claude_folder,
    find_config_file,
    find_trace_target,
    read_langfuse_environment,
)
from plait.trace.environment import (
    OPTION,
    SWITCH,
    find_langfuse_project,
)
from plait.trace.hook_event import EVENTS, SHOWN_EVENT, WORKER_LOG, is_worker_running
from plait.trace.hook_settings import (
    list_installed_hooks,
    list_other_tracing_hooks,
    plan_install,
    plan_uninstall,
)
from plait.trace.jobs import list_failed_jobs
from plait.trace.state import import_states
from plait.view.formats import format_count

EVENT_SUMMARIES = {
    "stop": "Claude has finished its turn.",
    "session-end": "The session has ended.",
    "subagent-stop": "A sub-agent has finished.",
    "pre-compact": "The conversation is about to be compacted.",
}
TARGET_EXAMPLES = (
    '  otlp_endpoint = "http://localhost:4318"\n'
    "or the two keys of a Langfuse project:\n"
    '  langfuse_public_key = "pk-…"\n'
    '  langfuse_secret_key = "sk-…"'
)


@command(examples="plait trace install --dry-run")
def install_command(
    request: Request,
    how: InstallOptions,
    pre_compact: bool = option(
        "--pre-compact",
        help="Also send before compactions; Claude Code shows this hook to you and the model.",
    ),
    is_environment: bool = option(
        OPTION,
        help="Read the Langfuse project from each project's environment, as cc-langfuse does.",
    ),
) -> None:
    """Add hooks to Claude Code's settings that send traces while you work.

    The change is shown and confirmed first, and the old settings are backed up. Other hooks stay
    as they are. Traces that cc-langfuse has already sent are not sent again.
    """
    output, path = request.output, _settings_file(request, how.scope)
    plan = plan_install(
        path,
        shlex.join(list_program_arguments()),
        with_shown_event=pre_compact,
        option=OPTION if is_environment else "",
    )
    if not plan.is_change:
        output.print(f"the hooks are already in {path}")
    elif how.confirm(request, InstallPlan("hook", (plan,))):
        output.print(f"added the hooks to {path}")
    else:
        return
    for other in list_other_tracing_hooks(path):
        output.note(f"another hook also sends traces; it was not changed: {other}")
    data = read_small(find_claude_folder() / CC_LANGFUSE_STATE)
    count = import_states(request.settings.state / FOLDER, data) if data else 0
    if count:
        sessions = format_count(count, "session")
        output.print(f"skipping traces already sent by cc-langfuse: {sessions}")
    if is_environment:
        output.print(
            f"traces go to the target in each project's environment: {_describe_here(request)}"
        )
    target = find_trace_target(request.settings.hook_collector)
    if target:
        others = " of other projects" if is_environment else ""
        output.print(f"traces{others} go to {target.url}")
    elif not is_environment:
        output.print(
            f"no target for traces yet; set one in {find_config_file()}:\n{TARGET_EXAMPLES}"
        )


def _describe_here(request: Request) -> str:
    """Describe where the environment of this directory sends traces."""
    variables = read_langfuse_environment(request.settings.directory)
    if SWITCH not in variables:
        return f"{SWITCH} is not set here"
    try:
        langfuse = find_langfuse_project(variables)
    except PlaitError as error:
        return error.message
    return f"here {langfuse.host}" if langfuse else f"{SWITCH} is switched off here"


@command(examples="plait trace uninstall")
def uninstall_command(request: Request, how: InstallOptions) -> None:
    """Remove these hooks from Claude Code's settings, and nothing else.

    Traces that are waiting to be sent are kept; `plait trace flush` sends them.
    """
    path = _settings_file(request, how.scope)
    plan = plan_uninstall(path)
    if not plan.is_change:
        request.output.print(f"no Plait hooks in {path}")
    elif how.confirm(request, InstallPlan("hook", (plan,))):
        request.output.print(f"removed the hooks from {path}")


def _settings_file(request: Request, scope: str) -> Path:
    if scope == "user":
        return find_claude_folder() / "settings.json"
    name = "settings.json" if scope == "project" else "settings.local.json"
    return request.settings.directory / ".claude" / name


@command(examples="plait trace hooks")
def hooks_command(request: Request, as_json: bool = shared.as_json) -> None:
    """Show where hooks are installed, where traces go, and whether the worker is running."""
    output, folder = request.output, request.settings.state / FOLDER
    usual = [name for event, name in EVENTS.items() if event != SHOWN_EVENT]
    installed: list[dict[str, Any]] = []
    for scope in SCOPES:
        path = _settings_file(request, scope)
        try:
            events, error = list_installed_hooks(path), None
        except PlaitError as problem:
            events, error = {}, problem.message
        installed.append(
            {
                "scope": scope,
                "path": str(path),
                "events": list(events),
                "missing": [name for name in usual if name not in events] if events else [],
                "command": next(iter(events.values()), None),
                "error": error,
            }
        )
    target = find_trace_target(request.settings.hook_collector)
    failed = list_failed_jobs(folder)
    is_running = folder.exists() and is_worker_running(folder)
    if as_json:
        output.json(
            {
                "installed": installed,
                "target": target.url if target else None,
                "content": request.settings.hook_collector.content,
                "is_worker_running": is_running,
                "aside": [to_builtins(job) for job in failed],
                "log": str(folder / WORKER_LOG),
            }
        )
        return
    for entry in installed:
        state = f"not installed in {entry['path']}"
        if entry["error"]:
            state = entry["error"]
        elif entry["events"]:
            missing = f", {', '.join(entry['missing'])} missing" if entry["missing"] else ""
            state = f"installed in {entry['path']}{missing}"
        output.print(f"{entry['scope']}: {state}")
    if any(OPTION in (entry["command"] or "") for entry in installed):
        output.print_message(f"environment: {_describe_here(request)}")
    output.print_message(f"target: {target.url if target else 'none yet, see `plait config`'}")
    output.print(f"content: {request.settings.hook_collector.content}")
    output.print(f"worker: {'running' if is_running else 'idle; the next hook starts it'}")
    if failed:
        jobs, last = format_count(len(failed), "job"), failed[-1]
        output.print(f"failed: {jobs}, most recently {last.job}: {last.reason}")
    output.print(f"log: {folder / WORKER_LOG}")


@click.command("work", hidden=True)
@click.option("--folder", type=Path, required=True, help="The job folder.")
@click.option(
    "--idle", type=float, help="Seconds without output after which a turn counts as complete."
)
@click.option("--life", type=float, help="Seconds to keep trying a failing target.")
def work_command(folder: Path, **limits: float | None) -> None:
    """Process the jobs that hooks have queued; started by the hooks themselves."""
    run_worker(folder, **{name: value for name, value in limits.items() if value is not None})


class HookGroup(LazyGroup):
    """The events that Claude Code calls, and the worker."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*super().list_commands(ctx), *EVENTS]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in EVENTS:
            return super().get_command(ctx, cmd_name)
        # Only its help is asked for here: `event` answers Claude Code.
        options = (
            (["-v", "--verbose"], "Print to stderr what was done."),
            (["--wait"], "Do the work in this process and wait for it."),
            ([OPTION], "Read the target from the environment."),
        )
        return click.Command(
            cmd_name,
            params=[click.Option(names, is_flag=True, help=text) for names, text in options],
            help=f"Handle Claude Code's {EVENTS[cmd_name]} event, read from stdin; always exits with 0.",
        )

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Called by Claude Code"):
            formatter.write_dl([(name, EVENT_SUMMARIES[name]) for name in EVENTS])


@click.group("hook", cls=HookGroup, table=subcommands("hook"))
def hook_command() -> None:
    """Send traces while you work: Claude Code calls this after every turn.

    New, complete turns are sent to the target in `config.toml`. Claude Code never waits for this:
    the hook queues a job and exits, and a background process does the work.
    """
