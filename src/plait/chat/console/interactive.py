"""The interactive conversation: prompts, permission dialogs and the status line."""

import asyncio
import os
import sys
import threading
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import aclosing, asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from importlib import import_module
from pathlib import Path

from plait.chat.approval import Approval, Mode
from plait.chat.console.archive import ChatArchive
from plait.chat.console.commands import (
    complete_commands,
    complete_sessions,
    find_command,
    is_read_only,
    run_command,
    split_command,
)
from plait.chat.console.keyboard import (
    Keyboard,
    LiveState,
    PlainKeyboard,
    Suggestion,
    handle_signals,
    stop_on_interrupt,
)
from plait.chat.console.openers import Engine, SessionOpener
from plait.chat.console.options import INTERRUPTED_EXIT_CODE
from plait.chat.console.screen import Activity, EventRenderer, Screen
from plait.chat.events import Compacted, Event, PromptLogged, ResponseLogged, TextDelta, TurnEnded
from plait.chat.rules import suggest_rules
from plait.chat.runtime import cancel_and_wait
from plait.chat.streaming import ModelError
from plait.chat.tools.base import Arguments, Effect, Proposal
from plait.conversation.next_prompt import HOUR, MINUTES, NextPrompt
from plait.conversation.patches import Patch, diff_texts
from plait.conversation.prices import Prices
from plait.conversation.usage import SYNTHETIC, parse_tokens
from plait.errors import PlaitError
from plait.record.billing import Figures
from plait.record.codec import convert_leniently
from plait.settings import Settings, find_home_folder
from plait.terminal.output import Output
from plait.terminal.text import safe, safe_line, shell_command, short_id
from plait.view.calls import CallLine, format_tool_name, relative_path, take_first_line
from plait.view.formats import format_model, format_money, format_tokens, join_dotted
from plait.view.terminal import (
    ALL_LINES,
    AnyBlock,
    OutputBlock,
    RemarkBlock,
    SpeechBlock,
    build_diff_block,
    iter_output_blocks,
)
from plait.write.lines import get_prompt_text, utc_now

MIN_PRICE_SHOWN = 0.01
"""The lowest price worth showing, in dollars."""


@dataclass
class StatusLine:
    """What the session holds and costs, updated from its responses."""

    prices: Prices
    warn_above: float
    """Price in dollars above which sending a prompt needs confirmation."""
    clock: Callable[[], datetime] = utc_now
    next_prompt: NextPrompt | None = None
    """What the next prompt sends; None if unknown."""
    context_percent: int | None = None
    """How full the context is, in percent."""

    def record(self, event: Event, client: Engine) -> None:
        """Update from an event."""
        match event:
            case ResponseLogged() if event.model != SYNTHETIC:
                used = parse_tokens(convert_leniently(event.usage, Figures))
                if used.total:
                    lasts = self.next_prompt.lasts if self.next_prompt else MINUTES
                    if used.cache_write:
                        lasts = HOUR if used.cache_write_1h else MINUTES
                    tokens, now = used.total_input + used.output, self.clock()
                    self.next_prompt = NextPrompt(
                        tokens,
                        tokens,
                        0,
                        1.0,
                        1.0,
                        model=event.model,
                        used=used,
                        time=now,
                        lasts=lasts,
                    )
            case Compacted():
                self.next_prompt = None
            case TurnEnded():
                self.update_context_fill(client)
            case _:
                pass

    def update_context_fill(self, client: Engine) -> None:
        """Recompute how full the context is."""
        fill = client.context_fill
        if fill is None:
            return
        self.context_percent = round(100 * fill.tokens / fill.window)
        if self.next_prompt and fill.tokens:
            self.next_prompt = replace(self.next_prompt, tokens=fill.tokens)

    @property
    def dollars(self) -> float | None:
        """The cost of the next prompt before its own text."""
        sent = self.next_prompt
        if sent is None:
            return None
        cold, warm = sent.cold_usd(self.prices), sent.warm_usd(self.prices)
        return cold if sent.is_cold(self.clock()) else warm

    def price(self) -> str:
        """Return the price of the next prompt; empty if negligible."""
        dollars = self.dollars
        if self.next_prompt is None or dollars is None or dollars < MIN_PRICE_SHOWN:
            return ""
        state = ", cache expired" if self.next_prompt.is_cold(self.clock()) else ""
        return f"next prompt {format_money(dollars)}{state}"

    def price_warning(self) -> str:
        """Return why sending needs confirmation; empty if it does not."""
        dollars = self.dollars
        if self.next_prompt is None or dollars is None or dollars < self.warn_above:
            return ""
        sent = format_tokens(self.next_prompt.tokens or 0)
        why = "the cache has expired; " if self.next_prompt.is_cold(self.clock()) else ""
        return f"{why}this sends {sent} tokens for {format_money(dollars)}"

    def render(self, client: Engine, *more: str) -> str:
        """Return the status line: model, mode, context and cost."""
        spent = client.meter.dollars
        return join_dotted(
            client.model,
            "" if client.mode == "default" else client.mode,
            f"context {self.context_percent}%" if self.context_percent is not None else "",
            format_money(spent) if spent else "",
            *more,
            self.price(),
            "/help",
        )


