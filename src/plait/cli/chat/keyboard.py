"""What a person types to lines, where there is no terminal to speak of: plainly, one at a time."""

import asyncio
import os
import sys
import threading
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import (
    AbstractAsyncContextManager,
    AbstractContextManager,
    asynccontextmanager,
    nullcontext,
)
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from plait.cli.chat.completion import Offers
    from plait.cli.chat.picking import Picking, Row

CHUNK = 1 << 16
END_OF_TEXT = "."
MARK = "> "
MOST_NUMBERED = 20
LINE = 96
"""Columns of a line where nobody knows how many there are."""


class View(NamedTuple):
    """Something to look at on a screen of its own."""

    title: str
    lines: Callable[[int], Sequence[str]]
    """Returns its lines as they are drawn in so many columns."""


@dataclass
class Live:
    """What a keyboard with lines below it tells there, and what it can stop."""

    words: Callable[[int, int], Sequence[str]] = lambda width, rows: ()
    """The last lines of the words that stream, laid out in so many columns and rows."""
    doing: Callable[[], str] = str
    beside: Callable[[], Sequence[str]] = tuple
    """What goes on beside it, a line each."""
    standing: Callable[[], str] = str
    """What is always told, at the very bottom."""
    waiting: list[str] = field(default_factory=list)
    """Prompts that were typed ahead."""
    stop: Callable[[], bool] = bool
    take_back: Callable[[], str] = str
    """Takes back what waits, as it was typed."""
    change_mode: Callable[[], None] = lambda: None
    """Has more or less be done without asking."""
    folded: Callable[[], Sequence[View]] = tuple
    """What is not shown whole, the newest last."""
    doubt: Callable[[], str] = str
    """Why one should think before one sends, nothing where one need not."""
    sessions: "Offers" = lambda typed: ()
    """The sessions whose names begin so."""


class Keyboard(Protocol):
    """Whoever types: prompts, and answers to questions."""

    is_live: bool
    """Whether what is not whole yet is shown, and typed ahead."""

    def attached(self) -> AbstractContextManager[None]:
        """While entered, what is typed waits until somebody reads it."""
        ...

    async def prompt(self) -> str | None:
        """Returns the next prompt, None where there will be none."""
        ...

    def alone(self) -> AbstractAsyncContextManager[None]:
        """While entered, what is typed answers questions."""
        ...

    async def answer(self, question: str) -> str | None:
        """Returns what is said to a question, None where nothing is."""
        ...

    async def changed(self, text: str) -> str | None:
        """Returns a text as the person changed it, None where they did not."""
        ...

    def ahead(self, take: Callable[[str], None]) -> AbstractAsyncContextManager[None]:
        """While entered, what is typed is taken ahead."""
        ...

    async def above(self, text: str) -> None:
        """Writes what is drawn, above where one types."""
        ...

    def redraw(self) -> None:
        """Draws anew what is below."""
        ...

    def put_back(self, text: str) -> None:
        """Gives words back to whoever typed them, to be changed or sent again."""
        ...

    def interrupted(self) -> None:
        """Stops what goes on, or leaves."""
        ...

    async def pick(self, picking: "Picking") -> "Row | None":
        """Returns the session that is chosen, None where none is."""
        ...

    async def look_at(self, view: View) -> None:
        """Shows something that may be long."""
        ...


