"""`plait recall`, `about`, `standup`, `handoff` and `mcp`: what earlier sessions know."""

import re
import signal
import sys
from contextlib import suppress
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from msgspec import to_builtins
from msgspec.structs import replace

from plait.automation import InstallPlan, list_program_arguments, list_root_options
from plait.cli import shared
from plait.cli.automation import InstallOptions
from plait.cli.options import OptionGroup, Request, argument, command, option
from plait.errors import UserError
from plait.recall.model import HANDLE, Answer, render
from plait.record.time_words import parse_time_option
from plait.settings import find_calling_session, find_claude_folder
from plait.terminal.output import write_bytes
from plait.terminal.text import now, shell_command

if TYPE_CHECKING:
    from plait.recall.answers import Recall
    from plait.recall.background import BackgroundIndex

since_option = option(
    "--since", metavar="TIME", help="Only after this day or time; 7d is the last seven days."
)
limit_option = option("-n", "--limit", least=1, most=50, default=5, help="At most this many turns.")
no_redact_option = option("--no-redact", help="Do not redact secrets.")


def budget_option(default: int) -> Any:
    """Declare `--budget`."""
    return option(
        "--budget",
        metavar="TOKENS",
        default=default,
        show_default=True,
        help="Print at most this many tokens; the maximum is 9000.",
    )


class AnswerOptions(OptionGroup):
    """Where an answer is looked for, and how it is written."""

    project: str = option(
        "--project",
        metavar="NAME",
        default=".",
        help="A project, or '*' for all; default: this directory's project.",
    )
    budget: int = budget_option(2000)
    no_redact: bool = no_redact_option
    as_json: bool = shared.as_json

    def present(self, request: Request, answer: Answer) -> None:
        """Print an answer within the budget."""
        if self.as_json:
            request.output.json(to_builtins(answer))
        else:
            answer = replace(answer, next=CALL.sub(format_command, answer.next))
            request.output.write_text(f"{render(answer, self.budget)}\n")


CALL = re.compile(r'(?P<tool>[a-z]+)\((?:(?:\w+=)?"(?P<value>[^"]*)")?[^)]*\)')


def format_command(call: re.Match[str]) -> str:
    """Return the command that does what a call of a tool does."""
    tool, value = call["tool"], call["value"] or ""
    place = HANDLE.fullmatch(value)
    if tool == "read" and place:
        branch = ("--branch", place["branch"]) if place["branch"] else ()
        turn = ("--turn", place["turn"]) if place["turn"] else ()
        return shell_command("plait", "show", place["session"], *branch, *turn)
    if tool == "cost":
        is_session = call[0].startswith("cost(session")
        return shell_command("plait", "why", value) if is_session else "plait usage"
    if tool == "recall":
        branches = ("--branches", "all") if 'branches="all"' in call[0] else ()
        return shell_command("plait", "recall", value, "--project", "*", *branches)
    return shell_command("plait", "about", value) if tool == "about" else "plait ls"


@command(
    examples='plait recall "why was the cache disabled"\nplait recall timeout --kind error --since 30d',
)
def recall_command(
    request: Request,
    how: AnswerOptions,
    query: tuple[str, ...] = argument(required=True),
    since: str | None = since_option,
    until: str | None = option("--until", metavar="TIME", help="Only before this day or time."),
    kind: str = option(
        "--kind",
        choices=["any", "prompt", "answer", "tool", "file", "error"],
        default="any",
        help="Only prompts, answers, tool calls, file changes or errors.",
    ),
    branches: Literal["active", "all"] = option(
        "--branches",
        default="active",
        help="Which branches to search; `all` includes abandoned ones.",
    ),
    limit: int = limit_option,
    include_current: bool = option(
        "--include-current", help="Also search the session that runs this command."
    ),
) -> None:
    """Find the turns of earlier sessions that answer QUERY, with the outcome of each.

    Unlike `plait search`, this takes a question. Turns rank higher if they contain more of its words
    close together, and rarer ones. Misspelt words are corrected. The answer stays within the budget,
    and secrets are redacted.
    """
    answer = _open_recall(request, no_redact=how.no_redact).recall(
        " ".join(query),
        project=how.project,
        since=since,
        until=until,
        kind=kind,
        branches=branches,
        limit=limit,
        include_current=include_current,
    )
    how.present(request, answer)


@command(
    examples='plait about src/app.py\nplait about parse_config\nplait about "connection reset by peer"',
)
def about_command(
    request: Request, how: AnswerOptions, target: str = argument(), limit: int = limit_option
) -> None:
    """Show which turns wrote, ran or mentioned a path, symbol or error, and why."""
    recall = _open_recall(request, no_redact=how.no_redact)
    how.present(request, recall.about(target, project=how.project, limit=limit))


def _open_recall(
    request: Request, index: "BackgroundIndex | None" = None, *, no_redact: bool
) -> "Recall":
    from plait.recall.answers import Recall

    return Recall(
        request.indexed_archive,
        request.settings.directory,
        lambda text: parse_time_option(text, now()) or now(),
        find_calling_session(),
        is_redacted=not no_redact,
        index=index,
    )


@command(examples="plait standup\nplait standup --since monday")
def standup_command(
    request: Request,
    since: str = option(
        "--since", metavar="TIME", default="yesterday", help="Start; default yesterday."
    ),
    until: str | None = option("--until", metavar="TIME", help="End; default now."),
    budget: int = budget_option(9000),
    no_redact: bool = no_redact_option,
    as_json: bool = shared.as_json,
) -> None:
    """Summarise what was done, by project, as Markdown: titles, commits, files, tests."""
    from plait.recall.standup import list_work, render_standup

    recall, time = _open_recall(request, no_redact=no_redact), now()
    start = parse_time_option(since, time) or time
    work = list_work(recall, start, parse_time_option(until, time))
    if as_json:
        request.output.json(work)
    else:
        request.output.write_text(render_standup(work, start, budget))


