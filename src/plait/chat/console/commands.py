"""Slash commands of the console, each declared with its argument and its help."""

import shutil
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from plait.chat.approval import Mode
from plait.chat.console.keyboard import FullView, Suggestion
from plait.chat.console.openers import Engine
from plait.chat.model_info import resolve_alias
from plait.chat.rewind import (
    PROBLEM_TEXTS,
    FileRewindPlan,
    FileRewindStep,
    RewindPoint,
    find_rewind_point,
)
from plait.errors import UserError
from plait.terminal.text import safe_line, short_id
from plait.view.formats import (
    CACHE_READ,
    CACHE_WRITE,
    INPUT,
    OUTPUT,
    format_count,
    format_money,
    format_tokens,
    join_dotted,
)
from plait.view.terminal import RemarkBlock, TodoBlock

if TYPE_CHECKING:
    from plait.chat.console.interactive import ChatLoop

TextCommand: TypeAlias = Callable[[Engine, str], Awaitable[list[str]]]
"""Runs a command; returns the text to show."""
LoopCommand: TypeAlias = "Callable[[ChatLoop, str], Awaitable[None]]"
NO_COMMANDS: Mapping[str, str] = {}


@dataclass(frozen=True, slots=True)
class Command:
    """A slash command, its argument and its description."""

    name: str
    argument_hint: str
    help: str
    run_text: TextCommand | None = None
    """The command itself where it works without a terminal; None for interactive ones."""
    run: "LoopCommand | None" = None
    is_read_only: bool = False
    """Whether it changes nothing and can run during a turn."""

    @property
    def usage(self) -> str:
        """The command with its argument, as typed."""
        return f"/{self.name} {self.argument_hint}".strip()


COMMANDS: list[Command] = []
"""All commands, in the order of `/help`."""


def command(
    name: str, hint: str, text: str, *, is_read_only: bool = False
) -> "Callable[[LoopCommand], LoopCommand]":
    """Declare a command of the conversation loop."""

    def declare(run: LoopCommand) -> LoopCommand:
        COMMANDS.append(Command(name, hint, text, run=run, is_read_only=is_read_only))
        return run

    return declare


def text_command(
    name: str, hint: str, text: str, *, is_read_only: bool = False
) -> Callable[[TextCommand], TextCommand]:
    """Declare a command that returns text, which programs may run too."""

    def declare(run: TextCommand) -> TextCommand:
        COMMANDS.append(Command(name, hint, text, run_text=run, is_read_only=is_read_only))
        return run

    return declare


def find_command(name: str) -> Command | None:
    """Return the command with this name."""
    wanted = "exit" if name == "quit" else name
    return next((command for command in COMMANDS if command.name == wanted), None)


async def run_command(chat: "ChatLoop", text: str) -> None:
    """Run the command in a line that begins with a slash."""
    name, rest = split_command(text)
    command = find_command(name)
    if command is None and (text[1:].split(maxsplit=1) or [""])[0] in chat.client.commands:
        await chat.send(text)
    elif command is None:
        chat.client.log_unknown_command(name, rest)
        await chat.say(f"unknown command '/{name}'; /help lists the commands")
    elif command.run_text:
        await chat.say(*await command.run_text(chat.client, rest))
    elif command.run:
        await command.run(chat, rest)


async def run_text_command(client: Engine, text: str) -> list[str] | None:
    """Run a command that needs no terminal and return its text; None if there is no such command."""
    name, rest = split_command(text)
    command = find_command(name)
    return await command.run_text(client, rest) if command and command.run_text else None


def complete_commands(typed: str, others: Mapping[str, str] = NO_COMMANDS) -> Iterator[Suggestion]:
    """Yield the commands that begin with this, with descriptions; custom ones last."""
    for command in COMMANDS:
        if command.name.startswith(typed.casefold()):
            yield Suggestion(command.name, command.help)
    for name, words in others.items():
        if name.startswith(typed) and find_command(name) is None:
            yield Suggestion(name, words)


