"""Reading prompts and answers from standard input, and handling signals."""

import asyncio
import os
import signal
import sys
import threading
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from contextlib import (
    AbstractContextManager,
    asynccontextmanager,
    contextmanager,
    nullcontext,
    suppress,
)
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

from plait.chat.console.archive import Row, SessionPicker
from plait.terminal.text import safe_line

TERMINATION_SIGNALS = tuple(
    getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)
)


@contextmanager
def stop_on_interrupt(stop: Callable[[], bool]) -> Iterator[None]:
    """Let Ctrl-C stop what is running; if nothing is, or the second time, cancel the task."""
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
    """Handle Ctrl-C with a callback, and let other ending signals cancel the task cleanly."""
    loop, task = asyncio.get_running_loop(), asyncio.current_task()
    end: Callable[[], object] = task.cancel if task else str
    handlers: dict[int, Callable[[], object]] = {signal.SIGINT: interrupt}
    handlers |= dict.fromkeys(TERMINATION_SIGNALS, end)
    # only possible in the main thread, and not on every platform
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
"""Columns to assume when the width is unknown."""


class Suggestion(NamedTuple):
    """A completion and its description."""

    text: str
    about: str = ""


SuggestionSource: TypeAlias = Callable[[str], Iterable[Suggestion]]
"""Returns suggestions for the text typed so far."""


class FullView(NamedTuple):
    """Something to show on the full screen."""

    title: str
    lines: Callable[[int], Sequence[str]]
    """Returns its lines, drawn at a given width."""


@dataclass
class LiveState:
    """What a live keyboard shows below the input, and the actions it offers."""

    streaming_lines: Callable[[int, int], Sequence[str]] = lambda width, rows: ()
    """The last lines of the streaming text, laid out for a width and a number of rows."""
    status: Callable[[], str] = str
    """What is happening, in a few words."""
    activity: Callable[[], Sequence[str]] = tuple
    """What else is running, one line each."""
    status_line: Callable[[], str] = str
    """The bottom line."""
    queued: list[str] = field(default_factory=list)
    """Prompts typed during a turn."""
    stop: Callable[[], bool] = bool
    take_back: Callable[[], str] = str
    """Takes back what is queued, as typed."""
    change_mode: Callable[[], None] = lambda: None
    """Switches the permission mode."""
    collapsed: Callable[[], Sequence[FullView]] = tuple
    """Collapsed items, newest last."""
    price_warning: Callable[[], str] = str
    """Why sending needs confirmation; empty if it does not."""
    complete_sessions: SuggestionSource = lambda typed: ()
    """Sessions whose names begin with the text."""


class Keyboard(ABC):
    """The source of prompts and answers; one that is not live has no input line to manage."""

    is_live = False
    """Whether it shows streaming text and accepts input during a turn."""

    @abstractmethod
    async def prompt(self) -> str | None:
        """Return the next prompt; None at the end of input."""

    @abstractmethod
    async def answer(self, question: str) -> str | None:
        """Return the answer to a question; None if there is none."""

    @abstractmethod
    async def edit(self, text: str) -> str | None:
        """Return a text as the user edited it; None if unchanged."""

    @abstractmethod
    async def print_above(self, text: str) -> None:
        """Print above the input line."""

    @abstractmethod
    async def pick(self, picker: SessionPicker) -> Row | None:
        """Return the session that the user picks; None if they cancel."""

    @abstractmethod
    async def show(self, view: FullView) -> None:
        """Show something that may be long."""

    def raw_mode(self) -> AbstractContextManager[None]:
        """Keep keys that are typed until they are read, while entered."""
        return nullcontext()

    @asynccontextmanager
    async def exclusive(self) -> AsyncIterator[None]:
        """Reserve the input for answers to questions, while entered."""
        yield

    @asynccontextmanager
    async def accept_input(self, on_input: Callable[[str], None]) -> AsyncIterator[None]:
        """Pass on what the user sends while a turn runs."""
        yield

    def redraw(self) -> None:  # noqa: B027
        """Redraw the live area."""

    def restore_input(self, text: str) -> None:  # noqa: B027
        """Put text back into the input line."""

    def interrupt(self) -> None:  # noqa: B027
        """Stop what is running, or exit."""


class PlainKeyboard(Keyboard):
    """A keyboard that reads lines of standard input: a pipe, a file or a plain terminal."""

    def __init__(self, *, descriptor: int = 0) -> None:
        self._descriptor = descriptor
        self._read = b""
        self._is_over = False

    async def prompt(self) -> str | None:
        """Return the next line with text; a backslash at the end continues it."""
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

    async def answer(self, question: str) -> str | None:
        """Ask, and return the next line."""
        sys.stdout.write(question)
        sys.stdout.flush()
        text = await self.read_line()
        if not os.isatty(self._descriptor):
            sys.stdout.write("\n" if text is None else f"{safe_line(text)}\n")
        return text

    async def edit(self, text: str) -> str | None:
        """Return the lines up to a line with only a dot."""
        sys.stdout.write(f"Type the new text, then a line with only `{END_OF_TEXT}`.\n")
        sys.stdout.flush()
        lines: list[str] = []
        while (line := await self.read_line()) is not None:
            if line == END_OF_TEXT:
                return "\n".join(lines)
            lines.append(line)
        return None

    async def print_above(self, text: str) -> None:
        """Print it."""
        sys.stdout.write(text)
        sys.stdout.flush()

    async def pick(self, picker: SessionPicker) -> Row | None:
        """List the newest sessions and return the one whose number is typed."""
        picker.read()
        rows = picker.rows[:MAX_NUMBERED]
        lines = [
            f"{number:>2}  {row.render(DEFAULT_WIDTH, picker.time)}"
            for number, row in enumerate(rows, 1)
        ]
        await self.print_above("".join(f"{line.rstrip()}\n" for line in lines))
        text = await self.answer("Resume which session? (number) ") if rows else None
        number = int(text) if text and text.strip().isdecimal() else 0
        return rows[number - 1] if 0 < number <= len(rows) else None

    async def show(self, view: FullView) -> None:
        """Print all of it."""
        await self.print_above("".join(f"{line}\n" for line in view.lines(DEFAULT_WIDTH)))

    async def has_input_within(self, seconds: float) -> bool:
        """Return whether input arrives within some seconds."""
        try:
            await asyncio.wait_for(self._read_more(), seconds)
        except TimeoutError:
            return False
        return True

    async def read_all(self) -> str:
        """Return the rest of the input unchanged."""
        while not self._is_over:
            await self._read_more()
        data, self._read = self._read, b""
        return data.decode("utf-8", "replace")

    async def _read_more(self) -> None:
        # Read in a daemon thread. The buffer of `sys.stdin` is bypassed: a thread blocked in it would
        # delay the exit.
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
        """Return the next line; None at the end."""
        while b"\n" not in self._read and not self._is_over:
            await self._read_more()
        if not self._read:
            return None
        line, _, self._read = self._read.partition(b"\n")
        return line.decode("utf-8", "replace").removesuffix("\r")


def replace_surrogates(text: str) -> str:
    """Return typed text with undecodable bytes replaced, so that it can be sent."""
    return text.encode("utf-8", "replace").decode()
