"""Slash commands of the console."""

import shutil
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
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
from plait.chat.usage import Meter
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
    from plait.chat.console.interactive import Talk


RewindTarget: TypeAlias = Literal["conversation", "files", "both"]
REWIND_TARGETS: tuple[RewindTarget, ...] = ("conversation", "files", "both")
OVERWRITE = "over"
MAX_LISTED = 20
MAX_WIDTH = 60
USAGE = "`/rewind 2 both` rewinds the conversation and the files to before the last prompt but one"


async def rewind(conversation: "Talk", rest: str) -> None:
    """Rewind to before a prompt: conversation, files, or both; ask for what was not given."""
    points = conversation.client.rewind_points()
    name, *words = rest.split() or [""]
    if not name:
        if not points:
            raise UserError("there is no prompt to rewind to yet")
        numbers = range(min(len(points), MAX_LISTED), 0, -1)  # the newest prompt is 1
        lines = [f"  {number:>2}  {_shorten(points[-number])}" for number in numbers]
        if (earlier := len(points) - MAX_LISTED) > 0:
            lines.insert(0, f"  … {format_count(earlier, 'earlier prompt')}")
        await conversation.say(*lines)
        async with conversation.keyboard.exclusive():
            text = await conversation.keyboard.answer("Rewind to before which prompt? (number) ")
        if not text or not text.strip():
            return
        name = text.strip()
    point = find_rewind_point(points, name)
    plan = conversation.client.plan_file_rewind(point)
    what = next((target for target in REWIND_TARGETS if target in words[:1]), None)
    if words and (what is None or words[1:] not in ([], [OVERWRITE])):
        raise UserError(f"cannot rewind '{' '.join(words)}'", USAGE)
    if not words:
        await conversation.say(f"before '{_shorten(point)}':", *format_plan(plan))
        what = "conversation"
        if plan and plan.steps:
            async with conversation.keyboard.exclusive():
                question = "Rewind (c)onversation, (f)iles, (b)oth or (n)othing? "
                text = await conversation.keyboard.answer(question)
            letter = (text or "").strip().casefold()[:1]
            what = next((target for target in REWIND_TARGETS if target[0] == letter), None)
    if what in ("conversation", "both"):
        await conversation.client.rewind(point)
        conversation.keyboard.restore_input(point.text)
        await conversation.say(
            f"rewound to before '{_shorten(point)}'; later messages stay in the log"
        )
    if what in ("files", "both"):
        overwrite = words[1:] == [OVERWRITE]
        if plan is None or not plan.steps:
            await conversation.say(*format_plan(plan))
        else:
            await conversation.say(*_restore_files(plan, overwrite=overwrite))
    if what is None:
        await conversation.say("nothing changed")


def _restore_files(plan: FileRewindPlan, *, overwrite: bool) -> list[str]:
    """Restore files; return what was done with each."""
    done = plan.apply(overwrite=overwrite)
    lines = [f"  {step.verb}: {safe_line(step.name)}" for step in done]
    kept = [step for step in plan.steps if step not in done]
    lines += [f"  skipped: {_format_step(step)}" for step in kept]
    if any(step.problem == "foreign" for step in kept):
        lines.append(f"`/rewind … files {OVERWRITE}` restores them too and saves copies first")
    if overwrite and plan.conflicting_steps and plan.backup_folder:
        lines.append(f"copies of the replaced files are in {plan.backup_folder}")
    return [join_dotted(format_count(len(done), "file"), "restored"), *lines]


async def branch(conversation: "Talk", rest: str) -> None:
    """Continue in a new session, from here or from before a prompt (`@2`)."""
    mark, _, title = rest.partition(" ") if rest.startswith("@") else ("", "", rest)
    point = find_rewind_point(conversation.client.rewind_points(), mark[1:]) if mark else None
    if point and point.before is None:
        raise UserError("there is nothing before the first prompt", "`/clear` starts a new session")
    old = conversation.client.session
    await conversation.branch(point, title.strip())
    if point:
        conversation.keyboard.restore_input(point.text)
    await conversation.say(
        f"now on a new branch; `plait chat --resume {old}` returns to the original"
    )


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