def is_read_only(text: str) -> bool:
    """Return whether a line is a command that only shows something."""
    command = find_command(split_command(text)[0])
    return command is not None and command.is_read_only


def split_command(text: str) -> tuple[str, str]:
    """Return a command's name and argument."""
    name, _, rest = text[1:].partition(" ")
    return name.strip().casefold(), rest.strip()


KEY_HELP = (
    ("Enter", "send; Alt-Enter, Ctrl-J or \\+Enter inserts a line break"),
    ("Ctrl-C", "stop the turn; press twice to exit"),
    ("Tab, @", "complete commands, arguments and file names"),
    ("↑, Ctrl-R", "recall queued or earlier prompts; search them"),
    ("Ctrl-O", "show collapsed results and thinking in full"),
    ("Shift-Tab", "switch mode: ask before edits, accept edits, plan only"),
    ("Ctrl-X Ctrl-E", "edit the prompt in your editor"),
)


@command("help", "", "list the commands", is_read_only=True)
async def show_help(chat: "ChatLoop", rest: str) -> None:
    """List the commands and keys."""
    own = [(f"/{name}", words) for name, words in chat.client.commands.items()]
    rows = [*((command.usage, command.help) for command in COMMANDS), *own]
    keys = KEY_HELP if chat.keyboard.is_live else ()
    width = max(len(name) for name, _ in (*rows, *keys))
    lines = [f"  {name:<{width}}  {words}" for name, words in (*rows, *keys)]
    await chat.say(*lines[: len(rows)], *([""] if keys else ()), *lines[len(rows) :])


@command("clear", "", "start a new session with an empty context")
async def clear(chat: "ChatLoop", rest: str) -> None:
    """Start a new session with an empty context."""
    old = chat.client.session
    await chat.switch_session(chat.sessions.clear(chat.client))
    await chat.say(f"started a new session; `plait chat --resume {old}` resumes the previous one")


@command("compact", "[focus]", "replace the conversation with a summary")
async def compact(chat: "ChatLoop", focus: str) -> None:
    """Replace the conversation with a summary."""
    await chat.follow(chat.client.compact(focus))


RewindTarget: TypeAlias = Literal["conversation", "files", "both"]
REWIND_TARGETS: tuple[RewindTarget, ...] = ("conversation", "files", "both")
OVERWRITE = "over"
MAX_LISTED = 20
MAX_WIDTH = 60
USAGE = (
    "`/rewind 2 both` rewinds the conversation and the files to before the second-to-last prompt"
)


@command("rewind", "[N] [what]", "rewind to before a prompt: conversation, files or both")
async def rewind(chat: "ChatLoop", rest: str) -> None:
    """Rewind to before a prompt: conversation, files, or both; ask for missing arguments."""
    points = chat.client.rewind_points()
    name, *words = rest.split() or [""]
    if not name:
        if not points:
            raise UserError("there is no prompt to rewind to yet")
        numbers = range(min(len(points), MAX_LISTED), 0, -1)  # the newest prompt is 1
        lines = [f"  {number:>2}  {_shorten(points[-number])}" for number in numbers]
        if (earlier := len(points) - MAX_LISTED) > 0:
            lines.insert(0, f"  … {format_count(earlier, 'earlier prompt')}")
        await chat.say(*lines)
        async with chat.keyboard.exclusive():
            text = await chat.keyboard.answer("Rewind to before which prompt? (number) ")
        if not text or not text.strip():
            return
        name = text.strip()
    point = find_rewind_point(points, name)
    plan = chat.client.plan_file_rewind(point)
    what = next((target for target in REWIND_TARGETS if target in words[:1]), None)
    if words and (what is None or words[1:] not in ([], [OVERWRITE])):
        raise UserError(f"cannot rewind '{' '.join(words)}'", USAGE)
    if not words:
        await chat.say(f"before '{_shorten(point)}':", *format_plan(plan))
        what = "conversation"
        if plan and plan.steps:
            async with chat.keyboard.exclusive():
                question = "Rewind (c)onversation, (f)iles, (b)oth or (n)othing? "
                text = await chat.keyboard.answer(question)
            letter = (text or "").strip().casefold()[:1]
            what = next((target for target in REWIND_TARGETS if target[0] == letter), None)
    if what in ("conversation", "both"):
        await chat.client.rewind(point)
        chat.keyboard.restore_input(point.text)
        await chat.say(f"rewound to before '{_shorten(point)}'; later messages stay in the log")
    if what in ("files", "both"):
        if plan is None or not plan.steps:
            await chat.say(*format_plan(plan))
        else:
            await chat.say(*_restore_files(plan, overwrite=words[1:] == [OVERWRITE]))
    if what is None:
        await chat.say("nothing changed")


