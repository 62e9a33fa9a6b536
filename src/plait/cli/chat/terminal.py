"""Keys at a terminal to prompts and answers, below what is drawn meanwhile.

While a turn goes on, the last lines show the words that stream, what is being done and what
waits; one can type on, and what is sent off is queued. Whatever asks a question takes the place
of that until it is answered; what was typed so far stays.
"""

import asyncio
import shutil
import sys
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from prompt_toolkit import PromptSession
from prompt_toolkit.application import run_in_terminal
from prompt_toolkit.completion import WordCompleter
from prompt_toolkit.document import Document
from prompt_toolkit.history import InMemoryHistory
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.styles import Style

from plait.cli.chat.keyboard import MARK, Live, whole_text
from plait.cli.text import clipped, safe, safe_line
from plait.view.text import columns

if TYPE_CHECKING:
    from collections.abc import Iterable

    from prompt_toolkit.formatted_text import StyleAndTextTuples

REFRESH = 0.5
GRACE = 2.0
"""Seconds in which a second Ctrl-C leaves."""
TAIL_LINES = 8
LEAVE = "Ctrl-C again to leave"
STYLE = Style.from_dict({"tail": "", "state": "italic", "bottom-toolbar": "noreverse"})
PLAIN = Style.from_dict({"bottom-toolbar": "noreverse"})


class Left(Exception):
    """The person wants to go."""


class _Away(Exception):
    """Something else needs the keyboard."""


class TerminalKeyboard:
    """Reads keys with line editing, history and completion of commands."""

    is_live = True

    def __init__(
        self,
        live: Live,
        commands: "Iterable[str]" = (),
        *,
        has_colours: bool = True,
        **streams: Any,
    ) -> None:
        self.live = live
        self._kept = Document()
        self._free = asyncio.Event()
        """Whether nothing is asked."""
        self._free.set()
        self._held = asyncio.Lock()
        self._is_busy = False
        self._began = 0.0
        self._warned_at = -GRACE
        self._session: PromptSession[str] = PromptSession(
            multiline=True,
            history=InMemoryHistory(),
            completer=WordCompleter([f"/{name}" for name in commands], sentence=True),
            complete_while_typing=False,
            key_bindings=self._keys(),
            prompt_continuation="  ",
            bottom_toolbar=self._toolbar,
            style=STYLE if has_colours else PLAIN,
            erase_when_done=True,
            reserve_space_for_menu=4,
            **streams,
        )

    async def prompt(self) -> str | None:
        """Returns the next prompt; None where the person leaves."""
        while True:
            try:
                text = await self._read(self._message)
            except (Left, EOFError):
                return None
            if text.strip():
                return text

    async def answer(self, question: str) -> str | None:
        """Returns what is said to a question, None for Ctrl-C or Ctrl-D."""
        return await self._asked(question, "")

    async def changed(self, text: str) -> str | None:
        """Returns a text as the person edited it, None where they gave up."""
        await self.above("Edit it; Esc Enter takes it, Ctrl-C leaves it as it was.\n")
        return await self._asked("", text, is_text=True)

    @asynccontextmanager
    async def ahead(self, take: Callable[[str], None]) -> AsyncIterator[None]:
        """While entered, prompts are taken ahead, and Ctrl-C stops what goes on."""
        self._is_busy, self._began = True, time.monotonic()
        self._warned_at = -GRACE
        typing = asyncio.ensure_future(self._typing(take))
        leaving = asyncio.current_task()
        typing.add_done_callback(lambda done: _pass_on(done, leaving))
        try:
            yield
        finally:
            self._is_busy = False
            typing.cancel()
            with suppress(asyncio.CancelledError, Left, EOFError):
                await typing

    async def above(self, text: str) -> None:
        """Writes what is drawn, above the line where one types."""
        await run_in_terminal(lambda: _write(text))

    def redraw(self) -> None:
        """Draws the lines below again."""
        self._session.app.invalidate()

    @property
    def typed(self) -> str:
        """What is typed and not sent."""
        return self._session.default_buffer.text

    def below(self) -> str:
        """Returns the lines below as words alone."""
        return "".join(part[1] for part in self._message())

    def put_back(self, text: str) -> None:
        """Has words stand where one types, before what was typed since."""
        is_typing = self._session.app.is_running
        since = self.typed if is_typing else self._kept.text
        whole = Document("\n".join(filter(None, (text, since))))
        if is_typing:
            self._session.default_buffer.document = whole
        else:
            self._kept = whole

    async def _typing(self, take: Callable[[str], None]) -> None:
        while True:
            await self._free.wait()
            async with self._held:
                try:
                    text = await self._read(self._message)
                except _Away:
                    continue
            if text.strip():
                take(text)

    @asynccontextmanager
    async def alone(self) -> AsyncIterator[None]:
        """While entered, the keyboard is not typed ahead at; what was typed so far stays."""
        self._free.clear()
        self._yield()
        try:
            async with self._held:
                yield
        finally:
            self._free.set()

    def _yield(self) -> None:
        app = self._session.app
        if not self._free.is_set() and app.is_running:
            app.exit(exception=_Away())

    async def _asked(self, question: str, text: str, *, is_text: bool = False) -> str | None:
        keys = _text_keys() if is_text else _answer_keys()
        session: PromptSession[str] = PromptSession(
            multiline=True,
            key_bindings=keys,
            erase_when_done=True,
            style=self._session.style,
            input=self._session.input,
            output=self._session.output,
        )
        try:
            said = await session.prompt_async(safe(question), default=text)
        except (KeyboardInterrupt, EOFError):
            return None
        said = whole_text(said)
        if not is_text:
            await self.above(f"{safe(question)}{safe_line(said)}\n")
        return said

    async def _read(self, message: "Callable[[], StyleAndTextTuples]") -> str:
        try:
            text = await self._session.prompt_async(
                message,
                default=self._kept,
                refresh_interval=REFRESH,
                pre_run=self._yield,
                handle_sigint=False,
            )
        except BaseException:
            self._kept = self._session.default_buffer.document
            raise
        self._kept = Document()
        return whole_text(text)

    def _message(self) -> "StyleAndTextTuples":
        if not self._is_busy:
            return [("bold", MARK)]
        width = shutil.get_terminal_size().columns
        lines = [("class:tail", f"{line}\n") for line in _tail(self.live.words(), width - 1)]
        took = int(time.monotonic() - self._began)
        state = f"· {safe_line(self.live.doing())}"
        margin = f" {took} s, Ctrl-C stops" if not self._is_warned else f" {LEAVE}"
        room = max(width - 1 - columns(margin), 8)
        waiting = [("", f"  queued: {safe_line(one)}") for one in self.live.waiting]
        return [
            *lines,
            ("class:state", f"{clipped(state, room)}{margin}\n"),
            *((style, f"{clipped(words, width - 1)}\n") for style, words in waiting),
            ("bold", MARK),
        ]

    @property
    def _is_warned(self) -> bool:
        return time.monotonic() - self._warned_at < GRACE

    def _toolbar(self) -> str:
        width = shutil.get_terminal_size().columns
        words = LEAVE if self._is_warned and not self._is_busy else self.live.standing()
        return clipped(safe_line(words), width - 1)

    def interrupted(self) -> None:
        """Stops what goes on; a second time, or where nothing does, leaves."""
        app = self._session.app
        if self._is_busy and not self._is_warned:
            self._warned_at = time.monotonic()
            self.live.stop()
        elif not self._is_busy and self._session.default_buffer.text:
            self._session.default_buffer.reset()
        elif not self._is_warned:
            self._warned_at = time.monotonic()
        elif app.is_running:
            app.exit(exception=Left())
        app.invalidate()

    def _keys(self) -> KeyBindings:
        keys = _line_keys()

        @keys.add("c-c")
        def _(event: KeyPressEvent) -> None:
            self.interrupted()

        @keys.add("<any>")
        def _(event: KeyPressEvent) -> None:
            self._warned_at = -GRACE
            event.current_buffer.insert_text(event.data)

        @keys.add("c-d")
        def _(event: KeyPressEvent) -> None:
            if not event.current_buffer.text:
                event.app.exit(exception=Left())

        return keys