MAX_OFFERED = 30
TAIL_LINES = 12
"""Lines of a task's output that are shown."""
MAX_TAIL_BYTES = 20_000


async def resume(conversation: "Talk", rest: str) -> None:
    """Resume another session of this directory: the named one, or one that is picked."""
    past = conversation.archive
    if rest:
        session = past.session(rest)
    else:
        row = await conversation.keyboard.pick(
            conversation.archive.make_picker(lambda facts: facts.path != conversation.client.path)
        )
        if row is None:
            return
        session = past.archive.session_at(row.facts.path)
    past.check_directory(session)
    await conversation.resume(session.path)
    await conversation.screen.print(past.render_last_turn(session))
    await conversation.screen.print(
        [RemarkBlock(text=f"session {conversation.client.session} resumed")]
    )
    conversation.estimate_next_prompt()


async def export(conversation: "Talk", rest: str) -> None:
    """Export the conversation to a file."""
    _require_messages(conversation)
    lines = conversation.archive.export(conversation.client.path, rest)
    await conversation.say(*conversation.client.log_command("export", rest, lines))


async def graph(conversation: "Talk", rest: str) -> None:
    """Draw the session as a graph; a long one in a full-screen view."""
    _require_messages(conversation)
    lines = conversation.archive.render_graph(conversation.client.path)
    rows = shutil.get_terminal_size().lines
    if conversation.keyboard.is_live and len(lines) > rows - 4:
        await conversation.keyboard.show(
            FullView(f"session {conversation.client.session}", lambda width: lines)
        )
    else:
        await conversation.keyboard.print_above("".join(f"{line}\n" for line in lines))


def _require_messages(conversation: "Talk") -> None:
    if not conversation.client.path.exists():
        raise UserError("the session is empty")


async def todos(conversation: "Talk", rest: str) -> None:
    """Show the to-do list."""
    if conversation.activity.plan:
        await conversation.screen.print([TodoBlock(items=conversation.activity.plan)])
    else:
        await conversation.say("the to-do list is empty")


async def tasks(conversation: "Talk", rest: str) -> None:
    """Show background tasks, or the end of the output of one."""
    if not rest:
        await conversation.say(*(conversation.activity.format_running() or ["no background tasks"]))
        return
    job = conversation.activity.jobs.get(rest)
    if job is None or job.output is None:
        raise UserError(f"there is no task '{rest}'", "`/tasks` lists running tasks")
    lines = (
        job.output.read_bytes()[-MAX_TAIL_BYTES:]
        .decode("utf-8", "replace")
        .rstrip("\n")
        .split("\n")
    )
    await conversation.say(job.title, *[f"    {safe_line(line)}" for line in lines[-TAIL_LINES:]])


async def open_collapsed(conversation: "Talk", rest: str) -> None:
    """Show the last collapsed result in full, or the one with this number counted back from it."""
    views = conversation.screen.list_collapsed()
    number = int(rest) if rest.isdecimal() else 1
    if not 0 < number <= len(views):
        raise UserError(
            f"there is no result {number}", f"results are numbered from 1 (newest) to {len(views)}"
        )
    await conversation.keyboard.show(views[-number])


def complete_sessions(conversation: "Talk", typed: str) -> Iterator[Suggestion]:
    """Yield the sessions of the directory whose id or title begins with this."""
    wanted = typed.casefold()
    found: Sequence[Suggestion] = [
        Suggestion(short_id(facts.session), facts.title or "")
        for facts in conversation.archive.rows()
        if facts.path != conversation.client.path
        and (facts.session.startswith(wanted) or wanted in (facts.title or "").casefold())
    ]
    yield from found[:MAX_OFFERED]