def _restore_files(plan: FileRewindPlan, *, overwrite: bool) -> list[str]:
    """Restore files; return what was done with each."""
    done = plan.apply(overwrite=overwrite)
    lines = [f"  {step.verb}: {safe_line(step.name)}" for step in done]
    kept = [step for step in plan.steps if step not in done]
    lines += [f"  skipped: {_format_step(step)}" for step in kept]
    if any(step.problem == "foreign" for step in kept):
        lines.append(f"`/rewind … files {OVERWRITE}` first saves copies, then restores them too")
    if overwrite and plan.conflicting_steps and plan.backup_folder:
        lines.append(f"copies of the replaced files are in {plan.backup_folder}")
    return [join_dotted(format_count(len(done), "file"), "restored"), *lines]


def format_plan(plan: FileRewindPlan | None) -> Iterator[str]:
    """Yield the lines that describe what a rewind would change in files."""
    if plan is None:
        yield "no file backups for that prompt"
    elif not plan.steps:
        yield "no files have changed since then"
    for step in plan.steps if plan else ():
        yield f"  {_format_step(step)}"


def _format_step(step: FileRewindStep) -> str:
    if step.problem in ("outside", "lost", "unreadable"):
        return f"{safe_line(step.name)}: {PROBLEM_TEXTS[step.problem]}"
    more, fewer = step.changed_lines
    parts = join_dotted(step.verb, f"+{more} -{fewer}", PROBLEM_TEXTS[step.problem])
    return f"{safe_line(step.name)}: {parts}"


def _shorten(point: RewindPoint) -> str:
    words = safe_line(" ".join(point.text.split()))
    return words if len(words) <= MAX_WIDTH else f"{words[: MAX_WIDTH - 1]}…"


@command("branch", "[@N] [NAME]", "continue in a new session, here or from an earlier prompt")
async def branch(chat: "ChatLoop", rest: str) -> None:
    """Continue in a new session, from here or from before a prompt (`@2`)."""
    mark, _, title = rest.partition(" ") if rest.startswith("@") else ("", "", rest)
    point = find_rewind_point(chat.client.rewind_points(), mark[1:]) if mark else None
    if point and point.before is None:
        raise UserError("there is nothing before the first prompt", "`/clear` starts a new session")
    old = chat.client.session
    await chat.switch_session(await chat.sessions.branch(chat.client, point, title.strip()))
    if point:
        chat.keyboard.restore_input(point.text)
    await chat.say(f"now on a new branch; `plait chat --resume {old}` returns to the original")


@text_command("rename", "NAME", "rename the session")
async def rename(client: Engine, rest: str) -> list[str]:
    """Rename the session."""
    return [await client.rename(rest)]


TOKEN_LABELS = (
    ("input", INPUT),
    ("cache_write", CACHE_WRITE),
    ("cache_read", CACHE_READ),
    ("output", OUTPUT),
)


