"""What is written to a terminal, write by write."""

import asyncio
import os
import pty
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

pytest.importorskip("prompt_toolkit")
if sys.platform == "win32":
    pytest.skip("there are no such terminals", allow_module_level=True)

from prompt_toolkit.application import create_app_session
from prompt_toolkit.data_structures import Size
from prompt_toolkit.input import create_pipe_input

from plait.chat.console.keyboard import LiveState
from plait.chat.console.terminal import BufferedOutput, TerminalKeyboard

ASKS_FOR_THE_CURSOR = "\x1b[6n"


class Written:
    """A terminal that remembers each write."""

    encoding = "utf-8"

    def __init__(self) -> None:
        self.writes: list[str] = []

    def write(self, text: str) -> int:
        self.writes.append(text)
        return len(text)

    def flush(self) -> None: ...

    def isatty(self) -> bool:
        return True

    def fileno(self) -> int:
        raise OSError


@contextmanager
def terminal() -> Iterator[tuple[Written, BufferedOutput]]:
    written = Written()
    yield written, BufferedOutput(written, lambda: Size(24, 80), term="xterm")  # type: ignore[arg-type]


def test_paragraph_and_status_are_one_write() -> None:
    live = LiveState(status_line=lambda: "a-model", status=lambda: "answering")

    async def play(written: Written, keyboard: TerminalKeyboard) -> list[str]:
        async with keyboard.accept_input(lambda text: None):
            while not any("answering" in write for write in written.writes):
                await asyncio.sleep(0.01)
            before = len(written.writes)
            await keyboard.print_above("a paragraph\n")
            return written.writes[before:]

    async def run() -> tuple[list[str], list[str]]:
        with terminal() as (written, output), create_pipe_input() as keys:
            with create_app_session(input=keys, output=output):
                keyboard = TerminalKeyboard(live, output=output)
                drawn = await asyncio.wait_for(play(written, keyboard), 20)
            return drawn, written.writes

    drawn, everything = asyncio.run(run())
    assert len(drawn) == 1
    assert "a paragraph\r\n" in drawn[0]
    assert drawn[0].index("a paragraph") < drawn[0].index("answering") < drawn[0].index("a-model")
    assert ASKS_FOR_THE_CURSOR not in "".join(everything)


def test_held_output_is_written_at_the_end() -> None:
    with terminal() as (written, output):
        with output.hold():
            output.write("one ")
            output.flush()
            assert written.writes == []
            output.write("two")
        assert "".join(written.writes) == "one two"


def test_keys_are_not_echoed_between_prompts() -> None:
    from prompt_toolkit.input.vt100 import Vt100Input

    leader, follower = pty.openpty()
    import termios

    with os.fdopen(follower, "r") as stream, terminal() as (_, output):
        keyboard = TerminalKeyboard(LiveState(), input=Vt100Input(stream), output=output)
        before = termios.tcgetattr(follower)[3]
        with keyboard.raw_mode():
            assert not termios.tcgetattr(follower)[3] & (termios.ECHO | termios.ICANON)
        assert termios.tcgetattr(follower)[3] == before
    os.close(leader)