def _pass_on(done: "asyncio.Future[None]", task: "asyncio.Task[Any] | None") -> None:
    """Ends a turn whose person has left."""
    if not done.cancelled() and isinstance(done.exception(), Left) and task:
        task.cancel()


def _line_keys() -> KeyBindings:
    """Returns keys with which Enter sends off; Alt-Enter, Ctrl-J or a backslash break a line."""
    keys = KeyBindings()

    @keys.add("enter")
    def _(event: KeyPressEvent) -> None:
        buffer = event.current_buffer
        if buffer.document.text_before_cursor.endswith("\\"):
            buffer.delete_before_cursor()
            buffer.insert_text("\n")
        else:
            buffer.validate_and_handle()

    @keys.add("escape", "enter")
    @keys.add("c-j")
    def _(event: KeyPressEvent) -> None:
        event.current_buffer.insert_text("\n")

    return keys


def _answer_keys() -> KeyBindings:
    keys = KeyBindings()

    @keys.add("enter")
    def _(event: KeyPressEvent) -> None:
        event.current_buffer.validate_and_handle()

    @keys.add("c-c")
    def _(event: KeyPressEvent) -> None:
        event.app.exit(exception=KeyboardInterrupt())

    return keys


def _text_keys() -> KeyBindings:
    keys = KeyBindings()

    @keys.add("escape", "enter")
    def _(event: KeyPressEvent) -> None:
        event.current_buffer.validate_and_handle()

    @keys.add("c-c")
    def _(event: KeyPressEvent) -> None:
        event.app.exit(exception=KeyboardInterrupt())

    return keys


def _tail(text: str, width: int) -> list[str]:
    """Returns the last lines of a text, broken at the edge."""
    if not text.strip():
        return []
    shown = safe(text[-width * TAIL_LINES * 4 :]).expandtabs(4).split("\n")
    lines = [part for line in shown for part in _broken(line, max(width, 8))]
    return lines[-TAIL_LINES:]


def _broken(line: str, width: int) -> list[str]:
    from rich.cells import chop_cells

    if columns(line) <= width:
        return [line]
    return [part for words in wrap(line, width) for part in chop_cells(words, width)]


def _write(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()