@text_command("cost", "", "show tokens and cost since the session was opened", is_read_only=True)
async def show_cost(client: Engine, rest: str) -> list[str]:
    """Show tokens and cost since the session was opened."""
    meter = client.meter
    cost = format_money(meter.dollars)
    if meter.unpriced_responses == meter.responses:
        cost = "price unknown" if meter.responses else ""
    elif meter.unpriced_responses:
        cost += f", plus {format_count(meter.unpriced_responses, 'response')} without a known price"
    lines = [join_dotted(format_count(meter.responses, "response"), cost)]
    parts = [
        f"{format_tokens(count)} {words}"
        for name, words in TOKEN_LABELS
        if (count := getattr(meter.tokens, name))
    ]
    if parts:
        lines.append(f"tokens: {', '.join(parts)}")
    if (dollars := client.total_dollars) is not None:
        lines.append(f"session total: ${dollars:.4f}")
    return _log_unless_busy(client, "cost", rest, lines)


@text_command("context", "", "show how full the context window is", is_read_only=True)
async def show_context(client: Engine, rest: str) -> list[str]:
    """Show how full the context window is."""
    lines, fill = ["context size unknown"], client.context_fill
    if fill:
        share = round(100 * fill.tokens / fill.window)
        used = f"{format_tokens(fill.tokens)} of {format_tokens(fill.window)} tokens ({share}%)"
        threshold = format_tokens(fill.compaction_threshold)
        lines = [used, f"automatic compaction at {threshold} tokens"]
    return _log_unless_busy(client, "context", rest, lines)


def _log_unless_busy(client: Engine, name: str, rest: str, lines: list[str]) -> list[str]:
    """Log the command, unless an answer is being written."""
    return lines if client.is_busy else client.log_command(name, rest, lines)


@text_command("model", "[NAME]", "show or change the model: opus, sonnet, haiku …")
async def show_model(client: Engine, rest: str) -> list[str]:
    """Show or change the model."""
    if not rest:
        return [f"model: {client.model}; `/model NAME` changes it"]
    name = resolve_alias(rest)
    await client.switch(model=name)
    return client.log_command("model", rest, [f"Set model to {name}"])


@text_command("tools", "", "list the available tools", is_read_only=True)
async def list_tools(client: Engine, rest: str) -> list[str]:
    """List the available tools."""
    return [format_count(len(client.tools), "tool"), *(f"  {name}" for name in client.tools)]


SELECTABLE_MODES: tuple[Mode, ...] = ("default", "acceptEdits", "plan", "dontAsk")
"""Modes that can be selected; bypassing all permissions must be chosen at the start."""


@text_command("permissions", "[MODE]", "show permission rules, or change the mode")
async def show_permissions(client: Engine, rest: str) -> list[str]:
    """Show the permission rules, or change the mode."""
    modes = ", ".join(SELECTABLE_MODES)
    if not rest:
        return [*client.rules, f"`/permissions MODE` changes the mode: {modes}"]
    mode = next((mode for mode in SELECTABLE_MODES if mode.casefold() == rest.casefold()), None)
    if mode is None:
        raise UserError(f"cannot switch to mode '{rest}'", f"available: {modes}")
    await client.switch(mode=mode)
    return [f"permission mode: {mode}"]


@text_command("mcp", "[approve NAME]", "list MCP servers, or approve one")
async def list_servers(client: Engine, rest: str) -> list[str]:
    """List the MCP servers, or approve one."""
    verb, _, name = rest.partition(" ")
    if rest and (verb != "approve" or not name.strip()):
        raise UserError(
            f"'/mcp {rest}' is not a valid command",
            "`/mcp approve NAME` approves a server and starts it",
        )
    lines = await client.servers(name.strip())
    return lines or ["no MCP servers configured in .mcp.json or .claude.json"]


@command("todos", "", "show the to-do list", is_read_only=True)
async def show_todos(chat: "ChatLoop", rest: str) -> None:
    """Show the to-do list."""
    if chat.activity.plan:
        await chat.screen.print([TodoBlock(items=chat.activity.plan)])
    else:
        await chat.say("the to-do list is empty")