TextCommand: TypeAlias = Callable[[Engine, str], Awaitable[list[str]]]
"""Runs a command; returns the text to show."""
TalkCommand: TypeAlias = "Callable[[Talk, str], Awaitable[None]]"
TOKEN_LABELS = (
    ("input", INPUT),
    ("cache_write", CACHE_WRITE),
    ("cache_read", CACHE_READ),
    ("output", OUTPUT),
)
SELECTABLE_MODES: tuple[Mode, ...] = ("default", "acceptEdits", "plan", "dontAsk")
"""Modes that can be selected; bypassing all permissions must be chosen at the start."""
NO_COMMANDS: Mapping[str, str] = {}
KEY_HELP = (
    ("Enter", "send; Alt-Enter, Ctrl-J or \\+Enter inserts a line break"),
    ("Ctrl-C", "stop the turn; press twice to exit"),
    ("Tab, @", "complete commands, arguments and file names"),
    ("↑, Ctrl-R", "recall queued or earlier prompts; search them"),
    ("Ctrl-O", "show collapsed results and thinking in full"),
    ("Shift-Tab", "switch mode: ask before edits, accept edits, plan only"),
    ("Ctrl-X Ctrl-E", "edit the prompt in your editor"),
)


@dataclass(frozen=True, slots=True)
class Command:
    """A slash command, its argument and its description."""

    name: str
    argument_hint: str
    help: str
    run_text: TextCommand | None = None
    """The command itself where it works without a terminal; None for interactive ones."""
    run: "TalkCommand | None" = None
    is_read_only: bool = False
    """Whether it changes nothing and can run during a turn."""

    @property
    def usage(self) -> str:
        """The command with its argument, as typed."""
        return f"/{self.name} {self.argument_hint}".strip()


async def run_command(conversation: "Talk", text: str) -> None:
    """Run the command in a line that begins with a slash."""
    name, rest = split_command(text)
    command = BY_NAME.get(name)
    if command is None and (text[1:].split(maxsplit=1) or [""])[0] in conversation.client.commands:
        await conversation.send(text)
    elif command is None:
        conversation.client.log_unknown_command(name, rest)
        await conversation.say(f"unknown command '/{name}'; /help lists the commands")
    elif command.run_text:
        await conversation.say(*await command.run_text(conversation.client, rest))
    elif command.run:
        await command.run(conversation, rest)


def complete_commands(typed: str, others: Mapping[str, str] = NO_COMMANDS) -> Iterator[Suggestion]:
    """Yield the commands that begin with this, with descriptions; custom ones last."""
    for command in COMMANDS:
        if command.name.startswith(typed.casefold()):
            yield Suggestion(command.name, command.help)
    for name, words in others.items():
        if name.startswith(typed) and name not in BY_NAME:
            yield Suggestion(name, words)


def is_read_only(text: str) -> bool:
    """Return whether a line is a command that only shows something."""
    command = BY_NAME.get(split_command(text)[0])
    return command is not None and command.is_read_only


def split_command(text: str) -> tuple[str, str]:
    """Return a command's name and argument."""
    name, _, rest = text[1:].partition(" ")
    return name.strip().casefold(), rest.strip()


async def run_text_command(client: Engine, text: str) -> list[str] | None:
    """Run a command that needs no terminal and return its text; None if there is no such command."""
    name, rest = split_command(text)
    command = BY_NAME.get(name)
    return await command.run_text(client, rest) if command and command.run_text else None


async def _rename(client: Engine, rest: str) -> list[str]:
    return [await client.rename(rest)]


async def _cost(client: Engine, rest: str) -> list[str]:
    meter = client.meter
    parts = [
        f"{format_tokens(count)} {words}"
        for name, words in TOKEN_LABELS
        if (count := getattr(meter.tokens, name))
    ]
    lines = [join_dotted(format_count(meter.responses, "response"), _format_cost(meter))]
    if parts:
        lines.append(f"tokens: {', '.join(parts)}")
    if (dollars := client.total_dollars) is not None:
        lines.append(f"session total: ${dollars:.4f}")
    return _log_unless_busy(client, "cost", rest, lines)


def _format_cost(meter: Meter) -> str:
    if meter.unpriced_responses == meter.responses:
        return "price unknown" if meter.unpriced_responses else ""
    rest = f", plus {format_count(meter.unpriced_responses, 'response')} of unknown price"
    return format_money(meter.dollars) + (rest if meter.unpriced_responses else "")


async def _context(client: Engine, rest: str) -> list[str]:
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