YES, ALWAYS_THIS_SESSION, ALWAYS_IN_PROJECT, EDIT, NO = "y", "a", "p", "e", "n"
ANSWER_ALIASES = {
    "yes": YES,
    "1": YES,
    "always": ALWAYS_THIS_SESSION,
    "2": ALWAYS_THIS_SESSION,
    "edit": EDIT,
    "no": NO,
}
EDITABLE_ARGUMENT = {"Bash": "command", "Write": "content", "Edit": "new_string"}
"""The argument that the user may edit, by tool."""
QUESTIONS: dict[Effect, str] = {
    "none": "Allow this?",
    "read": "Read this?",
    "write": "Apply this edit?",
    "execute": "Run this?",
    "network": "Fetch this?",
}
SESSION_SCOPE: dict[Effect, str] = {
    "none": "this tool",
    "read": "all reads in this directory",
    "write": "all edits in this directory",
    "execute": "this command",
    "network": "all requests to this host",
}
"""What approving for the session covers."""
QUESTION = "Proceed? "


@dataclass
class PermissionDialog:
    """Asks the user for permission, one question at a time."""

    screen: Screen
    keyboard: Keyboard
    wait_settled: Callable[[], Awaitable[None]]
    """Waits until everything before the question has been drawn."""
    run_command: Callable[[str], Awaitable[bool]]
    """Run or queue a slash command; return whether the user wants to exit."""
    _turn: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def ask(self, proposal: Proposal, call: str) -> Approval:
        """Ask the user about a tool call; Ctrl-C and the end of input stop the turn."""
        async with self._turn, self.keyboard.exclusive():
            await self.wait_settled()
            shown = [
                *render_proposal(proposal, self.screen.renderer.directory),
                render_choices(proposal),
            ]
            await self.screen.print(shown, wraps=True)
            while (text := await self.keyboard.answer(QUESTION)) is not None:
                if answer := await self._parse_answer(text.strip(), proposal):
                    return answer
            return Approval(is_allowed=False, ends_turn=True)

    async def _parse_answer(self, text: str, proposal: Proposal) -> Approval | None:
        """Return the approval that an answer stands for; None to ask again."""
        if text.startswith("/"):
            if await self.run_command(text):
                return Approval(is_allowed=False, ends_turn=True)
            await self.screen.print([render_choices(proposal)], wraps=True)
            return None
        match ANSWER_ALIASES.get(text.casefold(), text.casefold()):
            case "":
                return None
            case "y":
                return Approval(is_allowed=True)
            case "a":
                return Approval(is_allowed=True, is_for_session=True)
            case "p" if suggest_rules(proposal):
                return Approval(is_allowed=True, is_permanent=True)
            case "e" if proposal.tool in EDITABLE_ARGUMENT:
                return await self._edit(proposal)
            case "n":
                return Approval(is_allowed=False, ends_turn=True)
            case _ if text.isascii() and len(text.split()) == 1:
                # more likely a mistyped choice than an instruction to the model
                await self.screen.say(f"'{safe_line(text)}' is not one of the choices")
                await self.screen.print([render_choices(proposal)], wraps=True)
                return None
            case _:
                return Approval(is_allowed=False, feedback=text)

    async def _edit(self, proposal: Proposal) -> Approval | None:
        name = EDITABLE_ARGUMENT[proposal.tool]
        before = str(proposal.arguments.get(name, ""))
        text = await self.keyboard.edit(before)
        if text is None:
            return None
        arguments: Arguments = {**proposal.arguments, name: text}
        return Approval(is_allowed=True, arguments=arguments if text != before else None)


