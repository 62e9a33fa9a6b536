"""Starting `plait chat`: trust, engine and mode.

The user is asked once about each project whose files would run or allow something. Programs are not
asked: as in Claude Code, a project's hooks run for them, and what its shared settings allow is left
out.
"""

import asyncio
import signal
import sys
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import click

from plait.archive import Session
from plait.chat.approval import MODES
from plait.chat.claude_code import ClaudeOptions, check_claude, find_claude
from plait.chat.console.archive import ChatArchive
from plait.chat.console.command import PICK_SESSION, ChatArguments
from plait.chat.console.keyboard import PlainKeyboard, replace_surrogates, stop_on_interrupt
from plait.chat.console.openers import ApiOpener, ClaudeOpener
from plait.chat.console.options import (
    INTERRUPTED_EXIT_CODE,
    REPLAY_PREFIX,
    SCRIPT_PREFIX,
    ChatOptions,
    apply_default_mode,
    parse_options,
)
from plait.chat.hooks import load_hooks
from plait.chat.models import MessagesApi, ReplayModel, ScriptModel
from plait.chat.rules import load_permission_rules
from plait.chat.settings import ClientSettings, TrustStore, load_settings
from plait.chat.streaming import Model
from plait.cli.options import Request
from plait.errors import UserError
from plait.line import make_root
from plait.settings import Settings, find_claude_folder, find_home_folder
from plait.sources.cache import find_logs
from plait.sources.places import FOLDERS, ROOTS, find_candidates, find_default_roots
from plait.terminal.output import escape_json, write_bytes
from plait.terminal.text import safe, safe_line
from plait.view.formats import format_count

MAX_SHOWN = 20


def load_trusted_settings(request: Request, choice: ChatOptions, directory: Path) -> ClientSettings:
    """Return the settings that apply to a directory; note what is left out."""
    root, note = request.settings.roots[0], request.output.note
    trust = TrustStore(root, request.settings.data / "chat" / "trusted.json")
    is_trusted = trust.is_trusted(directory)
    found = load_settings(root, directory, is_trusted=is_trusted, is_active=True)
    if not is_trusted and not choice.is_printed and (warnings := found.trust_warnings):
        if sys.stdin is not None and sys.stdin.isatty():
            note(f"project settings in {directory}:", no_wrap=True)
            for line in warnings[:MAX_SHOWN]:
                note(f"  {safe_line(line)}", no_wrap=True)
            if len(warnings) > MAX_SHOWN:
                note(f"  and {len(warnings) - MAX_SHOWN} more")
            is_trusted = click.confirm("trust this project?", default=False, err=True)
        if is_trusted:
            trust.add(directory)
        found = load_settings(root, directory, is_trusted=is_trusted, is_active=is_trusted)
    notices = [*found.notices, *load_permission_rules(found).notices, *load_hooks(found).notices]
    if not is_trusted and not found.is_active and found.trust_warnings:
        notices.append(
            "project not trusted: its hooks, environment variables and permissions are ignored"
        )
    elif not is_trusted and found.is_active:
        shared = [file for file in found.files if file.source == "projectSettings"]
        kinds = ("allow", "additionalDirectories")
        lists = [file.value("permissions", kind) or () for file in shared for kind in kinds]
        if left := sum(map(len, lists)):
            rules = format_count(left, "rule")
            notices.append(
                f"{rules} in .claude/settings.json ignored: run `plait chat` in the project to trust it"
            )
    for notice in notices:
        note(f"warning: {notice}")
    return found


def start_chat(request: Request, prompt: str | None, given: ChatArguments) -> int:
    """Run a session; return the exit code."""
    choice = parse_options(given, request.settings.chat)
    if not given.demo:
        check_log_folder(request.settings)
    prompt = replace_surrogates(prompt) if prompt else None
    if given.demo:
        opener = make_demo_opener(request, choice)
    elif choice.engine == "claude":
        return start_claude(request, choice, prompt, given)
    else:
        opener = _make_opener(request, choice, given)
    if choice.is_printed:
        work = _run_print_mode(opener, prompt, given)
    else:
        from plait.chat.console.interactive import run_interactive

        work = run_interactive(request.output, opener, prompt)
    try:
        return asyncio.run(work)
    except asyncio.CancelledError:  # ended by a signal; everything is logged
        return INTERRUPTED_EXIT_CODE


def check_log_folder(settings: Settings) -> None:
    """Raise UserError if the folder that new sessions go to belongs to another agent."""
    root = settings.roots[0]
    if not root.exists():
        return
    others = [agent for agent in ROOTS if agent != "claude"]
    places = find_default_roots(settings.chat.environment, find_home_folder(), others)
    is_foreign = root.name in FOLDERS or root.resolve() in [place.resolve() for place in places]
    for path in () if is_foreign else find_candidates([make_root(root)], []):
        with suppress(OSError):
            is_foreign = is_foreign or find_logs(path) is not None
    if is_foreign:
        raise UserError(
            f"'{root}' is the folder of another agent: `plait chat` writes only Claude Code"
            " sessions",
            f"use `--root {find_claude_folder()}`",
        )