async def _help(conversation: "Talk", rest: str) -> None:
    own = [(f"/{name}", words) for name, words in conversation.client.commands.items()]
    rows = [*((command.usage, command.help) for command in COMMANDS), *own]
    keys = KEY_HELP if conversation.keyboard.is_live else ()
    width = max(len(name) for name, _ in (*rows, *keys))
    lines = [f"  {name:<{width}}  {words}" for name, words in (*rows, *keys)]
    await conversation.say(*lines[: len(rows)], *([""] if keys else ()), *lines[len(rows) :])


async def _exit(conversation: "Talk", rest: str) -> None:
    conversation.leave()


async def _model(client: Engine, rest: str) -> list[str]:
    if not rest:
        return [f"model: {client.model}; `/model NAME` changes it"]
    name = resolve_alias(rest)
    await client.switch(model=name)
    return client.log_command("model", rest, [f"Set model to {name}"])


async def _tools(client: Engine, rest: str) -> list[str]:
    return [format_count(len(client.tools), "tool"), *(f"  {name}" for name in client.tools)]


async def _permissions(client: Engine, rest: str) -> list[str]:
    if not rest:
        return [
            *client.rules,
            f"`/permissions MODE` changes the mode: {', '.join(SELECTABLE_MODES)}",
        ]
    mode = next((mode for mode in SELECTABLE_MODES if mode.casefold() == rest.casefold()), None)
    if mode is None:
        raise UserError(
            f"cannot switch to mode '{rest}'", f"available: {', '.join(SELECTABLE_MODES)}"
        )
    await client.switch(mode=mode)
    return [f"permission mode: {mode}"]


async def _mcp(client: Engine, rest: str) -> list[str]:
    verb, _, name = rest.partition(" ")
    if rest and (verb != "approve" or not name.strip()):
        raise UserError(
            f"'/mcp {rest}' is not a valid command",
            "`/mcp approve NAME` approves a server and starts it",
        )
    lines = await client.servers(name.strip())
    return lines or ["no MCP servers configured in .mcp.json or .claude.json"]


COMMANDS = (
    Command("help", "", "list the commands", run=_help, is_read_only=True),
    Command(
        "clear",
        "",
        "start a new session with an empty context",
        run=lambda conversation, rest: conversation.clear(),
    ),
    Command(
        "compact",
        "[focus]",
        "replace the conversation with a summary",
        run=lambda conversation, focus: conversation.compact(focus),
    ),
    Command(
        "rewind", "[N] [what]", "rewind to before a prompt: conversation, files or both", run=rewind
    ),
    Command(
        "branch",
        "[@N] [NAME]",
        "continue in a new session, here or from an earlier prompt",
        run=branch,
    ),
    Command("rename", "NAME", "rename the session", run_text=_rename),
    Command(
        "cost",
        "",
        "show tokens and cost since the session was opened",
        run_text=_cost,
        is_read_only=True,
    ),
    Command(
        "context", "", "show how full the context window is", run_text=_context, is_read_only=True
    ),
    Command("model", "[NAME]", "show or change the model: opus, sonnet, haiku …", run_text=_model),
    Command("tools", "", "list the available tools", run_text=_tools, is_read_only=True),
    Command(
        "permissions", "[MODE]", "show permission rules, or change the mode", run_text=_permissions
    ),
    Command("mcp", "[approve NAME]", "list MCP servers, or approve one", run_text=_mcp),
    Command("todos", "", "show the to-do list", run=todos, is_read_only=True),
    Command("tasks", "[ID]", "show background tasks", run=tasks, is_read_only=True),
    Command("open", "[N]", "show the last result in full", run=open_collapsed, is_read_only=True),
    Command("graph", "", "show the session as a graph", run=graph, is_read_only=True),
    Command("export", "[FILE]", "export the conversation to a file", run=export),
    Command("resume", "[SESSION]", "resume another session", run=resume),
    Command("exit", "", "exit; `plait chat --continue` resumes the session", run=_exit),
)
BY_NAME = {command.name: command for command in COMMANDS} | {"quit": COMMANDS[-1]}