class PlainKeyboard:
    """Reads lines of standard input, whatever it is: a pipe, a file, a terminal."""

    is_live = False

    def __init__(self, *, descriptor: int = 0) -> None:
        self._descriptor = descriptor
        self._read = b""
        self._is_over = False

    def attached(self) -> AbstractContextManager[None]:
        """Does nothing: lines wait where they are."""
        return nullcontext()

    async def prompt(self) -> str | None:
        """Returns the next line that says something; one that ends with a backslash goes on."""
        parts: list[str] = []
        self._mark()
        while (line := await self.line()) is not None:
            if line.endswith("\\"):
                parts.append(line[:-1])
                continue
            text = "\n".join([*parts, line])
            if text.strip():
                return text
            parts = []
        return "\n".join(parts) or None

    @asynccontextmanager
    async def alone(self) -> AsyncIterator[None]:
        """Takes nothing from anybody: all is asked in turn."""
        yield

    async def answer(self, question: str) -> str | None:
        """Asks, and returns the next line."""
        sys.stdout.write(question)
        sys.stdout.flush()
        said = await self.line()
        if not os.isatty(self._descriptor):
            sys.stdout.write("\n" if said is None else f"{_printable(said)}\n")
        return said

    async def changed(self, text: str) -> str | None:
        """Returns the lines up to one that is a dot alone."""
        sys.stdout.write(f"Write it anew; a line with `{END_OF_TEXT}` alone ends it.\n")
        sys.stdout.flush()
        lines: list[str] = []
        while (line := await self.line()) is not None:
            if line == END_OF_TEXT:
                return "\n".join(lines)
            lines.append(line)
        return None

    @asynccontextmanager
    async def ahead(self, take: Callable[[str], None]) -> AsyncIterator[None]:
        """Takes nothing ahead: lines wait where they are."""
        yield

    async def above(self, text: str) -> None:
        """Writes it."""
        sys.stdout.write(text)
        sys.stdout.flush()

    def redraw(self) -> None:
        """Draws nothing: all that there is stands already."""

    def put_back(self, text: str) -> None:
        """Keeps nothing: the line can be sent again."""

    def interrupted(self) -> None:
        """Leaves it to the signal."""

    async def pick(self, picking: "Picking") -> "Row | None":
        """Lists the newest sessions, and returns the one whose number is given."""
        picking.read()
        rows = picking.rows[:MOST_NUMBERED]
        lines = [
            f"{number:>2}  {row.line(LINE, picking.time)}" for number, row in enumerate(rows, 1)
        ]
        await self.above("".join(f"{line.rstrip()}\n" for line in lines))
        said = await self.answer("Which? ") if rows else None
        number = int(said) if said and said.strip().isdecimal() else 0
        return rows[number - 1] if 0 < number <= len(rows) else None

    async def look_at(self, view: View) -> None:
        """Writes all of it."""
        await self.above("".join(f"{line}\n" for line in view.lines(LINE)))

    def _mark(self) -> None:
        if os.isatty(self._descriptor) and sys.stdout.isatty():
            sys.stdout.write(MARK)
            sys.stdout.flush()

    async def comes(self, seconds: float) -> bool:
        """Tells whether anything is there before so many seconds have passed."""
        try:
            await asyncio.wait_for(self._more(), seconds)
        except TimeoutError:
            return False
        return True

    async def rest(self) -> str:
        """Returns all that is left, as it is."""
        while not self._is_over:
            await self._more()
        data, self._read = self._read, b""
        return data.decode("utf-8", "replace")

    async def _more(self) -> None:
        more = await _in_thread(lambda: os.read(self._descriptor, CHUNK))
        self._read += more
        self._is_over = not more

    async def line(self) -> str | None:
        """Returns the next line, None where there are no more."""
        while b"\n" not in self._read and not self._is_over:
            await self._more()
        if not self._read:
            return None
        line, _, self._read = self._read.partition(b"\n")
        return line.decode("utf-8", "replace").removesuffix("\r")


async def _in_thread(read: Callable[[], bytes]) -> bytes:
    """Runs what may wait for ever in a thread that nobody waits for at the end.

    The buffer of `sys.stdin` is left alone: a thread that waits in it would hold up the exit.
    """
    loop = asyncio.get_running_loop()
    done: asyncio.Future[bytes] = loop.create_future()

    def tell(data: bytes) -> None:
        if not done.done():
            done.set_result(data)

    def run() -> None:
        try:
            data = read()
        except OSError:
            data = b""
        if not loop.is_closed():
            loop.call_soon_threadsafe(tell, data)

    threading.Thread(target=run, daemon=True).start()
    return await done


def whole_text(text: str) -> str:
    """Returns what was typed as text that can be sent: bytes that are none stand as a sign."""
    return text.encode("utf-8", "replace").decode()


def _printable(text: str) -> str:
    from plait.cli.text import safe_line

    return safe_line(text)
