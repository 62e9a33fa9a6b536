"""Terminal input: prompts, type-ahead, questions, Ctrl-C."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

import pytest

pytest.importorskip("prompt_toolkit")

from prompt_toolkit.application import create_app_session
from prompt_toolkit.input import PipeInput, create_pipe_input
from prompt_toolkit.output import DummyOutput

from plait.chat.console.commands import complete_commands
from plait.chat.console.completion import ChatCompleter
from plait.chat.console.keyboard import LiveState
from plait.chat.console.terminal import TerminalKeyboard

T = TypeVar("T")
ENTER, ALT_ENTER, CTRL_C, CTRL_D = "\r", "\x1b\r", "\x03", "\x04"


def at_keyboard(play: Callable[[TerminalKeyboard, PipeInput], Awaitable[T]], live: LiveState) -> T:
    async def run() -> T:
        with create_pipe_input() as keys, create_app_session(input=keys, output=DummyOutput()):
            keyboard = TerminalKeyboard(live, ChatCompleter(complete_commands))
            return await asyncio.wait_for(play(keyboard, keys), 20)

    return asyncio.run(run())


def press_keys(keys: str, *more: str) -> str | None:
    async def play(keyboard: TerminalKeyboard, pipe: PipeInput) -> str | None:
        for item in (keys, *more):
            pipe.send_text(item)
        return await keyboard.prompt()

    return at_keyboard(play, LiveState())


@pytest.mark.parametrize(
    ("keys", "prompt"),
    [
        (f"hello{ENTER}", "hello"),
        (f"{ENTER}  hi{ENTER}", "  hi"),
        (f"one{ALT_ENTER}two{ENTER}", "one\ntwo"),
        (f"one\ntwo{ENTER}", "one\ntwo"),
        (f"one\\{ENTER}two{ENTER}", "one\ntwo"),
        (f"wrong{CTRL_C}right{ENTER}", "right"),
        (f"{CTRL_C}x{CTRL_C}y{ENTER}", "y"),
        (f"{CTRL_C}{CTRL_C}", None),
        (CTRL_D, None),
        (f"x{CTRL_D}{ENTER}", "x"),
    ],
)
def test_prompt_at_a_terminal(keys: str, prompt: str | None) -> None:
    assert press_keys(keys) == prompt


def test_commands_are_completed() -> None:
    async def play(keyboard: TerminalKeyboard, keys: PipeInput) -> str | None:
        prompt = asyncio.ensure_future(keyboard.prompt())
        keys.send_text("/he\t")
        while keyboard.typed != "/help":
            await asyncio.sleep(0.01)
        keys.send_text(ENTER)
        return await prompt

    assert at_keyboard(play, LiveState()) == "/help"


def test_type_ahead_is_used_and_the_rest_kept() -> None:
    async def play(keyboard: TerminalKeyboard, keys: PipeInput) -> tuple[list[str], str | None]:
        taken: list[str] = []
        arrived = asyncio.Event()

        def take(text: str) -> None:
            taken.append(text)
            arrived.set()

        async with keyboard.accept_input(take):
            keys.send_text(f"first{ENTER}half ")
            await arrived.wait()
            while keyboard.typed != "half ":
                await asyncio.sleep(0.01)
        keys.send_text(f"typed{ENTER}")
        return taken, await keyboard.prompt()

    assert at_keyboard(play, LiveState()) == (["first"], "half typed")


def test_question_takes_the_keyboard_temporarily() -> None:
    async def play(keyboard: TerminalKeyboard, keys: PipeInput) -> list[str | None]:
        async with keyboard.accept_input(lambda text: None):
            keys.send_text("half ")
            while keyboard.typed != "half ":
                await asyncio.sleep(0.01)
            async with keyboard.exclusive():
                keys.send_text(f"y{ENTER}")
                result = await keyboard.answer("Proceed? ")
                keys.send_text(f" test{ENTER}x{ALT_ENTER}")
                text = await keyboard.edit("make")
        keys.send_text(f"typed{ENTER}")
        return [result, text, await keyboard.prompt()]

    assert at_keyboard(play, LiveState()) == ["y", "make test\nx", "half typed"]


@pytest.mark.parametrize("key", [CTRL_C, CTRL_D])
def test_unanswered_question_is_no_answer(key: str) -> None:
    async def play(keyboard: TerminalKeyboard, keys: PipeInput) -> list[str | None]:
        keys.send_text(key)
        result = await keyboard.answer("Proceed? ")
        keys.send_text(CTRL_C)
        return [result, await keyboard.edit("make")]

    assert at_keyboard(play, LiveState()) == [None, None]


def test_ctrl_c_stops_then_exits() -> None:
    stopped: list[bool] = []

    def stop() -> bool:
        stopped.append(True)
        return True

    live = LiveState(stop=stop)

    async def turn(keyboard: TerminalKeyboard, keys: PipeInput) -> str:
        try:
            async with keyboard.accept_input(lambda text: None):
                keys.send_text(CTRL_C)
                while not stopped:
                    await asyncio.sleep(0.01)
                keys.send_text(CTRL_C)
                await asyncio.sleep(20)
        except asyncio.CancelledError:
            return "left"
        return "stayed"

    assert at_keyboard(turn, live) == "left"
    assert stopped == [True]


def test_withdrawn_prompt_returns_to_the_input() -> None:
    async def play(keyboard: TerminalKeyboard, keys: PipeInput) -> str | None:
        keyboard.restore_input("as it was")
        keys.send_text(f"!{ENTER}")
        return await keyboard.prompt()

    assert at_keyboard(play, LiveState()) == "as it was!"


def test_withdrawn_prompt_returns_while_typing() -> None:
    async def play(keyboard: TerminalKeyboard, keys: PipeInput) -> str | None:
        async with keyboard.accept_input(lambda text: None):
            keys.send_text("since")
            while keyboard.typed != "since":
                await asyncio.sleep(0.01)
            keyboard.restore_input("as it was")
        keys.send_text(ENTER)
        return await keyboard.prompt()

    assert at_keyboard(play, LiveState()) == "as it was\nsince"


def test_invalid_utf8_is_replaced() -> None:
    async def play(keyboard: TerminalKeyboard, keys: PipeInput) -> list[str | None]:
        keys.send_bytes(b"caf\xe9" + ENTER.encode())
        prompt = await keyboard.prompt()
        keys.send_bytes(b"caf\xe9" + ENTER.encode())
        return [prompt, await keyboard.answer("Proceed? ")]

    assert at_keyboard(play, LiveState()) == ["caf?", "caf?"]


def test_pasted_text_is_one_prompt() -> None:
    assert press_keys(f"\x1b[200~one\ntwo\n\x1b[201~three{ENTER}") == "one\ntwo\nthree"


def test_status_lines_show_activity() -> None:
    live = LiveState(
        streaming_lines=lambda width, rows: ["so far\x1b[2J and \x1b[1mon\x1b[0m", "on"],
        status=lambda: "Bash make\x1b]0;x\x07",
        status_line=lambda: "a-model\x1b[31m",
        queued=["next\x07"],
    )

    async def play(keyboard: TerminalKeyboard, keys: PipeInput) -> tuple[str, str]:
        idle = keyboard.live_text()
        async with keyboard.accept_input(lambda text: None):
            return idle, keyboard.live_text()

    idle, busy = at_keyboard(play, live)
    assert idle == "> "
    *words, state, waiting, mark = busy.split("\n")
    assert words == ["so far and on", "on"]
    assert state == "· Bash make�]0;x� 0 s, Ctrl-C to stop"
    assert (waiting, mark) == ("  queued: next�", "> ")