def render_proposal(proposal: Proposal, directory: str | None = None) -> Iterator[AnyBlock]:
    """Yield everything a call would do: users see all that they approve.

    Control characters are shown as visible signs here; elsewhere they are removed.
    """
    title = safe(proposal.title)
    is_command = proposal.effect == "execute"
    yield CallLine(
        tool=format_tool_name(proposal.tool),
        subject="" if is_command else take_first_line(relative_path(title, directory)),
        result=QUESTIONS[proposal.effect],
        outcome="missing",
    )
    if is_command:
        yield from iter_output_blocks(title, ALL_LINES, tone="plain")
        if proposal.arguments.get("run_in_background"):
            yield OutputBlock(lines=("(runs in the background)",), tone="quiet")
    # paths that the title does not show: link targets, search folders
    here = os.path.realpath(directory) if directory else None
    named = {relative_path(proposal.title, directory), relative_path(proposal.title, here)}
    paths = (str(path) for path in proposal.paths)
    unnamed = (path for path in paths if "\n" in path or relative_path(path, here) not in named)
    if lines := tuple(map(safe_line, unnamed)):
        yield OutputBlock(lines=lines, tone="plain")
    if proposal.after is not None and not is_command:
        hunks = diff_texts(safe(proposal.before or ""), safe(proposal.after))
        path = str(proposal.paths[0]) if proposal.paths else ""
        yield build_diff_block(Patch(path, hunks, 0, 0, is_new=proposal.before is None), None)


def render_choices(proposal: Proposal) -> OutputBlock:
    """Return the answers to a permission question, with their keys."""
    edit = (f"{EDIT}  yes, but let me edit it first",) if proposal.tool in EDITABLE_ARGUMENT else ()
    rules = safe_line(", ".join(suggest_rules(proposal)))
    kept = (f"{ALWAYS_IN_PROJECT}  yes, and always in this project: {rules}",) if rules else ()
    lines = (
        f"{YES}  yes",
        f"{ALWAYS_THIS_SESSION}  yes, and allow {SESSION_SCOPE[proposal.effect]} for the rest of this session",
        *kept,
        *edit,
        f"{NO}  no, and stop; or type what to do instead",
    )
    return OutputBlock(lines=lines, tone="plain")


CYCLED_MODES: tuple[Mode, ...] = ("default", "acceptEdits", "plan")
"""What Shift-Tab goes through."""


