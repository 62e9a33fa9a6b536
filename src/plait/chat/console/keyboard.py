"""Reading prompts and answers from standard input, and handling signals."""

import asyncio
import os
import signal
import sys
import threading
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from contextlib import (
    AbstractAsyncContextManager,
    AbstractContextManager,
    asynccontextmanager,
    contextmanager,
    nullcontext,
    suppress,
)
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol, TypeAlias

from plait.chat.console.archive import Row, SessionPicker
from plait.cli.text import safe_line

TERMINATION_SIGNALS = tuple(
    getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)
)


@contextmanager
def stop_on_interrupt(stop: Callable[[], bool]) -> Iterator[None]:
    """While entered, Ctrl-C stops what goes on; where nothing does, or again, the task ends."""
    task = asyncio.current_task()
    has_stopped = False

    def interrupt() -> None:
        nonlocal has_stopped
        if (has_stopped or not stop()) and task:
            task.cancel()
        has_stopped = True

    with handle_signals(interrupt):
        yield


@contextmanager
def handle_signals(interrupt: Callable[[], None]) -> Iterator[None]:
    """While entered, Ctrl-C is told, and what would end the process ends the task in order."""
    loop, task = asyncio.get_running_loop(), asyncio.current_task()
    end: Callable[[], object] = task.cancel if task else str
    handlers: dict[int, Callable[[], object]] = {signal.SIGINT: interrupt}
    handlers |= dict.fromkeys(TERMINATION_SIGNALS, end)
    # only the main thread can, and not on every platform
    with suppress(NotImplementedError, RuntimeError, ValueError):
        for number, handler in handlers.items():
            loop.add_signal_handler(number, handler)
    try:
        yield
    finally:
        with suppress(NotImplementedError, RuntimeError, ValueError):
            for number in handlers:
                loop.remove_signal_handler(number)


CHUNK = 1 << 16
END_OF_TEXT = "."
PROMPT_MARK = "> "
MAX_NUMBERED = 20
DEFAULT_WIDTH = 96
"""Columns of a line where nobody knows how many there are."""


class Suggestion(NamedTuple):
    """What can stand there, and what it is."""

    text: str
    about: str = ""


SuggestionSource: TypeAlias = Callable[[str], Iterable[Suggestion]]
"""Returns what may follow the text typed so far."""


class FullView(NamedTuple):
    """Something to look at on a screen of its own."""

    title: str
    lines: Callable[[int], Sequence[str]]
    """Returns its lines as they are drawn in so many columns."""


@dataclass
class LiveState:
    """What a keyboard with lines below it tells there, and what it can stop."""

    words: Callable[[int, int], Sequence[str]] = lambda width, rows: ()
    """The last lines of the words that stream, laid out in so many columns and rows."""
    doing: Callable[[], str] = str
    activity: Callable[[], Sequence[str]] = tuple
    """What goes on beside it, a line each."""
    status_line: Callable[[], str] = str
    """What is always told, at the very bottom."""
    queued: list[str] = field(default_factory=list)
    """Prompts that were typed ahead."""
    stop: Callable[[], bool] = bool
    take_back: Callable[[], str] = str
    """Takes back what waits, as it was typed."""
    change_mode: Callable[[], None] = lambda: None
    """Has more or less be done without asking."""
    collapsed: Callable[[], Sequence[FullView]] = tuple
    """What is not shown whole, the newest last."""
    price_warning: Callable[[], str] = str
    """Why one should think before one sends, nothing where one need not."""
    complete_sessions: SuggestionSource = lambda typed: ()
    """The sessions whose names begin so."""


class Keyboard(Protocol):
    """Whoever types: prompts, and answers to questions."""

    is_live: bool
    """Whether what is not whole yet is shown, and typed ahead."""

    def attached(self) -> AbstractContextManager[None]:
        """While entered, what is typed waits until somebody reads it."""

    async def prompt(self) -> str | None:
        """Return the next prompt, None where there will be none."""

    def exclusive(self) -> AbstractAsyncContextManager[None]:
        """While entered, what is typed answers questions."""

    async def answer(self, question: str) -> str | None:
        """Return what is said to a question, None where nothing is."""

    async def edit(self, text: str) -> str | None:
        """Return a text as the person changed it, None where they did not."""

    def type_ahead(self, take: Callable[[str], None]) -> AbstractAsyncContextManager[None]:
        """While entered, what is typed is taken ahead."""

    async def print_above(self, text: str) -> None:
        """Write what is drawn, above where one types."""

    def redraw(self) -> None:
        """Draw anew what is below."""

    def restore_input(self, text: str) -> None:
        """Give words back to whoever typed them, to be changed or sent again."""

    def interrupt(self) -> None:
        """Stop what goes on, or leaves."""

    async def pick(self, picker: SessionPicker) -> Row | None:
        """Return the session that is chosen, None where none is."""

    async def show(self, view: FullView) -> None:
        """Show something that may be long."""