@command(examples="plait handoff latest\nplait handoff 3f2a --to codex -o handoff.md")
def handoff_command(
    request: Request,
    session: str = argument(default="latest", shell_complete=shared.complete_session),
    to: str | None = option(
        "--to", metavar="AGENT", help="Also print the command that starts this agent."
    ),
    file: str | None = option("-o", "--output", metavar="FILE", help="Write the brief to FILE."),
    budget: int = budget_option(4000),
    no_redact: bool = no_redact_option,
    as_json: bool = shared.as_json,
) -> None:
    """Write a handover brief of SESSION from its log, without a model.

    It lists the goal, decisions, open tasks, failing commands, changed files, later prompts and the
    last state, with references to turns. With `--to`, the brief is written to a file, and the
    command that starts the other agent with it is printed.
    """
    from plait.recall.handoff import build_handoff, format_start, render_handoff

    brief = build_handoff(_open_recall(request, no_redact=no_redact), session)
    text = render_handoff(brief, budget)
    path = Path(file) if file else Path(f"handoff-{brief.session[:8]}.md") if to else None
    target = request.settings.directory / path if path else None
    start = format_start(to, str(target), brief.directory) if to else None
    if target:
        if target.exists() and not file:
            raise UserError(
                f"'{path}' exists", "use `-o FILE` to name another file or replace this one"
            )
        try:
            target.write_text(text, encoding="utf-8")
        except OSError as error:
            raise UserError(f"cannot write '{path}': {error.strerror}") from error
    if as_json:
        request.output.json(to_builtins(brief) | {"file": str(target or ""), "start": start})
    elif target:
        request.output.note(f"wrote {path}")
        if start:
            request.output.write_text(f"{start}\n")
    else:
        request.output.write_text(text)


@command(
    examples="plait mcp --install --dry-run\nplait mcp --skill > .claude/skills/recall/SKILL.md"
)
def mcp_command(
    request: Request,
    is_http: bool = option("--http", help="Serve over HTTP on this machine."),
    port: int = option("--port", least=0, most=65535, default=8430, help="With --http: the port."),
    is_installed: bool = option("--install", help="Add the server to Claude Code."),
    is_removed: bool = option("--uninstall", help="Remove the server from Claude Code."),
    *,
    how: InstallOptions,
    skill: bool = option("--skill", help="Print a skill file, for use without a server."),
    no_redact: bool = no_redact_option,
) -> None:
    """Serve earlier sessions to agents over the Model Context Protocol.

    Five read-only tools: `recall`, `read`, `about`, `sessions` and `cost`; prompts `handoff` and
    `standup`; sessions as resources. Once installed, Claude Code starts the server by itself.
    """
    if skill:
        write_bytes((files("plait.recall") / "SKILL.md").read_bytes())
    elif is_installed or is_removed:
        if is_installed and is_removed:
            raise UserError("use either `--install` or `--uninstall`, not both")
        _install(request, how, is_removed=is_removed)
    else:
        _serve(request, port if is_http else None, no_redact=no_redact)


def _install(request: Request, how: InstallOptions, *, is_removed: bool) -> None:
    from plait.recall.install import plan_server

    output, directory = request.output, request.settings.directory
    where: tuple[str, ...] = ()
    if how.scope == "project":
        path = directory / ".mcp.json"
    else:
        configuration = find_claude_folder()
        path = configuration / ".claude.json"
        if not path.exists() and configuration.name == ".claude":
            path = configuration.with_name(".claude.json")
        where = ("projects", str(directory)) if how.scope == "local" else ()
    arguments = [*list_program_arguments(), "mcp", *list_root_options(request.settings)]
    entry = {"type": "stdio", "command": arguments[0], "args": arguments[1:]}
    plan = InstallPlan("mcp", (plan_server(path, where, None if is_removed else entry),))
    if not plan.is_change:
        output.print(f"the server is {'not' if is_removed else 'already'} in {path}")
    elif how.confirm(request, plan):
        output.print(f"{'removed the server from' if is_removed else 'added the server to'} {path}")


def _serve(request: Request, port: int | None, *, no_redact: bool) -> None:
    from plait.mcp_server import PATH, serve_http, serve_stdio

    def open_recall() -> "Recall":
        from plait.recall.background import BackgroundIndex

        return _open_recall(request, BackgroundIndex(request.settings.index), no_redact=no_redact)

    with suppress(KeyboardInterrupt):
        if port is None:
            serve_stdio(open_recall)
            return
        from plait.cli.serve import running_file
        from plait.web.address import find_running_server, open_listener
        from plait.web.guard import Keys, new_secret

        running = find_running_server(running_file(request))
        listener = open_listener("127.0.0.1", port)
        secret = running.secret if running else new_secret()
        used = listener.getsockname()[1]
        url, key = f"http://127.0.0.1:{used}{PATH}", Keys(secret).key
        request.output.note(f"serving at {url}", no_wrap=True)
        hint = shell_command("plait", "open", "--print-key", *request.root_options)
        source = f"with the key {key}"
        if running and not sys.stderr.isatty():
            source = f"with the key that `{hint}` prints"
        request.output.note(f"send `Authorization: Bearer KEY` {source}", no_wrap=True)
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        serve_http(open_recall, listener, secret)