@dataclass
class ChatLoop:
    """The loop of a conversation: prompts, commands and turns."""

    client: Engine
    screen: Screen
    keyboard: Keyboard
    sessions: SessionOpener
    """Opens sessions in place of the current one."""
    status: StatusLine
    archive: ChatArchive
    activity: Activity = field(default_factory=Activity)
    queued: list[str] = field(default_factory=list)
    """Prompts typed during a turn, as shown."""
    queued_commands: list[str] = field(default_factory=list)
    """Commands typed during a turn, run when it ends."""
    has_sent: bool = False
    """Whether a prompt was sent."""
    _has_left: bool = False
    _side_tasks: set["asyncio.Future[None]"] = field(default_factory=set)

    async def run(self, first: str | None) -> int:
        """Read and run prompts until there are no more; return the exit code."""
        text = first
        try:
            while not self._has_left:
                text = text or self._next_queued_command() or await self._read_input()
                if text is None:
                    break
                await self.run_input(text)
                text = None
        except asyncio.CancelledError:
            return INTERRUPTED_EXIT_CODE
        return 0

    async def _read_input(self) -> str | None:
        """Return the next prompt; run turns for notifications that arrive before it."""
        while self.keyboard.is_live:
            typing = asyncio.ensure_future(self.keyboard.prompt())
            coming = asyncio.ensure_future(self.client.wait_for_background())
            try:
                await asyncio.wait([typing, coming], return_when=asyncio.FIRST_COMPLETED)
            finally:
                coming.cancel()
                await cancel_and_wait([typing])
            if not typing.cancelled():
                return typing.result()
            async with self._reporting_errors():
                await self.follow(self.client.continue_turns())
        return await self.keyboard.prompt()

    async def run_input(self, text: str) -> None:
        """Run a command or a turn."""
        async with self._reporting_errors():
            if text.startswith("/"):
                await self.screen.print([SpeechBlock(voice="command", text=text)])
                await run_command(self, text)
            else:
                await self.send(text)

    @asynccontextmanager
    async def _reporting_errors(self) -> AsyncIterator[None]:
        """Report errors of what runs within."""
        try:
            yield
        except PlaitError as error:
            await self._print_error(error.message, *error.hints)
        except ModelError as fault:
            await self._print_error(fault.text)
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is None or task.cancelling() > 0:
                raise
            await self._print_error("stopped")

    async def send(self, text: str) -> None:
        """Run a turn."""
        if not self.keyboard.is_live and (warning := self.status.price_warning()):
            await self.screen.print([RemarkBlock(text=warning)])  # nobody is there to confirm
        self.has_sent = True
        await self.follow(self.client.send(text), text)

    async def follow(self, events: AsyncGenerator[Event, None], text: str = "") -> None:
        """Show a turn while it runs; a prompt without an answer returns to the input line."""
        has_begun = False
        async with aclosing(events) as stream, self.keyboard.accept_input(self._queue):
            async for event in stream:
                if isinstance(event, PromptLogged) and event.text in self.queued:
                    self.queued.remove(event.text)
                has_begun = has_begun or isinstance(event, TextDelta | ResponseLogged)
                self.activity.record(event)
                self.status.record(event, self.client)
                await self.screen.show(event)
                self.keyboard.redraw()
                if isinstance(event, TurnEnded) and event.ending == "interrupted" and not has_begun:
                    self.keyboard.restore_input(text)

    def _queue(self, text: str) -> None:
        """Handle input during a turn: read-only commands run at once, everything else is queued."""
        if text.startswith("/"):
            if is_read_only(text):
                look = asyncio.ensure_future(self.run_input(text))
                self._side_tasks.add(look)
                look.add_done_callback(self._side_tasks.discard)
            else:
                self.queued.append(text)
                self.queued_commands.append(text)
        elif self.client.is_busy:
            self.queued.append(text)
            self.client.queue(text)
        else:
            self.keyboard.restore_input(text)

    async def run_command_at_question(self, text: str) -> bool:
        """Run a command that only shows something, queue others; return whether to exit."""
        name, _ = split_command(text)
        if name in ("exit", "quit"):
            self.leave()
            return True
        if is_read_only(text):
            await self.run_input(text)
        elif find_command(name) or text[1:].split(maxsplit=1)[:1] in [
            [own] for own in self.client.commands
        ]:
            self._queue(text)
            await self.say(f"'{safe_line(text)}' will run when this turn ends")
        else:
            await self.say(f"unknown command '/{safe_line(name)}'; /help lists the commands")
        return False

    def _next_queued_command(self) -> str | None:
        if not self.queued_commands:
            return None
        text = self.queued_commands.pop(0)
        self.queued.remove(text)
        return text

    def take_back(self) -> str:
        """Take back what is still queued."""
        prompts = [get_prompt_text(content) for content in self.client.take_back()]
        texts = [*prompts, *self.queued_commands]
        self.queued.clear()
        self.queued_commands.clear()
        return "\n".join(texts)

    def change_mode(self) -> None:
        """Switch to the next mode that Shift-Tab offers."""
        mode = self.client.mode
        following = (
            CYCLED_MODES[(CYCLED_MODES.index(mode) + 1) % len(CYCLED_MODES)]
            if mode in CYCLED_MODES
            else CYCLED_MODES[0]
        )
        change = asyncio.ensure_future(self.client.switch(mode=following))
        self._side_tasks.add(change)
        change.add_done_callback(self._side_tasks.discard)
        change.add_done_callback(lambda _: self.keyboard.redraw())

    def estimate_next_prompt(self) -> None:
        """Estimate the cost of a resumed session's next prompt while the user types."""
        path = self.client.path

        async def estimate() -> None:
            found = await asyncio.to_thread(self.archive.estimate_next_prompt, path)
            # by now there may be a response, or another session
            if found and self.status.next_prompt is None and self.client.path == path:
                self.status.next_prompt = found
                self.keyboard.redraw()

        task = asyncio.ensure_future(estimate())
        self._side_tasks.add(task)
        task.add_done_callback(self._side_tasks.discard)

    async def switch_session(self, client: Engine) -> None:
        """Continue with another session and close the current one."""
        old, self.client = self.client, client
        self.activity = Activity()
        self.status.next_prompt, self.status.context_percent = None, None
        await old.close()

    async def wait_settled(self) -> None:
        """Wait until all pending events have been drawn."""
        while self.client.has_events:
            await asyncio.sleep(0)

    def leave(self) -> None:
        """Exit once the running work has ended."""
        self._has_left = True

    async def say(self, *lines: str) -> None:
        """Print plain lines."""
        await self.screen.say(*lines)

    async def _print_error(self, message: str, *hints: str) -> None:
        lines = [
            RemarkBlock(text=message, tone="trouble"),
            *(RemarkBlock(text=hint) for hint in hints),
        ]
        await self.screen.print(lines)