class PlainKeyboard:
    """Reads lines of standard input, whatever it is: a pipe, a file, a terminal."""

    is_live = False

    def __init__(self, *, descriptor: int = 0) -> None:
        self._descriptor = descriptor
        self._read = b""
        self._is_over = False

    def attached(self) -> AbstractContextManager[None]:
        """Do nothing: lines wait where they are."""
        return nullcontext()

    async def prompt(self) -> str | None:
        """Return the next line that says something; one that ends with a backslash goes on."""
        parts: list[str] = []
        if os.isatty(self._descriptor) and sys.stdout.isatty():
            sys.stdout.write(PROMPT_MARK)
            sys.stdout.flush()
        while (line := await self.read_line()) is not None:
            if line.endswith("\\"):
                parts.append(line[:-1])
                continue
            text = "\n".join([*parts, line])
            if text.strip():
                return text
            parts = []
        return "\n".join(parts) or None

    @asynccontextmanager
    async def exclusive(self) -> AsyncIterator[None]:
        """Take nothing from anybody: all is asked in turn."""
        yield

    async def answer(self, question: str) -> str | None:
        """Ask, and return the next line."""
        sys.stdout.write(question)
        sys.stdout.flush()
        text = await self.read_line()
        if not os.isatty(self._descriptor):
            sys.stdout.write("\n" if text is None else f"{safe_line(text)}\n")
        return text

    async def edit(self, text: str) -> str | None:
        """Return the lines up to one that is a dot alone."""
        sys.stdout.write(f"Type the new text; a line with only `{END_OF_TEXT}` ends it.\n")
        sys.stdout.flush()
        lines: list[str] = []
        while (line := await self.read_line()) is not None:
            if line == END_OF_TEXT:
                return "\n".join(lines)
            lines.append(line)
        return None

    @asynccontextmanager
    async def type_ahead(self, take: Callable[[str], None]) -> AsyncIterator[None]:
        """Take nothing ahead: lines wait where they are."""
        yield

    async def print_above(self, text: str) -> None:
        """Write it."""
        sys.stdout.write(text)
        sys.stdout.flush()

    def redraw(self) -> None:
        """Draw nothing: all that there is stands already."""

    def restore_input(self, text: str) -> None:
        """Keep nothing: the line can be sent again."""

    def interrupt(self) -> None:
        """Leave it to the signal."""

    async def pick(self, picker: SessionPicker) -> Row | None:
        """List the newest sessions, and return the one whose number is given."""
        picker.read()
        rows = picker.rows[:MAX_NUMBERED]
        lines = [
            f"{number:>2}  {row.render(DEFAULT_WIDTH, picker.time)}"
            for number, row in enumerate(rows, 1)
        ]
        await self.print_above("".join(f"{line.rstrip()}\n" for line in lines))
        text = await self.answer("Which? ") if rows else None
        number = int(text) if text and text.strip().isdecimal() else 0
        return rows[number - 1] if 0 < number <= len(rows) else None

    async def show(self, view: FullView) -> None:
        """Write all of it."""
        await self.print_above("".join(f"{line}\n" for line in view.lines(DEFAULT_WIDTH)))

    async def has_input_within(self, seconds: float) -> bool:
        """Return whether anything is there before so many seconds have passed."""
        try:
            await asyncio.wait_for(self._read_more(), seconds)
        except TimeoutError:
            return False
        return True

    async def read_all(self) -> str:
        """Return all that is left, as it is."""
        while not self._is_over:
            await self._read_more()
        data, self._read = self._read, b""
        return data.decode("utf-8", "replace")

    async def _read_more(self) -> None:
        # Read in a thread that nobody waits for at the end. The buffer of `sys.stdin` is skipped: a
        # thread that waits in it would hold up the exit.
        loop = asyncio.get_running_loop()
        done: asyncio.Future[bytes] = loop.create_future()

        def deliver(data: bytes) -> None:
            if not done.done():
                done.set_result(data)

        def run() -> None:
            try:
                data = os.read(self._descriptor, CHUNK)
            except OSError:
                data = b""
            if not loop.is_closed():
                loop.call_soon_threadsafe(deliver, data)

        threading.Thread(target=run, daemon=True).start()
        more = await done
        self._read += more
        self._is_over = not more

    async def read_line(self) -> str | None:
        """Return the next line, None where there are no more."""
        while b"\n" not in self._read and not self._is_over:
            await self._read_more()
        if not self._read:
            return None
        line, _, self._read = self._read.partition(b"\n")
        return line.decode("utf-8", "replace").removesuffix("\r")


def replace_surrogates(text: str) -> str:
    """Return what was typed as text that can be sent: bytes that are none stand as a sign."""
    return text.encode("utf-8", "replace").decode()