def find_session(request: Request, given: ChatArguments) -> Session | None:
    """Return the session to resume, None for a new one; it is picked before anything else."""
    if given.resume == PICK_SESSION:
        from plait.chat.console.interactive import make_keyboard

        if given.is_printed:
            raise UserError(
                "`--resume` needs a session name with `-p`", "for example `--resume latest`"
            )
        settings = request.settings
        picker = ChatArchive(request, settings.directory).make_picker()
        keyboard = make_keyboard(settings, str(settings.directory))
        row = asyncio.run(keyboard.pick(picker))
        if row is None:
            raise click.exceptions.Exit(0)
        return request.archive.session_at(row.facts.path)
    if given.resume:
        return request.session(given.resume)
    return request.session(".") if given.is_continued else None


def _make_opener(request: Request, choice: ChatOptions, given: ChatArguments) -> ApiOpener:
    settings, old = request.settings, find_session(request, given)
    directory = find_directory(request, old)
    client_settings = load_trusted_settings(request, choice, directory)
    choice = apply_default_mode(choice, client_settings.default_mode(MODES), settings.chat)
    archive = ChatArchive(request, directory)
    model: Model
    if choice.model.startswith(SCRIPT_PREFIX):
        model = ScriptModel.from_file(Path(choice.model.removeprefix(SCRIPT_PREFIX)))
    elif choice.model.startswith(REPLAY_PREFIX):
        model = ReplayModel(request.session(choice.model.removeprefix(REPLAY_PREFIX)).path)
    else:
        model = MessagesApi(choice.model, key=choice.api_key, base_url=choice.base_url)
    return ApiOpener(
        root=settings.roots[0],
        directory=directory,
        archive=archive,
        chat_options=choice,
        settings=client_settings,
        on_warning=request.output.note,
        model=model,
        prices=request.prices,
        environment=settings.chat.environment,
        allowed_secrets=settings.chat.let_through,
        resumed_path=old.path if old else None,
        is_fork=given.is_fork,
        at=given.at,
        recent=lambda: archive.render_last_turn(old) if old else (),
    )


def find_directory(request: Request, old: Session | None) -> Path:
    """Return the directory of the tools: the current one, or that of a resumed session."""
    here = request.settings.directory
    if old is None:
        return here
    resume = ChatArchive(request, here).check_resumable(old)
    if live := resume.warning("live"):
        request.output.note(f"warning: {live.sentence}")
    place = Path(resume.directory) if resume.directory else here
    if not place.is_dir():
        raise UserError(
            f"the directory of the session does not exist: '{place}'",
            f"create it, or use `plait move {place} .` to move its sessions here",
        )
    if place.resolve() != here.resolve():
        request.output.note(f"working directory: {place}")
    return place


async def _run_print_mode(opener: ApiOpener, prompt: str | None, given: ChatArguments) -> int:
    from plait.chat.console.print_mode import Controls, PrintMode, read_prompt, single_prompt

    lines = PlainKeyboard()
    is_streamed = given.input_format == "stream-json"
    if is_streamed and prompt:
        raise UserError(
            "with `--input-format stream-json`, prompts are read from standard input only"
        )
    words = "" if is_streamed else await read_prompt(lines, prompt)
    controls = Controls(lines, opener.chat_options.mode == "bypassPermissions")
    opener.approver = controls if given.prompt_tool else None
    async with opener.open() as client:
        printing = PrintMode.create(client, opener, given.output_format, replays=given.replays)
        if given.is_partial:
            printing.emit_deltas()
        with stop_on_interrupt(client.interrupt):
            controls.attach(client, printing.emit)
            return await printing.run(controls.prompts() if is_streamed else single_prompt(words))


MAX_LINE_BYTES = 64 << 20


def start_claude(
    request: Request, choice: ChatOptions, prompt: str | None, given: ChatArguments
) -> int:
    """Run a session with the installed client; return the exit code."""
    settings = request.settings.chat
    place = find_claude(settings.environment, settings.claude)
    executable = check_claude(place, settings.environment, settings.claude)
    old = find_session(request, given)
    where = {"ANTHROPIC_BASE_URL": choice.base_url} if choice.base_url else {}
    words: list[str] = []
    for name, value in (
        ("--max-turns", choice.max_turns),
        ("--max-budget-usd", choice.max_budget_usd),
        ("--system-prompt", choice.system_prompt),
        ("--append-system-prompt", choice.appended or None),
        *(("--add-dir", other) for other in choice.others),
    ):
        words += [name, str(value)] if value is not None else []
    words += ["--allowedTools", *choice.allowed] if choice.allowed else []
    start = ClaudeOptions(
        executable,
        request.settings.roots[0],
        find_directory(request, old),
        environment={**settings.environment, **where},
        model=choice.named_model,
        mode=choice.mode if choice.has_mode else None,
        options=tuple(words),
        denied=choice.denied,
        session=choice.session,
        title=choice.title,
        resumed=old.path.stem if old else None,
        is_fork=given.is_fork,
        at=given.at,
    )
    if choice.is_printed:
        return asyncio.run(_pass_through(start, prompt, given))
    from plait.chat.console.interactive import run_interactive

    archive = ChatArchive(request, start.directory)
    opener = ClaudeOpener(
        options=start,
        chat_options=choice,
        archive=archive,
        prices=request.prices,
        resumed_path=old.path if old else None,
        recent=lambda: archive.render_last_turn(old) if old else (),
        greeting=(f"Claude Code runs this session and writes its log ({executable})",),
    )
    try:
        return asyncio.run(run_interactive(request.output, opener, prompt))
    except asyncio.CancelledError:
        return INTERRUPTED_EXIT_CODE