DUMB_TERMINALS = ("dumb", "unknown")
"""Terminals that cannot redraw."""


async def run_interactive(output: Output, opener: SessionOpener, prompt: str | None) -> int:
    """Run the conversation until the user leaves; return the exit code."""
    live = LiveState()
    renderer = EventRenderer(str(opener.directory), echoes=True)
    keyboard = make_keyboard(
        output.settings, str(opener.directory), live, lambda: chat.client.commands
    )
    screen = Screen(output, renderer, keyboard)
    opener.approver = PermissionDialog(
        screen,
        keyboard,
        lambda: chat.wait_settled(),
        lambda text: chat.run_command_at_question(text),
    )
    status = StatusLine(opener.prices, output.settings.chat.ask_above_usd)
    chat = ChatLoop(opener.open(), screen, keyboard, opener, status, opener.archive)
    live.streaming_lines, live.status = screen.render_streaming_text, lambda: screen.renderer.status
    live.activity, live.collapsed = lambda: chat.activity.lines(), screen.list_collapsed
    live.queued, live.take_back = chat.queued, chat.take_back
    live.stop, live.change_mode = lambda: chat.client.interrupt(), chat.change_mode
    live.status_line = lambda: status.render(chat.client, chat.activity.summary)
    live.price_warning = status.price_warning
    live.complete_sessions = lambda typed: complete_sessions(chat, typed)

    def load_sdk() -> None:
        with suppress(ImportError):  # shown with the first prompt
            import_module("anthropic")

    try:
        with (
            (
                stop_on_interrupt(live.stop)
                if not keyboard.is_live
                else handle_signals(keyboard.interrupt)
            ),
            keyboard.raw_mode(),
        ):
            if opener.chat_options.asks_api and opener.chat_options.engine == "api":
                threading.Thread(target=load_sdk, daemon=True).start()
            what = "resumed" if opener.resumed_path else "started"
            await screen.say(
                *[
                    *opener.greeting,
                    f"{format_model(opener.model_name)} in {opener.directory}",
                    f"session {chat.client.session} {what}; /help lists commands",
                    "",
                ]
            )
            chat.client.warm_up()
            await screen.print(opener.recent())
            if opener.resumed_path:
                chat.estimate_next_prompt()
            code = await chat.run(prompt)
        name = short_id(chat.client.session)
        resume = f"`{shell_command('plait', 'chat', '--resume', name)}` resumes this session"
        await screen.say(*(opener.farewell or ([resume] if chat.has_sent else ())))
    finally:
        await chat.client.close()
    return code


def make_keyboard(
    settings: Settings,
    directory: str,
    live: LiveState | None = None,
    commands: Callable[[], Mapping[str, str]] = dict,
) -> Keyboard:
    """Return the keyboard for this terminal; a plain one without a terminal or for screen readers."""
    live = live or LiveState()
    is_dumb = settings.chat.environment.get("TERM") in DUMB_TERMINALS
    if is_dumb or not (os.isatty(0) and sys.stdout.isatty()):
        return PlainKeyboard()
    try:
        from plait.chat.console.completion import ChatCompleter, FileSuggestions, PromptHistory
        from plait.chat.console.terminal import TerminalKeyboard, make_output
    except ImportError:
        return PlainKeyboard()

    def offered(typed: str) -> Iterator[Suggestion]:
        return complete_commands(typed, commands())

    return TerminalKeyboard(
        live,
        ChatCompleter(
            offered,
            {"resume": lambda typed: live.complete_sessions(typed)},
            FileSuggestions(Path(directory), find_home_folder()),
        ),
        history=PromptHistory(settings.data / "chat" / "history.jsonl", directory),
        is_vi=settings.chat.editing_mode == "vi",
        has_colours=settings.colour != "never",
        editor=settings.chat.editor,
        output=make_output(),
    )