TAIL_LINES = 12
"""Lines of a task's output that are shown."""
MAX_TAIL_BYTES = 20_000


@command("tasks", "[ID]", "show background tasks", is_read_only=True)
async def show_tasks(chat: "ChatLoop", rest: str) -> None:
    """Show background tasks, or the end of one task's output."""
    if not rest:
        await chat.say(*(chat.activity.format_running() or ["no background tasks"]))
        return
    job = chat.activity.jobs.get(rest)
    if job is None or job.output is None:
        raise UserError(f"there is no task '{rest}'", "`/tasks` lists running tasks")
    tail = job.output.read_bytes()[-MAX_TAIL_BYTES:].decode("utf-8", "replace")
    lines = tail.rstrip("\n").split("\n")[-TAIL_LINES:]
    await chat.say(job.title, *[f"    {safe_line(line)}" for line in lines])


@command("open", "[N]", "show the last result in full", is_read_only=True)
async def open_result(chat: "ChatLoop", rest: str) -> None:
    """Show the last collapsed result in full, or the Nth, counting back from the last."""
    views = chat.screen.list_collapsed()
    number = int(rest) if rest.isdecimal() else 1
    if not views:
        raise UserError("there are no results yet")
    if not 0 < number <= len(views):
        raise UserError(
            f"there is no result {number}", f"results are numbered from 1 (newest) to {len(views)}"
        )
    await chat.keyboard.show(views[-number])


@command("graph", "", "show the session as a graph", is_read_only=True)
async def show_graph(chat: "ChatLoop", rest: str) -> None:
    """Draw the session as a graph, in a full-screen view if it is long."""
    _require_messages(chat)
    lines = chat.archive.render_graph(chat.client.path)
    rows = shutil.get_terminal_size().lines
    if chat.keyboard.is_live and len(lines) > rows - 4:
        await chat.keyboard.show(FullView(f"session {chat.client.session}", lambda width: lines))
    else:
        await chat.keyboard.print_above("".join(f"{line}\n" for line in lines))


@command("export", "[FILE]", "export the conversation to a file")
async def export(chat: "ChatLoop", rest: str) -> None:
    """Export the conversation to a file."""
    _require_messages(chat)
    lines = chat.archive.export(chat.client.path, rest)
    await chat.say(*chat.client.log_command("export", rest, lines))


def _require_messages(chat: "ChatLoop") -> None:
    if not chat.client.path.exists():
        raise UserError("the session is empty")


@command("resume", "[SESSION]", "resume another session")
async def resume(chat: "ChatLoop", rest: str) -> None:
    """Resume another session from this directory, given by name or picked from a list."""
    if rest:
        session = chat.archive.session(rest)
    else:
        current = chat.client.path
        picker = chat.archive.make_picker(lambda facts: facts.path != current)
        row = await chat.keyboard.pick(picker)
        if row is None:
            return
        session = chat.archive.archive.session_at(row.facts.path)
    chat.archive.check_directory(session)
    if session.path == chat.client.path:
        raise UserError("this session is already open")
    await chat.switch_session(chat.sessions.resume(session.path))
    await chat.screen.print(chat.archive.render_last_turn(session))
    await chat.screen.print([RemarkBlock(text=f"session {chat.client.session} resumed")])
    chat.estimate_next_prompt()


MAX_OFFERED = 30


def complete_sessions(chat: "ChatLoop", typed: str) -> Iterator[Suggestion]:
    """Yield the sessions of the directory whose id or title begins with this."""
    wanted = typed.casefold()
    found = [
        Suggestion(short_id(facts.session), facts.title or "")
        for facts in chat.archive.rows()
        if facts.path != chat.client.path
        and (facts.session.startswith(wanted) or wanted in (facts.title or "").casefold())
    ]
    yield from found[:MAX_OFFERED]


@command("exit", "", "exit; `plait chat --continue` resumes the session")
async def leave(chat: "ChatLoop", rest: str) -> None:
    """Exit once the running work has ended."""
    chat.leave()