async def _pass_through(start: ClaudeOptions, prompt: str | None, given: ChatArguments) -> int:
    """Run the client in print mode and pass its output on; return its exit code."""
    form = given.output_format
    words = [*start.print_command(form, given.input_format, replays=given.replays)]
    process = await asyncio.create_subprocess_exec(
        *words,
        *(("--", prompt) if prompt else ()),
        cwd=start.directory,
        env=start.process_environment,
        stdout=asyncio.subprocess.PIPE,
        limit=MAX_LINE_BYTES,
    )
    assert process.stdout
    loop = asyncio.get_running_loop()
    with suppress(NotImplementedError, RuntimeError):
        loop.add_signal_handler(signal.SIGINT, lambda: process.send_signal(signal.SIGINT))
    try:
        while line := await process.stdout.readline():
            if form == "text":
                sys.stdout.write(safe(line.decode(errors="replace")))
                sys.stdout.flush()
            else:
                write_bytes(escape_json(line.rstrip(b"\n")) + b"\n")
    except BrokenPipeError:
        process.terminate()
        raise
    finally:
        code = await process.wait()
    return code if code >= 0 else INTERRUPTED_EXIT_CODE


PAUSE = 0.03
"""Seconds between two pieces of an answer at a terminal."""
FILES = {
    "greet.py": """\
def greet(name):
    return f"Hello, {nmae}!"


if __name__ == "__main__":
    print(greet("world"))
""",
    "README.md": "# Greetings\n\nSays hello.\n",
}
EXAMPLE_PROMPT = "fix greet.py"
GREETING = (
    "This is a demo with a scripted model and a sample project.",
    "Files and commands are real, but everything stays in a temporary folder.",
)
LAST_ANSWER = """\
`nmae` was a typo for `name`; greet.py now says hello.

That was the demo. The session is logged the way Claude Code would log it:

- `/context` and `/cost` show its size and cost, `/rename` gives it a title
- after you exit, `plait show` and `plait log` show it

With a key in `ANTHROPIC_API_KEY`, `plait chat` does the same with a real model."""
NO_MORE_ANSWERS = "The demo is over; type `/exit` to leave."


def make_demo_opener(request: Request, choice: ChatOptions) -> ApiOpener:
    """Return an opener for the demo in a temporary folder."""
    folder = Path(mkdtemp(prefix="plait-demo-")).resolve()
    project = folder / "greetings"
    project.mkdir()
    for name, text in FILES.items():
        (project / name).write_text(text, encoding="utf-8")
    file, pause = str(project / "greet.py"), PAUSE if sys.stdout.isatty() else 0
    edit = {"file_path": file, "old_string": "{nmae}", "new_string": "{name}"}
    command = {"command": "python3 greet.py"}
    first_run = {"name": "Bash", "input": {**command, "description": "Run it"}}
    answers: list[dict[str, Any]] = [
        {
            "thinking": "Read the file, and run it to see what it does.",
            "text": "I'll look at it first.",
            "calls": [{"name": "Read", "input": {"file_path": file}}, first_run],
        },
        {
            "text": "There is a typo in line 2. I'll fix it.",
            "calls": [{"name": "Edit", "input": edit}],
        },
        {"text": "Let's see whether it works now.", "calls": [{"name": "Bash", "input": command}]},
        {"text": LAST_ANSWER},
    ]
    script = {
        "answers": [{**answer, "pause": pause} for answer in answers],
        "otherwise": {"text": NO_MORE_ANSWERS, "pause": pause},
    }
    model = ScriptModel(script, name="demo")
    root = folder / "claude"
    return ApiOpener(
        root=root,
        directory=project,
        chat_options=replace(choice, model=f"{SCRIPT_PREFIX}demo"),
        model=model,
        archive=ChatArchive(replace(request, roots=(str(root),)), project),
        greeting=(*GREETING, f"Try: {EXAMPLE_PROMPT}"),
        farewell=(f"`plait show latest --root {root}` shows the session",),
    )
