"""Keys at a terminal to prompts and answers, below what is drawn meanwhile.

While a turn goes on, the last lines show the words that stream, what is being done and what
waits; one can type on, and what is sent off is queued. Whatever asks a question takes the place
of that until it is answered; what was typed so far stays. What takes the whole screen, such as
output that was folded, has it until it is left; what is drawn meanwhile comes then.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractContextManager, asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any, TypeVar

from prompt_toolkit import PromptSession
from prompt_toolkit.application import get_app_or_none
from prompt_toolkit.document import Document
from prompt_toolkit.enums import EditingMode
from prompt_toolkit.filters import Condition
from prompt_toolkit.history import InMemoryHistory
from prompt_toolkit.key_binding.vi_state import InputMode
from prompt_toolkit.styles import Style

from plait.cli.chat.below import GRACE, Below
from plait.cli.chat.bindings import Asked, answer_keys, prompt_keys, text_keys
from plait.cli.chat.completion import ChatCompleter
from plait.cli.chat.keyboard import MARK, Live, View, whole_text
from plait.cli.chat.steady import draw_above
from plait.cli.text import safe, safe_line

if TYPE_CHECKING:
    from prompt_toolkit.formatted_text import StyleAndTextTuples
    from prompt_toolkit.history import History
    from prompt_toolkit.input import Input
    from prompt_toolkit.output import Output

    from plait.cli.chat.picking import Picking, Row

T = TypeVar("T")
REFRESH = 0.5
ESCAPE_TIME = 0.1
"""Seconds after which Escape is a key of its own."""
LEAST_BETWEEN = 0.03
"""Seconds between two drawings."""
NAVIGATION_MARK = ": "
EDITOR = "vi"
STYLE = Style.from_dict({"state": "italic", "bottom-toolbar": "noreverse fg:ansibrightblack"})
PLAIN = Style.from_dict({"bottom-toolbar": "noreverse"})


class Left(Exception):
    """The person wants to go."""


class _Away(Exception):
    """Something else needs the keyboard."""


class TerminalKeyboard:
    """Reads keys with line editing, history and completion."""

    is_live = True

    def __init__(
        self,
        live: Live,
        completer: ChatCompleter | None = None,
        *,
        history: "History | None" = None,
        is_vi: bool = False,
        has_colours: bool = True,
        editor: str = EDITOR,
        **streams: Any,
    ) -> None:
        self.live = live
        self._editor = editor
        self._below = Below(live)
        self._kept = Document()
        self._free = asyncio.Event()
        """Whether nothing is asked."""
        self._free.set()
        self._held = asyncio.Lock()
        self._whole = asyncio.Lock()
        """Held by whatever has the whole screen."""
        self._next: Callable[[], Awaitable[None]] | None = None
        """What wants the whole screen."""
        self._session = self._prompts(completer or ChatCompleter(), history, is_vi, streams)
        self._session.style = STYLE if has_colours else PLAIN
        self._session.app.ttimeoutlen = ESCAPE_TIME
        self._session.app.min_redraw_interval = LEAST_BETWEEN
        self._session.default_buffer.on_text_changed += self._calm_down

    def _prompts(
        self,
        completer: ChatCompleter,
        history: "History | None",
        is_vi: bool,
        streams: dict[str, Any],
    ) -> "PromptSession[str]":
        return PromptSession(
            multiline=True,
            editing_mode=EditingMode.VI if is_vi else EditingMode.EMACS,
            history=history or InMemoryHistory(),
            completer=completer,
            complete_while_typing=Condition(lambda: completer.is_due(self._before_cursor)),
            complete_in_thread=True,
            enable_suspend=True,
            key_bindings=prompt_keys(
                self.live,
                Asked(
                    self.interrupted,
                    self._leave,
                    self._open_folded,
                    self._open_editor,
                    self._may_send,
                ),
            ),
            prompt_continuation="  ",
            bottom_toolbar=self._below.toolbar,
            erase_when_done=True,
            reserve_space_for_menu=6,
            **streams,
        )

    def attached(self) -> AbstractContextManager[None]:
        """While entered, keys stay keys between two prompts, too, and are not echoed."""
        return self._session.input.raw_mode()

    async def prompt(self) -> str | None:
        """Returns the next prompt; None where the person leaves."""
        while True:
            try:
                text = await self._read()
            except _Away:
                await self._let_open()
                continue
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
        self._below.begin()
        typing = asyncio.ensure_future(self._typing(take))
        leaving = asyncio.current_task()
        typing.add_done_callback(lambda done: _pass_on(done, leaving))
        try:
            yield
            async with self._whole:  # whoever looks at something looks on
                pass
        finally:
            self._below.is_busy = False
            typing.cancel()
            with suppress(asyncio.CancelledError, Left, EOFError):
                await typing

    async def above(self, text: str) -> None:
        """Writes what is drawn, above the line where one types."""
        async with self._whole:
            draw_above(get_app_or_none(), text)

    def redraw(self) -> None:
        """Draws the lines below again."""
        self._session.app.invalidate()

    @property
    def typed(self) -> str:
        """What is typed and not sent."""
        return self._session.default_buffer.text

    @property
    def is_covered(self) -> bool:
        """Whether something has the whole screen."""
        return self._whole.locked()

    @property
    def history_size(self) -> int:
        """How many prompts can be brought back."""
        return len(self._session.history.get_strings())

    @property
    def _before_cursor(self) -> str:
        return self._session.default_buffer.document.text_before_cursor

    def below(self) -> str:
        """Returns the lines below as words alone."""
        return "".join(part[1] for part in self._message())

    def status(self) -> str:
        """Returns the line below all others."""
        return self._below.toolbar()

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
                    text = await self._read()
                except _Away:
                    await self._let_open()
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
        """Ends the reading of keys where something else needs them."""
        app = self._session.app
        if (not self._free.is_set() or self._next) and app.is_running and not app.is_done:
            app.exit(exception=_Away())

    async def _let_open(self) -> None:
        """Gives the screen to what wants all of it, and waits until that is left."""
        wanted, self._next = self._next, None
        if wanted:
            async with self._whole:
                await wanted()

    async def pick(self, picking: "Picking") -> "Row | None":
        """Returns the session that is chosen on a screen of its own."""
        from plait.cli.chat.picker import pick

        return await self._covering(lambda: pick(picking, *self._streams))

    async def look_at(self, view: View) -> None:
        """Shows something on a screen of its own."""
        from plait.cli.chat.viewer import look_at

        await self._covering(lambda: look_at([view], *self._streams))

    async def _covering(self, wanted: Callable[[], Awaitable[T]]) -> T:
        """Gives the whole screen to something; whoever types goes on afterwards."""
        if not self._session.app.is_running:
            async with self._whole:
                return await wanted()
        done: asyncio.Future[T] = asyncio.get_running_loop().create_future()

        async def cover() -> None:
            try:
                done.set_result(await wanted())
            finally:
                done.cancel()

        self._open(cover)
        return await done

    @property
    def _streams(self) -> "tuple[Input, Output]":
        return self._session.input, self._session.output

    def _open_folded(self) -> None:
        if views := self.live.folded():
            from plait.cli.chat.viewer import look_at

            self._open(lambda: look_at(views, *self._streams))

    def _open_editor(self) -> None:
        self._open(self._edited_outside)

    def _open(self, wanted: Callable[[], Awaitable[None]]) -> None:
        self._next = wanted
        self._yield()

    async def _edited_outside(self) -> None:
        from plait.cli.chat.viewer import edited_outside

        with self._session.input.cooked_mode():
            text = await edited_outside(self._kept.text, self._editor)
        self._kept = Document(text)

    async def _asked(self, question: str, text: str, *, is_text: bool = False) -> str | None:
        session: PromptSession[str] = PromptSession(
            multiline=True,
            key_bindings=text_keys() if is_text else answer_keys(),
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

    async def _read(self) -> str:
        try:
            text = await self._session.prompt_async(
                self._message,
                default=self._kept,
                refresh_interval=REFRESH,
                pre_run=self._yield,
                handle_sigint=False,
            )
        except BaseException:
            self._kept = self._session.default_buffer.document
            raise
        finally:
            self._below.doubt = ""
        self._kept = Document()
        return whole_text(text)

    def _message(self) -> "StyleAndTextTuples":
        app = self._session.app
        is_moving = (
            app.editing_mode == EditingMode.VI and app.vi_state.input_mode == InputMode.NAVIGATION
        )
        return self._below.message(NAVIGATION_MARK if is_moving else MARK)

    def _calm_down(self, buffer: object) -> None:
        self._below.warned_at, self._below.doubt = -GRACE, ""

    def _may_send(self, text: str) -> bool:
        """Tells whether a prompt goes off; one that costs much has to be confirmed."""
        below = self._below
        if below.is_busy or below.doubt or not text.strip() or text.startswith("/"):
            return True
        below.doubt = self.live.doubt()
        return not below.doubt

    def _leave(self) -> None:
        self._session.app.exit(exception=Left())

    def interrupted(self) -> None:
        """Stops what goes on; a second time, or where nothing does, leaves."""
        app, below = self._session.app, self._below
        if below.is_busy and not below.is_warned:
            below.warned_at = time.monotonic()
            self.live.stop()
        elif not below.is_busy and self._session.default_buffer.text:
            self._session.default_buffer.reset()
        elif not below.is_warned:
            below.warned_at = time.monotonic()
        elif app.is_running and not app.is_done:
            self._leave()
        app.invalidate()


def _pass_on(done: "asyncio.Future[None]", task: "asyncio.Task[Any] | None") -> None:
    """Ends a turn whose person has left."""
    if not done.cancelled() and isinstance(done.exception(), Left) and task:
        task.cancel()
